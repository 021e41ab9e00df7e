#include "daemon/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "daemon/priority.h"
#include "engine/record.h"
#include "exchange/clock.h"
#include "exchange/fail.h"

enum {
    DELAY_MS = 200,
    BATCH_BYTES = 256 << 10,
    MEMORY_MAX = 64 << 20,
    BATCH_KEPT = 4 << 20, /* memory that a batch keeps when it is empty */
    RETRY_MIN_MS = 50,
    RETRY_MAX_MS = 2000,
};

#define MS_NS 1000000LL

struct waiting_records {
    struct journal_batch batch;
    uint64_t seq;    /* of its newest event or state */
    uint64_t events; /* in it */
    bool state;      /* there is one in it */
};

struct recorder {
    struct recorder_config config;
    struct journal_writer *writer; /* the thread's */
    pthread_t thread;
    struct codec codec; /* the loop's */
    char *joined;       /* the loop's: a reply with its path */
    size_t cap_joined;

    atomic_int want; /* enum recorder_want */
    pthread_mutex_t lock;
    pthread_cond_t wake, written;
    /* under the lock */
    struct waiting_records open;
    int64_t open_since_ns; /* the first record in it */
    size_t writing_bytes;  /* of the batch that the thread has */
    bool drop;             /* the thread drops that batch unless it is written by now */
    bool hole;             /* events are lost until a state comes */
    bool hurry, stop, ended;
    bool look; /* check whether the log is still in its place, also where nothing waits */
    int64_t stop_ns;
    int64_t retry_ns;               /* a write has failed: when it is tried again */
    int delay_ms;                   /* and how long after the next failure */
    uint64_t proved_seq;            /* is in the journal, and while nothing is in doubt … */
    uint64_t durable_seq, lost_seq; /* … counts as being there */
    int failure;                    /* -errno of the last write; 0 */
    bool suspect;  /* a write failed, here or in the database: what was put is to be proved before more is */
    bool renewing; /* … and a state is to begin a segment, before it works again */
    struct recorder_stats stats;

    struct waiting_records writing; /* the thread's */
    bool in_file;                   /* the thread's: the batch was put, and is yet to be proved */
};

static int64_t now_ns(const struct recorder *r)
{
    const struct clock_stepped *stepped = r->config.stepped;
    return stepped ? stepped->now_ns(stepped->ctx) : clock_now_ns();
}

static void clear(struct waiting_records *waiting)
{
    if (waiting->batch.cap > BATCH_KEPT)
        journal_batch_finish(&waiting->batch);
    journal_batch_clear(&waiting->batch);
    waiting->seq = waiting->events = 0;
    waiting->state = false;
}

/* ---- the recorder's thread ---- */

/* When the open batch is to be written; INT64_MAX: it is empty. The lock is held. */
static int64_t due_ns(const struct recorder *r)
{
    if (r->open.batch.len == 0)
        return INT64_MAX;
    bool now = r->hurry || r->stop || r->open.batch.len >= r->config.batch;
    return now ? 0 : r->open_since_ns + r->config.delay_ms * MS_NS;
}

/* The lock is held. */
static void take(struct recorder *r)
{
    struct waiting_records empty = r->writing;
    r->writing = r->open;
    r->open = empty;
    r->writing_bytes = r->writing.batch.len;
    r->hurry = r->drop = r->in_file = false;
    if (r->suspect)
        return;
    r->retry_ns = 0;
    r->delay_ms = RETRY_MIN_MS;
}

static void lose(struct recorder *r, const struct waiting_records *waiting)
{
    r->stats.lost += waiting->events;
    if (waiting->seq > r->lost_seq)
        r->lost_seq = waiting->seq;
}

/* More than may wait, or no memory for it: what waits is lost, and so is everything until a state comes. The
 * lock is held. */
static void make_hole(struct recorder *r, uint64_t seq)
{
    if (!r->hole)
        r->stats.holes++;
    r->hole = r->drop = true;
    lose(r, &r->open);
    clear(&r->open);
    if (seq > r->lost_seq)
        r->lost_seq = seq;
    atomic_store(&r->want, RECORDER_AFTER_HOLE);
    pthread_cond_signal(&r->wake);
    pthread_cond_broadcast(&r->written);
}

