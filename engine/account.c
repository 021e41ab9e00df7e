#include <ctype.h>
#include <string.h>

#include "engine/core.h"
#include "engine/driver.h"
#include "exchange/fill_rules.h"

#define DAY_NS (86400 * 1000000000LL)

_Static_assert((int)LEDGER_CAUSE_KEY_MAX == (int)COMMAND_KEY_MAX, "a cause has its command's key");

bool account_name_good(const char *name)
{
    size_t n = strnlen(name, ACCOUNT_NAME_MAX);
    for (size_t i = 0; i < n; i++)
        if (!isascii((unsigned char)name[i]) || (!isalnum((unsigned char)name[i]) && !strchr("-_.", name[i])))
            return false;
    return n > 0 && n < ACCOUNT_NAME_MAX;
}

struct balance *account_base(struct engine *engine, int index, int symbol)
{
    struct account *account = &engine->accounts[index];
    return &account->assets[account->pairs[symbol].base];
}

struct balance *account_quote(struct engine *engine, int index, int symbol)
{
    struct account *account = &engine->accounts[index];
    return &account->assets[account->pairs[symbol].quote];
}

struct balance *account_currency(struct engine *engine, int index)
{
    struct account *account = &engine->accounts[index];
    return &account->assets[account->currency_at];
}

struct ledger_cause *engine_cause(struct engine *engine, enum ledger_cause_kind kind)
{
    engine->cause = ledger_cause_of(kind);
    return &engine->cause;
}

void engine_cause_accrued(struct engine *engine, int account)
{
    struct ledger_accrual accrual = {.account = account, .ts_ns = engine->now_ns, .cause = engine->cause};
    accrual.cause.event = engine->input_seq;
    if (engine->sink.accrual)
        engine->sink.accrual(engine->sink.ctx, &accrual);
}

const struct event_command *engine_command(const struct engine *engine)
{
    return engine->by;
}

/* A fill has no command: its order has. */
static void emit_cause(struct engine *engine, const struct ledger_row *row)
{
    const struct event_command *by = row->fill_id ? NULL : engine->by;
    struct ledger_cause cause = engine->cause;
    if (row->fill_id) {
        cause = ledger_cause_of(CAUSE_FILL);
        cause.symbol = engine->cause.symbol;
    }
    cause.id = row->id;
    cause.event = engine->input_seq;
    if (by) {
        cause.command = by->command_id;
        cause.uid = by->peer_uid;
        memcpy(cause.key, by->key, sizeof cause.key);
    }
    engine->sink.cause(engine->sink.ctx, &cause);
}

static void post(struct engine *engine, int index, struct balance *balance, enum ledger_kind kind,
                 int64_t amount, uint64_t order_id, uint64_t fill_id)
{
    balance->total += amount;
    engine->accounts[index].started = true;
    struct ledger_row row = {
        .id = ++engine->last_ledger,
        .ts_ns = engine->now_ns,
        .account = index,
        .scale = balance->scale,
        .kind = kind,
        .amount = amount,
        .balance = balance->total,
        .order_id = order_id,
        .fill_id = fill_id,
    };
    memcpy(row.asset, balance->asset, sizeof row.asset);
    if (ledger_row_chain(&row, engine->hash) < 0)
        engine->out_of_memory = true;
    memcpy(engine->hash, row.hash, sizeof engine->hash);
    if (engine->sink.ledger)
        engine->sink.ledger(engine->sink.ctx, &row);
    if (engine->sink.cause)
        emit_cause(engine, &row);
}

void account_post(struct engine *engine, int index, struct balance *balance, enum ledger_kind kind,
                  int64_t amount, uint64_t order_id, uint64_t fill_id)
{
    if (amount != 0)
        post(engine, index, balance, kind, amount, order_id, fill_id);
}

void account_begin(struct engine *engine, int index)
{
    struct account *account = &engine->accounts[index];
    if (account->started ||
        (account->rules.execution == EXECUTION_VENUE_PAPER && !account->at_venue.attached))
        return;
    account->started = true;
    if (account->interest_ns == 0)
        account->interest_ns = engine_loan_hour(engine->now_ns);
    engine_cause(engine, CAUSE_OPENING);
    account_post(engine, index, account_currency(engine, index), LEDGER_DEPOSIT, account->opening_cash, 0, 0);
    account->deposits = account->point = account->opening_cash;
}

