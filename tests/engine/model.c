/* Model checking of small cases: every sequence of so many actions out of a small alphabet, given to the
 * engine and to the naive exchange of model.h, which must agree after each action on every order, fill and
 * unit of money. Several alphabets, each about a part of the rules, on a market of few prices and quantities,
 * with an action every 10 ns and a latency of 15. With PAPERTAPE_LONG set, one action more. */
#include "tests/engine/model.h"
#include "engine/core.h"
#include "tests/check.h"

enum { STEP_NS = 10, START_CASH = 400 };
#ifdef __SANITIZE_ADDRESS__
enum { SHALLOWER = -1 };
#else
enum { SHALLOWER = 0 };
#endif
static const int64_t START_NS = 20000 * M_DAY - 65; /* a day ends on the way */

enum action_kind { GIVE, GIVE_GTD, CANCEL, AMEND, QUOTE, LEVEL, TRADE, WAIT, ACTION_KINDS };
struct action {
    enum action_kind kind;
    enum order_grouping grouping;
    int n;
    struct order legs[ORDER_LEGS_MAX];
    int order; /* CANCEL, AMEND: of those given after the prelude, from 1 */
    struct order_amend amend;
    int64_t bid, bid_qty, ask, ask_qty; /* QUOTE; LEVEL: one of bid and ask, by what follows it */
    int64_t price, qty;                 /* TRADE */
    bool seller_took;
};

/* ---- both sides of the comparison */

struct pair {
    struct engine *engine;
    struct model model;
    struct order reported[M_ORDERS + 1];
    struct m_fill fills[M_FILLS];
    int n_fills, first; /* the id before the first order after the prelude */
    int64_t now, trade_id;
    uint64_t book_id, seq, alerts;
    enum order_reason reason;
};

static void on_order(void *ctx, const struct order *order)
{
    struct pair *pair = ctx;
    if (order->id <= M_ORDERS)
        pair->reported[order->id] = *order;
}

static void on_fill(void *ctx, const struct fill *fill)
{
    struct pair *pair = ctx;
    if (pair->n_fills < M_FILLS)
        pair->fills[pair->n_fills++] =
            (struct m_fill){(int)fill->order_id, fill->price, fill->qty, fill->maker};
}

static void on_command_done(void *ctx, const struct event_command *command, enum order_reason reason,
                            uint64_t order)
{
    (void)command;
    (void)order;
    ((struct pair *)ctx)->reason = reason;
}

static void on_alert(void *ctx, int64_t ts_ns, const char *code, const struct engine_subject *of,
                     const char *text)
{
    (void)of;
    (void)ts_ns;
    (void)text;
    ((struct pair *)ctx)->alerts += strcmp(code, "ORDER_STATE") == 0;
}

static void handle(struct pair *pair, struct event *event)
{
    event->seq = ++pair->seq;
    event->recv_ns = pair->now;
    if (engine_handle(pair->engine, event) < 0)
        abort();
}

static void give_command(struct pair *pair, struct event_command what)
{
    struct event event = {.kind = EVENT_COMMAND, .command = what};
    handle(pair, &event);
}

