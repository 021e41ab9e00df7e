#include "trainer/env/market.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "strategy/policy/symbol.h"
#include "trainer/env/internal.h"
#include "trainer/env/refusal.h"
#include "trainer/env/session.h"

enum {
    ROWS_MAX = 1 << 28,
    FEATURES_MAX = 1 << 16,
    NAME_MAX_ = 31,
    ROW_FLOATS = 16, /* a row of closes fills whole cache lines */
    HUGE_PAGE = 2 << 20,
};

#define TIME_MAX  ((int64_t)1 << 62)
#define PRICE_MAX (POLICY_EXACT_MAX / 2) /* with slippage it is still exact */

struct env_market {
    struct env_market_view view;
    struct env_params params; /* the parameters that it was made for */
    char (*names)[NAME_MAX_ + 1];
    int64_t *open_ns; /* NULL: by start_ns */
    int64_t start_ns;
    uint64_t fingerprint;
    bool borrowed; /* all but the blocks belongs to another market */
};

static bool is_there(const struct env_asset_source *asset, size_t row)
{
    return !asset->present || (asset->present[row / 64] >> (row % 64) & 1);
}

static int check_shapes(const struct env_market_source *source, const struct env_params *params,
                        char err[static ENV_ERROR_MAX])
{
    int rc = env_params_check(params, source->n_assets, err);
    if (rc < 0)
        return rc;
    if (!source->assets)
        return env_refuse(-EINVAL, err, "assets: NULL: their columns are needed");
    size_t least = 2 * (size_t)params->lookback + 1;
    if (params->episode_bars > 0 && (size_t)params->episode_bars > least)
        least = (size_t)params->episode_bars;
    if (source->rows > ROWS_MAX)
        return env_refuse(-EINVAL, err, "rows: %lld: at most %d is right", (long long)source->rows, ROWS_MAX);
    if (source->first_row > source->rows || source->rows - source->first_row < least)
        return env_refuse(-EINVAL, err,
                          "rows: %zu from row %zu on: lookback %d and an episode need at least %zu of them",
                          source->first_row > source->rows ? 0 : source->rows - source->first_row,
                          source->first_row, params->lookback, least);
    if (source->features && (source->n_features < 1 || source->n_features > FEATURES_MAX))
        return env_refuse(-EINVAL, err, "features: %d columns: from 1 to %d is right", source->n_features,
                          FEATURES_MAX);
    return 0;
}

static bool is_time(int64_t ns)
{
    return ns > -TIME_MAX && ns < TIME_MAX;
}

/* Also that no time, and no difference of two, is beyond 64 bits. */
static int check_times(const struct env_market_source *source, bool even, char err[static ENV_ERROR_MAX])
{
    const int64_t *t = source->open_ns, end = (int64_t)source->rows + 2;
    if (source->interval_ns <= 0)
        return env_refuse(-EINVAL, err, "interval_ns: %lld: a positive number is right",
                          (long long)source->interval_ns);
    if (source->interval_ns >= TIME_MAX / end)
        return env_refuse(-EINVAL, err, "interval_ns: %lld: %zu rows last too long: below %lld is right",
                          (long long)source->interval_ns, source->rows, (long long)(TIME_MAX / end));
    if (!t && !is_time(source->start_ns))
        return env_refuse(-EINVAL, err, "start_ns: %lld: ns since 1970, within 2^62, are right",
                          (long long)source->start_ns);
    for (size_t r = 0; t && r < source->rows; r++) {
        if (!is_time(t[r]))
            return env_refuse(-EINVAL, err, "row %zu: time %lld: ns since 1970, within 2^62, are right", r,
                              (long long)t[r]);
        if (r == 0)
            continue;
        if (t[r] == t[r - 1])
            return env_refuse(-EINVAL, err, "row %zu: time %lld: it is there twice; times must rise", r,
                              (long long)t[r]);
        if (t[r] < t[r - 1])
            return env_refuse(-EINVAL, err,
                              "row %zu: time %lld: it is before the row's before; times must rise", r,
                              (long long)t[r]);
        bool jumps = source->sessions && (source->sessions[r - 1] & ENV_ROW_ENDS);
        if (even && !jumps && t[r] - t[r - 1] != source->interval_ns)
            return env_refuse(-EINVAL, err,
                              "row %zu: time %lld: rows rise by %lld ns each; a missing bar is a row too", r,
                              (long long)t[r], (long long)source->interval_ns);
    }
    return 0;
}

