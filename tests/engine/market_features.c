/* Features on a market's grid: each row is what the bars alone give, missing bars have none, and the cache
 * gives the same bits, or nothing. */
#include "engine/market/features.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <unistd.h>

#include "tests/engine/market_files.h"

static const int64_t minute = 60000000000, epoch = 1672531200000000000;
static char err[MARKET_ERROR_MAX], folder[SCRATCH_MAX];
static struct made_file files[2];
static const char *paths[2];

static const char *const set_text = "set test\n"
                                    "close /close-1\n"
                                    "sma:5 /close-1 zscore\n"
                                    "rsi:7 /100\n"
                                    "sma:3@5m /close\n"
                                    "volume log1p normal\n";

static struct market *open_market(struct random *random, int gap_percent, size_t n)
{
    static const char *const names[] = {"ONEUSDT", "TWOUSDT"};
    struct market_options options = {.no_cache = true, .interval_ns = minute};
    struct market *m = NULL;
    for (int i = 0; i < 2; i++) {
        made_draw(random, &files[i], n, epoch + i * 10 * minute, minute, gap_percent);
        made_write(random, &files[i], names[i]);
        paths[i] = files[i].path;
    }
    CHECK_INT(market_store_load_files(paths, 2, &options, &m, NULL, err), 0);
    return m;
}

/* The bars of the file alone, without a market. */
static void check_matrix(const struct market *m, int symbol, const struct market_features *f,
                         const struct feature_set *set, enum feature_backend backend)
{
    const struct made_file *file = &files[symbol];
    const struct market_series *series = &m->series[symbol];
    const struct feature_options how = {.backend = backend, .threads = 1};
    double *columns[6];
    float *expected = malloc(file->n * set->n * sizeof(float));
    size_t first, k = 0, bad = 0, first_row = m->rows;
    for (int c = 0; c < 6; c++)
        columns[c] = malloc(file->n * sizeof(double));
    for (size_t i = 0; i < file->n; i++) {
        for (int c = 0; c < 4; c++)
            columns[c][i] = decimal_to_double(file->price[c][i], file->digits);
        columns[4][i] = decimal_to_double(file->volume[i], file->volume_digits);
        columns[5][i] = (double)file->open_ns[i] / 1e9;
    }
    const struct feature_bars bars = {
        .columns = {columns[0], columns[1], columns[2], columns[3], columns[4], columns[5]},
        .n = file->n,
        .interval_s = 60,
    };
    CHECK_INT(feature_matrix(set, &bars, &how, expected, &first, err, sizeof err), 0);
    CHECK(f->rows == m->rows && f->n == set->n && (uintptr_t)f->values % 64 == 0);
    CHECK(f->bytes == m->rows * set->n * sizeof(float));
    for (size_t row = 0; row < m->rows; row++) {
        const float *values = f->values + row * f->n;
        if (!market_present(series, row)) {
            for (size_t c = 0; c < f->n; c++)
                bad += !isnan(values[c]);
            continue;
        }
        bad += memcmp(values, expected + k * f->n, f->n * sizeof(float)) != 0;
        if (k == first)
            first_row = row;
        k++;
    }
    CHECK_INT(bad, 0);
    CHECK_INT(k, file->n);
    CHECK_INT(f->first, first_row);
    for (int c = 0; c < 6; c++)
        free(columns[c]);
    free(expected);
}

static void test_set(const struct market *m, int symbol, const struct feature_set *set,
                     enum feature_backend backend)
{
    struct market_options plain = {.no_cache = true, .threads = 2}, cached = {.cache = folder, .threads = 2};
    struct market_features *direct = NULL, *made = NULL, *mapped = NULL;
    struct market_features_load load;
    int r = market_store_features(m, symbol, set, backend, &plain, &direct, &load, err);
    CHECK_INT(r, 0);
    if (r < 0) {
        fprintf(stderr, "%s\n", err);
        return;
    }
    CHECK(!load.cached);
    check_matrix(m, symbol, direct, set, backend);
    CHECK_INT(market_store_features(m, symbol, set, backend, &cached, &made, &load, err), 0);
    CHECK(!load.cached && load.note[0] == '\0');
    CHECK_INT(market_store_features(m, symbol, set, backend, &cached, &mapped, &load, err), 0);
    CHECK(load.cached && load.note[0] == '\0');
    CHECK(mapped->first == direct->first && mapped->bytes == direct->bytes && made->first == direct->first);
    CHECK(memcmp(made->values, direct->values, direct->bytes) == 0);
    CHECK(memcmp(mapped->values, direct->values, direct->bytes) == 0);
    market_store_features_close(mapped);
    market_store_features_close(made);
    market_store_features_close(direct);
}

