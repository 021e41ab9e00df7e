#include "daemon/rebuild.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/rebuild_log.h"
#include "daemon/rebuild_play.h"
#include "daemon/rebuild_swap.h"
#include "db/counts.h"
#include "db/row_hash.h"
#include "db/salvage.h"
#include "db/verify.h"
#include "exchange/fail.h"
#include "record/sqlite.h"

enum { BUSY_TIMEOUT_MS = 60000 };

/* ---- what is built ---- */

struct building {
    const struct rebuild_options *options;
    const char *events;
    struct rebuild_paths paths;
    sqlite3 *db; /* to the new file, beside the player's */
    struct db_salvage *salvage;
    struct rebuild_played played;
    char lost[REBUILD_ERROR_MAX];     /* why nothing is salvaged; "" */
    char unsound[DB_ERROR_MAX];       /* what the verification says of it; "" */
    int64_t rows_salvaged, rows_lost; /* lost: of orders, fills and ledger, before the base */
    bool lost_money;
    size_t from;               /* the first segment that is played */
    bool stay;                 /* within the log: what the former file has beyond it is incomplete */
    uint64_t beyond_seq;       /* the newest event of the rows taken from beyond; 0: none */
    char beyond[DB_ERROR_MAX]; /* which rows of beyond are lost; "" */
};

