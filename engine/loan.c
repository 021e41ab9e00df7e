/* Shorts: what is sold beyond what is held is borrowed, covered by currency, charged interest every full
 * hour, and bought back when its cover is too small. Currency that is borrowed, of an account with a margin,
 * is charged the same; what its loans need is in margin.c, and what is done where that is lacking in
 * margin_call.c.
 *
 * What is borrowed is valued at the last price, rounded up; at what it was sold for before the first price
 * is known. An account may be short only of symbols quoted in its currency. */
#include "engine/core.h"
#include "exchange/fill_rules.h"
#include "exchange/filter.h"
#include "exchange/order_rules.h"

#define HOUR_NS (3600 * INT64_C(1000000000))

static int64_t clamped(int128_t value)
{
    return value > MONEY_MAX ? MONEY_MAX : (int64_t)value;
}

/* At least all of it, should an account that may no longer be short still have shorts. */
static int64_t part_e4(int64_t value, int32_t share_e4)
{
    return margin_share(value, share_e4 < 10000 ? 10000 : share_e4);
}

/* What a venue sold twice for an account there was covered by what it holds: nothing is lent for it. */
static bool borrows(const struct account *account)
{
    return account->shorts > 0 && account->rules.execution != EXECUTION_VENUE_PAPER;
}

bool engine_loan_allowed(const struct engine *engine, int index, int symbol)
{
    const struct account *account = &engine->accounts[index];
    const struct account_pair *pair = &account->pairs[symbol];
    return account->rules.shorts && pair->quote == account->currency_at &&
           pair->base != account->currency_at &&
           order_rules_short(&engine->markets[symbol].symbol) == ORDER_OK;
}

int64_t engine_loan_value(const struct engine *engine, int index)
{
    const struct account *account = &engine->accounts[index];
    int128_t value = 0;
    for (int s = 0; account->shorts > 0 && s < engine->n_symbols; s++)
        if (account->positions[s].qty < 0)
            value -= account_position_value(engine, index, s);
    return clamped(value);
}

int64_t engine_loan_collateral(const struct engine *engine, int index, int64_t value)
{
    return part_e4(value, engine->accounts[index].rules.collateral_e4);
}

int64_t engine_loan_unreserved(const struct engine *engine, int index)
{
    const struct account *account = &engine->accounts[index];
    const struct balance *currency = &account->assets[account->currency_at];
    if (account->rules.margin != MARGIN_OFF) {
        int64_t left = engine_margin_free(engine, index);
        left = left < currency->total ? left : currency->total;
        return left > 0 ? left : 0;
    }
    int64_t value = engine_loan_value(engine, index);
    int64_t most = currency->total - currency->reserved - account->unpaid_interest - account->payable -
                   engine_loan_collateral(engine, index, value);
    return most > 0 ? most : 0;
}

int64_t engine_loan_spendable(const struct engine *engine, int index)
{
    int64_t most = engine_loan_unreserved(engine, index) - engine_settle_barred(engine, index);
    return most > 0 ? most : 0;
}

int64_t engine_loan_spendable_left(const struct engine *engine, int index, int symbol)
{
    const struct account *account = &engine->accounts[index];
    const struct balance *currency = &account->assets[account->currency_at];
    int64_t closed = account_position_value(engine, index, symbol), size = closed < 0 ? -closed : closed;
    int64_t value = engine_loan_value(engine, index) - (closed < 0 ? size : 0); /* of the other shorts */
    int32_t fee_e6 = fee_rates_most_e6(account_fees(&account->rules, &engine->markets[symbol].symbol));
    int128_t most = (int128_t)currency->total - currency->reserved - account->unpaid_interest -
                    account->payable + closed - fill_fee(size, fee_e6) -
                    engine_loan_collateral(engine, index, value) - engine_settle_barred(engine, index);
    return most > 0 ? clamped(most) : 0;
}

/* ---- currency ---- */

void engine_loan_borrow(struct engine *engine, int index, int64_t needed, const struct fill *fill)
{
    struct balance *currency = account_currency(engine, index);
    if (needed <= currency->total)
        return;
    int64_t lacking = needed - currency->total;
    currency->borrowed += lacking;
    account_post(engine, index, currency, LEDGER_BORROW, lacking, fill->order_id, fill->id);
}

