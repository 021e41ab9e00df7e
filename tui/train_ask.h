/* Requests to the daemon about trainings and policies: whether each is allowed in the known state, and the
 * question that the user answers with y. Pure. */
#ifndef TUI_TRAIN_ASK_H
#define TUI_TRAIN_ASK_H

#include <stdbool.h>

#include "tui/model.h"
#include "tui/view.h"

enum { TRAIN_ASK_MAX = 240 };

struct train_question {
    char title[24];
    char ask[TRAIN_ASK_MAX];  /* "stop ppo-btc?" */
    char what[TRAIN_ASK_MAX]; /* what will happen then */
};

/* Is `prompt` (PROMPT_START … PROMPT_RETIRE) allowed for `name`? If not, `words` says what would be right,
 * with keys as tui_key_map_sentence() takes them. The daemon decides in any case. */
bool tui_train_ask_allowed(const struct model *model, enum prompt prompt, const char *name,
                           char words[static TRAIN_ASK_MAX]);

/* The question, in the known state; `changes` values of a configuration differ from what it was. */
void tui_train_ask(const struct model *model, enum prompt prompt, const char *name, int changes,
                   struct train_question *ret);
/* The same about `name` and `also` [n] at once, workers of one study. */
void tui_train_ask_several(const struct model *model, enum prompt prompt, const char *name,
                           const char (*also)[STATUS_TRAINING_NAME_MAX], int n, int changes,
                           struct train_question *ret);

/* The role that promoting `name` leads to in the known state, as the question says: "challenger",
 * "champion". */
const char *tui_train_ask_role(const struct model *model, const char *name);

#define TRAIN_ASK_NO_VERDICT "none"

/* The verdict on the policy that promoting `name` promotes, where it is not a good one, or
 * TRAIN_ASK_NO_VERDICT: the question says so, and its answer confirms it. "": a good one. */
const char *tui_train_ask_verdict(const struct model *model, const char *name);

/* The word for the prompt's action: "stop"; "" for another prompt. */
const char *tui_train_ask_word(enum prompt prompt);

/* A name that a training may have: 1 to 31 letters, digits, - _ and dots, beginning with no dot. */
bool tui_train_ask_name(const char *name);

#endif
