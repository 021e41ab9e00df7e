/* Where threads wait for each other, often and for a moment. */
#ifndef TRAINER_PPO_CPU_BARRIER_H
#define TRAINER_PPO_CPU_BARRIER_H

#include <pthread.h>
#include <stdatomic.h>

struct barrier {
    unsigned threads, looks;
    atomic_uint arrived, round, sleepers;
    pthread_mutex_t lock;
    pthread_cond_t opens;
};

void ppo_barrier_init(struct barrier *barrier, int threads);
void ppo_barrier_finish(struct barrier *barrier);

/* Returns once all threads have called it. What one wrote before, all read after. */
void ppo_barrier_wait(struct barrier *barrier);

#endif
