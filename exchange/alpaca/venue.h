#ifndef EXCHANGE_ALPACA_VENUE_H
#define EXCHANGE_ALPACA_VENUE_H

#include "exchange/venue.h"

extern const struct venue alpaca_venue;

#endif