/* Records the result of a write. The lock is held. */
static void account_for(struct recorder *r, int result)
{
    r->failure = result;
    if (result < 0) {
        r->stats.retries++;
        return;
    }
    journal_writer_stats(r->writer, &r->stats.journal);
    if (r->writing.seq > r->proved_seq)
        r->proved_seq = r->writing.seq;
    r->suspect = false;
    r->renewing &= !r->writing.state;
    if (!r->renewing)
        r->durable_seq = r->proved_seq;
    int rotation = (r->renewing || journal_writer_full(r->writer)) && !r->open.state, none = RECORDER_NOTHING;
    if (rotation)
        atomic_compare_exchange_strong(&r->want, &none, RECORDER_ROTATION);
}

/* The lock is not held. */
static void report(struct recorder *r, enum storing storing, const char *detail)
{
    bool ok = storing == STORING_OK;
    pthread_mutex_lock(&r->lock);
    bool news = storing != r->stats.storing || strcmp(detail, r->stats.detail) != 0;
    r->stats.ok = ok;
    r->stats.storing = storing;
    snprintf(r->stats.detail, sizeof r->stats.detail, "%s", detail);
    pthread_mutex_unlock(&r->lock);
    if (news && r->config.storing)
        r->config.storing(r->config.ctx, storing);
    if (news && r->config.state)
        r->config.state(r->config.ctx, ok, detail);
}

/* Is a batch that could not be written to be given up? The lock is held. */
static bool gives_up(const struct recorder *r)
{
    return r->drop || r->config.once || (r->stop && now_ns(r) >= r->stop_ns);
}

/* The batch is written, or lost. The lock is held. */
static void end_batch(struct recorder *r)
{
    if (r->failure < 0)
        lose(r, &r->writing);
    if (r->failure < 0 && r->config.once)
        r->ended = true;
    clear(&r->writing);
    r->writing_bytes = 0;
    r->drop = false;
    pthread_cond_broadcast(&r->written);
}

/* ---- what the disk has ---- */

/* Did the disk fail, rather than memory or the caller? */
static bool disk_failed(int result)
{
    return result < 0 && result != -ENOMEM && result != -EINVAL && result != -EMSGSIZE;
}

/* Proves what was put. 0, or -errno; a segment that is lost is moved aside: -ENODATA when the newest was
 * lost too, and a state must follow. */
static int prove(struct recorder *r, char detail[static RECORDER_ERROR_MAX])
{
    char err[JOURNAL_ERROR_MAX], aside[64];
    int result = journal_writer_prove(r->writer, err, sizeof err);
    snprintf(detail, RECORDER_ERROR_MAX, "%.*s", RECORDER_ERROR_MAX - 1, result < 0 ? err : "");
    while (result == -EBADMSG) {
        int moved = journal_writer_set_aside(r->writer, aside, sizeof aside);
        if (moved < 0)
            return moved;
        snprintf(detail, RECORDER_ERROR_MAX, "%.160s: moved to %s", err, aside);
        report(r, STORING_REBUILDS, detail);
        if (!journal_writer_started(r->writer))
            return -ENODATA;
        result = journal_writer_prove(r->writer, err, sizeof err);
    }
    return result;
}

/* Puts the batch. As journal_writer_put(), with the error in words. */
static int put(struct recorder *r, char detail[static RECORDER_ERROR_MAX])
{
    if (r->in_file || r->writing.batch.len == 0)
        return 0;
    int result = journal_writer_put(r->writer, &r->writing.batch);
    if (result < 0)
        snprintf(detail, RECORDER_ERROR_MAX, "%s",
                 result == -EILSEQ ? "what was written and synced is not on the disk" : strerror(-result));
    r->in_file = result == 0;
    return result;
}

/* Puts the batch, and where it is in doubt what the disk has, proves it with all that was put before: in
 * this order, since a proof may write a segment again, and new files on a disk that is still full make ext4
 * abort its journal. A sync that stored nothing may have failed because of earlier writes. As prove(). */
static int put_proved(struct recorder *r, bool doubt, char detail[static RECORDER_ERROR_MAX])
{
    int result = put(r, detail);
    if (!doubt || (result < 0 && result != -EILSEQ))
        return result;
    report(r, STORING_CHECKS, "what the disk has is compared with what was written");
    char words[RECORDER_ERROR_MAX];
    int proved = prove(r, words);
    if (proved < 0)
        memcpy(detail, words, sizeof words);
    return proved < 0 ? proved : result;
}

/* A state started a segment that the disk is seen to have: are the file system's own tables on it too? 0 or
 * -errno. */
static int settle(struct recorder *r, char detail[static RECORDER_ERROR_MAX])
{
    int result = journal_writer_settle(r->writer);
    if (result < 0)
        snprintf(detail, RECORDER_ERROR_MAX, "the file system cannot write: %s", strerror(-result));
    return result;
}

