/* Random quotes, prints and orders of a stock, through Alpaca's frames and their parser, printed line by line
 * with their outcome: fill_quote_oracle.py computes the same from the inputs alone. Prices are a few cents
 * wide, so that quotes, limits and stops often meet; sessions open and close, with official prints and
 * without. Now and then the engine is saved and loaded.
 *
 *     fill_quote_tape SEED EVENTS cancel|impact|wait sip|iex
 *
 * setting BEYOND TICK LOWEST FEED
 * phase NAME NEXT NOW                             pre, regular, post, closed
 * quote BID QTY ASK QTY NOW
 * print PRICE QTY CONDITIONS EXCHANGE TAPE NOW    a trade: conditions without commas, "@O"
 * now NOW, time NOW                               an event begins, an event is over
 * order ID SIDE TYPE TIF QTY PRICE STOP NOW       accepted
 * fill ORDER PRICE QTY MAKER BASIS NOW
 * end ID STATE REASON FILLED COST                 at the end, every order */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "engine/event.h"
#include "exchange/alpaca/format.h"
#include "tests/engine/reload.h"
#include "tests/random.h"

#define E9        INT64_C(1000000000)
#define CENT      (E9 / 100)
#define SHARE     E9
#define SECOND_NS INT64_C(1000000000)
#define HOUR_NS   (3600 * SECOND_NS)
#define EARLY_NS  (INT64_C(1764579600) * SECOND_NS) /* 2025-12-01 04:00 in New York */

enum { ORDERS_MAX = 1 << 14, FRAME_MAX = 512 };

static struct tape {
    struct random random;
    struct engine *engine;
    struct engine_sink sink;
    struct venue_parser *parser;
    struct symbol symbol;
    struct account_spec account;
    struct engine_config config;
    struct order orders[ORDERS_MAX];
    uint64_t n_orders, seq;
    int64_t now_ns, at, id; /* in cents; of the last print */
} tape;

static void on_order(void *ctx, const struct order *o)
{
    (void)ctx;
    if (o->id >= ORDERS_MAX)
        abort();
    if (o->id > tape.n_orders) {
        tape.n_orders = o->id;
        if (o->state != ORDER_REJECTED)
            printf("order %" PRIu64 " %s %s %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", o->id,
                   order_side_name(o->side), order_type_name(o->type), order_tif_name(o->tif), o->qty,
                   o->price, o->stop_price, o->created_ns);
    }
    tape.orders[o->id] = *o;
}

static void on_fill(void *ctx, const struct fill *f)
{
    (void)ctx;
    printf("fill %" PRIu64 " %" PRId64 " %" PRId64 " %d %s %" PRId64 "\n", f->order_id, f->price, f->qty,
           f->maker, fill_basis_name(f->basis), f->ts_ns);
}

static void handle(struct event event)
{
    event.seq = ++tape.seq;
    event.recv_ns = tape.now_ns;
    if (engine_handle(tape.engine, &event) < 0)
        abort();
}

static const char *time_text(void)
{
    static char text[48];
    time_t seconds = (time_t)(tape.now_ns / SECOND_NS);
    struct tm utc;
    size_t n = gmtime_r(&seconds, &utc) ? strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc) : 0;
    snprintf(text + n, sizeof text - n, ".%09dZ", (int)(tape.now_ns % SECOND_NS));
    return text;
}

static void receive(const char *frame)
{
    struct market_event event;
    size_t pos = 0, len = strlen(frame);
    while (pos < len) {
        if (alpaca_parse(tape.parser, frame, len, &pos, &event) != 0)
            abort();
        handle((struct event){.kind = EVENT_MARKET, .market = event});
    }
}

