/* One reader for both of Alpaca's encodings, JSON and msgpack: the same walk over the same messages. It
 * reads each byte once, builds nothing and allocates nothing; lengths in msgpack are trusted only as far as
 * the bytes are there. A copy of the struct is a reader of its own at the same place. */
#ifndef EXCHANGE_ALPACA_READER_H
#define EXCHANGE_ALPACA_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/decimal.h"
#include "exchange/json.h"

enum { READER_DEPTH_MAX = 8 };

struct reader {
    bool packed; /* msgpack */
    struct json json;
    const char *p, *end;             /* msgpack: what is left */
    uint32_t left[READER_DEPTH_MAX]; /* items of each open container */
    int depth;
    bool failed;
};

/* Is it msgpack? Its messages begin with an array's or a map's code, which no JSON text does. */
bool alpaca_reader_is_packed(const char *data, size_t len);

void alpaca_reader_init(struct reader *reader, bool packed, const char *data, size_t len);

/* Where the next item begins (JSON: blanks before it may be left). */
const char *alpaca_reader_at(const struct reader *reader);

static inline bool reader_failed(const struct reader *reader)
{
    return reader->failed || reader->json.failed;
}

/* The kind of the next item: { [ " n t, 0 for any number, x for msgpack's extensions (times); '\0' at the
 * end or after an error. */
char alpaca_reader_peek(struct reader *reader);

/* As those of json.h: false is the end, which is passed, or an error, which is permanent. */
bool alpaca_reader_enter_map(struct reader *reader);
bool alpaca_reader_enter_array(struct reader *reader);
bool alpaca_reader_member(struct reader *reader, struct json_text *ret_key);
bool alpaca_reader_element(struct reader *reader);

/* Values; false, and nothing written, where the next item is of another kind or the number does not fit. */
bool alpaca_reader_text(struct reader *reader, struct json_text *ret);
bool alpaca_reader_int(struct reader *reader, int64_t *ret);
bool alpaca_reader_bool(struct reader *reader, bool *ret);
bool alpaca_reader_time(struct reader *reader, int64_t *ret_ns); /* RFC 3339, or the timestamp extension */
bool alpaca_reader_amount(struct reader *reader, int scale, int64_t *ret); /* number or text, >= 0 */
bool alpaca_reader_wide(struct reader *reader, int scale, int128_t *ret);  /* the same */
bool alpaca_reader_rough(struct reader *reader, int scale, int64_t *ret);  /* digits beyond the scale cut */
bool alpaca_reader_skip(struct reader *reader);

/* The same; null, as Go writes what is empty, is skipped: `ret` stays. */
bool alpaca_reader_maybe_text(struct reader *reader, struct json_text *ret);
bool alpaca_reader_maybe_bool(struct reader *reader, bool *ret);
bool alpaca_reader_maybe_amount(struct reader *reader, int scale, int64_t *ret);
bool alpaca_reader_maybe_rough(struct reader *reader, int scale, int64_t *ret);

#endif
