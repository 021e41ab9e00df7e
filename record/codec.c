#include "record/codec.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_BYTES = 4096,
    VARINT_MAX = 10, /* bytes of 64 bits in groups of seven */
};

void codec_save(struct codec *codec)
{
    uint8_t *bytes = codec->saving ? codec->bytes : NULL;
    size_t cap = codec->saving ? codec->cap : 0;
    *codec = (struct codec){.saving = true, .bytes = bytes, .cap = cap};
}

void codec_load(struct codec *codec, const void *bytes, size_t len)
{
    *codec = (struct codec){.bytes = (uint8_t *)(uintptr_t)bytes, .len = len};
}

void codec_finish(struct codec *codec)
{
    if (codec->saving)
        free(codec->bytes);
    *codec = (struct codec){0};
}

bool codec_complete(const struct codec *codec)
{
    return !codec->failed && codec->at == codec->len;
}

/* Room for n more bytes at the end, or NULL with the failure noted. */
static uint8_t *room(struct codec *codec, size_t n)
{
    if (codec->failed)
        return NULL;
    if (codec->cap - codec->len < n) {
        size_t cap = codec->cap ? codec->cap : FIRST_BYTES;
        while (cap - codec->len < n)
            cap *= 2;
        uint8_t *bytes = realloc(codec->bytes, cap);
        if (!bytes) {
            codec->failed = true;
            return NULL;
        }
        codec->bytes = bytes;
        codec->cap = cap;
    }
    return codec->bytes + codec->len;
}

