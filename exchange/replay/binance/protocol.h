/* Binance on loopback: its market-data streams and its keyless REST. */
#ifndef EXCHANGE_REPLAY_BINANCE_PROTOCOL_H
#define EXCHANGE_REPLAY_BINANCE_PROTOCOL_H

#include "exchange/replay/protocol.h"

extern const struct protocol_row replay_binance_protocol;

#endif
