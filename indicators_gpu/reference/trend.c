#include <errno.h>
#include <stdlib.h>

#include "indicators_gpu/reference/reference.h"
#include "indicators_gpu/step/directional.h"

/* Wilder's sums of the directional movements and true ranges. */
struct movement {
    double plus, minus, range;
};

static struct movement movement_at(const struct indicator_columns *in, size_t i)
{
    double up = in->high[i] - in->high[i - 1], down = in->low[i - 1] - in->low[i];
    return (struct movement){
        .plus = up > 0.0 && up > down ? up : 0.0,
        .minus = down > 0.0 && down > up ? down : 0.0,
        .range = true_range(in->high[i], in->low[i], in->close[i - 1]),
    };
}

/* The sums of bars 1 to period - 1. */
static struct movement movement_seed(const struct indicator_columns *in, size_t period)
{
    struct movement sum = {0};
    for (size_t i = 1; i < period; i++) {
        struct movement now = movement_at(in, i);
        sum.plus += now.plus;
        sum.minus += now.minus;
        sum.range += now.range;
    }
    return sum;
}

static void movement_next(struct movement *sum, const struct indicator_columns *in, size_t i, double period)
{
    struct movement now = movement_at(in, i);
    sum->plus = sum->plus - sum->plus / period + now.plus;
    sum->minus = sum->minus - sum->minus / period + now.minus;
    sum->range = sum->range - sum->range / period + now.range;
}

int reference_plus_di(const double options[], const struct indicator_columns *in, size_t n,
                      double *const out[])
{
    size_t period = (size_t)options[0];
    struct movement sum = movement_seed(in, period);
    for (size_t i = period; i < n; i++) {
        movement_next(&sum, in, i, options[0]);
        out[0][i] = directional_index(sum.plus, sum.range);
    }
    return 0;
}

int reference_minus_di(const double options[], const struct indicator_columns *in, size_t n,
                       double *const out[])
{
    size_t period = (size_t)options[0];
    struct movement sum = movement_seed(in, period);
    for (size_t i = period; i < n; i++) {
        movement_next(&sum, in, i, options[0]);
        out[0][i] = directional_index(sum.minus, sum.range);
    }
    return 0;
}

int reference_dx(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    size_t period = (size_t)options[0];
    struct movement sum = movement_seed(in, period);
    double dx = 0.0;
    for (size_t i = period; i < n; i++) {
        movement_next(&sum, in, i, options[0]);
        directional_dx(sum.plus, sum.minus, sum.range, &dx);
        out[0][i] = dx;
    }
    return 0;
}

/* Writes adx[2 * period - 1 .. n). */
static void adx_of(double period_option, const struct indicator_columns *in, size_t n, double adx[])
{
    size_t period = (size_t)period_option, first = 2 * period - 1;
    struct movement sum = movement_seed(in, period);
    double value = 0.0, dx;
    for (size_t i = period; i <= first; i++) {
        movement_next(&sum, in, i, period_option);
        if (directional_dx(sum.plus, sum.minus, sum.range, &dx))
            value += dx;
    }
    value /= period_option;
    adx[first] = value;
    for (size_t i = first + 1; i < n; i++) {
        movement_next(&sum, in, i, period_option);
        if (directional_dx(sum.plus, sum.minus, sum.range, &dx))
            value = wilder_next(value, dx, period_option);
        adx[i] = value;
    }
}

int reference_adx(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    adx_of(options[0], in, n, out[0]);
    return 0;
}

int reference_adxr(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    size_t period = (size_t)options[0];
    double *adx = malloc(n * sizeof(double));
    if (!adx)
        return -ENOMEM;
    adx_of(options[0], in, n, adx);
    for (size_t i = 3 * period - 2; i < n; i++)
        out[0][i] = (adx[i] + adx[i - (period - 1)]) / 2.0;
    free(adx);
    return 0;
}

int reference_aroon(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    size_t period = (size_t)options[0];
    double factor = 100.0 / options[0];
    for (size_t i = period; i < n; i++) {
        size_t lowest = i - period, highest = i - period;
        for (size_t j = i - period + 1; j <= i; j++) {
            if (in->low[j] <= in->low[lowest])
                lowest = j;
            if (in->high[j] >= in->high[highest])
                highest = j;
        }
        out[0][i] = factor * (double)(period - (i - lowest));
        out[1][i] = factor * (double)(period - (i - highest));
    }
    return 0;
}

static double highest_of(double a, double b, double c)
{
    double top = a < b ? b : a;
    return top < c ? c : top;
}

static double lowest_of(double a, double b, double c)
{
    double bottom = a > b ? b : a;
    return bottom > c ? c : bottom;
}