static size_t count(char last[static PATH_MAX])
{
    char all[PATH_MAX];
    glob_t found;
    snprintf(all, sizeof(all), "%s/*.matrix", folder);
    size_t n = glob(all, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    if (n > 0)
        snprintf(last, PATH_MAX, "%s", found.gl_pathv[n - 1]);
    globfree(&found);
    return n;
}

static void clean(void)
{
    scratch_remove(folder);
    CHECK_INT(mkdir(folder, 0700), 0);
}

static void test_random(struct random *random)
{
    struct feature_set *set = NULL, *built_in = NULL, *refit = NULL;
    char path[PATH_MAX];
    struct market *m = open_market(random, (int)random_between(random, 0, 2) * 8, 700);
    clean();
    CHECK_INT(feature_set_parse(set_text, &set, err, sizeof err), 0);
    CHECK_INT(feature_set_parse(set_text, &refit, err, sizeof err), 0);
    CHECK_INT(feature_set_builtin("market14", &built_in), 0);
    for (int symbol = 0; symbol < 2; symbol++) {
        size_t half = m->rows / 2;
        CHECK_INT(market_store_features_fit(m, symbol, set, 0, half, err), 0);
        CHECK_INT(market_store_features_fit(m, symbol, refit, 0, half + 100, err), 0);
        CHECK_INT(market_store_features_fit(m, symbol, built_in, 0, half, err), 0);
        test_set(m, symbol, set, FEATURE_EXACT);
        test_set(m, symbol, set, FEATURE_FAST); /* a file of its own */
        test_set(m, symbol, refit, FEATURE_EXACT);
        test_set(m, symbol, built_in, FEATURE_EXACT);
        CHECK_INT(count(path), 4 * (symbol + 1));
    }
    feature_set_destroy(built_in);
    feature_set_destroy(refit);
    feature_set_destroy(set);
    market_store_close(m);
}

/* A fit on rows of the grid is the fit on the bars in them. */
static void test_fit(struct random *random)
{
    struct market *m = open_market(random, 25, 500);
    const struct market_series *s = &m->series[1];
    struct feature_set *set = NULL;
    size_t n = 0;
    double sum = 0;
    CHECK_INT(feature_set_parse("set one\nclose zscore\n", &set, err, sizeof err), 0);
    for (size_t row = 100; row < 300; row++)
        if (market_present(s, row)) {
            sum += s->close[row];
            n++;
        }
    CHECK_INT(market_store_features_fit(m, 1, set, 100, 300, err), 0);
    CHECK_NEAR(set->features[0].offset, sum / (double)n, 1e-12 * sum / (double)n);
    CHECK_INT(market_store_features_fit(m, 1, set, 0, m->rows, err), 0);
    CHECK_INT(market_store_features_fit(m, 1, set, 300, 300, err), -EINVAL);
    CHECK_INT(market_store_features_fit(m, 1, set, 0, m->rows + 1, err), -EINVAL);
    CHECK(strstr(err, "rows"));
    feature_set_destroy(set);
    market_store_close(m);
}

static void test_damage_and_refusals(struct random *random)
{
    struct market *m = open_market(random, 10, 100);
    struct market_options cached = {.cache = folder};
    struct market_features *f = NULL, *again = NULL;
    struct market_features_load load;
    struct feature_set *set = NULL;
    char path[PATH_MAX];
    clean();
    CHECK_INT(feature_set_parse(set_text, &set, err, sizeof err), 0);
    CHECK_INT(market_store_features(m, 0, set, FEATURE_FAST, &cached, &f, &load, err), -EINVAL);
    CHECK(strstr(err, "fitted") && !f);
    CHECK_INT(count(path), 0);
    CHECK_INT(market_store_features_fit(m, 0, set, 0, m->rows, err), 0);
    CHECK_INT(market_store_features(m, 0, set, FEATURE_FAST, &cached, &f, &load, err), 0);
    CHECK_INT(count(path), 1);
    struct stat st;
    CHECK_INT(stat(path, &st), 0);
    for (int i = 0; i < 60; i++) {
        int fd = open(path, O_RDWR | O_CLOEXEC);
        off_t at = random_between(random, 0, st.st_size - 1);
        unsigned char byte;
        CHECK(pread(fd, &byte, 1, at) == 1);
        byte ^= 4;
        CHECK(pwrite(fd, &byte, 1, at) == 1);
        close(fd);
        CHECK_INT(market_store_features(m, 0, set, FEATURE_FAST, &cached, &again, &load, err), 0);
        CHECK(!load.cached && strstr(load.note, "thrown away") && strstr(load.note, path));
        CHECK(memcmp(again->values, f->values, f->bytes) == 0);
        market_store_features_close(again);
        CHECK_INT(market_store_features(m, 0, set, FEATURE_FAST, &cached, &again, &load, err), 0);
        CHECK(load.cached);
        market_store_features_close(again);
    }
    market_store_features_close(f);
    market_store_features_close(NULL);
    feature_set_destroy(set);

    /* Fewer bars than the indicators need: a matrix without values. */
    CHECK_INT(feature_set_parse("set long\nsma:90\n", &set, err, sizeof err), 0);
    market_store_close(m);
    m = open_market(random, 0, 40);
    CHECK_INT(market_store_features(m, 0, set, FEATURE_EXACT, &cached, &f, &load, err), 0);
    CHECK(f->first == m->rows && isnan(f->values[0]) && isnan(f->values[m->rows - 1]));
    market_store_features_close(f);
    feature_set_destroy(set);
    market_store_close(m);
}

int main(void)
{
    struct random random = random_seeded("market_features", 20261121);
    scratch_in_memory();
    scratch_make(folder);
    for (int i = 0; i < 4; i++)
        test_random(&random);
    test_fit(&random);
    test_damage_and_refusals(&random);
    return check_done("market_features");
}