static const char *asset_name(const struct env_market_source *source, int i, char buf[static 32])
{
    if (source->assets[i].name)
        snprintf(buf, 32, "%.31s", source->assets[i].name);
    else
        snprintf(buf, 32, "asset %d", i);
    return buf;
}

static int check_price(const char *name, const char *column, size_t row, double price,
                       char err[static ENV_ERROR_MAX])
{
    if (!isfinite(price))
        return env_refuse(-EINVAL, err, "%s: row %zu: %s %g: a finite price is right", name, row, column,
                          price);
    if (!(price > 0) || !((float)price > 0) || !isfinite((float)price))
        return env_refuse(-EINVAL, err, "%s: row %zu: %s %g: a positive price is right", name, row, column,
                          price);
    return 0;
}

static int check_bars(const struct env_market_source *source, int i, char err[static ENV_ERROR_MAX])
{
    const struct env_asset_source *asset = &source->assets[i];
    char buf[32];
    const char *name = asset_name(source, i, buf);
    bool full = asset->open && asset->high && asset->low;
    for (size_t r = 0; r < source->rows; r++) {
        if (!is_there(asset, r))
            continue;
        int rc = check_price(name, "close", r, asset->close[r], err);
        if (rc == 0 && full)
            rc = check_price(name, "open", r, asset->open[r], err);
        if (rc == 0 && full)
            rc = check_price(name, "high", r, asset->high[r], err);
        if (rc == 0 && full)
            rc = check_price(name, "low", r, asset->low[r], err);
        if (rc < 0)
            return rc;
        if (full && asset->high[r] < asset->low[r])
            return env_refuse(-EINVAL, err, "%s: row %zu: high %.12g is below low %.12g", name, r,
                              asset->high[r], asset->low[r]);
        if (full && (asset->open[r] < asset->low[r] || asset->open[r] > asset->high[r] ||
                     asset->close[r] < asset->low[r] || asset->close[r] > asset->high[r]))
            return env_refuse(-EINVAL, err, "%s: row %zu: open or close lies outside low %.12g to high %.12g",
                              name, r, asset->low[r], asset->high[r]);
        if (asset->volume && !(isfinite(asset->volume[r]) && asset->volume[r] >= 0))
            return env_refuse(-EINVAL, err, "%s: row %zu: volume %g: 0 or more is right", name, r,
                              asset->volume[r]);
    }
    return 0;
}

static int check_asset(const struct env_market_source *source, int i, const struct env_params *params,
                       char err[static ENV_ERROR_MAX])
{
    const struct env_asset_source *asset = &source->assets[i];
    char buf[32];
    const char *name = asset_name(source, i, buf);
    if (!asset->close)
        return env_refuse(-EINVAL, err, "%s: close: NULL: closes are needed", name);
    if (!asset->volume && !source->features)
        return env_refuse(-EINVAL, err,
                          "%s: volume: NULL: without features of its own a market shows volumes", name);
    if (!(isfinite(asset->min_order_qty) && asset->min_order_qty >= 0))
        return env_refuse(-EINVAL, err, "%s: min_order_qty: %g: 0 or more is right", name,
                          asset->min_order_qty);
    size_t missing = 0;
    while (missing < source->rows && is_there(asset, missing))
        missing++;
    if (params->execution == ENV_REFERENCE && missing < source->rows)
        return env_refuse(
            -EINVAL, err,
            "%s: row %zu: its bar is missing: execution reference takes rows that all assets have", name,
            missing);
    if (params->execution == ENV_MARKET) {
        if (!asset->symbol)
            return env_refuse(-EINVAL, err, "%s: symbol: NULL: execution market needs the venue's filters",
                              name);
        if (!asset->open || !asset->high || !asset->low)
            return env_refuse(-EINVAL, err, "%s: open, high, low: NULL: execution market needs them", name);
        size_t there = 0;
        while (there < source->rows && !is_there(asset, there))
            there++;
        if (there == source->rows)
            return env_refuse(-EINVAL, err, "%s: there is no bar of it in %zu rows", name, source->rows);
    }
    return check_bars(source, i, err);
}

static bool is_seen(double value, double norm_tech)
{
    return isfinite((float)value * (float)norm_tech);
}

