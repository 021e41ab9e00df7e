#include "tui/study_source.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tui/model.h"

enum { BUSY_MS = 250 }; /* how long to wait for a lock: the next second asks again */

struct tui_study_reader {
    struct tui_study_source *source; /* the thread's */
    pthread_t thread;
    pthread_mutex_t mutex; /* of all that follows; held for no longer than it takes to copy them */
    pthread_cond_t wanted;
    struct tui_study_want want;
    bool wants, ends, have;
    struct tui_study_reading reading;
    int event;
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

static void *run(void *ctx)
{
    struct tui_study_reader *reader = ctx;

    pthread_mutex_lock(&reader->mutex);
    while (!reader->ends) {
        if (!reader->wants) {
            pthread_cond_wait(&reader->wanted, &reader->mutex);
            continue;
        }
        struct tui_study_want want = reader->want;
        struct tui_study_reading reading;
        struct moment now = tui_model_now();
        reader->wants = false;
        pthread_mutex_unlock(&reader->mutex);
        tui_study_source_read(reader->source, &want, now.wall_ns / 1000, now.mono_ms, &reading);
        pthread_mutex_lock(&reader->mutex);
        if (reading.more && !reader->wants) { /* it continues with the same */
            reader->want = want;
            reader->wants = true;
        }
        put(reader, &reading);
        eventfd_write(reader->event, 1);
    }
    pthread_mutex_unlock(&reader->mutex);
    return NULL;
}

struct tui_study_reader *tui_study_reader_create(const char *url, const char *folder)
{
    struct tui_study_reader *reader = calloc(1, sizeof(*reader));
    sigset_t all, before;

    if (!reader)
        return NULL;
    reader->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    reader->source = tui_study_source_create(url, folder, BUSY_MS);
    pthread_mutex_init(&reader->mutex, NULL);
    pthread_cond_init(&reader->wanted, NULL);
    sigfillset(&all); /* signals are the main loop's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = reader->event >= 0 && reader->source && pthread_create(&reader->thread, NULL, run, reader) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (ok)
        return reader;
    if (reader->event >= 0)
        close(reader->event);
    tui_study_source_destroy(reader->source);
    free(reader);
    return NULL;
}

void tui_study_reader_destroy(struct tui_study_reader *reader)
{
    if (!reader)
        return;
    pthread_mutex_lock(&reader->mutex);
    reader->ends = true;
    pthread_cond_signal(&reader->wanted);
    pthread_mutex_unlock(&reader->mutex);
    pthread_join(reader->thread, NULL);
    pthread_cond_destroy(&reader->wanted);
    pthread_mutex_destroy(&reader->mutex);
    tui_study_reading_finish(&reader->reading);
    tui_study_source_destroy(reader->source);
    close(reader->event);
    free(reader);
}

int tui_study_reader_fd(const struct tui_study_reader *reader)
{
    return reader->event;
}

void tui_study_reader_want(struct tui_study_reader *reader, const struct tui_study_want *want)
{
    pthread_mutex_lock(&reader->mutex);
    reader->want = *want;
    reader->wants = true;
    pthread_cond_signal(&reader->wanted);
    pthread_mutex_unlock(&reader->mutex);
}

bool tui_study_reader_take(struct tui_study_reader *reader, struct tui_study_reading *ret)
{
    eventfd_t unused;

    pthread_mutex_lock(&reader->mutex);
    bool have = reader->have;
    eventfd_read(reader->event, &unused);
    if (have) {
        *ret = reader->reading;
        reader->reading = (struct tui_study_reading){0};
        reader->have = false;
    }
    pthread_mutex_unlock(&reader->mutex);
    return have;
}
