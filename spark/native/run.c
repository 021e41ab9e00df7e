#include "spark/native/run.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/fail.h"
#include "spark/native/batch.h"
#include "spark/native/state.h"

enum { SYMBOL_SHOWN = 64 };

struct papertape_spark {
    struct spark_computation computation;
    void *ctx;
    bool has_symbol; /* the next four are set */
    char *symbol;
    size_t symbol_n, symbol_cap;
    int64_t slice;
    bool has_bar; /* last_ns is set */
    int64_t last_ns;
    int64_t unit_ns, last_unit_ns; /* of the time of this row and of the bar before; 0: not known */
    char *vector;                  /* the name of one column of lists; NULL: a column each */
    int64_t interval_ns;           /* that every bar must follow the one before by; 0: gaps are taken */
};

int papertape_spark_version(void)
{
    return PAPERTAPE_SPARK_VERSION;
}

uint64_t spark_meaning(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    return hash;
}

int spark_run_create(const struct spark_computation *computation, void *ctx, struct papertape_spark **ret)
{
    struct papertape_spark *run = calloc(1, sizeof(*run));
    if (!run) {
        computation->close(ctx);
        return -ENOMEM;
    }
    run->computation = *computation;
    run->ctx = ctx;
    *ret = run;
    return 0;
}

void papertape_spark_close(struct papertape_spark *run)
{
    if (!run)
        return;
    run->computation.close(run->ctx);
    free(run->symbol);
    free(run->vector);
    free(run);
}

int papertape_spark_as_vector(struct papertape_spark *run, const char *name, char *err, size_t err_cap)
{
    if (run->computation.wide)
        return fail_with(-EINVAL, err, err_cap,
                         "a vector is of features: indicators are columns of their own");
    char *copy = strdup(name);
    if (!copy)
        return spark_run_memory(-ENOMEM, err, err_cap);
    free(run->vector);
    run->vector = copy;
    return 0;
}

int spark_run_memory(int r, char *err, size_t err_cap)
{
    if (r == -ENOMEM)
        snprintf(err, err_cap, "out of memory");
    return r;
}

void *spark_run_ctx(struct papertape_spark *run)
{
    return run->ctx;
}

const char *spark_run_symbol(const struct papertape_spark *run)
{
    return run->has_symbol ? run->symbol : NULL;
}

void papertape_spark_refuse_gaps(struct papertape_spark *run, int64_t interval_ns)
{
    run->interval_ns = interval_ns;
}

size_t papertape_spark_width(const struct papertape_spark *run)
{
    return run->computation.width;
}

const char *papertape_spark_column(const struct papertape_spark *run, size_t index)
{
    return run->computation.names[index];
}

const char *const *spark_run_names(const struct papertape_spark *run)
{
    return run->computation.names;
}

int papertape_spark_warmup(const struct papertape_spark *run, int64_t *ret, char *err, size_t err_cap)
{
    if (!run->computation.warmup)
        return fail_with(-EOPNOTSUPP, err, err_cap, "no number of bars warms this run up: it needs all");
    return run->computation.warmup(run->ctx, ret, err, err_cap);
}

int spark_run_forever(const char *what, char *err, size_t err_cap)
{
    return fail_with(-EOPNOTSUPP, err, err_cap,
                     "%s remembers its first bar for ever, so that no number of bars warms it up: the "
                     "state must be handed on, as without warm-up, or cut='symbol' be used",
                     what);
}

/* A row that is refused: "SYMBOL at TIME: WHAT". */
int spark_run_refuse(const struct papertape_spark *run, int64_t ns, const char *what, char *err,
                     size_t err_cap)
{
    char time[CLOCK_TEXT_MAX];
    int shown = run->symbol_n < SYMBOL_SHOWN ? (int)run->symbol_n : SYMBOL_SHOWN;
    return fail_with(-EINVAL, err, err_cap, "%.*s at %s: %s", shown, run->symbol ? run->symbol : "",
                     clock_utc_text(ns, time), what);
}

