/* The checks side by side, each in a process of its own. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/doctor/doctor.h"
#include "cli/doctor/parts.h"
#include "exchange/clock.h"

#define ROW(name, needs, words, late) [DOCTOR_##name] = {#name, needs, words, late, cli_doctor_##name},
const struct doctor_check cli_doctor_checks[DOCTOR_N] = {DOCTOR_CHECKS(ROW)};
#undef ROW

enum { BLOCK = 4096, LOWER = 5 };

struct child {
    pid_t pid;
    int fd; /* its results as JSON; -1: read to the end, or never started */
    char *text;
    size_t len, cap;
};

/* Why what a check needs is not there; NULL: it is. */
static const char *missing(const char *path, const char *words)
{
    if (access(path, F_OK) == 0)
        return NULL;
    return errno == EACCES ? "this user may not look into the state: run it as the daemon's user or root"
                           : words;
}

/* Why a check is not made; NULL: it is. */
static const char *lacks(const struct doctor *doctor, unsigned needs)
{
    const char *words = NULL;
    if ((needs & DOCTOR_NEEDS_NETWORK) && doctor->offline)
        return "--offline";
    if ((needs & DOCTOR_NEEDS_CONFIG) && !doctor->config_good)
        return "the configuration has errors";
    if (needs & DOCTOR_NEEDS_STATE)
        words = missing(doctor->state.path, "there is no state yet");
    if (!words && (needs & DOCTOR_NEEDS_DATABASE))
        words = missing(doctor->state.database, "there is no database yet");
    if (!words && (needs & DOCTOR_NEEDS_LOG))
        words = missing(doctor->state.events, "there is no event log yet");
    return words;
}

static void write_all(int fd, const char *text)
{
    size_t left = strlen(text);
    for (ssize_t n; left > 0; text += n, left -= (size_t)n) {
        n = write(fd, text, left);
        if (n < 0 && errno == EINTR)
            n = 0;
        else if (n < 0)
            return;
    }
}

/* In its process: ends with the one that waits for it, and has a group, for what it starts itself. */
static _Noreturn void make(const struct doctor *doctor, const struct doctor_check *check, int fd,
                           pid_t parent)
{
    struct doctor_results results = {json_array(), check->name};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    if (check->needs & (DOCTOR_NEEDS_DATABASE | DOCTOR_NEEDS_LOG))
        setpriority(PRIO_PROCESS, 0, LOWER); /* they read much */
    check->make(doctor, &results);
    char *text = json_dumps(results.list, JSON_COMPACT);
    if (text)
        write_all(fd, text);
    _exit(text ? 0 : 1);
}

static int start(const struct doctor *doctor, const struct doctor_check *check, struct child *child)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    child->pid = fork();
    if (child->pid == 0) {
        close(ends[0]);
        make(doctor, check, ends[1], parent);
    }
    close(ends[1]);
    if (child->pid < 0) {
        int r = -errno;
        close(ends[0]);
        return r;
    }
    setpgid(child->pid, child->pid); /* whichever of the two is first */
    child->fd = ends[0];
    return 0;
}

/* Reads what there is. */
static void take(struct child *child)
{
    if (child->cap - child->len < BLOCK) {
        char *more = realloc(child->text, child->cap + 2 * BLOCK);
        if (!more)
            return; /* the limit ends it */
        child->text = more;
        child->cap += 2 * BLOCK;
    }
    ssize_t n = read(child->fd, child->text + child->len, child->cap - child->len);
    if (n > 0) {
        child->len += (size_t)n;
    } else if (n == 0 || errno != EINTR) {
        close(child->fd);
        child->fd = -1;
    }
}

static void wait_all(struct child children[static DOCTOR_N], int64_t until_ms)
{
    for (;;) {
        struct pollfd fds[DOCTOR_N];
        int of[DOCTOR_N], n = 0;
        for (int i = 0; i < DOCTOR_N; i++)
            if (children[i].fd >= 0) {
                of[n] = i;
                fds[n++] = (struct pollfd){.fd = children[i].fd, .events = POLLIN};
            }
        int64_t left_ms = until_ms - clock_now_ms();
        if (n == 0 || left_ms <= 0)
            return;
        if (poll(fds, (nfds_t)n, (int)left_ms) <= 0)
            continue;
        for (int i = 0; i < n; i++)
            if (fds[i].revents)
                take(&children[of[i]]);
    }
}

/* One that did not end in time. A process that hangs in the kernel is not waited for. */
static void cut_short(const struct doctor_check *check, struct child *child, struct doctor_results *results)
{
    kill(-child->pid, SIGKILL);
    close(child->fd);
    child->fd = -1;
    if (check->late) {
        cli_doctor_add(results, DOCTOR_SKIPPED, "it takes longer than %d s", DOCTOR_LIMIT_MS / 1000);
        cli_doctor_remedy(results, "%s", check->late);
        return;
    }
    cli_doctor_add(results, DOCTOR_WARNING, "no answer within %d s: a driver or a file system hangs",
                   DOCTOR_LIMIT_MS / 1000);
    cli_doctor_remedy(results, "dmesg | tail -50");
}

static void finish(const struct doctor_check *check, struct child *child, struct doctor_results *results)
{
    int status = 0;
    if (child->fd >= 0) {
        cut_short(check, child, results);
        waitpid(child->pid, &status, WNOHANG);
        return;
    }
    waitpid(child->pid, &status, 0);
    json_t *list = child->text ? json_loadb(child->text, child->len, 0, NULL) : NULL;
    if (WIFSIGNALED(status) || !json_is_array(list)) {
        cli_doctor_add(results, DOCTOR_ERROR, "the check failed: its process ended by %s %d",
                       WIFSIGNALED(status) ? "signal" : "status",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        cli_doctor_remedy(results, "report it, with this output");
    } else {
        json_array_extend(results->list, list);
    }
    json_decref(list);
}

json_t *cli_doctor_run(const struct doctor *doctor, uint32_t wanted)
{
    struct child children[DOCTOR_N];
    const char *lacking[DOCTOR_N];
    struct doctor_results results = {.list = json_array()};
    int64_t until_ms = clock_now_ms() + DOCTOR_LIMIT_MS;
    fflush(NULL);
    for (int i = 0; i < DOCTOR_N; i++) {
        children[i] = (struct child){.fd = -1};
        lacking[i] = lacks(doctor, cli_doctor_checks[i].needs);
        if ((wanted & 1U << i) && !lacking[i] && start(doctor, &cli_doctor_checks[i], &children[i]) < 0)
            children[i].pid = 0;
    }
    wait_all(children, until_ms);
    for (int i = 0; i < DOCTOR_N; i++) {
        results.name = cli_doctor_checks[i].name;
        if (!(wanted & 1U << i))
            continue;
        if (lacking[i]) {
            if (!cli_doctor_gone(doctor, (enum doctor_check_name)i, &results))
                cli_doctor_add(&results, DOCTOR_SKIPPED, "%s", lacking[i]);
        } else if (children[i].pid <= 0) {
            cli_doctor_add(&results, DOCTOR_ERROR, "no process could be started for it");
            cli_doctor_remedy(&results, "ulimit -u; free -m");
        } else {
            finish(&cli_doctor_checks[i], &children[i], &results);
        }
        free(children[i].text);
    }
    return results.list;
}
