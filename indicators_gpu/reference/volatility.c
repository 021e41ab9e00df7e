#include <errno.h>
#include <stdlib.h>

#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/step/volatility.h"

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

int reference_natr(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    reference_atr(options, in, n, out);
    for (size_t i = (size_t)options[0]; i < n; i++)
        out[0][i] = natr_value(out[0][i], in->close[i]);
    return 0;
}

int reference_trange(const double options[], const struct indicator_columns *in, size_t n,
                     double *const out[])
{
    (void)options;
    for (size_t i = 1; i < n; i++)
        out[0][i] = true_range(in->high[i], in->low[i], in->close[i - 1]);
    return 0;
}

/* The mean of n values, oldest to newest. */
static double mean_of(const double x[], size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

/* The squares of n values' distances from their mean. */
static double spread_of(const double x[], size_t n, double mean)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum;
}

int reference_bbands(const double options[], const struct indicator_columns *in, size_t n,
                     double *const out[])
{
    size_t period = (size_t)options[0];
    for (size_t i = period - 1; i < n; i++) {
        const double *window = in->close + (i - (period - 1));
        double mean = mean_of(window, period), sigma = sqrt(spread_of(window, period, mean) / options[0]);
        out[0][i] = mean + options[1] * sigma;
        out[1][i] = mean;
        out[2][i] = mean - options[1] * sigma;
    }
    return 0;
}

int reference_keltner(const double options[], const struct indicator_columns *in, size_t n,
                      double *const out[])
{
    size_t ema_period = (size_t)options[0], atr_period = (size_t)options[1];
    size_t first = ema_period - 1 > atr_period ? ema_period - 1 : atr_period; /* where both seeds end */
    double k = ema_factor(options[0]), ema = 0.0, atr = 0.0;

    for (size_t i = first + 1 - ema_period; i <= first; i++)
        ema += typical_price(in->high[i], in->low[i], in->close[i]);
    for (size_t i = first + 1 - atr_period; i <= first; i++)
        atr += true_range(in->high[i], in->low[i], in->close[i - 1]);
    ema /= options[0];
    atr /= options[1];
    for (size_t i = first;;) {
        out[0][i] = ema + options[2] * atr;
        out[1][i] = ema;
        out[2][i] = ema - options[2] * atr;
        if (++i == n)
            return 0;
        ema = ema_next(ema, typical_price(in->high[i], in->low[i], in->close[i]), k);
        atr = wilder_next(atr, true_range(in->high[i], in->low[i], in->close[i - 1]), options[1]);
    }
}

int reference_donchian(const double options[], const struct indicator_columns *in, size_t n,
                       double *const out[])
{
    size_t period = (size_t)options[0];
    for (size_t i = period - 1; i < n; i++) {
        size_t first = i - (period - 1);
        double top = in->high[first], bottom = in->low[first];
        for (size_t j = first + 1; j <= i; j++) {
            if (in->high[j] > top)
                top = in->high[j];
            if (in->low[j] < bottom)
                bottom = in->low[j];
        }
        out[0][i] = top;
        out[1][i] = (top + bottom) / 2.0;
        out[2][i] = bottom;
    }
    return 0;
}

int reference_realvol(const double options[], const struct indicator_columns *in, size_t n,
                      double *const out[])
{
    size_t period = (size_t)options[0];
    double *change = malloc(n * sizeof(double));
    if (!change)
        return -ENOMEM;
    for (size_t i = 1; i < n; i++)
        change[i] = exact_log_quotient(in->close[i - 1], in->close[i]);
    for (size_t i = period; i < n; i++) {
        const double *window = change + (i - (period - 1));
        double mean = mean_of(window, period);
        out[0][i] = sqrt(spread_of(window, period, mean) / (options[0] - 1.0));
    }
    free(change);
    return 0;
}

int reference_parkinson(const double options[], const struct indicator_columns *in, size_t n,
                        double *const out[])
{
    size_t period = (size_t)options[0];
    double *term = malloc(n * sizeof(double));
    if (!term)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        term[i] = parkinson_term(in->high[i], in->low[i]);
    for (size_t i = period - 1; i < n; i++)
        out[0][i] = parkinson_value(mean_of(term + (i - (period - 1)), period));
    free(term);
    return 0;
}

int reference_garman_klass(const double options[], const struct indicator_columns *in, size_t n,
                           double *const out[])
{
    size_t period = (size_t)options[0];
    double *term = malloc(n * sizeof(double));
    if (!term)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        term[i] = garman_klass_term(in->open[i], in->high[i], in->low[i], in->close[i]);
    for (size_t i = period - 1; i < n; i++)
        out[0][i] = garman_klass_value(mean_of(term + (i - (period - 1)), period));
    free(term);
    return 0;
}
