/* Episodes: where they begin and end, what a copy draws, what happens after the last step, what is checked
 * before the first; saving and continuing; threads. */
#include <errno.h>

#include "tests/check.h"
#include "tests/trainer/env/walks.h"

enum { COPIES = 35, ROWS = 200, ASSETS = 3 };

static struct walks walks;
static struct env_params params;
static char err[ENV_ERROR_MAX];

static void fresh(const char *preset)
{
    struct random random = {3};
    walks_finish(&walks);
    walks_make(&walks, &random, ROWS, ASSETS, false);
    env_params_preset(preset, &params, err);
}

struct run {
    struct env_market *market;
    struct env *env;
    float *actions, *observations, *final, rewards[COPIES];
    uint8_t terminated[COPIES], truncated[COPIES];
    int32_t row[COPIES], buys[COPIES], sells[COPIES];
    double equity[COPIES], cash[COPIES], fees[COPIES];
    struct random random;
    size_t actions_n, size;
};

static void open_run(struct run *run, const struct env_options *options)
{
    *run = (struct run){.random = {11}};
    if (!walks_env(&walks, &params, options, &run->market, &run->env))
        exit(EXIT_FAILURE);
    run->actions_n = COPIES * (size_t)env_action_size(run->env);
    run->size = (size_t)env_observation_size(run->env);
    run->actions = calloc(run->actions_n, sizeof(float));
    run->observations = calloc(COPIES * run->size, sizeof(float));
    run->final = calloc(COPIES * run->size, sizeof(float));
}

static void close_run(struct run *run)
{
    free(run->actions);
    free(run->observations);
    free(run->final);
    env_destroy(run->env);
    env_market_destroy(run->market);
}

static void read_run(struct run *run)
{
    struct env_info info = {.row = run->row,
                            .equity = run->equity,
                            .cash = run->cash,
                            .fees = run->fees,
                            .buys = run->buys,
                            .sells = run->sells};
    env_info(run->env, &info);
    env_observe(run->env, run->observations);
}

static int try_step(struct run *run)
{
    struct env_io io = {.actions = run->actions,
                        .rewards = run->rewards,
                        .terminated = run->terminated,
                        .truncated = run->truncated,
                        .final_obs = run->final};
    int rc = env_step(run->env, &io, err);
    read_run(run);
    return rc;
}

static void step(struct run *run)
{
    walks_actions(&run->random, &params, run->actions, run->actions_n);
    CHECK_INT(try_step(run), 0);
}

static const struct env_options plain = {.copies = COPIES, .seed = 5};

static void test_next_step(void)
{
    fresh("reference");
    params.autoreset = ENV_NEXT_STEP;
    params.start = 10;
    params.episode_bars = 20;
    struct run run;
    open_run(&run, &plain);
    for (int episode = 0; episode < 3; episode++) {
        read_run(&run);
        CHECK_INT(run.row[COPIES - 1], 12);
        CHECK(run.equity[0] == 1000 && run.fees[0] == 0 && run.buys[0] == 0);
        for (int i = 1; i <= 14; i++) { /* T - 2 L steps, to t = T - L - 1 */
            step(&run);
            CHECK_INT(run.row[COPIES - 1], 12 + i);
            CHECK_INT(run.truncated[COPIES - 1], i == 14);
            CHECK_INT(run.terminated[COPIES - 1], 0);
        }
        CHECK(run.buys[0] > 0);
        double equity[COPIES], sum[COPIES];
        int32_t steps[COPIES];
        struct env_episode ended = {.equity = equity, .steps = steps, .reward = sum};
        env_episode(run.env, &ended);
        CHECK(equity[7] == run.equity[7]);
        CHECK_INT(steps[7], 14);
        step(&run); /* begins again and ignores the action */
        CHECK(run.rewards[3] == 0 && run.truncated[3] == 0);
        env_episode(run.env, &ended);
        CHECK_INT(steps[7], 14);
    }
    close_run(&run);
}

