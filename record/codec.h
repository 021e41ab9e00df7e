/* Numbers to bytes and back. One function describes a layout for both directions: it visits each field in
 * order, and the codec either appends the field's value to the bytes or sets the field from them. So saving
 * and loading cannot disagree. Integers are LEB128, signed ones zigzag: small numbers are short. */
#ifndef RECORD_CODEC_H
#define RECORD_CODEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/decimal.h"
#include "record/field.h"

struct policies;

struct codec {
    bool saving;
    bool failed; /* without memory when saving; bytes that were not saved so when loading: then all fields are
                    unchanged */
    uint32_t version; /* of the layout that is read or written, for newer fields */
    uint8_t *bytes;   /* saving: the codec's own; loading: the caller's */
    size_t len, cap, at;
    /* Loading: finds policies by their ids, NULL: there are none; and the first id that was not found. */
    const struct policies *policies;
    bool no_policy;
    uint8_t policy_id[32];
};

void codec_save(struct codec *codec); /* into a new buffer, or the same again */
void codec_load(struct codec *codec, const void *bytes, size_t len); /* from the caller's bytes */
void codec_finish(struct codec *codec);                              /* frees what saving made */
/* Loading: was every byte read, and none missing? */
bool codec_complete(const struct codec *codec);

void codec_u64(struct codec *codec, uint64_t *value);
void codec_i64(struct codec *codec, int64_t *value);
void codec_i128(struct codec *codec, int128_t *value);
void codec_u32(struct codec *codec, uint32_t *value);
void codec_i32(struct codec *codec, int32_t *value);
void codec_int(struct codec *codec, int *value, int min, int max); /* fails outside min..max */
void codec_size(struct codec *codec, size_t *value, size_t max);   /* a count: fails above max */
void codec_bool(struct codec *codec, bool *value);
void codec_double(struct codec *codec, double *value); /* all 64 bits */
void codec_bytes(struct codec *codec, void *bytes, size_t len);
void codec_text(struct codec *codec, char *text, size_t size); /* NUL-terminated, within size */

/* Several of one type, in order: codec_i64s(codec, &a, &b). */
#define CODEC_EACH_(visit, type, codec, ...) \
    do { \
        type *const codec_values_[] = {__VA_ARGS__}; \
        for (size_t codec_i_ = 0; codec_i_ < sizeof codec_values_ / sizeof *codec_values_; codec_i_++) \
            visit(codec, codec_values_[codec_i_]); \
    } while (0)
#define codec_u64s(codec, ...)    CODEC_EACH_(codec_u64, uint64_t, codec, __VA_ARGS__)
#define codec_i64s(codec, ...)    CODEC_EACH_(codec_i64, int64_t, codec, __VA_ARGS__)
#define codec_i128s(codec, ...)   CODEC_EACH_(codec_i128, int128_t, codec, __VA_ARGS__)
#define codec_u32s(codec, ...)    CODEC_EACH_(codec_u32, uint32_t, codec, __VA_ARGS__)
#define codec_bools(codec, ...)   CODEC_EACH_(codec_bool, bool, codec, __VA_ARGS__)
#define codec_doubles(codec, ...) CODEC_EACH_(codec_double, double, codec, __VA_ARGS__)

/* An enumeration whose values are 0 .. n-1. */
#define codec_enum(codec, value, n) \
    do { \
        int codec_value_ = (int)*(value); \
        codec_int(codec, &codec_value_, 0, (int)(n)-1); \
        *(value) = (__typeof__(*(value)))codec_value_; \
    } while (0)

/* A row's fields in the record's order. Numbers of accounts and symbols are below those counts. */
void codec_record(struct codec *codec, const struct record *record, void *row, int n_accounts, int n_symbols);
/* The fields with RECORD_ASKED, numbers before flags and texts; numbers of accounts and symbols are not
 * checked. */
void codec_asked(struct codec *codec, const struct record *record, void *row);

#endif
