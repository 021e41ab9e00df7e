/* Feature sets: text and back, timeframes against a naive definition, cells against indicator_reference() and
 * the scalings' formulas, no look into the future, fitted on the stated bars only. */
#include "indicators_gpu/features/features.h"

#include <errno.h>

#include "tests/check.h"
#include "tests/indicators_gpu/series.h"

enum { BARS = 7000, INTERVAL_S = 300 };

/* Bars of five minutes from a quarter past an hour on, with holes in the middle and at the ends of hours. */
static struct series bars_with_holes(size_t n, uint64_t seed)
{
    struct series s = series_make(n, SERIES_WALK, seed);
    double time = 1700000100.0; /* 22:15 */
    for (size_t i = 0; i < n; i++) {
        s.time[i] = time;
        time += INTERVAL_S;
        uint64_t draw = seed + i * 2654435761u;
        if (i % 97 == 96)
            time += INTERVAL_S * (double)(draw % 30);
    }
    return s;
}

static struct feature_bars bars_of(const struct series *s, size_t n)
{
    return (struct feature_bars){series_columns(s), n, INTERVAL_S};
}

static struct feature_set *set_of(const char *text)
{
    struct feature_set *set = NULL;
    char err[256] = "";
    CHECK_INT(feature_set_parse(text, &set, err, sizeof(err)), 0);
    CHECK_STR(err, "");
    if (!set)
        abort();
    return set;
}

static const struct feature_options exact = {FEATURE_EXACT, 1}, fast = {FEATURE_FAST, 1},
                                    fast2 = {FEATURE_FAST, 2};

static float *matrix_of(const struct feature_set *set, const struct feature_bars *bars,
                        const struct feature_options *options, size_t *ret_first)
{
    size_t bytes = (bars->n * set->n * sizeof(float) + 64) / 64 * 64;
    float *out = aligned_alloc(64, bytes);
    char err[320] = "";
    if (!out)
        abort();
    memset(out, 0x5a, bytes);
    CHECK_INT(feature_matrix(set, bars, options, out, ret_first, err, sizeof(err)), 0);
    CHECK_STR(err, "");
    return out;
}

static void fit(struct feature_set *set, const struct feature_bars *bars, size_t from, size_t to)
{
    char err[320] = "";
    CHECK_INT(feature_set_fit(set, bars, from, to, err, sizeof(err)), 0);
    CHECK_STR(err, "");
}

static bool same_cells(const float *a, const float *b, size_t n)
{
    return memcmp(a, b, n * sizeof(*a)) == 0;
}

static const char small[] = "set small\n"
                            "# comments and blank lines are skipped\n"
                            "\n"
                            "close raw minmax\n"
                            "rsi:14 /100\n"
                            "ema:20 /close-1 zscore\n"
                            "macd:12,26,9.hist /close normal\n"
                            "macd:12,26,9.signal /close zscore\n"
                            "atr:14@1h /close zscore\n"
                            "ema:5@1h /close-1\n"
                            "sma:3@4h raw\n"
                            "volume@1h log1p normal\n"
                            "volume log1p\n";

/* Where the bars have no time, no time is reported, nor an earlier fit's. */
static void test_timeless(const struct feature_bars *bars)
{
    struct feature_bars timeless = *bars;
    struct feature_set *set = set_of("set a\nclose zscore\n");
    fit(set, bars, 500, 2000);
    CHECK(set->fitted_from_s == bars->columns.time[500]);
    timeless.columns.time = NULL;
    fit(set, &timeless, 100, 300);
    CHECK(set->fitted && set->fitted_from_s == 0 && set->fitted_to_s == 0);
    feature_set_destroy(set);
}

