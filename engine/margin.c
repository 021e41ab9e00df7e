/* Accounts with a margin, which buy US stocks with borrowed currency: what their positions need, what is
 * free, and what an order may cost. exchange/margin.h states the rules and their sources. Of these readings
 * are ours:
 *
 * - Equity and requirements are of this moment, at the last prices, and not of the last close.
 * - While something is opened, what is open needs the initial margin of its present value, rather than what
 *   was left over when it was bought (the special memorandum account).
 * - Where the maintenance suffices for a day, it suffices for all that is open; what is held beyond
 *   Regulation T when the day ends is closed at the next opening (margin_call.c).
 * - Orders that wait to buy need what they would if they were filled.
 * - A short's proceeds pay back what is borrowed, as all that comes in. */
#include "engine/match.h"
#include "exchange/business_day.h"

enum { ALL_E4 = 10000 };

static int64_t clamped(int128_t value)
{
    return value > MONEY_MAX ? MONEY_MAX : value < -MONEY_MAX ? -MONEY_MAX : (int64_t)value;
}

void engine_margin_watch(struct engine *engine)
{
    engine->margins = false;
    for (int a = 0; a < engine->n_accounts; a++)
        engine->margins |= engine->accounts[a].rules.margin != MARGIN_OFF;
}

bool engine_margin_lends(const struct engine *engine, int index, int symbol)
{
    const struct account *account = &engine->accounts[index];
    return account->rules.margin != MARGIN_OFF && account->pairs[symbol].quote == account->currency_at;
}

/* ---- requirements ---- */

static bool marginable(const struct engine *engine, int symbol)
{
    return engine->markets[symbol].symbol.calendar[0] != '\0';
}

/* `qty` of a symbol, negative for a short, at `price`, which has that value. */
static struct margin_holding holding_of(const struct engine *engine, int symbol, int64_t qty, int64_t price,
                                        int64_t value)
{
    const struct symbol *listed = &engine->markets[symbol].symbol;
    return (struct margin_holding){.marginable = marginable(engine, symbol),
                                   .is_short = qty < 0,
                                   .value = value < 0 ? -value : value,
                                   .qty = qty < 0 ? -qty : qty,
                                   .price = price,
                                   .price_dollar = decimal_pow10(listed->price_scale),
                                   .quote_dollar = decimal_pow10(listed->quote_scale),
                                   .share = decimal_pow10(listed->qty_scale)};
}

/* A position; before the first price its cost is its value. */
static struct margin_holding held_of(const struct engine *engine, int account, int symbol)
{
    const struct market_state *market = &engine->markets[symbol];
    int64_t qty = engine->accounts[account].positions[symbol].qty,
            price = engine_price(engine, account, symbol);
    int64_t value = account_position_value(engine, account, symbol);
    if (price == 0 && qty != 0)
        price = (int64_t)((int128_t)value * market->notional_unit / qty);
    return holding_of(engine, symbol, qty, price, value);
}

int64_t engine_margin_initial(const struct engine *engine, int account, int symbol)
{
    const struct margin_holding held = held_of(engine, account, symbol);
    return margin_initial(&held);
}

int64_t engine_margin_maintenance(const struct engine *engine, int account, int symbol)
{
    const struct margin_holding held = held_of(engine, account, symbol);
    return margin_maintenance(&held);
}

int64_t engine_margin_of_all(const struct engine *engine, int index, margin_need_fn need)
{
    const struct account *account = &engine->accounts[index];
    int128_t sum = 0;
    for (int s = 0; s < engine->n_symbols; s++)
        if (account->positions[s].qty != 0 && account->pairs[s].quote == account->currency_at)
            sum += need(engine, index, s);
    return clamped(sum);
}

/* ---- what it may do now ---- */

static int64_t dollars(const struct engine *engine, int account, int n)
{
    return n * decimal_pow10(engine->accounts[account].currency_scale);
}

static int64_t today(const struct engine *engine)
{
    return business_day_of(engine_settle_calendar(engine), engine->now_ns);
}

static bool day_trader(const struct engine *engine, int index)
{
    const struct account *account = &engine->accounts[index];
    return account->rules.margin != MARGIN_OFF &&
           margin_day_trader_rule_holds(account->rules.day_trader, today(engine)) &&
           (account->rules.day_trader == DAY_TRADER_ON || account->memory.pattern_ns != 0);
}

/* How much of its value a purchase of a stock needs, and by which rule. */
struct terms {
    bool lends; /* there is equity enough for credit */
    bool by_day;
    bool day_trader;
};

