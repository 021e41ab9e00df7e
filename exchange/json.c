#include "exchange/json.h"

#include <string.h>

#include "exchange/bars_number.h"

void json_init(struct json *json, const char *text, size_t len)
{
    *json = (struct json){.p = text, .end = text + len};
}

static bool fail(struct json *json)
{
    json->failed = true;
    json->p = json->end;
    return false;
}

static void skip_space(struct json *json)
{
    const char *p = json->p;
    while (p < json->end && (*p == ' ' || *p == '\n' || *p == '\r' || *p == '\t'))
        p++;
    json->p = p;
}

static bool open_container(struct json *json, char bracket)
{
    skip_space(json);
    if (json->p == json->end || *json->p != bracket || json->depth == JSON_DEPTH_MAX)
        return fail(json);
    json->p++;
    json->depth++;
    json->first = true;
    return true;
}

bool json_enter_object(struct json *json)
{
    return open_container(json, '{');
}

bool json_enter_array(struct json *json)
{
    return open_container(json, '[');
}

/* Between two items of a container: true when another one follows. */
static bool next_item(struct json *json, char closing)
{
    skip_space(json);
    if (json->p == json->end)
        return fail(json);
    bool first = json->first;
    json->first = false;
    if (*json->p == closing) {
        json->p++;
        json->depth--;
        return false;
    }
    if (first)
        return true;
    if (*json->p != ',')
        return fail(json);
    json->p++;
    return true;
}

bool json_element(struct json *json)
{
    return next_item(json, ']');
}

bool json_member(struct json *json, struct json_text *ret_key)
{
    if (!next_item(json, '}'))
        return false;
    const char *p = json->p;
    if (json->end - p >= 4 && p[0] == '"' && p[2] == '"' && p[3] == ':' && (unsigned char)p[1] >= 0x20 &&
        p[1] != '"' && p[1] != '\\') { /* one letter, as venues have most */
        *ret_key = (struct json_text){p + 1, 1};
        json->p = p + 4;
        json->first = false;
        return true;
    }
    if (!json_read_string(json, ret_key))
        return false;
    skip_space(json);
    if (json->p == json->end || *json->p != ':')
        return fail(json);
    json->p++;
    return true;
}

static bool hex_digits(const char *p, int n)
{
    for (int i = 0; i < n; i++) {
        char c = p[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
            return false;
    }
    return true;
}

bool json_read_string(struct json *json, struct json_text *ret)
{
    skip_space(json);
    if (json->p == json->end || *json->p != '"')
        return fail(json);
    const char *start = json->p + 1, *p = start, *end = json->end;
    for (; p < end && *p != '"'; p++) {
        if ((unsigned char)*p < 0x20)
            return fail(json);
        if (*p != '\\')
            continue;
        if (++p == end)
            return fail(json);
        if (*p == 'u') {
            if (end - p < 5 || !hex_digits(p + 1, 4))
                return fail(json);
            p += 4;
        } else if (!memchr("\"\\/bfnrt", *p, 8)) {
            return fail(json);
        }
    }
    if (p == end)
        return fail(json);
    *ret = (struct json_text){start, (size_t)(p - start)};
    json->p = p + 1;
    json->first = false;
    return true;
}

static bool digit(const struct json *json, const char *p)
{
    return p < json->end && (unsigned char)(*p - '0') <= 9;
}

/* The number's text. */
static bool json_number(struct json *json, struct json_text *ret)
{
    skip_space(json);
    const char *start = json->p, *p = start;
    if (p < json->end && *p == '-')
        p++;
    if (!digit(json, p))
        return fail(json);
    if (*p == '0')
        p++;
    else
        while (digit(json, p))
            p++;
    if (p < json->end && *p == '.') {
        if (!digit(json, ++p))
            return fail(json);
        while (digit(json, p))
            p++;
    }
    if (p < json->end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p < json->end && (*p == '+' || *p == '-'))
            p++;
        if (!digit(json, p))
            return fail(json);
        while (digit(json, p))
            p++;
    }
    *ret = (struct json_text){start, (size_t)(p - start)};
    json->p = p;
    json->first = false;
    return true;
}

bool json_int(struct json *json, int64_t *ret)
{
    struct json_text text;
    if (!json_number(json, &text))
        return false;
    if (memchr(text.data, '.', text.len))
        return fail(json);
    return decimal_parse(text.data, text.len, 0, ret) == 0 || fail(json);
}

bool json_double(struct json *json, double *ret)
{
    struct json_text text;
    int digits = 0;
    return json_number(json, &text) && (bars_number(text.data, text.len, ret, &digits) || fail(json));
}

