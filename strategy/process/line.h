/* The lines that a strategy's process is given at each bar (docs/plugins-protocol.md). */
#ifndef STRATEGY_PROCESS_LINE_H
#define STRATEGY_PROCESS_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "exchange/symbol.h"
#include "strategy/external.h"

enum { LINE_NUMBER_MAX = 32, LINE_QUOTED_MAX = 6 * SYMBOL_NAME_MAX + 3 };

/* What one symbol has in each of its lines. */
struct strategy_line_symbol {
    char quoted[LINE_QUOTED_MAX]; /* its name as JSON */
    int price_scale, qty_scale;
};
void strategy_line_symbol(const struct symbol *symbol, struct strategy_line_symbol *ret);

/* Bytes that a line with so many indicators takes at most. */
size_t strategy_line_room(size_t n_indicators);

/* Writes the line of a request, with its end, into `to`; its length. A number is the shortest decimal of at
 * most eight digits behind the point that is its double, else 17 digits that are; NaN and infinities are
 * null. `again`: this symbol's bars begin again. */
size_t strategy_line_bar(char *to, const struct strategy_line_symbol *symbol,
                         const struct strategy_request *request, bool again);

/* Writes such a number, without a NUL, into `to`, which has LINE_NUMBER_MAX bytes; its end. */
char *strategy_line_number(char *to, double value);

#endif
