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

/* wide110, fitted: the cells of feature_matrix(). */
static void test_features(const struct bars *b)
{
    struct made_column columns[COLUMNS];
    char err[PAPERTAPE_SPARK_ERROR_MAX];
    struct feature_set *set = NULL;
    columns_of(b, columns);
    CHECK_INT(papertape_spark_features("market14", 60, &(struct papertape_spark *){NULL}, err, sizeof(err)),
              -EINVAL);
    CHECK(strstr(err, "not fitted") != NULL);
    CHECK_INT(feature_set_builtin("market14", &set), 0);
    const struct series *s = &b->series[0];
    const struct feature_bars bars = {.columns = series_columns(s), .n = ROWS, .interval_s = 60};
    CHECK_INT(feature_set_fit(set, &bars, 0, ROWS / 2, err, sizeof(err)), 0);
    char *text = feature_set_text(set);
    float *want = calloc(ROWS * set->n, sizeof(*want));
    const struct feature_options exact = {FEATURE_EXACT, 1};

    struct papertape_spark *run = NULL;
    CHECK_INT(papertape_spark_features(text, 60, &run, err, sizeof(err)), 0);
    double **got = room(set->n);
    CHECK_INT(give(run, columns, COLUMNS, 0, ALL, got, err), 0);
    size_t bad = 0;
    for (int k = 0; k < SYMBOLS; k++) {
        const struct feature_bars all = {
            .columns = series_columns(&b->series[k]), .n = ROWS, .interval_s = 60};
        CHECK_INT(feature_matrix(set, &all, &exact, want, NULL, err, sizeof(err)), 0);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t f = 0; f < set->n; f++)
                bad += !same((double)want[i * set->n + f], got[f][k * ROWS + (int)i]);
    }
    CHECK_INT(bad, 0);
    room_free(got, set->n);
    papertape_spark_close(run);

    struct papertape_spark *fit = NULL;
    struct ArrowArray batch;
    struct ArrowSchema schema;
    char *fitted = NULL;
    CHECK_INT(papertape_spark_fit("market14", 60, &fit, err, sizeof(err)), 0);
    made_batch(columns, COLUMNS, 0, ROWS, &batch, &schema);
    CHECK_INT(papertape_spark_update(fit, &batch, &schema, NULL, NULL, err, sizeof(err)), 0);
    CHECK_INT(papertape_spark_fitted(fit, INT64_MIN, b->time[ROWS / 2] * 1000, &fitted, err, sizeof(err)), 0);
    struct feature_set *again = NULL;
    CHECK_INT(feature_set_builtin("market14", &again), 0);
    CHECK_INT(feature_set_fit_by(again, &bars, 0, ROWS / 2, FEATURE_EXACT, err, sizeof(err)), 0);
    char *expected = feature_set_text(again);
    CHECK_STR(fitted, expected);
    papertape_spark_free(fitted);
    papertape_spark_close(fit);
    feature_set_destroy(again);
    feature_set_destroy(set);
    free(expected);
    free(text);
    free(want);
}

