/* ENV_REFERENCE, ENV_PORTFOLIO for host and device: one step of one copy whose episode is not over. */
#ifndef TRAINER_ENV_SCALAR_REFERENCE_H
#define TRAINER_ENV_SCALAR_REFERENCE_H

#include "trainer/env/finish.h"

/* Two kinds of money, one text. */
#define MONEY     double
#define STEP_COPY step_copy_f64
#define REWARD    reward_f64
#define SALE      sale_f64
#define HOLDINGS  holdings_f64
#include "trainer/env/scalar/reference_step.h"
#undef MONEY
#undef STEP_COPY
#undef REWARD
#undef SALE
#undef HOLDINGS

#define MONEY     float
#define STEP_COPY step_copy_f32
#define REWARD    reward_f32
#define SALE      sale_f32
#define HOLDINGS  holdings_f32
#include "trainer/env/scalar/reference_step.h"
#undef MONEY
#undef STEP_COPY
#undef REWARD
#undef SALE
#undef HOLDINGS

#endif
