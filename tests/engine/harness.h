/* An engine under test: events go in one line each, its outputs are recorded and checked against an
 * accounting of its own: plain sums of the fills, nothing shared with the engine's code. */
#ifndef TESTS_ENGINE_HARNESS_H
#define TESTS_ENGINE_HARNESS_H

#include <errno.h>
#include <sys/mman.h>

#include "engine/compare.h"
#include "engine/engine.h"
#include "engine/event.h"
#include "tests/check.h"

#define E8        INT64_C(100000000)
#define SECOND_NS INT64_C(1000000000)
#define MS_NS     INT64_C(1000000)
#define MINUTE_NS (60 * SECOND_NS)
#define HOUR_NS   (60 * MINUTE_NS)
#define DAY_NS    (24 * HOUR_NS)
#define START_NS  (INT64_C(1723161240) * SECOND_NS) /* 2024-08-08 23:54:00 */

enum { BTCUSDT, ETHUSDT, ETHBTC, HARNESS_SYMBOLS };
enum { ALICE, BOB, HARNESS_ACCOUNTS, HARNESS_ACCOUNTS_MAX = 8 /* with those made by commands */ };
enum { HARNESS_ASSETS = 3, TAKEN_MAX = 64, RECORDED_ORDERS = 1 << 19 };

static const char *const harness_assets[HARNESS_ASSETS] = {"USDT", "BTC", "ETH"};
static const int harness_base[] = {1, 2, 2}, harness_quote[] = {0, 0, 1};

/* The order as last reported, and the sums of its fills. */
struct reported_order {
    struct order order;
    int64_t filled, cost, fee;
    uint64_t fills;
};

struct harness {
    /* Called by group(), where it is set: before the command, and with the first order's id after it. */
    void (*before_orders)(struct harness *h, enum order_grouping grouping, const struct order *legs, int n);
    void (*after_orders)(struct harness *h, uint64_t id);
    struct engine *engine;
    struct engine_config config;
    struct account_spec accounts[HARNESS_ACCOUNTS_MAX];
    struct risk_limits risk; /* of all accounts */
    struct symbol symbols[HARNESS_SYMBOLS];
    int64_t now_ns;
    uint64_t seq;
    int64_t next_trade_id[HARNESS_SYMBOLS];
    uint64_t next_quote_id;

    int64_t ledger_sum[HARNESS_ACCOUNTS_MAX][HARNESS_ASSETS]; /* of the ledger's rows */
    int64_t naive[HARNESS_ACCOUNTS_MAX][HARNESS_ASSETS];      /* of deposits and fills, computed here */
    int64_t position[HARNESS_ACCOUNTS_MAX][HARNESS_SYMBOLS];  /* bought - sold */
    struct reported_order *orders;                            /* by id */
    struct order last_order;
    struct fill last_fill;
    struct equity_point last_equity[HARNESS_ACCOUNTS_MAX];
    int64_t row_ns; /* of the last ledger row */
    uint64_t rows, fills, maker_fills, equity_points, alerts, snapshots_wanted, bars_wanted, bars, bars_built,
        sessions, actions, revisions;
    struct engine_revision last_revision; /* its pointers are of the past */
    struct bar revision_old, revision_now, last_built;
    int64_t wanted_from_ns, wanted_to_ns;
    struct bar last_bar;
    uint64_t command_id, command_order;
    struct engine_subject last_subject;
    char last_alert[32], last_alert_text[160], last_over[64];
    enum order_reason command_reason;
    uint64_t placed[16], canceled[16]; /* requested of a venue, the newest ones */
    int n_placed, n_canceled;
    bool oversold; /* a venue may have sold more than there was, by a duplicate */
    uint8_t hash[LEDGER_HASH_SIZE];
    /* What the order that takes now has taken of each price. */
    uint64_t taking_order;
    int64_t taking_ns;
    struct book_level taken[TAKEN_MAX];
    int n_taken;
};

