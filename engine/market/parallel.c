#include "engine/market/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { THREADS_MAX = 64 };

struct pieces {
    atomic_size_t next;
    size_t n;
    void (*work)(void *ctx, size_t i);
    void *ctx;
};

static void *run(void *context)
{
    struct pieces *pieces = context;
    for (size_t i; (i = atomic_fetch_add(&pieces->next, 1)) < pieces->n;)
        pieces->work(pieces->ctx, i);
    return NULL;
}

void market_store_parallel(int threads, size_t n, void (*work)(void *ctx, size_t i), void *ctx)
{
    struct pieces pieces = {.n = n, .work = work, .ctx = ctx};
    pthread_t others[THREADS_MAX];
    int started = 0;
    long most = threads > 0 ? threads : sysconf(_SC_NPROCESSORS_ONLN);
    if (most > THREADS_MAX)
        most = THREADS_MAX;
    if (most > (long)n)
        most = (long)n;
    while (started + 1 < most && pthread_create(&others[started], NULL, run, &pieces) == 0)
        started++;
    run(&pieces);
    for (int i = 0; i < started; i++)
        pthread_join(others[i], NULL);
}
