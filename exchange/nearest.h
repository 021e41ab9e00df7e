/* Finds the word that a misspelt one was meant to be, for errors. */
#ifndef EXCHANGE_NEAREST_H
#define EXCHANGE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* Insertions, deletions, replacements and swaps of neighbours between two words, case ignored. Only the first
 * 63 characters count. */
size_t nearest_distance(const char *a, const char *b);

enum { NEAREST_WORD_MAX = 128, NEAREST_ALL_MAX = 240, NEAREST_HINT_MAX = NEAREST_ALL_MAX + 32 };

/* The nearest of the candidates offered so far; all zero at first. */
struct nearest {
    char best[NEAREST_WORD_MAX];   /* "" before the first offer */
    char longer[NEAREST_WORD_MAX]; /* the first that begins with the word; "" */
    size_t distance, used;
    char all[NEAREST_ALL_MAX]; /* commas between; cut where there is no more room */
};

void nearest_offer(struct nearest *nearest, const char *word, const char *candidate);

/* Copies a candidate that is near the word, and nearer than the present one, to `kept`; "": there is none. */
void nearest_keep(const char *word, const char *candidate, char *kept, size_t size);

/* The word that was meant; NULL where no candidate is near: a distant one is another word. */
const char *nearest_meant(const struct nearest *nearest, const char *word);

/* The end of an error about a word that is not a candidate, in `hint`: ": did you mean BEST?" where one is
 * near, ": one of A, B is needed" where the list is short, else "". Returns it. */
const char *nearest_hint(const struct nearest *nearest, const char *word, char hint[static NEAREST_HINT_MAX]);

/* The first of these alone: of what was meant, "" of NULL and "". */
#define NEAREST_SUGGESTED ": did you mean "
const char *nearest_suggest(const char *meant, char hint[static NEAREST_HINT_MAX]);

/* These two with a buffer that lives as long as the block around it. */
#define NEAREST_HINT(nearest, word) nearest_hint(nearest, word, (char[NEAREST_HINT_MAX]){0})
#define NEAREST_SUGGEST(meant)      nearest_suggest(meant, (char[NEAREST_HINT_MAX]){0})

#endif
