/* Indicators and features over Arrow batches: the reference's bits wherever a batch is cut, a memory that
 * starts again with each symbol and is handed on as bytes. */
#include "spark/native/papertape_spark.h"

#include <errno.h>

#include "indicators_gpu/features/features.h"
#include "tests/indicators_gpu/specs.h"
#include "tests/spark/three.h"

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

/* One column of lists: the cells of the columns, a row after the other, over batches cut anywhere. */
static void test_vector(const char *set, const struct made_column columns[COLUMNS], double *const cells[])
{
    char err[PAPERTAPE_SPARK_ERROR_MAX];
    struct papertape_spark *run = NULL;
    CHECK_INT(papertape_spark_features(set, 60, &run, err, sizeof(err)), 0);
    CHECK_INT(papertape_spark_as_vector(run, "cells", err, sizeof(err)), 0);
    size_t width = papertape_spark_width(run), bad = 0;
    for (int64_t from = 0, n; from < ALL; from += n) {
        struct ArrowArray batch, made;
        struct ArrowSchema schema, made_schema;
        n = random_between(&rng, 0, ALL - from);
        made_batch(columns, COLUMNS, from, n, &batch, &schema);
        CHECK_INT(papertape_spark_update(run, &batch, &schema, &made, &made_schema, err, sizeof(err)), 0);
        CHECK_STR(made_schema.children[0]->name, "cells");
        CHECK_STR(made_schema.children[0]->format, "+l");
        CHECK_STR(made_schema.children[0]->children[0]->format, "f");
        const int32_t *ends = made.children[0]->buffers[1];
        const float *values = made.children[0]->children[0]->buffers[1];
        CHECK_INT(made.children[0]->children[0]->length, (int64_t)width * n);
        for (int64_t i = 0; i < n; i++)
            for (size_t k = 0; k < width; k++)
                bad += !same(cells[k][from + i], (double)values[ends[i] + (int32_t)k]);
        CHECK_INT(ends[n], (int64_t)width * n);
        made.release(&made);
        made_schema.release(&made_schema);
    }
    CHECK_INT(bad, 0);
    papertape_spark_close(run);
    CHECK_INT(papertape_spark_indicators("sma", &run, err, sizeof(err)), 0);
    CHECK_INT(papertape_spark_as_vector(run, "cells", err, sizeof(err)), -EINVAL);
    CHECK(strstr(err, "a vector is of features") != NULL);
    papertape_spark_close(run);
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
    test_vector(text, columns, got);
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
    CHECK_INT(feature_set_fit(again, &bars, 0, ROWS / 2, err, sizeof(err)), 0);
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

int main(void)
{
    rng = random_seeded("spark/indicators", 31);
    CHECK_INT(papertape_spark_version(), PAPERTAPE_SPARK_VERSION);
    struct bars *bars = bars_make();
    test_reference(bars);
    test_features(bars);
    test_states(bars);
    bars_free(bars);
    return check_done("spark/indicators");
}
