#include "strategy/process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exchange/clock.h"
#include "exchange/fail.h"
#include "exchange/text_words.h"
#include "strategy/process/internal.h"

enum {
    ROOM = CHILD_LINE_MAX + 1, /* a line and its end */
    GRACE_MS = 500,
    HURRY_MS = 50,   /* a pipe may close a little before its process ends */
    LATE_TURNS = 64, /* reads of a child that writes without end, once the time is over */
};

struct strategy_child {
    pid_t pid;
    int pidfd, in, out, err; /* in: what it reads; -1: closed */
    char input[ROOM];
    size_t from, to;           /* input[from..to) is unread */
    size_t searched;           /* input[from..searched) has no end of a line */
    bool skips;                /* up to the next end of a line */
    char *queue;               /* once it is behind */
    size_t queued, cap;        /* bytes that it has yet to read; of the queue */
    struct strategy_said said; /* on its standard error */
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Above 2, so that a new process may put it there; -1 of a failure. */
static int above_standard(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    close(fd);
    return moved;
}

/* The ends are [0] ours, [1] its. Its standard input is a socket: writing to one raises no SIGPIPE. */
static int open_pair(bool reads, int ends[static 2])
{
    int made[2];
    if (reads ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, made) < 0 : pipe2(made, O_CLOEXEC) < 0)
        return -errno;
    ends[0] = above_standard(made[0]);
    ends[1] = above_standard(made[1]);
    if (ends[0] < 0 || ends[1] < 0)
        return -EMFILE;
    return fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0 ? -errno : 0;
}

static int start(struct strategy_child *child, char *const words[])
{
    int in[2] = {-1, -1}, out[2] = {-1, -1}, err[2] = {-1, -1};
    int r = open_pair(true, in);
    if (r == 0)
        r = open_pair(false, out);
    if (r == 0)
        r = open_pair(false, err);
    child->in = in[0];
    child->out = out[0];
    child->err = err[0];
    if (r == 0)
        r = strategy_child_spawn(words, (const int[]){in[1], out[1], err[1]}, &child->pid);
    close_fd(&in[1]);
    close_fd(&out[1]);
    close_fd(&err[1]);
    if (r < 0)
        return r;
    child->pidfd = pidfd_open(child->pid, 0);
    return child->pidfd < 0 ? -errno : 0;
}

int strategy_child_start(const char *command, const struct strategy_child_log *log,
                         struct strategy_child **ret, char *err, size_t err_size)
{
    char buf[CHILD_COMMAND_MAX], *words[CHILD_WORDS_MAX];
    if (text_words(command, buf, sizeof buf, words, CHILD_WORDS_MAX) < 0)
        return fail_with(-EINVAL, err, err_size,
                         "a program and its arguments are needed, at most %d bytes in %d words, with quotes "
                         "in pairs",
                         CHILD_COMMAND_MAX - 1, CHILD_WORDS_MAX - 1);
    struct strategy_child *child = malloc(sizeof *child);
    if (!child)
        return fail_with(-ENOMEM, err, err_size, "not enough memory");
    memset(child, 0, sizeof *child);
    child->pidfd = child->in = child->out = child->err = -1;
    if (log)
        child->said.log = *log;
    int r = start(child, words);
    if (r == 0) {
        *ret = child;
        return 0;
    }
    snprintf(err, err_size, "%.80s cannot be started: %s", words[0], strerror(-r));
    strategy_child_end(child, true, NULL, 0);
    return r;
}

/* ---- what it reads ---- */

/* As much as it takes now; how much. Of one that reads no more, all: it answers nothing, or ends. */
static size_t give(struct strategy_child *child, const char *data, size_t len)
{
    while (child->in >= 0) {
        ssize_t n = send(child->in, data, len, MSG_NOSIGNAL);
        if (n >= 0)
            return (size_t)n;
        if (errno == EAGAIN)
            return 0;
        if (errno != EINTR)
            close_fd(&child->in);
    }
    return len;
}

static void give_queued(struct strategy_child *child)
{
    size_t n = give(child, child->queue, child->queued);
    child->queued -= n;
    memmove(child->queue, child->queue + n, child->queued);
}

static int queue(struct strategy_child *child, const char *data, size_t len)
{
    if (len > CHILD_QUEUE_MAX - child->queued)
        return -ENOBUFS;
    if (child->queued + len > child->cap) {
        char *moved = realloc(child->queue, 2 * (child->queued + len));
        if (!moved)
            return -ENOMEM;
        child->queue = moved;
        child->cap = 2 * (child->queued + len);
    }
    memcpy(child->queue + child->queued, data, len);
    child->queued += len;
    return 0;
}

int strategy_child_send(struct strategy_child *child, const char *line, size_t len)
{
    size_t n = child->queued == 0 ? give(child, line, len) : 0;
    return n < len ? queue(child, line + n, len - n) : 0;
}

/* ---- what it writes ---- */

/* Is there more of it? */
static bool read_err(struct strategy_child *child)
{
    char part[4096];
    ssize_t n = read(child->err, part, sizeof part);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (n <= 0) {
        strategy_said_end(&child->said, clock_now_ns());
        close_fd(&child->err);
        return false;
    }
    strategy_said_take(&child->said, part, (size_t)n, clock_now_ns());
    return true;
}

static void make_room(struct strategy_child *child)
{
    if (child->from == 0)
        return;
    child->to -= child->from;
    child->searched -= child->from;
    memmove(child->input, child->input + child->from, child->to);
    child->from = 0;
}

