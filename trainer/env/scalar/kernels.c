#include "trainer/env/scalar/kernels.h"

const struct env_kernels env_scalar_kernels = {
    .step =
        {
            [ENV_REFERENCE] = {[ENV_PORTFOLIO] = env_scalar_reference_portfolio,
                               [ENV_DAY_TRADE] = env_scalar_reference_day_trade},
            [ENV_MARKET] = {[ENV_PORTFOLIO] = env_scalar_market_portfolio,
                            [ENV_DAY_TRADE] = env_scalar_market_day_trade},
        },
    .observe = env_scalar_observe,
};