static void put(struct codec *codec, uint64_t value)
{
    uint8_t *to = room(codec, VARINT_MAX);
    if (!to)
        return;
    size_t n = 0;
    while (value >= 0x80) {
        to[n++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    to[n++] = (uint8_t)value;
    codec->len += n;
}

/* Only the shortest encoding of a number is taken, so that equal values have equal bytes. */
static bool get(struct codec *codec, uint64_t *ret)
{
    uint64_t value = 0;
    for (unsigned shift = 0; !codec->failed && codec->at < codec->len && shift < 64; shift += 7) {
        uint8_t byte = codec->bytes[codec->at++];
        if ((shift == 63 && byte > 1) || (byte == 0 && shift > 0))
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *ret = value;
            return true;
        }
    }
    codec->failed = true;
    return false;
}

static uint64_t zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static int64_t unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

void codec_u64(struct codec *codec, uint64_t *value)
{
    if (codec->saving)
        put(codec, *value);
    else
        get(codec, value);
}

void codec_i64(struct codec *codec, int64_t *value)
{
    uint64_t coded;
    if (codec->saving)
        put(codec, zigzag(*value));
    else if (get(codec, &coded))
        *value = unzigzag(coded);
}

void codec_i128(struct codec *codec, int128_t *value)
{
    uint64_t low = (uint64_t)*value;
    int64_t high = (int64_t)(*value >> 64);
    codec_u64(codec, &low);
    codec_i64(codec, &high);
    if (!codec->failed)
        *value = (int128_t)((unsigned __int128)high << 64 | low);
}

void codec_u32(struct codec *codec, uint32_t *value)
{
    uint64_t wide = *value;
    codec_u64(codec, &wide);
    codec->failed |= wide > UINT32_MAX;
    if (!codec->failed)
        *value = (uint32_t)wide;
}

void codec_i32(struct codec *codec, int32_t *value)
{
    int64_t wide = *value;
    codec_i64(codec, &wide);
    codec->failed |= wide < INT32_MIN || wide > INT32_MAX;
    if (!codec->failed)
        *value = (int32_t)wide;
}

void codec_int(struct codec *codec, int *value, int min, int max)
{
    int64_t wide = *value;
    codec_i64(codec, &wide);
    codec->failed |= wide < min || wide > max;
    if (!codec->failed)
        *value = (int)wide;
}

void codec_size(struct codec *codec, size_t *value, size_t max)
{
    uint64_t wide = *value;
    codec_u64(codec, &wide);
    codec->failed |= wide > max;
    if (!codec->failed)
        *value = (size_t)wide;
}

void codec_bool(struct codec *codec, bool *value)
{
    int number = *value;
    codec_int(codec, &number, 0, 1);
    *value = number != 0;
}

void codec_double(struct codec *codec, double *value)
{
    codec_bytes(codec, value, sizeof *value);
}

void codec_bytes(struct codec *codec, void *bytes, size_t len)
{
    if (len == 0)
        return;
    if (codec->saving) {
        uint8_t *to = room(codec, len);
        if (!to)
            return;
        memcpy(to, bytes, len);
        codec->len += len;
        return;
    }
    codec->failed |= codec->len - codec->at < len;
    if (codec->failed)
        return;
    memcpy(bytes, codec->bytes + codec->at, len);
    codec->at += len;
}

void codec_text(struct codec *codec, char *text, size_t size)
{
    size_t len = codec->saving ? strnlen(text, size - 1) : 0;
    codec_size(codec, &len, size - 1);
    if (codec->saving) {
        codec_bytes(codec, text, len);
        return;
    }
    codec->failed |= codec->len - codec->at < len;
    codec->failed = codec->failed || (len > 0 && memchr(codec->bytes + codec->at, '\0', len));
    if (codec->failed)
        return;
    memset(text, 0, size);
    codec_bytes(codec, text, len);
}

/* Numbers of accounts and symbols are in least .. most. */
static void codec_field(struct codec *codec, const struct record_field *field, void *row, int least, int most)
{
    char *at = (char *)row + field->offset;
    switch (field->kind) {
    case RECORD_TEXT:
        codec_text(codec, at, field->size);
        break;
    case RECORD_REAL:
        codec_double(codec, (double *)(void *)at);
        break;
    case RECORD_VOLUME:
        codec_i128(codec, (int128_t *)(void *)at);
        break;
    case RECORD_HASH:
        codec_bytes(codec, at, field->size);
        break;
    case RECORD_BOOL:
        codec_bool(codec, (bool *)at);
        break;
    case RECORD_SCALE:
        codec_int(codec, (int *)(void *)at, 0, DECIMAL_SCALE_MAX);
        break;
    case RECORD_WORD:
        codec_int(codec, (int *)(void *)at, 0, field->words->n - 1);
        break;
    case RECORD_ACCOUNT:
    case RECORD_SYMBOL:
        codec_int(codec, (int *)(void *)at, least, most);
        break;
    case RECORD_UNSIGNED:
        field->size == sizeof(uint64_t) ? codec_u64(codec, (uint64_t *)(void *)at)
                                        : codec_u32(codec, (uint32_t *)(void *)at);
        break;
    default:
        field->size == sizeof(int64_t) ? codec_i64(codec, (int64_t *)(void *)at)
                                       : codec_i32(codec, (int32_t *)(void *)at);
    }
}

void codec_record(struct codec *codec, const struct record *record, void *row, int n_accounts, int n_symbols)
{
    for (const struct record_field *field = record->fields; field < record->fields + record->n; field++)
        if (codec->version >= field->flags >> RECORD_LAYOUT)
            codec_field(codec, field, row, 0, (field->kind == RECORD_ACCOUNT ? n_accounts : n_symbols) - 1);
}

void codec_asked(struct codec *codec, const struct record *record, void *row)
{
    for (int last = 0; last <= 1; last++)
        for (const struct record_field *field = record->fields; field < record->fields + record->n; field++)
            if (field->flags & RECORD_ASKED && codec->version >= field->flags >> RECORD_LAYOUT &&
                (field->kind == RECORD_BOOL || field->kind == RECORD_TEXT) == last)
                codec_field(codec, field, row, INT_MIN, INT_MAX);
}