static void test_same_step(void)
{
    fresh("reference");
    params.autoreset = ENV_SAME_STEP;
    params.episode_bars = 20;
    struct run run;
    open_run(&run, &plain);
    for (int i = 1; i < 14; i++)
        step(&run);
    float before = run.observations[0];
    CHECK(run.final[0] == 0);
    step(&run);
    CHECK_INT(run.truncated[0], 1);
    CHECK_INT(run.row[0], 2);
    CHECK(run.observations[0] == (float)(1000 * params.norm_cash));
    CHECK(run.final[0] > 0 && run.final[0] != run.observations[0] && run.final[0] != before);
    const struct env_market_view *view = env_market_view(run.market);
    const float *features = view->features + (ROWS - 1 - 16) * (size_t)view->n_features;
    CHECK(memcmp(run.final + 1 + ASSETS, features, 3 * 2 * ASSETS * sizeof(float)) == 0);
    double equity[COPIES], exposure[COPIES], now[COPIES];
    env_episode(run.env, &(struct env_episode){.equity = equity, .exposure = exposure});
    env_info(run.env, &(struct env_info){.exposure = now});
    CHECK(equity[0] != 1000 && run.equity[0] == 1000);
    double cash = (double)run.final[0] / params.norm_cash; /* what is not cash is held */
    CHECK(fabs(exposure[0] - (equity[0] - cash) / equity[0]) <= 1e-5 && exposure[0] > 0.01 && now[0] == 0);
    struct env_io io = {.actions = run.actions,
                        .rewards = run.rewards,
                        .terminated = run.terminated,
                        .truncated = run.truncated};
    for (int i = 0; i < 14; i++) /* without room for the last observations, too */
        CHECK_INT(env_step(run.env, &io, err), 0);
    CHECK_INT(run.truncated[0], 1);
    close_run(&run);
}

static void test_no_reset(void)
{
    fresh("cappuccino");
    params.autoreset = ENV_NO_RESET;
    params.episode_bars = 20;
    struct run run;
    open_run(&run, &plain);
    for (int i = 1; i <= 14; i++)
        step(&run);
    CHECK_INT(run.truncated[0], 1);
    size_t bytes = env_state_bytes(run.env);
    char *before = malloc(bytes), *after = malloc(bytes);
    env_save(run.env, before);
    step(&run);
    env_save(run.env, after);
    CHECK(memcmp(before, after, bytes) == 0);
    CHECK(run.rewards[0] == 0 && run.truncated[0] == 0);
    uint8_t mask[COPIES] = {0};
    mask[4] = 1;
    env_reset(run.env, mask);
    read_run(&run);
    CHECK(run.row[4] == 2 && run.row[3] == 16);
    step(&run);
    CHECK(run.row[4] == 3 && run.row[3] == 16);
    env_reset(run.env, NULL);
    read_run(&run);
    CHECK(run.row[3] == 2 && run.row[34] == 2);
    free(before);
    free(after);
    close_run(&run);
}

static void on_trade(void *ctx, size_t copy, const struct env_trade *trade)
{
    (void)copy, (void)trade;
    ++*(int *)ctx;
}

static void test_trades(void)
{
    for (enum env_backend backend = ENV_SCALAR; backend <= ENV_AVX512; backend++) {
        if (!env_backend_works(backend))
            continue;
        fresh("reference");
        struct env_options options = {.copies = COPIES, .threads = 2, .backend = backend};
        struct run run;
        open_run(&run, &options);
        int trades = 0, counted = 0;
        CHECK_INT(env_trades(run.env, on_trade, &trades), backend == ENV_SCALAR ? 0 : -ENOTSUP);
        for (int i = 0; i < 5; i++)
            step(&run);
        for (int e = 0; e < COPIES; e++)
            counted += run.buys[e] + run.sells[e];
        CHECK(counted > 0);
        CHECK_INT(trades, backend == ENV_SCALAR ? counted : 0);
        CHECK_INT(env_trades(run.env, NULL, NULL), backend == ENV_SCALAR ? 0 : -ENOTSUP);
        step(&run);
        CHECK_INT(trades, backend == ENV_SCALAR ? counted : 0);
        close_run(&run);
    }
}

/* Every row that fits is drawn, and no other. */
static void test_random_starts(void)
{
    fresh("reference");
    walks.source.first_row = 5;
    params.random_start = true;
    params.episode_bars = 190;
    struct run run;
    open_run(&run, &plain);
    int seen[ROWS] = {0};
    for (int i = 0; i < 40; i++) {
        read_run(&run);
        for (int e = 0; e < COPIES; e++)
            seen[run.row[e] - 2]++;
        env_reset(run.env, NULL);
    }
    for (int r = 0; r < ROWS; r++)
        CHECK((seen[r] > 0) == (r >= 5 && r <= 10));
    int64_t starts[COPIES]; /* the first rows that are drawn */
    for (int e = 0; e < COPIES; e++)
        starts[e] = e % 2 ? 10 : 8;
    CHECK_INT(env_windows(run.env, starts, NULL, err), 0);
    memset(seen, 0, sizeof seen);
    for (int i = 0; i < 40; i++) {
        env_reset(run.env, NULL);
        read_run(&run);
        for (int e = 0; e < COPIES; e++) {
            CHECK(run.row[e] - 2 >= starts[e] && run.row[e] - 2 <= 10);
            seen[run.row[e] - 2]++;
        }
    }
    CHECK(seen[8] > 0 && seen[9] > 0 && seen[10] > 0);
    close_run(&run);
}

