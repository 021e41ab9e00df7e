/* Accounts at random: orders, shorts, deposits, transfers, resets, new accounts and passing hours, while
 * prices wander and jump. After each event every account is what a naive accounting says, which knows the
 * fills and the commands and nothing else; now and then the engine is saved, loaded, and continues. */
#include "engine/core.h"
#include "engine/state.h"
#include "tests/engine/harness.h"
#include "tests/random.h"

#ifdef __SANITIZE_ADDRESS__
enum { WORLDS = 2 };
#else
enum { WORLDS = 6 };
#endif
enum { EVENTS = 60000, LOTS_MAX = 1 << 14 };

struct shadow_position {
    int64_t qty, cost, realized, fifo_realized, fees;
    int64_t lot_qty[LOTS_MAX], lot_cost[LOTS_MAX];
    int first, n;
};

struct shadow {
    int64_t total[HARNESS_ASSETS], borrowed[HARNESS_ASSETS], borrow_rows[HARNESS_ASSETS];
    struct shadow_position positions[HARNESS_SYMBOLS];
    int64_t deposits, interest; /* paid, since the last reset */
    bool foreign;               /* traded what is not quoted in its currency */
};

struct world {
    struct harness h;
    struct random random;
    struct shadow shadows[HARNESS_ACCOUNTS_MAX];
    struct engine_sink to; /* the harness's */
    int64_t last[HARNESS_SYMBOLS], bid[HARNESS_SYMBOLS];
    uint64_t borrows, calls, interests, resets, refused_collateral, loads, zeros;
};

static int currency_of(const struct world *w, int account)
{
    return strcmp(engine_account(w->h.engine, account)->currency, "BTC") == 0 ? 1 : 0;
}

static int64_t up(__int128 a, __int128 b)
{
    return (int64_t)((a + b - 1) / b);
}

/* An account's liability in a symbol, in its quote. */
static int64_t liability_value(const struct world *w, int account, int s)
{
    int64_t qty = w->shadows[account].positions[s].qty;
    return qty < 0 ? up((__int128)w->last[s] * -qty, E8) : 0;
}

static int64_t short_value(const struct world *w, int account)
{
    int64_t sum = 0;
    for (int s = 0; s < HARNESS_SYMBOLS; s++)
        sum += liability_value(w, account, s);
    return sum;
}

/* Trades one way after the other: first what closes, then what opens. */
static void shadow_close(struct shadow_position *p, int64_t qty, int64_t notional)
{
    int sign = p->qty > 0 ? 1 : -1;
    int64_t held = p->qty * sign, gone = qty == held ? p->cost : (int64_t)((__int128)p->cost * qty / held);
    p->cost -= gone;
    p->realized += sign * (notional - gone);
    p->qty -= sign * qty;
    int64_t fifo = 0;
    while (qty > 0) {
        int i = p->first;
        int64_t part = qty < p->lot_qty[i] ? qty : p->lot_qty[i];
        int64_t cost = (int64_t)((__int128)p->lot_cost[i] * part / p->lot_qty[i]);
        fifo += cost;
        p->lot_cost[i] -= cost;
        p->lot_qty[i] -= part;
        p->first += p->lot_qty[i] == 0;
        qty -= part;
    }
    p->fifo_realized += sign * (notional - fifo);
}

static void shadow_open(struct shadow_position *p, int sign, int64_t qty, int64_t notional)
{
    if (p->n == LOTS_MAX) {
        p->n -= p->first;
        memmove(p->lot_qty, p->lot_qty + p->first, sizeof *p->lot_qty * (size_t)p->n);
        memmove(p->lot_cost, p->lot_cost + p->first, sizeof *p->lot_cost * (size_t)p->n);
        p->first = 0;
    }
    CHECK(p->n < LOTS_MAX);
    p->qty += sign * qty;
    p->cost += notional;
    p->lot_qty[p->n] = qty;
    p->lot_cost[p->n++] = notional;
}

