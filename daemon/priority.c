#include "daemon/priority.h"

#include <linux/sched.h>
#include <linux/sched/types.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PROMPT_NS = 100000, /* the least that a time slice can be */
    BACKGROUND_NICE = 10,
};

/* By sched(7)'s sched_setattr(): of SCHED_OTHER, sched_runtime is a hint to EEVDF. */
void daemon_priority_prompt(void)
{
    struct sched_attr attr = {.size = sizeof attr};
    if (syscall(SYS_sched_getattr, 0, &attr, sizeof attr, 0) < 0 || attr.sched_policy != SCHED_NORMAL)
        return;
    attr.sched_runtime = PROMPT_NS;
    attr.sched_flags |= SCHED_FLAG_RESET_ON_FORK; /* a trainer that is started is no part of the loop */
    syscall(SYS_sched_setattr, 0, &attr, 0);
}

void daemon_priority_background(void)
{
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + BACKGROUND_NICE); /* of this thread alone */
}