static void test_text(void)
{
    struct feature_set *set = set_of(small);
    CHECK_STR(set->name, "small");
    CHECK_INT(set->n, 10);
    CHECK(!set->fitted);
    CHECK_STR(set->features[3].name, "macd:12,26,9.hist /close");
    CHECK_STR(set->features[5].name, "atr:14@1h /close");
    CHECK_STR(set->features[7].name, "sma:3@4h");
    uint64_t layout = feature_set_layout(set);

    struct series s = bars_with_holes(BARS, 3);
    struct feature_bars bars = bars_of(&s, BARS);
    fit(set, &bars, 500, 2000);
    CHECK(set->fitted);
    CHECK(layout == feature_set_layout(set));
    CHECK(set->fitted_from_s == s.time[500] && set->fitted_to_s == s.time[1999] + INTERVAL_S);
    test_timeless(&bars);
    char *text = feature_set_text(set);
    struct feature_set *again = set_of(text);
    char *text_again = feature_set_text(again);
    CHECK_STR(text_again, text);
    CHECK(again->fitted && layout == feature_set_layout(again));
    size_t first, first_again;
    float *cells = matrix_of(set, &bars, &exact, &first),
          *cells_again = matrix_of(again, &bars, &exact, &first_again);
    CHECK_INT(first, first_again);
    CHECK(same_cells(cells, cells_again, BARS * set->n));
    free(cells);
    free(cells_again);
    free(text);
    free(text_again);
    feature_set_destroy(again);
    feature_set_destroy(set);
    series_free(&s);

    struct feature_set *other = set_of("set small\nrsi:14 /100\nclose raw minmax\n"),
                       *unscaled = set_of("set small\nclose\nrsi:14 /100 none\n"),
                       *swapped = set_of("set other\nclose minmax\nrsi:14 /100\n");
    CHECK(feature_set_layout(other) != feature_set_layout(swapped));
    CHECK(feature_set_layout(unscaled) != feature_set_layout(swapped));
    CHECK(unscaled->fitted && !other->fitted);
    feature_set_destroy(other);
    feature_set_destroy(unscaled);
    feature_set_destroy(swapped);
}

#define TEN_ZEROS "0000000000"

/* Lines may end in CR LF; a comment may hold anything. */
static void test_lines(void)
{
    struct feature_set *set =
        set_of("set a\r\n# caf\xc3\xa9\r\n\r\nrsi:14 \t/100\r\nquantile:20,0.00001 zscore 1 2");
    CHECK_STR(set->name, "a");
    CHECK_INT(set->n, 2);
    char *text = feature_set_text(set);
    CHECK_STR(text, "set a\nrsi:14 /100\nquantile:20,0.00001 zscore 1 2\n");
    struct feature_set *again = set_of(text);
    CHECK(again->fitted && again->features[1].spec.options[1] == 0.00001);
    feature_set_destroy(again);
    feature_set_destroy(set);
    free(text);
}

/* A quantile below the one before is refused. */
static void test_falling_knots(void)
{
    char text[2048] = "set a\nrsi:14 normal";
    for (int k = 0; k < FEATURE_KNOTS; k++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " %d", k == 70 ? 1 : k / 2);
    struct feature_set *set = NULL;
    char err[256] = "";
    CHECK_INT(feature_set_parse(text, &set, err, sizeof(err)), -EINVAL);
    CHECK_STR(err, "line 2: \"1\": the figures of normal do not fall");
    CHECK(!set);
}

