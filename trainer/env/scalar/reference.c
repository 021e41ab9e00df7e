#include "trainer/env/scalar/reference.h"

#include "trainer/env/scalar/kernels.h"

void env_scalar_reference_portfolio(const struct env_view *view, const struct env_step_io *io, size_t first,
                                    size_t end)
{
    for (size_t e = first; e < end; e++)
        env_reference_step(view, io, e);
}
