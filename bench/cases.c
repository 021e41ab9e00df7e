#include "bench/cases.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/line.h"
#include "bench/measure.h"

enum { REASON_MAX = 600, WHY_MAX = REASON_MAX + 40 };

/* Until the kernel has ended a killed process that a device still uses; and after SIGTERM. */
static const double KILLED_S = 10, STOPPED_S = 2;

/* Where a child is, for its parent. */
struct progress {
    atomic_int at, done; /* the case that runs; how many have run */
    _Atomic double since;
    char reason[REASON_MAX];
};
static struct progress *progress;
static const char *bench_name = "bench";
static volatile sig_atomic_t stopped;

void *bench_shared(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        perror("bench: shared memory");
        exit(EXIT_FAILURE);
    }
    return p;
}

bool bench_small(void)
{
    return getenv("PAPERTAPE_BENCH_SMALL") != NULL;
}

int bench_because(const char *format, ...)
{
    char text[REASON_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "%s: %s\n", bench_name, text);
    if (progress)
        memcpy(progress->reason, text, sizeof text);
    return -1;
}

/* Is "HOW:BENCH/CASE" in the list of what is to break? */
static bool breaks(const char *how, const char *name)
{
    char wanted[2 * BENCH_CASE_MAX];
    const char *list = getenv("PAPERTAPE_BENCH_BREAK");
    const size_t n = (size_t)snprintf(wanted, sizeof wanted, "%s:%s/%s", how, bench_name, name);
    for (const char *word = list; word && *word; word += *word == ',') {
        const size_t length = strcspn(word, ",");
        if (length == n && strncmp(word, wanted, n) == 0)
            return true;
        word += length;
    }
    return false;
}

static int run_case(const struct bench_cases *cases, int i)
{
    char name[BENCH_CASE_MAX];
    cases->name(i, name);
    if (breaks("crash", name))
        abort();
    while (breaks("hang", name))
        pause();
    if (breaks("fail", name))
        return bench_because("PAPERTAPE_BENCH_BREAK asked for it");
    return cases->run(cases->ctx, i);
}

/* All from `from` on, in this process. */
static int run_child(const struct bench_cases *cases, int from, int to)
{
    int r = cases->open ? cases->open(cases->ctx) : 0;
    for (int i = from; i < to && r == 0; i++) {
        atomic_store(&progress->at, i);
        atomic_store(&progress->since, bench_seconds());
        r = run_case(cases, i);
        if (r == 0)
            atomic_store(&progress->done, i + 1);
    }
    if (r == 0 && cases->close)
        cases->close(cases->ctx);
    fflush(NULL);
    return r == 0 || r == BENCH_SKIP ? r : EXIT_FAILURE;
}

static pid_t start_child(const struct bench_cases *cases, int from, int to)
{
    const pid_t parent = getpid();
    fflush(NULL);
    const pid_t pid = fork();
    if (pid < 0) {
        perror("bench: fork");
        exit(EXIT_FAILURE);
    }
    if (pid > 0)
        return pid;
    signal(SIGTERM, SIG_DFL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    _exit(getppid() == parent ? run_child(cases, from, to) : EXIT_FAILURE);
}

/* Waits at most so long after the child's last sign of progress: its status, or -1. */
static int await(pid_t pid, double limit_s)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    int status;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (stopped || bench_seconds() - atomic_load(&progress->since) > limit_s)
            return -1;
        nanosleep(&pause, NULL);
    }
    return status;
}

static double limit_of(const struct bench_cases *cases)
{
    const char *given = getenv("PAPERTAPE_BENCH_CASE_S");
    const double seconds = given ? strtod(given, NULL) : 0;
    return seconds > 0 ? seconds : cases->limit_s;
}

static void say(const struct bench_cases *cases, int i, const char *value, const char *reason)
{
    char name[BENCH_CASE_MAX];
    cases->name(i, name);
    bench_line_begin(cases->bench, name);
    bench_line_text("value", value);
    bench_line_text("reason", reason);
    bench_line_end();
}

/* Why a child ended that did not finish its case. */
static void explain(int status, char ret[static WHY_MAX])
{
    if (WIFSIGNALED(status))
        snprintf(ret, WHY_MAX, "%s%ssignal %d", progress->reason, progress->reason[0] ? "; " : "",
                 WTERMSIG(status));
    else
        snprintf(ret, WHY_MAX, "%s", progress->reason[0] ? progress->reason : "it ended without a word");
}

struct outcome {
    bool failed, undecided, ran;
};

/* Cases from `from` on in one child, until one breaks. Returns the next to run, or -1: there is no device. */
static int run_some(const struct bench_cases *cases, int from, int to, struct outcome *ret)
{
    char why[WHY_MAX];
    const double limit_s = limit_of(cases);
    atomic_store(&progress->at, from);
    atomic_store(&progress->done, from);
    atomic_store(&progress->since, bench_seconds());
    progress->reason[0] = '\0';
    const pid_t pid = start_child(cases, from, to);
    const int status = await(pid, limit_s);
    const int done = atomic_load(&progress->done), at = atomic_load(&progress->at);
    ret->ran |= done > from;
    if (status == 0)
        return to;
    if (status < 0) {
        kill(-pid, SIGKILL);
        kill(pid, SIGKILL);
        atomic_store(&progress->since, bench_seconds());
        const bool by_signal = stopped;
        stopped = 0; /* which would end the waiting, too */
        await(pid, by_signal ? STOPPED_S : KILLED_S);
        if (by_signal)
            stopped = 1;
        snprintf(why, sizeof why, "not done in %g s", limit_s);
        say(cases, at, "no verdict", by_signal ? "no time was left" : why);
        ret->undecided = true;
    } else if (WIFEXITED(status) && WEXITSTATUS(status) == BENCH_SKIP && !ret->ran) {
        return -1;
    } else {
        explain(status, why);
        say(cases, at, "failed", done == to ? "at its end" : why);
        ret->failed = true;
    }
    return at + 1;
}

static void on_term(int number)
{
    (void)number;
    stopped = 1;
}

static int run_range(const struct bench_cases *cases, int from, int to)
{
    struct outcome outcome = {0};
    while (from >= 0 && from < to) {
        if (stopped) {
            say(cases, from++, "no verdict", "no time was left");
            outcome.undecided = true;
            continue;
        }
        from = run_some(cases, from, cases->apart ? from + 1 : to, &outcome);
    }
    return from < 0            ? BENCH_SKIP
           : outcome.failed    ? EXIT_FAILURE
           : outcome.undecided ? BENCH_NO_VERDICT
                               : EXIT_SUCCESS;
}

static int list(const struct bench_cases *cases)
{
    for (int i = 0; i < cases->n; i++) {
        char name[BENCH_CASE_MAX];
        cases->name(i, name);
        puts(name);
    }
    return EXIT_SUCCESS;
}

int bench_cases_run(const struct bench_cases *cases, int argc, char **argv)
{
    const char *only = argc > 2 && argv[2][0] ? argv[2] : NULL;
    if (argc > 1 && strcmp(argv[1], "--list") == 0)
        return list(cases);
    bench_name = cases->bench;
    progress = bench_shared(sizeof *progress);
    signal(SIGTERM, on_term);
    if (!only)
        return run_range(cases, 0, cases->n);
    for (int i = 0; i < cases->n; i++) {
        char name[BENCH_CASE_MAX];
        cases->name(i, name);
        if (strcmp(name, only) == 0)
            return run_range(cases, i, i + 1);
    }
    fprintf(stderr, "%s: %s: no such case\n", bench_name, only);
    return EXIT_FAILURE;
}
