/* The values of a sweep's parameters in places along an axis, and a metric over two axes: for the page's heat
 * maps and the dashboard's. Pure. */
#ifndef CLI_SWEEP_PLACES_H
#define CLI_SWEEP_PLACES_H

#include <stdbool.h>
#include <stddef.h>

enum { SWEEP_PLACES_MAX = 60 };

/* Distinct values, ascending: each has a place of its own, or as many neighbours as it takes share one. */
struct sweep_places {
    int n;
    double first[SWEEP_PLACES_MAX]; /* the least of each place */
    bool shared;                    /* a place has several values */
};

/* Of values [n], in at most `most` places. 0 or -ENOMEM. */
int cli_sweep_places(const double *values, size_t n, int most, struct sweep_places *ret);

/* The place of one of these values. */
int cli_sweep_place_of(const struct sweep_places *places, double value);

/* Of each cell the median of the metric of its runs, all [n], into ret [y->n][x->n]; NaN of none: runs
 * without a number count in no cell. Returns the most runs that share one, at least 1; 0: without memory. */
size_t cli_sweep_medians(const double *x_values, const struct sweep_places *x, const double *y_values,
                         const struct sweep_places *y, const double *metric, size_t n, double *ret);

#endif
