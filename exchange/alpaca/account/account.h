/* A client's account at Alpaca, on paper: struct venue_accounts of exchange/venue_account.h. Orders are asked
 * for by REST below /v2; user data is /stream with trade_updates (user_data.h).
 *
 * What its outcomes rest on (the table of answers: call.h):
 * - A client id is good once in an account's life, so an order whose outcome is UNKNOWN may be sent again
 *   under its id, at any time: it is taken once, or the answer is EXISTS.
 * - CANCEL is two requests, since the venue cancels by its own id: what failed before the second is NOT_SENT.
 *   DONE: it is asked for, and the order's event says what became of it; there is no order in the answer.
 *   ABSENT: the order is not known or has ended; a query says which.
 * - FILLS are read until they add up to what the order says is filled: where they do not yet, UNKNOWN. Of an
 *   order that the account does not have, ABSENT.
 * - OPEN has orders from elsewhere too. Of one by amount the quantity is 0 until it is filled.
 * - BALANCES: cash in dollars, of which what open orders reserve is locked, and each position as its asset: a
 *   stock's symbol, a coin's base; a short is below 0. User data has no balances.
 * - Fees of coins are in no fill: they are taken from the asset received, and only the balances show them.
 *   Paper accounts pay none for stocks ("Paper Trading" at docs.alpaca.markets). */
#ifndef EXCHANGE_ALPACA_ACCOUNT_ACCOUNT_H
#define EXCHANGE_ALPACA_ACCOUNT_ACCOUNT_H

#include "exchange/venue_account.h"

extern const struct venue_accounts alpaca_accounts;

#endif
