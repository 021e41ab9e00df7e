#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/binance/rest_parse.h"

enum {
    MULTIPLIER_SCALE = 4, /* of struct symbol_filters' *_e4 */
    NEAREST_DISTANCE = 3, /* a name further away is no suggestion */
};

/* What one symbol says, as it stands: filters may come before the scales that they need. */
struct listed {
    struct json_text name, base, quote;
    int64_t base_precision, quote_precision, quote_asset_precision;
    bool trading, have_filters;
    struct json filters; /* at the array */
};

static bool copy_name(struct json_text text, char *ret, size_t size)
{
    if (text.len == 0 || text.len >= size || memchr(text.data, '\\', text.len))
        return false;
    memcpy(ret, text.data, text.len);
    ret[text.len] = '\0';
    return true;
}

/* A number that bounds from above: digits beyond the scale are cut, and one that int64 cannot hold bounds
 * nothing. */
static bool json_upper(struct json *json, int scale, int64_t *ret)
{
    struct json_text text;
    if (!json_read_string(json, &text))
        return false;
    const char *point = memchr(text.data, '.', text.len);
    size_t kept = point ? (size_t)(point - text.data) + 1 + (size_t)scale : text.len;
    int r = decimal_parse(text.data, text.len, scale, ret);
    if (r == -EDOM)
        r = decimal_parse(text.data, kept, scale, ret);
    if (r == -ERANGE) {
        *ret = INT64_MAX;
        r = 0;
    }
    return r == 0;
}

/* One member of a filter into its place. Members of filters that we do not know are skipped. */
static bool parse_filter_member(struct json *json, struct json_text type, struct json_text key,
                                struct symbol *symbol)
{
    struct symbol_filters *f = &symbol->filters;
    int price = symbol->price_scale, qty = symbol->qty_scale, notional = symbol->quote_scale;
    if (json_is(type, "PRICE_FILTER")) {
        if (json_is(key, "minPrice"))
            return json_decimal(json, price, &f->price_min);
        if (json_is(key, "maxPrice"))
            return json_upper(json, price, &f->price_max);
        if (json_is(key, "tickSize"))
            return json_decimal(json, price, &f->tick);
    } else if (json_is(type, "LOT_SIZE")) {
        if (json_is(key, "minQty"))
            return json_decimal(json, qty, &f->qty_min);
        if (json_is(key, "maxQty"))
            return json_upper(json, qty, &f->qty_max);
        if (json_is(key, "stepSize"))
            return json_decimal(json, qty, &f->step);
    } else if (json_is(type, "MARKET_LOT_SIZE")) {
        if (json_is(key, "minQty"))
            return json_decimal(json, qty, &f->market_qty_min);
        if (json_is(key, "maxQty"))
            return json_upper(json, qty, &f->market_qty_max);
        if (json_is(key, "stepSize"))
            return json_decimal(json, qty, &f->market_step);
    } else if (json_is(type, "MIN_NOTIONAL") || json_is(type, "NOTIONAL")) {
        if (json_is(key, "minNotional"))
            return json_decimal(json, notional, &f->notional_min);
        if (json_is(key, "maxNotional"))
            return json_upper(json, notional, &f->notional_max);
        if (json_is(key, "applyToMarket") || json_is(key, "applyMinToMarket"))
            return json_bool(json, &f->notional_min_market);
        if (json_is(key, "applyMaxToMarket"))
            return json_bool(json, &f->notional_max_market);
    } else if (json_is(type, "PERCENT_PRICE")) {
        if (json_is(key, "multiplierUp")) {
            bool ok = json_decimal(json, MULTIPLIER_SCALE, &f->bid_up_e4);
            f->ask_up_e4 = f->bid_up_e4;
            return ok;
        }
        if (json_is(key, "multiplierDown")) {
            bool ok = json_decimal(json, MULTIPLIER_SCALE, &f->bid_down_e4);
            f->ask_down_e4 = f->bid_down_e4;
            return ok;
        }
    } else if (json_is(type, "PERCENT_PRICE_BY_SIDE")) {
        if (json_is(key, "bidMultiplierUp"))
            return json_decimal(json, MULTIPLIER_SCALE, &f->bid_up_e4);
        if (json_is(key, "bidMultiplierDown"))
            return json_decimal(json, MULTIPLIER_SCALE, &f->bid_down_e4);
        if (json_is(key, "askMultiplierUp"))
            return json_decimal(json, MULTIPLIER_SCALE, &f->ask_up_e4);
        if (json_is(key, "askMultiplierDown"))
            return json_decimal(json, MULTIPLIER_SCALE, &f->ask_down_e4);
    } else if (json_is(type, "MAX_NUM_ORDERS")) {
        if (json_is(key, "maxNumOrders") || json_is(key, "limit")) {
            int64_t n = -1;
            if (!json_int(json, &n) || n < 0 || n > INT32_MAX)
                return false;
            f->orders_max = (int32_t)n;
            return true;
        }
    }
    return json_skip(json);
}

