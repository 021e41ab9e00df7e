/* Bars of three symbols, one after the other, given to a run in pieces of random sizes. */
#ifndef TESTS_SPARK_THREE_H
#define TESTS_SPARK_THREE_H

#include "spark/native/papertape_spark.h"
#include "tests/indicators_gpu/series.h"
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

#endif
