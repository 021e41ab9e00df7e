/* Technical indicators: one registry, one definition each, and backends that agree.
 *
 * This header is the library's whole interface; it includes nothing else of this project, and is installed as
 * <papertape/indicators.h> (pkg-config: papertape-indicators).
 *
 * A row (struct indicator) is a definition: name, options, inputs, outputs, lookback. A specification is a
 * row with its options, written "macd:12,26,9". The definitions are TA-Lib's (0.8.1) wherever TA-Lib has the
 * indicator; `source` names the others'. docs/indicators.md writes each one out.
 *
 * The float64 reference, the streams and the exact GPU kernels are equal to the bit. That rests on one order
 * of operations (step/ and reference/), on windows summed again for every bar from the oldest value to the
 * newest (never a running sum, which drifts and depends on where the history began), on logarithms and
 * arcus tangents of our own, and on a compiler that contracts no product and sum into one rounding
 * (-ffp-contract=off, -fmad=false). The cpu backend agrees within the tolerance that a row states.
 *
 * Nothing here logs, keeps global state or starts threads. */
#ifndef INDICATORS_GPU_INDICATORS_H
#define INDICATORS_GPU_INDICATORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { INDICATOR_OPTIONS_MAX = 4, INDICATOR_OUTPUTS_MAX = 4, INDICATOR_COLUMNS = 6 };

/* Longest period of any row: TA-Lib's own limit. */
enum { INDICATOR_PERIOD_MAX = 100000 };

/* Bits of `inputs`: the columns that a row reads, in the order of every array of INDICATOR_COLUMNS. */
enum indicator_input {
    INDICATOR_OPEN = 1 << 0,
    INDICATOR_HIGH = 1 << 1,
    INDICATOR_LOW = 1 << 2,
    INDICATOR_CLOSE = 1 << 3,
    INDICATOR_VOLUME = 1 << 4,
    INDICATOR_TIME = 1 << 5, /* for sessions */
};

/* Columns of n bars, oldest first: prices in quote units, volume in base units, time of the bar's opening in
 * seconds since 1970 UTC. Only those that a row reads need be set. Borrowed. */
struct indicator_columns {
    const double *open, *high, *low, *close, *volume, *time;
};

/* One bar; only the columns that a row reads are used. */
struct indicator_bar {
    double open, high, low, close, volume, time;
};

struct indicator_option {
    const char *name;
    double value;    /* when the text leaves it out */
    double min, max; /* both allowed */
    bool whole;      /* integers only */
};

enum indicator_precision { INDICATOR_F64, INDICATOR_F32 };

/* The unit of a tolerance. */
enum indicator_scale {
    INDICATOR_OF_VALUE,  /* the reference's value itself */
    INDICATOR_OF_PRICE,  /* the series' largest |price| */
    INDICATOR_OF_COLUMN, /* the output's largest |value| in the series */
    INDICATOR_OF_ONE,    /* 1: absolute */
};

/* How far the cpu backend may be from the reference computed on the same (rounded) inputs. Where a value's
 * last digit is more than that, one such digit; and less than 1e-24 is no difference: the spread of equal
 * returns is rounding, in both. BBANDS and STDDEV state it for up to one deviation: times their `deviations`
 * or `factor` above that. */
struct indicator_tolerance {
    enum indicator_scale scale;
    double f64, f32;
};

/* A warm-up that never ends: the output remembers the first bar for ever. */
#define INDICATOR_FOREVER SIZE_MAX

struct indicator_code;   /* what computes it */
struct indicator_plugin; /* what a shared object gave (indicators_gpu/plugin_rows.h) */

struct indicator {
    const char *name; /* lower case */
    const char *summary;
    const char *family; /* the page of docs/indicators/, and the file of each backend, that it is in */
    const char *source; /* of the definition */
    unsigned id;        /* enum indicator_id (indicator_rows.h) */
    unsigned inputs;    /* enum indicator_input */
    size_t n_options;
    struct indicator_option options[INDICATOR_OPTIONS_MAX];
    size_t n_outputs;
    const char *outputs[INDICATOR_OUTPUTS_MAX]; /* "" for a row's only output */
    struct indicator_tolerance tolerance;

