#include "spark/native/backtest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "spark/native/batch.h"
#include "spark/native/columns.h"
#include "spark/native/rows.h"

enum {
    CHUNK = 1024 /* rows whose times are converted at once */,
    SHOWN = 64 /* of a symbol in a sentence */
};

struct papertape_spark_backtest {
    struct spark_trading trading;
    enum spark_output rows;
    struct spark_frame_column columns[SPARK_FRAME_COLUMNS_MAX];
    struct spark_frame frame;

    struct ArrowArray batch; /* release NULL: there is none */
    struct ArrowSchema schema;
    struct spark_batch bars; /* of the batch */
    int64_t row;             /* the next of its rows */
    bool ended;

    char *symbol; /* of the bars that are gathered, or of the result; NULL before the first */
    size_t symbol_n, symbol_cap;
    struct market_given *given; /* NULL: no bar is gathered */
    struct spark_result result;
    bool have_result;
    size_t next; /* row of the result */
};

static int find_rows(const char *what, enum spark_output *ret, char *err, size_t err_cap)
{
    for (int i = 0; i < SPARK_ROWS_KINDS; i++)
        if (strcmp(spark_rows_names[i], what) == 0) {
            *ret = (enum spark_output)i;
            return 0;
        }
    return fail_with(-EINVAL, err, err_cap, "\"%.48s\": figures, trades, rounds, equity or sweep is needed",
                     what);
}

/* A sweep is what has a grid. */
static int check_grid(const struct papertape_spark_backtest *run, char *err, size_t err_cap)
{
    bool sweep = run->rows == SPARK_ROWS_SWEEP;
    if (sweep == (run->trading.grid.n_axes > 0))
        return 0;
    return fail_with(-EINVAL, err, err_cap, "%s",
                     sweep ? "grid: a parameter and its values are needed, as fast=5:50:5"
                           : "grid: it is of a sweep: without it, or a sweep");
}

int papertape_spark_backtest_open(const char *what, const char *const keys[], const char *const values[],
                                  size_t n, struct papertape_spark_backtest **ret, char *err, size_t err_cap)
{
    struct papertape_spark_backtest *run = calloc(1, sizeof *run);
    int r =
        run ? find_rows(what, &run->rows, err, err_cap) : fail_with(-ENOMEM, err, err_cap, "out of memory");
    if (r == 0)
        r = spark_trading_read(keys, values, n, &run->trading, err, err_cap);
    if (r == 0)
        r = check_grid(run, err, err_cap);
    if (r < 0) {
        papertape_spark_backtest_close(run);
        return r;
    }
    spark_frame_init(&run->frame, run->columns, spark_rows_columns(run->rows, &run->trading, run->columns));
    *ret = run;
    return 0;
}

static void drop_batch(struct papertape_spark_backtest *run)
{
    spark_array_release(&run->batch);
    spark_schema_release(&run->schema);
    run->batch = (struct ArrowArray){0};
    run->schema = (struct ArrowSchema){0};
}

static void drop_result(struct papertape_spark_backtest *run)
{
    if (run->have_result)
        spark_result_finish(&run->result);
    run->have_result = false;
    run->next = 0;
}

void papertape_spark_backtest_close(struct papertape_spark_backtest *run)
{
    if (!run)
        return;
    drop_batch(run);
    drop_result(run);
    market_store_given_destroy(run->given);
    spark_frame_finish(&run->frame);
    spark_trading_finish(&run->trading);
    free(run->symbol);
    free(run);
}

int papertape_spark_backtest_schema(const struct papertape_spark_backtest *run, struct ArrowSchema *ret,
                                    char *err, size_t err_cap)
{
    int r = spark_frame_schema(&run->frame, ret);
    return r < 0 ? fail_with(r, err, err_cap, "out of memory") : 0;
}

int papertape_spark_backtest_give(struct papertape_spark_backtest *run, struct ArrowArray *batch,
                                  struct ArrowSchema *schema, char *err, size_t err_cap)
{
    int r = 0;
    if (run->batch.release || run->ended)
        r = fail_with(-EBUSY, err, err_cap, "the rows of the batch before are still to be taken");
    else
        r = spark_batch_read(SPARK_BARS, &run->bars, batch, schema, err, err_cap);
    if (r < 0) {
        spark_array_release(batch);
        spark_schema_release(schema);
        return r;
    }
    run->batch = *batch;
    run->schema = *schema;
    batch->release = NULL;
    schema->release = NULL;
    run->row = 0;
    return 0;
}

void papertape_spark_backtest_end(struct papertape_spark_backtest *run)
{
    run->ended = true;
}

static bool is_symbol(const struct papertape_spark_backtest *run, struct spark_text text)
{
    return text.n == run->symbol_n && memcmp(text.data, run->symbol, text.n) == 0;
}

static int fail_order(const struct papertape_spark_backtest *run, struct spark_text text, char *err,
                      size_t err_cap)
{
    return fail_with(-EINVAL, err, err_cap,
                     "%.*s comes after %.*s: rows in the order of symbol and timestamp are needed, as "
                     "sortWithinPartitions('symbol', 'timestamp') gives them",
                     (int)(text.n < SHOWN ? text.n : SHOWN), text.data, SHOWN, run->symbol);
}

