#include "daemon/rebuild_play.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/command/command.h"
#include "daemon/daemon.h"
#include "daemon/rebuild_log.h"
#include "daemon/session_internal.h"
#include "db/base.h"
#include "db/salvage.h"
#include "engine/replay.h"
#include "exchange/fail.h"

enum { FLUSH_MS = 600000, FLUSH_STEP_MS = 100 };

/* A session without a loop, a log or a database of its own: its sink and its commands put the rows that a
 * replay produces, as at a start. */
struct rebuild_play {
    const struct rebuild_options *options;
    const char *events;
    sqlite3 *db;
    struct rebuild_played *ret;
    struct daemon daemon;
    struct session session;
    struct rebuild_segment *segments;
    size_t n_segments;
    bool any; /* a state was read: seq and ids are of where its segment ended */
    uint64_t seq;
    struct engine_ids ids;
    uint64_t last_alert;
    atomic_bool failed;         /* the new file could not be written … */
    char failure[DB_ERROR_MAX]; /* … for this reason, set before */
};

/* ---- the bare session ---- */

static void redone(void *ctx, int64_t ts_ns, const struct event_command *command, enum order_reason reason,
                   uint64_t order_id)
{
    struct rebuild_play *play = ctx;
    daemon_commands_redone(play->daemon.commands, ts_ns, command, reason, order_id);
}

static void redone_end(void *ctx)
{
    struct rebuild_play *play = ctx;
    daemon_commands_redone_end(play->daemon.commands);
}

/* On the writer's thread. */
static void on_state(void *ctx, bool ok, const char *detail)
{
    struct rebuild_play *play = ctx;
    if (ok || atomic_load(&play->failed))
        return;
    snprintf(play->failure, sizeof play->failure, "%s", detail);
    atomic_store(&play->failed, true);
}

/* Waits until the rows that were put are stored. After its first failure a new file is not written any
 * further: the rebuild starts over with another file. */
static int flush(struct rebuild_play *play, char *err, size_t err_size)
{
    int r = -ETIMEDOUT;
    for (int waited = 0; r == -ETIMEDOUT && waited < FLUSH_MS; waited += FLUSH_STEP_MS) {
        r = db_writer_flush(play->session.writer, FLUSH_STEP_MS);
        if (r == -EBADMSG)
            return r;
        if (play->options->stop && atomic_load(play->options->stop))
            return -ECANCELED;
        if (atomic_load(&play->failed))
            return fail_with(-EIO, err, err_size, "the new database: %s", play->failure);
    }
    return r;
}

static int open_session(struct rebuild_play *play, const char *path, char *err, size_t err_size)
{
    const struct db_writer_config writer = {.ctx = play, .state = on_state};
    struct session *session = &play->session;
    session->config = &play->daemon.config;
    session->state = play->options->state;
    session->hooks =
        (struct session_hooks){.ctx = play, .command_redone = redone, .commands_redone = redone_end};
    session->default_venue = play->options->venue;
    play->daemon.session = session;
    play->daemon.commands = daemon_commands_create(&play->daemon);
    if (!play->daemon.commands)
        return -ENOMEM;
    return db_writer_open(path, &writer, &session->writer, err, err_size);
}

static int close_session(struct rebuild_play *play, int r, char *err, size_t err_size)
{
    char reason[DB_ERROR_MAX] = "";
    if (play->daemon.commands)
        daemon_commands_destroy(play->daemon.commands);
    int flushed = r == 0 ? flush(play, err, err_size) : 0;
    bool good = r == 0 && flushed == 0;
    int closed = db_writer_close(play->session.writer, good ? FLUSH_MS : 0, reason, sizeof reason);
    daemon_kept_finish(&play->session.kept);
    daemon_session_alerts_finish(&play->session); /* they are salvaged */
    free(play->segments);
    if (r == 0 && closed < 0 && flushed != -EIO)
        snprintf(err, err_size, "%s", reason);
    return r < 0 ? r : flushed < 0 ? flushed : closed;
}

/* ---- a stretch of the log ---- */

static void put_kept(void *ctx, const struct db_command *row)
{
    struct rebuild_play *play = ctx;
    db_salvage_command(play->db, row);
}

