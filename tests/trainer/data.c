/* What environments trade on, against the market store's own values: rows, gaps, features. */
#include "trainer/data.h"

#include <errno.h>

#include "tests/engine/market_files.h"
#include "trainer/env/env.h"

enum { SYMBOLS = 3 };

static const int64_t minute = 60000000000, epoch = 1672531200000000000;
static char err[TRAINER_DATA_ERROR_MAX];
static struct made_file files[SYMBOLS];

static const char *const set_text = "set test\n"
                                    "close /close-1\n"
                                    "sma:5 /close-1 zscore\n"
                                    "rsi:7 /100\n"
                                    "volume log1p normal\n";

static struct market *open_market(struct random *random, int gap_percent, size_t n)
{
    static const char *const names[SYMBOLS] = {"ONEUSDT", "TWOUSDT", "TRIUSDT"};
    const char *paths[SYMBOLS];
    struct market_options options = {.no_cache = true, .interval_ns = minute};
    struct market *m = NULL;
    for (int i = 0; i < SYMBOLS; i++) {
        made_draw(random, &files[i], n, epoch + i * 7 * minute, minute, gap_percent);
        made_write(random, &files[i], names[i]);
        paths[i] = files[i].path;
    }
    CHECK_INT(market_store_load_files(paths, SYMBOLS, &options, &m, NULL, err), 0);
    return m;
}

static bool common(const struct market *m, size_t row)
{
    for (int i = 0; i < m->n_symbols; i++)
        if (!market_present(&m->series[i], row))
            return false;
    return true;
}

static bool is_there(const struct env_asset_source *asset, size_t row)
{
    return asset->present[row / 64] >> (row % 64) & 1;
}

/* Row `row` of the source is row `of` of the market. */
static size_t differs(const struct market *m, const struct env_market_source *source, size_t row, size_t of)
{
    size_t bad = 0;
    for (int i = 0; i < m->n_symbols; i++) {
        const struct market_series *series = &m->series[i];
        const struct env_asset_source *asset = &source->assets[i];
        bad += asset->open[row] != series->open[of] || asset->high[row] != series->high[of] ||
               asset->low[row] != series->low[of] || asset->close[row] != series->close[of] ||
               asset->volume[row] != series->volume[of] || is_there(asset, row) != market_present(series, of);
    }
    if (source->open_ns)
        bad += source->open_ns[row] != market_open_ns(m, of);
    else
        bad += source->start_ns + (int64_t)row * source->interval_ns != market_open_ns(m, of);
    return bad;
}

static void test_rows(struct random *random, const struct market *m)
{
    const double least[SYMBOLS] = {1, 0.5, 0.25};
    struct trainer_data_options how = {.min_order_qty = least};
    for (int only_common = 0; only_common < 2; only_common++) {
        how.common = only_common;
        how.from = (size_t)random_between(random, 0, (int64_t)m->rows / 2);
        for (int limited = 0; limited < 2; limited++) {
            struct trainer_data *data = NULL;
            how.rows = limited ? 100 : 0;
            CHECK_INT(trainer_data_create(m, &how, &data, err), 0);
            if (!data)
                continue;
            const struct env_market_source *source = trainer_data_source(data);
            size_t bad = 0, row = 0;
            for (size_t of = how.from; of < m->rows && row < source->rows; of++)
                if (!only_common || common(m, of))
                    bad += differs(m, source, row++, of);
            CHECK_INT(bad, 0);
            CHECK(row == source->rows && (!limited || row == 100));
            CHECK(source->n_assets == SYMBOLS && source->interval_ns == minute && !source->features);
            for (int i = 0; i < SYMBOLS; i++) {
                CHECK(source->assets[i].min_order_qty == least[i]);
                CHECK(source->assets[i].symbol == &m->series[i].symbol);
                CHECK_STR(source->assets[i].name, m->series[i].symbol.name);
            }
            trainer_data_destroy(data);
        }
    }
}