    /* Index of the first bar that has outputs, all of them at once, counted from the first complete bar.
     * Pure. */
    size_t (*lookback)(const double options[]);

    /* Bars, counted the same, after which the beginning of the history no longer matters: its weight is below
     * the precision's last digit (2^-53, 2^-24). The lookback for what depends on a window only;
     * INDICATOR_FOREVER for an endless memory. Pure. */
    size_t (*warmup)(const double options[], enum indicator_precision precision);

    const struct indicator_code *code;
    const struct indicator_plugin *plugin; /* NULL: a built-in one; else there is no code, and `id` is 0 */
};

/* A row with its options: a value, to be copied freely. */
struct indicator_spec {
    const struct indicator *row;
    double options[INDICATOR_OPTIONS_MAX];
};

/* The row of that name in any case, or NULL. */
const struct indicator *indicator_find(const char *name);

/* All rows, sorted by name. */
const struct indicator *const *indicator_rows(size_t *ret_n);

/* Reads "sma:20", "macd:12,26,9" or "ema": options left out at the end keep their defaults; or
 * "lib:FILE.so:NAME:options" of a shared object, which is loaded, and stays for the process's life
 * (<papertape/indicator.h>). Returns 0, or -EINVAL with a sentence in `err` that says what would be right:
 * the nearest names, the option's range. */
int indicator_spec_parse(const char *text, struct indicator_spec *ret, char *err, size_t err_cap);

/* The specification as text with every option, as "macd:12,26,9": what indicator_spec_parse() reads. Returns
 * its length as snprintf() does: it was cut when that is not below `cap`. */
size_t indicator_spec_text(const struct indicator_spec *spec, char *buf, size_t cap);

/* The column name of an output, as "ema_14" or "macd_12_26_9.signal". Returns its length as snprintf() does:
 * the name was cut when that is not below `cap`. `output` is below row->n_outputs. */
size_t indicator_spec_name(const struct indicator_spec *spec, size_t output, char *buf, size_t cap);

/* Whether every option is within its range, as indicator_spec_parse() leaves them. */
bool indicator_spec_valid(const struct indicator_spec *spec);

/* Bars, counted from the first complete one, before the first output: 13 for "ema:14". */
size_t indicator_lookback(const struct indicator_spec *spec);

/* See struct indicator's warmup. */
size_t indicator_warmup(const struct indicator_spec *spec, enum indicator_precision precision);

/* Bytes that must move for one bar: what it reads and what it writes, each once. */
size_t indicator_bytes(const struct indicator_spec *spec, enum indicator_precision precision);

/* Finds where n bars begin: *ret_start is the first bar whose inputs are all numbers (leading NaNs are
 * skipped, as in TA-Lib), n if there is none. Returns 0; or -EINVAL when a later bar has a NaN, or any has an
 * infinity, and *ret_bad is the first such bar. On each result only its own pointer is written. */
int indicator_check(const struct indicator *row, const struct indicator_columns *in, size_t n,
                    size_t *ret_start, size_t *ret_bad);

/* Computes every output of n bars in float64, by the plain definition. Bars before the first output become
 * NaN; too few bars, and none at all, are a success without outputs. Returns 0; -EINVAL when a needed column
 * or an output is NULL or misaligned, an output overlaps another or an input, an option is out of its range,
 * or a bar is not finite (indicator_check() finds it), and then writes nothing; -ENOMEM. */
int indicator_reference(const struct indicator_spec *spec, const struct indicator_columns *in, size_t n,
                        double *const out[]);

/* ---- The cpu backend (SIMD): several indicators over the same columns in one pass. ---- */

/* Instruction sets, each with everything before it. */
enum indicator_isa { INDICATOR_ISA_BEST, INDICATOR_ISA_BASELINE, INDICATOR_ISA_AVX2, INDICATOR_ISA_AVX512 };

