/* Work that is repeated as a graph: when it is recorded, and what happens where that fails. One source for
 * the module's queue and the tests': what records and launches is the device's.
 *
 * A recording that fails leaves the device as it was: the work is then done without a condition, and where
 * that fails too, launch by launch, which gives the same bits and takes longer. */
#ifndef TRAINER_PPO_CUDA_REPEAT_H
#define TRAINER_PPO_CUDA_REPEAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trainer/ppo/cuda/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { REPEAT_REASON_MAX = 256 };

struct repeat_work {
    void (*work)(void *ctx);
    void *ctx;
    const uint32_t *stop; /* on the device: not 0: the work is left out; NULL: never */
};

/* What a device does. Failures: -errno, with a sentence in `reason`. */
struct repeat_calls {
    bool skips; /* its graphs can have a condition */
    /* From here on what is queued is recorded and not done. With `stop` a launch leaves it out where that is
     * not 0. */
    int (*begin)(void *ctx, const uint32_t *stop, char *reason, size_t cap);
    /* Ends the recording, in any case, and keeps it as graph `graph` unless `failed`. */
    int (*end)(void *ctx, int graph, bool failed, char *reason, size_t cap);
    /* -ENOMEM: nothing was launched; anything else is the device's failure. */
    int (*launch)(void *ctx, int graph, char *reason, size_t cap);
    void (*drop)(void *ctx, int graph);
};

enum repeat_how { REPEAT_SKIPS, REPEAT_GRAPH, REPEAT_EAGER };

struct repeats {
    const struct repeat_calls *calls;
    void *ctx;
    struct {
        bool seen, recorded;
        enum repeat_how how;
    } graphs[QUEUE_GRAPHS];
    bool recording;
    int failed; /* while recording */
    char reason[REPEAT_REASON_MAX];
    char notice[2 * REPEAT_REASON_MAX]; /* "", or what the user should know */
};

void ppo_repeat_init(struct repeats *r, const struct repeat_calls *calls, void *ctx);

/* ppo_queue_repeat(). 0, or the device's failure. */
int ppo_repeat(struct repeats *r, int graph, const struct repeat_work *work, char *reason, size_t cap);

/* For the queue, where an operation failed: true where that is the recording's failure, and no other. */
bool ppo_repeat_failed(struct repeats *r, int error, const char *reason);

/* Drops the recordings; the next ppo_repeat() records again. */
void ppo_repeat_forget(struct repeats *r);

#ifdef __cplusplus
}
#endif

#endif
