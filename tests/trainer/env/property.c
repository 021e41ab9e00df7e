/* Whatever the parameters and the actions: no negative cash, no negative quantity (but where shorts are
 * allowed), nothing that is not a number. Random parameters, steps shared among all backends and pairs of
 * execution and task. */
#include <float.h>

#include "tests/check.h"
#include "tests/trainer/env/walks.h"

enum { COPIES = 19, ROWS = 600, STEPS = 150 };

struct reported {
    double equity[COPIES], cash[COPIES], benchmark[COPIES], fees[COPIES], drawdown[COPIES], exposure[COPIES];
    int32_t row[COPIES], buys[COPIES], sells[COPIES];
};

static long trades;

static void look(const struct env *env, const struct env_params *params, const struct reported *reported,
                 const float *rewards, const float *observations)
{
    int n = env->view.state.n;
    double qty[WALKS_ASSETS], held[WALKS_ASSETS], peak[WALKS_ASSETS];
    bool good = true;
    for (size_t e = 0; e < COPIES; e++) {
        good &= isfinite(rewards[e]) && isfinite(reported->equity[e]) && isfinite(reported->benchmark[e]);
        good &= params->shorts ? isfinite(reported->cash[e]) : reported->cash[e] >= 0;
        good &= reported->fees[e] >= 0 && reported->drawdown[e] >= 0 && reported->exposure[e] >= 0;
        good &= isfinite(reported->drawdown[e]) && isfinite(reported->exposure[e]);
        good &= params->shorts || (reported->equity[e] >= 0 && reported->drawdown[e] <= 1);
        good &= reported->row[e] < ROWS && reported->row[e] >= params->lookback - 1;
        env_positions(env, e, qty, held, peak);
        for (int i = 0; i < n; i++) {
            good &= params->shorts ? isfinite(qty[i]) : qty[i] >= 0;
            good &= held[i] >= 0 && peak[i] >= 0 &&
                    (qty[i] != 0 || held[i] == 0 || params->execution == ENV_MARKET);
        }
    }
    size_t size = COPIES * (size_t)env_observation_size(env);
    for (size_t i = 0; i < size; i++)
        good &= isfinite(observations[i]);
    CHECK(good);
}

static long walk(struct random *random, enum env_execution execution, enum env_task task,
                 enum env_backend backend)
{
    struct walks walks;
    int n = task == ENV_DAY_TRADE ? 1 : (int)random_between(random, 1, 8);
    walks_make(&walks, random, ROWS, n, execution == ENV_MARKET && random_chance(random, 50));
    struct env_params params = walks_params(random, execution, task);
    struct env_options options = {.copies = COPIES, .seed = random_next(random), .backend = backend};
    struct env_market *market;
    struct env *env;
    bool made = walks_env(&walks, &params, &options, &market, &env);
    CHECK(made);
    if (!made) {
        walks_finish(&walks);
        return 0;
    }
    size_t actions_n = COPIES * (size_t)env_action_size(env),
           size = COPIES * (size_t)env_observation_size(env);
    float *actions = calloc(actions_n, sizeof *actions), *observations = calloc(size, sizeof *observations);
    float *final = calloc(size, sizeof *final), rewards[COPIES];
    uint8_t terminated[COPIES], truncated[COPIES];
    struct reported reported;
    struct env_info info = {reported.equity, reported.cash,     reported.benchmark,
                            reported.fees,   reported.drawdown, reported.exposure,
                            reported.row,    reported.buys,     reported.sells};
    char err[ENV_ERROR_MAX] = "";
    for (int step = 0; step < STEPS; step++) {
        walks_actions(random, &params, actions, actions_n);
        struct env_io io = {.actions = actions,
                            .rewards = rewards,
                            .terminated = terminated,
                            .truncated = truncated,
                            .final_obs = final};
        CHECK_INT(env_step(env, &io, err), 0);
        env_observe(env, observations);
        env_info(env, &info);
        look(env, &params, &reported, rewards, observations);
    }
    for (size_t e = 0; e < COPIES; e++)
        trades += reported.buys[e] + reported.sells[e];
    free(actions);
    free(observations);
    free(final);
    env_destroy(env);
    env_market_destroy(market);
    walks_finish(&walks);
    return (long)COPIES * STEPS;
}

