#include "trainer/data.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"

enum { N_COLUMNS = 5, SET_BYTES_MAX = 4 << 20 };

struct trainer_data {
    struct env_market_source source;
    struct env_asset_source *assets; /* [n] */
    double *columns;   /* of rows that are not contiguous in the market; NULL: its own are used */
    uint64_t *present; /* [n] bitmaps */
    float *features;
    struct feature_set **sets; /* [n], or NULL */
    size_t *rows;              /* [source.rows]: of the market */
    int64_t *open_ns;          /* of rows that are not contiguous; or NULL */
    uint8_t *sessions;         /* [source.rows]; or NULL */
    unsigned session_columns;
};

#define say(err, code, ...) fail_with(code, err, TRAINER_DATA_ERROR_MAX, __VA_ARGS__)

static bool all_present(const struct market *market, size_t row)
{
    for (int i = 0; i < market->n_symbols; i++)
        if (!market_present(&market->series[i], row))
            return false;
    return true;
}

static bool has_bar(const struct env_asset_source *asset, size_t row)
{
    return (asset->present[row / 64] >> (row % 64) & 1) != 0;
}

static int choose_rows(struct trainer_data *data, const struct market *market,
                       const struct trainer_data_options *options, char err[static TRAINER_DATA_ERROR_MAX])
{
    size_t end = market->rows, n = 0;
    if (options->from >= market->rows)
        return say(err, -EINVAL, "first row: %zu: the market has %zu", options->from, market->rows);
    if (!options->common && options->rows > 0 && options->rows < market->rows - options->from)
        end = options->from + options->rows;
    data->rows = malloc((end - options->from) * sizeof(*data->rows));
    if (!data->rows)
        return say(err, -ENOMEM, "out of memory");
    int r = trainer_data_check(market, options->from, end, err);
    if (r < 0)
        return r;
    for (size_t row = options->from; row < end && (options->rows == 0 || n < options->rows); row++)
        if (!options->common || all_present(market, row))
            data->rows[n++] = row;
    if (n == 0 || n < options->rows)
        return say(err, -EINVAL, "bars: %zu: at least %zu %s", n, options->rows ? options->rows : 1,
                   options->common ? "that all symbols have" : "from the first one on");
    data->source.rows = n;
    return 0;
}

/* The rows lie one after the other in the market. */
static bool contiguous(const struct trainer_data *data)
{
    size_t n = data->source.rows;
    return data->rows[n - 1] - data->rows[0] == n - 1;
}

/* Which rows end a session, where rows of missing bars may have been left out. */
static int set_sessions(struct trainer_data *data, const struct market *market)
{
    size_t n = data->source.rows;
    uint8_t *sessions = malloc(n);
    if (!sessions)
        return -ENOMEM;
    for (size_t r = n; r-- > 0;) {
        size_t row = data->rows[r], next = r + 1 < n ? data->rows[r + 1] : row + 1;
        uint8_t ends = 0;
        for (size_t k = row; k < next; k++)
            ends |= market->marks[k] & MARKET_ROW_ENDS;
        bool leaves = r + 1 < n ? sessions[r + 1] & ENV_ROW_ENDS : market->marks[row] & MARKET_ROW_LEAVES;
        sessions[r] = (ends ? ENV_ROW_ENDS : 0) | (leaves ? ENV_ROW_LEAVES : 0);
    }
    data->sessions = sessions;
    data->source.sessions = sessions;
    return 0;
}

