#include <string.h>

#include "engine/core.h"
#include "exchange/fill_rules.h"

#define DAY_NS (86400 * 1000000000LL)

struct balance *account_balance(struct engine *engine, int index, const char *asset, int scale)
{
    struct account *account = &engine->accounts[index];
    for (int i = 0; i < account->n_assets; i++)
        if (strcmp(account->assets[i].asset, asset) == 0)
            return &account->assets[i];
    if (account->n_assets == ACCOUNT_ASSETS_MAX)
        return NULL;
    struct balance *balance = &account->assets[account->n_assets++];
    *balance = (struct balance){.scale = scale};
    strncpy(balance->asset, asset, sizeof balance->asset - 1);
    return balance;
}

int64_t account_free(struct engine *engine, int index, const char *asset, int scale)
{
    const struct balance *balance = account_balance(engine, index, asset, scale);
    return balance ? balance->total - balance->reserved : 0;
}

void account_post(struct engine *engine, int index, const char *asset, int scale, enum ledger_kind kind,
                  int64_t amount, uint64_t order_id, uint64_t fill_id)
{
    struct balance *balance = account_balance(engine, index, asset, scale);
    if (!balance || amount == 0)
        return;
    balance->total += amount;
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

/* A part of the position's cost leaves with the part of the quantity that is sold, rounded down. */
static void sell_from(struct position *position, const struct fill *fill)
{
    int64_t removed = (int64_t)((int128_t)position->cost * fill->qty / position->qty);
    if (fill->qty == position->qty)
        removed = position->cost;
    position->cost -= removed;
    position->qty -= fill->qty;
    position->realized += fill->notional - removed;
    if (position->qty == 0)
        position->opened_ns = 0;
}

void account_fill(struct engine *engine, const struct fill *fill)
{
    const struct symbol *symbol = &engine->markets[fill->symbol].symbol;
    bool buy = fill->side == ORDER_BUY;
    account_post(engine, fill->account, symbol->base, symbol->qty_scale, LEDGER_TRADE,
                 buy ? fill->qty : -fill->qty, fill->order_id, fill->id);
    account_post(engine, fill->account, symbol->quote, symbol->quote_scale, LEDGER_TRADE,
                 buy ? -fill->notional : fill->notional, fill->order_id, fill->id);
    account_post(engine, fill->account, symbol->quote, symbol->quote_scale, LEDGER_FEE, -fill->fee,
                 fill->order_id, fill->id);

    struct position *position = &engine->accounts[fill->account].positions[fill->symbol];
    if (buy) {
        if (position->qty == 0)
            position->opened_ns = fill->ts_ns;
        position->qty += fill->qty;
        position->cost += fill->notional;
    } else {
        sell_from(position, fill);
    }
    position->fees += fill->fee;
    position->updated_ns = fill->ts_ns;
    if (engine->sink.position)
        engine->sink.position(engine->sink.ctx, fill->account, fill->symbol, position, fill->ts_ns);
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
    int128_t equity = 0;
    for (int i = 0; i < account->n_assets; i++)
        if (strcmp(account->assets[i].asset, account->currency) == 0)
            equity = account->assets[i].total;
    for (int s = 0; s < engine->n_symbols; s++)
        if (account->positions[s].qty > 0 && strcmp(engine->markets[s].symbol.quote, account->currency) == 0)
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
        .cash = account_balance(engine, index, account->currency, account->currency_scale)->total,
        .peak = account->equity_peak,
    };
    if (engine->sink.equity)
        engine->sink.equity(engine->sink.ctx, &point);
}
