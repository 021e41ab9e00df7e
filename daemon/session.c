#include "daemon/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/priority.h"
#include "daemon/session_internal.h"
#include "exchange/clock.h"
#include "strategy/policy/device.h"

/* ---- callbacks of the threads that store ---- */

/* On the writer's thread, as all of these. */
static void on_committed(void *ctx, uint64_t ticket)
{
    struct session *session = ctx;
    (void)ticket;
    uv_async_send(&session->wake);
}

static void on_storage(void *ctx, bool ok, const char *detail)
{
    struct session *session = ctx;
    uv_mutex_lock(&session->lock);
    session->database.changed = true;
    session->database.news = ok;
    snprintf(session->database.words, sizeof session->database.words, "%s", detail ? detail : "");
    uv_mutex_unlock(&session->lock);
    uv_async_send(&session->wake);
}

static void on_storing(void *ctx, enum storing storing)
{
    struct session *session = ctx;
    uv_mutex_lock(&session->lock);
    session->database.new_storing = storing;
    uv_mutex_unlock(&session->lock);
}

static void on_doubt(void *ctx)
{
    struct session *session = ctx;
    daemon_recorder_doubt(session->log);
}

int64_t daemon_session_wall_ns(const struct session *session)
{
    const struct clock_stepped *stepped = session->hooks.stepped;
    return stepped ? stepped->now_ns(stepped->ctx) : clock_wall_ns();
}

/* The log is never behind the database. */
static int before_commit(void *ctx, uint64_t event_seq)
{
    struct session *session = ctx;
    return daemon_recorder_sync(session->log, event_seq);
}

static void report_device(struct session *session)
{
    char text[NET_DEVICE_ERROR_MAX + 80];
    const char *why = daemon_policy_set_device_trouble(session->policies);
    if (!why)
        return;
    snprintf(text, sizeof text, "policies are computed by the CPU: %s", why);
    daemon_log_event_at(LOG_LEVEL_WARNING, LOG_DEVICE, LOG_OF(.alert = "POLICY_DEVICE"), "%s", text);
    daemon_session_alert_lasting(session, DB_WARNING, "POLICY_DEVICE", "", text);
}

static void on_wake(uv_async_t *async)
{
    struct session *session = async->data;
    char text[RECORDER_ERROR_MAX + 80] = "";
    uv_mutex_lock(&session->lock);
    daemon_session_storage_take(session);
    if (session->recording_failed) {
        session->recording_failed = false;
        snprintf(text, sizeof text, "the recording ended: %s", session->recording_words);
    }
    uv_mutex_unlock(&session->lock);
    daemon_session_note_removal(session);
    daemon_session_storage_judge(session);
    if (text[0]) {
        daemon_log_event(LOG_STORAGE_FAILING, LOG_OF(.alert = "recording"), "%s", text);
        daemon_session_alert(session, DB_WARNING, "recording", text);
    }
    if (session->log)
        daemon_session_storage_hole(session);
    if (session->log && session->engine)
        daemon_session_log_wants(session); /* also where nothing happens */
    if (session->engine)
        daemon_session_strategies_ask(session);
    report_device(session);
    if (session->hooks.committed && session->writer)
        session->hooks.committed(session->hooks.ctx, db_writer_committed(session->writer));
}

/* ---- open ---- */

static int open_policies(struct session *session, char *err, size_t err_size)
{
    char why[CONFIG_ERROR_MAX];
    int r = daemon_policy_set_load(session->config, &session->policies, why);
    if (r == 0)
        r = daemon_policy_set_keep(session->policies, session->state->policies, session->config->record_dir,
                                   why);
    if (r < 0)
        snprintf(err, err_size, "%s", why);
    else if (session->config->inference == INFERENCE_GPU)
        daemon_policy_set_on_device(session->policies, NULL, session->config->policy_device_wait_ms);
    return r;
}

static void on_writing(void *ctx)
{
    (void)ctx;
    daemon_priority_background();
}

