#include "exchange/fees.h"

#include <string.h>

#include "exchange/alpaca/fees.h"
#include "exchange/binance/fees.h"

static const struct fee_schedule *const schedules[] = {&alpaca_fees, &binance_fees};

enum { SCHEDULES = sizeof schedules / sizeof *schedules };

const struct fee_schedule *const *fee_schedules(size_t *ret_n)
{
    *ret_n = SCHEDULES;
    return schedules;
}

const struct fee_schedule *fee_schedule_find(const char *venue)
{
    for (size_t i = 0; i < SCHEDULES; i++)
        if (strcmp(schedules[i]->venue, venue) == 0)
            return schedules[i];
    return NULL;
}

const struct fee_tier *fee_tier_find(const char *venue, const char *name)
{
    for (size_t i = 0; i < SCHEDULES; i++) {
        const struct fee_schedule *schedule = schedules[i];
        if (venue && strcmp(schedule->venue, venue) != 0)
            continue;
        for (size_t t = 0; t < schedule->n; t++)
            if (strcmp(schedule->tiers[t].name, name) == 0)
                return &schedule->tiers[t];
    }
    return NULL;
}
