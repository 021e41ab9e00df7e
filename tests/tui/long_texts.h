/* Texts of a model that are as long as the daemon lets them be and have no six letters in common, so that
 * what is seen of one names it. One set of them a program. */
#ifndef TESTS_TUI_LONG_TEXTS_H
#define TESTS_TUI_LONG_TEXTS_H

#include <jansson.h>
#include <stdio.h>
#include <wchar.h>

#include "tui/model.h"

enum { LONG_TEXT_LETTERS = 6, LONG_TEXT_MAX = 1100 };

struct long_text {
    char *before; /* a name's in the fixture; NULL: any text */
    char text[LONG_TEXT_MAX];
    wchar_t letters[LONG_TEXT_MAX]; /* without blanks */
};

/* Random ones, named after the test. False without memory. */
bool long_texts_init(const char *test, uint64_t seed);
void long_texts_finish(void);

/* A text of so many bytes; of several words, which have letters beyond ASCII, or a name. Of the same `before`
 * it is the same. It lives until long_texts_finish(). */
const char *long_text(const char *before, size_t size, bool words);

/* Fills an array of characters with one. */
#define LONG_TEXT(to, words) snprintf(to, sizeof(to), "%s", long_text(NULL, sizeof(to) - 1, words))

/* The text that has these LONG_TEXT_LETTERS letters, and where; NULL: there is no such text. */
const struct long_text *long_text_find(const wchar_t *letters, size_t *ret_at);

/* Those of a daemon's status; names that are one another's stay so. */
void long_texts_status(json_t *status);

/* Those of a model's history and of a training's log, after those of its status. */
void long_texts_model(struct model *model, const char *training, struct moment now);

#endif
