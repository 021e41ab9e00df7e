#include "cli/sweep_places.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct at_cell {
    int cell;
    double value;
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_cell(const void *a, const void *b)
{
    const struct at_cell *x = a, *y = b;
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

int cli_sweep_places(const double *values, size_t n, int most, struct sweep_places *ret)
{
    double *sorted = malloc((n + 1) * sizeof *sorted);
    size_t distinct = 0;
    if (!sorted)
        return -ENOMEM;
    memcpy(sorted, values, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    for (size_t i = 0; i < n; i++)
        if (distinct == 0 || sorted[i] != sorted[distinct - 1])
            sorted[distinct++] = sorted[i];
    most = most < SWEEP_PLACES_MAX ? most : SWEEP_PLACES_MAX;
    ret->shared = distinct > (size_t)most;
    ret->n = ret->shared ? most : (int)distinct;
    for (int i = 0; i < ret->n; i++)
        ret->first[i] = sorted[(size_t)i * distinct / (size_t)ret->n];
    free(sorted);
    return 0;
}

int cli_sweep_place_of(const struct sweep_places *places, double value)
{
    int low = 0, high = places->n;
    while (high - low > 1) {
        int middle = (low + high) / 2;
        *(value < places->first[middle] ? &high : &low) = middle;
    }
    return low;
}

size_t cli_sweep_medians(const double *x_values, const struct sweep_places *x, const double *y_values,
                         const struct sweep_places *y, const double *metric, size_t runs, double *ret)
{
    struct at_cell *cells = malloc((runs + 1) * sizeof *cells);
    size_t n = 0, most = 1;
    if (!cells)
        return 0;
    for (int i = 0; i < x->n * y->n; i++)
        ret[i] = NAN;
    for (size_t i = 0; i < runs; i++)
        if (isfinite(metric[i]))
            cells[n++] = (struct at_cell){
                cli_sweep_place_of(y, y_values[i]) * x->n + cli_sweep_place_of(x, x_values[i]), metric[i]};
    qsort(cells, n, sizeof *cells, by_cell);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && cells[end].cell == cells[i].cell;)
            end++;
        size_t middle = i + (end - i) / 2;
        ret[cells[i].cell] =
            (end - i) % 2 ? cells[middle].value : (cells[middle - 1].value + cells[middle].value) / 2;
        most = end - i > most ? end - i : most;
    }
    free(cells);
    return most;
}
