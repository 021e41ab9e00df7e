#include "db/rebuilt.h"

#include <stdio.h>
#include <string.h>

#include "db/base.h"
#include "db/reader_query.h"
#include "db/row_hash.h"

void db_rebuilt_clean(char *words)
{
    for (; *words; words++)
        if (*words < ' ' || *words > '~')
            *words = '?';
}

int db_rebuild_put(sqlite3 *db, const struct db_rebuild *rebuild, int64_t *ret_id)
{
    static const char sql[] =
        "INSERT INTO rebuilds (" DB_REBUILD_COLUMNS ", hash) SELECT " DB_REBUILD_COLUMNS
        ", seal(2, " DB_REBUILD_COLUMNS
        ") FROM (SELECT (SELECT ifnull(max(id), 0) + 1 FROM rebuilds) AS id, ?1 AS ts_ns, "
        "?2 AS why, ?3 AS aside, ?4 AS first_seq, ?5 AS last_seq)";
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_bind_int64(stmt, 1, rebuild->ts_ns);
    sqlite3_bind_text(stmt, 2, rebuild->why, -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 3, rebuild->aside, -1, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 4, (sqlite3_int64)rebuild->first_seq);
    sqlite3_bind_int64(stmt, 5, (sqlite3_int64)rebuild->last_seq);
    sqlite3_step(stmt);
    rc = sqlite3_finalize(stmt);
    if (rc == SQLITE_OK)
        *ret_id = sqlite3_last_insert_rowid(db);
    return rc;
}

int db_rebuild_put_source(sqlite3 *db, int64_t rebuild, const struct db_rebuild_source *source)
{
    static const char sql[] = "INSERT OR REPLACE INTO rebuild_sources (" DB_SOURCE_COLUMNS
                              ", hash) VALUES (?1, ?2, ?3, ?4, ?5, seal(2, ?1, ?2, ?3, ?4, ?5))";
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return rc;
    sqlite3_bind_int64(stmt, 1, rebuild);
    sqlite3_bind_text(stmt, 2, source->table, -1, SQLITE_STATIC);
    sqlite3_bind_text(stmt, 3, source->source, -1, SQLITE_STATIC);
    sqlite3_bind_int64(stmt, 4, source->logged);
    sqlite3_bind_int64(stmt, 5, source->salvaged);
    sqlite3_step(stmt);
    return sqlite3_finalize(stmt);
}

int db_reader_rebuild(struct db_reader *reader, struct db_rebuild *ret)
{
    sqlite3_stmt *stmt;
    int r = db_query(reader, "SELECT " DB_REBUILD_COLUMNS " FROM rebuilds ORDER BY id DESC LIMIT 1", &stmt);
    if (r < 0)
        return r;
    r = db_query_step(reader, stmt);
    if (r > 0) {
        *ret = (struct db_rebuild){.id = sqlite3_column_int64(stmt, 0),
                                   .ts_ns = sqlite3_column_int64(stmt, 1),
                                   .first_seq = (uint64_t)sqlite3_column_int64(stmt, 4),
                                   .last_seq = (uint64_t)sqlite3_column_int64(stmt, 5)};
        db_column_name(stmt, 2, ret->why, sizeof ret->why);
        db_column_name(stmt, 3, ret->aside, sizeof ret->aside);
        db_rebuilt_clean(ret->why);
        db_rebuilt_clean(ret->aside);
    }
    return db_query_end(stmt, r);
}

int db_reader_rebuild_sources(struct db_reader *reader, int64_t rebuild,
                              void (*row)(void *ctx, const struct db_rebuild_source *source), void *ctx)
{
    sqlite3_stmt *stmt;
    int r = db_query(
        reader, "SELECT " DB_SOURCE_COLUMNS " FROM rebuild_sources WHERE rebuild = ?1 ORDER BY name", &stmt);
    if (r < 0)
        return r;
    sqlite3_bind_int64(stmt, 1, rebuild);
    while ((r = db_query_step(reader, stmt)) > 0) {
        struct db_rebuild_source source = {.logged = sqlite3_column_int64(stmt, 3),
                                           .salvaged = sqlite3_column_int64(stmt, 4)};
        db_column_name(stmt, 1, source.table, sizeof source.table);
        db_column_name(stmt, 2, source.source, sizeof source.source);
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
    int found = db_reader_rebuild(reader, &ret->rebuild);
    int r = found > 0 ? db_base_read(reader, &base) : found;
    if (found <= 0 || r < 0)
        return r;
    ret->whole_from = base.event_seq + 1;
    r = db_reader_rebuild_sources(reader, ret->rebuild.id, take_source, ret);
    return r < 0 ? r : 1;
}

bool db_rebuilt_lost(const struct db_rebuilt *rebuilt)
{
    static const char *const tables[] = {"orders", "fills", "ledger", "positions", "accounts", "commands"};
    for (int i = 0; i < rebuilt->n_sources; i++)
        for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
            if (strcmp(rebuilt->sources[i].table, tables[t]) == 0 &&
                strstr(rebuilt->sources[i].source, DB_REBUILT_LOST))
                return true;
    return false;
}

json_t *db_rebuilt_json(const struct db_rebuilt *rebuilt)
{
    const struct db_rebuild *rebuild = &rebuilt->rebuild;
    json_t *sources = json_array();
    for (int i = 0; i < rebuilt->n_sources; i++) {
        const struct db_rebuild_source *source = &rebuilt->sources[i];
        json_array_append_new(sources, json_pack("{s:s, s:s, s:I, s:I}", "table", source->table, "source",
                                                 source->source, "logged", (json_int_t)source->logged,
                                                 "salvaged", (json_int_t)source->salvaged));
    }
    return json_pack("{s:I, s:s, s:s, s:I, s:I, s:b, s:o}", "ts_ns", (json_int_t)rebuild->ts_ns, "why",
                     rebuild->why, "aside", rebuild->aside, "whole_from", (json_int_t)rebuilt->whole_from,
                     "last_event", (json_int_t)rebuild->last_seq, "lost", db_rebuilt_lost(rebuilt), "sources",
                     sources);
}
