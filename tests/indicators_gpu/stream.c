/* Streams give the reference's bits: on closed bars, on forming ones, in clones, after leading NaNs. */
#include "indicators_gpu/indicators.h"

#include <errno.h>

#include "tests/check.h"
#include "tests/indicators_gpu/series.h"
#include "tests/indicators_gpu/specs.h"

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof(a)) == 0;
}

/* Does (ready, got) stand in the reference's row i? */
static bool agrees(const struct outputs *reference, size_t i, bool ready, const double got[])
{
    for (size_t k = 0; k < reference->n_outputs; k++)
        if (ready ? !same_bits(got[k], reference->at[k][i]) : !isnan(reference->at[k][i]))
            return false;
    return true;
}

static size_t n_series, n_long;

static void test_bits(const char *text, enum series_kind kind, size_t n)
{
    const struct indicator_spec parsed = test_spec(text), *spec = &parsed;
    unsigned long before = check_failures;
    struct series s = series_make(n, kind, 1234 + n);
    struct indicator_columns in = series_columns(&s);
    struct outputs reference = outputs_make(spec->row, n);
    CHECK_INT(indicator_reference(spec, &in, n, reference.at), 0);

    struct indicator_stream *stream = NULL, *clone = NULL;
    size_t bad = 0, bad_peek = 0, bad_clone = 0, wrote = 0;
    CHECK_INT(indicator_stream_open(spec, &stream), 0);
    for (size_t i = 0; i < n; i++) {
        double out[INDICATOR_OUTPUTS_MAX] = {OUTPUTS_POISON, OUTPUTS_POISON, OUTPUTS_POISON, OUTPUTS_POISON};
        struct indicator_bar bar = series_bar(&s, i), forming = bar;
        forming.close *= 1.001;
        forming.high *= 1.002;
        indicator_stream_peek(stream, &forming, out); /* another bar's values leave no trace */
        out[0] = OUTPUTS_POISON;
        bool peeked = indicator_stream_peek(stream, &bar, out);
        bad_peek += !agrees(&reference, i, peeked, out);
        out[0] = OUTPUTS_POISON;
        bool ready = indicator_stream_update(stream, &bar, out);
        bad += !agrees(&reference, i, ready, out) || ready != (i >= indicator_lookback(spec));
        wrote += (out[0] == OUTPUTS_POISON) == ready;
        for (size_t k = spec->row->n_outputs; k < INDICATOR_OUTPUTS_MAX; k++)
            wrote += out[k] != OUTPUTS_POISON;
        if (i == n / 2 || i == indicator_lookback(spec) / 2) {
            indicator_stream_close(clone);
            clone = NULL;
            CHECK_INT(indicator_stream_clone(stream, &clone), 0);
        } else if (clone) {
            bad_clone += !agrees(&reference, i, indicator_stream_update(clone, &bar, out), out);
        }
    }
    CHECK_INT(bad, 0);
    CHECK_INT(bad_peek, 0);
    CHECK_INT(bad_clone, 0);
    CHECK_INT(wrote, 0);
    CHECK_INT(indicator_stream_bars(stream), n);
    CHECK_INT(indicator_stream_refused(stream), 0);
    CHECK(indicator_stream_spec(stream)->row == spec->row);
    if (check_failures > before)
        fprintf(stderr, "  %s, %s, %zu bars\n", text, series_names[kind], n);
    n_series++;
    n_long += n == TEST_LONG;
    indicator_stream_close(clone);
    indicator_stream_close(stream);
    outputs_free(&reference);
    series_free(&s);
}

enum { FIELDS_MAX = 4096 };

struct fields {
    uint64_t counts[FIELDS_MAX];
    double numbers[FIELDS_MAX];
    size_t n_counts, n_numbers;
    bool setting;
};

static void on_number(void *ctx, double *value)
{
    struct fields *fields = ctx;
    if (fields->n_numbers == FIELDS_MAX)
        abort();
    double *at = &fields->numbers[fields->n_numbers++];
    *(fields->setting ? value : at) = fields->setting ? *at : *value;
}

static void on_count(void *ctx, uint64_t *value, uint64_t most)
{
    struct fields *fields = ctx;
    if (fields->n_counts == FIELDS_MAX)
        abort();
    uint64_t *at = &fields->counts[fields->n_counts++];
    CHECK(*value <= most);
    *(fields->setting ? value : at) = fields->setting ? *at : *value;
}

/* Taken apart and put together, at every moment of its first bars, a stream continues as before. */
static void test_visit(const struct indicator_spec *spec)
{
    enum { N = 200, AFTER = 40 };
    struct series s = series_make(N + AFTER, SERIES_WALK, 77);
    struct indicator_stream *stream = NULL;
    size_t bad = 0;
    CHECK_INT(indicator_stream_open(spec, &stream), 0);
    for (size_t i = 0; i < N; i++) {
        double out[INDICATOR_OUTPUTS_MAX], other[INDICATOR_OUTPUTS_MAX];
        static struct fields fields;
        struct indicator_stream_fields visit = {&fields, on_number, on_count};
        struct indicator_stream *clone = NULL, *rebuilt = NULL;
        fields.setting = false;
        fields.n_counts = fields.n_numbers = 0;
        indicator_stream_visit(stream, &visit);
        fields.setting = true;
        fields.n_counts = fields.n_numbers = 0;
        CHECK_INT(indicator_stream_clone(stream, &clone), 0);
        CHECK_INT(indicator_stream_open(spec, &rebuilt), 0);
        indicator_stream_visit(rebuilt, &visit);
        for (size_t k = 0; k < AFTER; k++) {
            struct indicator_bar bar = series_bar(&s, i + k);
            bool ready = indicator_stream_update(clone, &bar, out);
            bad += ready != indicator_stream_update(rebuilt, &bar, other);
            for (size_t o = 0; ready && o < spec->row->n_outputs; o++)
                bad += !same_bits(out[o], other[o]);
        }
        bad += indicator_stream_bars(rebuilt) != indicator_stream_bars(clone);
        bad += indicator_stream_refused(rebuilt) != indicator_stream_refused(clone);
        indicator_stream_close(clone);
        indicator_stream_close(rebuilt);
        struct indicator_bar bar = series_bar(&s, i);
        if (i % 50 == 49)
            bar.close = bar.high = NAN; /* refused */
        indicator_stream_update(stream, &bar, out);
    }
    CHECK_INT(bad, 0);
    indicator_stream_close(stream);
    series_free(&s);
}

