/* Replays the event log: from the newest state that the database covers, through what the database holds,
 * to the log's end; the rows that the database lacks are put again. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/session_internal.h"
#include "engine/replay.h"
#include "exchange/fail.h"

enum {
    REASON_MAX = JOURNAL_ERROR_MAX,
    FLUSH_EVENTS = 100000, /* rows put again are flushed after as many events, to bound memory */
    FLUSH_TIMEOUT_MS = 60000,
};

struct playing {
    struct session *session;
    const struct db_recovered *recovered;
    struct replay *replay;
    uint64_t runs;      /* that the writer knows the symbols of */
    int symbols;        /* … and how many of them: more are added while it runs */
    uint64_t unflushed; /* events whose rows were put again since the last flush */
    bool compared;      /* with the database, at its newest event … */
    bool contradicts;   /* … and it is of another history */
    char reason[REASON_MAX];
};

/* Falls back to the database alone. */
static int fall_back(struct playing *playing)
{
    struct session *session = playing->session;
    session->recovery.log_replaced = true;
    size_t n = strlen(session->trouble);
    if (!session->log_aside[0]) /* else it is the new one, which has nothing yet */
        snprintf(session->trouble + n, sizeof session->trouble - n, "%sthe event log: %.400s",
                 n > 0 ? "; " : "", playing->reason);
    return 0;
}

/* A log that contradicts the database: its end does not belong to this history. */
static int put_aside(struct playing *playing, char *err, size_t err_size)
{
    struct session *session = playing->session;
    int r = daemon_session_log_set_aside(session, playing->reason, err, err_size);
    if (r == 0)
        session->seq = playing->recovered->event_seq;
    return r;
}

/* The log is good, but something that it names is missing (-ENOPKG), or is newer than this program
 * (-ENOTSUP): to continue without it would lose what a strategy remembers. */
static bool is_refused(int r)
{
    return r == -ENOPKG || r == -ENOTSUP;
}

static int refuse(const struct session *session, int r, const char *reason, char *err, size_t err_size)
{
    return fail_with(
        r, err, err_size,
        "the event log: %.600s; to continue without what strategies remember, move %.200s out of the way",
        reason, session->state->events);
}

/* Does the engine at the database's newest event agree with the database? */
static bool agrees(struct playing *playing)
{
    const struct db_recovered *db = playing->recovered;
    struct engine_ids ids;
    engine_ids(engine_replay_engine(playing->replay), &ids);
    playing->compared = true;
    if (ids.last_order == db->last_order && ids.last_fill == db->last_fill &&
        ids.last_ledger == db->last_ledger && memcmp(ids.hash, db->ledger_hash, sizeof ids.hash) == 0)
        return true;
    playing->contradicts = true;
    snprintf(playing->reason, sizeof playing->reason,
             "it contradicts the database: at event %llu it gives order %llu, fill %llu and ledger row %llu, "
             "and the database holds %llu, %llu and %llu%s",
             (unsigned long long)engine_replay_seq(playing->replay), (unsigned long long)ids.last_order,
             (unsigned long long)ids.last_fill, (unsigned long long)ids.last_ledger,
             (unsigned long long)db->last_order, (unsigned long long)db->last_fill,
             (unsigned long long)db->last_ledger,
             ids.last_ledger == db->last_ledger ? ", or other hashes" : "");
    return false;
}

/* The writer names symbols and accounts by the engine's indices, which another run may have changed. */
const struct engine *daemon_session_replayed(struct session *session)
{
    struct playing *playing = session->playing;
    const struct engine *engine = engine_replay_engine(playing->replay);
    if (!session->stored && playing->runs == engine_replay_runs(playing->replay))
        for (; playing->symbols < engine_symbols(engine); playing->symbols++)
            daemon_session_put_symbol(session, playing->symbols, engine_symbol(engine, playing->symbols));
    if (!session->stored && playing->runs != engine_replay_runs(playing->replay)) {
        playing->runs = engine_replay_runs(playing->replay);
        playing->symbols = engine_symbols(engine);
        daemon_session_put_symbols(session, engine);
        for (int a = 0; a < engine_accounts(engine); a++)
            daemon_session_put_account(session, engine, a, session->event_seq - 1);
    }
    return engine;
}

const struct engine *daemon_session_playing_engine(const struct session *session)
{
    return engine_replay_engine(session->playing->replay);
}

int64_t daemon_session_row_ns(const struct session *session)
{
    return session->playing ? engine_replay_received(session->playing->replay) : session->now_ns;
}

/* One event. As engine_replay_step(). */
static int step(struct playing *playing)
{
    struct session *session = playing->session;
    uint64_t before = engine_replay_seq(playing->replay);
    session->redoing = false;
    session->stored = before < playing->recovered->event_seq;
    session->event_seq = before + 1;
    if (!session->stored) {
        db_writer_group_begin(session->writer);
        db_writer_put_event(session->writer, before + 1);
    }
    int r = engine_replay_step(playing->replay);
    if (!session->stored) {
        db_writer_put_event(session->writer,
                            engine_replay_seq(playing->replay)); /* at the end no event came */
        daemon_session_replayed(session); /* another run's accounts, where the event gave no row */
        if (!session->redoing)
            session->hooks.commands_redone(session->hooks.ctx);
        db_writer_group_end(session->writer);
        session->recovery.again += r > 0;
        if (++playing->unflushed >= FLUSH_EVENTS && !session->redoing) {
            playing->unflushed = 0;
            db_writer_flush(session->writer, FLUSH_TIMEOUT_MS);
        }
    }
    session->recovery.played += r > 0;
    return r;
}

