#include "trainer/ppo/room.h"

#include <errno.h>

#include "exchange/fail.h"

enum { MIB_SHIFT = 20 };

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
    if (own <= share && others <= cap && own <= cap - others)
        return 0;
    return fail_with(-ENOMEM, err, PPO_ERROR_MAX,
                     "out of memory: this process would hold %zu MiB, and its share is %zu MiB; other "
                     "processes have %zu MiB; of the device's %zu MiB memory_cap %g is %zu MiB",
                     own >> MIB_SHIFT, share >> MIB_SHIFT, others >> MIB_SHIFT, room->total >> MIB_SHIFT,
                     params->memory_cap, cap >> MIB_SHIFT);
}
