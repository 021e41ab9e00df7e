#include "db/keeping.h"

#include <stdio.h>
#include <string.h>

#include "db/books/chain.h"
#include "db/tables.h"
#include "record/sqlite.h"

enum {
    IDS = 500,          /* that a step looks at */
    BARS = 500,         /* that it deletes */
    PAGES = 128,        /* that it gives back: they may have to be moved */
    PAGES_FREE = 1024,  /* free ones that are never worth it … */
    PAGES_SHARE = 10,   /* … nor less than a tenth of the file */
    INCREMENTAL = 2,    /* PRAGMA auto_vacuum */
    ROWS_ANALYZED = 400 /* of an index: milliseconds, whatever its size */
};
#define DAY_NS (INT64_C(86400) * 1000000000)

void db_keeping_begin(struct db_keeping *keeping, const struct db_retention *before)
{
    *keeping = (struct db_keeping){.stage = DB_KEEPING_OF_ALERTS, .before = *before, .day = keeping->day};
}

static int fail(struct db_store *store, int rc)
{
    if (rc != SQLITE_OK)
        snprintf(store->error, sizeof store->error, "%s", sqlite3_errmsg(store->db));
    return rc;
}

/* The first row, if there is one: SQLITE_ROW, SQLITE_DONE, or an error. */
static int ask(struct db_store *store, const char *sql, const struct record_param *params,
               const struct record_into *into)
{
    int rc = record_sqlite_ask(store->db, sql, params, into);
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? rc : fail(store, rc);
}

/* What anchors cover: the table `pruned` keeps the digest of what will be deleted. */
struct covered {
    const char *table, *last; /* last: the greatest number that the statement deletes */
    int64_t now_ns;
};

