#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/step/recurrence.h"

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
