/* Files of trades: their columns, and how a trade becomes a line of them. */
#include <stdio.h>
#include <string.h>

#include "cli/fetch.h"
#include "cli/stored.h"
#include "exchange/bars_input.h"

/* The first is that of a venue's archive; a plain trade has no first and last one, and its ids are an
 * exchange's. */
static const struct fetch_trades_layout layouts[] = {
    {
        .head = "agg_trade_id,price,quantity,first_trade_id,last_trade_id,transact_time,is_buyer_maker",
        .columns = {TRADE_ID, TRADE_PRICE, TRADE_QTY, TRADE_FIRST, TRADE_LAST, TRADE_TIME, TRADE_MAKER},
        .n = 7,
        .unit_ns = 1000,
        .aggregates = true,
    },
    {
        .head = "trade_id,price,quantity,transact_time,is_buyer_maker,makes_price",
        .columns = {TRADE_ID, TRADE_PRICE, TRADE_QTY, TRADE_TIME, TRADE_MAKER, TRADE_MAKES_PRICE},
        .n = 6,
        .unit_ns = 1,
    },
};

const struct fetch_trades_layout *cli_fetch_layout(const struct fetch *fetch)
{
    return &layouts[fetch->venue->aggregates ? 0 : 1];
}

const struct fetch_trades_layout *cli_fetch_layout_of(const char *path)
{
    const struct fetch_trades_layout *found = NULL;
    struct bars_input *in = NULL;
    char *line;
    size_t len;
    if (bars_input_open(path, NULL, &in) == 0 && bars_input_line(in, &line, &len) > 0)
        for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
            found = strcmp(line, layouts[i].head) == 0 ? &layouts[i] : found;
    bars_input_close(in);
    return found;
}

static const char *flag(bool is)
{
    return is ? "true" : "false";
}

/* Of a stock the taker is not known. */
static void put_cell(const struct symbol *symbol, const struct market_trade *trade, int64_t unit_ns,
                     enum fetch_trade_column column, char ret[static STORED_CELL])
{
    long long number = 0;
    switch (column) {
    case TRADE_PRICE:
        (void)cli_stored_decimal(STORED_CSV, ret, trade->price, symbol->price_scale);
        return;
    case TRADE_QTY:
        (void)cli_stored_decimal(STORED_CSV, ret, trade->qty, symbol->qty_scale);
        return;
    case TRADE_MAKER:
        snprintf(ret, STORED_CELL, "%s", symbol->calendar[0] ? "" : flag(trade->buyer_maker));
        return;
    case TRADE_MAKES_PRICE:
        snprintf(ret, STORED_CELL, "%s", flag(!trade->odd));
        return;
    case TRADE_ID:
        number = trade->id;
        break;
    case TRADE_FIRST:
        number = trade->first_id;
        break;
    case TRADE_LAST:
        number = trade->last_id;
        break;
    case TRADE_TIME:
        number = trade->ts_ns / unit_ns;
        break;
    }
    snprintf(ret, STORED_CELL, "%lld", number);
}

int cli_fetch_trade_line(const struct fetch_trades_layout *layout, const struct symbol *symbol,
                         const struct market_trade *trade, char ret[static FETCH_TRADE_MAX])
{
    char cell[STORED_CELL];
    int n = 0;
    for (size_t i = 0; i < layout->n; i++) {
        put_cell(symbol, trade, layout->unit_ns, layout->columns[i], cell);
        n += snprintf(ret + n, FETCH_TRADE_MAX - (size_t)n, "%s%s", cell, i + 1 < layout->n ? "," : "\n");
    }
    return n;
}
