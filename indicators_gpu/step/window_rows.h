/* The formulas of the rows that step/window.h writes once. Sums go from the oldest value to the newest.
 *
 * Sources: TA-Lib's definitions (ta_NAME.c describes each). */
#ifndef INDICATORS_GPU_STEP_WINDOW_ROWS_H
#define INDICATORS_GPU_STEP_WINDOW_ROWS_H

#include "indicators_gpu/step/candle_patterns.h"
#include "indicators_gpu/step/momentum.h"
#include "indicators_gpu/step/moving_averages.h"
#include "indicators_gpu/step/statistics.h"
#include "indicators_gpu/step/volume.h"

/* clang-format off */
#define HLC  (INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_CLOSE)
#define OHLC (INDICATOR_OPEN | HLC)
#define FORMULA(name) \
    STEP void name##_of(const struct window_bars *b, const double options[], double out[])
#define READS(name, columns, outputs) enum { name##_inputs = (columns), name##_outputs = (outputs) };
/* The bar alone; the window of the first option; the changes in it. */
#define BAR_ALONE(name, columns, outputs) \
    READS(name, columns, outputs) \
    STEP size_t name##_back(const double options[]) { (void)options; return 0; }
#define WINDOW_OF(name, columns, outputs) \
    READS(name, columns, outputs) \
    STEP size_t name##_back(const double options[]) { return (size_t)options[0] - 1; }
#define CHANGES_OF(name, columns, outputs) \
    READS(name, columns, outputs) \
    STEP size_t name##_back(const double options[]) { return (size_t)options[0]; }
/* clang-format on */

/* Of the n values that end with x[0]. */
STEP double window_sum(const double *x, int n)
{
    double sum = 0.0;
    for (int j = 1 - n; j <= 0; j++)
        sum += x[j];
    return sum;
}

STEP double window_highest(const double *x, int n)
{
    double top = x[1 - n];
    for (int j = 2 - n; j <= 0; j++)
        top = x[j] > top ? x[j] : top;
    return top;
}

STEP double window_lowest(const double *x, int n)
{
    double bottom = x[1 - n];
    for (int j = 2 - n; j <= 0; j++)
        bottom = x[j] < bottom ? x[j] : bottom;
    return bottom;
}

/* Bars since the highest and the lowest value, the oldest of equals. */
STEP double window_since_highest(const double *x, int n)
{
    int at = 0;
    for (int j = -1; j > -n; j--)
        at = x[j] >= x[at] ? j : at;
    return (double)(-at);
}

STEP double window_since_lowest(const double *x, int n)
{
    int at = 0;
    for (int j = -1; j > -n; j--)
        at = x[j] <= x[at] ? j : at;
    return (double)(-at);
}

/* ---- prices ---- */

BAR_ALONE(avgprice, OHLC, 1)
FORMULA(avgprice)
{
    (void)options;
    out[0] = (b->high[0] + b->low[0] + b->close[0] + b->open[0]) / 4.0;
}

BAR_ALONE(medprice, INDICATOR_HIGH | INDICATOR_LOW, 1)
FORMULA(medprice)
{
    (void)options;
    out[0] = (b->high[0] + b->low[0]) / 2.0;
}

BAR_ALONE(typprice, HLC, 1)
FORMULA(typprice)
{
    (void)options;
    out[0] = typical_price(b->high[0], b->low[0], b->close[0]);
}

BAR_ALONE(wclprice, HLC, 1)
FORMULA(wclprice)
{
    (void)options;
    out[0] = (b->high[0] + b->low[0] + b->close[0] * 2.0) / 4.0;
}

WINDOW_OF(midpoint, INDICATOR_CLOSE, 1)
FORMULA(midpoint)
{
    int n = (int)options[0];
    out[0] = (window_highest(b->close, n) + window_lowest(b->close, n)) / 2.0;
}

WINDOW_OF(midprice, INDICATOR_HIGH | INDICATOR_LOW, 1)
FORMULA(midprice)
{
    int n = (int)options[0];
    out[0] = (window_highest(b->high, n) + window_lowest(b->low, n)) / 2.0;
}

WINDOW_OF(max, INDICATOR_CLOSE, 1)
FORMULA(max)
{
    out[0] = window_highest(b->close, (int)options[0]);
}

