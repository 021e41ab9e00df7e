/* Closed round trips as they are shown. */
#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "exchange/decimal.h"
#include "tui/history_reader.h"

void tui_history_take_trip(const struct db_trip *row, struct history_trip *ret)
{
    const struct symbol *symbol = &row->symbol->symbol;

    *ret = (struct history_trip){.id = row->id,
                                 .first_fill = row->first_fill,
                                 .fills = row->fills,
                                 .order = row->order,
                                 .opened_ns = row->opened_ns,
                                 .closed_ns = row->closed_ns,
                                 .is_short = row->is_short,
                                 .qty = decimal_to_double(row->qty, symbol->qty_scale),
                                 .entry = row->entry,
                                 .exit = row->exit,
                                 .profit = decimal_to_double(row->profit, symbol->quote_scale),
                                 .fees = decimal_to_double(row->fees, symbol->quote_scale),
                                 .return_pct = 100 * row->share,
                                 .quote_decimals = symbol->quote_scale < 12 ? symbol->quote_scale : 12,
                                 .price_decimals = tui_history_price_decimals(row->symbol),
                                 .qty_decimals = tui_history_qty_decimals(row->symbol)};
    cli_text_clean(ret->account, sizeof(ret->account), row->account->name);
    cli_text_clean(ret->symbol, sizeof(ret->symbol), symbol->name);
    cli_text_clean(ret->quote, sizeof(ret->quote), symbol->quote);
    cli_text_clean(ret->strategy, sizeof(ret->strategy), row->source);
    cli_text_clean(ret->reason, sizeof(ret->reason), row->reason);
}
