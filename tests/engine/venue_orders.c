/* Orders that are filled at their venue: what is sent, what the venue's news do, fees in the asset that was
 * bought, exits that wait for one another, and an order that is there twice. */
#include "engine/record.h"
#include "engine/state.h"
#include "strategy/intent.h"
#include "tests/engine/at_venue.h"
#include "tests/engine/reload.h"
#include "tests/random.h"

/* Nothing but the venue's news fills and ends it; a fee in the asset bought leaves so much less of it. */
static void test_fill(void)
{
    attached(0);
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, E8 / 100, 0);
    CHECK(h.n_placed == 1 && h.placed[0] == id);
    pass(&h, SECOND_NS);
    trade(&h, BTCUSDT, 60000 * E8, E8);
    CHECK_INT(state_of(id), ORDER_PENDING);
    CHECK_INT(h.fills, 0);
    CHECK(reserved(&h, ALICE, "USDT") > 600 * E8);
    news(id, VENUE_UPDATE_OPEN);
    CHECK_INT(state_of(id), ORDER_OPEN);
    int seen;
    CHECK(engine_venue_seen(h.engine, ALICE, &seen) == id && seen == BTCUSDT);
    filled(id, 60010 * E8, 400000, 400000, "BTC", 400);
    CHECK_INT(state_of(id), ORDER_PARTIAL);
    filled(id, 60010 * E8, 400000, 400000, "BTC", 400);  /* again */
    filled(id, 60020 * E8, 100000, 1000000, "BTC", 100); /* one before it is missing */
    CHECK_INT(h.fills, 1);
    filled(id, 60020 * E8, 600000, 1000000, "BTC", 600);
    CHECK_INT(state_of(id), ORDER_FILLED);
    CHECK_INT(h.last_fill.basis, FILL_BASIS_VENUE);
    CHECK(h.last_fill.fee == 0 && h.last_fill.fee_base == 600 && h.last_fill.fee_e6 == 0);
    CHECK_INT(held()->qty, 1000000 - 1000);
    CHECK_INT(held()->cost, 24004000000 + 36012000000); /* 60010 · 0.004 + 60020 · 0.006 */
    CHECK_INT(reserved(&h, ALICE, "USDT"), 0);
    filled(id, 60020 * E8, 600000, 1000000, "BTC", 600); /* it has ended */
    news(id, VENUE_UPDATE_CANCELED);
    CHECK_INT(h.fills, 2);
    id = order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_LIMIT, 999000, 61000 * E8);
    CHECK_INT(h.command_reason, ORDER_OK);
    trade(&h, BTCUSDT, 61500 * E8, E8); /* through its limit */
    CHECK_INT(h.fills, 2);
    filled(id, 61000 * E8, 999000, 999000, "USDT", 60939000); /* before the venue's OPEN */
    CHECK_INT(state_of(id), ORDER_FILLED);
    CHECK_INT(held()->qty, 0);
    CHECK_INT(h.last_fill.fee, 60939000);
    harness_close(&h);
}

/* The venue ends an order: asked to, of its own accord, or by the order's terms. */
static void ends_there(struct order request, bool asked, enum venue_update update, bool lost, bool naked)
{
    attached(naked ? E8 / 100 : 0);
    if (naked) {
        uint64_t entry = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, E8 / 100, 0);
        filled(entry, 60010 * E8, E8 / 100, E8 / 100, "USDT", 0);
    }
    uint64_t id = ask(&h, request), alerts = h.alerts;
    CHECK_INT(h.command_reason, ORDER_OK);
    news(id, VENUE_UPDATE_OPEN);
    if (asked)
        cancel(&h, id);
    news(id, update);
    CHECK_INT(state_of(id), update == VENUE_UPDATE_EXPIRED ? ORDER_EXPIRED : ORDER_CANCELED);
    CHECK_INT(reported(&h, id)->reason, lost ? ORDER_VENUE_LOST : ORDER_OK);
    CHECK_INT(h.alerts - alerts, lost);
    if (lost) {
        CHECK_STR(h.last_alert, "VENUE_LOST");
        CHECK(strstr(h.last_alert_text, "which papertape had not asked for: no"));
        CHECK(naked == (strstr(h.last_alert_text, "the position is without it") != NULL));
        CHECK_INT(h.last_subject.order, id);
    }
    harness_close(&h);
}

