/* Draws for many rows at once: the same numbers as trainer/ppo/draw.h and shuffle.h draw for one. */
#ifndef TRAINER_PPO_CPU_DRAW_H
#define TRAINER_PPO_CPU_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* For rows [first, end) of a rollout of `copies`, whose step 0 is step `run_step` of the run: ret [rows][n]
 * (the rollout's, of which rows [first, end) are written), standard normals, or with `uniform` numbers of
 * [0, 1). */
void ppo_draw_rows(uint64_t seed, uint64_t run_step, size_t copies, size_t n, bool uniform, size_t first,
                   size_t end, float *ret);

struct ppo_shuffle;
/* The rows at places [first, end) of an epoch's order: ret[first..end). */
void ppo_draw_order(const struct ppo_shuffle *shuffle, size_t first, size_t end, uint32_t *ret);

#endif
