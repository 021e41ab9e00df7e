/* Random orders and bars for the bar model, printed line by line with their outcome: fill_bar_oracle.py
 * computes the same from the inputs alone. Prices are a few ticks wide, so that open, high, low, close,
 * limits and stops often meet. With a third argument of 1 the account holds little, is never short, and
 * asks for nothing new while anything waits, so that what it affords hangs on no reserve but the order's
 * own. Now and then the engine is saved and loaded.
 *
 *     fill_bar_tape SEED BARS SCARCE
 *
 * setting INTERVAL LATENCY SLIPPAGE MAKER TAKER CASH SCARCE   the run's
 * order ID SIDE TYPE TIF QTY PRICE STOP TRAIL TRAIL_E6 EXPIRES POST REDUCE GROUP PARENT CREATED   accepted
 * amend ID SET QTY PRICE STOP TRAIL TRAIL_E6 TIME, cancel ID TIME    accepted
 * bar OPEN_NS OPEN HIGH LOW CLOSE
 * fill ORDER PRICE QTY MAKER TS NOTIONAL FEE
 * end ID STATE REASON QTY FILLED COST PRICE STOP PEAK TRIGGERED UPDATED   at the end, every order
 * balances QUOTE BASE */
#include <inttypes.h>

#include "engine/event.h"
#include "tests/engine/reload.h"
#include "tests/random.h"

#define E8        INT64_C(100000000)
#define MINUTE_NS (60 * INT64_C(1000000000))
#define START_NS  (INT64_C(1723161240) * INT64_C(1000000000))

enum { ORDERS_MAX = 1 << 16, LOT = 1000 };

static struct tape {
    struct random random;
    struct engine *engine;
    struct engine_sink sink;
    struct symbol symbol;
    struct account_spec account;
    struct engine_config config;
    struct order orders[ORDERS_MAX];
    uint64_t n_orders, seq;
    int64_t open_ns, now_ns, last;
    enum order_reason reason;
    bool scarce;
} tape;

static void on_order(void *ctx, const struct order *o)
{
    (void)ctx;
    if (o->id >= ORDERS_MAX)
        abort();
    if (o->id > tape.n_orders) {
        tape.n_orders = o->id;
        if (o->state != ORDER_REJECTED)
            printf("order %" PRIu64 " %s %s %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId32
                   " %" PRId64 " %d %d %" PRIu64 " %" PRIu64 " %" PRId64 "\n",
                   o->id, order_side_name(o->side), order_type_name(o->type), order_tif_name(o->tif), o->qty,
                   o->price, o->stop_price, o->trail, o->trail_e6, o->expires_ns, o->post_only,
                   o->reduce_only, o->group, o->parent, o->created_ns);
    }
    tape.orders[o->id] = *o;
}

static void on_fill(void *ctx, const struct fill *f)
{
    (void)ctx;
    printf("fill %" PRIu64 " %" PRId64 " %" PRId64 " %d %" PRId64 " %" PRId64 " %" PRId64 "\n", f->order_id,
           f->price, f->qty, f->maker, f->ts_ns, f->notional, f->fee);
}

static void on_done(void *ctx, const struct event_command *command, enum order_reason reason, uint64_t order)
{
    (void)ctx;
    (void)command;
    (void)order;
    tape.reason = reason;
}

static void handle(struct event event)
{
    event.seq = ++tape.seq;
    event.recv_ns = tape.now_ns;
    if (engine_handle(tape.engine, &event) < 0)
        abort();
}

static bool command(struct event_command what)
{
    handle((struct event){.kind = EVENT_COMMAND, .command = what});
    return tape.reason == ORDER_OK;
}

static void begin(void)
{
    static const int64_t latencies[] = {0, 50000000, MINUTE_NS - 1, MINUTE_NS, 90 * INT64_C(1000000000)};
    struct random *random = &tape.random;
    tape.symbol = (struct symbol){.name = "BTCUSDT",
                                  .base = "BTC",
                                  .quote = "USDT",
                                  .price_scale = 8,
                                  .qty_scale = 8,
                                  .quote_scale = 8,
                                  .trading = true,
                                  .filters = {.tick = E8, .price_min = E8, .step = LOT, .qty_min = LOT}};
    tape.account = (struct account_spec){
        .name = "main",
        .currency = "USDT",
        .currency_scale = 8,
        .cash = tape.scarce ? 1000 * E8 : 1000000000 * E8,
        .rules = {
            .fees = {900, 1000}, .shorts = !tape.scarce, .collateral_e4 = 10000, .maintenance_e4 = 10000}};
    tape.config = (struct engine_config){
        .symbols = &tape.symbol,
        .n_symbols = 1,
        .accounts = &tape.account,
        .n_accounts = 1,
        .interval_ns = MINUTE_NS,
        .latency_ns = latencies[random_between(random, 0, 4)],
        .fill_model = FILL_BAR,
        .slippage_e6 = random_chance(random, 50) ? 0 : (int32_t)random_between(random, 1, 30000)};
    tape.sink = (struct engine_sink){.order = on_order, .fill = on_fill, .command_done = on_done};
    if (engine_create(&tape.config, &tape.sink, &tape.engine) < 0)
        abort();
    printf("setting %" PRId64 " %" PRId64 " %" PRId32 " %d %d %" PRId64 " %d\n", MINUTE_NS,
           tape.config.latency_ns, tape.config.slippage_e6, 900, 1000, tape.account.cash, tape.scarce);
}

