/* Every point of a grid once: all choices and whole numbers, all steps, and of floats without a step
 * `points` values, evenly on their axis, ends included. Trial number N begins at the Nth point of an order
 * that the seed makes, and takes the first that no COMPLETE, PRUNED or RUNNING trial has; points of FAIL
 * trials are tried again. */
#ifndef TRAINER_STUDY_GRID_H
#define TRAINER_STUDY_GRID_H

#include "trainer/study/space.h"

/* How many points there are; UINT64_MAX: more than can be counted. */
uint64_t grid_size(const struct space *space, int points);

/* 0; -ENODATA: all points were tried; -ENOMEM. */
int grid_sample(const struct study *study, int number, const struct space *space, int points, uint64_t seed,
                double *ret_values);

#endif
