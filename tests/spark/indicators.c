/* Indicators and features over Arrow batches: the reference's bits wherever a batch is cut, a memory that
 * starts again with each symbol and is handed on as bytes, and what is refused, in words. */
#include "spark/native/papertape_spark.h"

#include <errno.h>

#include "indicators_gpu/features/features.h"
#include "tests/indicators_gpu/series.h"
#include "tests/indicators_gpu/specs.h"
#include "tests/random.h"
#include "tests/spark/made.h"

enum { ROWS = 1500, SYMBOLS = 3, ALL = ROWS * SYMBOLS, COLUMNS = 7 };

static struct random rng;

/* The symbols' bars, one after the other. */
struct bars {
    const char *symbol[ALL];
    int64_t time[ALL];
    double prices[5][ALL];
    bool null[ALL];
    struct series series[SYMBOLS];
};

static struct bars *bars_make(void)
{
    static const char *const names[SYMBOLS] = {"ADA", "BTC", "BTCUSDT"};
    struct bars *b = calloc(1, sizeof(*b));
    for (int s = 0; s < SYMBOLS; s++) {
        b->series[s] = series_make(ROWS, SERIES_WALK, 77 + (uint64_t)s);
        const struct series *from = &b->series[s];
        const double *const columns[] = {from->open, from->high, from->low, from->close, from->volume};
        for (int i = 0; i < ROWS; i++) {
            b->symbol[s * ROWS + i] = names[s];
            b->time[s * ROWS + i] = (int64_t)from->time[i] * 1000000;
            for (int c = 0; c < 5; c++)
                b->prices[c][s * ROWS + i] = columns[c][i];
        }
    }
    return b;
}

static void bars_free(struct bars *b)
{
    for (int s = 0; s < SYMBOLS; s++)
        series_free(&b->series[s]);
    free(b);
}

static void columns_of(const struct bars *b, struct made_column ret[COLUMNS])
{
    static const char *const names[] = {"open", "high", "low", "close", "volume"};
    ret[0] = (struct made_column){"symbol", "u", b->symbol, NULL};
    ret[1] = (struct made_column){"timestamp", "tsu:UTC", b->time, NULL};
    for (int c = 0; c < 5; c++)
        ret[2 + c] = (struct made_column){names[c], "g", b->prices[c], NULL};
}

/* Gives rows [from, to) in pieces of random sizes, 0 too; got[column][row] takes what comes, NaN for null. */
static int give(struct papertape_spark *run, const struct made_column columns[], int n_columns, int64_t from,
                int64_t to, double *const got[], char err[PAPERTAPE_SPARK_ERROR_MAX])
{
    size_t width = papertape_spark_width(run);
    while (from < to) {
        int64_t n = random_between(&rng, 0, random_chance(&rng, 30) ? 3 : 700);
        n = n < to - from ? n : to - from;
        struct ArrowArray batch, out;
        struct ArrowSchema schema, out_schema;
        memset(&out, 0xa5, sizeof(out));
        made_batch(columns, n_columns, from, n, &batch, &schema);
        int r =
            papertape_spark_update(run, &batch, &schema, &out, &out_schema, err, PAPERTAPE_SPARK_ERROR_MAX);
        CHECK_INT(made_alive, 0);
        if (r < 0)
            return r;
        CHECK(out.length == n && out.n_children == (int64_t)width);
        for (size_t k = 0; k < width; k++) {
            CHECK_STR(out_schema.children[k]->name, papertape_spark_column(run, k));
            bool wide = out_schema.children[k]->format[0] == 'g';
            int64_t nulls = 0;
            for (int64_t i = 0; i < n; i++) {
                const void *values = out.children[k]->buffers[1];
                bool null = made_null(out.children[k], i);
                nulls += null;
                got[k][from + i] = null   ? NAN
                                   : wide ? ((const double *)values)[i]
                                          : (double)((const float *)values)[i];
            }
            CHECK_INT(out.children[k]->null_count, nulls);
        }
        out.release(&out);
        out_schema.release(&out_schema);
        from += n;
    }
    return 0;
}

static double **room(size_t n)
{
    double **got = calloc(n, sizeof(*got));
    for (size_t k = 0; k < n; k++)
        got[k] = calloc(ALL, sizeof(double));
    return got;
}

static void room_free(double **got, size_t n)
{
    for (size_t k = 0; k < n; k++)
        free(got[k]);
    free(got);
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof(a)) == 0;
}

/* Every specification of the tests, over three symbols. */
static void test_reference(const struct bars *b)
{
    struct made_column columns[COLUMNS];
    columns_of(b, columns);
    double *want[INDICATOR_OUTPUTS_MAX];
    for (int k = 0; k < INDICATOR_OUTPUTS_MAX; k++)
        want[k] = series_column(ROWS);
    for (size_t t = 0; t < TEST_SPECS; t++) {
        struct indicator_spec spec = test_spec(test_specs[t]);
        char err[PAPERTAPE_SPARK_ERROR_MAX];
        struct papertape_spark *run = NULL;
        CHECK_INT(papertape_spark_indicators(test_specs[t], &run, err, sizeof(err)), 0);
        size_t width = papertape_spark_width(run), bad = 0;
        CHECK_INT(width, spec.row->n_outputs);
        double **got = room(width);
        CHECK_INT(give(run, columns, COLUMNS, 0, ALL, got, err), 0);
        for (int s = 0; s < SYMBOLS; s++) {
            struct indicator_columns in = series_columns(&b->series[s]);
            CHECK_INT(indicator_reference(&spec, &in, ROWS, want), 0);
            for (size_t k = 0; k < width; k++)
                for (int i = 0; i < ROWS; i++)
                    bad += !same(want[k][i], got[k][s * ROWS + i]);
        }
        if (bad)
            fprintf(stderr, "  %s\n", test_specs[t]);
        CHECK_INT(bad, 0);
        room_free(got, width);
        papertape_spark_close(run);
    }
    for (int k = 0; k < INDICATOR_OUTPUTS_MAX; k++)
        free(want[k]);
}

int main(void)
{
    rng = random_seeded("spark/indicators", 31);
    CHECK_INT(papertape_spark_version(), PAPERTAPE_SPARK_VERSION);
    struct bars *bars = bars_make();
    test_reference(bars);
    bars_free(bars);
    return check_done("spark/indicators");
}