static void test_windows(void)
{
    fresh("reference");
    struct run run;
    open_run(&run, &plain);
    int64_t starts[COPIES], bars[COPIES];
    for (int e = 0; e < COPIES; e++) {
        starts[e] = e;
        bars[e] = 20 + e;
    }
    CHECK_INT(env_windows(run.env, starts, bars, err), 0);
    read_run(&run);
    CHECK_INT(run.row[9], 2); /* from the next episode on */
    env_reset(run.env, NULL);
    read_run(&run);
    int steps[COPIES] = {0}, ended = 0;
    for (int e = 0; e < COPIES; e++)
        CHECK_INT(run.row[e], e + 2);
    for (int i = 1; ended < COPIES && i < ROWS; i++) {
        step(&run);
        for (int e = 0; e < COPIES; e++)
            if (run.truncated[e] && !steps[e]) {
                steps[e] = i;
                ended++;
            }
    }
    for (int e = 0; e < COPIES; e++)
        CHECK_INT(steps[e], 20 + e - 6);

    starts[17] = ROWS - 36;
    CHECK_INT(env_windows(run.env, starts, bars, err), -EINVAL);
    CHECK(strstr(err, "copy 17") && strstr(err, "ends before"));
    starts[17] = -1;
    CHECK_INT(env_windows(run.env, starts, bars, err), -EINVAL);
    CHECK(strstr(err, "copy 17") && strstr(err, "from 0 on"));
    starts[17] = 0;
    bars[30] = 6;
    CHECK_INT(env_windows(run.env, starts, bars, err), -EINVAL);
    CHECK(strstr(err, "copy 30") && strstr(err, "2 * lookback + 1"));
    env_reset(run.env, NULL); /* the windows are as they were */
    read_run(&run);
    CHECK_INT(run.row[17], 19);
    CHECK_INT(env_windows(run.env, NULL, NULL, err), 0);
    env_reset(run.env, NULL);
    read_run(&run);
    CHECK_INT(run.row[17], 2);
    close_run(&run);
}

/* Each copy and episode draws its own; the same again from the same seed; within the ranges. */
static void test_draws(const char *preset)
{
    fresh(preset);
    params.initial_capital = (struct env_range){500, 1500};
    params.buy_cost_pct = (struct env_range){0.001, 0.002};
    params.sell_cost_pct = (struct env_range){0.003, 0.003};
    params.slippage_pct = (struct env_range){0, 0.001};
    struct run run, same, other;
    open_run(&run, &plain);
    open_run(&same, &plain);
    struct env_options options = plain;
    options.seed = 6;
    open_run(&other, &options);
    const struct env_state *s = &run.env->view.state;
    double units = params.execution == ENV_MARKET ? 1e8 : 1, sum = 0, before = -1;
    int equal = 0, differ = 0;
    for (int i = 0; i < 50; i++) {
        read_run(&run);
        read_run(&same);
        read_run(&other);
        for (size_t e = 0; e < COPIES; e++) {
            double capital = ((const double *)s->capital)[e] / units;
            CHECK(capital >= 500 && capital <= 1500 && capital == run.cash[e]);
            CHECK(s->fee_buy[e] >= 0.001 && s->fee_buy[e] <= 0.002 && s->fee_sell[e] == 0.003);
            CHECK(s->slippage[e] >= 0 && s->slippage[e] <= 0.001f);
            if (params.execution == ENV_MARKET)
                CHECK(s->fee_buy[e] == rint(s->fee_buy[e] * 1e6) / 1e6);
            equal += run.cash[e] == same.cash[e];
            differ += run.cash[e] != other.cash[e] && run.cash[e] != before;
            before = run.cash[e];
            sum += capital;
        }
        env_reset(run.env, NULL);
        env_reset(same.env, NULL);
        env_reset(other.env, NULL);
    }
    CHECK_INT(equal, 50 * COPIES);
    CHECK(differ >= 50 * COPIES - 2);
    CHECK_NEAR(sum / (50 * COPIES), 1000, 30);
    close_run(&run);
    close_run(&same);
    close_run(&other);
}

