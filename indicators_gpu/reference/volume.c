#include <errno.h>
#include <stdlib.h>

#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/step/volume.h"

int reference_mfi(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    size_t period = (size_t)options[0];
    double *price = malloc(n * sizeof(double));
    if (!price)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        price[i] = typical_price(in->high[i], in->low[i], in->close[i]);
    for (size_t i = period; i < n; i++) {
        double inflow = 0.0, outflow = 0.0;
        for (size_t j = i + 1 - period; j <= i; j++) {
            double flow = money_flow(price[j], price[j - 1], in->volume[j]);
            if (flow > 0.0)
                inflow += flow;
            else
                outflow -= flow;
        }
        out[0][i] = mfi_value(inflow, outflow);
    }
    free(price);
    return 0;
}

int reference_obv(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    double sum = in->volume[0];
    (void)options;
    out[0][0] = sum;
    for (size_t i = 1; i < n; i++) {
        if (in->close[i] > in->close[i - 1])
            sum += in->volume[i];
        else if (in->close[i] < in->close[i - 1])
            sum -= in->volume[i];
        out[0][i] = sum;
    }
    return 0;
}

int reference_ad(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    double line = 0.0;
    (void)options;
    for (size_t i = 0; i < n; i++) {
        line += accumulation(in->high[i], in->low[i], in->close[i], in->volume[i]);
        out[0][i] = line;
    }
    return 0;
}

int reference_adosc(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    double fast_k = ema_factor(options[0]), slow_k = ema_factor(options[1]);
    size_t first = (size_t)(options[0] > options[1] ? options[0] : options[1]) - 1;
    double line = 0.0 + accumulation(in->high[0], in->low[0], in->close[0], in->volume[0]);
    double fast = line, slow = line;
    for (size_t i = 1; i < n; i++) {
        line += accumulation(in->high[i], in->low[i], in->close[i], in->volume[i]);
        fast = ema_next(fast, line, fast_k);
        slow = ema_next(slow, line, slow_k);
        if (i >= first)
            out[0][i] = fast - slow;
    }
    return 0;
}

int reference_vwap(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    double start_s = session_start_s(options[0]), flow = 0.0, volume = 0.0;
    for (size_t i = 0; i < n; i++) {
        double price = typical_price(in->high[i], in->low[i], in->close[i]);
        if (i > 0 && session_of(in->time[i], start_s) != session_of(in->time[i - 1], start_s))
            flow = volume = 0.0;
        flow += price * in->volume[i];
        volume += in->volume[i];
        out[0][i] = volume > 0.0 ? flow / volume : price;
    }
    return 0;
}
