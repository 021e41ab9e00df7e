/* One episode of a policy that acts by its means, or its likeliest levels, and its result. */
#ifndef TRAINER_COMMAND_EVAL_EPISODE_H
#define TRAINER_COMMAND_EVAL_EPISODE_H

#include "strategy/metrics.h"
#include "trainer/command/eval_market.h"

/* Files that an episode is written to, step by step; NULL: none. */
struct eval_calls {
    void *ctx;
    void (*begins)(void *ctx, const struct env *env);
    void (*stepped)(void *ctx, const struct env *env, const float *actions, float reward, bool done);
    void (*traded)(void *ctx, const struct env_trade *trade);
};

struct eval_episode {
    size_t first;               /* the row at whose close it decides first */
    size_t n;                   /* steps; step i ends at the close of row first + 1 + i */
    double capital;             /* equity before the first step, which also buys the benchmark at row 0 */
    double *equity, *benchmark; /* [n], after each step; owned */
    double fees, turnover;      /* sums over its trades, currency */
    double invested; /* sum over steps of the value of positions, long or short, as a share of equity */
    size_t exposed;  /* steps at whose close something is held */
    size_t buys, sells, open_trades;
    struct metrics_trades trades; /* from flat to flat, after fees */
    bool ruined;
};

/* Plays rows [from, to) of market->env_market, which trainer_eval_market_open()'s `first` and the lookback
 * allow: 2 * lookback + 1 of them at least. 0, for trainer_eval_episode_finish(); -EINVAL (err), -ENOMEM. */
int trainer_eval_episode_play(struct eval_market *market, size_t from, size_t to,
                              const struct eval_calls *calls, struct eval_episode *ret,
                              char err[static EVAL_ERROR_MAX]);
void trainer_eval_episode_finish(struct eval_episode *episode);

#endif
