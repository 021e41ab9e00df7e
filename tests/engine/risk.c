/* The risk gate as the engine asks it: every refusal has its reason and is counted, by engine and by account;
 * the kill switch from its alert to the user's resume, over a save and a load; a refusal's figures in words;
 * and over random orders the facts that a verdict depends on, computed here from the reported orders and
 * fills. */
#include <math.h>

#include "engine/core.h"
#include "engine/refusal.h"
#include "engine/state.h"
#include "tests/engine/by_hand.h"
#include "tests/random.h"

static void open_limited(struct risk_limits limits)
{
    harness_init(&h);
    h.risk = limits;
    harness_open(&h);
    quote(&h, BTCUSDT, 59999 * USDT, 100 * BTC, 60000 * USDT, 100 * BTC);
    trade(&h, BTCUSDT, 60000 * USDT, BTC);
    quote(&h, ETHUSDT, 2999 * USDT, 100 * E8, 3000 * USDT, 100 * E8);
    trade(&h, ETHUSDT, 3000 * USDT, E8);
}

static void refused(uint64_t times, enum order_reason reason)
{
    CHECK_STR(order_reason_name(h.command_reason), order_reason_name(reason));
    CHECK_INT(engine_account(h.engine, ALICE)->refused[reason], times);
    CHECK_INT(engine_account(h.engine, BOB)->refused[reason], 0);
    CHECK_INT(engine_counters(h.engine)->refused[reason], times);
}

static void accepted(void)
{
    CHECK_STR(order_reason_name(h.command_reason), order_reason_name(ORDER_OK));
}

static void test_price_band(void)
{
    open_limited((struct risk_limits){.price_band = 0.1});
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 1000, 54000 * USDT);
    accepted();
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 1000, 54000 * USDT - E8 / 100);
    refused(1, ORDER_RISK_PRICE_BAND);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_STOP, BTC / 1000, 66000 * USDT + E8 / 100);
    refused(2, ORDER_RISK_PRICE_BAND);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_STOP, BTC / 1000, 66000 * USDT);
    accepted();
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 1000, 0);
    accepted();
    pass(&h, SECOND_NS);
    order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_STOP, BTC / 1000, 30000 * USDT); /* it only closes */
    accepted();
    harness_close(&h);
}

static void test_cooldown(void)
{
    open_limited((struct risk_limits){.cooldown_ns = 60 * SECOND_NS});
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 100, 0);
    pass(&h, SECOND_NS);
    order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, BTC / 200, 0);
    pass(&h, SECOND_NS);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 200, 0); /* it was not all of it */
    accepted();
    pass(&h, SECOND_NS);
    order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, BTC / 100, 0);
    pass(&h, SECOND_NS);
    int64_t closed_ns = engine_account(h.engine, ALICE)->positions[BTCUSDT].closed_ns;
    CHECK_INT(closed_ns, h.last_fill.ts_ns);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 100, 0);
    refused(1, ORDER_RISK_COOLDOWN);
    order(&h, ALICE, ETHUSDT, ORDER_BUY, ORDER_MARKET, E8 / 100, 0); /* another symbol */
    accepted();
    pass(&h, closed_ns + 60 * SECOND_NS - 1 - h.now_ns);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 100, 0);
    refused(2, ORDER_RISK_COOLDOWN);
    pass(&h, 1);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 100, 0);
    accepted();
    pass(&h, SECOND_NS);
    order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, BTC / 100, 0);
    pass(&h, SECOND_NS);
    command(&h, (struct event_command){.kind = COMMAND_ACCOUNT_RESET, .money = {ALICE, 0, 10000 * USDT}});
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 100, 0); /* a reset forgets it */
    accepted();
    harness_close(&h);
}

