#include "indicators_gpu/fast/rsi.h"

void fast_rsi(struct rsi_state *s, const double close[], size_t n, double rsi[])
{
    for (size_t i = 0; i < n; i++)
        if (!rsi_step(s, close[i], &rsi[i]))
            rsi[i] = 0.0;
}