static void act(struct pair *pair, const struct action *action)
{
    struct model *model = &pair->model;
    struct event event = {.kind = EVENT_MARKET};
    struct event_command what = {.kind = COMMAND_ORDER};
    enum order_reason expected = ORDER_OK;
    pair->now += STEP_NS;
    m_until(model, pair->now);
    switch (action->kind) {
    case GIVE:
    case GIVE_GTD: {
        struct order legs[ORDER_LEGS_MAX];
        memcpy(legs, action->legs, sizeof legs);
        for (int i = 0; i < action->n && action->kind == GIVE_GTD; i++) {
            legs[i].tif = ORDER_GTD;
            legs[i].expires_ns = pair->now + 38;
        }
        m_give(model, action->grouping, legs, action->n);
        expected = model->orders[model->n_orders].why;
        what.order.grouping = action->grouping;
        what.order.n_legs = action->n;
        what.order.legs = legs;
        give_command(pair, what);
        CHECK_INT(pair->reason, expected);
        break;
    }
    case CANCEL:
        expected = m_ask_cancel(model, pair->first + action->order);
        what.kind = COMMAND_CANCEL;
        what.order_id = (uint64_t)(pair->first + action->order);
        give_command(pair, what);
        CHECK_INT(pair->reason, expected);
        break;
    case AMEND:
        what.kind = COMMAND_AMEND;
        what.amend = action->amend;
        what.amend.order_id = (uint64_t)(pair->first + action->order);
        expected = m_ask_amend(model, &what.amend);
        give_command(pair, what);
        CHECK_INT(pair->reason, expected);
        break;
    case QUOTE:
        memset(model->bid, 0, sizeof model->bid);
        memset(model->ask, 0, sizeof model->ask);
        model->bid[action->bid] = action->bid_qty;
        model->ask[action->ask] = action->ask_qty;
        m_look(model);
        event.market.kind = MARKET_QUOTE;
        event.market.quote = (struct market_quote){++pair->book_id, action->bid, action->bid_qty, action->ask,
                                                   action->ask_qty};
        handle(pair, &event);
        break;
    case LEVEL: {
        struct book_level bids[M_PRICES], asks[M_PRICES];
        uint32_t n_bids = 0, n_asks = 0;
        if (action->bid)
            bids[n_bids++] = (struct book_level){action->bid, model->bid[action->bid] = action->bid_qty};
        if (action->ask)
            asks[n_asks++] = (struct book_level){action->ask, model->ask[action->ask] = action->ask_qty};
        /* What it meets of the other side has traded: no venue shows a crossed book. */
        for (int p = 1; p < M_PRICES; p++) {
            if (action->ask && action->ask_qty && p >= action->ask && model->bid[p])
                bids[n_bids++] = (struct book_level){p, model->bid[p] = 0};
            if (action->bid && action->bid_qty && p <= action->bid && model->ask[p])
                asks[n_asks++] = (struct book_level){p, model->ask[p] = 0};
        }
        m_look(model);
        pair->book_id++;
        event.market.kind = MARKET_DEPTH;
        event.market.depth = (struct market_depth){pair->book_id, pair->book_id, bids, asks, n_bids, n_asks};
        handle(pair, &event);
        break;
    }
    case TRADE:
        m_receive_trade(model, action->price, action->qty, action->seller_took);
        event.market.kind = MARKET_TRADE;
        event.market.trade = (struct market_trade){.ts_ns = pair->now,
                                                   .id = ++pair->trade_id,
                                                   .price = action->price,
                                                   .qty = action->qty,
                                                   .buyer_maker = action->seller_took};
        handle(pair, &event);
        break;
    default:
        event.kind = EVENT_TIMER;
        handle(pair, &event);
        break;
    }
    m_until(model, pair->now);
}

static bool same_order(const struct pair *pair, int id)
{
    const struct m_order *m = &pair->model.orders[id];
    const struct order *o = &pair->reported[id];
    size_t at = engine_match_find(pair->engine, (uint64_t)id);
    bool live = at < pair->engine->n_orders;
    if (o->state != m->state || o->reason != m->why || o->filled != m->filled)
        return false;
    if (live != m_alive(m) || (o->state == ORDER_REJECTED) != (m->state == ORDER_REJECTED))
        return false;
    if (!live)
        return true;
    const struct live_order *now = &pair->engine->orders[at];
    bool works = m_limit_type(m->is.type) && (m->is.type == ORDER_LIMIT || m->triggered);
    return o->qty == m->qty && o->price == m->price && o->stop_price == m->stop &&
           o->triggered == m->triggered && (int)o->amends == m->amends &&
           now->cancel_queued == m->cancelling && (!works || !m_at_venue(m) || now->queue_ahead == m->ahead);
}

static bool same(const struct pair *pair)
{
    const struct model *m = &pair->model;
    const struct account *account = engine_account(pair->engine, 0);
    const struct balance *cash = account_find_balance(account, "USD"),
                         *coins = account_find_balance(account, "XYZ");
    bool good = (int)pair->engine->last_order == m->n_orders && pair->n_fills == m->n_fills &&
                cash->total == m->cash && coins->total == m->coins && account->positions[0].qty == m->coins &&
                cash->reserved == m_cash_held(m, 0) && coins->reserved == m_coins_held(m, 0, true) &&
                pair->alerts == 0 && pair->engine->counters.impossible == 0;
    for (int i = 0; i < m->n_fills && good; i++)
        good = pair->fills[i].id == m->fills[i].id && pair->fills[i].price == m->fills[i].price &&
               pair->fills[i].qty == m->fills[i].qty && pair->fills[i].maker == m->fills[i].maker;
    for (int id = 1; id <= m->n_orders && good; id++)
        good = same_order(pair, id);
    return good;
}