/* The type may stand after the numbers: found first, on a copy of the reader. */
static bool filter_type(struct json json, struct json_text *ret)
{
    struct json_text key;
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        if (json_is(key, "filterType"))
            return json_read_string(&json, ret);
        if (!json_skip(&json))
            return false;
    }
    return false;
}

static bool parse_filters(struct json *json, struct symbol *symbol)
{
    struct json_text type, key;
    json_enter_array(json);
    while (json_element(json)) {
        if (!filter_type(*json, &type))
            return false;
        json_enter_object(json);
        while (json_member(json, &key))
            if (!parse_filter_member(json, type, key, symbol))
                return false;
    }
    return !json->failed;
}

static bool scale_valid(int64_t scale)
{
    return scale >= 0 && scale + BINANCE_PRICE_SCALE <= DECIMAL_SCALE_MAX;
}

/* False: a name or a number that we cannot hold. */
static bool to_symbol(struct listed *listed, const char *venue, struct symbol *ret)
{
    struct symbol symbol = {.price_scale = BINANCE_PRICE_SCALE, .trading = listed->trading};
    int64_t quote =
        listed->quote_asset_precision >= 0 ? listed->quote_asset_precision : listed->quote_precision;
    if (!scale_valid(listed->base_precision) || !scale_valid(quote) || !listed->have_filters)
        return false;
    symbol.qty_scale = (int)listed->base_precision;
    symbol.quote_scale = (int)quote;
    if (!copy_name(listed->name, symbol.name, sizeof(symbol.name)) ||
        !copy_name(listed->base, symbol.base, sizeof(symbol.base)) ||
        !copy_name(listed->quote, symbol.quote, sizeof(symbol.quote)) ||
        !parse_filters(&listed->filters, &symbol))
        return false;
    snprintf(symbol.venue, sizeof(symbol.venue), "%s", venue);
    *ret = symbol;
    return true;
}

static bool parse_listed(struct json *json, struct listed *listed)
{
    struct json_text key, status;
    *listed = (struct listed){.base_precision = -1, .quote_precision = -1, .quote_asset_precision = -1};
    json_enter_object(json);
    while (json_member(json, &key)) {
        bool ok;
        if (json_is(key, "symbol")) {
            ok = json_read_string(json, &listed->name);
        } else if (json_is(key, "baseAsset")) {
            ok = json_read_string(json, &listed->base);
        } else if (json_is(key, "quoteAsset")) {
            ok = json_read_string(json, &listed->quote);
        } else if (json_is(key, "baseAssetPrecision")) {
            ok = json_int(json, &listed->base_precision);
        } else if (json_is(key, "quotePrecision")) {
            ok = json_int(json, &listed->quote_precision);
        } else if (json_is(key, "quoteAssetPrecision")) {
            ok = json_int(json, &listed->quote_asset_precision);
        } else if (json_is(key, "status")) {
            ok = json_read_string(json, &status);
            listed->trading = ok && json_is(status, "TRADING");
        } else {
            if (json_is(key, "filters") && json_peek(json) == '[') {
                listed->filters = *json;
                listed->have_filters = true;
            }
            ok = json_skip(json);
        }
        if (!ok)
            return false;
    }
    return !json->failed;
}

static bool parse_limits(struct json *json, int64_t *ret_weight_per_minute)
{
    struct json_text key, type, interval;
    json_enter_array(json);
    while (json_element(json)) {
        int64_t n = 0, limit = 0;
        type = interval = (struct json_text){"", 0};
        json_enter_object(json);
        while (json_member(json, &key)) {
            bool ok = json_is(key, "rateLimitType") ? json_read_string(json, &type)
                      : json_is(key, "interval")    ? json_read_string(json, &interval)
                      : json_is(key, "intervalNum") ? json_int(json, &n)
                      : json_is(key, "limit")       ? json_int(json, &limit)
                                                    : json_skip(json);
            if (!ok)
                return false;
        }
        if (json_is(type, "REQUEST_WEIGHT") && json_is(interval, "MINUTE") && n == 1 && limit > 0)
            *ret_weight_per_minute = limit;
    }
    return !json->failed;
}

typedef void take_listed(void *user, struct listed *listed, struct binance_info *info);

static int walk(const char *text, size_t len, take_listed *take, void *user, struct binance_info *ret)
{
    struct json json;
    struct json_text key;
    struct binance_info info = {0};
    bool have_symbols = false;
    json_init(&json, text, len);
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        if (json_is(key, "symbols")) {
            struct listed listed;
            have_symbols = true;
            json_enter_array(&json);
            while (json_element(&json)) {
                if (!parse_listed(&json, &listed))
                    return -EBADMSG;
                info.symbols++;
                take(user, &listed, &info);
            }
        } else if (json_is(key, "rateLimits")) {
            if (!parse_limits(&json, &info.weight_per_minute))
                return -EBADMSG;
        } else if (json_is(key, "serverTime")) {
            int64_t ms;
            if (!json_int(&json, &ms) || ms < 0 || ms > INT64_MAX / 1000000)
                return -EBADMSG;
            info.server_ns = ms * 1000000;
        } else if (!json_skip(&json)) {
            return -EBADMSG;
        }
    }
    if (!json_done(&json) || !have_symbols)
        return -EBADMSG;
    *ret = info;
    return 0;
}

