#include "db/books/head.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "db/reader_query.h"
#include "exchange/fail.h"

void db_head_destroy(struct db_head *head)
{
    for (size_t i = 0; head && i < head->n_tables; i++)
        free(head->tables[i].open);
    if (head)
        free(head->tables);
    free(head);
}

const struct db_head_table *db_head_table(const struct db_head *head, const char *name)
{
    for (size_t i = 0; i < head->n_tables; i++)
        if (strcmp(head->tables[i].name, name) == 0)
            return &head->tables[i];
    return NULL;
}

const char *db_head_time(int64_t ts_ns, char text[static DB_HEAD_TIME_MAX])
{
    time_t s = (time_t)(ts_ns / 1000000000);
    struct tm tm;
    if (!gmtime_r(&s, &tm) || strftime(text, DB_HEAD_TIME_MAX, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
        text[0] = '\0';
    return text;
}

static bool add_open(struct db_head_table *to, const struct db_chain_rows *row)
{
    if ((to->n_open & (to->n_open - 1)) == 0) {
        void *more = realloc(to->open, (to->n_open ? 2 * to->n_open : 1) * sizeof *to->open);
        if (!more)
            return false;
        to->open = more;
    }
    struct db_head_open *open = &to->open[to->n_open++];
    open->id = row->id;
    memcpy(open->seal, row->seal, sizeof open->seal);
    return true;
}

static int take_table(sqlite3 *db, const struct db_table *table, struct db_head_table *to)
{
    struct db_chain_rows rows = {.stmt = NULL};
    int rc = SQLITE_OK;
    snprintf(to->name, sizeof to->name, "%s", table->name);
    if (db_chain_settles(table))
        rc = db_chain_pruned(db, table, &to->chain, &to->last);
    if (rc == SQLITE_OK)
        rc = db_chain_open(db, table, to->last, &rows);
    while (rc == SQLITE_OK && (rc = db_chain_next(&rows)) == SQLITE_ROW) {
        to->last = rows.id;
        rc = (rows.settled ? db_chain_add(&to->chain, rows.id, rows.seal) : add_open(to, &rows))
                 ? SQLITE_OK
                 : SQLITE_NOMEM;
    }
    db_chain_close(&rows);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int db_head_take_moment(struct db_reader *reader, struct db_head *head)
{
    static const char sql[] =
        "SELECT ifnull((SELECT CAST (value AS INTEGER) FROM meta WHERE key = 'event_seq'), 0), "
        "ifnull((SELECT max(run) FROM runs), 0), "
        "ifnull((SELECT state = 'stopped' FROM runs ORDER BY run DESC LIMIT 1), 1), "
        "(SELECT user_version FROM pragma_user_version)";
    int rc = record_sqlite_ask(reader->db, sql, NULL,
                               RECORD_INTO(&head->event_seq, &head->run, &head->stopped, &head->version));
    return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

static int take_record(struct db_reader *reader, struct db_head *head)
{
    int rc = db_head_take_moment(reader, head);
    for (size_t i = 0; i < db_tables_count && rc == SQLITE_OK; i++)
        if (db_tables[i].key)
            rc = take_table(reader->db, &db_tables[i], &head->tables[head->n_tables++]);
    return rc;
}

/* Up to the record's newest event: that is on the disk, and what came after may still be taken back. */
static int take_log(const char *events, struct db_head *head, char *err, size_t err_size)
{
    char words[JOURNAL_ERROR_MAX];
    int r = journal_head(events, head->event_seq, &head->log, words, sizeof words);
    head->logged = r == 0;
    if (r == 0 || r == -ENOENT)
        return 0;
    return fail_with(r, err, err_size, "the event log: %.400s", words);
}

int db_head_take(struct db_reader *reader, const char *events, enum db_head_occasion occasion, int64_t now_ns,
                 struct db_head **ret, char *err, size_t err_size)
{
    struct db_head *head = calloc(1, sizeof *head);
    if (head)
        head->tables = calloc(db_tables_count, sizeof *head->tables);
    if (!head || !head->tables) {
        db_head_destroy(head);
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    }
    head->occasion = occasion;
    head->ts_ns = now_ns;
    int r = db_reader_begin(reader);
    if (r < 0) {
        snprintf(err, err_size, "%s", db_reader_error(reader));
    } else {
        int rc = take_record(reader, head);
        if (rc != SQLITE_OK)
            r = fail_with(db_errno(rc), err, err_size, "%s", sqlite3_errmsg(reader->db));
        db_reader_end(reader);
    }
    if (r == 0)
        r = take_log(events, head, err, err_size);
    if (r == 0)
        *ret = head;
    else
        db_head_destroy(head);
    return r;
}
