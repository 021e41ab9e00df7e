/* A policy in the engine: when it decides, missing and late bars, its stop, and that all of it continues from
 * a saved state. */
#include "strategy/strategy.h"
#include "tests/engine/policy_world.h"

/* What a screen is shown: decided_ns 0 before the first decision; actions NULL: any. */
static void look(const struct world *w, bool acting, int64_t decided_ns, int n, const float *actions)
{
    struct engine_policy_view view;
    CHECK(engine_policy_view(w->engine, 0, &view));
    CHECK_INT(view.acting, acting);
    CHECK_INT(view.decided_ns, decided_ns);
    CHECK_INT(view.n, n);
    for (int i = 0; actions && i < n; i++)
        CHECK(view.symbols[i] == i && view.actions[i] == actions[i]);
}

/* Bars of a time come one by one: it decides with the last, for all assets in their order. */
static void test_when(struct random *random)
{
    static struct world w;
    struct made_policy made;
    memset(&w, 0, sizeof w);
    made_policy_open(&made, random, SYMBOLS, MADE_START_NS, MINUTE_NS, 1, 4, &plain, 0);
    const float wanted[] = {1, 1, 1, 0, 0, 1, 0, -5, 1, 0, 0, 0};
    memcpy(made.actions, wanted, sizeof wanted);
    for (int i = 0; i < SYMBOLS; i++)
        made.assets[i].least = 0;
    CHECK_INT(world_open(&w, &made.policy), 0);
    flat(&w, 0, 0, 100 * E8);
    flat(&w, 1, 0, 200 * E8);
    CHECK_INT(w.reported.n_orders, 0);
    look(&w, made.policy.lookback <= 1, 0, 0, NULL);
    flat(&w, 2, 0, 400 * E8);
    CHECK_INT(w.reported.n_orders, 3);
    look(&w, true, MADE_START_NS + MINUTE_NS, SYMBOLS, wanted);
    for (int i = 0; i < 3; i++) {
        const struct order *order = &w.reported.orders[i];
        CHECK_INT(order->symbol, i);
        CHECK_INT(order->type, ORDER_MARKET);
        CHECK_INT(order->created_ns, MADE_START_NS + MINUTE_NS);
        CHECK_INT(order->qty, 1000 * E8 / (100 << i)); /* a tenth of the capital in each */
        CHECK_STR(order->tag, "policy");
    }
    /* C1 lacks a bar: C0's next one comes first, and finds what was decided without it. */
    flat(&w, 0, 1, 101 * E8);
    flat(&w, 2, 1, 404 * E8);
    CHECK_INT(w.reported.n_orders, 3);
    CHECK_INT(w.reported.n_fills, 2);
    flat(&w, 0, 2, 102 * E8);
    CHECK_INT(w.reported.n_orders, 4);
    look(&w, true, MADE_START_NS + 2 * MINUTE_NS, SYMBOLS, wanted + SYMBOLS);
    CHECK_INT(w.reported.orders[3].symbol, 2);
    CHECK_INT(w.reported.orders[3].created_ns, MADE_START_NS + 2 * MINUTE_NS);
    flat(&w, 1, 2, 210 * E8); /* the first since it was bought: it fills now */
    CHECK_INT(w.reported.n_fills, 3);
    CHECK_INT(w.reported.fills[2].ts_ns, MADE_START_NS + 2 * MINUTE_NS);
    flat(&w, 2, 2, 408 * E8);
    CHECK_INT(w.reported.n_fills, 4);
    CHECK_INT(w.reported.n_orders, 6);
    CHECK_INT(w.reported.orders[4].symbol, 1);
    CHECK(w.reported.orders[4].side == ORDER_SELL && w.reported.orders[4].reduce_only);
    /* After its last row it does nothing more. */
    for (int minute = 3; minute < 8; minute++)
        for (int s = 0; s < SYMBOLS; s++)
            flat(&w, s, minute, 100 * E8);
    CHECK_INT(w.reported.n_orders, 6);
    engine_destroy(w.engine);
    made_policy_close(&made);
}

