/* Threads' priorities: a thread that lets the others go first is alone in that, and one whose time slices are
 * short keeps its priority. */
#include "daemon/priority.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#include "tests/check.h"

enum { NICE = 10, NICE_MAX = 19 };

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

    daemon_priority_prompt();
    CHECK_INT(own(), before);
    CHECK_INT(sched_getscheduler(0), SCHED_OTHER);
    lower_a_thread(seen);
    CHECK_INT(seen[0], once);
    CHECK_INT(own(), before);
    return check_done("daemon/priority");
}
