/* What must hold after every step on the paper exchange, whatever the parameters, drawn costs, gaps and
 * actions: an account kept here in integers, from the reported trades, is the environment's to the unit;
 * nothing is negative; lots stand on the venue's steps; what is asked for is what the masks allow. Another
 * backend steps along, and its state is the same byte by byte. */
#include "tests/check.h"
#include "tests/trainer/env/exchange_bars.h"
#include "trainer/env/internal.h"
#include "trainer/env/scalar/market.h"

enum { COPIES = 19 };

struct account {
    int64_t cash, fees, lots[MADE_ASSETS];
    int buys, sells;
    uint32_t episode;
    bool beyond; /* it sold for more than is exact */
    bool over;   /* it ended, beyond exact numbers perhaps, and rests */
};

struct run {
    struct made made;
    struct env_params params;
    struct policy_symbol symbols[MADE_ASSETS];
    struct env_market *market;
    struct env *env, *other;
    char *states[2];
    struct account accounts[COPIES];
    uint8_t masks[COPIES][MADE_ASSETS];
    float actions[COPIES * MADE_ASSETS];
};

static struct {
    long steps, trades, episodes, masked, terminated, beyond;
} seen;

/* The whole of a product over `by`, rounded up or down. */
static int64_t over(int64_t a, int64_t b, int64_t by, bool up)
{
    __int128 product = (__int128)a * b;
    return (int64_t)((product + (up ? by - 1 : 0)) / by);
}

static bool is_lot(const struct fill_lot *lot, int64_t qty)
{
    bool fits = qty > 0 && qty >= lot->min && (lot->max == 0 || qty <= lot->max) && qty >= lot->market_min &&
                (lot->market_max == 0 || qty <= lot->market_max);
    if (lot->step > 0)
        fits = fits && (qty - lot->min) % lot->step == 0;
    if (lot->market_step > 0)
        fits = fits && (qty - lot->market_min) % lot->market_step == 0;
    return fits;
}

static void on_reported(void *ctx, size_t copy, const struct env_trade *trade)
{
    struct run *run = ctx;
    struct account *account = &run->accounts[copy];
    const struct env_state *state = &run->env->view.state;
    const struct policy_symbol *symbol = &run->symbols[trade->asset];
    size_t at = (size_t)trade->asset * state->stride + copy;
    int64_t quanta =
        (int64_t)state->lots[at] - account->lots[trade->asset]; /* a double of units is no integer */
    int64_t price = llround(trade->price * 1e8);
    bool buy = quanta > 0;
    int64_t notional = over(price, llabs(quanta), symbol->divisor, buy);
    int64_t rate_e6 = llround((double)(buy ? state->fee_buy : state->fee_sell)[copy] * 1e6);
    int64_t fee = over(notional, rate_e6, 1000000, true);
    const int64_t *bar = run->made.bars[trade->asset][trade->row];
    seen.trades++;
    if (account->beyond)
        return;
    CHECK_NEAR(trade->qty * symbol->qty_units, (double)quanta, 1e-15 * fabs((double)quanta));
    CHECK_INT(trade->row, state->row[copy]);
    CHECK(made_there(&run->made, trade->asset, (size_t)trade->row));
    if ((double)price * (double)-quanta / (double)symbol->divisor > POLICY_EXACT_MAX) {
        account->beyond = true;
        return;
    }
    CHECK_INT(llround(trade->fee * 1e8), fee);
    if (trade->at_open)
        CHECK(buy ? price >= bar[0] : price <= bar[0]);
    else
        CHECK(!buy && price <= bar[0] && bar[2] <= bar[0]);
    if (!(state->slippage[copy] > 0))
        CHECK(price >= bar[2] && price <= bar[1]);
    if (buy)
        CHECK(is_lot(&symbol->lot, quanta));
    account->cash -= (buy ? notional : -notional) + fee;
    account->fees += fee;
    account->lots[trade->asset] += quanta;
    account->buys += buy;
    account->sells += !buy;
}

static void begin_account(struct run *run, size_t e)
{
    const struct env_state *state = &run->env->view.state;
    run->accounts[e] =
        (struct account){.cash = (int64_t)((const double *)state->capital)[e], .episode = state->episode[e]};
    double units = ((const double *)state->capital)[e] / 1e8;
    CHECK(units >= run->params.initial_capital.low - 1e-8 &&
          units <= run->params.initial_capital.high + 1e-8);
    CHECK(((const double *)state->capital)[e] == floor(((const double *)state->capital)[e]));
}

static double benchmark_of(const struct run *run, size_t e)
{
    const struct env_state *state = &run->env->view.state;
    double benchmark = 0, fee = (double)llround((double)state->fee_buy[e] * 1e6) / 1e6;
    for (int i = 0; i < run->made.n; i++) {
        size_t first = (size_t)state->first[e], row = (size_t)state->row[e];
        while (!made_there(&run->made, i, first) && first + 1 < run->made.rows)
            first++;
        while (!made_there(&run->made, i, first))
            first--;
        while (row > 0 && !made_there(&run->made, i, row))
            row--; /* every asset's row 0 is there */
        benchmark += ((const double *)state->capital)[e] / run->made.n *
                     ((double)run->made.bars[i][row][3] / (double)run->made.bars[i][first][3]) / (1 + fee);
    }
    return benchmark;
}

