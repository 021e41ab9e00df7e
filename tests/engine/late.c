/* A policy's wait for bars that are late: what ends it, what is decided then, and what becomes of the bar. */
#include "record/codec.h"
#include "tests/engine/policy_world.h"

#define SECOND_NS (INT64_C(1000000000))
#define WAIT_NS   (2 * SECOND_NS)

static int64_t at(int minute, int64_t ns)
{
    return MADE_START_NS + minute * MINUTE_NS + ns;
}

static void timer(struct world *w, int64_t recv_ns)
{
    const struct event event = {.recv_ns = recv_ns, .kind = EVENT_TIMER};
    give(w, &event);
}

static void quote(struct world *w, int symbol, int64_t recv_ns, int64_t price)
{
    static uint64_t id;
    const struct event event = {.recv_ns = recv_ns,
                                .kind = EVENT_MARKET,
                                .market = {.kind = MARKET_QUOTE,
                                           .symbol = symbol,
                                           .event_ns = recv_ns,
                                           .quote = {++id, price - E8 / 100, 9000 * E8, price, 9000 * E8}}};
    give(w, &event);
}

/* All assets are bought with each decision, 1/100 of the capital each. */
static void buyer_open(struct made_policy *made, struct random *random, int n, int rows)
{
    const struct policy_rules rules = {.norm_action = 100};
    made_policy_open(made, random, n, MADE_START_NS, MINUTE_NS, 1, (size_t)rows, &rules, 0);
    for (int i = 0; i < n * rows; i++)
        made->actions[i] = 1;
    for (int i = 0; i < n; i++)
        made->assets[i].least = 0;
}

static void open_waiting(struct world *w, const struct policy *policy, enum fill_model model, int64_t wait_ns)
{
    struct engine_sink sink = sink_of(&w->reported);
    memset(w, 0, sizeof *w);
    CHECK_INT(world_open(w, policy), 0);
    engine_destroy(w->engine);
    sink = sink_of(&w->reported);
    w->config.fill_model = model;
    w->config.policy_wait_ns = wait_ns;
    CHECK_INT(engine_create(&w->config, &sink, &w->engine), 0);
}

/* In the bar model: dated by the round's end, without what is missing, whose bar only moves what is known. */
static void test_ends(struct random *random)
{
    static struct world w;
    struct made_policy made;
    buyer_open(&made, random, 3, 9);
    open_waiting(&w, &made.policy, FILL_BAR, WAIT_NS);
    for (int s = 0; s < 3; s++)
        flat(&w, s, 0, 100 * E8);
    CHECK_INT(w.reported.n_orders, 3);
    late_flat(&w, 0, 1, SECOND_NS / 10, 100 * E8);
    late_flat(&w, 2, 1, SECOND_NS, 100 * E8); /* it counts from the first one */
    CHECK_INT(w.reported.n_fills, 2);
    timer(&w, at(2, SECOND_NS / 10 + WAIT_NS - 1));
    CHECK_INT(w.reported.n_orders, 3);
    timer(&w, at(2, SECOND_NS / 10 + WAIT_NS));
    CHECK_INT(w.reported.n_orders, 5);
    CHECK_INT(w.reported.orders[3].symbol, 0);
    CHECK_INT(w.reported.orders[4].symbol, 2);
    CHECK_INT(w.reported.orders[4].created_ns, at(2, 0));
    CHECK_INT(engine_now(w.engine), at(2, 0));
    late_flat(&w, 1, 1, 5 * SECOND_NS, 100 * E8); /* its order of before fills, and nothing is decided */
    CHECK_INT(w.reported.n_orders, 5);
    CHECK_INT(w.reported.n_fills, 3);
    CHECK_INT(w.reported.fills[2].ts_ns, at(1, 0));
    for (int s = 0; s < 3; s++)
        flat(&w, s, 2, 100 * E8);
    CHECK_INT(w.reported.n_orders, 8);
    CHECK_INT(w.reported.n_fills, 5);
    CHECK_INT(w.reported.fills[4].ts_ns, at(2, 0));
    /* The late bar itself ends the wait, before it does anything. */
    flat(&w, 1, 3, 100 * E8);
    flat(&w, 2, 3, 100 * E8);
    late_flat(&w, 0, 3, WAIT_NS, 100 * E8);
    CHECK_INT(w.reported.n_orders, 10);
    CHECK_INT(w.reported.orders[8].symbol, 1);
    engine_destroy(w.engine);

    open_waiting(&w, &made.policy, FILL_BAR, 0); /* without a wait: until a later bar of its symbols */
    flat(&w, 0, 0, 100 * E8);
    timer(&w, at(1, 59 * SECOND_NS));
    CHECK_INT(w.reported.n_orders, 0);
    flat(&w, 0, 1, 100 * E8);
    CHECK_INT(w.reported.n_orders, 1);
    engine_destroy(w.engine);
    made_policy_close(&made);
}