int daemon_session_open_database(struct session *session, char *err, size_t err_size)
{
    const struct db_writer_config writer = {
        .ctx = session,
        .started = on_writing,
        .committed = on_committed,
        .state = on_storage,
        .storing = on_storing,
        .doubt = on_doubt,
        .check = daemon_session_storage_check,
        .rebuild = daemon_session_storage_rebuild,
        .before_commit = before_commit,
        .stepped = session->hooks.stepped,
        .max_delay_ms = session->config->commit_delay_ms,
    };
    char reason[DB_ERROR_MAX];
    int r = db_writer_open(session->state->database, &writer, &session->writer, reason, sizeof reason);
    if (r < 0)
        snprintf(err, err_size, "%s: %s", session->state->database, reason);
    return r;
}

/* Before there is an engine: a venue that is never reached needs an alert too. Where they cannot be read,
 * daemon_session_begin() reports it. */
static void open_alerts(struct session *session)
{
    char reason[DB_ERROR_MAX];
    struct db_reader *reader;
    if (db_reader_open(session->state->database, &reader, reason, sizeof reason) < 0)
        return;
    daemon_session_take_alerts(session, reader);
    daemon_session_take_price_alerts(session, reader);
    db_reader_close(reader);
}

int daemon_session_open(uv_loop_t *loop, const struct daemon_config *config, const struct state_dir *state,
                        const struct session_hooks *hooks, struct session **ret, char *err, size_t err_size)
{
    struct session *session = calloc(1, sizeof *session);
    if (!session)
        return -ENOMEM;
    session->loop = loop;
    session->config = config;
    session->state = state;
    session->hooks = *hooks;
    session->storage_ok = session->database.ok = session->events.ok = true;
    session->early_end = &session->early;
    session->recovery.from = "nothing";
    codec_save(&session->codec);
    session->tape = daemon_tape_create();
    int r = session->tape ? uv_mutex_init(&session->lock) : -ENOMEM;
    if (r < 0) {
        daemon_tape_destroy(session->tape);
        free(session);
        return r;
    }
    r = uv_async_init(loop, &session->wake, on_wake);
    session->wake.data = session;
    if (r == 0)
        r = open_policies(session, err, err_size);
    if (r == 0)
        r = daemon_session_keep_former(session, err, err_size);
    if (r == 0)
        r = daemon_session_log_open(session, err, err_size);
    if (r == 0)
        r = daemon_session_sound(session, err, err_size);
    if (r == 0)
        r = daemon_session_open_database(session, err, err_size);
    if (r < 0) {
        daemon_session_log_close(session, 0);
        daemon_policy_set_destroy(session->policies);
        uv_close((uv_handle_t *)&session->wake, NULL);
        uv_run(loop, UV_RUN_NOWAIT);
        uv_mutex_destroy(&session->lock);
        daemon_tape_destroy(session->tape);
        free(session);
        return r;
    }
    open_alerts(session);
    *ret = session;
    return 0;
}

bool daemon_session_started(const struct session *session)
{
    return session->engine != NULL;
}

uint64_t daemon_session_fills(const struct session *session)
{
    return session->engine ? engine_counters(session->engine)->fills - session->fills_before : 0;
}

/* ---- events ---- */

void daemon_session_continue_from(struct session *session, int64_t last_ns, int64_t reported_ns)
{
    session->now_ns = last_ns;
    daemon_steady_begin(&session->steady, last_ns, clock_boot_ns());
    session->steady.reported_ns = reported_ns;
}

static void report_clock(struct session *session, int64_t ahead_ns)
{
    char text[160];
    snprintf(text, sizeof text,
             SESSION_CLOCK_BEHIND
             "%.3f s behind the last event: time continues from there, a little slower, until it "
             "has caught up",
             (double)ahead_ns / 1e9);
    daemon_log_event(LOG_CLOCK, LOG_OF(.alert = "clock"), "%s", text);
    daemon_session_alert_lasting(session, DB_WARNING, "clock", SESSION_CLOCK_BEHIND, text);
}