static void test_bad_text(void)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "a line \"set NAME\" and at least one feature are needed"},
        {"set a\n", "a line \"set NAME\" and at least one feature are needed"},
        {"rsi:14\n", "a line \"set NAME\" and at least one feature are needed"},
        {"root:SECRET:19000::::\n", "line 1: \"set NAME\" is needed before the features"},
        {"rsi:14\nSECRET\n", "line 2: \"set NAME\" is needed before the features"},
        {"set\nrsi:14\n", "line 1: \"set\" takes one name of at most 31 characters"},
        {"set a\nrsi:14 /99\n",
         "line 2: \"/99\": raw, /close, /close-1, /100 or log1p, then none, zscore, minmax or normal"},
        {"set a\n\nrsi:14@7x\n", "line 3: timeframe \"7x\": a number and s, m, h or d is needed, as 1h"},
        {"set a\nmacd\n", "line 2: macd has no output \"\": \"macd\", \"signal\", \"hist\""},
        {"set a\nmacd.line\n", "line 2: macd has no output \"line\": \"macd\", \"signal\", \"hist\""},
        {"set a\nrsi:0\n", "line 2: rsi: period \"0\": a whole number from 1 to 100000 is needed"},
        {"set a\nrsi:14 zscore 1\n", "line 2: 1 figures: zscore takes 2"},
        {"set a\nrsi:14 zscore 1 nan\n",
         "line 2: \"nan\": zscore takes 2 figures, or none before it is fitted"},
        {"set a\nrsi:14 none 1\n", "line 2: \"1\": none takes 0 figures, or none before it is fitted"},
        {"set a\nrsi:14\nrsi zscore\n", "line 3: \"rsi:14\" is in the set already"},
        {"set a\nfitted 1\nrsi:14\n",
         "line 2: \"fitted\" takes two times, seconds since 1970, the later one last"},
        {"set a\nfitted 9 3\nrsi:14\n",
         "line 2: \"fitted\" takes two times, seconds since 1970, the later one last"},
        {"set a\nfitted nan 3\nrsi:14\n",
         "line 2: \"fitted\" takes two times, seconds since 1970, the later one last"},
        {"set a\nfitted 1 inf\nrsi:14\n",
         "line 2: \"fitted\" takes two times, seconds since 1970, the later one last"},
        {"set \033[31m\nrsi:14\n", "line 1: character 5 is none that can be printed"},
        {"set a\n\xc3\xa9\n", "line 2: character 1 is none that can be printed"},
        {"set a\nrsi:14 zscore 1" TEN_ZEROS TEN_ZEROS TEN_ZEROS TEN_ZEROS TEN_ZEROS TEN_ZEROS TEN_ZEROS
         " 1\n",
         "line 2: a word of 71 characters: 63 are the most"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct feature_set *set = NULL;
        char err[256] = "";
        CHECK_INT(feature_set_parse(cases[i].text, &set, err, sizeof(err)), -EINVAL);
        CHECK_STR(err, cases[i].error);
        CHECK(!set);
        feature_set_destroy(set);
    }
    struct feature_set *none = NULL;
    CHECK_INT(feature_set_builtin("market15", &none), -ENOENT);
    CHECK(!none);
}

/* The newest higher bar that is closed at bar i, looked for without memory: false when there is none. */
static bool naive_higher(const struct series *s, size_t i, int64_t seconds, double ret[4])
{
    int64_t now = (int64_t)s->time[i] + INTERVAL_S;
    for (int64_t bucket = now / seconds; bucket >= (int64_t)s->time[0] / seconds; bucket--) {
        int64_t begin = bucket * seconds, end = begin + seconds;
        bool any = false, closed = false;
        for (size_t k = 0; k <= i; k++) {
            int64_t t = (int64_t)s->time[k];
            closed |= t >= end || (t + INTERVAL_S == end);
            if (t < begin || t >= end)
                continue;
            if (!any) {
                ret[0] = s->high[k];
                ret[1] = s->low[k];
                ret[3] = 0;
            }
            any = true;
            ret[0] = fmax(ret[0], s->high[k]);
            ret[1] = fmin(ret[1], s->low[k]);
            ret[2] = s->close[k];
            ret[3] += s->volume[k];
        }
        bool cut = begin < (int64_t)s->time[0]; /* its beginning is not there */
        if (any && closed && !cut)
            return true;
    }
    return false;
}

static void test_timeframes(void)
{
    enum { N = 700 };
    struct series s = bars_with_holes(N, 11);
    struct feature_bars bars = bars_of(&s, N);
    const struct {
        const char *set;
        int64_t seconds;
    } frames[] = {{"set a\nhigh@1h\nlow@1h\nclose@1h\nvolume@1h\n", 3600},
                  {"set a\nhigh@4h\nlow@4h\nclose@4h\nvolume@4h\n", 14400},
                  {"set a\nhigh@15m\nlow@15m\nclose@15m\nvolume@15m\n", 900}};
    for (size_t f = 0; f < sizeof(frames) / sizeof(frames[0]); f++) {
        struct feature_set *set = set_of(frames[f].set);
        size_t first, bad = 0, seen = 0;
        float *cells = matrix_of(set, &bars, &exact, &first);
        for (size_t i = 0; i < N; i++) {
            double expected[4] = {0};
            bool there = naive_higher(&s, i, frames[f].seconds, expected);
            seen += there;
            bad += there != (i >= first);
            for (size_t k = 0; k < 4; k++)
                bad += there ? cells[i * 4 + k] != (float)expected[k] : !isnan(cells[i * 4 + k]);
        }
        CHECK_INT(bad, 0);
        CHECK(seen > N / 2 && seen < N);
        free(cells);
        feature_set_destroy(set);
    }
    series_free(&s);
}