/* One stop, which follows the closes, and whose price and quantity change by one amend. */
static void test_stop(struct random *random)
{
    static struct world w;
    struct made_policy made;
    const struct policy_rules rules = {.norm_action = 10, .trailing_stop = 0.05};
    memset(&w, 0, sizeof w);
    made_policy_open(&made, random, 1, MADE_START_NS, MINUTE_NS, 1, 6, &rules, 0);
    const float wanted[] = {1, 0, 1, 0, 0, 0};
    memcpy(made.actions, wanted, sizeof wanted);
    made.assets[0].least = 0;
    CHECK_INT(world_open(&w, &made.policy), 0);
    flat(&w, 0, 0, 100 * E8);
    flat(&w, 0, 1, 100 * E8);
    CHECK_INT(w.reported.n_orders, 2);
    const struct order *stop = engine_find_order(w.engine, 2);
    CHECK(stop && stop->type == ORDER_STOP && stop->reduce_only && stop->stop_price == 95 * E8 &&
          stop->qty == 10 * E8 && strcmp(stop->tag, "stop") == 0);
    flat(&w, 0, 2, 110 * E8); /* buys more, and the stop follows */
    flat(&w, 0, 3, 110 * E8);
    stop = engine_find_order(w.engine, 2);
    CHECK(stop && stop->stop_price == 10450000000 && stop->qty == 10 * E8 && stop->amends == 1);
    flat(&w, 0, 4, 120 * E8);
    stop = engine_find_order(w.engine, 2);
    CHECK(stop && stop->stop_price == 10450000000 && stop->qty == 20 * E8 && stop->amends == 2);
    kline(&w, 0, MADE_START_NS + 5 * MINUTE_NS, 120 * E8, 120 * E8, 100 * E8, 100 * E8);
    CHECK_INT(engine_account(w.engine, 0)->positions[0].qty, 0);
    CHECK_INT(w.reported.n_orders, 3);
    CHECK_INT(w.reported.fills[w.reported.n_fills - 1].ts_ns, MADE_START_NS + 6 * MINUTE_NS - 1);
    CHECK_INT(engine_orders(w.engine), 0);
    engine_destroy(w.engine);
    made_policy_close(&made);
}

/* Saved and loaded after every so many rows, it is the same to the byte. */
static void test_continues(struct random *random, const struct policy_rules *rules,
                           const struct policy_runtime_ops *runtime)
{
    static struct world straight, broken;
    struct made_policy made;
    uint8_t digest[LEDGER_HASH_SIZE];
    memset(&straight, 0, sizeof straight);
    memset(&broken, 0, sizeof broken);
    made_open(&straight.made, random, &walk, SYMBOLS, ROWS, MINUTE_NS);
    broken.made = straight.made;
    made_policy_open(&made, random, SYMBOLS, MADE_START_NS + 7 * MINUTE_NS, MINUTE_NS, LOOKBACK,
                     ROWS - 7 - LOOKBACK, rules, 30);
    made.policy.runtime = runtime;
    if (runtime)
        made.policy.act = NULL;
    struct policies there = {.ctx = &made.policy, .find = find_made};
    CHECK_INT(world_open(&straight, &made.policy), 0);
    CHECK_INT(world_open(&broken, &made.policy), 0);
    size_t next = 0;
    for (size_t row = 0; row < ROWS; row++) {
        give_row(&straight, row);
        give_row(&broken, row);
        if (row < next)
            continue;
        next = row + (size_t)random_between(random, 1, 25);
        struct codec saved = {0};
        char err[ENGINE_ERROR_MAX] = "";
        struct engine *loaded = NULL;
        struct engine_sink sink = sink_of(&broken.reported);
        codec_save(&saved);
        CHECK_INT(engine_save(broken.engine, &saved), 0);
        CHECK_INT(engine_load(saved.bytes, saved.len, &sink, &there, &loaded, err), 0);
        CHECK_STR(err, "");
        codec_finish(&saved);
        if (!loaded)
            break;
        engine_destroy(broken.engine);
        broken.engine = loaded;
        if (random_chance(random, 50))
            CHECK_INT(engine_configure(broken.engine, &broken.config, err), 0);
        CHECK_INT(engine_digest(straight.engine, digest), 0);
        digest_is(broken.engine, digest);
    }
    CHECK(straight.reported.n_fills > 100);
    CHECK_INT(straight.reported.n_fills, broken.reported.n_fills);
    struct engine_ids a, b;
    engine_ids(straight.engine, &a);
    engine_ids(broken.engine, &b);
    CHECK(memcmp(a.hash, b.hash, sizeof a.hash) == 0);
    printf("policy: %zu orders, %zu fills, the same from states on the way%s\n", straight.reported.n_orders,
           straight.reported.n_fills, runtime ? ", with a runtime" : "");
    engine_destroy(straight.engine);
    engine_destroy(broken.engine);
    made_close(&straight.made);
    made_policy_close(&made);
}

