/* The session's event log, and the recording beside it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/session_internal.h"
#include "exchange/clock.h"
#include "exchange/fail.h"

enum { SET_ASIDE_MAX = 100 /* in one second */, STORE_TIMEOUT_MS = 60000 };

static const int64_t SEGMENT_NS = 3600 * 1000000000LL;
static const int64_t DAY_NS = 86400 * 1000000000LL;

/* On the recorder's thread. */
static void log_news(void *ctx, bool ok, const char *detail)
{
    struct session *session = ctx;
    uv_mutex_lock(&session->lock);
    session->events.changed = true;
    session->events.news = ok;
    snprintf(session->events.words, sizeof session->events.words, "%s", detail);
    uv_mutex_unlock(&session->lock);
    uv_async_send(&session->wake);
}

/* The same. */
static void log_storing(void *ctx, enum storing storing)
{
    struct session *session = ctx;
    uv_mutex_lock(&session->lock);
    session->events.new_storing = storing;
    uv_mutex_unlock(&session->lock);
}

static void log_doubt(void *ctx)
{
    struct session *session = ctx;
    uv_mutex_lock(&session->lock);
    session->log_failed = true;
    uv_mutex_unlock(&session->lock);
    uv_async_send(&session->wake);
}

static void recording_news(void *ctx, bool ok, const char *detail)
{
    struct session *session = ctx;
    if (ok)
        return;
    uv_mutex_lock(&session->lock);
    session->recording_failed = true;
    snprintf(session->recording_words, sizeof session->recording_words, "%s", detail);
    uv_mutex_unlock(&session->lock);
    uv_async_send(&session->wake);
}

static struct journal_writer_config journal_config(const struct session *session, const char *dir)
{
    const struct daemon_config *config = session->config;
    return (struct journal_writer_config){
        .dir = dir,
        .segment_bytes = (uint64_t)config->events_segment_mb << 20,
        .segment_ns = SEGMENT_NS,
        .level = config->events_level,
    };
}

static int open_log(struct session *session, char *err, size_t err_size)
{
    const struct daemon_config *config = session->config;
    struct journal_tail tail;
    struct recorder_config recorder = {.journal = journal_config(session, session->state->events),
                                       .files = session->hooks.files,
                                       .stepped = session->hooks.stepped,
                                       .ctx = session,
                                       .state = log_news,
                                       .storing = log_storing,
                                       .doubt = log_doubt};
    recorder.journal.keep_bytes = (uint64_t)config->events_keep_mb << 20;
    recorder.journal.keep_ns = config->events_keep_days * DAY_NS;
    recorder.journal.sync = config->events_sync;
    recorder.journal.may_remove = daemon_session_may_remove;
    recorder.journal.may_remove_ctx = session;
    int r = daemon_recorder_open(&recorder, &session->log, &tail, err, err_size);
    if (r < 0)
        return r;
    session->recovery.log_seq = tail.last_seq;
    session->recovery.log_ns = tail.last_ns;
    if (tail.cut_bytes > 0)
        snprintf(session->trouble, sizeof session->trouble,
                 "the event log ended in %llu torn bytes, as a crash leaves them: cut, and kept in %.400s",
                 (unsigned long long)tail.cut_bytes, tail.cut_to);
    return 0;
}

/* events.damaged-DATE, as the database's: a name that nothing has yet. */
static int name_aside(const struct session *session, char *path, size_t size)
{
    struct stat there;
    struct tm tm;
    char date[24];
    for (int64_t second = daemon_session_wall_ns(session) / 1000000000, last = second + SET_ASIDE_MAX;
         second < last; second++) {
        time_t at = (time_t)second;
        if (!gmtime_r(&at, &tm) || !strftime(date, sizeof date, "%Y%m%dT%H%M%SZ", &tm))
            return -EOVERFLOW;
        snprintf(path, size, "%.1000s.damaged-%s", session->state->events, date);
        if (lstat(path, &there) < 0)
            return 0;
    }
    return -EEXIST;
}

