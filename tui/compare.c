#include "tui/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int tui_compare_find(const struct compare *compare, const char *training)
{
    for (int i = 0; i < compare->n; i++)
        if (strcmp(compare->marked[i], training) == 0)
            return i;
    return -1;
}

bool tui_compare_toggle(struct compare *compare, const char *training)
{
    int at = tui_compare_find(compare, training);

    if (at < 0) {
        if (compare->n == COMPARE_MAX)
            return false;
        snprintf(compare->marked[compare->n++], sizeof(compare->marked[0]), "%s", training);
        return true;
    }
    compare->n--;
    memmove(compare->marked[at], compare->marked[at + 1],
            (size_t)(compare->n - at) * sizeof(compare->marked[0]));
    memset(compare->marked[compare->n], 0, sizeof(compare->marked[0]));
    if (compare->baseline >= at)
        compare->baseline = compare->baseline == at ? 0 : compare->baseline - 1;
    return true;
}

bool tui_compare_base(struct compare *compare, const char *training)
{
    if (tui_compare_find(compare, training) < 0 && !tui_compare_toggle(compare, training))
        return false;
    compare->baseline = tui_compare_find(compare, training);
    return true;
}

double tui_compare_weight(int smooth)
{
    static const double weights[COMPARE_SMOOTHS] = {0, 0.6, 0.9, 0.99};

    return weights[smooth];
}

void tui_compare_smooth(double *values, int n, double weight)
{
    double sum = 0, power = 1;

    for (int i = 0; i < n; i++) {
        if (!isfinite(values[i]))
            continue;
        sum = weight * sum + (1 - weight) * values[i];
        power *= weight;
        values[i] = sum / (1 - power);
    }
}

double tui_compare_at(const int64_t *steps, const double *values, int n, int64_t at)
{
    int before = -1;

    for (int i = 0; i < n; i++) {
        if (!isfinite(values[i]))
            continue;
        if (steps[i] == at)
            return values[i];
        if (steps[i] > at) {
            if (before < 0)
                return NAN;
            double share = (double)(at - steps[before]) / (double)(steps[i] - steps[before]);
            return values[before] + (values[i] - values[before]) * share;
        }
        before = i;
    }
    return NAN;
}