static int set_assets(struct trainer_data *data, const struct market *market,
                      const struct trainer_data_options *options)
{
    size_t rows = data->source.rows, words = (rows + 63) / 64, n = (size_t)market->n_symbols;
    bool copied = !contiguous(data);
    data->assets = calloc(n, sizeof(*data->assets));
    data->present = calloc(n * words, sizeof(*data->present));
    data->columns = copied ? malloc(n * N_COLUMNS * rows * sizeof(double)) : NULL;
    data->open_ns = copied ? malloc(rows * sizeof(int64_t)) : NULL;
    if (!data->assets || !data->present || (copied && (!data->columns || !data->open_ns)))
        return -ENOMEM;
    for (size_t r = 0; r < rows && copied; r++)
        data->open_ns[r] = market_open_ns(market, data->rows[r]);
    data->source.open_ns = copied ? data->open_ns : market->open_ns ? market->open_ns + data->rows[0] : NULL;
    if (market->marks && set_sessions(data, market) < 0)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct market_series *series = &market->series[i];
        const double *columns[N_COLUMNS] = {series->open, series->high, series->low, series->close,
                                            series->volume};
        uint64_t *present = data->present + i * words;
        for (size_t r = 0; r < rows; r++)
            present[r / 64] |= (uint64_t)market_present(series, data->rows[r]) << (r % 64);
        for (int c = 0; c < N_COLUMNS; c++) {
            double *copy = copied ? data->columns + (i * N_COLUMNS + (size_t)c) * rows : NULL;
            for (size_t r = 0; r < rows && copied; r++)
                copy[r] = columns[c][data->rows[r]];
            columns[c] = copied ? copy : columns[c] + data->rows[0];
        }
        data->assets[i] = (struct env_asset_source){
            .name = series->symbol.name,
            .min_order_qty = options->min_order_qty ? options->min_order_qty[i] : 0,
            .symbol = &series->symbol,
            .open = columns[0],
            .high = columns[1],
            .low = columns[2],
            .close = columns[3],
            .volume = columns[4],
            .present = present,
        };
    }
    data->source.n_assets = market->n_symbols;
    data->source.assets = data->assets;
    data->source.start_ns = market_open_ns(market, data->rows[0]);
    data->source.interval_ns = market->interval_ns;
    return 0;
}

static int read_set(const char *name, struct feature_set **ret, char err[static TRAINER_DATA_ERROR_MAX])
{
    char why[512];
    int r = feature_set_builtin(name, ret);
    if (r != -ENOENT)
        return r < 0 ? say(err, r, "out of memory") : 0;
    FILE *file = fopen(name, "re");
    if (!file)
        return say(err, -errno,
                   "cannot read a feature set: %.200s: market14, wide110 or the file of one (%m)", name);
    char *text = malloc(SET_BYTES_MAX);
    size_t n = text ? fread(text, 1, SET_BYTES_MAX - 1, file) : 0;
    bool whole = text && !ferror(file) && feof(file);
    fclose(file);
    if (!text)
        return say(err, -ENOMEM, "out of memory");
    if (!whole) {
        free(text);
        return say(err, -EIO, "cannot read a feature set: %.200s: text of less than %d bytes", name,
                   SET_BYTES_MAX);
    }
    text[n] = '\0';
    r = feature_set_parse(text, ret, why, sizeof why);
    free(text);
    if (r < 0)
        say(err, r, "%.200s: %s", name, r == -ENOMEM ? "out of memory" : why);
    return r;
}

/* Of a policy's file. */
static int parse_set(const struct market *market, const char *const *sets, int symbol,
                     struct feature_set **ret, char err[static TRAINER_DATA_ERROR_MAX])
{
    const char *name = market->series[symbol].symbol.name;
    char why[512];
    int r = feature_set_parse(sets[symbol], ret, why, sizeof why);
    if (r < 0)
        return say(err, r, "features of %s: %s", name, r == -ENOMEM ? "out of memory" : why);
    return (*ret)->fitted ? 0 : say(err, -EINVAL, "features of %s: they are not fitted", name);
}

static int fit(struct trainer_data *data, const struct market *market,
               const struct trainer_data_options *options, int symbol,
               char err[static TRAINER_DATA_ERROR_MAX])
{
    if (options->sets)
        return parse_set(market, options->sets, symbol, &data->sets[symbol], err);
    int r = read_set(options->features, &data->sets[symbol], err);
    if (r == 0 && options->columns)
        return market_store_columns_fit(options->columns[symbol], data->sets[symbol], options->fit_blocks,
                                        options->n_fit_blocks, err);
    if (r < 0 || data->sets[symbol]->fitted)
        return r;
    if (options->fit_to <= options->fit_from || options->fit_to > market->rows)
        return say(err, -EINVAL,
                   "features %.200s: rows [%zu, %zu): the rows of the market that its scalings are to be "
                   "fitted on; there are %zu",
                   options->features, options->fit_from, options->fit_to, market->rows);
    return market_store_features_fit(market, symbol, data->sets[symbol], options->fit_from, options->fit_to,
                                     err);
}

