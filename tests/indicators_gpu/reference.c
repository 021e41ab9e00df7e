/* The float64 reference: edges of every row, and values against the definitions of docs/indicators.md written
 * out here again, naively and in long double, for the rows that have such a definition. */
#include "indicators_gpu/indicators.h"

#include <errno.h>

#include "tests/check.h"
#include "tests/indicators_gpu/series.h"
#include "tests/indicators_gpu/specs.h"

typedef long double real;

static real mean(const real *x, size_t n)
{
    real sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return sum / (real)n;
}

/* Fills y[first..n) with the exponential average whose seed is the mean of x[from..first]. */
static void smooth(const real *x, size_t from, size_t first, size_t n, real factor, real *y)
{
    y[first] = mean(x + from, first - from + 1);
    for (size_t i = first + 1; i < n; i++)
        y[i] = factor * x[i] + (1 - factor) * y[i - 1];
}

struct definition {
    const char *name;
    void (*compute)(const struct series *s, const double options[], real *out[], real *work[]);
};

static void define_sma(const struct series *s, const double options[], real *out[], real *work[])
{
    size_t p = (size_t)options[0];
    for (size_t i = p - 1; i < s->n; i++)
        out[0][i] = mean(work[0] + i + 1 - p, p);
}

static void define_ema(const struct series *s, const double options[], real *out[], real *work[])
{
    size_t p = (size_t)options[0];
    smooth(work[0], 0, p - 1, s->n, 2 / (real)(p + 1), out[0]);
}

static void define_rsi(const struct series *s, const double options[], real *out[], real *work[])
{
    size_t p = (size_t)options[0];
    real *gain = work[1], *loss = work[2], *g = work[3], *l = work[4];
    for (size_t i = 1; i < s->n; i++) {
        real change = work[0][i] - work[0][i - 1];
        gain[i] = fmaxl(change, 0);
        loss[i] = fmaxl(-change, 0);
    }
    smooth(gain, 1, p, s->n, 1 / (real)p, g);
    smooth(loss, 1, p, s->n, 1 / (real)p, l);
    for (size_t i = p; i < s->n; i++)
        out[0][i] = g[i] + l[i] < 1e-290L ? 0 : 100 * g[i] / (g[i] + l[i]);
}

static void define_macd(const struct series *s, const double options[], real *out[], real *work[])
{
    size_t a = (size_t)options[0], b = (size_t)options[1], p = (size_t)options[2];
    size_t fast = a < b ? a : b, slow = a < b ? b : a, first = slow + p - 2;
    smooth(work[0], slow - fast, slow - 1, s->n, 2 / (real)(fast + 1), work[1]);
    smooth(work[0], 0, slow - 1, s->n, 2 / (real)(slow + 1), work[2]);
    for (size_t i = slow - 1; i < s->n; i++)
        work[3][i] = work[1][i] - work[2][i];
    smooth(work[3], slow - 1, first, s->n, 2 / (real)(p + 1), out[1]);
    for (size_t i = first; i < s->n; i++) {
        out[0][i] = work[3][i];
        out[2][i] = work[3][i] - out[1][i];
    }
}

static void define_atr(const struct series *s, const double options[], real *out[], real *work[])
{
    size_t p = (size_t)options[0];
    for (size_t i = 1; i < s->n; i++) {
        real h = s->high[i], l = s->low[i], c = s->close[i - 1];
        work[1][i] = fmaxl(h - l, fmaxl(fabsl(h - c), fabsl(l - c)));
    }
    smooth(work[1], 1, p, s->n, 1 / (real)p, out[0]);
}

static const struct definition definitions[] = {
    {"atr", define_atr}, {"ema", define_ema}, {"macd", define_macd}, {"rsi", define_rsi}, {"sma", define_sma},
};

static const struct definition *definition_of(const char *name)
{
    for (size_t i = 0; i < sizeof(definitions) / sizeof(definitions[0]); i++)
        if (strcmp(definitions[i].name, name) == 0)
            return &definitions[i];
    return NULL;
}

enum { N_WORK = 5 };

