/* Bars of a longer interval, from trades or shorter bars: prices are chosen among those that are there,
 * volumes summed as exact decimals, so that the order of summing and the cuts between batches make no
 * difference. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bar.h"
#include "exchange/fail.h"
#include "spark/native/bar_columns.h"
#include "spark/native/batch.h"
#include "spark/native/run.h"

/* A volume may have lost its last digits as a double: of 15 digits not more than this share. */
static const double lost = 1e-15;

struct joining {
    int64_t interval_ns;
    enum spark_rows rows;
    int digits;
    bool forming; /* the next three are of the bar that forms */
    char *symbol;
    struct spark_made_bar bar;
    int128_t volume;
    bool has_row; /* of this symbol; the next two are set */
    int64_t last_ns, last_id;
    struct spacing {
        int64_t rows, last_ns, step_ns; /* step_ns divides the time between any two rows; 0: fewer than two */
    } spacing;                          /* of the shorter bars of `symbol` */
};

static void close_joining(void *ctx)
{
    struct joining *j = ctx;
    free(j->symbol);
    free(j);
}

static int start(void *ctx)
{
    struct joining *j = ctx;
    j->has_row = false;
    return 0;
}

static int refuse_bar(void *ctx, const struct indicator_bar *bar, struct spark_columns *columns, int64_t row,
                      char *err, size_t err_cap)
{
    (void)ctx;
    (void)bar;
    (void)columns;
    (void)row;
    return fail_with(-EINVAL, err, err_cap, "bars are built by papertape_spark_bars_update()");
}

int papertape_spark_bars(const char *interval, bool trades, int digits, struct papertape_spark **ret,
                         char *err, size_t err_cap)
{
    int64_t interval_ns;
    if (bar_interval_parse_any(interval, &interval_ns) < 0)
        return fail_with(-EINVAL, err, err_cap, "%s: an interval is needed: %s " BAR_MONTH_NAME, interval,
                         BAR_INTERVAL_NAMES);
    if (digits < 0 || digits > DECIMAL_SCALE_MAX)
        return fail_with(-EINVAL, err, err_cap, "%d digits: 0 to %d are needed", digits, DECIMAL_SCALE_MAX);
    struct joining *j = calloc(1, sizeof(*j));
    if (!j)
        return spark_run_memory(-ENOMEM, err, err_cap);
    *j = (struct joining){
        .interval_ns = interval_ns, .rows = trades ? SPARK_TRADES : SPARK_BARS, .digits = digits};
    const struct spark_computation computation = {.start = start, .bar = refuse_bar, .close = close_joining};
    return spark_run_memory(spark_run_create(&computation, j, ret), err, err_cap);
}

/* Gives the bar that forms to the columns. 0 or -ENOMEM. */
static int give(struct joining *j, struct spark_bar_columns *columns)
{
    if (!j->forming)
        return 0;
    j->forming = false;
    j->bar.volume = decimal_to_double(j->volume, j->digits);
    return spark_bar_columns_add(columns, j->symbol, &j->bar);
}

static int begin(struct joining *j, const char *symbol, int64_t open_ns, const struct indicator_bar *part)
{
    char *copy = strdup(symbol);
    if (!copy)
        return -ENOMEM;
    free(j->symbol);
    j->symbol = copy;
    j->forming = true;
    j->volume = 0;
    j->bar =
        (struct spark_made_bar){.open_ns = open_ns, .open = part->open, .high = part->high, .low = part->low};
    return 0;
}

static void space(struct spacing *s, int64_t ns)
{
    int64_t a = s->step_ns, b = s->rows > 0 ? ns - s->last_ns : 0;
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    *s = (struct spacing){s->rows + 1, ns, a};
}

/* Are the bars of a symbol, all of which came, shorter than those that are wanted? Two may have a gap
 * between. */
