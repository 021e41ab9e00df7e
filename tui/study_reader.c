#include "tui/study_source.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tui/model.h"
#include "tui/reader_thread.h"

/* BUSY_MS: how long to wait for a lock: the next second asks again. QUIET_MS: how often to read a storage
 * that notifies of what is stored: Optuna's workers do not, and trials an hour change without. AGAIN_MS:
 * between two attempts to be notified. */
enum { BUSY_MS = 250, QUIET_MS = 5000, AGAIN_MS = 1000, LOOK_MS = 100 };

struct tui_study_reader {
    struct tui_study_source *source; /* the thread's */
    struct reader_thread thread;
    atomic_bool stop;           /* what runs is of no use any more */
    struct tui_study_want want; /* under the thread's mutex, as all that follows */
    bool have;
    struct tui_study_reading reading;
    int64_t read_ms; /* when all was read last, without an error; 0: it was not */
    bool listens;    /* what others store is notified */
    /* A server is listened to by another thread, over a connection of its own. */
    char *url; /* NULL: a file */
    pthread_t listener;
    atomic_bool ends;
};

/* A reading that was not taken, and that a newer one of "nothing has changed" must not hide. */
static void put(struct tui_study_reader *reader, struct tui_study_reading *reading)
{
    if (reader->have && reader->reading.studies && reading->error == 0 && !reading->studies) {
        reader->reading.mono_ms = reading->mono_ms;
        return;
    }
    tui_study_reading_finish(&reader->reading);
    reader->reading = *reading;
    reader->have = true;
}

static void read_studies(void *ctx)
{
    struct tui_study_reader *reader = ctx;
    struct tui_study_reading reading;
    struct moment now = tui_model_now();

    pthread_mutex_lock(&reader->thread.mutex);
    struct tui_study_want want = reader->want;
    atomic_store(&reader->stop, reader->thread.ends);
    pthread_mutex_unlock(&reader->thread.mutex);
    tui_study_source_read(reader->source, &want, now.wall_ns / 1000, now.mono_ms, &reading);
    if (reading.error == -EINTR || (reading.error == -EBUSY && atomic_load(&reader->stop)))
        return; /* interrupted, maybe while it waited for a lock: another is wanted, or none */
    pthread_mutex_lock(&reader->thread.mutex);
    reader->read_ms = reading.error == 0 && !reading.more && !reading.soon ? now.mono_ms : 0;
    reader->thread.wants |= reading.more; /* it continues with the same, or what is wanted since */
    put(reader, &reading);
    eventfd_write(reader->thread.event, 1);
    pthread_mutex_unlock(&reader->thread.mutex);
}

/* ---- What is notified. ---- */

static void set_listens(struct tui_study_reader *reader, bool listens, bool stored)
{
    pthread_mutex_lock(&reader->thread.mutex);
    reader->listens = listens;
    if (stored && reader->read_ms != 0) { /* else it was not wanted yet, or is read again anyway */
        reader->thread.wants = true;
        pthread_cond_signal(&reader->thread.wanted);
    }
    pthread_mutex_unlock(&reader->thread.mutex);
}

/* Until it is lost. */
static void listen_to(struct tui_study_reader *reader)
{
    struct study_store *store;
    char err[STUDY_ERROR_MAX];
    int r;

    if (study_store_open_stopped_by(reader->url, STUDY_STORE_READ, BUSY_MS, &reader->ends, &store, err) < 0)
        return;
    while (!atomic_load(&reader->ends) && (r = study_store_await(store, QUIET_MS, err)) >= 0)
        set_listens(reader, true, r > 0);
    study_store_close(store);
    set_listens(reader, false, false);
}

static void *run_listener(void *ctx)
{
    struct tui_study_reader *reader = ctx;

    while (!atomic_load(&reader->ends)) {
        listen_to(reader);
        for (int ms = 0; ms < AGAIN_MS && !atomic_load(&reader->ends); ms += LOOK_MS)
            usleep(LOOK_MS * 1000);
    }
    return NULL;
}

