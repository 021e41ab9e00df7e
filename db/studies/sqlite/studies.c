/* Studies, their directions and attributes, and the list of all. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/sqlite/sqlite_store.h"

int study_sqlite_study_find(struct study_store *store, const char *name, int64_t *ret_id,
                            char err[static STUDY_ERROR_MAX])
{
    return study_sqlite_first(study_sqlite_of(store), STUDY_SQL_FIND, RECORD_PARAMS(name),
                              RECORD_INTO(ret_id), err);
}

int study_sqlite_study_insert(struct study_store *store, const char *name,
                              const enum study_direction *directions, int n, int64_t *ret_id,
                              char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    int r = study_sqlite_run(sqlite, STUDY_SQL_INSERT, RECORD_PARAMS(name), err);
    int64_t id = sqlite3_last_insert_rowid(sqlite->db);
    for (int i = 0; r == 0 && i < n; i++)
        r = study_sqlite_run(sqlite, STUDY_SQL_DIRECTION_INSERT,
                             RECORD_PARAMS(study_direction_name(directions[i]), id, i), err);
    if (r == 0)
        *ret_id = id;
    return r;
}

static enum study_direction direction_of(const char *name)
{
    for (enum study_direction d = STUDY_NOT_SET; name && d < STUDY_DIRECTIONS; d++)
        if (strcmp(name, study_direction_name(d)) == 0)
            return d;
    return STUDY_NOT_SET;
}

int study_sqlite_study_directions(struct study_store *store, int64_t study,
                                  enum study_direction ret[static STUDY_OBJECTIVES_MAX], int *ret_n,
                                  char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite3_stmt *stmt = study_sqlite_query(sqlite, STUDY_SQL_DIRECTIONS, RECORD_PARAMS(study));
    const char *name;
    int n = 0, r;
    for (; (r = study_sqlite_next(sqlite, stmt, RECORD_INTO(&name), err)) > 0; n++)
        if (n < STUDY_OBJECTIVES_MAX)
            ret[n] = direction_of(name);
    if (r < 0)
        return r;
    if (n > STUDY_OBJECTIVES_MAX)
        return study_store_fail(store, -EINVAL, err,
                                "study id %lld: %d objectives: at most %d are known here", (long long)study,
                                n, STUDY_OBJECTIVES_MAX);
    *ret_n = n;
    return n > 0 ? 0 : -ENOENT;
}

int study_sqlite_study_attribute(struct study_store *store, int64_t study, bool system, const char *key,
                                 const char *json, char err[static STUDY_ERROR_MAX])
{
    static const enum study_sql statements[2][2] = {{STUDY_SQL_USER_DROP, STUDY_SQL_SYSTEM_DROP},
                                                    {STUDY_SQL_USER_PUT, STUDY_SQL_SYSTEM_PUT}};
    return study_sqlite_run(study_sqlite_of(store), statements[json != NULL][system],
                            RECORD_PARAMS(study, key, json), err);
}

/* Rows of both come by id. */
static struct study_summary *advance(struct study_summary *list, size_t n, size_t *at, int64_t id)
{
    while (*at < n && list[*at].id < id)
        ++*at;
    return *at < n && list[*at].id == id ? &list[*at] : NULL;
}

static int read_names(struct study_sqlite *sqlite, struct study_summary **list, size_t *n,
                      char err[static STUDY_ERROR_MAX])
{
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_LIST];
    size_t room = 0;
    const char *name;
    int64_t id;
    int r;
    while ((r = study_sqlite_next(sqlite, stmt, RECORD_INTO(&id, &name), err)) > 0) {
        if (*n == room) {
            room = room ? room * 2 : 16;
            struct study_summary *more = realloc(*list, room * sizeof *more);
            if (!more)
                goto no_memory;
            *list = more;
        }
        struct study_summary *summary = &(*list)[*n];
        *summary =
            (struct study_summary){.id = id, .started_us = STUDY_NO_TIME, .name = name ? strdup(name) : NULL};
        if (!summary->name)
            goto no_memory;
        ++*n;
    }
    return r;
no_memory:
    sqlite3_reset(stmt);
    return study_store_fail(&sqlite->base, -ENOMEM, err, "no memory for %zu studies", *n);
}

static int read_directions(struct study_sqlite *sqlite, struct study_summary *list, size_t n,
                           char err[static STUDY_ERROR_MAX])
{
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_LIST_DIRECTIONS];
    size_t at = 0;
    const char *direction;
    int64_t id;
    int r;
    while ((r = study_sqlite_next(sqlite, stmt, RECORD_INTO(&id, &direction), err)) > 0) {
        struct study_summary *summary = advance(list, n, &at, id);
        if (summary && summary->n_objectives < STUDY_OBJECTIVES_MAX)
            summary->directions[summary->n_objectives++] = direction_of(direction);
    }
    return r;
}

static int read_counts(struct study_sqlite *sqlite, struct study_summary *list, size_t n,
                       char err[static STUDY_ERROR_MAX])
{
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_LIST_TRIALS];
    size_t at = 0;
    const char *name, *start;
    int64_t id;
    int trials, r;
    while ((r = study_sqlite_next(sqlite, stmt, RECORD_INTO(&id, &name, &trials, &start), err)) > 0) {
        struct study_summary *summary = advance(list, n, &at, id);
        enum trial_state state;
        if (!summary || !study_sqlite_state(name, &state))
            continue;
        summary->trials[state] = trials;
        int64_t started = study_sqlite_time(start);
        if (started != STUDY_NO_TIME &&
            (summary->started_us == STUDY_NO_TIME || started < summary->started_us))
            summary->started_us = started;
    }
    return r;
}

int study_sqlite_list(struct study_store *store, struct study_summary **ret, size_t *ret_n,
                      char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    struct study_summary *list = NULL;
    size_t n = 0;
    bool own = sqlite3_get_autocommit(sqlite->db);
    int r = own ? study_sqlite_run(sqlite, STUDY_SQL_BEGIN_READ, NULL, err) : 0;
    if (r < 0)
        return r;
    r = read_names(sqlite, &list, &n, err);
    if (r == 0)
        r = read_directions(sqlite, list, n, err);
    if (r == 0)
        r = read_counts(sqlite, list, n, err);
    if (own) {
        char ignored[STUDY_ERROR_MAX];
        int end = study_sqlite_run(sqlite, STUDY_SQL_COMMIT, NULL, r < 0 ? ignored : err);
        r = r < 0 ? r : end;
    }
    if (r < 0) {
        study_summaries_finish(list, n);
        free(list);
        return r;
    }
    *ret = list;
    *ret_n = n;
    return 0;
}