static inline int64_t displayed(const struct harness *h, int symbol, enum order_side taker, int64_t price)
{
    struct engine_symbol_view view;
    engine_symbol_view(h->engine, symbol, &view);
    const struct book *book = engine_book(h->engine, symbol);
    int64_t most = 0;
    if ((taker == ORDER_BUY ? view.ask : view.bid) == price)
        most = taker == ORDER_BUY ? view.ask_qty : view.bid_qty;
    for (uint32_t i = 0; book->state == BOOK_SYNCED; i++) {
        const struct book_level *level = taker == ORDER_BUY ? book_ask(book, i) : book_bid(book, i);
        if (!level)
            break;
        if (level->price == price && level->qty > most)
            most = level->qty;
    }
    return most;
}

static void on_fill(void *ctx, const struct fill *fill)
{
    struct harness *h = ctx;
    h->last_fill = *fill;
    h->fills++;
    h->maker_fills += fill->maker;
    CHECK_INT(fill->id, h->fills);
    CHECK(fill->qty > 0 && fill->price > 0 && fill->order_id < RECORDED_ORDERS);
    CHECK_INT(fill->input_seq, h->seq);
    struct reported_order *reported = &h->orders[fill->order_id];
    const struct account_rules *rules = &h->accounts[fill->account].rules;
    /* By volume: tests/engine/charges.c looks at them. */
    const struct fee_rates *fees =
        rules->fee_tiers[0] ? &engine_account(h->engine, fill->account)->rules.fees : &rules->fees;
    bool buy = fill->side == ORDER_BUY;
    __int128 product = (__int128)fill->price * fill->qty, notional = (product + (buy ? E8 - 1 : 0)) / E8;
    __int128 fee = (notional * (fill->maker ? fees->maker_e6 : fees->taker_e6) + 999999) / 1000000 +
                   (rules->regulatory_fees ? fill->sec_fee + fill->taf_fee : 0);
    bool of_venue = fill->basis == FILL_BASIS_VENUE; /* which says both */
    CHECK(of_venue || (fill->notional == notional && fill->fee == fee && fill->fee_base == 0));
    CHECK_INT(reported->order.id, fill->order_id);
    bool of_bar = h->config.fill_model == FILL_BAR;
    CHECK(fill->ts_ns >= (of_bar ? reported->order.created_ns : reported->order.effective_ns) &&
          fill->ts_ns <= h->now_ns);
    CHECK(reported->order.side == fill->side && reported->order.symbol == fill->symbol &&
          reported->order.account == fill->account);
    reported->filled += fill->qty;
    reported->cost += fill->notional;
    reported->fee += fill->fee;
    reported->fills++;
    CHECK(reported->filled <= reported->order.qty);
    int base = harness_base[fill->symbol], quote = harness_quote[fill->symbol];
    h->naive[fill->account][base] += buy ? fill->qty - fill->fee_base : -fill->qty;
    h->naive[fill->account][quote] += (buy ? -fill->notional : fill->notional) - fill->fee;
    h->position[fill->account][fill->symbol] += buy ? fill->qty - fill->fee_base : -fill->qty;
    if (order_has_limit(reported->order.type))
        CHECK(buy ? fill->price <= reported->order.price : fill->price >= reported->order.price);
    if (of_venue)
        return;
    if (fill->maker) {
        CHECK_INT(fill->price, reported->order.price);
        return;
    }
    if (of_bar || h->config.slippage_e6 > 0 || fill->basis >= FILL_BASIS_IMPACT)
        return; /* it is not what is displayed */
    if (h->taking_order != fill->order_id || h->taking_ns != fill->ts_ns) {
        h->taking_order = fill->order_id;
        h->taking_ns = fill->ts_ns;
        h->n_taken = 0;
    }
    int i = 0;
    while (i < h->n_taken && h->taken[i].price != fill->price)
        i++;
    if (i == h->n_taken && i < TAKEN_MAX)
        h->taken[h->n_taken++] = (struct book_level){fill->price, 0};
    if (i < TAKEN_MAX) {
        h->taken[i].qty += fill->qty;
        CHECK(h->taken[i].qty <= displayed(h, fill->symbol, fill->side, fill->price));
    }
}

