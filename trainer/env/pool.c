#include "trainer/env/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "trainer/env/state.h"

/* How many times a waiting thread polls before it sleeps, a few tens of microseconds: a step takes about as
 * long, and waking takes longer. Not where threads have to share processors. */
enum { LOOKS = 2000 };

struct helper {
    struct env_pool *pool;
    pthread_t thread;
    int place; /* 1..: the caller is 0 */
};

struct env_pool {
    int threads, started;
    pthread_mutex_t lock;
    pthread_cond_t begin, done;
    atomic_uint_fast64_t round; /* of work handed out */
    atomic_int left;            /* helpers that are still working */
    int looks;
    bool ends;
    size_t copies;
    env_pool_work *work;
    void *data;
    struct helper helpers[];
};

static inline void look_again(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void work_share(struct env_pool *pool, int place)
{
    size_t blocks = (pool->copies + ENV_LANES - 1) / ENV_LANES, parts = (size_t)pool->threads;
    size_t first = blocks * (size_t)place / parts * ENV_LANES;
    size_t end = blocks * ((size_t)place + 1) / parts * ENV_LANES;
    end = end < pool->copies ? end : pool->copies;
    if (first < end)
        pool->work(pool->data, first, end);
}

static void *help(void *arg)
{
    struct helper *helper = arg;
    struct env_pool *pool = helper->pool;
    uint64_t seen = 0;
    for (;;) {
        for (int i = 0; i < pool->looks && atomic_load(&pool->round) == seen; i++)
            look_again();
        pthread_mutex_lock(&pool->lock);
        while (!pool->ends && atomic_load(&pool->round) == seen)
            pthread_cond_wait(&pool->begin, &pool->lock);
        bool ends = pool->ends;
        seen = atomic_load(&pool->round);
        pthread_mutex_unlock(&pool->lock);
        if (ends)
            return NULL;
        work_share(pool, helper->place);
        if (atomic_fetch_sub(&pool->left, 1) == 1) {
            pthread_mutex_lock(&pool->lock);
            pthread_cond_signal(&pool->done);
            pthread_mutex_unlock(&pool->lock);
        }
    }
}

int env_pool_create(int threads, struct env_pool **ret)
{
    struct env_pool *pool = calloc(1, sizeof *pool + (size_t)(threads - 1) * sizeof *pool->helpers);
    if (!pool)
        return -ENOMEM;
    pool->threads = threads;
    pool->looks = sysconf(_SC_NPROCESSORS_ONLN) >= threads ? LOOKS : 0;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->done, NULL);
    for (int i = 0; i < threads - 1; i++) {
        struct helper *helper = &pool->helpers[i];
        *helper = (struct helper){.pool = pool, .place = i + 1};
        int rc = pthread_create(&helper->thread, NULL, help, helper);
        if (rc != 0) {
            env_pool_destroy(pool);
            return -rc;
        }
        pool->started++;
    }
    *ret = pool;
    return 0;
}

void env_pool_destroy(struct env_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->ends = true;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->started; i++)
        pthread_join(pool->helpers[i].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->begin);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

void env_pool_run(struct env_pool *pool, size_t copies, env_pool_work *work, void *data)
{
    if (pool->threads == 1 || copies <= ENV_LANES) { /* only one thread would have work */
        work(data, 0, copies);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    pool->copies = copies;
    pool->work = work;
    pool->data = data;
    atomic_store(&pool->left, pool->started);
    atomic_fetch_add(&pool->round, 1);
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);
    work_share(pool, 0);
    for (int i = 0; i < pool->looks && atomic_load(&pool->left) > 0; i++)
        look_again();
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->left) > 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}
