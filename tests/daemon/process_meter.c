/* What processes of ours use, in a /proc of the test's own: the daemon, its co-process, a study's worker with
 * descendants; processes that start, end, and take another's number. Then the machine's own /proc. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/process.h"
#include "tests/check.h"
#include "tests/daemon/tree.h"
#include "tests/random.h"

enum { DAEMON, TRAINER, PPO, STUDY, GONE, ROLES };

static char proc[SCRATCH_MAX];
static const struct process_role roles[ROLES] = {
    {"daemon", 10}, {"trainer", 20}, {"ppo-btc", 30}, {"search", 40}, {"gone", 999}};
static struct process_sample samples[ROLES];
static double page, tick; /* bytes; a tick of the processor's in a second, in percent */

/* `cpu` in ticks, the disk in bytes, memory in pages of which `shared` are. */
static void put(int pid, int parent, long started, long cpu, long pages, long shared, long read, long written)
{
    char path[64], text[256];
    tree_process(proc, pid, parent, "a (b) c", started, cpu - cpu / 4, cpu / 4);
    snprintf(path, sizeof path, "%d/statm", pid);
    snprintf(text, sizeof text, "99999 %ld %ld 5 0 300 0\n", pages, shared);
    tree_put(proc, path, text);
    snprintf(path, sizeof path, "%d/io", pid);
    snprintf(
        text, sizeof text,
        "rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: %ld\nwrite_bytes: %ld\ncancelled_write_bytes: 5\n",
        read, written);
    tree_put(proc, path, text);
}

static void put_all(void)
{
    put(1, 0, 1, 1000, 500, 100, 9, 9);
    put(10, 1, 100, 1000, 50, 20, 4096, 8192); /* the daemon */
    put(11, 10, 110, 10, 5, 2, 0, 0);          /* what it started */
    put(20, 10, 120, 100, 40, 20, 0, 0);       /* the co-process */
    put(30, 20, 130, 5000, 300, 100, 1000, 0); /* a training's worker */
    put(40, 20, 140, 50, 30, 10, 0, 0);        /* a study's */
    put(41, 40, 141, 700, 200, 150, 0, 4096);  /* with two of its own */
    put(42, 40, 142, 800, 210, 150, 0, 8192);
    put(43, 42, 143, 1, 2, 1, 0, 0);             /* and one of theirs */
    put(50, 1, 150, 9999, 999, 9, 999999, 9999); /* some other program */
}

static void test_roles(void)
{
    CHECK_STR(daemon_process_role_of(roles, ROLES, 10), "daemon");
    CHECK_STR(daemon_process_role_of(roles, ROLES, 11), "daemon");
    CHECK_STR(daemon_process_role_of(roles, ROLES, 30), "ppo-btc");
    CHECK_STR(daemon_process_role_of(roles, ROLES, 43), "search");
    CHECK(daemon_process_role_of(roles, ROLES, 1) == NULL);
    CHECK(daemon_process_role_of(roles, ROLES, 50) == NULL);
    CHECK(daemon_process_role_of(roles, ROLES, 999) == NULL); /* there is no such process */
    CHECK(daemon_process_role_of(roles, ROLES, 0) == NULL);
    CHECK(daemon_process_role_of(roles, ROLES, -1) == NULL);
    tree_process(proc, 60, 61, "ring", 1, 1, 1);
    tree_process(proc, 61, 60, "ring", 1, 1, 1);
    CHECK(daemon_process_role_of(roles, ROLES, 60) == NULL);
}

static void test_first(struct process_meter *meter)
{
    const int64_t now_ns = 5000000000;
    daemon_process_meter_sample(meter, now_ns, roles, ROLES, samples);
    CHECK_STR(samples[STUDY].role, "search");
    CHECK_INT(samples[STUDY].pid, 40);
    CHECK(samples[DAEMON].resident_bytes == (50 + 3) * page);
    CHECK(samples[TRAINER].resident_bytes == 40 * page);
    CHECK(samples[PPO].resident_bytes == 300 * page);
    CHECK(samples[STUDY].resident_bytes == (30 + 50 + 60 + 1) * page);
    for (int i = 0; i < ROLES; i++) {
        CHECK(isnan(samples[i].cpu_percent));
        CHECK(isnan(samples[i].read_bytes_s) && isnan(samples[i].written_bytes_s));
    }
    CHECK(isnan(samples[GONE].resident_bytes));
}

/* Two seconds later. */
static void test_second(struct process_meter *meter)
{
    put(10, 1, 100, 1030, 50, 20, 4096, 8192 + 4096);
    put(30, 20, 130, 5400, 300, 100, 3000, 0);
    put(41, 40, 141, 900, 200, 150, 0, 4096);
    put(42, 40, 142, 1000, 210, 150, 0, 8192 + 2048);
    put(44, 42, 900, 50, 9, 1, 500, 0); /* it started since then */
    tree_remove(proc, "43");            /* it ended */
    daemon_process_meter_sample(meter, 7000000000, roles, ROLES, samples);
    CHECK(fabs(samples[DAEMON].cpu_percent - 30 * tick / 2) < 1e-9);
    CHECK(samples[DAEMON].written_bytes_s == 2048);
    CHECK(samples[DAEMON].read_bytes_s == 0);
    CHECK(samples[TRAINER].cpu_percent == 0);
    CHECK(fabs(samples[PPO].cpu_percent - 400 * tick / 2) < 1e-9);
    CHECK(samples[PPO].read_bytes_s == 1000);
    CHECK(fabs(samples[STUDY].cpu_percent - 450 * tick / 2) < 1e-9);
    CHECK(samples[STUDY].written_bytes_s == 1024);
    CHECK(samples[STUDY].read_bytes_s == 250);
    CHECK(samples[STUDY].resident_bytes == (30 + 50 + 60 + 8) * page);
    CHECK(isnan(samples[GONE].cpu_percent));
}

