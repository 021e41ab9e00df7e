#include "engine/replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core.h"
#include "engine/driver.h"
#include "engine/record.h"
#include "exchange/clock.h"
#include "exchange/fail.h"
#include "strategy/policy/cache.h"

struct replay {
    struct journal_reader *reader;
    struct engine *engine;
    struct engine_sink sink;
    struct event event;
    struct event_memory memory;
    struct codec codec;
    struct policy_cache *cache; /* of the journal's own state directory */
    struct policies policies;
    uint64_t seq, runs, holes;
    int64_t to_ns, received_ns;
    struct replay_run run;
    void (*run_over)(void *ctx, const struct replay_run *run);
    struct state_record state; /* without its bytes */
    uint8_t *beside;           /* its own copy */
    bool check_states, any_event, ended;
    char error[JOURNAL_ERROR_MAX];
};

#define fault(replay, code, ...) fail_line(code, (replay)->error, sizeof(replay)->error, NULL, __VA_ARGS__)

static int reader_fault(struct replay *replay, int error)
{
    return fault(replay, error, "%s", journal_reader_error(replay->reader));
}

/* What the state of a new run must share with the engine that replayed all before: no row of the ledger is
 * lost, and no row was added without an event. */
static int check_continuity(struct replay *replay, const struct engine *next, uint64_t seq)
{
    const struct engine *engine = replay->engine;
    if (next->last_ledger < engine->last_ledger || next->last_order < engine->last_order ||
        next->last_fill < engine->last_fill)
        return fault(replay, -EILSEQ,
                     "the state after event %" PRIu64 " has %" PRIu64 " ledger rows, %" PRIu64
                     " orders and %" PRIu64 " fills: fewer than were played",
                     seq, next->last_ledger, next->last_order, next->last_fill);
    if (seq == replay->seq && (next->last_ledger != engine->last_ledger ||
                               memcmp(next->hash, engine->hash, sizeof next->hash) != 0))
        return fault(replay, -EILSEQ,
                     "the state after event %" PRIu64 " has %" PRIu64 " ledger rows, and not the %" PRIu64
                     " that were played",
                     seq, next->last_ledger, engine->last_ledger);
    return 0;
}

static int keep_beside(struct replay *replay, const struct state_record *state)
{
    uint8_t *bytes = malloc(state->beside_len + 1);
    if (!bytes)
        return fault(replay, -ENOMEM, "no memory for a state");
    if (state->beside_len > 0)
        memcpy(bytes, state->beside, state->beside_len);
    free(replay->beside);
    replay->beside = bytes;
    replay->state = *state;
    replay->state.beside = bytes;
    replay->state.state = NULL;
    return 0;
}

static void follow_run(struct replay *replay, const struct journal_record *record,
                       const struct state_record *state)
{
    struct replay_run *run = &replay->run;
    if (state->run != run->number) {
        if (run->number > 0 && replay->run_over)
            replay->run_over(replay->sink.ctx, run);
        *run = (struct replay_run){.number = state->run, .began_ns = record->recv_ns};
    }
    run->last_ns = record->recv_ns;
    run->stopped = state->why == STATE_STOP;
}

static int begin(struct replay *replay, const struct journal_record *record, const struct state_record *state)
{
    char err[ENGINE_ERROR_MAX];
    struct engine *engine;
    int r = engine_load(state->state, state->len, &replay->sink, &replay->policies, &engine, err);
    if (r < 0)
        return fault(replay, r, "the state after event %" PRIu64 ": %s", record->seq, err);
    if (replay->engine) {
        r = check_continuity(replay, engine, record->seq);
        if (r < 0) {
            engine_destroy(engine);
            return r;
        }
        if (record->seq > replay->seq)
            replay->holes += record->seq - replay->seq;
    }
    engine_destroy(replay->engine);
    replay->engine = engine;
    replay->seq = record->seq;
    replay->received_ns = record->recv_ns;
    replay->runs++;
    follow_run(replay, record, state);
    return keep_beside(replay, state);
}

/* Loads a state into an engine of its own and saves that, in the present layout, into `to`. */
static int renew(struct replay *replay, const void *state, size_t len, struct codec *to)
{
    const struct engine_sink none = {0};
    struct engine *scratch = NULL;
    char err[ENGINE_ERROR_MAX];
    int r = engine_load(state, len, &none, &replay->policies, &scratch, err);
    if (r < 0)
        return fault(replay, r, "%s", err);
    codec_save(to);
    r = engine_save(scratch, to);
    engine_destroy(scratch);
    return r < 0 ? fault(replay, r, "no memory to compare states") : 0;
}

/* Converts both by way of the older layout into the present one, whose lists are longer. 1, 0, or -errno. */
static int same_in_layout(struct replay *replay, uint32_t layout, const struct state_record *state)
{
    struct codec theirs = {0}, ours = {0};
    codec_save(&replay->codec);
    int r = engine_save_as(replay->engine, layout, &replay->codec);
    if (r < 0)
        fault(replay, r, "no memory to compare states");
    if (r == 0)
        r = renew(replay, replay->codec.bytes, replay->codec.len, &ours);
    if (r == 0)
        r = renew(replay, state->state, state->len, &theirs);
    if (r == 0)
        r = ours.len == theirs.len && memcmp(ours.bytes, theirs.bytes, ours.len) == 0;
    codec_finish(&theirs);
    codec_finish(&ours);
    return r;
}

