#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/binance/rest_parse.h"
#include "exchange/filter.h"
#include "exchange/nearest.h"

/* One symbol's texts: filters may come before the scales that they need. */
struct listed {
    struct json_text name, base, quote;
    int64_t base_precision, quote_precision, quote_asset_precision;
    bool trading, have_filters;
    struct json filters; /* at the array */
};

static bool copy_name(struct json_text text, char *ret, size_t size)
{
    return text.len > 0 && !memchr(text.data, '\\', text.len) && json_text_copy(text, ret, size);
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

enum scale { SCALE_PRICE, SCALE_QTY, SCALE_NOTIONAL, SCALE_MULTIPLIER };
enum limit { LOWER, UPPER, FLAG, COUNT }; /* int64_t, int64_t, bool, int32_t */

/* Where a filter's member goes; multipliers of both sides go to two places. */
static const struct filter_member {
    const char *type, *key;
    enum limit limit;
    enum scale scale;
    size_t at, also; /* also: 0: nowhere */
} members[] = {
#define AT(member) offsetof(struct symbol_filters, member)
    {"PRICE_FILTER", "minPrice", LOWER, SCALE_PRICE, AT(price_min), 0},
    {"PRICE_FILTER", "maxPrice", UPPER, SCALE_PRICE, AT(price_max), 0},
    {"PRICE_FILTER", "tickSize", LOWER, SCALE_PRICE, AT(tick), 0},
    {"LOT_SIZE", "minQty", LOWER, SCALE_QTY, AT(qty_min), 0},
    {"LOT_SIZE", "maxQty", UPPER, SCALE_QTY, AT(qty_max), 0},
    {"LOT_SIZE", "stepSize", LOWER, SCALE_QTY, AT(step), 0},
    {"MARKET_LOT_SIZE", "minQty", LOWER, SCALE_QTY, AT(market_qty_min), 0},
    {"MARKET_LOT_SIZE", "maxQty", UPPER, SCALE_QTY, AT(market_qty_max), 0},
    {"MARKET_LOT_SIZE", "stepSize", LOWER, SCALE_QTY, AT(market_step), 0},
    {"NOTIONAL", "minNotional", LOWER, SCALE_NOTIONAL, AT(notional_min), 0},
    {"NOTIONAL", "maxNotional", UPPER, SCALE_NOTIONAL, AT(notional_max), 0},
    {"NOTIONAL", "applyToMarket", FLAG, 0, AT(notional_min_market), 0},
    {"NOTIONAL", "applyMinToMarket", FLAG, 0, AT(notional_min_market), 0},
    {"NOTIONAL", "applyMaxToMarket", FLAG, 0, AT(notional_max_market), 0},
    {"PERCENT_PRICE", "multiplierUp", LOWER, SCALE_MULTIPLIER, AT(bid_up_e4), AT(ask_up_e4)},
    {"PERCENT_PRICE", "multiplierDown", LOWER, SCALE_MULTIPLIER, AT(bid_down_e4), AT(ask_down_e4)},
    {"PERCENT_PRICE_BY_SIDE", "bidMultiplierUp", LOWER, SCALE_MULTIPLIER, AT(bid_up_e4), 0},
    {"PERCENT_PRICE_BY_SIDE", "bidMultiplierDown", LOWER, SCALE_MULTIPLIER, AT(bid_down_e4), 0},
    {"PERCENT_PRICE_BY_SIDE", "askMultiplierUp", LOWER, SCALE_MULTIPLIER, AT(ask_up_e4), 0},
    {"PERCENT_PRICE_BY_SIDE", "askMultiplierDown", LOWER, SCALE_MULTIPLIER, AT(ask_down_e4), 0},
    {"MAX_NUM_ORDERS", "maxNumOrders", COUNT, 0, AT(orders_max), 0},
    {"MAX_NUM_ORDERS", "limit", COUNT, 0, AT(orders_max), 0},
#undef AT
};

static bool parse_count(struct json *json, int32_t *ret)
{
    int64_t n = -1;
    if (!json_int(json, &n) || n < 0 || n > INT32_MAX)
        return false;
    *ret = (int32_t)n;
    return true;
}

/* One member of a filter into its place. Members of filters that we do not know are skipped. */
static bool parse_filter_member(struct json *json, struct json_text type, struct json_text key,
                                struct symbol *symbol)
{
    const int scales[] = {symbol->price_scale, symbol->qty_scale, symbol->quote_scale,
                          FILTER_MULTIPLIER_SCALE};
    const size_t n = sizeof members / sizeof *members;
    size_t i = 0;
    if (json_is(type, "MIN_NOTIONAL"))
        type = (struct json_text){"NOTIONAL", strlen("NOTIONAL")};
    while (i < n && !(json_text_is(type, members[i].type) && json_text_is(key, members[i].key)))
        i++;
    if (i == n)
        return json_skip(json);
    const struct filter_member *member = &members[i];
    char *filters = (char *)&symbol->filters;
    void *at = filters + member->at;
    bool ok = member->limit == LOWER   ? json_decimal(json, scales[member->scale], at)
              : member->limit == UPPER ? json_upper(json, scales[member->scale], at)
              : member->limit == FLAG  ? json_bool(json, at)
                                       : parse_count(json, at);
    if (ok && member->also > 0)
        memcpy(filters + member->also, at, sizeof(int64_t));
    return ok;
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
    char name[SYMBOL_NAME_MAX];
    (void)info;
    if (!copy_name(listed->name, name, sizeof(name)))
        return;
    for (size_t i = 0; i < wanted->n; i++)
        if (!wanted->by_name[i]->found && !wanted->by_name[i]->unusable)
            nearest_keep(wanted->by_name[i]->name, name, wanted->by_name[i]->nearest, sizeof(name));
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
