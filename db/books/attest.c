#include "db/books/attest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/books/follow.h"
#include "db/keeping.h"
#include "db/reader_query.h"
#include "exchange/fail.h"

struct attesting {
    struct db_reader *reader;
    struct db_anchors *anchors;
    struct db_anchor *newest; /* of those that can be read */
    struct db_head now;       /* no more than its moment */
    bool at_rest;             /* nothing ran after the newest */
    bool same_event;          /* no event came after it */
    struct db_attested *to;
};

/* ---- each by itself ---- */

static int check_lines(struct db_anchors *anchors, const struct db_sign_key *key,
                       const struct db_stamp_authority *tsa, struct db_attested *to)
{
    char words[256];
    for (size_t i = 0; i < anchors->n; i++) {
        struct db_anchor *a = &anchors->list[i];
        int signed_ = key && a->head ? db_sign_check(key, a->text, a->len) : 1;
        if (signed_ == -ENOMEM)
            return signed_;
        if (signed_ <= 0)
            db_anchor_fails(a, "%s",
                            signed_ == 0 ? "it has no signature" : "its signature is not of this key");
        int r = tsa && a->head ? db_stamp_check(tsa, a->text, a->len, a->head->ts_ns, &a->stamped_ns, words,
                                                sizeof words)
                               : 0;
        if (r == -ENOMEM)
            return r;
        if (r < 0)
            db_anchor_fails(a, "its stamp: %s", words);
        to->stamped += r == 1;
    }
    return 0;
}

/* Within a file they are in the order in which they were made. */
static void check_order(struct db_anchors *anchors)
{
    for (size_t i = 1; i < anchors->n; i++) {
        struct db_anchor *a = &anchors->list[i];
        const struct db_anchor *before = &anchors->list[i - 1];
        if (a->head && before->head && strcmp(a->file, before->file) == 0 &&
            a->head->ts_ns < before->head->ts_ns)
            db_anchor_fails(a, "it is older than line %d before it", before->line);
    }
}

static struct db_anchor *find_newest(struct db_anchors *anchors)
{
    struct db_anchor *newest = NULL;
    for (size_t i = 0; i < anchors->n; i++) {
        struct db_anchor *a = &anchors->list[i];
        if (a->head && (!newest || a->head->ts_ns >= newest->head->ts_ns))
            newest = a;
    }
    return newest;
}

/* ---- tables ---- */

static void add_unattested(struct attesting *a, const char *table, uint64_t first, uint64_t last)
{
    a->to->unattested[a->to->n++] = (struct db_unattested){table, first, last};
}

/* Housekeeping leaves the newest rows of commands, so that a deletion of those is none of its. */
static void check_pruned(struct attesting *a, const struct db_table *table, uint64_t last)
{
    struct db_chain chain;
    uint64_t pruned;
    if (db_chain_pruned(a->reader->db, table, &chain, &pruned) == SQLITE_OK && pruned > 0 && a->newest &&
        (last < DB_KEEPING_COMMANDS || pruned > last - DB_KEEPING_COMMANDS))
        db_anchor_fails(a->newest,
                        "%s: rows up to %" PRIu64 " are missing: housekeeping leaves the newest %d",
                        table->name, pruned, DB_KEEPING_COMMANDS);
}

