#include "engine/market/symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "exchange/venue_format.h"

enum { INFO_MAX = 256 << 20 }; /* the largest known is 20 MB */

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

/* By whichever venue reads the text. */
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

int market_symbols(struct market_source *sources, int n, const char *info, char err[static MARKET_ERROR_MAX])
{
    if (info)
        return listed_symbols(sources, n, info, err);
    for (int i = 0; i < n; i++) {
        struct market_source *source = &sources[i];
        if (symbol_default(source->bars.symbol, source->bars.price_digits, source->bars.volume_digits,
                           &source->symbol) < 0) {
            snprintf(err, MARKET_ERROR_MAX,
                     "no symbol: %s: %s: a name of a base and a quote asset, each of at most 15 letters",
                     source->bars.symbol, source->origin);
            return -EINVAL;
        }
    }
    return 0;
}
