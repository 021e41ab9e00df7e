/* Orders, by exchange/venue_account.h: what is placed is answered, pushed and found again, and balances are
 * the sum of the fills. */
#ifndef TESTS_EXCHANGE_VENUE_CONTRACT_ORDERS_H
#define TESTS_EXCHANGE_VENUE_CONTRACT_ORDERS_H

#include "exchange/venue_account.h"
#include "tests/exchange/venue_contract/refused.h"

enum { KEPT = 64, ASSETS = 64, NOTIONAL = 200, QTY_DIGITS = 4, WIDE = 12 };

/* An account, what was pushed, and the last answer. */
struct trader {
    struct world *world;
    struct venue_account *account;
    bool up, destroyed, destroy_in_done, destroy_in_state, destroy_in_ban; /* from within that callback */
    int64_t ban_until_ns; /* the earliest that was reported */
    uint64_t bans, states;
    struct venue_order events[KEPT];
    struct venue_fill pushed[KEPT];
    size_t n_events, n_pushed, n_balances_pushed;

    bool done;
    enum venue_outcome outcome;
    int code;
    char text[VENUE_DETAIL_MAX];
    struct venue_order orders[KEPT];
    struct venue_fill fills[KEPT];
    struct venue_balance balances[ASSETS];
    size_t n_orders, n_fills, n_balances;
};

static const struct venue_accounts *accounts_of(const struct trader *trader)
{
    return trader->world->venue->accounts;
}

static void end_trader(struct trader *trader)
{
    if (!trader->destroyed)
        accounts_of(trader)->destroy(trader->account);
    trader->destroyed = true;
}

static void on_trader_ban(void *user, int64_t until_ns, const char *why)
{
    struct trader *trader = user;
    CHECK(!trader->destroyed && why && why[0]);
    if (trader->bans == 0 || until_ns < trader->ban_until_ns)
        trader->ban_until_ns = until_ns;
    trader->bans++;
    if (trader->destroy_in_ban)
        end_trader(trader);
}

static void on_trader_state(void *user, const struct venue_status *status)
{
    struct trader *trader = user;
    CHECK(!trader->destroyed && status->since_ms <= clock_now_ms() && status->connects <= status->attempts);
    trader->up = status->link == VENUE_UP;
    trader->states++;
    if (trader->destroy_in_state)
        end_trader(trader);
}

static void check_order(const struct trader *trader, const struct venue_order *order)
{
    CHECK(order->state < VENUE_ORDER_STATES && order->id[0] && order->name[0]);
    CHECK(order->symbol >= trader->world->symbols && order->symbol < trader->world->symbols + SYMBOLS);
    CHECK(order->qty > 0 && order->filled >= 0 && order->filled <= order->qty);
    CHECK(order->state != VENUE_ORDER_FILLED || order->filled == order->qty);
    CHECK(order->state != VENUE_ORDER_NEW || order->filled == 0);
}

static void on_order(void *user, const struct venue_order *order)
{
    struct trader *trader = user;
    CHECK(!trader->destroyed);
    check_order(trader, order);
    if (trader->n_events < KEPT)
        trader->events[trader->n_events++] = *order;
}

static void check_fill(const struct venue_fill *fill)
{
    CHECK(fill->symbol && fill->price > 0 && fill->qty > 0 && fill->cumulative >= fill->qty);
    CHECK(fill->fee >= 0 && (fill->fee == 0 || fill->fee_asset[0]) && fill->trade_id[0]);
}

static void on_fill(void *user, const struct venue_fill *fill)
{
    struct trader *trader = user;
    CHECK(!trader->destroyed);
    check_fill(fill);
    if (trader->n_pushed < KEPT)
        trader->pushed[trader->n_pushed++] = *fill;
}

static void on_balances(void *user, const struct venue_balance *balances, size_t n)
{
    struct trader *trader = user;
    CHECK(!trader->destroyed);
    for (size_t i = 0; i < n; i++)
        CHECK(balances[i].asset[0] && balances[i].locked >= 0);
    trader->n_balances_pushed += n;
}

