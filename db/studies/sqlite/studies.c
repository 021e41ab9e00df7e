/* Studies, their directions and attributes, and the list of all. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/sqlite/sqlite_store.h"

int study_sqlite_study_find(struct study_store *store, const char *name, int64_t *ret_id,
                            char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_FIND];
    sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
    int rc = study_sqlite_step(sqlite, stmt, err);
    if (rc < 0)
        return rc;
    if (rc == SQLITE_ROW)
        *ret_id = sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
    return rc == SQLITE_ROW ? 0 : -ENOENT;
}

int study_sqlite_study_insert(struct study_store *store, const char *name,
                              const enum study_direction *directions, int n, int64_t *ret_id,
                              char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_INSERT];
    sqlite3_bind_text(stmt, 1, name, -1, SQLITE_STATIC);
    int r = study_sqlite_run(sqlite, stmt, err);
    int64_t id = sqlite3_last_insert_rowid(sqlite->db);
    stmt = sqlite->statements[STUDY_SQL_DIRECTION_INSERT];
    for (int i = 0; r == 0 && i < n; i++) {
        sqlite3_bind_text(stmt, 1, study_direction_name(directions[i]), -1, SQLITE_STATIC);
        sqlite3_bind_int64(stmt, 2, id);
        sqlite3_bind_int(stmt, 3, i);
        r = study_sqlite_run(sqlite, stmt, err);
    }
    if (r == 0)
        *ret_id = id;
    return r;
}

static enum study_direction direction_of(const unsigned char *name)
{
    for (enum study_direction d = STUDY_NOT_SET; name && d < STUDY_DIRECTIONS; d++)
        if (strcmp((const char *)name, study_direction_name(d)) == 0)
            return d;
    return STUDY_NOT_SET;
}

int study_sqlite_study_directions(struct study_store *store, int64_t study,
                                  enum study_direction ret[static STUDY_OBJECTIVES_MAX], int *ret_n,
                                  char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_DIRECTIONS];
    sqlite3_bind_int64(stmt, 1, study);
    int n = 0, rc;
    while ((rc = study_sqlite_step(sqlite, stmt, err)) == SQLITE_ROW) {
        if (n < STUDY_OBJECTIVES_MAX)
            ret[n] = direction_of(sqlite3_column_text(stmt, 0));
        n++;
    }
    if (rc < 0)
        return rc;
    sqlite3_reset(stmt);
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
    struct study_sqlite *sqlite = study_sqlite_of(store);
    sqlite3_stmt *stmt = sqlite->statements[json     ? (system ? STUDY_SQL_SYSTEM_PUT : STUDY_SQL_USER_PUT)
                                            : system ? STUDY_SQL_SYSTEM_DROP
                                                     : STUDY_SQL_USER_DROP];
    sqlite3_bind_int64(stmt, 1, study);
    sqlite3_bind_text(stmt, 2, key, -1, SQLITE_STATIC);
    if (json)
        sqlite3_bind_text(stmt, 3, json, -1, SQLITE_STATIC);
    return study_sqlite_run(sqlite, stmt, err);
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
    int rc;
    while ((rc = study_sqlite_step(sqlite, stmt, err)) == SQLITE_ROW) {
        if (*n == room) {
            room = room ? room * 2 : 16;
            struct study_summary *more = realloc(*list, room * sizeof *more);
            if (!more)
                goto no_memory;
            *list = more;
        }
        const char *name = (const char *)sqlite3_column_text(stmt, 1);
        struct study_summary *summary = &(*list)[*n];
        *summary = (struct study_summary){.id = sqlite3_column_int64(stmt, 0),
                                          .started_us = STUDY_NO_TIME,
                                          .name = name ? strdup(name) : NULL};
        if (!summary->name)
            goto no_memory;
        ++*n;
    }
    if (rc == SQLITE_DONE)
        sqlite3_reset(stmt);
    return rc == SQLITE_DONE ? 0 : rc;
no_memory:
    sqlite3_reset(stmt);
    return study_store_fail(&sqlite->base, -ENOMEM, err, "no memory for %zu studies", *n);
}

static int read_directions(struct study_sqlite *sqlite, struct study_summary *list, size_t n,
                           char err[static STUDY_ERROR_MAX])
{
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_LIST_DIRECTIONS];
    size_t at = 0;
    int rc;
    while ((rc = study_sqlite_step(sqlite, stmt, err)) == SQLITE_ROW) {
        struct study_summary *summary = advance(list, n, &at, sqlite3_column_int64(stmt, 0));
        if (summary && summary->n_objectives < STUDY_OBJECTIVES_MAX)
            summary->directions[summary->n_objectives++] = direction_of(sqlite3_column_text(stmt, 2));
    }
    if (rc == SQLITE_DONE)
        sqlite3_reset(stmt);
    return rc == SQLITE_DONE ? 0 : rc;
}

static int read_counts(struct study_sqlite *sqlite, struct study_summary *list, size_t n,
                       char err[static STUDY_ERROR_MAX])
{
    sqlite3_stmt *stmt = sqlite->statements[STUDY_SQL_LIST_TRIALS];
    size_t at = 0;
    int rc;
    while ((rc = study_sqlite_step(sqlite, stmt, err)) == SQLITE_ROW) {
        struct study_summary *summary = advance(list, n, &at, sqlite3_column_int64(stmt, 0));
        enum trial_state state;
        if (!summary || !study_sqlite_state((const char *)sqlite3_column_text(stmt, 1), &state))
            continue;
        summary->trials[state] = sqlite3_column_int(stmt, 2);
        int64_t started = study_sqlite_time((const char *)sqlite3_column_text(stmt, 3));
        if (started != STUDY_NO_TIME &&
            (summary->started_us == STUDY_NO_TIME || started < summary->started_us))
            summary->started_us = started;
    }
    if (rc == SQLITE_DONE)
        sqlite3_reset(stmt);
    return rc == SQLITE_DONE ? 0 : rc;
}

int study_sqlite_list(struct study_store *store, struct study_summary **ret, size_t *ret_n,
                      char err[static STUDY_ERROR_MAX])
{
    struct study_sqlite *sqlite = study_sqlite_of(store);
    struct study_summary *list = NULL;
    size_t n = 0;
    bool own = sqlite3_get_autocommit(sqlite->db);
    int r = own ? study_sqlite_run(sqlite, sqlite->statements[STUDY_SQL_BEGIN_READ], err) : 0;
    if (r < 0)
        return r;
    r = read_names(sqlite, &list, &n, err);
    if (r == 0)
        r = read_directions(sqlite, list, n, err);
    if (r == 0)
        r = read_counts(sqlite, list, n, err);
    if (own) {
        char ignored[STUDY_ERROR_MAX];
        int end = study_sqlite_run(sqlite, sqlite->statements[STUDY_SQL_COMMIT], r < 0 ? ignored : err);
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