void engine_loan_repay(struct engine *engine, int index, const struct fill *fill)
{
    struct balance *currency = account_currency(engine, index);
    int64_t paid = currency->borrowed < currency->total ? currency->borrowed : currency->total;
    if (paid <= 0)
        return;
    currency->borrowed -= paid;
    account_post(engine, index, currency, LEDGER_BORROW, -paid, fill ? fill->order_id : 0,
                 fill ? fill->id : 0);
}

/* ---- interest ---- */

static void charge(struct engine *engine, int index, int64_t due)
{
    struct account *account = &engine->accounts[index];
    struct balance *currency = account_currency(engine, index);
    int64_t available = account_available(currency);
    int64_t paid = due < available ? due : available;
    account_post(engine, index, currency, LEDGER_INTEREST, -paid, 0, 0);
    if (paid == 0 && engine->cause.kind != CAUSE_ARREARS)
        engine_cause_accrued(engine, index);
    account->unpaid_interest += due - paid;
    if (account->unpaid_interest > MONEY_MAX)
        account->unpaid_interest = MONEY_MAX;
    account->moved = engine->account_moved = true;
}

/* A cause of interest for so many hours; `base` is what the rate is of. Returns what is due. */
static int64_t interest_of(struct engine *engine, int index, int64_t base, int64_t hours)
{
    int32_t rate_e6 = engine->accounts[index].rules.borrow_rate_e6;
    struct ledger_cause *cause = engine_cause(engine, CAUSE_INTEREST);
    cause->base = base;
    cause->rate_e6 = rate_e6;
    cause->hours = hours;
    return cause->due = margin_interest(base, rate_e6, hours);
}

static void charge_account(struct engine *engine, int index, int64_t hours)
{
    struct account *account = &engine->accounts[index];
    int64_t unpaid = account->unpaid_interest;
    if (unpaid > 0) {
        account->unpaid_interest = 0;
        engine_cause(engine, CAUSE_ARREARS)->due = unpaid;
        charge(engine, index, unpaid);
    }
    for (int s = 0; borrows(account) && s < engine->n_symbols && hours > 0; s++) {
        if (account->positions[s].qty >= 0)
            continue;
        bool free = engine->markets[s].symbol.easy_to_borrow == SYMBOL_SAYS_YES; /* its venue lends it so */
        int64_t value = -account_position_value(engine, index, s);
        int64_t due = free ? 0 : interest_of(engine, index, value, hours);
        engine->cause.symbol = s;
        engine->cause.qty = account->positions[s].qty;
        engine->cause.price = engine_price(engine, index, s);
        if (due > 0)
            charge(engine, index, due);
    }
    int64_t debt = account_currency(engine, index)->borrowed;
    int64_t due = debt > 0 && hours > 0 ? interest_of(engine, index, debt, hours) : 0;
    if (due > 0)
        charge(engine, index, due);
}

int64_t engine_loan_hour(int64_t now_ns)
{
    return now_ns / HOUR_NS * HOUR_NS;
}

void engine_loan_interest(struct engine *engine)
{
    if (engine->now_ns < engine->interest_due_ns)
        return;
    int64_t hour = engine_loan_hour(engine->now_ns);
    bool outside = engine->outside != NULL; /* the others pay with the next bar of the session */
    for (int a = 0; a < engine->n_accounts; a++) {
        struct account *account = &engine->accounts[a];
        if (outside && (!engine_hours_concerns(engine, a) || account->interest_ns == hour))
            continue;
        int64_t hours = account->interest_ns > 0 ? (hour - account->interest_ns) / HOUR_NS : 0;
        account->interest_ns = hour;
        charge_account(engine, a, hours);
    }
    if (!outside)
        engine->interest_due_ns = hour + HOUR_NS;
}

/* ---- margin calls ---- */

static bool called_already(const struct engine *engine, int account, int symbol, enum order_side side)
{
    for (size_t i = 0; i < engine->n_orders; i++) {
        const struct live_order *live = &engine->orders[i];
        if (live->order.account == account && live->order.symbol == symbol && live->order.side == side &&
            live->order.type == ORDER_MARKET && live->order.reduce_only && !live->cancel_queued)
            return true;
    }
    return false;
}