static void read_out(struct strategy_child *child)
{
    make_room(child);
    ssize_t n = read(child->out, child->input + child->to, sizeof child->input - child->to);
    if (n > 0)
        child->to += (size_t)n;
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        close_fd(&child->out);
}

/* A line, or the news of a long one, in what was read already. */
static bool next_line(struct strategy_child *child, enum child_said *ret_said, const char **ret,
                      size_t *ret_len)
{
    for (;;) {
        char *end = memchr(child->input + child->searched, '\n', child->to - child->searched);
        char *start = child->input + child->from;
        if (!end) {
            child->searched = child->to;
            bool full = child->to - child->from == sizeof child->input, news = full && !child->skips;
            if (full || child->skips)
                child->from = child->to;
            child->skips |= full;
            *ret_said = CHILD_LONG;
            return news;
        }
        child->from = child->searched = (size_t)(end - child->input) + 1;
        if (child->skips) {
            child->skips = false;
            continue;
        }
        *end = '\0';
        *ret = start;
        *ret_len = (size_t)(end - start);
        *ret_said = CHILD_LINE;
        return true;
    }
}

/* Waits for one of the pipes and serves it. False: nothing happened. */
static bool attend(struct strategy_child *child, int64_t left_ns)
{
    struct pollfd fds[] = {{child->out, POLLIN, 0},
                           {child->queued > 0 ? child->in : -1, POLLOUT, 0},
                           {child->err, POLLIN, 0},
                           {child->pidfd, POLLIN, 0}};
    const struct timespec wait = {left_ns / 1000000000, left_ns % 1000000000};
    int n = ppoll(fds, sizeof fds / sizeof *fds, &wait, NULL);
    if (n <= 0)
        return n < 0 && errno == EINTR;
    if (fds[1].revents)
        give_queued(child);
    if (fds[2].revents)
        (void)read_err(child);
    if (fds[0].revents)
        read_out(child);
    else if (fds[3].revents)
        close_fd(&child->out); /* it ended, and a process of its may hold the pipe open */
    return true;
}

enum child_said strategy_child_read(struct strategy_child *child, int64_t until_ns, const char **ret,
                                    size_t *ret_len)
{
    enum child_said said;
    for (int late = 0; late < LATE_TURNS;) {
        if (next_line(child, &said, ret, ret_len)) {
            if (said == CHILD_LINE)
                strategy_said_show(&child->said);
            return said;
        }
        if (child->out < 0)
            return CHILD_ENDED;
        int64_t left_ns = until_ns > 0 ? until_ns - clock_now_ns() : 0;
        late += left_ns <= 0;
        if (!attend(child, left_ns > 0 ? left_ns : 0) && left_ns <= 0)
            break;
    }
    return CHILD_NOTHING;
}

/* ---- its end ---- */

/* Until it has ended, reading what it still writes: one that waits to write would not end. */
static bool ends_within(struct strategy_child *child, int64_t ms)
{
    const int64_t until_ns = clock_now_ns() + ms * 1000000;
    for (;;) {
        struct pollfd fds[] = {{child->pidfd, POLLIN, 0}, {child->out, POLLIN, 0}, {child->err, POLLIN, 0}};
        int64_t left_ns = until_ns - clock_now_ns();
        const struct timespec wait = {left_ns > 0 ? left_ns / 1000000000 : 0,
                                      left_ns > 0 ? left_ns % 1000000000 : 0};
        int n = ppoll(fds, sizeof fds / sizeof *fds, &wait, NULL);
        if (fds[0].revents)
            return true;
        if (left_ns <= 0 || (n < 0 && errno != EINTR))
            return false;
        if (n > 0 && fds[1].revents) {
            child->from = child->to = child->searched = 0;
            read_out(child);
        }
        if (n > 0 && fds[2].revents)
            (void)read_err(child);
    }
}

/* Whether all of it fits. */
static bool describe_end(const struct strategy_child *child, bool ended, int status, char *how, size_t size)
{
    const char *words = strategy_said_last(&child->said);
    const char *separator = *words ? ": " : "";
    int n;
    if (!ended)
        n = snprintf(how, size, "it closed its standard output%s%s", separator, words);
    else if (WIFSIGNALED(status))
        n = snprintf(how, size, "signal %d ended it%s%s", WTERMSIG(status), separator, words);
    else
        n = snprintf(how, size, "it ended with status %d%s%s", WEXITSTATUS(status), separator, words);
    return n < (int)size;
}

void strategy_child_end(struct strategy_child *child, bool hurry, char *how, size_t how_size)
{
    int status = 0;
    bool ended = false;
    if (!child)
        return;
    if (child->pidfd >= 0) {
        close_fd(&child->in);
        ended = ends_within(child, hurry ? HURRY_MS : GRACE_MS);
        if (!ended && !hurry && kill(-child->pid, SIGTERM) == 0)
            (void)ends_within(child, GRACE_MS);
        for (int parts = 0; child->err >= 0 && parts < LATE_TURNS && read_err(child); parts++)
            ;
    }
    if (child->pid > 0) {
        (void)kill(-child->pid, SIGKILL); /* it is not reaped yet: the number is its group's alone */
        (void)kill(child->pid, SIGKILL);
        while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
            ;
    }
    strategy_said_end(&child->said, clock_now_ns());
    if (!how || !describe_end(child, ended, status, how, how_size))
        strategy_said_show(&child->said);
    close_fd(&child->in);
    close_fd(&child->out);
    close_fd(&child->err);
    close_fd(&child->pidfd);
    free(child->queue);
    free(child);
}
