#include "trainer/ppo/room.h"

#include <errno.h>
#include <stdio.h>

#include "exchange/fail.h"

enum { MIB_SHIFT = 20, WHAT_MAX = 96 };

/* What is needed rounds up, what there is down: a difference of a byte shows. */
static size_t up(size_t bytes)
{
    return (bytes >> MIB_SHIFT) + ((bytes & ((1u << MIB_SHIFT) - 1)) != 0);
}

/* Of the device's memory. */
static size_t others_of(const struct ppo_room *room)
{
    const size_t there = room->held + room->context, used = room->used > there ? room->used - there : 0;
    if (!room->settled)
        return used + room->entered.coming;
    return used > room->entered.bytes ? used : room->entered.bytes;
}

int ppo_room_check(const struct ppo_room *room, const struct ppo_params *params,
                   char err[static PPO_ERROR_MAX])
{
    const size_t others = others_of(room), own = room->held + room->context + room->more,
                 cap = (size_t)((double)room->total * params->memory_cap),
                 share = cap / (size_t)(params->sharers > 1 ? params->sharers : 1);
    char what[WHAT_MAX];
    if (own <= share && others <= cap && own <= cap - others)
        return 0;
    if (own > share)
        snprintf(what, sizeof what, "above its share: %zu > %zu MiB", up(own), share >> MIB_SHIFT);
    else
        snprintf(what, sizeof what, "together above memory_cap: %zu + %zu > %zu MiB", up(own), up(others),
                 cap >> MIB_SHIFT);
    return fail_with(-ENOMEM, err, PPO_ERROR_MAX,
                     "out of memory: %s: this process would hold %zu MiB, and its share is %zu MiB; other "
                     "processes have %zu MiB; of the device's %zu MiB memory_cap %g is %zu MiB: a higher "
                     "memory_cap, fewer copies%s or narrower networks would be right",
                     what, up(own), share >> MIB_SHIFT, up(others), room->total >> MIB_SHIFT,
                     params->memory_cap, cap >> MIB_SHIFT, params->sharers > 1 ? " or workers" : "");
}