static void begin(const char *beyond, const char *feed)
{
    tape.symbol = (struct symbol){.name = "AAPL",
                                  .base = "AAPL",
                                  .quote = "USD",
                                  .price_scale = 9,
                                  .qty_scale = 9,
                                  .quote_scale = 8,
                                  .trading = true,
                                  .loose_ids = true,
                                  .venue = "alpaca",
                                  .calendar = "us-equity",
                                  .asset = ASSET_US_EQUITY,
                                  .shortable = SYMBOL_SAYS_YES,
                                  .easy_to_borrow = SYMBOL_SAYS_YES,
                                  .primary = 'Q',
                                  .filters = {.tick = CENT, .step = SHARE, .qty_min = SHARE}};
    snprintf(tape.symbol.feed, sizeof tape.symbol.feed, "%s", feed);
    tape.account =
        (struct account_spec){.name = "main",
                              .currency = "USD",
                              .currency_scale = 8,
                              .cash = 1000000000 * INT64_C(100000000),
                              .rules = {.shorts = true, .collateral_e4 = 10000, .maintenance_e4 = 10000}};
    tape.config = (struct engine_config){.symbols = &tape.symbol,
                                         .n_symbols = 1,
                                         .accounts = &tape.account,
                                         .n_accounts = 1,
                                         .interval_ns = 60 * SECOND_NS,
                                         .fill_model = FILL_QUOTE};
    while (strcmp(fill_beyond_name(tape.config.beyond), beyond) != 0)
        if (++tape.config.beyond == FILL_BEYONDS)
            abort();
    tape.sink = (struct engine_sink){.order = on_order, .fill = on_fill};
    if (alpaca_parser_create(&tape.symbol, 1, &tape.parser) < 0 ||
        engine_create(&tape.config, &tape.sink, &tape.engine) < 0)
        abort();
    printf("setting %s %" PRId64 " 0 %s\n", beyond, CENT, feed);
}

static int64_t near(int wide)
{
    int64_t cents = tape.at + random_between(&tape.random, -wide, wide);
    return cents > 10 ? cents : 10;
}

static void quote(void)
{
    char frame[FRAME_MAX];
    struct random *random = &tape.random;
    int64_t bid = near(3), ask = bid + random_between(random, random_chance(random, 3) ? -1 : 1, 3);
    int64_t bid_qty = random_between(random, random_chance(random, 5) ? 0 : 1, 9);
    int64_t ask_qty = random_between(random, random_chance(random, 5) ? 0 : 1, 9);
    if (random_chance(random, 3))
        bid = bid_qty = 0;
    snprintf(frame, sizeof frame,
             "[{\"T\":\"q\",\"S\":\"AAPL\",\"bx\":\"Q\",\"bp\":%d.%02d,\"bs\":%d,\"ax\":\"P\",\"ap\":%d.%02d,"
             "\"as\":%d,\"c\":[\"R\"],\"z\":\"C\",\"t\":\"%s\"}]",
             (int)(bid / 100), (int)(bid % 100), (int)bid_qty, (int)(ask / 100), (int)(ask % 100),
             (int)ask_qty, time_text());
    printf("quote %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", bid * CENT, bid_qty * SHARE,
           ask * CENT, ask_qty * SHARE, tape.now_ns);
    receive(frame);
}

/* Half a cent off the cents at which limits are: no order stands in a queue at a print's price. */
static void print(const char *conditions, char exchange)
{
    char frame[FRAME_MAX], listed[32] = "";
    int64_t cents = near(random_chance(&tape.random, 10) ? 12 : 2), qty = random_between(&tape.random, 1, 12);
    for (const char *c = conditions; *c; c++)
        snprintf(listed + strlen(listed), sizeof listed - strlen(listed), "%s\"%c\"", *listed ? "," : "", *c);
    snprintf(frame, sizeof frame,
             "[{\"T\":\"t\",\"S\":\"AAPL\",\"i\":%d,\"x\":\"%c\",\"p\":%d.%02d5,\"s\":%d,\"c\":[%s],"
             "\"z\":\"C\",\"t\":\"%s\"}]",
             (int)++tape.id, exchange, (int)(cents / 100), (int)(cents % 100), (int)qty, listed, time_text());
    printf("print %" PRId64 " %" PRId64 " %s %c C %" PRId64 "\n", cents * CENT + CENT / 2, qty * SHARE,
           conditions, exchange, tape.now_ns);
    tape.at = cents;
    receive(frame);
}

static void any_print(void)
{
    static const char *const conditions[] = {"@", "@", "@", "@", "@F", "@I", "@T", "@W", "@Z"};
    print(conditions[random_between(&tape.random, 0, 8)], "QPVD"[random_between(&tape.random, 0, 3)]);
}