/* A command finds what was decided before it came, and the time does not go back. */
static void test_command(struct random *random)
{
    static struct world w;
    struct made_policy made;
    buyer_open(&made, random, 2, 9);
    open_waiting(&w, &made.policy, FILL_BAR, WAIT_NS);
    for (int s = 0; s < 2; s++)
        flat(&w, s, 0, 100 * E8);
    flat(&w, 0, 1, 100 * E8);
    struct order request = {
        .account = 0, .symbol = 2, .type = ORDER_LIMIT, .qty = E8, .price = E8, .by_hand = true};
    struct event event = {.recv_ns = at(2, SECOND_NS),
                          .kind = EVENT_COMMAND,
                          .command = {.kind = COMMAND_ORDER, .order = {.legs = &request, .n_legs = 1}}};
    give(&w, &event);
    CHECK_INT(w.reported.n_orders, 3);
    CHECK_INT(engine_now(w.engine), at(2, SECOND_NS));
    event.recv_ns = at(2, 3 * SECOND_NS);
    give(&w, &event);
    CHECK_INT(w.reported.n_orders, 5);
    CHECK(!w.reported.orders[3].by_hand && w.reported.orders[4].by_hand);
    CHECK_INT(w.reported.orders[3].created_ns, at(2, 0));
    CHECK_INT(w.reported.orders[4].created_ns, at(2, 3 * SECOND_NS));
    CHECK_INT(engine_now(w.engine), at(2, 3 * SECOND_NS));
    engine_destroy(w.engine);

    open_waiting(&w, &made.policy, FILL_BAR, WAIT_NS);
    flat(&w, 0, 0, 100 * E8);
    event.recv_ns = at(1, SECOND_NS);
    give(&w, &event);
    timer(&w, at(1, WAIT_NS));
    CHECK_INT(w.reported.n_orders, 2);
    CHECK_INT(w.reported.orders[1].created_ns, at(1, 0));
    CHECK_INT(engine_now(w.engine), at(1, SECOND_NS)); /* and not before the command */
    engine_destroy(w.engine);
    made_policy_close(&made);
}

/* By quotes an order is of the event that ended the wait; what that shows, it does not know yet. */
static void test_quotes(struct random *random)
{
    static struct world w;
    struct made_policy made;
    buyer_open(&made, random, 2, 9);
    open_waiting(&w, &made.policy, FILL_QUOTE, WAIT_NS);
    for (int s = 0; s < 2; s++) {
        quote(&w, s, at(0, 5 * SECOND_NS), 100 * E8);
        flat(&w, s, 0, 100 * E8);
    }
    quote(&w, 0, at(1, SECOND_NS), 100 * E8);
    CHECK_INT(w.reported.n_fills, 2);
    flat(&w, 1, 1, 100 * E8);
    quote(&w, 2, at(2, WAIT_NS + 7), 300 * E8);
    CHECK_INT(w.reported.n_orders, 3);
    CHECK_INT(w.reported.orders[2].symbol, 1);
    CHECK_INT(w.reported.orders[2].created_ns, at(2, WAIT_NS + 7));
    quote(&w, 1, at(2, WAIT_NS + SECOND_NS), 101 * E8);
    CHECK_INT(w.reported.n_fills, 3);
    /* Nothing came for so long that the bars are history: no order results from them. */
    flat(&w, 0, 2, 100 * E8);
    timer(&w, at(3, WAIT_NS + MINUTE_NS - 1));
    CHECK_INT(w.reported.n_orders, 4);
    flat(&w, 1, 4, 100 * E8);
    timer(&w, at(5, WAIT_NS + MINUTE_NS));
    CHECK_INT(w.reported.n_orders, 4);
    engine_destroy(w.engine);
    made_policy_close(&made);
}

/* Bars of history begin no wait. */
static void test_history(struct random *random)
{
    static struct world w;
    struct made_policy made;
    buyer_open(&made, random, 2, 9);
    open_waiting(&w, &made.policy, FILL_BAR, WAIT_NS);
    struct bar bars[2];
    for (int i = 0; i < 2; i++)
        bars[i] = (struct bar){at(i, 0), 100 * E8, 100 * E8, 100 * E8, 100 * E8, E8, 0, 0, -1, -1};
    struct event event = {
        .recv_ns = at(2, SECOND_NS), .kind = EVENT_BARS, .bars = {.symbol = 1, .bars = bars, .n = 1}};
    give(&w, &event);
    event.bars.symbol = 0;
    event.bars.n = 2;
    give(&w, &event);
    uint64_t decisions = engine_counters(w.engine)->decisions;
    timer(&w, at(2, 9 * SECOND_NS));
    CHECK_INT(engine_counters(w.engine)->decisions, decisions);
    late_flat(&w, 1, 1, 10 * SECOND_NS, 100 * E8); /* it can be acted on, and all are there */
    CHECK_INT(engine_counters(w.engine)->decisions, decisions + 1);
    CHECK_INT(w.reported.n_orders, 1);
    CHECK_INT(w.reported.orders[0].symbol, 1);
    engine_destroy(w.engine);
    made_policy_close(&made);
}