/* Tolerance: relative to the value, plus what a mean of prices loses when two of them are subtracted. */
static void compare(const struct indicator_spec *spec, const struct series *s, const struct outputs *o)
{
    const struct definition *definition = definition_of(spec->row->name);
    size_t first = indicator_lookback(spec), bad = 0;
    real *out[INDICATOR_OUTPUTS_MAX], *work[N_WORK], top = 0;
    for (size_t k = 0; k < INDICATOR_OUTPUTS_MAX; k++)
        out[k] = calloc(s->n + 1, sizeof(real));
    for (size_t k = 0; k < N_WORK; k++)
        work[k] = calloc(s->n + 1, sizeof(real));
    for (size_t i = 0; i < s->n; i++) {
        work[0][i] = s->close[i];
        top = fmaxl(top, s->high[i]);
    }
    if (definition && s->n > first)
        definition->compute(s, spec->options, out, work);
    for (size_t k = 0; k < o->n_outputs && definition; k++)
        for (size_t i = 0; i < s->n; i++) {
            real scale = strcmp(spec->row->name, "rsi") == 0 ? 100 : top;
            if (i < first ? !isnan(o->at[k][i])
                          : !(fabsl(o->at[k][i] - out[k][i]) <= 1e-11L * fabsl(out[k][i]) + 1e-13L * scale))
                bad++;
        }
    CHECK_INT(bad, 0);
    for (size_t k = 0; k < INDICATOR_OUTPUTS_MAX; k++)
        free(out[k]);
    for (size_t k = 0; k < N_WORK; k++)
        free(work[k]);
}

/* Finite bars give finite outputs, from the lookback on and not before. */
static size_t wrong_cells(const struct indicator_spec *spec, const struct outputs *o)
{
    size_t first = indicator_lookback(spec), wrong = 0;
    for (size_t k = 0; k < o->n_outputs; k++)
        for (size_t i = 0; i < o->n; i++)
            wrong += i < first ? !isnan(o->at[k][i]) : !isfinite(o->at[k][i]);
    return wrong;
}

static size_t n_series, n_long;

static void test_series(const char *text, enum series_kind kind, size_t n)
{
    struct indicator_spec spec = test_spec(text);
    struct series s = series_make(n, kind, 42 + n);
    struct indicator_columns in = series_columns(&s);
    struct outputs o = outputs_make(spec.row, n);
    unsigned long before = check_failures;
    CHECK_INT(indicator_reference(&spec, &in, n, o.at), 0);
    CHECK(outputs_sound(&o));
    CHECK_INT(wrong_cells(&spec, &o), 0);
    if (kind != SERIES_JUMPS)
        compare(&spec, &s, &o);
    if (check_failures > before)
        fprintf(stderr, "  %s, %s, %zu bars\n", text, series_names[kind], n);
    outputs_free(&o);
    series_free(&s);
    n_series++;
    n_long += n == TEST_LONG;
}

static void test_sizes(const char *text, bool at_length)
{
    struct indicator_spec spec = test_spec(text);
    size_t lookback = indicator_lookback(&spec);
    const size_t sizes[TEST_SIZES] = {0,  1,   lookback ? lookback - 1 : 0, lookback, lookback + 1, 31, 32,
                                      33, 1000};
    for (enum series_kind kind = 0; kind < SERIES_KINDS; kind++) {
        for (size_t i = 0; i < test_spec_sizes(&spec, kind); i++)
            test_series(text, kind, sizes[i]);
        if (kind == SERIES_WALK || kind == SERIES_JUMPS)
            test_series(text, kind, test_spec_longish(&spec));
    }
    if (at_length)
        test_series(text, SERIES_WALK, TEST_LONG);
}

/* Leading NaNs shift the outputs and change none. */
static void test_leading_nan(const struct indicator_spec *spec)
{
    enum { N = 500, SKIP = 37 };
    struct series s = series_make(N, SERIES_WALK, 7);
    struct indicator_columns in = series_columns(&s);
    struct outputs whole = outputs_make(spec->row, N), tail = outputs_make(spec->row, N - SKIP);
    struct indicator_columns shifted = {s.open + SKIP,  s.high + SKIP,   s.low + SKIP,
                                        s.close + SKIP, s.volume + SKIP, s.time + SKIP};
    CHECK_INT(indicator_reference(spec, &shifted, N - SKIP, tail.at), 0);
    for (size_t i = 0; i < SKIP; i++)
        series_spoil(&s, i, NAN);
    CHECK_INT(indicator_reference(spec, &in, N, whole.at), 0);
    for (size_t k = 0; k < spec->row->n_outputs; k++) {
        for (size_t i = 0; i < SKIP; i++)
            CHECK(isnan(whole.at[k][i]));
        CHECK(memcmp(whole.at[k] + SKIP, tail.at[k], (N - SKIP) * sizeof(double)) == 0);
    }
    outputs_free(&whole);
    outputs_free(&tail);

    size_t start = 0, bad = 0;
    CHECK_INT(indicator_check(spec->row, &in, N, &start, &bad), 0);
    CHECK_INT(start, SKIP);

    const double wrong[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        struct outputs untouched = outputs_make(spec->row, N);
        struct indicator_bar kept = series_bar(&s, 300);
        series_spoil(&s, 300, wrong[i]);
        CHECK_INT(indicator_reference(spec, &in, N, untouched.at), -EINVAL);
        CHECK_INT(indicator_check(spec->row, &in, N, &start, &bad), -EINVAL);
        CHECK_INT(bad, 300);
        s.high[300] = kept.high;
        s.close[300] = kept.close;
        s.volume[300] = kept.volume;
        for (size_t k = 0; k < spec->row->n_outputs; k++)
            for (size_t j = 0; j < N; j++)
                CHECK(untouched.at[k][j] == OUTPUTS_POISON);
        outputs_free(&untouched);
    }

    struct outputs none = outputs_make(spec->row, N);
    for (size_t i = 0; i < N; i++)
        series_spoil(&s, i, NAN);
    CHECK_INT(indicator_reference(spec, &in, N, none.at), 0);
    CHECK(outputs_sound(&none));
    CHECK(isnan(none.at[0][N - 1]));
    outputs_free(&none);
    series_free(&s);
}

