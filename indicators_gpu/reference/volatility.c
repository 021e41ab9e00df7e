#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/step/recurrence.h"

int reference_atr(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    size_t period = (size_t)options[0];
    double atr = 0.0;

    for (size_t i = 1; i <= period; i++)
        atr += true_range(in->high[i], in->low[i], in->close[i - 1]);
    atr /= options[0];
    out[0][period] = atr;
    for (size_t i = period + 1; i < n; i++)
        out[0][i] = atr = wilder_next(atr, true_range(in->high[i], in->low[i], in->close[i - 1]), options[0]);
    return 0;
}