static void test_bad_actions(const char *preset)
{
    fresh(preset);
    struct run run;
    for (int threads = 1; threads <= 2; threads++) {
        struct env_options options = plain;
        options.threads = threads;
        open_run(&run, &options);
        step(&run);
        size_t bytes = env_state_bytes(run.env);
        char *before = malloc(bytes), *after = malloc(bytes);
        env_save(run.env, before);
        static const float bad[] = {NAN, INFINITY, -INFINITY};
        for (size_t i = 0; i < 3; i++) {
            run.actions[20 * ASSETS + 1] = bad[i];
            run.actions[33 * ASSETS] = NAN;
            CHECK_INT(try_step(&run), -EINVAL);
            CHECK(strstr(err, "copy 20") && strstr(err, "WALK1") && !strchr(err, '\n'));
            env_save(run.env, after);
            CHECK(memcmp(before, after, bytes) == 0);
            struct env_io io = {.actions = run.actions,
                                .actions_by_column = true,
                                .rewards = run.rewards,
                                .terminated = run.terminated,
                                .truncated = run.truncated};
            CHECK_INT(env_step(run.env, &io, err), -EINVAL);
            /* The numbers 61 and 99 are now asset 1 of copy 26 and asset 2 of copy 29. */
            CHECK(strstr(err, "copy 26") && strstr(err, "WALK1"));
        }
        free(before);
        free(after);
        close_run(&run);
    }
}

static void test_levels(void)
{
    fresh("reference");
    params.actions = ENV_DISCRETE;
    params.levels = 5;
    struct run run;
    open_run(&run, &plain);
    static const float bad[] = {-1, 5, 0.5f, 1e9f, NAN};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        run.actions[2 * ASSETS + 2] = bad[i];
        CHECK_INT(try_step(&run), -EINVAL);
        CHECK(strstr(err, "copy 2") && strstr(err, "WALK2"));
        CHECK_INT(run.row[0], 2);
    }
    close_run(&run);
}

static void test_masks(const char *preset)
{
    fresh(preset);
    params.actions = ENV_DISCRETE;
    params.levels = 5;
    params.action_span = 2;
    struct run run;
    open_run(&run, &plain);
    uint8_t mask[COPIES * ASSETS * 5];
    env_masks(run.env, mask);
    static const uint8_t nothing_held[5] = {0, 0, 1, 1, 1}, held[5] = {1, 1, 1, 1, 1};
    for (int i = 0; i < COPIES * ASSETS; i++)
        CHECK(memcmp(mask + 5 * i, nothing_held, 5) == 0);
    for (size_t i = 0; i < run.actions_n; i++)
        run.actions[i] = i % ASSETS == 1 ? 4 : 2;
    CHECK_INT(try_step(&run), 0);
    env_masks(run.env, mask);
    CHECK(memcmp(mask, nothing_held, 5) == 0);
    CHECK(memcmp(mask + 5, held, 5) == 0);
    close_run(&run);

    fresh(preset);
    params.min_cash_reserve = 1;
    open_run(&run, &plain);
    env_masks(run.env, mask);
    for (int i = 0; i < COPIES * ASSETS; i++)
        CHECK_INT(mask[i], 0); /* nothing is held, and no cash is free */
    close_run(&run);
}

/* A loaded state continues with the same bits, in another environment too. */
static void test_save(const char *preset)
{
    fresh(preset);
    params.random_start = true;
    params.episode_bars = 30;
    struct run a, b;
    open_run(&a, &plain);
    for (int i = 0; i < 40; i++)
        step(&a);
    int64_t bars[COPIES];
    for (int e = 0; e < COPIES; e++)
        bars[e] = 25 + e;
    CHECK_INT(env_windows(a.env, NULL, bars, err), 0);
    size_t bytes = env_state_bytes(a.env);
    char *state = malloc(bytes + 1), *other = malloc(bytes);
    state[bytes] = 0x5a;
    env_save(a.env, state);
    CHECK(state[bytes] == 0x5a);
    open_run(&b, &plain);
    CHECK_INT(env_load(b.env, state, err), 0);
    for (int i = 0; i < 100; i++) {
        b.random = a.random;
        step(&a);
        step(&b);
    }
    CHECK(memcmp(a.observations, b.observations, COPIES * a.size * sizeof(float)) == 0);
    env_save(a.env, state);
    env_save(b.env, other);
    CHECK(memcmp(state, other, bytes) == 0);

    state[0] ^= 1;
    CHECK_INT(env_load(b.env, state, err), -EINVAL);
    close_run(&b);
    state[0] ^= 1;
    walks.source.n_assets = 2;
    open_run(&b, &plain);
    CHECK_INT(env_load(b.env, state, err), -EINVAL);
    CHECK(strstr(err, "assets") != NULL);
    close_run(&b);
    close_run(&a);
    free(state);
    free(other);
}

