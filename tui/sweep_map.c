#include "tui/sweep_map.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The values of an axis, or zeros for none. */
static double *values_of(const struct sweep_detail *detail, int axis)
{
    double *values = calloc(detail->n_runs + 1, sizeof(*values));

    for (size_t i = 0; values && axis >= 0 && i < detail->n_runs; i++)
        values[i] = detail->runs[i].values[axis];
    return values;
}

/* Is the first a better one? Without a number is the worst; of equals the earlier, which is the better by
 * what the sweep was ordered by. */
static bool better(const struct sweep_detail *detail, const struct sweep_map *map, size_t a, size_t b)
{
    double x = detail->runs[a].metrics[map->metric], y = detail->runs[b].metrics[map->metric];

    return !isnan(x) && (isnan(y) || x > y);
}

static void take_best(struct sweep_map *map, const struct sweep_detail *detail, const double *x,
                      const double *y)
{
    for (size_t i = 0; i < detail->n_runs; i++) {
        struct sweep_cell *cell =
            &map->cells[cli_sweep_place_of(&map->up, y[i])][cli_sweep_place_of(&map->along, x[i])];
        if (cell->sets == 0 || better(detail, map, i, cell->best))
            cell->best = i;
        cell->sets++;
    }
}

static void take_medians(struct sweep_map *map, const double *medians)
{
    map->low = map->high = NAN;
    for (int i = 0; i < map->up.n * map->along.n; i++) {
        double value = medians[i];
        map->cells[i / map->along.n][i % map->along.n].value = value;
        map->low = fmin(map->low, value); /* of NaN and a number the number */
        map->high = fmax(map->high, value);
    }
}

int tui_sweep_map_make(struct sweep_map *map, const struct sweep_detail *detail)
{
    double *x = values_of(detail, map->x), *y = values_of(detail, map->y), *metric = values_of(detail, -1),
           *medians = calloc(SWEEP_MAP_ROWS * SWEEP_MAP_COLUMNS, sizeof(*medians));
    int r = x && y && metric && medians ? 0 : -ENOMEM;

    memset(map->cells, 0, sizeof(map->cells));
    if (r == 0)
        r = cli_sweep_places(x, detail->n_runs, SWEEP_MAP_COLUMNS, &map->along);
    if (r == 0)
        r = cli_sweep_places(y, detail->n_runs, SWEEP_MAP_ROWS, &map->up);
    for (size_t i = 0; r == 0 && i < detail->n_runs; i++)
        metric[i] = detail->runs[i].metrics[map->metric];
    if (r == 0 && cli_sweep_medians(x, &map->along, y, &map->up, metric, detail->n_runs, medians) == 0)
        r = -ENOMEM;
    if (r == 0) {
        take_medians(map, medians);
        take_best(map, detail, x, y);
        map->column = map->column < map->along.n ? map->column : map->along.n - 1;
        map->row = map->row < map->up.n ? map->row : map->up.n - 1;
    }
    free(x);
    free(y);
    free(metric);
    free(medians);
    return r;
}

int tui_sweep_map_open(struct sweep_map *map, const struct sweep_detail *detail, int metric)
{
    *map = (struct sweep_map){.x = 0, .y = detail->n_axes > 1 ? 1 : -1, .metric = metric};
    int r = tui_sweep_map_make(map, detail);

    for (int i = 0; r == 0 && i < map->up.n * map->along.n; i++)
        if (map->cells[i / map->along.n][i % map->along.n].value == map->high) {
            map->row = i / map->along.n;
            map->column = i % map->along.n;
        }
    return r;
}

void tui_sweep_map_turn(struct sweep_map *map, const struct sweep_detail *detail, bool up, int by)
{
    int *axis = up ? &map->y : &map->x, *other = up ? &map->x : &map->y;
    const int before = *axis;

    if (map->y < 0)
        return;
    *axis = (*axis + detail->n_axes + by) % detail->n_axes;
    if (*axis == *other)
        *other = before;
}

const struct sweep_cell *tui_sweep_map_chosen(const struct sweep_map *map)
{
    return &map->cells[map->row][map->column];
}
