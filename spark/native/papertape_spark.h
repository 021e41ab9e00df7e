/* The library that papertape_spark loads: bars in, columns out, a batch at a time, by the Arrow C data
 * interface.
 *
 * A run is one computation over batches that arrive in order: by `slice` where there is that column, within
 * it by `symbol` (bytes compared), within a symbol by `timestamp`. Its memory crosses from batch to batch, so
 * that where a batch is cut makes no difference to any bit, and starts again with each symbol and each slice.
 * It belongs to one thread at a time. Nothing here logs or keeps global state.
 *
 * A batch is a struct of these children, in any order; others are ignored:
 *
 *   symbol     utf8, large utf8, or a dictionary of one of them
 *   timestamp  of the bar's opening: timestamp in s, ms, us or ns, taken as UTC; or int64, an epoch in one of
 *              these units recognised by its size, as in bars files
 *   open, high, low, close, volume
 *              float64
 *   slice      int64, may be missing
 *   state      binary, may be missing: where it is not null the row is no bar, but what
 *              papertape_spark_save() gave, and the symbol's memory from here on
 *
 * A null, a value that is not finite, a bar that no bars file may have (high below low, open or close outside
 * them, a negative volume), a time that does not rise and a row out of order are refused, with a sentence
 * that says what, in which symbol at which time, and what would be right.
 *
 * Every call returns 0, or -errno with one sentence in err[err_cap]; what it returns through pointers is
 * written on success only. Batches and schemas that are given are released, whatever the outcome. */
#ifndef SPARK_NATIVE_PAPERTAPE_SPARK_H
#define SPARK_NATIVE_PAPERTAPE_SPARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ArrowArray;
struct ArrowSchema;

#pragma GCC visibility push(default)

enum { PAPERTAPE_SPARK_ERROR_MAX = 512 };

/* The version of this interface and of saved states: what loads the library compares it. */
enum { PAPERTAPE_SPARK_VERSION = 1 };
int papertape_spark_version(void);

struct papertape_spark;

/* Indicators by streams: the bits of indicator_reference(). `specs` are a line each. Columns are float64,
 * named by indicator_spec_name(), null before a first output. -EINVAL for a spec that is none, or is given
 * twice. */
int papertape_spark_indicators(const char *specs, struct papertape_spark **ret, char *err, size_t err_cap);

/* Features by streams: the bits of feature_matrix() by FEATURE_EXACT. `set` is a fitted set's text, or the
 * name of a built-in one that needs no fitting; `interval_s` of a bar, 0 where no feature has a timeframe.
 * Columns are float32, named as the set names them, null before a first value. */
int papertape_spark_features(const char *set, int64_t interval_s, struct papertape_spark **ret, char *err,
                             size_t err_cap);

/* Bars of a longer interval, from trades (symbol, timestamp, price and qty as float64, and id as int64 where
 * two trades of a symbol may have one time) or from shorter bars, which count where they open. Volumes are
 * summed exactly, as decimals of at most `digits` digits after the point; -EINVAL for a value that has more.
 * An interval without trades has no bar. `interval` is a name: "5m", "1h", "1d", "1mo". Columns: symbol,
 * timestamp (int64, ns), open, high, low, close, volume, count (int64: the trades or shorter bars that it
 * has).
 *
 * papertape_spark_bars_update() gives the bars that closed; papertape_spark_bars_finish() the last one, once
 * all batches were given. papertape_spark_update() and _save() are not for such a run. */
int papertape_spark_bars(const char *interval, bool trades, int digits, struct papertape_spark **ret,
                         char *err, size_t err_cap);
int papertape_spark_bars_update(struct papertape_spark *run, struct ArrowArray *batch,
                                struct ArrowSchema *schema, struct ArrowArray *ret_batch,
                                struct ArrowSchema *ret_schema, char *err, size_t err_cap);
int papertape_spark_bars_finish(struct papertape_spark *run, struct ArrowArray *ret_batch,
                                struct ArrowSchema *ret_schema, char *err, size_t err_cap);

/* Keeps the bars of one symbol, for papertape_spark_fitted(): a run without columns. */
int papertape_spark_fit(const char *set, int64_t interval_s, struct papertape_spark **ret, char *err,
                        size_t err_cap);

/* The set fitted on the bars that open in [from_ns, to_ns), of those given: feature_set_fit(). The text
 * is for papertape_spark_free(). */
int papertape_spark_fitted(struct papertape_spark *run, int64_t from_ns, int64_t to_ns, char **ret, char *err,
                           size_t err_cap);
void papertape_spark_free(char *text); /* NULL is fine */

/* From now on the columns of a run of features are one column of this name, of lists of them all, NaN where a
 * column would be null. 0; -EINVAL for indicators, -ENOMEM, with a sentence. */
int papertape_spark_as_vector(struct papertape_spark *run, const char *name, char *err, size_t err_cap);

/* Refuses gaps: from now on a symbol's bar must open `interval_ns` after the one before. */
void papertape_spark_refuse_gaps(struct papertape_spark *run, int64_t interval_ns);

/* The length of "5m" in ns; -EINVAL for no interval of a fixed length. */
int papertape_spark_interval(const char *interval, int64_t *ret_ns, char *err, size_t err_cap);

/* The symbol in a file's name, in upper case, as the program finds it (exchange/bars_name.h): of
 * BTCUSDT-5m-2025-04.csv and BTCUSDT_5m.csv it is BTCUSDT. -EINVAL where there is none. */
enum { PAPERTAPE_SPARK_SYMBOL_MAX = 64 };
int papertape_spark_symbol(const char *path, char ret[static PAPERTAPE_SPARK_SYMBOL_MAX], char *err,
                           size_t err_cap);

/* NULL is fine. */
void papertape_spark_close(struct papertape_spark *run);

size_t papertape_spark_width(const struct papertape_spark *run);                     /* columns */
const char *papertape_spark_column(const struct papertape_spark *run, size_t index); /* borrowed */

/* Bars after which the beginning of a history no longer matters in float64 (indicator_warmup()). -EOPNOTSUPP
 * where there is no such number, with a sentence that names each column's spec and the reason. */
int papertape_spark_warmup(const struct papertape_spark *run, int64_t *ret, char *err, size_t err_cap);

/* Takes a batch, and writes its columns: a struct array of as many rows, for the caller to release. Where
 * ret_batch and ret_schema are NULL only the memory is updated. After a failure the run can only be closed.
 */
int papertape_spark_update(struct papertape_spark *run, struct ArrowArray *batch, struct ArrowSchema *schema,
                           struct ArrowArray *ret_batch, struct ArrowSchema *ret_schema, char *err,
                           size_t err_cap);

/* The memory of the newest symbol as bytes, which a run of the same specs loads from a `state` column.
 * Returns their number, and writes them where that is at most `cap`. 0 where there was no bar yet. */
size_t papertape_spark_save(const struct papertape_spark *run, uint8_t *buf, size_t cap);

/* Loads what papertape_spark_save() gave, in front of bars of this symbol, as a row's `state` does. */
int papertape_spark_load(struct papertape_spark *run, const char *symbol, const uint8_t *state, size_t n,
                         char *err, size_t err_cap);

#pragma GCC visibility pop

#endif
