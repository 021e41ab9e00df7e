/* A market without its nights: the rows of the sessions that were chosen, one after the other. */
#ifndef ENGINE_MARKET_COMPACT_H
#define ENGINE_MARKET_COMPACT_H

#include "engine/market/market.h"
#include "exchange/trading_calendar.h"

/* Makes a new market of the rows of `market` at which a bar of the choice opens; both are to be closed. Its
 * open_ns and marks say when they open and which of them begin and end a day; in a row in between a bar may
 * be missing, as in any market. 0; -EINVAL for SESSION_ALL or a calendar without days, which leave a market
 * as it is, for rows beyond the calendar's range, bars of a day or more, sessions that begin between two
 * rows, and a symbol without a bar in them; -ENOMEM; with a sentence "what: where: what would be right". */
int market_store_compact(const struct market *market, const struct trading_calendar *calendar,
                         enum session_choice choice, struct market **ret, char err[static MARKET_ERROR_MAX]);

#endif