/* Each asset's part of a row is its own matrix's row, or the last that was whole. */
static void test_features(struct random *random, const struct market *m, bool only_common)
{
    const char *path = scratch_write("set.txt", set_text);
    struct trainer_data_options how = {.from = (size_t)random_between(random, 0, 150),
                                       .common = only_common,
                                       .features = path,
                                       .fit_from = 20,
                                       .fit_to = m->rows / 2,
                                       .backend = FEATURE_EXACT};
    const struct market_options plain = {.no_cache = true};
    struct trainer_data *data = NULL;
    CHECK_INT(trainer_data_create(m, &how, &data, err), 0);
    if (!data) {
        fprintf(stderr, "%s\n", err);
        return;
    }
    const struct env_market_source *source = trainer_data_source(data);
    size_t width = (size_t)source->n_features, first = 0;
    for (int i = 0; i < SYMBOLS; i++) {
        struct feature_set *set = NULL;
        struct market_features *features = NULL;
        CHECK_INT(feature_set_parse(set_text, &set, err, sizeof err), 0);
        CHECK_INT(market_store_features_fit(m, i, set, how.fit_from, how.fit_to, err), 0);
        CHECK_INT(market_store_features(m, i, set, FEATURE_EXACT, &plain, &features, NULL, err), 0);
        CHECK(width == set->n * SYMBOLS);
        char *ours = feature_set_text(trainer_data_set(data, i)), *right = feature_set_text(set);
        CHECK_STR(ours, right);
        free(ours);
        free(right);
        const float *last = NULL;
        size_t bad = 0, row = 0;
        for (size_t of = how.from; of < m->rows; of++) {
            const float *whole = features->values + of * set->n;
            if (only_common && !common(m, of))
                continue;
            for (size_t k = 0; k < set->n && whole; k++)
                if (isnan(whole[k]))
                    whole = NULL;
            if (whole && !last && row > first)
                first = row;
            last = whole ? whole : last;
            for (size_t k = 0; k < set->n; k++)
                bad += source->features[row * width + (size_t)i * set->n + k] != (last ? last[k] : 0);
            row++;
        }
        CHECK_INT(bad, 0);
        CHECK_INT(row, source->rows);
        market_store_features_close(features);
        feature_set_destroy(set);
    }
    CHECK_INT(source->first_row, first);

    /* An environment takes it, and sees the features times norm_tech, newest first. */
    struct env_params params;
    struct env_market *market = NULL;
    struct env *env = NULL;
    CHECK_INT(env_params_preset(only_common ? "reference" : "cappuccino", &params, err), 0);
    CHECK_INT(env_market_create(source, &params, &market, err), 0);
    const struct env_options options = {.copies = 1};
    if (market)
        CHECK_INT(env_create(&params, market, &options, &env, err), 0);
    if (env) {
        float *seen = malloc((size_t)env_observation_size(env) * sizeof *seen);
        env_observe(env, seen);
        CHECK_INT(env_observation_size(env), 1 + SYMBOLS + params.lookback * (int)width);
        size_t at = 1 + SYMBOLS, bad = 0, start = source->first_row;
        for (int back = 0; back < params.lookback; back++)
            for (size_t k = 0; k < width; k++) {
                size_t row = start + (size_t)(params.lookback - 1 - back);
                bad += seen[at++] != source->features[row * width + k] * (float)params.norm_tech;
            }
        CHECK_INT(bad, 0);
        free(seen);
    } else {
        fprintf(stderr, "%s\n", err);
    }
    env_destroy(env);
    env_market_destroy(market);
    trainer_data_destroy(data);
}

/* ---- Many fits of columns that are computed once. ---- */

/* A study's fit and a training's of the same rows: to the bit, since the text has all digits. */
static void check_fits(const struct feature_set *got, const struct feature_set *right)
{
    char *got_text = feature_set_text(got), *right_text = feature_set_text(right);
    CHECK(got->fitted);
    CHECK_STR(got_text, right_text);
    free(got_text);
    free(right_text);
}

/* Mean and deviation of what the second feature is before it is scaled, over rows of the blocks. */
static void check_zscore(const struct market *m, int symbol, const struct feature_rows *blocks, size_t n,
                         const struct feature_set *fitted)
{
    const struct market_options plain = {.no_cache = true};
    struct feature_set *set = NULL;
    struct market_features *features = NULL;
    double sum = 0, squares = 0, count = 0;
    CHECK_INT(feature_set_parse("set plain\nsma:5 /close-1\n", &set, err, sizeof err), 0);
    CHECK_INT(market_store_features(m, symbol, set, FEATURE_EXACT, &plain, &features, NULL, err), 0);
    for (size_t b = 0; b < n; b++)
        for (size_t row = blocks[b].from; row < blocks[b].to; row++) {
            double x = (double)features->values[row];
            if (isnan(x))
                continue;
            sum += x;
            squares += x * x;
            count++;
        }
    double mean = sum / count, deviation = sqrt(squares / count - mean * mean);
    CHECK_NEAR(fitted->features[1].offset, mean, 1e-5 * deviation);
    CHECK_NEAR(1 / fitted->features[1].scale, deviation, 1e-5 * deviation);
    market_store_features_close(features);
    feature_set_destroy(set);
}