static int check_spacing(struct joining *j, char *err, size_t err_cap)
{
    enum { ROWS_LEAST = 3, SYMBOL_SHOWN = 64 };
    const struct spacing s = j->spacing;
    j->spacing = (struct spacing){0};
    if (j->rows == SPARK_TRADES || s.rows < ROWS_LEAST || s.step_ns <= j->interval_ns)
        return 0;
    return fail_with(
        -EINVAL, err, err_cap,
        "%.*s: its bars open %.15g s apart, or a multiple of that: longer bars can be built of them, "
        "and not shorter ones of %.15g s",
        SYMBOL_SHOWN, j->symbol, (double)s.step_ns / 1e9, (double)j->interval_ns / 1e9);
}

/* Adds a row to the bar of its interval. */
static int add(struct joining *j, const char *symbol, int64_t ns, const struct indicator_bar *part,
               struct spark_bar_columns *columns)
{
    int64_t open_ns = bar_open_time(ns, j->interval_ns);
    int128_t volume;
    int r = decimal128_from_double(part->volume, j->digits, &volume);
    if (r < 0 || !(fabs(decimal_to_double(volume, j->digits) - part->volume) <= lost * part->volume))
        return -EDOM;
    if (j->forming && (j->bar.open_ns != open_ns || strcmp(j->symbol, symbol) != 0) &&
        (r = give(j, columns)) < 0)
        return r;
    if (!j->forming && (r = begin(j, symbol, open_ns, part)) < 0)
        return r;
    j->bar.high = part->high > j->bar.high ? part->high : j->bar.high;
    j->bar.low = part->low < j->bar.low ? part->low : j->bar.low;
    j->bar.close = part->close;
    j->bar.count++;
    j->volume += volume;
    return 0;
}

/* May it follow the trade before? */
static int check_trade(struct papertape_spark *run, const struct spark_batch *batch, int64_t row, int64_t ns,
                       char *err, size_t err_cap)
{
    struct joining *j = spark_run_ctx(run);
    bool has_id = batch->id.array && !spark_child_null(&batch->id, row);
    int64_t id = has_id ? spark_batch_id(batch, row) : 0;
    if (j->has_row && ns < j->last_ns)
        return spark_run_refuse(
            run, ns, "it comes after a later trade: rows in the order of their timestamp are needed", err,
            err_cap);
    if (j->has_row && ns == j->last_ns && !has_id)
        return spark_run_refuse(run, ns,
                                "two trades have this time, and nothing says which was first: a column id "
                                "(bigint) is needed",
                                err, err_cap);
    if (j->has_row && ns == j->last_ns && id <= j->last_id)
        return spark_run_refuse(run, ns,
                                id == j->last_id
                                    ? "a trade's id comes twice: one row a trade is needed, as "
                                      "dropDuplicates(['symbol', 'id']) keeps"
                                    : "ids do not rise: rows in the order of timestamp and id are needed",
                                err, err_cap);
    j->has_row = true;
    j->last_ns = ns;
    j->last_id = id;
    return 0;
}

static int read_trade(struct papertape_spark *run, const struct spark_batch *batch, int64_t row,
                      struct indicator_bar *ret, int64_t *ret_ns, char *err, size_t err_cap)
{
    int r = spark_run_read_time(run, batch, row, ret_ns, err, err_cap);
    if (r == 0)
        r = check_trade(run, batch, row, *ret_ns, err, err_cap);
    if (r < 0)
        return r;
    bool null = spark_child_null(&batch->prices[SPARK_PRICE], row) ||
                spark_child_null(&batch->prices[SPARK_QTY], row);
    double price = null ? NAN : batch->values[SPARK_PRICE][row],
           qty = null ? NAN : batch->values[SPARK_QTY][row];
    if (!isfinite(price) || !(isfinite(qty) && qty >= 0))
        return spark_run_refuse(run, *ret_ns, "a price that is a number and a qty of 0 or more are needed",
                                err, err_cap);
    *ret = (struct indicator_bar){price, price, price, price, qty, 0};
    return 0;
}

