#include "daemon/priority.h"

#include <linux/sched.h>
#include <linux/sched/types.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    PROMPT_NS = 100000, /* the least that a time slice can be; a few hundred frames */
    BACKGROUND_NICE = 10,
};

/* A time slice of `ns`, 0: the usual one, by sched(7)'s sched_setattr(): of SCHED_OTHER, sched_runtime is a
 * hint to EEVDF. A thread at real-time priority is left alone. */
static void ask_for_slice(uint64_t ns)
{
    struct sched_attr attr = {.size = sizeof attr};
    if (syscall(SYS_sched_getattr, 0, &attr, sizeof attr, 0) < 0 || attr.sched_policy != SCHED_NORMAL)
        return;
    attr.sched_runtime = ns;
    syscall(SYS_sched_setattr, 0, &attr, 0);
}

void daemon_priority_prompt(void)
{
    ask_for_slice(PROMPT_NS);
}

void daemon_priority_background(void)
{
    ask_for_slice(0);
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + BACKGROUND_NICE); /* of this thread alone */
}