WINDOW_OF(min, INDICATOR_CLOSE, 1)
FORMULA(min)
{
    out[0] = window_lowest(b->close, (int)options[0]);
}

WINDOW_OF(minmax, INDICATOR_CLOSE, 2)
FORMULA(minmax)
{
    out[0] = window_lowest(b->close, (int)options[0]);
    out[1] = window_highest(b->close, (int)options[0]);
}

/* TA-Lib's MAXINDEX counts from the first bar of its array, which a stream does not have; which of equals it
 * names depends on the bars before the window. */
WINDOW_OF(since_max, INDICATOR_CLOSE, 1)
FORMULA(since_max)
{
    out[0] = window_since_highest(b->close, (int)options[0]);
}

WINDOW_OF(since_min, INDICATOR_CLOSE, 1)
FORMULA(since_min)
{
    out[0] = window_since_lowest(b->close, (int)options[0]);
}

WINDOW_OF(sum, INDICATOR_CLOSE, 1)
FORMULA(sum)
{
    out[0] = window_sum(b->close, (int)options[0]);
}

/* ---- moving averages ---- */

/* Weights rise by one to the middle and fall again. */
WINDOW_OF(trima, INDICATOR_CLOSE, 1)
FORMULA(trima)
{
    int n = (int)options[0];
    double sum = 0.0, weights = 0.0;
    for (int j = 1; j <= n; j++) {
        double weight = j < n + 1 - j ? j : n + 1 - j;
        weights += weight;
        sum += weight * b->close[j - n];
    }
    out[0] = sum / weights;
}

WINDOW_OF(vwma, INDICATOR_CLOSE | INDICATOR_VOLUME, 1)
FORMULA(vwma)
{
    int n = (int)options[0];
    double sum = 0.0, volume = 0.0;
    for (int j = 1 - n; j <= 0; j++) {
        sum += b->close[j] * b->volume[j];
        volume += b->volume[j];
    }
    out[0] = volume != 0.0 ? sum / volume : b->close[0];
}

/* ---- momentum ---- */

BAR_ALONE(bop, OHLC, 1)
FORMULA(bop)
{
    double range = b->high[0] - b->low[0];
    (void)options;
    out[0] = range > 0.0 ? (b->close[0] - b->open[0]) / range : 0.0;
}

CHANGES_OF(rocp, INDICATOR_CLOSE, 1)
FORMULA(rocp)
{
    double before = b->close[-(int)options[0]];
    out[0] = before != 0.0 ? (b->close[0] - before) / before : 0.0;
}

CHANGES_OF(rocr, INDICATOR_CLOSE, 1)
FORMULA(rocr)
{
    double before = b->close[-(int)options[0]];
    out[0] = before != 0.0 ? b->close[0] / before : 0.0;
}

CHANGES_OF(rocr100, INDICATOR_CLOSE, 1)
FORMULA(rocr100)
{
    double before = b->close[-(int)options[0]];
    out[0] = before != 0.0 ? b->close[0] / before * 100.0 : 0.0;
}

/* Intraday momentum: gains and losses from the open to the close. */
WINDOW_OF(imi, INDICATOR_OPEN | INDICATOR_CLOSE, 1)
FORMULA(imi)
{
    double gain = 0.0, loss = 0.0;
    for (int j = 1 - (int)options[0]; j <= 0; j++) {
        double change = b->close[j] - b->open[j];
        gain += change > 0.0 ? change : 0.0;
        loss += change > 0.0 ? 0.0 : -change;
    }
    out[0] = gain + loss > 0.0 ? 100.0 * (gain / (gain + loss)) : 50.0;
}

/* B. Williams's awesome oscillator, `back` bars ago: two means of the bars' middles. */
STEP double window_awesome(const struct window_bars *b, const double options[], int back)
{
    int fast = (int)options[0], slow = (int)options[1];
    double fast_sum = 0.0, slow_sum = 0.0;
    for (int j = 1 - fast; j <= 0; j++)
        fast_sum += (b->high[j - back] + b->low[j - back]) / 2.0;
    for (int j = 1 - slow; j <= 0; j++)
        slow_sum += (b->high[j - back] + b->low[j - back]) / 2.0;
    return fast_sum / options[0] - slow_sum / options[1];
}

