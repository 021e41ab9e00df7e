/* Restores what a former run left, before the first event. */
#include <errno.h>
#include <string.h>

#include "engine/core.h"

int engine_restore_balance(struct engine *engine, int account, const char *asset, int scale, int64_t total)
{
    if (account < 0 || account >= engine->n_accounts)
        return -EINVAL;
    int at = account_place(engine, account, asset, scale);
    if (at < 0)
        return at;
    engine->accounts[account].assets[at].total = total;
    engine->accounts[account].started = true;
    return 0;
}

int engine_restore_borrowed(struct engine *engine, int account, const char *asset, int scale,
                            int64_t borrowed)
{
    if (account < 0 || account >= engine->n_accounts || borrowed < 0)
        return -EINVAL;
    int at = account_place(engine, account, asset, scale);
    if (at < 0)
        return at;
    engine->accounts[account].assets[at].borrowed = borrowed;
    return 0;
}

int engine_restore_position(struct engine *engine, int account, int symbol, const struct position *position)
{
    if (account < 0 || account >= engine->n_accounts || symbol < 0 || symbol >= engine->n_symbols ||
        position->qty == INT64_MIN)
        return -EINVAL;
    struct position *to = &engine->accounts[account].positions[symbol];
    struct lots *lots = &engine->accounts[account].lots[symbol];
    int turned = (position->qty < 0) - (to->qty < 0);
    engine->accounts[account].shorts += turned;
    engine->markets[symbol].shorts += (uint32_t)turned;
    *to = *position;
    lots->first = lots->n = 0;
    strategy_record_resume(&engine->accounts[account].records[symbol], to->qty, to->cost);
    if (to->qty == 0)
        return 0;
    if (to->fifo_cost == 0) { /* kept by a version that had average cost only */
        to->fifo_cost = to->cost;
        to->fifo_realized = to->realized;
    }
    struct lot whole = {to->qty < 0 ? -to->qty : to->qty, to->fifo_cost, to->opened_ns};
    return position_lots_push(lots, &whole);
}

int engine_restore_lots(struct engine *engine, int account, int symbol, const struct lots *from)
{
    if (account < 0 || account >= engine->n_accounts || symbol < 0 || symbol >= engine->n_symbols)
        return -EINVAL;
    const struct position *position = &engine->accounts[account].positions[symbol];
    int64_t qty = 0, cost = 0;
    for (uint32_t i = from->first; i < from->n; i++)
        if (from->lots[i].qty <= 0 || from->lots[i].cost < 0 ||
            __builtin_add_overflow(qty, from->lots[i].qty, &qty) ||
            __builtin_add_overflow(cost, from->lots[i].cost, &cost))
            return -EINVAL;
    if (qty != (position->qty < 0 ? -position->qty : position->qty) || cost != position->fifo_cost)
        return -EINVAL;
    struct lots *lots = &engine->accounts[account].lots[symbol];
    lots->first = lots->n = 0;
    for (uint32_t i = from->first; i < from->n; i++)
        if (position_lots_push(lots, &from->lots[i]) < 0)
            return -ENOMEM;
    return 0;
}

int engine_restore_order(struct engine *engine, const struct order *order)
{
    if (order->account < 0 || order->account >= engine->n_accounts || order->symbol < 0 ||
        order->symbol >= engine->n_symbols)
        return -EINVAL;
    return engine_match_restore(engine, order);
}

void engine_restore_equity(struct engine *engine, int account, int64_t deposits, int64_t peak, int64_t day,
                           int64_t day_equity)
{
    struct account *to = &engine->accounts[account];
    to->deposits = deposits;
    to->started |= deposits != 0;
    to->equity_peak = peak;
    to->day = day;
    to->day_equity = to->point = to->day_base = day_equity;
}

void engine_restore_day(struct engine *engine, int account, int64_t point, int64_t day_base)
{
    engine->accounts[account].point = point;
    engine->accounts[account].day_base = day_base;
}

void engine_restore_killed(struct engine *engine, int account, int64_t killed_ns)
{
    engine->accounts[account].killed_ns = killed_ns;
}

void engine_restore_closed(struct engine *engine, int account, int64_t closed_ns)
{
    engine->accounts[account].closed_ns = closed_ns;
}

void engine_restore_at_venue(struct engine *engine, int account, const char *prefix)
{
    struct account_at_venue *at = &engine->accounts[account].at_venue;
    at->halted = strcmp(prefix, ENGINE_VENUE_RESET) == 0;
    at->attached = prefix[0] && !at->halted && strlen(prefix) < sizeof at->prefix;
    if (at->attached)
        strcpy(at->prefix, prefix);
}

void engine_restore_interest(struct engine *engine, int account, int64_t charged_ns)
{
    struct account *to = &engine->accounts[account];
    int64_t since_ns = INT64_MAX;
    for (int s = 0; s < engine->n_symbols; s++)
        if (to->positions[s].qty < 0 && to->positions[s].opened_ns < since_ns)
            since_ns = to->positions[s].opened_ns;
    if (to->shorts == 0 && to->assets[to->currency_at].borrowed > 0)
        since_ns = charged_ns;
    if (since_ns < INT64_MAX)
        to->interest_ns = engine_loan_hour(since_ns > charged_ns ? since_ns : charged_ns);
}

int engine_restore_action(struct engine *engine, int symbol, const char *id, int64_t ex_ns)
{
    if (symbol < 0 || symbol >= engine->n_symbols || id[0] == '\0')
        return -EINVAL;
    return engine_action_remember(&engine->markets[symbol], id, ex_ns);
}

void engine_restore_ids(struct engine *engine, uint64_t last_order, uint64_t last_fill, uint64_t last_ledger,
                        const uint8_t hash[static LEDGER_HASH_SIZE])
{
    engine->last_order = last_order;
    engine->last_fill = last_fill;
    engine->last_ledger = last_ledger;
    memcpy(engine->hash, hash, sizeof engine->hash);
}

int engine_restore_receivable(struct engine *engine, int account, const struct receivable *receivable)
{
    if (account < 0 || account >= engine->n_accounts || receivable->scale < 0 ||
        receivable->scale > DECIMAL_SCALE_MAX)
        return -EINVAL;
    int r = account_place(engine, account, receivable->asset, receivable->scale);
    if (r >= 0)
        r = engine_dividends_put(engine, account, receivable);
    if (r == 0)
        engine_dividends_sum(engine, account);
    return r;
}

void engine_restore_volume(struct engine *engine, int account, int64_t day, int64_t notional)
{
    fee_volume_add(&engine->accounts[account].volume, day, notional);
}

void engine_restore_tier(struct engine *engine, int account, const struct fee_rates *rates)
{
    engine->accounts[account].tier_rates = *rates;
}

void engine_restore_charge_ids(struct engine *engine, uint64_t last_receivable, uint64_t last_fee_rate)
{
    engine->last_receivable = last_receivable;
    engine->last_fee_rate = last_fee_rate;
}

void engine_restore_paused(struct engine *engine, bool paused)
{
    engine->paused = paused;
}
