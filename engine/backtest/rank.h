/* Several strategies on one market: each is a backtest by itself, with the same figures, and all are ranked
 * among each other, with what of the best is luck. */
#ifndef ENGINE_BACKTEST_RANK_H
#define ENGINE_BACKTEST_RANK_H

#include "engine/backtest/luck.h"
#include "engine/backtest/report.h"

enum { RANK_WHY_MAX = 320 };

/* An account of the configuration that was not run. */
struct rank_left_out {
    int account;
    char why[RANK_WHY_MAX];
};

struct backtest_rank_options {
    struct report_config report;
    enum sweep_metric metric;
    size_t min_trades;
    bool strict; /* an account that cannot be run is an error; else it is left out */
    bool curves; /* keep each account's equity */
};

/* All zero is an empty one. Arrays are owned; those [n] are in the order of the configuration's accounts. */
struct backtest_rank {
    size_t n;                        /* accounts that ran */
    struct account_spec *accounts;   /* [n] */
    struct backtest backtest;        /* theirs: without equity unless `curves`, without orders and ledger */
    struct backtest_report *reports; /* [n] */
    struct sweep_results rows;       /* [n], best first: `combination` is the place in `accounts` */
    struct backtest_luck luck;
    struct rank_left_out *left_out; /* [n_left_out] */
    size_t n_left_out;
    double seconds[BACKTEST_STAGES]; /* of the time that passed; LOAD is the caller's */
};

/* Runs each account by itself, one or more, several at once on config->threads, and ranks them. The
 * configuration keeps neither orders nor the ledger; of its callbacks progress() alone is called, by one
 * thread at a time. A strategy that opens nothing without shorts is left out where the account has none.
 * 0 with *ret, to be finished by the caller; -EINVAL where none can be run, or with `strict` one cannot (err:
 * one sentence); -ECANCELED; -ENOMEM. */
int backtest_rank_run(const struct backtest_config *config, const struct backtest_rank_options *options,
                      struct backtest_rank *ret, char *err, size_t err_size);
void backtest_rank_finish(struct backtest_rank *rank);

#endif