static void check_asset(const struct run *run, size_t e, int i, int64_t *equity)
{
    const struct env_state *state = &run->env->view.state;
    size_t at = (size_t)i * state->stride + e, row = (size_t)state->row[e];
    int64_t lots = run->accounts[e].lots[i];
    while (row > 0 && !made_there(&run->made, i, row))
        row--;
    CHECK(lots >= 0);
    CHECK_INT(state->lots[at], lots);
    CHECK_INT(state->closed[at], run->made.bars[i][row][3]);
    CHECK((state->stop[at] > 0) == (state->stop_qty[at] > 0));
    CHECK(state->stop[at] == 0 || lots > 0);
    CHECK((state->waiting[at] > 0) == (state->reserved[at] > 0));
    if (made_there(&run->made, i, (size_t)state->row[e]))
        CHECK(state->waiting[at] == 0);
    *equity += over(run->made.bars[i][row][3], lots, run->symbols[i].divisor, false);
}

static void check_copy(const struct run *run, size_t e)
{
    const struct env_state *state = &run->env->view.state;
    const struct account *account = &run->accounts[e];
    int64_t equity = account->cash;
    double reserved = 0;
    CHECK(account->cash >= 0);
    CHECK_INT(((const double *)state->cash)[e], account->cash);
    CHECK_INT(((const double *)state->fees)[e], account->fees);
    CHECK_INT(state->buys[e], account->buys);
    CHECK_INT(state->sells[e], account->sells);
    for (int i = 0; i < run->made.n; i++) {
        CHECK(state->lots[(size_t)i * state->stride + e] < POLICY_EXACT_MAX);
        check_asset(run, e, i, &equity);
        reserved += state->reserved[(size_t)i * state->stride + e];
    }
    CHECK(reserved <= (double)account->cash);
    CHECK_INT(((const double *)state->equity)[e], equity);
    CHECK((double)equity < POLICY_EXACT_MAX);
    double benchmark = benchmark_of(run, e);
    CHECK_NEAR(((const double *)state->benchmark)[e], benchmark, 1e-12 * benchmark);
    CHECK(state->drawdown[e] >= 0 && state->drawdown[e] <= 1);
    CHECK_NEAR(state->peak[e], (double)equity > state->peak[e] ? NAN : state->peak[e], 0);
}

static bool open_other(struct run *run, struct random *random, struct env_options options,
                       char err[static ENV_ERROR_MAX])
{
    do
        options.backend = (enum env_backend)random_between(random, ENV_BASELINE, ENV_AVX512);
    while (!env_backend_works(options.backend));
    if (env_create(&run->params, run->market, &options, &run->other, err) < 0)
        return false;
    for (int k = 0; k < 2; k++) {
        run->states[k] = malloc(env_state_bytes(run->env));
        if (!run->states[k])
            return false;
    }
    return true;
}

static void check_other(const struct run *run, const struct env_io *io)
{
    char err[ENV_ERROR_MAX];
    float rewards[COPIES];
    uint8_t terminated[COPIES], truncated[COPIES];
    const struct env_io others = {
        .actions = io->actions, .rewards = rewards, .terminated = terminated, .truncated = truncated};
    CHECK_INT(env_step(run->other, &others, err), 0);
    env_save(run->env, run->states[0]);
    env_save(run->other, run->states[1]);
    CHECK(memcmp(run->states[0], run->states[1], env_state_bytes(run->env)) == 0);
    CHECK(memcmp(rewards, io->rewards, sizeof rewards) == 0);
    CHECK(memcmp(terminated, io->terminated, sizeof terminated) == 0);
    CHECK(memcmp(truncated, io->truncated, sizeof truncated) == 0);
}

static bool open_run(struct run *run, struct random *random, bool wild)
{
    char err[ENV_ERROR_MAX] = "";
    synthetic_market(random, &run->made, (int)random_between(random, 1, MADE_ASSETS),
                     (size_t)random_between(random, 60, MADE_ROWS));
    if (env_params_preset("cappuccino", &run->params, err) < 0)
        return false;
    made_params(random, &run->params);
    run->params.autoreset = (enum env_autoreset)random_between(random, ENV_NEXT_STEP, ENV_NO_RESET);
    run->params.random_start = random_chance(random, 50);
    run->params.episode_bars = random_between(random, 2 * run->params.lookback + 1, 50);
    run->params.initial_capital.high *= 1 + made_share(random, 0, 1000000);
    run->params.buy_cost_pct.high += made_share(random, 0, 3000);
    run->params.sell_cost_pct.high += made_share(random, 0, 3000);
    run->params.slippage_pct.high += made_share(random, 0, 3000);
    run->params.concentration_penalty = random_chance(random, 50) ? 0.5 : 0;
    run->params.drawdown_penalty = random_chance(random, 50) ? 0.7 : 0;
    run->params.volatility_penalty = random_chance(random, 50) ? 8 : 0;
    if (wild) {
        made_wild(random, &run->made);
        run->params.autoreset = ENV_NO_RESET;
        run->params.initial_capital.high = 4.4e7; /* 2^52 units are 4.5e7 */
    }
    run->params.ruin = random_chance(random, 50) ? 0.98 : 0;
    const struct env_options options = {
        .copies = COPIES, .seed = (uint64_t)random_between(random, 0, INT64_MAX - 1), .backend = ENV_SCALAR};
    if (env_market_create(&run->made.source, &run->params, &run->market, err) < 0 ||
        env_create(&run->params, run->market, &options, &run->env, err) < 0) {
        fprintf(stderr, "%s\n", err);
        return false;
    }
    for (int i = 0; i < run->made.n; i++)
        CHECK_INT(policy_symbol_init(&run->made.symbols[i], &run->symbols[i]), 0);
    return env_trades(run->env, on_reported, run) == 0 && open_other(run, random, options, err);
}

