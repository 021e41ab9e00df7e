/* A run: rows checked and put in their place, a computation called for each stretch of one symbol. */
#ifndef SPARK_NATIVE_RUN_H
#define SPARK_NATIVE_RUN_H

#include "indicators_gpu/indicators.h"
#include "spark/native/columns.h"
#include "spark/native/papertape_spark.h"

/* What a run computes. */
struct spark_computation {
    size_t width;
    const char *const *names; /* [width] */
    bool wide;                /* float64, else float32 */

    /* Forgets every bar. 0 or -ENOMEM. */
    int (*start)(void *ctx);

    /* The bar of a row. Sets the cells of row `row` that have values, unless columns is NULL. 0, or -errno
     * with a sentence that needs symbol and time before it. */
    int (*bar)(void *ctx, const struct indicator_bar *bar, struct spark_columns *columns, int64_t row,
               char *err, size_t err_cap);

    /* Visits every field of the memory. NULL: it is not to be saved or loaded. */
    void (*visit)(void *ctx, const struct indicator_stream_fields *fields);

    /* As papertape_spark_warmup(). NULL: no number of bars warms it up. */
    int (*warmup)(void *ctx, int64_t *ret, char *err, size_t err_cap);
    void (*close)(void *ctx);
    uint64_t meaning; /* a hash of what is computed, which a state has */
};

struct spark_batch;

/* Takes `ctx`, which is closed here on failure too. 0 or -ENOMEM. */
int spark_run_create(const struct spark_computation *computation, void *ctx, struct papertape_spark **ret);

/* -EOPNOTSUPP: `what` is of a spec or feature whose warm-up is INDICATOR_FOREVER. */
int spark_run_forever(const char *what, char *err, size_t err_cap);

/* Writes the sentence of -ENOMEM, which has none yet; returns r. */
int spark_run_memory(int r, char *err, size_t err_cap);

/* The columns' names, [papertape_spark_width()], as long as the run. */
const char *const *spark_run_names(const struct papertape_spark *run);

/* Reads the specs, a line each, for the caller to free. 0; -EINVAL and a sentence, -ENOMEM without one. */
int spark_specs_parse(const char *specs, struct indicator_spec **ret, size_t *ret_n, char *err,
                      size_t err_cap);

void *spark_run_ctx(struct papertape_spark *run);

/* Where the rows are: the symbol of the row before, or the next; NULL before the first. */
const char *spark_run_symbol(const struct papertape_spark *run);

/* Puts a row in its place: starts the computation again at another symbol or slice. 0, or -errno with a
 * sentence. */
int spark_run_place(struct papertape_spark *run, const struct spark_batch *batch, int64_t row, char *err,
                    size_t err_cap);

/* The bar of a row that is in its place: 0; -EINVAL and a sentence for what is refused. */
int spark_run_read_bar(struct papertape_spark *run, const struct spark_batch *batch, int64_t row,
                       struct indicator_bar *ret, int64_t *ret_ns, char *err, size_t err_cap);

/* The time of a row, and "SYMBOL at TIME: WHAT" of one that is refused: -EINVAL. */
int spark_run_read_time(const struct papertape_spark *run, const struct spark_batch *batch, int64_t row,
                        int64_t *ret_ns, char *err, size_t err_cap);
int spark_run_refuse(const struct papertape_spark *run, int64_t ns, const char *what, char *err,
                     size_t err_cap);

/* FNV-1a, 64 bits, of a text. */
uint64_t spark_meaning(const char *text);

#endif
