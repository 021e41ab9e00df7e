/* Do the database and the event log store? */
#include <stdio.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/rebuild.h"
#include "daemon/session_internal.h"
#include "exchange/clock.h"

enum {
    CHECK_MS = 60000, /* events wait in memory during a check */
    NEWS_MS = 60000,  /* the same failure in other words is reported at most so often */
};

#define WAITS "the event log" /* what the database's error begins with where it waits for the log */

/* ---- on the writer's thread ---- */

int daemon_session_storage_check(void *ctx, char *err, size_t err_size)
{
    const struct session *session = ctx;
    return daemon_rebuild_check(session->state->database, CHECK_MS, err, err_size);
}

int daemon_session_storage_rebuild(void *ctx, const char *why, uint64_t *ret_event, char *text,
                                   size_t text_size)
{
    struct session *session = ctx;
    struct rebuild_result result;
    const struct rebuild_options options = {
        .state = session->state,
        .why = why,
        .follows_log = true,
        .stop = &session->gives_up,
        .venue = session->config->venues[0].venue->format->name,
        .now_ns = daemon_session_wall_ns(session),
    };
    int r = daemon_rebuild_database(&options, &result, text, text_size);
    if (r < 0)
        return r;
    *ret_event = result.event_seq;
    snprintf(text, text_size, "%s", result.text);
    uv_mutex_lock(&session->lock);
    session->built_again = true;
    session->built_lost = result.lost_money;
    snprintf(session->built_words, sizeof session->built_words, "%.340s (%.150s)", result.text, why);
    db_rebuilt_clean(session->built_words);
    uv_mutex_unlock(&session->lock);
    uv_async_send(&session->wake);
    return 0;
}

/* ---- on the loop ---- */

static void take_news(struct storage *storage)
{
    if (!storage->changed)
        return;
    storage->changed = false;
    storage->ok = storage->news;
    storage->storing = storage->new_storing;
    memcpy(storage->detail, storage->words, sizeof storage->detail);
}

void daemon_session_storage_take(struct session *session)
{
    take_news(&session->database);
    take_news(&session->events);
    if (session->log_failed && session->writer)
        db_writer_doubt(session->writer);
    session->log_failed = false;
}

/* The reason why one of them does not: the log's first, since the database waits for it. */
static void find_words(const struct session *session, char *words, size_t size)
{
    words[0] = '\0';
    if (!session->events.ok)
        snprintf(words, size, "event log: %s", session->events.detail);
    else if (!session->database.ok)
        snprintf(words, size, "%s", session->database.detail);
}

/* The log's state while it does not store: the database waits for it then. */
static enum storing find_storing(const struct session *session)
{
    enum storing log = session->events.storing, database = session->database.storing;
    if (log == STORING_REBUILDS || database == STORING_REBUILDS)
        return STORING_REBUILDS;
    return log != STORING_OK ? log : database;
}

/* While storing fails, positions are not opened and commands are not acknowledged. */
static void notify_engine(struct session *session)
{
    struct event event = {.kind = EVENT_STORAGE, .storage_ok = session->storage_ok};
    daemon_session_event(session, &event);
    if (!session->storage_ok)
        session->hooks.storage_failing(session->hooks.ctx);
}

/* Reports one of the two by an alert of its own: where both fail, the one does not hide the other. Attempts
 * end with the same few errors in turn, and a check comes between two: that is nothing new. */
static void report(struct session *session, struct storage *storage, const char *name)
{
    char words[sizeof storage->reported + 16];
    bool waits = storage == &session->database && strncmp(storage->detail, WAITS, strlen(WAITS)) == 0;
    if (storage->ok) {
        if (storage->reported[0])
            daemon_session_alert_over(session, "storage", name);
        storage->reported[0] = '\0';
        return;
    }
    uint64_t now_ms = uv_now(session->loop);
    bool known = storage->reported[0] && now_ms - storage->reported_ms < NEWS_MS;
    if (waits || known || strcmp(storage->detail, storage->reported) == 0 ||
        (storage->reported[0] && storage->storing == STORING_CHECKS))
        return;
    storage->reported_ms = now_ms;
    memcpy(storage->reported, storage->detail, sizeof storage->reported);
    snprintf(words, sizeof words, "%s%s", name, storage->detail);
    daemon_log_event(LOG_STORAGE_FAILING, LOG_OF(.alert = "storage"),
                     "%s: no new positions until it can store again", words);
    daemon_session_alert_lasting(session, DB_ERROR, "storage", name, words);
}

static void report_works(struct session *session)
{
    daemon_log_event(
        LOG_STORAGE_BACK, LOG_OF(.alert = "storage"),
        "database: storing works again: what the disk has was compared with what was written, and checked");
    notify_engine(session);
    daemon_session_alert_over(session, "storage", ""); /* a former run's too */
}

static void report_rebuilt(struct session *session)
{
    char words[sizeof session->built_words];
    uv_mutex_lock(&session->lock);
    bool built = session->built_again, lost = session->built_lost;
    session->built_again = false;
    memcpy(words, session->built_words, sizeof words);
    uv_mutex_unlock(&session->lock);
    if (!built)
        return;
    daemon_log_event_at(lost ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING, LOG_DATABASE_REBUILT,
                        LOG_OF(.alert = "database-rebuilt"), "%s", words);
    daemon_session_read_rebuilt(session);
    daemon_session_alert(session, lost ? DB_ERROR : DB_WARNING, "database-rebuilt", words);
}

void daemon_session_storage_judge(struct session *session)
{
    report_rebuilt(session);
    bool ok = session->database.ok && session->events.ok, was_ok = session->storage_ok;
    char words[sizeof session->storage_detail];
    find_words(session, words, sizeof words);
    session->storing = find_storing(session);
    bool waits = !ok && session->events.ok && !was_ok && strncmp(words, WAITS, strlen(WAITS)) == 0;
    report(session, &session->events, "event log: ");
    report(session, &session->database, "database: ");
    if (waits || (ok == was_ok && strcmp(words, session->storage_detail) == 0))
        return;
    session->storage_ok = ok;
    memcpy(session->storage_detail, words, sizeof words);
    if (ok)
        report_works(session);
    else if (was_ok)
        notify_engine(session);
}

bool daemon_session_storage_ok(const struct session *session, const char **ret_detail)
{
    *ret_detail = session->storage_detail;
    return session->storage_ok;
}

enum storing daemon_session_storing(const struct session *session)
{
    return session->storing;
}

void daemon_session_storage_hole(struct session *session)
{
    struct recorder_stats stats;
    char text[512];
    daemon_recorder_stats(session->log, &stats);
    if (stats.holes == session->holes_reported)
        return;
    unsigned long long lost = stats.lost - session->lost_reported;
    if (stats.restarts > session->restarts_reported)
        snprintf(text, sizeof text,
                 "%.300s or its newest segment was removed or renamed: a new log begins, without %llu "
                 "events and all before them; explanations and parity begin after them",
                 session->state->events, lost);
    else
        snprintf(text, sizeof text,
                 "the event log has a hole%s: %llu events could not be kept; explanations and parity end "
                 "before it",
                 stats.holes - session->holes_reported > 1 ? " and more" : "", lost);
    session->restarts_reported = stats.restarts;
    session->holes_reported = stats.holes;
    session->lost_reported = stats.lost;
    daemon_log_event(LOG_STORAGE_FAILING, LOG_OF(.alert = "event-log-hole"), "%s", text);
    daemon_session_alert(session, DB_ERROR, "event-log-hole", text);
}
