#include "trainer/env/scalar/market.h"

#include "trainer/env/scalar/kernels.h"

void env_scalar_market_portfolio(const struct env_view *view, const struct env_step_io *io, size_t first,
                                 size_t end)
{
    for (size_t e = first; e < end; e++)
        if (env_steps(view, io, e, ENV_MARKET))
            env_market_step(view, io, e, env_market_limited(view));
}
