#include "exchange/alpaca/reader.h"

#include <mpack.h>
#include <string.h>

#include "exchange/alpaca/number.h"

enum { TIMESTAMP = 0xff }; /* type -1 of msgpack's extensions, as libmpack hands it out */

#define SECOND_NS   1000000000LL
#define SECONDS_MAX 4102444800LL /* 2100-01-01 */

bool alpaca_reader_is_packed(const char *data, size_t len)
{
    unsigned char c = len > 0 ? (unsigned char)*data : 0;
    return c >= 0x80; /* fixmap, fixarray, array 16 and 32, map 16 and 32; JSON is below */
}

void alpaca_reader_init(struct reader *reader, bool packed, const char *data, size_t len)
{
    *reader = (struct reader){.packed = packed, .p = data, .end = data + len};
    if (!packed)
        json_init(&reader->json, data, len);
}

const char *alpaca_reader_at(const struct reader *reader)
{
    return reader->packed ? reader->p : reader->json.p;
}

static bool fail(struct reader *reader)
{
    reader->failed = true;
    return false;
}

/* Most tokens are one byte: small numbers, and the heads of short texts, maps and arrays. */
static void short_token(unsigned char c, mpack_token_t *ret)
{
    if (c < 0x80)
        *ret = (mpack_token_t){.type = MPACK_TOKEN_UINT, .length = 1, .data.value = {.lo = c}};
    else if (c < 0x90)
        *ret = (mpack_token_t){.type = MPACK_TOKEN_MAP, .length = c & 0x0f};
    else if (c < 0xa0)
        *ret = (mpack_token_t){.type = MPACK_TOKEN_ARRAY, .length = c & 0x0f};
    else
        *ret = (mpack_token_t){.type = MPACK_TOKEN_STR, .length = c & 0x1f};
}

static bool next_token(struct reader *reader, mpack_token_t *ret)
{
    if (reader->failed || reader->p == reader->end)
        return fail(reader);
    if ((unsigned char)*reader->p < 0xc0) {
        short_token((unsigned char)*reader->p++, ret);
        return true;
    }
    mpack_tokbuf_t buffer;
    mpack_tokbuf_init(&buffer);
    size_t left = (size_t)(reader->end - reader->p);
    if (mpack_read(&buffer, &reader->p, &left, ret) != MPACK_OK)
        return fail(reader);
    return true;
}

/* The bytes of the text, binary or extension whose token was read. */
static bool take_bytes(struct reader *reader, const mpack_token_t *token, struct json_text *ret)
{
    if (token->length > (size_t)(reader->end - reader->p))
        return fail(reader);
    *ret = (struct json_text){reader->p, token->length};
    reader->p += token->length;
    return true;
}

char alpaca_reader_peek(struct reader *reader)
{
    if (!reader->packed)
        return json_peek(&reader->json);
    if (reader->failed || reader->p == reader->end)
        return '\0';
    unsigned char c = (unsigned char)*reader->p;
    if (c < 0x80 || c >= 0xe0 || (c >= 0xca && c <= 0xd3))
        return '0';
    if (c < 0x90 || c == 0xde || c == 0xdf)
        return '{';
    if (c < 0xa0 || c == 0xdc || c == 0xdd)
        return '[';
    if (c < 0xc0 || (c >= 0xd9 && c <= 0xdb))
        return '"';
    if (c == 0xc0)
        return 'n';
    if (c == 0xc2 || c == 0xc3)
        return 't';
    return c >= 0xc4 ? 'x' : '\0';
}

static bool enter(struct reader *reader, mpack_token_type_t type)
{
    mpack_token_t token;
    if (reader->depth == READER_DEPTH_MAX || !next_token(reader, &token) || token.type != type)
        return fail(reader);
    reader->left[reader->depth++] = token.length;
    return true;
}

bool alpaca_reader_enter_map(struct reader *reader)
{
    return reader->packed ? enter(reader, MPACK_TOKEN_MAP) : json_enter_object(&reader->json);
}