static void give_order(void)
{
    static const enum order_tif at_market[] = {ORDER_GTC, ORDER_GTC, ORDER_IOC,
                                               ORDER_FOK, ORDER_OPG, ORDER_CLS};
    struct random *random = &tape.random;
    struct order leg = {.side = random_chance(random, 50) ? ORDER_BUY : ORDER_SELL, .by_hand = true};
    int kind = (int)random_between(random, 0, 9);
    leg.type = kind < 4 ? ORDER_MARKET : kind < 8 ? ORDER_LIMIT : ORDER_STOP;
    leg.qty = random_between(random, 1, random_chance(random, 5) ? 1500 : 30) * SHARE;
    if (leg.type == ORDER_LIMIT)
        leg.price = near(6) * CENT;
    if (leg.type == ORDER_STOP)
        leg.stop_price = near(8) * CENT;
    else
        leg.tif = at_market[random_between(random, 0, 5)];
    printf("now %" PRId64 "\n", tape.now_ns);
    handle((struct event){
        .kind = EVENT_COMMAND,
        .command = {.kind = COMMAND_ORDER, .order = {.grouping = ORDERS_SINGLE, .legs = &leg, .n_legs = 1}}});
    printf("time %" PRId64 "\n", tape.now_ns);
}

static void something(void)
{
    struct random *random = &tape.random;
    int kind = (int)random_between(random, 0, 99);
    if (kind < 45) {
        quote();
    } else if (kind < 75) {
        any_print();
    } else if (kind < 95) {
        give_order();
    } else if (kind < 98) {
        printf("time %" PRId64 "\n", tape.now_ns);
        handle((struct event){.kind = EVENT_TIMER});
    } else {
        reload_engine(&tape.engine);
    }
}

/* Events spread over a phase of so many hours, or with `n` 0 only its beginning; of which the official prints
 * come now and then. */
static void phase(enum market_phase phase, int hours, int n)
{
    struct random *random = &tape.random;
    int64_t begin_ns = tape.now_ns, end_ns = begin_ns + hours * HOUR_NS;
    int official = random_chance(random, 70) ? (int)random_between(random, 0, 2) : -1;
    if (official == 0 && random_chance(random, 30)) { /* before our clock says so */
        print(phase == MARKET_PHASE_OPEN ? "@O" : "@6", 'Q');
        official = -1;
    }
    printf("phase %s %" PRId64 " %" PRId64 "\n", market_phase_name(phase), end_ns, tape.now_ns);
    struct market_session session = {.calendar = "us-equity", .phase = phase, .next_ns = end_ns};
    handle((struct event){.kind = EVENT_SESSION, .session = session});
    for (int i = 0; i < n; i++) {
        if (i == official && phase == MARKET_PHASE_OPEN)
            print(random_chance(random, 50) ? "@O" : "@Q", random_chance(random, 80) ? 'Q' : 'P');
        if (i == official && phase == MARKET_PHASE_LATE)
            print(random_chance(random, 50) ? "@6" : "@M", random_chance(random, 80) ? 'Q' : 'P');
        tape.now_ns += 1000 * random_between(random, 1, (end_ns - tape.now_ns) / 1000 / (n - i + 1));
        something();
    }
    tape.now_ns = end_ns;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: fill_quote_tape SEED EVENTS cancel|impact|wait sip|iex\n");
        return 2;
    }
    tape.random.state = strtoull(argv[1], NULL, 0);
    long events = strtol(argv[2], NULL, 10);
    tape.at = 19000;
    begin(argv[3], argv[4]);
    for (int day = 0; tape.seq < (uint64_t)events; day++) {
        tape.now_ns = EARLY_NS + day * 24 * HOUR_NS;
        phase(MARKET_PHASE_EARLY, 5, 25);
        phase(MARKET_PHASE_OPEN, 7, 80);
        phase(MARKET_PHASE_LATE, 4, 20);
        phase(MARKET_PHASE_CLOSED, 8, 5);
    }
    for (uint64_t id = 1; id <= tape.n_orders; id++) {
        const struct order *o = &tape.orders[id];
        if (o->id && o->state != ORDER_REJECTED)
            printf("end %" PRIu64 " %s %s %" PRId64 " %" PRId64 "\n", id, order_state_name(o->state),
                   o->reason ? order_reason_name(o->reason) : "-", o->filled, o->cost);
    }
    CHECK_INT(engine_counters(tape.engine)->impossible, 0);
    engine_destroy(tape.engine);
    alpaca_parser_destroy(tape.parser);
    return check_failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
