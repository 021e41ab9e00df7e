#include "daemon/reach.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/rebuild_log.h"
#include "daemon/recorder.h"
#include "db/books/reach.h"

enum { TICK_MS = 5000, FIRST_MS = 100 };

/* What a reading depends on. */
struct seen {
    uint64_t begins, holes, restarts;
    bool noted;
};

struct reach_watch {
    struct daemon *daemon;
    uv_timer_t tick;
    uv_work_t work;
    bool busy, stopped, closed, known;
    struct seen seen; /* of the reading */
    int r;            /* its result: with found, or why */
    struct db_reach found, shown;
    char err[DB_ERROR_MAX + 64], reported[DB_ERROR_MAX + 64];
};

static void release(struct reach_watch *reach)
{
    if (!reach->closed || reach->busy)
        return;
    db_reach_finish(&reach->found);
    db_reach_finish(&reach->shown);
    free(reach);
}

static void on_thread(uv_work_t *work)
{
    struct reach_watch *reach = work->data;
    const struct state_dir *state = &reach->daemon->state;
    struct db_reader *reader;
    reach->r = db_reader_open(state->database, &reader, reach->err, sizeof reach->err);
    if (reach->r < 0)
        return;
    reach->r = db_reader_begin(reader);
    if (reach->r < 0)
        snprintf(reach->err, sizeof reach->err, "%s", db_reader_error(reader));
    else
        reach->r = db_reach_read(reader, state->events, &reach->found, reach->err, sizeof reach->err);
    db_reader_close(reader);
}

/* ---- notes ---- */

/* From now on what is removed is noted: what is missing already is of before. */
static void begin_notes(struct reach_watch *reach)
{
    const struct db_log_note note = {.kind = DB_LOG_BEGAN,
                                     .from_seq = 1,
                                     .to_seq = reach->found.begins,
                                     .known_seq = reach->found.event_seq,
                                     .last_order = reach->found.before[DB_REACH_ORDERS].last,
                                     .last_fill = reach->found.before[DB_REACH_FILLS].last,
                                     .last_ledger = reach->found.before[DB_REACH_LEDGER].last,
                                     .ts_ns = daemon_session_now(reach->daemon->session)};
    db_writer_put_log_note(daemon_session_writer(reach->daemon->session), &note);
}

/* A later removal by retention does not explain it. */
static void note_missing(struct reach_watch *reach, const struct db_reach_range *range)
{
    const struct db_log_note note = {.kind = DB_LOG_MISSING,
                                     .from_seq = range->lost_from,
                                     .to_seq = range->lost_to,
                                     .last_order = range->rows[DB_REACH_ORDERS].last,
                                     .last_fill = range->rows[DB_REACH_FILLS].last,
                                     .last_ledger = range->rows[DB_REACH_LEDGER].last,
                                     .ts_ns = daemon_session_now(reach->daemon->session)};
    db_writer_put_log_note(daemon_session_writer(reach->daemon->session), &note);
}

static void report(struct reach_watch *reach, const struct db_reach_range *range)
{
    struct session *session = reach->daemon->session;
    char rows[DB_REACH_WORDS_MAX], about[80], text[sizeof rows + sizeof about + 120];
    db_reach_rows_words(range, rows);
    snprintf(about, sizeof about, "the event log lacks events %" PRIu64 " to %" PRIu64, range->lost_from,
             range->lost_to);
    snprintf(text, sizeof text, "%s, and retention did not remove them: %s rest on the database alone", about,
             rows);
    daemon_log_event_at(LOG_LEVEL_ERROR, LOG_ALERT, LOG_OF(.alert = "event-log-short"), "%s", text);
    daemon_session_alert_lasting(session, DB_ERROR, "event-log-short", about, text);
}

static bool was_shown(const struct reach_watch *reach, const struct db_reach_range *range)
{
    for (size_t i = 0; i < reach->shown.n; i++)
        if (reach->shown.ranges[i].why == DB_REACH_MISSING &&
            reach->shown.ranges[i].lost_to == range->lost_to && !reach->shown.ranges[i].open)
            return true;
    return false;
}