/* A memory saved anywhere, and loaded by a row of another run in front of the rest. */
static void test_states(const struct bars *b)
{
    static const char specs[] = "sma:20\nmacd:12,26,9\nsar\nobv\nvwap\nrank:20\nichimoku";
    struct made_column columns[COLUMNS + 1];
    char err[PAPERTAPE_SPARK_ERROR_MAX];
    struct papertape_spark *whole = NULL;
    columns_of(b, columns);
    CHECK_INT(papertape_spark_indicators(specs, &whole, err, sizeof(err)), 0);
    size_t width = papertape_spark_width(whole);
    double **want = room(width), **got = room(width);
    CHECK_INT(give(whole, columns, COLUMNS, 0, ROWS, want, err), 0);
    papertape_spark_close(whole);
    for (int64_t cut = 1; cut < ROWS; cut += random_between(&rng, 1, 200)) {
        struct papertape_spark *first = NULL, *second = NULL;
        CHECK_INT(papertape_spark_indicators(specs, &first, err, sizeof(err)), 0);
        CHECK_INT(papertape_spark_indicators(specs, &second, err, sizeof(err)), 0);
        CHECK_INT(give(first, columns, COLUMNS, 0, cut, got, err), 0);
        size_t n = papertape_spark_save(first, NULL, 0);
        char *state = malloc(n);
        CHECK_INT(papertape_spark_save(first, (uint8_t *)state, n), n);
        CHECK_INT(papertape_spark_load(second, b->symbol[0], (uint8_t *)state, n, err, sizeof(err)), 0);
        CHECK_INT(give(second, columns, COLUMNS, cut, ROWS, got, err), 0);
        size_t bad = 0;
        for (size_t k = 0; k < width; k++)
            for (int64_t i = 0; i < ROWS; i++)
                bad += !same(want[k][i], got[k][i]);
        CHECK_INT(bad, 0);
        /* Damaged, cut, or of other specs: refused. */
        struct papertape_spark *other = NULL;
        CHECK_INT(papertape_spark_indicators("sma:21", &other, err, sizeof(err)), 0);
        CHECK_INT(papertape_spark_load(other, "A", (uint8_t *)state, n, err, sizeof(err)), -EINVAL);
        CHECK(strstr(err, "other specifications") != NULL);
        CHECK_INT(papertape_spark_load(second, "A", (uint8_t *)state, n - 8, err, sizeof(err)), -EINVAL);
        state[0] ^= 1;
        CHECK_INT(papertape_spark_load(second, "A", (uint8_t *)state, n, err, sizeof(err)), -EINVAL);
        CHECK(strstr(err, "this version") != NULL);
        free(state);
        papertape_spark_close(other);
        papertape_spark_close(first);
        papertape_spark_close(second);
    }
    room_free(want, width);
    room_free(got, width);
}

/* What a batch is refused for: `part` of the sentence. */
static void refuses(const struct bars *b, const struct made_column columns[], int64_t from, int64_t n,
                    const char *part)
{
    char err[PAPERTAPE_SPARK_ERROR_MAX] = "";
    struct papertape_spark *run = NULL;
    struct ArrowArray batch, out;
    struct ArrowSchema schema, out_schema;
    (void)b;
    memset(&out, 0x5a, sizeof(out));
    memset(&out_schema, 0x5a, sizeof(out_schema));
    const struct ArrowArray untouched = out;
    CHECK_INT(papertape_spark_indicators("sma:3\nrsi", &run, err, sizeof(err)), 0);
    made_batch(columns, COLUMNS, from, n, &batch, &schema);
    CHECK_INT(papertape_spark_update(run, &batch, &schema, &out, &out_schema, err, sizeof(err)), -EINVAL);
    CHECK(memcmp(&out, &untouched, sizeof(out)) == 0);
    CHECK_INT(made_alive, 0);
    if (!strstr(err, part))
        fprintf(stderr, "  \"%s\" without \"%s\"\n", err, part);
    CHECK(strstr(err, part) != NULL);
    papertape_spark_close(run);
}