static void see_fill(void *ctx, const struct fill *fill)
{
    struct world *w = ctx;
    struct shadow *shadow = &w->shadows[fill->account];
    struct shadow_position *p = &shadow->positions[fill->symbol];
    int base = harness_base[fill->symbol], quote = harness_quote[fill->symbol];
    int sign = fill->side == ORDER_BUY ? 1 : -1;
    int64_t held = p->qty, closed = held * sign >= 0 ? 0 : held * -sign;
    closed = closed < fill->qty ? closed : fill->qty;
    int64_t closing = (int64_t)((__int128)fill->notional * closed / fill->qty);
    w->to.fill(&w->h, fill);
    shadow->foreign |= quote != currency_of(w, fill->account);
    shadow->total[base] += sign * fill->qty;
    shadow->total[quote] -= sign * fill->notional + fill->fee;
    if (closed > 0)
        shadow_close(p, closed, closing);
    if (fill->qty > closed)
        shadow_open(p, sign, fill->qty - closed, fill->notional - closing);
    w->zeros += closed > 0 && fill->qty > closed;
    p->fees += fill->fee;
    int64_t was_borrowed = held < 0 ? -held : 0, is_borrowed = p->qty < 0 ? -p->qty : 0;
    CHECK(is_borrowed == 0 || engine_account(w->h.engine, fill->account)->rules.shorts);
    shadow->borrowed[base] += is_borrowed - was_borrowed;
    shadow->total[base] += is_borrowed - was_borrowed;
    w->borrows += is_borrowed > was_borrowed;
}

static void see_position(void *ctx, int account, int symbol, const struct position *position, int64_t ts_ns)
{
    struct world *w = ctx;
    const struct shadow *shadow = &w->shadows[account];
    const struct shadow_position *p = &shadow->positions[symbol];
    (void)ts_ns;
    if (position->opened_ns == 0 && position->fees == 0) /* a reset clears the shadow when it is done */
        return;
    int64_t fifo_cost = 0;
    for (int i = p->first; i < p->n; i++)
        fifo_cost += p->lot_cost[i];
    CHECK_INT(position->qty, p->qty);
    CHECK_INT(position->cost, p->cost);
    CHECK_INT(position->realized, p->realized);
    CHECK_INT(position->fifo_cost, fifo_cost);
    CHECK_INT(position->fifo_realized, p->fifo_realized);
    CHECK_INT(position->fees, p->fees);
    CHECK(p->qty != 0 || p->realized == p->fifo_realized);
    /* What has just been sold short was covered. */
    const struct account *account_now = engine_account(w->h.engine, account);
    if (p->qty < 0 && w->h.last_fill.side == ORDER_SELL) {
        const struct balance *currency = &account_now->assets[account_now->currency_at];
        int64_t value = short_value(w, account);
        CHECK(currency->total - currency->reserved - account_now->unpaid_interest >=
              up((__int128)value * account_now->rules.collateral_e4, 10000));
    }
}

static void see_ledger(void *ctx, const struct ledger_row *row)
{
    struct world *w = ctx;
    struct shadow *shadow = &w->shadows[row->account];
    w->to.ledger(&w->h, row);
    CHECK(row->balance >= 0);
    for (int i = 0; i < HARNESS_ASSETS; i++) {
        if (strcmp(row->asset, harness_assets[i]) != 0)
            continue;
        if (row->kind == LEDGER_BORROW)
            shadow->borrow_rows[i] += row->amount;
        if (row->kind == LEDGER_INTEREST) {
            CHECK(row->amount < 0);
            shadow->interest -= row->amount;
            shadow->total[i] += row->amount;
            w->interests++;
        }
    }
}

static void see_order(void *ctx, const struct order *order)
{
    struct world *w = ctx;
    w->to.order(&w->h, order);
    w->refused_collateral += order->reason == ORDER_COLLATERAL;
    if (strcmp(order->tag, "margin call") != 0 || order->state != ORDER_PENDING || order->filled > 0)
        return;
    const struct account *account = engine_account(w->h.engine, order->account);
    int64_t value = short_value(w, order->account);
    w->calls++;
    CHECK(w->shadows[order->account].total[currency_of(w, order->account)] - account->unpaid_interest <
          up((__int128)value * account->rules.maintenance_e4, 10000));
}