static bool literal(struct json *json, const char *word, size_t len)
{
    if ((size_t)(json->end - json->p) < len || memcmp(json->p, word, len) != 0)
        return fail(json);
    json->p += len;
    json->first = false;
    return true;
}

bool json_bool(struct json *json, bool *ret)
{
    skip_space(json);
    bool value = json->p < json->end && *json->p == 't';
    if (!(value ? literal(json, "true", 4) : literal(json, "false", 5)))
        return false;
    *ret = value;
    return true;
}

/* Eight digits at once: their value, or -1. The first digit is the lowest byte; pairs, then fours, then
 * both halves are combined by multiplications. */
static int64_t eight_digits(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    uint64_t digits = v ^ 0x3030303030303030u;
    if ((digits | (digits + 0x0606060606060606u)) & 0xf0f0f0f0f0f0f0f0u)
        return -1;
    digits = digits * 10 + (digits >> 8);
    return (int64_t)(((digits & 0x000000ff000000ffu) * 0x000f424000000064u +
                      ((digits >> 16) & 0x000000ff000000ffu) * 0x0000271000000001u) >>
                     32);
}

/* The decimals that venues send, in one pass: a string of digits, a point and digits, of 18 at most at the
 * scale. False for any other, with nothing changed: the general path reads it, or reports what is wrong. */
static bool plain_decimal(struct json *json, int scale, int64_t *ret)
{
    const char *p = json->p, *end = json->end;
    uint64_t value = 0;
    if (p == end || *p != '"')
        return false;
    const char *start = ++p;
    for (unsigned d; p < end && (d = (unsigned char)(*p - '0')) <= 9; p++)
        value = value * 10 + d;
    ptrdiff_t whole = p - start, fraction = 0;
    if (p < end && *p == '.') {
        start = ++p;
        int64_t eight = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ && end - p >= 8 ? eight_digits(p) : -1;
        if (eight >= 0) {
            value = value * 100000000 + (uint64_t)eight;
            p += 8;
        }
        for (unsigned d; p < end && (d = (unsigned char)(*p - '0')) <= 9; p++)
            value = value * 10 + d;
        fraction = p - start;
        if (fraction == 0)
            return false;
    }
    if (p == end || *p != '"' || whole == 0 || fraction > scale || whole + scale > DECIMAL_SCALE_MAX)
        return false;
    *ret = (int64_t)value * decimal_powers[scale - fraction];
    json->p = p + 1;
    json->first = false;
    return true;
}

bool json_decimal(struct json *json, int scale, int64_t *ret)
{
    struct json_text text;
    skip_space(json);
    if (plain_decimal(json, scale, ret))
        return true;
    if (!(json_peek(json) == '"' ? json_read_string(json, &text) : json_number(json, &text)))
        return false;
    return decimal_parse(text.data, text.len, scale, ret) == 0 || fail(json);
}

bool json_amount_wide(struct json *json, int scale, int128_t *ret)
{
    struct json_text text;
    return json_read_string(json, &text) && decimal_parse128(text.data, text.len, scale, ret) == 0 &&
           *ret >= 0;
}

char json_peek(struct json *json)
{
    skip_space(json);
    if (json->p == json->end)
        return '\0';
    char c = *json->p;
    if (c == '-' || (c >= '0' && c <= '9'))
        return '0';
    if (c == 'f')
        return 't';
    return c;
}

bool json_skip(struct json *json)
{
    struct json_text text;
    int outer = json->depth;
    bool flag;
    char open[JSON_DEPTH_MAX + 1];
    do {
        switch (json_peek(json)) {
        case '{':
            open[json->depth] = '{';
            json_enter_object(json);
            break;
        case '[':
            open[json->depth] = '[';
            json_enter_array(json);
            break;
        case '"':
            json_read_string(json, &text);
            break;
        case '0':
            json_number(json, &text);
            break;
        case 't':
            json_bool(json, &flag);
            break;
        case 'n':
            literal(json, "null", 4);
            break;
        default:
            fail(json);
        }
        /* Close what ends here, stop at the next value of the innermost open container. */
        while (!json->failed && json->depth > outer) {
            bool more = open[json->depth - 1] == '{' ? json_member(json, &text) : json_element(json);
            if (more)
                break;
        }
    } while (!json->failed && json->depth > outer);
    return !json->failed;
}

bool json_done(struct json *json)
{
    if (json->failed || json->depth != 0)
        return false;
    skip_space(json);
    return json->p == json->end;
}
