/* Strategies that see other symbols: once a round of bars, complete or not, on history and now; what they are
 * shown, what they answer for which symbol, what of that is refused, and all of it saved in the middle of a
 * round. */
#include "engine/state.h"
#include "record/codec.h"
#include "strategy/intent.h"
#include "tests/engine/harness.h"

enum { BTC_AT, ETH_AT, MEMBERS, WANTS_MAX = 2 * STRATEGY_INTENTS_MAX + 2 };

static struct harness h;
static int64_t wait_ns = 10 * SECOND_NS;
static struct strategy several;
static struct intent wants[WANTS_MAX];
static size_t n_wants;

/* What it was shown last, and how often. */
static struct {
    uint64_t calls, state;
    int64_t ts_ns;
    int n, self;
    bool fresh[MEMBERS];
    int64_t seen_ns[MEMBERS];
    double close[MEMBERS], average[MEMBERS], qty[MEMBERS], own_close;
    char names[MEMBERS][SYMBOL_NAME_MAX];
} saw;

const struct strategy *const *strategy_list(size_t *ret_n)
{
    static const struct strategy *const all[] = {&several};
    *ret_n = 1;
    return all;
}

static size_t several_specs(const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    (void)params;
    snprintf(specs[0], STRATEGY_SPEC_TEXT, "sma:2");
    return 1;
}

static size_t several_bar(const double *params, void *state, const struct strategy_input *input,
                          struct intent *intents)
{
    uint64_t *calls = state;
    size_t n = n_wants;
    (void)params;
    saw.calls++;
    saw.state = ++*calls;
    saw.ts_ns = input->ts_ns;
    saw.n = input->n_peers;
    saw.self = input->self;
    saw.own_close = input->close;
    for (int k = 0; k < input->n_peers && k < MEMBERS; k++) {
        const struct strategy_peer *peer = &input->peers[k];
        saw.fresh[k] = peer->fresh;
        saw.seen_ns[k] = peer->ts_ns;
        saw.close[k] = peer->close;
        saw.average[k] = peer->indicators[0];
        saw.qty[k] = peer->qty;
        snprintf(saw.names[k], sizeof saw.names[k], "%s", peer->name);
    }
    memcpy(intents, wants, n * sizeof *wants);
    n_wants = 0;
    return n;
}

static void open_several(bool together)
{
    several = (struct strategy){.name = "several",
                                .summary = "returns the intents of the test",
                                .peers = !together,
                                .together = together,
                                .specs = several_specs,
                                .on_bar = several_bar};
    memset(&saw, 0, sizeof saw);
    n_wants = 0;
    harness_init(&h);
    h.accounts[ALICE].strategy = &several;
    h.config.policy_wait_ns = wait_ns;
    harness_open(&h);
    quote(&h, BTCUSDT, 60000 * E8, 10 * E8, 60000 * E8 + E8 / 100, 10 * E8);
    quote(&h, ETHUSDT, 3000 * E8, 10 * E8, 3000 * E8 + E8 / 100, 10 * E8);
    trade(&h, BTCUSDT, 60000 * E8, E8);
    trade(&h, ETHUSDT, 3000 * E8, E8);
}

static void next_minute(void)
{
    pass(&h, MINUTE_NS - h.now_ns % MINUTE_NS + MS_NS);
}

/* The minute that is over, of a symbol. */
static int64_t bar_of(int symbol, int price)
{
    int64_t open_ns = h.now_ns / MINUTE_NS * MINUTE_NS - MINUTE_NS;
    struct bar bar = flat_bar(open_ns, price * E8);
    kline(&h, symbol, &bar);
    return open_ns + MINUTE_NS;
}

static void both(int btc, int eth)
{
    next_minute();
    bar_of(BTCUSDT, btc);
    bar_of(ETHUSDT, eth);
    pass(&h, 100 * MS_NS);
}

static int64_t held(int symbol)
{
    return engine_account(h.engine, ALICE)->positions[symbol].qty;
}

static void want(size_t at, enum intent_kind kind, int symbol, double fraction)
{
    wants[at] = (struct intent){.kind = kind, .symbol = symbol, .fraction = fraction, .why = "round"};
    n_wants = at + 1;
}