static void print_difference(const struct pair *pair)
{
    const struct model *m = &pair->model;
    const struct account *account = engine_account(pair->engine, 0);
    const struct balance *cash = account_find_balance(account, "USD"),
                         *coins = account_find_balance(account, "XYZ");
    fprintf(stderr, "  engine: cash %" PRId64 " (%" PRId64 "), coins %" PRId64 " (%" PRId64 "), %d fills\n",
            cash->total, cash->reserved, coins->total, coins->reserved, pair->n_fills);
    fprintf(stderr, "  model:  cash %" PRId64 " (%" PRId64 "), coins %" PRId64 " (%" PRId64 "), %d fills\n",
            m->cash, m_cash_held(m, 0), m->coins, m_coins_held(m, 0, true), m->n_fills);
    for (int id = 1; id <= m->n_orders; id++) {
        const struct m_order *o = &m->orders[id];
        const struct order *t = &pair->reported[id];
        size_t at = engine_match_find(pair->engine, (uint64_t)id);
        fprintf(stderr,
                "  order %d %s %s: engine %s %s %" PRId64 "/%" PRId64 " at %" PRId64 " stop %" PRId64
                " ahead %" PRId64 "; model %s %s %" PRId64 "/%" PRId64 " at %" PRId64 " stop %" PRId64
                " ahead %" PRId64 "\n",
                id, order_side_name(o->is.side), order_type_name(o->is.type), order_state_name(t->state),
                order_reason_name(t->reason), t->filled, t->qty, t->price, t->stop_price,
                at < pair->engine->n_orders ? pair->engine->orders[at].queue_ahead : -9,
                order_state_name(o->state), order_reason_name(o->why), o->filled, o->qty, o->price, o->stop,
                o->ahead);
    }
}

/* ---- worlds */

#define BUY(t, q, ...) \
    { \
        .side = ORDER_BUY, .type = ORDER_##t, .qty = q, __VA_ARGS__ \
    }
#define SELL(t, q, ...) \
    { \
        .side = ORDER_SELL, .type = ORDER_##t, .qty = q, __VA_ARGS__ \
    }
#define ONE(...) \
    { \
        .kind = GIVE, .n = 1, .legs = { __VA_ARGS__ } \
    }
#define OCO(...) \
    { \
        .kind = GIVE, .grouping = ORDERS_OCO, .n = 2, .legs = { __VA_ARGS__ } \
    }
#define SHOWS(b, bq, a, aq) \
    { \
        .kind = QUOTE, .bid = b, .bid_qty = bq, .ask = a, .ask_qty = aq \
    }
#define BID(p, q) \
    { \
        .kind = LEVEL, .bid = p, .bid_qty = q \
    }
#define ASKED(p, q) \
    { \
        .kind = LEVEL, .ask = p, .ask_qty = q \
    }
#define SOLD(p, q) \
    { \
        .kind = TRADE, .price = p, .qty = q, .seller_took = true \
    }
#define BOUGHT(p, q) \
    { \
        .kind = TRADE, .price = p, .qty = q \
    }
#define CANCELLED(i) \
    { \
        .kind = CANCEL, .order = i \
    }
#define NOW(i, ...) \
    { \
        .kind = AMEND, .order = i, .amend = { __VA_ARGS__ } \
    }

/* The account begins with three coins; 11 is bid and 13 asked, two each; the last trade was at 12. */
static const struct action by_quote[] = {SHOWS(11, 2, 13, 5), BOUGHT(12, 1),  ONE(BUY(MARKET, 3)),
                                         {.kind = WAIT},      {.kind = WAIT}, SHOWS(11, 2, 14, 5),
                                         SHOWS(11, 2, 13, 2)};