/* It never came there: by its reason and its alert not the venue's refusal. */
static void test_never_there(void)
{
    int seen;
    attached(0);
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, E8 / 100, 0);
    news(id, VENUE_UPDATE_ABSENT);
    CHECK_INT(state_of(id), ORDER_REJECTED);
    CHECK_INT(reported(&h, id)->reason, ORDER_VENUE_LOST);
    CHECK_STR(h.last_alert, "VENUE_LOST");
    CHECK_INT(engine_venue_seen(h.engine, ALICE, &seen), 0); /* no proof of the account */
    harness_close(&h);
}

static void test_ended_there(void)
{
    const struct order low = limit(ORDER_BUY, E8 / 100, 59000 * E8),
                       exit = stop(ORDER_SELL, E8 / 100, 59000 * E8),
                       market = order_of(ORDER_BUY, ORDER_MARKET, E8 / 100);
    struct order day = low, ioc = low;
    day.tif = ORDER_DAY;
    ioc.tif = ORDER_IOC;
    ends_there(low, false, VENUE_UPDATE_CANCELED, true, false);
    ends_there(low, false, VENUE_UPDATE_EXPIRED, true, false);
    ends_there(low, true, VENUE_UPDATE_CANCELED, false, false);
    ends_there(exit, false, VENUE_UPDATE_CANCELED, true, true);
    ends_there(exit, false, VENUE_UPDATE_EXPIRED, true, true);
    ends_there(exit, true, VENUE_UPDATE_CANCELED, false, true);
    ends_there(day, false, VENUE_UPDATE_EXPIRED, false, false);
    ends_there(day, false, VENUE_UPDATE_CANCELED, true, false);
    ends_there(ioc, false, VENUE_UPDATE_EXPIRED, false, false);
    ends_there(market, false, VENUE_UPDATE_EXPIRED, false, false);
}

/* A fee in a third asset, which was there when the account was attached, or not. */
static void test_fee_apart(void)
{
    attached(0);
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, E8 / 100, 0);
    uint64_t rows = h.rows;
    filled(id, 60010 * E8, E8 / 100, E8 / 100, "BNB", 75000);
    CHECK_INT(h.rows - rows, 4); /* base, quote; BNB deposited and paid */
    CHECK(h.last_fill.fee == 0 && h.last_fill.fee_base == 0);
    CHECK_INT(held()->qty, E8 / 100);
    id = order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, E8 / 100, 0);
    filled(id, 60000 * E8, E8 / 100, E8 / 100, "", 0); /* not said: by the account's rate */
    CHECK_INT(h.last_fill.fee, 60000000);
    harness_close(&h);
}

static void test_unknown(void)
{
    attached(0);
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, E8 / 100, 59000 * E8);
    news(id, VENUE_UPDATE_UNKNOWN);
    CHECK_INT(state_of(id), ORDER_UNKNOWN);
    CHECK_STR(h.last_alert, "VENUE_UNKNOWN");
    CHECK(reserved(&h, ALICE, "USDT") > 0);
    news(id, VENUE_UPDATE_AGAIN);
    CHECK_INT(h.n_placed, 2);
    news(id, VENUE_UPDATE_OPEN);
    CHECK_INT(state_of(id), ORDER_OPEN);
    CHECK(strncmp(h.last_over, "VENUE_UNKNOWN order 1 ", 21) == 0);
    news(id, VENUE_UPDATE_UNKNOWN); /* it is known to be there */
    CHECK_INT(state_of(id), ORDER_OPEN);
    cancel(&h, id);
    CHECK(h.n_canceled == 1 && h.canceled[0] == id && state_of(id) == ORDER_OPEN);
    CHECK(engine_venue_cancels(h.engine, id));
    CHECK(reserved(&h, ALICE, "USDT") > 0); /* the venue has it locked until it says so */
    cancel(&h, id);
    CHECK_INT(h.n_canceled, 1);
    filled(id, 59000 * E8, 1000, 1000, "BTC", 1);
    news(id, VENUE_UPDATE_CANCELED);
    CHECK_INT(state_of(id), ORDER_CANCELED);
    CHECK_INT(held()->qty, 999);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 0);
    id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, E8 / 100, 59000 * E8);
    news(id, VENUE_UPDATE_UNKNOWN);
    news(id, VENUE_UPDATE_REJECTED);
    CHECK_INT(state_of(id), ORDER_REJECTED);
    CHECK_INT(reported(&h, id)->reason, ORDER_VENUE_REFUSED);
    amend(&h, (struct order_amend){.order_id = id, .set = AMEND_QTY, .qty = 1000});
    CHECK_INT(h.command_reason, ORDER_ENDED);
    harness_close(&h);
}