/* Purchases without a least quantity, until nothing is left: the smallest numbers that there are. */
static void spend(struct random *random, enum env_task task, bool float32, enum env_backend backend)
{
    enum { MANY = 65, BOUGHT = 400 };
    struct walks walks;
    char err[ENV_ERROR_MAX] = "";
    int n = task == ENV_DAY_TRADE ? 1 : 5;
    walks_make(&walks, random, ROWS, n, false);
    for (int i = 0; i < n; i++)
        walks.assets[i].min_order_qty = 0;
    struct env_params params;
    env_params_preset(task == ENV_DAY_TRADE ? "day-trade" : "reference", &params, err);
    params.execution = ENV_REFERENCE;
    params.float32 = float32;
    params.buy_cost_pct = (struct env_range){0, 0.05};
    params.forced_exit_bars = 0;
    struct env_options options = {.copies = MANY, .seed = random_next(random), .backend = backend};
    struct env_market *market;
    struct env *env;
    bool made = walks_env(&walks, &params, &options, &market, &env), good = true, least = false;
    CHECK(made);
    float actions[MANY * 5], rewards[MANY];
    uint8_t terminated[MANY], truncated[MANY];
    double cash[MANY];
    for (size_t k = 0; k < sizeof actions / sizeof *actions; k++)
        actions[k] = task == ENV_DAY_TRADE ? 1 : 10;
    struct env_io io = {
        .actions = actions, .rewards = rewards, .terminated = terminated, .truncated = truncated};
    for (int step = 0; made && step < BOUGHT; step++) {
        CHECK_INT(env_step(env, &io, err), 0);
        env_info(env, &(struct env_info){.cash = cash});
        for (int e = 0; e < MANY; e++) {
            good &= cash[e] >= 0 && isfinite(rewards[e]);
            least |= cash[e] < (float32 ? (double)FLT_MIN : DBL_MIN);
        }
    }
    CHECK(good);
    CHECK(least);
    if (made) {
        env_destroy(env);
        env_market_destroy(market);
    }
    walks_finish(&walks);
}

/* The dearest trades there are, until equity is the smallest number that there is. */
static void waste(struct random *random, bool float32, enum env_backend backend)
{
    enum { MANY = 33, TRADED = 400 };
    struct walks walks;
    char err[ENV_ERROR_MAX] = "";
    walks_make(&walks, random, ROWS, 2, false);
    walks.assets[0].min_order_qty = walks.assets[1].min_order_qty = 0;
    struct env_params params;
    env_params_preset("reference", &params, err);
    params.float32 = float32;
    params.buy_cost_pct = params.sell_cost_pct = params.slippage_pct = (struct env_range){0.5, 0.5};
    params.concentration_penalty = 0.1;
    params.drawdown_penalty = 1;
    params.volatility_penalty = 10;
    params.norm_action = 1;
    params.autoreset = ENV_NO_RESET;
    struct env_options options = {.copies = MANY, .seed = random_next(random), .backend = backend};
    struct env_market *market;
    struct env *env;
    bool made = walks_env(&walks, &params, &options, &market, &env), good = true, least = false;
    CHECK(made);
    float actions[MANY * 2], rewards[MANY];
    uint8_t terminated[MANY], truncated[MANY];
    double equity[MANY];
    struct env_io io = {
        .actions = actions, .rewards = rewards, .terminated = terminated, .truncated = truncated};
    for (int step = 0; made && step < TRADED; step++) {
        for (int k = 0; k < MANY * 2; k++)
            actions[k] = step % 2 ? -1000 : 1000;
        CHECK_INT(env_step(env, &io, err), 0);
        env_info(env, &(struct env_info){.equity = equity});
        for (int e = 0; e < MANY; e++) {
            good &= equity[e] >= 0 && isfinite(rewards[e]);
            least |= equity[e] > 0 && equity[e] < (double)FLT_MIN;
        }
    }
    CHECK(good);
    CHECK(least);
    if (made) {
        env_destroy(env);
        env_market_destroy(market);
    }
    walks_finish(&walks);
}

int main(void)
{
    struct random random = random_seeded("trainer/env/property", 7);
    for (enum env_backend backend = ENV_SCALAR; backend <= ENV_AVX512; backend++)
        for (int k = 0; k < 2 && env_backend_works(backend); k++)
            waste(&random, k, backend);
    for (enum env_backend backend = ENV_SCALAR; backend <= ENV_AVX512; backend++)
        for (int k = 0; k < 4 && env_backend_works(backend); k++)
            spend(&random, k & 2 ? ENV_DAY_TRADE : ENV_PORTFOLIO, k & 1, backend);
    long wanted = getenv("PAPERTAPE_LONG") ? 10000000 : 1000000, pairs = 0, steps = 0;
    for (int round = 0; steps < wanted; round++)
        for (enum env_backend backend = ENV_SCALAR; backend <= ENV_AVX512; backend++)
            for (int execution = ENV_REFERENCE; execution <= ENV_MARKET; execution++)
                for (int task = ENV_PORTFOLIO; task <= ENV_DAY_TRADE; task++)
                    if (env_backend_works(backend) && env_scalar_kernels.step[execution][task]) {
                        steps += walk(&random, (enum env_execution)execution, (enum env_task)task, backend);
                        pairs += round == 0;
                    }
    printf("%ld steps over %ld kernels, %ld trades in the last episodes\n", steps, pairs, trades);
    CHECK(trades > 0);
    return check_done("trainer/env/property");
}
