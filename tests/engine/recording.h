/* A random run of an engine, recorded as the daemon does it: events in batches, states at rotations, stops,
 * new runs and holes; and the engine's outputs after each event. */
#ifndef TESTS_ENGINE_RECORDING_H
#define TESTS_ENGINE_RECORDING_H

#include <errno.h>

#include "engine/record.h"
#include "engine/replay.h"
#include "tests/check.h"
#include "tests/engine/driver.h"
#include "tests/engine/tape.h"
#include "tests/scratch.h"

enum { RECORDING_STATES_MAX = 256, RECORDING_EVENTS_MAX = 1 << 16 };

struct recording {
    char dir[SCRATCH_MAX];
    struct driver driver;
    struct engine *engine;
    struct tape tape;
    struct journal_writer *writer;
    struct journal_batch batch;
    struct codec codec;
    uint64_t run, segment_bytes;
    struct {
        uint64_t seq;
        enum state_why why;
    } states[RECORDING_STATES_MAX];
    int n_states;
    /* By event: the outputs so far, as far as a replay emits them; a hole emits none. */
    struct tape tapes[RECORDING_EVENTS_MAX];
    uint64_t lost; /* events in holes */
};

static inline void recording_open(struct recording *r)
{
    struct journal_writer_config config = {
        .dir = r->dir, .segment_bytes = r->segment_bytes, .block_bytes = 4096};
    struct journal_tail tail;
    char err[JOURNAL_ERROR_MAX] = "";
    CHECK_INT(journal_writer_open(&config, &r->writer, &tail, err, sizeof err), 0);
    CHECK_STR(err, "");
    CHECK_INT(tail.last_seq, r->n_states ? r->driver.seq : 0);
    if (!r->writer)
        exit(EXIT_FAILURE);
}

static inline void recording_put(struct recording *r)
{
    CHECK_INT(journal_writer_put(r->writer, &r->batch), 0);
    journal_batch_clear(&r->batch);
}

static inline void recording_state(struct recording *r, enum state_why why)
{
    CHECK_INT(engine_state_record_encode(r->engine, r->run, why, NULL, 0, &r->codec), 0);
    struct journal_record record = {JOURNAL_STATE, r->driver.seq, r->driver.now_ns, r->codec.bytes,
                                    r->codec.len};
    CHECK_INT(journal_batch_add(&r->batch, &record), 0);
    if (r->n_states < RECORDING_STATES_MAX) {
        r->states[r->n_states].seq = r->driver.seq;
        r->states[r->n_states++].why = why;
    }
}

static inline void recording_begin(struct recording *r, uint64_t seed, uint64_t segment_bytes)
{
    memset(r, 0, sizeof *r);
    scratch_make(r->dir);
    r->segment_bytes = segment_bytes;
    driver_init(&r->driver, seed);
    r->driver.configures = true;
    if (seed % 2 == 0)
        driver_venues(&r->driver);
    struct engine_sink sink = tape_sink(&r->tape);
    CHECK_INT(engine_create(&r->driver.config, &sink, &r->engine), 0);
    journal_batch_init(&r->batch);
    recording_open(r);
    r->run = 1;
    recording_state(r, STATE_NEW_RUN);
}

static inline void recording_event(struct recording *r, bool recorded)
{
    struct event event;
    struct tape before = r->tape;
    driver_next(&r->driver, r->engine, &event);
    if (recorded) {
        CHECK_INT(event_encode(&event, &r->codec), 0);
        struct journal_record record = {JOURNAL_EVENT, event.seq, event.recv_ns, r->codec.bytes,
                                        r->codec.len};
        CHECK_INT(journal_batch_add(&r->batch, &record), 0);
    }
    CHECK(engine_handle(r->engine, &event) != -ENOMEM);
    if (!recorded) {
        r->tape = before;
        r->lost++;
    }
    r->tapes[event.seq] = r->tape;
    if (recorded && random_chance(&r->driver.random, 3)) {
        recording_put(r);
        if (journal_writer_full(r->writer))
            recording_state(r, STATE_ROTATION);
    }
}