bool alpaca_reader_enter_array(struct reader *reader)
{
    return reader->packed ? enter(reader, MPACK_TOKEN_ARRAY) : json_enter_array(&reader->json);
}

static bool next_item(struct reader *reader)
{
    if (reader->failed)
        return false;
    if (reader->left[reader->depth - 1] == 0) {
        reader->depth--;
        return false;
    }
    reader->left[reader->depth - 1]--;
    return reader->p < reader->end || fail(reader);
}

bool alpaca_reader_member(struct reader *reader, struct json_text *ret_key)
{
    if (!reader->packed)
        return json_member(&reader->json, ret_key);
    return next_item(reader) && alpaca_reader_text(reader, ret_key);
}

bool alpaca_reader_element(struct reader *reader)
{
    return reader->packed ? next_item(reader) : json_element(&reader->json);
}

bool alpaca_reader_text(struct reader *reader, struct json_text *ret)
{
    if (!reader->packed)
        return json_read_string(&reader->json, ret);
    mpack_token_t token;
    if (!next_token(reader, &token) || token.type != MPACK_TOKEN_STR)
        return fail(reader);
    return take_bytes(reader, &token, ret);
}

static bool token_int(const mpack_token_t *token, int64_t *ret)
{
    if (token->type == MPACK_TOKEN_UINT) {
        uint64_t value = mpack_unpack_uint(*token);
        if (value > INT64_MAX)
            return false;
        *ret = (int64_t)value;
        return true;
    }
    if (token->type != MPACK_TOKEN_SINT)
        return false;
    *ret = mpack_unpack_sint(*token);
    return true;
}

bool alpaca_reader_int(struct reader *reader, int64_t *ret)
{
    mpack_token_t token;
    if (!reader->packed)
        return json_int(&reader->json, ret);
    return (next_token(reader, &token) && token_int(&token, ret)) || fail(reader);
}

bool alpaca_reader_bool(struct reader *reader, bool *ret)
{
    mpack_token_t token;
    if (!reader->packed)
        return json_bool(&reader->json, ret);
    if (!next_token(reader, &token) || token.type != MPACK_TOKEN_BOOLEAN)
        return fail(reader);
    *ret = mpack_unpack_boolean(token) != 0;
    return true;
}

static uint64_t big_endian(const char *p, size_t n)
{
    uint64_t value = 0;
    for (size_t i = 0; i < n; i++)
        value = value << 8 | (unsigned char)p[i];
    return value;
}

/* The three lengths of the timestamp extension: seconds; 30 bits of nanoseconds and 34 of seconds; 32 and a
 * signed 64. */
static bool timestamp(struct json_text bytes, int64_t *ret_ns)
{
    uint64_t seconds, ns = 0;
    if (bytes.len == 4) {
        seconds = big_endian(bytes.data, 4);
    } else if (bytes.len == 8) {
        uint64_t both = big_endian(bytes.data, 8);
        ns = both >> 34;
        seconds = both & (((uint64_t)1 << 34) - 1);
    } else if (bytes.len == 12) {
        ns = big_endian(bytes.data, 4);
        seconds = big_endian(bytes.data + 4, 8);
    } else {
        return false;
    }
    if (ns >= SECOND_NS || seconds >= SECONDS_MAX)
        return false;
    *ret_ns = (int64_t)seconds * SECOND_NS + (int64_t)ns;
    return true;
}

bool alpaca_reader_time(struct reader *reader, int64_t *ret_ns)
{
    struct json_text text;
    mpack_token_t token;
    if (alpaca_reader_peek(reader) != 'x')
        return (alpaca_reader_text(reader, &text) && alpaca_time(text.data, text.len, ret_ns)) ||
               fail(reader);
    return (next_token(reader, &token) && token.type == MPACK_TOKEN_EXT && token.data.ext_type == TIMESTAMP &&
            take_bytes(reader, &token, &text) && timestamp(text, ret_ns)) ||
           fail(reader);
}

