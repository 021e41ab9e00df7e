/* Strategies from outside the program: a shared object ("lib:FILE.so") or a process ("exec:COMMAND").
 *
 * The engine does not call them. At each bar that such a strategy is to see it keeps a request, with the bar,
 * the account and the indicators; the driver of the engine passes the requests to the strategy's host after
 * each event, in their order, and gives each decision back as EVENT_DECISION. That event is in the event log
 * like every other: a replay, parity, explain and what-if need neither the file nor the process. A decision
 * takes effect as of its bar, never as of when it was computed. */
#ifndef STRATEGY_EXTERNAL_H
#define STRATEGY_EXTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/bar.h"
#include "strategy/record.h"
#include "strategy/strategy.h"

enum {
    STRATEGY_WHY_MAX = 32,    /* an order's tag, as ORDER_TAG_MAX */
    STRATEGY_FAULT_MAX = 160, /* why there is no decision */
    STRATEGY_HASH_SIZE = 32,
    STRATEGY_KEPT_MAX = 65536,  /* bytes that a decision may leave with the engine */
    STRATEGY_DECISION_MAX = 64, /* intents of one decision, of all symbols of a round */
    STRATEGY_SAID_MAX = 96,     /* that one is taken to have, at most */
};

enum strategy_form { STRATEGY_LIBRARY, STRATEGY_PROCESS, STRATEGY_FORMS };

/* What makes a struct strategy an outside one: its member `external`, NULL of a built-in. Its `name` is the
 * word that it is chosen by: "lib:" or "exec:" and `source`. Its functions get the strategy, so that one
 * loader's functions serve all of its strategies; struct strategy's own (check, specs, on_bar, scan) are
 * NULL. strategy_check(), strategy_specs(), strategy_on_bar(), strategy_scan() call the right one. */
struct strategy_external {
    enum strategy_form form;
    uint8_t hash[STRATEGY_HASH_SIZE]; /* SHA-256: of the file; of a process's description */
    const char *source;               /* "/path/FILE.so", or the command as it was given */
    const char *title;                /* what it calls itself: "my-cross" */
    void *ctx;                        /* its loader's */
    const char *(*check)(const struct strategy *strategy, const double *params); /* NULL: all are good */
    /* As struct strategy's; STRATEGY_SPECS_UNKNOWN: it cannot say, for now. */
    size_t (*specs)(const struct strategy *strategy, const double *params, char specs[][STRATEGY_SPEC_TEXT]);
    /* A library's: for backtests, which need no host. NULL of a process, and of what a log describes. */
    size_t (*on_bar)(const struct strategy *strategy, const double *params, void *state,
                     const struct strategy_input *input, struct intent *intents);
    void (*scan)(const struct strategy *strategy, const double *params,
                 const struct strategy_columns *columns, const struct strategy_marks *marks); /* or NULL */
};

#define STRATEGY_SPECS_UNKNOWN SIZE_MAX

/* A built-in's function, or an outside strategy's. */
const char *strategy_check(const struct strategy *strategy, const double *params); /* NULL, or why not */
/* What it returns of a process that did not answer in time: it may another time. */
extern const char strategy_unanswered[];
size_t strategy_specs(const struct strategy *strategy, const double *params,
                      char specs[][STRATEGY_SPEC_TEXT]);
static inline size_t strategy_on_bar(const struct strategy *strategy, const double *params, void *state,
                                     const struct strategy_input *input, struct intent *intents)
{
    return strategy->external ? strategy->external->on_bar(strategy, params, state, input, intents)
                              : strategy->on_bar(params, state, input, intents);
}
bool strategy_scans(const struct strategy *strategy); /* has it a scan? */
void strategy_scan(const struct strategy *strategy, const double *params,
                   const struct strategy_columns *columns, const struct strategy_marks *marks);

/* What it calls itself: an account of a backtest has that name. */
static inline const char *strategy_title(const struct strategy *strategy)
{
    return strategy->external ? strategy->external->title : strategy->name;
}

/* Is it asked through a host also in a backtest? */
static inline bool strategy_is_asked(const struct strategy *strategy)
{
    return strategy && strategy->external && !strategy->external->on_bar;
}

/* Two strategies that decide alike: the same one, or outside ones of one form, source and hash, so that one
 * may be what a log describes. */
bool strategy_same(const struct strategy *a, const struct strategy *b);

/* Is it a name of that kind, "lib:…" or "exec:…"? */
bool strategy_is_outside(const char *name);

/* What a form's names begin with: "lib:", "exec:". */
const char *strategy_form_prefix(enum strategy_form form);

/* What follows it; NULL: the name is not of that form. */
const char *strategy_form_source(enum strategy_form form, const char *name);

/* Opens what an account, an option or a file names: a built-in by its name, or "lib:FILE.so",
 * "exec:COMMAND", which runs its code. It lives as long as the program; the same file or command with the
 * same hash is the same strategy. 0; a negative errno with one clause in `err` that says what would be
 * right. */
int strategy_open(const char *name, const struct strategy **ret, char *err, size_t err_size);

