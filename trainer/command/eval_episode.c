#include "trainer/command/eval_episode.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "trainer/command/eval_show.h"

/* The position of an asset, long or short, since it was flat. */
struct open_trade {
    double qty, most; /* now; the largest that it was */
    double profit;    /* of the sales and purchases so far, less fees */
    size_t row;
};

struct episode_play {
    struct eval_market *market;
    const struct eval_calls *calls;
    struct eval_episode *episode;
    struct open_trade *open; /* [n_assets] */
    double *held;            /* [n_assets], as the environment counts it */
    double flat;             /* a share of the largest quantity: below it the position is flat */
};

/* As a share of the largest quantity: the rounding error that the sum of all trades may have where it should
 * be 0, where the environment counts in whole quanta, and where it counts in float32. */
static const double FLAT = 1e-12, FLAT_FLOAT32 = 1e-6;

static void close_trade(const struct episode_play *play, struct open_trade *open, size_t row)
{
    int64_t held_ns = env_market_open_ns(play->market->env_market, row) -
                      env_market_open_ns(play->market->env_market, open->row);
    metrics_trades_add(&play->episode->trades, open->profit, held_ns);
    *open = (struct open_trade){0};
}

static void add_trade(const struct episode_play *play, struct open_trade *open, double qty, double price,
                      double fee, size_t row)
{
    if (open->qty == 0)
        open->row = row;
    open->qty += qty;
    open->profit -= qty * price + fee;
    open->most = fmax(open->most, fabs(open->qty));
    if (fabs(open->qty) <= play->flat * open->most)
        close_trade(play, open, row);
}

/* A trade that crosses zero closes one position and opens another. */
static void on_trade(void *ctx, size_t copy, const struct env_trade *trade)
{
    const struct episode_play *play = ctx;
    struct open_trade *open = &play->open[trade->asset];
    double rest = open->qty + trade->qty, part = 1;
    (void)copy;
    play->episode->fees += trade->fee;
    play->episode->turnover += fabs(trade->qty) * trade->price;
    if (trade->qty > 0)
        play->episode->buys++;
    else
        play->episode->sells++;
    if (open->qty != 0 && (rest > 0) != (open->qty > 0) && fabs(rest) > play->flat * open->most)
        part = -open->qty / trade->qty;
    add_trade(play, open, part < 1 ? -open->qty : trade->qty, trade->price, part * trade->fee,
              (size_t)trade->row);
    if (part < 1)
        add_trade(play, open, rest, trade->price, (1 - part) * trade->fee, (size_t)trade->row);
    if (play->calls && play->calls->traded)
        play->calls->traded(play->calls->ctx, trade);
}

/* At a step's end: closes what the environment calls flat, even if the sum does not. */
static void close_flat(const struct episode_play *play, size_t row)
{
    bool any = false;
    env_positions(play->market->env, 0, play->held, NULL, NULL);
    for (int i = 0; i < play->market->bars->n_symbols; i++) {
        any = any || play->held[i] != 0;
        if (play->held[i] == 0 && play->open[i].qty != 0)
            close_trade(play, &play->open[i], row);
    }
    play->episode->exposed += any;
}

static void look(const struct eval_market *market, double *equity, double *benchmark, double *invested,
                 int32_t *row)
{
    const struct env_info info = {.equity = equity, .benchmark = benchmark, .exposure = invested, .row = row};
    env_info(market->env, &info);
}

/* The source of actions: networks with their memory, or an ensemble's runtime. */
struct decider {
    struct net_memory *memory;
    struct eval_show show;
};

static int decide(const struct eval_market *market, struct decider *decider, float *observation,
                  float *actions, char err[static EVAL_ERROR_MAX])
{
    if (!market->ensemble) {
        env_observe(market->env, observation);
        policy_net_model_act(market->policy->model, decider->memory, observation, actions);
    } else if (!trainer_eval_show_act(&decider->show, actions)) {
        return fail_with(-EINVAL, err, EVAL_ERROR_MAX, "the ensemble: an action is not finite");
    }
    return 0;
}