int reference_sar(const double options[], const struct indicator_columns *in, size_t n, double *const out[])
{
    const double *high = in->high, *low = in->low;
    double step = options[0] > options[1] ? options[1] : options[0], factor = step;
    double up = high[1] - high[0], down = low[0] - low[1];
    bool rising = !(down > 0.0 && down > up);
    double sar = rising ? low[0] : high[0], extreme = rising ? high[1] : low[1];

    for (size_t i = 1; i < n; i++) {
        size_t before = i == 1 ? 1 : i - 1; /* the first bar stands for the one before it too */
        bool turned = false;
        if (rising && low[i] <= sar) {
            sar = highest_of(extreme, high[before], high[i]);
            extreme = low[i];
            turned = true;
        } else if (!rising && high[i] >= sar) {
            sar = lowest_of(extreme, low[before], low[i]);
            extreme = high[i];
            turned = true;
        }
        out[0][i] = sar;
        if (turned) {
            rising = !rising;
            factor = step;
        } else if (rising && high[i] > extreme) {
            extreme = high[i];
            factor = factor + step > options[1] ? options[1] : factor + step;
        } else if (!rising && low[i] < extreme) {
            extreme = low[i];
            factor = factor + step > options[1] ? options[1] : factor + step;
        }
        sar = sar + factor * (extreme - sar);
        sar = rising ? lowest_of(sar, low[before], low[i]) : highest_of(sar, high[before], high[i]);
    }
    return 0;
}

int reference_supertrend(const double options[], const struct indicator_columns *in, size_t n,
                         double *const out[])
{
    size_t period = (size_t)options[0];
    const double *close = in->close;
    double atr = 0.0, upper = 0.0, lower = 0.0;
    bool rising = true;

    for (size_t i = 1; i <= period; i++)
        atr += true_range(in->high[i], in->low[i], close[i - 1]);
    atr /= options[0];
    for (size_t i = period; i < n; i++) {
        if (i > period)
            atr = wilder_next(atr, true_range(in->high[i], in->low[i], close[i - 1]), options[0]);
        double middle = (in->high[i] + in->low[i]) / 2.0;
        double basic_upper = middle + options[1] * atr, basic_lower = middle - options[1] * atr;
        if (i == period || basic_upper < upper || close[i - 1] > upper)
            upper = basic_upper;
        if (i == period || basic_lower > lower || close[i - 1] < lower)
            lower = basic_lower;
        if (i > period && rising && close[i] < lower)
            rising = false;
        else if (i > period && !rising && close[i] > upper)
            rising = true;
        out[0][i] = rising ? lower : upper;
        out[1][i] = rising ? 1.0 : -1.0;
    }
    return 0;
}

/* The middle between the highest high and the lowest low of the `period` bars that end at `last`. */
static double range_middle_at(const struct indicator_columns *in, size_t last, size_t period)
{
    size_t first = last + 1 - period;
    double top = in->high[first], bottom = in->low[first];
    for (size_t i = first + 1; i <= last; i++) {
        if (in->high[i] > top)
            top = in->high[i];
        if (in->low[i] < bottom)
            bottom = in->low[i];
    }
    return (top + bottom) / 2.0;
}

int reference_ichimoku(const double options[], const struct indicator_columns *in, size_t n,
                       double *const out[])
{
    size_t tenkan = (size_t)options[0], kijun = (size_t)options[1], senkou = (size_t)options[2];
    size_t displacement = (size_t)options[3], longest = tenkan > kijun ? tenkan : kijun;
    if (senkou > longest)
        longest = senkou;
    for (size_t i = longest - 1 + displacement; i < n; i++) {
        size_t then = i - displacement;
        out[0][i] = range_middle_at(in, i, tenkan);
        out[1][i] = range_middle_at(in, i, kijun);
        out[2][i] = (range_middle_at(in, then, tenkan) + range_middle_at(in, then, kijun)) / 2.0;
        out[3][i] = range_middle_at(in, then, senkou);
    }
    return 0;
}

int reference_heikin_ashi(const double options[], const struct indicator_columns *in, size_t n,
                          double *const out[])
{
    (void)options;
    for (size_t i = 0; i < n; i++) {
        double open = i == 0 ? (in->open[0] + in->close[0]) / 2.0 : (out[0][i - 1] + out[3][i - 1]) / 2.0;
        double close = (in->open[i] + in->high[i] + in->low[i] + in->close[i]) / 4.0;
        out[0][i] = open;
        out[1][i] = in->high[i];
        out[2][i] = in->low[i];
        out[3][i] = close;
        if (out[1][i] < open)
            out[1][i] = open;
        if (out[1][i] < close)
            out[1][i] = close;
        if (out[2][i] > open)
            out[2][i] = open;
        if (out[2][i] > close)
            out[2][i] = close;
    }
    return 0;
}