static void on_order(void *ctx, const struct order *order)
{
    struct harness *h = ctx;
    h->last_order = *order;
    if (!(order->id > 0 && order->id < RECORDED_ORDERS)) {
        CHECK(!"an order's id");
        return;
    }
    struct reported_order *reported = &h->orders[order->id];
    const struct order *before = &reported->order;
    if (before->id) {
        CHECK(order_live(before->state)); /* an order ends once */
        CHECK(order->group == before->group && order->parent == before->parent &&
              order->type == before->type && order->tif == before->tif);
        static const char *const may[ORDER_STATES] = {
            [ORDER_HELD] = "HPCE",      [ORDER_PENDING] = "PUOTFCER", /* U and R: at its venue alone */
            [ORDER_UNKNOWN] = "OTFCER", [ORDER_OPEN] = "OTFCE",       [ORDER_PARTIAL] = "TFCE",
        };
        static const char letters[ORDER_STATES] = {
            [ORDER_HELD] = 'H',    [ORDER_PENDING] = 'P',  [ORDER_OPEN] = 'O',
            [ORDER_PARTIAL] = 'T', [ORDER_FILLED] = 'F',   [ORDER_CANCELED] = 'C',
            [ORDER_EXPIRED] = 'E', [ORDER_REJECTED] = 'R', [ORDER_UNKNOWN] = 'U',
        };
        CHECK(may[before->state] && strchr(may[before->state], letters[order->state]));
        if (order->filled < before->filled || order->amends < before->amends)
            CHECK(!"an order goes back");
    }
    reported->order = *order;
    CHECK_INT(order->filled, reported->filled);
    CHECK_INT(order->cost, reported->cost);
    CHECK((order->state == ORDER_FILLED) == (order->filled == order->qty && order->qty > 0));
    CHECK((order->state == ORDER_REJECTED) <= (order->reason != ORDER_OK && order->filled == 0));
    CHECK(order->state != ORDER_OPEN || order->filled == 0);
    CHECK(order->state != ORDER_PARTIAL || order->filled > 0);
}

static void on_ledger(void *ctx, const struct ledger_row *row)
{
    struct harness *h = ctx;
    h->rows++;
    h->row_ns = row->ts_ns;
    CHECK_INT(row->id, h->rows);
    for (int i = 0; i < HARNESS_ASSETS; i++)
        if (strcmp(row->asset, harness_assets[i]) == 0) {
            h->ledger_sum[row->account][i] += row->amount;
            CHECK_INT(row->balance, h->ledger_sum[row->account][i]);
            if (row->kind != LEDGER_TRADE && row->kind != LEDGER_FEE)
                h->naive[row->account][i] += row->amount;
        }
    if (row->kind == LEDGER_SPLIT) { /* of the one symbol with that base that tests split */
        CHECK_STR(row->asset, "BTC");
        h->position[row->account][BTCUSDT] += row->amount;
    }
    if (row->kind == LEDGER_RESET)
        memset(h->position[row->account], 0, sizeof h->position[row->account]);
    struct ledger_row chained = *row;
    CHECK_INT(ledger_row_chain(&chained, h->hash), 0);
    CHECK(memcmp(chained.hash, row->hash, sizeof h->hash) == 0);
    memcpy(h->hash, row->hash, sizeof h->hash);
}

static void on_equity(void *ctx, const struct equity_point *point)
{
    struct harness *h = ctx;
    h->last_equity[point->account] = *point;
    h->equity_points++;
}

