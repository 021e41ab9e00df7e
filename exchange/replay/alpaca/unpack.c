#include "exchange/replay/alpaca/unpack.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "exchange/replay/alpaca/wire.h"

enum { DEPTH_MAX = 8 };

struct unpack_reader {
    const unsigned char *p, *end;
};

static json_t *value(struct unpack_reader *r, int depth);

static bool take_number(struct unpack_reader *r, int bytes, uint64_t *ret)
{
    if (r->end - r->p < bytes)
        return false;
    *ret = 0;
    for (int i = 0; i < bytes; i++)
        *ret = *ret << 8 | *r->p++;
    return true;
}

static json_t *take_str(struct unpack_reader *r, uint64_t len)
{
    if (len > (uint64_t)(r->end - r->p))
        return NULL;
    json_t *str = json_stringn((const char *)r->p, (size_t)len); /* NULL when it is no UTF-8 */
    r->p += len;
    return str;
}

static json_t *take_array(struct unpack_reader *r, uint64_t n, int depth)
{
    json_t *array = json_array();
    for (uint64_t i = 0; array && i < n; i++) {
        json_t *element = value(r, depth);
        if (!element || json_array_append_new(array, element) < 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *take_map(struct unpack_reader *r, uint64_t n, int depth)
{
    json_t *map = json_object();
    for (uint64_t i = 0; map && i < n; i++) {
        json_t *key = value(r, depth), *member = json_is_string(key) ? value(r, depth) : NULL;
        bool ok = member && strlen(json_string_value(key)) == json_string_length(key) &&
                  json_object_set(map, json_string_value(key), member) == 0;
        json_decref(key);
        json_decref(member);
        if (!ok) {
            json_decref(map);
            return NULL;
        }
    }
    return map;
}

static json_t *take_float(struct unpack_reader *r, int bytes)
{
    uint64_t bits;
    double x;
    float narrow;
    if (!take_number(r, bytes, &bits))
        return NULL;
    uint32_t low = (uint32_t)bits;
    memcpy(&narrow, &low, sizeof(narrow));
    memcpy(&x, &bits, sizeof(x));
    return json_real(bytes == 4 ? (double)narrow : x); /* NULL when it is not finite */
}

static json_t *take_signed(struct unpack_reader *r, int bytes)
{
    uint64_t n;
    if (!take_number(r, bytes, &n))
        return NULL;
    int unused = 64 - 8 * bytes;
    return json_integer((int64_t)(n << unused) >> unused);
}

static json_t *take_unsigned(struct unpack_reader *r, int bytes)
{
    uint64_t n;
    return take_number(r, bytes, &n) && n <= INT64_MAX ? json_integer((int64_t)n) : NULL;
}

/* A timestamp of `bytes`, as JSON has it: text. */
static json_t *take_time(struct unpack_reader *r, int bytes)
{
    uint64_t type, low, seconds, part = 0;
    struct text text = {0};
    if (!take_number(r, 1, &type) || type != 0xff || (bytes == 12 && !take_number(r, 4, &part)) ||
        !take_number(r, bytes == 4 ? 4 : 8, &low))
        return NULL;
    seconds = low;
    if (bytes == 8) {
        part = low >> 34;
        seconds = low & (((uint64_t)1 << 34) - 1);
    }
    if (part >= 1000000000 || seconds > INT64_MAX / 1000000000 - 1)
        return NULL;
    replay_wire_rfc3339(&text, (int64_t)(seconds * 1000000000 + part));
    json_t *time = text_ok(&text) ? json_stringn(text.data, text.len) : NULL;
    text_finish(&text);
    return time;
}

static json_t *value(struct unpack_reader *r, int depth)
{
    uint64_t n;
    if (r->p == r->end || depth == DEPTH_MAX)
        return NULL;
    unsigned code = *r->p++;
    if (code < 0x80)
        return json_integer(code);
    if (code < 0x90)
        return take_map(r, code & 15, depth + 1);
    if (code < 0xa0)
        return take_array(r, code & 15, depth + 1);
    if (code < 0xc0)
        return take_str(r, code & 31);
    if (code >= 0xe0)
        return json_integer((int)code - 256);
    switch (code) {
    case 0xc0:
        return json_null();
    case 0xc2:
        return json_false();
    case 0xc3:
        return json_true();
    case 0xc7:
        return take_number(r, 1, &n) && n == 12 ? take_time(r, 12) : NULL;
    case 0xd6:
        return take_time(r, 4);
    case 0xd7:
        return take_time(r, 8);
    case 0xca:
        return take_float(r, 4);
    case 0xcb:
        return take_float(r, 8);
    case 0xcc:
    case 0xcd:
    case 0xce:
    case 0xcf:
        return take_unsigned(r, 1 << (code - 0xcc));
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
        return take_signed(r, 1 << (code - 0xd0));
    case 0xd9:
    case 0xda:
    case 0xdb:
        return take_number(r, 1 << (code - 0xd9), &n) ? take_str(r, n) : NULL;
    case 0xdc:
    case 0xdd:
        return take_number(r, 2 << (code - 0xdc), &n) ? take_array(r, n, depth + 1) : NULL;
    case 0xde:
    case 0xdf:
        return take_number(r, 2 << (code - 0xde), &n) ? take_map(r, n, depth + 1) : NULL;
    default:
        return NULL;
    }
}

json_t *replay_msgpack_read(const char *data, size_t len)
{
    struct unpack_reader r = {(const unsigned char *)data, (const unsigned char *)data + len};
    json_t *tree = value(&r, 0);
    if (tree && r.p != r.end) {
        json_decref(tree);
        return NULL;
    }
    return tree;
}