static void on_done(void *user, const struct venue_answer *answer)
{
    struct trader *trader = user;
    CHECK(!trader->done && !trader->destroyed && answer->outcome < VENUE_OUTCOMES && answer->text);
    CHECK((answer->outcome == VENUE_DONE) == (answer->text[0] == '\0'));
    CHECK((answer->outcome == VENUE_NOT_SENT) == (answer->retry_ms > 0));
    trader->done = true;
    trader->outcome = answer->outcome;
    trader->code = answer->code;
    snprintf(trader->text, sizeof trader->text, "%s", answer->text);
    trader->n_orders = trader->n_fills = trader->n_balances = 0;
    for (size_t i = 0; i < answer->n_orders && i < KEPT; i++) {
        check_order(trader, &answer->orders[i]);
        trader->orders[trader->n_orders++] = answer->orders[i];
    }
    for (size_t i = 0; i < answer->n_fills && i < KEPT; i++) {
        check_fill(&answer->fills[i]);
        trader->fills[trader->n_fills++] = answer->fills[i];
    }
    for (size_t i = 0; i < answer->n_balances && i < ASSETS; i++)
        trader->balances[trader->n_balances++] = answer->balances[i];
    if (trader->destroy_in_done)
        end_trader(trader);
}

static const struct venue_account_handler account_handler = {on_trader_state, on_order, on_fill, on_balances};

/* Waits for the answer to a call, which must be of that kind. */
#define ANSWERED(trader, expected, call) \
    do { \
        (trader)->done = false; \
        CHECK_INT(call, 0); \
        UNTIL((trader)->world, (trader)->done); \
        if ((trader)->outcome != (expected)) \
            printf("outcome %d, code %d: %s\n", (trader)->outcome, (trader)->code, (trader)->text); \
        CHECK_INT((trader)->outcome, expected); \
    } while (0)

static int64_t wall_as_venue(void *user)
{
    (void)user;
    return clock_wall_ns();
}

static int open_at(struct trader *trader, struct world *world, const char *rest_url, const char *ws_url)
{
    memset(trader, 0, sizeof *trader);
    trader->world = world;
    const struct venue_account_config config = {.net = world->net,
                                                .rest_url = rest_url,
                                                .ws_url = ws_url,
                                                .keys = world_keys(world),
                                                .symbols = world->symbols,
                                                .n_symbols = SYMBOLS,
                                                .venue_ns = wall_as_venue,
                                                .timeout_ms = DEADLINE_MS,
                                                .ban = {0, on_trader_ban, trader}};
    return world->venue->accounts->create(&config, &account_handler, trader, &trader->account);
}

/* The quantity of the second symbol that costs about NOTIONAL, with a few digits. */
static int64_t quantity_of(const struct world *world, int64_t price)
{
    const struct symbol *symbol = &world->symbols[1];
    int64_t unit = decimal_pow10(symbol->qty_scale - QTY_DIGITS);
    int128_t cost =
        (int128_t)NOTIONAL * decimal_pow10(symbol->price_scale) * decimal_pow10(symbol->qty_scale);
    CHECK_INT(unit % symbol->filters.step, 0);
    return (int64_t)(cost / price) / unit * unit;
}

static int64_t last_price(struct world *world, struct answer *answer)
{
    struct venue_rest *rest = world_rest(world);
    const struct venue_latest_request request = {.symbol = &world->symbols[1], .kind = MARKET_TRADE};
    ASK_WELL(world, answer, VENUE_REPLY_LATEST, net_requests_latest(rest, &request, on_answer, answer, NULL));
    int64_t price = answer->n_events > 0 ? answer->events[answer->n_events - 1].trade.price : 0;
    CHECK(price > 0);
    net_requests_destroy(rest);
    return price;
}

static bool pushed_state(const struct trader *trader, const char *client_id, enum venue_order_state state)
{
    for (size_t i = 0; i < trader->n_events; i++)
        if (strcmp(trader->events[i].client_id, client_id) == 0 && trader->events[i].state == state)
            return true;
    return false;
}

/* What the account has of an asset, at that scale. */
static int64_t holding(const struct trader *trader, const char *asset, int scale)
{
    for (size_t i = 0; i < trader->n_balances; i++) {
        const struct venue_balance *b = &trader->balances[i];
        int64_t units = 0;
        if (strcmp(b->asset, asset) != 0)
            continue;
        CHECK(decimal_rescale(b->free + b->locked, b->scale, scale, &units) == 0);
        return units;
    }
    return 0;
}

/* The sum of an order's fills; at WIDE where it may be of any asset. */
struct filled {
    size_t n;
    int64_t qty, fees_base, fees_quote;
    int128_t cost; /* at price_scale + qty_scale */
    bool fees_said;
};