static void on_bar(void *ctx, int symbol, enum bar_source source, const struct bar *bar)
{
    struct harness *h = ctx;
    (void)symbol;
    if (source == BAR_VENUE) {
        h->bars++;
        h->last_bar = *bar;
    } else {
        h->bars_built++;
        h->last_built = *bar;
    }
}

static void on_alert(void *ctx, int64_t ts_ns, const char *code, const struct engine_subject *of,
                     const char *text)
{
    struct harness *h = ctx;
    CHECK(ts_ns <= h->now_ns && code[0] && text[0]);
    h->alerts++;
    h->last_subject = *of;
    snprintf(h->last_alert, sizeof h->last_alert, "%s", code);
    snprintf(h->last_alert_text, sizeof h->last_alert_text, "%s", text);
}

static void on_alert_over(void *ctx, const char *code, const char *about)
{
    struct harness *h = ctx;
    snprintf(h->last_over, sizeof h->last_over, "%s %s", code, about);
}

static void on_need_snapshot(void *ctx, int symbol)
{
    struct harness *h = ctx;
    (void)symbol;
    h->snapshots_wanted++;
}

static void on_need_bars(void *ctx, int symbol, int64_t from_ns, int64_t to_ns)
{
    struct harness *h = ctx;
    (void)symbol;
    CHECK(from_ns <= to_ns);
    h->bars_wanted++;
    h->wanted_from_ns = from_ns;
    h->wanted_to_ns = to_ns;
}

static void on_command_done(void *ctx, const struct event_command *command, enum order_reason reason,
                            uint64_t order)
{
    struct harness *h = ctx;
    h->command_id = command->command_id;
    h->command_reason = reason;
    h->command_order = order;
}