/* The venue has no DAY and GTD orders of ours: their end is a cancel that is asked for, once. */
static void test_expiry(void)
{
    attached(0);
    struct order request = limit(ORDER_BUY, E8 / 100, 59000 * E8);
    request.tif = ORDER_GTD;
    request.expires_ns = h.now_ns + MINUTE_NS;
    uint64_t id = ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_OK);
    news(id, VENUE_UPDATE_OPEN);
    for (int i = 0; i < 5; i++)
        pass(&h, MINUTE_NS);
    CHECK(h.n_canceled == 1 && state_of(id) == ORDER_OPEN);
    news(id, VENUE_UPDATE_CANCELED);
    CHECK_INT(state_of(id), ORDER_CANCELED);
    request.type = ORDER_TRAILING_STOP;
    request.trail_e6 = 10000;
    request.tif = ORDER_GTC;
    request.expires_ns = 0;
    ask(&h, request);
    CHECK(h.command_reason != ORDER_OK);
    request.type = ORDER_MARKET; /* refused here: Binance has none that fills whole or not at all */
    request.tif = ORDER_FOK;
    request.trail_e6 = 0;
    ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_VENUE_TERMS);
    CHECK_INT(h.n_placed, 1);
    harness_close(&h);
}

/* A DAY order that was filled in part: its rest is cancelled at the end of the day, over restarts too. */
static void test_day(void)
{
    open_account(NULL);
    account_news(VENUE_ACCOUNT_ATTACHED, 5000 * E8, 0);
    struct order request = limit(ORDER_BUY, E8 / 100, 59000 * E8);
    request.tif = ORDER_DAY;
    request.post_only = true;
    uint64_t id = ask(&h, request);
    CHECK_INT(h.command_reason, ORDER_OK);
    news(id, VENUE_UPDATE_OPEN);
    filled(id, 59000 * E8, 400000, 400000, "USDT", 0);
    reload_engine(&h.engine);
    pass(&h, HOURS_DAY_NS - h.now_ns % HOURS_DAY_NS - SECOND_NS);
    CHECK(h.n_canceled == 0 && state_of(id) == ORDER_PARTIAL);
    pass(&h, 2 * SECOND_NS);
    CHECK(h.n_canceled == 1 && h.canceled[0] == id && state_of(id) == ORDER_PARTIAL);
    reload_engine(&h.engine);
    CHECK(engine_venue_cancels(h.engine, id)); /* which is asked for until its outcome is known */
    pass(&h, MINUTE_NS);
    CHECK_INT(h.n_canceled, 1);
    news(id, VENUE_UPDATE_CANCELED);
    CHECK_INT(state_of(id), ORDER_CANCELED);
    CHECK_INT(reported(&h, id)->reason, ORDER_OK);
    CHECK_INT(reported(&h, id)->filled, 400000);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 0);
    harness_close(&h);
}