static void test_refused(struct random *random)
{
    static struct world w;
    struct made_policy made, other;
    char err[ENGINE_ERROR_MAX] = "", id[POLICY_ID_TEXT];
    struct engine *loaded = NULL;
    memset(&w, 0, sizeof w);
    made_policy_open(&made, random, SYMBOLS, MADE_START_NS, MINUTE_NS, 1, 4, &plain, 0);
    made_policy_open(&other, random, SYMBOLS, MADE_START_NS, MINUTE_NS, 1, 4, &plain, 0);
    CHECK_INT(world_open(&w, &made.policy), 0);
    for (int s = 0; s < SYMBOLS; s++) /* it remembers something by now */
        flat(&w, s, 0, 100 * E8);
    struct codec saved = {0};
    struct engine_sink sink = sink_of(&w.reported);
    const struct policies there = {.ctx = &other.policy, .find = find_made, .where = "/var/lib/p/policies"};
    codec_save(&saved);
    CHECK_INT(engine_save(w.engine, &saved), 0);
    policy_id_text(made.policy.id, id);
    for (int i = 0; i < 2; i++) {
        CHECK_INT(engine_load(saved.bytes, saved.len, &sink, i ? &there : NULL, &loaded, err), -ENOPKG);
        CHECK(strstr(err, id) && strstr(err, "account p trades by the policy"));
        CHECK(strstr(err, i ? "in /var/lib/p/policies" : "in policies/ of the state directory"));
    }
    codec_finish(&saved);
    engine_destroy(w.engine);

    other.policy.interval_ns = 5 * MINUTE_NS;
    CHECK_INT(world_open(&w, &other.policy), -EINVAL);
    other.policy.interval_ns = MINUTE_NS;
    snprintf(other.assets[1].name, sizeof other.assets[1].name, "C9");
    CHECK_INT(world_open(&w, &other.policy), -EINVAL);
    snprintf(other.assets[1].name, sizeof other.assets[1].name, "C0USDT");
    CHECK_INT(world_open(&w, &other.policy), -EINVAL); /* the same as C0 */
    snprintf(other.assets[1].name, sizeof other.assets[1].name, "C1USDT");
    CHECK_INT(world_open(&w, &other.policy), 0);
    engine_destroy(w.engine);
    w.spec.policy = &other.policy;
    w.spec.strategy = strategy_find("buy-and-hold");
    CHECK_INT(engine_create(&w.config, &sink, &w.engine), -EINVAL);
    made_policy_close(&made);
    made_policy_close(&other);
}

/* One that begins inside its episode: nothing without the closes at first_bar, and one alert; with them, the
 * quantities that they give. */
static void test_begins_inside(struct random *random)
{
    static struct world w;
    struct made_policy made, again;
    static const double right[] = {100, 200}, wrong[] = {100, 201};
    char err[ENGINE_ERROR_MAX] = "";
    for (int way = 0; way < 5; way++) {
        memset(&w, 0, sizeof w);
        made_policy_open(&made, random, 2, MADE_START_NS, MINUTE_NS, 1, 10, &plain, 0);
        for (int i = 0; i < 20; i++)
            made.actions[i] = i / 2 % 2 ? -1 : 1;
        made.assets[0].least = made.assets[1].least = 0;
        made.policy.first_closes = way == 0 ? NULL : way == 3 ? wrong : right;
        CHECK_INT(world_open(&w, &made.policy), 0);
        bool from_start = way == 2 || way == 3;
        for (int minute = from_start ? 0 : 4; minute < 7; minute++) {
            flat(&w, 0, minute, minute ? 130 * E8 : 100 * E8);
            flat(&w, 1, minute, minute ? 130 * E8 : 200 * E8);
            if (way == 4 && minute == 5) { /* set again with other files of the same rules */
                again = made;
                again.policy.id[0] ^= 1;
                w.spec.policy = &again.policy;
                CHECK_INT(engine_configure(w.engine, &w.config, err), 0);
            }
        }
        bool decides = way == 1 || way == 2 || way == 4;
        CHECK_INT(w.reported.n_orders > 0, decides);
        CHECK_INT(strstr(w.reported.alert, "POLICY_START") != NULL, !decides);
        if (way == 0)
            CHECK(strstr(w.reported.alert, "the bar of C0USDT of 2") &&
                  strstr(w.reported.alert, "as first_close"));
        if (way == 3)
            CHECK(strstr(w.reported.alert, "first_close of C1USDT is not the close"));
        if (decides) {
            CHECK_INT(w.reported.orders[0].qty, 10 * E8);
            CHECK_INT(w.reported.orders[1].qty, 5 * E8);
        }
        w.reported.alert[0] = '\0';
        flat(&w, 0, 7, 130 * E8);
        flat(&w, 1, 7, 130 * E8);
        CHECK_STR(w.reported.alert, "");
        engine_destroy(w.engine);
        made_policy_close(&made);
    }
}