/* A number that another process has got, files that may not be read or are malformed, a clock that stands. */
static void test_odd(struct process_meter *meter)
{
    put(30, 20, 777, 5, 10, 1, 0, 0);
    tree_put(proc, "41/io", "read_bytes: many\n");
    tree_put(proc, "20/io", NULL);
    tree_put(proc, "10/statm", "1\n");
    daemon_process_meter_sample(meter, 8000000000, roles, ROLES, samples);
    CHECK(isnan(samples[PPO].cpu_percent));
    CHECK(samples[PPO].resident_bytes == 10 * page);
    CHECK(isnan(samples[STUDY].read_bytes_s) && isnan(samples[STUDY].written_bytes_s));
    CHECK(samples[STUDY].cpu_percent == 0);
    CHECK(isnan(samples[TRAINER].read_bytes_s));
    CHECK(samples[TRAINER].cpu_percent == 0);
    CHECK(isnan(samples[DAEMON].resident_bytes));
    tree_put(proc, "20/stat", "20 (no end");
    daemon_process_meter_sample(meter, 8000000000, roles, ROLES, samples);
    CHECK(isnan(samples[STUDY].cpu_percent));
    CHECK(isnan(samples[TRAINER].resident_bytes)); /* it cannot be read: not known */
    daemon_process_meter_sample(meter, 9000000000, roles, 0, samples);
}

/* Random bytes and numbers in each file: nothing crashes. */
static void test_random(struct process_meter *meter)
{
    enum { ROUNDS = 150 };
    static const char *const files[] = {"20/stat", "20/statm", "20/io", "30/stat", "30/io"};
    static const char alphabet[] = "0123456789 ()-:\nS";
    struct random random = random_seeded("daemon/process_meter", 26);
    for (int round = 0; round < ROUNDS; round++) {
        char bytes[300];
        size_t n = (size_t)random_between(&random, 0, sizeof bytes);
        for (size_t i = 0; i < n; i++)
            bytes[i] = round % 2 ? (char)random_next(&random)
                                 : alphabet[random_next(&random) % (sizeof alphabet - 1)];
        if (round % 3 == 0) /* numbers at the edges of their range */
            n = (size_t)snprintf(bytes, sizeof bytes,
                                 "20 (x) S 10 0 0 0 0 0 0 0 0 0 %lld %lld 0 0 0 0 0 0 %lld",
                                 (long long)random_next(&random), (long long)random_next(&random),
                                 (long long)(random_next(&random) % 2));
        put_all();
        tree_put_bytes(proc, files[round % 5], bytes, n);
        daemon_process_meter_sample(meter, (int64_t)(10 + round) * 1000000000, roles, ROLES, samples);
        CHECK(samples[DAEMON].resident_bytes > 0);
        (void)daemon_process_role_of(roles, ROLES, 30);
    }
}

static void until_done(uv_loop_t *loop)
{
    uv_run(loop, UV_RUN_DEFAULT);
}

/* The machine's own: a child that works, off the loop. */
static void test_real(void)
{
    uv_loop_t loop;
    unsetenv("PAPERTAPE_PROCFS");
    pid_t child = fork();
    if (child == 0)
        for (volatile unsigned turn = 0;; turn++)
            ;
    struct process_role own[] = {{"daemon", getpid()}, {"worker", child}};
    struct process_sampler *sampler = uv_loop_init(&loop) == 0 ? daemon_process_sampler_create(&loop) : NULL;
    if (child < 0 || !sampler)
        abort();
    const struct process_samples *last = daemon_process_sampler_last(sampler);
    CHECK_INT(last->samples, 0);
    CHECK_STR(daemon_process_role_of(own, 2, child), "worker");
    CHECK_STR(daemon_process_role_of(own, 1, child), "daemon");
    do { /* its first tick may take as long as the machine is busy */
        CHECK_INT(daemon_process_sampler_ask(sampler, own, 2), 0);
        until_done(&loop);
    } while (!(last->processes[1].cpu_percent > 0) && last->samples < 100000);
    CHECK(last->samples >= 2);
    CHECK(last->sampled_ns > 0);
    CHECK_INT(last->n, 2);
    CHECK(last->processes[1].cpu_percent > 0);
    CHECK(last->processes[0].resident_bytes > 0 && last->processes[1].resident_bytes > 0);
    CHECK_STR(last->processes[1].role, "worker");

    CHECK_INT(daemon_process_sampler_ask(sampler, own, PROCESS_ROLES_MAX + 1), -EINVAL);
    CHECK_INT(daemon_process_sampler_ask(sampler, own, 2), 0);
    CHECK_INT(daemon_process_sampler_ask(sampler, own, 2), -EBUSY);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    daemon_process_sampler_destroy(sampler); /* while it works */
    until_done(&loop);
    daemon_process_sampler_destroy(daemon_process_sampler_create(&loop));
    daemon_process_sampler_destroy(NULL);
    CHECK_INT(uv_loop_close(&loop), 0);
}

int main(void)
{
    struct process_meter *meter = daemon_process_meter_create();
    page = (double)sysconf(_SC_PAGESIZE);
    tick = 100.0 / (double)sysconf(_SC_CLK_TCK);
    scratch_in_memory();
    scratch_make(proc);
    setenv("PAPERTAPE_PROCFS", proc, 1);
    put_all();
    test_roles();
    test_first(meter);
    test_second(meter);
    test_odd(meter);
    test_random(meter);
    daemon_process_meter_destroy(meter);
    daemon_process_meter_destroy(NULL);
    test_real();
    return check_done("daemon/process_meter");
}