/* Alone on the market, a copy does what its masks say. */
static void draw_actions(struct run *run, struct random *random)
{
    for (size_t e = 0; e < COPIES; e++)
        for (int i = 0; i < run->made.n; i++) {
            run->masks[e][i] = env_market_mask(&run->env->view, e, i);
            run->actions[e * (size_t)run->made.n + (size_t)i] =
                random_chance(random, 30) ? 0 : (float)random_between(random, -3000, 4000) / 1000;
        }
}

static void check_masks(const struct run *run, size_t e, const struct account *before)
{
    const struct account *after = &run->accounts[e];
    for (int i = 0; i < run->made.n; i++)
        if (!(run->masks[e][i] & 1) && run->env->view.state.episode[e] == before->episode &&
            made_there(&run->made, i, (size_t)run->env->view.state.row[e] - 1)) {
            seen.masked++;
            CHECK(after->lots[i] <= before->lots[i]);
        }
}

static void check_step(struct run *run, const struct account *before, const float *rewards,
                       const uint8_t *terminated, const uint8_t *truncated)
{
    const struct env_view *view = &run->env->view;
    for (size_t e = 0; e < COPIES; e++) {
        CHECK(isfinite(rewards[e]) && !(terminated[e] && truncated[e]));
        seen.terminated += terminated[e];
        run->accounts[e].over |= run->params.autoreset == ENV_NO_RESET && terminated[e];
        if (run->accounts[e].beyond && !run->accounts[e].over) {
            CHECK(!"more than is exact, and the episode continues");
        }
        seen.beyond += run->accounts[e].beyond;
        if (run->accounts[e].over)
            continue;
        if ((terminated[e] || truncated[e]) && run->params.autoreset == ENV_SAME_STEP) {
            CHECK_INT(llround(view->ended.fees[e] * 1e8), run->accounts[e].fees);
            CHECK_INT(view->ended.buys[e], run->accounts[e].buys);
            CHECK_INT(view->ended.sells[e], run->accounts[e].sells);
        }
        check_masks(run, e, &before[e]);
        if (view->state.episode[e] != run->accounts[e].episode) {
            seen.episodes++;
            begin_account(run, e);
        }
        check_copy(run, e);
    }
}

static void play(struct run *run, struct random *random)
{
    char err[ENV_ERROR_MAX];
    float rewards[COPIES];
    uint8_t terminated[COPIES], truncated[COPIES];
    const struct env_io io = {
        .actions = run->actions, .rewards = rewards, .terminated = terminated, .truncated = truncated};
    for (size_t e = 0; e < COPIES; e++) {
        begin_account(run, e);
        check_copy(run, e);
    }
    for (int k = 0; k < 100 && check_failures == 0; k++) {
        struct account before[COPIES];
        memcpy(before, run->accounts, sizeof before);
        draw_actions(run, random);
        CHECK_INT(env_step(run->env, &io, err), 0);
        check_step(run, before, rewards, terminated, truncated);
        check_other(run, &io);
        seen.steps += COPIES;
    }
}

int main(void)
{
    struct random random = random_seeded("market_identities", 20260708);
    long runs = getenv("PAPERTAPE_LONG") ? 600 : 25;
    struct run *run = malloc(sizeof *run);
    if (!run)
        return EXIT_FAILURE;
    for (long k = 0; k < runs && check_failures == 0; k++) {
        memset(run, 0, sizeof *run);
        bool open = open_run(run, &random, k % 5 == 4);
        CHECK(open);
        if (open)
            play(run, &random);
        if (check_failures > 0)
            fprintf(stderr, "in run %ld\n", k);
        env_destroy(run->env);
        env_destroy(run->other);
        free(run->states[0]);
        free(run->states[1]);
        env_market_destroy(run->market);
    }
    free(run);
    printf("%ld steps of %ld runs: %ld trades, %ld episodes, %ld ended early, %ld masked\n", seen.steps, runs,
           seen.trades, seen.episodes, seen.terminated, seen.masked);
    CHECK(seen.trades > seen.steps / 20 && seen.episodes > runs && seen.masked > 0 && seen.terminated > 0 &&
          seen.beyond > 0);
    return check_done("market_identities");
}
