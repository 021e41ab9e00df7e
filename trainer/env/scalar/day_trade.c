#include "trainer/env/scalar/day_market.h"
#include "trainer/env/scalar/kernels.h"

void env_scalar_reference_day_trade(const struct env_view *view, const struct env_step_io *io, size_t first,
                                    size_t end)
{
    for (size_t e = first; e < end; e++)
        if (env_steps(view, io, e, ENV_REFERENCE))
            env_day_step(view, io, e);
}

void env_scalar_market_day_trade(const struct env_view *view, const struct env_step_io *io, size_t first,
                                 size_t end)
{
    for (size_t e = first; e < end; e++)
        if (env_steps(view, io, e, ENV_MARKET))
            env_day_market_step(view, io, e);
}
