#include "engine/market/symbols.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "engine/market/exact.h"
#include "exchange/decimal.h"
#include "exchange/fail.h"
#include "exchange/venue_format.h"

enum {
    INFO_MAX = 256 << 20, /* the largest known is 20 MB */
    PLAIN_DIGITS = 8,     /* prices of no more digits are taken as they are, or refused */
    LOT_DIGITS = 9,       /* the finest of a venue */
};

static int read_text(const char *path, char **ret, size_t *ret_len, char err[static MARKET_ERROR_MAX])
{
    char *text = NULL;
    size_t len = 0, cap = 0;
    errno = 0;
    gzFile in = gzopen(path, "rbe");
    int r = in ? 0 : errno ? -errno : -ENOMEM;
    while (r == 0 && len < INFO_MAX) {
        if (len == cap) {
            char *grown = realloc(text, cap = cap ? cap * 2 : 1 << 20);
            if (!grown) {
                r = -ENOMEM;
                break;
            }
            text = grown;
        }
        int n = gzread(in, text + len, (unsigned)(cap - len));
        if (n < 0)
            r = -EIO;
        if (n <= 0)
            break;
        len += (size_t)n;
    }
    if (in && gzclose_r(in) == Z_BUF_ERROR && r == 0)
        r = -EIO;
    if (r < 0) {
        free(text);
        snprintf(err, MARKET_ERROR_MAX, "cannot read: %.400s: a venue's exchangeInfo, plain or gzip (%s)",
                 path, strerror(-r));
        return r;
    }
    *ret = text;
    *ret_len = len;
    return 0;
}

/* Parsed by the first venue format that reads the text. */
static int parse_list(const char *text, size_t len, struct venue_symbol *wanted, size_t n)
{
    const struct venue_format *format;
    for (size_t i = 0; (format = venue_format(i)); i++)
        if (format->list_parse && format->list_parse(text, len, wanted, n) == 0)
            return 0;
    return -EBADMSG;
}

static int listed_symbols(struct market_source *sources, int n, const char *path,
                          char err[static MARKET_ERROR_MAX])
{
    struct venue_symbol *wanted = calloc((size_t)n, sizeof(*wanted));
    char *text = NULL;
    size_t len = 0;
    int r = wanted ? read_text(path, &text, &len, err) : -ENOMEM;
    if (!wanted)
        snprintf(err, MARKET_ERROR_MAX, "out of memory");
    for (int i = 0; r == 0 && i < n; i++)
        memcpy(wanted[i].name, sources[i].bars.symbol, SYMBOL_NAME_MAX);
    if (r == 0 && parse_list(text, len, wanted, (size_t)n) < 0) {
        snprintf(err, MARKET_ERROR_MAX, "no exchangeInfo: %.400s: the JSON that a venue lists its symbols in",
                 path);
        r = -EINVAL;
    }
    for (int i = 0; r == 0 && i < n; i++) {
        if (wanted[i].found) {
            sources[i].symbol = wanted[i].symbol;
            continue;
        }
        snprintf(err, MARKET_ERROR_MAX, "symbol not listed: %s: %.400s: %s%s", wanted[i].name, path,
                 wanted[i].nearest[0] ? "perhaps " : "a symbol that is there", wanted[i].nearest);
        r = -EINVAL;
    }
    free(text);
    free(wanted);
    return r;
}

static double largest_price(const struct bars_file *bars)
{
    double most = 0;
    for (size_t k = 0; k < bars->n; k++)
        most = bars->high[k] > most ? bars->high[k] : most;
    return most;
}

/* The most digits after the point, up to `wanted`, at which doubles hold all prices up to `most`. */
static int digits_held(double most, int wanted)
{
    while (wanted > 0 && !(most * (double)decimal_pow10(wanted) <= MARKET_EXACT_MOST / 2))
        wanted--;
    return wanted;
}

/* Prices of more digits than usual are adjusted ones, or doubles printed in full: they are rounded to what
 * can be held exactly. Rounding keeps low <= open, close <= high. */
static void round_prices(struct market_source *source)
{
    struct bars_file *bars = &source->bars;
    int digits = digits_held(largest_price(bars), bars->price_digits);
    if (digits < PLAIN_DIGITS || digits == bars->price_digits)
        return; /* held as they are; or too large as well, which the grid refuses */
    double *const columns[] = {bars->open, bars->high, bars->low, bars->close};
    double units = (double)decimal_pow10(digits);
    for (int c = 0; c < 4; c++)
        for (size_t k = 0; k < bars->n; k++)
            columns[c][k] = round(columns[c][k] * units) / units;
    source->rounded_digits = bars->price_digits;
    bars->price_digits = digits;
}