STEP size_t ao_back(const double options[])
{
    return (size_t)(options[0] > options[1] ? options[0] : options[1]) - 1;
}

READS(ao, INDICATOR_HIGH | INDICATOR_LOW, 1)
FORMULA(ao)
{
    out[0] = window_awesome(b, options, 0);
}

/* Less its own mean. */
STEP size_t ac_back(const double options[])
{
    return ao_back(options) + (size_t)options[2] - 1;
}

READS(ac, INDICATOR_HIGH | INDICATOR_LOW, 1)
FORMULA(ac)
{
    double sum = 0.0, value = 0.0;
    for (int back = (int)options[2] - 1; back >= 0; back--) {
        value = window_awesome(b, options, back);
        sum += value;
    }
    out[0] = value - sum / options[2];
}

/* Chande's oscillator as he has it: sums of gains and losses. */
CHANGES_OF(cmou, INDICATOR_CLOSE, 1)
FORMULA(cmou)
{
    double gain = 0.0, loss = 0.0;
    for (int j = 1 - (int)options[0]; j <= 0; j++) {
        double change = b->close[j] - b->close[j - 1];
        gain += change > 0.0 ? change : 0.0;
        loss += change > 0.0 ? 0.0 : -change;
    }
    out[0] = gain + loss > 0.0 ? 100.0 * ((gain - loss) / (gain + loss)) : 0.0;
}

/* In per cent, over `bars` up to the bar x[0]. */
STEP double window_rate(const double *x, int bars)
{
    return x[-bars] != 0.0 ? 100.0 * ((x[0] - x[-bars]) / x[-bars]) : 0.0;
}

/* E. Coppock's curve: a weighted mean of two rates of change. */
STEP size_t coppock_back(const double options[])
{
    return (size_t)(options[1] > options[2] ? options[1] : options[2]) + (size_t)options[0] - 1;
}

READS(coppock, INDICATOR_CLOSE, 1)
FORMULA(coppock)
{
    int n = (int)options[0];
    double sum = 0.0;
    for (int j = 1; j <= n; j++) {
        const double *x = b->close + j - n;
        sum += (double)j * (window_rate(x, (int)options[1]) + window_rate(x, (int)options[2]));
    }
    out[0] = sum / wma_weights(options[0]);
}

/* An earlier close less the mean, which stands in the middle of its window then. */
STEP int dpo_shift(const double options[])
{
    return (int)options[0] / 2 + 1;
}

STEP size_t dpo_back(const double options[])
{
    int window = (int)options[0] - 1, shift = dpo_shift(options);
    return (size_t)(window > shift ? window : shift);
}

READS(dpo, INDICATOR_CLOSE, 1)
FORMULA(dpo)
{
    out[0] = b->close[-dpo_shift(options)] - window_sum(b->close, (int)options[0]) / options[0];
}

/* What the closes moved by, up and down, over n bars. */
STEP double window_travel(const double *x, int n)
{
    double sum = 0.0;
    for (int j = 1 - n; j <= 0; j++)
        sum += fabs(x[j] - x[j - 1]);
    return sum;
}

/* P. Kaufman's efficiency ratio: 1 where the closes moved one way, and where they did not move. */
CHANGES_OF(er, INDICATOR_CLOSE, 1)
FORMULA(er)
{
    int n = (int)options[0];
    double moved = fabs(b->close[0] - b->close[-n]), travel = window_travel(b->close, n);
    out[0] = travel > moved ? moved / travel : 1.0;
}

CHANGES_OF(vhf, INDICATOR_CLOSE, 1)
FORMULA(vhf)
{
    int n = (int)options[0];
    double travel = window_travel(b->close, n);
    out[0] = travel > 0.0 ? (window_highest(b->close, n) - window_lowest(b->close, n)) / travel : 0.0;
}

WINDOW_OF(qstick, INDICATOR_OPEN | INDICATOR_CLOSE, 1)
FORMULA(qstick)
{
    double sum = 0.0;
    for (int j = 1 - (int)options[0]; j <= 0; j++)
        sum += b->close[j] - b->open[j];
    out[0] = sum / options[0];
}

