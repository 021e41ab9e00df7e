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

/* Bytes that the line of a request takes at most. */
size_t strategy_line_room(const struct strategy_request *request);

/* Writes the line of a request, with its end, into `to`; its length. `symbols`: of the hello. A number is the
 * shortest decimal of at most eight digits behind the point that is its double, else 17 digits that are; NaN
 * and infinities are null. `again`: this symbol's bars begin again. */
size_t strategy_line_bar(char *to, const struct strategy_line_symbol *symbols,
                         const struct strategy_request *request, bool again);

/* Writes such a number, without a NUL, into `to`, which has LINE_NUMBER_MAX bytes; its end. */
char *strategy_line_number(char *to, double value);

#endif
