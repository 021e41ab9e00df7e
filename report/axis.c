#include "report/axis.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define ROOM 0.04 /* of a range, beyond its ends */

/* ---- ranges ---- */

void report_range_widen(struct report_range *range, double x)
{
    if (!isfinite(x))
        return;
    range->low = fmin(range->low, x);
    range->high = fmax(range->high, x);
}

struct report_range report_range_settle(struct report_range range)
{
    if (!(range.low <= range.high))
        return (struct report_range){0, 1};
    double most = fmax(fabs(range.low), fabs(range.high)), room = ROOM * (range.high - range.low);
    if (!(range.high - range.low > 1e-8 * most))
        room = most > 0 ? 0.1 * most : 1;
    return (struct report_range){range.low - room, range.high + room};
}

struct report_range report_range_settle_log(struct report_range range)
{
    double room = pow(fmax(range.high / range.low, 2), ROOM);
    if (range.high < 2 * range.low)
        room = 2;
    return (struct report_range){range.low / room, range.high * room};
}

/* ---- numbers ---- */

struct unit {
    double is, from; /* used where the largest number is at least `from` */
    const char *name;
};

static const struct unit units[] = {{1e9, 1e9, "G"}, {1e6, 1e6, "M"}, {1e3, 1e5, "k"}, {1, 0, ""}};

/* How many digits behind the point a multiple of `step` needs; 12 at most. */
static int decimals(double step)
{
    int n = 0;
    for (; n < 12 && fabs(step - round(step)) > 1e-6 * fabs(step); n++)
        step *= 10;
    return n;
}

/* A unit may cost at most three digits behind the point. */
static const struct unit *unit_of(double step, double most)
{
    const struct unit *unit = units;
    while (unit->is > 1 && (most < unit->from || decimals(step / unit->is) > 3))
        unit++;
    return unit;
}

static void label(char ret[static REPORT_LABEL_MAX], double at, double step, double most)
{
    const struct unit *unit = unit_of(step, most);
    int n = decimals(step / unit->is);
    if (at == 0)
        snprintf(ret, REPORT_LABEL_MAX, "0");
    else if (n > 7 || most >= 1e15)
        snprintf(ret, REPORT_LABEL_MAX, "%.10g", at);
    else
        snprintf(ret, REPORT_LABEL_MAX, "%.*f%s", n, at / unit->is, unit->name);
}

/* ---- linear ---- */

/* Multiples of step in [low, high]. */
static int count_of(double low, double high, double step)
{
    double n = floor(high / step) - ceil(low / step) + 1;
    return n < 0 ? 0 : n > 1000 ? 1000 : (int)n;
}

static void place(double low, double high, double step, struct report_ticks *ret)
{
    double first = ceil(low / step), most = fmax(fabs(low), fabs(high));
    *ret = (struct report_ticks){0};
    for (int n = count_of(low, high, step); ret->n < n && ret->n < REPORT_TICKS_MAX; ret->n++) {
        double at = (first + ret->n) * step;
        ret->at[ret->n] = at;
        label(ret->label[ret->n], at, step, most);
    }
}

/* The largest round step that gives enough ticks. */
static double step_of(double low, double high)
{
    static const double times[] = {5, 2.5, 2, 1};
    int power = (int)floor(log10(high - low));
    for (;; power--)
        for (int i = 0; i < 4; i++) {
            double step = times[i] * pow(10, power);
            if (count_of(low, high, step) >= REPORT_TICKS_LEAST)
                return step;
        }
}

void report_ticks_linear(double low, double high, struct report_ticks *ret)
{
    place(low, high, step_of(low, high), ret);
}

void report_ticks_count(double low, double high, struct report_ticks *ret)
{
    double step = step_of(low, high);
    place(low, high, step < 1 ? 1 : step == 2.5 ? 2 : step, ret);
}

/* ---- logarithmic ---- */

/* Appends the multiples of powers of ten; how many there are. */
static int place_log(double low, double high, const double *times, int n_times, int every,
                     struct report_ticks *ret)
{
    int n = 0;
    *ret = (struct report_ticks){0};
    for (int power = (int)floor(log10(low)); power <= (int)ceil(log10(high)); power++)
        for (int i = 0; i < n_times && power % every == 0; i++) {
            double at = times[i] * pow(10, power);
            if (at < low || at > high || n++ >= REPORT_TICKS_MAX)
                continue;
            ret->at[ret->n] = at;
            label(ret->label[ret->n++], at, at, at);
        }
    return n;
}

void report_ticks_log(double low, double high, struct report_ticks *ret)
{
    static const double finest[] = {1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7, 8, 9};
    static const struct {
        double times[6];
        int n;
    } sets[] = {{{1}, 1}, {{1, 3}, 2}, {{1, 2, 5}, 3}, {{1, 1.5, 2, 3, 5, 7}, 6}};
    for (int every = 100; every > 1; every--)
        if (place_log(low, high, sets[0].times, 1, every, ret) >= REPORT_TICKS_LEAST)
            return;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
        if (place_log(low, high, sets[i].times, sets[i].n, 1, ret) >= REPORT_TICKS_LEAST)
            return;
    place_log(low, high, finest, 12, 1, ret);
}
