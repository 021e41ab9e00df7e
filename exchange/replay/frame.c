#include "exchange/replay/frame.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bars_file.h"
#include "exchange/replay/retime.h"

enum { BARE_INFO_HEAD = 4096 }; /* bytes before the symbols of a list */

/* Reads the time at text[0..len), up to `end`. */
static int read_time(const char *text, size_t len, int64_t *ret_ns)
{
    if (len == 0 || !isdigit((unsigned char)text[0]))
        return -EINVAL;
    return bars_time_parse(text, len, ret_ns);
}

/* A reply of exchangeInfo without time and URL, as a file of its own holds it. */
static const char bare_info_url[] = "/exchangeInfo";

static bool is_bare_info(const char *line, size_t len)
{
    static const char key[] = "\"symbols\":";
    return len > 0 && line[0] == '{' &&
           memmem(line, len < BARE_INFO_HEAD ? len : BARE_INFO_HEAD, key, sizeof(key) - 1);
}

int replay_frame_line_read(const char *line, size_t len, struct frame_line *ret)
{
    struct frame_line out = {0};
    const char *end = line + len, *p = line;
    if (is_bare_info(line, len)) {
        *ret = (struct frame_line){.url = {bare_info_url, sizeof(bare_info_url) - 1}, .frame = {line, len}};
        return 0;
    }
    if (len > 0 && isalpha((unsigned char)*p)) {
        const char *url_end = memchr(p, ' ', len);
        if (!url_end)
            return -EINVAL;
        size_t left = (size_t)(end - url_end);
        if (left > 5 && memcmp(url_end, " <-> ", 5) == 0) {
            if (read_time(url_end + 5, left - 5, &out.ts_ns) != 0)
                return -EINVAL;
            *ret = out;
            return 0;
        }
        if (left <= 4 || memcmp(url_end, " -> ", 4) != 0)
            return -EINVAL;
        out.url = (struct json_text){p, (size_t)(url_end - p)};
        p = url_end + 4;
    }
    const char *space = memchr(p, ' ', (size_t)(end - p));
    if (!space || space == p)
        return -EINVAL;
    size_t digits = (size_t)(space - p) - (space[-1] == ':');
    if (read_time(p, digits, &out.ts_ns) != 0 || space + 1 == end)
        return -EINVAL;
    out.frame = (struct json_text){space + 1, (size_t)(end - space - 1)};
    *ret = out;
    return 0;
}

int replay_frame_read(struct json_text text, struct replay_frame *ret)
{
    struct replay_frame out = {.kind = FRAME_OTHER, .data = text};
    struct json json;
    struct json_text key;
    bool has_stream = false, has_data = false;
    json_init(&json, text.data, text.len);
    if (json_peek(&json) == '[') {
        if (!json_skip(&json) || !json_done(&json))
            return -EINVAL;
        *ret = out;
        return 0;
    }
    if (!json_enter_object(&json))
        return -EINVAL;
    while (json_member(&json, &key)) {
        if (json_is(key, "stream")) {
            json_read_string(&json, &out.stream);
            has_stream = true;
        } else if (json_is(key, "data")) {
            json_peek(&json);
            out.data.data = json.p;
            json_skip(&json);
            out.data.len = (size_t)(json.p - out.data.data);
            has_data = true;
        } else {
            if (json_is(key, "lastUpdateId"))
                out.kind = FRAME_SNAPSHOT;
            else if (json_is(key, "e") || json_is(key, "u"))
                out.kind = FRAME_STREAM;
            json_skip(&json);
        }
    }
    if (!json_done(&json) || has_stream != has_data)
        return -EINVAL;
    if (has_stream)
        out.kind = FRAME_STREAM;
    *ret = out;
    return 0;
}

int replay_frame_raw_name(struct json_text data, char name[static 64])
{
    static const struct {
        const char *event, *stream;
    } names[] = {{"trade", "trade"},
                 {"aggTrade", "aggTrade"},
                 {"depthUpdate", "depth@100ms"},
                 {"24hrMiniTicker", "miniTicker"}};
    struct json json;
    struct json_text key, event = {0}, symbol = {0}, interval = {0};
    json_init(&json, data.data, data.len);
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        if (json_is(key, "e")) {
            json_read_string(&json, &event);
        } else if (json_is(key, "s")) {
            json_read_string(&json, &symbol);
        } else if (json_is(key, "k")) {
            json_enter_object(&json);
            while (json_member(&json, &key)) {
                if (json_is(key, "i"))
                    json_read_string(&json, &interval);
                else
                    json_skip(&json);
            }
        } else {
            json_skip(&json);
        }
    }
    if (!json_done(&json) || symbol.len >= SYMBOL_NAME_MAX || interval.len > 8)
        return -EINVAL;
    if (symbol.len == 0)
        return -ENOENT;
    char stream[32] = "bookTicker";
    if (json_is(event, "kline")) {
        snprintf(stream, sizeof(stream), "kline_%.*s", (int)interval.len, interval.data);
    } else if (event.len > 0 && !json_is(event, "bookTicker")) {
        size_t i = 0;
        while (i < 4 && !json_text_is(event, names[i].event))
            i++;
        if (i < 4)
            snprintf(stream, sizeof(stream), "%s", names[i].stream);
        else /* not a kind that is made here: passed on under the event's name */
            json_text_cut(event, stream, sizeof(stream));
    }
    int len = snprintf(name, 64, "%.*s@%s", (int)symbol.len, symbol.data, stream);
    for (int i = 0; i < (int)symbol.len; i++)
        name[i] = (char)tolower((unsigned char)name[i]);
    return len < 64 ? 0 : -EINVAL;
}