static int64_t near(int wide)
{
    int64_t price = tape.last + random_between(&tape.random, -wide, wide) * E8;
    return price > E8 ? price : E8;
}

static void bar(void)
{
    struct random *random = &tape.random;
    if (random_chance(random, 10))
        tape.open_ns += random_between(random, 1, 4) * MINUTE_NS; /* a gap */
    int64_t open = near(random_chance(random, 20) ? 6 : 1);
    int64_t high = open + random_between(random, 0, 4) * E8, low = open - random_between(random, 0, 4) * E8;
    if (low < E8)
        low = E8;
    int64_t close = low + random_between(random, 0, (high - low) / E8) * E8;
    struct bar made = {.open_ns = tape.open_ns, .open = open, .high = high, .low = low, .close = close};
    made.first_trade_id = made.last_trade_id = -1;
    printf("bar %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", made.open_ns, open, high, low,
           close);
    tape.open_ns += MINUTE_NS;
    tape.now_ns = tape.open_ns;
    tape.last = close;
    struct market_event market = {.kind = MARKET_KLINE, .kline = {MINUTE_NS, made, true}};
    if (random_chance(random, 10)) { /* it comes by REST, as one that was missed */
        handle((struct event){.kind = EVENT_BARS, .bars = {0, &made, 1, random_chance(random, 50)}});
        return;
    }
    handle((struct event){.kind = EVENT_MARKET, .market = market});
    handle((struct event){.kind = EVENT_BARS, .bars = {.missed = true}}); /* of a gap that does not exist */
}

static int64_t held(void)
{
    return engine_account(tape.engine, 0)->positions[0].qty;
}

static int64_t some_qty(enum order_side side)
{
    struct random *random = &tape.random;
    int64_t most = held();
    if (!tape.scarce)
        return random_between(random, 1, 400) * LOT;
    if (side == ORDER_SELL)
        return random_chance(random, 60) ? most
                                         : random_between(random, 1, most > LOT ? most / LOT : 1) * LOT;
    int64_t cash = engine_account(tape.engine, 0)->assets[0].total;
    int64_t whole = (int64_t)((__int128)cash * E8 / tape.last) / LOT * LOT;
    return random_chance(random, 60) ? (int64_t)((__int128)whole * 998 / 1000) / LOT * LOT
                                     : whole / 3 / LOT * LOT;
}

static struct order leg(enum order_side side, enum order_type type)
{
    struct random *random = &tape.random;
    struct order request = {.side = side, .type = type, .qty = some_qty(side), .by_hand = true};
    if (order_has_limit(type))
        request.price = near(5);
    if (order_is_stop(type) && type != ORDER_TRAILING_STOP)
        request.stop_price = near(5);
    if (type == ORDER_TRAILING_STOP && random_chance(random, 50))
        request.trail = random_between(random, 1, 5) * E8;
    else if (type == ORDER_TRAILING_STOP)
        request.trail_e6 = (int32_t)random_between(random, 5000, 50000);
    if (random_chance(random, 15)) {
        request.tif = ORDER_GTD;
        request.expires_ns = tape.now_ns + random_between(random, 0, 8) * MINUTE_NS / 2;
    } else if (random_chance(random, 20)) {
        request.tif = (enum order_tif)random_between(random, ORDER_IOC, ORDER_FOK);
    }
    request.post_only = type == ORDER_LIMIT && random_chance(random, 15);
    request.reduce_only = random_chance(random, tape.scarce && side == ORDER_SELL ? 50 : 15);
    return request;
}

static enum order_type any_type(void)
{
    return (enum order_type)random_between(&tape.random, 0, ORDER_TYPES - 1);
}

