/* Which trainings' learning curves are compared, and how curves are smoothed for the eye. */
#ifndef TUI_COMPARE_H
#define TUI_COMPARE_H

#include "tui/history.h"

enum { COMPARE_MAX = HISTORY_COMPARED_MAX, COMPARE_SMOOTHS = 4 };

/* Those that were marked, oldest first; the baseline is one of them. */
struct compare {
    char marked[COMPARE_MAX][STATUS_TRAINING_NAME_MAX];
    int n, baseline; /* baseline: its place; without a mark 0 */
    int smooth;      /* 0: as they are stored, up to COMPARE_SMOOTHS - 1 */
};

int tui_compare_find(const struct compare *compare, const char *training); /* its place; -1: not marked */

/* Marks one, or takes its mark away. Another baseline where it was that: the oldest. False: COMPARE_MAX are.
 */
bool tui_compare_toggle(struct compare *compare, const char *training);

/* Makes it the baseline, and marks it. False: COMPARE_MAX others are marked. */
bool tui_compare_base(struct compare *compare, const char *training);

/* The weight of what was before: 0, 0.6, 0.9, 0.99. */
double tui_compare_weight(int smooth);

/* The exponential moving average of n values with that weight, each step divided by 1 - weight^k of the k
 * values so far, so that it begins at the first (Kingma and Ba 2015, section 3, bias correction). What is not
 * finite stays so, and is left out. In place. */
void tui_compare_smooth(double *values, int n, double weight);

/* The value at so many steps, on the straight line between points; NaN before the first that is finite and
 * behind the last. steps go up. */
double tui_compare_at(const int64_t *steps, const double *values, int n, int64_t at);

#endif
