#include "db/names.h"

#include <stdlib.h>
#include <string.h>

#include "db/reader.h"
#include "db/state.h"
#include "db/studies/store.h"

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

static void offer_studies(const struct state_dir *dir, const struct offering *o)
{
    char url[STATE_PATH_MAX + 32], err[STUDY_ERROR_MAX];
    struct study_store *store;
    struct study_summary *summaries;
    size_t n;

    snprintf(url, sizeof url, "%s/studies.db", dir->path);
    if (study_store_open(url, STUDY_STORE_READ, 0, &store, err) < 0)
        return;
    if (study_store_list(store, &summaries, &n, err) == 0) {
        for (size_t i = 0; i < n; i++)
            o->offer(o->ctx, summaries[i].name);
        study_summaries_finish(summaries, n);
        free(summaries);
    }
    study_store_close(store);
}

void db_names(const char *kind, const char *state, void *ctx, void (*offer)(void *ctx, const char *name))
{
    struct offering offering = {ctx, offer};
    struct db_reader *reader;
    struct state_dir dir;
    char err[DB_ERROR_MAX];

    if (db_state_dir_resolve(state, &dir, err, sizeof err) < 0)
        return;
    if (strcmp(kind, "STUDY") == 0)
        offer_studies(&dir, &offering);
    if (db_reader_open(dir.database, &reader, err, sizeof err) < 0)
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