/* The newest segment is lost, and what waits cannot follow: it is a hole. The lock is held. */
static void start_over(struct recorder *r)
{
    uint64_t seq = r->writing.seq > r->open.seq ? r->writing.seq : r->open.seq;
    journal_writer_stats(r->writer, &r->stats.journal);
    make_hole(r, seq);
}

/* The lock is held. */
static void note_doubt(struct recorder *r)
{
    bool news = !r->suspect && !r->renewing;
    r->suspect = r->renewing = true;
    pthread_mutex_unlock(&r->lock);
    if (news && r->config.doubt)
        r->config.doubt(r->config.ctx);
    pthread_mutex_lock(&r->lock);
}

/* The log was taken away: starts again with a whole state. -ENODATA then, as prove(). -errno: it cannot. */
static int begin_again(struct recorder *r, char detail[static RECORDER_ERROR_MAX])
{
    if (r->config.once) { /* a recording ends */
        snprintf(detail, RECORDER_ERROR_MAX, "it was removed or renamed");
        return -ENOENT;
    }
    int result = journal_writer_begin_again(r->writer, detail, RECORDER_ERROR_MAX);
    if (result < 0)
        return result;
    report(r, STORING_REBUILDS, detail);
    pthread_mutex_lock(&r->lock);
    r->stats.restarts++;
    pthread_mutex_unlock(&r->lock);
    return -ENODATA;
}

/* As put_proved(), of a log that may have been removed in the meantime: no start would find what is written
 * to an unlinked directory. */
static int put_where_it_is(struct recorder *r, bool doubt, char detail[static RECORDER_ERROR_MAX])
{
    return journal_writer_gone(r->writer) ? begin_again(r, detail) : put_proved(r, doubt, detail);
}

/* Tries to write the batch, or without one to prove what was written. The lock is released while the disk
 * works. */
static void write_batch(struct recorder *r)
{
    char detail[RECORDER_ERROR_MAX] = "";
    bool suspect = r->suspect, renewing = r->renewing;
    r->look = false;
    r->suspect = false; /* doubts that come meanwhile stay */
    pthread_mutex_unlock(&r->lock);
    int result = put_where_it_is(r, suspect || renewing, detail);
    if (result == 0 && renewing && r->writing.state)
        result = settle(r, detail);
    if (result < 0)
        report(r, STORING_FAILS, detail); /* before a sync sees the failure */
    pthread_mutex_lock(&r->lock);
    bool again = r->suspect;
    r->suspect |= suspect && result < 0;
    account_for(r, result);
    if (r->config.journal.sync && disk_failed(result))
        note_doubt(r);
    r->suspect |= again;
    r->renewing |= again;
    renewing = r->renewing;
    pthread_mutex_unlock(&r->lock);
    if (result == 0 && renewing)
        report(r, STORING_CHECKS, "it begins again with a whole state");
    else if (result == 0)
        report(r, STORING_OK, "");
    pthread_mutex_lock(&r->lock);
    pthread_cond_broadcast(&r->written);
    if (result == -ENODATA)
        start_over(r);
    if (result == 0 || gives_up(r)) {
        end_batch(r);
        return;
    }
    r->retry_ns = now_ns(r) + r->delay_ms * MS_NS;
    r->delay_ms = 2 * r->delay_ms < RETRY_MAX_MS ? 2 * r->delay_ms : RETRY_MAX_MS;
}

void daemon_recorder_doubt(struct recorder *r)
{
    pthread_mutex_lock(&r->lock);
    r->suspect = r->renewing = r->config.journal.sync;
    pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->lock);
}

void daemon_recorder_look(struct recorder *r)
{
    pthread_mutex_lock(&r->lock);
    r->look = true;
    pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->lock);
}

/* As daemon_recorder_step(), and -1: nothing waits, and the thread is to stop. The lock is held. */
static int64_t step(struct recorder *r)
{
    int64_t now = now_ns(r);
    if (r->ended)
        return -1;
    if (r->writing_bytes > 0 && gives_up(r)) {
        end_batch(r);
        return 0;
    }
    if (r->suspect && r->writing_bytes == 0 && r->stop && now >= r->stop_ns)
        return -1;
    if ((r->suspect || r->writing_bytes > 0) && r->retry_ns > now)
        return r->stop && r->stop_ns < r->retry_ns ? r->stop_ns : r->retry_ns;
    if (r->writing_bytes == 0) {
        int64_t due = due_ns(r);
        if (due == INT64_MAX && r->stop && !r->suspect)
            return -1;
        if (due == INT64_MAX)
            r->hurry = false;
        if (due > now && !r->suspect && !r->look)
            return due;
        if (due <= now)
            take(r);
    }
    write_batch(r);
    return 0;
}

