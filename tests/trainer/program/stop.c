/* How a program is asked to end: the first signal is taken, the second ends it, whichever of both they are.
 */
#include "trainer/command/stop.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/check.h"

/* The result of a process that gets these signals. */
static int ended_by(int first, int second)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        trainer_stop_on_signals();
        if (trainer_stop_asked())
            _exit(2);
        raise(first);
        if (!trainer_stop_asked())
            _exit(3);
        raise(second);
        _exit(EXIT_SUCCESS);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    return status;
}

int main(void)
{
    static const int signals[] = {SIGINT, SIGTERM};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) {
            int status = ended_by(signals[i], signals[k]);
            CHECK(WIFSIGNALED(status) && WTERMSIG(status) == signals[k]);
        }
    CHECK_INT(ended_by(SIGTERM, SIGPIPE), 0); /* a reader that is gone is an error */
    return check_done("trainer/program/stop");
}