/* As much of a short as there is money for: no loan is for that. */
static int64_t payable(struct engine *engine, int account, int symbol, int64_t price, int64_t debt)
{
    if (engine_margin_lends(engine, account, symbol))
        return debt;
    int128_t most = (int128_t)account_available(account_currency(engine, account)) *
                    engine->markets[symbol].notional_unit / price;
    return most < debt ? (int64_t)most : debt;
}

enum loan_outcome engine_loan_close(struct engine *engine, int account, int symbol)
{
    const struct market_state *market = &engine->markets[symbol];
    int64_t held = engine->accounts[account].positions[symbol].qty;
    enum order_side side = held < 0 ? ORDER_BUY : ORDER_SELL;
    struct book_level best;
    if (called_already(engine, account, symbol, side))
        return LOAN_ASKED;
    if (market->stale || !engine_match_best(engine, account, symbol, side, &best))
        return LOAN_NO_MARKET;
    int64_t most = held < 0 ? payable(engine, account, symbol, best.price, -held) : held;
    int64_t qty = filter_floor_qty(&market->symbol, ORDER_MARKET, most);
    if (qty == 0)
        return LOAN_REFUSED;
    struct order request = engine_intent_order(account, symbol, side, ORDER_MARKET, qty, "margin call");
    request.reduce_only = true;
    enum order_reason reason;
    engine_match_submit(engine, &request, &reason);
    return reason == ORDER_OK ? LOAN_ASKED : LOAN_REFUSED;
}

/* Resting purchases must not use the money that the margin call needs. Orders are sorted by id. */
void engine_loan_cancel_buys(struct engine *engine, int account)
{
    const struct account *of = &engine->accounts[account];
    uint64_t seen = 0;
    for (size_t i = 0; i < engine->n_orders; i++) {
        const struct live_order *live = &engine->orders[i];
        if (live->order.id <= seen || live->order.account != account || live->order.side != ORDER_BUY ||
            live->reserved == 0 || of->pairs[live->order.symbol].quote != of->currency_at)
            continue;
        seen = live->order.id;
        engine_match_cancel(engine, seen);
        i = 0; /* others may have gone with it */
    }
}

void engine_loan_covered(struct engine *engine, int index)
{
    if (engine->accounts[index].margin_ns != 0)
        engine_alert_over(engine, "MARGIN_CALL", "account %s", engine->accounts[index].name);
    engine->accounts[index].margin_ns = 0;
}

static void call(struct engine *engine, int index, int64_t value)
{
    struct account *account = &engine->accounts[index];
    if (account->margin_ns == 0) {
        char text[DECIMAL_TEXT_MAX];
        decimal_format_short(value, account->currency_scale, text);
        engine_alert(engine, "MARGIN_CALL", ENGINE_OF(index, -1, 0),
                     "account %s: its %s covers less than %g %% of %s that it is short of: it is bought back",
                     account->name, account->currency, account->rules.maintenance_e4 / 100., text);
    }
    engine_loan_cancel_buys(engine, index);
    int64_t wait_ns = LOAN_LATER_NS;
    for (int s = 0; s < engine->n_symbols; s++)
        if (account->positions[s].qty < 0 && engine_loan_close(engine, index, s) != LOAN_REFUSED)
            wait_ns = LOAN_AGAIN_NS;
    account->margin_ns = engine->now_ns + wait_ns;
}

void engine_loan_check(struct engine *engine, int symbol)
{
    uint32_t shorts = engine->markets[symbol].shorts;
    for (int a = 0; shorts > 0 && a < engine->n_accounts; a++) {
        struct account *account = &engine->accounts[a];
        if (account->shorts == 0 || account->positions[symbol].qty >= 0)
            continue;
        shorts--;
        if (!borrows(account) || !engine_hours_concerns(engine, a) || engine->now_ns < account->margin_ns ||
            account->rules.margin != MARGIN_OFF)
            continue;
        int64_t value = engine_loan_value(engine, a);
        int64_t covers = account_currency(engine, a)->total - account->unpaid_interest - account->payable;
        if (covers < part_e4(value, account->rules.maintenance_e4))
            call(engine, a, value);
        else
            engine_loan_covered(engine, a);
    }
}