static int sql(struct building *b, const char *text, char *err, size_t err_size)
{
    int rc = sqlite3_exec(b->db, text, NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        snprintf(err, err_size, "the new database: %s", sqlite3_errmsg(b->db));
    return db_errno(rc);
}

static int64_t number(sqlite3 *db, const char *text)
{
    int64_t value = -1;
    record_sqlite_ask(db, text, NULL, RECORD_INTO(&value));
    return value;
}

static int open_new(struct building *b, char *err, size_t err_size)
{
    int r = daemon_rebuild_remove(b->paths.building);
    if (r < 0)
        return daemon_rebuild_fail(r, err, err_size, b->paths.building);
    int fd = open(b->paths.building, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (fd < 0)
        return daemon_rebuild_fail(-errno, err, err_size, b->paths.building);
    close(fd);
    int rc = sqlite3_open_v2(b->paths.building, &b->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = db_row_hash_register(b->db);
    if (rc != SQLITE_OK) {
        snprintf(err, err_size, "the new database: %s", sqlite3_errstr(rc));
        return db_errno(rc);
    }
    sqlite3_busy_timeout(b->db, BUSY_TIMEOUT_MS);
    r = db_migrate(b->db, db_migrations, db_migrations_count, err, err_size);
    if (r == 0)
        r = sql(b,
                "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA synchronous = OFF; "
                "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;",
                err, err_size);
    return r;
}

static void close_new(struct building *b)
{
    db_salvage_close(b->salvage);
    sqlite3_close(b->db);
    b->salvage = NULL;
    b->db = NULL;
}

/* The former file may be anything: on an error nothing of it is taken. */
static int open_former(struct building *b, char *err, size_t err_size)
{
    const char *path = b->options->state->database;
    char why[DB_ERROR_MAX] = "";
    struct stat st;
    if (b->lost[0])
        return 0;
    if (stat(path, &st) < 0 || st.st_size == 0) {
        snprintf(b->lost, sizeof b->lost, "there was no file, or an empty one");
        return 0;
    }
    int r = db_salvage_open(path, b->db, &b->salvage, why, sizeof why);
    if (r == -ENOMEM)
        return daemon_rebuild_fail(r, err, err_size, path);
    if (r < 0)
        snprintf(b->lost, sizeof b->lost, "the former file cannot be read: %s", why);
    return 0;
}

static int salvage_before(struct building *b, char *err, size_t err_size)
{
    uint64_t first_seq = 0;
    int r = daemon_rebuild_log_begins(b->events, &first_seq);
    if (r < 0)
        return daemon_rebuild_fail(r, err, err_size, b->events);
    if (!b->salvage)
        return 0;
    r = sql(b, "BEGIN IMMEDIATE", err, err_size);
    int rc = r == 0 ? db_salvage_before(b->salvage, first_seq) : SQLITE_OK;
    if (rc != SQLITE_OK)
        snprintf(err, err_size, "the new database: %s", sqlite3_errmsg(b->db));
    return r == 0 && rc == SQLITE_OK ? sql(b, "COMMIT", err, err_size) : r < 0 ? r : db_errno(rc);
}

/* Do both have the same ledger, as far as both reach? In a sound one the hash of the newest row that both
 * have covers all before it. */
static bool same_ledger(struct building *b)
{
    static const char text[] =
        "SELECT id, hash FROM ledger UNION ALL SELECT last_ledger, ledger_hash FROM base WHERE "
        "last_ledger > 0 ORDER BY id ";
    sqlite3_stmt *ours;
    bool same = true, sound = b->options->sound;
    char sql_text[sizeof text + 20];
    snprintf(sql_text, sizeof sql_text, "%s%s", text, sound ? "DESC" : "LIMIT 1000");
    uint8_t hash[LEDGER_HASH_SIZE], our[LEDGER_HASH_SIZE] = {0};
    uint64_t id;
    if (!b->salvage || sqlite3_prepare_v2(b->db, sql_text, -1, &ours, NULL) != SQLITE_OK)
        return true;
    for (bool more = true; more && sqlite3_step(ours) == SQLITE_ROW;) {
        record_sqlite_take(ours, RECORD_INTO(&id, record_into_bytes(our, sizeof our)));
        bool theirs = db_salvage_ledger_hash(b->salvage, id, hash);
        same = !theirs || memcmp(hash, our, sizeof our) == 0;
        more = same && !(theirs && sound);
    }
    sqlite3_finalize(ours);
    return same;
}

static int read_base(struct building *b, struct db_base *ret, char *err, size_t err_size)
{
    struct db_reader *reader;
    int r = db_reader_open(b->paths.building, &reader, err, err_size);
    if (r < 0)
        return r;
    r = db_base_read(reader, ret);
    if (r < 0)
        snprintf(err, err_size, "%s", db_reader_error(reader));
    db_reader_close(reader);
    return r;
}

static int put_counts(struct building *b, char *err, size_t err_size)
{
    struct db_counts counts;
    char text[DB_COUNTS_TEXT], insert[2 * DB_COUNTS_TEXT + 200];
    int rc = db_counts_take(b->db, &counts);
    if (rc != SQLITE_OK)
        return db_errno(rc);
    db_counts_format(&counts, text);
    snprintf(insert, sizeof insert,
             "INSERT INTO meta (key, value, hash) VALUES ('" DB_COUNTS_KEY "', '%s', seal(2, '" DB_COUNTS_KEY
             "', '%s')) ON CONFLICT (key) DO UPDATE SET value = excluded.value, hash = excluded.hash",
             text, text);
    return sql(b, insert, err, err_size);
}

static int salvage_after(struct building *b, char *err, size_t err_size)
{
    struct db_base base = {0};
    int r = read_base(b, &base, err, err_size);
    if (r == 0)
        r = sql(b, "BEGIN IMMEDIATE", err, err_size);
    int rc = r < 0 ? SQLITE_OK : b->salvage ? db_salvage_after(b->salvage, &base) : db_base_end_orders(b->db);
    if (r == 0 && rc == SQLITE_OK)
        rc = db_base_put_salvaged(b->db);
    if (rc != SQLITE_OK) {
        snprintf(err, err_size, "the new database: %s", sqlite3_errmsg(b->db));
        return db_errno(rc);
    }
    if (r == 0)
        r = put_counts(b, err, err_size);
    return r == 0 ? sql(b, "COMMIT", err, err_size) : r;
}

static int verify(struct building *b, char failure[static DB_ERROR_MAX])
{
    struct db_reader *reader;
    struct db_verified *verified;
    int r = db_reader_open(b->paths.building, &reader, failure, DB_ERROR_MAX);
    if (r < 0)
        return r;
    r = db_verify(reader, &verified);
    if (r < 0) {
        snprintf(failure, DB_ERROR_MAX, "%s", db_reader_error(reader));
    } else {
        snprintf(failure, DB_ERROR_MAX, "%s", verified->failure);
        db_verified_destroy(verified);
    }
    db_reader_close(reader);
    return r;
}

/* ---- beyond the log's end ---- */

static bool ledger_end(struct building *b, uint64_t *ret_id, uint8_t ret[static LEDGER_HASH_SIZE])
{
    *ret_id = 0;
    memset(ret, 0, LEDGER_HASH_SIZE);
    int rc = record_sqlite_ask(b->db,
                               "SELECT id, hash FROM ledger UNION ALL SELECT last_ledger, ledger_hash FROM "
                               "base ORDER BY id DESC LIMIT 1",
                               NULL, RECORD_INTO(ret_id, record_into_bytes(ret, LEDGER_HASH_SIZE)));
    return rc == SQLITE_ROW || rc == SQLITE_DONE;
}

static void report_beyond(struct building *b, const struct db_salvage_ends *ours,
                          const struct db_salvage_ends *theirs)
{
    snprintf(b->beyond, sizeof b->beyond,
             DB_REBUILT_LOST ": after event %" PRIu64 ", where the log ends, orders to %" PRIu64
                             ", fills to %" PRIu64 " and ledger rows to %" PRIu64 " (kept: %" PRIu64
                             ", %" PRIu64 ", %" PRIu64 ")",
             ours->event_seq, theirs->order, theirs->fill, theirs->ledger, ours->order, ours->fill,
             ours->ledger);
    b->lost_money = true;
}

/* Events that the log has, and that cannot be read. */
static void report_cut(struct building *b)
{
    const struct rebuild_played *played = &b->played;
    const char *name = strrchr(b->events, '/');
    uint64_t end = b->beyond_seq ? b->beyond_seq : played->last_seq;
    char which[96];
    if (!played->cut || b->beyond[0] || (played->newest_seq <= end && b->beyond_seq))
        return;
    if (played->newest_seq > end)
        snprintf(which, sizeof which, "events %" PRIu64 " to %" PRIu64, end + 1, played->newest_seq);
    else
        snprintf(which, sizeof which, "what came after event %" PRIu64, end);
    snprintf(b->beyond, sizeof b->beyond,
             DB_REBUILT_LOST ": %s, in an altered block of the log and behind it: %.80s", which,
             name ? name + 1 : b->events);
    b->lost_money = true;
}

/* Rows of events that the log no longer has: all of them, or none, so that accounts are of one moment. */
static int take_beyond(struct building *b, char *err, size_t err_size)
{
    struct db_salvage_ends ours = {.event_seq = b->played.last_seq}, theirs;
    uint8_t hash[LEDGER_HASH_SIZE];
    if (!b->salvage || b->options->follows_log)
        return 0;
    db_salvage_ends(b->salvage, &theirs);
    ours.order = (uint64_t)number(b->db, "SELECT max(ifnull((SELECT max(id) FROM orders), 0), "
                                         "ifnull((SELECT last_order FROM base), 0))");
    ours.fill = (uint64_t)number(b->db, "SELECT max(ifnull((SELECT max(id) FROM fills), 0), "
                                        "ifnull((SELECT last_fill FROM base), 0))");
    bool known = ledger_end(b, &ours.ledger, hash);
    if (theirs.order <= ours.order && theirs.fill <= ours.fill && theirs.ledger <= ours.ledger)
        return 0;
    if (b->stay || !known || theirs.event_seq <= ours.event_seq) {
        report_beyond(b, &ours, &theirs);
        return 0;
    }
    int r = sql(b, "BEGIN IMMEDIATE", err, err_size);
    int rc = r == 0 ? db_salvage_beyond(b->salvage, &ours, hash) : SQLITE_OK;
    if (r == 0 && rc == SQLITE_OK)
        rc = db_base_put_salvaged(b->db);
    if (r == 0 && rc == SQLITE_OK)
        r = put_counts(b, err, err_size);
    if (r == 0 && rc == SQLITE_OK)
        rc = sqlite3_exec(b->db, "COMMIT", NULL, NULL, NULL);
    if (!sqlite3_get_autocommit(b->db))
        sqlite3_exec(b->db, "ROLLBACK", NULL, NULL, NULL);
    bool whole = r == 0 && rc == SQLITE_OK &&
                 (uint64_t)number(b->db, "SELECT ifnull(max(id), 0) FROM orders") >= theirs.order &&
                 (uint64_t)number(b->db, "SELECT ifnull(max(id), 0) FROM fills") >= theirs.fill &&
                 (uint64_t)number(b->db, "SELECT ifnull(max(id), 0) FROM ledger") >= theirs.ledger;
    char failure[DB_ERROR_MAX] = "";
    if (whole && (r = verify(b, failure)) == 0 && !failure[0]) {
        b->beyond_seq = theirs.event_seq;
        return 0;
    }
    return r == -ENOMEM || r == -ENOSPC ? r : -ESTALE;
}

static int salvage_beyond(struct building *b, char *err, size_t err_size)
{
    int r = take_beyond(b, err, err_size);
    if (r == 0)
        report_cut(b);
    return r;
}

/* ---- is it sound, and does it need its base? ---- */

static bool whole(struct building *b)
{
    return number(b->db,
                  "SELECT (SELECT count(*) FROM orders WHERE id <= last_order) = last_order AND "
                  "(SELECT count(*) FROM fills WHERE id <= last_fill) = last_fill AND "
                  "(SELECT count(*) FROM ledger WHERE id <= last_ledger) = last_ledger FROM base") == 1;
}

#define FOR_BASE_TABLES(DO) \
    DO("base") DO("base_accounts") DO("base_balances") DO("base_positions") DO("base_orders")
#define KEEP(table)    "CREATE TEMP TABLE kept_" table " AS SELECT * FROM " table ";"
#define RESTORE(table) "INSERT INTO " table " SELECT * FROM temp.kept_" table ";"

/* Where every row before the base was salvaged, the record is complete and needs no base: the verification
 * decides. */
static int drop_base(struct building *b, char *err, size_t err_size)
{
    char failure[DB_ERROR_MAX] = "";
    if (!b->played.based || !whole(b))
        return 0;
    int r = sql(b, FOR_BASE_TABLES(KEEP), err, err_size);
    if (r == 0 && db_base_drop(b->db) != SQLITE_OK)
        r = -EIO;
    if (r == 0)
        r = verify(b, failure);
    if (r == 0 && failure[0])
        return sql(b, FOR_BASE_TABLES(RESTORE), err, err_size);
    if (r == 0) {
        b->played.based = false;
        b->played.first_seq = b->played.begins;
    }
    return r;
}

/* ---- the list of sources ---- */

/* A table may be read twice: to the log's end, and beyond it. */
static int64_t salvaged_of(const struct building *b, const char *table)
{
    int64_t rows = 0;
    for (int i = 0; b->salvage && i < db_salvage_tables(b->salvage); i++)
        if (strcmp(db_salvage_table(b->salvage, i)->table, table) == 0)
            rows += db_salvage_table(b->salvage, i)->rows;
    return rows;
}

static bool damaged(const struct building *b, const char *table)
{
    for (int i = 0; b->salvage && i < db_salvage_tables(b->salvage); i++) {
        const struct db_salvaged *s = db_salvage_table(b->salvage, i);
        if (strcmp(s->table, table) == 0)
            return s->faults > 0 || s->refused > 0;
    }
    return true;
}

/* Numbers up to the base's that no row has: the log no longer reaches them, and no file had them. */
static void missing(struct building *b, const char *table, char *text, size_t size)
{
    static const char *const numbered[][2] = {
        {"orders", "last_order"}, {"fills", "last_fill"}, {"ledger", "last_ledger"}};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof numbered / sizeof *numbered; i++) {
        char count[200];
        if (strcmp(table, numbered[i][0]) != 0)
            continue;
        snprintf(count, sizeof count, "SELECT %s - (SELECT count(*) FROM %s WHERE id <= %s) FROM base",
                 numbered[i][1], table, numbered[i][1]);
        int64_t n = number(b->db, count);
        if (n <= 0)
            continue;
        snprintf(text, size, "; " DB_REBUILT_LOST ": %" PRId64 " older rows", n);
        b->rows_lost += n;
    }
}

static int put_source(struct building *b, int64_t rebuild, const char *table, bool logged)
{
    struct db_rebuild_source source = {.rebuild = rebuild, .salvaged = salvaged_of(b, table)};
    char count[80], from[64] = "", taken[80] = "", lost[64];
    snprintf(count, sizeof count, "SELECT count(*) FROM %s", table);
    source.logged = number(b->db, count) - source.salvaged;
    if (source.logged < 0)
        source.logged = 0;
    if (logged)
        snprintf(from, sizeof from, "event log from event %" PRIu64, b->played.begins + 1);
    if (source.salvaged > 0)
        snprintf(taken, sizeof taken, "%ssalvaged: %" PRId64 " rows%s", from[0] ? "; " : "", source.salvaged,
                 damaged(b, table) ? ", " DB_REBUILT_PART : "");
    snprintf(source.table, sizeof source.table, "%s", table);
    bool gone = !from[0] && !taken[0] && damaged(b, table);
    missing(b, table, lost, sizeof lost);
    snprintf(source.source, sizeof source.source, "%s%s%s%s", from, taken,
             gone                  ? DB_REBUILT_LOST
             : from[0] || taken[0] ? ""
                                   : "it held no rows",
             lost);
    b->lost_money |= lost[0] != '\0';
    if (b->beyond[0] && strcmp(table, "ledger") == 0) {
        size_t n = strlen(source.source);
        snprintf(source.source + n, sizeof source.source - n, "; %.180s", b->beyond);
    }
    b->rows_salvaged += source.salvaged;
    return db_rebuild_put_source(b->db, &source);
}

static int put_list(struct building *b, char *err, size_t err_size)
{
    static const struct {
        const char *table;
        bool logged;
    } tables[] = {
        {"account_terms", true},
        {"accounts", true},
        {"alerts", false},
        {"bars", true},
        {"book_bars", true},
        {"commands", true},
        {"corporate_actions", true},
        {"device_samples", false},
        {"equity", true},
        {"fee_rates", true},
        {"fills", true},
        {"gaps", false},
        {"ledger", true},
        {"ledger_accruals", true},
        {"ledger_causes", true},
        {"marks", true},
        {"order_policies", true},
        {"orders", true},
        {"policies", false},
        {"positions", true},
        {"receivables", true},
        {"revisions", true},
        {"runs", true},
        {"symbols", true},
        {"trainings", false},
    };
    const char *name = strrchr(b->paths.aside, '/');
    struct db_rebuild rebuild = {
        .ts_ns = b->options->now_ns, .first_seq = b->played.first_seq, .last_seq = b->played.last_seq};
    int64_t id = 0;
    snprintf(rebuild.why, sizeof rebuild.why, "%s", b->options->why ? b->options->why : "");
    if (daemon_rebuild_there(b->options->state->database))
        snprintf(rebuild.aside, sizeof rebuild.aside, "%.200s", name ? name + 1 : b->paths.aside);
    int r = sql(b, "BEGIN IMMEDIATE", err, err_size);
    int rc = r == 0 ? db_rebuild_put(b->db, &rebuild, &id) : SQLITE_OK;
    for (size_t i = 0; r == 0 && rc == SQLITE_OK && i < sizeof tables / sizeof *tables; i++)
        rc = put_source(b, id, tables[i].table, tables[i].logged);
    if (rc != SQLITE_OK)
        snprintf(err, err_size, "the new database: %s", sqlite3_errmsg(b->db));
    return r == 0 && rc == SQLITE_OK ? sql(b, "COMMIT", err, err_size) : r < 0 ? r : db_errno(rc);
}

/* ---- all of it ---- */

/* A file that does not verify is not used; it is kept beside the others for examination. */
static int refuse(const struct building *b, char *err, size_t err_size)
{
    return fail_with(-EUCLEAN, err, err_size, "what was built does not verify, and is left as %.300s: %.300s",
                     b->paths.unsound, b->unsound);
}

/* -ECANCELED instead of 0 once it is to stop. */
static int unless_stopped(const struct building *b, int r)
{
    const atomic_bool *stop = b->options->stop;
    return r == 0 && stop && atomic_load(stop) ? -ECANCELED : r;
}

static int verify_new(struct building *b, char *err, size_t err_size)
{
    int r = verify(b, b->unsound);
    return r == 0 && b->unsound[0] ? refuse(b, err, err_size) : r;
}

static int play(struct building *b, char *err, size_t err_size)
{
    int r = daemon_rebuild_play(b->options, b->events, b->paths.building, b->db, b->from, &b->played, err,
                                err_size);
    return r < 0 || same_ledger(b) ? r : b->options->sound ? -EILSEQ : -EBADMSG;
}

static int empty_log(struct building *b, char *err, size_t err_size)
{
    return sql(b, "PRAGMA wal_checkpoint(TRUNCATE)", err, err_size);
}

static int build(struct building *b, char *err, size_t err_size)
{
    static int (*const steps[])(struct building * b, char *err, size_t err_size) = {
        open_new,       open_former, salvage_before, play,     salvage_after,
        salvage_beyond, drop_base,   verify_new,     put_list, empty_log,
    };
    int r = 0;
    for (size_t i = 0; i < sizeof steps / sizeof *steps && r == 0; i++)
        r = unless_stopped(b, steps[i](b, err, err_size));
    close_new(b);
    return r;
}

static void fill_result(const struct building *b, bool former, struct rebuild_result *ret)
{
    const char *name = strrchr(b->paths.aside, '/');
    int n = snprintf(ret->text, sizeof ret->text,
                     b->played.based
                         ? "the database was built again from the event log, its state after event %" PRIu64
                           " and what follows to event %" PRIu64
                         : "the database was built again from the event log, events %" PRIu64 " to %" PRIu64,
                     b->played.first_seq + !b->played.based, b->played.last_seq);
    char *at = ret->text + n;
    size_t size = sizeof ret->text - (size_t)n;
    if (b->lost[0])
        n = snprintf(at, size, "; nothing older is salvaged: %.120s", b->lost);
    else
        n = snprintf(at, size, "; %" PRId64 " rows salvaged", b->rows_salvaged);
    at += n;
    size -= (size_t)n;
    n = b->rows_lost > 0
            ? snprintf(at, size, "; " DB_REBUILT_LOST ": %" PRId64 " older rows of orders, fills and ledger",
                       b->rows_lost)
            : 0;
    at += n;
    size -= (size_t)n;
    if (b->beyond_seq)
        n = snprintf(at, size, "; salvaged beyond the log to event %" PRIu64, b->beyond_seq);
    else
        n = b->beyond[0] ? snprintf(at, size, "; %.200s", b->beyond) : 0;
    at += n;
    size -= (size_t)n;
    if (former)
        snprintf(at, size, "; the former file is %.80s", name ? name + 1 : b->paths.aside);
}

/* A failed build is tried once more with less: within the log, without the former file, without the log's
 * oldest stretch. */
static bool another_way(struct building *b, int r)
{
    bool contradicts = r == -EBADMSG || r == -EUCLEAN;
    size_t second = b->played.second;
    if (r == -ESTALE) { /* what is beyond the log is not whole */
        b->stay = true;
    } else if (contradicts && !b->lost[0]) {
        snprintf(b->lost, sizeof b->lost,
                 r == -EBADMSG ? "the former file contradicts the log"
                               : "with rows of the former file it does not verify: %.300s",
                 b->unsound);
    } else if (contradicts && second > b->from) {
        b->from = second;
        b->lost[0] = '\0';
        b->stay = false;
    } else {
        return false;
    }
    b->unsound[0] = b->beyond[0] = '\0';
    b->beyond_seq = 0;
    b->lost_money = false;
    b->rows_salvaged = b->rows_lost = 0;
    return true;
}

int daemon_rebuild_database(const struct rebuild_options *options, struct rebuild_result *ret, char *err,
                            size_t err_size)
{
    struct building *b = calloc(1, sizeof *b);
    if (!b)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    b->options = options;
    b->events = options->events ? options->events : options->state->events;
    bool former = daemon_rebuild_there(options->state->database);
    int r = daemon_rebuild_paths_choose(options->state, options->now_ns, &b->paths);
    if (r < 0)
        daemon_rebuild_fail(r, err, err_size, options->state->database);
    else
        r = build(b, err, err_size);
    while (another_way(b, r)) {
        err[0] = '\0';
        r = build(b, err, err_size);
    }
    if (r == -EILSEQ)
        snprintf(err, err_size, "the database contradicts the log");
    else if (r == -EBADMSG && !err[0])
        snprintf(err, err_size, "its segments contradict each other");
    if (r == 0)
        r = daemon_rebuild_seal(options->state, &b->paths, err, err_size);
    if (r == 0)
        r = daemon_rebuild_swap(options->state, &b->paths);
    if (r == 0) {
        *ret = (struct rebuild_result){.event_seq = b->beyond_seq ? b->beyond_seq : b->played.last_seq,
                                       .base_seq = b->played.based ? b->played.first_seq : 0,
                                       .lost_money = b->lost_money};
        if (former)
            snprintf(ret->aside, sizeof ret->aside, "%s", b->paths.aside);
        fill_result(b, former, ret);
    } else {
        if (r == -EUCLEAN && rename(b->paths.building, b->paths.unsound) < 0)
            daemon_rebuild_fail(-errno, err, err_size, b->paths.unsound);
        daemon_rebuild_remove(b->paths.building);
    }
    if (r == -ECANCELED)
        snprintf(err, err_size, "stopped: the database and the event log are as before");
    free(b);
    return r;
}