static bool was_pushed(const struct trader *trader, const struct venue_fill *fill)
{
    for (size_t i = 0; i < trader->n_pushed; i++) {
        const struct venue_fill *pushed = &trader->pushed[i];
        if (strcmp(fill->trade_id, pushed->trade_id) == 0)
            return fill->qty == pushed->qty && fill->price == pushed->price && fill->side == pushed->side;
    }
    return false;
}

/* Asks for them; each was pushed too. */
static struct filled fills_of(struct trader *trader, const char *id)
{
    struct filled filled = {.fees_said = true};
    ANSWERED(trader, VENUE_DONE, accounts_of(trader)->fills(trader->account, 1, id, on_done, trader));
    for (size_t i = 0; i < trader->n_fills; i++) {
        const struct venue_fill *fill = &trader->fills[i];
        int64_t units = 0;
        filled.qty += fill->qty;
        filled.cost += (int128_t)fill->price * fill->qty;
        filled.fees_said &= fill->fee_said;
        CHECK_INT(fill->cumulative, filled.qty);
        CHECK_STR(fill->order_id, id);
        CHECK(was_pushed(trader, fill));
        CHECK_INT(fill->fee > 0 ? decimal_rescale(fill->fee, fill->fee_scale, WIDE, &units) : 0, 0);
        *(strcmp(fill->fee_asset, fill->symbol->base) == 0 ? &filled.fees_base : &filled.fees_quote) += units;
    }
    filled.n = trader->n_fills;
    CHECK(filled.n > 0);
    return filled;
}

/* A market order: its fills add up to it, pushed and asked for alike, and to what the balances say. */
static void test_market(struct trader *trader, int64_t qty)
{
    struct world *world = trader->world;
    const struct venue_accounts *accounts = accounts_of(trader);
    const struct symbol *symbol = &world->symbols[1];
    const struct order order = {.symbol = 1, .side = ORDER_BUY, .type = ORDER_MARKET, .qty = qty};
    ANSWERED(trader, VENUE_DONE, accounts->balances(trader->account, on_done, trader));
    CHECK(trader->n_balances > 0);
    int64_t base = holding(trader, symbol->base, WIDE), quote = holding(trader, symbol->quote, WIDE);
    ANSWERED(trader, VENUE_DONE, accounts->place(trader->account, &order, "market-1", on_done, trader));
    CHECK_INT(trader->n_orders, 1);
    CHECK_STR(trader->orders[0].client_id, "market-1");
    CHECK(trader->orders[0].symbol == symbol && trader->orders[0].qty == qty);
    UNTIL(world, pushed_state(trader, "market-1", VENUE_ORDER_FILLED));
    ANSWERED(trader, VENUE_DONE, accounts->query(trader->account, 1, "market-1", "", on_done, trader));
    CHECK_INT(trader->n_orders, 1);
    CHECK_INT(trader->orders[0].state, VENUE_ORDER_FILLED);

    char id[VENUE_ORDER_ID_MAX];
    memcpy(id, trader->orders[0].id, sizeof id);
    struct filled filled = fills_of(trader, id);
    CHECK_INT(filled.qty, qty);
    printf("%zu fills, %s\n", filled.n, filled.fees_said ? "fees said" : "fees by the balances");
    ANSWERED(trader, VENUE_DONE, accounts->balances(trader->account, on_done, trader));
    int64_t units = 0, got = holding(trader, symbol->base, WIDE) - base;
    CHECK_INT(decimal_rescale(qty, symbol->qty_scale, WIDE, &units), 0);
    CHECK(filled.fees_said ? got == units - filled.fees_base : got > 0 && got <= units);
    double paid = decimal_to_double(quote - holding(trader, symbol->quote, WIDE) - filled.fees_quote, WIDE);
    double rounding = 1e-6 + (double)filled.n * decimal_to_double(1, symbol->quote_scale);
    CHECK_NEAR(paid, decimal_to_double(filled.cost, symbol->price_scale + symbol->qty_scale), rounding);
    CHECK(trader->n_balances_pushed > 0 || !filled.fees_said);
}

/* A purchase far below the market. */
static struct order low_limit(const struct world *world, int64_t price, int64_t qty)
{
    const int64_t tick = world->symbols[1].filters.tick;
    return (struct order){.symbol = 1,
                          .side = ORDER_BUY,
                          .type = ORDER_LIMIT,
                          .tif = ORDER_GTC,
                          .qty = qty,
                          .price = price / 10 * 9 / tick * tick};
}

