/* Strategies that are processes, "exec:COMMAND": a program that reads lines of JSON from its standard input
 * and answers each on its standard output (docs/plugins-protocol.md). */
#ifndef STRATEGY_PROCESS_PROCESS_H
#define STRATEGY_PROCESS_PROCESS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strategy/external.h"
#include "strategy/process/child.h"

enum {
    PROCESS_PROTOCOL = 1,
    PROCESS_START_MS = 10000, /* to describe itself, or to be ready */
    PROCESS_HISTORY = 500,    /* bars of a symbol that one is shown again that does not say how many */
    PROCESS_HISTORY_MAX = 100000,
    PROCESS_REASON_MAX = 160, /* why parameters contradict each other */
};

/* The row of strategy/forms.c. */
extern const struct strategy_form_row strategy_process_form;

/* The row's functions of a host: host.c. */
int strategy_process_host_open(const struct strategy *strategy, const double *params,
                               const struct strategy_hello *hello, struct strategy_host **ret, char *err,
                               size_t err_size);
void strategy_process_host_decide(struct strategy_host *host, const struct strategy_request *request,
                                  struct strategy_decision *ret);
void strategy_process_host_close(struct strategy_host *host);

/* What it said of a set of parameters. */
struct process_checked {
    double params[STRATEGY_PARAMS_MAX];
    const char *refused; /* why not; NULL: `specs` has its indicators */
    size_t n_specs;
    char (*specs)[STRATEGY_SPEC_TEXT];
};

enum { PROCESS_CHECKED_MAX = 16 };

struct process_reason;

/* A strategy that described itself; strategy.external->ctx is this. */
struct process_strategy {
    struct strategy strategy;
    struct strategy_external external;
    struct strategy_param params[STRATEGY_PARAMS_MAX];
    char *texts; /* all of its texts, for free() */
    uint32_t history;
    pthread_mutex_t lock;           /* of what follows */
    struct strategy_child *checker; /* that parameters are checked with; NULL: none runs */
    struct process_checked checked[PROCESS_CHECKED_MAX];
    unsigned n_checked; /* since the start: the next replaces the oldest */
    struct process_reason *reasons;
};

/* ---- described.c, hello.c: the lines of its start ---- */

/* Reads the answer to {"type":"describe"}. 0 with *ret, for process_strategy_free(); -EINVAL with one clause;
 * -ENOMEM. */
int strategy_process_described(const char *line, size_t len, const char *source,
                               struct process_strategy **ret, char *err, size_t err_size);
void strategy_process_free(struct process_strategy *process);

/* The line that starts a session, with its end; for free(), NULL without memory. `hello` NULL: to check the
 * parameters alone. states[n_symbols], or NULL. */
char *strategy_process_hello(const struct strategy *strategy, const double *params,
                             const struct strategy_hello *hello, const struct strategy_kept *states);

/* Reads the answer to it: specs[STRATEGY_SPECS_MAX]. 0; -EINVAL: it refuses the parameters, with its reason
 * in err[PROCESS_REASON_MAX]; -EPROTO: with one clause, it is no answer. */
int strategy_process_ready(const char *line, size_t len, char specs[][STRATEGY_SPEC_TEXT], size_t *ret_n,
                           char *err);

/* ---- check.c: what it says of parameters, through a process of its own ---- */

const char *strategy_process_check(const struct strategy *strategy, const double *params);
size_t strategy_process_specs(const struct strategy *strategy, const double *params,
                              char specs[][STRATEGY_SPEC_TEXT]);

/* A strategy that was opened here; NULL: one that an event log describes. */
struct process_strategy *strategy_process_of(const struct strategy *strategy);

/* Ends that process, until parameters are checked again. */
void strategy_process_rest(const struct strategy *strategy);

#endif