/* Once for both, in whichever order they close; the third symbol is of another currency. */
static void test_whole_rounds(void)
{
    open_several(true);
    next_minute();
    int64_t end_ns = bar_of(ETHUSDT, 3000);
    CHECK_INT(saw.calls, 0);
    bar_of(ETHBTC, 1);
    bar_of(BTCUSDT, 60000);
    CHECK(saw.calls == 1 && saw.ts_ns == end_ns && saw.n == MEMBERS && saw.self == 0);
    CHECK_STR(saw.names[BTC_AT], "BTCUSDT");
    CHECK_STR(saw.names[ETH_AT], "ETHUSDT");
    CHECK(saw.fresh[BTC_AT] && saw.fresh[ETH_AT] && saw.own_close == 60000 && saw.close[ETH_AT] == 3000);
    CHECK(isnan(saw.average[ETH_AT]));
    want(0, INTENT_ENTER, ETH_AT, 0.3);
    want(1, INTENT_ENTER, BTC_AT, 0.2);
    both(60010, 3002);
    CHECK(saw.calls == 2 && saw.state == 2);
    CHECK_NEAR(saw.average[ETH_AT], 3001, 1e-9);
    CHECK_NEAR(saw.average[BTC_AT], 60005, 1e-9);
    CHECK(held(ETHUSDT) > 0 && held(BTCUSDT) > 0 && held(ETHBTC) == 0);
    CHECK_INT(h.orders[1].order.symbol, ETHUSDT); /* in the order in which it named them */
    CHECK_INT(h.orders[2].order.symbol, BTCUSDT);
    want(0, INTENT_EXIT, BTC_AT, 0);
    both(60000, 3000);
    CHECK(saw.qty[BTC_AT] > 0 && held(BTCUSDT) == 0 && held(ETHUSDT) > 0);
    CHECK_INT(h.alerts, 0);
    harness_close(&h);
}

/* A bar is missing: the round ends by the wait, or by a later bar, whose time it does not have. */
static void test_missing(void)
{
    open_several(true);
    both(60000, 3000);
    next_minute();
    bar_of(BTCUSDT, 60000);
    CHECK_INT(saw.calls, 1);
    want(0, INTENT_ENTER, ETH_AT, 0.3);
    want(1, INTENT_ENTER, BTC_AT, 0.2);
    pass(&h, 9 * SECOND_NS);
    CHECK_INT(saw.calls, 1);
    pass(&h, 2 * SECOND_NS); /* waited long enough */
    CHECK(saw.calls == 2 && saw.fresh[BTC_AT] && !saw.fresh[ETH_AT] && saw.close[ETH_AT] == 3000);
    CHECK_INT(saw.seen_ns[BTC_AT] - saw.seen_ns[ETH_AT], MINUTE_NS);
    pass(&h, 100 * MS_NS);
    CHECK(held(BTCUSDT) > 0 && held(ETHUSDT) == 0);
    CHECK_STR(h.last_alert, "INTENT_REFUSED");
    CHECK_STR(h.last_alert_text, "several, ETHUSDT, account alice: enter: its bar of this time is missing");
    CHECK_INT(engine_intents_refused(h.engine, ALICE)[INTENT_NO_BAR], 1);
    bar_of(ETHUSDT, 3004); /* too late: it is only shown */
    CHECK_INT(saw.calls, 2);
    both(60000, 3006);
    CHECK(saw.calls == 3 && saw.fresh[ETH_AT]);
    CHECK_NEAR(saw.average[ETH_AT], 3005, 1e-9);
    harness_close(&h);
}

static void test_later_bar(void)
{
    wait_ns = 0;
    open_several(true);
    both(60000, 3000);
    next_minute();
    int64_t end_ns = bar_of(BTCUSDT, 60001);
    pass(&h, 50 * SECOND_NS);
    CHECK_INT(saw.calls, 1);
    next_minute();
    bar_of(BTCUSDT, 60009); /* ends the round before */
    CHECK(saw.calls == 2 && saw.ts_ns == end_ns && saw.close[BTC_AT] == 60001 && !saw.fresh[ETH_AT]);
    harness_close(&h);
    wait_ns = 10 * SECOND_NS;
}

/* What it names must be there, and not be too much. */
static void test_refused(void)
{
    open_several(true);
    both(60000, 3000);
    want(0, INTENT_ENTER, MEMBERS, 0.1);
    want(1, INTENT_ENTER, -1, 0.1);
    want(2, INTENT_ENTER, BTC_AT, 0.1);
    both(60000, 3000);
    CHECK_STR(h.last_alert_text,
              "several, BTCUSDT, account alice: enter: symbol 2 is none of the account's, 0 to 1");
    CHECK_INT(engine_intents_refused(h.engine, ALICE)[INTENT_BAD_SYMBOL], 2);
    CHECK(held(BTCUSDT) > 0); /* the others are carried out */
    uint64_t orders = h.last_order.id;
    for (size_t i = 0; i < STRATEGY_INTENTS_MAX; i++) {
        want(2 * i, INTENT_TARGET, BTC_AT, 0.1 + 0.01 * (double)i);
        want(2 * i + 1, INTENT_TARGET, ETH_AT, 0.01 * (double)(i + 1));
    }
    both(60000, 3000); /* eight of each are allowed */
    CHECK(h.last_order.id > orders && engine_intents_refused(h.engine, ALICE)[INTENT_TOO_MANY] == 0);
    orders = h.last_order.id;
    for (size_t i = 0; i <= STRATEGY_INTENTS_MAX; i++)
        want(i, INTENT_TARGET, ETH_AT, 0.01 * (double)i);
    both(60000, 3000);
    CHECK(h.last_order.id == orders && engine_intents_refused(h.engine, ALICE)[INTENT_TOO_MANY] == 1);
    harness_close(&h);
}