static struct terms terms_of(const struct engine *engine, int index)
{
    int64_t equity = engine_equity(engine, index);
    struct terms terms = {.lends = equity >= dollars(engine, index, MARGIN_LEAST_EQUITY),
                          .day_trader = day_trader(engine, index)};
    terms.by_day =
        terms.lends &&
        (terms.day_trader ? equity >= dollars(engine, index, MARGIN_DAY_TRADER_EQUITY)
                          : margin_intraday_holds(engine->accounts[index].rules.margin, today(engine)));
    return terms;
}

static int stock_share_e4(const struct terms *terms)
{
    if (!terms->lends)
        return ALL_E4;
    return terms->by_day ? MARGIN_LONG_E4 : MARGIN_INITIAL_E4;
}

static int share_e4(const struct engine *engine, const struct terms *terms, int symbol)
{
    return marginable(engine, symbol) ? stock_share_e4(terms) : ALL_E4;
}

static int64_t to_open(const struct margin_holding *holding, const struct terms *terms)
{
    if (!terms->lends && !holding->is_short)
        return holding->value;
    return terms->by_day ? margin_maintenance(holding) : margin_initial(holding);
}

static int64_t open_need(const struct engine *engine, int account, int symbol, const struct terms *terms)
{
    const struct margin_holding held = held_of(engine, account, symbol);
    return to_open(&held, terms);
}

static int64_t orders_need(const struct engine *engine, int account, const struct terms *terms)
{
    int128_t sum = 0;
    for (size_t i = 0; i < engine->n_orders; i++) {
        const struct live_order *live = &engine->orders[i];
        const struct order *order = &live->order;
        if (order->account == account && order->side == ORDER_BUY && live->reserved > 0 &&
            engine_margin_lends(engine, account, order->symbol))
            sum += margin_share(live->reserved, share_e4(engine, terms, order->symbol));
    }
    return clamped(sum);
}

static int64_t free_by(const struct engine *engine, int index, const struct terms *terms)
{
    const struct account *account = &engine->accounts[index];
    int128_t left =
        (int128_t)engine_equity(engine, index) - account->receivable; /* what is to come buys nothing */
    for (int s = 0; s < engine->n_symbols; s++)
        if (account->positions[s].qty != 0 && account->pairs[s].quote == account->currency_at)
            left -= open_need(engine, index, s, terms);
    return clamped(left - orders_need(engine, index, terms));
}

double engine_margin_leverage(const struct engine *engine, int account, int symbol)
{
    if (!engine_margin_lends(engine, account, symbol))
        return 1;
    const struct terms terms = terms_of(engine, account);
    return (double)ALL_E4 / share_e4(engine, &terms, symbol);
}

bool engine_margin_by_day(const struct engine *engine, int account)
{
    return terms_of(engine, account).by_day;
}

int64_t engine_margin_free(const struct engine *engine, int account)
{
    const struct terms terms = terms_of(engine, account);
    return free_by(engine, account, &terms);
}

int64_t engine_margin_reserved(const struct engine *engine, int account, int symbol, int64_t reserved)
{
    const struct terms terms = terms_of(engine, account);
    return margin_share(reserved, share_e4(engine, &terms, symbol));
}

int64_t engine_margin_money(const struct engine *engine, int index, int symbol, int64_t freed)
{
    const struct account *account = &engine->accounts[index];
    const struct terms terms = terms_of(engine, index);
    int128_t left = (int128_t)free_by(engine, index, &terms) + freed;
    if (account->positions[symbol].qty < 0) /* bought back first */
        left += open_need(engine, index, symbol, &terms);
    if (left <= 0)
        return 0;
    int64_t most = MONEY_MAX - account->assets[account->currency_at].borrowed;
    int64_t money = clamped(left * ALL_E4 / share_e4(engine, &terms, symbol));
    return money < most ? money : most;
}

int32_t engine_margin_fee_e6(const struct engine *engine, int account, int symbol, int32_t fee_e6)
{
    const struct terms terms = terms_of(engine, account);
    int share = share_e4(engine, &terms, symbol);
    return (int32_t)(((int64_t)fee_e6 * ALL_E4 + share - 1) / share);
}

int64_t engine_margin_budget(const struct engine *engine, int index, int symbol, bool left)
{
    const struct terms terms = terms_of(engine, index);
    bool sold = left && engine->accounts[index].positions[symbol].qty > 0;
    const struct fee_rates *fees =
        account_fees(&engine->accounts[index].rules, &engine->markets[symbol].symbol);
    int32_t fee_e6 = fee_rates_most_e6(fees);
    int128_t money =
        engine_margin_money(engine, index, symbol, sold ? open_need(engine, index, symbol, &terms) : 0);
    return clamped(money * (1000000 + fee_e6) /
                   (1000000 + engine_margin_fee_e6(engine, index, symbol, fee_e6)));
}

