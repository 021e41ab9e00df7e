/* Which kernels a backend has on this processor. */
#ifndef TRAINER_ENV_BACKEND_H
#define TRAINER_ENV_BACKEND_H

#include "trainer/env/env.h"
#include "trainer/env/view.h"

/* NULL: not built, or not on this processor. */
const struct env_kernels *env_backend_kernels(enum env_backend backend);

/* The widest that works. */
enum env_backend env_backend_best(void);

#endif