/* The best that this processor has: never INDICATOR_ISA_BEST. */
enum indicator_isa indicator_isa_best(void);

/* "baseline", "avx2", "avx512". */
const char *indicator_isa_name(enum indicator_isa isa);

struct indicator_column {
    const void *values; /* float or double by the request's precision; time is always double */
    size_t n;
};

struct indicator_request {
    enum indicator_precision precision;
    enum indicator_isa isa;                             /* INDICATOR_ISA_BEST except to compare two */
    struct indicator_column columns[INDICATOR_COLUMNS]; /* those that no row reads may be all zero */
    size_t n_specs;
    const struct indicator_spec *specs;
    void *const *out; /* the specs' outputs one after the other, each as many values as the columns have */
};

/* Computes every output of every spec, each within its row's tolerance of indicator_reference() on the same
 * values. Bars before a first output become NaN; too few bars, and none at all, are a success. Where no
 * output overlaps an input or another output, 64-byte aligned outputs are written fastest; any that is
 * aligned to its type will do.
 *
 * Returns 0; -EINVAL with a sentence in `err` that names the column or output and what would be right: a
 * column that is missing, of another length, or misaligned; an output that is missing, misaligned, or
 * overlaps an input or another output; an option out of its range; an instruction set that the processor
 * lacks; a NaN after the first complete bar or an infinity (with its index: outputs are undefined then);
 * -ENOMEM. */
int indicator_compute(const struct indicator_request *request, char *err, size_t err_cap);

/* ---- Streams: one bar in, the outputs of that bar out, with the bits that indicator_reference() gives for
 * the same history. A stream belongs to its owner: no locks, no globals, one thread at a time. ---- */

struct indicator_stream;

/* Bytes that a stream takes: its memory twice, once for looks ahead. Pure. */
size_t indicator_stream_bytes(const struct indicator_spec *spec);

/* Opens a stream that has seen no bar. Returns 0 and a stream for indicator_stream_close(), -EINVAL when an
 * option is out of its range, or -ENOMEM. */
int indicator_stream_open(const struct indicator_spec *spec, struct indicator_stream **ret);

/* Takes a closed bar. True once outputs exist: out[k] is then written for each output of the row; on false
 * nothing is. A bar with a NaN before the first complete bar is skipped, as the reference skips leading NaNs.
 * Any later one, and an infinity anywhere, is refused: the stream stays as it was, false, and
 * indicator_stream_refused() counts it. */
bool indicator_stream_update(struct indicator_stream *s, const struct indicator_bar *bar,
                             double out[INDICATOR_OUTPUTS_MAX]);

/* The outputs that update() would give for the forming bar; the stream is unchanged. Costs as much as
 * update() and a copy of the stream's memory. */
bool indicator_stream_peek(const struct indicator_stream *s, const struct indicator_bar *bar,
                           double out[INDICATOR_OUTPUTS_MAX]);

/* An independent copy. Returns 0 and a stream to close, or -ENOMEM. */
int indicator_stream_clone(const struct indicator_stream *s, struct indicator_stream **ret);

/* Reads or sets a stream's memory: number() and count() visit each field in an order that never changes, and
 * read it or set it. */
struct indicator_stream_fields {
    void *ctx;
    void (*number)(void *ctx, double *value);
    void (*count)(void *ctx, uint64_t *value, uint64_t most); /* leaves at most `most` in it */
};

/* Visits every field. Reading them of one stream and setting them in another, just opened with the same
 * specification, makes a clone. */
void indicator_stream_visit(struct indicator_stream *s, const struct indicator_stream_fields *fields);

/* NULL is fine. */
void indicator_stream_close(struct indicator_stream *s);

/* Bars taken, skipped and refused ones not counted. */
uint64_t indicator_stream_bars(const struct indicator_stream *s);

/* Bars refused because a value was not finite: 0 in a sound feed. */
uint64_t indicator_stream_refused(const struct indicator_stream *s);

/* The specification that it was opened with; valid as long as the stream. */
const struct indicator_spec *indicator_stream_spec(const struct indicator_stream *s);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
