/* Anchors: what they cover cannot be altered, put in another order or deleted, whatever is computed again:
 * each forgery makes the first anchor that covers its row not hold. Later rows are called unattested; what
 * housekeeping deletes, and a log that begins later, breaks none. */
#include "db/books/attest.h"
#include "db/keeping.h"
#include "tests/counts.h"
#include "tests/db/books.h"
#include "tests/db/forged.h"

enum { STAGES = 4, EVENTS = 500, EVENTS_LONG = 2500, FORGERIES_LONG = 100 };
enum { COMMANDS = DB_KEEPING_COMMANDS + 3000 };
#define DAY_NS (INT64_C(86400) * 1000000000)
#define SERIES "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "

static const char *const other_seals =
    "UPDATE commands SET hash = seal(" DB_COMMAND_SEALED ", " DB_COMMAND_COLUMNS ");"
    "UPDATE alerts SET hash = seal(2, " DB_ALERT_COLUMNS ");"
    "UPDATE equity SET hash = seal(2, " DB_EQUITY_COLUMNS ");"
    "UPDATE corporate_actions SET hash = seal(2, " DB_ACTION_COLUMNS ");"
    "UPDATE revisions SET hash = seal(2, " DB_REVISION_COLUMNS ");";

static struct {
    char state[SCRATCH_MAX], path[SCRATCH_PATH_MAX], kept[SCRATCH_PATH_MAX], events[SCRATCH_PATH_MAX],
        lines[SCRATCH_PATH_MAX];
    struct db_head *heads[STAGES];
    struct journal_writer *log;
} made;

/* ---- the books, an anchor after each stage ---- */

static void put_log(enum journal_kind kind, uint64_t seq)
{
    struct journal_batch batch;
    journal_batch_init(&batch);
    CHECK_INT(journal_batch_add(&batch, &(struct journal_record){kind, seq, (int64_t)seq, "x", 1}), 0);
    CHECK_INT(journal_writer_put(made.log, &batch), 0);
    journal_batch_finish(&batch);
}

static struct db_head *take(const char *path, const char *events, int64_t now_ns)
{
    struct db_reader *reader = fixture_reader(path);
    struct db_head *head = NULL;
    char err[DB_ERROR_MAX] = "";
    CHECK_INT(db_head_take(reader, events, DB_HEAD_DAY, now_ns, &head, err, sizeof err), 0);
    CHECK_STR(err, "");
    db_reader_close(reader);
    return head;
}

static void copy(const char *from, const char *to)
{
    char line[4 * SCRATCH_PATH_MAX];
    snprintf(line, sizeof line, "rm -rf '%s' '%s-wal' '%s-shm' && cp -a '%s' '%s'", to, to, to, from, to);
    CHECK_INT(system(line), 0);
}

static void make_stage(struct books *b, int stage, int events, FILE *to)
{
    struct db_head *again = NULL;
    char err[DB_ERROR_MAX];
    for (int i = 0; i < events; i++)
        books_event(b);
    CHECK_INT(db_writer_flush(b->writer, 10000), 0);
    put_log(stage % 2 ? JOURNAL_EVENT : JOURNAL_STATE, (uint64_t)stage + 1); /* a state begins a segment */
    made.heads[stage] = take(made.path, made.events, b->driver.now_ns);
    char *text = db_head_text(made.heads[stage]);
    CHECK_INT(db_head_parse(text, strlen(text), &again, err, sizeof err), 0);
    char *second = db_head_text(again);
    CHECK_STR(second, text);
    fprintf(to, "%s\n\n", text);
    db_head_destroy(again);
    free(text);
    free(second);
}