/* Each waits for its own symbols only. */
static void test_sets(struct random *random)
{
    static struct world w;
    struct made_policy two, one;
    struct engine_sink sink;
    buyer_open(&two, random, 2, 9);
    buyer_open(&one, random, 1, 9);
    snprintf(one.assets[0].name, sizeof one.assets[0].name, "C2");
    open_waiting(&w, &two.policy, FILL_BAR, WAIT_NS);
    engine_destroy(w.engine);
    struct account_spec specs[2] = {spec_of(&two.policy), spec_of(&one.policy)};
    snprintf(specs[1].name, sizeof specs[1].name, "q");
    w.config.accounts = specs;
    w.config.n_accounts = 2;
    sink = sink_of(&w.reported);
    CHECK_INT(engine_create(&w.config, &sink, &w.engine), 0);
    flat(&w, 0, 0, 100 * E8);
    CHECK_INT(w.reported.n_orders, 0);
    late_flat(&w, 2, 0, SECOND_NS, 100 * E8);
    CHECK_INT(w.reported.n_orders, 1);
    CHECK_INT(w.reported.orders[0].account, 1);
    timer(&w, at(1, WAIT_NS));
    CHECK_INT(w.reported.n_orders, 2);
    CHECK_INT(w.reported.orders[1].account, 0);
    engine_destroy(w.engine);
    made_policy_close(&two);
    made_policy_close(&one);
}

/* Saved in the middle of a wait, loaded, and configured as for a new run: it ends when it would have. */
static void test_saved(struct random *random)
{
    static struct world w;
    struct made_policy made;
    struct codec saved = {0};
    char err[ENGINE_ERROR_MAX] = "";
    struct engine *loaded = NULL;
    buyer_open(&made, random, 2, 9);
    const struct policies there = {.ctx = &made.policy, .find = find_made};
    for (int configures = 0; configures < 2; configures++) {
        open_waiting(&w, &made.policy, FILL_BAR, WAIT_NS);
        flat(&w, 0, 0, 100 * E8);
        struct engine_sink sink = sink_of(&w.reported);
        codec_save(&saved);
        CHECK_INT(engine_save(w.engine, &saved), 0);
        engine_destroy(w.engine);
        CHECK_INT(engine_load(saved.bytes, saved.len, &sink, &there, &loaded, err), 0);
        w.engine = loaded;
        if (configures)
            CHECK_INT(engine_configure(w.engine, &w.config, err), 0);
        timer(&w, at(1, WAIT_NS - 1));
        CHECK_INT(w.reported.n_orders, 0);
        timer(&w, at(1, WAIT_NS));
        CHECK_INT(w.reported.n_orders, 1);
        CHECK_INT(w.reported.orders[0].created_ns, at(1, 0));
        engine_destroy(w.engine);
    }
    codec_finish(&saved);
    made_policy_close(&made);
}

/* Other files of the same rules, in the middle of a wait: it continues. Another policy: the wait is dropped,
 * and no policy sees the bars of that time. */
static void test_swapped(struct random *random)
{
    static struct world w;
    struct made_policy made, other;
    buyer_open(&made, random, 2, 9);
    for (int same = 0; same < 2; same++) {
        other = made;
        other.policy.assets = other.assets;
        other.policy.id[0] ^= 1;
        other.policy.rules.cooldown_bars = same ? 0 : 1;
        open_waiting(&w, &made.policy, FILL_BAR, WAIT_NS);
        for (int s = 0; s < 2; s++)
            flat(&w, s, 0, 100 * E8);
        flat(&w, 0, 1, 100 * E8);
        CHECK_INT(w.reported.n_orders, 2);
        const struct event event = {
            .recv_ns = at(2, SECOND_NS),
            .kind = EVENT_COMMAND,
            .command = {.kind = COMMAND_ACCOUNT_POLICY, .policy = {.policy = &other.policy}}};
        give(&w, &event);
        timer(&w, at(2, WAIT_NS));
        CHECK_INT(w.reported.n_orders, 2 + same);
        late_flat(&w, 1, 1, 3 * SECOND_NS, 100 * E8);
        timer(&w, at(2, 9 * SECOND_NS));
        CHECK_INT(w.reported.n_orders, 2 + same);
        for (int s = 0; s < 2; s++)
            flat(&w, s, 2, 100 * E8);
        CHECK_INT(w.reported.n_orders, 4 + same);
        engine_destroy(w.engine);
    }
    made_policy_close(&made);
}

int main(void)
{
    struct random random = random_seeded("late", 20261122);
    test_ends(&random);
    test_command(&random);
    test_quotes(&random);
    test_history(&random);
    test_sets(&random);
    test_saved(&random);
    test_swapped(&random);
    return check_done("engine/late");
}
