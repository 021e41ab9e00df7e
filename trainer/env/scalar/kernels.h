/* The scalar kernels: the definition of what a step is. */
#ifndef TRAINER_ENV_SCALAR_KERNELS_H
#define TRAINER_ENV_SCALAR_KERNELS_H

#include "trainer/env/view.h"

env_step_fn env_scalar_reference_portfolio, env_scalar_reference_day_trade;
env_step_fn env_scalar_market_portfolio, env_scalar_market_day_trade;
env_observe_fn env_scalar_observe;

#endif