/* After more bars than are kept, other files of the same rules continue with the first bar's scale; files of
 * other rules find it no more. */
static void test_grows(struct random *random)
{
    enum { MANY = 1100 };
    for (int other = 0; other < 2; other++) {
        static struct world w;
        struct made_policy made, grown;
        char err[ENGINE_ERROR_MAX] = "";
        const struct policy_rules rules = {.norm_action = 10, .cooldown_bars = other};
        memset(&w, 0, sizeof w);
        made_policy_open(&made, random, 1, MADE_START_NS, MINUTE_NS, 1, MANY, &plain, 0);
        made_policy_open(&grown, random, 1, MADE_START_NS, MINUTE_NS, 1, 2 * MANY, &rules, 0);
        memset(made.actions, 0, MANY * sizeof *made.actions);
        made.assets[0].least = grown.assets[0].least = 0;
        for (int i = 0; i < 2 * MANY; i++)
            grown.actions[i] = i == MANY ? 1 : 0;
        CHECK_INT(world_open(&w, &made.policy), 0);
        for (int minute = 0; minute < MANY; minute++)
            flat(&w, 0, minute, minute ? 150 * E8 : 100 * E8);
        w.spec.policy = &grown.policy;
        CHECK_INT(engine_configure(w.engine, &w.config, err), 0);
        flat(&w, 0, MANY, 150 * E8);
        CHECK_INT(w.reported.n_orders, other ? 0 : 1);
        CHECK_INT(strstr(w.reported.alert, "POLICY_START") != NULL, other);
        if (!other)
            CHECK_INT(w.reported.orders[0].qty, 10 * E8);
        engine_destroy(w.engine);
        made_policy_close(&made);
        made_policy_close(&grown);
    }
}

/* Lots become finer: what is remembered is counted in the new quanta. */
static void test_filters(struct random *random)
{
    static struct world w;
    struct made_policy made;
    memset(&w, 0, sizeof w);
    made_policy_open(&made, random, 1, MADE_START_NS, MINUTE_NS, 1, 8, &plain, 0);
    const float wanted[] = {0, 1, 0, -0.5f, 1, 1, 1, 1};
    memcpy(made.actions, wanted, sizeof wanted);
    made.assets[0].least = 0;
    CHECK_INT(world_open(&w, &made.policy), 0);
    struct event listed = {.recv_ns = MADE_START_NS + MINUTE_NS,
                           .kind = EVENT_SYMBOL,
                           .symbol = {.index = 0, .listed = w.symbols[0]}};
    flat(&w, 0, 0, 3 * E8);
    listed.symbol.listed.filters.step = listed.symbol.listed.filters.qty_min = 100;
    give(&w, &listed);
    flat(&w, 0, 1, 3 * E8);
    CHECK_INT(w.reported.n_orders, 1);
    CHECK_INT(w.reported.orders[0].qty, 33333333300); /* 1000 / 3, floored to the finer lot */
    flat(&w, 0, 2, 3 * E8);
    flat(&w, 0, 3, 3 * E8);
    CHECK_INT(w.reported.orders[1].qty, 16666666600);
    listed.symbol.listed.filters.market_step = 150; /* no multiple of the step: no lot is both */
    listed.recv_ns += 4 * MINUTE_NS;
    give(&w, &listed);
    CHECK(strstr(w.reported.alert, "POLICY_FILTERS: C0USDT is not traded by the policy of account p"));
    flat(&w, 0, 4, 3 * E8);
    CHECK_INT(w.reported.n_orders, 2);
    listed.symbol.listed.filters = w.symbols[0].filters;
    give(&w, &listed);
    flat(&w, 0, 5, 3 * E8);
    CHECK_INT(w.reported.n_orders, 3);
    CHECK_INT(w.reported.orders[2].qty, 33333330000);
    engine_destroy(w.engine);
    made_policy_close(&made);
}

