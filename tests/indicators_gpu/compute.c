/* indicator_compute()'s requests: what it refuses, in which words, and where the bars begin. */
#include "indicators_gpu/fast/set.h"
#include "indicators_gpu/indicators.h"

#include <errno.h>

#include "tests/check.h"
#include "tests/indicators_gpu/fast_series.h"
#include "tests/indicators_gpu/specs.h"

enum { N = 3000 };

struct fixture {
    struct fast_series s;
    struct indicator_spec specs[3];
    struct fast_outputs out;
    struct indicator_request request;
};

static void fixture_make(struct fixture *f, bool f32)
{
    f->s = fast_series_make(N, FAST_WALK, f32, 0);
    f->specs[0] = test_spec("rsi:14");
    f->specs[1] = test_spec("macd");
    f->specs[2] = test_spec("atr:20");
    f->out = fast_outputs_make(5, N, f32, 0);
    f->request = fast_request(&f->s, f->specs, 3, &f->out, INDICATOR_ISA_BEST);
}

static void fixture_free(struct fixture *f)
{
    fast_outputs_free(&f->out);
    fast_series_free(&f->s);
}

static void refused(const struct indicator_request *request, const char *text)
{
    char err[200] = "";
    CHECK_INT(indicator_compute(request, err, sizeof(err)), -EINVAL);
    CHECK_STR(err, text);
}

static void accepted(const struct indicator_request *request)
{
    char err[200] = "";
    CHECK_INT(indicator_compute(request, err, sizeof(err)), 0);
    CHECK_STR(err, "");
}

static void test_refusals(bool f32)
{
    struct fixture f;
    fixture_make(&f, f32);
    struct indicator_request *request = &f.request;
    accepted(request);

    f.specs[0].options[0] = 0;
    refused(request, "rsi's option period is 0: it goes from 1 to 100000, whole numbers only");
    f.specs[0].options[0] = 2.5;
    refused(request, "rsi's option period is 2.5: it goes from 1 to 100000, whole numbers only");
    f.specs[0].options[0] = NAN;
    refused(request, "rsi's option period is nan: it goes from 1 to 100000, whole numbers only");
    f.specs[0].options[0] = 14;

    request->columns[2].values = NULL;
    refused(request, "the column low is missing");
    request->columns[2].values = f.s.cells[2];
    request->columns[3].n = N - 1;
    refused(request, "the column close has 2999 bars where high has 3000: all need as many");
    request->columns[3].n = N;
    request->columns[1].values = (char *)f.s.cells[1] + 1;
    refused(request, f32 ? "the column high is misaligned: its address has to be a multiple of 4"
                         : "the column high is misaligned: its address has to be a multiple of 8");
    request->columns[1].values = f.s.cells[1];

    void *at[5];
    memcpy(at, f.out.at, sizeof(at));
    request->out = at;
    at[1] = NULL;
    refused(request, "the output macd_12_26_9.macd is missing");
    at[1] = (char *)f.out.at[1] + 2;
    refused(request,
            f32 ? "the output macd_12_26_9.macd is misaligned: its address has to be a multiple of 4"
                : "the output macd_12_26_9.macd is misaligned: its address has to be a multiple of 8");
    at[1] = (char *)at[0] + (N - 1) * fast_cell(&f.out);
    refused(request, "the output rsi_14 overlaps the output macd_12_26_9.macd: each needs memory of its own");
    at[1] = at[0];
    char err[200] = "";
    CHECK_INT(indicator_compute(request, err, sizeof(err)), -EINVAL);
    CHECK(strstr(err, "macd_12_26_9.macd") && strstr(err, "rsi_14"));
    at[1] = f.out.at[1];
    at[4] = f.s.cells[3];
    refused(request, "the output atr_20 overlaps the column close: each needs memory of its own");
    at[4] = f.out.at[4];
    request->columns[1].values = request->columns[2].values = f.s.cells[3]; /* inputs may be one */
    accepted(request);
    fixture_free(&f);
}

