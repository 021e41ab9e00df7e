/* Indicators of windows, computed at single bars: for strategies that find their marks without them. Bits of
 * indicator_reference() over the whole history, since a window is summed anew for each bar. */
#ifndef ENGINE_BACKTEST_POINTS_H
#define ENGINE_BACKTEST_POINTS_H

#include "engine/backtest/columns.h"

/* Can all of them be computed so: of a window only, and of the run's own bars? */
bool backtest_points_serve(const struct runner_spec *specs, size_t n);

/* Room for one bar's computation; {0} before the first. */
struct points {
    double *room;
    size_t cap;
};

enum { POINTS_MOST = 8 }; /* at a time: enough to hide an addition's latency behind the others' */

/* All outputs at n <= POINTS_MOST bars, ascending: those of bar i from out[i * outputs] on, NaN where the
 * history is too short. 0; -ENOMEM; -EINVAL for a bar that is not finite. */
int backtest_points_at(struct points *points, const struct runner_spec *specs, size_t n_specs,
                       const struct columns_bars *bars, const size_t *at, size_t n, double *out);
void backtest_points_finish(struct points *points);

#endif
