/* A command: started without a shell, with the alert as one line of JSON on its standard input. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/notify/sink.h"
#include "exchange/child_environment.h"
#include "exchange/clock.h"

enum { OUTPUT_MAX = 64 << 10, LOOK_MS = 200, LAST_WORDS_MAX = 160 };

/* A process and the ends of its pipes that are ours; -1: closed. */
struct child {
    pid_t pid;
    int pidfd, in, out;
    char words[LAST_WORDS_MAX]; /* the first that it wrote */
    size_t n, written;          /* n: of the words */
};

static int spawn(char *const words[], int in, int out, pid_t *ret)
{
    char *environment[CHILD_ENVIRONMENT_MAX];
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, defaults;
    child_environment_list(false, environment);
    sigemptyset(&none);
    sigfillset(&defaults);
    int r = posix_spawn_file_actions_init(&files);
    if (r != 0)
        return -r;
    r = posix_spawnattr_init(&how);
    if (r != 0) {
        posix_spawn_file_actions_destroy(&files);
        return -r;
    }
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &defaults);
    posix_spawnattr_setpgroup(&how, 0);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    r = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&files, out, STDERR_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
    if (r == 0)
        r = posix_spawnp(ret, words[0], &files, &how, words, environment);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return -r;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static int start(char *const words[], struct child *child)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    *child = (struct child){.pidfd = -1, .in = -1, .out = -1};
    int r = pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 ? 0 : -errno;
    if (r == 0)
        r = spawn(words, in[0], out[1], &child->pid);
    close_fd(&in[0]);
    close_fd(&out[1]);
    if (r < 0) {
        close_fd(&in[1]);
        close_fd(&out[0]);
        return r;
    }
    child->in = in[1];
    child->out = out[0];
    (void)fcntl(child->in, F_SETFL, O_NONBLOCK);
    (void)fcntl(child->out, F_SETFL, O_NONBLOCK);
    child->pidfd = pidfd_open(child->pid, 0);
    return 0;
}

/* Writes what is left; one that does not read is no failure. */
static void feed(struct child *child, const char **text)
{
    size_t left = strlen(*text);
    ssize_t n = left > 0 ? write(child->in, *text, left) : 0;
    if (n > 0)
        *text += n;
    if (!**text || (n < 0 && errno != EAGAIN && errno != EINTR))
        close_fd(&child->in);
}

static void listen_to(struct child *child)
{
    char part[4096];
    ssize_t n = read(child->out, part, sizeof part);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        close_fd(&child->out);
    size_t left = sizeof child->words - 1 - child->n;
    size_t taken = n > 0 ? (size_t)n < left ? (size_t)n : left : 0;
    memcpy(child->words + child->n, part, taken);
    child->n += taken;
    child->written += n > 0 ? (size_t)n : 0;
    child->words[child->n] = '\0';
}

/* Until it has ended: true with its status; or its time is over, it wrote too much, or the daemon stops. */
static bool attend(struct child *child, const char *text, int timeout_ms, const atomic_bool *stop,
                   int *ret_status)
{
    int64_t end_ms = clock_now_ms() + timeout_ms;
    while (!atomic_load(stop) && clock_now_ms() < end_ms && child->written <= OUTPUT_MAX) {
        struct pollfd fds[] = {{child->pidfd, POLLIN, 0}, {child->in, POLLOUT, 0}, {child->out, POLLIN, 0}};
        (void)poll(fds, 3, LOOK_MS);
        if (child->in >= 0 && fds[1].revents)
            feed(child, &text);
        if (child->out >= 0 && fds[2].revents)
            listen_to(child);
        if (waitpid(child->pid, ret_status, WNOHANG) == child->pid) {
            if (child->out >= 0)
                listen_to(child); /* its last words */
            return true;
        }
    }
    return false;
}

static void judge(const struct child *child, int status, struct notify_outcome *ret)
{
    ret->accepted = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    const char *separator = child->n > 0 && !ret->accepted ? ": " : "",
               *words = separator[0] ? child->words : "";
    if (WIFSIGNALED(status))
        snprintf(ret->detail, sizeof ret->detail, "signal %d%s%s", WTERMSIG(status), separator, words);
    else
        snprintf(ret->detail, sizeof ret->detail, "exit %d%s%s", WEXITSTATUS(status), separator, words);
}

void daemon_notify_run(const char *command, const char *text, int timeout_ms, const atomic_bool *stop,
                       struct notify_outcome *ret)
{
    char buf[NOTIFY_TARGET_MAX], *words[NOTIFY_ARGS_MAX];
    struct child child;
    int status = 0;
    if (daemon_notify_words(command, buf, words) < 0) {
        snprintf(ret->detail, sizeof ret->detail, "it is no command");
        return;
    }
    int r = start(words, &child);
    if (r < 0) {
        snprintf(ret->detail, sizeof ret->detail, "%.100s: %s", words[0], strerror(-r));
    } else if (attend(&child, text, timeout_ms, stop, &status)) {
        judge(&child, status, ret);
    } else {
        (void)kill(-child.pid, SIGKILL);
        (void)waitpid(child.pid, &status, 0);
        if (child.written > OUTPUT_MAX)
            snprintf(ret->detail, sizeof ret->detail, "it wrote more than %d KiB", OUTPUT_MAX >> 10);
        else
            snprintf(ret->detail, sizeof ret->detail, "it had not ended after %d s", timeout_ms / 1000);
    }
    if (r == 0) {
        close_fd(&child.in);
        close_fd(&child.out);
        close_fd(&child.pidfd);
    }
}

void daemon_notify_send_command(const struct notify_attempt *attempt, struct notify_outcome *ret)
{
    char *json = daemon_notify_json(attempt->notice, attempt->host), *line = NULL;
    if (json && asprintf(&line, "%s\n", json) >= 0) {
        daemon_notify_run(attempt->sink->target, line, NOTIFY_COMMAND_MS, attempt->stop, ret);
        free(line);
    } else {
        snprintf(ret->detail, sizeof ret->detail, "out of memory");
    }
    free(json);
}
