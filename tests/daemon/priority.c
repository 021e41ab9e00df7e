/* Threads' priorities: a thread that lets the others go first is alone in that, one whose time slices are
 * short keeps its priority, and neither a thread nor a process that it starts has them. */
#include "daemon/priority.h"

#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"

enum { NICE = 10, NICE_MAX = 19, SLICE_NS = 100000 };

/* sched_setattr(2)'s; the kernel's header of it cannot stand beside <sched.h>. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime_ns, deadline_ns, period_ns;
};

/* The calling thread's time slice in ns; 0 before Linux 6.12, which does not say. */
static uint64_t slice_ns(void)
{
    struct attributes is = {0};
    CHECK_INT(syscall(SYS_sched_getattr, 0, &is, sizeof is, 0), 0);
    return is.runtime_ns;
}

static void *read_slice(void *ret)
{
    *(uint64_t *)ret = slice_ns();
    return NULL;
}

static void check_started(uint64_t usual_ns)
{
    pthread_t thread;
    uint64_t seen_ns;
    int status;
    CHECK_INT(pthread_create(&thread, NULL, read_slice, &seen_ns), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK_INT(seen_ns, usual_ns);
    pid_t pid = fork();
    if (pid == 0)
        _exit(slice_ns() == usual_ns ? EXIT_SUCCESS : EXIT_FAILURE);
    CHECK_INT(waitpid(pid, &status, 0), pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
}

static int own(void)
{
    return getpriority(PRIO_PROCESS, 0);
}

static void *lower(void *ret)
{
    daemon_priority_background();
    ((int *)ret)[0] = own();
    daemon_priority_background(); /* the lowest there is */
    ((int *)ret)[1] = own();
    return NULL;
}

static void lower_a_thread(int ret[2])
{
    pthread_t thread;
    CHECK_INT(pthread_create(&thread, NULL, lower, ret), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
}

int main(void)
{
    int before = own(), seen[2];
    int once = before + NICE < NICE_MAX ? before + NICE : NICE_MAX;
    lower_a_thread(seen);
    CHECK_INT(seen[0], once);
    CHECK_INT(seen[1], once + NICE < NICE_MAX ? once + NICE : NICE_MAX);
    CHECK_INT(own(), before);

    const uint64_t usual_ns = slice_ns();
    check_started(usual_ns);
    daemon_priority_prompt();
    CHECK_INT(slice_ns(), usual_ns > 0 ? SLICE_NS : 0);
    check_started(usual_ns);
    CHECK_INT(own(), before);
    CHECK_INT(sched_getscheduler(0), SCHED_OTHER | SCHED_RESET_ON_FORK);
    lower_a_thread(seen);
    CHECK_INT(seen[0], once);
    CHECK_INT(own(), before);
    return check_done("daemon/priority");
}
