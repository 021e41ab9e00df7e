/* Whether a start can use the database; and the rebuild where it cannot. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/log.h"
#include "daemon/rebuild.h"
#include "daemon/rebuild_log.h"
#include "daemon/session_internal.h"
#include "exchange/clock.h"
#include "exchange/net/notify.h"

enum { QUICK_CHECK_MS = 10000, EXTEND_S = 3600, CLOSE_MS = 60000 };

/* The log that the database can be built from: the one that was set aside as damaged, or the present one. */
static const char *log_of(const struct session *session)
{
    return session->log_aside[0] ? session->log_aside : session->state->events;
}

int daemon_session_rebuild(struct session *session, const char *why, bool sound, char *err, size_t err_size)
{
    struct rebuild_result result;
    char reason[REBUILD_ERROR_MAX] = "";
    const struct rebuild_options options = {
        .state = session->state,
        .events = log_of(session),
        .why = why,
        .venue = session->config->venues[0].venue->format->name,
        .sound = sound,
        .now_ns = daemon_session_wall_ns(session),
        .stop = session->hooks.stop,
    };
    daemon_log_event(LOG_DATABASE_REBUILT, NULL, "the database: %s: it is built again from the event log%s",
                     why, access(options.state->database, F_OK) == 0 ? ", and this file is moved aside" : "");
    net_notify_status("building the database again from the event log");
    net_notify_extend(EXTEND_S);
    int r = daemon_rebuild_database(&options, &result, reason, sizeof reason);
    if (r == -ECANCELED || r == -EILSEQ) {
        snprintf(err, err_size, "%s", reason);
        return r;
    }
    if (r < 0) {
        snprintf(err, err_size, "%.200s: %.160s; and it cannot be built again from %.200s: %.420s; %s",
                 session->state->database, why, options.events, reason,
                 sound ? "to continue with what it holds, move the log away"
                       : "to start afresh, move both away");
        return r;
    }
    session->rebuilt = true;
    session->lost_money = result.lost_money;
    snprintf(session->rebuilt_words, sizeof session->rebuilt_words, "%.340s (%.150s)", result.text, why);
    db_rebuilt_clean(session->rebuilt_words);
    (result.lost_money ? daemon_log_error : daemon_log_warning)("%s", session->rebuilt_words);
    return 0;
}

void daemon_session_read_rebuilt(struct session *session)
{
    struct db_reader *reader;
    char err[DB_ERROR_MAX];
    struct db_rebuilt *list = malloc(sizeof *list);
    if (!list || db_reader_open(session->state->database, &reader, err, sizeof err) < 0) {
        free(list);
        return;
    }
    if (db_reader_rebuilt(reader, list) > 0) {
        free(session->rebuilt_list);
        session->rebuilt_list = list;
    } else {
        free(list);
    }
    db_reader_close(reader);
}

const struct db_rebuilt *daemon_session_last_rebuild(const struct session *session)
{
    return session->rebuilt_list;
}

/* The newest event that the database holds; 0 where it names none. False: it cannot be read as it is. */
static bool held(const struct session *session, uint64_t *ret_seq)
{
    struct db_reader *reader;
    char err[DB_ERROR_MAX], text[32];
    if (db_reader_open(session->state->database, &reader, err, sizeof err) < 0)
        return false;
    bool any = db_reader_meta(reader, "event_seq", text, sizeof text) == 0;
    *ret_seq = any ? strtoull(text, NULL, 10) : 0;
    db_reader_close(reader);
    return true;
}

/* The same for an older schema: opening it to write migrates it to the present one. 0 or -errno. */
static int held_by_now(struct session *session, uint64_t *ret_seq, char *err, size_t err_size)
{
    char ignored[DB_ERROR_MAX];
    if (held(session, ret_seq))
        return 0;
    int r = daemon_session_open_database(session, err, err_size);
    if (r < 0)
        return r;
    db_writer_close(session->writer, CLOSE_MS, ignored, sizeof ignored);
    session->writer = NULL;
    if (!held(session, ret_seq))
        *ret_seq = UINT64_MAX; /* the next reader reports why not */
    return 0;
}