/* One letter keys, as a bit each, so that missing ones are detected. */
#define SEEN(c) (1ull << ((c) - 'A'))

static bool read_moment(struct json *json, int64_t *ret_ns)
{
    int64_t value;
    return json_int(json, &value) && replay_retime_ns(value, ret_ns);
}

int replay_frame_trade(struct json_text data, struct tape_trade *ret)
{
    return replay_frame_agg_trade(data, ret, NULL, NULL);
}

int replay_frame_agg_trade(struct json_text data, struct tape_trade *ret, int64_t *ret_first_id,
                           int64_t *ret_last_id)
{
    struct tape_trade t = {0};
    int64_t first = 0, last = 0;
    uint64_t seen = 0, need = SEEN('E') | SEEN('p') | SEEN('q') | SEEN('T') | SEEN('m');
    struct json json;
    struct json_text key;
    need |= ret_first_id ? SEEN('a') | SEEN('f') | SEEN('l') : SEEN('t');
    json_init(&json, data.data, data.len);
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        char c = key.len == 1 ? key.data[0] : '\0';
        bool ok = true;
        if (c == (ret_first_id ? 't' : 'a')) /* of a plain trade: the seller's order, in old frames */
            c = '\0';
        switch (c) {
        case 'E':
            ok = read_moment(&json, &t.event_ns);
            break;
        case 'T':
            ok = read_moment(&json, &t.ts_ns);
            break;
        case 't':
        case 'a':
            ok = json_int(&json, &t.id);
            break;
        case 'f':
            ok = json_int(&json, &first);
            break;
        case 'l':
            ok = json_int(&json, &last);
            break;
        case 'p':
            ok = json_decimal(&json, 8, &t.price);
            break;
        case 'q':
            ok = json_decimal(&json, 8, &t.qty);
            break;
        case 'm':
            ok = json_bool(&json, &t.buyer_maker);
            break;
        default:
            json_skip(&json);
            continue;
        }
        if (!ok)
            return -EINVAL;
        seen |= SEEN(c);
    }
    if (!json_done(&json) || (seen & need) != need)
        return -EINVAL;
    *ret = t;
    if (ret_first_id) {
        *ret_first_id = first;
        *ret_last_id = last;
    }
    return 0;
}

int replay_frame_quote(struct json_text data, uint64_t *ret_id, struct level *ret_bid, struct level *ret_ask)
{
    struct level bid = {0}, ask = {0};
    int64_t id = 0;
    uint64_t seen = 0, need = SEEN('u') | SEEN('b') | SEEN('B') | SEEN('a') | SEEN('A');
    struct json json;
    struct json_text key;
    json_init(&json, data.data, data.len);
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        char c = key.len == 1 ? key.data[0] : '\0';
        int64_t *value = c == 'b'   ? &bid.price
                         : c == 'B' ? &bid.qty
                         : c == 'a' ? &ask.price
                         : c == 'A' ? &ask.qty
                                    : NULL;
        if (c == 'u')
            json_int(&json, &id);
        else if (value)
            json_decimal(&json, 8, value);
        else
            json_skip(&json);
        if (c == 'u' || value)
            seen |= SEEN(c);
    }
    if (!json_done(&json) || (seen & need) != need)
        return -EINVAL;
    *ret_id = (uint64_t)id;
    *ret_bid = bid;
    *ret_ask = ask;
    return 0;
}

static int read_levels(struct json *json, struct level **levels, size_t *n, size_t *cap)
{
    *n = 0;
    if (!json_enter_array(json))
        return -EINVAL;
    while (json_element(json)) {
        struct level level;
        if (!json_enter_array(json) || !json_element(json) || !json_decimal(json, 8, &level.price) ||
            !json_element(json) || !json_decimal(json, 8, &level.qty))
            return -EINVAL;
        while (json_element(json)) /* an old, always empty, third member */
            json_skip(json);
        if (*n == *cap) {
            size_t more = *cap ? *cap * 2 : 256;
            struct level *grown = reallocarray(*levels, more, sizeof(**levels));
            if (!grown)
                return -ENOMEM;
            *levels = grown;
            *cap = more;
        }
        (*levels)[(*n)++] = level;
    }
    return 0;
}

