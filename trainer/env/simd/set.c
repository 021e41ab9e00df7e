#include "trainer/env/simd/kernels.h"

static void reference(const struct env_view *view, const struct env_step_io *io, size_t first, size_t end)
{
    (view->params.float32 ? LANES_NAME(reference_f32) : LANES_NAME(reference_f64))(view, io, first, end);
}

const struct env_kernels LANES_NAME(kernels) = {
    .step =
        {
            [ENV_REFERENCE] = {[ENV_PORTFOLIO] = reference},
#if LANES_FMA
            [ENV_MARKET] = {[ENV_PORTFOLIO] = LANES_NAME(market_portfolio)},
#endif
        },
    .observe = LANES_NAME(observe),
};