/* A sound database that ends before what the log no longer has, or cannot give: a replay from there would
 * end at an older moment than the log's newest state. What is wrong, in words; "": nothing. */
static void find_missing(struct session *session, uint64_t seq, uint64_t begins, char *why, size_t size)
{
    struct rebuild_after after;
    why[0] = '\0';
    if (seq < begins)
        snprintf(why, size, "it ends at event %" PRIu64 ", and the log begins after event %" PRIu64, seq,
                 begins);
    if (seq < begins || seq == UINT64_MAX || daemon_rebuild_log_after(log_of(session), seq, &after) < 0)
        return;
    if (after.to > 0)
        snprintf(why, size, "it ends at event %" PRIu64 ", and the log lacks events %" PRIu64 " to %" PRIu64,
                 seq, after.from, after.to);
    else if (session->log_aside[0] && after.end > seq)
        snprintf(why, size, "it ends at event %" PRIu64 ", and the log that is put aside at event %" PRIu64,
                 seq, after.end);
    else if (after.newest > after.end)
        snprintf(session->lost_events, sizeof session->lost_events,
                 "; " DB_REBUILT_LOST ": events %" PRIu64 " to %" PRIu64 ", which cannot be read",
                 after.end + 1, after.newest);
}

/* Where the log contradicts it, it stays: the log is set aside once it was replayed. */
static int catch_up(struct session *session, uint64_t begins, char *err, size_t err_size)
{
    char why[REBUILD_ERROR_MAX];
    uint64_t seq;
    int r = held_by_now(session, &seq, err, err_size);
    if (r < 0)
        return r;
    find_missing(session, seq, begins, why, sizeof why);
    r = why[0] ? daemon_session_rebuild(session, why, seq >= begins, err, err_size) : 0;
    if (r == -EILSEQ)
        daemon_log_warning("the database is left as it is: the log contradicts it");
    return r == -EILSEQ ? 0 : r;
}

/* A file of no bytes may be a first start's that was ended; beside what only a run before makes it is not. */
static void note_emptied(struct session *session, const char *what)
{
    char path[STATE_PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/notify.db", session->state->path);
    if (access(session->state->database, F_OK) < 0 || access(path, F_OK) < 0)
        return;
    snprintf(
        session->trouble, sizeof session->trouble,
        "the database: %.60s, beside %.400s of a former run, and there is no event log to build it again "
        "from: all begins afresh; what was there is in a backup, if anywhere",
        what, path);
}

int daemon_session_sound(struct session *session, char *err, size_t err_size)
{
    char what[REBUILD_ERROR_MAX] = "";
    uint64_t begins = 0;
    int r = daemon_rebuild_finish(session->state, err, err_size);
    if (r < 0)
        return r;
    if (r > 0)
        daemon_log_event(LOG_DATABASE_REBUILT, NULL,
                         "the database: what a former run had built again is in its place now");
    bool log = daemon_rebuild_log_begins(log_of(session), &begins) == 0;
    r = daemon_rebuild_check(session->state->database, QUICK_CHECK_MS, what, sizeof what);
    if ((r == -ENOENT || r == -EBADMSG) && log)
        return daemon_session_rebuild(session, what, false, err, err_size);
    if (r == -EBADMSG) {
        snprintf(err, err_size,
                 "%.200s: %.300s; and there is no event log to build it again from: restore a backup, or "
                 "move it away to start afresh",
                 session->state->database, what);
        return r;
    }
    if (r == -ENOENT && !log)
        note_emptied(session, what);
    if (r < 0 || !log)
        return 0; /* the code that opens it reports what is wrong with the path */
    return catch_up(session, begins, err, err_size);
}
