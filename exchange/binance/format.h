#ifndef EXCHANGE_BINANCE_FORMAT_H
#define EXCHANGE_BINANCE_FORMAT_H

#include "exchange/venue_format.h"

extern const struct venue_format binance_format, binance_us_format;

#endif
