#include "report/histogram.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static const double steps[] = {1, 2, 2.5, 5, 10};
enum { STEPS = sizeof steps / sizeof *steps };

/* The next of 1, 2, 2.5 and 5 times a power of ten that is at least `width`. */
static double round_up(double width)
{
    double power = pow(10, floor(log10(width)));
    for (int i = 0; i < STEPS; i++)
        if (steps[i] * power >= width * (1 - 1e-12))
            return steps[i] * power;
    return 10 * power;
}

/* The last of them that is at most `width`; 0 of 0. */
static double round_down(double width)
{
    double power = width > 0 ? pow(10, floor(log10(width))) : 0;
    int i = STEPS - 1;
    while (i > 0 && steps[i] * power > width * (1 + 1e-12))
        i--;
    return steps[i] * power;
}

/* Of sorted values. */
static double width_of(const double *sorted, size_t n)
{
    const double low = sorted[0], high = sorted[n - 1];
    const double of_quartiles = 2 * (sorted[n - 1 - n / 4] - sorted[n / 4]) / cbrt((double)n);
    const double of_range = (high - low) / (1 + log2((double)n));
    const double least = (high - low) / (REPORT_HISTOGRAM_MOST - 2);
    if (!(high > low)) /* one value: a bar on each side of it */
        return round_up(low == 0 ? 1 : fabs(low) / 8);
    return fmax(round_down(fmin(of_quartiles, of_range)), round_up(least));
}

static void count(const double *sorted, size_t n, double width, struct report_histogram *ret)
{
    const double first = floor(sorted[0] / width), last = floor(sorted[n - 1] / width);
    *ret = (struct report_histogram){
        .n = (int)(last - first) + 1, .low = first * width, .high = (last + 1) * width, .counted = n};
    for (size_t i = 0; i < n; i++)
        ret->bars[(int)(floor(sorted[i] / width) - first)]++;
}

int report_histogram_count(const double *values, size_t n, struct report_histogram *ret)
{
    double *sorted = malloc((n + 1) * sizeof *sorted);
    size_t kept = 0;
    if (!sorted)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        if (isfinite(values[i]))
            sorted[kept++] = values[i];
    if (kept == 0) {
        free(sorted);
        return -ENODATA;
    }
    qsort(sorted, kept, sizeof *sorted, ascending);
    count(sorted, kept, width_of(sorted, kept), ret);
    free(sorted);
    return 0;
}
