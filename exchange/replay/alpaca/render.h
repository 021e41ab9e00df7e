/* The venue's market messages and the objects of its REST replies: the same fields, but that a message begins
 * with its type and symbol ("T" comes first: clients rely on it). */
#ifndef EXCHANGE_REPLAY_ALPACA_RENDER_H
#define EXCHANGE_REPLAY_ALPACA_RENDER_H

#include "exchange/replay/alpaca/flow.h"
#include "exchange/replay/alpaca/made.h"
#include "exchange/replay/alpaca/tally.h"
#include "exchange/replay/alpaca/wire.h"

/* One message of a flow. BOOK: the changes from the book sent before; NULL: the whole book, which resets. */
void replay_render_event(struct wire *wire, const struct made *made, const struct flow_event *event,
                         const struct made_book *sent);

/* REST: without type and symbol. */
void replay_render_trade_object(struct wire *wire, const struct made_symbol *symbol,
                                const struct made_trade *trade, int64_t as_of_ns);
void replay_render_quote_object(struct wire *wire, const struct made_symbol *symbol,
                                const struct made_tick *tick);
void replay_render_bar_object(struct wire *wire, const struct made_symbol *symbol, const struct tally *bar);
void replay_render_book_object(struct wire *wire, const struct made_book *book, int64_t ns);

/* Does a BOOK event change anything of what was sent? */
bool replay_render_book_differs(const struct made_book *sent, const struct made_book *now);

#endif
