/* Studies, their directions and attributes, and the list of all. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/sql/sql_store.h"

int study_sql_study_find(struct study_store *store, const char *name, int64_t *ret_id,
                         char err[static STUDY_ERROR_MAX])
{
    return study_sql_first(study_sql_of(store), STUDY_SQL_FIND, RECORD_PARAMS(name), RECORD_INTO(ret_id),
                           err);
}

int study_sql_study_insert(struct study_store *store, const char *name,
                           const enum study_direction *directions, int n, int64_t *ret_id,
                           char err[static STUDY_ERROR_MAX])
{
    struct study_sql *sql = study_sql_of(store);
    int64_t id = 0;
    int r = study_sql_first(sql, STUDY_SQL_INSERT, RECORD_PARAMS(name), RECORD_INTO(&id), err);
    if (r == -ENOENT)
        return -EEXIST;
    for (int i = 0; r == 0 && i < n; i++)
        r = study_sql_run(sql, STUDY_SQL_DIRECTION_INSERT,
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

int study_sql_study_directions(struct study_store *store, int64_t study,
                               enum study_direction ret[static STUDY_OBJECTIVES_MAX], int *ret_n,
                               char err[static STUDY_ERROR_MAX])
{
    struct study_sql *sql = study_sql_of(store);
    struct study_rows rows = study_sql_query(sql, STUDY_SQL_DIRECTIONS, RECORD_PARAMS(study));
    const char *name;
    int n = 0, r;
    for (; (r = study_sql_next(sql, &rows, RECORD_INTO(&name), err)) > 0; n++)
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

int study_sql_study_attribute(struct study_store *store, int64_t study, bool system, const char *key,
                              const char *json, char err[static STUDY_ERROR_MAX])
{
    struct study_sql *sql = study_sql_of(store);
    if (!json)
        return study_sql_run(sql, system ? STUDY_SQL_SYSTEM_DROP : STUDY_SQL_USER_DROP,
                             RECORD_PARAMS(study, key), err);
    return study_sql_put(sql, false, system ? STUDY_SQL_SYSTEM_UPDATE : STUDY_SQL_USER_UPDATE,
                         system ? STUDY_SQL_SYSTEM_PUT : STUDY_SQL_USER_PUT, RECORD_PARAMS(study, key, json),
                         err);
}

/* Rows of both come by id. */
static struct study_summary *advance(struct study_summary *list, size_t n, size_t *at, int64_t id)
{
    while (*at < n && list[*at].id < id)
        ++*at;
    return *at < n && list[*at].id == id ? &list[*at] : NULL;
}

static int read_names(struct study_sql *sql, struct study_summary **list, size_t *n,
                      char err[static STUDY_ERROR_MAX])
{
    struct study_rows rows = study_sql_query(sql, STUDY_SQL_LIST, NULL);
    size_t room = 0;
    const char *name;
    int64_t id;
    int r;
    while ((r = study_sql_next(sql, &rows, RECORD_INTO(&id, &name), err)) > 0) {
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
    sql->driver->end(&rows);
    return study_store_fail(&sql->base, -ENOMEM, err, "no memory for %zu studies", *n);
}

static int read_directions(struct study_sql *sql, struct study_summary *list, size_t n,
                           char err[static STUDY_ERROR_MAX])
{
    struct study_rows rows = study_sql_query(sql, STUDY_SQL_LIST_DIRECTIONS, NULL);
    size_t at = 0;
    const char *direction;
    int64_t id;
    int r;
    while ((r = study_sql_next(sql, &rows, RECORD_INTO(&id, &direction), err)) > 0) {
        struct study_summary *summary = advance(list, n, &at, id);
        if (summary && summary->n_objectives < STUDY_OBJECTIVES_MAX)
            summary->directions[summary->n_objectives++] = direction_of(direction);
    }
    return r;
}

static int read_counts(struct study_sql *sql, struct study_summary *list, size_t n,
                       char err[static STUDY_ERROR_MAX])
{
    struct study_rows rows = study_sql_query(sql, STUDY_SQL_LIST_TRIALS, NULL);
    size_t at = 0;
    const char *name, *start;
    int64_t id;
    int trials, r;
    while ((r = study_sql_next(sql, &rows, RECORD_INTO(&id, &name, &trials, &start), err)) > 0) {
        struct study_summary *summary = advance(list, n, &at, id);
        enum trial_state state;
        if (!summary || !study_sql_state(name, &state))
            continue;
        summary->trials[state] = trials;
        int64_t started = study_sql_time(start);
        if (started != STUDY_NO_TIME &&
            (summary->started_us == STUDY_NO_TIME || started < summary->started_us))
            summary->started_us = started;
    }
    return r;
}

static int read_list(struct study_sql *sql, struct study_summary **list, size_t *n,
                     char err[static STUDY_ERROR_MAX])
{
    bool own = !sql->driver->within(sql);
    int r = own ? sql->driver->begin_read(sql, err) : 0;
    if (r < 0)
        return r;
    r = read_names(sql, list, n, err);
    if (r == 0)
        r = read_directions(sql, *list, *n, err);
    if (r == 0)
        r = read_counts(sql, *list, *n, err);
    if (own) {
        char ignored[STUDY_ERROR_MAX];
        int end = sql->driver->end_read(sql, r < 0 ? ignored : err);
        r = r < 0 ? r : end;
    }
    return r;
}

int study_sql_list(struct study_store *store, struct study_summary **ret, size_t *ret_n,
                   char err[static STUDY_ERROR_MAX])
{
    struct study_summary *list = NULL;
    size_t n = 0;
    int r = read_list(study_sql_of(store), &list, &n, err);
    if (r < 0) {
        study_summaries_finish(list, n);
        free(list);
        return r;
    }
    *ret = list;
    *ret_n = n;
    return 0;
}
