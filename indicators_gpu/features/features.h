/* Feature sets: a policy's observations of the market, as a matrix of float32, one row a bar and one column a
 * feature.
 *
 * A feature is an indicator's output (or a column of the bars), on the bars' own interval or a higher one,
 * brought to a scale-free form and then scaled by figures that were fitted on a stated range of bars only:
 *
 *     SOURCE[@TIMEFRAME] [FORM] [SCALING]
 *     rsi:14 /100            macd:12,26,9.hist@1h /close zscore            volume log1p normal
 *
 *   SOURCE     a specification, with .OUTPUT where the row has several; or open, high, low, close, volume
 *   TIMEFRAME  15m, 1h, 4h, 1d …: a whole multiple of the bars' interval, counted from 1970 UTC on
 *   FORM       raw (left out), /close, /close-1, /100, log1p; close is the bar's own, on any timeframe
 *   SCALING    none (left out), zscore, minmax (to 0..1), normal (quantiles to a normal distribution)
 *
 * Nothing looks ahead. A higher bar counts from the bar on that closes it: the last of its interval, or the
 * first bar after where that one is missing; the higher bar that the first bar falls into is left out when
 * its beginning is not there. The row of bar i is the same whatever bars follow.
 *
 * market14 and wide110 are built in; docs/indicators/features.md describes them. */
#ifndef INDICATORS_GPU_FEATURES_FEATURES_H
#define INDICATORS_GPU_FEATURES_FEATURES_H

#include "indicators_gpu/indicators.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { FEATURE_NAME_MAX = 96, FEATURE_SET_NAME_MAX = 32, FEATURES_MAX = 1024, FEATURE_KNOTS = 129 };

enum feature_form {
    FEATURE_RAW,
    FEATURE_PER_CLOSE, /* value / close */
    FEATURE_OF_CLOSE,  /* value / close - 1 */
    FEATURE_PERCENT,   /* value / 100 */
    FEATURE_LOG1P,     /* ln(1 + value) */
};

enum feature_scaling {
    FEATURE_UNSCALED,
    FEATURE_ZSCORE, /* (x - mean) / deviation: population, 1 where it is 0 */
    FEATURE_MINMAX, /* (x - least) / (most - least), 0 where those are equal; later values may leave 0..1 */
    FEATURE_NORMAL, /* piecewise linear through (quantile of x, quantile of a normal distribution) at the
                       probabilities (k + 1/2)/FEATURE_KNOTS, equal quantiles at the middle of theirs;
                       constant outside */
};

struct feature {
    char name[FEATURE_NAME_MAX]; /* as in the set's text, without its scaling */
    struct indicator_spec spec;  /* row NULL: a column of the bars */
    unsigned output;             /* of the row; or the column's place in the order of enum indicator_input */
    int64_t timeframe_s;         /* 0: the bars' own */
    enum feature_form form;
    enum feature_scaling scaling;
    double offset, scale;        /* ZSCORE, MINMAX: (x - offset) * scale */
    double knots[FEATURE_KNOTS]; /* NORMAL: quantiles, rising */
};

struct feature_set {
    char name[FEATURE_SET_NAME_MAX];
    bool fitted;                       /* or no feature needs to be */
    double fitted_from_s, fitted_to_s; /* from the opening of the first bar fitted on to the close of the
                                          last; 0, 0 where nothing was or they have no time */
    size_t n;
    struct feature *features; /* [n] */
};

/* Bars in float64, as for indicator_reference(). `time` is needed for timeframes and sessions. */
struct feature_bars {
    struct indicator_columns columns;
    size_t n;
    int64_t interval_s; /* of one bar; 0 where no feature has a timeframe */
};

/* "market14" or "wide110", not fitted. Returns 0 and a set for feature_set_destroy(); -ENOENT, or -ENOMEM. */
int feature_set_builtin(const char *name, struct feature_set **ret);

/* Parses a text of feature_set_text(), or a hand-written set: a line `set NAME`, then a feature a line; blank
 * lines and comments with # are skipped. Returns 0; -EINVAL and a sentence with the line's number in `err`;
 * -ENOMEM. */
int feature_set_parse(const char *text, struct feature_set **ret, char *err, size_t err_cap);

