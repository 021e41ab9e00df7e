#include <errno.h>
#include <stdlib.h>

#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/step/momentum.h"

int reference_rsi(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    size_t period = (size_t)options[0];
    const double *x = in->close;
    double gain = 0.0, loss = 0.0;

    for (size_t i = 1; i <= period; i++) {
        double change = x[i] - x[i - 1];
        if (change > 0.0)
            gain += change;
        else
            loss -= change;
    }
    gain /= options[0];
    loss /= options[0];
    out[0][period] = rsi_value(gain, loss);
    for (size_t i = period + 1; i < n; i++) {
        double change = x[i] - x[i - 1];
        gain = wilder_next(gain, change > 0.0 ? change : 0.0, options[0]);
        loss = wilder_next(loss, change < 0.0 ? -change : 0.0, options[0]);
        out[0][i] = rsi_value(gain, loss);
    }
    return 0;
}

static double mean_of(const double *x, size_t n)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (double)n;
}

int reference_macd(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    bool reversed = options[0] > options[1];
    double fast_period = reversed ? options[1] : options[0], slow_period = reversed ? options[0] : options[1];
    size_t slow_n = (size_t)slow_period, fast_n = (size_t)fast_period, signal_n = (size_t)options[2];
    double fast_k = ema_factor(fast_period), slow_k = ema_factor(slow_period),
           signal_k = ema_factor(options[2]);
    const double *x = in->close;

    double fast = mean_of(x + (slow_n - fast_n), fast_n), slow = mean_of(x, slow_n);
    double macd = fast - slow, signal = macd;
    size_t i = slow_n - 1, first = slow_n + signal_n - 2;
    while (i < first) {
        i++;
        fast = ema_next(fast, x[i], fast_k);
        slow = ema_next(slow, x[i], slow_k);
        macd = fast - slow;
        signal += macd;
    }
    signal /= options[2];
    for (;;) {
        out[0][i] = macd;
        out[1][i] = signal;
        out[2][i] = macd - signal;
        if (++i == n)
            break;
        fast = ema_next(fast, x[i], fast_k);
        slow = ema_next(slow, x[i], slow_k);
        macd = fast - slow;
        signal = ema_next(signal, macd, signal_k);
    }
    return 0;
}

static void simple_average(const double *x, size_t period, size_t n, double *mean)
{
    for (size_t i = period - 1; i < n; i++)
        mean[i] = mean_of(x + (i + 1 - period), period);
}

static void exponential_average(const double *x, size_t period, size_t n, double *mean)
{
    double k = ema_factor((double)period), y = mean_of(x, period);
    mean[period - 1] = y;
    for (size_t i = period; i < n; i++)
        mean[i] = y = ema_next(y, x[i], k);
}

int reference_ppo(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    bool reversed = options[0] > options[1];
    size_t fast = (size_t)options[reversed ? 1 : 0], slow = (size_t)options[reversed ? 0 : 1];
    double *means = malloc(2 * n * sizeof(double));
    if (!means)
        return -ENOMEM;
    if (options[2] != 0.0) {
        exponential_average(in->close, fast, n, means);
        exponential_average(in->close, slow, n, means + n);
    } else {
        simple_average(in->close, fast, n, means);
        simple_average(in->close, slow, n, means + n);
    }
    for (size_t i = slow - 1; i < n; i++)
        out[0][i] = ppo_value(means[i], means[n + i]);
    free(means);
    return 0;
}

int reference_mom(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    size_t period = (size_t)options[0];
    for (size_t i = period; i < n; i++)
        out[0][i] = in->close[i] - in->close[i - period];
    return 0;
}

int reference_roc(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    size_t period = (size_t)options[0];
    for (size_t i = period; i < n; i++)
        out[0][i] = roc_value(in->close[i], in->close[i - period]);
    return 0;
}

/* Each average begins where the one before it has its first value. */
int reference_trix(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    size_t period = (size_t)options[0], first = period - 1;
    double *once = malloc(2 * n * sizeof(double));
    if (!once)
        return -ENOMEM;
    double *twice = once + n;
    exponential_average(in->close, period, n, once);
    exponential_average(once + first, period, n - first, twice + first);
    exponential_average(twice + 2 * first, period, n - 2 * first, once + 2 * first);
    for (size_t i = 3 * first + 1; i < n; i++)
        out[0][i] = roc_value(once[i], once[i - 1]);
    free(once);
    return 0;
}

int reference_cci(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    size_t period = (size_t)options[0];
    double *price = malloc(n * sizeof(double));
    if (!price)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        price[i] = typical_price(in->high[i], in->low[i], in->close[i]);
    for (size_t i = period - 1; i < n; i++) {
        double mean = mean_of(price + (i + 1 - period), period), deviation = 0.0;
        for (size_t j = i + 1 - period; j <= i; j++)
            deviation += fabs(price[j] - mean);
        out[0][i] = cci_value(price[i], mean, deviation / options[0]);
    }
    free(price);
    return 0;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int reference_ultosc(const double options[], const struct indicator_columns *in, size_t n,
                     double *const out[])
{
    double periods[3] = {options[0], options[1], options[2]};
    qsort(periods, 3, sizeof(double), by_size);
    for (size_t i = (size_t)periods[2]; i < n; i++) {
        double pressure[3] = {0.0, 0.0, 0.0}, range[3] = {0.0, 0.0, 0.0};
        for (size_t k = 0; k < 3; k++)
            for (size_t j = i + 1 - (size_t)periods[k]; j <= i; j++) {
                pressure[k] += buying_pressure(in->low[j], in->close[j], in->close[j - 1]);
                range[k] += true_range(in->high[j], in->low[j], in->close[j - 1]);
            }
        out[0][i] = ultosc_value(pressure, range);
    }
    return 0;
}
