#ifndef EXCHANGE_ALPACA_FORMAT_H
#define EXCHANGE_ALPACA_FORMAT_H

#include "exchange/venue_format.h"

extern const struct venue_format alpaca_format;

#endif
