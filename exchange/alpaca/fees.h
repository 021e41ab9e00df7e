/* Alpaca's tiers of fees: stocks, and crypto by volume. */
#ifndef EXCHANGE_ALPACA_FEES_H
#define EXCHANGE_ALPACA_FEES_H

#include "exchange/fees.h"

extern const struct fee_schedule alpaca_fees;

#endif
