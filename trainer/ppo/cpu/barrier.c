#include "trainer/ppo/cpu/internal.h"

#include <sched.h>
#include <unistd.h>

/* How many times a thread polls before it sleeps, about a tenth of a millisecond: the shards of a minibatch
 * end within that time of each other. Now and then it yields, perhaps to the thread that it waits for. Not
 * where threads have to share processors. */
enum { LOOKS = 5000, LOOKS_A_TURN = 64 };

void ppo_barrier_init(struct barrier *barrier, int threads)
{
    barrier->threads = (unsigned)threads;
    barrier->looks = sysconf(_SC_NPROCESSORS_ONLN) >= threads ? LOOKS : 0;
    atomic_init(&barrier->arrived, 0);
    atomic_init(&barrier->round, 0);
    atomic_init(&barrier->sleepers, 0);
    pthread_mutex_init(&barrier->lock, NULL);
    pthread_cond_init(&barrier->opens, NULL);
}

void ppo_barrier_finish(struct barrier *barrier)
{
    pthread_cond_destroy(&barrier->opens);
    pthread_mutex_destroy(&barrier->lock);
}

static inline void look_again(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

void ppo_barrier_wait(struct barrier *barrier)
{
    if (barrier->threads == 1)
        return;
    const unsigned round = atomic_load(&barrier->round);
    if (atomic_fetch_add(&barrier->arrived, 1) == barrier->threads - 1) {
        atomic_store(&barrier->arrived, 0);
        atomic_store(&barrier->round, round + 1);
        /* A thread registers as a sleeper before its last poll, so that no wake-up is lost. */
        if (atomic_load(&barrier->sleepers) > 0) {
            pthread_mutex_lock(&barrier->lock);
            pthread_cond_broadcast(&barrier->opens);
            pthread_mutex_unlock(&barrier->lock);
        }
        return;
    }
    for (unsigned i = 0; i < barrier->looks; i++) {
        if (atomic_load(&barrier->round) != round)
            return;
        if (i % LOOKS_A_TURN == LOOKS_A_TURN - 1)
            sched_yield();
        else
            look_again();
    }
    pthread_mutex_lock(&barrier->lock);
    atomic_fetch_add(&barrier->sleepers, 1);
    while (atomic_load(&barrier->round) == round)
        pthread_cond_wait(&barrier->opens, &barrier->lock);
    atomic_fetch_sub(&barrier->sleepers, 1);
    pthread_mutex_unlock(&barrier->lock);
}
