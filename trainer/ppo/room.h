/* Has a device room for a learner? Plain arithmetic over what the device, the driver and other processes say
 * of its memory; all in bytes. */
#ifndef TRAINER_PPO_ROOM_H
#define TRAINER_PPO_ROOM_H

#include <stdbool.h>

#include "indicators_gpu/share.h"
#include "trainer/ppo/params.h"

struct ppo_room {
    size_t total, used;             /* of the device: by all processes */
    size_t held, context;           /* of `used`, this process's: allocated, and taken by the driver for it */
    struct gpu_share_entry entered; /* by other processes */
    bool settled;                   /* none of these allocates, except the driver for them */
    size_t more;                    /* that the learner takes of what is free, with the driver's part */
};

/* What others will hold is at most what they hold and what is coming to them, but that counts twice what came
 * a moment ago: more than there is, when several start. Once it is settled, it is what they hold, or what
 * they have entered in all if that is more: the same to the byte where every process enters its room; beside
 * one that does not it is too little by what the driver has still to take for them, until their second
 * iteration.
 *
 * memory_cap of the device is for all processes, and of that an equal share for each of params->sharers. What
 * this process would hold is compared with its share; what all would, with the cap. 0; -ENOMEM with a
 * sentence that begins with which of the two fails, has these figures, and what would be right. */
int ppo_room_check(const struct ppo_room *room, const struct ppo_params *params,
                   char err[static PPO_ERROR_MAX]);

#endif