/* The configuration of a run that follows: what there is, with the odd change. */
static inline void recording_configure(struct recording *r)
{
    static struct symbol symbols[DRIVER_SYMBOLS];
    static struct account_spec accounts[16];
    char err[ENGINE_ERROR_MAX] = "";
    struct engine_config config = r->driver.config;
    config.symbols = symbols;
    config.accounts = accounts;
    config.n_accounts = engine_accounts(r->engine);
    for (int s = 0; s < DRIVER_SYMBOLS; s++)
        symbols[s] = *engine_symbol(r->engine, s);
    for (int a = 0; a < config.n_accounts; a++)
        accounts[a] = *engine_account_spec(r->engine, a);
    if (random_chance(&r->driver.random, 50))
        strategy_set(accounts[1].strategy, accounts[1].params, "fast", r->run % 2 ? "3" : "2", NULL);
    config.latency_ns = random_between(&r->driver.random, 0, 3) * 30 * DRIVER_MS_NS;
    if (config.n_accounts < 8 && random_chance(&r->driver.random, 40)) {
        accounts[config.n_accounts] = accounts[0];
        snprintf(accounts[config.n_accounts++].name, ACCOUNT_NAME_MAX, "run-%d", (int)r->run);
    }
    CHECK_INT(engine_configure(r->engine, &config, err), 0);
    CHECK_STR(err, "");
}

/* The daemon ends, cleanly or not, and begins again from what it recorded. */
static inline void recording_restart(struct recording *r, bool clean)
{
    struct replay *replay = NULL;
    struct tape unused = {0};
    struct codec before = {0}, after = {0};
    char err[JOURNAL_ERROR_MAX] = "";
    if (clean)
        recording_state(r, STATE_STOP);
    recording_put(r);
    journal_writer_close(r->writer);
    struct replay_options options = {
        .path = r->dir, .newest = true, .check_states = true, .sink = tape_sink(&unused)};
    CHECK_INT(engine_replay_open(&options, &replay, err, sizeof err), 0);
    CHECK_STR(err, "");
    if (!replay)
        exit(EXIT_FAILURE);
    int n;
    while ((n = engine_replay_step(replay)) > 0)
        ;
    CHECK_INT(n, 0);
    CHECK_INT(engine_replay_seq(replay), r->driver.seq);
    struct engine_sink sink = tape_sink(&r->tape);
    struct engine *engine = engine_replay_take(replay, &sink);
    codec_save(&before);
    codec_save(&after);
    CHECK(engine_save(r->engine, &before) == 0 && engine_save(engine, &after) == 0);
    CHECK(before.len == after.len && memcmp(before.bytes, after.bytes, before.len) == 0);
    codec_finish(&before);
    codec_finish(&after);
    engine_destroy(r->engine);
    r->engine = engine;
    recording_configure(r);
    r->run++;
    recording_open(r);
    recording_state(r, STATE_NEW_RUN);
}

static inline void recording_close(struct recording *r)
{
    recording_put(r);
    journal_writer_close(r->writer);
    r->writer = NULL;
}

static inline void recording_remove(struct recording *r)
{
    scratch_remove(r->dir);
    journal_writer_close(r->writer);
    journal_batch_finish(&r->batch);
    codec_finish(&r->codec);
    engine_destroy(r->engine);
}

/* Events, rotations, stops, crashes and holes. */
static inline void recording_make(struct recording *r, uint64_t seed, int events, uint64_t segment_bytes)
{
    recording_begin(r, seed, segment_bytes);
    for (int i = 0; i < events; i++) {
        recording_event(r, true);
        int64_t dice = random_between(&r->driver.random, 0, 999);
        if (dice < 2) {
            recording_restart(r, dice == 0);
        } else if (dice == 2) {
            for (int64_t n = random_between(&r->driver.random, 1, 30); n > 0; n--)
                recording_event(r, false);
            recording_state(r, STATE_AFTER_HOLE);
        }
    }
    recording_close(r);
}

#endif
