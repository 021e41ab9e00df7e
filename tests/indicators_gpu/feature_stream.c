/* Streams of features give the exact matrix' bits at every bar: the built-in sets and random ones, over bars
 * with holes; in clones; taken apart and put together anywhere; and refuse what the matrix refuses. */
#include "indicators_gpu/features/stream.h"

#include <errno.h>

#include "tests/check.h"
#include "tests/indicators_gpu/series.h"
#include "tests/random.h"

enum { INTERVAL_S = 300, BARS = 16000 };

/* Bars of five minutes from a quarter past an hour on, with holes of up to 29 of them, more or less often. */
static struct series bars_with_holes(size_t n, enum series_kind kind, uint64_t seed, size_t every)
{
    struct series s = series_make(n, kind, seed);
    double time = 1700000100.0; /* 22:15 */
    for (size_t i = 0; i < n; i++) {
        s.time[i] = time;
        time += INTERVAL_S;
        uint64_t draw = seed + i * 2654435761u;
        if (every > 0 && i % every == every - 1)
            time += INTERVAL_S * (double)(draw % 30);
    }
    return s;
}

static struct feature_bars bars_of(const struct series *s, size_t n)
{
    return (struct feature_bars){series_columns(s), n, INTERVAL_S};
}

static struct feature_plan *plan_of(const struct feature_set *set)
{
    struct feature_plan *plan = NULL;
    char err[320] = "";
    CHECK_INT(feature_plan_create(set, INTERVAL_S, &plan, err, sizeof(err)), 0);
    CHECK_STR(err, "");
    if (!plan)
        abort();
    CHECK_INT(feature_plan_width(plan), set->n);
    return plan;
}

static struct feature_stream *stream_of(const struct feature_plan *plan)
{
    struct feature_stream *s = NULL;
    CHECK_INT(feature_stream_open(plan, &s), 0);
    if (!s)
        abort();
    return s;
}

/* A value's bits; all NaNs are one. */
static bool same_cells(const float *a, const float *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(a[i]) ? !isnan(b[i]) : memcmp(&a[i], &b[i], sizeof(*a)) != 0)
            return false;
    return true;
}

struct fields {
    union {
        double number;
        uint64_t count;
    } * at;
    size_t n, cap;
    bool setting;
};

static void *next_field(struct fields *fields)
{
    if (fields->n == fields->cap) {
        fields->cap = fields->cap ? 2 * fields->cap : 1024;
        fields->at = realloc(fields->at, fields->cap * sizeof(*fields->at));
        if (!fields->at || fields->setting)
            abort();
    }
    return &fields->at[fields->n++];
}

static void on_number(void *ctx, double *value)
{
    struct fields *fields = ctx;
    double *at = next_field(fields);
    *(fields->setting ? value : at) = fields->setting ? *at : *value;
}

static void on_count(void *ctx, uint64_t *value, uint64_t most)
{
    struct fields *fields = ctx;
    uint64_t *at = next_field(fields);
    CHECK(*value <= most);
    *(fields->setting ? value : at) = fields->setting ? *at : *value;
}

static struct feature_stream *rebuilt(const struct feature_plan *plan, struct feature_stream *s)
{
    struct fields fields = {0};
    struct indicator_stream_fields visit = {&fields, on_number, on_count};
    struct feature_stream *copy = stream_of(plan);
    feature_stream_visit(s, &visit);
    size_t n = fields.n;
    fields.setting = true;
    fields.n = 0;
    feature_stream_visit(copy, &visit);
    CHECK_INT(fields.n, n);
    free(fields.at);
    return copy;
}

/* Continues from a copy for some bars. */
static size_t follow(struct feature_stream *copy, const struct series *s, size_t from, size_t to,
                     const float *matrix, size_t width)
{
    size_t bad = 0;
    float *row = malloc(width * sizeof(*row));
    for (size_t i = from; i < to && row; i++) {
        struct indicator_bar bar = series_bar(s, i);
        bad += feature_stream_update(copy, &bar, row) < 0 || !same_cells(row, matrix + i * width, width);
    }
    free(row);
    feature_stream_close(copy);
    return bad;
}