/* B. Williams's fractals, at the bar that confirms one. */
STEP size_t fractal_back(const double options[])
{
    return (size_t)(options[0] + options[1]);
}

READS(fractal, INDICATOR_HIGH | INDICATOR_LOW, 2)
FORMULA(fractal)
{
    int left = (int)options[0], right = (int)options[1];
    bool high = true, low = true;
    for (int j = -left - right; j <= 0; j++) {
        high = high && (j == -right || b->high[j] < b->high[-right]);
        low = low && (j == -right || b->low[j] > b->low[-right]);
    }
    out[0] = high ? 100.0 : 0.0;
    out[1] = low ? 100.0 : 0.0;
}

/* ---- trend ---- */

CHANGES_OF(vortex, HLC, 2)
FORMULA(vortex)
{
    double plus = 0.0, minus = 0.0, range = 0.0;
    for (int j = 1 - (int)options[0]; j <= 0; j++) {
        plus += fabs(b->high[j] - b->low[j - 1]);
        minus += fabs(b->low[j] - b->high[j - 1]);
        range += true_range(b->high[j], b->low[j], b->close[j - 1]);
    }
    out[0] = range > 0.0 ? plus / range : 0.0;
    out[1] = range > 0.0 ? minus / range : 0.0;
}

CHANGES_OF(aroonosc, INDICATOR_HIGH | INDICATOR_LOW, 1)
FORMULA(aroonosc)
{
    int n = (int)options[0] + 1, high = 0, low = 0; /* the newest of equals */
    for (int j = -1; j > -n; j--) {
        high = b->high[j] > b->high[high] ? j : high;
        low = b->low[j] < b->low[low] ? j : low;
    }
    out[0] = 100.0 / options[0] * (double)(high - low);
}

/* ---- volatility ---- */

/* P. Headley's acceleration bands: means of highs and lows that their own range moves apart. */
WINDOW_OF(accbands, HLC, 3)
FORMULA(accbands)
{
    int n = (int)options[0];
    double upper = 0.0, lower = 0.0;
    for (int j = 1 - n; j <= 0; j++) {
        double high = b->high[j], low = b->low[j], both = high + low;
        double share = fabs(both) < PPO_ZERO ? 0.0 : 4.0 * (high - low) / both;
        upper += both == 0.0 ? high : high * (1.0 + share);
        lower += both == 0.0 ? low : low * (1.0 - share);
    }
    out[0] = upper / options[0];
    out[1] = window_sum(b->close, n) / options[0];
    out[2] = lower / options[0];
}

WINDOW_OF(adr, INDICATOR_HIGH | INDICATOR_LOW, 1)
FORMULA(adr)
{
    double sum = 0.0;
    for (int j = 1 - (int)options[0]; j <= 0; j++)
        sum += b->high[j] - b->low[j];
    out[0] = sum / options[0];
}

/* ---- volume ---- */

WINDOW_OF(cmf, HLC | INDICATOR_VOLUME, 1)
FORMULA(cmf)
{
    int n = (int)options[0];
    double sum = 0.0, volume = window_sum(b->volume, n);
    for (int j = 1 - n; j <= 0; j++)
        sum += accumulation(b->high[j], b->low[j], b->close[j], b->volume[j]);
    out[0] = volume > 0.0 ? sum / volume : 0.0;
}

BAR_ALONE(marketfi, INDICATOR_HIGH | INDICATOR_LOW | INDICATOR_VOLUME, 1)
FORMULA(marketfi)
{
    (void)options;
    out[0] = b->volume[0] != 0.0 ? (b->high[0] - b->low[0]) / b->volume[0] : 0.0;
}

CHANGES_OF(rvol, INDICATOR_VOLUME, 1)
FORMULA(rvol)
{
    double mean = window_sum(b->volume - 1, (int)options[0]) / options[0];
    out[0] = mean > 0.0 ? b->volume[0] / mean : 0.0;
}

/* ---- statistics ---- */

/* How many of the closes before are lower. */
CHANGES_OF(percentrank, INDICATOR_CLOSE, 1)
FORMULA(percentrank)
{
    int lower = 0;
    for (int j = -(int)options[0]; j < 0; j++)
        lower += b->close[j] < b->close[0];
    out[0] = 100.0 * (double)lower / options[0];
}