void account_begin_all(struct engine *engine)
{
    engine->to_begin = false;
    for (int a = 0; a < engine->n_accounts; a++) {
        struct account *account = &engine->accounts[a];
        if (account->started)
            continue;
        account_begin(engine, a);
        account->moved = engine->account_moved = true;
    }
}

/* A sale uses what is held first; the rest is borrowed. */
static int64_t borrows(const struct engine *engine, const struct fill *fill, int64_t held)
{
    if (fill->side == ORDER_BUY || !engine_loan_allowed(engine, fill->account, fill->symbol))
        return 0;
    int64_t owned = held > 0 ? held : 0;
    return fill->qty > owned ? fill->qty - owned : 0;
}

/* A purchase pays back what is borrowed first. */
static int64_t gives_back(const struct fill *fill, int64_t held)
{
    if (fill->side == ORDER_SELL || held >= 0)
        return 0;
    return fill->qty < -held ? fill->qty : -held;
}

static bool holds_any(const struct engine *engine, const struct account *account)
{
    for (int s = 0; s < engine->n_symbols; s++)
        if (account->positions[s].qty != 0)
            return true;
    return false;
}

void account_turned(struct engine *engine, int index, int symbol, int64_t before)
{
    struct account *account = &engine->accounts[index];
    bool was = before < 0, is = account->positions[symbol].qty < 0;
    engine->markets[symbol].shorts += (uint32_t)is - was;
    account->shorts += is - was;
    if (account->rules.margin != MARGIN_OFF ? !holds_any(engine, account) : account->shorts == 0)
        engine_loan_covered(engine, index);
}

void account_report_position(struct engine *engine, int account, int symbol)
{
    const struct position *position = &engine->accounts[account].positions[symbol];
    if (engine->sink.position)
        engine->sink.position(engine->sink.ctx, account, symbol, position, position->updated_ns);
}

void account_fill(struct engine *engine, const struct fill *fill)
{
    int index = fill->account;
    struct account *account = &engine->accounts[index];
    struct position *position = &account->positions[fill->symbol];
    struct balance *base = account_base(engine, index, fill->symbol);
    struct balance *quote = account_quote(engine, index, fill->symbol);
    int64_t held = position->qty, borrowed = borrows(engine, fill, held), given = gives_back(fill, held);
    bool buy = fill->side == ORDER_BUY;
    engine_cause(engine, CAUSE_FILL)->symbol = fill->symbol;
    if (buy && engine_margin_lends(engine, index, fill->symbol))
        engine_loan_borrow(engine, index, fill->notional + fill->fee, fill);
    base->borrowed += borrowed - given;
    account_post(engine, index, base, LEDGER_BORROW, borrowed, fill->order_id, fill->id);
    account_post(engine, index, base, LEDGER_TRADE, buy ? fill->qty : -fill->qty, fill->order_id, fill->id);
    account_post(engine, index, quote, LEDGER_TRADE, buy ? -fill->notional : fill->notional, fill->order_id,
                 fill->id);
    account_post(engine, index, quote, LEDGER_FEE, -fill->fee, fill->order_id, fill->id);
    account_post(engine, index, base, LEDGER_FEE, -fill->fee_base, fill->order_id, fill->id);
    account_post(engine, index, base, LEDGER_BORROW, -given, fill->order_id, fill->id);
    engine_loan_repay(engine, index, fill);

    strategy_record_fill(&account->records[fill->symbol], fill->side, fill_moves(fill), fill->notional,
                         fill->fee, held, quote->scale, NULL);
    if (position_apply(position, &account->lots[fill->symbol], fill->side, fill_moves(fill), fill->notional,
                       fill->ts_ns) < 0)
        engine->out_of_memory = true;
    position->fees += fill->fee;
    account_turned(engine, index, fill->symbol, held);
    account->moved = engine->account_moved = true;
    account_report_position(engine, index, fill->symbol);
}

void account_count_shorts(struct engine *engine)
{
    for (int s = 0; s < engine->n_symbols; s++)
        engine->markets[s].shorts = 0;
    for (int a = 0; a < engine->n_accounts; a++) {
        struct account *account = &engine->accounts[a];
        account->shorts = 0;
        for (int s = 0; s < engine->n_symbols; s++) {
            account->shorts += account->positions[s].qty < 0;
            engine->markets[s].shorts += account->positions[s].qty < 0;
        }
    }
}