void engine_margin_cover(const struct engine *engine, const struct order *order, int64_t price, int64_t fee,
                         int64_t short_qty, struct engine_lack *ret)
{
    const struct market_state *market = &engine->markets[order->symbol];
    const struct terms terms = terms_of(engine, order->account);
    int64_t held = engine->accounts[order->account].positions[order->symbol].qty;
    int64_t before = held < 0 ? -held : 0, last = engine_price(engine, order->account, order->symbol);
    last = last > 0 ? last : price;
    int128_t value =
        ((int128_t)last * (before + short_qty) + market->notional_unit - 1) / market->notional_unit;
    value = value > MONEY_MAX / 4 ? MONEY_MAX / 4 : value;
    const struct margin_holding all =
        holding_of(engine, order->symbol, -(before + short_qty), last, (int64_t)value);
    int128_t left = (int128_t)free_by(engine, order->account, &terms) - fee;
    if (held != 0)
        left += open_need(engine, order->account, order->symbol, &terms);
    ret->needed = to_open(&all, &terms);
    ret->available = clamped(left);
    ret->refused = !terms.lends || value == MONEY_MAX / 4 || ret->available < ret->needed;
}

bool engine_margin_covers(const struct engine *engine, const struct order *order, int64_t price, int64_t fee,
                          int64_t short_qty)
{
    struct engine_lack lack;
    engine_margin_cover(engine, order, price, fee, short_qty, &lack);
    return !lack.refused;
}

void engine_margin_bill(const struct engine *engine, const struct order *order, int64_t qty, int64_t freed,
                        struct engine_lack *ret)
{
    int account = order->account, symbol = order->symbol;
    const struct market_state *market = &engine->markets[symbol];
    int32_t fee_e6 = fee_rates_most_e6(account_fees(&engine->accounts[account].rules, &market->symbol));
    ret->needed = fill_purchase(engine_reserve_price(engine, order), qty, market->notional_unit,
                                engine_margin_fee_e6(engine, account, symbol, fee_e6));
    ret->available =
        engine_margin_money(engine, account, symbol, engine_margin_reserved(engine, account, symbol, freed));
    ret->refused = ret->needed > ret->available;
}

enum order_reason engine_margin_entry(const struct engine *engine, int index, int symbol)
{
    if (!marginable(engine, symbol) || !day_trader(engine, index))
        return ORDER_OK;
    return engine_equity(engine, index) < dollars(engine, index, MARGIN_DAY_TRADER_EQUITY)
               ? ORDER_DAY_TRADER_EQUITY
               : ORDER_OK;
}

enum order_reason engine_margin_shortage(const struct engine *engine, int index)
{
    const struct terms terms = terms_of(engine, index);
    if (!terms.lends)
        return ORDER_MARGIN_EQUITY;
    return !terms.by_day      ? ORDER_INITIAL_MARGIN
           : terms.day_trader ? ORDER_DAY_TRADING_POWER
                              : ORDER_INTRADAY_MARGIN;
}

/* ---- as it is shown ---- */

static int64_t power_of(const struct engine *engine, int index, const struct terms *terms)
{
    if (engine->accounts[index].rules.margin == MARGIN_OFF)
        return engine_loan_spendable(engine, index);
    int64_t left = free_by(engine, index, terms);
    return left > 0 ? clamped((int128_t)left * ALL_E4 / stock_share_e4(terms)) : 0;
}

void engine_margin_figures(const struct engine *engine, int index, struct margin_figures *ret)
{
    const struct account *account = &engine->accounts[index];
    const struct account_memory *memory = &account->memory;
    const struct balance *currency = &account->assets[account->currency_at];
    const struct terms terms = terms_of(engine, index);
    int64_t unsettled = engine_settle_unsettled(engine, index);
    *ret = (struct margin_figures){
        .equity = engine_equity(engine, index),
        .initial = engine_margin_of_all(engine, index, engine_margin_initial),
        .maintenance = engine_margin_of_all(engine, index, engine_margin_maintenance),
        .power = power_of(engine, index, &terms),
        .debt = currency->borrowed,
        .day_trades = engine_settle_recent(engine, index, today(engine)).day_trades,
        .day_trader = terms.day_trader,
        .settled = currency->total - unsettled,
        .unsettled = unsettled,
        .settles_ns = unsettled > 0 ? memory->settling[memory->n_settling - 1].at_ns : 0,
        .violations = memory->violations,
    };
    ret->excess = clamped((int128_t)ret->equity - ret->maintenance);
}