/* The set as text, with all digits of fitted figures, for a policy's file. To be freed; NULL without
 * memory. */
char *feature_set_text(const struct feature_set *set);

/* A hash of the columns' meaning (names and scalings in order, not the fitted figures): a policy that was
 * trained on one layout refuses another. FNV-1a, 64 bits. */
uint64_t feature_set_layout(const struct feature_set *set);

/* NULL is fine. */
void feature_set_destroy(struct feature_set *set);

/* How the indicators of a matrix are computed. */
enum feature_backend {
    FEATURE_FAST,  /* indicator_compute() in float64: within each row's tolerance, to the bit on processors
                      with the same instruction set */
    FEATURE_EXACT, /* indicator_reference(): the bits of a live stream */
};

/* Fits every scaling on rows [from, to) of the bars, of which those count where the feature has a value; bars
 * from `to` on are not read. The values are FEATURE_EXACT's: the same bars give the same figures on every
 * processor; under log1p, which is the C library's, with the same C library. Quantiles come from at most
 * 65536 rows, evenly spaced. Returns 0; -EINVAL and a sentence when a feature has no value in the range, or
 * as feature_matrix(); -ENOMEM. The set is unchanged on failure. */
int feature_set_fit(struct feature_set *set, const struct feature_bars *bars, size_t from, size_t to,
                    char *err, size_t err_cap);

struct feature_options {
    enum feature_backend backend;
    unsigned threads; /* 0: one a processor, at most 8 */
};

/* Writes the matrix: out[i * set->n + f], n rows, 64-byte aligned by the caller where speed matters. Cells
 * whose feature has no value yet are NaN; *ret_first (may be NULL) is the first row in which all have one, n
 * if there is none. Returns 0; -EINVAL and a sentence in `err`: the set is not fitted, a column or `time` is
 * missing, memory is misaligned, `out` overlaps a column, a timeframe is no multiple of the interval or its
 * bars are nearer than one, a bar is not finite, a value is not finite or beyond float32 (which feature,
 * which bar): `out` is undefined then; -ENOMEM. Where a thread cannot be started, the others do its work. */
int feature_matrix(const struct feature_set *set, const struct feature_bars *bars,
                   const struct feature_options *options, float *out, size_t *ret_first, char *err,
                   size_t err_cap);

/* The values of a set before they are scaled, in float64: for fitting it again and again, on other rows of
 * the same bars. */
struct feature_columns;

/* Computes them, [set->n][bars->n]; the set need not be fitted. 0, for feature_columns_destroy(); errors of
 * feature_matrix(). */
int feature_columns_create(const struct feature_set *set, const struct feature_bars *bars,
                           enum feature_backend backend, struct feature_columns **ret, char *err,
                           size_t err_cap);
void feature_columns_destroy(struct feature_columns *columns);       /* NULL is fine */
size_t feature_columns_first(const struct feature_columns *columns); /* as feature_matrix()'s ret_first */

struct feature_rows {
    size_t from, to; /* [from, to) */
};

/* As feature_set_fit() (to the bit where the columns are FEATURE_EXACT's), on rows of all blocks together,
 * rising and apart: no other row is read. */
int feature_columns_fit(const struct feature_columns *columns, struct feature_set *set,
                        const struct feature_rows *blocks, size_t n_blocks, char *err, size_t err_cap);

/* As feature_matrix() of the same bars and backend, to the bit. `set` is the fitted one. */
int feature_columns_scale(const struct feature_columns *columns, const struct feature_set *set, float *out,
                          size_t *ret_first, char *err, size_t err_cap);

/* 16-bit forms of n cells, rounded to nearest, ties to even; NaN stays NaN. float16: within 2^-11 of normal
 * values (from 2^-14), beyond 65504 the largest value of that sign, below 2^-24/2 zero; bfloat16: within
 * 2^-8, infinite where the nearest value is beyond float32's largest. */
void feature_to_f16(const float *in, size_t n, uint16_t *out);
void feature_to_bf16(const float *in, size_t n, uint16_t *out);
void feature_from_f16(const uint16_t *in, size_t n, float *out);
void feature_from_bf16(const uint16_t *in, size_t n, float *out);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