/* A limit order far below the market rests, is found, is not taken twice, and is cancelled. */
static void test_limit(struct trader *trader, int64_t price, int64_t qty)
{
    struct world *world = trader->world;
    const struct venue_accounts *accounts = accounts_of(trader);
    const struct order order = low_limit(world, price, qty);
    ANSWERED(trader, VENUE_DONE, accounts->place(trader->account, &order, "limit-1", on_done, trader));
    CHECK_INT(trader->orders[0].state, VENUE_ORDER_NEW);
    UNTIL(world, pushed_state(trader, "limit-1", VENUE_ORDER_NEW));
    ANSWERED(trader, VENUE_EXISTS, accounts->place(trader->account, &order, "limit-1", on_done, trader));
    ANSWERED(trader, VENUE_DONE, accounts->open(trader->account, on_done, trader));
    CHECK_INT(trader->n_orders, 1);
    CHECK_STR(trader->orders[0].client_id, "limit-1");
    CHECK(trader->orders[0].type == ORDER_LIMIT && trader->orders[0].price == order.price &&
          trader->orders[0].side == ORDER_BUY && trader->orders[0].qty == qty);
    ANSWERED(trader, VENUE_DONE, accounts->cancel(trader->account, 1, "limit-1", on_done, trader));
    UNTIL(world, pushed_state(trader, "limit-1", VENUE_ORDER_CANCELED));
    ANSWERED(trader, VENUE_DONE, accounts->query(trader->account, 1, "limit-1", "", on_done, trader));
    CHECK_INT(trader->orders[0].state, VENUE_ORDER_CANCELED);
    ANSWERED(trader, VENUE_DONE, accounts->open(trader->account, on_done, trader));
    CHECK_INT(trader->n_orders, 0);
}

static void test_no_orders(struct trader *trader, int64_t qty)
{
    const struct venue_accounts *accounts = accounts_of(trader);
    const struct order huge = {.symbol = 1, .side = ORDER_BUY, .type = ORDER_MARKET, .qty = qty * 100000};
    ANSWERED(trader, VENUE_REFUSED, accounts->place(trader->account, &huge, "huge-1", on_done, trader));
    CHECK(trader->code != 0 && trader->text[0]);
    printf("refused: %d %s\n", trader->code, trader->text);
    ANSWERED(trader, VENUE_ABSENT, accounts->query(trader->account, 1, "nowhere-1", "", on_done, trader));
    ANSWERED(trader, VENUE_ABSENT, accounts->cancel(trader->account, 1, "nowhere-1", on_done, trader));
}

/* Orders against the venue's replay, whose play stands still: no client listens to it. */
static void test_orders(struct world *world, struct answer *answer)
{
    static struct trader trader, other;
    CHECK_INT(world->venue->accounts != NULL, world->subject->trades);
    if (!world->venue->accounts)
        return;
    CHECK_INT(open_at(&other, world, "https://example.com", "wss://example.com"), -EPERM);
    CHECK_INT(open_at(&other, world, "http://127.0.0.1", world->replay.ws_url) < 0, 1);
    int64_t price = last_price(world, answer), qty = quantity_of(world, price > 0 ? price : 1);
    CHECK_INT(open_at(&trader, world, world->replay.rest_url, world->replay.ws_url), 0);
    CHECK(!trader.up);
    UNTIL(world, trader.up);
    test_market(&trader, qty);
    test_limit(&trader, price, qty);
    test_no_orders(&trader, qty);
    const struct venue_status *status = accounts_of(&trader)->status(trader.account);
    CHECK(status->link == VENUE_UP && status->connects >= 1 && status->frames > 0);
    accounts_of(&trader)->hold(trader.account, clock_wall_ns() + BAN_NS, "by another part");
    const struct order order = {.symbol = 1, .side = ORDER_BUY, .type = ORDER_MARKET, .qty = qty};
    trader.destroy_in_done = true;
    ANSWERED(&trader, VENUE_NOT_SENT,
             accounts_of(&trader)->place(trader.account, &order, "held-1", on_done, &trader));
    CHECK(trader.destroyed);
    world_idle(world);
}

/* An hour of a limit: reported to the second, and nothing more is sent; and an account that is destroyed from
 * within the report, from within its state, and while a call of it is unanswered. */
