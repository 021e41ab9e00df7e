/* Splits of rows for combinatorial purged cross-validation (López de Prado, Advances in Financial Machine
 * Learning, 2018, chapter 12): N contiguous groups, of which every combination of K is tested once. C(N, K)
 * combinations test each group C(N - 1, K - 1) times, so that there are K / N * C(N, K) paths through all
 * rows, each of which takes every group from another combination. Pure arithmetic; nothing allocates. */
#ifndef TRAINER_STUDY_SPLIT_H
#define TRAINER_STUDY_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SPLIT_GROUPS_MAX = 64, SPLIT_COMBINATIONS_MAX = 10000, SPLIT_ERROR_MAX = 256 };

struct split {
    int groups, tested;      /* N, K: 2 <= N, 1 <= K < N */
    int combinations, paths; /* C(N, K); C(N - 1, K - 1), which is K / N * C(N, K) */
};

/* "cpcv:5,2". 0, or -EINVAL with "what: where: what would be right". */
int split_parse(const char *text, struct split *ret, char err[static SPLIT_ERROR_MAX]);

struct split_rows {
    size_t from, to; /* [from, to) */
};

/* Group k of `rows`: floor(k * rows / N) to floor((k + 1) * rows / N). */
struct split_rows split_group(const struct split *split, size_t rows, int k);

/* The first combination, 0 .. K-1, and the next one in lexicographic order; false after the last. */
void split_begin(const struct split *split, int chosen[static SPLIT_GROUPS_MAX]);
bool split_next(const struct split *split, int chosen[static SPLIT_GROUPS_MAX]);

/* The rows of a combination: groups that follow one another are one block, others never are. Returns how
 * many blocks there are, 1 to K. */
int split_blocks(const struct split *split, size_t rows, const int chosen[static SPLIT_GROUPS_MAX],
                 struct split_rows ret[static SPLIT_GROUPS_MAX]);

#endif