#define TO_HARNESS(w) (&((struct world *)(w))->h)
static void see_equity(void *ctx, const struct equity_point *point)
{
    ((struct world *)ctx)->to.equity(TO_HARNESS(ctx), point);
}
static void see_alert(void *ctx, int64_t ts_ns, const char *code, const struct engine_subject *of,
                      const char *text)
{
    ((struct world *)ctx)->to.alert(TO_HARNESS(ctx), ts_ns, code, of, text);
}
static void see_command(void *ctx, const struct event_command *command, enum order_reason reason,
                        uint64_t order)
{
    ((struct world *)ctx)->to.command_done(TO_HARNESS(ctx), command, reason, order);
}

static void check_account(const struct world *w, int a)
{
    const struct account *account = engine_account(w->h.engine, a);
    const struct shadow *shadow = &w->shadows[a];
    int currency = currency_of(w, a);
    for (int i = 0; i < account->n_assets; i++)
        for (int k = 0; k < HARNESS_ASSETS; k++)
            if (strcmp(account->assets[i].asset, harness_assets[k]) == 0) {
                const struct balance *balance = &account->assets[i];
                CHECK_INT(balance->total, shadow->total[k]);
                CHECK_INT(balance->borrowed, shadow->borrowed[k]);
                CHECK_INT(balance->borrowed, shadow->borrow_rows[k]);
                CHECK(balance->total >= 0 && balance->borrowed >= 0);
            }
    /* ETH is only ever a base: what the positions say is what there is, less what is borrowed. */
    CHECK_INT(shadow->positions[ETHUSDT].qty + shadow->positions[ETHBTC].qty,
              shadow->total[2] - shadow->borrowed[2]);
    int shorts = 0;
    int64_t equity = shadow->deposits - shadow->interest - account->unpaid_interest;
    for (int s = 0; s < HARNESS_SYMBOLS; s++) {
        const struct shadow_position *p = &shadow->positions[s];
        CHECK_INT(account->positions[s].qty, p->qty);
        shorts += p->qty < 0;
        int64_t unrealized = p->qty < 0 ? p->cost - liability_value(w, a, s)
                                        : (int64_t)((__int128)w->last[s] * p->qty / E8) - p->cost;
        equity += p->realized - p->fees + unrealized;
    }
    CHECK_INT(account->shorts, shorts);
    CHECK_INT(account->deposits, shadow->deposits);
    CHECK(account->equity_peak >= account->equity);
    CHECK(account->rules.shorts || account->unpaid_interest == 0);
    if (!shadow->foreign)
        CHECK_INT(engine_equity(w->h.engine, a), equity);
    CHECK(account->unpaid_interest >= 0 && shadow->total[currency] >= 0);
}

static void check_world(const struct world *w)
{
    uint32_t shorts[HARNESS_SYMBOLS] = {0};
    for (int a = 0; a < engine_accounts(w->h.engine); a++) {
        check_account(w, a);
        for (int s = 0; s < HARNESS_SYMBOLS; s++)
            shorts[s] += w->shadows[a].positions[s].qty < 0;
    }
    for (int s = 0; s < HARNESS_SYMBOLS; s++)
        CHECK_INT(w->h.engine->markets[s].shorts, shorts[s]);
}

/* ---- what happens ---- */

static const int64_t begin_price[HARNESS_SYMBOLS] = {10000 * E8, 1000 * E8, E8 / 10};

static void price_moves(struct world *w, int s)
{
    struct random *random = &w->random;
    __int128 price = w->last[s];
    if (random_chance(random, 1) && random_chance(random, 20))
        price = price * random_between(random, 50, 220) / 100;
    else
        price = price * random_between(random, 9900, 10101) / 10000;
    if (price < begin_price[s] / 50 || price > (__int128)begin_price[s] * 50)
        price = begin_price[s];
    int64_t at = (int64_t)price / 1000 * 1000 + 1000;
    quote(&w->h, s, at - at / 5000, random_between(random, 1, 40000) * 10000, at + at / 5000,
          random_between(random, 1, 40000) * 10000);
    check_world(w);
    w->last[s] = at;
    trade(&w->h, s, at, random_between(random, 1, 30000) * 10000);
}