void account_clear(struct engine *engine, int index)
{
    struct account *account = &engine->accounts[index];
    struct balance *currency = account_currency(engine, index);
    engine_cause(engine, CAUSE_RESET);
    post(engine, index, currency, LEDGER_RESET, currency->borrowed - currency->total, 0, 0); /* even of 0 */
    for (int i = 0; i < account->n_assets; i++) {
        struct balance *balance = &account->assets[i];
        int64_t borrowed = balance->borrowed;
        account_post(engine, index, balance, LEDGER_RESET, borrowed - balance->total, 0, 0);
        balance->borrowed = 0;
        account_post(engine, index, balance, LEDGER_BORROW, -borrowed, 0, 0);
    }
    for (int s = 0; s < engine->n_symbols; s++) {
        struct position *position = &account->positions[s];
        int64_t before = position->qty;
        position_lots_finish(&account->lots[s]);
        account->records[s] = (struct record_keeper){0};
        if (position->updated_ns == 0)
            continue;
        *position = (struct position){.updated_ns = engine->now_ns};
        account_turned(engine, index, s, before);
        account_report_position(engine, index, s);
    }
    engine_dividends_write_off(engine, index);
    account->deposits = account->unpaid_interest = account->margin_ns = 0;
    account->memory = (struct account_memory){0};
    for (int s = 0; s < engine->n_symbols; s++)
        account->days[s] = (struct day_trading){0};
}

int64_t account_position_value(const struct engine *engine, int index, int symbol)
{
    const struct market_state *market = &engine->markets[symbol];
    const struct position *position = &engine->accounts[index].positions[symbol];
    const int64_t price = engine_price(engine, index, symbol);
    if (price == 0)
        return position->qty < 0 ? -position->cost : position->cost;
    int128_t value = (int128_t)price * position->qty;
    if (value < 0) /* away from zero: a liability is not made smaller */
        value = (value - (market->notional_unit - 1)) / market->notional_unit;
    else
        value /= market->notional_unit;
    if (value < -MONEY_MAX)
        return -MONEY_MAX;
    return value > MONEY_MAX ? MONEY_MAX : (int64_t)value;
}

int64_t engine_equity(const struct engine *engine, int index)
{
    const struct account *account = &engine->accounts[index];
    const struct balance *currency = &account->assets[account->currency_at];
    int128_t equity = (int128_t)currency->total - currency->borrowed - account->unpaid_interest +
                      account->receivable - account->payable;
    for (int s = 0; s < engine->n_symbols; s++)
        if (account->positions[s].qty != 0 && account->pairs[s].quote == account->currency_at)
            equity += account_position_value(engine, index, s);
    if (equity < -MONEY_MAX)
        return -MONEY_MAX;
    return equity > MONEY_MAX ? MONEY_MAX : (int64_t)equity;
}

int64_t engine_day_base(const struct engine *engine, int index)
{
    const struct account *account = &engine->accounts[index];
    return engine->now_ns / DAY_NS > account->day ? account->point : account->day_base;
}

bool engine_account_daily_loss(const struct engine *engine, int account)
{
    const struct account *of = &engine->accounts[account];
    return risk_daily_loss(&of->rules.risk, engine_equity(engine, account), of->day_equity);
}

/* Returns what `value` becomes when a deposit or withdrawal takes equity from `before` to `after`. */
static int64_t moved_along(int64_t value, int64_t before, int64_t after)
{
    if (before <= 0 || after <= 0)
        return after > 0 ? after : 0;
    int128_t moved = (int128_t)value * after / before;
    return moved > MONEY_MAX ? MONEY_MAX : (int64_t)moved;
}

void account_flow(struct engine *engine, int index, enum ledger_kind kind, int64_t amount)
{
    struct account *account = &engine->accounts[index];
    account_mark(engine, index);
    int64_t before = account->equity, after = before + amount;
    account_post(engine, index, account_currency(engine, index), kind, amount, 0, 0);
    engine_loan_repay(engine, index, NULL);
    engine_margin_moved(engine, index);
    account->deposits += amount;
    account->equity = after;
    account->equity_peak = moved_along(account->equity_peak, before, after);
    account->day_equity = moved_along(account->day_equity, before, after);
    account->day_base += amount;
    engine_driver_flow(engine, index, before, after);
    account->moved = engine->account_moved = true;
}