/* The line through the window (0 at its oldest value): its height at `place`. */
STEP double window_line_at(const double *x, double period, double place)
{
    int n = (int)period;
    double oldest = x[1 - n], sum = 0.0, weighted = 0.0;
    for (int j = 0; j < n; j++) {
        double off = x[j + 1 - n] - oldest;
        sum += off;
        weighted += linreg_weight((double)j, period) * off;
    }
    double slope = weighted / linreg_divisor(period);
    return oldest + (sum / period + slope * (place - (period - 1.0) / 2.0));
}

WINDOW_OF(linearreg, INDICATOR_CLOSE, 1)
FORMULA(linearreg)
{
    out[0] = window_line_at(b->close, options[0], options[0] - 1.0);
}

WINDOW_OF(linearreg_intercept, INDICATOR_CLOSE, 1)
FORMULA(linearreg_intercept)
{
    out[0] = window_line_at(b->close, options[0], 0.0);
}

WINDOW_OF(tsf, INDICATOR_CLOSE, 1)
FORMULA(tsf)
{
    out[0] = window_line_at(b->close, options[0], options[0]);
}

/* Against the forecast of the bar before. */
CHANGES_OF(fosc, INDICATOR_CLOSE, 1)
FORMULA(fosc)
{
    double close = b->close[0], forecast = window_line_at(b->close - 1, options[0], options[0]);
    out[0] = close != 0.0 ? 100.0 * ((close - forecast) / close) : 0.0;
}

WINDOW_OF(avgdev, INDICATOR_CLOSE, 1)
FORMULA(avgdev)
{
    int n = (int)options[0];
    double mean = window_sum(b->close, n) / options[0], sum = 0.0;
    for (int j = 1 - n; j <= 0; j++)
        sum += fabs(b->close[j] - mean);
    out[0] = sum / options[0];
}

/* A return, as the beta sees it. */
STEP double window_return(const double *x, int at)
{
    return x[at - 1] != 0.0 ? (x[at] - x[at - 1]) / x[at - 1] : 0.0;
}

CHANGES_OF(beta, INDICATOR_HIGH | INDICATOR_LOW, 1)
FORMULA(beta)
{
    int n = (int)options[0];
    double mean_x = 0.0, mean_y = 0.0, both = 0.0, squares = 0.0;
    for (int j = 1 - n; j <= 0; j++) {
        mean_x += window_return(b->high, j);
        mean_y += window_return(b->low, j);
    }
    mean_x /= options[0];
    mean_y /= options[0];
    for (int j = 1 - n; j <= 0; j++) {
        double x = window_return(b->high, j) - mean_x;
        both += x * (window_return(b->low, j) - mean_y);
        squares += x * x;
    }
    out[0] = within_rounding(sqrt(squares), fabs(mean_x)) ? 0.0 : both / squares;
}

WINDOW_OF(correl, INDICATOR_HIGH | INDICATOR_LOW, 1)
FORMULA(correl)
{
    int n = (int)options[0];
    double first_x = b->high[1 - n], first_y = b->low[1 - n], mean_x = 0.0, mean_y = 0.0;
    double both = 0.0, squares_x = 0.0, squares_y = 0.0;
    for (int j = 1 - n; j <= 0; j++) {
        mean_x += b->high[j] - first_x;
        mean_y += b->low[j] - first_y;
    }
    mean_x /= options[0];
    mean_y /= options[0];
    for (int j = 1 - n; j <= 0; j++) {
        double x = (b->high[j] - first_x) - mean_x, y = (b->low[j] - first_y) - mean_y;
        both += x * y;
        squares_x += x * x;
        squares_y += y * y;
    }
    double spread = sqrt(squares_x) * sqrt(squares_y);
    out[0] = spread > 0.0 ? both / spread : 0.0;
}

#undef FORMULA
#undef READS
#undef BAR_ALONE
#undef WINDOW_OF
#undef CHANGES_OF
#undef HLC
#undef OHLC

INDICATOR_ROWS(WINDOW_STEP)

#endif