/* A state continues in an environment of its own market and parameters, whatever its seed, and in no
 * other. */
static void test_load(const char *preset)
{
    fresh(preset);
    params.random_start = true;
    params.episode_bars = 30;
    params.initial_capital = (struct env_range){900, 1100};
    struct run a, b;
    open_run(&a, &plain);
    for (int i = 0; i < 40; i++)
        step(&a);
    size_t bytes = env_state_bytes(a.env);
    char *state = malloc(bytes), *before = malloc(bytes), *after = malloc(bytes);
    env_save(a.env, state);

    const struct env_options seeded = {.copies = COPIES, .seed = 77};
    open_run(&b, &seeded);
    CHECK_INT(env_load(b.env, state, err), 0);
    for (int i = 0; i < 100; i++) { /* episodes that begin from now on are drawn alike, too */
        b.random = a.random;
        step(&a);
        step(&b);
    }
    env_save(a.env, before);
    env_save(b.env, after);
    CHECK(memcmp(before, after, bytes) == 0);
    close_run(&b);

    for (int kind = 0; kind < 5; kind++) {
        double *price = &walks.columns[1][3][150], *volume = &walks.columns[2][4][199];
        const double kept_price = *price, kept_volume = *volume, kept_least = walks.assets[2].min_order_qty;
        const uint64_t kept_bar = walks.present[2][1];
        const struct env_params kept = params;
        const char *says = "another market";
        if (kind == 0)
            *price = walks_cents((walks.columns[1][1][150] + walks.columns[1][2][150]) / 2 + 0.01);
        if (kind == 1)
            *volume = *volume + 1;
        if (kind == 2 && params.execution == ENV_MARKET) {
            walks.present[2][1] &= ~(uint64_t)4;
            walks.assets[2].present = walks.present[2];
        } else if (kind == 2) {
            walks.assets[2].min_order_qty += 1;
        }
        if (kind == 3) {
            params.cooldown_bars = 3;
            says = "cooldown_bars 0; this environment has 3";
        }
        if (kind == 4) {
            params.initial_capital.high = 1200;
            says = "initial_capital 900..1100; this environment has 900..1200";
        }
        open_run(&b, &plain);
        env_save(b.env, before);
        CHECK_INT(env_load(b.env, state, err), -EINVAL);
        CHECK(strstr(err, says) != NULL);
        env_save(b.env, after);
        CHECK(memcmp(before, after, bytes) == 0);
        close_run(&b);
        params = kept;
        *price = kept_price;
        *volume = kept_volume;
        walks.present[2][1] = kept_bar;
        walks.assets[2].present = NULL;
        walks.assets[2].min_order_qty = kept_least;
    }

    open_run(&b, &plain); /* another market of the same rows is the same */
    CHECK_INT(env_load(b.env, state, err), 0);
    state[sizeof(uint64_t)] ^= 1;
    CHECK_INT(env_load(b.env, state, err), -EINVAL);
    CHECK(strstr(err, "not the bytes") != NULL);
    close_run(&b);
    close_run(&a);
    free(state);
    free(before);
    free(after);
}

/* Without penalties on risk a state has its former format: its head has so many bytes. With them it loads,
 * too, and neither loads in the other's environment. */