/* Cells from the formulas, one by one. */
static void test_cells(void)
{
    struct series s = bars_with_holes(BARS, 5);
    struct feature_bars bars = bars_of(&s, BARS);
    struct feature_set *set = set_of(
        "set a\nrsi:14 /100\nema:20 /close-1 zscore\natr:14 /close minmax\nclose\nmacd:5,9,4.hist normal\n");
    enum { FROM = 400, TO = 2500 };
    fit(set, &bars, FROM, TO);
    size_t first, bad = 0;
    float *cells = matrix_of(set, &bars, &exact, &first);
    CHECK_INT(first, 19);

    double mean = 0, squares = 0, least = INFINITY, most = -INFINITY;
    struct outputs ema = outputs_make(set->features[1].spec.row, BARS),
                   rsi = outputs_make(set->features[0].spec.row, BARS),
                   atr = outputs_make(set->features[2].spec.row, BARS);
    CHECK_INT(indicator_reference(&set->features[0].spec, &bars.columns, BARS, rsi.at), 0);
    CHECK_INT(indicator_reference(&set->features[1].spec, &bars.columns, BARS, ema.at), 0);
    CHECK_INT(indicator_reference(&set->features[2].spec, &bars.columns, BARS, atr.at), 0);
    for (size_t i = FROM; i < TO; i++) {
        mean += (ema.at[0][i] / s.close[i] - 1.0) / (TO - FROM);
        least = fmin(least, atr.at[0][i] / s.close[i]);
        most = fmax(most, atr.at[0][i] / s.close[i]);
    }
    for (size_t i = FROM; i < TO; i++)
        squares += pow(ema.at[0][i] / s.close[i] - 1.0 - mean, 2);
    double deviation = sqrt(squares / (TO - FROM));
    double sum = 0, sum2 = 0, beyond = 0;
    for (size_t i = first; i < BARS; i++) {
        const float *row = cells + i * 5;
        bad += !(fabs(row[0] - rsi.at[0][i] / 100) <= 1e-7);
        bad += !(fabs(row[1] - (ema.at[0][i] / s.close[i] - 1.0 - mean) / deviation) <= 1e-6);
        bad += !(fabs(row[2] - (atr.at[0][i] / s.close[i] - least) / (most - least)) <= 1e-6);
        bad += row[3] != (float)s.close[i];
        bad += i >= FROM && i < TO && !(row[2] >= 0 && row[2] <= 1);
        if (i >= FROM && i < TO) {
            sum += row[4];
            sum2 += (double)row[4] * row[4];
            beyond += fabsf(row[4]) > 1.0f;
        }
    }
    CHECK_INT(bad, 0);
    CHECK_NEAR(sum / (TO - FROM), 0, 0.01); /* as a normal distribution's */
    CHECK_NEAR(sum2 / (TO - FROM), 1, 0.05);
    CHECK_NEAR(beyond / (TO - FROM), 0.3173, 0.02);
    outputs_free(&ema);
    outputs_free(&rsi);
    outputs_free(&atr);
    free(cells);
    feature_set_destroy(set);
    series_free(&s);
}

/* Quantiles that are equal except for rounding are one point, and nothing jumps there: what the cpu backend
 * gives beside a live stream's value is scaled as that. */