static void make_books(uint64_t seed, int events)
{
    static struct books b;
    const struct db_writer_config config = {0};
    struct journal_tail tail;
    char err[JOURNAL_ERROR_MAX];
    scratch_make(made.state);
    snprintf(made.path, sizeof made.path, "%s/papertape.db", made.state);
    snprintf(made.kept, sizeof made.kept, "%s/kept.db", made.state);
    snprintf(made.events, sizeof made.events, "%s/events", made.state);
    snprintf(made.lines, sizeof made.lines, "%s/anchors", made.state);
    const struct journal_writer_config log = {.dir = made.events};
    CHECK_INT(journal_writer_open(&log, &made.log, &tail, err, sizeof err), 0);
    FILE *to = fopen(made.lines, "w");
    struct db_writer *writer = fixture_writer(made.path, &config);
    books_open(&b, writer, seed);
    for (int i = 0; i < STAGES; i++)
        make_stage(&b, i, events, to);
    fixture_close(writer);
    journal_writer_close(made.log);
    fclose(to);
    books_close(&b);
    copy(made.path, made.kept);
    printf("%" PRIu64 " orders, %" PRIu64 " fills\n", b.orders, b.fills);
}

/* ---- attested ---- */

struct outcome {
    int failed; /* index of the first that does not hold; -1 */
    char words[DB_ERROR_MAX];
    char unattested[1024]; /* "ledger 3-9, accounts, " */
};

static struct outcome attest(const char *path, const char *events, int n_anchors)
{
    struct outcome outcome = {.failed = -1};
    struct db_anchors anchors = {.n = 0};
    struct db_attested found;
    char err[DB_ERROR_MAX] = "";
    size_t n = 0;
    CHECK_INT(db_anchors_read(&anchors, made.lines, err, sizeof err), 0);
    while (anchors.n > (size_t)n_anchors) {
        struct db_anchor *last = &anchors.list[--anchors.n];
        free(last->file);
        free(last->text);
        db_head_destroy(last->head);
    }
    struct db_reader *reader = fixture_reader(path);
    CHECK_INT(db_attest(reader, events, &anchors, NULL, NULL, &found, err, sizeof err), 0);
    if (found.failed) {
        outcome.failed = (int)(found.failed - anchors.list);
        CHECK_INT(found.failed->line, 2 * outcome.failed + 1); /* a blank line after each */
        snprintf(outcome.words, sizeof outcome.words, "%s", found.failed->failure);
    }
    for (size_t i = 0; i < found.n; i++) {
        const struct db_unattested *u = &found.unattested[i];
        n += (size_t)snprintf(outcome.unattested + n, sizeof outcome.unattested - n,
                              u->last ? "%s %" PRIu64 "-%" PRIu64 ", " : "%s, ", u->table, u->first, u->last);
    }
    if (found.log_to > 0)
        snprintf(outcome.unattested + n, sizeof outcome.unattested - n, "log %" PRIu32 "-%" PRIu32,
                 found.log_from, found.log_to);
    db_attested_finish(&found);
    db_anchors_finish(&anchors);
    db_reader_close(reader);
    return outcome;
}

/* ---- forgeries ---- */

static sqlite3 *forge(void)
{
    sqlite3 *db;
    copy(made.kept, made.path);
    CHECK_INT(sqlite3_open(made.path, &db), SQLITE_OK);
    CHECK_INT(db_row_hash_register(db), SQLITE_OK);
    sql_exec(
        db,
        "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON; PRAGMA synchronous = OFF; BEGIN");
    return db;
}

static void hide(sqlite3 *db)
{
    forged_chain(db);
    sql_exec(db, "%s", forged_seals);
    sql_exec(db, "%s", other_seals);
    forged_recount(db);
}

/* SQL with the row's id wherever %lld is: five times at most. `until`: of ids; NULL: the newest anchor alone
 * covers it. */
struct forgery {
    const char *table, *which, *sql;
    bool naive; /* nothing is computed again */
    bool settles;
};

