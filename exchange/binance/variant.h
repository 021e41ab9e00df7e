/* What differs between the venues that use Binance's protocol. */
#ifndef EXCHANGE_BINANCE_VARIANT_H
#define EXCHANGE_BINANCE_VARIANT_H

#include <stdbool.h>

/* A ban that is known at the start. */
#define BINANCE_BANNED_BEFORE "the venue has banned this address, as it reported before the start"

struct binance_variant {
    const char *name; /* as in struct venue_format */
    const char *ws_url, *rest_url;
    const char *time_unit; /* of the streams, unless the setting of that name says another */
    bool lists_briefly;    /* exchangeInfo takes showPermissionSets=false */
};

/* In venue.c. */
extern const struct binance_variant binance_global, binance_us;

#endif
