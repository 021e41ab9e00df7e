/* Strategies from outside the program: a shared object ("lib:FILE.so") or a process ("exec:COMMAND").
 *
 * The engine does not call them. At each bar that such a strategy sees it keeps a request, with the bar, the
 * account and the indicators; whoever drives the engine passes the requests to the strategy's host after each
 * event, in their order, and gives each decision back as EVENT_DECISION. That event is in the event log like
 * every other: a replay, parity, explain and what-if need neither the file nor the process. A decision takes
 * effect as of its bar, never as of when it was computed. */
#ifndef STRATEGY_EXTERNAL_H
#define STRATEGY_EXTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/bar.h"
#include "strategy/strategy.h"

enum {
    STRATEGY_WHY_MAX = 32,    /* an order's tag, as ORDER_TAG_MAX */
    STRATEGY_FAULT_MAX = 160, /* why there is no decision */
    STRATEGY_HASH_SIZE = 32,
};

enum strategy_form { STRATEGY_LIBRARY, STRATEGY_PROCESS };

/* What makes a struct strategy an outside one: its member `external`, NULL of a built-in. */
struct strategy_external {
    enum strategy_form form;
    uint8_t hash[STRATEGY_HASH_SIZE]; /* SHA-256: of the file; of a process's description */
    const char *source;               /* "/path/FILE.so", or the command as it was given */
};

/* A bar of one account and symbol that its strategy is to see. */
struct strategy_request {
    int account, symbol;
    struct bar bar;              /* exact, in the symbol's scales */
    uint64_t seq;                /* of the event that closed it */
    bool acts;                   /* false: history; the decision is not carried out */
    struct strategy_input input; /* its indicators and record are the request's own */
};

enum strategy_outcome {
    STRATEGY_DECIDED, /* the intents are its answer, maybe none */
    STRATEGY_LATE,    /* no answer within the time limit of a call */
    STRATEGY_INVALID, /* an answer that cannot be read, of another bar, or too long */
    STRATEGY_ENDED,   /* the process has ended, or could not be started */
    STRATEGY_OUTCOMES,
};
const char *strategy_outcome_name(enum strategy_outcome outcome); /* "decided", "late" … */

/* What it decided on the bar of a request; without STRATEGY_DECIDED there are no intents. */
struct strategy_decision {
    enum strategy_outcome outcome;
    char fault[STRATEGY_FAULT_MAX]; /* "" when decided; else one clause: what was wrong */
    uint32_t n;
    struct intent intents[STRATEGY_INTENTS_MAX]; /* intents[i].why is whys[i] */
    char whys[STRATEGY_INTENTS_MAX][STRATEGY_WHY_MAX];
};

/* ---- the host: runs one account's outside strategy; not thread-safe, one a thread ---- */

/* What a host is opened for. Pointers live for the call. */
struct strategy_hello {
    const char *account, *currency;
    const struct symbol *symbols; /* that the account trades, in the engine's order */
    int n_symbols;
    int64_t interval_ns;
    int64_t limit_ns; /* of a call: a later answer is none */
    bool live;        /* false: a backtest */
};

struct strategy_host;

/* Starts it. `params` are valid for the strategy. 0 with *ret; a negative errno with one clause in `err` that
 * says what would be right. A library's state is its host's; a process starts here and is shown the bars that
 * follow as requests, history first. */
int strategy_host_open(const struct strategy *strategy, const double *params,
                       const struct strategy_hello *hello, struct strategy_host **ret, char *err,
                       size_t err_size);

/* The decision on one bar. It never fails: what went wrong is the decision's outcome. Waits at most
 * hello.limit_ns. */
void strategy_host_decide(struct strategy_host *host, const struct strategy_request *request,
                          struct strategy_decision *ret);

/* Ends it, with its processes; NULL is fine. */
void strategy_host_close(struct strategy_host *host);

#endif
