/* Starts a process as posix_spawn() does, and with what that cannot do: limits, and a death with ours. */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exchange/child_environment.h"
#include "strategy/process/child.h"
#include "strategy/process/internal.h"

enum { SIGNALS_END = 65 };

/* A soft limit, so that a command may begin with prlimit(1) to have another. */
static void limit(int which, rlim_t most)
{
    struct rlimit limits;
    if (getrlimit(which, &limits) < 0)
        return;
    if (limits.rlim_cur > most)
        limits.rlim_cur = most;
    (void)setrlimit(which, &limits);
}

/* In the new process, which shares our memory until the program runs: system calls only. */
static void become(char *const words[], char *const environment[], const int fds[static 3], pid_t parent)
{
    static const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t none;
    for (int number = 1; number < SIGNALS_END; number++)
        (void)sigaction(number, &usual, NULL);
    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        return;
    for (int fd = 0; fd < 3; fd++)
        if (dup2(fds[fd], fd) < 0)
            return;
    (void)close_range(3, ~0u, CLOSE_RANGE_CLOEXEC);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_AS, (rlim_t)CHILD_MEMORY_MIB << 20);
    limit(RLIMIT_NOFILE, CHILD_FILES_MAX);
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    execvpe(words[0], words, environment);
}

/* Why the program did not start, from the end of a pipe that its start closes; 0: it has started. */
static int reported(int fd)
{
    int error = 0;
    ssize_t n;
    do
        n = read(fd, &error, sizeof error);
    while (n < 0 && errno == EINTR);
    return n == sizeof error ? error : 0;
}

static pid_t start(char *const words[], const int fds[static 3], const int report[static 2])
{
    char *environment[CHILD_ENVIRONMENT_MAX];
    sigset_t all, before;
    const pid_t parent = getpid();
    child_environment_list(false, environment);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* no handler of ours runs in the new process */
    const pid_t pid = vfork();
    if (pid == 0) {
        become(words, environment, fds, parent);
        int error = errno;
        (void)!write(report[1], &error, sizeof error);
        _exit(EXIT_FAILURE);
    }
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return pid;
}

int strategy_child_spawn(char *const words[], const int fds[static 3], pid_t *ret)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) < 0)
        return -errno;
    int high = fcntl(report[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1); /* not where its own three are put */
    close(report[1]);
    report[1] = high;
    const pid_t pid = high < 0 ? -1 : start(words, fds, report);
    int r = pid < 0 ? -errno : 0;
    if (high >= 0)
        close(high);
    if (pid > 0 && (r = -reported(report[0])) < 0)
        (void)waitpid(pid, NULL, 0);
    close(report[0]);
    if (r == 0)
        *ret = pid;
    return r;
}
