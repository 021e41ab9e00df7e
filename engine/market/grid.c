#include "engine/market/grid.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/market/exact.h"
#include "engine/market/image.h"
#include "engine/market/parallel.h"
#include "exchange/bar.h"
#include "exchange/clock.h"
#include "exchange/decimal.h"
#include "exchange/fail.h"

static const double volume_most = 1e18; /* that sums of it and products with prices hold in 128 bits */

enum {
    SPARSE_CELLS = 64,      /* a grid with more cells than this a bar is a mistake … */
    SPARSE_FREE = 16777216, /* … from this many on */
    RIGHT_MAX = 256,
};

struct build {
    struct market_source *sources;
    int n;
    int64_t from_ns, to_ns, interval_ns, start_ns;
    enum session_choice choice;
    const struct trading_calendar *calendar;     /* NULL: none */
    size_t begin[SYMBOLS_MAX], end[SYMBOLS_MAX]; /* the bars of each source that are placed … */
    size_t taken[SYMBOLS_MAX];                   /* … and how many of them are wanted */
    struct market_image *image;
    int failed[SYMBOLS_MAX];
    char why[SYMBOLS_MAX][MARKET_ERROR_MAX];
};

void market_store_sources_finish(struct market_source *sources, int n)
{
    for (int i = 0; i < n; i++) {
        bars_file_finish(&sources[i].bars);
        free(sources[i].parts);
        sources[i].parts = NULL;
    }
}

static const char *interval_text(int64_t ns, char buf[static 40])
{
    const char *name = bar_interval_name(ns);
    if (name)
        snprintf(buf, 40, "%s", name);
    else
        snprintf(buf, 40, "%.15g s", (double)ns / 1e9);
    return buf;
}

int market_store_intervals_differ(const struct market_source *a, const struct market_source *b,
                                  char err[static MARKET_ERROR_MAX])
{
    char one[40], other[40];
    return fail_with(-EINVAL, err, MARKET_ERROR_MAX,
                     "intervals differ: %s has %s, %s has %s: bars of one interval, or --interval", a->origin,
                     interval_text(a->bars.interval_ns, one), b->origin,
                     interval_text(b->bars.interval_ns, other));
}

/* What would be right in place of a bar of source i that is off the grid. */
static const char *right_times(const struct build *b, int i, char buf[static RIGHT_MAX])
{
    const struct bars_file *bars = &b->sources[i].bars;
    char text[40], start[CLOCK_TEXT_MAX];
    const char *name = interval_text(b->interval_ns, text);
    int n = snprintf(buf, RIGHT_MAX, "times a whole number of %s after %s", name,
                     clock_utc_text(b->start_ns, start));
    if (!b->calendar || n < 0 || n >= RIGHT_MAX)
        return buf;
    const struct bar_interval *fits =
        trading_grid_interval(b->calendar, b->choice, bars->open_time_ns[b->begin[i]],
                              bars->open_time_ns[b->end[i] - 1], b->interval_ns + 1);
    if (fits->ns < b->interval_ns)
        snprintf(buf + n, RIGHT_MAX - (size_t)n,
                 ": bars of %s that begin with %s's sessions do not fit one grid, those of %s or shorter do",
                 name, b->calendar->name, fits->name);
    return buf;
}

/* Whatever interval was asked for: a month's bar would be one of a day, whose close is weeks ahead. */
static int refuse_months(const struct build *b, int64_t wanted, char err[static MARKET_ERROR_MAX])
{
    for (int i = 0; i < b->n; i++)
        if (b->sources[i].bars.interval_ns == BAR_MONTH_NS || wanted == BAR_MONTH_NS)
            return fail_with(
                -EINVAL, err, MARKET_ERROR_MAX,
                "bars of a month: %s: rows have one length here, and months have several: bars of 1d or "
                "1w, as papertape fetch gets them",
                b->sources[i].origin);
    return 0;
}

