#include "db/rebuilt.h"

#include <stdio.h>
#include <string.h>

#include "db/base.h"
#include "db/reader_query.h"
#include "db/row_hash.h"
#include "record/json.h"
#include "record/status.h"

#define ROW struct db_rebuild
static const struct record rebuild_record = RECORD_LIST("rebuilds", RECORD_REBUILD);
#undef ROW
#define ROW struct db_rebuild_source
static const struct record source_record = RECORD_LIST("rebuild_sources", RECORD_REBUILD_SOURCE);
#undef ROW

#define ON_AGAIN " ON CONFLICT DO UPDATE SET hash = excluded.hash" RECORD_SET(RECORD_REBUILD_SOURCE)

void db_rebuilt_clean(char *words)
{
    for (; *words; words++)
        if (*words < ' ' || *words > '~')
            *words = '?';
}

static int put(sqlite3 *db, const char *sql, const struct record *record, const void *row)
{
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return rc;
    record_sqlite_bind(stmt, record, row, NULL);
    sqlite3_step(stmt);
    return sqlite3_finalize(stmt);
}

int db_rebuild_put(sqlite3 *db, const struct db_rebuild *rebuild, int64_t *ret_id)
{
    struct db_rebuild row = *rebuild;
    int rc = record_sqlite_ask(db, "SELECT ifnull(max(id), 0) + 1 FROM rebuilds", NULL, RECORD_INTO(&row.id));
    if (rc == SQLITE_ROW)
        rc = put(db, DB_SEALED_INSERT("rebuilds", RECORD_REBUILD), &rebuild_record, &row);
    if (rc == SQLITE_OK)
        *ret_id = row.id;
    return rc;
}

int db_rebuild_put_source(sqlite3 *db, const struct db_rebuild_source *source)
{
    return put(db, DB_SEALED_INSERT("rebuild_sources", RECORD_REBUILD_SOURCE) ON_AGAIN, &source_record,
               source);
}

static int read_rebuild(struct db_reader *reader, struct db_rebuild *ret)
{
    sqlite3_stmt *stmt;
    int r = db_query(reader, DB_SELECT("rebuilds", RECORD_REBUILD) "ORDER BY id DESC LIMIT 1", NULL, &stmt);
    if (r == 0)
        r = db_query_row(reader, stmt, &rebuild_record, ret, NULL);
    if (r > 0) {
        db_rebuilt_clean(ret->why);
        db_rebuilt_clean(ret->aside);
    }
    return db_query_end(stmt, r);
}

/* Its list, by table. 0 or -errno. */
static int read_sources(struct db_reader *reader, int64_t rebuild,
                        void (*row)(void *ctx, const struct db_rebuild_source *source), void *ctx)
{
    sqlite3_stmt *stmt;
    struct db_rebuild_source source;
    int r = db_query(reader,
                     DB_SELECT("rebuild_sources", RECORD_REBUILD_SOURCE) "WHERE rebuild = ?1 ORDER BY name",
                     RECORD_PARAMS(rebuild), &stmt);
    while (r >= 0 && (r = db_query_row(reader, stmt, &source_record, &source, NULL)) > 0) {
        db_rebuilt_clean(source.table);
        db_rebuilt_clean(source.source);
        row(ctx, &source);
    }
    return db_query_end(stmt, r);
}

static void take_source(void *ctx, const struct db_rebuild_source *source)
{
    struct db_rebuilt *rebuilt = ctx;
    if (rebuilt->n_sources < DB_REBUILT_SOURCES_MAX)
        rebuilt->sources[rebuilt->n_sources++] = *source;
}

int db_reader_rebuilt(struct db_reader *reader, struct db_rebuilt *ret)
{
    struct db_base base = {0};
    *ret = (struct db_rebuilt){0};
    int found = read_rebuild(reader, &ret->rebuild);
    int r = found > 0 ? db_base_read(reader, &base) : found;
    if (found <= 0 || r < 0)
        return r;
    ret->whole_from = base.event_seq + 1;
    r = read_sources(reader, ret->rebuild.id, take_source, ret);
    return r < 0 ? r : 1;
}

/* Are rows of orders, fills, ledger, positions, accounts or commands lost? */
static bool db_rebuilt_lost(const struct db_rebuilt *rebuilt)
{
    static const char *const tables[] = {"orders", "fills", "ledger", "positions", "accounts", "commands"};
    for (int i = 0; i < rebuilt->n_sources; i++)
        for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
            if (strcmp(rebuilt->sources[i].table, tables[t]) == 0 &&
                strstr(rebuilt->sources[i].source, DB_REBUILT_LOST))
                return true;
    return false;
}

RECORD_VIEW_OBJECT(rebuilt_object, rebuilt_view, RECORD_SHOWN_REBUILT);

json_t *db_rebuilt_json(const struct db_rebuilt *rebuilt)
{
    static const struct record_key keys[] = {{"rebuild", ""}};
    const struct rebuilt_view view = {
        .ts_ns = rebuilt->rebuild.ts_ns,
        .why = rebuilt->rebuild.why,
        .aside = rebuilt->rebuild.aside,
        .whole_from = (int64_t)rebuilt->whole_from,
        .last_event = (int64_t)rebuilt->rebuild.last_seq,
        .lost = db_rebuilt_lost(rebuilt),
    };
    json_t *object = rebuilt_object(&view), *sources = json_array();
    for (int i = 0; i < rebuilt->n_sources; i++)
        json_array_append_new(sources,
                              record_json_object(&source_record, keys, 1, &rebuilt->sources[i], NULL));
    json_object_set_new(object, "sources", sources);
    return object;
}
