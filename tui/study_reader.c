#include "tui/study_source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "tui/model.h"
#include "tui/reader_thread.h"

enum { BUSY_MS = 250 }; /* how long to wait for a lock: the next second asks again */

struct tui_study_reader {
    struct tui_study_source *source; /* the thread's */
    struct reader_thread thread;
    atomic_bool stop;           /* what runs is of no use any more */
    struct tui_study_want want; /* under the thread's mutex, as all that follows */
    bool have;
    struct tui_study_reading reading;
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
    reader->thread.wants |= reading.more; /* it continues with the same, or what is wanted since */
    put(reader, &reading);
    eventfd_write(reader->thread.event, 1);
    pthread_mutex_unlock(&reader->thread.mutex);
}

struct tui_study_reader *tui_study_reader_create(const char *url, const char *folder)
{
    struct tui_study_reader *reader = calloc(1, sizeof(*reader));

    if (!reader)
        return NULL;
    reader->source = tui_study_source_create(url, folder, BUSY_MS);
    if (reader->source)
        tui_study_source_stop(reader->source, &reader->stop);
    if (reader->source && tui_reader_thread_start(&reader->thread, read_studies, reader))
        return reader;
    tui_study_source_destroy(reader->source);
    free(reader);
    return NULL;
}

void tui_study_reader_destroy(struct tui_study_reader *reader)
{
    if (!reader)
        return;
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

void tui_study_reader_want(struct tui_study_reader *reader, const struct tui_study_want *want)
{
    pthread_mutex_lock(&reader->thread.mutex);
    if (obsolete(&reader->want, want))
        atomic_store(&reader->stop, true);
    reader->want = *want;
    reader->thread.wants = true;
    pthread_cond_signal(&reader->thread.wanted);
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
