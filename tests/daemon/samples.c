/* Whose a process on a device is: the daemon's own, a training's worker, what that started, a stranger's. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/samples.h"
#include "daemon/training/internal.h"
#include "tests/check.h"

/* A child that waits, whose own child waits too; *ret_grandchild is that one's number. */
static pid_t start_family(pid_t *ret_grandchild)
{
    int ends[2];
    CHECK_INT(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        pid_t grandchild = fork();
        if (grandchild == 0) {
            pause();
            _exit(0);
        }
        if (write(ends[1], &grandchild, sizeof grandchild) == (ssize_t)sizeof grandchild)
            waitpid(grandchild, NULL, 0);
        _exit(0);
    }
    CHECK_INT(read(ends[0], ret_grandchild, sizeof *ret_grandchild), sizeof *ret_grandchild);
    close(ends[0]);
    close(ends[1]);
    return child;
}

int main(void)
{
    static struct known ppo, other;
    struct known *known[] = {&other, &ppo};
    struct trainings trainings = {.known = known, .n_known = 2};
    const struct daemon daemon = {.trainings = &trainings}, none = {0};
    pid_t grandchild = 0, child = start_family(&grandchild);
    strcpy(ppo.training.name, "ppo-btc");
    strcpy(other.training.name, "other");
    other.training.pid = -1; /* it has no worker */
    ppo.training.pid = child;

    CHECK_STR(daemon_samples_role(&daemon, getpid()), "daemon");
    CHECK_STR(daemon_samples_role(&daemon, child), "ppo-btc");
    CHECK_STR(daemon_samples_role(&daemon, grandchild), "ppo-btc");
    CHECK_STR(daemon_samples_role(&daemon, 1), "");
    CHECK_STR(daemon_samples_role(&daemon, 0), "");
    CHECK_STR(daemon_samples_role(&daemon, -1), "");
    CHECK_STR(daemon_samples_role(&daemon, INT64_MAX), "");
    CHECK_STR(daemon_samples_role(&none, grandchild), "");
    ppo.training.pid = grandchild;
    CHECK_STR(daemon_samples_role(&daemon, child), "");
    kill(grandchild, SIGKILL);
    CHECK_INT(waitpid(child, NULL, 0), child);
    CHECK_STR(daemon_samples_role(&daemon, child), ""); /* it is gone */
    return check_done("daemon/samples");
}