/* The defaults; a test changes h->config, h->accounts and h->symbols before harness_open(). */
static inline void harness_init(struct harness *h)
{
    memset(h, 0, sizeof *h);
    static const char *const bases[] = {"BTC", "ETH", "ETH"}, *const quotes[] = {"USDT", "USDT", "BTC"};
    for (int s = 0; s < HARNESS_SYMBOLS; s++) {
        struct symbol *symbol = &h->symbols[s];
        *symbol = (struct symbol){.price_scale = 8, .qty_scale = 8, .quote_scale = 8, .trading = true};
        snprintf(symbol->name, sizeof symbol->name, "%s%s", bases[s], quotes[s]);
        snprintf(symbol->base, sizeof symbol->base, "%s", bases[s]);
        snprintf(symbol->quote, sizeof symbol->quote, "%s", quotes[s]);
        symbol->filters = (struct symbol_filters){.tick = s == ETHBTC ? 1000 : E8 / 100,
                                                  .price_min = s == ETHBTC ? 1000 : E8 / 100,
                                                  .step = 1000,
                                                  .qty_min = 1000,
                                                  .qty_max = 9000 * E8,
                                                  .notional_min = s == ETHBTC ? E8 / 10000 : 5 * E8,
                                                  .notional_min_market = true,
                                                  .orders_max = 20};
        h->next_trade_id[s] = 1000;
    }
    static const char *const names[] = {"alice", "bob"};
    for (int a = 0; a < HARNESS_ACCOUNTS; a++) {
        struct account_spec *account = &h->accounts[a];
        snprintf(account->name, sizeof account->name, "%s", names[a]);
        snprintf(account->currency, sizeof account->currency, "USDT");
        account->currency_scale = 8;
        account->cash = 10000 * E8;
        account->rules.fees = (struct fee_rates){.maker_e6 = 1000, .taker_e6 = 1000};
    }
    h->config = (struct engine_config){.symbols = h->symbols,
                                       .n_symbols = HARNESS_SYMBOLS,
                                       .accounts = h->accounts,
                                       .n_accounts = HARNESS_ACCOUNTS,
                                       .interval_ns = MINUTE_NS,
                                       .latency_ns = 50 * MS_NS};
    h->now_ns = START_NS;
    h->next_quote_id = 1;
    /* Room that is touched only where orders are; calloc() would fill it where the allocator is configured
     * to. */
    void *room = mmap(NULL, RECORDED_ORDERS * sizeof *h->orders, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    h->orders = room == MAP_FAILED ? NULL : room;
}

static void on_session(void *ctx, const struct market_session *session, int64_t ts_ns)
{
    struct harness *h = ctx;
    CHECK(session->calendar[0] && ts_ns <= h->now_ns);
    h->sessions++;
}

static void on_action(void *ctx, int symbol, const struct corporate_action *action, int64_t ts_ns)
{
    struct harness *h = ctx;
    CHECK(symbol >= 0 && symbol < h->config.n_symbols && action->id[0] && ts_ns <= h->now_ns);
    h->actions++;
}

static void on_revision(void *ctx, const struct engine_revision *revision)
{
    struct harness *h = ctx;
    h->revisions++;
    h->last_revision = *revision;
    h->revision_old = revision->old ? *revision->old : (struct bar){0};
    h->revision_now = revision->now ? *revision->now : (struct bar){0};
}

static void on_venue(void *ctx, enum engine_venue_request request, const struct order *order)
{
    struct harness *h = ctx;
    if (request == ENGINE_VENUE_PLACE)
        h->placed[h->n_placed++ % 16] = order->id;
    else
        h->canceled[h->n_canceled++ % 16] = order->id;
}

static inline struct engine_sink harness_sink(struct harness *h)
{
    return (struct engine_sink){.ctx = h,
                                .bar = on_bar,
                                .order = on_order,
                                .fill = on_fill,
                                .ledger = on_ledger,
                                .equity = on_equity,
                                .alert = on_alert,
                                .alert_over = on_alert_over,
                                .need_snapshot = on_need_snapshot,
                                .need_bars = on_need_bars,
                                .command_done = on_command_done,
                                .session = on_session,
                                .action = on_action,
                                .revision = on_revision,
                                .venue = on_venue};
}

static inline void harness_create(struct harness *h)
{
    struct engine_sink sink = harness_sink(h);
    for (int a = 0; a < HARNESS_ACCOUNTS; a++)
        h->accounts[a].rules.risk = h->risk;
    if (engine_create(&h->config, &sink, &h->engine) < 0 || !h->orders) {
        fprintf(stderr, "the harness has no engine\n");
        exit(EXIT_FAILURE);
    }
}

static inline void harness_open(struct harness *h)
{
    harness_create(h);
    CHECK_INT(engine_start(h->engine, h->now_ns), 0);
}

/* Releases a harness that has no engine, or whose engine is the caller's. */
static inline void harness_forget(struct harness *h)
{
    if (h->orders)
        munmap(h->orders, RECORDED_ORDERS * sizeof *h->orders);
    h->orders = NULL;
}

static inline void harness_close(struct harness *h)
{
    engine_destroy(h->engine);
    h->engine = NULL;
    harness_forget(h);
}

/* The recorded order, as reported last, equals the engine's, field by field. */
static inline void check_reported(const struct harness *h, const struct order *order)
{
    struct recorded_order last = {.order = h->orders[order->id].order};
    const struct symbol *symbol = engine_symbol(h->engine, order->symbol);
    struct difference difference;
    if (last.order.id == 0 || memcmp(&last.order, order, sizeof *order) == 0)
        return; /* restored, or equal to the byte */
    memcpy(last.symbol, symbol->name, sizeof last.symbol);
    if (engine_compare_orders(order, symbol, &last, &difference))
        return;
    fprintf(stderr, "order %ju: %s: %s, reported %s\n", (uintmax_t)order->id, difference.field,
            difference.replayed, difference.recorded);
    CHECK(!"an order equals its last report");
}

/* What must hold after every event. */
static inline void harness_check(const struct harness *h)
{
    for (size_t i = 0; i < engine_orders(h->engine); i++)
        check_reported(h, engine_order(h->engine, i));
    for (int a = 0; a < engine_accounts(h->engine); a++) {
        const struct account *account = engine_account(h->engine, a);
        bool live = false;
        for (size_t i = 0; i < engine_orders(h->engine); i++)
            live |= engine_order(h->engine, i)->account == a;
        for (int i = 0; i < account->n_assets; i++) {
            const struct balance *balance = &account->assets[i];
            for (int k = 0; k < HARNESS_ASSETS; k++)
                if (strcmp(balance->asset, harness_assets[k]) == 0) {
                    CHECK_INT(balance->total, h->ledger_sum[a][k]);
                    CHECK_INT(balance->total, h->naive[a][k]);
                }
            CHECK(balance->total >= 0 && balance->reserved >= 0 &&
                  (balance->reserved <= balance->total || account->rules.margin != MARGIN_OFF));
            CHECK(live || balance->reserved == 0);
        }
        for (int s = 0; s < h->config.n_symbols; s++) {
            CHECK_INT(account->positions[s].qty, h->position[a][s]);
            CHECK(account->positions[s].qty >= 0 || account->rules.shorts || h->oversold);
            CHECK(account->positions[s].cost >= 0 && account->positions[s].fifo_cost >= 0);
            CHECK((account->positions[s].qty == 0) == (account->positions[s].opened_ns == 0));
            CHECK(account->positions[s].qty != 0 || account->positions[s].cost == 0);
        }
    }
}

static inline int harness_event(struct harness *h, struct event *event)
{
    event->seq = ++h->seq;
    event->recv_ns = h->now_ns;
    int r = engine_handle(h->engine, event);
    harness_check(h);
    return r;
}

static inline void pass(struct harness *h, int64_t ns)
{
    h->now_ns += ns;
    struct event event = {.kind = EVENT_TIMER};
    CHECK_INT(harness_event(h, &event), 0);
}

static inline void trade_by(struct harness *h, int symbol, int64_t price, int64_t qty, bool buyer_maker)
{
    struct event event = {
        .kind = EVENT_MARKET,
        .market = {
            .kind = MARKET_TRADE,
            .symbol = symbol,
            .trade = {.ts_ns = h->now_ns, .id = h->next_trade_id[symbol]++, .price = price, .qty = qty}}};
    event.market.trade.first_id = event.market.trade.last_id = event.market.trade.id;
    event.market.trade.buyer_maker = buyer_maker;
    CHECK_INT(harness_event(h, &event), 0);
}

static inline void trade(struct harness *h, int symbol, int64_t price, int64_t qty)
{
    trade_by(h, symbol, price, qty, false);
}

static inline void quote(struct harness *h, int symbol, int64_t bid, int64_t bid_qty, int64_t ask,
                         int64_t ask_qty)
{
    struct event event = {.kind = EVENT_MARKET,
                          .market = {.kind = MARKET_QUOTE,
                                     .symbol = symbol,
                                     .quote = {h->next_quote_id++, bid, bid_qty, ask, ask_qty}}};
    CHECK_INT(harness_event(h, &event), 0);
}

static inline int depth(struct harness *h, int symbol, uint64_t first, uint64_t last,
                        const struct book_level *bids, uint32_t n_bids, const struct book_level *asks,
                        uint32_t n_asks)
{
    struct event event = {.kind = EVENT_MARKET,
                          .market = {.kind = MARKET_DEPTH,
                                     .symbol = symbol,
                                     .depth = {first, last, bids, asks, n_bids, n_asks}}};
    return harness_event(h, &event);
}

static inline int snapshot(struct harness *h, int symbol, uint64_t id, const struct book_level *bids,
                           uint32_t n_bids, const struct book_level *asks, uint32_t n_asks)
{
    struct event event = {.kind = EVENT_SNAPSHOT, .snapshot = {symbol, id, bids, asks, n_bids, n_asks}};
    return harness_event(h, &event);
}

static inline struct bar flat_bar(int64_t open_ns, int64_t price)
{
    return (struct bar){.open_ns = open_ns,
                        .open = price,
                        .high = price,
                        .low = price,
                        .close = price,
                        .volume = E8,
                        .trades = 1,
                        .first_trade_id = -1,
                        .last_trade_id = -1};
}

static inline void kline(struct harness *h, int symbol, const struct bar *bar)
{
    struct event event = {
        .kind = EVENT_MARKET,
        .market = {.kind = MARKET_KLINE, .symbol = symbol, .kline = {h->config.interval_ns, *bar, true}}};
    CHECK_INT(harness_event(h, &event), 0);
}

static inline void connection(struct harness *h, bool up)
{
    struct event event = {.kind = EVENT_CONNECTION, .connection.up = up};
    CHECK_INT(harness_event(h, &event), 0);
}

static inline void venue_clock(struct harness *h, int64_t ahead_ns)
{
    struct event event = {.kind = EVENT_VENUE_CLOCK, .venue_clock.ahead_ns = ahead_ns};
    CHECK_INT(harness_event(h, &event), 0);
}

static inline void stale(struct harness *h, int symbol, bool is_stale)
{
    struct event event = {.kind = EVENT_STALE, .stale = {symbol, is_stale}};
    CHECK_INT(harness_event(h, &event), 0);
}

/* Returns the order's id; the verdict is in h->command_reason. */
static inline uint64_t command(struct harness *h, struct event_command what)
{
    struct event event = {.kind = EVENT_COMMAND, .command = what};
    event.command.command_id = h->seq + 7000;
    h->command_id = 0;
    CHECK_INT(harness_event(h, &event), 0);
    CHECK_INT(h->command_id, h->seq - 1 + 7000);
    return h->command_order;
}

static inline uint64_t order(struct harness *h, int account, int symbol, enum order_side side,
                             enum order_type type, int64_t qty, int64_t price)
{
    struct order request = {.account = account,
                            .symbol = symbol,
                            .side = side,
                            .type = type,
                            .qty = qty,
                            .price = type == ORDER_LIMIT ? price : 0,
                            .stop_price = type == ORDER_STOP ? price : 0,
                            .by_hand = true,
                            .tag = "by hand"};
    return command(h,
                   (struct event_command){.kind = COMMAND_ORDER, .order = {.legs = &request, .n_legs = 1}});
}

/* The id of the first leg. */
static inline uint64_t group(struct harness *h, enum order_grouping grouping, const struct order *legs, int n)
{
    struct order given[ORDER_LEGS_MAX];
    memcpy(given, legs, (size_t)n * sizeof *legs);
    if (h->before_orders)
        h->before_orders(h, grouping, legs, n);
    uint64_t id =
        command(h, (struct event_command){.kind = COMMAND_ORDER,
                                          .order = {.grouping = grouping, .legs = given, .n_legs = n}});
    if (h->after_orders)
        h->after_orders(h, id);
    return id;
}

static inline uint64_t ask(struct harness *h, struct order request)
{
    return group(h, ORDERS_SINGLE, &request, 1);
}

static inline void amend(struct harness *h, struct order_amend what)
{
    command(h, (struct event_command){.kind = COMMAND_AMEND, .amend = what});
}

static inline void cancel(struct harness *h, uint64_t id)
{
    command(h, (struct event_command){.kind = COMMAND_CANCEL, .order_id = id});
}

static inline const struct order *reported(const struct harness *h, uint64_t id)
{
    return &h->orders[id].order;
}

static inline int64_t cash(const struct harness *h, int account)
{
    return h->naive[account][0];
}

static inline int64_t reserved(const struct harness *h, int account, const char *asset)
{
    const struct account *of = engine_account(h->engine, account);
    for (int i = 0; i < of->n_assets; i++)
        if (strcmp(of->assets[i].asset, asset) == 0)
            return of->assets[i].reserved;
    return 0;
}

#endif