/* Bytes that a strategy left with the engine, of one symbol; {0}: none. */
struct strategy_kept {
    const void *bytes;
    uint32_t len;
};

/* A bar of one account and symbol that its strategy is to see; of a strategy with `together` a round: its
 * symbol is the first of the peers, and its bar is that one's last, with the round's open. Pointers live
 * until the engine's next event. */
struct strategy_request {
    int account, symbol;
    struct bar bar;              /* exact, in the symbol's scales */
    uint64_t seq;                /* of the event that closed it */
    bool acts;                   /* false: history; the decision is not carried out */
    bool begins;                 /* the first of this symbol: what it remembers of others before is void */
    struct strategy_input input; /* its indicators, record and peers are the request's own */
    size_t n_indicators;         /* of it, and of each peer */
    struct strategy_kept state;  /* that the last decision of this symbol left */
};

enum strategy_outcome {
    STRATEGY_DECIDED, /* the intents are its answer, maybe none */
    STRATEGY_LATE,    /* no answer within the time limit of a call */
    STRATEGY_INVALID, /* an answer that cannot be read, of another bar, or too long */
    STRATEGY_ENDED,   /* the process has ended, or could not be started */
    STRATEGY_OUTCOMES,
};
const char *strategy_outcome_name(enum strategy_outcome outcome); /* "decided", "late" … */

/* What it decided on the bar of a request; without STRATEGY_DECIDED there are no intents, and the state stays
 * as it was. */
struct strategy_decision {
    enum strategy_outcome outcome;
    char fault[STRATEGY_FAULT_MAX]; /* "" when decided; else one clause: what was wrong */
    /* How many it says, at most STRATEGY_SAID_MAX. More than STRATEGY_DECISION_MAX: only those are here. More
     * than STRATEGY_INTENTS_MAX of a symbol, or than are here: all are refused. */
    uint32_t n;
    struct intent intents[STRATEGY_DECISION_MAX]; /* intents[i].why is NULL, or whys[i] */
    char whys[STRATEGY_DECISION_MAX][STRATEGY_WHY_MAX];
    bool keeps;                 /* `state` replaces what the engine has of the symbol; false: that stays */
    struct strategy_kept state; /* at most STRATEGY_KEPT_MAX; the host's, until its next call */
};

/* ---- the host: runs one account's outside strategy; not thread-safe, one a thread ---- */

/* What a host is opened for. Pointers live for the call. */
struct strategy_hello {
    const char *account, *currency;
    const struct symbol *symbols; /* all of the engine's: [n_symbols], by their numbers in requests */
    int n_symbols;
    int64_t interval_ns;
    int64_t limit_ns; /* of a call: a later answer is none */
    bool live;        /* false: a backtest */
    /* [n_symbols] that a former host left; NULL: none. A library's memory; a process's own text. Each request
     * has it too. */
    const struct strategy_kept *states;
    /* What a process writes to its standard error, a line without its end; NULL: to ours. On the thread that
     * calls the host. */
    void (*says)(void *ctx, const char *line);
    void *ctx;
};

/* What a form's host begins with. */
struct strategy_form_row;
struct strategy_host {
    const struct strategy_form_row *row;
};

/* Starts it. `params` are valid for the strategy. 0 with *ret; a negative errno with one clause in `err` that
 * says what would be right. A library's state is its host's, beginning with hello's; a process starts here
 * and is shown the bars that follow as requests, history first. */
int strategy_host_open(const struct strategy *strategy, const double *params,
                       const struct strategy_hello *hello, struct strategy_host **ret, char *err,
                       size_t err_size);

/* The decision on one bar. It never fails: what went wrong is the decision's outcome. Waits at most
 * hello.limit_ns. */
void strategy_host_decide(struct strategy_host *host, const struct strategy_request *request,
                          struct strategy_decision *ret);

/* Ends it, with its processes; NULL is fine. */
void strategy_host_close(struct strategy_host *host);

/* ---- the forms: strategy/forms.c lists them, strategy/host.c calls them ---- */

struct strategy_form_row {
    /* `source` is what follows the prefix; as strategy_open(). */
    int (*open)(const char *source, const struct strategy **ret, char *err, size_t err_size);
    /* As strategy_host_open(), decide() and close(); host->row is set by strategy_host_open(). */
    int (*host_open)(const struct strategy *strategy, const double *params,
                     const struct strategy_hello *hello, struct strategy_host **ret, char *err,
                     size_t err_size);
    void (*host_decide)(struct strategy_host *host, const struct strategy_request *request,
                        struct strategy_decision *ret);
    void (*host_close)(struct strategy_host *host);
};

/* Adds a strategy that was opened to those that strategy_find() knows, which opens none: the newest of a name
 * is found. It lives as long as the program. 0 or -ENOMEM. */
int strategy_opened(const struct strategy *strategy);
const struct strategy *strategy_find_opened(const char *name); /* or NULL */

/* NULL: this program was built without it. */
const struct strategy_form_row *strategy_form_row(enum strategy_form form);

#endif
