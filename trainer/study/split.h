/* Splits of rows into what is trained on and what is tested, purged (López de Prado, Advances in Financial
 * Machine Learning, 2018, chapters 7 and 12). Rows are N contiguous groups.
 *
 * cpcv:N,K (combinatorial purged cross-validation): every combination of K groups is tested once. C(N, K)
 * combinations test each group C(N - 1, K - 1) times, so that there are K / N * C(N, K) paths through all
 * rows, each of which takes every group from another combination. kfold:N is cpcv:N,1. walk-forward:N has N +
 * 1 groups; group k = 1 … N is tested after training on those before it: N combinations, one path, which
 * lacks group 0.
 *
 * Pure arithmetic; nothing allocates. market.c applies it to a study's rows: study_training(). */
#ifndef TRAINER_STUDY_SPLIT_H
#define TRAINER_STUDY_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SPLIT_GROUPS_MAX = 64, SPLIT_COMBINATIONS_MAX = 10000, SPLIT_ERROR_MAX = 256 };

enum split_kind { SPLIT_CPCV, SPLIT_KFOLD, SPLIT_WALK_FORWARD };

struct study_split {
    enum split_kind kind;
    int groups, tested;      /* N, K: 2 <= N, 1 <= K < N */
    int combinations, paths; /* C(N, K); C(N - 1, K - 1), which is K / N * C(N, K); walk-forward: N - 1; 1 */
};

/* "cpcv:5,2", "kfold:5", "walk-forward:5". 0; -EINVAL with "what: where: what would
 * be right"; -E2BIG with that: more than SPLIT_COMBINATIONS_MAX. */
int split_parse(const char *text, struct study_split *ret, char err[static SPLIT_ERROR_MAX]);

struct split_rows {
    size_t from, to; /* [from, to) */
};

/* Group k of `rows`: floor(k * rows / N) to floor((k + 1) * rows / N). */
struct split_rows split_group(const struct study_split *split, size_t rows, int k);

/* The first combination, 0 .. K-1 (walk-forward: 1), and the next one in lexicographic order; false after the
 * last. split_combination() is number `combination` of them, from 0. */
void split_begin(const struct study_split *split, int chosen[static SPLIT_GROUPS_MAX]);
bool split_next(const struct study_split *split, int chosen[static SPLIT_GROUPS_MAX]);
void split_combination(const struct study_split *split, int combination, int chosen[static SPLIT_GROUPS_MAX]);

/* The rows of a combination: groups that follow one another are one block, others never are. Returns how
 * many blocks there are, 1 to K. */
int split_blocks(const struct study_split *split, size_t rows, const int chosen[static SPLIT_GROUPS_MAX],
                 struct split_rows ret[static SPLIT_GROUPS_MAX]);

/* The rows that may be trained on where these groups are tested: all others (walk-forward: those before),
 * less `purge` rows before and after each tested block, and `embargo` more after it. Returns how many blocks,
 * 0 where nothing is left; blocks that are not adjacent are never joined. Of rows r trained on and t tested
 * |t - r| > purge, and r - t > purge + embargo where r is later. */
enum { SPLIT_BLOCKS_MAX = SPLIT_GROUPS_MAX + 1 };
int split_training(const struct study_split *split, size_t rows, const int chosen[static SPLIT_GROUPS_MAX],
                   size_t purge, size_t embargo, struct split_rows ret[static SPLIT_BLOCKS_MAX]);

/* Which path (0 …) the test of group `k` in combination number `combination` belongs to: -1 where it is not
 * tested there. Each path has every tested group once. */
int split_path(const struct study_split *split, int combination, int k);

#endif