static void give_order(struct world *w)
{
    struct random *random = &w->random;
    int account = (int)random_between(random, 0, engine_accounts(w->h.engine) - 1);
    int s = (int)random_between(random, 0, HARNESS_SYMBOLS - 1);
    if (account != BOB && harness_quote[s] != currency_of(w, account) && random_chance(random, 95))
        return; /* keep most worlds in one currency */
    const struct account *of = engine_account(w->h.engine, account);
    int64_t equity = engine_equity(w->h.engine, account) + E8 / 1000;
    int64_t held = w->shadows[account].positions[s].qty;
    __int128 worth = (__int128)(equity > 0 ? equity : E8) * random_between(random, 1, 150) / 100;
    int64_t qty = (int64_t)(worth * E8 / w->last[s]) / 1000 * 1000 + 1000;
    if (held != 0 && random_chance(random, 40))
        qty = (held < 0 ? -held : held) * random_between(random, 1, 3) / random_between(random, 1, 2);
    int64_t away = w->last[s] * random_between(random, -300, 300) / 10000;
    struct order request = {
        .account = account,
        .symbol = s,
        .side = random_chance(random, 50) ? ORDER_BUY : ORDER_SELL,
        .type = (enum order_type)random_between(random, ORDER_MARKET, ORDER_STOP),
        .qty = qty,
        .price = (w->last[s] + away) / 1000 * 1000,
        .stop_price = (w->last[s] - away) / 1000 * 1000,
        .reduce_only = random_chance(random, 10),
        .by_hand = true,
    };
    if (request.type != ORDER_LIMIT)
        request.price = 0;
    if (request.type != ORDER_STOP)
        request.stop_price = 0;
    if (request.type == ORDER_MARKET && random_chance(random, 20))
        request.tif = ORDER_FOK;
    command(&w->h, (struct event_command){.kind = COMMAND_ORDER, .order = {.legs = &request, .n_legs = 1}});
    CHECK(w->h.command_reason != ORDER_COLLATERAL || of->rules.shorts);
}

static int64_t spendable(const struct world *w, int account)
{
    const struct account *of = engine_account(w->h.engine, account);
    int64_t total = w->shadows[account].total[currency_of(w, account)];
    int64_t locked = up((__int128)short_value(w, account) * of->rules.collateral_e4, 10000);
    int64_t most = total - of->assets[of->currency_at].reserved - of->unpaid_interest - locked;
    return most > 0 ? most : 0;
}

static void move_money(struct world *w)
{
    struct random *random = &w->random;
    int n = engine_accounts(w->h.engine);
    pass(&w->h, 0); /* what is on its way arrives before */
    int from = (int)random_between(random, 0, n - 1), to = (int)random_between(random, 0, n - 1);
    int unit = currency_of(w, from) == 1 ? 10000 : 1;
    int64_t most = spendable(w, from);
    int64_t amount = random_between(random, 1, 3000 * E8) / unit;
    if (random_chance(random, 30))
        amount = most + random_between(random, 0, 1); /* all of it, or one too much */
    if (random_chance(random, 50)) {
        bool give = random_chance(random, 50);
        if (give && amount > 3000 * E8)
            return;
        command(&w->h, (struct event_command){.kind = COMMAND_ACCOUNT_DEPOSIT,
                                              .money = {.account = from, .amount = give ? amount : -amount}});
        CHECK_INT(w->h.command_reason, amount == 0              ? ORDER_BAD_ACCOUNT
                                       : !give && amount > most ? ORDER_INSUFFICIENT_BALANCE
                                                                : ORDER_OK);
        if (w->h.command_reason == ORDER_OK) {
            w->shadows[from].deposits += give ? amount : -amount;
            w->shadows[from].total[currency_of(w, from)] += give ? amount : -amount;
        }
        return;
    }
    command(&w->h, (struct event_command){.kind = COMMAND_ACCOUNT_TRANSFER,
                                          .money = {.account = from, .to = to, .amount = amount}});
    bool alike = from != to && currency_of(w, from) == currency_of(w, to);
    CHECK_INT(w->h.command_reason, !alike || amount == 0 ? ORDER_BAD_ACCOUNT
                                   : amount > most       ? ORDER_INSUFFICIENT_BALANCE
                                                         : ORDER_OK);
    if (w->h.command_reason != ORDER_OK)
        return;
    w->shadows[from].deposits -= amount;
    w->shadows[from].total[currency_of(w, from)] -= amount;
    w->shadows[to].deposits += amount;
    w->shadows[to].total[currency_of(w, to)] += amount;
}