/* Puts the accounts that a state holds, before its first event. */
static void put_state(struct rebuild_play *play, const struct engine *engine, uint64_t seq, int64_t ts_ns)
{
    struct session *session = &play->session;
    struct db_writer *writer = session->writer;
    db_writer_group_begin(writer);
    if (seq > 0)
        db_writer_put_event(writer, seq);
    session->now_ns = ts_ns;
    daemon_session_put_symbols(session, engine);
    for (int a = 0; a < engine_accounts(engine); a++) {
        const struct account *account = engine_account(engine, a);
        daemon_session_put_account(session, engine, a, seq);
        for (int s = 0; s < engine_symbols(engine); s++)
            if (account->positions[s].updated_ns > 0)
                db_writer_put_position(writer, a, s, &account->positions[s]);
        if (!account->started)
            continue;
        db_writer_put_equity(writer, &(struct db_equity){a, DB_EQUITY_LIVE, ts_ns, account->equity,
                                                         account->assets[account->currency_at].total,
                                                         account->equity_peak, account->day,
                                                         account->day_equity, account->killed_ns});
        daemon_session_put_margin(session, engine, a, ts_ns);
    }
    for (size_t i = 0; i < engine_orders(engine); i++)
        db_writer_put_order(writer, engine_order(engine, i));
    db_writer_put_paused(writer, engine_paused(engine));
    db_writer_group_end(writer);
}

/* The log is whole from this state on, as far as it is known: the record builds upon it. */
static int begin_stretch(struct rebuild_play *play, struct replay *replay, char *err, size_t err_size)
{
    const struct engine *engine = engine_replay_engine(replay);
    const struct state_record *state = engine_replay_state(replay);
    uint64_t seq = engine_replay_seq(replay), last_command = 0, last_alert = 0;
    struct engine_ids ids;
    engine_ids(engine, &ids);
    play->session.last_order = ids.last_order;
    play->ret->first_seq = seq;
    play->ret->based = seq > 0 || ids.last_ledger > 0;
    if (!play->ret->based)
        return 0;
    put_state(play, engine, seq, engine_replay_received(replay));
    int r = flush(play, err, err_size);
    int rc = r == 0 ? sqlite3_exec(play->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) : SQLITE_OK;
    if (r == 0 && rc == SQLITE_OK)
        rc = db_base_put(play->db, engine, seq, engine_replay_received(replay), play->session.default_venue);
    if (r == 0 && rc == SQLITE_OK)
        r = daemon_kept_decode(state->beside, state->beside_len, put_kept, play, &last_command, &last_alert);
    if (r == 0 && rc == SQLITE_OK)
        rc = sqlite3_exec(play->db, "COMMIT", NULL, NULL, NULL);
    if (rc != SQLITE_OK)
        snprintf(err, err_size, "the state after event %" PRIu64 " could not be stored: %s", seq,
                 sqlite3_errmsg(play->db));
    if (!sqlite3_get_autocommit(play->db))
        sqlite3_exec(play->db, "ROLLBACK", NULL, NULL, NULL);
    if (last_command > play->session.last_command)
        play->session.last_command = last_command;
    return r < 0 ? r : db_errno(rc);
}

static void none(void *ctx, const struct db_command *row)
{
    (void)ctx;
    (void)row;
}

static void take_numbers(struct rebuild_play *play, const struct state_record *state)
{
    uint64_t last_command = 0, last_alert = 0;
    if (daemon_kept_decode(state->beside, state->beside_len, none, NULL, &last_command, &last_alert) < 0)
        return;
    if (last_command > play->session.last_command)
        play->session.last_command = last_command;
    if (last_alert > play->last_alert)
        play->last_alert = last_alert;
}

static void note_fault(struct rebuild_play *play, const char *segment, const char *words)
{
    play->ret->cut = true;
    if (play->ret->faults++ == 0)
        snprintf(play->ret->fault, sizeof play->ret->fault, "%s: %.400s", segment, words);
}

static bool follows(const struct rebuild_play *play, struct replay *replay)
{
    struct engine_ids ids;
    engine_ids(engine_replay_engine(replay), &ids);
    return play->any && engine_replay_seq(replay) == play->seq && memcmp(&ids, &play->ids, sizeof ids) == 0;
}