static size_t n_sets, n_refused, n_cells, n_cuts;

/* Every bar of a series by the matrix and by a stream. `cut`: copies are made at about that many places. */
static void compare(const struct feature_set *set, const struct series *s, size_t cut)
{
    size_t width = set->n, first = 0, bad = 0, refused = 0, ready = s->n;
    float *matrix = malloc(s->n * width * sizeof(float)), *row = malloc(width * sizeof(float));
    struct feature_bars bars = bars_of(s, s->n);
    char err[320] = "";
    if (!matrix || !row)
        abort();
    int r = feature_matrix(set, &bars, &(struct feature_options){FEATURE_EXACT, 1}, matrix, &first, err,
                           sizeof(err));
    struct feature_plan *plan = plan_of(set);
    struct feature_stream *stream = stream_of(plan);
    for (size_t i = 0; i < s->n; i++) {
        struct indicator_bar bar = series_bar(s, i);
        int got = feature_stream_update(stream, &bar, row);
        refused += got < 0;
        ready = got == 1 && ready == s->n ? i : ready;
        if (r < 0)
            continue;
        bad += !same_cells(row, matrix + i * width, width) || got != (i >= first);
        bool here = i < 40 || (cut > 0 && i % (s->n / cut + 1) == 0);
        if (here && cut > 0) {
            size_t to = i + 1 + 150 < s->n ? i + 1 + 150 : s->n;
            struct feature_stream *clone = NULL;
            CHECK_INT(feature_stream_clone(stream, &clone), 0);
            bad += follow(clone, s, i + 1, to, matrix, width);
            bad += follow(rebuilt(plan, stream), s, i + 1, to, matrix, width);
            n_cuts++;
        }
    }
    CHECK_INT(bad, 0);
    if (r == 0)
        CHECK_INT(ready, first);
    CHECK_INT(refused > 0, r < 0);
    if (bad > 0 || (refused > 0) != (r < 0)) {
        char *text = feature_set_text(set);
        fprintf(stderr, "  %.600s  matrix: %s\n", text ? text : "", err);
        free(text);
    }
    n_sets++;
    n_refused += r < 0;
    n_cells += s->n * width;
    feature_stream_close(stream);
    feature_plan_destroy(plan);
    free(matrix);
    free(row);
}

static struct feature_set *fitted(const char *text, const struct series *s)
{
    struct feature_set *set = NULL;
    struct feature_bars bars = bars_of(s, s->n);
    char err[320] = "";
    int r = strchr(text, '\n') ? feature_set_parse(text, &set, err, sizeof(err))
                               : feature_set_builtin(text, &set);
    CHECK_INT(r, 0);
    if (r == 0 && feature_set_fit(set, &bars, s->n / 4, s->n, err, sizeof(err)) < 0) {
        feature_set_destroy(set);
        set = NULL;
    }
    if (r < 0)
        fprintf(stderr, "  %s\n%s\n", err, text);
    return set;
}

