/* Moving-average crossover filtered by the RSI, with a stop measured in ATR. Long only. */
#ifndef STRATEGY_SMA_CROSS_RSI_H
#define STRATEGY_SMA_CROSS_RSI_H

#include "strategy/strategy.h"

extern const struct strategy strategy_sma_cross_rsi;

#endif
