/* Logs and backtests of outside strategies: a log is replayed, checked, explained and tried again without the
 * strategy, which nothing opens; a backtest that asks gives what the built-in gives. */
#include <string.h>

#include "engine/backtest/backtest.h"
#include "engine/explain.h"
#include "engine/parity.h"
#include "engine/what_if.h"
#include "tests/engine/logged.h"
#include "tests/engine/synthetic_market.h"
#include "tests/engine/wrapped.h"

enum { EVENTS = 4000 };

static struct logged logged;

static void wrap_all(struct driver *driver)
{
    for (int a = 0; a < DRIVER_ACCOUNTS; a++)
        if (driver->accounts[a].strategy)
            driver->accounts[a].strategy = wrapped_strategy(driver->accounts[a].strategy->name);
}

/* ---- what reads a log ---- */

static void check_replay(void)
{
    char err[JOURNAL_ERROR_MAX] = "";
    struct replay *replay = NULL;
    const struct replay_options options = {.path = logged.dir, .check_states = true};
    CHECK_INT(engine_replay_open(&options, &replay, err, sizeof err), 0);
    CHECK_STR(err, "");
    if (!replay)
        return;
    uint64_t decisions = 0;
    int r;
    while ((r = engine_replay_step(replay)) > 0)
        decisions += engine_replay_event(replay)->kind == EVENT_DECISION;
    CHECK_INT(r, 0);
    CHECK_STR(engine_replay_error(replay), "");
    CHECK(decisions > 200);
    const struct strategy *known = engine_account_spec(engine_replay_engine(replay), 1)->strategy;
    CHECK_STR(known->name, "exec:sma-cross-rsi");
    CHECK_STR(known->external->title, "sma-cross-rsi");
    CHECK(strategy_is_asked(known) && strategy_same(known, wrapped_strategy("sma-cross-rsi")));
    CHECK_INT(known->n_params, strategy_find("sma-cross-rsi")->n_params);
    CHECK_STR(known->params[0].name, strategy_find("sma-cross-rsi")->params[0].name);
    engine_replay_close(replay);
}

static void check_parity(void)
{
    struct parity_result result = {0};
    char err[JOURNAL_ERROR_MAX] = "";
    const struct parity_options options = {.path = logged.dir, .recorded = &logged.recorded};
    CHECK_INT(engine_parity_run(&options, &result, err, sizeof err), 0);
    CHECK(result.equal);
    CHECK_INT(result.orders, logged.n_orders);
    CHECK_INT(result.fills, logged.n_fills);
}

static uint64_t decided;

static bool explained(void *ctx, const struct explanation *e)
{
    (void)ctx;
    CHECK(e->compared && e->equal);
    if (!e->have_decision)
        return true;
    decided++;
    CHECK_INT(e->input.kind, EVENT_DECISION);
    CHECK(strstr(e->input.text, "DECISION ") == e->input.text);
    CHECK_STR(e->decision.strategy->name, "exec:sma-cross-rsi");
    CHECK(e->decision.n_values > 0 && e->decision.n_intents > 0);
    return true;
}

static void check_explain(void)
{
    struct explain_result result = {0};
    char err[JOURNAL_ERROR_MAX] = "";
    const struct explain_options options = {
        .path = logged.dir, .to_ns = INT64_MAX, .recorded = &logged.recorded, .explained = explained};
    CHECK_INT(engine_explain_run(&options, &result, err, sizeof err), 0);
    CHECK_STR(err, "");
    CHECK_INT(result.equal, result.explained);
    CHECK(decided > 10);
}

static int set_slow(void *ctx, const struct strategy *strategy, double params[static STRATEGY_PARAMS_MAX],
                    char *err, size_t err_size)
{
    (void)err;
    (void)err_size;
    return strategy_set(strategy, params, "slow", ctx, NULL);
}

static int try_it(const char *slow, struct what_if_result *ret, char *err)
{
    const struct what_if_options options = {.path = logged.dir,
                                            .at_ns = DRIVER_START_NS + 20 * DRIVER_INTERVAL_NS,
                                            .to_ns = INT64_MAX,
                                            .account = "bob",
                                            .same_strategy = true,
                                            .set = slow ? set_slow : NULL,
                                            .ctx = (void *)(uintptr_t)slow};
    return engine_what_if_run(&options, ret, err, JOURNAL_ERROR_MAX);
}

/* Nothing tried: the decisions of the log, for which nothing is opened. Another parameter: it is opened and
 * asked. */
static void check_what_if(void)
{
    struct what_if_result same = {0}, other = {0};
    char err[JOURNAL_ERROR_MAX] = "";
    CHECK_INT(try_it(NULL, &same, err), 0);
    CHECK_STR(err, "");
    CHECK_INT(same.was.end, same.would_be.end);
    CHECK_INT(same.was.orders, same.would_be.orders);
    CHECK(same.was.orders > 0);
    CHECK_INT(wrapped.asked + wrapped.opened, 0);
    CHECK_INT(try_it("5", &other, err), 0);
    CHECK_STR(err, "");
    CHECK_INT(other.was.end, same.was.end);
    CHECK(wrapped.asked > 50 && wrapped.opened == 1 && wrapped.hosts == 0);
    CHECK(other.would_be.orders != same.would_be.orders || other.would_be.end != same.would_be.end);
}

