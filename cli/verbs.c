#include "cli/verbs.h"

#include <string.h>

#include "cli/text.h"
#include "db/reader.h"
#include "db/state.h"
#include "strategy/strategy.h"

const struct option_row cli_globals[CLI_GLOBALS] = {
    {"state", "DIR",
     "the daemon's state directory; else $STATE_DIRECTORY, else of $XDG_STATE_HOME/papertape "
     "(~/.local/state/papertape) and the service's " STATE_SERVICE_DIR " the first that has one",
     offsetof(struct option_call, state)},
    {"json", NULL, "one JSON object, with \"schema\": \"papertape.NAME/1\"; what is not known is null",
     offsetof(struct option_call, json)},
    {"csv", NULL, "CSV with exact decimals, times in nanoseconds", offsetof(struct option_call, csv)},
    {"help", NULL, "this text", offsetof(struct option_call, help), .letter = 'h'},
    {"version", NULL, "the version", offsetof(struct option_call, version), .letter = 'V'},
};

void cli_say(const char *line)
{
    cli_text_print(stderr, line);
    fputc('\n', stderr);
}

struct offering {
    void *ctx;
    void (*offer)(void *ctx, const char *name);
};

static void offer_symbol(void *ctx, const struct db_symbol_row *row)
{
    const struct offering *o = ctx;
    o->offer(o->ctx, row->symbol.name);
}

static void offer_account(void *ctx, const struct db_account_row *row)
{
    const struct offering *o = ctx;
    o->offer(o->ctx, row->account.name);
}

static void offer_training(void *ctx, const struct db_training *row)
{
    const struct offering *o = ctx;
    o->offer(o->ctx, row->name);
}

static void offer_policy(void *ctx, const struct db_policy *row)
{
    const struct offering *o = ctx;
    o->offer(o->ctx, row->name);
}

void cli_names(const char *kind, const struct option_call *call, void *ctx,
               void (*offer)(void *ctx, const char *name))
{
    struct offering offering = {ctx, offer};
    struct db_reader *reader;
    struct state_dir dir;
    char err[DB_ERROR_MAX];

    if (strcmp(kind, "STRATEGY") == 0) {
        size_t n;
        const struct strategy *const *strategies = strategy_list(&n);
        for (size_t i = 0; i < n; i++)
            offer(ctx, strategies[i]->name);
    }
    if (db_state_dir_look(call->state, &dir, err, sizeof err) < 0 ||
        db_reader_open(dir.database, &reader, err, sizeof err) < 0)
        return;
    if (strcmp(kind, "SYMBOL") == 0)
        db_reader_symbols(reader, offer_symbol, &offering);
    else if (strcmp(kind, "ACCOUNT") == 0)
        db_reader_accounts(reader, offer_account, &offering);
    else if (strcmp(kind, "TRAINING") == 0)
        db_reader_trainings(reader, NULL, offer_training, &offering);
    else if (strcmp(kind, "POLICY") == 0)
        db_reader_policies(reader, offer_policy, &offering);
    db_reader_close(reader);
}
