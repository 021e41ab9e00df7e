#include "exchange/replay/retime.h"

#include <string.h>

#include "exchange/json.h"
#include "exchange/replay/stream.h"

#define NS_PER_MS        1000000LL
#define NS_PER_US        1000LL
#define MICROS_FROM      100000000000000LL /* 1973 in microseconds, 5138 in milliseconds */
#define MILLIS_FROM      100000000000LL    /* 1973: smaller numbers are no times */
#define MICROS_PER_MILLI 1000

bool replay_retime_ns(int64_t value, int64_t *ret_ns)
{
    bool micros = value >= MICROS_FROM;
    if (value < 0 || value > INT64_MAX / (micros ? NS_PER_US : NS_PER_MS))
        return false;
    *ret_ns = value * (micros ? NS_PER_US : NS_PER_MS);
    return true;
}

struct rewrite {
    struct json json;
    struct text *out;
    const char *copied; /* up to where `out` has it */
    int unit;
    bool changed;
};

/* The next value, a time. `last`: it is the last moment of an interval. */
static void rewrite_time(struct rewrite *r, bool last)
{
    int64_t value;
    if (json_peek(&r->json) != '0') {
        json_skip(&r->json);
        return;
    }
    const char *begin = r->json.p;
    if (!json_int(&r->json, &value) || value < MILLIS_FROM ||
        (value >= MICROS_FROM) == (r->unit == STREAM_US))
        return;
    text_bytes(r->out, r->copied, (size_t)(begin - r->copied));
    if (r->unit == STREAM_US)
        text_int(r->out, value * MICROS_PER_MILLI + (last ? MICROS_PER_MILLI - 1 : 0));
    else
        text_int(r->out, value / MICROS_PER_MILLI);
    r->copied = r->json.p;
    r->changed = true;
}

static void rewrite_kline(struct rewrite *r)
{
    struct json_text key;
    if (json_peek(&r->json) != '{') {
        json_skip(&r->json);
        return;
    }
    json_enter_object(&r->json);
    while (json_member(&r->json, &key)) {
        if (json_is(key, "t") || json_is(key, "T"))
            rewrite_time(r, key.data[0] == 'T');
        else
            json_skip(&r->json);
    }
}

bool replay_retime(struct text *out, int unit, const char *data, size_t len)
{
    struct rewrite r = {.out = out, .copied = data, .unit = unit};
    struct json_text key;
    json_init(&r.json, data, len);
    if (json_peek(&r.json) != '{')
        return false;
    json_enter_object(&r.json);
    while (json_member(&r.json, &key)) {
        if (json_is(key, "E") || json_is(key, "T") || json_is(key, "O") || json_is(key, "C"))
            rewrite_time(&r, false);
        else if (json_is(key, "k"))
            rewrite_kline(&r);
        else
            json_skip(&r.json);
    }
    if (!json_done(&r.json) || !r.changed)
        return false;
    text_bytes(out, r.copied, (size_t)(data + len - r.copied));
    return true;
}