/* Enters with a stop and a profit by a strategy. */
static uint64_t enter(void)
{
    puppet_want(
        (struct intent){.kind = INTENT_ENTER, .fraction = 0.5, .stop = 59000, .profit = 62000, .why = "up"});
    pass(&h, MINUTE_NS - h.now_ns % MINUTE_NS + MS_NS);
    struct bar bar = flat_bar(h.now_ns / MINUTE_NS * MINUTE_NS - MINUTE_NS, 60000 * E8);
    kline(&h, BTCUSDT, &bar);
    CHECK_INT(engine_orders(h.engine), 3);
    uint64_t entry = engine_order(h.engine, 0)->id;
    const struct order *o = reported(&h, entry);
    CHECK(h.n_placed == 1 && h.placed[0] == entry);
    filled(entry, 60010 * E8, o->qty, o->qty, "BTC", o->qty / 1000);
    CHECK_INT(state_of(entry), ORDER_FILLED);
    return entry;
}

static void test_bracket(void)
{
    attached(0);
    uint64_t entry = enter(), stop = entry + 1, profit = entry + 2;
    /* The stop rests at the venue, with what is left after the fee, in whole lots; the profit waits here. */
    CHECK(h.n_placed == 2 && h.placed[1] == stop);
    CHECK(reported(&h, stop)->qty <= held()->qty && reported(&h, stop)->qty > held()->qty - 1000);
    CHECK(engine_venue_waits(h.engine, profit) && !engine_venue_waits(h.engine, stop));
    CHECK(reported(&h, profit)->emulated && state_of(profit) == ORDER_PENDING);
    news(stop, VENUE_UPDATE_OPEN);
    trade(&h, BTCUSDT, 61999 * E8, E8);
    CHECK_INT(h.n_canceled, 0);
    trade(&h, BTCUSDT, 62000 * E8, E8); /* the price comes to it: the stop makes room first */
    CHECK(h.n_canceled == 1 && h.canceled[0] == stop && h.n_placed == 2);
    trade(&h, BTCUSDT, 61000 * E8, E8);
    news(stop, VENUE_UPDATE_CANCELED);
    CHECK(h.n_placed == 3 && h.placed[2] == profit);
    int64_t qty = engine_find_order(h.engine, profit)->qty;
    CHECK(qty <= held()->qty && qty > held()->qty - 1000);
    filled(profit, 62000 * E8, qty, qty, "USDT", 0);
    CHECK_INT(state_of(profit), ORDER_FILLED);
    CHECK_INT(engine_orders(h.engine), 0);
    harness_close(&h);

    attached(0); /* the stop fills in part while its cancel is on its way: the profit sells the rest */
    entry = enter();
    stop = entry + 1;
    profit = entry + 2;
    news(stop, VENUE_UPDATE_OPEN);
    trade(&h, BTCUSDT, 62000 * E8, E8);
    filled(stop, 58990 * E8, 2000, 2000, "USDT", 1);
    CHECK(engine_venue_waits(h.engine, profit));
    news(stop, VENUE_UPDATE_CANCELED);
    CHECK(h.n_placed == 3 && h.placed[2] == profit);
    CHECK(reported(&h, profit)->qty <= held()->qty && reported(&h, profit)->qty > held()->qty - 1000);
    harness_close(&h);

    attached(0); /* the stop fills instead */
    entry = enter();
    stop = entry + 1;
    qty = reported(&h, stop)->qty;
    filled(stop, 58990 * E8, qty, qty, "USDT", 100);
    CHECK(state_of(stop) == ORDER_FILLED && reported(&h, stop)->triggered);
    CHECK_INT(state_of(entry + 2), ORDER_CANCELED);
    CHECK_INT(reported(&h, entry + 2)->reason, ORDER_OTHER_LEG);
    CHECK_INT(engine_orders(h.engine), 0);
    CHECK_INT(h.n_canceled, 0); /* the profit was never there */
    harness_close(&h);

    attached(0); /* the entry is refused */
    puppet_want((struct intent){.kind = INTENT_ENTER, .fraction = 0.5, .stop = 59000, .why = "up"});
    pass(&h, MINUTE_NS - h.now_ns % MINUTE_NS + MS_NS);
    struct bar bar = flat_bar(h.now_ns / MINUTE_NS * MINUTE_NS - MINUTE_NS, 60000 * E8);
    kline(&h, BTCUSDT, &bar);
    entry = engine_order(h.engine, 0)->id;
    news(entry, VENUE_UPDATE_REJECTED);
    CHECK_STR(h.last_alert, "VENUE_REFUSED");
    CHECK_INT(reported(&h, entry)->reason, ORDER_VENUE_REFUSED);
    CHECK_INT(engine_orders(h.engine), 0);
    CHECK_INT(h.n_placed, 1);
    harness_close(&h);
}