static void test_known(void)
{
    double close[] = {1, 2, 3, 4, 5, 4, 3}, out[7], macd[7], hist[7];
    struct indicator_columns in = {.close = close, .high = close, .low = close};
    double *outs[] = {out, macd, hist};

    struct indicator_spec spec = test_spec("sma:3");
    CHECK_INT(indicator_reference(&spec, &in, 7, outs), 0);
    CHECK(isnan(out[1]) && out[2] == 2.0 && out[4] == 4.0 && out[6] == 4.0);
    spec = test_spec("ema:3");
    CHECK_INT(indicator_reference(&spec, &in, 7, outs), 0);
    CHECK(isnan(out[1]) && out[2] == 2.0 && out[3] == 3.0 && out[5] == 4.0 && out[6] == 3.5);
    spec = test_spec("rsi:2");
    CHECK_INT(indicator_reference(&spec, &in, 7, outs), 0);
    CHECK(isnan(out[1]) && out[2] == 100.0 && out[4] == 100.0 && out[5] == 50.0 && out[6] == 25.0);
    spec = test_spec("atr:2");
    CHECK_INT(indicator_reference(&spec, &in, 7, outs), 0);
    CHECK(isnan(out[1]) && out[2] == 1.0 && out[6] == 1.0);
    spec = test_spec("macd:1,1,1");
    CHECK_INT(indicator_reference(&spec, &in, 7, outs), 0);
    CHECK(out[0] == 0.0 && macd[0] == 0.0 && hist[6] == 0.0);

    double flat[20];
    for (size_t i = 0; i < 20; i++)
        flat[i] = 7.5;
    in.close = flat;
    double rsi[20];
    spec = test_spec("rsi:14");
    CHECK_INT(indicator_reference(&spec, &in, 20, (double *[]){rsi}), 0);
    CHECK(isnan(rsi[13]) && rsi[14] == 0.0 && rsi[19] == 0.0);

    in.high = NULL;
    spec = test_spec("atr:2");
    CHECK_INT(indicator_reference(&spec, &in, 7, outs), -EINVAL);
}

/* Sessions begin `start` hours after midnight UTC, at the very second; without volume the price stands in. */
static void test_sessions(void)
{
    enum { N = 6 };
    double price[N] = {10, 20, 30, 40, 50, 60}, volume[N] = {0, 1, 3, 2, 0, 2};
    double time[N] = {86399, 86400, 86401, 86400 + 48599, 86400 + 48600, 2 * 86400}, out[N];
    struct indicator_columns in = {
        .high = price, .low = price, .close = price, .volume = volume, .time = time};

    struct indicator_spec spec = test_spec("vwap");
    CHECK_INT(indicator_reference(&spec, &in, N, (double *[]){out}), 0);
    CHECK(out[0] == 10.0 && out[1] == 20.0 && out[2] == 27.5 && out[3] == 190.0 / 6.0);
    CHECK(out[4] == 190.0 / 6.0 && out[5] == 60.0);
    spec = test_spec("vwap:13.5");
    CHECK_INT(indicator_reference(&spec, &in, N, (double *[]){out}), 0);
    CHECK(out[0] == 10.0 && out[3] == 190.0 / 6.0 && out[4] == 50.0 && out[5] == 60.0);
    spec = test_spec("vwap:0.1"); /* 360 s, however 0.1 hours are rounded */
    time[2] = 86400 + 360;
    CHECK_INT(indicator_reference(&spec, &in, N, (double *[]){out}), 0);
    CHECK(out[1] == 20.0 && out[2] == 30.0);
}

