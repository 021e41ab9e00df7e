#include "engine/reach.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/record.h"
#include "engine/replay.h"
#include "engine/state.h"
#include "exchange/fail.h"
#include "exchange/journal/journal.h"

enum { TRIES = 3 /* while segments are removed */ };

struct span {
    uint64_t first_seq, last_seq; /* of the state that a segment begins with, and its newest event */
};

struct spans {
    struct span *list;
    size_t n, cap;
};

static int take_segment(void *ctx, const struct journal_segment_info *info)
{
    struct spans *spans = ctx;
    if (info->blocks == 0)
        return 0; /* a newest one that was cut before its state */
    if (spans->n == spans->cap) {
        size_t cap = spans->cap ? 2 * spans->cap : 64;
        struct span *more = reallocarray(spans->list, cap, sizeof *more);
        if (!more)
            return -ENOMEM;
        spans->list = more;
        spans->cap = cap;
    }
    spans->list[spans->n++] = (struct span){info->first_seq, info->last_seq};
    return 0;
}

/* Reads the state after event `seq`: what it has numbered, and whether it ends a hole. */
static int read_state(const char *path, uint64_t seq, struct engine_reach_gap *gap, char *err,
                      size_t err_size)
{
    struct journal_reader *reader;
    struct journal_record record;
    struct state_record state;
    int r = journal_reader_open(path, &reader, err, err_size);
    if (r < 0)
        return r;
    r = journal_reader_find_seq(reader, seq);
    while (r == 1 && (r = journal_reader_next(reader, &record)) == 1 && record.kind != JOURNAL_STATE)
        ;
    if (r < 0)
        snprintf(err, err_size, "%s", journal_reader_error(reader));
    else if (r == 0 || record.seq != seq)
        r = fail_with(-ESTALE, err, err_size, "the state after event %llu is gone", (unsigned long long)seq);
    else if ((r = engine_state_record_decode(record.bytes, record.len, &state)) < 0 ||
             (r = engine_state_ids(state.state, state.len, &gap->after)) < 0)
        snprintf(err, err_size, "the state after event %llu cannot be read", (unsigned long long)seq);
    else
        gap->hole = state.why == STATE_AFTER_HOLE;
    journal_reader_close(reader);
    return r;
}

/* Plays the log from the newest state that is not after `seq` up to that event. */
static int play_to(const char *path, uint64_t seq, struct engine_ids *ret, char *err, size_t err_size)
{
    struct replay *replay;
    const struct replay_options options = {.path = path, .from_seq = seq};
    int r = engine_replay_open(&options, &replay, err, err_size);
    if (r < 0)
        return r;
    while (engine_replay_seq(replay) < seq && (r = engine_replay_step(replay)) == 1)
        ;
    if (r < 0)
        snprintf(err, err_size, "%s", engine_replay_error(replay));
    else
        engine_ids(engine_replay_engine(replay), ret);
    engine_replay_close(replay);
    return r < 0 ? r : 0;
}

static int add_gap(struct engine_reach *reach, const char *path, uint64_t from_seq, uint64_t to_seq,
                   char *err, size_t err_size)
{
    struct engine_reach_gap gap = {.from_seq = from_seq, .to_seq = to_seq};
    struct engine_reach_gap *more = reallocarray(reach->gaps, reach->n + 1, sizeof *more);
    if (!more)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    reach->gaps = more;
    int r = read_state(path, to_seq, &gap, err, err_size);
    if (r == 0 && from_seq > 1 && reach->last_seq > 0)
        r = play_to(path, from_seq - 1, &gap.before, err, err_size);
    if (r == 0)
        reach->gaps[reach->n++] = gap;
    return r;
}

static int read_once(const char *path, uint64_t need_seq, struct engine_reach *reach, char *err,
                     size_t err_size)
{
    struct spans spans = {0};
    int r = journal_list(path, take_segment, &spans, err, err_size);
    for (size_t i = 0; r == 0 && i < spans.n; i++) {
        const struct span *span = &spans.list[i];
        if (span->first_seq > reach->last_seq)
            r = add_gap(reach, path, reach->last_seq + 1, span->first_seq, err, err_size);
        if (span->last_seq > reach->last_seq)
            reach->last_seq = span->last_seq;
    }
    if (r == 0 && spans.n == 0)
        r = fail_with(-ENOENT, err, err_size, "there is no event log");
    if (r == 0 && reach->last_seq < need_seq && reach->last_seq > 0)
        r = play_to(path, reach->last_seq, &reach->last, err, err_size);
    free(spans.list);
    return r;
}

int engine_reach_read(const char *path, uint64_t need_seq, struct engine_reach *ret, char *err,
                      size_t err_size)
{
    int r = -ESTALE;
    for (int i = 0; i < TRIES && (r == -ESTALE || r == -ENOENT); i++) {
        struct engine_reach reach = {0};
        r = read_once(path, need_seq, &reach, err, err_size);
        if (r == 0)
            *ret = reach;
        else
            engine_reach_finish(&reach);
    }
    return r;
}

void engine_reach_finish(struct engine_reach *reach)
{
    free(reach->gaps);
    *reach = (struct engine_reach){0};
}
