#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "tui/past.h"
#include "tui/reader_thread.h"

struct tui_past_reader {
    struct tui_past_source *source; /* the thread's */
    struct reader_thread thread;
    struct past_want want; /* under the thread's mutex, as what follows; less what was started */
    bool have;
    struct past_read read;
};

static void read_past(void *ctx)
{
    struct tui_past_reader *reader = ctx;
    struct past_read read;

    pthread_mutex_lock(&reader->thread.mutex);
    struct past_want want = reader->want;
    reader->want.jumps = false;
    reader->want.steps = 0;
    tui_past_source_stop(reader->source, reader->thread.ends);
    pthread_mutex_unlock(&reader->thread.mutex);
    if (!tui_past_source_read(reader->source, &want, &read))
        return;
    pthread_mutex_lock(&reader->thread.mutex);
    tui_model_destroy(reader->read.model);
    reader->read = read;
    reader->have = true;
    eventfd_write(reader->thread.event, 1);
    pthread_mutex_unlock(&reader->thread.mutex);
}

struct tui_past_reader *tui_past_reader_create(const char *path)
{
    struct tui_past_reader *reader = calloc(1, sizeof(*reader));

    if (!reader)
        return NULL;
    reader->source = tui_past_source_create(path);
    if (reader->source && tui_reader_thread_start(&reader->thread, read_past, reader))
        return reader;
    tui_past_source_destroy(reader->source);
    free(reader);
    return NULL;
}

void tui_past_reader_destroy(struct tui_past_reader *reader)
{
    if (!reader)
        return;
    pthread_mutex_lock(&reader->thread.mutex);
    reader->thread.ends = true; /* before the stop: it begins no other reading */
    tui_past_source_stop(reader->source, true);
    pthread_mutex_unlock(&reader->thread.mutex);
    tui_reader_thread_stop(&reader->thread);
    tui_past_source_destroy(reader->source);
    tui_model_destroy(reader->read.model);
    free(reader);
}

int tui_past_reader_fd(const struct tui_past_reader *reader)
{
    return reader->thread.event;
}

void tui_past_reader_want(struct tui_past_reader *reader, const struct past_want *want)
{
    pthread_mutex_lock(&reader->thread.mutex);
    struct past_want before = reader->want;
    reader->want = *want;
    if (before.visit == want->visit && !want->jumps) {
        reader->want.jumps = before.jumps;
        reader->want.of_day = before.of_day;
        reader->want.at_ns = before.at_ns;
        reader->want.steps += before.steps;
    } else {
        tui_past_source_stop(reader->source, true);
    }
    reader->thread.wants = true;
    pthread_cond_signal(&reader->thread.wanted);
    pthread_mutex_unlock(&reader->thread.mutex);
}

bool tui_past_reader_take(struct tui_past_reader *reader, struct past_read *ret)
{
    eventfd_t unused;

    pthread_mutex_lock(&reader->thread.mutex);
    eventfd_read(reader->thread.event, &unused);
    bool have = reader->have;
    *ret = reader->read;
    reader->read = (struct past_read){0};
    reader->have = false;
    pthread_mutex_unlock(&reader->thread.mutex);
    return have;
}
