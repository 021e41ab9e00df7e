#include "tui/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { OUTPUT_MAX = 8 << 20 };

void tui_child_init(struct tui_child *child)
{
    *child = (struct tui_child){.out = -1, .err = -1};
}

static void close_pipe(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void reap(struct tui_child *child, int *ret_status)
{
    while (waitpid(child->pid, ret_status, 0) < 0 && errno == EINTR)
        ;
    child->pid = 0;
}

void tui_child_finish(struct tui_child *child)
{
    int status;

    if (child->pid) {
        kill(child->pid, SIGKILL);
        reap(child, &status);
    }
    close_pipe(&child->out);
    close_pipe(&child->err);
    free(child->text);
    tui_child_init(child);
}

/* The child must get the signals that the dashboard blocks for itself. */
static int spawn(struct tui_child *child, char *const argv[], int out, int err)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;

    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    int r = posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (r == 0)
        r = posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    if (r == 0)
        r = posix_spawn(&child->pid, "/proc/self/exe", &actions, &attributes, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (r != 0)
        child->pid = 0;
    return -r;
}

int tui_child_start(struct tui_child *child, char *const argv[])
{
    int out[2] = {-1, -1}, err[2] = {-1, -1}, r = 0;

    if (child->pid)
        return -EBUSY;
    tui_child_finish(child);
    if (pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
        r = -errno;
    if (r == 0)
        r = spawn(child, argv, out[1], err[1]);
    close_pipe(&out[1]);
    close_pipe(&err[1]);
    child->out = out[0];
    child->err = err[0];
    if (r < 0) {
        tui_child_finish(child);
        return r;
    }
    fcntl(child->out, F_SETFL, O_NONBLOCK);
    fcntl(child->err, F_SETFL, O_NONBLOCK);
    return 0;
}

/* Reads its output. 0 at the end, 1 while more may come, -errno. */
static int read_output(struct tui_child *child)
{
    for (;;) {
        if (child->cap - child->len < 4096) {
            size_t cap = child->cap ? 2 * child->cap : 1 << 16;
            char *moved = cap > OUTPUT_MAX ? NULL : realloc(child->text, cap);
            if (!moved)
                return -ENOMEM;
            child->text = moved;
            child->cap = cap;
        }
        ssize_t n = read(child->out, child->text + child->len, child->cap - child->len - 1);
        if (n > 0)
            child->len += (size_t)n;
        child->text[child->len] = '\0';
        if (n <= 0 && (n == 0 || errno != EINTR))
            return n == 0 ? 0 : errno == EAGAIN ? 1 : -errno;
    }
}

static void read_complaint(struct tui_child *child)
{
    char bytes[512];
    ssize_t n;

    while (child->err >= 0 && (n = read(child->err, bytes, sizeof(bytes))) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return;
        size_t room = sizeof(child->complaint) - 1 - child->n_complaint;
        size_t kept = (size_t)n < room ? (size_t)n : room;
        memcpy(child->complaint + child->n_complaint, bytes, kept);
        child->n_complaint += kept;
    }
    close_pipe(&child->err);
}

/* Keeps its first line that is no note. */
static void cut_complaint(char *complaint)
{
    char *line = complaint, *end;

    while ((end = strchr(line, '\n')) && end[1]) {
        *end = '\0';
        if (!strstr(line, ": note: "))
            break;
        line = end + 1;
    }
    line[strcspn(line, "\n")] = '\0';
    memmove(complaint, line, strlen(line) + 1);
}

int tui_child_io(struct tui_child *child)
{
    int status = 0;

    read_complaint(child);
    int r = read_output(child);
    if (r > 0)
        return r;
    if (r < 0)
        kill(child->pid, SIGKILL);
    reap(child, &status);
    read_complaint(child);
    close_pipe(&child->out);
    close_pipe(&child->err);
    cut_complaint(child->complaint);
    if (!child->complaint[0])
        snprintf(child->complaint, sizeof(child->complaint), "it ended without a word");
    return r < 0 ? r : WIFSIGNALED(status) || WEXITSTATUS(status) != 0 ? -ECHILD : 0;
}
