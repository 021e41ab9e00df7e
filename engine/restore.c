/* What a former run left, put back before the first event. */
#include <errno.h>
#include <string.h>

#include "engine/core.h"

int engine_restore_balance(struct engine *engine, int account, const char *asset, int scale, int64_t total)
{
    if (account < 0 || account >= engine->n_accounts)
        return -EINVAL;
    struct balance *balance = account_balance(engine, account, asset, scale);
    if (!balance || balance->scale != scale)
        return -EINVAL;
    balance->total = total;
    return 0;
}

int engine_restore_position(struct engine *engine, int account, int symbol, const struct position *position)
{
    if (account < 0 || account >= engine->n_accounts || symbol < 0 || symbol >= engine->n_symbols)
        return -EINVAL;
    engine->accounts[account].positions[symbol] = *position;
    return 0;
}

int engine_restore_order(struct engine *engine, const struct order *order)
{
    if (order->account < 0 || order->account >= engine->n_accounts || order->symbol < 0 ||
        order->symbol >= engine->n_symbols)
        return -EINVAL;
    return match_restore(engine, order);
}

void engine_restore_equity(struct engine *engine, int account, int64_t deposits, int64_t peak, int64_t day,
                           int64_t day_equity)
{
    struct account *to = &engine->accounts[account];
    to->deposits = deposits;
    to->equity_peak = peak;
    to->day = day;
    to->day_equity = day_equity;
}

void engine_restore_ids(struct engine *engine, uint64_t last_order, uint64_t last_fill, uint64_t last_ledger,
                        const uint8_t hash[static LEDGER_HASH_SIZE])
{
    engine->last_order = last_order;
    engine->last_fill = last_fill;
    engine->last_ledger = last_ledger;
    memcpy(engine->hash, hash, sizeof engine->hash);
}

void engine_restore_paused(struct engine *engine, bool paused)
{
    engine->paused = paused;
}
