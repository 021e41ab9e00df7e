#include "trainer/study/runs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <xxhash.h>

#include "trainer/study/internal.h"

/* ---- The bars. ---- */

static uint64_t add(uint64_t hash, const void *bytes, size_t n)
{
    return XXH3_64bits_withSeed(bytes, n, hash);
}

json_t *study_runs_bars(const struct study_market *market)
{
    const struct market *bars = market->source.market;
    const size_t from = market->source.train.from, rows = market->source.train.to - from;
    const int64_t grid[] = {market_open_ns(bars, from), bars->interval_ns, (int64_t)rows, bars->n_symbols};
    const uint64_t of_grid = add(0, grid, sizeof grid);
    uint64_t sum = of_grid; /* in whatever order the symbols are named */
    char hex[20];
    for (int i = 0; i < bars->n_symbols; i++) {
        const struct market_series *series = &bars->series[i];
        uint64_t hash = add(of_grid, series->symbol.name, strlen(series->symbol.name));
        hash = add(hash, series->close + from, rows * sizeof(double));
        sum += add(hash, series->volume + from, rows * sizeof(double));
    }
    snprintf(hex, sizeof hex, "%016" PRIx64, sum);
    return json_string(hex);
}

bool study_runs_same_bars(const struct study *a, const struct study *b)
{
    const struct study_attribute *of_a = study_attribute_find(a->user, a->n_user, RUNS_BARS);
    const struct study_attribute *of_b = study_attribute_find(b->user, b->n_user, RUNS_BARS);
    return of_a && of_b && strcmp(of_a->json, of_b->json) == 0;
}

/* ---- Names. ---- */

/* NAME of NAME, NAME@TIME, NAME_1 and NAME_1@TIME. True: there is an @. */
static bool base_of(const char *name, char ret[static STUDY_NAME_MAX + 1])
{
    char stem[STUDY_NAME_MAX + 1];
    const char *at = strrchr(name, '@');
    snprintf(stem, sizeof stem, "%.*s", (int)(at ? (size_t)(at - name) : strlen(name)), name);
    study_base_name(stem, ret);
    return at != NULL;
}

bool study_runs_named(const char *name, const char *other)
{
    char base[STUDY_NAME_MAX + 1], of[STUDY_NAME_MAX + 1];
    const bool is_run = base_of(name, base), other_is = base_of(other, of);
    return (is_run || other_is) && strcmp(name, other) != 0 && strcmp(base, of) == 0;
}