static void reset(struct world *w, int account)
{
    int64_t cash = currency_of(w, account) == 1 ? E8 : random_between(&w->random, 0, 20000) * E8;
    command(&w->h, (struct event_command){.kind = COMMAND_ACCOUNT_RESET,
                                          .money = {.account = account, .amount = cash}});
    CHECK_INT(w->h.command_reason, ORDER_OK);
    struct shadow *shadow = &w->shadows[account];
    CHECK(shadow->borrow_rows[1] == 0 && shadow->borrow_rows[2] == 0);
    memset(shadow, 0, sizeof *shadow);
    shadow->deposits = shadow->total[currency_of(w, account)] = cash;
    w->resets++;
}

static void create(struct world *w)
{
    int n = engine_accounts(w->h.engine);
    if (n == HARNESS_ACCOUNTS_MAX)
        return;
    struct account_spec *spec = &w->h.accounts[n];
    bool in_btc = n % 3 == 0;
    *spec = (struct account_spec){
        .currency_scale = 8, .cash = in_btc ? E8 : 5000 * E8, .rules = w->h.accounts[ALICE].rules};
    snprintf(spec->name, sizeof spec->name, "made-%d", n);
    snprintf(spec->currency, sizeof spec->currency, "%s", in_btc ? "BTC" : "USDT");
    spec->rules.shorts = n % 4 != 2;
    command(&w->h, (struct event_command){.kind = COMMAND_ACCOUNT_CREATE, .account = *spec});
    CHECK_INT(w->h.command_reason, ORDER_OK);
    w->shadows[n].deposits = w->shadows[n].total[in_btc] = spec->cash;
}

/* Nothing but time passes over the end of an hour, so that the liability at that moment is known. */
static void hours_pass(struct world *w, int64_t hours)
{
    int64_t before[HARNESS_ACCOUNTS_MAX];
    struct harness *h = &w->h;
    for (int a = 0; a < engine_accounts(h->engine); a++)
        before[a] = w->shadows[a].interest + engine_account(h->engine, a)->unpaid_interest;
    pass(h, HOUR_NS * hours - h->now_ns % HOUR_NS);
    for (int a = 0; a < engine_accounts(h->engine); a++) {
        int64_t due = 0;
        for (int s = 0; s < HARNESS_SYMBOLS; s++)
            due += up((__int128)liability_value(w, a, s) *
                          engine_account(h->engine, a)->rules.borrow_rate_e6 * hours,
                      (__int128)1000000 * 8760);
        CHECK_INT(w->shadows[a].interest + engine_account(h->engine, a)->unpaid_interest, before[a] + due);
    }
}

/* A saved and loaded engine is the same to the byte, and replaces the first. */
static void load_again(struct world *w)
{
    struct codec saved = {0}, again = {0};
    struct engine *engine = NULL;
    char err[ENGINE_ERROR_MAX];
    codec_save(&saved);
    codec_save(&again);
    CHECK_INT(engine_save(w->h.engine, &saved), 0);
    CHECK_INT(engine_load(saved.bytes, saved.len, &w->h.engine->sink, NULL, &engine, err), 0);
    if (engine) {
        CHECK_INT(engine_save(engine, &again), 0);
        CHECK(again.len == saved.len && memcmp(again.bytes, saved.bytes, saved.len) == 0);
        engine_destroy(w->h.engine);
        w->h.engine = engine;
        w->loads++;
    }
    codec_finish(&saved);
    codec_finish(&again);
}

