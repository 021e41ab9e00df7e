#include "exchange/binance/rest_parse.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#define US_NS  1000LL
#define MS_NS  1000000LL
#define US_MIN (BINANCE_MS_MAX * 250) /* 2002: in microseconds, an earlier one is wrong as well */
#define US_MAX (BINANCE_MS_MAX * 1000)

enum { KLINE_FIELDS = 12 };

/* A time in ms as nanoseconds; false out of range. */
static bool json_ms(struct json *json, int64_t *ret_ns)
{
    int64_t ms;
    if (!json_int(json, &ms) || ms < 0 || ms > BINANCE_MS_MAX)
        return false;
    *ret_ns = ms * MS_NS;
    return true;
}

bool binance_read_time(struct json *json, int64_t *ret_ns)
{
    int64_t time;
    if (!json_int(json, &time) || time < 0 || time > US_MAX || (time > BINANCE_MS_MAX && time < US_MIN))
        return false;
    *ret_ns = time <= BINANCE_MS_MAX ? time * MS_NS : time * US_NS;
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

bool binance_read_value(struct json *json, const struct symbol *symbol, enum binance_value value, void *ret)
{
    switch (value) {
    case BINANCE_COUNT:
        return json_int(json, ret) && *(int64_t *)ret >= 0;
    case BINANCE_PRICE:
        return json_amount(json, symbol->price_scale, ret);
    case BINANCE_TRADED:
        return json_amount(json, symbol->price_scale, ret) && *(int64_t *)ret > 0;
    case BINANCE_QTY:
        return json_amount(json, symbol->qty_scale, ret);
    case BINANCE_VOLUME:
        return json_amount_wide(json, symbol->qty_scale, ret);
    case BINANCE_QUOTE_VOLUME:
        return json_amount_wide(json, symbol->price_scale + symbol->qty_scale, ret);
    case BINANCE_MS:
        return json_ms(json, ret);
    case BINANCE_TIME:
        return binance_read_time(json, ret);
    case BINANCE_FLAG:
        return json_bool(json, ret);
    }
    return false;
}

struct kline {
    struct bar bar;
    int64_t close_ns;
};

/* One array of twelve, of which the last three are not kept. */
static bool parse_kline(struct json *json, const struct symbol *symbol, struct kline *ret)
{
    static const struct binance_field fields[] = {
        {NULL, BINANCE_MS, offsetof(struct kline, bar.open_ns)},
        {NULL, BINANCE_PRICE, offsetof(struct kline, bar.open)},
        {NULL, BINANCE_PRICE, offsetof(struct kline, bar.high)},
        {NULL, BINANCE_TRADED, offsetof(struct kline, bar.low)},
        {NULL, BINANCE_PRICE, offsetof(struct kline, bar.close)},
        {NULL, BINANCE_VOLUME, offsetof(struct kline, bar.volume)},
        {NULL, BINANCE_MS, offsetof(struct kline, close_ns)},
        {NULL, BINANCE_QUOTE_VOLUME, offsetof(struct kline, bar.quote_volume)},
        {NULL, BINANCE_COUNT, offsetof(struct kline, bar.trades)},
    };
    size_t at = 0;
    bool ok = json_enter_array(json);
    for (; ok && json_element(json); at++)
        ok = at < sizeof fields / sizeof *fields
                 ? binance_read_value(json, symbol, fields[at].value, (char *)ret + fields[at].at)
                 : json_skip(json);
    ret->bar.first_trade_id = ret->bar.last_trade_id = -1;
    return ok && !json->failed && at == KLINE_FIELDS;
}

/* A bar that its own interval can hold. */
static bool kline_consistent(const struct bar *bar, int64_t close_ns, int64_t interval_ns)
{
    return bar->open_ns == bar_open_time(bar->open_ns, interval_ns) && close_ns >= bar->open_ns &&
           close_ns < bar_end_time(bar->open_ns, interval_ns) && bar->low <= bar->open &&
           bar->low <= bar->close && bar->open <= bar->high && bar->close <= bar->high;
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
        struct kline kline;
        const struct bar *bar = &kline.bar;
        if (!parse_kline(&json, symbol, &kline) || !kline_consistent(bar, kline.close_ns, interval_ns) ||
            (n > 0 && bar->open_ns <= ret[n - 1].open_ns))
            return -EBADMSG;
        if (n == cap)
            return -E2BIG;
        ret[n++] = *bar;
        if (bar_end_time(bar->open_ns, interval_ns) <= now_ns)
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