/* A market's own features, as they are observed. */
static int check_bars_seen(const struct env_market_source *source, double norm_tech,
                           char err[static ENV_ERROR_MAX])
{
    char buf[32];
    for (int i = 0; i < source->n_assets; i++) {
        const struct env_asset_source *asset = &source->assets[i];
        for (size_t r = 0; r < source->rows; r++) {
            if (!is_there(asset, r))
                continue;
            bool close = is_seen(asset->close[r], norm_tech);
            if (!close || !is_seen(asset->volume[r], norm_tech))
                return env_refuse(
                    -EINVAL, err,
                    "%s: row %zu: %s %g: times norm_tech %g it is beyond float32; less is right",
                    asset_name(source, i, buf), r, close ? "volume" : "close",
                    close ? asset->volume[r] : asset->close[r], norm_tech);
        }
    }
    return 0;
}

static int check_features(const struct env_market_source *source, double norm_tech,
                          char err[static ENV_ERROR_MAX])
{
    if (!source->features)
        return check_bars_seen(source, norm_tech, err);
    size_t nf = (size_t)source->n_features;
    for (size_t r = source->first_row; r < source->rows; r++)
        for (size_t k = 0; k < nf; k++) {
            float value = source->features[r * nf + k];
            if (!isfinite(value))
                return env_refuse(-EINVAL, err,
                                  "row %zu: feature %zu: %g: finite numbers are right from row %zu on", r, k,
                                  (double)value, source->first_row);
            if (!is_seen((double)value, norm_tech))
                return env_refuse(
                    -EINVAL, err,
                    "row %zu: feature %zu: %g: times norm_tech %g it is beyond float32; less is right", r, k,
                    (double)value, norm_tech);
        }
    return 0;
}

static void *room(size_t n, size_t size)
{
    size_t bytes = n * size, alignment = bytes >= 2 * (size_t)HUGE_PAGE ? HUGE_PAGE : 64;
    bytes = (bytes + alignment - 1) / alignment * alignment;
    void *memory = aligned_alloc(alignment, bytes);
    if (!memory)
        return NULL;
    if (alignment == HUGE_PAGE)
        madvise(memory, bytes, MADV_HUGEPAGE); /* faster where the system grants it */
    memset(memory, 0, bytes);
    return memory;
}

/* The last close up to each row; before an asset's first bar, that one's. */
static void fill_closes(const struct env_market_source *source, int i, float *close, size_t row_stride)
{
    const struct env_asset_source *asset = &source->assets[i];
    size_t first = 0;
    while (!is_there(asset, first))
        first++;
    double last = asset->close[first];
    for (size_t r = 0; r < source->rows; r++) {
        if (is_there(asset, r))
            last = asset->close[r];
        close[r * row_stride + (size_t)i] = (float)last;
    }
}

static void fill_features(const struct env_market_source *source, const struct env_market_view *view,
                          double norm_tech, float *ret)
{
    size_t nf = (size_t)view->n_features, n = (size_t)view->n;
    float norm = (float)norm_tech;
    for (size_t r = 0; r < source->rows; r++) {
        float *row = ret + (source->rows - 1 - r) * nf;
        for (size_t k = 0; source->features && k < nf; k++)
            row[k] = source->features[r * nf + k] * norm;
        for (size_t i = 0; !source->features && i < n; i++) {
            const struct env_asset_source *asset = &source->assets[i];
            row[i] = view->close[r * (size_t)view->row_stride + i] * norm;
            row[n + i] = is_there(asset, r) ? (float)asset->volume[r] * norm : 0;
        }
    }
}

/* One asset's bars in price units. */
static int fill_bars(const struct env_market_source *source, int i, const struct policy_symbol *symbol,
                     double *bars, char err[static ENV_ERROR_MAX])
{
    const struct env_asset_source *asset = &source->assets[i];
    const double *columns[4] = {asset->open, asset->high, asset->low, asset->close};
    char buf[32];
    for (size_t r = 0; r < source->rows; r++) {
        for (int k = 0; k < 4 && is_there(asset, r); k++) {
            double units = rint(columns[k][r] * symbol->price_units);
            if (!(units >= 1 && units < PRICE_MAX))
                return env_refuse(-EINVAL, err,
                                  "%s: row %zu: price %.12g: from 1 to 2^51 of the price's units",
                                  asset_name(source, i, buf), r, columns[k][r]);
            bars[(r * (size_t)source->n_assets + (size_t)i) * 4 + (size_t)k] = units;
        }
    }
    return 0;
}