static void step(struct world *w)
{
    struct random *random = &w->random;
    int64_t dice = random_between(random, 0, 999);
    w->h.now_ns += random_between(random, 0, 200 * MS_NS);
    if (w->h.now_ns % HOUR_NS > HOUR_NS - 2 * SECOND_NS || dice >= 998)
        hours_pass(w, dice < 600 ? 1 : random_between(random, 1, 30));
    else if (dice < 450)
        price_moves(w, (int)random_between(random, 0, HARNESS_SYMBOLS - 1));
    else if (dice < 900)
        give_order(w);
    else if (dice < 930 && engine_orders(w->h.engine) > 0)
        cancel(&w->h, engine_order(w->h.engine, random_next(random) % engine_orders(w->h.engine))->id);
    else if (dice < 980)
        move_money(w);
    else if (dice < 984)
        reset(w, (int)random_between(random, 0, engine_accounts(w->h.engine) - 1));
    else if (dice < 986)
        create(w);
    else if (dice < 987)
        load_again(w);
}

static void run(uint64_t seed)
{
    static struct world w;
    memset(&w, 0, sizeof w);
    w.random.state = seed;
    struct harness *h = &w.h;
    harness_init(h);
    h->config.latency_ns = random_chance(&w.random, 50) ? 0 : 50 * MS_NS;
    h->config.equity_interval_ns = 5 * SECOND_NS;
    for (int s = 0; s < HARNESS_SYMBOLS; s++) {
        h->symbols[s].filters = (struct symbol_filters){.step = 1000, .qty_min = 1000, .orders_max = 20};
        w.last[s] = begin_price[s];
    }
    struct account_rules *rules = &h->accounts[ALICE].rules;
    rules->shorts = true;
    rules->collateral_e4 = 15000;
    rules->maintenance_e4 = 12500;
    rules->borrow_rate_e6 = 90000;
    harness_open(h);
    w.to = h->engine->sink;
    h->engine->sink = (struct engine_sink){.ctx = &w,
                                           .order = see_order,
                                           .fill = see_fill,
                                           .ledger = see_ledger,
                                           .position = see_position,
                                           .equity = see_equity,
                                           .alert = see_alert,
                                           .command_done = see_command};
    for (int a = 0; a < HARNESS_ACCOUNTS; a++)
        w.shadows[a].deposits = w.shadows[a].total[0] = h->accounts[a].cash;
    for (int s = 0; s < HARNESS_SYMBOLS; s++)
        trade(h, s, w.last[s], E8);
    for (int i = 0; i < EVENTS && check_failures < 20; i++) {
        step(&w);
        check_world(&w);
    }
    printf(
        "engine/worlds: %ju orders, %ju fills, %ju rows, %ju sold short, %ju through zero, %ju not covered, "
        "%ju margin calls, %ju rows of interest, %ju resets, %ju loads\n",
        (uintmax_t)engine_counters(h->engine)->orders, (uintmax_t)h->fills, (uintmax_t)h->rows,
        (uintmax_t)w.borrows, (uintmax_t)w.zeros, (uintmax_t)w.refused_collateral, (uintmax_t)w.calls,
        (uintmax_t)w.interests, (uintmax_t)w.resets, (uintmax_t)w.loads);
    CHECK(w.borrows > 100 && w.zeros > 50 && w.refused_collateral > 20 && w.interests > 20 && w.resets > 20 &&
          w.loads > 10);
    harness_close(h);
}

int main(void)
{
    struct random random = random_seeded("engine/worlds", 20261122);
    for (uint64_t i = 0; i < WORLDS && check_failures < 20; i++)
        run(random.state + i);
    printf("counts: %d worlds (6, and 2 under a sanitizer)\n", WORLDS);
    return check_done("engine/worlds");
}
