/* Inside the library: the parts of a registry row that indicators.h does not show. */
#ifndef INDICATORS_GPU_REGISTRY_H
#define INDICATORS_GPU_REGISTRY_H

#include "indicators_gpu/indicator_rows.h"
#include "indicators_gpu/indicators.h"

struct indicator_code {
    /* Computes bars lookback..n-1 of every output. Called with n > lookback and finite columns only; does not
     * write below lookback. Plain loops in the agreed order of operations, windows straight from the columns;
     * reference/ has one file a family. Use indicator_reference(), which does the rest. Returns 0 or
     * -ENOMEM. */
    int (*reference)(const double options[], const struct indicator_columns *in, size_t n,
                     double *const out[]);

    /* Reads or sets the memory of step/: see stream/visit.h. */
    void (*visit)(void *state, const struct indicator_stream_fields *fields);
};

/* The numbers by the rows' names. */
enum {
#define INDICATOR_NUMBERED(number, ID, row, kernels) INDICATOR_NUMBER_OF_##row = number,
    INDICATOR_ROWS(INDICATOR_NUMBERED)
#undef INDICATOR_NUMBERED
};

/* A row's members from its line in indicator_rows.h: name, number, and the functions of that name, declared
 * by reference/reference.h and stream/visit.h; and its file's INDICATOR_FAMILY. */
#define INDICATOR_ROW(row) \
    .name = #row, .family = INDICATOR_FAMILY, .id = INDICATOR_NUMBER_OF_##row, \
    .code = &(const struct indicator_code) \
    { \
        reference_##row, visit_row_##row \
    }

#define INDICATOR_PERIOD(option_name, default_value, least) \
    { \
        .name = (option_name), .value = (default_value), .min = (least), .max = INDICATOR_PERIOD_MAX, \
        .whole = true \
    }

/* A row's options, its outputs ("": the only one), and how many they are. */
#define INDICATOR_OPTIONS(...) \
    .options = {__VA_ARGS__}, \
    .n_options = sizeof((struct indicator_option[]){__VA_ARGS__}) / sizeof(struct indicator_option)
#define INDICATOR_OUTPUTS(...) \
    .outputs = {__VA_ARGS__}, .n_outputs = sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *)

/* It reads the window of its first option alone; or the changes in it. */
#define INDICATOR_WINDOW  .lookback = indicator_lookback_window, .warmup = indicator_warmup_window
#define INDICATOR_CHANGES .lookback = indicator_lookback_changes, .warmup = indicator_warmup_changes

/* The first output stands where the window of the first option, or its seed, is full. */
size_t indicator_lookback_window(const double options[]);
/* One bar more for those that look at changes from bar to bar. */
size_t indicator_lookback_changes(const double options[]);

/* Of what depends on that window only: its lookback. */
size_t indicator_warmup_window(const double options[], enum indicator_precision precision);
size_t indicator_warmup_changes(const double options[], enum indicator_precision precision);

/* INDICATOR_FOREVER. */
size_t indicator_warmup_never(const double options[], enum indicator_precision precision);

/* Bars until the seed of an exponential average with weight k for the newest value weighs less than the
 * precision's last digit: the smallest m with (1-k)^m < 2^-24 or 2^-53. */
size_t indicator_warmup_decay(double k, enum indicator_precision precision);

/* The rows, in rows/FAMILY.c. */
#define INDICATOR_DECLARED(number, ID, row, kernels) extern const struct indicator indicator_##row;
INDICATOR_ROWS(INDICATOR_DECLARED)
#undef INDICATOR_DECLARED

#endif
