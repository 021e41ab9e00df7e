/* What a venue charges. */
#ifndef EXCHANGE_FEES_H
#define EXCHANGE_FEES_H

#include <stdint.h>

/* Rates in 1/1,000,000 of the notional: 1000 = 0.1 %. Binance spot, regular tier: 1000 and 1000. */
struct fee_rates {
    int32_t maker_e6, taker_e6;
};

#endif
