/* Strategies that say how long they do nothing keep to it: called at each bar by the engine, none returns an
 * intent or changes its memory at a bar that it excluded, with random parameters, on random markets; and a
 * vectorised backtest calls them at a small part of the bars. */
#include <errno.h>

#include "engine/backtest/backtest.h"
#include "strategy/strategy.h"
#include "tests/engine/synthetic_market.h"

#define E8        INT64_C(100000000)
#define MINUTE_NS (60 * INT64_C(1000000000))

enum { RUNS = 20, ROWS = 12000, SYMBOLS = 3 };

/* What one of its memories promised, and how things were then. */
struct promise {
    const void *state;
    bool given;
    struct strategy_idle idle;
    struct strategy_input input;
    struct strategy_record record;
};

static const struct strategy *real;
static struct promise promises[SYMBOLS];
static size_t calls, excluded;

static struct promise *promise_of(const void *state)
{
    for (int i = 0; i < SYMBOLS; i++)
        if (promises[i].state == state || !promises[i].state) {
            promises[i].state = state;
            return &promises[i];
        }
    CHECK(!"one memory a symbol");
    return &promises[0];
}

static bool holds(const struct promise *promise, const struct strategy_input *now)
{
    const struct strategy_input *then = &promise->input;
    const struct strategy_idle *idle = &promise->idle;
    double share = now->qty * now->close / now->equity;
    return promise->given && now->qty == then->qty && now->live_orders == then->live_orders &&
           now->orders == then->orders && now->stop == then->stop && now->profit == then->profit &&
           memcmp(now->record, &promise->record, sizeof promise->record) == 0 &&
           now->ts_ns < idle->until_ns && now->close >= idle->low && now->close <= idle->high &&
           (isinf(idle->share_low) || share >= idle->share_low) &&
           (isinf(idle->share_high) || share <= idle->share_high);
}

static size_t watched(const double *params, void *state, const struct strategy_input *input,
                      struct intent *intents)
{
    unsigned char before[STRATEGY_STATE_MAX];
    size_t size = strategy_state_size(real);
    struct promise *promise = promise_of(state);
    memcpy(before, state, size);
    size_t n = real->on_bar(params, state, input, intents);
    promise->given = holds(promise, input);
    if (promise->given) {
        CHECK_INT(n, 0);
        CHECK(memcmp(before, state, size) == 0);
        excluded++;
    } else if (n == 0) {
        *promise = (struct promise){.state = state,
                                    .given = true,
                                    .idle = {INT64_MAX, -INFINITY, INFINITY, -INFINITY, INFINITY},
                                    .input = *input,
                                    .record = *input->record};
        real->idle(params, state, input, &promise->idle);
    }
    calls++;
    return n;
}

static size_t counted(const double *params, void *state, const struct strategy_input *input,
                      struct intent *intents)
{
    calls++;
    return real->on_bar(params, state, input, intents);
}

static void draw_params(struct random *random, double *params)
{
    do
        for (size_t i = 0; i < real->n_params; i++) {
            const struct strategy_param *param = &real->params[i];
            double value = param->fallback * 0.01 * (double)random_between(random, 40, 200);
            if (param->words || random_chance(random, 10))
                value = (double)random_between(random, (int64_t)param->min, (int64_t)fmin(param->max, 3000));
            value = param->integer ? floor(value) : value;
            params[i] = fmin(fmax(value, param->min), param->max);
        }
    while (real->check && real->check(params));
}

/* Calls of the engine's run, and of a vectorised one. */
static bool one_run(struct random *random, const double *given, size_t ret_calls[2])
{
    const int gaps = given || random_chance(random, 50) ? 0 : 20;
    const struct made_walk walk = {.gaps_permille = gaps,
                                   .gap_longest = 200,
                                   .steps = (int)random_between(random, 3, 200),
                                   .start = 20000 * (E8 / 100),
                                   .tick = E8 / 100,
                                   .step = E8 / 100000};
    struct strategy strategy = *real;
    struct account_spec account = {
        .name = "one",
        .currency = "USDT",
        .currency_scale = 8,
        .cash = 10000 * E8,
        .strategy = &strategy,
        .rules = {.fees = {1000, 1000}, .shorts = !given && random_chance(random, 30)}};
    struct synthetic_market made;
    made_open(&made, random, &walk, SYMBOLS, ROWS, (given ? 1 : random_between(random, 1, 3)) * MINUTE_NS);
    struct backtest_config config = {.market = &made.market,
                                     .to = ROWS,
                                     .accounts = &account,
                                     .n_accounts = 1,
                                     .way = BACKTEST_ENGINE,
                                     .threads = 1};
    struct backtest by_engine, vectorised;
    char err[256];
    if (given)
        memcpy(account.params, given, real->n_params * sizeof *given);
    else
        draw_params(random, account.params);
    memset(promises, 0, sizeof promises);
    calls = 0;
    strategy.on_bar = watched;
    int r = backtest_run(&config, &by_engine, err, sizeof err);
    ret_calls[0] = calls;
    calls = 0;
    strategy.on_bar = counted;
    config.way = account.rules.shorts ? BACKTEST_AUTO : BACKTEST_COLUMNS;
    CHECK_INT(r == 0 ? backtest_run(&config, &vectorised, err, sizeof err) : r, r == -EINVAL ? r : 0);
    ret_calls[1] = calls;
    if (r == 0) {
        CHECK(memcmp(by_engine.accounts[0].equity, vectorised.accounts[0].equity, ROWS * sizeof(double)) ==
              0);
        CHECK_INT(vectorised.accounts[0].n_fills, by_engine.accounts[0].n_fills);
        backtest_finish(&by_engine);
        backtest_finish(&vectorised);
    }
    made_close(&made);
    return r == 0;
}

static void check_strategy(struct random *random)
{
    double params[STRATEGY_PARAMS_MAX];
    size_t n[2];
    excluded = 0;
    for (int run = 0; run < RUNS;)
        run += one_run(random, NULL, n);
    CHECK(excluded > (size_t)RUNS * ROWS / 4);
    strategy_defaults(real, params);
    CHECK(one_run(random, params, n));
    CHECK_INT(n[0], SYMBOLS * ROWS);
    CHECK(n[1] > 0 && n[1] < n[0] / 8);
    printf("%s: %zu bars excluded; by default called at %zu of %zu\n", real->name, excluded, n[1], n[0]);
}

int main(void)
{
    struct random random = random_seeded("idle", 34);
    int found = 0;
    size_t n;
    const struct strategy *const *strategies = strategy_list(&n);
    for (size_t i = 0; i < n; i++) {
        real = strategies[i];
        CHECK(!real->idle || (!real->scan && !real->scan_bars));
        if (real->idle)
            check_strategy(&random);
        found += real->idle != NULL;
    }
    CHECK(found >= 3);
    return check_done("idle");
}