struct each {
    void (*call)(void *user, const struct symbol *symbol);
    void *user;
    const char *venue;
};

static void take_each(void *user, struct listed *listed, struct binance_info *info)
{
    struct each *each = user;
    struct symbol symbol;
    if (to_symbol(listed, each->venue, &symbol))
        each->call(each->user, &symbol);
    else
        info->unusable++;
}

int binance_parse_info(const char *text, size_t len, const char *venue,
                       void (*each)(void *user, const struct symbol *symbol), void *user,
                       struct binance_info *ret)
{
    return walk(text, len, take_each, &(struct each){each, user, venue}, ret);
}

/* Levenshtein's distance with transpositions of neighbours, of short names. */
static int distance(const char *a, size_t n, const char *b, size_t m)
{
    int row[3][SYMBOL_NAME_MAX + 1];
    if (n > SYMBOL_NAME_MAX || m > SYMBOL_NAME_MAX)
        return SYMBOL_NAME_MAX;
    for (size_t j = 0; j <= m; j++)
        row[0][j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int *above = row[(i - 1) % 3], *here = row[i % 3];
        here[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (here[j - 1] + 1 < best)
                best = here[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                row[(i - 2) % 3][j - 2] + 1 < best)
                best = row[(i - 2) % 3][j - 2] + 1;
            here[j] = best;
        }
    }
    return row[n % 3][m];
}

struct wanted {
    struct venue_symbol **by_name; /* sorted */
    size_t n;
    const char *venue;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp((*(struct venue_symbol *const *)a)->name, (*(struct venue_symbol *const *)b)->name);
}

/* The first of that name, or NULL. */
static struct venue_symbol **find_wanted(const struct wanted *wanted, struct json_text name)
{
    size_t low = 0, high = wanted->n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const char *here = wanted->by_name[middle]->name;
        int order = strncmp(here, name.data, name.len);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == wanted->n || strncmp(wanted->by_name[low]->name, name.data, name.len) != 0 ||
        wanted->by_name[low]->name[name.len] != '\0')
        return NULL;
    return &wanted->by_name[low];
}

static void take_wanted(void *user, struct listed *listed, struct binance_info *info)
{
    const struct wanted *wanted = user;
    struct symbol symbol;
    struct venue_symbol **want =
        listed->name.len > 0 && listed->name.len < SYMBOL_NAME_MAX ? find_wanted(wanted, listed->name) : NULL;
    if (!want || (*want)->found)
        return;
    bool usable = to_symbol(listed, wanted->venue, &symbol);
    info->unusable += !usable;
    const char *name = (*want)->name;
    for (; want < wanted->by_name + wanted->n && strcmp((*want)->name, name) == 0; want++) {
        (*want)->found = usable;
        (*want)->unusable = !usable;
        if (usable)
            (*want)->symbol = symbol;
    }
}

static void take_nearest(void *user, struct listed *listed, struct binance_info *info)
{
    const struct wanted *wanted = user;
    (void)info;
    for (size_t i = 0; i < wanted->n; i++) {
        struct venue_symbol *want = wanted->by_name[i];
        size_t len = strlen(want->name);
        int to_best = want->nearest[0] ? distance(want->name, len, want->nearest, strlen(want->nearest))
                                       : NEAREST_DISTANCE + 1;
        if (!want->found && !want->unusable &&
            distance(want->name, len, listed->name.data, listed->name.len) < to_best)
            copy_name(listed->name, want->nearest, sizeof(want->nearest));
    }
}

int binance_parse_wanted(const char *text, size_t len, const char *venue, struct venue_symbol *list, size_t n,
                         struct binance_info *ret)
{
    struct venue_symbol **by_name = malloc((n ? n : 1) * sizeof(*by_name));
    if (!by_name)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        list[i].found = list[i].unusable = false;
        list[i].nearest[0] = '\0';
        by_name[i] = &list[i];
    }
    qsort(by_name, n, sizeof(*by_name), compare_names);
    struct wanted wanted = {by_name, n, venue};
    struct binance_info info, again;
    int r = walk(text, len, take_wanted, &wanted, &info);
    size_t missing = 0; /* moved to the front */
    for (size_t i = 0; r == 0 && i < n; i++)
        if (!by_name[i]->found)
            by_name[missing++] = by_name[i];
    wanted.n = missing;
    if (r == 0 && missing > 0)
        r = walk(text, len, take_nearest, &wanted, &again);
    free(by_name);
    if (r == 0)
        *ret = info;
    return r;
}