/* Leaving asks for the cancel of the stop, and sells once it is gone: what the stop sold meanwhile is not
 * sold again. */
static void leave_with_stop(bool stop_fills)
{
    attached(0);
    uint64_t entry = enter(), stop = entry + 1;
    news(stop, VENUE_UPDATE_OPEN);
    command(&h, (struct event_command){.kind = COMMAND_FLATTEN});
    CHECK(h.n_placed == 2 && h.n_canceled == 1 && h.canceled[0] == stop);
    CHECK_INT(state_of(entry + 2), ORDER_CANCELED); /* the profit ended here */
    uint64_t sale = entry + 3;
    CHECK(state_of(sale) == ORDER_PENDING && engine_venue_waits(h.engine, sale));
    int64_t qty = reported(&h, stop)->qty, part = stop_fills ? qty : 2000;
    filled(stop, 58990 * E8, part, part, "USDT", 1);
    if (stop_fills) {
        CHECK_INT(state_of(sale), ORDER_CANCELED);
        CHECK_INT(reported(&h, sale)->reason, ORDER_REDUCE_ONLY);
        CHECK_INT(h.n_placed, 2);
    } else {
        news(stop, VENUE_UPDATE_CANCELED);
        CHECK(h.n_placed == 3 && h.placed[2] == sale);
        const struct order *o = engine_find_order(h.engine, sale);
        CHECK(o->qty <= held()->qty && o->qty > held()->qty - 1000);
        filled(sale, 60000 * E8, o->qty, o->qty, "USDT", 1);
    }
    CHECK_INT(engine_orders(h.engine), 0);
    CHECK(held()->qty < 1000);
    harness_close(&h);
}

static void pass_bar(void)
{
    pass(&h, MINUTE_NS - h.now_ns % MINUTE_NS + MS_NS);
    struct bar bar = flat_bar(h.now_ns / MINUTE_NS * MINUTE_NS - MINUTE_NS, 60000 * E8);
    kline(&h, BTCUSDT, &bar);
}

static uint64_t sell(int64_t qty)
{
    return ask(&h, (struct order){.account = ALICE,
                                  .symbol = BTCUSDT,
                                  .side = ORDER_SELL,
                                  .qty = qty,
                                  .reduce_only = true,
                                  .by_hand = true});
}

/* What closes a part takes the stop away for as long as it works: it comes back for what is left. */
static void test_part(void)
{
    attached(0);
    uint64_t entry = enter(), stop = entry + 1, sale = sell(1000000);
    news(stop, VENUE_UPDATE_OPEN);
    CHECK(h.command_reason == ORDER_OK && h.n_canceled == 1 && h.n_placed == 2);
    news(stop, VENUE_UPDATE_CANCELED);
    uint64_t again = sale + 1;
    CHECK(h.n_placed == 3 && h.placed[2] == sale && engine_venue_waits(h.engine, again));
    filled(sale, 60000 * E8, 1000000, 1000000, "USDT", 1);
    CHECK(h.n_placed == 4 && h.placed[3] == again);
    CHECK(reported(&h, again)->stop_price == 59000 * E8 && reported(&h, again)->reduce_only);
    CHECK(reported(&h, again)->qty <= held()->qty && reported(&h, again)->qty > held()->qty - 1000);
    news(again, VENUE_UPDATE_OPEN);

    /* All of it: only dust is left, no exit stays, and the strategy is flat. */
    sale = sell(held()->qty / 1000 * 1000);
    news(again, VENUE_UPDATE_CANCELED);
    CHECK_INT(h.n_placed, 5);
    int64_t qty = engine_find_order(h.engine, sale)->qty;
    filled(sale, 60000 * E8, qty, qty, "USDT", 1);
    CHECK(held()->qty > 0 && held()->qty < 1000);
    CHECK_INT(engine_orders(h.engine), 0);
    CHECK_INT(state_of(entry + 2), ORDER_CANCELED);
    pass_bar();
    CHECK(puppet_saw.qty == 0 && puppet_saw.positions == 0);
    puppet_want((struct intent){.kind = INTENT_ENTER, .fraction = 0.5, .stop = 59000, .why = "up"});
    pass_bar();
    CHECK_INT(engine_orders(h.engine), 2);
    for (uint64_t id = 1; id <= again + 1; id++) /* and what never left keeps what was ordered */
        CHECK(reported(&h, id)->qty > 0);
    harness_close(&h);
}

