/* The trading stream, /stream: it authenticates and is listened to. Orders are not served: what updates
 * follow are recorded ones (--recording), all at once. Its frames are binary and hold JSON, as on paper. */
#ifndef EXCHANGE_REPLAY_ALPACA_TRADER_H
#define EXCHANGE_REPLAY_ALPACA_TRADER_H

#include "exchange/replay/alpaca/subscriber.h"

void replay_trader_hear(struct alpaca_subscriber *trader, const char *data, size_t len);
void replay_trader_beat(struct alpaca_subscriber *trader);

#endif
