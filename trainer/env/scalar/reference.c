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

#include "trainer/env/scalar/kernels.h"

void env_scalar_reference_portfolio(const struct env_view *view, const struct env_step_io *io, size_t first,
                                    size_t end)
{
    bool float32 = view->params.float32;
    for (size_t e = first; e < end; e++) {
        if (!env_steps(view, io, e))
            continue;
        if (float32)
            step_copy_f32(view, io, e);
        else
            step_copy_f64(view, io, e);
    }
}