/* Prices that differ only by rounding are a flat market, at any price. */
static void test_rounding(void)
{
    enum { N = 40 };
    static const char *const flat[] = {"cci:14", "willr:14", "stochf:5,3", "stoch:5,3,3", "mfi:14"};
    static const double prices[] = {1e-9, 0.1, 7.5, 123456.7};
    for (size_t p = 0; p < sizeof(prices) / sizeof(prices[0]); p++) {
        double price[N], volume[N], out[N], second[N];
        for (size_t i = 0; i < N; i++) {
            price[i] = prices[p] * (1.0 + (double)(i % 3) * 2e-15);
            volume[i] = 1.0;
        }
        struct indicator_columns in = {.high = price, .low = price, .close = price, .volume = volume};
        for (size_t k = 0; k < sizeof(flat) / sizeof(flat[0]); k++) {
            struct indicator_spec spec = test_spec(flat[k]);
            CHECK_INT(indicator_reference(&spec, &in, N, (double *[]){out, second}), 0);
            for (size_t i = indicator_lookback(&spec); i < N; i++)
                CHECK(out[i] == 0.0 && !signbit(out[i]));
            price[N - 1] *= 1.0 + 1e-12;
            CHECK_INT(indicator_reference(&spec, &in, N, (double *[]){out, second}), 0);
            CHECK((out[N - 1] != 0.0) == (strcmp(flat[k], "willr:14") != 0)); /* which has 0 at the highest */
            price[N - 1] = prices[p];
        }
    }

    double from_zero[] = {0, 0, 2, 3}, out[4];
    struct indicator_columns in = {.close = from_zero};
    struct indicator_spec spec = test_spec("roc:2");
    CHECK_INT(indicator_reference(&spec, &in, 4, (double *[]){out}), 0);
    CHECK(isnan(out[1]) && out[2] == 0.0 && out[3] == 0.0);
    spec = test_spec("ppo:2,2,0");
    CHECK_INT(indicator_reference(&spec, &in, 4, (double *[]){out}), 0);
    CHECK(isnan(out[0]) && out[1] == 0.0 && out[3] == 0.0);
}

/* Prices and volumes of 0, and prices below, make no NaN and no infinity. */
static void test_zeros(void)
{
    enum { N = 400 };
    for (size_t t = 0; t < TEST_SPECS; t++) {
        struct indicator_spec spec = test_spec(test_specs[t]);
        struct series s = series_make(N, SERIES_WALK, 6);
        for (size_t i = 0; i < N; i++) {
            if (i % 50 < 7)
                s.open[i] = s.high[i] = s.low[i] = s.close[i] = i < 200 ? 0.0 : -2.0;
            if (i % 40 < 30)
                s.volume[i] = 0.0;
        }
        struct indicator_columns in = series_columns(&s);
        struct outputs o = outputs_make(spec.row, N);
        size_t bad = 0;
        CHECK_INT(indicator_reference(&spec, &in, N, o.at), 0);
        for (size_t k = 0; k < spec.row->n_outputs; k++)
            for (size_t i = indicator_lookback(&spec); i < N; i++)
                bad += !isfinite(o.at[k][i]);
        CHECK_INT(bad, 0);
        if (bad > 0)
            fprintf(stderr, "  %s\n", test_specs[t]);
        outputs_free(&o);
        series_free(&s);
    }
}

/* Averages that faded in a market that stood still count as 0: no digits of theirs show, and no infinity. */
static void test_faded(void)
{
    enum { MOVES = 20, N = MOVES + 1010 };
    static const struct {
        const char *spec;
        size_t still; /* bars after which the average is below 1e-290, and above 0 */
        double value;
    } rows[] = {
        {"cvi:2,1", 640, 0.0}, {"tsi:2,2", 640, 0.0}, {"smi:2,2,2,2", 640, 0.0}, {"rvi:2,2", 1010, 50.0}};
    for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
        double high[N], low[N], close[N], out[N], second[N];
        size_t n = MOVES + rows[r].still;
        for (size_t i = 0; i < n; i++) {
            bool moves = i < MOVES || i == n - 1;
            high[i] = moves ? 12.0 : 10.0;
            low[i] = moves ? 9.0 : 10.0;
            close[i] = moves ? 10.0 + (double)(i % 3) : 10.0;
        }
        struct indicator_columns in = {.high = high, .low = low, .close = close};
        struct indicator_spec spec = test_spec(rows[r].spec);
        CHECK_INT(indicator_reference(&spec, &in, n, (double *[]){out, second}), 0);
        CHECK(out[MOVES - 1] != rows[r].value || spec.row->id == INDICATOR_CVI); /* its range is one there */
        CHECK(out[n - 2] == rows[r].value);
        CHECK(isfinite(out[n - 1]) && (out[n - 1] == 0.0) == (spec.row->id == INDICATOR_CVI));
    }

    /* A product that would be infinite stays, and continues. */
    double close[] = {1e-300, 1e300, 2e300, 4e300}, volume[] = {3, 2, 1, 1}, out[4];
    struct indicator_columns in = {.close = close, .volume = volume};
    struct indicator_spec spec = test_spec("nvi");
    CHECK_INT(indicator_reference(&spec, &in, 4, (double *[]){out}), 0);
    CHECK(out[0] == 1000.0 && out[1] == 1000.0 && out[2] == 2000.0 && out[3] == 2000.0);
}