int env_check_capital(const struct env_params *params, double money_units, char err[static ENV_ERROR_MAX])
{
    const struct env_range *capital = &params->initial_capital;
    bool small = capital->low * money_units < 1;
    if (small || capital->high * money_units >= POLICY_EXACT_MAX)
        return env_refuse(
            -EINVAL, err,
            "initial_capital: %.12g: money is counted in units of the quote: from %.12g to below "
            "%.12g is right",
            small ? capital->low : capital->high, 1 / money_units, POLICY_EXACT_MAX / money_units);
    return 0;
}

/* What the paper exchange's bar model needs. */
static int fill_exchange(const struct env_market_source *source, const struct env_params *params,
                         struct policy_symbol *symbols, double *least, double *bars,
                         char err[static ENV_ERROR_MAX])
{
    char buf[32];
    for (int i = 0; i < source->n_assets; i++) {
        const struct env_asset_source *asset = &source->assets[i];
        const char *name = asset_name(source, i, buf);
        if (!asset->symbol->trading)
            return env_refuse(-EINVAL, err, "%s: symbol: it does not trade: one whose status is TRADING",
                              name);
        if (policy_symbol_init(asset->symbol, &symbols[i]) < 0)
            return env_refuse(-EINVAL, err, "%s: symbol: its scales and lots have no quantum", name);
        if (symbols[i].money_units != symbols[0].money_units)
            return env_refuse(-EINVAL, err, "%s: symbol: its quote has other units than the first asset's",
                              name);
        least[i] = asset->min_order_qty * symbols[i].qty_units;
        int rc = fill_bars(source, i, &symbols[i], bars, err);
        if (rc < 0)
            return rc;
    }
    return env_check_capital(params, symbols[0].money_units, err);
}

static int fill(struct env_market *market, const struct env_market_source *source,
                const struct env_params *params, char err[static ENV_ERROR_MAX])
{
    struct env_market_view *view = &market->view;
    size_t rows = source->rows, n = (size_t)source->n_assets;
    bool exchange = params->execution == ENV_MARKET;
    *view = (struct env_market_view){
        .rows = rows,
        .n = source->n_assets,
        .n_features = source->features ? source->n_features : 2 * source->n_assets,
        .row_stride = (int32_t)((n + ROW_FLOATS - 1) / ROW_FLOATS * ROW_FLOATS),
        .first_row = (int32_t)source->first_row,
        .interval_ns = source->interval_ns,
        .start_ns = source->open_ns ? source->open_ns[0] : source->start_ns,
    };
    float *close = room(rows * (size_t)view->row_stride, sizeof *close);
    view->close = close;
    float *features = room(rows * (size_t)view->n_features, sizeof *features);
    view->features = features;
    double *least = room(n, sizeof *least);
    view->least = least;
    struct policy_symbol *symbols = exchange ? room(n, sizeof *symbols) : NULL;
    view->symbols = symbols;
    double *bars = exchange ? room(rows * n * 4, sizeof *bars) : NULL;
    view->bars = bars;
    bool day = params->task == ENV_DAY_TRADE;
    uint8_t *session = day || source->sessions ? room(rows, sizeof *session) : NULL;
    view->session = session;
    market->names = room(n, sizeof *market->names);
    market->open_ns = source->open_ns ? room(rows, sizeof *market->open_ns) : NULL;
    market->start_ns = source->start_ns;
    if (!close || !features || !least || !market->names || (exchange && (!symbols || !bars)) ||
        ((day || source->sessions) && !session) || (source->open_ns && !market->open_ns))
        return env_refuse(-ENOMEM, err, "market: no memory for %zu rows of %zu assets", rows, n);

    for (int i = 0; i < source->n_assets; i++) {
        asset_name(source, i, market->names[i]);
        fill_closes(source, i, close, (size_t)view->row_stride);
        least[i] = source->assets[i].min_order_qty;
    }
    fill_features(source, view, params->norm_tech, features);
    if (market->open_ns)
        memcpy(market->open_ns, source->open_ns, rows * sizeof *market->open_ns);
    view->open_ns = source->sessions ? market->open_ns : NULL;
    int rc = 0;
    for (size_t r = 0; r < rows && session && source->sessions; r++)
        session[r] = source->sessions[r] & (ENV_ROW_ENDS | ENV_ROW_LEAVES);
    if (session && !source->sessions)
        rc = env_session(params, source->open_ns, source->start_ns, source->interval_ns, rows, session, err);
    for (int i = 0; exchange && i < source->n_assets; i++)
        for (size_t r = 0; r < rows && !view->gaps; r++)
            view->gaps = !is_there(&source->assets[i], r);
    return exchange && rc == 0 ? fill_exchange(source, params, symbols, least, bars, err) : rc;
}

