#include "engine/market/features.h"

#include <errno.h>
#include <math.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/market/cache.h"
#include "engine/market/image.h"
#include "exchange/clock.h"
#include "exchange/fail.h"
#include "indicators_gpu/features/chain.h"

#define KIND "matrix"

/* The version of the computation: a change of what an indicator or a form gives takes the next number, and
 * cached files of older ones are not found. */
enum { RULES = 1 };

static const int64_t second_ns = 1000000000;

struct matrix_head {
    uint64_t rows, n, first, layout; /* layout: feature_set_layout() */
};

struct matrix {
    struct market_features features; /* first: market_store_features_close() finds the rest by it */
    struct blob blob;
};

/* A symbol's bars that are there, as columns. */
struct existing {
    struct feature_bars bars;
    double *memory; /* NULL where only the time had to be made */
    double *time;
};

static void existing_finish(struct existing *e)
{
    free(e->memory);
    free(e->time);
}

/* Chains the n bars that are there, of which the memory has the columns. */
static void chain(const struct market *market, const struct market_series *s, double *memory, size_t n)
{
    struct feature_chain so_far = {0};
    bool first = false;
    size_t k = 0;
    for (size_t row = s->first; row <= s->last; row++) {
        first = first || (market->marks[row] & MARKET_ROW_BEGINS);
        if (!market_present(s, row))
            continue;
        const struct indicator_bar bar = {
            .open = memory[k], .high = memory[n + k], .low = memory[2 * n + k], .close = memory[3 * n + k]};
        struct indicator_bar chained = feature_chain_next(&so_far, &bar, first);
        memory[k] = chained.open;
        memory[n + k] = chained.high;
        memory[2 * n + k] = chained.low;
        memory[3 * n + k++] = chained.close;
        first = false;
    }
}

/* 0 or -ENOMEM. */
static int existing_open(const struct market *market, int symbol, struct existing *ret)
{
    const struct market_series *s = &market->series[symbol];
    size_t n = s->last - s->first + 1 - s->missing, k = 0;
    const double *const from[IMAGE_COLUMNS] = {s->open, s->high, s->low, s->close, s->volume};
    const double *columns[IMAGE_COLUMNS];
    struct existing e = {.time = malloc(n * sizeof(double))};
    if (!e.time ||
        ((s->missing > 0 || market->marks) && !(e.memory = malloc(n * IMAGE_COLUMNS * sizeof(double))))) {
        existing_finish(&e);
        return -ENOMEM;
    }
    for (int c = 0; c < IMAGE_COLUMNS; c++)
        columns[c] = e.memory ? e.memory + (size_t)c * n : from[c] + s->first;
    for (size_t row = s->first; row <= s->last; row++) {
        if (!market_present(s, row))
            continue;
        for (int c = 0; e.memory && c < IMAGE_COLUMNS; c++)
            e.memory[(size_t)c * n + k] = from[c][row];
        e.time[k++] = (double)market_open_ns(market, row) / (double)second_ns;
    }
    if (market->marks)
        chain(market, s, e.memory, n);
    e.bars = (struct feature_bars){
        .columns = {columns[0], columns[1], columns[2], columns[3], columns[4], e.time},
        .n = n,
        .interval_s = market->interval_ns % second_ns == 0 ? market->interval_ns / second_ns : 0,
    };
    *ret = e;
    return 0;
}

/* The index, among the bars that are there, of the bar that would be at `row`. */
static size_t bars_before(const struct market_series *s, size_t row)
{
    size_t n = 0;
    for (size_t word = 0; word < row / 64; word++)
        n += (size_t)__builtin_popcountll(s->present[word]);
    if (row % 64)
        n += (size_t)__builtin_popcountll(s->present[row / 64] & ((1ull << row % 64) - 1));
    return n;
}

