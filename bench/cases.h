/* The cases of a bench on a device, each independent of the others. They run in a child process, one after
 * the other; where one fails, ends the process or takes longer than its limit, a line says so,
 *     {"bench":"gpu_env","case":"market-65536","value":"failed","reason":"…"}
 * ("no verdict" for the last), and the next ones run in a new child: a device that one has lost is another's
 * again.
 *
 * In the environment, for rehearsals:
 * - PAPERTAPE_BENCH_BREAK=HOW:BENCH/CASE[,…]: HOW is fail, crash or hang, of a case instead of running it
 * - PAPERTAPE_BENCH_CASE_S: the limit of every case, in seconds
 * - PAPERTAPE_BENCH_SMALL: sizes that a CPU in the device's place gets through */
#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include <stdbool.h>
#include <stddef.h>

enum { BENCH_SKIP = 77, BENCH_NO_VERDICT = 124, BENCH_CASE_MAX = 100 };

/* open() and run() return 0; -1 after bench_because(); BENCH_SKIP: there is no device, which ends the bench
 * unless a case has run. */
struct bench_cases {
    const char *bench;
    int n;
    double limit_s; /* of one case, including open() of the first in a child */
    bool apart;     /* a child for each */
    void (*name)(int i, char ret[static BENCH_CASE_MAX]);
    int (*open)(void *ctx); /* in a child, before its first case; NULL: nothing to do */
    int (*run)(void *ctx, int i);
    void (*close)(void *ctx); /* after its last, unless that failed; NULL: nothing to do */
    void *ctx;                /* a child's is a copy */
};

/* Runs them all, or the one that argv[2] names, if it is there and not empty; argv[1] is the bench's own (the
 * module's path). With --list in its place their names are printed instead, one a line. Returns the bench's
 * exit status: 0; 1: a case failed; BENCH_NO_VERDICT: no case failed, and one was not done in its time;
 * BENCH_SKIP. After SIGTERM the cases left get a line, too. */
int bench_cases_run(const struct bench_cases *cases, int argc, char **argv);

/* Says on stderr, and in the case's line, why it fails. Returns -1. */
int bench_because(const char *format, ...) __attribute__((format(printf, 1, 2)));

bool bench_small(void);

/* Zeroed memory that children share with their parent; a bench without it ends. */
void *bench_shared(size_t bytes);

#endif