/* Of all that a step, a beginning or an observation reads. */
static uint64_t fingerprint_of(const struct env_market_view *view)
{
    const size_t n = (size_t)view->n;
    const int64_t shape[] = {(int64_t)view->rows, view->n, view->n_features, view->first_row,
                             view->interval_ns};
    uint64_t hash = env_fingerprint(0, shape, sizeof shape);
    hash = env_fingerprint(hash, view->close, view->rows * (size_t)view->row_stride * sizeof *view->close);
    hash =
        env_fingerprint(hash, view->features, view->rows * (size_t)view->n_features * sizeof *view->features);
    hash = env_fingerprint(hash, view->least, n * sizeof *view->least);
    hash = env_fingerprint(hash, view->symbols, view->symbols ? n * sizeof *view->symbols : 0);
    if (view->open_ns) /* others have the fingerprints of before there were any */
        hash = env_fingerprint(hash, view->open_ns, view->rows * sizeof *view->open_ns);
    hash = env_fingerprint(hash, view->bars, view->bars ? view->rows * n * 4 * sizeof *view->bars : 0);
    return env_fingerprint(hash, view->session, view->session ? view->rows : 0);
}

int env_market_create(const struct env_market_source *source, const struct env_params *params,
                      struct env_market **ret, char err[static ENV_ERROR_MAX])
{
    int rc = check_shapes(source, params, err);
    if (rc == 0)
        rc = check_times(source, params->execution == ENV_MARKET, err);
    for (int i = 0; rc == 0 && i < source->n_assets; i++)
        rc = check_asset(source, i, params, err);
    if (rc == 0)
        rc = check_features(source, params->norm_tech, err);
    if (rc < 0)
        return rc;
    struct env_market *market = calloc(1, sizeof *market);
    if (!market)
        return env_refuse(-ENOMEM, err, "market: no memory for %zu bytes", sizeof *market);
    market->params = *params;
    rc = fill(market, source, params, err);
    if (rc < 0) {
        env_market_destroy(market);
        return rc;
    }
    market->fingerprint = fingerprint_of(&market->view);
    *ret = market;
    return 0;
}

int env_market_blocks(const struct env_market *market, const struct env_block *blocks, int n,
                      struct env_market **ret, char err[static ENV_ERROR_MAX])
{
    int32_t end = market->view.first_row;
    if (n < 1)
        return env_refuse(-EINVAL, err, "blocks: %d: one or more are right", n);
    for (int i = 0; i < n; end = blocks[i++].to)
        if (blocks[i].from < end || blocks[i].to <= blocks[i].from ||
            (size_t)blocks[i].to > market->view.rows)
            return env_refuse(-EINVAL, err,
                              "block %d: rows %d to %d: rising ones are right, from row %d on, of %zu", i,
                              blocks[i].from, blocks[i].to, end, market->view.rows);
    struct env_market *within = malloc(sizeof *within);
    struct env_block *own = malloc((size_t)n * sizeof *own);
    if (!within || !own) {
        free(within);
        free(own);
        return env_refuse(-ENOMEM, err, "market: no memory for %d blocks", n);
    }
    memcpy(own, blocks, (size_t)n * sizeof *own);
    *within = *market;
    within->borrowed = true;
    within->view.blocks = own;
    within->view.n_blocks = n;
    within->fingerprint = env_fingerprint(market->fingerprint, own, (size_t)n * sizeof *own);
    *ret = within;
    return 0;
}

void env_market_destroy(struct env_market *market)
{
    if (!market)
        return;
    free((void *)market->view.blocks);
    if (market->borrowed) {
        free(market);
        return;
    }
    free((void *)market->view.close);
    free((void *)market->view.features);
    free((void *)market->view.least);
    free((void *)market->view.symbols);
    free((void *)market->view.bars);
    free((void *)market->view.session);
    free(market->names);
    free(market->open_ns);
    free(market);
}

const struct env_market_view *env_market_view(const struct env_market *market)
{
    return &market->view;
}

const struct env_params *env_market_params(const struct env_market *market)
{
    return &market->params;
}

uint64_t env_market_fingerprint(const struct env_market *market)
{
    return market->fingerprint;
}

const char *env_market_asset(const struct env_market *market, int asset)
{
    return market->names[asset];
}

int64_t env_market_open_ns(const struct env_market *market, size_t row)
{
    return market->open_ns ? market->open_ns[row]
                           : market->start_ns + (int64_t)row * market->view.interval_ns;
}
