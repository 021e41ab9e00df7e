/* Has a device room for a learner? Plain arithmetic over what the device, the driver and other processes say
 * of its memory; all in bytes. */
#ifndef TRAINER_PPO_ROOM_H
#define TRAINER_PPO_ROOM_H

#include "trainer/ppo/params.h"

struct ppo_room {
    size_t total, used;   /* of the device: by all processes */
    size_t held, context; /* of `used`, this process's: allocated, and taken by the driver for it */
    size_t coming;        /* that other processes have entered (indicators_gpu/share.h) and not allocated */
    size_t more;          /* that the learner takes of what is free, with the driver's part */
};

/* memory_cap of the device is for all processes, and of that an equal share for each of params->sharers. What
 * this process would hold is compared with its share; what all would, with the cap. 0; -ENOMEM with a
 * sentence that has these figures. */
int ppo_room_check(const struct ppo_room *room, const struct ppo_params *params,
                   char err[static PPO_ERROR_MAX]);

#endif