static int compare(struct spark_text a, struct spark_text b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n > 0 ? memcmp(a.data, b.data, n) : 0;
    return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

static int enter(struct papertape_spark *run, struct spark_text symbol, int64_t slice)
{
    if (symbol.n + 1 > run->symbol_cap) {
        char *grown = realloc(run->symbol, symbol.n + 1);
        if (!grown)
            return -ENOMEM;
        run->symbol = grown;
        run->symbol_cap = symbol.n + 1;
    }
    memcpy(run->symbol, symbol.data, symbol.n);
    run->symbol[symbol.n] = '\0';
    run->symbol_n = symbol.n;
    run->slice = slice;
    run->has_symbol = true;
    run->has_bar = false;
    return run->computation.start(run->ctx);
}

/* Is it the symbol and slice of the row before? Else it starts again with it. */
int spark_run_place(struct papertape_spark *run, const struct spark_batch *batch, int64_t row, char *err,
                    size_t err_cap)
{
    if (spark_child_null(&batch->symbol, row))
        return fail_with(-EINVAL, err, err_cap,
                         "a row has no symbol: it is null; every bar needs its symbol");
    struct spark_text symbol = spark_batch_symbol(batch, row), before = {run->symbol, run->symbol_n};
    int64_t slice = spark_batch_slice(batch, row);
    if (!run->has_symbol && spark_text_blank(symbol))
        return fail_with(-EINVAL, err, err_cap, SPARK_BLANK_SYMBOL);
    if (!run->has_symbol)
        return enter(run, symbol, slice);
    int order = slice != run->slice ? (slice > run->slice) - (slice < run->slice) : compare(symbol, before);
    if (order == 0)
        return 0;
    if (order < 0)
        return fail_with(-EINVAL, err, err_cap,
                         "%.*s comes after %.*s: rows in the order of symbol and timestamp are needed, as "
                         "sortWithinPartitions('symbol', 'timestamp') gives them",
                         (int)(symbol.n < SYMBOL_SHOWN ? symbol.n : SYMBOL_SHOWN), symbol.data,
                         (int)(before.n < SYMBOL_SHOWN ? before.n : SYMBOL_SHOWN), before.data);
    if (spark_text_blank(symbol))
        return fail_with(-EINVAL, err, err_cap, SPARK_BLANK_SYMBOL);
    return enter(run, symbol, slice);
}

static int check_gap(const struct papertape_spark *run, int64_t ns, char *err, size_t err_cap)
{
    char what[200], before[CLOCK_TEXT_MAX];
    int64_t passed = ns - run->last_ns;
    if (run->interval_ns == 0 || passed == run->interval_ns)
        return 0;
    clock_utc_text(run->last_ns, before);
    if (passed % run->interval_ns == 0)
        snprintf(what, sizeof(what),
                 "bars missing between it and %s: %" PRId64 ": fill them, or take gaps as they are", before,
                 passed / run->interval_ns - 1);
    else
        snprintf(what, sizeof(what), "it opens %.15g s after the bar of %s: a multiple of %.15g s is needed",
                 (double)passed / 1e9, before, (double)run->interval_ns / 1e9);
    return spark_run_refuse(run, ns, what, err, err_cap);
}

static const char *unit_name(int64_t ns)
{
    return ns == 1 ? "ns" : ns == 1000 ? "\u00b5s" : ns == 1000000 ? "ms" : "s";
}

/* Epochs are sorted by their number, in whose order those of two units are not those of time. */
static int refuse_units(const struct papertape_spark *run, int64_t ns, char *err, size_t err_cap)
{
    char what[200];
    snprintf(what, sizeof(what),
             "its timestamp is an epoch in %s, and the one before it one in %s: one unit a column is needed",
             unit_name(run->unit_ns), unit_name(run->last_unit_ns));
    return spark_run_refuse(run, ns, what, err, err_cap);
}

static int check_time(const struct papertape_spark *run, int64_t ns, char *err, size_t err_cap)
{
    if (!run->has_bar)
        return 0;
    if (ns > run->last_ns)
        return check_gap(run, ns, err, err_cap);
    if (ns != run->last_ns && run->last_unit_ns != 0 && run->unit_ns != run->last_unit_ns)
        return refuse_units(run, ns, err, err_cap);
    return spark_run_refuse(run, ns,
                            ns == run->last_ns ? "two bars have this time: one row a bar is needed, as "
                                                 "dropDuplicates(['symbol', 'timestamp']) keeps"
                                               : "it comes after a later bar: rows in the order of their "
                                                 "timestamp are needed, as ORDER BY timestamp gives them",
                            err, err_cap);
}

static int check_prices(const struct papertape_spark *run, const struct spark_batch *batch, int64_t row,
                        int64_t ns, char *err, size_t err_cap)
{
    char what[160];
    for (int c = 0; c < SPARK_PRICES; c++) {
        bool null = spark_child_null(&batch->prices[c], row);
        if (!null && isfinite(batch->values[c][row]))
            continue;
        snprintf(
            what, sizeof(what),
            null ? "%s is null, as of an empty cell or a file without that column: a number is needed, or "
                   "no such row"
                 : "%s is not finite: a number is needed, or no such row",
            spark_price_names[c]);
        return spark_run_refuse(run, ns, what, err, err_cap);
    }
    double open = batch->values[SPARK_OPEN][row], high = batch->values[SPARK_HIGH][row];
    double low = batch->values[SPARK_LOW][row], close = batch->values[SPARK_CLOSE][row];
    if (high < low)
        snprintf(what, sizeof(what), "high is below low: high >= low is needed, not %.15g < %.15g", high,
                 low);
    else if (open < low || open > high || close < low || close > high)
        snprintf(what, sizeof(what), "%s is outside low to high: %.15g to %.15g is needed, not %.15g",
                 open < low || open > high ? "open" : "close", low, high,
                 open < low || open > high ? open : close);
    else if (batch->values[SPARK_VOLUME][row] < 0)
        snprintf(what, sizeof(what), "negative volume: volume >= 0 is needed, not %.15g",
                 batch->values[SPARK_VOLUME][row]);
    else
        return 0;
    return spark_run_refuse(run, ns, what, err, err_cap);
}

static int load(struct papertape_spark *run, struct spark_text state, char *err, size_t err_cap)
{
    if (!run->computation.visit)
        return fail_with(-EINVAL, err, err_cap, "a state is of indicators or features: this run has none");
    int r = spark_state_load(&run->computation, run->ctx, state.data, state.n, &run->last_ns, err, err_cap);
    run->has_bar = r == 0;
    run->last_unit_ns = 0; /* not known */
    return r;
}

int spark_run_read_time(const struct papertape_spark *run, const struct spark_batch *batch, int64_t row,
                        int64_t *ret_ns, char *err, size_t err_cap)
{
    if (!spark_child_null(&batch->time, row) && spark_batch_time(batch, row, ret_ns))
        return 0;
    return spark_run_refuse(run, run->last_ns,
                            "a row at or after it has no timestamp from 1677 to 2262: it is null or beyond; "
                            "each needs its time",
                            err, err_cap);
}

int spark_run_read_bar(struct papertape_spark *run, const struct spark_batch *batch, int64_t row,
                       struct indicator_bar *ret, int64_t *ret_ns, char *err, size_t err_cap)
{
    int64_t ns;
    int r = spark_run_read_time(run, batch, row, &ns, err, err_cap);
    run->unit_ns = r == 0 ? spark_batch_unit(batch, row) : 0;
    if (r == 0)
        r = check_time(run, ns, err, err_cap);
    if (r == 0)
        r = check_prices(run, batch, row, ns, err, err_cap);
    if (r < 0)
        return r;
    *ret = (struct indicator_bar){batch->values[SPARK_OPEN][row],   batch->values[SPARK_HIGH][row],
                                  batch->values[SPARK_LOW][row],    batch->values[SPARK_CLOSE][row],
                                  batch->values[SPARK_VOLUME][row], (double)ns / 1e9};
    *ret_ns = ns;
    run->has_bar = true;
    run->last_ns = ns;
    run->last_unit_ns = run->unit_ns;
    return 0;
}

static int take_bar(struct papertape_spark *run, const struct spark_batch *batch, int64_t row,
                    struct spark_columns *columns, char *err, size_t err_cap)
{
    struct indicator_bar bar;
    int64_t ns;
    char what[256] = "";
    int r = spark_run_read_bar(run, batch, row, &bar, &ns, err, err_cap);
    if (r < 0)
        return r;
    r = run->computation.bar(run->ctx, &bar, columns, row, what, sizeof(what));
    return r < 0 ? spark_run_refuse(run, ns, what, err, err_cap) : 0;
}

static int take_rows(struct papertape_spark *run, const struct spark_batch *batch,
                     struct spark_columns *columns, char *err, size_t err_cap)
{
    int r = 0;
    for (int64_t row = 0; row < batch->n && r == 0; row++) {
        r = spark_run_place(run, batch, row, err, err_cap);
        if (r < 0)
            break;
        if (batch->state.array && !spark_child_null(&batch->state, row))
            r = load(run, spark_batch_state(batch, row), err, err_cap);
        else
            r = take_bar(run, batch, row, columns, err, err_cap);
    }
    return r;
}

static int update(struct papertape_spark *run, const struct ArrowArray *batch,
                  const struct ArrowSchema *schema, struct ArrowArray *ret_batch,
                  struct ArrowSchema *ret_schema, char *err, size_t err_cap)
{
    struct spark_batch rows;
    struct spark_columns columns = {0};
    size_t width = run->computation.width;
    int r = spark_batch_read(SPARK_BARS, &rows, batch, schema, err, err_cap);
    if (r == 0 && ret_batch)
        r = run->vector ? spark_columns_init_vector(&columns, width, rows.n)
                        : spark_columns_init(&columns, width, rows.n, run->computation.wide);
    if (r == 0)
        r = take_rows(run, &rows, ret_batch ? &columns : NULL, err, err_cap);
    if (r == 0 && ret_batch)
        r = run->vector ? spark_columns_export_vector(&columns, run->vector, ret_batch, ret_schema)
                        : spark_columns_export(&columns, run->computation.names, ret_batch, ret_schema);
    spark_columns_finish(&columns);
    return r;
}

int papertape_spark_update(struct papertape_spark *run, struct ArrowArray *batch, struct ArrowSchema *schema,
                           struct ArrowArray *ret_batch, struct ArrowSchema *ret_schema, char *err,
                           size_t err_cap)
{
    int r = update(run, batch, schema, ret_batch, ret_schema, err, err_cap);
    spark_array_release(batch);
    spark_schema_release(schema);
    return spark_run_memory(r, err, err_cap);
}

size_t papertape_spark_save(const struct papertape_spark *run, uint8_t *buf, size_t cap)
{
    if (!run->has_bar || !run->computation.visit)
        return 0;
    return spark_state_save(&run->computation, run->ctx, run->last_ns, buf, cap);
}

int papertape_spark_load(struct papertape_spark *run, const char *symbol, const uint8_t *state, size_t n,
                         char *err, size_t err_cap)
{
    int r = enter(run, (struct spark_text){symbol, strlen(symbol)}, 0);
    if (r < 0)
        return fail_with(r, err, err_cap, "out of memory");
    return load(run, (struct spark_text){(const char *)state, n}, err, err_cap);
}