static void test_positions(void)
{
    open_limited((struct risk_limits){.positions = 1});
    uint64_t entry = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 1000, 50000 * USDT);
    accepted();
    order(&h, ALICE, ETHUSDT, ORDER_BUY, ORDER_MARKET, E8 / 100, 0); /* BTC is being entered */
    refused(1, ORDER_RISK_POSITIONS);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 1000, 0);
    accepted();
    command(&h, (struct event_command){.kind = COMMAND_CANCEL, .order_id = entry});
    pass(&h, SECOND_NS);
    order(&h, ALICE, ETHUSDT, ORDER_BUY, ORDER_MARKET, E8 / 100, 0); /* and now it is held */
    refused(2, ORDER_RISK_POSITIONS);
    order(&h, ALICE, BTCUSDT, ORDER_SELL, ORDER_MARKET, BTC / 1000, 0);
    pass(&h, SECOND_NS);
    order(&h, ALICE, ETHUSDT, ORDER_BUY, ORDER_MARKET, E8 / 100, 0);
    accepted();
    harness_close(&h);
}

static void test_stale(void)
{
    open_limited((struct risk_limits){0});
    stale(&h, BTCUSDT, true);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 1000, 59000 * USDT);
    refused(1, ORDER_RISK_STALE_DATA);
    order(&h, ALICE, ETHUSDT, ORDER_BUY, ORDER_MARKET, E8 / 100, 0);
    accepted();
    stale(&h, BTCUSDT, false);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 1000, 59000 * USDT);
    accepted();
    harness_close(&h);
}

/* ---- the kill switch */

static struct codec saved;

/* Replaces the engine by one loaded from its written state. */
static void reload(void)
{
    char err[ENGINE_ERROR_MAX] = "";
    struct engine_sink sink = h.engine->sink;
    codec_save(&saved);
    CHECK_INT(engine_save(h.engine, &saved), 0);
    engine_destroy(h.engine);
    CHECK_INT(engine_load(saved.bytes, saved.len, &sink, NULL, &h.engine, err), 0);
    CHECK_STR(err, "");
}

static void resume_account(int account)
{
    command(&h, (struct event_command){.kind = COMMAND_ACCOUNT_RESUME, .money = {.account = account}});
}

static void test_kill(bool reloads)
{
    open_limited((struct risk_limits){.drawdown = 0.1});
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 10, 0); /* 6000 and 6 of fee */
    order(&h, BOB, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 100, 0);
    pass(&h, SECOND_NS);
    uint64_t resting = order(&h, ALICE, ETHUSDT, ORDER_BUY, ORDER_LIMIT, E8 / 10, 2000 * USDT);
    struct order protection = stop(ORDER_SELL, BTC / 10, 40000 * USDT);
    protection.reduce_only = true;
    uint64_t stops = rested(protection);
    const struct account *alice = engine_account(h.engine, ALICE);
    CHECK_INT(alice->equity_peak, 10000 * USDT);
    uint64_t alerts = h.alerts;
    quote(&h, BTCUSDT, 50059 * USDT, 100 * BTC, 50060 * USDT, 100 * BTC);
    trade(&h, BTCUSDT, 50061 * USDT, BTC); /* 993.9 and 6 of fee: 999.9 lost, the limit is 1000 */
    CHECK_INT(alice->killed_ns, 0);
    trade(&h, BTCUSDT, 50060 * USDT, BTC);
    CHECK_INT(alice->killed_ns, h.now_ns);
    CHECK_INT(h.alerts, alerts + 1);
    CHECK_STR(h.last_alert, "KILLED");
    CHECK(strstr(h.last_alert_text, "alice lost 10.00 %"));
    CHECK_INT(h.last_equity[ALICE].equity, 9000 * USDT);
    uint64_t closing = h.last_order.id;
    CHECK_STR(reported(&h, closing)->tag, "drawdown");
    CHECK(reported(&h, closing)->reduce_only && reported(&h, closing)->type == ORDER_MARKET);
    CHECK_INT(reported(&h, closing)->qty, BTC / 10);
    CHECK_INT(reported(&h, stops)->state, ORDER_OPEN); /* until the position is closed */
    CHECK_INT(engine_account(h.engine, BOB)->killed_ns, 0);
    if (reloads)
        reload();
    pass(&h, SECOND_NS);
    CHECK_INT(h.position[ALICE][BTCUSDT], 0);
    CHECK_INT(h.position[BOB][BTCUSDT], BTC / 100);
    sees(closing, ORDER_FILLED, ORDER_OK);
    sees(resting, ORDER_CANCELED, ORDER_OK);
    sees(stops, ORDER_CANCELED, ORDER_REDUCE_ONLY);
    if (reloads)
        reload();
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 1000, 0);
    refused(1, ORDER_RISK_DRAWDOWN);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, 10 * BTC, 0); /* whatever else it lacks */
    refused(2, ORDER_RISK_DRAWDOWN);
    command(&h, (struct event_command){.kind = COMMAND_RESUME});
    resume_account(BOB); /* it was not killed: nothing changes */
    pass(&h, 24 * 60 * MINUTE_NS);
    quote(&h, BTCUSDT, 50059 * USDT, 100 * BTC, 50060 * USDT, 100 * BTC);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 1000, 0);
    refused(3, ORDER_RISK_DRAWDOWN);
    order(&h, BOB, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 1000, 0);
    accepted();
    resume_account(ALICE);
    accepted();
    CHECK_INT(engine_account(h.engine, ALICE)->killed_ns, 0);
    CHECK_INT(engine_account(h.engine, ALICE)->equity_peak, engine_equity(h.engine, ALICE));
    CHECK(engine_account(h.engine, ALICE)->equity_peak < 9000 * USDT);
    CHECK_INT(h.last_equity[ALICE].peak, engine_equity(h.engine, ALICE));
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 1000, 0);
    accepted();
    resume_account(7);
    CHECK_INT(h.command_reason, ORDER_UNKNOWN_ACCOUNT);
    harness_close(&h);
}