static int find_interval(struct build *b, int64_t wanted, char err[static MARKET_ERROR_MAX])
{
    const struct market_source *first = NULL;
    b->interval_ns = wanted;
    for (int i = 0; i < b->n && wanted == 0; i++) {
        const struct market_source *source = &b->sources[i];
        if (source->bars.interval_ns == 0)
            continue;
        if (!first) {
            first = source;
            b->interval_ns = source->bars.interval_ns;
        } else if (source->bars.interval_ns != b->interval_ns) {
            return market_store_intervals_differ(first, source, err);
        }
    }
    if (b->interval_ns > 0)
        return 0;
    return fail_with(-EINVAL, err, MARKET_ERROR_MAX, "no interval: %s: at least two bars, or --interval",
                     b->sources[0].origin);
}

/* The bars of a source between from and to, the first and last of which are wanted. */
static int find_bars(struct build *b, int i, char err[static MARKET_ERROR_MAX])
{
    const struct market_source *source = &b->sources[i];
    const int64_t *times = source->bars.open_time_ns;
    size_t begin = 0, end = source->bars.n;
    while (begin < end && times[begin] < b->from_ns)
        begin++;
    while (end > begin && times[end - 1] >= b->to_ns)
        end--;
    bool any = begin < end;
    while (begin < end && !market_source_takes(source, b->choice, begin))
        begin++;
    while (end > begin && !market_source_takes(source, b->choice, end - 1))
        end--;
    if (begin == end)
        return fail_with(-EINVAL, err, MARKET_ERROR_MAX, "no bars: %s: %s%s", source->origin,
                         any              ? "bars of the session "
                         : source->bars.n ? "bars between --from and --to"
                                          : "at least one bar",
                         any ? session_choice_names[b->choice] : "");
    b->begin[i] = begin;
    b->end[i] = end;
    b->taken[i] = 0;
    for (size_t k = begin; k < end; k++)
        b->taken[i] += market_source_takes(source, b->choice, k);
    return 0;
}

static bool have_sessions(const struct build *b)
{
    for (int i = 0; i < b->n; i++)
        if (b->sources[i].bars.session)
            return true;
    return false;
}

/* The bars of each source, and where the grid begins. */
static int find_range(struct build *b, char err[static MARKET_ERROR_MAX])
{
    int64_t last_ns = INT64_MIN;
    size_t bars = 0;
    b->start_ns = INT64_MAX;
    for (int i = 0; i < b->n; i++) {
        const struct bars_file *bars_of = &b->sources[i].bars;
        int r = find_bars(b, i, err);
        if (r < 0)
            return r;
        bars += b->taken[i];
        if (bars_of->open_time_ns[b->begin[i]] < b->start_ns)
            b->start_ns = bars_of->open_time_ns[b->begin[i]];
        if (bars_of->open_time_ns[b->end[i] - 1] > last_ns)
            last_ns = bars_of->open_time_ns[b->end[i] - 1];
    }
    uint64_t rows = ((uint64_t)last_ns - (uint64_t)b->start_ns) / (uint64_t)b->interval_ns + 1;
    uint64_t size = market_store_image_size(rows, (uint64_t)b->n, have_sessions(b));
    char from[CLOCK_TEXT_MAX], to[CLOCK_TEXT_MAX];
    if (size == 0 || (rows * (uint64_t)b->n > SPARSE_FREE && rows * (uint64_t)b->n / SPARSE_CELLS > bars))
        return fail_with(-EINVAL, err, MARKET_ERROR_MAX,
                         "the grid would be nearly empty: %zu bars from %s to %s, %" PRIu64
                         " rows: bars that belong together, or --from and --to",
                         bars, clock_utc_text(b->start_ns, from), clock_utc_text(last_ns, to), rows);
    b->image = market_store_image_create(b->n, rows, b->start_ns, b->interval_ns, have_sessions(b));
    if (!b->image)
        return fail_with(-ENOMEM, err, MARKET_ERROR_MAX,
                         "out of memory: a market of %" PRIu64 " bytes: fewer bars", size);
    return 0;
}

static int fail_at(struct build *b, int i, size_t bar, const char *what, const char *right)
{
    const struct market_source *source = &b->sources[i];
    const char *origin = source->origin;
    size_t first = 0;
    char when[CLOCK_TEXT_MAX];
    for (size_t p = 0; p < source->n_parts && source->parts[p].first <= bar; p++) {
        origin = source->parts[p].origin;
        first = source->parts[p].first;
    }
    snprintf(b->why[i], MARKET_ERROR_MAX, "%s: %s: bar %zu, %s: %s", what, origin, bar - first + 1,
             clock_utc_text(source->bars.open_time_ns[bar], when), right);
    return -EINVAL;
}

