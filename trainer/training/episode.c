#include "trainer/training/episode.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"

/* The position of an asset, long or short, since it was flat. */
struct open_trade {
    double qty, most; /* now; the largest that it was */
    double profit;    /* of the sales and purchases so far, less fees */
    bool is_short;
    size_t row;
};

struct walk {
    const struct training_play *play;
    const struct env_market_view *view;
    struct training_episode *episode;
    struct open_trade *open; /* [n_assets] */
    double *held;            /* [n_assets], as the environment counts it */
    float *observation, *actions;
    struct net_memory *memory;
    double flat; /* a share of the largest quantity: below it the position is flat */
};

/* As a share of the largest quantity: the rounding error that the sum of all trades may have where it should
 * be 0, where the environment counts in whole quanta, and where it counts in float32. */
static const double FLAT = 1e-12, FLAT_FLOAT32 = 1e-6;

static int no_memory(char err[static EPISODE_ERROR_MAX])
{
    return fail_with(-ENOMEM, err, EPISODE_ERROR_MAX, "out of memory: the episode");
}

/* ---- trades ---- */

static void close_trade(const struct walk *walk, struct open_trade *open, size_t row)
{
    int64_t held_ns =
        env_market_open_ns(walk->play->market, row) - env_market_open_ns(walk->play->market, open->row);
    const struct training_calls *calls = walk->play->calls;
    const struct training_trade trade = {
        (int)(open - walk->open), open->is_short, open->row, row, open->most, open->profit};
    metrics_trades_add(&walk->episode->trades, open->profit, held_ns);
    if (calls && calls->closed)
        calls->closed(calls->ctx, &trade);
    *open = (struct open_trade){0};
}

static void add_trade(const struct walk *walk, struct open_trade *open, double qty, double price, double fee,
                      size_t row)
{
    bool opens = open->qty == 0 || (qty > 0) == (open->qty > 0);
    *(opens ? &walk->episode->opened : &walk->episode->closed) += fabs(qty) * price;
    if (open->qty == 0) {
        open->row = row;
        open->is_short = qty < 0;
    }
    open->qty += qty;
    open->profit -= qty * price + fee;
    open->most = fmax(open->most, fabs(open->qty));
    if (fabs(open->qty) <= walk->flat * open->most)
        close_trade(walk, open, row);
}

/* A trade that crosses zero closes one position and opens another. */
static void on_trade(void *ctx, size_t copy, const struct env_trade *trade)
{
    const struct walk *walk = ctx;
    const struct training_calls *calls = walk->play->calls;
    struct training_episode *episode = walk->episode;
    struct open_trade *open = &walk->open[trade->asset];
    double rest = open->qty + trade->qty, part = 1;
    (void)copy;
    episode->fees += trade->fee;
    episode->turnover += fabs(trade->qty) * trade->price;
    if (trade->qty > 0)
        episode->buys++;
    else
        episode->sells++;
    if (open->qty != 0 && (rest > 0) != (open->qty > 0) && fabs(rest) > walk->flat * open->most)
        part = -open->qty / trade->qty;
    add_trade(walk, open, part < 1 ? -open->qty : trade->qty, trade->price, part * trade->fee,
              (size_t)trade->row);
    if (part < 1)
        add_trade(walk, open, rest, trade->price, (1 - part) * trade->fee, (size_t)trade->row);
    if (calls && calls->traded)
        calls->traded(calls->ctx, trade);
}

/* At a step's end: closes what the environment calls flat, even if the sum does not. */
static void close_flat(const struct walk *walk, size_t row)
{
    bool any = false;
    for (int i = 0; i < walk->episode->n_assets; i++) {
        any = any || walk->held[i] != 0;
        if (walk->held[i] == 0 && walk->open[i].qty != 0)
            close_trade(walk, &walk->open[i], row);
    }
    walk->episode->exposed += any;
}

/* ---- steps ---- */

static double close_of(const struct walk *walk, size_t row, int asset)
{
    return (double)walk->view->close[row * (size_t)walk->view->row_stride + (size_t)asset];
}

/* What is held over the step that ends at `row`, as shares of the equity before it. ENV_REFERENCE trades at
 * that close: `held` is of before it; ENV_MARKET at the open: of after it. */
static void note_weights(const struct walk *walk, size_t row, double equity)
{
    struct training_episode *episode = walk->episode;
    for (int i = 0; i < episode->n_assets; i++) {
        double before = close_of(walk, row - 1, i);
        size_t at = (size_t)i * walk->play->steps_max + episode->n;
        episode->weights[at] = walk->held[i] * before / equity;
        episode->moves[at] = close_of(walk, row, i) / before - 1;
    }
}

static int decide(const struct walk *walk, char err[static EPISODE_ERROR_MAX])
{
    const struct training_play *play = walk->play;
    if (play->decide)
        return play->decide(play->ctx, walk->actions, err);
    env_observe(play->env, walk->observation);
    policy_net_model_act(play->model, walk->memory, walk->observation, walk->actions);
    return 0;
}