/* Of a position that was to be closed, or protected, the alert says what it is without. */
static void test_refusal_of_an_exit(void)
{
    for (int stops = 0; stops < 2; stops++) {
        attached(0);
        uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, E8 / 100, 0);
        filled(id, 60000 * E8, E8 / 100, E8 / 100, "USDT", 0);
        struct order exit =
            stops ? stop(ORDER_SELL, E8 / 100, 50000 * E8) : order_of(ORDER_SELL, ORDER_MARKET, E8 / 100);
        exit.reduce_only = true;
        exit.by_hand = false;
        command(&h, (struct event_command){.kind = COMMAND_ORDER, .order = {.n_legs = 1, .legs = &exit}});
        CHECK_INT(h.command_reason, ORDER_OK);
        news(id + 1, VENUE_UPDATE_REJECTED);
        CHECK_STR(h.last_alert, "VENUE_REFUSED");
        CHECK((strstr(h.last_alert_text, ": the position is without it") != NULL) == stops);
        CHECK((strstr(h.last_alert_text, ": the position is not closed") != NULL) == !stops);
        harness_close(&h);
    }
}

static struct event duplicate_of(uint64_t id, const char *venue_id, enum order_side side,
                                 enum order_type type)
{
    struct event event = news_of(id, VENUE_UPDATE_DUPLICATE);
    event.venue_order.text[0] = '\0';
    snprintf(event.venue_order.venue_id, sizeof event.venue_order.venue_id, "%s", venue_id);
    event.venue_order.duplicate.symbol = BTCUSDT;
    event.venue_order.duplicate.side = side;
    event.venue_order.duplicate.type = type;
    event.venue_order.duplicate.qty = 1000000;
    event.venue_order.duplicate.price = type == ORDER_LIMIT ? 60000 * E8 : 0;
    return event;
}

/* The venue has two orders of one client id: the second one is an order of its own, with its own fills, and
 * neither is filled beyond its quantity. */
