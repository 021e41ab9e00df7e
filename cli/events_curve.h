/* The equity of a log's accounts as a run emits it, point by point, and its metrics. */
#ifndef CLI_EVENTS_CURVE_H
#define CLI_EVENTS_CURVE_H

#include "engine/engine.h"
#include "strategy/metrics.h"

struct events_point {
    int64_t ts_ns;
    double equity; /* in currency */
};

/* Of one account; zeroed at first. */
struct events_curve {
    struct events_point *points; /* by time */
    size_t n, cap;
    int64_t deposits; /* at the first point */
    bool moved;       /* money went in or out after it: its returns are not the strategy's */
};

/* Of all accounts, and the interval of the log's bars; zeroed at first. */
struct events_curves {
    struct events_curve *accounts;
    int n;
    int64_t last_open_ns[SYMBOLS_MAX], interval_ns; /* the shortest step between bars of a symbol; 0: none */
    bool no_memory;
};

void cli_events_curves_bar(struct events_curves *curves, int symbol, const struct bar *bar);
void cli_events_curves_point(struct events_curves *curves, const struct account *account,
                             const struct equity_point *point);
void cli_events_curves_finish(struct events_curves *curves);

/* The metrics of an account's equity at the end of each bar's interval, the last one carried on. True; false
 * without them: fewer than three intervals, no bars, money moved, or no memory. */
bool cli_events_curves_metrics(const struct events_curves *curves, int account, struct metrics *ret);

#endif