/* The digits after the point of a decimal, zeros at its end apart. */
static int text_digits(const char *text)
{
    const char *point = strchr(text, '.');
    size_t n = point ? strlen(point + 1) : 0;
    while (n > 0 && point[n] == '0')
        n--;
    return (int)n;
}

static int refuse_term(const struct market_source *source, const char *option, const char *text,
                       const char *right, char err[static MARKET_ERROR_MAX])
{
    return fail_with(-EINVAL, err, MARKET_ERROR_MAX, "%s: \"%.64s\": %s: %s", option, text,
                     source->bars.symbol, right);
}

/* A limit that is none stays as it is: the most units that there can be. */
int market_store_refine(struct symbol *symbol, int digits)
{
    struct symbol_filters *filters = &symbol->filters;
    int64_t *const of[] = {&filters->qty_min,        &filters->qty_max,        &filters->step,
                           &filters->market_qty_min, &filters->market_qty_max, &filters->market_step};
    if (digits > LOT_DIGITS)
        return -EINVAL;
    if (digits <= symbol->qty_scale)
        return 0;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++)
        (void)decimal_rescale(*of[i], symbol->qty_scale, digits, of[i]);
    symbol->qty_scale = digits;
    return 0;
}

static int take_terms(struct market_source *source, const char *lot, const char *tick,
                      char err[static MARKET_ERROR_MAX])
{
    struct symbol *symbol = &source->symbol;
    struct symbol_filters *filters = &symbol->filters;
    int64_t step = 0;
    if (lot) {
        if (market_store_refine(symbol, text_digits(lot)) < 0 ||
            decimal_parse_str(lot, symbol->qty_scale, &step) < 0 || step <= 0)
            return refuse_term(source, "--lot", lot, "an amount above 0, of at most 9 digits after the point",
                               err);
        filters->step = filters->qty_min = step;
    }
    if (tick) {
        if (decimal_parse_str(tick, symbol->price_scale, &step) < 0 || step <= 0)
            return refuse_term(source, "--tick", tick, "a price above 0, of no more digits than fit", err);
        filters->tick = filters->price_min = step;
    }
    return 0;
}

static int default_symbol(struct market_source *source, const char *quote, const char *tick,
                          char err[static MARKET_ERROR_MAX])
{
    const struct bars_file *bars = &source->bars;
    int digits = tick && text_digits(tick) > bars->price_digits ? text_digits(tick) : bars->price_digits;
    if (digits > PLAIN_DIGITS)
        digits = digits_held(largest_price(bars), digits);
    if (digits < bars->price_digits)
        digits = bars->price_digits;
    if (symbol_default(bars->symbol, quote, digits, bars->volume_digits, &source->symbol) == 0)
        return 0;
    return fail_with(-EINVAL, err, MARKET_ERROR_MAX,
                     "no symbol: %s: %s: a name of a base and a quote asset, each of at most 15 letters",
                     bars->symbol, source->origin);
}

/* As its venue lists it, where the scales hold the file's numbers. */
static bool take_listed(struct market_source *source, const struct symbol *listed)
{
    const struct bars_file *bars = &source->bars;
    bool fits =
        listed && bars->price_digits <= listed->price_scale && bars->volume_digits <= listed->qty_scale;
    if (fits)
        source->symbol = *listed;
    return fits;
}

int market_store_symbols(struct market_source *sources, int n, const char *info,
                         const struct market_terms *terms, char err[static MARKET_ERROR_MAX])
{
    if (info)
        return listed_symbols(sources, n, info, err);
    for (int i = 0; i < n; i++) {
        size_t file = sources[i].file;
        const char *tick = terms->ticks ? terms->ticks[file] : NULL;
        const char *quote = terms->quotes ? terms->quotes[file] : NULL;
        round_prices(&sources[i]);
        int r = !quote && terms->listed && take_listed(&sources[i], terms->listed[file])
                    ? 0
                    : default_symbol(&sources[i], quote, tick, err);
        if (r == 0)
            r = take_terms(&sources[i], terms->lots ? terms->lots[file] : NULL, tick, err);
        if (r < 0)
            return r;
    }
    return 0;
}
