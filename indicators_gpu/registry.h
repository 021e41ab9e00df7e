/* The indicators: one row each, which the reference, the streams, the CUDA kernels, the command, the tests
 * and the benchmarks all walk.
 *
 * The definitions are TA-Lib's (0.8.1), so that results can be compared; docs/indicators.md writes each one
 * out. The float64 results of reference, stream and the exact GPU kernels are equal to the bit. That rests on
 * one order of operations, fixed in recurrence.h and reference/, on windows summed anew for every bar from
 * the oldest value to the newest (never a running sum, which drifts and depends on where the history began),
 * and on a compiler that contracts no multiplication and addition into one rounding (-ffp-contract=off,
 * -fmad=false). */
#ifndef INDICATORS_GPU_REGISTRY_H
#define INDICATORS_GPU_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

enum { INDICATOR_OPTIONS_MAX = 4, INDICATOR_OUTPUTS_MAX = 4, INDICATOR_COLUMNS = 5 };

/* Longest period of any row: TA-Lib's own limit. */
enum { INDICATOR_PERIOD_MAX = 100000 };

/* Bits of `inputs`: the columns that a row reads. */
enum indicator_input {
    INDICATOR_OPEN = 1 << 0,
    INDICATOR_HIGH = 1 << 1,
    INDICATOR_LOW = 1 << 2,
    INDICATOR_CLOSE = 1 << 3,
    INDICATOR_VOLUME = 1 << 4,
};

/* Columns of n bars, oldest first; prices in quote units. Only those that a row reads need be set. Borrowed.
 */
struct indicator_columns {
    const double *open, *high, *low, *close, *volume;
};

struct indicator_option {
    const char *name;
    double value;    /* when the text leaves it out */
    double min, max; /* both allowed */
    bool whole;      /* integers only */
};

struct indicator_stream_class;

/* Which kernels of the GPU module compute a row. The numbers are part of the module's ABI: append only. */
enum indicator_kernel {
    INDICATOR_KERNEL_NONE = 0,
    INDICATOR_KERNEL_SMA = 1,
    INDICATOR_KERNEL_EMA = 2,
    INDICATOR_KERNEL_RSI = 3,
    INDICATOR_KERNEL_MACD = 4,
    INDICATOR_KERNEL_ATR = 5,
};

struct indicator {
    const char *name; /* lower case */
    const char *summary;
    unsigned inputs; /* enum indicator_input */
    size_t n_options;
    struct indicator_option options[INDICATOR_OPTIONS_MAX];
    size_t n_outputs;
    const char *outputs[INDICATOR_OUTPUTS_MAX]; /* "" for a row's only output */

    /* Index of the first bar that has outputs, all of them at once, counted from the first complete bar.
     * Pure. */
    size_t (*lookback)(const double options[]);

    /* Computes bars lookback..n-1 of every output. Called with n > lookback and finite columns only; does not
     * write below lookback. Use indicator_reference(), which sees to that. */
    void (*reference)(const double options[], const struct indicator_columns *in, size_t n,
                      double *const out[]);

    const struct indicator_stream_class *stream;
    enum indicator_kernel kernel;
};

/* A row with its options: a value, to be copied freely. */
struct indicator_spec {
    const struct indicator *row;
    double options[INDICATOR_OPTIONS_MAX];
};

/* The row of that name in any case, or NULL. */
const struct indicator *indicator_find(const char *name);

/* All rows, sorted by name. */
const struct indicator *indicator_rows(size_t *ret_n);

/* Reads "sma:20", "macd:12,26,9" or "ema": options left out at the end keep their defaults. Returns 0, or
 * -EINVAL with a sentence in `err` that says what would be right: the nearest name, the option's range. */
int indicator_spec_parse(const char *text, struct indicator_spec *ret, char *err, size_t err_cap);

/* The column name of an output, as "ema_14" or "macd_12_26_9.signal". Returns its length as snprintf() does:
 * the name was cut when that is not below `cap`. `output` is below row->n_outputs. */
size_t indicator_spec_name(const struct indicator_spec *spec, size_t output, char *buf, size_t cap);

/* Bars, counted from the first complete one, before the first output: 13 for "ema:14". */
size_t indicator_lookback(const struct indicator_spec *spec);

/* Finds where n bars begin: *ret_start is the first bar whose inputs all are numbers (leading NaNs are
 * skipped, as in TA-Lib), n if there is none. Returns 0; or -EINVAL when a later bar has a NaN, or any has an
 * infinity, and *ret_bad is the first such bar. Each pointer is written in its own case only. */
int indicator_check(const struct indicator *row, const struct indicator_columns *in, size_t n,
                    size_t *ret_start, size_t *ret_bad);

/* Computes every output of n bars in float64. out[k] holds n values and overlaps neither another output nor
 * an input; bars before the first output become NaN; too few bars are a success without outputs. Returns 0,
 * -EINVAL when a needed column is NULL or a bar is not finite (indicator_check() tells which), and then
 * writes nothing. */
int indicator_reference(const struct indicator_spec *spec, const struct indicator_columns *in, size_t n,
                        double *const out[]);

#endif