/* No book to sell to: the sale is tried again with each bar, with an alert; a reset ends it. */
static void test_kill_without_a_market(void)
{
    open_limited((struct risk_limits){.drawdown = 0.1});
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 10, 0);
    pass(&h, SECOND_NS);
    stale(&h, BTCUSDT, true);
    trade(&h, BTCUSDT, 40000 * USDT, BTC);
    CHECK(engine_account(h.engine, ALICE)->killed_ns != 0);
    CHECK_STR(h.last_alert, "FLATTEN_REFUSED");
    CHECK_INT(h.position[ALICE][BTCUSDT], BTC / 10);
    stale(&h, BTCUSDT, false);
    h.now_ns = START_NS + MINUTE_NS;
    struct bar bar = flat_bar(START_NS, 40000 * USDT);
    kline(&h, BTCUSDT, &bar);
    pass(&h, SECOND_NS);
    CHECK_INT(h.position[ALICE][BTCUSDT], 0);
    command(&h, (struct event_command){.kind = COMMAND_ACCOUNT_RESET, .money = {ALICE, 0, 10000 * USDT}});
    CHECK_INT(engine_account(h.engine, ALICE)->killed_ns, 0);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 100, 0);
    accepted();
    harness_close(&h);
}

/* A purchase that fills while its cancel is on its way is sold again. */
static void test_kill_closes_what_still_fills(void)
{
    open_limited((struct risk_limits){.drawdown = 0.1});
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 10, 0);
    pass(&h, SECOND_NS);
    uint64_t late = order(&h, ALICE, ETHUSDT, ORDER_BUY, ORDER_MARKET, E8 / 10, 0);
    trade(&h, BTCUSDT, 40000 * USDT, BTC);
    CHECK(engine_account(h.engine, ALICE)->killed_ns != 0);
    pass(&h, SECOND_NS);
    pass(&h, SECOND_NS);
    sees(late, ORDER_FILLED, ORDER_OK);
    CHECK_INT(h.position[ALICE][ETHUSDT], 0);
    CHECK_INT(h.position[ALICE][BTCUSDT], 0);
    harness_close(&h);
}

