/* Which algorithm a matrix product runs with, and with which epilogue: chosen by measuring. Plain C: the
 * device, its clock and its heuristics are behind callbacks, so that tests inject timings.
 *
 * A product is timed with each of up to PRODUCT_HEURISTICS algorithms, as it is asked for and without its
 * epilogue, which kernels of their own then do: cuBLASLt's fused epilogues may be slower than those. The
 * fastest is kept for its key (product_cache.h).
 *
 * The budget bounds when a candidate is started: not after the heuristics and the timings of a learner's
 * products have together taken PRODUCT_BUDGET_S, nor after a product's own timings have taken an eighth of
 * what was left then. A candidate that was started is finished, however long it takes; products after the
 * budget's end still have their heuristics, and run with the first. Waits for another process that measures
 * are apart from it: PRODUCT_WAIT_S for all products of a learner. */
#ifndef TRAINER_PPO_CUDA_PRODUCT_PLAN_H
#define TRAINER_PPO_CUDA_PRODUCT_PLAN_H

#include "trainer/ppo/cuda/product_cache.h"
#include "trainer/ppo/cuda/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PRODUCT_HEURISTICS = 8 };
#define PRODUCT_BUDGET_S 1.0
#define PRODUCT_WAIT_S   10.0

struct product_calls {
    double (*now)(void *ctx); /* seconds, of a clock that never goes back */
    /* Finds the algorithms of `product`, by the library's heuristics the fastest first. Returns how many, at
     * most PRODUCT_HEURISTICS; 0: it has no such product. */
    int (*list)(void *ctx, const struct queue_product *product);
    /* The seconds of `product` with the i-th of them, and of the kernels for what was asked and it has not.
     * NaN, or not above 0: they are not known. INFINITY: it does not run. */
    double (*time)(void *ctx, const struct queue_product *product, int i);
};

struct product_planner {
    const struct product_calls *calls;
    void *ctx;
    bool measured;               /* else the first heuristic that there is */
    struct product_cache *cache; /* not owned */
    const char *device;          /* the key's part: device, driver, library */
    double spent, waited;        /* seconds of PRODUCT_BUDGET_S, of PRODUCT_WAIT_S */
};

/* `*product`: as asked for, and then as it is had: without `relu` and `keep`, or (QUEUE_WEIGHT) `bias`, where
 * these are not fused. `lanes`: how many of its kind run beside each other: part of the key. 0, or -ENOTSUP:
 * there is no such product. */
int ppo_product_choose(struct product_planner *p, struct queue_product *product, int lanes,
                       struct product_choice *ret);

/* Removes the epilogue that a kernel can do instead. False: there is none. */
bool ppo_product_part(struct queue_product *product);

#ifdef __cplusplus
}
#endif

#endif