/* Bars close and orders expire as if that time had passed, except what goes by the venue's clock. */
static void report_jump(struct session *session, int64_t jump_ns)
{
    char text[200], at[CLOCK_TEXT_MAX];
    snprintf(text, sizeof text,
             "the clock jumped forward by %.3f s, to %s: time continues from there, and what was due by "
             "this clock in between is due now",
             (double)jump_ns / 1e9, clock_utc_text(session->now_ns, at));
    daemon_log_event(LOG_CLOCK, LOG_OF(.alert = "clock"), "%s", text);
    daemon_session_alert(session, DB_WARNING, "clock", text);
}

/* The wall's time, made steady; or, on the feed's clock, the latest event time seen. */
static int64_t stamp(struct session *session, const struct event *event)
{
    struct steady_step step = {0};
    if (session->config->clock == CLOCK_WALL) {
        session->now_ns = daemon_steady_stamp(&session->steady, clock_wall_ns(), clock_boot_ns(), &step);
    } else if (event && event->kind == EVENT_MARKET && event->market.event_ns > session->now_ns) {
        session->now_ns = event->market.event_ns;
        step.caught_up = session->steady.reported_ns > 0;
        session->steady.reported_ns = 0;
    }
    if (step.ahead_ns > 0)
        report_clock(session, step.ahead_ns);
    if (step.caught_up)
        daemon_session_alert_over(session, "clock", SESSION_CLOCK_BEHIND);
    if (step.jump_ns > 0)
        report_jump(session, step.jump_ns);
    session->jumped |= step.jump_ns > 0;
    return session->now_ns;
}

int64_t daemon_session_stamp(struct session *session)
{
    return stamp(session, NULL);
}

void daemon_session_event(struct session *session, struct event *event)
{
    if (!session->engine)
        return;
    event->recv_ns = stamp(session, event);
    if (session->jumped) { /* what is due by the venue's clock is not due for that */
        session->jumped = false;
        if (session->hooks.clock_jumped)
            session->hooks.clock_jumped(session->hooks.ctx);
        event->recv_ns = stamp(session, event);
    }
    event->seq = session->event_seq = ++session->seq;
    if (event->kind == EVENT_BARS && event->bars.missed)
        session->recovery.missed_bars += event->bars.n;
    if (event->kind == EVENT_MARKET)
        daemon_tape_take(session->tape, &event->market);
    daemon_session_log_event(session, event);
    db_writer_group_begin(session->writer);
    db_writer_put_event(session->writer, event->seq);
    int r = engine_handle(session->engine, event);
    if (event->kind == EVENT_MARKET)
        daemon_session_price_trade(session, &event->market);
    db_writer_group_end(session->writer);
    if (r < 0)
        daemon_log_error("event %llu: %s", (unsigned long long)event->seq, strerror(-r));
    daemon_session_log_wants(session);
    if (event->kind == EVENT_COMMAND || event->kind == EVENT_SYMBOL)
        daemon_session_strategies_follow(session);
    if (engine_requests(session->engine) > 0)
        daemon_session_strategies_ask(session);
}

void daemon_session_pass(struct session *session, int64_t at_ns)
{
    if (session->config->clock == CLOCK_FEED && at_ns > session->now_ns)
        session->now_ns = at_ns;
}

int64_t daemon_session_now(const struct session *session)
{
    return session->config->clock == CLOCK_WALL
               ? daemon_steady_look(&session->steady, clock_wall_ns(), clock_boot_ns())
               : session->now_ns;
}

const struct engine *daemon_session_engine(const struct session *session)
{
    return session->playing ? daemon_session_playing_engine(session) : session->engine;
}

const struct trade_tape *daemon_session_tape(const struct session *session)
{
    return session->tape;
}

int daemon_session_dry_run(struct session *session, enum order_grouping grouping, const struct order *legs,
                           int n_legs, struct engine_dry_run *ret)
{
    return session->playing ? -EAGAIN : engine_dry_run(session->engine, grouping, legs, n_legs, ret);
}

struct db_writer *daemon_session_writer(struct session *session)
{
    return session->writer;
}

struct policy_set *daemon_session_policies(struct session *session)
{
    return session->policies;
}

const struct session_recovery *daemon_session_recovery(const struct session *session)
{
    return &session->recovery;
}

uint64_t daemon_session_event_seq(const struct session *session)
{
    return session->event_seq;
}

