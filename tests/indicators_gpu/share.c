/* A device's memory between processes: entries are seen, corrected and gone with their process, also one that
 * is killed; one process at a time has the table; a refusal waits for who is allocating; where the file lies,
 * and that one which cannot be written to is reported. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "indicators_gpu/share.h"
#include "tests/check.h"
#include "tests/scratch.h"

enum { COUNTERS = 4, ROUNDS = 200 };

static struct gpu_share *open_one(const char *id)
{
    struct gpu_share *share = NULL;
    char reason[256] = "";
    CHECK_INT(gpu_share_open(id, &share, reason, sizeof reason), 0);
    CHECK_STR(reason, "");
    if (!share)
        exit(EXIT_FAILURE);
    return share;
}

static struct gpu_share_entry others(struct gpu_share *share)
{
    struct gpu_share_entry ret = {0};
    CHECK_INT(gpu_share_others(share, &ret), 0);
    return ret;
}

static size_t coming(struct gpu_share *share)
{
    return others(share).coming;
}

static void enter(struct gpu_share *share, size_t bytes)
{
    CHECK_INT(gpu_share_lock(share), 0);
    CHECK_INT(gpu_share_enter(share, &(struct gpu_share_entry){bytes + 7, bytes}), 0);
    gpu_share_unlock(share);
}

/* ---- processes that do one thing, and then what they are asked to ---- */

struct child {
    pid_t pid;
    int to, from;
};

static struct child start(void (*work)(struct gpu_share *share, int from, int to))
{
    int down[2], up[2];
    if (pipe(down) < 0 || pipe(up) < 0)
        exit(EXIT_FAILURE);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(down[1]);
        close(up[0]);
        work(open_one("one"), down[0], up[1]);
        _exit(check_failures ? EXIT_FAILURE : EXIT_SUCCESS);
    }
    close(down[0]);
    close(up[1]);
    return (struct child){pid, down[1], up[0]};
}

static void say(int to)
{
    CHECK_INT(write(to, "x", 1), 1);
}

static void hear(int from)
{
    char byte;
    CHECK_INT(read(from, &byte, 1), 1);
}

static void end(struct child *child, int how)
{
    int status;
    if (how)
        kill(child->pid, how);
    close(child->to);
    CHECK_INT(waitpid(child->pid, &status, 0), child->pid);
    CHECK_INT(status, how);
    close(child->from);
}

/* ---- entries ---- */

static void enter_and_wait(struct gpu_share *share, int from, int to)
{
    char byte;
    enter(share, 1000);
    say(to);
    while (read(from, &byte, 1) > 0)
        ;
}

static void try_entries(void)
{
    struct gpu_share *a = open_one("one"), *b = open_one("one"), *other = open_one("two");
    CHECK_INT(coming(a), 0);
    enter(a, 100);
    enter(b, 50);
    CHECK_INT(coming(a), 50); /* never its own */
    CHECK_INT(coming(b), 100);
    CHECK_INT(coming(other), 0); /* another device's */
    gpu_share_took(a, 30);
    CHECK_INT(coming(b), 30);
    CHECK_INT(others(b).bytes, 107);
    enter(a, 70); /* in its place */
    CHECK_INT(coming(b), 70);
    gpu_share_close(a);
    CHECK_INT(coming(b), 0);
    a = open_one("one");
    CHECK_INT(coming(a), 50);
    gpu_share_took(b, 0);
    CHECK_INT(coming(a), 0);
    CHECK_INT(others(a).bytes, 57); /* which it has now */
    gpu_share_leave(b);
    CHECK_INT(others(a).bytes, 0);
    gpu_share_leave(b);
    gpu_share_took(b, 9); /* of nothing */
    CHECK_INT(coming(a), 0);
    gpu_share_close(b);

    struct child first = start(enter_and_wait), second = start(enter_and_wait);
    hear(first.from);
    hear(second.from);
    CHECK_INT(coming(a), 2000);
    CHECK_INT(others(a).bytes, 2014);
    end(&first, SIGKILL);
    CHECK_INT(coming(a), 1000);
    end(&second, 0);
    CHECK_INT(coming(a), 0);
    enter(a, 5); /* in the place of one that was killed, whose bytes are still in the table */
    b = open_one("one");
    CHECK_INT(coming(b), 5);
    gpu_share_close(a);
    gpu_share_close(b);
    gpu_share_close(other);
    gpu_share_close(NULL);
}

/* ---- locks ---- */

static const char *counter;

