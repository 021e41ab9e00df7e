/* The newest trades of each symbol, for those who look at the market. They are no part of the engine's state:
 * neither the event log's states nor the database have them, and a start begins without any. */
#ifndef DAEMON_TAPE_H
#define DAEMON_TAPE_H

#include <jansson.h>

#include "exchange/symbol.h"

enum { TAPE_TRADES_MAX = 64 }; /* that are kept a symbol */

struct market_event;
struct trade_tape;

/* A tape without trades, or NULL without memory. */
struct trade_tape *daemon_tape_create(void);
void daemon_tape_destroy(struct trade_tape *tape);

/* Takes a TRADE, an AGG_TRADE, a CORRECTION or a CANCEL of the symbol that the engine has at that index; of
 * other messages nothing. Aggregated trades are kept only of a symbol that has brought no plain one. What
 * there is no memory for is not kept. */
void daemon_tape_take(struct trade_tape *tape, const struct market_event *event);

/* The newest `n` trades of the symbol at that index, newest first, as docs/control.md has them: a new array,
 * or NULL without memory. */
json_t *daemon_tape_trades(const struct trade_tape *tape, int index, const struct symbol *symbol, size_t n);

#endif
