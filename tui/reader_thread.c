#include "tui/reader_thread.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void *run(void *ctx)
{
    struct reader_thread *thread = ctx;

    pthread_mutex_lock(&thread->mutex);
    while (!thread->ends) {
        if (!thread->wants) {
            pthread_cond_wait(&thread->wanted, &thread->mutex);
            continue;
        }
        thread->wants = false;
        pthread_mutex_unlock(&thread->mutex);
        thread->read(thread->ctx);
        pthread_mutex_lock(&thread->mutex);
    }
    pthread_mutex_unlock(&thread->mutex);
    return NULL;
}

static void finish(struct reader_thread *thread)
{
    pthread_cond_destroy(&thread->wanted);
    pthread_mutex_destroy(&thread->mutex);
    if (thread->event >= 0)
        close(thread->event);
}

bool tui_reader_thread_start(struct reader_thread *thread, void (*read)(void *ctx), void *ctx)
{
    sigset_t all, before;

    *thread = (struct reader_thread){.read = read, .ctx = ctx};
    thread->event = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    pthread_mutex_init(&thread->mutex, NULL);
    pthread_cond_init(&thread->wanted, NULL);
    sigfillset(&all); /* signals are the main loop's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = thread->event >= 0 && pthread_create(&thread->thread, NULL, run, thread) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!ok)
        finish(thread);
    return ok;
}

void tui_reader_thread_stop(struct reader_thread *thread)
{
    pthread_mutex_lock(&thread->mutex);
    thread->ends = true;
    pthread_cond_signal(&thread->wanted);
    pthread_mutex_unlock(&thread->mutex);
    pthread_join(thread->thread, NULL);
    finish(thread);
}