static void give_orders(void)
{
    struct random *random = &tape.random;
    struct order legs[ORDER_LEGS_MAX] = {0};
    struct event_command what = {.kind = COMMAND_ORDER, .order.legs = legs};
    enum order_side side = random_chance(random, 50) ? ORDER_BUY : ORDER_SELL;
    if (tape.scarce) {
        side = held() >= LOT && random_chance(random, 60) ? ORDER_SELL : ORDER_BUY;
        if (engine_orders(tape.engine) > 0)
            return;
    }
    int kind = (int)random_between(random, 0, 9);
    what.order.n_legs = 1;
    what.order.legs[0] = leg(side, random_chance(random, 30) ? ORDER_MARKET : any_type());
    if (kind >= 7 && kind < 9) {
        what.order.grouping = ORDERS_BRACKET;
        what.order.n_legs = (int)random_between(random, 2, 3);
        what.order.legs[0].reduce_only = false;
        for (int i = 1; i < what.order.n_legs; i++) {
            what.order.legs[i] = leg(side == ORDER_BUY ? ORDER_SELL : ORDER_BUY, any_type());
            what.order.legs[i].qty = 0;
        }
    } else if (kind == 9 && !(tape.scarce && side == ORDER_BUY)) {
        what.order.grouping = ORDERS_OCO;
        what.order.n_legs = 2;
        what.order.legs[1] = leg(side, any_type());
        what.order.legs[1].reduce_only = what.order.legs[0].reduce_only;
    }
    for (int i = 1; i < what.order.n_legs; i++) {
        what.order.legs[i].tif = what.order.legs[0].tif == ORDER_GTD ? ORDER_GTD : ORDER_GTC;
        what.order.legs[i].expires_ns =
            what.order.legs[0].tif == ORDER_GTD ? what.order.legs[0].expires_ns : 0;
    }
    command(what);
}

static void amend_or_cancel(void)
{
    struct random *random = &tape.random;
    size_t n = engine_orders(tape.engine);
    if (n == 0)
        return;
    const struct order *order = engine_order(tape.engine, (size_t)random_between(random, 0, (int64_t)n - 1));
    struct order_amend amend = {.order_id = order->id};
    if (random_chance(random, 35)) {
        if (command((struct event_command){.kind = COMMAND_CANCEL, .order_id = amend.order_id}))
            printf("cancel %" PRIu64 " %" PRId64 "\n", amend.order_id, tape.now_ns);
        return;
    }
    if (random_chance(random, 40)) {
        amend.set |= AMEND_QTY;
        amend.qty = tape.scarce ? order->qty / 2 / LOT * LOT : random_between(random, 1, 400) * LOT;
    }
    if (order_has_limit(order->type) && random_chance(random, 60)) {
        amend.set |= AMEND_PRICE;
        amend.price = near(5);
    }
    if (order->type == ORDER_TRAILING_STOP && random_chance(random, 60)) {
        amend.set |= AMEND_TRAIL;
        amend.trail = random_between(random, 1, 5) * E8;
    } else if (order_is_stop(order->type) && random_chance(random, 60)) {
        amend.set |= AMEND_STOP;
        amend.stop_price = near(5);
    }
    if (command((struct event_command){.kind = COMMAND_AMEND, .amend = amend}))
        printf("amend %" PRIu64 " %u %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId32 " %" PRId64
               "\n",
               amend.order_id, amend.set, amend.qty, amend.price, amend.stop_price, amend.trail,
               amend.trail_e6, tape.now_ns);
}

static void print_end(void)
{
    for (uint64_t id = 1; id <= tape.n_orders; id++) {
        const struct order *o = &tape.orders[id];
        if (o->id && o->state != ORDER_REJECTED)
            printf("end %" PRIu64 " %s %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64
                   " %" PRId64 " %d %" PRId64 "\n",
                   id, order_state_name(o->state), o->reason ? order_reason_name(o->reason) : "-", o->qty,
                   o->filled, o->cost, o->price, o->stop_price, o->peak, o->triggered, o->updated_ns);
    }
    const struct account *account = engine_account(tape.engine, 0);
    int64_t base = 0;
    for (int i = 0; i < account->n_assets; i++)
        if (strcmp(account->assets[i].asset, "BTC") == 0)
            base = account->assets[i].total - account->assets[i].borrowed;
    printf("balances %" PRId64 " %" PRId64 "\n", account->assets[account->currency_at].total, base);
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: fill_bar_tape SEED BARS SCARCE\n");
        return 2;
    }
    tape.random.state = strtoull(argv[1], NULL, 0);
    long bars = strtol(argv[2], NULL, 10);
    tape.scarce = argv[3][0] == '1';
    tape.open_ns = START_NS;
    tape.last = 100 * E8;
    begin();
    bar();
    for (long i = 1; i < bars; i++) {
        for (int k = (int)random_between(&tape.random, 0, 3); k > 0; k--) {
            if (random_chance(&tape.random, 30))
                tape.now_ns += random_between(&tape.random, 1, 20) * INT64_C(900000000);
            if (random_chance(&tape.random, 70))
                give_orders();
            else
                amend_or_cancel();
        }
        if (random_chance(&tape.random, 3))
            reload_engine(&tape.engine);
        if (tape.now_ns < tape.open_ns + MINUTE_NS)
            bar();
    }
    print_end();
    CHECK_INT(engine_counters(tape.engine)->impossible, 0);
    engine_destroy(tape.engine);
    return check_failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