/* What breaks the contract is refused, and nothing is written. */
static void test_refusals(void)
{
    enum { N = 40 };
    double high[N], low[N], out[3 * N + 1];
    for (size_t i = 0; i < N; i++) {
        high[i] = 10.0 + (double)(i % 7);
        low[i] = 9.0;
    }
    struct indicator_columns in = {.high = high, .low = low};
    struct indicator_spec spec = test_spec("donchian:5");
    double *misaligned = (double *)((char *)out + 4);
    double *const broken[][3] = {
        {out, out + N, NULL},
        {out, out + N, out + N},
        {out, out + N, out + 2 * N - 1},
        {out, out + 1, out + 2 * N},
        {out, high, out + N},
        {low + 1, out, out + N},
        {misaligned, out + N, out + 2 * N},
    };
    for (size_t i = 0; i < sizeof(out) / sizeof(out[0]); i++)
        out[i] = OUTPUTS_POISON;
    for (size_t b = 0; b < sizeof(broken) / sizeof(broken[0]); b++)
        CHECK_INT(indicator_reference(&spec, &in, N, broken[b]), -EINVAL);

    double *const sound[] = {out, out + N, out + 2 * N};
    in.low = NULL;
    CHECK_INT(indicator_reference(&spec, &in, N, sound), -EINVAL);
    in.low = (const double *)((const char *)low + 1);
    CHECK_INT(indicator_reference(&spec, &in, N - 1, sound), -EINVAL);
    in.low = low;
    low[7] = (double)NAN;
    CHECK_INT(indicator_reference(&spec, &in, N, sound), -EINVAL);
    low[7] = 9.0;
    spec.options[0] = 0;
    CHECK_INT(indicator_reference(&spec, &in, N, sound), -EINVAL);
    for (size_t i = 0; i < sizeof(out) / sizeof(out[0]); i++)
        CHECK(out[i] == OUTPUTS_POISON);
    spec.options[0] = 5;
    CHECK_INT(indicator_reference(&spec, &in, 0, (double *[]){NULL, NULL, NULL}), 0);
    CHECK_INT(indicator_reference(&spec, &in, N, sound), 0);
    CHECK(isnan(out[3]) && out[4] == 14.0 && out[3 * N] == OUTPUTS_POISON);
}

int main(void)
{
    size_t n;
    const struct indicator *const *rows = indicator_rows(&n);
    CHECK(n >= 5);
    for (size_t i = 0; i < n; i++) {
        CHECK(i == 0 || strcmp(rows[i - 1]->name, rows[i]->name) < 0);
        CHECK(indicator_find(rows[i]->name) == rows[i]);
        CHECK(rows[i]->code && rows[i]->warmup && rows[i]->lookback && rows[i]->inputs &&
              rows[i]->n_outputs > 0);
    }
    test_specs_check();
    for (size_t i = 0; i < TEST_SPECS; i++) {
        struct indicator_spec spec = test_spec(test_specs[i]);
        test_sizes(test_specs[i], test_spec_at_length(test_specs[i]));
        test_leading_nan(&spec);
    }
    printf(
        "counts: %zu specifications, %zu series, %zu of them of %d bars; of %zu that are written once at most %d "
        "(PAPERTAPE_LONG: %d)\n",
        (size_t)TEST_SPECS, n_series, n_long, TEST_LONG, TEST_SPECS - test_specs_apart(), TEST_ONCE_LONGISH,
        TEST_LONGISH);
    test_refusals();
    test_known();
    test_sessions();
    test_rounding();
    test_zeros();
    test_faded();
    return check_done("indicators_gpu/reference");
}
