#include "exchange/fees.h"

#include <string.h>

#include "exchange/venue_format.h"

const struct fee_schedule *fee_schedule(size_t i)
{
    const struct venue_format *format = venue_format(i);
    return format ? format->fees : NULL;
}

static const struct fee_tier *tier_of(const struct fee_schedule *schedule, const char *name)
{
    for (size_t t = 0; t < schedule->n; t++)
        if (strcmp(schedule->tiers[t].name, name) == 0)
            return &schedule->tiers[t];
    return NULL;
}

const struct fee_tier *fee_tier_find(const char *venue, const char *name)
{
    const struct fee_schedule *schedule;
    for (size_t i = 0; (schedule = fee_schedule(i)); i++) {
        const struct fee_tier *tier =
            venue && strcmp(schedule->venue, venue) != 0 ? NULL : tier_of(schedule, name);
        if (tier)
            return tier;
    }
    return NULL;
}