static int set_aside(struct session *session, const char *why, char *err, size_t err_size)
{
    char path[CONFIG_PATH_MAX + 32];
    int named = name_aside(session, path, sizeof path);
    if (named < 0) {
        snprintf(err, err_size, "%s: no name to put it aside under: %s", session->state->events,
                 strerror(-named));
        return named;
    }
    if (rename(session->state->events, path) < 0) {
        int r = -errno;
        snprintf(err, err_size, "%s: it cannot be put aside as %s: %s", session->state->events, path,
                 strerror(-r));
        return r;
    }
    session->recovery.log_replaced = true;
    snprintf(session->log_aside, sizeof session->log_aside, "%s", path);
    snprintf(session->trouble, sizeof session->trouble, "the event log is put aside as %.300s: %.400s",
             strrchr(path, '/') + 1, why);
    return 0;
}

/* Adds to a log's error, -ENOTSUP, what would be right. */
static void daemon_session_log_newer(const struct session *session, char *err, size_t err_size)
{
    char what[JOURNAL_ERROR_MAX];
    snprintf(what, sizeof what, "%s", err);
    snprintf(err, err_size, "%.400s, or move %.300s away: the database is the truth then", what,
             session->state->events);
}

static int open_recording(struct session *session, const char *dir, struct recorder **ret, char *err,
                          size_t err_size)
{
    struct journal_tail tail;
    struct recorder_config recorder = {.journal = journal_config(session, dir),
                                       .raw = true,
                                       .once = true,
                                       .ctx = session,
                                       .state = recording_news};
    return daemon_recorder_open(&recorder, ret, &tail, err, err_size);
}

/* The directory itself has the events, and what the first venue sent; what each other one sent is a journal
 * of frames and replies alone in a directory of its name there. */
static int open_recordings(struct session *session, char *err, size_t err_size)
{
    const struct daemon_config *config = session->config;
    int r = open_recording(session, config->record_dir, &session->recording, err, err_size);
    for (int v = 1; r == 0 && v < config->n_venues; v++) {
        char dir[CONFIG_PATH_MAX + 32];
        snprintf(dir, sizeof dir, "%s/%s", config->record_dir, config->venues[v].venue->format->name);
        r = open_recording(session, dir, &session->raw[v], err, err_size);
    }
    return r;
}

int daemon_session_log_open(struct session *session, char *err, size_t err_size)
{
    char reason[JOURNAL_ERROR_MAX];
    int r = open_log(session, err, err_size);
    if (r == -EBADMSG) {
        snprintf(reason, sizeof reason, "%s", err);
        r = set_aside(session, reason, err, err_size);
        if (r == 0)
            r = open_log(session, err, err_size);
    }
    if (r == -ENOTSUP)
        daemon_session_log_newer(session, err, err_size);
    if (r < 0 || !session->config->record_dir[0])
        return r;
    return open_recordings(session, err, err_size);
}

int daemon_session_log_set_aside(struct session *session, const char *why, char *err, size_t err_size)
{
    char kept[sizeof session->trouble];
    if (db_writer_flush(session->writer, STORE_TIMEOUT_MS) < 0)
        return fail_with(-ETIMEDOUT, err, err_size,
                         "%s: what the event log has beyond it cannot be stored now",
                         session->state->database);
    daemon_recorder_close(session->log, 0);
    session->log = NULL;
    int r = set_aside(session, why, err, err_size);
    if (r < 0)
        return r;
    memcpy(kept, session->trouble, sizeof kept);
    r = open_log(session, err, err_size);
    memcpy(session->trouble, kept, sizeof kept);
    return r;
}

static int give_state(struct session *session, struct recorder *recorder, enum state_why why)
{
    const void *beside;
    size_t len;
    int r = daemon_kept_encode(&session->kept, session->last_command, session->alerts.last_id, &beside, &len);
    if (r == 0)
        r = engine_state_record_encode(session->engine, session->run, why, beside, len, &session->codec);
    if (r == 0)
        daemon_recorder_put_state(recorder, session->seq, session->now_ns, session->codec.bytes,
                                  session->codec.len);
    return r;
}

/* The recorder of a venue's frames and replies; NULL: they are not recorded. */
static struct recorder *raw_of(const struct session *session, int venue)
{
    return venue > 0 ? session->raw[venue] : session->recording;
}

