#include "exchange/binance/rest_parse.h"

#include <errno.h>
#include <string.h>

#define MS_NS 1000000LL

enum { KLINE_FIELDS = 12 };

/* A time in ms as nanoseconds; false out of range. */
static bool json_ms(struct json *json, int64_t *ret_ns)
{
    int64_t ms;
    if (!json_int(json, &ms) || ms < 0 || ms > INT64_MAX / MS_NS)
        return false;
    *ret_ns = ms * MS_NS;
    return true;
}

int binance_parse_time(const char *text, size_t len, int64_t *ret_ns)
{
    struct json json;
    struct json_text key;
    int64_t ns = -1;
    json_init(&json, text, len);
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        if (!(json_is(key, "serverTime") ? json_ms(&json, &ns) : json_skip(&json)))
            return -EBADMSG;
    }
    if (!json_done(&json) || ns < 0)
        return -EBADMSG;
    *ret_ns = ns;
    return 0;
}

bool binance_parse_error(const char *text, size_t len, int64_t *ret_code, struct json_text *ret_msg)
{
    struct json json;
    struct json_text key, msg = {"", 0};
    int64_t code = 0;
    bool have_code = false;
    json_init(&json, text, len);
    if (json_peek(&json) != '{')
        return false;
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        bool ok;
        if (json_is(key, "code"))
            ok = have_code = json_int(&json, &code);
        else if (json_is(key, "msg"))
            ok = json_read_string(&json, &msg);
        else
            ok = json_skip(&json);
        if (!ok)
            return false;
    }
    if (!json_done(&json) || !have_code)
        return false;
    *ret_code = code;
    *ret_msg = msg;
    return true;
}

static bool json_decimal128(struct json *json, int scale, int128_t *ret)
{
    struct json_text text;
    return json_read_string(json, &text) && decimal_parse128(text.data, text.len, scale, ret) == 0;
}

/* One array of twelve: open time, open, high, low, close, volume, close time, quote volume, trades, and three
 * that are not kept. */
static bool parse_kline(struct json *json, const struct symbol *symbol, struct bar *bar,
                        int64_t *ret_close_ns)
{
    int field = 0;
    bool ok = json_enter_array(json);
    for (; ok && json_element(json); field++) {
        switch (field) {
        case 0:
            ok = json_ms(json, &bar->open_ns);
            break;
        case 1:
            ok = json_decimal(json, symbol->price_scale, &bar->open);
            break;
        case 2:
            ok = json_decimal(json, symbol->price_scale, &bar->high);
            break;
        case 3:
            ok = json_decimal(json, symbol->price_scale, &bar->low);
            break;
        case 4:
            ok = json_decimal(json, symbol->price_scale, &bar->close);
            break;
        case 5:
            ok = json_decimal128(json, symbol->qty_scale, &bar->volume);
            break;
        case 6:
            ok = json_ms(json, ret_close_ns);
            break;
        case 7:
            ok = json_decimal128(json, symbol->price_scale + symbol->qty_scale, &bar->quote_volume);
            break;
        case 8:
            ok = json_int(json, &bar->trades);
            break;
        default:
            ok = json_skip(json);
        }
    }
    bar->first_trade_id = bar->last_trade_id = -1;
    return ok && !json->failed && field == KLINE_FIELDS;
}

/* A bar that its own interval can hold. */
static bool kline_consistent(const struct bar *bar, int64_t close_ns, int64_t interval_ns)
{
    return bar->open_ns == bar_open_time(bar->open_ns, interval_ns) && close_ns >= bar->open_ns &&
           close_ns < bar->open_ns + interval_ns && bar->low > 0 && bar->low <= bar->open &&
           bar->low <= bar->close && bar->open <= bar->high && bar->close <= bar->high && bar->volume >= 0 &&
           bar->quote_volume >= 0 && bar->trades >= 0;
}

int binance_parse_klines(const char *text, size_t len, const struct symbol *symbol, int64_t interval_ns,
                         int64_t now_ns, struct bar *ret, size_t cap, size_t *ret_n, size_t *ret_closed)
{
    struct json json;
    size_t n = 0, closed = 0;
    json_init(&json, text, len);
    if (symbol->price_scale + symbol->qty_scale > DECIMAL_SCALE_MAX || !json_enter_array(&json))
        return -EBADMSG;
    while (json_element(&json)) {
        struct bar bar;
        int64_t close_ns = 0;
        if (!parse_kline(&json, symbol, &bar, &close_ns) || !kline_consistent(&bar, close_ns, interval_ns) ||
            (n > 0 && bar.open_ns <= ret[n - 1].open_ns))
            return -EBADMSG;
        if (n == cap)
            return -E2BIG;
        ret[n++] = bar;
        if (bar.open_ns + interval_ns <= now_ns)
            closed = n;
    }
    if (!json_done(&json))
        return -EBADMSG;
    *ret_n = n;
    *ret_closed = closed;
    return 0;
}

static int parse_levels(struct json *json, const struct symbol *symbol, struct book_level *levels,
                        uint32_t cap, uint32_t *ret_n)
{
    uint32_t n = 0;
    if (!json_enter_array(json))
        return -EBADMSG;
    while (json_element(json)) {
        struct book_level level = {0};
        int field = 0;
        bool ok = json_enter_array(json);
        for (; ok && json_element(json); field++)
            ok = field == 0   ? json_decimal(json, symbol->price_scale, &level.price)
                 : field == 1 ? json_decimal(json, symbol->qty_scale, &level.qty)
                              : json_skip(json);
        if (!ok || json->failed || field < 2 || level.price <= 0 || level.qty <= 0)
            return -EBADMSG;
        if (n == cap)
            return -E2BIG;
        levels[n++] = level;
    }
    *ret_n = n;
    return json->failed ? -EBADMSG : 0;
}

int binance_parse_depth(const char *text, size_t len, const struct symbol *symbol, struct book_level *bids,
                        uint32_t *ret_n_bids, struct book_level *asks, uint32_t *ret_n_asks, uint32_t cap,
                        uint64_t *ret_last_id)
{
    struct json json;
    struct json_text key;
    int64_t last_id = -1;
    bool have_bids = false, have_asks = false;
    json_init(&json, text, len);
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        int r = 0;
        if (json_is(key, "lastUpdateId")) {
            r = json_int(&json, &last_id) ? 0 : -EBADMSG;
        } else if (json_is(key, "bids")) {
            have_bids = true;
            r = parse_levels(&json, symbol, bids, cap, ret_n_bids);
        } else if (json_is(key, "asks")) {
            have_asks = true;
            r = parse_levels(&json, symbol, asks, cap, ret_n_asks);
        } else if (!json_skip(&json)) {
            r = -EBADMSG;
        }
        if (r < 0)
            return r;
    }
    if (!json_done(&json) || last_id < 0 || !have_bids || !have_asks)
        return -EBADMSG;
    *ret_last_id = (uint64_t)last_id;
    return 0;
}
