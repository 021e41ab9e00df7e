/* What the venue says of itself: exchangeInfo, with filters as Binance has them. */
#ifndef EXCHANGE_REPLAY_BINANCE_EXCHANGE_INFO_H
#define EXCHANGE_REPLAY_BINANCE_EXCHANGE_INFO_H

#include "exchange/replay/tape.h"
#include "exchange/text.h"

/* The whole reply for the symbols that are marked; symbols[i] goes with tape->symbols[i]. Price and quantity
 * steps are the venue's own for BTCUSDT and ETHUSDT, else as fine as the digits that the data shows. */
void replay_exchange_info_write(struct text *out, const struct tape *tape, const bool *symbols);

#endif