static void test_values(bool f32)
{
    struct fixture f;
    fixture_make(&f, f32);
    double close = f.s.wide[3][1500], low = f.s.wide[2][2999], high = f.s.wide[1][0];
    fast_series_put(&f.s, 3, 1500, NAN);
    refused(
        &f.request,
        "bar 1500 of the column close is not a number: only finite values may follow the first complete bar");
    fast_series_put(&f.s, 3, 1500, close);
    fast_series_put(&f.s, 2, 2999, -INFINITY);
    refused(&f.request,
            "bar 2999 of the column low is infinite: only finite values may follow the first complete bar");
    fast_series_put(&f.s, 2, 2999, low);
    fast_series_put(&f.s, 1, 0, INFINITY);
    refused(&f.request,
            "bar 0 of the column high is infinite: only finite values may follow the first complete bar");
    fast_series_put(&f.s, 1, 0, high);
    accepted(&f.request);
    fast_series_put(&f.s, 4, 7, NAN); /* a column that no row reads */
    accepted(&f.request);
    fixture_free(&f);
}

/* Rows begin where their own columns do. */
static void test_starts(bool f32)
{
    struct fixture f;
    fixture_make(&f, f32);
    for (size_t i = 0; i < 1100; i++)
        fast_series_put(&f.s, 1, i, NAN);
    for (size_t i = 0; i < 5; i++)
        fast_series_put(&f.s, 3, i, NAN);
    accepted(&f.request);
    for (size_t i = 0; i < N; i++) {
        CHECK(isnan(fast_output(&f.out, 0, i)) == (i < 5 + 14));
        CHECK(isnan(fast_output(&f.out, 1, i)) == (i < 5 + 33));
        CHECK(isnan(fast_output(&f.out, 4, i)) == (i < 1100 + 20));
    }
    CHECK(fast_outputs_sound(&f.out));

    struct fast_outputs reference = fast_outputs_make(1, N, false, 0);
    struct indicator_columns wide = fast_series_wide(&f.s);
    CHECK_INT(indicator_reference(&f.specs[2], &wide, N, (double **)reference.at), 0);
    for (size_t i = 1120; i < N; i++)
        CHECK_NEAR(fast_output(&f.out, 4, i), fast_output(&reference, 0, i), f32 ? 2e-6 * f.s.top : 1e-9);
    fast_outputs_free(&reference);

    for (size_t i = 0; i < N; i++)
        fast_series_put(&f.s, 3, i, NAN);
    accepted(&f.request);
    for (size_t k = 0; k < 5; k++)
        CHECK(isnan(fast_output(&f.out, k, 0)) && isnan(fast_output(&f.out, k, N - 1)));
    fixture_free(&f);
}

/* A row without a kernel could not be computed. */
static void test_kernels(void)
{
    size_t n;
    const struct indicator *const *rows = indicator_rows(&n);
    for (enum indicator_isa isa = INDICATOR_ISA_BASELINE; isa <= INDICATOR_ISA_AVX512; isa++)
        for (size_t i = 0; i < n && indicators_fast_set(isa, INDICATOR_F64); i++)
            if (!indicators_fast_set(isa, INDICATOR_F64)->kernels[rows[i]->id]) {
                fprintf(stderr, "  %s has no kernel for %s\n", rows[i]->name, indicator_isa_name(isa));
                CHECK(false);
            }
}

static void test_nothing(void)
{
    struct indicator_request request = {.precision = INDICATOR_F32};
    accepted(&request);
    struct indicator_spec spec = test_spec("ema:14");
    request.specs = &spec;
    request.n_specs = 1;
    accepted(&request); /* no bars */
    struct indicator_request too_much = {.isa = INDICATOR_ISA_AVX512 + 1};
    char err[200] = "";
    CHECK_INT(indicator_compute(&too_much, err, sizeof(err)), -EINVAL);

    CHECK(indicator_isa_best() != INDICATOR_ISA_BEST);
    CHECK_STR(indicator_isa_name(INDICATOR_ISA_BASELINE), "baseline");
    CHECK_STR(indicator_isa_name(INDICATOR_ISA_AVX2), "avx2");
    CHECK_STR(indicator_isa_name(INDICATOR_ISA_AVX512), "avx512");
    CHECK_STR(indicator_isa_name(INDICATOR_ISA_BEST), indicator_isa_name(indicator_isa_best()));
}

int main(void)
{
    for (int f32 = 0; f32 < 2; f32++) {
        test_refusals(f32);
        test_values(f32);
        test_starts(f32);
    }
    test_nothing();
    test_kernels();
    return check_done("indicators_gpu/compute");
}
