/* Binance as a struct venue, and Binance US: the same protocol elsewhere. */
#ifndef EXCHANGE_BINANCE_VENUE_H
#define EXCHANGE_BINANCE_VENUE_H

#include "exchange/venue.h"

extern const struct venue binance_venue, binance_us_venue;

#endif