static int step(const struct walk *walk, bool *ret_done, char err[static EPISODE_ERROR_MAX])
{
    const struct training_play *play = walk->play;
    struct training_episode *episode = walk->episode;
    double before = episode->n > 0 ? episode->equity[episode->n - 1] : episode->capital, invested;
    size_t row = episode->first + episode->n + 1;
    float reward;
    uint8_t terminated, truncated;
    const struct env_io io = {
        .actions = walk->actions, .rewards = &reward, .terminated = &terminated, .truncated = &truncated};
    const struct env_info info = {.equity = &episode->equity[episode->n],
                                  .benchmark = &episode->benchmark[episode->n],
                                  .exposure = &invested};
    int r = decide(walk, err);
    if (r < 0 || (r = env_step(play->env, &io, err)) < 0)
        return r;
    env_info(play->env, &info);
    if (play->execution == ENV_REFERENCE)
        note_weights(walk, row, before);
    env_positions(play->env, 0, walk->held, NULL, NULL);
    if (play->execution == ENV_MARKET)
        note_weights(walk, row, before);
    close_flat(walk, row);
    episode->reward += (double)reward;
    episode->invested += invested;
    episode->n++;
    *ret_done = terminated || truncated;
    episode->ruined = terminated;
    if (play->calls && play->calls->stepped)
        play->calls->stepped(play->calls->ctx, play->env, walk->actions, reward, *ret_done);
    return 0;
}

static int play_all(const struct walk *walk, char err[static EPISODE_ERROR_MAX])
{
    const struct training_play *play = walk->play;
    struct training_episode *episode = walk->episode;
    int32_t row;
    bool done = false;
    int r = env_trades(play->env, on_trade, (void *)(uintptr_t)walk);
    env_info(play->env, &(struct env_info){.equity = &episode->capital, .row = &row});
    episode->first = (size_t)row;
    if (play->calls && play->calls->begins)
        play->calls->begins(play->calls->ctx, play->env);
    while (r == 0 && !done)
        r = step(walk, &done, err);
    env_trades(play->env, NULL, NULL);
    env_info(play->env, &(struct env_info){.drawdown = &episode->drawdown});
    for (int i = 0; i < episode->n_assets; i++)
        episode->open_trades += walk->open[i].qty != 0;
    return r;
}

/* ---- the episode ---- */

static bool make_room(struct walk *walk)
{
    const struct training_play *play = walk->play;
    struct training_episode *episode = walk->episode;
    size_t steps = play->steps_max, assets = (size_t)episode->n_assets;
    walk->observation = malloc((size_t)env_observation_size(play->env) * sizeof *walk->observation);
    walk->actions = malloc((size_t)env_action_size(play->env) * sizeof *walk->actions);
    walk->open = calloc(assets, sizeof *walk->open);
    walk->held = calloc(assets, sizeof *walk->held);
    episode->equity = malloc(steps * sizeof *episode->equity);
    episode->benchmark = malloc(steps * sizeof *episode->benchmark);
    episode->weights = malloc(assets * steps * sizeof *episode->weights);
    episode->moves = malloc(assets * steps * sizeof *episode->moves);
    return walk->observation && walk->actions && walk->open && walk->held && episode->equity &&
           episode->benchmark && episode->weights && episode->moves &&
           (!play->model || policy_net_memory_create(play->model, &walk->memory) == 0);
}

/* Columns that were apart by the steps that there could have been, by those that there were. */
static void close_up(double *columns, int n, size_t apart, size_t steps)
{
    for (int i = 1; i < n && steps < apart; i++)
        memmove(columns + (size_t)i * steps, columns + (size_t)i * apart, steps * sizeof *columns);
}

int training_episode_play(const struct training_play *play, struct training_episode *ret,
                          char err[static EPISODE_ERROR_MAX])
{
    struct training_episode episode = {.n_assets = env_market_view(play->market)->n};
    struct walk walk = {.play = play,
                        .view = env_market_view(play->market),
                        .episode = &episode,
                        .flat = play->execution == ENV_MARKET ? FLAT : FLAT_FLOAT32};
    int r = make_room(&walk) ? play_all(&walk, err) : no_memory(err);
    policy_net_memory_destroy(walk.memory);
    free(walk.observation);
    free(walk.actions);
    free(walk.open);
    free(walk.held);
    if (r < 0) {
        training_episode_finish(&episode);
        return r;
    }
    close_up(episode.weights, episode.n_assets, play->steps_max, episode.n);
    close_up(episode.moves, episode.n_assets, play->steps_max, episode.n);
    *ret = episode;
    return 0;
}

void training_episode_finish(struct training_episode *episode)
{
    free(episode->equity);
    free(episode->benchmark);
    free(episode->weights);
    free(episode->moves);
    *episode = (struct training_episode){0};
}

int training_episode_verdict(const struct training_episode *episode, struct verdict *ret)
{
    const struct verdict_input input = {.n = episode->n,
                                        .n_assets = episode->n_assets,
                                        .initial = episode->capital,
                                        .equity = episode->equity,
                                        .benchmark = episode->benchmark,
                                        .weights = episode->weights,
                                        .moves = episode->moves,
                                        .fees = episode->fees,
                                        .opened = episode->opened,
                                        .closed = episode->closed,
                                        .buys = (int64_t)episode->buys,
                                        .sells = (int64_t)episode->sells};
    int r = metrics_verdict(&input, ret);
    if (r == -EINVAL)
        *ret = (struct verdict){0};
    return r == -EINVAL ? 0 : r;
}