/* Moves rows of bars to their places on the grid, from the last on, so that no row is overwritten. */
static void spread(const struct market_series *s, size_t rows, size_t n, size_t bars, float *values)
{
    size_t k = bars;
    for (size_t row = rows; row-- > 0;) {
        float *to = values + row * n;
        if (market_present(s, row)) {
            k--;
            if (k != row)
                memcpy(to, values + k * n, n * sizeof(float));
        } else {
            for (size_t f = 0; f < n; f++)
                to[f] = NAN;
        }
    }
}

static size_t row_of_bar(const struct market_series *s, size_t rows, size_t bar)
{
    for (size_t row = s->first; row < rows; row++)
        if (market_present(s, row) && bar-- == 0)
            return row;
    return rows;
}

static int find_key(const struct market *market, int symbol, const char *text, enum feature_backend backend,
                    uint8_t ret[static MARKET_HASH_SIZE])
{
    const struct market_image *image = (const struct market_image *)market;
    const uint64_t numbers[] = {BLOB_LAYOUT,
                                RULES,
                                sizeof(struct matrix_head),
                                backend,
                                backend == FEATURE_FAST ? indicator_isa_best() : 0,
                                market->rows,
                                (uint64_t)market->start_ns,
                                (uint64_t)market->interval_ns};
    const uint8_t *digest = market_store_image_symbol(image, symbol)->digest;
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    bool ok = hash && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1 &&
              EVP_DigestUpdate(hash, numbers, sizeof(numbers)) == 1 &&
              EVP_DigestUpdate(hash, digest, MARKET_HASH_SIZE) == 1 &&
              (!market->marks ||
               (EVP_DigestUpdate(hash, market->open_ns, market->rows * sizeof(*market->open_ns)) == 1 &&
                EVP_DigestUpdate(hash, market->marks, market->rows) == 1)) &&
              EVP_DigestUpdate(hash, text, strlen(text)) == 1 && EVP_DigestFinal_ex(hash, ret, NULL) == 1;
    EVP_MD_CTX_free(hash);
    return ok ? 0 : -ENOMEM;
}

static int show(struct blob *blob, struct market_features **ret)
{
    const struct matrix_head *head = blob_head(blob);
    struct matrix *matrix = calloc(1, sizeof(*matrix));
    if (!matrix)
        return -ENOMEM;
    matrix->features = (struct market_features){
        .rows = head->rows,
        .n = head->n,
        .values = (const float *)blob_data(blob),
        .first = head->first,
        .bytes = blob_data_size(blob),
    };
    matrix->blob = *blob;
    *ret = &matrix->features;
    return 0;
}

static bool head_good(const struct blob *blob, const struct market *market, const struct feature_set *set)
{
    const struct matrix_head *head = blob_head(blob);
    return blob_header(blob)->head == sizeof(*head) && head->rows == market->rows && head->n == set->n &&
           head->first <= head->rows && head->layout == feature_set_layout(set) &&
           blob_data_size(blob) == head->rows * head->n * sizeof(float);
}

static int compute(const struct market *market, int symbol, const struct feature_set *set,
                   enum feature_backend backend, int threads, struct blob *ret,
                   char err[static MARKET_ERROR_MAX])
{
    const struct market_series *series = &market->series[symbol];
    const struct feature_options how = {.backend = backend, .threads = threads > 0 ? (unsigned)threads : 0};
    struct existing existing = {0};
    struct blob blob = {0};
    size_t first;
    int r = existing_open(market, symbol, &existing);
    if (r == 0)
        r = market_store_blob_create(KIND, sizeof(struct matrix_head),
                                     (uint64_t)market->rows * set->n * sizeof(float), &blob);
    if (r < 0) {
        snprintf(err, MARKET_ERROR_MAX, "out of memory: %zu rows of %zu features: fewer of them",
                 market->rows, set->n);
    } else {
        float *values = (float *)blob_data(&blob);
        r = feature_matrix(set, &existing.bars, &how, values, &first, err, MARKET_ERROR_MAX);
        if (r == 0) {
            if (existing.bars.n < market->rows)
                spread(series, market->rows, set->n, existing.bars.n, values);
            *(struct matrix_head *)blob_head(&blob) = (struct matrix_head){
                .rows = market->rows,
                .n = set->n,
                .first = first < existing.bars.n ? row_of_bar(series, market->rows, first) : market->rows,
                .layout = feature_set_layout(set)};
        }
    }
    existing_finish(&existing);
    if (r == 0)
        *ret = blob;
    else
        market_store_blob_release(&blob);
    return r;
}

