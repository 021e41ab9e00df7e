#include "exchange/bars_name.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "exchange/bar.h"

enum { PARTS_MAX = 12 };

/* The text between two separators. */
struct name_part {
    const char *text;
    size_t len;
    char before; /* its separator; '\0' of the first */
};

struct name_parts {
    struct name_part part[PARTS_MAX];
    int n;
};

static bool part_is(const struct name_part *part, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (part->len == strlen(words[i]) && strncasecmp(part->text, words[i], part->len) == 0)
            return true;
    return false;
}
#define PART_IS(part, words) part_is(part, words, sizeof(words) / sizeof(*(words)))

static const char *const venues[] = {"alpaca",   "binance", "binanceus", "bitfinex", "bitget", "bitmex",
                                     "bitstamp", "bybit",   "coinbase",  "gateio",   "gemini", "kraken",
                                     "kucoin",   "mexc",    "okx",       "poloniex", "upbit"};
static const char *const intervals[] = {"d",     "day",  "daily",  "h",      "hour",
                                        "1hour", "1min", "minute", "weekly", "hourly"};
static const char *const no_bars[] = {"trades", "aggtrades", "bookdepth", "bookticker", "metrics"};

/* The length of a name without its endings, as .csv.gz. */
static size_t without_ending(const char *name)
{
    static const char *const endings[] = {".gz", ".csv", ".json", ".txt", ".tsv", ".parquet"};
    size_t len = strlen(name), before;
    do {
        before = len;
        for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
            size_t n = strlen(endings[i]);
            if (len > n && strncasecmp(name + len - n, endings[i], n) == 0)
                len -= n;
        }
    } while (len < before);
    return len;
}

static struct name_parts cut(const char *name, size_t len)
{
    struct name_parts parts = {.n = 1, .part[0].text = name};
    for (size_t i = 0; i < len; i++) {
        struct name_part *last = &parts.part[parts.n - 1];
        if (!strchr("_-. ", name[i]))
            last->len++;
        else if (parts.n < PARTS_MAX)
            parts.part[parts.n++] = (struct name_part){.text = name + i + 1, .before = name[i]};
        else
            break;
    }
    return parts;
}

static bool is_digits(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!isdigit((unsigned char)text[i]))
            return false;
    return len > 0;
}

/* 5m, 1h, 1d, 1M, 1mo; or a word for one. */
static bool is_interval(const struct name_part *part)
{
    size_t digits = strspn(part->text, "0123456789");
    bool unit = part->len == digits + 1 && strchr("smhdwM", part->text[digits]);
    bool month = part->len == digits + 2 && strncmp(part->text + digits, "mo", 2) == 0;
    return (digits > 0 && digits <= 3 && (unit || month)) || PART_IS(part, intervals);
}

/* Does what follows a symbol begin here: an interval, or a date's digits? */
static bool is_end(const struct name_part *part)
{
    return is_interval(part) || is_digits(part->text, part->len) || PART_IS(part, no_bars);
}

/* The quote asset that the part ends with: where it begins, or NULL. Of "USDT" alone, behind an `x`, all. */
static const char *quote_of(const struct name_part *part, char text[static SYMBOL_NAME_MAX])
{
    if (part->len + 1 >= SYMBOL_NAME_MAX)
        return NULL;
    text[0] = 'x';
    for (size_t i = 0; i < part->len; i++)
        text[i + 1] = (char)toupper((unsigned char)part->text[i]);
    text[part->len + 1] = '\0';
    return symbol_quote(text);
}

static bool is_quote(const struct name_part *part)
{
    char text[SYMBOL_NAME_MAX];
    return quote_of(part, text) == text + 1;
}

static bool is_pair(const struct name_part *part)
{
    char text[SYMBOL_NAME_MAX];
    const char *quote = quote_of(part, text);
    return quote && quote > text + 1;
}

/* In upper case, and not a number. */
static bool is_class(const struct name_part *part)
{
    for (size_t i = 0; i < part->len; i++)
        if (!isupper((unsigned char)part->text[i]) && (i == 0 || !isdigit((unsigned char)part->text[i])))
            return false;
    return part->len > 0;
}

/* Is the part one more of the symbol that is before it? */
static bool belongs(const struct name_part *part)
{
    if (is_end(part))
        return false;
    switch (part->before) {
    case '_':
        return is_quote(part);
    case '-':
        return is_quote(part) || is_class(part);
    case '.':
        return part->len <= 2 && is_class(part);
    default:
        return false;
    }
}

/* The part that the symbol begins with. */
static int find_symbol(const struct name_parts *parts)
{
    int first = 0;
    if (parts->n > 1 && PART_IS(&parts->part[0], venues) && !is_end(&parts->part[1]))
        first = 1;
    if (is_pair(&parts->part[first]) || (first + 1 < parts->n && belongs(&parts->part[first + 1])))
        return first;
    for (int i = first + 1; i < parts->n && !is_end(&parts->part[i]); i++)
        if (is_pair(&parts->part[i]))
            return i;
    return first;
}

/* Adds text in upper case; false where there is no room for all of it. */
static bool add(char symbol[static SYMBOL_NAME_MAX], const char *text, size_t len)
{
    size_t at = strlen(symbol), i = 0;
    for (; i < len && at < SYMBOL_NAME_MAX - 1; i++)
        symbol[at++] = (char)toupper((unsigned char)text[i]);
    symbol[at] = '\0';
    return i == len;
}

static void read_rest(const struct name_parts *parts, int from, struct bars_name *ret)
{
    char text[8];
    for (int i = from; i < parts->n; i++) {
        const struct name_part *part = &parts->part[i];
        ret->trades = ret->trades || PART_IS(part, no_bars);
        if (ret->interval_ns > 0 || part->len >= sizeof(text))
            continue;
        memcpy(text, part->text, part->len);
        text[part->len] = '\0';
        (void)bar_interval_parse_any(text, &ret->interval_ns);
    }
}

int bars_name_parse(const char *path, struct bars_name *ret)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct name_parts parts = cut(name, without_ending(name));
    int at = find_symbol(&parts);
    *ret = (struct bars_name){0};
    bool fits = add(ret->symbol, parts.part[at].text, parts.part[at].len);
    for (at++; at < parts.n && belongs(&parts.part[at]); at++) {
        bool joined = parts.part[at].before == '_';
        fits = fits && add(ret->symbol, parts.part[at].text - !joined, parts.part[at].len + !joined);
        if (joined) {
            at++;
            break;
        }
    }
    read_rest(&parts, at, ret);
    return fits && ret->symbol[0] ? 0 : -EINVAL;
}