static void test_builtin(void)
{
    static const char small[] = "set small\n"
                                "close raw minmax\n"
                                "macd:12,26,9.hist /close normal\n"
                                "macd:12,26,9.signal /close zscore\n"
                                "atr:14@1h /close zscore\n"
                                "ema:5@10m /close-1\n"
                                "sma:3@4h raw\n"
                                "high@1d /close-1\n"
                                "vwap:0 /close-1\n"
                                "volume@1h log1p normal\n"
                                "volume log1p\n";
    static const char once[] = "set once\n"
                               "cdlengulfing@1h /100\n"
                               "cdlmorningstar:0.5 /100\n"
                               "ht_sine.leadsine@10m raw minmax\n"
                               "mama.fama /close-1 zscore\n"
                               "trima:9@1h /close-1 normal\n"
                               "accbands:20.upper /close-1\n";
    const struct {
        const char *text;
        size_t bars, every, cuts;
        enum series_kind kind;
    } cases[] = {{"market14", 4000, 97, 60, SERIES_WALK},   {"market14", 3000, 0, 0, SERIES_HALTED},
                 {"market14", 1500, 2, 20, SERIES_WALK},    {small, 6000, 97, 200, SERIES_WALK},
                 {small, 3000, 13, 40, SERIES_ALTERNATING}, {small, 2000, 1, 40, SERIES_WALK},
                 {once, 6000, 97, 40, SERIES_WALK},         {once, 2000, 13, 20, SERIES_JUMPS},
                 {"wide110", BARS, 97, 8, SERIES_WALK},     {"wide110", BARS, 0, 0, SERIES_WALK}};
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        struct series s = bars_with_holes(cases[c].bars, cases[c].kind, 11 + c, cases[c].every);
        struct feature_set *set = fitted(cases[c].text, &s);
        CHECK(set);
        if (set)
            compare(set, &s, cases[c].cuts);
        feature_set_destroy(set);
        series_free(&s);
    }
}

/* Lines of random features; those that are there twice are left out by their text. */
static void random_set(struct random *random, char *text, size_t cap)
{
    static const char *const frames[] = {"", "", "", "@10m", "@15m", "@1h", "@2h"},
                             *const forms[] = {"", " /close", " /close-1", " /100", " log1p"},
                             *const scalings[] = {"", " zscore", " minmax", " normal"},
                             *const columns[] = {"open", "high", "low", "close", "volume"};
    size_t n_rows, len = (size_t)snprintf(text, cap, "set random\n");
    const struct indicator *const *rows = indicator_rows(&n_rows);
    for (int64_t left = random_between(random, 1, 14); left > 0; left--) {
        char line[160], name[96];
        const struct indicator *row = rows[random_between(random, 0, (int64_t)n_rows - 1)];
        const char *output = row->outputs[random_between(random, 0, (int64_t)row->n_outputs - 1)];
        if (random_chance(random, 15))
            snprintf(name, sizeof(name), "%s", columns[random_between(random, 0, 4)]);
        else
            snprintf(name, sizeof(name), "%s%s%s", row->name, *output ? "." : "", output);
        snprintf(line, sizeof(line), "%s%s%s", name, frames[random_between(random, 0, 6)],
                 forms[random_between(random, 0, 4)]);
        size_t at = strlen(line);
        snprintf(line + at, sizeof(line) - at, "%s\n", scalings[random_between(random, 0, 3)]);
        char *twice = strstr(text, line);
        for (const char *cut = line; !twice && *cut && *cut != ' ' && *cut != '\n'; cut++)
            if (cut[1] == ' ' || cut[1] == '\n') {
                char source[170];
                snprintf(source, sizeof(source), "\n%.*s", (int)(cut + 1 - line), line);
                twice = strstr(text, source);
            }
        if (!twice && len + strlen(line) < cap)
            len += (size_t)snprintf(text + len, cap - len, "%s", line);
    }
}

static void test_random(struct random *random, int n)
{
    static const enum series_kind kinds[] = {SERIES_WALK, SERIES_WALK, SERIES_HALTED, SERIES_JUMPS,
                                             SERIES_RISING};
    char text[4096];
    for (int i = 0; i < n; i++) {
        random_set(random, text, sizeof(text));
        enum series_kind kind = kinds[random_between(random, 0, 4)];
        struct series s = bars_with_holes(2500, kind, random_next(random),
                                          (size_t)random_between(random, 0, 200)),
                      other = bars_with_holes(2500, SERIES_WALK, random_next(random), 50);
        struct feature_set *set = fitted(text, &s);
        if (!set)
            set = fitted(text, &other); /* its bars cannot be fitted on: those of another one */
        if (set && set->fitted)
            compare(set, &s, 6);
        feature_set_destroy(set);
        series_free(&s);
        series_free(&other);
    }
}