/* What was kept without a state: the prices of history neither raise the peak nor kill. */
static void test_history_kills_no_account(void)
{
    harness_init(&h);
    h.risk = (struct risk_limits){.drawdown = 0.1};
    harness_create(&h);
    struct position position = {
        .qty = BTC / 10, .cost = 1000 * USDT, .fifo_cost = 1000 * USDT, .opened_ns = 1};
    CHECK_INT(engine_restore_balance(h.engine, ALICE, "USDT", 8, 4000 * USDT), 0);
    CHECK_INT(engine_restore_balance(h.engine, ALICE, "BTC", 8, BTC / 10), 0);
    CHECK_INT(engine_restore_position(h.engine, ALICE, BTCUSDT, &position), 0);
    engine_restore_equity(h.engine, ALICE, 5000 * USDT, 10000 * USDT, START_NS / 86400 / SECOND_NS,
                          10000 * USDT);
    CHECK_INT(engine_start(h.engine, h.now_ns), 0); /* at cost: 5000 */
    const struct account *alice = engine_account(h.engine, ALICE);
    CHECK_INT(alice->killed_ns, 0);
    struct bar bars[] = {flat_bar(START_NS - 3 * MINUTE_NS, 90000 * USDT),
                         flat_bar(START_NS - 2 * MINUTE_NS, 20000 * USDT)};
    struct event event = {.kind = EVENT_BARS, .bars = {.symbol = BTCUSDT, .bars = bars, .n = 2}};
    event.seq = ++h.seq;
    event.recv_ns = h.now_ns;
    CHECK_INT(engine_handle(h.engine, &event), 0);
    CHECK_INT(engine_equity(h.engine, ALICE), 6000 * USDT); /* the newest of them */
    CHECK_INT(alice->equity_peak, 10000 * USDT);
    CHECK_INT(alice->killed_ns, 0);
    harness_close(&h);

    harness_init(&h);
    h.risk = (struct risk_limits){.drawdown = 0.1};
    harness_create(&h);
    CHECK_INT(engine_restore_balance(h.engine, ALICE, "USDT", 8, 4000 * USDT), 0);
    h.ledger_sum[ALICE][0] = h.naive[ALICE][0] = 4000 * USDT;
    engine_restore_killed(h.engine, ALICE, 5);
    CHECK_INT(engine_start(h.engine, h.now_ns), 0);
    quote(&h, BTCUSDT, 59999 * USDT, 100 * BTC, 60000 * USDT, 100 * BTC);
    order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_MARKET, BTC / 1000, 0);
    refused(1, ORDER_RISK_DRAWDOWN); /* as the database kept it */
    harness_close(&h);
}

/* ---- a refusal in words */

/* What comes after the reason's own words; "": those are all. */
static void said(const char *why, const char *expected)
{
    CHECK_STR(why ? strchr(why, ':') : "", expected);
}

static void order_said(int symbol, int64_t qty, const char *expected)
{
    struct order request = order_of(ORDER_BUY, ORDER_MARKET, qty);
    char words[ORDER_WORDS_MAX];
    request.symbol = symbol;
    ask(&h, request);
    said(engine_refusal_words(h.engine, h.command_reason, &request, 1, words), expected);
}

/* Each refusal's own facts, of an order, an amend and a dry run, and of an engine that was loaded. */
static void test_words(void)
{
    struct order tried = order_of(ORDER_BUY, ORDER_MARKET, BTC / 8);
    struct engine_dry_run run;
    char words[ORDER_WORDS_MAX];
    open_limited((struct risk_limits){.exposure_symbol = 0.5, .price_band = 0.1});
    order_said(
        BTCUSDT, BTC / 10,
        ": 6000 USDT ordered, with 0 of BTCUSDT held and on order, are above 5000, 0.5 of equity 10000 "
        "(exposure_symbol)");
    order_said(
        ETHUSDT, 2 * E8,
        ": 6000 USDT ordered, with 0 of ETHUSDT held and on order, are above 5000, 0.5 of equity 10000 "
        "(exposure_symbol)");
    CHECK_INT(engine_dry_run(h.engine, ORDERS_SINGLE, &tried, 1, &run), 0);
    said(engine_refusal_words(h.engine, run.reason, &tried, 1, words),
         ": 7500 USDT ordered, with 0 of BTCUSDT held and on order, are above 5000, 0.5 of equity 10000 "
         "(exposure_symbol)");
    uint64_t resting = order(&h, ALICE, BTCUSDT, ORDER_BUY, ORDER_LIMIT, BTC / 20, 60000 * USDT - E8 * 10);
    accepted();
    reload();
    struct order_amend change = {.order_id = resting, .set = AMEND_PRICE, .price = 50000 * USDT};
    amend(&h, change);
    said(engine_refusal_of_amend(h.engine, h.command_reason, &change, words),
         ": 50000 is not within 54000 to 66000, 0.1 of the last price 60000 (price_band)");
    order_said(BTCUSDT, BTC / 20,
               ": 3000 USDT ordered, with 2999.5 of BTCUSDT held and on order, are above 5000, 0.5 of equity "
               "10000 (exposure_symbol)");
    order_said(BTCUSDT, BTC / 1000, "");
    harness_close(&h);
}