/* Without anchors nothing is computed. */
static int find_rows(struct attesting *a, const struct db_table *table)
{
    uint64_t rows = 0, first = 0, last = 0;
    bool settles = db_chain_settles(table) != NULL;
    char *sql = sqlite3_mprintf("SELECT count(*), %s, %s FROM %s", settles ? "ifnull(min(id), 0)" : "0",
                                settles ? "ifnull(max(id), 0)" : "0", table->name);
    int rc =
        sql ? record_sqlite_ask(a->reader->db, sql, NULL, RECORD_INTO(&rows, &first, &last)) : SQLITE_NOMEM;
    sqlite3_free(sql);
    if (rc == SQLITE_ROW && rows > 0)
        add_unattested(a, table->name, first, last);
    return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

static int attest_settling(struct attesting *a, const struct db_table *table)
{
    uint64_t first, last;
    int rc = db_follow(a->reader->db, table, a->anchors, &first, &last);
    if (rc != SQLITE_OK)
        return rc;
    check_pruned(a, table, last);
    const struct db_head_table *attests = a->newest ? db_head_table(a->newest->head, table->name) : NULL;
    if (attests && attests->last + 1 > first)
        first = attests->last + 1;
    if (first > 0 && first <= last)
        add_unattested(a, table->name, first, last);
    return SQLITE_OK;
}

static int digest_all(sqlite3 *db, const struct db_table *table, struct db_chain *ret)
{
    struct db_chain_rows rows = {.stmt = NULL};
    *ret = (struct db_chain){.rows = 0};
    int rc = db_chain_open(db, table, 0, &rows);
    while (rc == SQLITE_OK && (rc = db_chain_next(&rows)) == SQLITE_ROW)
        rc = db_chain_add(ret, rows.id, rows.seal) ? SQLITE_OK : SQLITE_NOMEM;
    db_chain_close(&rows);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

/* Rows that change by events alone: where none came after the anchor they are the same, however the run
 * ended. */
static bool must_be_same(const struct attesting *a, const struct db_table *table)
{
    static const char *const by_events[] = {"accounts", "positions", "equity", "orders"};
    for (size_t i = 0; a->same_event && i < sizeof by_events / sizeof *by_events; i++)
        if (strcmp(by_events[i], table->name) == 0)
            return true;
    return a->at_rest;
}

static int attest_changing(struct attesting *a, const struct db_table *table)
{
    struct db_chain now;
    const struct db_head_table *attests = a->newest ? db_head_table(a->newest->head, table->name) : NULL;
    int rc = digest_all(a->reader->db, table, &now);
    if (rc != SQLITE_OK)
        return rc;
    if (attests && attests->chain.rows == now.rows &&
        memcmp(attests->chain.digest, now.digest, sizeof now.digest) == 0)
        return SQLITE_OK;
    if (attests && must_be_same(a, table))
        db_anchor_fails(a->newest,
                        "%s: its rows are not those that it attests (%" PRIu64 ", now %" PRIu64
                        "), and no event came since",
                        table->name, attests->chain.rows, now.rows);
    if (now.rows > 0 || attests)
        add_unattested(a, table->name, 0, 0);
    return SQLITE_OK;
}

/* Rows that had not settled, where nothing came after. */
static int attest_open(struct attesting *a, const struct db_table *table)
{
    const struct db_head_table *attests = db_head_table(a->newest->head, table->name);
    struct db_chain_rows rows = {.stmt = NULL};
    size_t at = 0;
    if (!attests || attests->n_open == 0)
        return SQLITE_OK;
    int rc = db_chain_open(a->reader->db, table, attests->open[0].id - 1, &rows);
    while (rc == SQLITE_OK && at < attests->n_open && (rc = db_chain_next(&rows)) == SQLITE_ROW) {
        rc = SQLITE_OK;
        if (rows.id != attests->open[at].id)
            continue;
        if (memcmp(rows.seal, attests->open[at++].seal, sizeof rows.seal) != 0)
            db_anchor_fails(a->newest, "%s: row %" PRIu64 " is not as it attests, and no event came since",
                            table->name, rows.id);
    }
    db_chain_close(&rows);
    return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int attest_record(struct attesting *a)
{
    int rc = db_head_take_moment(a->reader, &a->now);
    const struct db_head *head = a->newest ? a->newest->head : NULL;
    a->same_event = head && head->run == a->now.run && head->event_seq == a->now.event_seq;
    a->at_rest = a->same_event && head->stopped && a->now.stopped;
    for (size_t i = 0; i < db_tables_count && rc == SQLITE_OK; i++) {
        const struct db_table *table = &db_tables[i];
        if (!table->key)
            continue;
        if (a->anchors->n == 0)
            rc = find_rows(a, table);
        else
            rc = db_chain_settles(table) ? attest_settling(a, table) : attest_changing(a, table);
        if (rc == SQLITE_OK && db_chain_settles(table) && must_be_same(a, table))
            rc = attest_open(a, table);
    }
    return rc;
}

/* Retention deletes a log's oldest segments: that is named, and no anchor's fault. */
static int attest_log(struct attesting *a, const char *events, char *err, size_t err_size)
{
    uint32_t first;
    const struct db_head *head = a->newest ? a->newest->head : NULL;
    int r = db_follow_log(events, a->anchors, &first);
    if (r < 0)
        return fail_with(r, err, err_size, "%s", strerror(-r));
    if (head && head->logged && first > head->log.first) {
        a->to->log_from = head->log.first;
        a->to->log_to = first - 1;
    }
    return 0;
}

static const struct db_anchor *first_failed(const struct db_anchors *anchors)
{
    for (size_t i = 0; i < anchors->n; i++)
        if (anchors->list[i].failure[0])
            return &anchors->list[i];
    return NULL;
}

int db_attest(struct db_reader *reader, const char *events, struct db_anchors *anchors,
              const struct db_sign_key *key, const struct db_stamp_authority *tsa, struct db_attested *ret,
              char *err, size_t err_size)
{
    *ret = (struct db_attested){.unattested = calloc(db_tables_count, sizeof *ret->unattested)};
    struct attesting a = {.reader = reader, .anchors = anchors, .newest = find_newest(anchors), .to = ret};
    ret->newest = a.newest;
    int r = ret->unattested ? check_lines(anchors, key, tsa, ret) : -ENOMEM;
    if (r < 0)
        return fail_with(r, err, err_size, "%s", strerror(-r));
    check_order(anchors);
    if ((r = db_reader_begin(reader)) < 0)
        return fail_with(r, err, err_size, "%s", db_reader_error(reader));
    int rc = attest_record(&a);
    if (rc != SQLITE_OK)
        r = fail_with(db_errno(rc), err, err_size, "%s", sqlite3_errmsg(reader->db));
    db_reader_end(reader);
    if (r == 0)
        r = attest_log(&a, events, err, err_size);
    ret->failed = first_failed(anchors);
    return r;
}

void db_attested_finish(struct db_attested *attested)
{
    free(attested->unattested);
}