static void test_save_risk(const char *preset)
{
    enum { HEAD_BEFORE = 456, MORE = 2 * sizeof(double) };
    fresh(preset);
    params.random_start = true;
    params.episode_bars = 30;
    struct run without, with, other;
    uint64_t head;
    open_run(&without, &plain);
    params.volatility_penalty = 5;
    open_run(&with, &plain);
    open_run(&other, &plain);
    const size_t bytes = env_state_bytes(with.env);
    CHECK_INT(bytes, env_state_bytes(without.env) + MORE);
    char *state = calloc(2, bytes), *again = state + bytes;
    env_save(without.env, state);
    memcpy(&head, state + sizeof head, sizeof head);
    CHECK_INT(head, HEAD_BEFORE);
    CHECK_INT(env_load(with.env, state, err), -EINVAL);
    CHECK(strstr(err, "volatility_penalty 0; this environment has 5") != NULL);

    for (int i = 0; i < 40; i++)
        step(&with);
    env_save(with.env, state);
    CHECK_INT(env_load(without.env, state, err), -EINVAL);
    CHECK(strstr(err, "volatility_penalty 5; this environment has 0") != NULL);
    CHECK_INT(env_load(other.env, state, err), 0);
    for (int i = 0; i < 100; i++) {
        other.random = with.random;
        step(&with);
        step(&other);
    }
    env_save(with.env, state);
    env_save(other.env, again);
    CHECK(memcmp(state, again, bytes) == 0);
    memset(state + HEAD_BEFORE, 0, MORE); /* a head that ends where it should not */
    CHECK_INT(env_load(other.env, state, err), -EINVAL);
    CHECK(strstr(err, "not the bytes") != NULL);
    free(state);
    close_run(&other);
    close_run(&with);
    close_run(&without);
}

/* env_create() began the first episodes; env_reset() begins the next. */
static void test_first_episode(void)
{
    fresh("reference");
    params.random_start = true;
    params.episode_bars = 30;
    struct run run;
    open_run(&run, &plain);
    for (int e = 0; e < COPIES; e++)
        CHECK_INT((int)run.env->view.state.episode[e], 1);
    env_reset(run.env, NULL);
    for (int e = 0; e < COPIES; e++)
        CHECK_INT((int)run.env->view.state.episode[e], 2);
    close_run(&run);
}

static void test_threads(const char *preset)
{
    fresh(preset);
    params.episode_bars = 30;
    params.random_start = true;
    struct run runs[4];
    for (int i = 0; i < 4; i++) {
        struct env_options options = plain;
        options.threads = i; /* 0 is one */
        open_run(&runs[i], &options);
    }
    for (int k = 0; k < 100; k++)
        for (int i = 0; i < 4; i++)
            step(&runs[i]);
    size_t bytes = env_state_bytes(runs[0].env);
    char *states[2] = {malloc(bytes), malloc(bytes)};
    env_save(runs[0].env, states[0]);
    for (int i = 1; i < 4; i++) {
        env_save(runs[i].env, states[1]);
        CHECK(memcmp(states[0], states[1], bytes) == 0);
        CHECK(memcmp(runs[0].observations, runs[i].observations, COPIES * runs[0].size * sizeof(float)) == 0);
    }
    for (int i = 0; i < 4; i++)
        close_run(&runs[i]);
    free(states[0]);
    free(states[1]);
}

static void refused(const struct env_options *options, const char *says)
{
    struct env_market *market;
    struct env *env = (struct env *)&walks;
    CHECK_INT(env_market_create(&walks.source, &params, &market, err), 0);
    CHECK_INT(env_create(&params, market, options, &env, err), -EINVAL);
    CHECK(env == (struct env *)&walks);
    CHECK(strstr(err, says) != NULL);
    if (!strstr(err, says))
        fprintf(stderr, "\"%s\" does not say %s\n", err, says);
    env_market_destroy(market);
}

