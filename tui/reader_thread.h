/* A thread that reads for the main loop, which never waits for it: each time something is wanted, it calls a
 * function of its owner. What they exchange is the owner's, under the mutex. */
#ifndef TUI_READER_THREAD_H
#define TUI_READER_THREAD_H

#include <pthread.h>
#include <stdbool.h>

struct reader_thread {
    pthread_t thread;
    /* Of what follows and the owner's; held for no longer than it takes to copy them, and to free a result
     * that nothing took. */
    pthread_mutex_t mutex;
    pthread_cond_t wanted;
    bool wants, ends; /* set by the owner too, which signals `wanted` then */
    int event; /* an eventfd that the owner writes when something was read, and reads when it takes it */
    void (*read)(void *ctx);
    void *ctx;
};

/* Starts it. read(ctx) is called without the mutex. False: without memory or a thread. */
bool tui_reader_thread_start(struct reader_thread *thread, void (*read)(void *ctx), void *ctx);

/* Waits for the call that runs, and ends the thread. */
void tui_reader_thread_stop(struct reader_thread *thread);

#endif
