#include "exchange/venues.h"

#include <string.h>

#include "exchange/alpaca/format.h"
#include "exchange/binance/format.h"

static const struct venue *const list[] = {&alpaca_venue, &binance_venue, &binance_us_venue};

const char *const venue_adjustment_names[VENUE_ADJUSTMENTS] = {"raw", "split", "dividend", "all"};

enum { VENUES = sizeof list / sizeof *list };

const struct venue *const *venues_known(size_t *ret_n)
{
    *ret_n = VENUES;
    return list;
}

const struct venue *venue_find(const char *name)
{
    for (size_t i = 0; i < VENUES; i++)
        if (strcmp(list[i]->format->name, name) == 0)
            return list[i];
    return NULL;
}

const struct venue *venue_default(void)
{
    return &binance_venue;
}
