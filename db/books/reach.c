#include "db/books/reach.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "db/reader_query.h"
#include "db/records.h"
#include "db/row.h"
#include "engine/reach.h"
#include "exchange/fail.h"
#include "record/market.h"

const char *const db_reach_names[DB_REACH_TABLES] = {
    [DB_REACH_LEDGER] = "ledger", [DB_REACH_FILLS] = "fills", [DB_REACH_ORDERS] = "orders"};

enum { MISSING_MAX = 32 /* that are distinguished: later ones are one with the last */ };

/* What the record has, and what the notes say. */
struct recorded {
    uint64_t event_seq;
    struct engine_ids ids;
    bool noted;
    struct db_log_note began;
    uint64_t removed_seq; /* retention removed the events up to here */
    struct db_log_note missing[MISSING_MAX];
    int n_missing;
};

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static int read_ids(struct db_reader *reader, struct recorded *recorded)
{
    int r = db_query_first(reader,
                           "SELECT ifnull((SELECT max(id) FROM orders), 0), ifnull((SELECT max(id) FROM "
                           "fills), 0), ifnull((SELECT max(id) FROM ledger), 0), ifnull((SELECT "
                           "CAST(value AS INTEGER) FROM meta WHERE key = 'event_seq'), 0)",
                           NULL,
                           RECORD_INTO(&recorded->ids.last_order, &recorded->ids.last_fill,
                                       &recorded->ids.last_ledger, &recorded->event_seq));
    return r < 0 ? r : 0;
}

static void take_note(struct recorded *recorded, const struct db_log_note *note)
{
    if (note->kind == DB_LOG_REMOVED) {
        recorded->removed_seq = note->to_seq;
    } else if (note->kind == DB_LOG_BEGAN) {
        recorded->noted = true;
        recorded->began = *note;
    } else if (recorded->n_missing < MISSING_MAX) {
        recorded->missing[recorded->n_missing++] = *note;
    } else {
        uint64_t from_seq = recorded->missing[MISSING_MAX - 1].from_seq;
        recorded->missing[MISSING_MAX - 1] = *note;
        recorded->missing[MISSING_MAX - 1].from_seq = from_seq;
    }
}

static int read_notes(struct db_reader *reader, struct recorded *recorded)
{
    sqlite3_stmt *stmt;
    struct db_log_note note;
    int r = db_query(reader, DB_SELECT("log_notes", RECORD_LOG_NOTES) "ORDER BY to_seq", NULL, &stmt);
    while (r >= 0 && (r = db_query_row(reader, stmt, &db_record_log_notes, &note, NULL)) > 0)
        take_note(recorded, &note);
    return db_query_end(stmt, r);
}

/* ---- ranges ---- */

struct reach_ranges {
    const struct recorded *recorded;
    struct db_reach reach;
    uint64_t seq;           /* up to here, and … */
    struct engine_ids done; /* … these numbers the ranges are made */
    int r;
};

/* The record may be older than the log: rows that it lacks rest on nothing. */
static struct db_reach_rows between(uint64_t before, uint64_t after, uint64_t held)
{
    return (struct db_reach_rows){before + 1, least(after, held)};
}

static bool some(const struct db_reach_rows rows[DB_REACH_TABLES])
{
    for (int t = 0; t < DB_REACH_TABLES; t++)
        if (rows[t].last >= rows[t].first)
            return true;
    return false;
}

static void rows_between(const struct recorded *recorded, const struct engine_ids *before,
                         const struct engine_ids *after, struct db_reach_rows ret[DB_REACH_TABLES])
{
    const struct engine_ids *held = &recorded->ids;
    ret[DB_REACH_LEDGER] = between(before->last_ledger, after->last_ledger, held->last_ledger);
    ret[DB_REACH_FILLS] = between(before->last_fill, after->last_fill, held->last_fill);
    ret[DB_REACH_ORDERS] = between(before->last_order, after->last_order, held->last_order);
}

/* The next range: up to that event, and those numbers. */
static void add(struct reach_ranges *making, enum db_reach_why why, uint64_t to_seq,
                const struct engine_ids *after)
{
    struct db_reach *reach = &making->reach;
    struct db_reach_range range = {.why = why,
                                   .from_seq = making->seq + 1,
                                   .to_seq = to_seq,
                                   .lost_from = making->seq + 1,
                                   .lost_to = to_seq};
    if (making->r < 0 || to_seq < making->seq)
        return;
    rows_between(making->recorded, &making->done, after, range.rows);
    making->seq = to_seq;
    making->done = *after;
    if (!some(range.rows))
        return;
    struct db_reach_range *more = reallocarray(reach->ranges, reach->n + 1, sizeof *more);
    if (!more) {
        making->r = -ENOMEM;
        return;
    }
    reach->ranges = more;
    reach->ranges[reach->n++] = range;
    reach->missing |= why == DB_REACH_MISSING;
}

/* Retention removed the first events of the newest range, which ends at to_seq: those from that one on are
 * missing. */
static void lost_from(struct reach_ranges *making, uint64_t to_seq, uint64_t from_seq)
{
    struct db_reach_range *range = making->reach.n > 0 ? &making->reach.ranges[making->reach.n - 1] : NULL;
    if (range && range->to_seq == to_seq && from_seq > range->lost_from && from_seq <= to_seq)
        range->lost_from = from_seq;
}