/* One bar with a fault: reports it. 0 when it is good after all. */
static int refuse_bar(struct build *b, int i, size_t k)
{
    const struct market_source *source = &b->sources[i];
    const struct bars_file *bars = &source->bars;
    const double prices[] = {bars->open[k], bars->high[k], bars->low[k], bars->close[k]};
    int scale = source->symbol.price_scale;
    double high = prices[1], low = prices[2];
    char right[80];
    for (int c = 0; c < 4; c++) {
        if (!(prices[c] > 0))
            return fail_at(b, i, k, "price is not above 0", "prices above 0");
        if (!market_store_exact(prices[c], bars->price_digits, scale)) {
            snprintf(right, sizeof(right),
                     "prices that a double holds to %d digits after the point, not %.*f", scale,
                     bars->price_digits, prices[c]);
            return fail_at(b, i, k, "price has more digits than a double holds", right);
        }
    }
    if (high < low)
        return fail_at(b, i, k, "high is below low", "high >= low");
    if (bars_widen(prices[0], &high, &low, prices[3])) {
        fail_at(b, i, k, "open or close is outside low to high", "low <= open, close <= high");
        return -ERANGE;
    }
    if (!(bars->volume[k] >= 0 && bars->volume[k] < volume_most))
        return fail_at(b, i, k, "volume is no volume", "0 or more, and less than 1e18");
    return 0;
}

/* Are bars low <= open, close <= high, and of a volume? */
static bool bars_good(const struct bars_file *bars, size_t begin, size_t end)
{
    unsigned bad = 0;
    for (size_t k = begin; k < end; k++) {
        double open = bars->open[k], high = bars->high[k], low = bars->low[k], close = bars->close[k],
               volume = bars->volume[k];
        bad |= !(low <= open) | !(open <= high) | !(low <= close) | !(close <= high) | !(volume >= 0) |
               !(volume < volume_most);
    }
    return !bad;
}

static int check_bars(struct build *b, int i)
{
    const struct market_source *source = &b->sources[i];
    const struct bars_file *bars = &source->bars;
    const double *columns[] = {bars->open, bars->high, bars->low, bars->close};
    size_t begin = b->begin[i], end = b->end[i];
    int scale = source->symbol.price_scale, digits = bars->price_digits, r = 0;
    if (digits > scale) {
        snprintf(b->why[i], MARKET_ERROR_MAX,
                 "price has %d digits after the point: %s:%lu: at most %d, the scale of %s", digits,
                 source->origin, bars->digits_line, scale, source->symbol.name);
        return -EINVAL;
    }
    bool sure = bars_good(bars, begin, end);
    for (int c = 0; c < 4; c++)
        sure = sure && market_store_exact_all(columns[c] + begin, end - begin, digits, scale);
    for (size_t k = begin; !sure && r == 0 && k < end; k++)
        r = refuse_bar(b, i, k);
    return r;
}

static void repeat(double *const to[IMAGE_COLUMNS], size_t from_row, size_t to_row, double price)
{
    for (int c = 0; c < 4; c++)
        for (size_t row = from_row; row < to_row; row++)
            to[c][row] = price;
}

/* Bars of the range that are not wanted. */
static size_t count_left_out(const struct build *b, int i)
{
    const struct market_source *source = &b->sources[i];
    size_t n = 0;
    for (size_t k = 0; k < source->bars.n; k++)
        n += source->bars.open_time_ns[k] >= b->from_ns && source->bars.open_time_ns[k] < b->to_ns &&
             !market_source_takes(source, b->choice, k);
    return n;
}

