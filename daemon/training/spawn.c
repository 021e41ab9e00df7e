#include "daemon/training/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/child_environment.h"
#include "exchange/fail.h"

enum {
    LOG_MAX = 1 << 20,
    LAST_WORDS_MAX = 200,
    SPAWN_NICE = 10,
    STARTTIME_FIELD = 22, /* of /proc/PID/stat, proc(5) */
};

struct spawn {
    uv_process_t process;
    struct spawn_config config;
    off_t log_from;      /* where its own words begin */
    struct spawn **slot; /* daemon_training_spawn_bury()'s */
    bool forgotten;
};

/* ---- whose process is it ---- */

void daemon_training_spawn_mark(pid_t pid, char ret[static SPAWN_MARK_MAX])
{
    char path[64], text[1024];
    ret[0] = '\0';
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n < 0 ? 0 : n] = '\0';
    char *at = strrchr(text, ')'); /* its name may hold anything */
    for (int field = 2; at && field < STARTTIME_FIELD; field++)
        at = strchr(at + 1, ' ');
    if (at)
        snprintf(ret, SPAWN_MARK_MAX, "%d %llu", (int)pid, strtoull(at + 1, NULL, 10));
}

int daemon_training_spawn_kill(const char *mark)
{
    char now[SPAWN_MARK_MAX];
    long pid = strtol(mark, NULL, 10);
    if (pid <= 1)
        return -ESRCH;
    int fd = pidfd_open((pid_t)pid, 0);
    if (fd < 0)
        return -errno;
    /* The descriptor refers to this process even when the number is used again. */
    daemon_training_spawn_mark((pid_t)pid, now);
    int r = strcmp(now, mark) != 0 ? -ESRCH : pidfd_send_signal(fd, SIGKILL, NULL, 0) < 0 ? -errno : 0;
    close(fd);
    return r;
}

bool daemon_training_spawn_by_systemd(void)
{
    const char *pid = getenv("SYSTEMD_EXEC_PID");
    return pid && strtol(pid, NULL, 10) == getpid();
}

/* ---- start ---- */

/* The last line that the program itself wrote, control characters replaced. */
static void last_words(const struct spawn *spawn, char ret[static LAST_WORDS_MAX])
{
    struct stat now;
    char text[4096];
    ret[0] = '\0';
    int fd = open(spawn->config.log, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    off_t from = fstat(fd, &now) == 0 ? now.st_size - (off_t)sizeof text + 1 : 0;
    if (from < spawn->log_from)
        from = spawn->log_from;
    ssize_t n = pread(fd, text, sizeof text - 1, from);
    close(fd);
    while (n > 0 && text[n - 1] == '\n')
        n--;
    if (n <= 0)
        return;
    const char *newline = memrchr(text, '\n', (size_t)n), *start = newline ? newline + 1 : text;
    snprintf(ret, LAST_WORDS_MAX, "%.*s", (int)(text + n - start), start);
    for (char *c = ret; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
}

static void freed(uv_handle_t *handle)
{
    free(handle->data);
}

static void on_exit_status(uv_process_t *process, int64_t status, int number)
{
    struct spawn *spawn = process->data;
    char why[LAST_WORDS_MAX + 80], words[LAST_WORDS_MAX];
    if (spawn->slot) {
        *spawn->slot = NULL;
        daemon_training_spawn_forget(spawn);
        return;
    }
    last_words(spawn, words);
    if (number)
        snprintf(why, sizeof why, "signal %d ended it%s%s", number, words[0] ? ": " : "", words);
    else
        snprintf(why, sizeof why, "it ended with status %lld%s%s", (long long)status, words[0] ? ": " : "",
                 words);
    if (!spawn->forgotten)
        spawn->config.ended(spawn->config.ctx, why);
}

static int open_log(struct spawn *spawn, char *err, size_t err_size)
{
    struct stat now;
    int fd = open(spawn->config.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (fd < 0 || fstat(fd, &now) < 0 || (now.st_size > LOG_MAX && ftruncate(fd, 0) < 0)) {
        int r = -errno;
        snprintf(err, err_size, "%s: %s", spawn->config.log, strerror(-r));
        if (fd >= 0)
            close(fd);
        return r;
    }
    spawn->log_from = now.st_size > LOG_MAX ? 0 : now.st_size;
    return fd;
}

int daemon_training_spawn_start(uv_loop_t *loop, const struct spawn_config *config, struct spawn **ret,
                                char *err, size_t err_size)
{
    char *environment[CHILD_ENVIRONMENT_MAX];
    struct spawn *spawn = calloc(1, sizeof *spawn);
    if (!spawn)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    spawn->config = *config;
    int log = open_log(spawn, err, err_size);
    if (log < 0) {
        free(spawn);
        return log;
    }
    child_environment_list(true, environment);
    uv_stdio_container_t streams[3] = {
        {.flags = UV_IGNORE}, {.flags = UV_IGNORE}, {.flags = UV_INHERIT_FD, .data.fd = log}};
    uv_process_options_t options = {.exit_cb = on_exit_status,
                                    .file = config->program,
                                    .args = (char **)config->arguments,
                                    .env = environment,
                                    .flags = UV_PROCESS_DETACHED,
                                    .stdio_count = 3,
                                    .stdio = streams};
    /* Descriptors that a library opened without O_CLOEXEC are not inherited; kernels before 5.11 lack the
     * call, and then they are. */
    close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
    int r = uv_spawn(loop, &spawn->process, &options);
    spawn->process.data = spawn;
    close(log);
    if (r < 0) {
        snprintf(err, err_size, "%.300s: %s%s", config->program, uv_strerror(r),
                 r == UV_ENOENT ? ": papertape-trainer must be beside papertaped, or in its $PATH" : "");
        uv_close((uv_handle_t *)&spawn->process, freed);
        return r;
    }
    setpriority(PRIO_PROCESS, (id_t)spawn->process.pid,
                SPAWN_NICE); /* where that is forbidden it runs at our priority */
    *ret = spawn;
    return 0;
}

pid_t daemon_training_spawn_pid(const struct spawn *spawn)
{
    return spawn->process.pid;
}

void daemon_training_spawn_bury(struct spawn **slot)
{
    (*slot)->slot = slot;
}

void daemon_training_spawn_forget(struct spawn *spawn)
{
    if (!spawn || spawn->forgotten)
        return;
    spawn->forgotten = true;
    uv_close((uv_handle_t *)&spawn->process, freed);
}
