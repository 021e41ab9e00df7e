/* Guards against self-deception, for one strategy on the bars of a market, by the engine and by the
 * vectorised backtest.
 *
 * Look-ahead: what a strategy decided up to a bar may not depend on what came after it. The whole run is
 * compared with runs on bars that end at a cut, and on bars that continue differently after it (other
 * prices, other volumes); since a strategy with memorized dates passes both, also with a run on the same
 * bars moved to other years; and the two ways of running with each other.
 *
 * Warm-up: the history after which a strategy's decisions no longer depend on where the history starts. */
#ifndef ENGINE_BACKTEST_GUARD_H
#define ENGINE_BACKTEST_GUARD_H

#include "engine/backtest/backtest.h"
#include "engine/universe.h"
#include "indicators_gpu/indicators.h"
#include "strategy/external.h"

enum { GUARD_CUTS = 32, GUARD_WINDOWS = 8 }; /* by default */

struct guard_config {
    const struct market *market;
    const struct trading_calendar *calendar; /* NULL, or the market's, as in a backtest */
    const struct external_columns
        *external; /* NULL, or as in a backtest: cut, changed and moved with the bars */
    const struct backtest_action *actions; /* as in a backtest */
    size_t n_actions;
    const struct engine_universe_rule *universe; /* NULL, or computed again on each run's bars */
    const char *venue;                  /* NULL, or whose rules of orders hold: class_by_calendar there */
    const struct account_spec *account; /* of the strategy; cash and rules as in a backtest */
    int64_t latency_ns;
    int32_t slippage_e6;
    size_t cuts; /* look-ahead: 0: GUARD_CUTS; never more than there are rows */
    uint64_t seed;
    int threads;                               /* 0: one a core */
    bool (*progress)(void *ctx, double share); /* NULL, or called now and then; false: stop, -ECANCELED */
    void *ctx;
};

/* An order intent of a strategy at the close of a row. */
struct guard_decision {
    size_t row;
    int symbol;
    size_t n_intents;
    struct intent intents[STRATEGY_INTENTS_MAX]; /* intents[i].why is NULL: it is whys[i] */
    char whys[STRATEGY_INTENTS_MAX][STRATEGY_WHY_MAX];
};

enum guard_change { GUARD_CUT, GUARD_PERTURBED, GUARD_MOVED, GUARD_WAYS, GUARD_CHANGES };

/* In words: "the bars end there". */
const char *backtest_guard_change_name(enum guard_change change);

/* A decision, or an order, that only one of two runs has, or that differs. */
struct guard_difference {
    enum guard_change change;
    enum backtest_way way;
    size_t cut; /* the last row that both runs have; GUARD_MOVED: the last row */
    size_t row; /* of the decision */
    int symbol;
    int64_t cut_ns, ts_ns;          /* the ends of those two rows, in the market's time */
    bool of_order;                  /* else of a decision */
    bool in_whole, in_changed;      /* which run has it */
    struct guard_decision decision; /* of the whole run, then of the other */
    struct guard_decision changed_decision;
    struct order order, changed_order;
};

struct guard_lookahead {
    size_t cuts, runs;
    size_t decisions, orders; /* of the whole run, the engine's way */
    bool columns;             /* the vectorised backtest was compared too: it covers the strategy */
    bool found;
    struct guard_difference first; /* by time, then by change */
};

/* 0 with the result; errors of backtest_run(); -EINVAL for fewer rows than there can be a cut in; -ENOMEM;
 * err: one sentence. */
int backtest_guard_lookahead(const struct guard_config *config, struct guard_lookahead *ret, char *err,
                             size_t err_size);

struct guard_warmup {
    bool settles;                 /* false too where nothing was decided */
    size_t bars;                  /* of history that suffice; undefined when it never settles */
    size_t most;                  /* the longest history that was tried */
    size_t predicted;             /* the longest warm-up of its indicators, in bars; INDICATOR_FOREVER */
    size_t lookback;              /* bars before its last indicator has its first output */
    size_t windows, window_rows;  /* that decisions were compared in */
    size_t runs, decisions;       /* decisions: of the full history, in all windows */
    struct guard_difference last; /* what differed with the longest history that did not suffice, if any */
    size_t last_bars;             /* that history; 0 with in_whole == in_changed == false: none differed */
};

/* The same errors; -EINVAL also when the market is too short to give a window and twice the predicted
 * history. */
int backtest_guard_warmup(const struct guard_config *config, struct guard_warmup *ret, char *err,
                          size_t err_size);

/* The longest warm-up and lookback of the indicators that a strategy with these parameters reads, in bars of
 * `interval_ns`: of those on longer bars, the bars that make them up, and those of one bar that is cut. 0;
 * -EINVAL for a specification that cannot be read (err: which). */
int backtest_guard_history(const struct strategy *strategy, const double *params, int64_t interval_ns,
                           size_t *ret_warmup, size_t *ret_lookback, char *err, size_t err_size);

#endif