/* One symbol's features into its columns of the matrix; `*first` becomes the first row that all have. */
static void place(struct trainer_data *data, const struct market_features *features, size_t at, size_t *first)
{
    size_t width = (size_t)data->source.n_features, n = features->n;
    bool any = false;
    for (size_t r = 0; r < data->source.rows; r++) {
        const float *from = features->values + data->rows[r] * n;
        float *to = data->features + r * width + at;
        bool whole = true;
        for (size_t k = 0; k < n; k++)
            whole = whole && isfinite(from[k]);
        if (whole) {
            memcpy(to, from, n * sizeof(*to));
            if (!any && r > *first)
                *first = r;
            any = true;
        } else if (any) {
            memcpy(to, to - width, n * sizeof(*to));
        }
    }
    if (!any)
        *first = data->source.rows;
}

/* Of n columns of features, and those of the session. */
static int allocate_features(struct trainer_data *data, size_t n, unsigned session_columns,
                             char err[static TRAINER_DATA_ERROR_MAX])
{
    n += policy_session_columns_count(session_columns);
    data->source.n_features = (int)n;
    data->features = calloc(data->source.rows * n, sizeof(float));
    return data->features ? 0 : say(err, -ENOMEM, "out of memory");
}

static int make_features(struct trainer_data *data, const struct market *market,
                         const struct trainer_data_options *options, char err[static TRAINER_DATA_ERROR_MAX])
{
    const struct market_options plain = {.no_cache = true}, *store = options->store ? options->store : &plain;
    size_t first = 0, width = 0, n = (size_t)market->n_symbols;
    data->sets = calloc(n, sizeof(struct feature_set *));
    if (!data->sets)
        return say(err, -ENOMEM, "out of memory");
    for (int i = 0; i < market->n_symbols; i++) {
        struct market_features *features;
        int r = fit(data, market, options, i, err);
        if (r == 0 && options->columns)
            r = market_store_columns_scale(options->columns[i], data->sets[i], &features, err);
        else if (r == 0)
            r = market_store_features(market, i, data->sets[i], options->backend, store, &features, NULL,
                                      err);
        if (r < 0)
            return r;
        if (i == 0) {
            width = features->n;
            r = allocate_features(data, width * n, options->session_columns, err);
        } else if (features->n != width) {
            r = say(err, -EINVAL, "features of %s: %zu: as many as of %s, %zu, are right",
                    market->series[i].symbol.name, features->n, market->series[0].symbol.name, width);
        }
        if (r == 0)
            place(data, features, (size_t)i * features->n, &first);
        market_store_features_close(features);
        if (r < 0)
            return r;
        if (first >= data->source.rows)
            return say(err, -EINVAL, "features %.200s: %s: more bars before their first values than %zu",
                       options->features ? options->features : data->sets[i]->name,
                       market->series[i].symbol.name, data->source.rows);
    }
    data->source.first_row = first;
    return 0;
}

/* The closes and the volumes that an environment's market shows without features of its own. */
static void place_bars(struct trainer_data *data)
{
    size_t width = (size_t)data->source.n_features, n = (size_t)data->source.n_assets;
    for (size_t i = 0; i < n; i++) {
        const struct env_asset_source *asset = &data->assets[i];
        size_t last = 0;
        while (last + 1 < data->source.rows && !has_bar(asset, last))
            last++;
        for (size_t r = 0; r < data->source.rows; r++) {
            bool there = has_bar(asset, r);
            last = there ? r : last;
            data->features[r * width + i] = (float)asset->close[last];
            data->features[r * width + n + i] = there ? (float)asset->volume[r] : 0;
        }
    }
}

/* Each row's session, in its last columns. */
static void place_sessions(struct trainer_data *data, const struct market *market,
                           const struct trainer_data_options *options)
{
    size_t width = (size_t)data->source.n_features;
    size_t at = width - policy_session_columns_count(options->session_columns);
    for (size_t r = 0; r < data->source.rows; r++)
        policy_session_columns_fill(options->session_columns, options->calendar, market->interval_ns,
                                    market_open_ns(market, data->rows[r]), data->features + r * width + at);
    data->session_columns = options->session_columns;
}