static void judge(struct reach_watch *reach)
{
    const struct db_reach *found = &reach->found;
    bool missing = false;
    if (!found->noted)
        begin_notes(reach);
    for (size_t i = 0; i < found->n; i++) {
        const struct db_reach_range *range = &found->ranges[i];
        if (range->why != DB_REACH_MISSING || range->open)
            continue;
        missing = true;
        if (was_shown(reach, range))
            continue;
        note_missing(reach, range);
        report(reach, range);
    }
    if (!missing)
        daemon_session_alert_over(reach->daemon->session, "event-log-short", "");
}

static void show(struct reach_watch *reach)
{
    char rows[24];
    uint64_t n = db_reach_ledger_rows(&reach->found);
    if (!reach->known || n != db_reach_ledger_rows(&reach->shown)) {
        snprintf(rows, sizeof rows, "%" PRIu64, n);
        db_writer_put_meta(daemon_session_writer(reach->daemon->session), DB_REACH_ROWS_KEY, rows);
    }
    reach->seen.noted = reach->found.noted;
    db_reach_finish(&reach->shown);
    reach->shown = reach->found;
    reach->found = (struct db_reach){0};
    reach->known = true;
}

static void fail(struct reach_watch *reach)
{
    if (strcmp(reach->err, reach->reported) != 0)
        daemon_log_warning("what rests on the database alone is not known: %s", reach->err);
    memcpy(reach->reported, reach->err, sizeof reach->reported);
    reach->seen = (struct seen){0};
}

static void on_done(uv_work_t *work, int status)
{
    struct reach_watch *reach = work->data;
    reach->busy = false;
    if (reach->stopped) {
        release(reach);
        return;
    }
    if (status < 0 || !daemon_session_writer(reach->daemon->session))
        return;
    if (reach->r < 0) {
        fail(reach);
        return;
    }
    judge(reach);
    show(reach);
    uv_timer_set_repeat(&reach->tick, TICK_MS);
}

/* ---- when ---- */

/* False while the log cannot be written: what it lacks then is not known. */
static bool look(const struct reach_watch *reach, struct seen *ret)
{
    struct recorder *log = daemon_session_recorder(reach->daemon->session, false);
    struct recorder_stats stats;
    if (!log || !daemon_session_engine(reach->daemon->session) ||
        !daemon_session_can_report(reach->daemon->session))
        return false;
    daemon_recorder_stats(log, &stats);
    *ret = (struct seen){.holes = stats.holes, .restarts = stats.restarts, .noted = true};
    return stats.ok && daemon_rebuild_log_begins(reach->daemon->state.events, &ret->begins) == 0;
}

static void on_tick(uv_timer_t *timer)
{
    struct reach_watch *reach = timer->data;
    struct seen now = {0};
    if (reach->busy || reach->daemon->stopping || !look(reach, &now))
        return;
    if (reach->known && memcmp(&now, &reach->seen, sizeof now) == 0)
        return;
    reach->seen = now;
    reach->busy = uv_queue_work(reach->daemon->loop, &reach->work, on_thread, on_done) == 0;
}

struct reach_watch *daemon_reach_create(struct daemon *daemon)
{
    struct reach_watch *reach = calloc(1, sizeof *reach);
    if (!reach)
        return NULL;
    reach->daemon = daemon;
    reach->work.data = reach;
    uv_timer_init(daemon->loop, &reach->tick);
    reach->tick.data = reach;
    uv_timer_start(&reach->tick, on_tick, FIRST_MS,
                   FIRST_MS); /* soon: from then on it is known what is lost */
    return reach;
}

int64_t daemon_reach_rows(const struct reach_watch *reach)
{
    return reach && reach->known ? (int64_t)db_reach_ledger_rows(&reach->shown) : -1;
}

json_t *daemon_reach_object(const struct reach_watch *reach)
{
    return reach && reach->known ? db_reach_json(&reach->shown) : json_null();
}

static void on_closed(uv_handle_t *handle)
{
    struct reach_watch *reach = handle->data;
    reach->closed = true;
    release(reach);
}

void daemon_reach_stop(struct reach_watch *reach)
{
    if (!reach)
        return;
    reach->stopped = true;
    uv_close((uv_handle_t *)&reach->tick, on_closed);
}
