#include "record/json.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/utf8.h"
#include "record/print.h"
#include "record/value.h"

void record_json_clean(char *text, size_t n)
{
    for (size_t at = 0, len; at < n; at += len ? len : 1)
        if ((len = utf8_character(text + at, n - at, NULL)) == 0)
            text[at] = '?';
}

json_t *record_json_text(const char *text)
{
    json_t *json = text ? json_string(text) : json_null();
    char *clean = json ? NULL : strdup(text);
    if (clean) {
        record_json_clean(clean, strlen(clean));
        json = json_string(clean);
    }
    free(clean);
    return json;
}

json_t *record_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *record_json_count(int64_t value)
{
    return value < 0 ? json_null() : json_integer(value);
}

double record_json_number(const json_t *object, const char *key)
{
    return decimal_json_value(json_object_get(object, key));
}

json_t *record_json(const struct record_field *field, const void *row, const struct record_context *context)
{
    int64_t number = record_field_number(field, row);
    int scale = record_scale(field, context->symbol);
    char text[RECORD_TEXT_MAX];
    int128_t volume;
    if (record_field_none(field, row))
        return json_null();
    switch (field->kind) {
    case RECORD_TEXT:
    case RECORD_STRING:
        return record_json_text(record_field_text(field, row));
    case RECORD_VOLUME:
        memcpy(&volume, (const char *)row + field->offset, sizeof volume);
        return scale < 0 ? json_null() : decimal_json(volume, scale);
    case RECORD_ACCOUNT:
        return record_json_text(context->account);
    case RECORD_SYMBOL:
        return record_json_text(context->symbol ? context->symbol->name : NULL);
    case RECORD_BOOL:
        return json_boolean(number);
    case RECORD_HASH:
        record_value(field, row, NULL, text);
        return json_string(text);
    default:
        break;
    }
    if (field->kind == RECORD_REAL && record_field_is(field, RECORD_WHOLE))
        return json_integer((json_int_t)record_field_real(field, row));
    if (field->kind == RECORD_REAL)
        return record_json_real(record_field_real(field, row) *
                                (record_field_is(field, RECORD_PERCENT) ? 100 : 1));
    if (field->kind == RECORD_WORD)
        return json_string(record_field_word(field, row));
    if (record_is_decimal(field))
        return scale < 0 ? json_null() : decimal_json(number, scale);
    return json_integer(number);
}

static bool set_number(const struct record_field *field, void *row, const json_t *value)
{
    bool wide = field->size >= sizeof(int64_t), positive = field->kind == RECORD_UNSIGNED;
    int64_t number = json_integer_value(value), most = wide ? INT64_MAX : positive ? UINT32_MAX : INT32_MAX;
    if (!json_is_integer(value) || number > most || number < (positive ? 0 : -most - 1))
        return false;
    record_field_set_number(field, row, number);
    return true;
}

static bool set_none(const struct record_field *field, void *row)
{
    if (!(field->flags & RECORD_OPTIONAL))
        return false;
    if (field->kind == RECORD_REAL)
        record_field_set_real(field, row, NAN);
    else
        record_field_set_number(field, row,
                                record_field_is(field, RECORD_UNKNOWN)  ? -1
                                : record_field_is(field, RECORD_ABSENT) ? INT64_MIN
                                                                        : 0);
    return true;
}

static bool set_hash(const struct record_field *field, void *row, const char *text)
{
    size_t n = 2 * field->size;
    if (strlen(text) != n || strspn(text, "0123456789abcdef") != n)
        return false;
    for (size_t i = 0; i < field->size; i++)
        sscanf(text + 2 * i, "%2hhx", (unsigned char *)row + field->offset + i);
    return true;
}