/* Does a recorded state equal the engine's? 1, 0, or -errno with a fault. */
static int same(struct replay *replay, const struct state_record *state)
{
    uint32_t layout = engine_state_layout(state->state, state->len);
    if (layout > 0 && layout < ENGINE_STATE_VERSION)
        return same_in_layout(replay, layout, state);
    codec_save(&replay->codec);
    int r = engine_save(replay->engine, &replay->codec);
    if (r < 0)
        return fault(replay, r, "no memory to compare states");
    return replay->codec.len == state->len && memcmp(replay->codec.bytes, state->state, state->len) == 0;
}

/* A state of the same run must equal the engine's. */
static int compare(struct replay *replay, const struct journal_record *record,
                   const struct state_record *state)
{
    if (state->run != replay->run.number || record->seq != replay->seq)
        return fault(replay, -EILSEQ,
                     "the state of run %" PRIu64 " after event %" PRIu64
                     " (%s) does not follow event %" PRIu64 " of run %" PRIu64,
                     state->run, record->seq, engine_state_why_name(state->why), replay->seq,
                     replay->run.number);
    follow_run(replay, record, state);
    if (!replay->check_states)
        return 0;
    int r = same(replay, state);
    if (r == 0)
        return fault(replay, -EILSEQ,
                     "the state after event %" PRIu64 " (%s) is not what the events make of it", record->seq,
                     engine_state_why_name(state->why));
    if (r < 0) {
        char why[JOURNAL_ERROR_MAX];
        memcpy(why, replay->error, sizeof why);
        return fault(replay, r, "the state after event %" PRIu64 ": %s", record->seq, why);
    }
    return 0;
}

static int take_state(struct replay *replay, const struct journal_record *record)
{
    struct state_record state;
    if (record->len == 0)
        return fault(
            replay, -ENODATA,
            "it holds what a venue sent, without an engine: papertape-replay plays it, not the engine");
    int r = engine_state_record_decode(record->bytes, record->len, &state);
    if (r == -ENOTSUP)
        return fault(replay, r, FAIL_NEWER("the state after event %" PRIu64, "layout %d"), record->seq,
                     STATE_RECORD_VERSION);
    if (r < 0)
        return fault(replay, r, "the state after event %" PRIu64 " is none", record->seq);
    bool same_run = state.why == STATE_ROTATION || state.why == STATE_STOP;
    return replay->engine && same_run ? compare(replay, record, &state) : begin(replay, record, &state);
}

/* An event that names what is not there. */
static int missing(struct replay *replay, uint64_t seq)
{
    char id[POLICY_ID_TEXT];
    const char *where = replay->policies.where;
    if (!replay->memory.no_policy)
        return fault(replay, -ENOPKG,
                     "event %" PRIu64 " names a strategy that this program does not have, or parameters that "
                     "it does not take",
                     seq);
    policy_id_text(replay->memory.policy_id, id);
    return fault(
        replay, -ENOPKG,
        "event %" PRIu64 " names the policy %s, whose files are not there, or are others by now: "
        "policy.safetensors, policy.ensemble.json with its members, or params.json and actions.csv, belongs "
        "into a folder of this name in %.200s",
        seq, id, where ? where : "policies/ of the state directory");
}

static int take_event(struct replay *replay, const struct journal_record *record)
{
    struct event *event = &replay->event;
    int r = event_decode(record->bytes, record->len, &replay->memory, event);
    if (r == -ENOPKG)
        return missing(replay, record->seq);
    if (r == -ENOTSUP)
        return fault(replay, r, FAIL_NEWER("event %" PRIu64, "layout %d"), record->seq, EVENT_RECORD_VERSION);
    if (r < 0)
        return fault(replay, r, "event %" PRIu64 " %s", record->seq,
                     r == -ENOMEM ? "does not fit the memory" : "cannot be read");
    event->seq = record->seq;
    event->recv_ns = record->recv_ns;
    replay->seq = record->seq;
    replay->received_ns = replay->run.last_ns = record->recv_ns;
    replay->any_event = true;
    /* -EINVAL: the event names what is not there; it had no effect when it was recorded, either. */
    if (engine_handle(replay->engine, event) == -ENOMEM)
        return fault(replay, -ENOMEM, "no memory for what event %" PRIu64 " brings about", record->seq);
    return 1;
}

static int seek(struct replay *replay, const struct replay_options *options)
{
    if (options->newest)
        return journal_reader_seek_seq(replay->reader, UINT64_MAX);
    if (options->from_ns > 0)
        return journal_reader_seek_time(replay->reader, options->from_ns);
    return options->from_seq > 0 ? journal_reader_seek_seq(replay->reader, options->from_seq) : 0;
}