int replay_frame_depth(struct json_text data, int64_t *ret_event_ns, uint64_t *ret_first_id,
                       uint64_t *ret_last_id, struct frame_levels *levels)
{
    int64_t event_ns = 0, first = 0, last = 0, before = -1;
    uint64_t seen = 0, need = SEEN('E') | SEEN('U') | SEEN('u') | SEEN('b') | SEEN('a');
    struct json json;
    struct json_text key;
    levels->n_bids = levels->n_asks = 0;
    json_init(&json, data.data, data.len);
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        char c = key.len == 1 ? key.data[0] : '\0';
        int rc = 0;
        if (json_is(key, "pu"))
            rc = json_int(&json, &before) ? 0 : -EINVAL;
        else if (c == 'E')
            rc = read_moment(&json, &event_ns) ? 0 : -EINVAL;
        else if (c == 'U')
            json_int(&json, &first);
        else if (c == 'u')
            json_int(&json, &last);
        else if (c == 'b')
            rc = read_levels(&json, &levels->bids, &levels->n_bids, &levels->cap_bids);
        else if (c == 'a')
            rc = read_levels(&json, &levels->asks, &levels->n_asks, &levels->cap_asks);
        else
            json_skip(&json);
        if (rc < 0)
            return rc;
        if (c && strchr("EUuba", c))
            seen |= SEEN(c);
    }
    if (!json_done(&json) || (seen & need) != need)
        return -EINVAL;
    *ret_event_ns = event_ns;
    *ret_first_id = (uint64_t)(before >= 0 ? before + 1 : first);
    *ret_last_id = (uint64_t)last;
    return 0;
}

int replay_frame_snapshot(struct json_text data, uint64_t *ret_last_id, struct frame_levels *levels)
{
    int64_t last = -1;
    struct json json;
    struct json_text key;
    levels->n_bids = levels->n_asks = 0;
    json_init(&json, data.data, data.len);
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        int rc = 0;
        if (json_is(key, "lastUpdateId"))
            json_int(&json, &last);
        else if (json_is(key, "bids"))
            rc = read_levels(&json, &levels->bids, &levels->n_bids, &levels->cap_bids);
        else if (json_is(key, "asks"))
            rc = read_levels(&json, &levels->asks, &levels->n_asks, &levels->cap_asks);
        else
            json_skip(&json);
        if (rc < 0)
            return rc;
    }
    if (!json_done(&json) || last < 0)
        return -EINVAL;
    *ret_last_id = (uint64_t)last;
    return 0;
}

static bool read_sum(struct json *json, int scale, int128_t *ret)
{
    int64_t units;
    if (!json_decimal(json, 8, &units))
        return false;
    *ret = (int128_t)units * decimal_pow10(scale - 8);
    return true;
}

static bool read_candle(struct json *json, struct candle *k)
{
    struct json_text key;
    uint64_t seen = 0, need = SEEN('t') | SEEN('o') | SEEN('c') | SEEN('h') | SEEN('l') | SEEN('v') |
                              SEEN('n') | SEEN('q') | SEEN('V') | SEEN('Q') | SEEN('f') | SEEN('L');
    json_enter_object(json);
    while (json_member(json, &key)) {
        char c = key.len == 1 ? key.data[0] : '\0';
        bool ok = true;
        switch (c) {
        case 't':
            ok = read_moment(json, &k->open_ns);
            break;
        case 'f':
            ok = json_int(json, &k->first_id);
            break;
        case 'L':
            ok = json_int(json, &k->last_id);
            break;
        case 'n':
            ok = json_int(json, &k->trades);
            break;
        case 'o':
            ok = json_decimal(json, 8, &k->open);
            break;
        case 'h':
            ok = json_decimal(json, 8, &k->high);
            break;
        case 'l':
            ok = json_decimal(json, 8, &k->low);
            break;
        case 'c':
            ok = json_decimal(json, 8, &k->close);
            break;
        case 'v':
            ok = read_sum(json, 8, &k->volume);
            break;
        case 'V':
            ok = read_sum(json, 8, &k->taker_volume);
            break;
        case 'q':
            ok = read_sum(json, 16, &k->quote_volume);
            break;
        case 'Q':
            ok = read_sum(json, 16, &k->taker_quote_volume);
            break;
        default:
            json_skip(json);
            continue;
        }
        if (!ok)
            return false;
        seen |= SEEN(c);
    }
    return (seen & need) == need;
}

int replay_frame_kline(struct json_text data, int64_t *ret_event_ns, struct candle *ret)
{
    int64_t event_ns = -1;
    bool has_bar = false;
    struct candle k = {0};
    struct json json;
    struct json_text key;
    json_init(&json, data.data, data.len);
    json_enter_object(&json);
    while (json_member(&json, &key)) {
        bool ok = true;
        if (json_is(key, "E"))
            ok = read_moment(&json, &event_ns);
        else if (json_is(key, "k"))
            ok = has_bar = read_candle(&json, &k);
        else
            json_skip(&json);
        if (!ok)
            return -EINVAL;
    }
    if (!json_done(&json) || event_ns < 0 || !has_bar)
        return -EINVAL;
    *ret_event_ns = event_ns;
    *ret = k;
    return 0;
}

void replay_frame_levels_finish(struct frame_levels *levels)
{
    free(levels->bids);
    free(levels->asks);
    *levels = (struct frame_levels){0};
}