/* What is seen; without any of it a market shows the closes, then the volumes. */
static int make_observed(struct trainer_data *data, const struct market *market,
                         const struct trainer_data_options *options, char err[static TRAINER_DATA_ERROR_MAX])
{
    bool sets = options->features || options->sets;
    int r = sets ? make_features(data, market, options, err) : 0;
    if (r == 0 && !sets && options->session_columns) {
        r = allocate_features(data, 2 * (size_t)market->n_symbols, options->session_columns, err);
        if (r == 0)
            place_bars(data);
    }
    if (r == 0 && options->session_columns)
        place_sessions(data, market, options);
    data->source.features = data->features;
    return r;
}

int trainer_data_create(const struct market *market, const struct trainer_data_options *options,
                        struct trainer_data **ret, char err[static TRAINER_DATA_ERROR_MAX])
{
    struct trainer_data *data = calloc(1, sizeof(*data));
    if (!data)
        return say(err, -ENOMEM, "out of memory");
    data->source.n_assets = market->n_symbols;
    int r = choose_rows(data, market, options, err);
    if (r == 0 && (r = set_assets(data, market, options)) < 0)
        say(err, r, "out of memory");
    if (r == 0)
        r = make_observed(data, market, options, err);
    if (r < 0) {
        trainer_data_destroy(data);
        return r;
    }
    *ret = data;
    return 0;
}

void trainer_data_destroy(struct trainer_data *data)
{
    if (!data)
        return;
    for (int i = 0; i < data->source.n_assets && data->sets; i++)
        feature_set_destroy(data->sets[i]);
    free(data->sets);
    free(data->assets);
    free(data->columns);
    free(data->present);
    free(data->features);
    free(data->rows);
    free(data->open_ns);
    free(data->sessions);
    free(data);
}

const struct env_market_source *trainer_data_source(const struct trainer_data *data)
{
    return &data->source;
}

size_t trainer_data_bytes(const struct trainer_data *data)
{
    const size_t rows = data->source.rows, n = (size_t)data->source.n_assets, words = (rows + 63) / 64;
    size_t bytes = rows * sizeof(*data->rows) + n * words * sizeof(*data->present);
    bytes += data->columns ? n * N_COLUMNS * rows * sizeof(*data->columns) : 0;
    bytes += data->sessions ? rows : 0;
    bytes += data->open_ns ? rows * sizeof(*data->open_ns) : 0;
    bytes += data->features ? rows * (size_t)data->source.n_features * sizeof(*data->features) : 0;
    return bytes;
}

size_t trainer_data_row(const struct trainer_data *data, size_t row)
{
    return data->rows[row];
}

int trainer_columns_open(const struct market *market, const struct trainer_data_options *options,
                         struct market_columns ***ret, char err[static TRAINER_DATA_ERROR_MAX])
{
    struct market_columns **columns = calloc((size_t)market->n_symbols, sizeof(*columns));
    struct feature_set *set = NULL;
    int r = columns ? read_set(options->features, &set, err) : say(err, -ENOMEM, "out of memory");
    for (int i = 0; i < market->n_symbols && r == 0; i++)
        r = market_store_columns_open(market, i, set, options->backend, &columns[i], err);
    feature_set_destroy(set);
    if (r < 0) {
        trainer_columns_close(market, columns);
        return r;
    }
    *ret = columns;
    return 0;
}

void trainer_columns_close(const struct market *market, struct market_columns **columns)
{
    for (int i = 0; columns && i < market->n_symbols; i++)
        market_store_columns_close(columns[i]);
    free(columns);
}

int trainer_data_observation(const struct trainer_data *data, const struct env_params *params,
                             const struct policy_asset *assets, char ret[static OBSERVATION_HASH_SIZE])
{
    const struct observation_layout layout = {
        .n_assets = data->source.n_assets,
        .assets = assets,
        .sets = (const struct feature_set *const *)data->sets,
        .interval_ns = data->source.interval_ns,
        .session = data->sessions ? (enum session_choice)params->session : SESSION_ALL,
        .session_columns = data->session_columns,
        .lookback = params->lookback,
        .norm_cash = params->norm_cash,
        .norm_stocks = params->norm_stocks,
        .norm_tech = params->norm_tech,
    };
    return policy_observation_hash(&layout, ret);
}

const struct feature_set *trainer_data_set(const struct trainer_data *data, int symbol)
{
    return data->sets ? data->sets[symbol] : NULL;
}