static const struct action by_book[] = {ASKED(13, 5),   BOUGHT(12, 1), ONE(BUY(MARKET, 3)), {.kind = WAIT},
                                        {.kind = WAIT}, ASKED(13, 0),  ASKED(13, 2),        ASKED(14, 1),
                                        ASKED(16, 3),   BID(11, 2),    BID(10, 1),          BID(8, 3)};

static const struct action types[] = {
    ONE(BUY(MARKET, 3)),
    ONE(SELL(MARKET, 2, .tif = ORDER_IOC)),
    ONE(BUY(MARKET, 2, .tif = ORDER_FOK)),
    ONE(BUY(LIMIT, 3, .price = 12)),
    ONE(SELL(LIMIT, 2, .price = 12, .tif = ORDER_DAY)),
    ONE(BUY(LIMIT, 3, .price = 13, .tif = ORDER_IOC)),
    ONE(SELL(LIMIT, 3, .price = 11, .tif = ORDER_FOK)),
    ONE(BUY(LIMIT, 2, .price = 12, .post_only = true)),
    ONE(BUY(STOP, 3, .stop_price = 14)),
    ONE(SELL(STOP, 3, .stop_price = 10)),
    ONE(SELL(TAKE_PROFIT, 2, .stop_price = 14)),
    ONE(BUY(STOP_LIMIT, 2, .stop_price = 13, .price = 12)),
    ONE(SELL(TAKE_PROFIT_LIMIT, 2, .stop_price = 13, .price = 14, .tif = ORDER_DAY)),
    ONE(SELL(TRAILING_STOP, 3, .trail = 2)),
    ONE(BUY(TRAILING_STOP, 2, .trail_e6 = 150000)),
    {.kind = GIVE_GTD, .n = 1, .legs = {BUY(LIMIT, 2, .price = 11)}},
    CANCELLED(1),
    SHOWS(10, 1, 12, 2),
    SHOWS(12, 3, 14, 1),
    SHOWS(11, 2, 13, 3),
    SOLD(12, 2),
    SOLD(10, 1),
    BOUGHT(14, 2),
    BOUGHT(13, 3),
    {.kind = WAIT},
};
static const struct action groups[] = {
    OCO(SELL(LIMIT, 3, .price = 14), SELL(STOP, 3, .stop_price = 11)),
    OCO(BUY(LIMIT, 2, .price = 11), BUY(STOP_LIMIT, 2, .stop_price = 13, .price = 14)),
    OCO(SELL(LIMIT, 2, .price = 12, .post_only = true, .reduce_only = true),
        SELL(TRAILING_STOP, 3, .trail = 1, .reduce_only = true)),
    {.kind = GIVE_GTD,
     .grouping = ORDERS_OCO,
     .n = 2,
     .legs = {SELL(TAKE_PROFIT, 1, .stop_price = 13), SELL(STOP, 1, .stop_price = 10)}},
    OCO(SELL(LIMIT, 3, .price = 11), SELL(STOP, 3, .stop_price = 14)),
    OCO(BUY(TAKE_PROFIT, 2, .stop_price = 13), BUY(STOP, 2, .stop_price = 13)),
    {.kind = GIVE,
     .grouping = ORDERS_BRACKET,
     .n = 3,
     .legs = {BUY(LIMIT, 3, .price = 12), SELL(LIMIT, 3, .price = 14), SELL(STOP, 3, .stop_price = 11)}},
    {.kind = GIVE,
     .grouping = ORDERS_BRACKET,
     .n = 2,
     .legs = {BUY(LIMIT, 3, .price = 12), SELL(STOP, 3, .stop_price = 12)}},
    {.kind = GIVE,
     .grouping = ORDERS_BRACKET,
     .n = 3,
     .legs = {BUY(MARKET, 3), SELL(STOP, 3, .stop_price = 14), SELL(TAKE_PROFIT, 3, .stop_price = 12)}},
    {.kind = GIVE,
     .grouping = ORDERS_BRACKET,
     .n = 2,
     .legs = {BUY(MARKET, 3), SELL(STOP, 3, .stop_price = 12, .tif = ORDER_DAY)}},
    {.kind = GIVE,
     .grouping = ORDERS_BRACKET,
     .n = 2,
     .legs = {BUY(LIMIT, 3, .price = 12, .tif = ORDER_IOC), SELL(TRAILING_STOP, 3, .trail = 2)}},
    ONE(SELL(MARKET, 3, .reduce_only = true)),
    CANCELLED(1),
    CANCELLED(2),
    SHOWS(12, 3, 14, 1),
    SHOWS(10, 1, 12, 2),
    SOLD(11, 2),
    BOUGHT(14, 2),
    BOUGHT(15, 1),
    {.kind = WAIT},
};
static const struct action amends[] = {
    ONE(BUY(LIMIT, 3, .price = 11)),
    ONE(SELL(LIMIT, 2, .price = 14)),
    ONE(SELL(STOP, 2, .stop_price = 10)),
    ONE(BUY(STOP_LIMIT, 2, .stop_price = 14, .price = 13)),
    ONE(SELL(TRAILING_STOP, 3, .trail = 3)),
    NOW(1, .set = AMEND_QTY, .qty = 2),
    NOW(1, .set = AMEND_QTY, .qty = 9),
    NOW(1, .set = AMEND_PRICE, .price = 13),
    NOW(1, .set = AMEND_STOP, .stop_price = 12),
    NOW(1, .set = AMEND_TRAIL, .trail = 1),
    NOW(2, .set = AMEND_QTY | AMEND_PRICE, .qty = 1, .price = 11),
    CANCELLED(1),
    BID(11, 1),
    ASKED(13, 3),
    SOLD(11, 2),
    BOUGHT(14, 4),
    {.kind = WAIT},
};
static const struct action reducing[] = {
    ONE(SELL(STOP, 3, .stop_price = 11, .reduce_only = true)),
    ONE(SELL(LIMIT, 2, .price = 14, .reduce_only = true)),
    ONE(SELL(MARKET, 2, .reduce_only = true)),
    ONE(SELL(MARKET, 5, .reduce_only = true, .tif = ORDER_FOK)),
    ONE(SELL(LIMIT, 2, .price = 13)),
    ONE(SELL(MARKET, 1)),
    ONE(BUY(MARKET, 2)),
    {.kind = GIVE,
     .grouping = ORDERS_BRACKET,
     .n = 2,
     .legs = {BUY(MARKET, 2), SELL(STOP, 2, .stop_price = 10)}},
    NOW(1, .set = AMEND_QTY, .qty = 1),
    CANCELLED(1),
    CANCELLED(2),
    SHOWS(11, 3, 13, 2),
    SHOWS(11, 1, 12, 2),
    SOLD(10, 2),
    BOUGHT(15, 2),
    {.kind = WAIT},
};
static const struct action queue[] = {
    ONE(BUY(LIMIT, 2, .price = 11)),
    ONE(BUY(LIMIT, 3, .price = 10)),
    ONE(BUY(LIMIT, 1, .price = 12)),
    ONE(BUY(LIMIT, 1, .price = 7)),
    ONE(SELL(LIMIT, 2, .price = 13)),
    ONE(BUY(MARKET, 4)),
    ONE(SELL(MARKET, 3)),
    ONE(BUY(LIMIT, 4, .price = 14, .tif = ORDER_FOK)),
    BID(11, 0),
    BID(11, 3),
    BID(12, 1),
    ASKED(13, 1),
    ASKED(13, 0),
    ASKED(11, 2),
    SOLD(11, 2),
    SOLD(10, 2),
    BOUGHT(13, 3),
    {.kind = WAIT},
};
/* With money for little. */
static const struct action poor[] = {
    ONE(BUY(MARKET, 2)),
    ONE(BUY(LIMIT, 3, .price = 12)),
    ONE(BUY(LIMIT, 2, .price = 10)),
    ONE(BUY(STOP, 2, .stop_price = 13)),
    ONE(BUY(LIMIT, 2, .price = 13, .tif = ORDER_FOK)),
    OCO(BUY(LIMIT, 3, .price = 11), BUY(STOP, 2, .stop_price = 14)),
    ONE(SELL(LIMIT, 3, .price = 12)),
    NOW(1, .set = AMEND_QTY, .qty = 3),
    CANCELLED(1),
    SHOWS(11, 2, 14, 3),
    SHOWS(10, 2, 12, 1),
    SOLD(11, 3),
    BOUGHT(13, 1),
    {.kind = WAIT},
};

