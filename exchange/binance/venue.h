/* Binance as a struct venue. */
#ifndef EXCHANGE_BINANCE_VENUE_H
#define EXCHANGE_BINANCE_VENUE_H

#include "exchange/venue.h"

extern const struct venue binance_venue;

#endif
