/* A learner on the CPU, shared by its own files only.
 *
 * Threads: `place` 0 is the caller's. Work is split by place at fixed rows, and the places' sums are added in
 * order, so that results depend on the number of threads alone. */
#ifndef TRAINER_PPO_CPU_INTERNAL_H
#define TRAINER_PPO_CPU_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "trainer/env/pool.h"
#include "trainer/nn/adam.h"
#include "trainer/nn/train.h"
#include "trainer/ppo/learner.h"
#include "trainer/ppo/state.h"

/* A barrier for waits that are frequent and short. */

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

/* One thread's. */
struct ppo_part {
    struct nn_work_f32 *work;
    /* Its shard of a minibatch, packed; starts and hidden with a recurrent layer. */
    float *obs, *actions, *logp, *values, *advantages, *returns, *hidden;
    uint8_t *starts;
    float *all_advantages; /* [minibatch] */
    float *grads;          /* [n_params] */
    double *sum, *squares; /* [observation] of this rollout's observations less `shift` */
    size_t summed;         /* rows in them */
    struct nn_sums sums;
    double grad_squares;
};

/* The progress of an update: every thread computes its own, all the same. */
struct course {
    struct nn_loss loss;
    double learning_rate;
    int64_t adam_steps, epochs, skipped, bad_in_row, minibatches;
    int started; /* epochs */
    bool kl_stop, lost;
    double policy, value, entropy, total, old_kl, kl, clipped, norm; /* sums over minibatches */
};

struct cpu_learner {
    struct learner learner; /* first: the callers' handle */
    struct learner_ops ops;
    char backend[32];
    struct ppo_world world;
    struct env_pool *pool;
    struct barrier barrier;
    bool barrier_made;
    void (*running)(struct cpu_learner *l, int place); /* of ppo_cpu_run() */
    int threads;
    int rollout_threads; /* 1 or `threads` */
    size_t copies, steps, rows, observation, actions, outputs, hidden;
    size_t shard;           /* rows of a part's share of a minibatch, at most */
    size_t sequence;        /* 1 without a recurrent layer */
    size_t capacity;        /* rows of a part's work */
    size_t n_finals_room;   /* rows of `finals` */
    size_t bytes;           /* of `memory` */
    void *memory;           /* all that follows, and the parts' arrays */
    struct ppo_part *parts; /* [threads] */
    const float **grads;    /* [threads] those of parts that have rows */

    float *params, *adam_m, *adam_v;
    struct ppo_moments *moments; /* [1 + observation]: returns, observations */
    float *mean, *scale;         /* [observation] as rollouts use them */
    struct ppo_counters counters;
    struct ppo_copy *carried; /* [copies], and behind it: */
    float *state;             /* [copies][hidden] recurrent, before the next step */
    float *next_state;

    /* The rollout: [rows], step-major. */
    float *obs, *taken, *logp, *values, *rewards, *bootstrap, *advantages, *returns;
    uint8_t *ends;   /* 1: the episode ended with this row */
    uint8_t *starts; /* 1: one begins with it; recurrent */
    float *kept;     /* [rows / sequence][hidden] recurrent state before each sequence */
    uint32_t *order; /* [rows / sequence] of an epoch */

    /* A step's: [copies]. */
    float *raw, *heads, *final_obs, *last_values;
    uint8_t *terminated, *truncated;
    float *std;    /* [actions] */
    double *shift; /* [observation]: the rollout's first observation, which is subtracted from sums */
    float *finals; /* [n_finals_room][observation] normalised, of truncated episodes, until their values
                    * are computed */
    float *final_values;
    size_t *final_rows;
    size_t n_finals;

    struct course course;
    int rc; /* of the rollout */
    char err[PPO_ERROR_MAX];
};

/* Calls work(l, place) on every thread, and returns when all are done. */
typedef void cpu_work(struct cpu_learner *l, int place);
void ppo_cpu_run(struct cpu_learner *l, cpu_work *work);

/* [ret_first, ret_end) of n that falls to `place`, in whole units but at the end. */
static inline void cpu_share(const struct cpu_learner *l, int place, size_t n, size_t unit, size_t *ret_first,
                             size_t *ret_end)
{
    const size_t units = (n + unit - 1) / unit, parts = (size_t)l->threads;
    const size_t first = units * (size_t)place / parts * unit;
    const size_t end = units * ((size_t)place + 1) / parts * unit;
    *ret_first = first < n ? first : n;
    *ret_end = end < n ? end : n;
}

/* iterate.c */
int ppo_cpu_iterate(struct learner *learner, struct ppo_update *ret, char err[static PPO_ERROR_MAX]);
int ppo_cpu_snapshot(struct learner *learner, const struct ppo_snapshot *ret, char err[static PPO_ERROR_MAX]);

/* rollout.c: a rollout from the world's current state. On failure l->rc and l->err. */
int ppo_cpu_rollout(struct cpu_learner *l);

/* normalise.c */
void ppo_cpu_normalise(const struct cpu_learner *l, const float *raw, size_t rows, float *ret);
/* The same, and adds the rows to the part's sums. */
void ppo_cpu_normalise_and_sum(const struct cpu_learner *l, struct ppo_part *part, const float *raw,
                               size_t rows, float *ret);
void ppo_cpu_sums_begin(struct cpu_learner *l); /* of a rollout whose first observations stand in l->raw */
void ppo_cpu_sums_merge(struct cpu_learner *l); /* into the normaliser */
void ppo_cpu_normaliser_set(struct cpu_learner *l); /* mean and scale, as the moments say */

/* advantages.c: values, scaled rewards, advantages, returns, and figures of episodes. */
void ppo_cpu_values_of_finals(struct cpu_learner *l);
void ppo_cpu_advantages(struct cpu_learner *l, struct ppo_update *ret);
/* Computes advantages and returns from rewards, bootstrap, ends, values and last_values. */
void ppo_cpu_look_back(struct cpu_learner *l);

/* update.c: 0 or -EDOM. */
int ppo_cpu_update(struct cpu_learner *l, struct ppo_update *ret);

/* save.c */
int ppo_cpu_save(struct learner *learner, const struct ppo_sink *sink, char err[static PPO_ERROR_MAX]);
int ppo_cpu_load(struct learner *learner, const struct ppo_source *source, char err[static PPO_ERROR_MAX]);

#endif
