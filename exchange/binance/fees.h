/* Binance's tiers of spot fees. */
#ifndef EXCHANGE_BINANCE_FEES_H
#define EXCHANGE_BINANCE_FEES_H

#include "exchange/fees.h"

extern const struct fee_schedule binance_fees, binance_us_fees;

#endif