static const struct forgery forgeries[] = {
    {"ledger", "kind = 'deposit'", "UPDATE ledger SET amount = amount * 100 WHERE id = %lld", false, true},
    {"ledger", "1", "UPDATE ledger SET amount = amount + 1 WHERE id = %lld", true, true},
    {"fills", "1", "UPDATE fills SET fee = fee / 2 + 1 WHERE id = %lld", false, true},
    {"ledger", "kind = 'fee'", "UPDATE ledger SET amount = amount / 2 WHERE id = %lld", false, true},
    {"ledger", "id < (SELECT max(id) FROM ledger)",
     "UPDATE ledger SET id = -1 WHERE id = %lld; UPDATE ledger SET id = id - 1 WHERE id = %lld + 1; "
     "UPDATE ledger SET id = %lld + 1 WHERE id = -1",
     false, true},
    {"ledger", "1",
     "DELETE FROM ledger WHERE id = %lld; UPDATE ledger SET id = -id WHERE id > %lld; UPDATE ledger SET id = "
     "-id - 1 WHERE id < 0",
     false, true},
    {"ledger", "id = (SELECT max(id) FROM ledger)", "DELETE FROM ledger WHERE id = %lld", false, true},
    {"fills", "id = (SELECT max(id) FROM fills)", "DELETE FROM fills WHERE id >= %lld", false, true},
    {"fills", "1", "UPDATE fills SET price = price + 1 WHERE id = %lld", false, true},
    {"fills", "1", "UPDATE fills SET ts_ns = ts_ns - 1 WHERE id = %lld", true, true},
    {"orders", "state IN ('FILLED', 'CANCELED')", "UPDATE orders SET tag = 'mine' WHERE id = %lld", false,
     true},
    {"orders", "state = 'FILLED'", "UPDATE orders SET state = 'OPEN' WHERE id = %lld", false, true},
    {"orders", "state IN ('OPEN', 'PARTIAL', 'HELD')", "DELETE FROM orders WHERE id = %lld", false, false},
    {"commands", "1", "DELETE FROM commands WHERE id = %lld", false, true},
    {"commands", "1", "UPDATE commands SET peer_uid = 0 WHERE id = %lld", false, true},
    {"corporate_actions", "1", "UPDATE corporate_actions SET ts_ns = ts_ns + 1 WHERE id = %lld", false, true},
    {"revisions", "1", "DELETE FROM revisions WHERE id >= %lld", false, true},
    {"accounts", "1", "UPDATE accounts SET created_ns = created_ns - 1 WHERE id = %lld", false, false},
    {"alerts", "1", "DELETE FROM alerts WHERE id = %lld", false, false},
    {"equity", "1", "UPDATE equity SET equity = equity + 1 WHERE rowid = %lld", false, false},
};
enum { KINDS = sizeof forgeries / sizeof *forgeries };

/* The first anchor that covers the row; the newest of a table whose rows change. */
static int covering(const struct forgery *f, int64_t id)
{
    for (int i = 0; f->settles && i < STAGES; i++) {
        const struct db_head_table *table = db_head_table(made.heads[i], f->table);
        bool open = false;
        for (size_t k = 0; k < table->n_open; k++)
            open |= table->open[k].id == (uint64_t)id;
        if (table->last >= (uint64_t)id && !open)
            return i;
    }
    return STAGES - 1;
}