static void test_ties(void)
{
    char text[4096] = "set a\nclose normal";
    for (int k = 0; k < FEATURE_KNOTS; k++) {
        double tie = 50 * (1 + (k > 75) * 1e-15), knot = k < 10   ? 10
                                                         : k < 60 ? 10 + k
                                                         : k < 90 ? 100 * tie
                                                                  : k * 100;
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " %.17g", knot);
    }
    struct feature_set *set = set_of(text);
    double close[] = {
        9,  10 * (1 - 1e-13), 10, 10 * (1 + 1e-13), 5000 * (1 - 1e-13), 5000, 5000 * (1 + 1e-13), 20, 12800,
        1e6};
    enum { N = sizeof(close) / sizeof(close[0]) };
    struct feature_bars bars = {{.close = close}, N, 0};
    float *cells = matrix_of(set, &bars, &exact, NULL);
    CHECK_NEAR(cells[2], -2.05593, 1e-5); /* the middle of the 1st and the 10th of 129 */
    for (size_t i = 0; i < 4; i++)
        CHECK_NEAR(cells[i], cells[2], 1e-6);
    CHECK_NEAR(cells[5], 0.21442, 1e-5); /* of the 61st and the 90th */
    CHECK_NEAR(cells[4], cells[5], 1e-6);
    CHECK_NEAR(cells[6], cells[5], 1e-6);
    CHECK(cells[7] > cells[2] && cells[7] < cells[5]);
    CHECK_NEAR(cells[8], 2.66, 0.01);
    CHECK(cells[9] == cells[8]);
    free(cells);
    feature_set_destroy(set);
}

/* Cuts the future off, then turns it upside down: what was before stays, bit for bit. */
static void test_no_look_ahead(struct feature_set *set)
{
    enum { FIT = 5000 };
    struct series s = bars_with_holes(BARS, 21);
    struct feature_bars bars = bars_of(&s, BARS);
    fit(set, &bars, 200, FIT);
    const struct feature_options *const ways[] = {&exact, &fast};
    for (size_t w = 0; w < 2; w++) {
        float *whole = matrix_of(set, &bars, ways[w], NULL);
        for (size_t cut = FIT; cut < BARS; cut += 211) {
            struct feature_bars past = bars_of(&s, cut);
            float *part = matrix_of(set, &past, ways[w], NULL);
            CHECK(same_cells(part, whole, cut * set->n));
            free(part);
        }
        struct series other = bars_with_holes(BARS, 21);
        for (size_t i = FIT; i < BARS; i++) {
            other.close[i] = 2 * s.low[i] - s.close[i] + 1;
            other.low[i] = other.close[i] * 0.9;
            other.high[i] = fmax(s.high[i], other.close[i]) * 1.1;
            other.volume[i] = 7;
        }
        struct feature_bars changed = bars_of(&other, BARS);
        float *cells = matrix_of(set, &changed, ways[w], NULL);
        CHECK(same_cells(cells, whole, FIT * set->n));
        CHECK(!same_cells(cells, whole, BARS * set->n));

        char *before = feature_set_text(set); /* nor do the fitted figures depend on it */
        fit(set, &changed, 200, FIT);
        char *after = feature_set_text(set);
        CHECK_STR(after, before);
        free(before);
        free(after);
        free(cells);
        free(whole);
        series_free(&other);
    }
    series_free(&s);
}

/* The cpu backend stays by the exact one; threads change nothing. */
static void test_backends(struct feature_set *set)
{
    struct series s = bars_with_holes(BARS, 31);
    struct feature_bars bars = bars_of(&s, BARS);
    size_t first[3], bad = 0;
    fit(set, &bars, 0, BARS);
    float *cells[3] = {matrix_of(set, &bars, &exact, &first[0]), matrix_of(set, &bars, &fast, &first[1]),
                       matrix_of(set, &bars, &fast2, &first[2])};
    CHECK(first[0] == first[1] && first[1] == first[2] && first[0] < BARS);
    CHECK(same_cells(cells[1], cells[2], BARS * set->n));
    for (size_t i = 0; i < BARS * set->n; i++) {
        float a = cells[0][i], b = cells[1][i];
        if (isnan(a) ? isnan(b) : fabsf(a - b) <= 1e-4f * fmaxf(1.0f, fabsf(a)))
            continue;
        if (bad++ < 5)
            fprintf(stderr, "  %s at bar %zu: exact %.9g, fast %.9g\n", set->features[i % set->n].name,
                    i / set->n, a, b);
    }
    CHECK_INT(bad, 0);
    for (size_t i = 0; i < 3; i++)
        free(cells[i]);
    series_free(&s);
}

static void test_builtin(const char *name, size_t least)
{
    struct feature_set *set = NULL;
    CHECK_INT(feature_set_builtin(name, &set), 0);
    if (!set)
        return;
    CHECK(set->n >= least && !set->fitted);
    CHECK_STR(set->name, name);
    test_no_look_ahead(set);
    test_backends(set);
    feature_set_destroy(set);
}