/* A clone that sees other bars does not disturb its origin. */
static void test_clone_apart(const struct indicator_spec *spec)
{
    enum { N = 300 };
    struct series s = series_make(N, SERIES_WALK, 5), other = series_make(N, SERIES_WALK, 6);
    struct indicator_columns in = series_columns(&s);
    struct outputs reference = outputs_make(spec->row, N);
    CHECK_INT(indicator_reference(spec, &in, N, reference.at), 0);
    struct indicator_stream *stream, *clone;
    CHECK_INT(indicator_stream_open(spec, &stream), 0);
    CHECK_INT(indicator_stream_clone(stream, &clone), 0);
    size_t bad = 0;
    for (size_t i = 0; i < N; i++) {
        double out[INDICATOR_OUTPUTS_MAX];
        struct indicator_bar bar = series_bar(&s, i), else_bar = series_bar(&other, i);
        indicator_stream_update(clone, &else_bar, out);
        bad += !agrees(&reference, i, indicator_stream_update(stream, &bar, out), out);
    }
    CHECK_INT(bad, 0);
    indicator_stream_close(stream);
    indicator_stream_close(clone);
    indicator_stream_close(NULL);
    outputs_free(&reference);
    series_free(&s);
    series_free(&other);
}

static void test_not_finite(const struct indicator_spec *spec)
{
    enum { N = 400, SKIP = 5 };
    struct series s = series_make(N, SERIES_WALK, 8);
    struct indicator_columns in = series_columns(&s);
    struct outputs reference = outputs_make(spec->row, N);
    for (size_t i = 0; i < SKIP; i++)
        series_spoil(&s, i, NAN);
    CHECK_INT(indicator_reference(spec, &in, N, reference.at), 0);

    struct indicator_stream *stream;
    CHECK_INT(indicator_stream_open(spec, &stream), 0);
    size_t bad = 0;
    for (size_t i = 0; i < N; i++) {
        double out[INDICATOR_OUTPUTS_MAX];
        struct indicator_bar bar = series_bar(&s, i), broken = bar;
        bad += !agrees(&reference, i, indicator_stream_update(stream, &bar, out), out);
        if (i < SKIP)
            continue;
        broken.high = broken.close = broken.volume = i % 2 ? NAN : INFINITY;
        CHECK(!indicator_stream_peek(stream, &broken, out));
        CHECK(!indicator_stream_update(stream, &broken, out));
    }
    CHECK_INT(bad, 0);
    CHECK_INT(indicator_stream_bars(stream), N - SKIP);
    CHECK_INT(indicator_stream_refused(stream), N - SKIP);
    indicator_stream_close(stream);
    outputs_free(&reference);
    series_free(&s);
}

int main(void)
{
    test_specs_check();
    for (size_t i = 0; i < TEST_SPECS; i++) {
        struct indicator_spec spec = test_spec(test_specs[i]);
        size_t lookback = indicator_lookback(&spec);
        const size_t sizes[TEST_SIZES] = {
            0, 1, lookback ? lookback - 1 : 0, lookback, lookback + 1, 31, 32, 33, 1000};
        for (enum series_kind kind = 0; kind < SERIES_KINDS; kind++) {
            if (!test_spec_has(i, kind))
                continue;
            for (size_t k = 0; k < test_spec_sizes(&spec, kind); k++)
                test_bits(test_specs[i], kind, sizes[k]);
            if (kind == SERIES_WALK || kind == SERIES_JUMPS)
                test_bits(test_specs[i], kind, test_spec_longish(&spec));
        }
        if (test_spec_at_length(test_specs[i]))
            test_bits(test_specs[i], SERIES_WALK, TEST_LONG);
        test_clone_apart(&spec);
        test_visit(&spec);
        test_not_finite(&spec);
    }
    printf(
        "counts: %zu specifications, %zu series, %zu of them of %d bars; of %zu that are written once at most %d "
        "(PAPERTAPE_LONG: %d)\n",
        (size_t)TEST_SPECS, n_series, n_long, TEST_LONG, TEST_SPECS - test_specs_apart(), TEST_ONCE_LONGISH,
        TEST_LONGISH);

    struct indicator_spec wrong = test_spec("sma:20");
    struct indicator_stream *none = NULL;
    const double outside[] = {0, -1, 2.5, INDICATOR_PERIOD_MAX + 1, NAN};
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        wrong.options[0] = outside[i];
        CHECK_INT(indicator_stream_open(&wrong, &none), -EINVAL);
        CHECK(!none);
    }
    return check_done("indicators_gpu/stream");
}
