/* A record's values in JSON. */
#ifndef RECORD_JSON_H
#define RECORD_JSON_H

#include <jansson.h>

#include "exchange/decimal_json.h"
#include "exchange/symbol.h"
#include "record/shown.h"

/* What a row names by number; NULL: unknown. */
struct record_context {
    const struct symbol *symbol;
    const char *account;
};

/* Bytes that are not UTF-8 become '?', in place: a text that JSON takes. */
void record_json_clean(char *text, size_t n);

/* A text so cleaned; null for NULL. The caller's; NULL without memory. */
json_t *record_json_text(const char *text);

/* A number, a text (cleaned), a boolean; null for an optional field without a value, and for an amount whose
 * symbol is unknown. The caller's; NULL without memory. */
json_t *record_json(const struct record_field *field, const void *row, const struct record_context *context);

/* Sets the field from such a value. False for one of another type or beyond the member, which is then
 * unchanged. null is allowed for optional numbers alone: NaN, -1 (UNKNOWN), INT64_MIN (ABSENT) or 0. A STRING
 * borrows the value's text; a VOLUME is not set. */
bool record_json_set(const struct record_field *field, void *row, const json_t *value);

/* Reads every field from the object's member of its name; those of a later layout may be missing, and are
 * unchanged then. False at the first that does not fit. */
bool record_json_read(const struct record *record, const json_t *object, void *row);

/* Which fields of a record an object has, in this order, under which key; `as` NULL: the name itself, "": it
 * is left out. null for a name that is no field's. */
struct record_key {
    const char *name, *as;
};

/* Sets every field by its name in the object, tolerating foreign values: no text becomes "", no number NaN or
 * -1, no past time 0, no boolean false, an unknown scale 2. A STRING, a WORD, a VOLUME and a HASH are
 * unchanged. `clean` writes a text into a field of at most `size` bytes. A NULL object has no values. */
typedef void record_clean(char *field, size_t size, const char *text);
void record_json_take(const struct record *record, const json_t *object, record_clean *clean, void *row);

/* A number; null for NaN, and for a count below 0. The caller's. */
json_t *record_json_real(double value);
json_t *record_json_count(int64_t value);

/* The object's number of that key; NaN. */
double record_json_number(const json_t *object, const char *key);

/* A row's object: the named keys, then every other field of the record by its own name, so that newer fields
 * are not forgotten. `context` NULL: the row has no numbers of accounts or symbols. The caller's; NULL
 * without memory. */
json_t *record_json_object(const struct record *record, const struct record_key *keys, int n, const void *row,
                           const struct record_context *context);

/* The object of what record/shown.h lists, by a function of that name; and the struct for it. */
#define RECORD_SHOWN_OBJECT(function, of, LIST) \
    RECORD_VIEW_RECORD(record_of_##of##function, of, LIST); \
    static json_t *function(const struct of *view) \
    { \
        return record_json_object(record_of_##of##function(), NULL, 0, view, NULL); \
    } \
    static json_t *function(const struct of *view)
#define RECORD_VIEW_OBJECT(function, of, LIST) \
    struct of { \
        RECORD_VIEW(LIST) \
    }; \
    RECORD_SHOWN_OBJECT(function, of, LIST)

#endif
