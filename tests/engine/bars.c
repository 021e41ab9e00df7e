/* Bars on their way to the strategies: gaps are asked for, held bars wait, history decides nothing, and what
 * a strategy wants becomes orders. */
#include "strategy/strategy.h"
#include "tests/engine/harness.h"

static struct harness h;

/* Wants, at each bar, what the test says; counts the bars that it saw. */
static struct intent wanted[STRATEGY_INTENTS_MAX];
static size_t n_wanted;
static int64_t seen_ns[1024];
static size_t n_seen;
static struct strategy_input last_input;

static size_t no_specs(const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    (void)params;
    (void)specs;
    return 0;
}

static size_t puppet_bar(const double *params, void *state, const struct strategy_input *input,
                         struct intent *intents)
{
    (void)params;
    (void)state;
    seen_ns[n_seen++ % 1024] = input->ts_ns - MINUTE_NS;
    last_input = *input;
    memcpy(intents, wanted, n_wanted * sizeof *wanted);
    return n_wanted;
}

static const struct strategy puppet = {
    .name = "puppet", .summary = "returns the intents of the test", .specs = no_specs, .on_bar = puppet_bar};

static void want(struct intent intent)
{
    wanted[0] = intent;
    n_wanted = 1;
}

static void open_puppet(void)
{
    harness_init(&h);
    h.accounts[ALICE].strategy = &puppet;
    h.config.latency_ns = 50 * MS_NS;
    n_wanted = n_seen = 0;
    harness_open(&h);
    quote(&h, BTCUSDT, 59999 * E8, 10 * E8, 60000 * E8, 10 * E8);
    trade(&h, BTCUSDT, 60000 * E8, E8);
}

/* The bar that closed `back` minutes before the present minute. */
static int64_t open_of(int back)
{
    return h.now_ns / MINUTE_NS * MINUTE_NS - back * MINUTE_NS;
}

static void close_bar(int back, int64_t price)
{
    struct bar bar = flat_bar(open_of(back), price);
    kline(&h, BTCUSDT, &bar);
}

static void history(int from_back, int to_back)
{
    struct bar bars[400];
    uint32_t n = 0;
    for (int back = from_back; back >= to_back; back--)
        bars[n++] = flat_bar(open_of(back), 60000 * E8);
    struct event event = {.kind = EVENT_BARS, .bars = {BTCUSDT, bars, n}};
    CHECK_INT(harness_event(&h, &event), 0);
}

static void test_history_and_gap(void)
{
    open_puppet();
    want((struct intent){.kind = INTENT_ENTER, .fraction = 0.1, .why = "scripted"});
    history(30, 3);
    CHECK_INT(n_seen, 28);
    CHECK_INT(h.last_order.id, 0); /* no decision on history */
    close_bar(1, 60000 * E8);      /* minute 2 is missing */
    CHECK_INT(n_seen, 28);
    CHECK_INT(h.bars_wanted, 1);
    CHECK_INT(h.wanted_from_ns, open_of(2));
    CHECK_INT(h.wanted_to_ns, open_of(2));
    h.now_ns += MINUTE_NS;
    close_bar(1, 60000 * E8); /* the next waits behind it, and is not asked for again */
    close_bar(1, 60000 * E8); /* nor twice */
    CHECK_INT(n_seen, 28);
    CHECK_INT(h.bars_wanted, 1);
    history(3, 2); /* the answer holds one that waits, too */
    CHECK_INT(n_seen, 31);
    for (int i = 0; i < 31; i++)
        CHECK_INT(seen_ns[i], open_of(31 - i)); /* every minute once, in order */
    CHECK_INT(h.last_order.id, 1);              /* of the bar that just closed, not of the late ones */
    CHECK_INT(h.bars, 31);
    close_bar(1, 60000 * E8); /* again */
    close_bar(9, 60000 * E8); /* old */
    history(40, 1);
    CHECK_INT(n_seen, 31);
    harness_close(&h);

    /* A first bar out of nothing is taken as it is. */
    open_puppet();
    close_bar(1, 60000 * E8);
    CHECK_INT(n_seen, 1);
    CHECK_INT(h.bars_wanted, 0);
    harness_close(&h);

    /* A bar that comes late is shown, and decides nothing. */
    open_puppet();
    want((struct intent){.kind = INTENT_ENTER, .fraction = 0.1, .why = "scripted"});
    close_bar(2, 60000 * E8);
    CHECK_INT(n_seen, 1);
    CHECK_INT(h.last_order.id, 0);
    harness_close(&h);
}