/* Records where the log begins, and where it begins once more after what was played. */
static void note_stretch(struct rebuild_play *play, const struct rebuild_segment *segment, uint64_t seq)
{
    if (!play->any)
        play->ret->begins = seq;
    else if (play->ret->second == 0)
        play->ret->second = (size_t)(segment - play->segments);
}

/* 0; -errno for an error that is not a fault of the log. */
static int play_segment(struct rebuild_play *play, const struct rebuild_segment *segment, char *err,
                        size_t err_size)
{
    char path[STATE_PATH_MAX + 128], words[JOURNAL_ERROR_MAX];
    struct replay *replay;
    struct replay_options options = {.path = path,
                                     .policies = play->options->policies,
                                     .sink = daemon_session_sink(&play->session),
                                     .run_over = daemon_session_run_played};
    snprintf(path, sizeof path, "%s/%s", play->events, segment->name);
    int r = engine_replay_open(&options, &replay, words, sizeof words);
    if (r == -ENOMEM || r == -ENOPKG || r == -ENOTSUP) {
        snprintf(err, err_size, "%s: %s", segment->name, words);
        return r;
    }
    if (r < 0) {
        note_fault(play, segment->name, words);
        return 0;
    }
    enum state_why why = engine_replay_state(replay)->why;
    bool known = follows(play, replay), same_run = why == STATE_ROTATION || why == STATE_STOP;
    take_numbers(play, engine_replay_state(replay));
    play->ret->cut = false;
    if (!known)
        note_stretch(play, segment, engine_replay_seq(replay));
    r = known ? 0 : begin_stretch(play, replay, err, err_size);
    if (r == 0) {
        play->any = true;
        r = daemon_session_play(&play->session, replay, known && same_run, play->options->stop);
        play->seq = engine_replay_seq(replay);
        engine_ids(engine_replay_engine(replay), &play->ids);
        if (r < 0 && r != -ECANCELED && r != -ENOMEM && r != -ENOPKG) {
            note_fault(play, segment->name, engine_replay_error(replay));
            r = 0;
        } else if (r < 0) {
            snprintf(err, err_size, "%s: %s", segment->name,
                     r == -ECANCELED ? "given up" : engine_replay_error(replay));
        }
    }
    engine_replay_close(replay);
    return r;
}

/* Puts the newest event's number, whether it has rows or not, and numbers that no row has any more. */
static void put_end(struct rebuild_play *play)
{
    struct db_writer *writer = play->session.writer;
    char text[24];
    db_writer_group_begin(writer);
    if (play->seq > 0)
        db_writer_put_event(writer, play->seq);
    snprintf(text, sizeof text, "%" PRIu64, play->session.last_command);
    db_writer_put_meta(writer, "last_command", text);
    snprintf(text, sizeof text, "%" PRIu64, play->last_alert);
    db_writer_put_meta(writer, "last_alert", text);
    db_writer_group_end(writer);
}

int daemon_rebuild_play(const struct rebuild_options *options, const char *events, const char *path,
                        sqlite3 *db, size_t from, struct rebuild_played *ret, char *err, size_t err_size)
{
    struct rebuild_play *play = calloc(1, sizeof *play);
    *ret = (struct rebuild_played){0};
    if (!play)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    play->options = options;
    play->events = events;
    play->db = db;
    play->ret = ret;
    daemon_config_defaults(&play->daemon.config);
    int r = daemon_rebuild_log_segments(events, &play->segments, &play->n_segments);
    if (r < 0)
        snprintf(err, err_size, "%s: %s", events, strerror(-r));
    if (r == 0)
        r = open_session(play, path, err, err_size);
    for (size_t i = from; r == 0 && i < play->n_segments; i++)
        r = play_segment(play, &play->segments[i], err, err_size);
    if (r == 0 && !play->any) {
        snprintf(err, err_size, "no state of it can be read%s%s", ret->fault[0] ? ": " : "", ret->fault);
        r = -ENOENT;
    }
    if (r == 0)
        put_end(play);
    ret->last_seq = play->seq;
    ret->newest_seq = ret->cut ? daemon_rebuild_log_newest(events) : play->seq;
    r = play->session.writer ? close_session(play, r, err, err_size) : r;
    free(play);
    return r;
}