static void refused(const char *text, const struct feature_bars *bars, const char *error)
{
    struct feature_set *set = set_of(text);
    float *out = calloc(bars->n * set->n + 1, sizeof(*out));
    char err[320] = "";
    for (size_t threads = 1; threads < 3; threads++) {
        CHECK_INT(feature_matrix(set, bars, &(struct feature_options){FEATURE_EXACT, (unsigned)threads}, out,
                                 NULL, err, sizeof(err)),
                  -EINVAL);
        CHECK_STR(err, error);
    }
    free(out);
    feature_set_destroy(set);
}

/* Under a timeframe too, a bar that is not finite is reported by its own index, whichever column it is in. */
static void test_bad_bars_of_timeframes(void)
{
    enum { N = 300 };
    struct series s = series_make(N, SERIES_WALK, 8);
    struct feature_bars bars = bars_of(&s, N);
    bars.interval_s = 60;
    static const char *const names[] = {"open", "high", "low", "close", "volume"};
    double *const columns[] = {s.open, s.high, s.low, s.close, s.volume};
    for (size_t c = 0; c < 5; c++)
        for (int k = 0; k < 3; k++) {
            char error[160];
            size_t at = k == 2 ? 0 : 142; /* an infinity never leads */
            double kept = columns[c][at];
            columns[c][at] = k == 0 ? NAN : INFINITY;
            snprintf(error, sizeof(error),
                     "bar %zu of the column %s is not finite: a timeframe of 300 s needs it", at, names[c]);
            refused("set a\nrsi:14@5m\n", &bars, error);
            columns[c][at] = kept;
        }

    /* Leading ones are as bars that are not there. */
    struct feature_set *set = set_of("set a\nclose@5m\nvolume@5m\nsma:3@5m\n");
    size_t first, first_tail;
    enum { SKIP = 23 };
    struct feature_bars tail = bars_of(&s, N - SKIP);
    tail.columns = (struct indicator_columns){s.open + SKIP,  s.high + SKIP,   s.low + SKIP,
                                              s.close + SKIP, s.volume + SKIP, s.time + SKIP};
    tail.interval_s = 60;
    float *expected = matrix_of(set, &tail, &exact, &first_tail);
    for (size_t i = 0; i < SKIP; i++)
        columns[i % 5][i] = NAN;
    float *cells = matrix_of(set, &bars, &exact, &first);
    CHECK_INT(first, first_tail + SKIP);
    CHECK(same_cells(cells + SKIP * 3, expected, (N - SKIP) * 3));
    for (size_t i = 0; i < (size_t)SKIP * 3; i++)
        CHECK(isnan(cells[i]));
    free(cells);
    free(expected);
    feature_set_destroy(set);
    series_free(&s);
}