/* The lock is released while it waits. */
static void wait_until(struct recorder *r, int64_t until_ns)
{
    const struct clock_stepped *stepped = r->config.stepped;
    struct timespec until = {until_ns / 1000000000, until_ns % 1000000000};
    if (stepped) {
        pthread_mutex_unlock(&r->lock);
        stepped->pass(stepped->ctx, until_ns);
        pthread_mutex_lock(&r->lock);
    } else if (until_ns == INT64_MAX) {
        pthread_cond_wait(&r->wake, &r->lock);
    } else {
        pthread_cond_timedwait(&r->wake, &r->lock, &until);
    }
}

static void *run(void *arg)
{
    struct recorder *r = arg;
    int64_t until;
    daemon_priority_background();
    pthread_mutex_lock(&r->lock);
    while ((until = step(r)) >= 0)
        if (until > now_ns(r))
            wait_until(r, until);
    lose(r, &r->open);
    clear(&r->open);
    r->ended = true;
    pthread_cond_broadcast(&r->written);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

int64_t daemon_recorder_step(struct recorder *r)
{
    pthread_mutex_lock(&r->lock);
    int64_t until = step(r);
    pthread_mutex_unlock(&r->lock);
    return until < 0 ? INT64_MAX : until;
}

/* ---- the loop's side ---- */

/* The lock is held. */
static void add(struct recorder *r, const struct journal_record *record)
{
    bool first = r->open.batch.len == 0, event = record->kind == JOURNAL_EVENT;
    if (r->ended || r->hole) {
        r->stats.lost += event;
        if (event)
            r->lost_seq = record->seq;
        return;
    }
    size_t waiting = r->open.batch.len + r->writing_bytes + record->len;
    bool room = waiting <= r->config.memory_max || (first && r->writing_bytes == 0);
    if (!room || journal_batch_add(&r->open.batch, record) < 0) {
        r->stats.lost += event;
        make_hole(r, record->seq);
        return;
    }
    r->open.seq = record->seq;
    r->open.events += event;
    r->open.state |= record->kind == JOURNAL_STATE;
    if (first)
        r->open_since_ns = now_ns(r);
    if (first || r->open.batch.len >= r->config.batch)
        pthread_cond_signal(&r->wake);
}

void daemon_recorder_event(struct recorder *r, const struct event *event)
{
    bool encoded = event_encode(event, &r->codec) == 0;
    struct journal_record record = {JOURNAL_EVENT, event->seq, event->recv_ns, r->codec.bytes, r->codec.len};
    pthread_mutex_lock(&r->lock);
    r->stats.events++;
    r->stats.event_bytes += encoded ? record.len : 0;
    if (encoded) {
        add(r, &record);
    } else {
        r->stats.lost++;
        make_hole(r, event->seq);
    }
    pthread_mutex_unlock(&r->lock);
}

void daemon_recorder_frame(struct recorder *r, uint64_t seq, int64_t recv_ns, const char *data, size_t len)
{
    if (!r->config.raw)
        return;
    struct journal_record record = {JOURNAL_FRAME, seq, recv_ns, data, len};
    pthread_mutex_lock(&r->lock);
    add(r, &record);
    pthread_mutex_unlock(&r->lock);
}

void daemon_recorder_reply(struct recorder *r, uint64_t seq, int64_t recv_ns, const char *path,
                           const char *body, size_t len)
{
    if (!r->config.raw)
        return;
    size_t n = strlen(path), need = n + 1 + len;
    if (need > r->cap_joined) {
        char *grown = realloc(r->joined, need);
        if (!grown)
            return; /* the events that it becomes are recorded anyway */
        r->joined = grown;
        r->cap_joined = need;
    }
    memcpy(r->joined, path, n);
    r->joined[n] = '\n';
    memcpy(r->joined + n + 1, body, len);
    struct journal_record record = {JOURNAL_REPLY, seq, recv_ns, r->joined, need};
    pthread_mutex_lock(&r->lock);
    add(r, &record);
    pthread_mutex_unlock(&r->lock);
}

enum recorder_want daemon_recorder_wants_state(const struct recorder *r)
{
    return (enum recorder_want)atomic_load_explicit(&r->want, memory_order_relaxed);
}

void daemon_recorder_put_state(struct recorder *r, uint64_t seq, int64_t recv_ns, const void *bytes,
                               size_t len)
{
    struct journal_record record = {JOURNAL_STATE, seq, recv_ns, bytes, len};
    pthread_mutex_lock(&r->lock);
    r->hole = false;
    atomic_store(&r->want, RECORDER_NOTHING);
    add(r, &record);
    pthread_mutex_unlock(&r->lock);
}

/* ---- any thread ---- */

/* Makes the thread write now. The lock is held. */
static void await_written(struct recorder *r)
{
    if (!r->config.stepped) {
        pthread_cond_signal(&r->wake);
        pthread_cond_wait(&r->written, &r->lock);
        return;
    }
    int64_t until = step(r);
    if (until > now_ns(r))
        wait_until(r, until);
}

/* Does it wait until the disk works again, or for a state? A recording does not: it ends with its batch,
 * which is lost. The lock is held. */
static bool stalled(const struct recorder *r)
{
    return r->failure < 0 ? !r->config.once : r->renewing;
}

int daemon_recorder_sync(struct recorder *r, uint64_t seq)
{
    pthread_mutex_lock(&r->lock);
    while (r->durable_seq < seq && r->lost_seq < seq && !r->ended && !stalled(r)) {
        r->hurry = true;
        await_written(r);
    }
    bool there = r->durable_seq >= seq || r->lost_seq >= seq || r->ended;
    int result = there ? 0 : r->failure < 0 ? r->failure : -EAGAIN;
    pthread_mutex_unlock(&r->lock);
    return result;
}

void daemon_recorder_stats(struct recorder *r, struct recorder_stats *ret)
{
    pthread_mutex_lock(&r->lock);
    *ret = r->stats;
    ret->seq = r->durable_seq;
    ret->waiting_bytes = r->open.batch.len + r->writing_bytes;
    pthread_mutex_unlock(&r->lock);
}

static void destroy(struct recorder *r)
{
    journal_writer_close(r->writer);
    journal_batch_finish(&r->open.batch);
    journal_batch_finish(&r->writing.batch);
    codec_finish(&r->codec);
    pthread_cond_destroy(&r->written);
    pthread_cond_destroy(&r->wake);
    pthread_mutex_destroy(&r->lock);
    free(r->joined);
    free(r);
}

int daemon_recorder_open(const struct recorder_config *config, struct recorder **ret,
                         struct journal_tail *ret_tail, char *err, size_t err_size)
{
    struct recorder *r = calloc(1, sizeof *r);
    if (!r)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    r->config = *config;
    r->config.batch = config->batch ? config->batch : BATCH_BYTES;
    r->config.memory_max = config->memory_max ? config->memory_max : MEMORY_MAX;
    r->config.delay_ms = config->delay_ms ? config->delay_ms : DELAY_MS;
    r->stats.ok = true;
    atomic_init(&r->want, RECORDER_NOTHING);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->wake, &monotonic);
    pthread_cond_init(&r->written, NULL);
    pthread_condattr_destroy(&monotonic);
    journal_batch_init(&r->open.batch);
    journal_batch_init(&r->writing.batch);
    codec_save(&r->codec);

    struct journal_tail tail = {0};
    const struct journal_files *files = config->files ? config->files : &journal_files_system;
    int result = journal_writer_open_on(files, &config->journal, &r->writer, &tail, err, err_size);
    if (result == 0) {
        r->suspect = r->renewing = config->journal.sync && journal_writer_suspect(r->writer);
        r->proved_seq = tail.last_seq;
        r->durable_seq = r->suspect ? 0 : tail.last_seq; /* read, and the disk may not have it */
    }
    if (result == 0 && !config->stepped) {
        result = -pthread_create(&r->thread, NULL, run, r);
        if (result < 0)
            snprintf(err, err_size, "no thread could be started: %s", strerror(-result));
    }
    if (result < 0) {
        destroy(r);
        return result;
    }
    *ret = r;
    *ret_tail = tail;
    return 0;
}

int daemon_recorder_close(struct recorder *r, int64_t timeout_ms)
{
    if (!r)
        return 0;
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    r->stop_ns = now_ns(r) + timeout_ms * MS_NS;
    pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->lock);
    if (r->config.stepped)
        run(r);
    else
        pthread_join(r->thread, NULL);
    int result = r->failure < 0 ? r->failure : r->suspect ? -EIO : 0;
    destroy(r);
    return result;
}