static int find_or_compute(const struct market *market, int symbol, const struct feature_set *set,
                           enum feature_backend backend, struct cache *cache, struct blob *ret,
                           struct market_features_load *load, char err[static MARKET_ERROR_MAX])
{
    uint8_t key[MARKET_HASH_SIZE] = {0};
    double started_s = clock_now_s();
    if (cache->folder[0]) {
        char *text = feature_set_text(set);
        int r = text ? find_key(market, symbol, text, backend, key) : -ENOMEM;
        free(text);
        if (r < 0) {
            snprintf(err, MARKET_ERROR_MAX, "out of memory: the text of %s", set->name);
            return r;
        }
        if (market_store_cache_get(cache, KIND, key, ret) == 0) {
            load->map_s = clock_now_s() - started_s;
            if (head_good(ret, market, set)) {
                load->cached = true;
                return 0;
            }
            market_store_blob_release(ret);
            market_store_cache_drop(cache, KIND, key, "its head contradicts itself");
        }
    }
    double looked = clock_now_s();
    int r = compute(market, symbol, set, backend, cache->threads, ret, err);
    double computed = clock_now_s();
    if (r == 0 && cache->folder[0]) {
        market_store_blob_seal(ret, key, cache->threads);
        market_store_cache_put(cache, ret);
    }
    load->compute_s = computed - looked;
    load->write_s = clock_now_s() - computed;
    return r;
}

int market_store_features(const struct market *market, int symbol, const struct feature_set *set,
                          enum feature_backend backend, const struct market_options *options,
                          struct market_features **ret, struct market_features_load *ret_load,
                          char err[static MARKET_ERROR_MAX])
{
    struct market_features_load load = {0};
    struct blob blob;
    struct cache *cache = malloc(sizeof(*cache));
    int r = -ENOMEM;
    if (cache) {
        market_store_cache_begin(cache, options);
        err[0] = '\0';
        r = find_or_compute(market, symbol, set, backend, cache, &blob, &load, err);
        memcpy(load.note, cache->note, sizeof(load.note));
    }
    free(cache);
    if (r == 0 && (r = show(&blob, ret)) < 0)
        market_store_blob_release(&blob);
    if (r == -ENOMEM && !cache)
        snprintf(err, MARKET_ERROR_MAX, "out of memory");
    if (r == 0 && ret_load)
        *ret_load = load;
    return r;
}

void market_store_features_close(struct market_features *features)
{
    struct matrix *matrix = (struct matrix *)features;
    if (!matrix)
        return;
    market_store_blob_release(&matrix->blob);
    free(matrix);
}

int market_store_features_fit(const struct market *market, int symbol, struct feature_set *set, size_t from,
                              size_t to, char err[static MARKET_ERROR_MAX])
{
    const struct market_series *series = &market->series[symbol];
    struct existing existing;
    if (from >= to || to > market->rows)
        return fail_with(-EINVAL, err, MARKET_ERROR_MAX,
                         "rows %zu to %zu to be fitted on: rows from 0 to %zu", from, to, market->rows);
    int r = existing_open(market, symbol, &existing);
    if (r < 0) {
        snprintf(err, MARKET_ERROR_MAX, "out of memory: the bars of %s", series->symbol.name);
        return r;
    }
    r = feature_set_fit(set, &existing.bars, bars_before(series, from), bars_before(series, to), err,
                        MARKET_ERROR_MAX);
    existing_finish(&existing);
    return r;
}

/* ---- Many fits of the same bars. ---- */

struct market_columns {
    const struct market *market;
    int symbol;
    size_t bars;
    struct feature_columns *columns;
};

