/* One episode of a policy that acts by its means, or its likeliest levels, step by step: what every
 * evaluation is computed from, its verdict too. */
#ifndef TRAINER_TRAINING_EPISODE_H
#define TRAINER_TRAINING_EPISODE_H

#include "strategy/metrics.h"
#include "strategy/metrics/verdict.h"
#include "strategy/policy/trained.h"
#include "trainer/training/source.h"

enum { EPISODE_ERROR_MAX = SOURCE_ERROR_MAX };

struct training_episode {
    size_t first; /* the row at whose close it decides first */
    size_t n;     /* steps; step i ends at the close of row first + 1 + i */
    int n_assets;
    double capital;             /* equity before the first step, which also buys the benchmark at row 0 */
    double *equity, *benchmark; /* [n], after each step; owned */
    double *weights, *moves;    /* [n_assets][n] as struct verdict_input has them; owned */
    double reward;              /* sum */
    double drawdown;            /* the largest, a share */
    double fees, turnover;      /* sums over its trades, currency */
    double opened, closed; /* parts of the turnover: of trades that enlarged a position, that reduced one */
    double invested;       /* sum over steps of the value of positions, long or short, as a share of equity */
    size_t exposed;        /* steps at whose close something is held */
    size_t buys, sells, open_trades;
    struct metrics_trades trades; /* from flat to flat, after fees */
    bool ruined;
};

/* A trade from flat to flat, after fees, in rows of the market. */
struct training_trade {
    int asset;
    bool is_short;
    size_t opened, closed; /* rows */
    double most, profit;   /* the largest quantity, without sign; currency */
};

/* Files that an episode is written to, step by step; NULL: none. */
struct training_calls {
    void *ctx;
    void (*begins)(void *ctx, const struct env *env);
    void (*stepped)(void *ctx, const struct env *env, const float *actions, float reward, bool done);
    void (*traded)(void *ctx, const struct env_trade *trade);
    void (*closed)(void *ctx, const struct training_trade *trade);
};

/* What is played: from the row where the environment stands to the end of its episode. */
struct training_play {
    struct env *env; /* one copy, ENV_SCALAR, at an episode's start */
    const struct env_market *market;
    enum env_execution execution;
    size_t steps_max; /* that the episode can have */
    /* The source of actions [actions]: networks, with the memory of their start, or a callback. 0, or -errno
     * with a sentence, which ends the episode. */
    const struct net_model *model;
    int (*decide)(void *ctx, float *actions, char err[static EPISODE_ERROR_MAX]);
    void *ctx;
    const struct training_calls *calls; /* or NULL */
};

/* 0, for training_episode_finish(); -EINVAL: an action is not finite; -ENOMEM; what `decide` returns; with a
 * sentence. */
int training_episode_play(const struct training_play *play, struct training_episode *ret,
                          char err[static EPISODE_ERROR_MAX]);
void training_episode_finish(struct training_episode *episode); /* fine on a zeroed one */

/* Its verdict; kind VERDICT_NONE where a figure is not finite. 0, -ENOMEM. */
int training_episode_verdict(const struct training_episode *episode, struct verdict *ret);

#endif