/* Reads the counter and writes one more: with two at once some would be lost. */
static void count(struct gpu_share *share, int from, int to)
{
    (void)from;
    (void)to;
    int fd = open(counter, O_RDWR | O_CLOEXEC);
    for (int i = 0; i < ROUNDS; i++) {
        int value = -1;
        CHECK_INT(gpu_share_lock(share), 0);
        CHECK_INT(pread(fd, &value, sizeof value, 0), sizeof value);
        sched_yield();
        value++;
        CHECK_INT(pwrite(fd, &value, sizeof value, 0), sizeof value);
        gpu_share_unlock(share);
    }
    close(fd);
}

static void try_lock(void)
{
    struct child children[COUNTERS];
    int value = 0;
    counter = scratch_path("counter");
    int fd = open(counter, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK_INT(pwrite(fd, &value, sizeof value, 0), sizeof value);
    for (int i = 0; i < COUNTERS; i++)
        children[i] = start(count);
    for (int i = 0; i < COUNTERS; i++)
        end(&children[i], 0);
    CHECK_INT(pread(fd, &value, sizeof value, 0), sizeof value);
    CHECK_INT(value, COUNTERS * ROUNDS);
    close(fd);
}

static void hold_lock(struct gpu_share *share, int from, int to)
{
    CHECK_INT(gpu_share_lock(share), 0);
    say(to);
    hear(from);
}

static void enter_then_take(struct gpu_share *share, int from, int to)
{
    enter(share, 50);
    say(to);
    hear(from);
    gpu_share_took(share, 10);
    hear(from);
}

/* The lock of a process that is killed is free; and one that allocates is waited for. */
static void try_waits(void)
{
    struct gpu_share *share = open_one("one");
    struct child child = start(hold_lock);
    hear(child.from);
    end(&child, SIGKILL);
    CHECK_INT(gpu_share_lock(share), 0);
    CHECK_INT(gpu_share_settle(share), 0); /* for no process */
    gpu_share_unlock(share);

    child = start(enter_then_take);
    hear(child.from);
    CHECK_INT(gpu_share_lock(share), 0);
    CHECK_INT(coming(share), 50);
    say(child.to);
    CHECK_INT(gpu_share_settle(share), 0);
    CHECK_INT(coming(share), 10);
    gpu_share_unlock(share);
    end(&child, SIGKILL);

    child = start(enter_and_wait); /* killed while it allocates */
    hear(child.from);
    CHECK_INT(gpu_share_lock(share), 0);
    end(&child, SIGKILL);
    CHECK_INT(gpu_share_settle(share), 0);
    CHECK_INT(coming(share), 0);
    gpu_share_unlock(share);
    gpu_share_close(share);
}

/* ---- the file ---- */

static void no_room(struct gpu_share *share, int from, int to)
{
    (void)from;
    (void)to;
    const struct rlimit none = {0, 0};
    signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &none), 0);
    CHECK_INT(gpu_share_lock(share), 0);
    CHECK_INT(gpu_share_enter(share, &(struct gpu_share_entry){10, 10}), -EFBIG);
    CHECK_INT(gpu_share_settle(share), 0); /* nothing is left of it */
    gpu_share_unlock(share);
    struct gpu_share *other = open_one("one");
    CHECK_INT(others(other).bytes, 0);
    gpu_share_close(other);
}

/* In a folder that is not the user's own alone it does not lie, but in the next one. */
static void try_places(void)
{
    char path[128], id[32], reason[256] = "";
    struct stat file;
    struct gpu_share *share = NULL;
    CHECK(stat(scratch_path("papertape"), &file) == 0 && (file.st_mode & 07777) == 0700);
    CHECK(stat(scratch_path("papertape/device-one"), &file) == 0 && (file.st_mode & 07777) == 0600);
    CHECK_INT(gpu_share_open("", &share, reason, sizeof reason), -EINVAL);
    CHECK_INT(gpu_share_open("../one", &share, reason, sizeof reason), -EINVAL);
    CHECK(strstr(reason, "../one") != NULL && share == NULL);

    struct child child = start(no_room);
    end(&child, 0);

    CHECK_INT(chmod(scratch_path("papertape"), 0777), 0);
    snprintf(id, sizeof id, "test-%d", (int)getpid());
    gpu_share_close(open_one(id));
    snprintf(path, sizeof path, "papertape/device-%s", id);
    CHECK(access(scratch_path(path), F_OK) < 0);
    int there = 0;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path,
                 i == 0 ? "/run/user/%u/papertape/device-%s" : "/tmp/papertape-%u/device-%s",
                 (unsigned)geteuid(), id);
        there += unlink(path) == 0;
    }
    CHECK_INT(there, 1);
}

int main(void)
{
    setenv("XDG_RUNTIME_DIR", scratch_root(), 1);
    try_entries();
    try_lock();
    try_waits();
    try_places();
    return check_done("indicators_gpu/share");
}
