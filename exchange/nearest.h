/* The word that a misspelt one was meant to be, for errors. */
#ifndef EXCHANGE_NEAREST_H
#define EXCHANGE_NEAREST_H

#include <stdbool.h>
#include <stddef.h>

/* Insertions, deletions, replacements and swaps of neighbours between two words, case ignored. Only the first
 * 63 characters count. */
size_t nearest_distance(const char *a, const char *b);

/* Keeps the nearest of the candidates offered so far; all zero at first. Pointers are borrowed. */
struct nearest {
    const char *best; /* NULL before the first offer */
    size_t distance;
};

void nearest_offer(struct nearest *nearest, const char *word, const char *candidate);

/* Copies a candidate to `kept` that is at most 3 from the word, and nearer than what is kept; "": none is. */
void nearest_keep(const char *word, const char *candidate, char *kept, size_t size);

/* Is the nearest near enough to be what was meant? What is further away is another word. */
bool nearest_is_near(const struct nearest *nearest, const char *word);

#endif
