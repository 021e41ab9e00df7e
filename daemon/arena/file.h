/* A policy's file, read and kept away from the loop. */
#ifndef DAEMON_ARENA_FILE_H
#define DAEMON_ARENA_FILE_H

#include "daemon/arena/step.h"
#include "db/state.h"
#include "engine/engine.h"
#include "strategy/policy/policy.h"

enum { ARENA_ERROR_MAX = 1024, ARENA_CURRENCIES_MAX = 8 };

/* What is asked, and what came of it. Everything is the file's own, so that it may be read on any thread. */
struct arena_file {
    struct state_dir state;
    char name[ACCOUNT_NAME_MAX];
    char recording[ARENA_PATH_MAX]; /* a copy goes there as well; "": none */
    char path[ARENA_PATH_MAX];      /* "": the newest that the training of that name wrote; then that */
    bool given;                     /* the path was */
    struct symbol *symbols;         /* that are streamed */
    int n_symbols;
    int64_t interval_ns;
    char currencies[ARENA_CURRENCIES_MAX]
                   [ASSET_NAME_MAX]; /* that its account may have, the likeliest first */
    int n_currencies;

    struct policy *policy;           /* NULL where it failed */
    char training[ACCOUNT_NAME_MAX]; /* "" : none made it */
    char currency[ASSET_NAME_MAX];   /* of those, the one in which it trades these symbols */
    bool refused;                    /* it is a policy, and not for what is traded here */
    int error;                       /* 0 or -errno */
    char why[ARENA_ERROR_MAX];       /* one sentence */
};

/* A copy of those that an engine has, to be freed; NULL without memory. */
struct symbol *arena_symbols(const struct engine *engine);

/* Finds, reads, checks and copies it into STATE/policies/ID. */
void arena_file_read(struct arena_file *file);

/* Why a policy cannot trade these symbols on these bars in this currency: one sentence that names both sides;
 * NULL: it can. */
const char *arena_refusal(const struct policy *policy, const char *currency, const struct symbol *symbols,
                          int n_symbols, int64_t interval_ns, char err[static ARENA_ERROR_MAX]);

void arena_file_finish(struct arena_file *file); /* with a policy that nobody took */

#endif
