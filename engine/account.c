#include <string.h>

#include "engine/core.h"
#include "exchange/fill_rules.h"

#define DAY_NS (86400 * 1000000000LL)

struct balance *account_balance(struct engine *engine, int index, const char *asset, int scale)
{
    struct balance *balance = account_find_balance(&engine->accounts[index], asset);
    return balance && balance->scale == scale ? balance : NULL;
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

int64_t account_free(struct engine *engine, int index, const char *asset, int scale)
{
    const struct balance *balance = account_balance(engine, index, asset, scale);
    return balance ? balance->total - balance->reserved : 0;
}

void account_post(struct engine *engine, int index, struct balance *balance, enum ledger_kind kind,
                  int64_t amount, uint64_t order_id, uint64_t fill_id)
{
    if (amount == 0)
        return;
    balance->total += amount;
    engine->accounts[index].begun = true;
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
}

void account_begin(struct engine *engine, int index)
{
    struct account *account = &engine->accounts[index];
    if (account->begun)
        return;
    account->begun = true;
    account_post(engine, index, account_currency(engine, index), LEDGER_DEPOSIT, account->opening_cash, 0, 0);
    account->deposits = account->opening_cash;
}

void account_begin_all(struct engine *engine)
{
    engine->to_begin = false;
    for (int a = 0; a < engine->n_accounts; a++) {
        struct account *account = &engine->accounts[a];
        if (account->begun)
            continue;
        account_begin(engine, a);
        account->moved = engine->account_moved = true;
    }
}

void account_fill(struct engine *engine, const struct fill *fill)
{
    int index = fill->account;
    struct account *account = &engine->accounts[index];
    struct balance *base = account_base(engine, index, fill->symbol);
    struct balance *quote = account_quote(engine, index, fill->symbol);
    bool buy = fill->side == ORDER_BUY;
    account_post(engine, index, base, LEDGER_TRADE, buy ? fill->qty : -fill->qty, fill->order_id, fill->id);
    account_post(engine, index, quote, LEDGER_TRADE, buy ? -fill->notional : fill->notional, fill->order_id,
                 fill->id);
    account_post(engine, index, quote, LEDGER_FEE, -fill->fee, fill->order_id, fill->id);

    struct position *position = &account->positions[fill->symbol];
    if (position_apply(position, &account->lots[fill->symbol], fill->side, fill->qty, fill->notional,
                       fill->ts_ns) < 0)
        engine->out_of_memory = true;
    position->fees += fill->fee;
    account->moved = engine->account_moved = true;
    if (engine->sink.position)
        engine->sink.position(engine->sink.ctx, index, fill->symbol, position, fill->ts_ns);
}

int64_t account_position_value(const struct engine *engine, int index, int symbol)
{
    const struct market_state *market = &engine->markets[symbol];
    const struct position *position = &engine->accounts[index].positions[symbol];
    if (market->last == 0)
        return position->cost;
    int128_t value = (int128_t)market->last * position->qty / market->notional_unit;
    return value > MONEY_MAX ? MONEY_MAX : (int64_t)value;
}

/* Equity is the currency held plus what is held of symbols quoted in it, at the last price; at cost before
 * the first price is known, as after a restart. */
int64_t engine_equity(const struct engine *engine, int index)
{
    const struct account *account = &engine->accounts[index];
    int128_t equity = account->assets[account->currency_at].total;
    for (int s = 0; s < engine->n_symbols; s++)
        if (account->positions[s].qty > 0 && account->pairs[s].quote == account->currency_at)
            equity += account_position_value(engine, index, s);
    return equity > MONEY_MAX ? MONEY_MAX : (int64_t)equity;
}

bool engine_daily_loss(const struct engine *engine)
{
    for (int a = 0; a < engine->n_accounts; a++)
        if (risk_daily_loss(&engine->accounts[a].rules.risk, engine_equity(engine, a),
                            engine->accounts[a].day_equity))
            return true;
    return false;
}

void account_mark(struct engine *engine, int index)
{
    struct account *account = &engine->accounts[index];
    int64_t equity = engine_equity(engine, index);
    account->equity = equity;
    if (equity > account->equity_peak)
        account->equity_peak = equity;
    int64_t day = engine->now_ns / DAY_NS;
    if (day != account->day) {
        account->day = day;
        account->day_equity = equity;
    }
}

void account_equity_point(struct engine *engine, int index)
{
    struct account *account = &engine->accounts[index];
    account_mark(engine, index);
    struct equity_point point = {
        .ts_ns = engine->now_ns,
        .account = index,
        .equity = account->equity,
        .cash = account_currency(engine, index)->total,
        .peak = account->equity_peak,
    };
    if (engine->sink.equity)
        engine->sink.equity(engine->sink.ctx, &point);
}

void account_equity_points(struct engine *engine)
{
    bool due = engine->equity_interval_ns > 0 ? engine->now_ns >= engine->next_equity_ns : engine->bar_closed;
    engine->bar_closed = false;
    if (!due && !engine->account_moved)
        return;
    engine->account_moved = false;
    for (int a = 0; a < engine->n_accounts; a++) {
        if (due || engine->accounts[a].moved)
            account_equity_point(engine, a);
        engine->accounts[a].moved = false;
    }
    if (due)
        engine->next_equity_ns = engine->now_ns + engine->equity_interval_ns;
}
