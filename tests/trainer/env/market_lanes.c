/* ENV_MARKET's lanes against its scalar kernel: 65 copies from the same seed by the same actions, on random
 * venues with gaps, by random parameters; all columns, rewards and ends are the same bits after every step.
 */
#include "tests/check.h"
#include "tests/trainer/env/exchange_bars.h"
#include "trainer/env/internal.h"

#ifdef __SANITIZE_ADDRESS__
enum { RUNS = 20 };
#else
enum { RUNS = 60 };
#endif
enum { COPIES = 65, STEPS = 4096, STEPS_SHORT = 300, RUNS_LONG = 3000 };

static struct {
    long steps, trades, ends, stopped;
} seen;

/* One backend's environment and what its last step gave. */
struct side {
    struct env *env;
    float rewards[COPIES], final_obs[COPIES * 256];
    uint8_t terminated[COPIES], truncated[COPIES];
};

static void some_range(struct random *random, struct env_range *range, double low, double high)
{
    double a = low + (high - low) * (double)random_between(random, 0, 1000) / 1000;
    double b = low + (high - low) * (double)random_between(random, 0, 1000) / 1000;
    *range = random_chance(random, 30) ? (struct env_range){a, a}
                                       : (struct env_range){a < b ? a : b, a < b ? b : a};
}

static void some_params(struct random *random, struct env_params *params)
{
    made_params(random, params);
    params->autoreset = (enum env_autoreset)random_between(random, 0, 2);
    params->actions = random_chance(random, 20) ? ENV_DISCRETE : ENV_CONTINUOUS;
    params->levels = 2 * (int)random_between(random, 1, 10) + 1;
    params->random_start = random_chance(random, 60);
    params->episode_bars =
        params->random_start || random_chance(random, 50) ? random_between(random, 30, 50) : 0;
    params->concentration_penalty = random_chance(random, 30) ? 0 : made_share(random, 1000, 900000);
    params->drawdown_penalty = random_chance(random, 30) ? 0 : made_share(random, 1000, 2000000);
    params->volatility_penalty = random_chance(random, 30) ? 0 : made_share(random, 1000, 20000000);
    params->time_decay_floor = made_share(random, 0, 1000000);
    params->final_return = random_chance(random, 30);
    params->gamma = made_share(random, 900000, 1000000);
    params->ruin = random_chance(random, 30) ? made_share(random, 500000, 990000) : 0;
    some_range(random, &params->initial_capital, 10, random_chance(random, 10) ? 30000000 : 50000);
    some_range(random, &params->buy_cost_pct, 0, 0.02);
    some_range(random, &params->sell_cost_pct, 0, 0.02);
    some_range(random, &params->slippage_pct, 0, random_chance(random, 10) ? 0.4 : 0.005);
}

static bool same_column(const struct env_column *column, const struct env *a, const struct env *b)
{
    const struct env_params *params = &a->view.params;
    if (!env_column_used(column, params))
        return true;
    size_t bytes = env_column_size(column, params), stride = a->view.state.stride;
    const char *one = env_column_data(column, &a->view), *other = env_column_data(column, &b->view);
    for (int32_t i = 0; i < (column->assets ? a->view.state.n : 1); i++) {
        size_t at = (size_t)i * stride * bytes;
        for (size_t e = 0; e < COPIES; e++)
            if (memcmp(one + at + e * bytes, other + at + e * bytes, bytes) != 0) {
                double x = bytes == 8 ? ((const double *)(one + at))[e] : 0,
                       y = bytes == 8 ? ((const double *)(other + at))[e] : 0;
                fprintf(stderr, "%s of asset %d, copy %zu: %.17g, not %.17g\n", column->name, i, e, y, x);
                return false;
            }
    }
    return true;
}

static bool same(const struct side *a, const struct side *b)
{
    size_t n;
    const struct env_column *columns = env_columns(&n);
    bool same = memcmp(a->rewards, b->rewards, sizeof a->rewards) == 0 &&
                memcmp(a->terminated, b->terminated, sizeof a->terminated) == 0 &&
                memcmp(a->truncated, b->truncated, sizeof a->truncated) == 0 &&
                memcmp(a->final_obs, b->final_obs, sizeof a->final_obs) == 0;
    if (!same)
        fputs("rewards or ends differ\n", stderr);
    for (size_t k = 0; k < n; k++)
        same = same_column(&columns[k], a->env, b->env) && same;
    return same;
}