/* Frames need no engine: a segment of them begins with a state of no bytes. */
static void give_nothing(struct session *session, struct recorder *recorder)
{
    daemon_recorder_put_state(recorder, session->seq, session->now_ns, NULL, 0);
}

static void give_early(struct session *session)
{
    while (session->early) {
        struct early_reply *reply = session->early;
        struct recorder *recorder = raw_of(session, reply->venue);
        session->early = reply->next;
        if (recorder)
            daemon_recorder_reply(recorder, session->seq, session->now_ns, reply->path, reply->body,
                                  reply->len);
        free(reply->path);
        free(reply->body);
        free(reply);
    }
    session->early_end = &session->early;
}

int daemon_session_log_state(struct session *session, enum state_why why)
{
    int r = give_state(session, session->log, why);
    if (r < 0 || !session->recording)
        return r;
    daemon_recorder_put_state(session->recording, session->seq, session->now_ns, session->codec.bytes,
                              session->codec.len);
    for (int v = 1; v < CONFIG_VENUES_MAX; v++)
        if (session->raw[v] && !session->raw_started)
            give_nothing(session, session->raw[v]);
    session->raw_started = true;
    give_early(session);
    return 0;
}

void daemon_session_log_event(struct session *session, const struct event *event)
{
    daemon_recorder_event(session->log, event);
    if (session->recording)
        daemon_recorder_event(session->recording, event);
}

static void give_wanted(struct session *session, struct recorder *recorder)
{
    enum recorder_want want = daemon_recorder_wants_state(recorder);
    if (want == RECORDER_NOTHING)
        return;
    int r = give_state(session, recorder, want == RECORDER_ROTATION ? STATE_ROTATION : STATE_AFTER_HOLE);
    if (r < 0)
        daemon_log_error("the event log: no memory for the engine's state");
}

void daemon_session_log_wants(struct session *session)
{
    give_wanted(session, session->log);
    if (session->recording)
        give_wanted(session, session->recording);
    for (int v = 1; v < CONFIG_VENUES_MAX; v++)
        if (session->raw[v] && daemon_recorder_wants_state(session->raw[v]) != RECORDER_NOTHING)
            give_nothing(session, session->raw[v]);
}

void daemon_session_record_frame(struct session *session, int venue, const char *data, size_t len)
{
    struct recorder *recorder = raw_of(session, venue);
    if (recorder && session->engine)
        daemon_recorder_frame(recorder, session->seq, daemon_session_stamp(session), data, len);
}

void daemon_session_record_reply(struct session *session, int venue, const char *path, const char *body,
                                 size_t len)
{
    struct recorder *recorder = raw_of(session, venue);
    if (!recorder)
        return;
    if (session->engine) {
        daemon_recorder_reply(recorder, session->seq, daemon_session_stamp(session), path, body, len);
        return;
    }
    struct early_reply *reply = calloc(1, sizeof *reply);
    if (!reply)
        return;
    reply->venue = venue;
    reply->path = strdup(path);
    reply->body = malloc(len ? len : 1);
    if (!reply->path || !reply->body) {
        free(reply->path);
        free(reply->body);
        free(reply);
        return;
    }
    memcpy(reply->body, body, len);
    reply->len = len;
    *session->early_end = reply;
    session->early_end = &reply->next;
}

struct recorder *daemon_session_recorder(const struct session *session, bool recording)
{
    return recording ? session->recording : session->log;
}

int daemon_session_log_close(struct session *session, int64_t timeout_ms)
{
    if (session->recording && daemon_recorder_close(session->recording, timeout_ms) < 0)
        daemon_log_error("the recording in %s is not whole", session->config->record_dir);
    session->recording = NULL;
    for (int v = 1; v < CONFIG_VENUES_MAX; v++) {
        if (session->raw[v] && daemon_recorder_close(session->raw[v], timeout_ms) < 0)
            daemon_log_error("the recording in %s/%s is not whole", session->config->record_dir,
                             session->config->venues[v].venue->format->name);
        session->raw[v] = NULL;
    }
    give_early(session);
    int r = daemon_recorder_close(session->log, timeout_ms);
    session->log = NULL;
    codec_finish(&session->codec);
    return r;
}