/* The text of a number in JSON, or of a string in either. */
static bool number_text(struct reader *reader, struct json_text *ret)
{
    char next = alpaca_reader_peek(reader);
    if (next == '"')
        return alpaca_reader_text(reader, ret);
    if (reader->packed || next != '0')
        return fail(reader);
    const char *start = reader->json.p;
    if (!json_skip(&reader->json))
        return fail(reader);
    *ret = (struct json_text){start, (size_t)(reader->json.p - start)};
    return true;
}

static bool packed_number(struct reader *reader, int scale, bool cut, int128_t *ret)
{
    mpack_token_t token;
    int64_t value;
    if (!next_token(reader, &token))
        return false;
    if (token.type == MPACK_TOKEN_FLOAT) {
        double x = mpack_unpack_float(token);
        return (cut ? alpaca_decimal_double_cut(x, scale, ret) : alpaca_decimal_double(x, scale, ret)) == 0;
    }
    if (!token_int(&token, &value))
        return false;
    *ret = (int128_t)value * decimal_pow10(scale);
    return true;
}

static bool number(struct reader *reader, int scale, bool cut, int128_t *ret)
{
    struct json_text text;
    int128_t value = 0;
    bool ok;
    if (reader->packed && alpaca_reader_peek(reader) == '0')
        ok = packed_number(reader, scale, cut, &value);
    else
        ok = number_text(reader, &text) && (cut ? alpaca_decimal_cut(text.data, text.len, scale, &value)
                                                : alpaca_decimal(text.data, text.len, scale, &value)) == 0;
    if (!ok || value < 0)
        return fail(reader);
    *ret = value;
    return true;
}

bool alpaca_reader_wide(struct reader *reader, int scale, int128_t *ret)
{
    return number(reader, scale, false, ret);
}

bool alpaca_reader_amount(struct reader *reader, int scale, int64_t *ret)
{
    int128_t value;
    if (!number(reader, scale, false, &value) || value > INT64_MAX)
        return fail(reader);
    *ret = (int64_t)value;
    return true;
}

bool alpaca_reader_rough(struct reader *reader, int scale, int64_t *ret)
{
    int128_t value;
    if (!number(reader, scale, true, &value) || value > INT64_MAX)
        return fail(reader);
    *ret = (int64_t)value;
    return true;
}

bool alpaca_reader_skip(struct reader *reader)
{
    if (!reader->packed)
        return json_skip(&reader->json);
    uint64_t left = 1; /* each item takes a byte at least, so a wrong length ends with the bytes */
    while (left > 0) {
        mpack_token_t token;
        struct json_text bytes;
        if (!next_token(reader, &token))
            return false;
        left--;
        switch (token.type) {
        case MPACK_TOKEN_MAP:
            left += 2 * (uint64_t)token.length;
            break;
        case MPACK_TOKEN_ARRAY:
            left += token.length;
            break;
        case MPACK_TOKEN_STR:
        case MPACK_TOKEN_BIN:
        case MPACK_TOKEN_EXT:
            if (!take_bytes(reader, &token, &bytes))
                return false;
            break;
        default:
            break;
        }
        if (left > (uint64_t)(reader->end - reader->p))
            return fail(reader);
    }
    return true;
}

static bool is_null(struct reader *reader)
{
    return alpaca_reader_peek(reader) == 'n';
}

bool alpaca_reader_maybe_text(struct reader *reader, struct json_text *ret)
{
    return is_null(reader) ? alpaca_reader_skip(reader) : alpaca_reader_text(reader, ret);
}

bool alpaca_reader_maybe_bool(struct reader *reader, bool *ret)
{
    return is_null(reader) ? alpaca_reader_skip(reader) : alpaca_reader_bool(reader, ret);
}

bool alpaca_reader_maybe_amount(struct reader *reader, int scale, int64_t *ret)
{
    return is_null(reader) ? alpaca_reader_skip(reader) : alpaca_reader_amount(reader, scale, ret);
}

bool alpaca_reader_maybe_rough(struct reader *reader, int scale, int64_t *ret)
{
    return is_null(reader) ? alpaca_reader_skip(reader) : alpaca_reader_rough(reader, scale, ret);
}