static int refuse_digits(struct papertape_spark *run, int64_t ns, double volume, char *err, size_t err_cap)
{
    const struct joining *j = spark_run_ctx(run);
    char what[160];
    int n = snprintf(what, sizeof(what), "volume %.17g has more than %d digits after the point: ", volume,
                     j->digits);
    if (j->digits < DECIMAL_SCALE_MAX - 1)
        snprintf(what + n, sizeof(what) - (size_t)n, "digits=%d, or more, up to %d, is needed", j->digits + 1,
                 DECIMAL_SCALE_MAX);
    else if (j->digits < DECIMAL_SCALE_MAX)
        snprintf(what + n, sizeof(what) - (size_t)n, "digits=%d is needed", DECIMAL_SCALE_MAX);
    else
        snprintf(what + n, sizeof(what) - (size_t)n, "there are no more: it must be rounded");
    return spark_run_refuse(run, ns, what, err, err_cap);
}

static int take_row(struct papertape_spark *run, const struct spark_batch *batch, int64_t row,
                    struct spark_bar_columns *columns, char *err, size_t err_cap)
{
    struct joining *j = spark_run_ctx(run);
    struct indicator_bar part;
    int64_t ns;
    int r = spark_run_place(run, batch, row, err, err_cap);
    if (r == 0)
        r = j->rows == SPARK_TRADES ? read_trade(run, batch, row, &part, &ns, err, err_cap)
                                    : spark_run_read_bar(run, batch, row, &part, &ns, err, err_cap);
    if (r == 0 && j->forming && strcmp(j->symbol, spark_run_symbol(run)) != 0)
        r = check_spacing(j, err, err_cap);
    if (r < 0)
        return r;
    space(&j->spacing, ns);
    r = add(j, spark_run_symbol(run), ns, &part, columns);
    return r == -EDOM ? refuse_digits(run, ns, part.volume, err, err_cap) : r;
}

static int update(struct papertape_spark *run, const struct ArrowArray *batch,
                  const struct ArrowSchema *schema, struct spark_bar_columns *columns, char *err,
                  size_t err_cap)
{
    const struct joining *j = spark_run_ctx(run);
    struct spark_batch rows;
    int r = spark_batch_read(j->rows, &rows, batch, schema, err, err_cap);
    for (int64_t row = 0; r == 0 && row < rows.n; row++)
        r = take_row(run, &rows, row, columns, err, err_cap);
    return r;
}

static int export(struct spark_bar_columns *columns, int r, struct ArrowArray *ret_batch,
                  struct ArrowSchema *ret_schema, char *err, size_t err_cap)
{
    if (r == 0)
        r = spark_bar_columns_export(columns, ret_batch, ret_schema);
    spark_bar_columns_finish(columns);
    return spark_run_memory(r, err, err_cap);
}

int papertape_spark_bars_update(struct papertape_spark *run, struct ArrowArray *batch,
                                struct ArrowSchema *schema, struct ArrowArray *ret_batch,
                                struct ArrowSchema *ret_schema, char *err, size_t err_cap)
{
    struct spark_bar_columns columns = {0};
    int r = update(run, batch, schema, &columns, err, err_cap);
    spark_array_release(batch);
    spark_schema_release(schema);
    return export(&columns, r, ret_batch, ret_schema, err, err_cap);
}

int papertape_spark_bars_finish(struct papertape_spark *run, struct ArrowArray *ret_batch,
                                struct ArrowSchema *ret_schema, char *err, size_t err_cap)
{
    struct spark_bar_columns columns = {0};
    struct joining *j = spark_run_ctx(run);
    int r = check_spacing(j, err, err_cap);
    if (r == 0)
        r = give(j, &columns);
    return export(&columns, r, ret_batch, ret_schema, err, err_cap);
}