static void test_duplicate(void)
{
    char id_there[ORDER_CLIENT_ID_MAX];
    attached(0);
    uint64_t id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, E8 / 100, 0);
    struct event event = duplicate_of(id, "18", ORDER_BUY, ORDER_MARKET);
    filled(id, 60010 * E8, 1000000, 1000000, "BTC", 1000);
    CHECK_INT(state_of(id), ORDER_FILLED);
    CHECK_STR(engine_venue_id(h.engine, ALICE, id), "17");
    CHECK_INT(engine_venue_booked(h.engine, ALICE, id, "18"), 0);
    CHECK_INT(harness_event(&h, &event), 0);
    CHECK_STR(h.last_alert, "VENUE_DUPLICATE");
    const uint64_t second = id + 1;
    CHECK(state_of(second) == ORDER_OPEN && reported(&h, second)->qty == 1000000);
    CHECK_STR(reported(&h, second)->tag, "second of 1");
    engine_venue_client_id(h.engine, ALICE, second, id_there);
    CHECK_STR(id_there, "0abc1234-1");
    CHECK_INT(engine_venue_booked(h.engine, ALICE, id, "18"), second);
    CHECK_INT(harness_event(&h, &event), 0); /* again */
    event = duplicate_of(id, "17", ORDER_BUY, ORDER_MARKET);
    CHECK_INT(harness_event(&h, &event), 0); /* the first one */
    CHECK_INT(engine_orders(h.engine), 1);
    filled(second, 60020 * E8, 1000000, 1000000, "BTC", 1000);
    CHECK_INT(state_of(second), ORDER_FILLED);
    CHECK_INT(held()->qty, 2 * (1000000 - 1000));
    CHECK_INT(reserved(&h, ALICE, "USDT"), 0);
    harness_close(&h);
    /* What of it rests is cancelled; what it sold of what was no position makes one below zero. */
    attached(E8);
    h.oversold = true;
    id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, E8 / 100, 60010 * E8);
    filled(id, 60010 * E8, 1000000, 1000000, "BTC", 0);
    const int canceled = h.n_canceled;
    event = duplicate_of(id, "18", ORDER_BUY, ORDER_LIMIT);
    CHECK_INT(harness_event(&h, &event), 0);
    CHECK(h.n_canceled == canceled + 1 && h.canceled[canceled % 16] == id + 1);
    news(id + 1, VENUE_UPDATE_CANCELED);
    CHECK_INT(state_of(id + 1), ORDER_CANCELED);
    CHECK_INT(reserved(&h, ALICE, "USDT"), 0);
    id = order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, E8 / 100, 0);
    filled(id, 60000 * E8, 1000000, 1000000, "USDT", 0);
    event = duplicate_of(id, "20", ORDER_SELL, ORDER_MARKET);
    CHECK_INT(harness_event(&h, &event), 0);
    filled(id + 1, 60000 * E8, 1000000, 1000000, "USDT", 0);
    CHECK_INT(held()->qty, -1000000);
    CHECK_INT(h.ledger_sum[ALICE][1], E8 - 1000000);
    const int64_t cash = h.ledger_sum[ALICE][0];
    const uint64_t rows = h.rows;
    account_news(VENUE_ACCOUNT_BALANCES, 100 * E8, E8 - 1000000); /* less than it is worth: no margin call */
    trade(&h, BTCUSDT, 60000 * E8, E8);
    pass(&h, 3 * 3600 * SECOND_NS); /* and no interest */
    trade(&h, BTCUSDT, 60000 * E8, E8);
    CHECK(strcmp(h.last_alert, "VENUE_BALANCE") == 0 && h.rows == rows + 1);
    CHECK_INT(engine_orders(h.engine), 0);
    account_news(VENUE_ACCOUNT_BALANCES, cash, E8 - 1000000);
    id = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, E8 / 100, 0);
    filled(id, 60000 * E8, 1000000, 1000000, "BTC", 0);
    CHECK_INT(held()->qty, 0);
    /* What no venue says. */
    for (int wrong = 0; wrong < 5; wrong++) {
        event = duplicate_of(wrong == 0 ? 99 : id, wrong == 1 ? "" : "30", ORDER_BUY, ORDER_MARKET);
        event.venue_order.duplicate.qty = wrong == 2 ? 0 : 1;
        event.venue_order.duplicate.symbol = wrong == 3 ? 99 : BTCUSDT;
        event.venue_order.account = wrong == 4 ? BOB : ALICE;
        CHECK_INT(harness_event(&h, &event), -EINVAL);
    }
    /* The last ones are known by the venue's id: of those that ended, the oldest are forgotten first. */
    const uint64_t resting = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, 10000, 50000 * E8);
    news(resting, VENUE_UPDATE_OPEN);
    for (int i = 0; i < VENUE_ORDER_IDS_MAX; i++) {
        uint64_t next = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, 10000, 50000 * E8);
        news(next, VENUE_UPDATE_OPEN);
        news(next, VENUE_UPDATE_CANCELED);
        CHECK_STR(engine_venue_id(h.engine, ALICE, next), "17");
    }
    CHECK_STR(engine_venue_id(h.engine, ALICE, id), "");
    CHECK_STR(engine_venue_id(h.engine, ALICE, resting), "17");
    harness_close(&h);
}

