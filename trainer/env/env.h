/* The trading environment, vectorised: E copies of an account over the bars of n assets. docs/environment.md
 * has the rules; guide for programs that train on it: C here, Python in trainer/python.
 *
 *     env_params_preset("market", &params, err);
 *     env_market_create(&source, &params, &market, err);
 *     env_create(&params, market, &(struct env_options){.copies = 4096, .seed = 1}, &env, err);
 *     for (;;) {
 *         env_observe(env, obs);               // [copies][env_observation_size()]
 *         policy(obs, actions);                // [copies][env_action_size()]
 *         env_step(env, &(struct env_io){.actions = actions, .rewards = rewards, …}, err);
 *     }
 *
 * Installed as <papertape/env/env.h> with the headers that it includes; pkg-config: papertape-env.
 *
 * Shapes: row-major, a copy a row. Everything is the caller's; an environment belongs to one thread at a
 * time. Results do not depend on backend, threads or how copies are divided. */
#ifndef TRAINER_ENV_ENV_H
#define TRAINER_ENV_ENV_H

#include "trainer/env/market.h"
#include "trainer/env/params.h"
#include "trainer/env/trade.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct env;

enum env_backend {
    ENV_BEST,     /* the widest instruction set that the processor has */
    ENV_SCALAR,   /* plain C: what the others are checked against */
    ENV_BASELINE, /* SIMD source with 16-byte vectors; ENV_MARKET steps as ENV_SCALAR */
    ENV_AVX2,     /* as all of them, steps ENV_DAY_TRADE as ENV_SCALAR */
    ENV_AVX512,
};
const char *env_backend_name(enum env_backend backend);
bool env_backend_works(enum env_backend backend); /* on this processor */

struct env_options {
    size_t copies; /* >= 1 */
    uint64_t seed;
    int threads; /* 0: one; the caller's is one of them */
    enum env_backend backend;
};

/* One step's input and output. */
struct env_io {
    const float *actions;   /* [copies][action_size]: ENV_CONTINUOUS, or levels as whole numbers (DISCRETE) */
    bool actions_by_column; /* [action_size][copies] instead */
    float *rewards;         /* [copies] */
    uint8_t *terminated;    /* [copies] 1: ruined */
    uint8_t *truncated;     /* [copies] 1: the episode's bars are over */
    float *final_obs;       /* NULL, or [copies][observation_size]: ENV_SAME_STEP writes the rows of copies
                               that ended */
};

/* Checks all, then allocates all and begins the first episode in every copy. 0, for env_destroy(); -EINVAL
 * for NULL, parameters that contradict each other or the market, no copies, a backend that the processor
 * lacks; -ENOMEM; -EAGAIN: no more threads are allowed.
 *
 * With threads >= 2 a child of fork() does not have them: there calls would wait for ever, and the
 * environment must not be used. Create environments after a fork, or with one thread. */
int env_create(const struct env_params *params, const struct env_market *market,
               const struct env_options *options, struct env **ret, char err[static ENV_ERROR_MAX]);
void env_destroy(struct env *env); /* NULL is fine; before its market */

size_t env_copies(const struct env *env);
int env_action_size(const struct env *env);      /* n_assets; 2 with ENV_DAY_TRADE */
int env_observation_size(const struct env *env); /* 1 + n_assets + lookback * n_features */

/* Where each copy's episodes begin and how many rows they have, from its next episode on: [copies] each, or
 * NULL for the parameters'. With random_start `starts` are the first rows that are drawn. -EINVAL: a window
 * that the market does not have; names the copy. A market of env_market_blocks() takes none. */
int env_windows(struct env *env, const int64_t *starts, const int64_t *bars, char err[static ENV_ERROR_MAX]);

/* Begins the next episode, however the last one ended, in every copy (mask NULL) or in those with mask[copy]
 * != 0. Not needed after env_create(); after env_windows() it makes them count at once. */
void env_reset(struct env *env, const uint8_t *mask);

/* A step of all copies. 0; -EINVAL for an action that is not finite, or no level: err names copy and asset,
 * and nothing was stepped. */
int env_step(struct env *env, const struct env_io *io, char err[static ENV_ERROR_MAX]);

/* [copies][observation_size]: cash * norm_cash, quantities * norm_stocks, the last lookback rows of features,
 * newest first. */
void env_observe(const struct env *env, float *ret);

/* What may be done now. ENV_CONTINUOUS: [copies][action_size], bit 0: may be bought, bit 1: may be sold;
 * ENV_DISCRETE: [copies][action_size][levels], 1 or 0. Of an asset that cannot trade (its bar is missing, or
 * an order of it waits) only 0 is allowed; nothing can be sold that is not held, nothing bought without free
 * cash for the least quantity. A step does not need the mask: what cannot be done is not done. */
void env_masks(const struct env *env, uint8_t *ret);

/* Of every copy in its current state; arrays [copies], NULL where not wanted. Currency; shares of 1. */
struct env_info {
    double *equity, *cash, *benchmark, *fees, *drawdown, *exposure; /* drawdown: the largest so far */
    int32_t *row, *buys, *sells;
};
void env_info(const struct env *env, const struct env_info *ret);

/* Of the last episode that each copy ended; zeros before the first. [copies], NULL where not wanted. */
struct env_episode {
    double *equity, *benchmark, *fees, *reward, *drawdown, *exposure;
    int32_t *steps, *buys, *sells;
};
void env_episode(const struct env *env, const struct env_episode *ret);

/* One copy's positions: [n_assets] each, NULL where not wanted. Units; bars; prices. */
void env_positions(const struct env *env, size_t copy, double *qty, double *held, double *peak);

/* Calls `trade` for each trade of later steps, in the order that they happen; NULL: no more. 0; -ENOTSUP
 * unless the backend is ENV_SCALAR. */
int env_trades(struct env *env, env_trade_fn *trade, void *ctx);

/* Everything that changes, to continue from or to compare bit by bit: env_save() writes env_state_bytes().
 * The seed and env_windows() are part of it, so that after env_load() the environment continues with the same
 * draws and bits. Threads and backend are not. */
size_t env_state_bytes(const struct env *env);
void env_save(const struct env *env, void *ret);
/* `state`: [env_state_bytes()]. -EINVAL, and nothing is loaded: it has other copies or assets, other
 * parameters (err names one), or another market: what a step reads of its rows, features and symbols must be
 * the same. */
int env_load(struct env *env, const void *state, char err[static ENV_ERROR_MAX]);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