static struct engine_ids ids_of(const struct db_log_note *note)
{
    return (struct engine_ids){
        .last_order = note->last_order, .last_fill = note->last_fill, .last_ledger = note->last_ledger};
}

/* What the log begins after. Retention removes the oldest first, so that a note covers all before it; but
 * what was missing before that stays missing. */
static void add_first(struct reach_ranges *making, const struct engine_reach_gap *gap)
{
    const struct recorded *recorded = making->recorded;
    uint64_t to_seq = gap->to_seq;
    if (!recorded->noted || to_seq <= recorded->began.to_seq) {
        add(making, DB_REACH_BEFORE, to_seq, &gap->after);
        return;
    }
    struct engine_ids ids = ids_of(&recorded->began);
    if (recorded->began.to_seq > 0)
        add(making, DB_REACH_BEFORE, recorded->began.to_seq, &ids);
    for (int i = 0; i < recorded->n_missing && recorded->missing[i].to_seq <= to_seq; i++) {
        const struct db_log_note *note = &recorded->missing[i];
        ids = ids_of(note);
        add(making, DB_REACH_MISSING, note->to_seq, &ids);
        lost_from(making, note->to_seq, note->from_seq);
    }
    if (to_seq > making->seq)
        add(making, to_seq <= recorded->removed_seq ? DB_REACH_RETENTION : DB_REACH_MISSING, to_seq,
            &gap->after);
    lost_from(making, to_seq, recorded->removed_seq + 1);
}
/* All rows, of a record that never had a log, or has none now. */
static void add_all(struct reach_ranges *making)
{
    const struct recorded *recorded = making->recorded;
    add(making, recorded->event_seq > 0 ? DB_REACH_MISSING : DB_REACH_UNLOGGED, recorded->event_seq,
        &recorded->ids);
}

/* The log lacks nothing up to there. */
static void pass(struct reach_ranges *making, uint64_t seq, const struct engine_ids *ids)
{
    making->seq = seq;
    making->done = *ids;
}

static void add_gaps(struct reach_ranges *making, const struct engine_reach *log)
{
    const struct recorded *recorded = making->recorded;
    for (size_t i = 0; i < log->n; i++) {
        const struct engine_reach_gap *gap = &log->gaps[i];
        bool known = !recorded->noted || gap->to_seq <= recorded->began.known_seq;
        if (gap->from_seq == 1) {
            add_first(making, gap);
            continue;
        }
        pass(making, gap->from_seq - 1, &gap->before);
        add(making,
            gap->hole ? DB_REACH_HOLE
            : known   ? DB_REACH_BEFORE
                      : DB_REACH_MISSING,
            gap->to_seq, &gap->after);
    }
    if (log->last_seq >= recorded->event_seq)
        return;
    size_t n = making->reach.n;
    pass(making, log->last_seq, &log->last);
    add(making, DB_REACH_MISSING, recorded->event_seq, &recorded->ids);
    if (making->reach.n > n)
        making->reach.ranges[n].open = true;
}

static int read_log(struct reach_ranges *making, const char *events, char *err, size_t err_size)
{
    const struct recorded *recorded = making->recorded;
    static const struct engine_ids nothing;
    struct engine_reach log = {0};
    int r = recorded->event_seq > 0 ? engine_reach_read(events, recorded->event_seq, &log, err, err_size)
                                    : -ENOENT;
    if (r == -ENOENT)
        add_all(making);
    else if (r < 0)
        return r;
    else
        add_gaps(making, &log);
    if (log.n > 0 && log.gaps[0].from_seq == 1) {
        making->reach.begins = log.gaps[0].to_seq;
        rows_between(recorded, &nothing, &log.gaps[0].after, making->reach.before);
    }
    engine_reach_finish(&log);
    return making->r < 0 ? fail_with(making->r, err, err_size, "out of memory") : 0;
}

int db_reach_read(struct db_reader *reader, const char *events, struct db_reach *ret, char *err,
                  size_t err_size)
{
    struct recorded recorded = {0};
    struct reach_ranges making = {.recorded = &recorded};
    int r = read_ids(reader, &recorded);
    if (r == 0)
        r = read_notes(reader, &recorded);
    if (r < 0)
        return fail_with(r, err, err_size, "%s", db_reader_error(reader));
    r = read_log(&making, events, err, err_size);
    if (r < 0) {
        db_reach_finish(&making.reach);
        return r;
    }
    making.reach.event_seq = recorded.event_seq;
    making.reach.noted = recorded.noted;
    *ret = making.reach;
    return 0;
}

void db_reach_finish(struct db_reach *reach)
{
    free(reach->ranges);
    *reach = (struct db_reach){0};
}

uint64_t db_reach_ledger_rows(const struct db_reach *reach)
{
    uint64_t n = 0;
    for (size_t i = 0; i < reach->n; i++) {
        const struct db_reach_rows *rows = &reach->ranges[i].rows[DB_REACH_LEDGER];
        n += rows->last >= rows->first ? rows->last - rows->first + 1 : 0;
    }
    return n;
}