static bool forge_one(const struct forgery *f, struct random *random)
{
    sqlite3 *db = forge();
    bool equity = strcmp(f->table, "equity") == 0;
    const char *id = equity ? "1" : "id";
    int64_t rows = sql_query(db, "SELECT count(*) FROM %s WHERE %s", f->table, f->which), row = 0;
    if (rows > 0 && !equity)
        row = sql_query(db, "SELECT %s FROM %s WHERE %s ORDER BY id LIMIT 1 OFFSET %lld", id, f->table,
                        f->which, (long long)random_between(random, 0, rows - 1));
    if (rows > 0 && equity)
        sql_exec(db,
                 "UPDATE equity SET equity = equity + 1 WHERE (account, ts_ns) = (SELECT account, ts_ns FROM "
                 "equity LIMIT 1 OFFSET %lld)",
                 (long long)random_between(random, 0, rows - 1));
    else if (rows > 0)
        sql_exec(db, f->sql, (long long)row, (long long)row, (long long)row);
    if (rows > 0 && !f->naive)
        hide(db);
    sql_exec(db, "COMMIT");
    CHECK_INT(sqlite3_close(db), SQLITE_OK);
    if (rows == 0)
        return false;
    struct outcome outcome = attest(made.path, made.events, STAGES);
    int expected = covering(f, row);
    check_count++;
    /* An open order is missing from each anchor that has it. */
    bool right =
        f->settles || strcmp(f->table, "orders") != 0 ? outcome.failed == expected : outcome.failed >= 0;
    if (!right || strncmp(outcome.words, f->table, strlen(f->table)) != 0) {
        fprintf(stderr, "%s, row %lld: anchor %d, not %d: %s\n", f->sql, (long long)row, outcome.failed,
                expected, outcome.words);
        check_failures++;
    }
    return true;
}

static void test_forgeries(struct random *random, int n)
{
    int forged = 0;
    for (int i = 0; forged < n && i < 4 * n; i++) /* a table without rows is passed over */
        forged += forge_one(&forgeries[i < KINDS ? i : random_between(random, 0, KINDS - 1)], random);
    printf("%d forgeries, each named\n", forged);
    CHECK_INT(forged, n);
}

static void test_log(void)
{
    char line[4 * SCRATCH_PATH_MAX], other[SCRATCH_PATH_MAX];
    copy(made.kept, made.path);
    snprintf(other, sizeof other, "%s/other", made.state);
    struct outcome outcome = attest(made.path, other, STAGES);
    CHECK_INT(outcome.failed, 0);
    CHECK(strstr(outcome.words, "the event log is gone: it attests events up to 1") != NULL);
    copy(made.events, other);
    snprintf(line, sizeof line, "rm %s/00000002*", other); /* the newer segment */
    CHECK_INT(system(line), 0);
    outcome = attest(made.path, other, STAGES);
    CHECK_INT(outcome.failed, 2);
    CHECK(strstr(outcome.words, "ends at event 2: it attests events up to 3") != NULL);
    copy(made.events, other);
    snprintf(line, sizeof line, "rm %s/00000001*", other); /* as retention does */
    CHECK_INT(system(line), 0);
    outcome = attest(made.path, other, STAGES);
    CHECK_INT(outcome.failed, -1);
    CHECK(strstr(outcome.unattested, "log 1-1") != NULL);
}

static void test_holds(void)
{
    copy(made.kept, made.path);
    struct outcome outcome = attest(made.path, made.events, STAGES);
    CHECK_INT(outcome.failed, -1);
    CHECK_STR(outcome.unattested, "");
    outcome = attest(made.path, made.events, STAGES - 1);
    CHECK_INT(outcome.failed, -1);
    char range[64];
    snprintf(range, sizeof range, "ledger %" PRIu64 "-%" PRIu64 ", ",
             db_head_table(made.heads[STAGES - 2], "ledger")->last + 1,
             db_head_table(made.heads[STAGES - 1], "ledger")->last);
    CHECK(strstr(outcome.unattested, range) != NULL);
    CHECK(strstr(outcome.unattested, "equity, ") != NULL);
    outcome = attest(made.path, made.events, 0);
    CHECK_INT(outcome.failed, -1);
    CHECK(strstr(outcome.unattested, "orders 1-") && strstr(outcome.unattested, "accounts, "));
    sqlite3 *db = forge(); /* what is computed again over rows as they are is as it was */
    hide(db);
    sql_exec(db, "COMMIT");
    sqlite3_close(db);
    CHECK_INT(attest(made.path, made.events, STAGES).failed, -1);
}

/* ---- housekeeping ---- */