#define LIST(a) a, (int)(sizeof(a) / sizeof *(a))
static const struct world {
    const char *name;
    bool by_book;
    int64_t cash;
    const struct action *actions;
    int n, depth;
} worlds[] = {
    {"types", false, START_CASH, LIST(types), 3},  {"groups", false, START_CASH, LIST(groups), 4},
    {"amends", true, START_CASH, LIST(amends), 4}, {"reducing", false, START_CASH, LIST(reducing), 4},
    {"queue", true, START_CASH, LIST(queue), 4},   {"poor", false, 80, LIST(poor), 4},
};

static void open_pair(struct pair *pair, const struct world *world)
{
    static const struct symbol symbol = {.name = "XYZUSD",
                                         .base = "XYZ",
                                         .quote = "USD",
                                         .trading = true,
                                         .filters = {.tick = 1, .price_min = 1}};
    static struct account_spec account = {
        .name = "a", .currency = "USD", .rules = {.fees = {.maker_e6 = M_MAKER_E6, .taker_e6 = M_TAKER_E6}}};
    *pair = (struct pair){.now = START_NS, .book_id = 100};
    account.cash = world->cash;
    struct engine_config config = {.symbols = &symbol,
                                   .n_symbols = 1,
                                   .accounts = &account,
                                   .n_accounts = 1,
                                   .interval_ns = 60000000000,
                                   .latency_ns = M_LATENCY};
    struct engine_sink sink = {
        .ctx = pair, .order = on_order, .fill = on_fill, .command_done = on_command_done, .alert = on_alert};
    if (engine_create(&config, &sink, &pair->engine) < 0 || engine_start(pair->engine, START_NS) < 0)
        abort();
    pair->model.now = START_NS;
    pair->model.cash = world->cash;
    pair->model.by_book = world->by_book;
    if (world->by_book) { /* empty, and synced by the first difference */
        struct event event = {.kind = EVENT_SNAPSHOT, .snapshot = {.last_id = pair->book_id}};
        handle(pair, &event);
    }
    int n =
        world->by_book ? (int)(sizeof by_book / sizeof *by_book) : (int)(sizeof by_quote / sizeof *by_quote);
    for (int i = 0; i < n; i++)
        act(pair, world->by_book ? &by_book[i] : &by_quote[i]);
    pair->first = pair->model.n_orders;
}