int daemon_session_play(struct session *session, struct replay *replay, bool known, const atomic_bool *stop)
{
    static const struct db_recovered nothing;
    struct playing playing = {.session = session, .recovered = &nothing, .replay = replay, .compared = true};
    int r;
    if (known) {
        playing.runs = engine_replay_runs(replay);
        playing.symbols = engine_symbols(engine_replay_engine(replay));
    }
    session->playing = &playing;
    db_writer_group_begin(session->writer);
    if (engine_replay_seq(replay) > 0)
        db_writer_put_event(session->writer, engine_replay_seq(replay));
    session->event_seq = engine_replay_seq(replay) + 1;
    daemon_session_replayed(session);
    db_writer_group_end(session->writer);
    do
        r = stop && atomic_load(stop) ? -ECANCELED : step(&playing);
    while (r > 0);
    session->hooks.commands_redone(session->hooks.ctx);
    session->playing = NULL;
    daemon_session_run_played(session, engine_replay_run(replay));
    return r;
}

/* Replays to the end. 1; 0 when it is not to be trusted; an -errno that is refused; another where the log
 * ends in a fault: what came before is good. */
static int play(struct playing *playing)
{
    uint64_t held = playing->recovered->event_seq;
    for (;;) {
        uint64_t seq = engine_replay_seq(playing->replay);
        if (!playing->compared && seq >= held && (seq > held || !agrees(playing))) {
            if (seq > held)
                snprintf(playing->reason, sizeof playing->reason,
                         "it has no event %llu, the newest that the database holds",
                         (unsigned long long)held);
            return 0;
        }
        uint64_t holes = engine_replay_holes(playing->replay);
        int r = step(playing);
        if (r > 0 && playing->compared && engine_replay_holes(playing->replay) != holes) {
            snprintf(playing->reason, sizeof playing->reason,
                     "after event %llu some were never recorded, and the database does not hold them",
                     (unsigned long long)seq);
            return 0;
        }
        if (r > 0)
            continue;
        if (is_refused(r))
            return r;
        if (r < 0)
            snprintf(playing->reason, sizeof playing->reason, "%s", engine_replay_error(playing->replay));
        else if (!playing->compared)
            snprintf(playing->reason, sizeof playing->reason,
                     "it ends at event %llu, behind the database, which holds event %llu",
                     (unsigned long long)seq, (unsigned long long)held);
        return r < 0 && playing->compared ? r : r == 0 && playing->compared;
    }
}

/* The run that wrote the newest state, so that the next is another. */
static uint64_t last_run(const struct session *session)
{
    struct journal_reader *reader;
    struct journal_record record;
    struct state_record state;
    char err[JOURNAL_ERROR_MAX];
    uint64_t run = 0;
    if (journal_reader_open(session->state->events, &reader, err, sizeof err) < 0)
        return 0;
    if (journal_reader_seek_seq(reader, UINT64_MAX) == 0 && journal_reader_next(reader, &record) > 0 &&
        record.kind == JOURNAL_STATE && engine_state_record_decode(record.bytes, record.len, &state) == 0)
        run = state.run;
    journal_reader_close(reader);
    return run;
}

int daemon_session_play_log(struct session *session, const struct db_recovered *recovered, char *err,
                            size_t err_size)
{
    struct playing playing = {.session = session, .recovered = recovered};
    const struct policies policies = daemon_policy_set_find(session->policies);
    struct replay_options options = {.path = session->state->events,
                                     .from_seq = recovered->event_seq,
                                     .policies = &policies,
                                     .sink = daemon_session_sink(session),
                                     .run_over = daemon_session_run_played};
    int64_t began = (int64_t)uv_hrtime();
    const uint64_t last = last_run(session);
    session->run = 1 + (last > recovered->last_run ? last : recovered->last_run);
    session->seq =
        recovered->event_seq > session->recovery.log_seq ? recovered->event_seq : session->recovery.log_seq;
    if (session->recovery.log_seq == 0 && recovered->event_seq == 0 && recovered->last_ledger == 0 &&
        last == 0)
        return 0; /* a first run */
    int r = engine_replay_open(&options, &playing.replay, playing.reason, sizeof playing.reason);
    if (is_refused(r))
        return refuse(session, r, playing.reason, err, err_size);
    if (r < 0)
        return fall_back(&playing);
    struct engine_ids ids;
    engine_ids(engine_replay_engine(playing.replay), &ids);
    session->last_order = ids.last_order;
    session->playing = &playing;
    r = play(&playing);
    session->playing = NULL;
    session->hooks.commands_redone(session->hooks.ctx);
    if (r == 0) {
        engine_replay_close(playing.replay);
        return playing.contradicts ? put_aside(&playing, err, err_size) : fall_back(&playing);
    }
    if (is_refused(r)) {
        refuse(session, r, engine_replay_error(playing.replay), err, err_size);
        engine_replay_close(playing.replay);
        return r;
    }
    session->seq = engine_replay_seq(playing.replay);
    daemon_session_run_played(session, engine_replay_run(playing.replay));
    struct engine_sink sink = daemon_session_sink(session);
    session->engine = engine_replay_take(playing.replay, &sink);
    session->recovery.elapsed_ns = (int64_t)uv_hrtime() - began;
    if (r < 0) {
        r = daemon_session_log_set_aside(session, playing.reason, err, err_size);
        return r < 0 ? r : 1;
    }
    return 1;
}