static void test_orders_limited(const struct subject *subject, const char *fault)
{
    static struct world world;
    static struct trader traders[3];
    struct trader *t = &traders[0], *in_ban = &traders[1], *in_state = &traders[2];
    if (!subject->venue->accounts)
        return;
    world_begin(&world, subject, fault);
    name_symbols(&world);
    const int64_t least_ns = clock_wall_ns() + HOUR_NS - SECOND_NS;
    for (int i = 0; i < 3; i++)
        CHECK_INT(open_at(&traders[i], &world, world.replay.rest_url, world.replay.ws_url), 0);
    in_ban->destroy_in_ban = in_state->destroy_in_state = true;
    const struct venue_accounts *accounts = accounts_of(t);
    const struct order order = {.symbol = 1, .side = ORDER_BUY, .type = ORDER_MARKET, .qty = 100000000};
    CHECK_INT(accounts->place(in_ban->account, &order, "never-1", on_done, in_ban), 0);
    CHECK_INT(accounts->balances(in_state->account, on_done, in_state), 0);
    ANSWERED(t, VENUE_NOT_SENT, accounts->place(t->account, &order, "limited-1", on_done, t));
    UNTIL(&world, t->bans > 0 && in_ban->destroyed && in_state->destroyed);
    CHECK_INT(in_ban->bans, 1);
    CHECK_INT(in_state->states, 1);
    CHECK(t->ban_until_ns >= least_ns && t->ban_until_ns <= clock_wall_ns() + HOUR_NS + SECOND_NS);
    accounts->hold(t->account, t->ban_until_ns, "as its caller passes it on");
    const uint64_t sent = accounts->status(t->account)->sent,
                   attempts = accounts->status(t->account)->attempts;
    ANSWERED(t, VENUE_NOT_SENT, accounts->query(t->account, 1, "limited-1", "", on_done, t));
    world_idle(&world);
    CHECK_INT(accounts->status(t->account)->sent, sent);
    CHECK_INT(accounts->status(t->account)->attempts, attempts);
    end_trader(t);
    world_idle(&world);
    world_end(&world);
}

/* Orders of which some go wrong on their way: DONE and UNKNOWN alone are answered, and a query says which of
 * them are there; no other is. */
static void test_orders_faulty(struct world *world, struct answer *answer)
{
    enum { ORDERS = 9 };
    static const struct {
        const char *fault;
        enum venue_outcome found; /* of one that is UNKNOWN */
    } faults[] = {{"order:lost-request", VENUE_ABSENT},
                  {"order:lost-answer", VENUE_DONE},
                  {"order:5xx-done", VENUE_DONE},
                  {"order:5xx-not-done", VENUE_ABSENT}};
    static struct trader trader;
    if (!world->venue->accounts)
        return;
    int64_t price = last_price(world, answer), qty = quantity_of(world, price > 0 ? price : 1);
    const struct order order = low_limit(world, price, qty);
    CHECK_INT(open_at(&trader, world, world->replay.rest_url, world->replay.ws_url), 0);
    const struct venue_accounts *accounts = accounts_of(&trader);
    UNTIL(world, trader.up);
    size_t there = 0;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        unsigned unknown = 0;
        world_fault(world, faults[i].fault);
        for (int k = 0; k < ORDERS; k++) {
            char id[32];
            snprintf(id, sizeof id, "faulty-%zu-%d", i, k);
            trader.done = false;
            CHECK_INT(accounts->place(trader.account, &order, id, on_done, &trader), 0);
            UNTIL(world, trader.done);
            CHECK(trader.outcome == VENUE_DONE || trader.outcome == VENUE_UNKNOWN);
            enum venue_outcome found = trader.outcome == VENUE_DONE ? VENUE_DONE : faults[i].found;
            unknown += trader.outcome == VENUE_UNKNOWN;
            ANSWERED(&trader, found, accounts->query(trader.account, 1, id, "", on_done, &trader));
            there += found == VENUE_DONE;
        }
        printf("%s: %u of %d unknown\n", faults[i].fault, unknown, ORDERS);
        CHECK(unknown > 0 && unknown < ORDERS);
        world_fault(world, "none");
    }
    ANSWERED(&trader, VENUE_DONE, accounts->open(trader.account, on_done, &trader));
    CHECK_INT(trader.n_orders, there);
    end_trader(&trader);
    world_idle(world);
}