/* ---- random orders: the facts, computed here */

static int64_t closed[HARNESS_ACCOUNTS][HARNESS_SYMBOLS];
static bool is_killed[HARNESS_ACCOUNTS];
static int64_t lasts[HARNESS_SYMBOLS];
static unsigned long reported_reasons[ORDER_REASONS], verdicts;

static void see_fill(void *ctx, const struct fill *fill)
{
    on_fill(ctx, fill);
    if (h.position[fill->account][fill->symbol] == 0)
        closed[fill->account][fill->symbol] = fill->ts_ns;
}

static bool enters(int account, int symbol, uint64_t but, uint64_t orders)
{
    if (h.position[account][symbol] != 0)
        return true;
    for (uint64_t id = 1; id <= orders; id++) {
        const struct order *o = &h.orders[id].order;
        if (o->id && id != but && o->account == account && o->symbol == symbol && order_live(o->state) &&
            o->side == ORDER_BUY && !o->reduce_only)
            return true;
    }
    return false;
}

static void see_verdict(void *ctx, const struct engine_verdict *verdict)
{
    const struct order *o = verdict->order;
    const struct risk_facts *f = verdict->facts;
    (void)ctx;
    reported_reasons[verdict->reason]++;
    if (!f)
        return;
    verdicts++;
    int elsewhere = 0;
    for (int s = 0; s < h.config.n_symbols; s++)
        elsewhere += s != o->symbol && enters(o->account, s, 0, o->id);
    CHECK_INT(f->now_ns, h.now_ns);
    CHECK_INT(f->positions, elsewhere);
    CHECK(f->entered == enters(o->account, o->symbol, o->id, o->id));
    CHECK(f->begins == (h.position[o->account][o->symbol] == 0));
    CHECK_INT(f->closed_ns, closed[o->account][o->symbol]);
    CHECK_INT(f->last, lasts[o->symbol]);
    CHECK(f->killed == is_killed[o->account]);
    CHECK(f->reduces == (o->side == ORDER_SELL || o->reduce_only));
    int64_t equity = h.naive[o->account][0];
    for (int s = 0; s < h.config.n_symbols; s++)
        equity += (int64_t)((__int128)h.position[o->account][s] * lasts[s] / E8);
    CHECK_INT(f->equity, equity);
    CHECK(f->peak >= f->equity);
    if (verdict->reason == ORDER_OK && !f->reduces)
        CHECK(!f->killed && (f->entered || f->positions < verdict->limits->positions));
}

static void see_alert(void *ctx, int64_t ts_ns, const char *code, const struct engine_subject *of,
                      const char *text)
{
    on_alert(ctx, ts_ns, code, of, text);
    if (strcmp(code, "KILLED") == 0)
        is_killed[strncmp(text, "account bob", 11) == 0 ? BOB : ALICE] = true;
}