/* Begins with the bars of a symbol, which comes after the one before. */
static int begin(struct papertape_spark_backtest *run, struct spark_text text, char *err, size_t err_cap)
{
    char why[MARKET_ERROR_MAX];
    if (spark_text_blank(text))
        return fail_with(-EINVAL, err, err_cap, SPARK_BLANK_SYMBOL);
    size_t n = text.n < run->symbol_n ? text.n : run->symbol_n;
    int order = run->symbol ? memcmp(text.data, run->symbol, n) : 1;
    if (order < 0 || (order == 0 && text.n <= run->symbol_n))
        return fail_order(run, text, err, err_cap);
    if (text.n + 1 > run->symbol_cap) {
        char *grown = realloc(run->symbol, text.n + 1);
        if (!grown)
            return fail_with(-ENOMEM, err, err_cap, "out of memory");
        run->symbol = grown;
        run->symbol_cap = text.n + 1;
    }
    memcpy(run->symbol, text.data, text.n);
    run->symbol[text.n] = '\0';
    run->symbol_n = text.n;
    int r = market_store_given_create(run->symbol, run->trading.repair, &run->given, why);
    return r < 0 ? fail_with(r, err, err_cap, "%s", why) : 0;
}

/* The rows [row, to) of the batch, which are of the symbol: converted and added. */
static int add(struct papertape_spark_backtest *run, int64_t to, char *err, size_t err_cap)
{
    int64_t open_ns[CHUNK], n = to - run->row < CHUNK ? to - run->row : CHUNK;
    const double *const *values = run->bars.values;
    char why[MARKET_ERROR_MAX];
    for (int64_t i = 0; i < n; i++) {
        int64_t row = run->row + i;
        size_t bar = market_store_given_bars(run->given) + (size_t)i + 1;
        if (spark_child_null(&run->bars.time, row) || !spark_batch_time(&run->bars, row, &open_ns[i]))
            return fail_with(
                -EINVAL, err, err_cap,
                "%.*s: bar %zu: its timestamp is null, or not from 1677 to 2262: every bar needs "
                "the time of its opening",
                SHOWN, run->symbol, bar);
        for (int c = 0; c < SPARK_PRICES; c++)
            if (spark_child_null(&run->bars.prices[c], row))
                return fail_with(-EINVAL, err, err_cap,
                                 "%.*s: bar %zu: %s is null, as of an empty cell or a file without that "
                                 "column: a number is needed, or no such row",
                                 SHOWN, run->symbol, bar, spark_price_names[c]);
    }
    const struct market_given_columns columns = {open_ns,
                                                 values[SPARK_OPEN] + run->row,
                                                 values[SPARK_HIGH] + run->row,
                                                 values[SPARK_LOW] + run->row,
                                                 values[SPARK_CLOSE] + run->row,
                                                 values[SPARK_VOLUME] + run->row};
    int r = market_store_given_add(run->given, &columns, (size_t)n, why);
    run->row += n;
    return r < 0 ? fail_with(r, err, err_cap, "%s", why) : 0;
}

/* Reads rows of the batch until another symbol's, or its end. */
static int gather(struct papertape_spark_backtest *run, char *err, size_t err_cap)
{
    int64_t to = run->row;
    int r = 0;
    if (spark_child_null(&run->bars.symbol, to))
        return fail_with(-EINVAL, err, err_cap,
                         "a row has no symbol: it is null; every bar needs its symbol");
    struct spark_text text = spark_batch_symbol(&run->bars, to);
    if (!run->given)
        r = begin(run, text, err, err_cap);
    while (r == 0 && to < run->bars.n && !spark_child_null(&run->bars.symbol, to) &&
           is_symbol(run, spark_batch_symbol(&run->bars, to)))
        to++;
    while (r == 0 && run->row < to)
        r = add(run, to, err, err_cap);
    return r;
}

/* Is the next row another symbol's? */
static bool at_another(const struct papertape_spark_backtest *run)
{
    return run->batch.release && run->row < run->bars.n && !spark_child_null(&run->bars.symbol, run->row) &&
           !is_symbol(run, spark_batch_symbol(&run->bars, run->row));
}

/* All bars of the symbol are there. */
static int run_symbol(struct papertape_spark_backtest *run, char *err, size_t err_cap)
{
    char why[MARKET_ERROR_MAX] = "";
    int r = spark_result_run(&run->trading, run->given, &run->result, why, sizeof why);
    market_store_given_destroy(run->given);
    run->given = NULL;
    run->have_result = r == 0;
    if (r == 0)
        return 0;
    if (r == -EINVAL && run->trading.error_rows)
        return spark_rows_put_error(run->rows, run->symbol, why, &run->frame);
    return fail_with(r, err, err_cap, "%.*s: %s", SHOWN, run->symbol, why);
}

/* One step towards more rows: 1; 0: a batch is needed, or there are no more. */
static int advance(struct papertape_spark_backtest *run, char *err, size_t err_cap)
{
    int r;
    if (run->have_result) {
        r = spark_rows_put(run->rows, &run->trading, &run->result, run->symbol, run->next++, &run->frame);
        if (r == 0)
            drop_result(run);
        return r < 0 ? fail_with(r, err, err_cap, "out of memory") : 1;
    }
    if (run->given && (at_another(run) || (run->ended && !run->batch.release))) {
        r = run_symbol(run, err, err_cap);
        return r < 0 ? r : 1;
    }
    if (!run->batch.release)
        return 0;
    r = run->row < run->bars.n ? gather(run, err, err_cap) : 0;
    if (r == 0 && run->row == run->bars.n)
        drop_batch(run);
    return r < 0 ? r : 1;
}

int papertape_spark_backtest_take(struct papertape_spark_backtest *run, size_t most, struct ArrowArray *ret,
                                  struct ArrowSchema *ret_schema, char *err, size_t err_cap)
{
    int r = 1;
    while (r > 0 && run->frame.n < most)
        r = advance(run, err, err_cap);
    if (r < 0)
        return r;
    if (run->frame.n == 0 || (r == 0 && !run->ended))
        return 0;
    r = spark_frame_export(&run->frame, ret, ret_schema);
    return r < 0 ? fail_with(r, err, err_cap, "out of memory") : 1;
}
