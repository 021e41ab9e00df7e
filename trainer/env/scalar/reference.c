#include "trainer/env/scalar/reference.h"

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