static void step(struct side *side, const float *actions, bool by_column)
{
    char err[ENV_ERROR_MAX] = "";
    const struct env_io io = {.actions = actions,
                              .actions_by_column = by_column,
                              .rewards = side->rewards,
                              .terminated = side->terminated,
                              .truncated = side->truncated,
                              .final_obs = side->final_obs};
    int r = env_step(side->env, &io, err);
    CHECK_INT(r, 0);
    if (r < 0)
        fprintf(stderr, "%s\n", err);
}

static void count(const struct side *side)
{
    const struct env_state *state = &side->env->view.state;
    for (size_t e = 0; e < COPIES; e++) {
        if (side->terminated[e] || side->truncated[e]) {
            seen.ends++;
            seen.trades += side->env->view.ended.buys[e] + side->env->view.ended.sells[e];
        }
        for (int32_t i = 0; i < state->n; i++)
            seen.stopped += state->stop[(size_t)i * state->stride + e] > 0;
    }
    seen.steps += COPIES;
}

static void play(struct random *random, struct side sides[2], const struct env_params *params, int n,
                 int steps)
{
    float actions[COPIES * MADE_ASSETS];
    bool by_column = random_chance(random, 50);
    int64_t span = random_chance(random, 20) ? 2000000 : random_between(random, 500, 20000);
    for (int s = 0; s < 2; s++)
        env_reset(sides[s].env, NULL);
    for (int t = 0; t < steps; t++) {
        for (int k = 0; k < COPIES * n; k++)
            actions[k] = params->actions == ENV_DISCRETE
                             ? (float)random_between(random, 0, params->levels - 1)
                             : (float)random_between(random, -span, span) / 1000;
        for (int s = 0; s < 2; s++)
            step(&sides[s], actions, by_column);
        count(&sides[0]);
        bool equal = same(&sides[0], &sides[1]);
        CHECK(equal);
        if (!equal) {
            fprintf(stderr, "after step %d\n", t);
            return;
        }
    }
}

static bool open_sides(struct side sides[2], const struct env_params *params, const struct env_market *market,
                       enum env_backend backend)
{
    char err[ENV_ERROR_MAX] = "";
    for (int s = 0; s < 2; s++) {
        struct env_options options = {.copies = COPIES, .seed = 7, .backend = s ? backend : ENV_SCALAR};
        memset(&sides[s], 0, sizeof sides[s]);
        if (env_create(params, market, &options, &sides[s].env, err) < 0) {
            fprintf(stderr, "%s\n", err);
            return false;
        }
    }
    return true;
}

static void run(struct random *random, struct made *made, enum env_backend backend, int steps)
{
    static struct side sides[2];
    struct env_params params;
    struct env_market *market = NULL;
    char err[ENV_ERROR_MAX] = "";
    synthetic_market(random, made, (int)random_between(random, 1, MADE_ASSETS),
                     (size_t)random_between(random, 120, MADE_ROWS));
    CHECK_INT(env_params_preset("cappuccino", &params, err), 0);
    some_params(random, &params);
    int r = env_market_create(&made->source, &params, &market, err);
    CHECK_INT(r, 0);
    if (r < 0)
        fprintf(stderr, "%s\n", err);
    bool open = r == 0 && open_sides(sides, &params, market, backend);
    CHECK(open);
    if (open)
        play(random, sides, &params, made->n, steps);
    for (int s = 0; s < 2; s++)
        env_destroy(sides[s].env);
    env_market_destroy(market);
}

int main(void)
{
    struct random random = random_seeded("trainer/env/market_lanes", 20261122);
    struct made *made = malloc(sizeof *made);
    int runs = getenv("PAPERTAPE_LONG") ? RUNS_LONG : RUNS, backends = 0;
    if (!made)
        return EXIT_FAILURE;
    for (int backend = ENV_BASELINE; backend <= ENV_AVX512; backend++) {
        if (!env_backend_works((enum env_backend)backend))
            continue;
        backends++;
        for (int k = 0; k < runs && check_failures == 0; k++) {
            run(&random, made, (enum env_backend)backend, k == 0 ? STEPS : STEPS_SHORT);
            if (check_failures > 0)
                fprintf(stderr, "in run %d of %s\n", k, env_backend_name((enum env_backend)backend));
        }
    }
    free(made);
    printf("%d backends, %d runs each: %ld steps, %ld episodes with %ld trades, %ld stops "
           "rested\n",
           backends, runs, seen.steps, seen.ends, seen.trades, seen.stopped);
    CHECK(seen.trades > seen.steps / 10 && seen.ends > runs && seen.stopped > seen.steps / 10);
    return check_done("trainer/env/market_lanes");
}
