/* What must hold after every step with execution reference, computed from the reported trades: cash, fees,
 * quantities and counts follow from them, equity is cash and what is held. To the digits of what is float32;
 * the backends have the scalar kernel's bits (side_by_side.c). */
#include "tests/check.h"
#include "tests/trainer/env/walks.h"

enum { COPIES = 19, ROWS = 400, STEPS = 200 };

struct account {
    double cash, fees, qty[WALKS_ASSETS];
    double turnover; /* what was traded in this step */
    int buys, sells;
    int32_t row;
};

struct run {
    struct env_params params;
    struct env *env;
    struct account accounts[COPIES];
    double equity[COPIES], cash[COPIES], fees[COPIES], benchmark[COPIES];
    int32_t row[COPIES], buys[COPIES], sells[COPIES];
};

static struct {
    long steps, trades, episodes;
} seen;

static void on_trade(void *ctx, size_t copy, const struct env_trade *trade)
{
    struct run *run = ctx;
    struct account *a = &run->accounts[copy];
    seen.trades++;
    a->cash -= trade->qty * trade->price + trade->fee;
    a->fees += trade->fee;
    a->qty[trade->asset] += trade->qty;
    a->turnover += fabs(trade->qty * trade->price);
    a->buys += trade->qty >= 0; /* one of nothing counts, where the least quantity is 0 */
    a->sells += trade->qty < 0;
    CHECK((trade->qty != 0 || run->env->view.market.least[trade->asset] == 0) && trade->price > 0 &&
          trade->fee >= 0);
    CHECK_INT(trade->row, a->row + 1);
    double fee = trade->qty >= 0 ? run->params.buy_cost_pct.high : run->params.sell_cost_pct.high;
    CHECK(trade->fee <= fabs(trade->qty * trade->price) * fee * (1 + 1e-6) + 1e-12);
}

static void take_over(struct run *run, size_t e)
{
    struct account *a = &run->accounts[e];
    double qty[WALKS_ASSETS];
    env_positions(run->env, e, qty, NULL, NULL);
    a->cash = run->cash[e];
    a->fees = run->fees[e];
    a->buys = run->buys[e];
    a->sells = run->sells[e];
    a->row = run->row[e];
    a->turnover = 0;
    memcpy(a->qty, qty, sizeof *qty * (size_t)run->env->view.state.n);
}

/* Roundings: to float32 of each product, and of cash and fees where they are float32. */
static void compare(struct run *run, size_t e)
{
    struct account *a = &run->accounts[e];
    const struct env_market_view *market = &run->env->view.market;
    const float *close = market->close + (size_t)run->row[e] * (size_t)market->row_stride;
    double ulp = 0x1p-22,
           fine = run->params.float32 ? ulp * (run->equity[e] + run->fees[e] + 4 * a->turnover) : 1e-9;
    CHECK_NEAR(run->cash[e], a->cash, ulp * a->turnover + fine);
    CHECK_NEAR(run->fees[e], a->fees, ulp * a->turnover + fine);
    CHECK_INT(run->buys[e], a->buys);
    CHECK_INT(run->sells[e], a->sells);
    CHECK_INT(run->row[e], a->row + 1);
    double qty[WALKS_ASSETS], worth = 0;
    env_positions(run->env, e, qty, NULL, NULL);
    for (int i = 0; i < market->n; i++) {
        CHECK_NEAR(qty[i], a->qty[i], ulp * (fabs(a->qty[i]) + a->turnover / (double)close[i]));
        worth += qty[i] * (double)close[i];
    }
    double sums = (market->n + 1) * ulp * (fabs(worth) + run->equity[e]);
    CHECK_NEAR(run->equity[e], run->cash[e] + worth, sums);
}

static long walk(struct random *random)
{
    struct walks walks;
    walks_make(&walks, random, ROWS, (int)random_between(random, 1, 8), false);
    struct run run = {.params = walks_params(random, ENV_REFERENCE, ENV_PORTFOLIO)};
    run.params.autoreset = ENV_NEXT_STEP;
    struct env_options options = {.copies = COPIES, .seed = random_next(random), .backend = ENV_SCALAR};
    struct env_market *market;
    bool made = walks_env(&walks, &run.params, &options, &market, &run.env);
    CHECK(made);
    if (!made) {
        walks_finish(&walks);
        return 0;
    }
    CHECK_INT(env_trades(run.env, on_trade, &run), 0);
    struct env_info info = {.equity = run.equity,
                            .cash = run.cash,
                            .benchmark = run.benchmark,
                            .fees = run.fees,
                            .row = run.row,
                            .buys = run.buys,
                            .sells = run.sells};
    float actions[COPIES * WALKS_ASSETS], rewards[COPIES];
    uint8_t terminated[COPIES], truncated[COPIES], over[COPIES] = {0};
    struct env_io io = {
        .actions = actions, .rewards = rewards, .terminated = terminated, .truncated = truncated};
    env_info(run.env, &info);
    for (size_t e = 0; e < COPIES; e++)
        take_over(&run, e);
    char err[ENV_ERROR_MAX] = "";
    for (int step = 0; step < STEPS; step++) {
        walks_actions(random, &run.params, actions, COPIES * (size_t)env_action_size(run.env));
        CHECK_INT(env_step(run.env, &io, err), 0);
        env_info(run.env, &info);
        for (size_t e = 0; e < COPIES; e++) {
            if (over[e])
                seen.episodes++;
            else
                compare(&run, e);
            over[e] = terminated[e] || truncated[e];
            take_over(&run, e);
        }
    }
    env_destroy(run.env);
    env_market_destroy(market);
    walks_finish(&walks);
    return (long)COPIES * STEPS;
}

int main(void)
{
    struct random random = random_seeded("trainer/env/identities", 40);
    long wanted = getenv("PAPERTAPE_LONG") ? 2000000 : 200000;
    while (seen.steps < wanted)
        seen.steps += walk(&random);
    printf("%ld steps, %ld trades, %ld episodes\n", seen.steps, seen.trades, seen.episodes);
    CHECK(seen.trades > 10000 && seen.episodes > 100);
    return check_done("trainer/env/identities");
}
