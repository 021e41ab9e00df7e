/* Reads a policy's file and keeps a copy, on a thread of the pool. */
#ifndef DAEMON_ARENA_FILE_H
#define DAEMON_ARENA_FILE_H

#include "daemon/arena/limits.h"
#include "daemon/arena/step.h"
#include "db/state.h"
#include "engine/engine.h"
#include "strategy/policy/policy.h"

enum { ARENA_ERROR_MAX = 1024, ARENA_CURRENCIES_MAX = 8 };

/* The request and its result. It borrows nothing, so that any thread may read the file. */
struct arena_file {
    struct state_dir state;
    char name[ACCOUNT_NAME_MAX];
    char recording[ARENA_PATH_MAX]; /* a copy goes there as well; "": none */
    char path[ARENA_PATH_MAX];      /* "": the newest that the training of that name wrote; then that */
    bool given;                     /* the caller gave the path */
    struct symbol *symbols;         /* that are streamed */
    int n_symbols;
    int64_t interval_ns;
    bool extended_hours; /* of a venue */
    char currencies[ARENA_CURRENCIES_MAX]
                   [ASSET_NAME_MAX]; /* that its account may have, the most likely first */
    int n_currencies;
    struct policy_limits configured, limits; /* of [arena]; and with in_force those that it has */
    struct arena_limits given_limits;
    bool in_force; /* it trades, and another file takes over */

    struct policy *policy;           /* NULL where reading failed */
    char training[ACCOUNT_NAME_MAX]; /* "" : none made it */
    char currency[ASSET_NAME_MAX];   /* of those, the one in which it trades these symbols */
    bool refused; /* it is a policy, but not for the symbols, bars or currency that are traded here */
    int error;    /* 0 or -errno */
    char why[ARENA_ERROR_MAX]; /* one sentence */
};

/* A copy of the engine's symbols, to be freed; NULL without memory. */
struct symbol *arena_symbols(const struct engine *engine);

/* Finds, reads, checks and copies it into STATE/policies/ID. */
void arena_file_read(struct arena_file *file);

/* Why a policy cannot trade these symbols in this currency, on these bars and in these hours: one sentence
 * that names both sides; NULL: it can. */
const char *arena_refusal(const struct policy *policy, const char *currency, const struct symbol *symbols,
                          int n_symbols, int64_t interval_ns, bool extended_hours,
                          char err[static ARENA_ERROR_MAX]);

void arena_file_finish(struct arena_file *file); /* also frees a policy that was not taken */

#endif