/* Answers that are none: nothing is known of the outcome, and nothing is made of it. */
static void test_orders_hostile(const struct subject *subject)
{
    static struct world world;
    static struct trader trader;
    struct hostile hostile = {0};
    const struct server_handler server_handler = {hostile_request, hostile_frame, &hostile, NULL};
    char rest_url[64], ws_url[64];
    if (!subject->venue->accounts)
        return;
    world_net(&world, subject, server_ca_file());
    struct server *server = server_start(&world.loop, SERVER_GOOD, &server_handler);
    name_symbols(&world);
    snprintf(rest_url, sizeof rest_url, "https://localhost:%u", server_port(server));
    snprintf(ws_url, sizeof ws_url, "wss://localhost:%u", server_port(server));
    CHECK_INT(open_at(&trader, &world, rest_url, ws_url), 0);
    const struct order order = {.symbol = 1, .side = ORDER_BUY, .type = ORDER_MARKET, .qty = 100000000};
    for (hostile.at = 0; hostile.at < NONSENSE; hostile.at++) {
        ANSWERED(&trader, VENUE_UNKNOWN,
                 accounts_of(&trader)->place(trader.account, &order, "nonsense-1", on_done, &trader));
        trader.done = false;
        CHECK_INT(accounts_of(&trader)->query(trader.account, 1, "nonsense-1", "", on_done, &trader), 0);
        UNTIL(&world, trader.done);
        CHECK(trader.outcome != VENUE_DONE && trader.outcome != VENUE_ABSENT && trader.n_orders == 0);
    }
    CHECK(trader.n_events == 0 && trader.n_pushed == 0);
    accounts_of(&trader)->destroy(trader.account);
    server_stop(server);
    world_idle(&world);
    world_end(&world);
}

/* A server that sends each request elsewhere, and counts what comes there. */
struct redirecting {
    int status;
    unsigned port, requests, followed;
};

static void redirecting_request(struct peer *peer, const char *head)
{
    struct redirecting *redirecting = peer_user(peer);
    redirecting->requests++;
    redirecting->followed += strstr(head, "/elsewhere") != NULL;
    peer_print(
        peer,
        "HTTP/1.1 %d Elsewhere\r\nLocation: https://localhost:%u/elsewhere\r\nContent-Length: 0\r\n\r\n",
        redirecting->status, redirecting->port);
}

/* Keys and orders go nowhere but to the host that was checked: of each kind of call one request leaves, and
 * no second one to where it is sent. Nothing is known of the outcome. */
static void test_orders_redirected(const struct subject *subject)
{
    static const int statuses[] = {300, 301, 302, 303, 304, 307, 308};
    static struct world world;
    static struct trader trader;
    struct redirecting redirecting = {0};
    const struct server_handler server_handler = {redirecting_request, hostile_frame, &redirecting, NULL};
    char rest_url[64], ws_url[64];
    if (!subject->venue->accounts)
        return;
    world_net(&world, subject, server_ca_file());
    struct server *server = server_start(&world.loop, SERVER_GOOD, &server_handler);
    name_symbols(&world);
    redirecting.port = server_port(server);
    snprintf(rest_url, sizeof rest_url, "https://localhost:%u", redirecting.port);
    snprintf(ws_url, sizeof ws_url, "wss://localhost:%u", redirecting.port);
    CHECK_INT(open_at(&trader, &world, rest_url, ws_url), 0);
    const struct venue_accounts *accounts = accounts_of(&trader);
    const struct order order = {.symbol = 1, .side = ORDER_BUY, .type = ORDER_MARKET, .qty = 100000000};
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        redirecting.status = statuses[i];
        ANSWERED(&trader, VENUE_UNKNOWN,
                 accounts->place(trader.account, &order, "there-1", on_done, &trader));
        ANSWERED(&trader, VENUE_UNKNOWN, accounts->query(trader.account, 1, "there-1", "", on_done, &trader));
        ANSWERED(&trader, VENUE_UNKNOWN, accounts->balances(trader.account, on_done, &trader));
        ANSWERED(&trader, VENUE_UNKNOWN, accounts->fills(trader.account, 1, "7", on_done, &trader));
        trader.done = false;
        CHECK_INT(accounts->cancel(trader.account, 1, "there-1", on_done, &trader), 0);
        UNTIL(&world, trader.done); /* of several requests the first one changes nothing: NOT_SENT */
        CHECK(trader.outcome == VENUE_UNKNOWN || trader.outcome == VENUE_NOT_SENT);
    }
    printf("redirected: %u requests, %u followed\n", redirecting.requests, redirecting.followed);
    CHECK(redirecting.requests >= 5 * sizeof statuses / sizeof *statuses);
    CHECK_INT(redirecting.followed, 0);
    CHECK(!trader.up);
    accounts->destroy(trader.account);
    server_stop(server);
    world_idle(&world);
    world_end(&world);
}

#endif
