/* A step of one copy, ENV_REFERENCE and ENV_PORTFOLIO: docs/environment.md describes its rules. The text of
 * reference_money.h, for both kinds of money, is the definition: other kernels repeat its operations, in its
 * order, in its types. */
#ifndef TRAINER_ENV_SCALAR_REFERENCE_H
#define TRAINER_ENV_SCALAR_REFERENCE_H

#include "trainer/env/finish.h"

#define MONEY           double
#define REFERENCE(name) env_reference_f64_##name
#include "trainer/env/scalar/reference_money.h"
#undef MONEY
#undef REFERENCE

#define MONEY           float
#define REFERENCE(name) env_reference_f32_##name
#include "trainer/env/scalar/reference_money.h"
#undef MONEY
#undef REFERENCE

ENV_RULE void env_reference_step(const struct env_view *view, const struct env_step_io *io, size_t copy)
{
    if (!env_steps(view, io, copy, ENV_REFERENCE))
        return;
    if (view->params.float32)
        env_reference_f32_step(view, io, copy);
    else
        env_reference_f64_step(view, io, copy);
}

#endif