static void random_order(struct random *random)
{
    static const enum order_type types[] = {ORDER_MARKET, ORDER_LIMIT, ORDER_STOP};
    int symbol = (int)random_between(random, 0, 1);
    enum order_type type = types[random_between(random, 0, 2)];
    struct order request = {.account = (int)random_between(random, 0, 1),
                            .symbol = symbol,
                            .side = random_chance(random, 50) ? ORDER_BUY : ORDER_SELL,
                            .type = type,
                            .qty = random_between(random, 1, 40) * (symbol == BTCUSDT ? E8 / 1000 : E8 / 50),
                            .by_hand = true};
    int64_t price = lasts[symbol] * random_between(random, 85, 115) / 100 / (E8 / 100) * (E8 / 100);
    *(type == ORDER_STOP ? &request.stop_price : &request.price) = type == ORDER_MARKET ? 0 : price;
    request.reduce_only = request.side == ORDER_SELL && random_chance(random, 30);
    ask(&h, request);
}

static void random_price(struct random *random, int symbol)
{
    int64_t price = lasts[symbol] + lasts[symbol] / 1000 * random_between(random, -12, 12);
    price = price / (E8 / 100) * (E8 / 100);
    quote(&h, symbol, price - E8 / 100, 100 * E8, price + E8 / 100, 100 * E8);
    lasts[symbol] = price; /* before what the trade sets off is judged */
    trade(&h, symbol, price, E8);
}

static void test_random(struct random *random)
{
    static const struct engine_trace trace = {.verdict = see_verdict};
    enum { STEPS = 20000 };
    unsigned resumed = 0;
    open_limited((struct risk_limits){.drawdown = 0.03,
                                      .price_band = 0.1,
                                      .cooldown_ns = 300 * SECOND_NS,
                                      .positions = 1,
                                      .exposure_symbol = 0.8});
    h.engine->sink.trace = &trace;
    h.engine->sink.fill = see_fill;
    h.engine->sink.alert = see_alert;
    lasts[BTCUSDT] = 60000 * USDT;
    lasts[ETHUSDT] = 3000 * USDT;
    for (int i = 0; i < STEPS; i++) {
        int dice = (int)random_between(random, 0, 99);
        h.now_ns += random_between(random, 0, 3) * SECOND_NS;
        if (dice < 40) {
            random_order(random);
        } else if (dice < 90) {
            random_price(random, (int)random_between(random, 0, 1));
        } else if (dice < 97 && engine_orders(h.engine) > 0) {
            const struct order *o = engine_order(h.engine, random_next(random) % engine_orders(h.engine));
            command(&h, (struct event_command){.kind = COMMAND_CANCEL, .order_id = o->id});
        } else if (dice < 99 && random_chance(random, 15)) {
            int account = (int)random_between(random, 0, 1);
            resumed += is_killed[account];
            is_killed[account] = false;
            resume_account(account);
        } else {
            reload();
        }
    }
    for (int a = 0; a < HARNESS_ACCOUNTS; a++)
        CHECK(is_killed[a] == (engine_account(h.engine, a)->killed_ns != 0));
    uint64_t all[ORDER_REASONS] = {0};
    for (int reason = 0; reason < ORDER_REASONS; reason++) {
        for (int a = 0; a < HARNESS_ACCOUNTS; a++)
            all[reason] += engine_account(h.engine, a)->refused[reason];
        CHECK_INT(all[reason], engine_counters(h.engine)->refused[reason]);
        if (reported_reasons[reason])
            printf("  %s %lu\n", reason ? order_reason_name((enum order_reason)reason) : "let in",
                   reported_reasons[reason]);
    }
    CHECK(verdicts > 1000 && resumed > 5);
    CHECK(all[ORDER_RISK_DRAWDOWN] > 50 && all[ORDER_RISK_COOLDOWN] > 50 && all[ORDER_RISK_POSITIONS] > 50 &&
          all[ORDER_RISK_PRICE_BAND] > 50);
    harness_close(&h);
}

int main(void)
{
    struct random random = random_seeded("engine/risk", 11);
    test_price_band();
    test_cooldown();
    test_positions();
    test_stale();
    test_kill(false);
    test_kill(true);
    test_kill_without_a_market();
    test_kill_closes_what_still_fills();
    test_history_kills_no_account();
    test_words();
    test_random(&random);
    codec_finish(&saved);
    return check_done("engine/risk");
}