static int step(const struct episode_play *play, struct decider *decider, float *observation, float *actions,
                bool *ret_done, char err[static EVAL_ERROR_MAX])
{
    struct eval_market *market = play->market;
    struct eval_episode *episode = play->episode;
    double invested;
    float reward;
    uint8_t terminated, truncated;
    int32_t row;
    const struct env_io io = {
        .actions = actions, .rewards = &reward, .terminated = &terminated, .truncated = &truncated};
    int r = decide(market, decider, observation, actions, err);
    if (r == 0)
        r = env_step(market->env, &io, err);
    if (r < 0)
        return r;
    look(market, &episode->equity[episode->n], &episode->benchmark[episode->n], &invested, &row);
    close_flat(play, (size_t)row);
    episode->invested += invested;
    episode->n++;
    *ret_done = terminated || truncated;
    episode->ruined = terminated;
    if (play->calls && play->calls->stepped)
        play->calls->stepped(play->calls->ctx, market->env, actions, reward, *ret_done);
    return 0;
}

static int play_all(const struct episode_play *play, size_t from, float *observation, float *actions,
                    char err[static EVAL_ERROR_MAX])
{
    struct decider decider = {0};
    bool done = false;
    int r = play->market->ensemble ? trainer_eval_show_open(play->market, from, &decider.show)
                                   : policy_net_memory_create(play->market->policy->model, &decider.memory);
    if (r < 0) {
        snprintf(err, EVAL_ERROR_MAX, "out of memory");
        return r;
    }
    while (r == 0 && !done)
        r = step(play, &decider, observation, actions, &done, err);
    policy_net_memory_destroy(decider.memory);
    trainer_eval_show_close(&decider.show);
    return r;
}

static int begin(const struct episode_play *play, size_t from, size_t rows, char err[static EVAL_ERROR_MAX])
{
    struct eval_market *market = play->market;
    struct eval_episode *episode = play->episode;
    int64_t start = (int64_t)from, bars = (int64_t)rows;
    int32_t row;
    int r = env_windows(market->env, &start, &bars, err);
    if (r < 0)
        return r;
    env_reset(market->env, NULL);
    look(market, &episode->capital, NULL, NULL, &row);
    episode->first = (size_t)row;
    if (play->calls && play->calls->begins)
        play->calls->begins(play->calls->ctx, market->env);
    return env_trades(market->env, on_trade, (void *)(uintptr_t)play);
}

int trainer_eval_episode_play(struct eval_market *market, size_t from, size_t to,
                              const struct eval_calls *calls, struct eval_episode *ret,
                              char err[static EVAL_ERROR_MAX])
{
    struct eval_episode episode = {0};
    size_t n_assets = (size_t)market->bars->n_symbols, rows = to - from;
    struct episode_play play = {.market = market,
                                .calls = calls,
                                .episode = &episode,
                                .flat = market->params.execution == ENV_MARKET ? FLAT : FLAT_FLOAT32};
    float *observation = malloc((size_t)env_observation_size(market->env) * sizeof *observation);
    float *actions = malloc((size_t)env_action_size(market->env) * sizeof *actions);
    play.open = calloc(n_assets, sizeof *play.open);
    play.held = calloc(n_assets, sizeof *play.held);
    episode.equity = malloc(rows * sizeof *episode.equity);
    episode.benchmark = malloc(rows * sizeof *episode.benchmark);
    int r =
        observation && actions && play.open && play.held && episode.equity && episode.benchmark ? 0 : -ENOMEM;
    if (r < 0)
        snprintf(err, EVAL_ERROR_MAX, "out of memory");
    if (r == 0)
        r = begin(&play, from, rows, err);
    if (r == 0)
        r = play_all(&play, from, observation, actions, err);
    env_trades(market->env, NULL, NULL);
    for (size_t i = 0; play.open && i < n_assets; i++)
        episode.open_trades += play.open[i].qty != 0;
    free(observation);
    free(actions);
    free(play.open);
    free(play.held);
    if (r < 0) {
        trainer_eval_episode_finish(&episode);
        return r;
    }
    *ret = episode;
    return 0;
}

void trainer_eval_episode_finish(struct eval_episode *episode)
{
    free(episode->equity);
    free(episode->benchmark);
    *episode = (struct eval_episode){0};
}