static void test_create(void)
{
    fresh("reference");
    refused(&(struct env_options){.copies = 0}, "copies");
    refused(&(struct env_options){.copies = (size_t)1 << 60}, "copies");
    refused(&(struct env_options){.copies = (size_t)-1}, "copies: -1:");
    refused(&(struct env_options){.copies = 1, .threads = -1}, "threads");
    refused(NULL, "options: NULL");
    refused(&(struct env_options){.copies = 1, .backend = (enum env_backend)9}, "backend");
    params.start = ROWS - 6;
    refused(&plain, "ends before");
    fresh("reference");
    struct env_market *market;
    struct env *env = NULL;
    CHECK_INT(env_market_create(&walks.source, &params, &market, err), 0);
    CHECK_INT(env_create(NULL, market, &plain, &env, err), -EINVAL);
    CHECK(strstr(err, "params: NULL") != NULL);
    CHECK_INT(env_create(&params, NULL, &plain, &env, err), -EINVAL);
    CHECK(strstr(err, "market: NULL: what env_market_create() makes is needed") != NULL);
    params.execution = ENV_MARKET;
    CHECK_INT(env_create(&params, market, &plain, &env, err), -EINVAL);
    CHECK(strstr(err, "execution") != NULL);
    params.execution = ENV_REFERENCE;
    params.lookback = 150;
    CHECK_INT(env_create(&params, market, &plain, &env, err), -EINVAL);
    CHECK(strstr(err, "lookback 150") != NULL);
    params.lookback = 3;
    params.norm_tech = 1;
    CHECK_INT(env_create(&params, market, &plain, &env, err), -EINVAL);
    CHECK(strstr(err, "norm_tech") != NULL);
    CHECK(env == NULL);
    env_market_destroy(market);

    fresh("reference");
    walks.columns[0][2][7] = walks.columns[0][3][7] = 1e-6; /* low and close */
    CHECK_INT(env_market_create(&walks.source, &params, &market, err), 0);
    params.norm_action = 1e-12;
    params.initial_capital.high = 1e12;
    CHECK_INT(env_create(&params, market, &plain, &env, err), -EINVAL);
    CHECK(strstr(err, "norm_action") && strstr(err, "WALK0"));
    CHECK(env == NULL);
    env_market_destroy(market);

    fresh("reference");
    walks.columns[0][2][7] = walks.columns[0][3][7] = 1e-16;
    walks.columns[0][1][9] = walks.columns[0][3][9] = 1e25; /* high and close */
    CHECK_INT(env_market_create(&walks.source, &params, &market, err), 0);
    params.initial_capital.high = 1e12;
    CHECK_INT(env_create(&params, market, &plain, &env, err), -EINVAL);
    CHECK(strstr(err, "initial_capital") && strstr(err, "WALK0") && strstr(err, "worth"));
    params.norm_action = 1e12; /* no copy buys much, but the benchmark does */
    CHECK_INT(env_create(&params, market, &plain, &env, err), -EINVAL);
    CHECK(strstr(err, "initial_capital") && strstr(err, "WALK0") && strstr(err, "worth"));
    CHECK(env == NULL);
    env_market_destroy(market);

    fresh("cappuccino"); /* the capital is the environment's, not the market's */
    CHECK_INT(env_market_create(&walks.source, &params, &market, err), 0);
    params.initial_capital.high = 1e9;
    CHECK_INT(env_create(&params, market, &plain, &env, err), -EINVAL);
    CHECK(strstr(err, "initial_capital") != NULL);
    CHECK(env == NULL);
    env_market_destroy(market);
    env_destroy(NULL);
}

/* Columns that a step goes through side by side do not fall onto each other in the cache. */
static void test_columns(void)
{
    static const size_t copies[] = {1, 15, 16, 17, 64, 65, 256, 1000, 1024, 4096, 65536, 1000000};
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        size_t stride = env_stride(copies[i]);
        CHECK(stride >= copies[i] && stride % ENV_LANES == 0 && stride < copies[i] + 2 * ENV_LANES);
        for (size_t k = 1; k < 32; k++) {
            CHECK(k * stride * sizeof(float) % 4096 != 0);
            CHECK(k * stride * sizeof(double) % 4096 != 0);
        }
    }
    fresh("reference");
    struct run run;
    open_run(&run, &plain);
    size_t n;
    const struct env_column *columns = env_columns(&n);
    for (size_t i = 0; i < n; i++) {
        void *data = env_column_data(&columns[i], &run.env->view);
        CHECK((data != NULL) == env_column_used(&columns[i], &params));
        CHECK(((uintptr_t)data & 63) == 0);
    }
    close_run(&run);
}

int main(void)
{
    test_next_step();
    test_same_step();
    test_no_reset();
    test_trades();
    test_random_starts();
    test_windows();
    test_draws("reference");
    test_draws("cappuccino");
    test_bad_actions("reference");
    test_bad_actions("cappuccino");
    test_levels();
    test_masks("reference");
    test_masks("cappuccino");
    test_save("reference");
    test_save("cappuccino");
    test_load("reference");
    test_load("cappuccino");
    test_save_risk("reference");
    test_save_risk("cappuccino");
    test_first_episode();
    test_threads("reference");
    test_threads("cappuccino");
    test_create();
    test_columns();
    walks_finish(&walks);
    return check_done("trainer/env/episodes");
}