uint64_t daemon_session_command_id(struct session *session)
{
    return ++session->last_command;
}

void daemon_session_put_command(struct session *session, const struct db_command *row)
{
    db_writer_put_command(session->writer, row);
    daemon_kept_add(&session->kept, row);
}

/* ---- the end ---- */

enum { DRAIN_STEP_MS = 100, LOG_CLOSE_MS = 3000 /* beside the database's time */ };

static void freed(uv_handle_t *handle)
{
    struct session *session = handle->data;
    uv_mutex_destroy(&session->lock);
    daemon_session_alerts_finish(session);
    daemon_price_alerts_finish(&session->price_alerts);
    free(session->sessions);
    free(session->symbols);
    free(session->rebuilt_list);
    daemon_tape_destroy(session->tape);
    daemon_kept_finish(&session->kept);
    free(session->decision);
    free(session);
}

/* The state of both: OK, FAILS where the disk accepts nothing now, else the work that is under way. */
static enum storing find_storing(const struct session *session)
{
    struct db_writer_stats database;
    struct recorder_stats log;
    db_writer_stats(session->writer, &database);
    daemon_recorder_stats(session->log, &log);
    return database.storing > log.storing ? database.storing : log.storing;
}

void daemon_session_stopped(struct session *session)
{
    struct event event = {.kind = EVENT_STOP};
    if (session->engine && session->run_began_ns != 0) /* else the log has no run that it could end */
        daemon_session_event(session, &event);
}

int daemon_session_drain(struct session *session, int64_t timeout_ms)
{
    int64_t until = clock_now_ms() + timeout_ms, failing_ms = 0;
    if (!session->writer) /* it could not be opened again */
        return 0;
    for (;;) {
        int r = db_writer_flush(session->writer, DRAIN_STEP_MS);
        int64_t now = clock_now_ms();
        if (r != -ETIMEDOUT)
            return r;
        enum storing storing = find_storing(session);
        if (storing == STORING_OK)
            failing_ms = 0;
        else if (failing_ms == 0)
            failing_ms = now;
        else if (storing == STORING_FAILS && now - failing_ms >= SESSION_FAILING_MS)
            return -EIO; /* else it is checked, or built again, which may take the whole time */
        if (now >= until)
            return -ETIMEDOUT;
    }
}

/* Puts a row of the last event: the next start finds that the database holds all of the log, starts from
 * its last state, and replays nothing. */
static void put_end(struct session *session)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, session->now_ns);
    db_writer_group_begin(session->writer);
    db_writer_put_event(session->writer, session->seq);
    db_writer_put_meta(session->writer, "stopped_ns", text);
    daemon_session_run_end(session);
    db_writer_group_end(session->writer);
}

int daemon_session_close(struct session *session, int64_t timeout_ms, char *err, size_t err_size)
{
    char reason[DB_ERROR_MAX] = "";
    int64_t until = clock_now_ms() + timeout_ms;
    if (session->engine) /* the last state is of now, not of the last event */
        daemon_session_stamp(session);
    if (session->engine && daemon_session_log_state(session, STATE_STOP) < 0)
        daemon_log_error("the event log: no memory for the last state");
    if (session->engine)
        put_end(session);
    int r = session->writer ? db_writer_flush(session->writer, timeout_ms) : 0;
    atomic_store(&session->gives_up, r < 0);
    int64_t left = until - clock_now_ms();
    r = db_writer_close(session->writer, r < 0 || left < 0 ? 0 : left, reason, sizeof reason);
    if (r < 0)
        snprintf(err, err_size, "%s: %s", session->state->database, reason);
    daemon_session_strategies_end(session);
    int log = daemon_session_log_close(session, timeout_ms < LOG_CLOSE_MS ? timeout_ms : LOG_CLOSE_MS);
    if (r == 0 && log < 0) {
        snprintf(err, err_size, "%s: the event log is not whole: %s", session->state->events, strerror(-log));
        r = log;
    }
    engine_destroy(session->engine);
    daemon_policy_set_destroy(session->policies);
    session->engine = NULL;
    uv_close((uv_handle_t *)&session->wake, freed);
    return r;
}