/* Each fault is put into a copy of the bars. */
static void test_refusals(struct bars *b)
{
    struct made_column columns[COLUMNS];
    columns_of(b, columns);
    int64_t time = b->time[5];
    b->time[5] = b->time[4];
    refuses(b, columns, 0, 10, "ADA at 2023-11-14T22:17:20Z: two bars have this time");
    b->time[5] = b->time[3];
    refuses(b, columns, 0, 10, "it comes after a later bar");
    b->time[5] = INT64_MAX / 2;
    refuses(b, columns, 0, 10, "no timestamp from 1677 to 2262");
    b->time[5] = time;
    b->symbol[7] = "AAA";
    refuses(b, columns, 0, 10, "AAA comes after ADA: rows in the order of symbol and timestamp");
    b->symbol[7] = "ADA";
    const double close = b->prices[3][6], volume = b->prices[4][6], high = b->prices[1][6];
    b->prices[3][6] = NAN;
    refuses(b, columns, 0, 10, "ADA at 2023-11-14T22:19:20Z: close is not finite");
    b->prices[3][6] = high * 2;
    refuses(b, columns, 0, 10, "close is outside low to high");
    b->prices[3][6] = close;
    b->prices[1][6] = b->prices[2][6] / 2;
    refuses(b, columns, 0, 10, "high is below low");
    b->prices[1][6] = high;
    b->prices[4][6] = -1;
    refuses(b, columns, 0, 10, "negative volume");
    b->prices[4][6] = volume;
    b->null[6] = true;
    columns[4].null = b->null;
    refuses(b, columns, 0, 10, "low is null");
    columns[4].null = NULL;
    columns[0].null = b->null;
    refuses(b, columns, 0, 10, "a row has no symbol");
    columns[0].null = NULL;
    columns[1].null = b->null;
    refuses(b, columns, 0, 10, "no timestamp");
    columns[1].null = NULL;
    b->null[6] = false;
    columns[2].name = "opening";
    refuses(b, columns, 0, 10, "column open is missing: float64 is needed");
    columns[2].name = "open";
    columns[6].format = "l";
    refuses(b, columns, 0, 10, "column volume has Arrow's type \"l\": float64 is needed");
    columns[6].format = "g";

    char err[PAPERTAPE_SPARK_ERROR_MAX];
    struct papertape_spark *run = NULL;
    CHECK_INT(papertape_spark_indicators("", &run, err, sizeof(err)), -EINVAL);
    CHECK_INT(papertape_spark_indicators("sma:20\nsma", &run, err, sizeof(err)), 0);
    papertape_spark_close(run);
    run = NULL;
    CHECK_INT(papertape_spark_indicators("sma:20\nsma:20", &run, err, sizeof(err)), -EINVAL);
    CHECK(strstr(err, "sma_20 is asked for twice") != NULL);
    CHECK_INT(papertape_spark_indicators("smaa", &run, err, sizeof(err)), -EINVAL);
    CHECK(run == NULL);
    int64_t bars = 7;
    CHECK_INT(papertape_spark_indicators("ema:14\nobv", &run, err, sizeof(err)), 0);
    CHECK_INT(papertape_spark_warmup(run, &bars, err, sizeof(err)), -EOPNOTSUPP);
    CHECK(strstr(err, "obv remembers") != NULL);
    CHECK_INT(bars, 7);
    papertape_spark_close(run);
    CHECK_INT(papertape_spark_indicators("ema:14\nrsi", &run, err, sizeof(err)), 0);
    CHECK_INT(papertape_spark_warmup(run, &bars, err, sizeof(err)), 0);
    CHECK(bars > 400 && bars < 600);
    papertape_spark_refuse_gaps(run, 60000000000);
    struct ArrowArray batch;
    struct ArrowSchema schema;
    made_batch(columns, COLUMNS, 0, 2, &batch, &schema);
    CHECK_INT(papertape_spark_update(run, &batch, &schema, NULL, NULL, err, sizeof(err)), 0);
    made_batch(columns, COLUMNS, 5, 2, &batch, &schema);
    CHECK_INT(papertape_spark_update(run, &batch, &schema, NULL, NULL, err, sizeof(err)), -EINVAL);
    CHECK(strstr(err, "bars missing between it and 2023-11-14T22:14:20Z: 3") != NULL);
    papertape_spark_close(run);
}

/* Epochs in s, ms, us and ns are one time. */
static void test_epochs(struct bars *b)
{
    struct made_column columns[COLUMNS];
    columns_of(b, columns);
    columns[1].format = "l";
    char err[PAPERTAPE_SPARK_ERROR_MAX];
    double **want = room(1), **got = room(1);
    for (int64_t unit = 1; unit <= 1000000000; unit *= 1000) {
        struct papertape_spark *run = NULL;
        for (int i = 0; i < ROWS; i++)
            b->time[i] = (int64_t)b->series[0].time[i] * unit;
        CHECK_INT(papertape_spark_indicators("vwap:13.5", &run, err, sizeof(err)), 0);
        CHECK_INT(give(run, columns, COLUMNS, 0, ROWS, unit == 1 ? want : got, err), 0);
        for (int i = 0; i < ROWS && unit > 1; i++)
            CHECK(same(want[0][i], got[0][i]));
        papertape_spark_close(run);
    }
    room_free(want, 1);
    room_free(got, 1);
}

int main(void)
{
    rng = random_seeded("spark/indicators", 31);
    CHECK_INT(papertape_spark_version(), PAPERTAPE_SPARK_VERSION);
    struct bars *bars = bars_make();
    test_reference(bars);
    test_features(bars);
    test_states(bars);
    test_refusals(bars);
    test_epochs(bars); /* last: it changes the times */
    bars_free(bars);
    return check_done("spark/indicators");
}
