#include "db/holdings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The place of the first row that is not before this account and symbol. */
static size_t place_of(const struct db_holdings *holdings, int64_t account, int64_t symbol)
{
    size_t low = 0, high = holdings->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct db_holding *row = &holdings->rows[middle];
        if (row->account < account || (row->account == account && row->symbol < symbol))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct db_holding *db_holdings_of(struct db_holdings *holdings, int64_t account, int64_t symbol)
{
    size_t at = place_of(holdings, account, symbol);
    if (at < holdings->n && holdings->rows[at].account == account && holdings->rows[at].symbol == symbol)
        return &holdings->rows[at];
    if ((holdings->n & (holdings->n - 1)) == 0) {
        size_t room = holdings->n ? 2 * holdings->n : 1;
        struct db_holding *rows = realloc(holdings->rows, room * sizeof *rows);
        if (!rows)
            return NULL;
        holdings->rows = rows;
    }
    struct db_holding *holding = &holdings->rows[at];
    memmove(holding + 1, holding, (holdings->n++ - at) * sizeof *holding);
    *holding = (struct db_holding){.account = account, .symbol = symbol};
    return holding;
}

int db_holdings_fill(struct db_holdings *holdings, int64_t account, int64_t symbol, enum order_side side,
                     int64_t qty, int64_t notional, int64_t fee, int64_t ts_ns)
{
    struct db_holding *holding = db_holdings_of(holdings, account, symbol);
    if (!holding)
        return -ENOMEM;
    int r = position_apply(&holding->position, &holding->lots, side, qty, notional, ts_ns);
    if (r == 0)
        holding->position.fees += fee;
    return r;
}

int db_holdings_split(
    struct db_holdings *holdings, int64_t symbol, const struct stock_split *split, int64_t ts_ns,
    void (*changed)(void *ctx, const struct db_holding *holding, int64_t before, int64_t change), void *ctx)
{
    int r = 0;
    for (size_t i = 0; i < holdings->n && r == 0; i++) {
        struct db_holding *holding = &holdings->rows[i];
        int64_t before = holding->position.qty, change = 0;
        bool left_out;
        if (holding->symbol != symbol ||
            position_before(&holding->position, &holding->lots, split->ex_ns) == 0)
            continue;
        r = engine_split_position(split, &holding->position, &holding->lots, ts_ns, &change, &left_out);
        if (r == 0 && changed)
            changed(ctx, holding, before, change);
    }
    return r;
}

void db_holdings_reset(struct db_holdings *holdings, int64_t account, int64_t ts_ns)
{
    for (size_t i = place_of(holdings, account, INT64_MIN);
         i < holdings->n && holdings->rows[i].account == account; i++) {
        struct db_holding *holding = &holdings->rows[i];
        position_lots_finish(&holding->lots);
        holding->position = (struct position){.updated_ns = ts_ns};
    }
}

void db_holdings_finish(struct db_holdings *holdings)
{
    for (size_t i = 0; i < holdings->n; i++)
        position_lots_finish(&holdings->rows[i].lots);
    free(holdings->rows);
    *holdings = (struct db_holdings){0};
}