/* Without `together`: at each bar, with what was seen of the other. */
static void test_peers(void)
{
    open_several(false);
    both(60000, 3000);
    next_minute();
    bar_of(BTCUSDT, 60001);
    CHECK(saw.calls == 3 && saw.self == BTC_AT && saw.own_close == 60001 && saw.close[BTC_AT] == 60001);
    CHECK(saw.close[ETH_AT] == 3000 && saw.seen_ns[BTC_AT] - saw.seen_ns[ETH_AT] == MINUTE_NS);
    want(0, INTENT_ENTER, 0, 0.3); /* of its own symbol, whatever it names */
    bar_of(ETHUSDT, 3001);
    pass(&h, 100 * MS_NS);
    CHECK(saw.calls == 4 && saw.self == ETH_AT && saw.close[BTC_AT] == 60001 && saw.state == 2);
    CHECK(held(ETHUSDT) > 0 && held(BTCUSDT) == 0);
    harness_close(&h);
}

/* An account that comes later sees the past by time, both symbols of a minute before the next one. */
static void test_warm(bool together)
{
    open_several(together);
    for (int i = 0; i < 5; i++)
        both(60000 + i, 3000 + i);
    uint64_t calls = saw.calls;
    saw.calls = saw.state = 0;
    struct account_spec dan = h.accounts[ALICE];
    snprintf(dan.name, sizeof dan.name, "dan");
    want(0, INTENT_ENTER, BTC_AT, 0.3); /* on history: nothing comes of it */
    h.accounts[HARNESS_ACCOUNTS] = dan;
    command(&h, (struct event_command){.kind = COMMAND_ACCOUNT_CREATE, .account = dan});
    CHECK_INT(h.command_reason, ORDER_OK);
    CHECK_INT(saw.calls, calls);
    CHECK(saw.close[BTC_AT] == 60004 && saw.close[ETH_AT] == 3004);
    CHECK_NEAR(saw.average[BTC_AT], 60003.5, 1e-9);
    CHECK_INT(engine_orders(h.engine), 0);
    harness_close(&h);
}

/* Saved with one of two bars there, loaded: the other completes the round. */
static void test_state(void)
{
    struct codec first = {0}, second = {0};
    struct engine *loaded = NULL;
    char err[ENGINE_ERROR_MAX] = "";
    open_several(true);
    both(60000, 3000);
    next_minute();
    bar_of(ETHUSDT, 3010);
    codec_save(&first);
    CHECK_INT(engine_save(h.engine, &first), 0);
    const struct engine_sink sink = harness_sink(&h);
    CHECK_INT(engine_load(first.bytes, first.len, &sink, NULL, &loaded, err), 0);
    CHECK_STR(err, "");
    codec_save(&second);
    CHECK_INT(engine_save(loaded, &second), 0);
    CHECK(first.len == second.len && memcmp(first.bytes, second.bytes, first.len) == 0);
    engine_destroy(h.engine);
    h.engine = loaded;
    codec_finish(&first);
    codec_finish(&second);
    CHECK_INT(saw.calls, 1);
    want(0, INTENT_ENTER, ETH_AT, 0.3);
    bar_of(BTCUSDT, 60010);
    CHECK(saw.calls == 2 && saw.state == 2 && saw.close[ETH_AT] == 3010);
    CHECK_NEAR(saw.average[ETH_AT], 3005, 1e-9);
    pass(&h, 100 * MS_NS);
    CHECK(held(ETHUSDT) > 0);

    /* A new run with the same symbols keeps its memory and its round. */
    next_minute();
    bar_of(ETHUSDT, 3020);
    h.config.latency_ns++;
    CHECK_INT(engine_configure(h.engine, &h.config, err), 0);
    bar_of(BTCUSDT, 60020);
    CHECK(saw.calls == 3 && saw.state == 3 && saw.close[ETH_AT] == 3020);
    harness_close(&h);
}

int main(void)
{
    test_whole_rounds();
    test_missing();
    test_later_bar();
    test_refused();
    test_peers();
    test_warm(true);
    test_warm(false);
    test_state();
    return check_done("engine/together");
}
