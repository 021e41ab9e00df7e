/* Fits a set's scalings. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "indicators_gpu/features/group.h"
#include "indicators_gpu/features/scaling.h"

static int fit_group(const struct feature_market *market, const struct feature_group *group, size_t from,
                     struct feature *fitted, double *x, char *err, size_t err_cap)
{
    size_t n = market->bars->n;
    for (size_t k = 0; k < group->n; k++) {
        struct feature *feature = &fitted[group->begin + k];
        size_t first = SIZE_MAX;
        if (feature->scaling == FEATURE_UNSCALED)
            continue;
        feature_group_values(market, group, k, 0, n, x);
        int r = feature_group_check(feature, x, 0, n, &first, err, err_cap);
        if (r < 0)
            return r;
        size_t rows = n - from;
        memmove(x, x + from, rows * sizeof(*x));
        rows = feature_scaling_thin(feature, x, rows);
        if (feature_scaling_fit(feature, x, rows) == 0) {
            int len = snprintf(err, err_cap, "%s has no value in bars %zu to %zu: ", feature->name, from, n);
            if (len >= 0 && (size_t)len < err_cap)
                snprintf(err + len, err_cap - (size_t)len,
                         first == SIZE_MAX ? "it has none yet: more are needed" : "it begins at bar %zu",
                         first);
            return -EINVAL;
        }
    }
    return 0;
}

static int fit_groups(const struct feature_market *market, const struct feature_set *set, size_t from,
                      struct feature *fitted, char *err, size_t err_cap)
{
    double *cells = feature_group_cells(market), *x = malloc(market->bars->n * sizeof(*x));
    int r = cells && x ? 0 : -ENOMEM;
    for (size_t index = 0; index < feature_group_count(set) && r == 0; index++) {
        struct feature_group group = feature_group_at(set, index, cells);
        r = feature_group_compute(market, &group, err, err_cap);
        if (r == 0)
            r = fit_group(market, &group, from, fitted, x, err, err_cap);
    }
    free(cells);
    free(x);
    return r;
}

int feature_set_fit(struct feature_set *set, const struct feature_bars *bars, size_t from, size_t to,
                    char *err, size_t err_cap)
{
    if (from >= to || to > bars->n)
        return fail_with(-EINVAL, err, err_cap, "bars %zu to %zu cannot be fitted on: there are %zu", from,
                         to, bars->n);
    struct feature_bars seen = *bars;
    seen.n = to;
    struct feature_market market;
    struct feature *fitted = malloc(set->n * sizeof(*fitted));
    if (!fitted)
        return -ENOMEM;
    memcpy(fitted, set->features, set->n * sizeof(*fitted));
    int r = feature_market_open(&market, set, &seen, true, err, err_cap);
    if (r == 0) {
        r = fit_groups(&market, set, from, fitted, err, err_cap);
        feature_market_close(&market);
    }
    if (r < 0) {
        free(fitted);
        return r;
    }
    free(set->features);
    set->features = fitted;
    set->fitted = true;
    const double *time = bars->columns.time;
    set->fitted_from_s = time ? time[from] : 0;
    set->fitted_to_s = time ? time[to - 1] + (double)bars->interval_s : 0;
    return 0;
}