static void test_log(uint64_t seed)
{
    logged_prepare = wrap_all;
    logged_answer = wrapped_decision;
    logged_open_as(&logged, seed, true);
    logged_play(&logged, EVENTS, false);
    logged_state(&logged, STATE_ROTATION);
    logged_play(&logged, EVENTS, false);
    logged_state(&logged, STATE_STOP);
    CHECK(wrapped.asked > 200);
    wrapped.asked = wrapped.opened = 0;
    check_replay();
    check_parity();
    check_explain();
    CHECK_INT(wrapped.asked + wrapped.opened, 0);
    check_what_if();
    logged_close(&logged);
}

/* ---- backtests ---- */

static const struct made_walk walk = {.gaps_permille = 5,
                                      .gap_longest = 9,
                                      .steps = 40,
                                      .start = 60000 * DRIVER_E8,
                                      .tick = DRIVER_E8 / 100,
                                      .step = DRIVER_E8 / 100000};

static struct account_spec account_of(const struct strategy *strategy)
{
    struct account_spec spec = {.name = "one",
                                .currency = "USDT",
                                .currency_scale = 8,
                                .cash = 10000 * DRIVER_E8,
                                .rules = {.fees = {1000, 1000}},
                                .strategy = strategy};
    strategy_defaults(spec.strategy, spec.params);
    return spec;
}

static void check_backtest(const struct market *market, const char *name)
{
    const struct account_spec called = account_of(strategy_find(name)),
                              asked = account_of(wrapped_strategy(name));
    struct backtest_config config = {.market = market,
                                     .from = 333,
                                     .to = market->rows,
                                     .accounts = &called,
                                     .n_accounts = 1,
                                     .latency_ns = 50000000,
                                     .slippage_e6 = 100,
                                     .orders = true,
                                     .ledger = true,
                                     .way = BACKTEST_ENGINE,
                                     .threads = 1};
    struct backtest a = {0}, b = {0};
    char err[256] = "";
    if (backtest_run(&config, &a, err, sizeof err) == -EINVAL) {
        CHECK(strstr(err, "give more bars") != NULL);
        return;
    }
    config.accounts = &asked;
    config.way = BACKTEST_AUTO; /* no columns for what is asked */
    wrapped.asked = 0;
    CHECK_INT(backtest_run(&config, &b, err, sizeof err), 0);
    CHECK_STR(err, "");
    if (!a.accounts || !b.accounts)
        return;
    const struct backtest_account *x = &a.accounts[0], *y = &b.accounts[0];
    CHECK(wrapped.asked > 1000 && wrapped.hosts == 0);
    CHECK_INT(y->way, BACKTEST_ENGINE);
    CHECK_INT(x->n_orders, y->n_orders);
    CHECK_INT(x->n_fills, y->n_fills);
    CHECK_INT(x->n_ledger, y->n_ledger);
    CHECK(x->n_orders == 0 || memcmp(x->orders, y->orders, x->n_orders * sizeof *x->orders) == 0);
    CHECK(x->n_fills == 0 || memcmp(x->fills, y->fills, x->n_fills * sizeof *x->fills) == 0);
    for (size_t i = 0; i < x->n_ledger; i++)
        CHECK(memcmp(x->ledger[i].hash, y->ledger[i].hash, sizeof x->ledger[i].hash) == 0);
    CHECK(memcmp(x->equity, y->equity, (config.to - config.from) * sizeof *x->equity) == 0);
    backtest_finish(&a);
    backtest_finish(&b);
}

static bool late(const struct strategy_request *request, struct strategy_decision *ret)
{
    if (request->bar.open_ns % (INT64_C(3600) * 1000000000) != 0)
        return false;
    ret->outcome = STRATEGY_LATE;
    snprintf(ret->fault, sizeof ret->fault, "no answer within 10 s");
    return true;
}

/* A backtest that lacks a decision is none. */
static void check_failing(const struct market *market)
{
    const struct account_spec asked = account_of(wrapped_strategy("sma-cross"));
    const struct backtest_config config = {
        .market = market, .from = 333, .to = market->rows, .accounts = &asked, .n_accounts = 1, .threads = 1};
    struct backtest backtest = {0};
    char err[256] = "";
    wrapped.fails = late;
    CHECK_INT(backtest_run(&config, &backtest, err, sizeof err), -EINVAL);
    CHECK(strncmp(err, "sma-cross: no decision on the bar ", 34) == 0);
    CHECK(strstr(err, ": late: no answer within 10 s") != NULL);
    CHECK_INT(wrapped.hosts, 0);
    wrapped.fails = NULL;
}

static void test_backtests(struct random *random)
{
    struct synthetic_market made;
    size_t n;
    const struct strategy *const *all = strategy_list(&n);
    made_open(&made, random, &walk, 2, 3000, INT64_C(60) * 1000000000);
    for (size_t i = 0; i < n; i++)
        check_backtest(&made.market, all[i]->name);
    check_failing(&made.market);
    made_close(&made);
}

int main(void)
{
    struct random random = random_seeded("engine/requests_log", 20261129);
    test_log(random.state);
    test_log(random.state + 1);
    test_backtests(&random);
    return check_done("engine/requests_log");
}