/* What names nothing, or another account's, changes nothing. */
static void test_bad_news(void)
{
    attached(0);
    uint64_t id = order(&h, BOB, BTCUSDT, ORDER_BUY, ORDER_LIMIT, E8 / 100, 59000 * E8);
    news(id, VENUE_UPDATE_CANCELED);
    CHECK(order_live(state_of(id)));
    struct event event = news_of(id, VENUE_UPDATE_OPEN);
    event.venue_order.account = BOB;
    CHECK_INT(harness_event(&h, &event), -EINVAL);
    event.venue_order.account = 5000;
    CHECK_INT(harness_event(&h, &event), -EINVAL);
    event = news_of(99, VENUE_UPDATE_FILL);
    event.venue_order.fill.price = event.venue_order.fill.qty = event.venue_order.fill.cumulative = 1;
    CHECK_INT(harness_event(&h, &event), -EINVAL);
    event.venue_order.fill.qty = -1;
    CHECK_INT(harness_event(&h, &event), -EINVAL);
    harness_close(&h);
}

/* One event of a random venue, or of its user. */
static void random_step(struct random *random)
{
    static const enum venue_update kinds[] = {VENUE_UPDATE_OPEN, VENUE_UPDATE_UNKNOWN, VENUE_UPDATE_CANCELED,
                                              VENUE_UPDATE_REJECTED};
    size_t n = engine_orders(h.engine);
    const struct order *o =
        n > 0 ? engine_order(h.engine, (size_t)random_between(random, 0, (int64_t)n - 1)) : NULL;
    int dice = (int)random_between(random, 0, 12);
    if (!o || dice < 3) {
        order(&h, ALICE, BTCUSDT, random_chance(random, 60) ? ORDER_BUY : ORDER_SELL,
              random_chance(random, 50) ? ORDER_MARKET : ORDER_LIMIT, random_between(random, 1, 9) * 10000,
              60000 * E8);
    } else if (dice < 8) {
        int64_t qty = random_between(random, 1, o->qty - o->filled);
        filled(o->id, 60000 * E8, qty, o->filled + qty, o->side == ORDER_BUY ? "BTC" : "USDT", qty / 1000);
    } else if (dice < 9) {
        cancel(&h, o->id);
    } else if (dice < 10) {
        char venue_id[24];
        snprintf(venue_id, sizeof venue_id, "%d", (int)random_between(random, 18, 30));
        struct event event =
            duplicate_of(o->id, venue_id, o->side, random_chance(random, 50) ? ORDER_MARKET : ORDER_LIMIT);
        CHECK_INT(harness_event(&h, &event), 0);
    } else {
        news(o->id, kinds[random_between(random, 0, 3)]);
    }
}

/* A state that is saved and loaded after any event is the same. */
static void test_saved(struct random *random)
{
    for (int round = 0; round < 20; round++) {
        open_account(NULL);
        account_news(VENUE_ACCOUNT_ATTACHED, 5000 * E8, E8);
        h.oversold = true;
        for (int i = 0; i < 60; i++) {
            uint8_t digest[LEDGER_HASH_SIZE], again[LEDGER_HASH_SIZE];
            struct codec codec = {0};
            struct engine *loaded = NULL;
            const struct engine_sink none = {0};
            char err[ENGINE_ERROR_MAX];
            random_step(random);
            codec_save(&codec);
            CHECK_INT(engine_save(h.engine, &codec), 0);
            CHECK_INT(engine_load(codec.bytes, codec.len, &none, NULL, &loaded, err), 0);
            codec_finish(&codec);
            CHECK(loaded && engine_digest(h.engine, digest) == 0 && engine_digest(loaded, again) == 0 &&
                  memcmp(digest, again, sizeof digest) == 0);
            engine_destroy(loaded);
        }
        harness_close(&h);
    }
}

int main(void)
{
    struct random random = random_seeded("engine/venue_orders", 29);
    test_fill();
    test_ended_there();
    test_never_there();
    test_fee_apart();
    test_unknown();
    test_expiry();
    test_day();
    test_bracket();
    leave_with_stop(false);
    leave_with_stop(true);
    test_part();
    test_refusal_of_an_exit();
    test_bad_news();
    test_duplicate();
    test_saved(&random);
    return check_done("engine/venue_orders");
}