static void test_columns(struct random *random, const struct market *m, bool only_common)
{
    const struct market_options plain = {.no_cache = true};
    struct market_columns **columns = NULL;
    struct trainer_data_options how = {.common = only_common,
                                       .from = (size_t)random_between(random, 0, 60),
                                       .features = scratch_write("columns.txt", set_text),
                                       .backend = FEATURE_EXACT,
                                       .store = &plain};
    CHECK_INT(trainer_columns_open(m, &how, &columns, err), 0);
    if (!columns)
        return;
    const struct feature_rows blocks[][3] = {{{30, 400}}, {{100, 180}, {180, 181}, {330, 600}}};
    for (size_t n = 1; n <= 3; n += 2) {
        struct trainer_data *ours = NULL, *right = NULL;
        const char *texts[SYMBOLS];
        how.columns = columns;
        how.sets = NULL;
        how.fit_blocks = blocks[n / 2];
        how.n_fit_blocks = n;
        CHECK_INT(trainer_data_create(m, &how, &ours, err), 0);
        for (int i = 0; i < SYMBOLS; i++) {
            struct feature_set *set = NULL;
            texts[i] = feature_set_text(trainer_data_set(ours, i));
            check_zscore(m, i, blocks[n / 2], n, trainer_data_set(ours, i));
            CHECK_INT(feature_set_parse(set_text, &set, err, sizeof err), 0);
            CHECK_INT(market_store_features_fit(m, i, set, blocks[0][0].from, blocks[0][0].to, err), 0);
            if (n == 1)
                check_fits(trainer_data_set(ours, i), set);
            feature_set_destroy(set);
        }
        how.columns = NULL; /* as a reader of the policy's file computes them */
        how.sets = texts;
        CHECK_INT(trainer_data_create(m, &how, &right, err), 0);
        const struct env_market_source *a = trainer_data_source(ours), *b = trainer_data_source(right);
        CHECK(a->rows == b->rows && a->first_row == b->first_row && a->n_features == b->n_features);
        CHECK(memcmp(a->features, b->features, a->rows * (size_t)a->n_features * sizeof(float)) == 0);
        size_t row = how.from, bad = 0;
        for (size_t r = 0; r < a->rows; r++, row++) {
            while (only_common && !common(m, row))
                row++;
            bad += trainer_data_row(ours, r) != row;
        }
        CHECK_INT(bad, 0);
        trainer_data_destroy(ours);
        trainer_data_destroy(right);
        for (int i = 0; i < SYMBOLS; i++)
            free((void *)(uintptr_t)texts[i]);
    }
    static const struct feature_rows wrong[][2] = {
        {{0, 0}}, {{690, 100000}}, {{100, 200}, {150, 300}}, {{0, 3}}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct trainer_data *none = NULL;
        how.columns = columns;
        how.sets = NULL;
        how.fit_blocks = wrong[i];
        how.n_fit_blocks = i == 2 ? 2 : 1;
        CHECK_INT(trainer_data_create(m, &how, &none, err), -EINVAL);
        CHECK(strstr(err, "fitted on"));
    }
    trainer_columns_close(m, columns);
}

/* Bars that are missing, against a count of those that are there. */
static void test_missing(struct random *random, const struct market *m)
{
    char note[TRAINER_DATA_NOTE_MAX], right[TRAINER_DATA_NOTE_MAX];
    for (int i = 0; i < SYMBOLS; i++)
        CHECK_INT(trainer_data_missing(m, i, 0, m->rows, NULL), m->series[i].missing);
    for (int tries = 0; tries < 30; tries++) {
        int i = (int)random_between(random, 0, SYMBOLS - 1);
        size_t from = (size_t)random_between(random, 0, (int64_t)m->rows - 2);
        size_t to = (size_t)random_between(random, (int64_t)from + 1, (int64_t)m->rows);
        size_t first = 0, last = m->rows - 1, missing = 0;
        while (!market_present(&m->series[i], first))
            first++;
        while (!market_present(&m->series[i], last))
            last--;
        for (size_t row = first; row < last; row++)
            missing += row >= from && row < to && !market_present(&m->series[i], row);
        CHECK_INT(trainer_data_missing(m, i, from, to, note), missing);
        snprintf(right, sizeof right, "%s: %zu of its bars are missing", m->series[i].symbol.name, missing);
        if (missing > 0)
            CHECK(strncmp(note, right, strlen(right)) == 0);
        else
            CHECK_STR(note, "");
    }
}