/* -ENOENT: reports when the journal starts. */
static int begins_later(struct replay *replay, const char *path)
{
    struct journal_reader *reader;
    struct journal_record first;
    char time[CLOCK_TEXT_MAX], err[JOURNAL_ERROR_MAX];
    int r = journal_reader_open(path, &reader, err, sizeof err);
    if (r < 0)
        return fault(replay, r, "%s", err);
    r = journal_reader_next(reader, &first);
    if (r == 1)
        fault(replay, -ENOENT, "the log begins later: at %s, after event %" PRIu64,
              clock_utc_text(first.recv_ns, time), first.seq);
    else
        fault(replay, -ENOENT, "%s: the log begins later", path);
    journal_reader_close(reader);
    return -ENOENT;
}

/* Reads up to the state that it starts from. */
static int start(struct replay *replay, const struct replay_options *options)
{
    struct journal_record record;
    int r = seek(replay, options);
    if (r == -ENOENT)
        return begins_later(replay, options->path);
    if (r == 0)
        r = journal_reader_next(replay->reader, &record);
    if (r < 0)
        return reader_fault(replay, r);
    if (r == 0 || record.kind != JOURNAL_STATE)
        return fault(replay, r == 0 ? -ENOENT : -EBADMSG, "%s: there is no state to begin with",
                     options->path);
    return take_state(replay, &record);
}

static int find_policies(struct replay *replay, const struct replay_options *options)
{
    replay->memory.policies = &replay->policies;
    if (options->policies) {
        replay->policies = *options->policies;
        return 0;
    }
    replay->cache = policy_cache_of_log(options->path);
    if (!replay->cache)
        return fault(replay, -ENOMEM, "no memory for a replay");
    replay->policies = policy_cache_find(replay->cache);
    return 0;
}

int engine_replay_open(const struct replay_options *options, struct replay **ret, char *err, size_t err_size)
{
    struct replay *replay = calloc(1, sizeof *replay);
    if (!replay)
        return fail_with(-ENOMEM, err, err_size, "no memory for a replay");
    replay->sink = options->sink;
    replay->check_states = options->check_states;
    replay->to_ns = options->to_ns;
    replay->run_over = options->run_over;
    int r = find_policies(replay, options);
    if (r == 0)
        r = journal_reader_open(options->path, &replay->reader, replay->error, sizeof replay->error);
    if (r == 0)
        r = start(replay, options);
    if (r < 0) {
        snprintf(err, err_size, "%s", replay->error);
        engine_replay_close(replay);
        return r;
    }
    *ret = replay;
    return 0;
}

static bool begins_run(const struct journal_record *record)
{
    struct state_record state;
    return record->kind == JOURNAL_STATE &&
           engine_state_record_decode(record->bytes, record->len, &state) == 0 && state.why == STATE_NEW_RUN;
}

int engine_replay_step(struct replay *replay)
{
    while (!replay->ended) {
        struct journal_record record;
        int r = journal_reader_next(replay->reader, &record);
        if (r < 0)
            return reader_fault(replay, r);
        if (r == 0)
            return 0;
        replay->ended = replay->to_ns > 0 && record.recv_ns > replay->to_ns;
        if (replay->ended) {
            replay->run.followed = begins_run(&record);
            return 0;
        }
        if (record.kind == JOURNAL_EVENT)
            return take_event(replay, &record);
        if (record.kind == JOURNAL_STATE && (r = take_state(replay, &record)) < 0)
            return r;
    }
    return 0;
}

struct engine *engine_replay_engine(struct replay *replay)
{
    return replay->engine;
}

const struct event *engine_replay_event(const struct replay *replay)
{
    return replay->any_event ? &replay->event : NULL;
}

uint64_t engine_replay_seq(const struct replay *replay)
{
    return replay->seq;
}

int64_t engine_replay_received(const struct replay *replay)
{
    return replay->received_ns;
}

const struct state_record *engine_replay_state(const struct replay *replay)
{
    return &replay->state;
}

uint64_t engine_replay_runs(const struct replay *replay)
{
    return replay->runs;
}

const struct replay_run *engine_replay_run(const struct replay *replay)
{
    return &replay->run;
}

uint64_t engine_replay_holes(const struct replay *replay)
{
    return replay->holes;
}

const char *engine_replay_error(const struct replay *replay)
{
    return replay->error;
}

void engine_replay_close(struct replay *replay)
{
    if (!replay)
        return;
    journal_reader_close(replay->reader);
    engine_destroy(replay->engine);
    event_memory_finish(&replay->memory);
    codec_finish(&replay->codec);
    policy_cache_close(replay->cache);
    free(replay->beside);
    free(replay);
}

struct engine *engine_replay_take(struct replay *replay, const struct engine_sink *sink)
{
    struct engine *engine = replay->engine;
    engine->sink = *sink;
    if (replay->cache)
        engine_driver_leave(engine);
    replay->engine = NULL;
    engine_replay_close(replay);
    return engine;
}