/* ---- runtimes ---- */

/* What the engine showed to one, and asked it with. */
static struct shown {
    int64_t bars[4096]; /* asset * 1e6 + minute */
    size_t n_bars;
    int64_t asked[4096]; /* minute, negative where nothing was wanted */
    size_t n_asked;
    double cash, qty[MADE_SYMBOLS_MAX];
    int made;
} shown;

static int64_t minute_of(int64_t open_ns)
{
    return (open_ns - MADE_START_NS) / MINUTE_NS;
}

static int shown_create(const struct policy *policy, struct policy_runtime **ret)
{
    shown.made++;
    return made_runtime_create(policy, ret);
}

static void shown_see(struct policy_runtime *runtime, int asset, int64_t open_ns,
                      const struct indicator_bar *bar)
{
    shown.bars[shown.n_bars++] = asset * 1000000 + minute_of(open_ns);
    CHECK(bar->time == (double)open_ns / 1e9);
    made_runtime_see(runtime, asset, open_ns, bar);
}

static bool shown_act(struct policy_runtime *runtime, int64_t open_ns, double cash, const double *qty,
                      float *ret)
{
    shown.asked[shown.n_asked++] = ret ? minute_of(open_ns) : -minute_of(open_ns);
    shown.cash = cash;
    memcpy(shown.qty, qty, (size_t)runtime->policy->n_assets * sizeof *qty);
    bool decides = made_runtime_act(runtime, open_ns, cash, qty, ret);
    for (int i = 0; i < runtime->policy->n_assets && ret; i++)
        ret[i] = i == 0 ? 1 : 0; /* buys the first, always */
    return decides;
}

static const struct policy_runtime_ops shown_runtime = {.create = shown_create,
                                                        .destroy = made_runtime_destroy,
                                                        .see = shown_see,
                                                        .first = made_runtime_first,
                                                        .ready = made_runtime_ready,
                                                        .act = shown_act,
                                                        .visit = made_runtime_visit};

static void runtime_open(struct made_policy *made, struct random *random, int n, int lookback)
{
    memset(&shown, 0, sizeof shown);
    made_policy_open(made, random, n, 0, MINUTE_NS, lookback, 1, &plain, 0);
    made->policy.act = NULL;
    made->policy.runtime = &shown_runtime;
    for (int i = 0; i < n; i++)
        made->assets[i].least = 0;
}

/* Rows that no symbol has a bar of pass before the next bar does anything; a late bar is seen, and not acted
 * on; the scale is of row 0, whenever that is known. */
static void test_rows(struct random *random)
{
    static struct world w;
    struct made_policy made;
    memset(&w, 0, sizeof w);
    runtime_open(&made, random, 2, 2);
    CHECK_INT(world_open(&w, &made.policy), 0);
    flat(&w, 0, 0, 50 * E8);
    flat(&w, 0, 1, 50 * E8); /* the round of minute 0 ends: C1 has not started */
    flat(&w, 1, 1, 200 * E8);
    CHECK_INT(shown.n_asked, 1); /* row 0 is minute 1: nothing is decided before row 1 */
    CHECK_INT(shown.asked[0], 1);
    CHECK_INT(w.reported.n_orders, 0);
    look(&w, false, 0, 0, NULL);
    flat(&w, 0, 2, 100 * E8);
    flat(&w, 1, 2, 100 * E8);
    look(&w, true, MADE_START_NS + 3 * MINUTE_NS, 2, NULL);
    CHECK_INT(shown.asked[1], 2);
    CHECK_INT(w.reported.n_orders, 1);
    CHECK_INT(w.reported.orders[0].qty, 20 * E8); /* a tenth of 10000, at the 50 of row 0 */
    CHECK(shown.cash == 10000 && shown.qty[0] == 0);
    flat(&w, 0, 3, 100 * E8);
    flat(&w, 0, 6, 100 * E8); /* the round of 3 ends without C1, and 4 and 5 pass */
    CHECK_INT(shown.n_asked, 4);
    CHECK_INT(shown.asked[2], 3);
    CHECK_INT(shown.asked[3], -5);
    CHECK(shown.qty[0] == 20);
    size_t orders = w.reported.n_orders;
    flat(&w, 1, 6, 100 * E8);
    CHECK_INT(shown.asked[4], 6);
    CHECK_INT(shown.n_bars, 8);
    CHECK_INT(w.reported.n_orders, orders + 1);
    engine_destroy(w.engine);
    made_policy_close(&made);
}

