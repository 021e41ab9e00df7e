/* The kernels of one instruction set, as set.c lists them: LANES_NAME(step) of each file. Each does what the
 * scalar kernel of the same name does, LANES copies at once, to the bit. */
#ifndef TRAINER_ENV_SIMD_KERNELS_H
#define TRAINER_ENV_SIMD_KERNELS_H

#include "trainer/env/simd/lanes.h"
#include "trainer/env/view.h"

env_step_fn LANES_NAME(reference_f64), LANES_NAME(reference_f32);
#if LANES_FMA
env_step_fn LANES_NAME(market_portfolio);
#endif
env_observe_fn LANES_NAME(observe);

#endif
