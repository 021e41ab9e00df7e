/* A record's values in JSON. */
#ifndef RECORD_JSON_H
#define RECORD_JSON_H

#include <jansson.h>

#include "exchange/symbol.h"
#include "record/field.h"

/* What a row names by number; NULL: unknown. */
struct record_context {
    const struct symbol *symbol;
    const char *account;
};

/* A number, a text, a truth; null for what an optional field has not, and for an amount whose symbol is
 * unknown. The caller's; NULL without memory. */
json_t *record_json(const struct record_field *field, const void *row, const struct record_context *context);

/* The other way: sets the field from such a value. False for one of another type or beyond the member: then
 * it is as it was. What null stands for is known of optional numbers alone: NaN, -1 (UNKNOWN) or 0. A STRING
 * borrows the value's text. */
bool record_json_set(const struct record_field *field, void *row, const json_t *value);

/* Every field from the object's member of its name; those of a later layout may be missing, and stay. False
 * at the first that does not fit. */
bool record_json_read(const struct record *record, const json_t *object, void *row);

/* What an object has of a record, in this order, under which key; `as` NULL: the name itself, "": it is left
 * out. null of a name that is no field's. */
struct record_key {
    const char *name, *as;
};

/* A row's object: the named keys, then every other field of the record by its own name, so that one which
 * comes later is not forgotten. The caller's; NULL without memory. */
json_t *record_json_object(const struct record *record, const struct record_key *keys, int n, const void *row,
                           const struct record_context *context);

#endif