/* A capital other than the policy's: it is asked as if it had its own. */
static void test_share(struct random *random)
{
    static struct world w;
    struct made_policy made;
    memset(&w, 0, sizeof w);
    runtime_open(&made, random, 1, 1);
    made.policy.rules.capital = 2500; /* the account has 10000 */
    CHECK_INT(world_open(&w, &made.policy), 0);
    for (int minute = 0; minute < 3; minute++)
        flat(&w, 0, minute, 100 * E8);
    CHECK_INT(w.reported.orders[0].qty, 10 * E8); /* by its own capital it trades */
    CHECK(shown.qty[0] == 5 && shown.cash == 7997.5996 * 0.25);
    engine_destroy(w.engine);
    made_policy_close(&made);
}

/* A policy that takes over a trading account is shown what is known of the time before, in order of time, and
 * decides from the next bar on; the same one continues with its runtime, another one starts with a new
 * one. */
static void test_comes(struct random *random)
{
    static struct world w;
    struct made_policy made, other;
    char err[ENGINE_ERROR_MAX] = "";
    memset(&w, 0, sizeof w);
    runtime_open(&made, random, 2, 3);
    runtime_open(&other, random, 2, 3);
    CHECK_INT(world_open(&w, NULL), 0);
    for (int minute = 0; minute < 9; minute++)
        for (int s = 0; s < 2; s++)
            if (minute != 5)
                flat(&w, s, minute, (minute + 1) * 10 * E8);
    w.spec.policy = &made.policy;
    CHECK_INT(engine_configure(w.engine, &w.config, err), 0);
    CHECK_STR(err, "");
    CHECK_INT(shown.n_bars, 16);
    for (size_t i = 0; i < shown.n_bars; i++)
        CHECK_INT(shown.bars[i], (int64_t)(i % 2) * 1000000 + (int64_t)(i / 2) + (i >= 10));
    CHECK_INT(w.reported.n_orders, 0);
    flat(&w, 0, 9, 50 * E8);
    flat(&w, 1, 9, 50 * E8);
    CHECK_INT(shown.asked[shown.n_asked - 1], 9);
    CHECK_INT(w.reported.n_orders, 1);
    CHECK_INT(w.reported.orders[0].qty, 100 * E8); /* the first bar that is known closed at 10 */
    int runtimes = shown.made;
    size_t bars = shown.n_bars;
    CHECK_INT(engine_configure(w.engine, &w.config, err), 0);
    CHECK_INT(shown.n_bars, bars); /* it continues */
    CHECK_INT(shown.made, runtimes + 1);
    w.spec.policy = &other.policy;
    CHECK_INT(engine_configure(w.engine, &w.config, err), 0);
    CHECK_INT(shown.n_bars, bars + 18);
    engine_destroy(w.engine);
    made_policy_close(&made);
    made_policy_close(&other);
}

int main(void)
{
    struct random random = random_seeded("policy", 20261122);
    const struct policy_rules every = {.norm_action = 6,
                                       .trailing_stop = 0.004,
                                       .max_position = 0.6,
                                       .min_cash = 0.1,
                                       .exit_bars = 9,
                                       .exit_share = 0.25,
                                       .cooldown_bars = 3};
    test_when(&random);
    test_stop(&random);
    test_continues(&random, &plain, NULL);
    test_continues(&random, &every, NULL);
    test_continues(&random, &plain, &made_runtime);
    test_continues(&random, &every, &made_runtime);
    test_refused(&random);
    test_filters(&random);
    test_begins_inside(&random);
    test_grows(&random);
    test_rows(&random);
    test_share(&random);
    test_comes(&random);
    return check_done("engine/policy");
}