/* One sequence; false when the two part. Only the last action's outcome is new. */
static bool follow(const struct world *world, const int *sequence, int depth, uint64_t *steps)
{
    static struct pair pair;
    open_pair(&pair, world);
    bool good = same(&pair);
    int i = 0;
    for (; i < depth && good; i++) {
        act(&pair, &world->actions[sequence[i]]);
        good = same(&pair);
        (*steps)++;
    }
    CHECK(good);
    if (!good) {
        fprintf(stderr, "world %s: after actions", world->name);
        for (int k = 0; k < i; k++)
            fprintf(stderr, " %d", sequence[k]);
        fprintf(stderr, ":\n");
        print_difference(&pair);
    }
    engine_destroy(pair.engine);
    return good;
}

static void explore(const struct world *world, int depth)
{
    int sequence[16] = {0}, wrong = 0;
    uint64_t sequences = 0, steps = 0;
    for (;;) {
        wrong += !follow(world, sequence, depth, &steps);
        sequences++;
        int i = depth - 1;
        while (i >= 0 && ++sequence[i] == world->n)
            sequence[i--] = 0;
        if (i < 0 || wrong == 3)
            break;
    }
    printf("engine/model: %s: %d actions, depth %d: %ju sequences, %ju steps\n", world->name, world->n, depth,
           (uintmax_t)sequences, (uintmax_t)steps);
}

int main(void)
{
    int deeper = getenv("PAPERTAPE_LONG") ? 1 : SHALLOWER;
    if (deeper < 0)
        printf("counts: one action less, under a sanitizer\n");
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        explore(&worlds[i], worlds[i].depth + deeper);
    return check_done("engine/model");
}