/* The missing bars never come: in the end the strategies continue without them. */
static void test_gap_that_stays(void)
{
    open_puppet();
    close_bar(1, 60000 * E8);
    h.now_ns += 5 * MINUTE_NS;
    for (int i = 0; i < 256; i++, h.now_ns += MINUTE_NS)
        close_bar(1, 60000 * E8);
    CHECK_INT(n_seen, 1);
    CHECK_INT(h.bars_wanted, 1);
    want((struct intent){.kind = INTENT_ENTER, .fraction = 0.1, .why = "scripted"});
    close_bar(1, 60000 * E8);
    CHECK_INT(n_seen, 258);
    CHECK_INT(h.last_order.id, 1);
    CHECK_INT(h.bars_wanted, 1);
    h.now_ns += MINUTE_NS;
    close_bar(1, 60000 * E8);
    CHECK_INT(n_seen, 259);
    harness_close(&h);
}

static void test_intents(void)
{
    open_puppet();
    want((struct intent){.kind = INTENT_ENTER, .fraction = 0.5, .stop = 59000.004, .why = "scripted"});
    close_bar(1, 60000 * E8);
    const struct order *entry = reported(&h, 1);
    CHECK_INT(entry->side, ORDER_BUY);
    CHECK_INT(entry->type, ORDER_MARKET);
    CHECK_INT(entry->qty, 8325000); /* 5000 / 1.001 / 60000 */
    CHECK_STR(entry->tag, "scripted");
    CHECK(!entry->by_hand);
    n_wanted = 0;
    pass(&h, SECOND_NS);
    CHECK_INT(entry->state, ORDER_FILLED);
    const struct order *stop = reported(&h, 2);
    CHECK_INT(stop->type, ORDER_STOP);
    CHECK_INT(stop->qty, 8325000);
    CHECK_INT(stop->stop_price, 59000 * E8); /* on the tick */
    CHECK(stop->reduce_only && stop->parent == entry->id);
    CHECK_INT(stop->state, ORDER_OPEN);

    h.now_ns += MINUTE_NS;
    want((struct intent){.kind = INTENT_STOP, .stop = 59500, .why = "trail"});
    close_bar(1, 60100 * E8);
    CHECK_NEAR(last_input.stop, 59000, 1e-9);
    CHECK_NEAR(last_input.qty, 0.08325, 1e-12);
    CHECK_NEAR(last_input.entry, 60000, 1e-6);
    CHECK_NEAR(last_input.close, 60100, 1e-9);
    CHECK(!last_input.live_orders);
    n_wanted = 0;
    pass(&h, SECOND_NS);
    CHECK_INT(stop->state, ORDER_OPEN); /* amended: never without one */
    CHECK_INT(stop->amends, 1);
    CHECK_INT(stop->stop_price, 59500 * E8);

    h.now_ns += MINUTE_NS;
    want((struct intent){.kind = INTENT_EXIT, .why = "out"});
    close_bar(1, 60100 * E8);
    n_wanted = 0;
    pass(&h, SECOND_NS);
    CHECK_INT(stop->state, ORDER_CANCELED);
    CHECK_INT(stop->reason, ORDER_REDUCE_ONLY);
    CHECK_INT(stop->updated_ns, reported(&h, 3)->updated_ns); /* not before the sale, nor after */
    CHECK_INT(reported(&h, 3)->state, ORDER_FILLED);
    CHECK_STR(reported(&h, 3)->tag, "out");
    CHECK_INT(h.position[ALICE][BTCUSDT], 0);
    CHECK_INT(engine_orders(h.engine), 0);
    CHECK_INT(reserved(&h, ALICE, "BTC"), 0);

    /* Paused: no entry; the stop of what is held still works. */
    h.now_ns += MINUTE_NS;
    want((struct intent){.kind = INTENT_ENTER, .fraction = 0.5, .stop = 59000, .why = "scripted"});
    close_bar(1, 60100 * E8);
    n_wanted = 0;
    pass(&h, SECOND_NS);
    command(&h, (struct event_command){.kind = COMMAND_PAUSE});
    trade(&h, BTCUSDT, 59000 * E8, E8);
    CHECK_INT(h.position[ALICE][BTCUSDT], 0);
    h.now_ns += MINUTE_NS;
    want((struct intent){.kind = INTENT_ENTER, .fraction = 0.5, .why = "scripted"});
    close_bar(1, 60100 * E8);
    CHECK_INT(h.last_order.state, ORDER_REJECTED);
    CHECK_INT(h.last_order.reason, ORDER_RISK_PAUSED);
    harness_close(&h);
}