static void test_bad(void)
{
    struct series s = bars_with_holes(400, SERIES_WALK, 3, 0);
    struct feature_set *set = fitted("set a\nclose zscore\nema:5@1h /close-1\n", &s), *bare = NULL;
    struct feature_plan *plan = NULL, *good = plan_of(set);
    char err[320] = "";
    CHECK_INT(feature_plan_create(set, 420, &plan, err, sizeof(err)), -EINVAL);
    CHECK_STR(err, "ema:5@1h /close-1: the bars' interval is 420 s: a timeframe that is a multiple of it is "
                   "needed");
    CHECK_INT(feature_plan_create(set, 3600, &plan, err, sizeof(err)), -EINVAL);
    CHECK_INT(feature_plan_create(set, 0, &plan, err, sizeof(err)), -EINVAL);
    CHECK_INT(feature_set_builtin("market14", &bare), 0);
    CHECK_INT(feature_plan_create(bare, INTERVAL_S, &plan, err, sizeof(err)), -EINVAL);
    CHECK_STR(err, "set market14 is not fitted: feature_set_fit() first");
    CHECK(!plan);
    feature_set_destroy(bare);

    /* What is refused leaves the stream as it was. */
    struct feature_stream *stream = stream_of(good), *other = stream_of(good);
    size_t bad = 0;
    for (size_t i = 0; i < s.n; i++) {
        float a[2], b[2] = {7, 7};
        struct indicator_bar bar = series_bar(&s, i), broken = bar;
        broken.close = i % 2 ? NAN : INFINITY;
        bad += feature_stream_update(stream, &broken, b) != -EINVAL || b[0] != 7 || b[1] != 7;
        int r = feature_stream_update(stream, &bar, a);
        bad += feature_stream_update(other, &bar, b) != r || !same_cells(a, b, 2);
        broken = bar; /* again: not later than the one before */
        bad += feature_stream_update(stream, &broken, b) != -EINVAL;
        broken.time += INTERVAL_S + 0.5;
        bad += feature_stream_update(stream, &broken, b) != -EINVAL;
        broken.time = 0x1p53;
        bad += feature_stream_update(stream, &broken, b) != -EINVAL;
    }
    CHECK_INT(bad, 0);
    feature_stream_close(stream);
    feature_stream_close(other);
    feature_stream_close(NULL);
    feature_plan_destroy(good);
    feature_plan_destroy(NULL);
    feature_set_destroy(set);
    series_free(&s);
}

/* A value that is out of float32 or not finite is reported, and later ones are right again. */
static void test_range(void)
{
    struct series s = bars_with_holes(40, SERIES_WALK, 3, 0);
    struct feature_set *set = NULL;
    char err[320] = "";
    CHECK_INT(feature_set_parse("set a\nvolume\nvolume log1p\n", &set, err, sizeof(err)), 0);
    s.volume[20] = 1e39;
    s.volume[30] = -3.0;
    struct feature_plan *plan = plan_of(set);
    struct feature_stream *stream = stream_of(plan);
    for (size_t i = 0; i < s.n; i++) {
        float row[2];
        struct indicator_bar bar = series_bar(&s, i);
        CHECK_INT(feature_stream_update(stream, &bar, row), i == 20 || i == 30 ? -ERANGE : 1);
        CHECK_INT(isnan(row[0]), i == 20);
        CHECK_INT(isnan(row[1]), i == 30);
    }
    feature_stream_close(stream);
    feature_plan_destroy(plan);
    feature_set_destroy(set);
    series_free(&s);
}

int main(void)
{
    struct random random = random_seeded("feature_stream", 20261122);
    test_builtin();
    test_random(&random, getenv("PAPERTAPE_LONG") ? 2000 : 60);
    test_bad();
    test_range();
    CHECK(n_refused > 0 && n_refused < n_sets / 2);
    printf("counts: %zu sets, %zu of them refused by both, %zu cells, cut at %zu places\n", n_sets, n_refused,
           n_cells, n_cuts);
    return check_done("indicators_gpu/feature_stream");
}
