/* The bars of sessions as one series without the nights: the first bar of a day begins where the day before
 * ended, and all its prices are multiplied by the same factor, so that no indicator takes the gap of a night
 * for a move of a bar. Within a day ratios of prices stay what they are; volumes and times do. A factor
 * depends on the days since the series began, so only what is a ratio of prices does not. */
#ifndef INDICATORS_GPU_FEATURES_CHAIN_H
#define INDICATORS_GPU_FEATURES_CHAIN_H

#include "indicators_gpu/indicators.h"

/* Zeroed: before the first bar. */
struct feature_chain {
    double factor; /* of this day's prices; 0: no bar yet */
    double close;  /* the last one's, as it was chained */
};

/* The next bar of the series, as indicators see it. `first`: it is the first of its day that there is. */
static inline struct indicator_bar feature_chain_next(struct feature_chain *chain,
                                                      const struct indicator_bar *bar, bool first)
{
    struct indicator_bar chained = *bar;
    if (chain->factor == 0)
        chain->factor = 1;
    else if (first)
        chain->factor = chain->close / bar->open;
    chained.open = bar->open * chain->factor;
    chained.high = bar->high * chain->factor;
    chained.low = bar->low * chain->factor;
    chained.close = bar->close * chain->factor;
    chain->close = chained.close;
    return chained;
}

#endif