/* Three symbols of 70 rows: the first two have the rows before 65, the third those from there on, or one
 * more.
 */
static void test_common(void)
{
    uint64_t early[2] = {UINT64_MAX, 1}, late[2] = {0, 0x3e};
    struct market_series series[SYMBOLS] = {{.present = early}, {.present = early}, {.present = late}};
    const struct market m = {.n_symbols = SYMBOLS, .rows = 70, .series = series};
    static const char *const names[SYMBOLS] = {"ONEUSDT", "TWOUSDT", "TRIUSDT"};
    for (int i = 0; i < SYMBOLS; i++)
        snprintf(series[i].symbol.name, sizeof series[i].symbol.name, "%s", names[i]);
    CHECK_INT(trainer_data_check(&m, 0, 70, err), -EINVAL);
    CHECK(strstr(err, "ONEUSDT and TRIUSDT: none of the same time") != NULL);
    CHECK_INT(trainer_data_check(&m, 0, 65, err), -EINVAL);
    CHECK(strstr(err, "TRIUSDT: none in these rows") != NULL);
    CHECK_INT(trainer_data_check(&m, 65, 70, err), -EINVAL);
    CHECK(strstr(err, "ONEUSDT: none in these rows") != NULL);
    late[1] |= 1;
    CHECK_INT(trainer_data_check(&m, 0, 70, err), 0);
    CHECK_INT(trainer_data_check(&m, 64, 65, err), 0);
}

static void refuses(const struct market *m, const struct trainer_data_options *how, int code,
                    const char *words)
{
    struct trainer_data *data = NULL;
    CHECK_INT(trainer_data_create(m, how, &data, err), code);
    bool said = strstr(err, words) != NULL;
    CHECK(said && !data);
    if (!said)
        fprintf(stderr, "\"%s\" is not in: %s\n", words, err);
    trainer_data_destroy(data);
}

static void test_refused(const struct market *m)
{
    struct trainer_data_options how = {.from = m->rows};
    refuses(m, &how, -EINVAL, "first row");
    how = (struct trainer_data_options){.rows = m->rows + 1};
    refuses(m, &how, -EINVAL, "bars");
    how.common = true;
    refuses(m, &how, -EINVAL, "that all symbols have");
    how = (struct trainer_data_options){.rows = 5}; /* the second begins at the seventh */
    refuses(m, &how, -EINVAL, "TWOUSDT: none in these rows");
    how = (struct trainer_data_options){.features = "market15"};
    refuses(m, &how, -ENOENT, "market14, wide110");
    how.features = "market14"; /* no rows to fit on */
    refuses(m, &how, -EINVAL, "fitted");
    how.fit_from = 10;
    how.fit_to = m->rows + 1;
    refuses(m, &how, -EINVAL, "fitted");
    how = (struct trainer_data_options){.features = scratch_write("bad.txt", "set x\nsma:0\n")};
    refuses(m, &how, -EINVAL, "bad.txt");
    how =
        (struct trainer_data_options){.features = scratch_write("long.txt", "set x\nsma:500\n"), .rows = 50};
    refuses(m, &how, -EINVAL, "before their first values");
}

int main(void)
{
    struct random random = random_seeded("trainer_data", 20261122);
    scratch_in_memory();
    for (int gaps = 0; gaps < 4; gaps++) {
        struct market *m = open_market(&random, gaps * 5, 700);
        if (!m) {
            fprintf(stderr, "%s\n", err);
            continue;
        }
        test_rows(&random, m);
        test_missing(&random, m);
        test_features(&random, m, false);
        test_features(&random, m, true);
        test_columns(&random, m, false);
        test_columns(&random, m, true);
        if (gaps == 1)
            test_refused(m);
        market_store_close(m);
    }
    test_common();
    trainer_data_destroy(NULL);
    return check_done("trainer_data");
}
