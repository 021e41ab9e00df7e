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

    /* Visits every field of the memory. */
    void (*visit)(void *ctx, const struct indicator_stream_fields *fields);

    int (*warmup)(void *ctx, int64_t *ret, char *err, size_t err_cap);
    void (*close)(void *ctx);
    uint64_t meaning; /* a hash of what is computed, which a state has */
};

/* Takes `ctx`, which is closed here on failure too. 0 or -ENOMEM. */
int spark_run_create(const struct spark_computation *computation, void *ctx, struct papertape_spark **ret);

/* FNV-1a, 64 bits, of a text. */
uint64_t spark_meaning(const char *text);

#endif
