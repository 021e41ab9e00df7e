/* A record that starts at a state of the event log (db/base.h): what was before is read, what comes after
 * builds upon the state's balances, positions and live orders. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "db/verification.h"
#include "exchange/fail.h"

int db_verify_base(struct verification *v)
{
    int r = db_base_read(v->reader, &v->base);
    v->to->base_seq = v->base.event_seq;
    return r;
}

static void take_order(void *ctx, const struct db_base_order *row)
{
    struct verification *v = ctx;
    if (row->id < 1 || row->id > v->n_orders || v->orders[row->id - 1].missing) {
        db_verify_wrong(v, "base_orders", row->id, "there is no such order");
        return;
    }
    struct known_order *order = &v->orders[row->id - 1];
    order->ended = false;
    order->filled = order->worth = row->filled;
    order->cost = row->cost;
}

int db_verify_base_orders(struct verification *v)
{
    return v->base.event_seq ? db_base_orders(v->reader, take_order, v) : 0;
}

static void take_balance(void *ctx, const struct db_base_balance *row)
{
    struct verification *v = ctx;
    if (row->account < 0 || (size_t)row->account >= v->reader->n_accounts) {
        db_verify_wrong(v, "base_balances", (uint64_t)row->account, FAIL_NO_ACCOUNT);
        return;
    }
    struct db_verified_balance *balance = db_verify_balance(
        v, row->account, v->reader->accounts[row->account].account.name, row->asset, row->scale);
    if (!balance)
        return;
    balance->total = row->total;
    balance->borrowed = row->borrowed;
}

int db_verify_seed(struct verification *v)
{
    if (v->seeded || !v->base.event_seq)
        return 0;
    v->seeded = true;
    int r = db_base_balances(v->reader, take_balance, v);
    return r == 0 ? db_base_positions(v->reader, true, &v->holdings) : r;
}
