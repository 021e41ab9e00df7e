/* A venue's fees: rates, and its tiers. */
#ifndef EXCHANGE_FEES_H
#define EXCHANGE_FEES_H

#include <stddef.h>
#include <stdint.h>

#include "exchange/symbol.h"

/* Rates in 1/1,000,000 of the notional: 1000 = 0.1 %. */
struct fee_rates {
    int32_t maker_e6, taker_e6;
};

/* The higher of the two: what is reserved by it suffices for a taker and for a maker. */
static inline int32_t fee_rates_most_e6(const struct fee_rates *fees)
{
    return fees->taker_e6 > fees->maker_e6 ? fees->taker_e6 : fees->maker_e6;
}

struct fee_tier {
    const char *name; /* "vip1": lower case, one venue's own */
    struct fee_rates rates;
    const char *who;        /* the venue's condition for it */
    enum asset_class asset; /* that it is charged of; UNKNOWN: of all */
};

/* A venue's tiers, the highest rates first; the table and its source are in the venue's folder. */
struct fee_schedule {
    const char *venue;
    const struct fee_tier *tiers;
    size_t n;
};

/* The i-th venue's, in order of their names, or NULL beyond the last. */
const struct fee_schedule *fee_schedule(size_t i);

/* The tier of that name, of the venue, or of any when `venue` is NULL (the first by order of venues); NULL
 * when there is none. */
const struct fee_tier *fee_tier_find(const char *venue, const char *name);

#endif