/* The matrix has memory of its own, and every column is aligned; else nothing is written. */
static void test_memory(void)
{
    enum { N = 100 };
    struct series s = series_make(N, SERIES_WALK, 8);
    struct feature_bars bars = bars_of(&s, N);
    struct feature_set *set = set_of("set a\nclose\nsma:3\n");
    float cells[2 * N + 1] = {0}, *const end = (float *)(void *)(s.volume + N);
    const double before = s.volume[N - 1];
    char *const odd = (char *)cells + 1;
    const struct {
        float *out;
        const double *close;
        const char *error;
    } cases[] = {
        {NULL, s.close, "the matrix is missing or misaligned: its address has to be a multiple of 4"},
        {(float *)(void *)odd, s.close,
         "the matrix is missing or misaligned: its address has to be a multiple of 4"},
        {end - 1, s.close, "the matrix overlaps the column volume"},
        {(float *)(void *)s.close, s.close, "the matrix overlaps the column close"},
        {cells, (double *)(void *)((char *)s.close + 4),
         "the column close is misaligned: its address has to be a multiple of 8"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char err[320] = "";
        bars.columns.close = cases[i].close;
        CHECK_INT(feature_matrix(set, &bars, &exact, cases[i].out, NULL, err, sizeof(err)), -EINVAL);
        CHECK_STR(err, cases[i].error);
    }
    CHECK(s.volume[N - 1] == before && cells[0] == 0);
    feature_set_destroy(set);
    series_free(&s);
}

static void test_bad_bars(void)
{
    enum { N = 300 };
    struct series s = series_make(N, SERIES_WALK, 8);
    struct feature_bars bars = bars_of(&s, N);
    bars.interval_s = 60;
    refused("set a\nrsi:14 zscore\n", &bars, "set a is not fitted: feature_set_fit() first");
    refused("set a\nrsi:14@90s\n", &bars,
            "a timeframe of 90 s: the bars' interval is 60 s: a multiple of it is needed");
    refused("set a\nrsi:14@60s\n", &bars,
            "a timeframe of 60 s: the bars' interval is 60 s: a multiple of it is needed");
    double kept = s.close[150];
    s.close[150] = NAN;
    refused("set a\natr:14\n", &bars, "atr:14: bar 150 is not finite");
    refused("set a\nclose\n", &bars,
            "close has no finite value at bar 150: a price or an indicator of 0, or below -1 under log1p");
    s.close[150] = 0;
    refused(
        "set a\nsma:2 /close\n", &bars,
        "sma:2 /close has no finite value at bar 150: a price or an indicator of 0, or below -1 under log1p");
    s.close[150] = kept;
    s.time[20] = s.time[19];
    refused(
        "set a\nclose@5m\n", &bars,
        "time of bar 20 is 1700001140: whole seconds, an interval or more after the bar before, are needed");
    s.time[20] += 59;
    refused(
        "set a\nclose@5m\n", &bars,
        "time of bar 20 is 1700001199: whole seconds, an interval or more after the bar before, are needed");
    s.time[20] += 1;
    kept = s.volume[123];
    s.volume[123] = 1e39;
    refused("set a\nvolume\n", &bars, "volume at bar 123 is 1e+39: more than a float32 holds");
    s.volume[123] = kept;
    bars.columns.time = NULL;
    refused("set a\nclose@5m\n", &bars, "a timeframe of 300 s needs all six columns, time among them");
    bars.columns.low = NULL;
    refused("set a\natr:14\n", &bars, "atr:14: a column that atr reads is missing");
    refused("set a\nlow\n", &bars, "low: the column is missing");
    bars.columns.close = NULL;
    refused("set a\nhigh /close\n", &bars, "column close is missing");

    struct feature_set *set = set_of("set a\nsma:100 zscore\n");
    char err[320] = "", *text = feature_set_text(set);
    bars = bars_of(&s, N);
    CHECK_INT(feature_set_fit(set, &bars, 10, 10, err, sizeof(err)), -EINVAL);
    CHECK_STR(err, "bars 10 to 10 cannot be fitted on: there are 300");
    CHECK_INT(feature_set_fit(set, &bars, 0, 301, err, sizeof(err)), -EINVAL);
    CHECK_INT(feature_set_fit(set, &bars, 0, 99, err, sizeof(err)), -EINVAL);
    CHECK_STR(err, "sma:100 has no value in bars 0 to 99: it has none yet: more are needed");
    CHECK(!set->fitted);
    char *after = feature_set_text(set);
    CHECK_STR(after, text);
    free(text);
    free(after);
    feature_set_destroy(set);

    /* No bars, and fewer than the lookback: a success without values. */
    set = set_of("set a\nsma:100\nclose@15m\n");
    size_t first = 7;
    struct feature_bars none = bars_of(&s, 0), few = bars_of(&s, 50);
    none.interval_s = few.interval_s = 60;
    float *cells = matrix_of(set, &none, &exact, &first);
    CHECK_INT(first, 0);
    free(cells);
    cells = matrix_of(set, &few, &exact, &first);
    CHECK_INT(first, 50);
    CHECK(isnan(cells[0]) && isnan(cells[49 * 2]));
    free(cells);
    feature_set_destroy(set);
    series_free(&s);
}

int main(void)
{
    test_text();
    test_bad_text();
    test_lines();
    test_falling_knots();
    test_timeframes();
    test_cells();
    test_ties();
    test_bad_bars();
    test_memory();
    test_bad_bars_of_timeframes();
    struct feature_set *set = set_of(small);
    test_no_look_ahead(set);
    test_backends(set);
    feature_set_destroy(set);
    test_builtin("market14", 14);
    test_builtin("wide110", 110);
    return check_done("indicators_gpu/features");
}
