/* Every point of a grid once: all choices and whole numbers, all steps, and of floats without a step `points`
 * values, evenly spaced on their axis, ends included. Trial number N starts at the Nth point of an order that
 * the seed determines, and takes the first point that no COMPLETE, PRUNED or RUNNING trial has; points of
 * FAIL trials are tried again. */
#ifndef TRAINER_STUDY_GRID_H
#define TRAINER_STUDY_GRID_H

#include "trainer/study/space.h"

/* The number of points; UINT64_MAX: more than can be counted, and searched. */
uint64_t sampler_grid_size(const struct space *space, int points);
double sampler_grid_size_about(const struct space *space, int points); /* however many */

/* 0; -ENODATA: all points were tried; -ERANGE: there are more than can be counted; -ENOMEM. */
int sampler_grid_sample(const struct study *study, int number, const struct space *space, int points,
                        uint64_t seed, double *ret_values);

/* The points that trial `number` would be offered, in order. */
struct grid_walk {
    const struct space *space; /* borrowed */
    int points;
    uint64_t size, from, stride;
    uint64_t place, left; /* in the order: the position, and how many points remain */
    uint64_t *tried;      /* [n_tried], sorted */
    size_t n_tried;
};
int sampler_grid_walk_begin(const struct study *study, int number, const struct space *space, int points,
                            uint64_t seed, struct grid_walk *ret);      /* 0, -ERANGE or -ENOMEM */
int sampler_grid_walk_next(struct grid_walk *walk, double *ret_values); /* 0; -ENODATA: there are no more */
void sampler_grid_walk_finish(struct grid_walk *walk);

#endif