static int place(struct build *b, int i)
{
    const struct market_source *source = &b->sources[i];
    const struct bars_file *bars = &source->bars;
    const struct market_image *image = b->image;
    struct image_symbol *out = market_store_image_symbol(image, i);
    const double *const from[IMAGE_COLUMNS] = {bars->open, bars->high, bars->low, bars->close, bars->volume};
    double *to[IMAGE_COLUMNS];
    uint8_t *session = market_store_image_session(image, i);
    uint64_t *present = market_store_image_present(image, i), interval = (uint64_t)b->interval_ns;
    size_t row = 0, rows = image_head(image)->rows, begin = b->begin[i], end = b->end[i];
    double last = bars->open[begin];
    for (int c = 0; c < IMAGE_COLUMNS; c++)
        to[c] = market_store_image_column(image, i, c);
    for (size_t k = begin; k < end;) {
        if (!market_source_takes(source, b->choice, k)) {
            k++;
            continue;
        }
        uint64_t after = (uint64_t)bars->open_time_ns[k] - (uint64_t)b->start_ns;
        size_t at = after / interval, run = k + 1;
        if (after % interval != 0 || (k > begin && at < row)) {
            char right[RIGHT_MAX];
            return fail_at(b, i, k, "bar is off the grid", right_times(b, i, right));
        }
        if (k == begin)
            out->first = at;
        while (run < end && bars->open_time_ns[run] - bars->open_time_ns[run - 1] == b->interval_ns &&
               market_source_takes(source, b->choice, run))
            run++;
        repeat(to, row, at, last);
        for (int c = 0; c < IMAGE_COLUMNS; c++)
            memcpy(to[c] + at, from[c] + k, (run - k) * sizeof(double));
        for (size_t r = at; r < at + (run - k); r++)
            present[r / 64] |= 1ull << (r % 64);
        if (bars->session)
            memcpy(session + at, bars->session + k, run - k);
        row = at + (run - k);
        last = bars->close[run - 1];
        k = run;
    }
    repeat(to, row, rows, last);
    out->last = row - 1;
    out->missing = out->last - out->first + 1 - b->taken[i];
    out->left_out = bars->session ? count_left_out(b, i) : 0;
    memcpy(out->fits, bars->fits, sizeof(out->fits));
    out->repaired = bars->repaired;
    out->price_digits = (uint32_t)bars->price_digits;
    out->rounded_digits = (uint32_t)source->rounded_digits;
    return 0;
}

static void build_symbol(void *ctx, size_t index)
{
    struct build *b = ctx;
    int i = (int)index, r = check_bars(b, i);
    size_t size;
    if (r == 0)
        r = place(b, i);
    bars_file_finish(&b->sources[i].bars);
    if (r == 0) {
        const unsigned char *data = market_store_image_data(b->image, i, &size);
        if (EVP_Digest(data, size, market_store_image_symbol(b->image, i)->digest, NULL, EVP_sha256(),
                       NULL) != 1)
            r = -ENOMEM;
    }
    b->failed[i] = r;
}

/* Field by field: padding bytes would count in what is hashed and written. */
static void copy_symbol(const struct symbol *from, struct symbol *to)
{
    const struct symbol_filters *f = &from->filters;
    memset(to, 0, sizeof(*to));
    strcpy(to->name, from->name);
    strcpy(to->base, from->base);
    strcpy(to->quote, from->quote);
    to->price_scale = from->price_scale;
    to->qty_scale = from->qty_scale;
    to->quote_scale = from->quote_scale;
    to->trading = from->trading;
    to->asset = from->asset; /* whose fees it costs; a venue's rules of orders are for its own orders */
    to->filters.price_min = f->price_min;
    to->filters.price_max = f->price_max;
    to->filters.tick = f->tick;
    to->filters.qty_min = f->qty_min;
    to->filters.qty_max = f->qty_max;
    to->filters.step = f->step;
    to->filters.market_qty_min = f->market_qty_min;
    to->filters.market_qty_max = f->market_qty_max;
    to->filters.market_step = f->market_step;
    to->filters.notional_min = f->notional_min;
    to->filters.notional_max = f->notional_max;
    to->filters.notional_min_market = f->notional_min_market;
    to->filters.notional_max_market = f->notional_max_market;
    to->filters.bid_up_e4 = f->bid_up_e4;
    to->filters.bid_down_e4 = f->bid_down_e4;
    to->filters.ask_up_e4 = f->ask_up_e4;
    to->filters.ask_down_e4 = f->ask_down_e4;
    to->filters.orders_max = f->orders_max;
}

/* The hash of grid, symbols and the hashes of their data, in this order; with a calendar its own and the
 * choice of sessions behind them. */
