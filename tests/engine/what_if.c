/* A fork that changes nothing equals the recorded run; one with other parameters leaves the recorded run
 * unchanged. */
#include "engine/what_if.h"

#include "tests/engine/logged.h"

enum { EVENTS = 8000 };

static struct logged logged;

struct curve {
    uint64_t points, apart;
    int64_t was, would_be, end_ns;
    const char *key, *value;
};

static void on_span(void *ctx, int64_t end_ns, int64_t was, int64_t would_be)
{
    struct curve *curve = ctx;
    CHECK(end_ns >= curve->end_ns);
    curve->end_ns = end_ns;
    curve->points++;
    curve->apart += was != would_be;
    curve->was = was;
    curve->would_be = would_be;
}

static int set(void *ctx, const struct strategy *strategy, double params[static STRATEGY_PARAMS_MAX],
               char *err, size_t err_size)
{
    const struct curve *curve = ctx;
    int r = curve->key ? strategy_set(strategy, params, curve->key, curve->value, NULL) : 0;
    if (r < 0)
        snprintf(err, err_size, "%s: no", curve->key);
    return r;
}

static int64_t to_ns = INT64_MAX;

static int run(const char *account, int64_t at_ns, const struct strategy *strategy, bool same,
               struct curve *curve, struct what_if_result *ret, char *err)
{
    const struct what_if_options options = {.path = logged.dir,
                                            .at_ns = at_ns,
                                            .to_ns = to_ns,
                                            .account = account,
                                            .strategy = strategy,
                                            .same_strategy = same,
                                            .set = set,
                                            .span_ns = 10 * DRIVER_INTERVAL_NS,
                                            .span = on_span,
                                            .ctx = curve};
    return engine_what_if_run(&options, ret, err, JOURNAL_ERROR_MAX);
}

static void test_same(int64_t at_ns)
{
    for (int a = 0; a < DRIVER_ACCOUNTS; a++) {
        struct curve curve = {0};
        struct what_if_result result;
        char err[JOURNAL_ERROR_MAX] = "";
        const char *name = logged.driver.accounts[a].name;
        CHECK_INT(run(name, at_ns, NULL, true, &curve, &result, err), 0);
        CHECK_STR(err, "");
        CHECK_INT(curve.apart, 0);
        CHECK(curve.points > 3);
        CHECK_INT(result.was.end, result.would_be.end);
        CHECK_INT(result.was.begin, result.would_be.begin);
        CHECK_INT(result.was.orders, result.would_be.orders);
        CHECK_INT(result.was.fills, result.would_be.fills);
        CHECK_INT(result.was.fees, result.would_be.fees);
        CHECK_INT(result.was.end, engine_equity(logged.engine, a));
        CHECK_INT(result.to_seq, logged.driver.seq);
        CHECK_INT(result.commands_left_out, 0);
    }
}

/* Ended earlier, both ways end at the same event. */
static void test_end(int64_t at_ns, int64_t end_ns)
{
    struct curve curve = {0};
    struct what_if_result result;
    char err[JOURNAL_ERROR_MAX] = "";
    to_ns = end_ns;
    CHECK_INT(run("dave", at_ns, NULL, true, &curve, &result, err), 0);
    CHECK_INT(curve.apart, 0);
    CHECK_INT(result.was.end, result.would_be.end);
    CHECK(result.to_ns <= end_ns && result.to_seq < logged.driver.seq);
    to_ns = INT64_MAX;
}

static uint64_t count_orders(int account, uint64_t after_seq, bool only_by_hand)
{
    uint64_t n = 0;
    for (size_t i = 0; i < logged.n_orders; i++) {
        const struct order *order = &logged.orders[i].row.order;
        n += order->account == account && order->input_seq > after_seq && (order->by_hand || !only_by_hand);
    }
    return n;
}

static void test_other(int64_t at_ns)
{
    struct curve curve = {.key = "slow", .value = "9"};
    struct what_if_result result;
    char err[JOURNAL_ERROR_MAX] = "";
    CHECK_INT(run("bob", at_ns, NULL, true, &curve, &result, err), 0);
    CHECK_STR(err, "");
    CHECK_INT(result.was.end, engine_equity(logged.engine, 1));
    CHECK_INT(result.was.orders, count_orders(1, result.at_seq, false));
    CHECK_STR(result.was.strategy, "sma-cross-rsi");
    CHECK_STR(result.would_be.strategy, "sma-cross-rsi");
    CHECK(result.was.params[1] == 4 && result.would_be.params[1] == 9);
    CHECK(curve.apart > 0 || result.was.orders != result.would_be.orders);

    curve = (struct curve){0};
    CHECK_INT(run("bob", at_ns, NULL, false, &curve, &result, err), 0);
    CHECK_STR(result.would_be.strategy, "");
    CHECK(result.would_be.orders < result.was.orders);
    CHECK_INT(result.was.end, engine_equity(logged.engine, 1));
}

static void test_errors(int64_t at_ns)
{
    struct curve curve = {0};
    struct what_if_result result;
    char err[JOURNAL_ERROR_MAX] = "";
    CHECK_INT(run("absent", at_ns, NULL, true, &curve, &result, err), -ENOENT);
    CHECK(strstr(err, "absent"));
    CHECK_INT(run("bob", logged.driver.now_ns + DRIVER_INTERVAL_NS, NULL, true, &curve, &result, err),
              -ENOENT);
    CHECK(strstr(err, "ends before"));
    CHECK(run("bob", 1000, NULL, true, &curve, &result, err) < 0);
    curve = (struct curve){.key = "nonsense", .value = "1"};
    CHECK_INT(run("bob", at_ns, NULL, true, &curve, &result, err), -EINVAL);
    CHECK_STR(err, "nonsense: no");
    curve = (struct curve){.key = "slow", .value = "3"};
    curve.value = "2000";
    CHECK_INT(run("bob", at_ns, NULL, true, &curve, &result, err), 0);
    curve.key = "fast";
    curve.value = "900";
    CHECK_INT(run("bob", at_ns, NULL, true, &curve, &result, err), -EINVAL);
    CHECK(strstr(err, "fast"));
}

int main(void)
{
    for (uint64_t seed = 31; seed < 34; seed++) {
        logged_open_as(&logged, seed, seed % 2 == 0);
        logged_play(&logged, EVENTS / 2, false);
        int64_t at_ns = logged.driver.now_ns;
        logged_play(&logged, EVENTS / 2, false);
        logged_state(&logged, STATE_ROTATION);
        int64_t later_ns = logged.driver.now_ns;
        logged_play(&logged, EVENTS, false);
        test_same(at_ns);
        test_end(at_ns, later_ns);
        test_other(at_ns);
        if (seed == 31)
            test_errors(at_ns);
        logged_close(&logged);
    }
    return check_done("what_if");
}
