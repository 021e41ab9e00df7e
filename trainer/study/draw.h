/* A trial's random numbers: Philox with the sampler's seed as its key and the trial's number in its counter.
 * One stream a trial, which restarts when values are suggested for the trial again. */
#ifndef TRAINER_STUDY_DRAW_H
#define TRAINER_STUDY_DRAW_H

#include <stdbool.h>
#include <stdint.h>

struct draw {
    uint64_t seed;
    uint32_t number, next; /* the trial's; blocks drawn so far */
    double second;         /* a block of Philox is two numbers */
    bool has_second;
};

struct draw sampler_draw_begin(uint64_t seed, int number);
double sampler_draw_uniform(struct draw *draw); /* in (0, 1): both ends excluded, 52 bits */
int sampler_draw_below(struct draw *draw, int n);
double sampler_draw_normal(struct draw *draw); /* Box and Muller's, of two uniforms */

#endif