static int keep_digest(struct db_store *store, const struct covered *covered,
                       const struct record_param *params)
{
    uint64_t last = 0;
    int rc = ask(store, covered->last, params, RECORD_INTO(&last));
    if (rc == SQLITE_ROW && last > 0)
        rc = fail(store, db_chain_prune(store->db, db_table_named(covered->table), last, covered->now_ns));
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* A statement without a result, in a transaction of its own with the rows' counts. `covered`: NULL for rows
 * that anchors do not cover. */
static int remove_rows(struct db_store *store, const char *sql, const struct covered *covered,
                       const struct record_param *params, int64_t *deleted)
{
    int64_t none;
    int rc = db_store_begin(store);
    if (rc == SQLITE_OK && covered)
        rc = keep_digest(store, covered, params);
    if (rc == SQLITE_OK)
        rc = ask(store, sql, params, RECORD_INTO(&none));
    int64_t changes = sqlite3_changes(store->db);
    if (rc == SQLITE_DONE)
        rc = db_store_commit(store);
    if (rc != SQLITE_OK) {
        db_store_rollback(store);
        return rc;
    }
    *deleted += changes;
    return SQLITE_OK;
}

/* ---- alerts and commands: by their numbers, which rise with time ---- */

struct numbered {
    const char *first;        /* number and time of the first row after ?1 */
    const char *sql;          /* deletes those after ?1, up to ?2, before ?3 */
    const char *table, *last; /* of what anchors cover: struct covered's; NULL */
};

static const struct numbered alerts = {
    "SELECT id, ts_ns FROM alerts WHERE id > ?1 ORDER BY id LIMIT 1",
    "DELETE FROM alerts WHERE id > ?1 AND id <= ?2 AND max(last_ns, ifnull(acked_ns, 0), ifnull(closed_ns, 0)) "
    "< ?3 AND (closed_ns IS NOT NULL OR (acked_ns IS NOT NULL AND lasts = 0)) AND id < (SELECT max(id) FROM "
    "alerts)"};
#define OLD_COMMANDS \
    "FROM commands WHERE id > ?1 AND id <= ?2 AND ts_ns < ?3 AND state <> 'pending' AND id <= (SELECT max(id) " \
    "FROM commands) - ?4"
static const struct numbered commands = {"SELECT id, ts_ns FROM commands WHERE id > ?1 ORDER BY id LIMIT 1",
                                         "DELETE " OLD_COMMANDS, "commands", "SELECT max(id) " OLD_COMMANDS};

static int step_numbered(struct db_keeping *keeping, struct db_store *store, const struct numbered *of,
                         int64_t before_ns, int64_t now_ns, int64_t *deleted)
{
    const struct covered covered = {of->table, of->last, now_ns};
    int64_t id = 0, ts_ns = 0;
    int rc = before_ns > 0 ? ask(store, of->first, RECORD_PARAMS(keeping->id), RECORD_INTO(&id, &ts_ns))
                           : SQLITE_DONE;
    if (rc == SQLITE_ROW && ts_ns < before_ns) {
        rc = remove_rows(store, of->sql, of->table ? &covered : NULL,
                         RECORD_PARAMS(id - 1, id + IDS - 1, before_ns, (int64_t)DB_KEEPING_COMMANDS),
                         deleted);
        keeping->id = rc == SQLITE_OK ? id + IDS - 1 : keeping->id;
        return rc;
    }
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        return rc;
    keeping->id = 0;
    keeping->stage++;
    return SQLITE_OK;
}

/* ---- bars: one series after the other ---- */

static int next_series(struct db_keeping *keeping, struct db_store *store)
{
    static const char sql[] =
        "SELECT symbol, interval_ns, source FROM bars WHERE (symbol, interval_ns, source) "
        "> (?1, ?2, ?3) ORDER BY symbol, interval_ns, source LIMIT 1";
    struct db_keeping next = *keeping;
    int rc =
        ask(store, sql, RECORD_PARAMS(keeping->symbol, keeping->interval_ns, (const char *)keeping->source),
            RECORD_INTO(&next.symbol, &next.interval_ns, record_into_chars(next.source, sizeof next.source)));
    if (rc == SQLITE_ROW)
        *keeping = next;
    else if (rc == SQLITE_DONE)
        keeping->stage++;
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

#define OF_SERIES "symbol = ?1 AND interval_ns = ?2 AND source = ?3"

static int step_bars(struct db_keeping *keeping, struct db_store *store)
{
    static const char newest[] =
        "SELECT open_ns FROM bars WHERE " OF_SERIES " ORDER BY open_ns DESC LIMIT 1 OFFSET ?4";
    static const char remove[] =
        "DELETE FROM bars WHERE " OF_SERIES " AND open_ns IN (SELECT open_ns FROM bars WHERE " OF_SERIES
        " AND open_ns < ?4 ORDER BY open_ns LIMIT ?5)";
    const char *source = keeping->source;
    int64_t kept_ns = 0, before_ns = keeping->before.bars_ns, deleted = 0;
    if (before_ns <= 0) {
        keeping->stage++;
        return SQLITE_OK;
    }
    int rc =
        !*source
            ? SQLITE_DONE
            : ask(store, newest,
                  RECORD_PARAMS(keeping->symbol, keeping->interval_ns, source, (int64_t)DB_KEEPING_BARS - 1),
                  RECORD_INTO(&kept_ns));
    if (rc == SQLITE_ROW)
        rc = remove_rows(store, remove, NULL,
                         RECORD_PARAMS(keeping->symbol, keeping->interval_ns, source,
                                       kept_ns < before_ns ? kept_ns : before_ns, (int64_t)BARS),
                         &deleted);
    if (rc != SQLITE_OK && rc != SQLITE_DONE)
        return rc;
    keeping->bars += deleted;
    return deleted == BARS ? SQLITE_OK : next_series(keeping, store);
}

/* ---- the file ---- */

static int step_pages(struct db_keeping *keeping, struct db_store *store)
{
    static const char sql[] = "SELECT auto_vacuum, page_count, freelist_count FROM pragma_auto_vacuum, "
                              "pragma_page_count, pragma_freelist_count";
    int64_t mode = 0, pages = 0, free_pages = 0;
    char give[64];
    int rc = ask(store, sql, NULL, RECORD_INTO(&mode, &pages, &free_pages));
    if (rc != SQLITE_ROW)
        return rc == SQLITE_DONE ? SQLITE_OK : rc;
    if (mode != INCREMENTAL || free_pages < PAGES_FREE || free_pages < pages / PAGES_SHARE) {
        keeping->stage++;
        return SQLITE_OK;
    }
    snprintf(give, sizeof give, "PRAGMA incremental_vacuum(%d)", PAGES);
    keeping->pages += PAGES;
    return fail(store, sqlite3_exec(store->db, give, NULL, NULL, NULL));
}

static int step_statistics(struct db_keeping *keeping, struct db_store *store, int64_t now_ns)
{
    char sql[96];
    keeping->stage = DB_KEEPING_DONE;
    if (keeping->day == now_ns / DAY_NS)
        return SQLITE_OK;
    keeping->day = now_ns / DAY_NS;
    snprintf(sql, sizeof sql, "PRAGMA analysis_limit = %d; PRAGMA optimize", ROWS_ANALYZED);
    return fail(store, sqlite3_exec(store->db, sql, NULL, NULL, NULL));
}

int db_keeping_step(struct db_keeping *keeping, struct db_store *store, int64_t now_ns)
{
    switch (keeping->stage) {
    case DB_KEEPING_OF_ALERTS:
        return step_numbered(keeping, store, &alerts, keeping->before.alerts_ns, now_ns, &keeping->alerts);
    case DB_KEEPING_OF_COMMANDS:
        return step_numbered(keeping, store, &commands, keeping->before.commands_ns, now_ns,
                             &keeping->commands);
    case DB_KEEPING_OF_BARS:
        return step_bars(keeping, store);
    case DB_KEEPING_OF_PAGES:
        return step_pages(keeping, store);
    case DB_KEEPING_OF_STATISTICS:
        return step_statistics(keeping, store, now_ns);
    case DB_KEEPING_DONE:
        break;
    }
    return SQLITE_OK;
}
