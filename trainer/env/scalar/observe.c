#include "trainer/env/scalar/observe.h"

#include "trainer/env/scalar/kernels.h"

void env_scalar_observe(const struct env_view *view, float *ret, size_t first, size_t end)
{
    for (size_t e = first; e < end; e++)
        env_observe_copy(view, e, ret + e * (size_t)view->observation_size);
}