int market_store_columns_open(const struct market *market, int symbol, const struct feature_set *set,
                              enum feature_backend backend, struct market_columns **ret,
                              char err[static MARKET_ERROR_MAX])
{
    struct existing existing = {0};
    struct market_columns *columns = calloc(1, sizeof(*columns));
    int r = columns ? existing_open(market, symbol, &existing) : -ENOMEM;
    err[0] = '\0';
    if (r == 0) {
        *columns = (struct market_columns){.market = market, .symbol = symbol, .bars = existing.bars.n};
        r = feature_columns_create(set, &existing.bars, backend, &columns->columns, err, MARKET_ERROR_MAX);
    }
    existing_finish(&existing);
    if (r < 0) {
        if (!err[0])
            snprintf(err, MARKET_ERROR_MAX, "out of memory: %zu rows of %zu features", market->rows, set->n);
        market_store_columns_close(columns);
        return r;
    }
    *ret = columns;
    return 0;
}

void market_store_columns_close(struct market_columns *columns)
{
    if (!columns)
        return;
    feature_columns_destroy(columns->columns);
    free(columns);
}

size_t market_store_columns_first(const struct market_columns *columns)
{
    const struct market *market = columns->market;
    size_t first = feature_columns_first(columns->columns);
    return first < columns->bars ? row_of_bar(&market->series[columns->symbol], market->rows, first)
                                 : market->rows;
}

int market_store_columns_fit(const struct market_columns *columns, struct feature_set *set,
                             const struct feature_rows *blocks, size_t n_blocks,
                             char err[static MARKET_ERROR_MAX])
{
    const struct market_series *series = &columns->market->series[columns->symbol];
    struct feature_rows *bars = malloc((n_blocks + 1) * sizeof(*bars));
    size_t n = 0;
    if (!bars)
        return fail_with(-ENOMEM, err, MARKET_ERROR_MAX, "out of memory: blocks of rows");
    for (size_t b = 0; b < n_blocks; b++) {
        size_t rows = columns->market->rows;
        if (blocks[b].from >= blocks[b].to || blocks[b].to > rows) {
            snprintf(err, MARKET_ERROR_MAX, "rows %zu to %zu to be fitted on: rows from 0 to %zu",
                     blocks[b].from, blocks[b].to, rows);
            free(bars);
            return -EINVAL;
        }
        bars[n] =
            (struct feature_rows){bars_before(series, blocks[b].from), bars_before(series, blocks[b].to)};
        n += bars[n].from < bars[n].to;
    }
    err[0] = '\0';
    int r = feature_columns_fit(columns->columns, set, bars, n, err, MARKET_ERROR_MAX);
    if (r < 0 && !err[0])
        snprintf(err, MARKET_ERROR_MAX, "out of memory: the features' scalings");
    free(bars);
    return r;
}

int market_store_columns_scale(const struct market_columns *columns, const struct feature_set *set,
                               struct market_features **ret, char err[static MARKET_ERROR_MAX])
{
    const struct market *market = columns->market;
    const struct market_series *series = &market->series[columns->symbol];
    struct blob blob = {0};
    size_t first = 0;
    err[0] = '\0';
    int r = market_store_blob_create(KIND, sizeof(struct matrix_head),
                                     (uint64_t)market->rows * set->n * sizeof(float), &blob);
    float *values = r == 0 ? (float *)blob_data(&blob) : NULL;
    if (r == 0)
        r = feature_columns_scale(columns->columns, set, values, &first, err, MARKET_ERROR_MAX);
    if (r == 0) {
        if (columns->bars < market->rows)
            spread(series, market->rows, set->n, columns->bars, values);
        *(struct matrix_head *)blob_head(&blob) = (struct matrix_head){
            .rows = market->rows,
            .n = set->n,
            .first = first < columns->bars ? row_of_bar(series, market->rows, first) : market->rows,
            .layout = feature_set_layout(set)};
        r = show(&blob, ret);
    }
    if (r < 0) {
        market_store_blob_release(&blob);
        if (!err[0])
            snprintf(err, MARKET_ERROR_MAX, "out of memory: %zu rows of %zu features", market->rows, set->n);
    }
    return r;
}
