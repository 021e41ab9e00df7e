/* Writes the event log: events wait in memory for a moment, and a thread writes them to a journal.
 *
 * Nothing that the loop calls waits for the disk. When the disk refuses, events wait in memory up to a
 * bound; beyond it they are lost to the log: a hole, which the engine's whole state ends as soon as it can
 * be written.
 *
 * With `sync` a failed write makes everything since the last proof suspect (exchange/past_cache.h). It is
 * then compared with what the disk has before anything is written after it, and so is each later batch
 * before it counts as written; a whole state starts a new segment before the state callback says that
 * writing works. */
#ifndef DAEMON_RECORDER_H
#define DAEMON_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/event.h"
#include "exchange/clock.h"
#include "exchange/journal/files.h"
#include "exchange/storing.h"

enum { RECORDER_ERROR_MAX = 256 };

struct recorder;

struct recorder_config {
    struct journal_writer_config journal;
    bool raw;  /* frames and replies are taken too */
    bool once; /* the first failure ends the recording: nothing waits for it, nothing is tried again */
    size_t memory_max;                 /* bytes that may wait; 0: 64 MiB */
    size_t batch;                      /* bytes that are worth a write; 0: 256 KiB */
    int delay_ms;                      /* and the longest that fewer wait; 0: 200 */
    const struct journal_files *files; /* NULL: the system's; outlives the recorder */
    const struct clock_stepped
        *stepped; /* NULL: a thread of its own; else daemon_recorder_step(), and no thread */
    void *ctx;
    /* On the recorder's thread: writing fails (with the reason; again when it changes), or works again. May
     * be NULL. */
    void (*state)(void *ctx, bool ok, const char *detail);
    void (*storing)(void *ctx, enum storing storing); /* just before that: which way. May be NULL. */
    /* On the recorder's thread: the disk failed a write, so that what else is on it is to be checked as well.
     * May be NULL. */
    void (*doubt)(void *ctx);
};

/* 0 with what the journal holds; errors of journal_writer_open() or -errno; err: one sentence. The first
 * thing recorded must be a state. */
int daemon_recorder_open(const struct recorder_config *config, struct recorder **ret,
                         struct journal_tail *ret_tail, char *err, size_t err_size);

/* ---- on the loop ---- */

/* An event on its way to the engine, stamped. */
void daemon_recorder_event(struct recorder *recorder, const struct event *event);

/* A frame or a reply as it came in, before the event that it becomes; `seq` is that of the event before. A
 * reply's path and body are joined by a newline; a frame has no path. Without `raw` nothing happens. */
void daemon_recorder_frame(struct recorder *recorder, uint64_t seq, int64_t recv_ns, const char *data,
                           size_t len);
void daemon_recorder_reply(struct recorder *recorder, uint64_t seq, int64_t recv_ns, const char *path,
                           const char *body, size_t len);

enum recorder_want { RECORDER_NOTHING, RECORDER_ROTATION, RECORDER_AFTER_HOLE };

/* Is a state wanted now, after the last event, and why? Costs one atomic load. */
enum recorder_want daemon_recorder_wants_state(const struct recorder *recorder);

/* The engine's whole state after the event `seq`. */
void daemon_recorder_put_state(struct recorder *recorder, uint64_t seq, int64_t recv_ns, const void *bytes,
                               size_t len);

/* ---- on any thread ---- */

/* Waits until every event up to `seq` is in the journal, or is lost to it for good. 0; or -errno at once
 * while the disk refuses, or is in doubt (-EAGAIN), to be called again. With `once` it waits for the
 * recording's end then: 0, as the rest is lost. */
int daemon_recorder_sync(struct recorder *recorder, uint64_t seq);

/* Another write to the same disk failed: checks now what the journal has. */
void daemon_recorder_doubt(struct recorder *recorder);

/* Called now and then: was the journal's directory, or its newest segment, removed or renamed? A write
 * finds that as well; this finds it where nothing is written. It leaves a hole, which a state in a new
 * directory ends. */
void daemon_recorder_look(struct recorder *recorder);

struct recorder_stats {
    bool ok; /* the last write succeeded, and nothing is suspect */
    enum storing storing;
    uint64_t events, lost;  /* taken, and of those lost to the log */
    uint64_t holes;         /* holes that were made */
    uint64_t restarts;      /* of them, where the log was removed or renamed */
    uint64_t seq;           /* the newest event in the journal */
    uint64_t waiting_bytes; /* not written yet */
    uint64_t retries;       /* writes that failed */
    uint64_t event_bytes;   /* of the events taken, as they are encoded */
    struct journal_writer_stats journal;
    char detail[RECORDER_ERROR_MAX]; /* why it does not write; "" when it does */
};
void daemon_recorder_stats(struct recorder *recorder, struct recorder_stats *ret);

/* Of a recorder that is stepped: does what its thread would do next, one write at most. Returns when there
 * will be more to do: a time of its clock, INT64_MAX: not before one of the calls above. */
int64_t daemon_recorder_step(struct recorder *recorder);

/* Writes what waits, trying for at most timeout_ms, and frees. 0, or -errno when something was not written.
 * NULL is fine. What is suspect is checked first; -EIO when that could not be. */
int daemon_recorder_close(struct recorder *recorder, int64_t timeout_ms);

#endif