/* An exit that nothing fills, or whose fill cannot be determined, must not cost the stop. */
static void test_stop_survives_blindness(void)
{
    open_puppet();
    want((struct intent){.kind = INTENT_ENTER, .fraction = 0.5, .stop = 59000, .why = "scripted"});
    close_bar(1, 60000 * E8);
    n_wanted = 0;
    pass(&h, SECOND_NS);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, 2)->state, ORDER_OPEN);
    connection(&h, true); /* and no data yet */
    h.now_ns += MINUTE_NS;
    want((struct intent){.kind = INTENT_EXIT, .why = "out"});
    close_bar(1, 60000 * E8);
    CHECK_INT(h.last_order.state, ORDER_REJECTED);
    CHECK_INT(h.last_order.reason, ORDER_NO_LIQUIDITY);
    quote(&h, BTCUSDT, 59999 * E8, 10 * E8, 60000 * E8, 10 * E8);
    stale(&h, BTCUSDT, true);
    h.now_ns += MINUTE_NS;
    want((struct intent){.kind = INTENT_STOP, .stop = 59500, .why = "trail"});
    close_bar(1, 60000 * E8);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, 2)->state, ORDER_OPEN);
    CHECK_INT(engine_orders(h.engine), 1);
    stale(&h, BTCUSDT, false);
    h.now_ns += MINUTE_NS;
    want((struct intent){.kind = INTENT_EXIT, .why = "out"});
    close_bar(1, 60000 * E8);
    pass(&h, SECOND_NS);
    CHECK_INT(reported(&h, 2)->state, ORDER_CANCELED);
    CHECK_INT(h.position[ALICE][BTCUSDT], 0);
    harness_close(&h);
}

/* The venue's word on trades: a bar built here appears when every trade of it was seen. */
static void test_built_bars(void)
{
    harness_init(&h);
    harness_open(&h);
    struct bar bar = flat_bar(h.now_ns, 60000 * E8);
    for (int minute = 0; minute < 5; minute++) {
        for (int i = 0; i < 3; i++, h.now_ns += 10 * SECOND_NS)
            trade(&h, BTCUSDT, 60000 * E8, E8);
        if (minute == 3)
            h.next_trade_id[BTCUSDT]++; /* one is lost */
        h.now_ns += 30 * SECOND_NS;
    }
    CHECK_INT(h.bars_built,
              2); /* not the first, whose beginning is unknown, nor the fourth; the fifth forms */
    CHECK_INT(h.bars, 0);
    bar.open_ns = h.now_ns - MINUTE_NS;
    bar.first_trade_id = h.next_trade_id[BTCUSDT] - 3;
    bar.last_trade_id = h.next_trade_id[BTCUSDT] - 1;
    kline(&h, BTCUSDT, &bar);
    CHECK_INT(h.bars, 1);
    harness_close(&h);
}

int main(void)
{
    test_history_and_gap();
    test_gap_that_stays();
    test_intents();
    test_stop_survives_blindness();
    test_built_bars();
    return check_done("engine/bars");
}
