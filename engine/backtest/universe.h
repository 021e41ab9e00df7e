/* The universe of a market's bars over time, by a rule (engine/universe.h): at each of its times which
 * symbols are in, of the bars that have closed by then. Before the first time every symbol is out. */
#ifndef ENGINE_BACKTEST_UNIVERSE_H
#define ENGINE_BACKTEST_UNIVERSE_H

#include "engine/backtest/backtest.h"
#include "engine/universe.h"

struct backtest_membership {
    int64_t at_ns;
    int symbol;
    bool in;
};

struct backtest_universe {
    struct engine_universe_rule rule;
    struct backtest_membership *changes; /* by at_ns, then by symbol */
    size_t n;
    int64_t *times; /* [n_times], from the first bar's open to the last one's end */
    size_t *in;     /* [n_times] how many symbols are in */
    size_t n_times;
    /* The measure of the first condition, or of the rank: the highest, at any time, of any symbol; NaN. */
    double highest;
    int highest_symbol;
};

/* `actions` as in a backtest's configuration: a split is no change of a price. 0 with *ret, for
 * backtest_universe_finish(); -EINVAL where the rule has more times than the bars (err: one sentence);
 * -ENOMEM. */
int backtest_universe_make(const struct market *market, const struct backtest_action *actions,
                           size_t n_actions, const struct engine_universe_rule *rule,
                           struct backtest_universe *ret, char err[static UNIVERSE_ERROR_MAX]);
void backtest_universe_finish(struct backtest_universe *universe); /* all zero is fine */

/* Is a symbol in at a moment, by what changed until then? *next, 0 at first, counts the changes that were
 * taken into in[n_symbols], all false at first. */
void backtest_universe_until(const struct backtest_universe *universe, int64_t ns, size_t *next, bool *in);

/* The times of rows [from, to), and the mean of the symbols that are in then, and the times at which no
 * symbol is. */
struct backtest_universe_sums {
    size_t times, empty;
    double mean;
};
struct backtest_universe_sums backtest_universe_sum(const struct backtest_universe *universe, int64_t from_ns,
                                                    int64_t to_ns);

#endif