/* Without it the storage is read each second. */
static void start_listener(struct tui_study_reader *reader, const char *url)
{
    sigset_t all, before;
    char *file = study_store_file(url);

    reader->url = file ? NULL : strdup(url);
    free(file);
    if (!reader->url)
        return;
    sigfillset(&all); /* signals are the main loop's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&reader->listener, NULL, run_listener, reader) != 0) {
        free(reader->url);
        reader->url = NULL;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void stop_listener(struct tui_study_reader *reader)
{
    atomic_store(&reader->ends, true);
    if (reader->url)
        pthread_join(reader->listener, NULL);
    free(reader->url);
}

/* ---- The reader. ---- */

struct tui_study_reader *tui_study_reader_create(const char *url, const char *folder)
{
    struct tui_study_reader *reader = calloc(1, sizeof(*reader));

    if (!reader)
        return NULL;
    reader->source = tui_study_source_create(url, folder, BUSY_MS);
    if (reader->source)
        tui_study_source_stop(reader->source, &reader->stop);
    if (reader->source && tui_reader_thread_start(&reader->thread, read_studies, reader)) {
        start_listener(reader, url);
        return reader;
    }
    tui_study_source_destroy(reader->source);
    free(reader);
    return NULL;
}

void tui_study_reader_destroy(struct tui_study_reader *reader)
{
    if (!reader)
        return;
    stop_listener(reader);
    pthread_mutex_lock(&reader->thread.mutex);
    reader->thread.ends = true; /* before the interruption: it begins nothing else */
    atomic_store(&reader->stop, true);
    pthread_mutex_unlock(&reader->thread.mutex);
    tui_reader_thread_stop(&reader->thread);
    tui_study_reading_finish(&reader->reading);
    tui_study_source_destroy(reader->source);
    free(reader);
}

int tui_study_reader_fd(const struct tui_study_reader *reader)
{
    return reader->thread.event;
}

/* Would what is read for the one be of no use to the other? */
static bool obsolete(const struct tui_study_want *old, const struct tui_study_want *new)
{
    return (old->key[0] && strcmp(old->key, new->key) != 0) || (old->validation && !new->validation) ||
           (old->returns && !new->returns);
}

/* Was it read since anything was stored, as far as that is notified? */
static bool is_known(const struct tui_study_reader *reader, const struct tui_study_want *want, int64_t now_ms)
{
    return reader->listens && !reader->thread.wants && reader->read_ms != 0 &&
           now_ms - reader->read_ms < QUIET_MS && tui_study_want_equal(&reader->want, want);
}

void tui_study_reader_want(struct tui_study_reader *reader, const struct tui_study_want *want)
{
    const int64_t now_ms = tui_model_now().mono_ms;

    pthread_mutex_lock(&reader->thread.mutex);
    if (is_known(reader, want, now_ms)) {
        struct tui_study_reading same = {.mono_ms = now_ms};
        put(reader, &same);
        eventfd_write(reader->thread.event, 1);
    } else {
        if (obsolete(&reader->want, want))
            atomic_store(&reader->stop, true);
        reader->want = *want;
        reader->thread.wants = true;
        pthread_cond_signal(&reader->thread.wanted);
    }
    pthread_mutex_unlock(&reader->thread.mutex);
}

bool tui_study_reader_take(struct tui_study_reader *reader, struct tui_study_reading *ret)
{
    eventfd_t unused;

    pthread_mutex_lock(&reader->thread.mutex);
    bool have = reader->have;
    eventfd_read(reader->thread.event, &unused);
    if (have) {
        *ret = reader->reading;
        reader->reading = (struct tui_study_reading){0};
        reader->have = false;
    }
    pthread_mutex_unlock(&reader->thread.mutex);
    return have;
}