/* Is what it holds valued at current prices? */
static bool priced(const struct engine *engine, int index)
{
    const struct account *account = &engine->accounts[index];
    for (int s = 0; s < engine->n_symbols; s++)
        if (account->positions[s].qty != 0 && account->pairs[s].quote == account->currency_at &&
            engine->markets[s].last_from < LAST_BAR)
            return false;
    return true;
}

void account_mark(struct engine *engine, int index)
{
    struct account *account = &engine->accounts[index];
    int64_t equity = engine_equity(engine, index);
    account->equity = equity;
    if (equity > account->equity_peak && (account->equity_peak == 0 || priced(engine, index)))
        account->equity_peak = equity;
    if (account->killed_ns == 0 && risk_drawdown(&account->rules.risk, equity, account->equity_peak) &&
        priced(engine, index)) {
        account->killed_ns = engine->now_ns;
        account->killing = engine->killing = true;
        account->moved = engine->account_moved = true;
    }
    int64_t day = engine->now_ns / DAY_NS;
    if (account->started && day > account->day) { /* a strategy is warmed before the first deposit */
        account->day = day;
        account->day_equity = equity;
        account->day_base = account->point;
    }
}

static void put_point(struct engine *engine, int index, int64_t ts_ns)
{
    struct account *account = &engine->accounts[index];
    account_mark(engine, index);
    account->point = account->equity;
    struct equity_point point = {
        .ts_ns = ts_ns,
        .account = index,
        .equity = account->equity,
        .cash = account_currency(engine, index)->total,
        .peak = account->equity_peak,
    };
    if (engine->sink.equity)
        engine->sink.equity(engine->sink.ctx, &point);
}

void account_equity_point(struct engine *engine, int index)
{
    put_point(engine, index, engine->now_ns);
}

void account_bar_outside(struct engine *engine)
{
    for (int a = 0; engine->equity_interval_ns == 0 && a < engine->n_accounts; a++)
        if (engine_hours_concerns(engine, a))
            engine->accounts[a].moved = engine->account_moved = true;
}

void account_equity_points(struct engine *engine)
{
    bool due = engine->equity_interval_ns > 0 ? engine->now_ns >= engine->next_equity_ns : engine->bar_closed;
    engine->bar_closed = false;
    if (!due && !engine->account_moved)
        return;
    engine->account_moved = false;
    for (int a = 0; a < engine->n_accounts; a++) {
        struct account *account = &engine->accounts[a];
        if (account->started && account->closed_ns == 0 &&
            (due || account->moved)) /* before its first deposit it is worth nothing yet */
            account_equity_point(engine, a);
        account->moved = false;
    }
    if (due)
        engine->next_equity_ns = engine->now_ns + engine->equity_interval_ns;
}

static void report_mark(struct engine *engine, int index, int symbol, int64_t ts_ns)
{
    const struct market_state *market = &engine->markets[symbol];
    const int64_t price = engine_price(engine, index, symbol);
    struct engine_mark mark = {
        .account = index,
        .symbol = symbol,
        .ts_ns = ts_ns,
        .qty = engine->accounts[index].positions[symbol].qty,
        .mark = price,
        .mark_ns = price == 0              ? 0
                   : price == market->last ? market->priced_ns
                                           : engine_bar_priced_ns(engine, symbol, &market->last_bar),
    };
    if (engine->sink.mark)
        engine->sink.mark(engine->sink.ctx, &mark);
}

/* In the bar model the engine's time is that of the last bar, and a command or a split may have come since:
 * the stop is when it was received, as a command is, and no later bar is moved by it. */
static int64_t stop_ns(const struct engine *engine)
{
    int64_t received_ns = engine->recv_ns - engine->behind_ns;
    return engine->fill_model == FILL_BAR && received_ns > engine->now_ns ? received_ns : engine->now_ns;
}

void account_stop_points(struct engine *engine)
{
    const int64_t ts_ns = stop_ns(engine);
    for (int a = 0; a < engine->n_accounts; a++) {
        if (!engine->accounts[a].started)
            continue;
        put_point(engine, a, ts_ns);
        for (int s = 0; s < engine->n_symbols; s++)
            if (engine->accounts[a].positions[s].qty != 0)
                report_mark(engine, a, s, ts_ns);
    }
}