static int seal(struct build *b)
{
    struct image_head *head = image_head(b->image);
    EVP_MD_CTX *hash = EVP_MD_CTX_new();
    bool ok = hash && EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1 &&
              EVP_DigestUpdate(hash, &head->n_symbols, sizeof(head->n_symbols)) == 1 &&
              EVP_DigestUpdate(hash, &head->rows, sizeof(head->rows)) == 1 &&
              EVP_DigestUpdate(hash, &head->start_ns, sizeof(head->start_ns)) == 1 &&
              EVP_DigestUpdate(hash, &head->interval_ns, sizeof(head->interval_ns)) == 1;
    for (int i = 0; ok && i < b->n; i++) {
        const struct image_symbol *s = market_store_image_symbol(b->image, i);
        ok = EVP_DigestUpdate(hash, &s->symbol, sizeof(s->symbol)) == 1 &&
             EVP_DigestUpdate(hash, s->digest, sizeof(s->digest)) == 1;
    }
    head->choice = b->choice;
    if (b->calendar)
        ok = ok && trading_calendar_hash(b->calendar, head->calendar) == 0 &&
             EVP_DigestUpdate(hash, &head->choice, sizeof(head->choice)) == 1 &&
             EVP_DigestUpdate(hash, head->calendar, sizeof(head->calendar)) == 1;
    ok = ok && EVP_DigestFinal_ex(hash, head->content, NULL) == 1;
    EVP_MD_CTX_free(hash);
    return ok ? 0 : -ENOMEM;
}

static int check_names(const struct build *b, char err[static MARKET_ERROR_MAX])
{
    for (int i = 0; i < b->n; i++)
        for (int k = 0; k < i; k++)
            if (strcmp(b->sources[i].symbol.name, b->sources[k].symbol.name) == 0)
                return fail_with(-EINVAL, err, MARKET_ERROR_MAX,
                                 "symbol twice: %s: %s and %s: each symbol once", b->sources[i].symbol.name,
                                 b->sources[k].origin, b->sources[i].origin);
    return 0;
}

static int build_all(struct build *b, const struct market_options *options, char err[static MARKET_ERROR_MAX])
{
    int r = check_names(b, err);
    if (r == 0)
        r = refuse_months(b, options->interval_ns, err);
    for (int i = 0; r == 0 && i < b->n; i++)
        r = market_store_sessions(&b->sources[i], options, err);
    if (r == 0)
        r = find_interval(b, options->interval_ns, err);
    if (r == 0)
        r = find_range(b, err);
    if (r < 0)
        return r;
    market_store_parallel(options->threads, (size_t)b->n, build_symbol, b);
    for (int i = 0; i < b->n; i++) {
        if (b->failed[i] < 0) {
            memcpy(err, b->why[i], MARKET_ERROR_MAX);
            return b->failed[i];
        }
        copy_symbol(&b->sources[i].symbol, &market_store_image_symbol(b->image, i)->symbol);
        image_head(b->image)->bars += b->taken[i];
    }
    if ((r = seal(b)) < 0)
        snprintf(err, MARKET_ERROR_MAX, "out of memory: the market's hash: fewer bars");
    else
        market_store_image_show(b->image);
    return r;
}

int market_store_build(struct market_source *sources, int n, const struct market_options *options,
                       struct market **ret, char err[static MARKET_ERROR_MAX])
{
    bool all = options->from_ns == 0 && options->to_ns == 0;
    if (n < 1 || n > SYMBOLS_MAX || options->interval_ns < 0 || (!all && options->from_ns >= options->to_ns))
        return fail_with(-EINVAL, err, MARKET_ERROR_MAX, "%s",
                         n < 1 || n > SYMBOLS_MAX   ? "number of symbols: 1 to 4096"
                         : options->interval_ns < 0 ? "interval: above 0"
                                                    : "--from and --to: the first before the second");
    struct build *b = calloc(1, sizeof(*b));
    if (!b)
        return fail_with(-ENOMEM, err, MARKET_ERROR_MAX, "out of memory");
    b->sources = sources;
    b->n = n;
    b->choice = options->session;
    b->calendar = options->calendar && options->calendar->n > 0 ? options->calendar : NULL;
    b->from_ns = all ? INT64_MIN : options->from_ns;
    b->to_ns = all ? INT64_MAX : options->to_ns;
    int r = build_all(b, options, err);
    if (r == 0)
        *ret = &b->image->market;
    else if (b->image)
        market_store_close(&b->image->market);
    free(b);
    return r;
}