static void run_keeping(const char *path, int64_t before_ns)
{
    struct db_store store = {0};
    struct db_keeping keeping = {0};
    CHECK_INT(db_store_open(&store, path, false), 0);
    db_keeping_begin(&keeping, &(struct db_retention){.commands_ns = before_ns});
    while (keeping.stage != DB_KEEPING_DONE)
        CHECK_INT(db_keeping_step(&keeping, &store, FIXTURE_START + 400 * DAY_NS), SQLITE_OK);
    CHECK(keeping.commands > 0);
    sql_exec(store.db, "INSERT INTO runs SELECT ifnull(max(run), 0) + 1, 1, 2, 'stopped' FROM runs");
    db_store_close(&store);
}

static void add_commands(const char *path)
{
    struct db_store store = {0};
    CHECK_INT(db_store_open(&store, path, false), 0);
    CHECK_INT(db_store_begin(&store), SQLITE_OK);
    sql_exec(store.db, "DELETE FROM commands");
    sql_exec(store.db,
             SERIES
             "INSERT INTO commands (id, ts_ns, peer_uid, peer_pid, cmd, args, state, hash) SELECT i + "
             "100000, %lld + i * 1000000000, 0, 0, 'pause', '{}', iif(i = 7, 'pending', 'done'), x'' FROM n",
             COMMANDS, FIXTURE_START);
    sql_exec(store.db, "UPDATE commands SET hash = seal(" DB_COMMAND_SEALED ", " DB_COMMAND_COLUMNS ")");
    CHECK_INT(db_store_commit(&store), SQLITE_OK);
    db_store_close(&store);
}

static void append_head(const char *mode)
{
    FILE *to = fopen(made.lines, mode);
    struct db_head *head = take(made.path, made.events, FIXTURE_START);
    char *text = db_head_text(head);
    fprintf(to, "%s\n\n", text);
    fclose(to);
    free(text);
    db_head_destroy(head);
}

/* Anchors of before, between and after deletions hold; rows that were deleted by hand do not go as theirs. */
static void test_pruned(void)
{
    sqlite3 *db;
    copy(made.kept, made.path);
    add_commands(made.path);
    append_head("w");
    run_keeping(made.path, FIXTURE_START + INT64_C(1000) * 1000000000);
    struct outcome first = attest(made.path, made.events, 1);
    CHECK_STR(first.words, "");
    append_head("a");
    run_keeping(made.path, FIXTURE_START + 300 * DAY_NS);
    append_head("a");
    CHECK_INT(attest(made.path, made.events, 3).failed, -1);
    CHECK_INT(sql_query_file(made.path, "SELECT count(*) FROM commands WHERE id > 100000"),
              DB_KEEPING_COMMANDS + 1); /* and one that is pending */
    CHECK_INT(sqlite3_open(made.path, &db), SQLITE_OK);
    CHECK_INT(db_row_hash_register(db), SQLITE_OK);
    CHECK_INT(db_chain_prune(db, db_table_named("commands"), 100000 + COMMANDS - 5, 1), SQLITE_OK);
    sql_exec(db, "DELETE FROM commands WHERE id <= 100000 + %d - 5", COMMANDS);
    forged_recount(db);
    sqlite3_close(db);
    struct outcome outcome = attest(made.path, made.events, 3);
    CHECK_INT(outcome.failed, 2);
    CHECK(strstr(outcome.words, "housekeeping leaves the newest 10000") != NULL);
}

int main(void)
{
    bool thorough = getenv("PAPERTAPE_LONG") != NULL;
    struct random random = random_seeded("anchors", 20261129);
    make_books(random_next(&random), thorough ? EVENTS_LONG : EVENTS);
    test_holds();
    test_log();
    if (!thorough)
        printf("counts: %d forgeries of %d events (--long: %d of %d)\n", KINDS, STAGES * EVENTS,
               FORGERIES_LONG, STAGES * EVENTS_LONG);
    test_forgeries(&random, thorough ? FORGERIES_LONG : KINDS);
    test_pruned();
    for (int i = 0; i < STAGES; i++)
        db_head_destroy(made.heads[i]);
    return check_done("anchors");
}