bool record_json_set(const struct record_field *field, void *row, const json_t *value)
{
    const char *text = json_string_value(value);
    int word;
    if (field->kind == RECORD_TEXT || field->kind == RECORD_STRING)
        return text && record_field_set_text(field, row, text);
    if (field->kind == RECORD_WORD) {
        word = text ? record_words_parse(field->words, text) : -EINVAL;
        if (word >= 0)
            record_field_set_number(field, row, word);
        return word >= 0;
    }
    if (field->kind == RECORD_HASH)
        return text && set_hash(field, row, text);
    if (field->kind == RECORD_VOLUME)
        return false;
    if (json_is_null(value))
        return set_none(field, row);
    if (field->kind != RECORD_BOOL && field->kind != RECORD_REAL)
        return set_number(field, row, value);
    if (field->kind == RECORD_BOOL ? !json_is_boolean(value) : !json_is_number(value))
        return false;
    if (field->kind == RECORD_BOOL)
        record_field_set_number(field, row, json_is_true(value));
    else
        record_field_set_real(field, row, json_number_value(value));
    return true;
}

bool record_json_read(const struct record *record, const json_t *object, void *row)
{
    for (const struct record_field *field = record->fields; field < record->fields + record->n; field++) {
        const json_t *value = json_object_get(object, field->name);
        if (!value && field->flags >> RECORD_LAYOUT)
            continue;
        if (!record_json_set(field, row, value))
            return false;
    }
    return true;
}

static bool has_key(const struct record_key *keys, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(keys[i].name, name) == 0)
            return true;
    return false;
}

json_t *record_json_object(const struct record *record, const struct record_key *keys, int n, const void *row,
                           const struct record_context *context)
{
    static const struct record_context none;
    json_t *object = json_object();
    int r = object ? 0 : -1;
    context = context ? context : &none;
    for (int i = 0; r == 0 && i < n; i++) {
        const struct record_field *field = record_find(record, keys[i].name);
        if (!keys[i].as || keys[i].as[0])
            r = json_object_set_new(object, keys[i].as ? keys[i].as : keys[i].name,
                                    field ? record_json(field, row, context) : json_null());
    }
    for (int i = 0; r == 0 && i < record->n; i++)
        if (!has_key(keys, n, record->fields[i].name))
            r = json_object_set_new(object, record->fields[i].name,
                                    record_json(&record->fields[i], row, context));
    if (r < 0)
        json_decref(object);
    return r < 0 ? NULL : object;
}

json_t *record_print(const struct record *record, const void *row, const struct symbol *symbol)
{
    return record_json_object(record, NULL, 0, row, &(struct record_context){.symbol = symbol});
}

/* ---- values of foreign JSON ---- */

enum { DIGITS = 2, DIGITS_MAX = 12 }; /* shown: if not given; at most */

static int64_t whole(const json_t *value)
{
    if (json_is_integer(value))
        return json_integer_value(value);
    double x = json_is_real(value) ? json_real_value(value) : -1;
    return x > -1 && x < 9e18 ? (int64_t)x : -1;
}

static int64_t take_number(const struct record_field *field, const json_t *value)
{
    int64_t number = whole(value), count = number < 0 ? -1 : number;
    switch (field->kind) {
    case RECORD_BOOL:
        return json_is_true(value);
    case RECORD_SCALE:
        return count < 0 ? DIGITS : count > DIGITS_MAX ? DIGITS_MAX : count;
    case RECORD_SIGNED:
        return number;
    case RECORD_TIME:
        return count > 0 ? count : -1;
    default:
        return count;
    }
}

static bool takes_number(const struct record_field *field)
{
    return field->kind != RECORD_STRING && field->kind != RECORD_WORD && field->kind != RECORD_VOLUME &&
           field->kind != RECORD_HASH;
}

void record_json_take(const struct record *record, const json_t *object, record_clean *clean, void *row)
{
    for (const struct record_field *field = record->fields; field < record->fields + record->n; field++) {
        const json_t *value = json_object_get(object, field->name);
        const char *text = json_string_value(value);
        if (field->kind == RECORD_TEXT)
            clean((char *)row + field->offset, field->size, text ? text : "");
        else if (field->kind == RECORD_REAL)
            record_field_set_real(field, row, decimal_json_value(value));
        else if (takes_number(field))
            record_field_set_number(field, row, take_number(field, value));
    }
}
