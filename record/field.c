#include "record/field.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int64_t record_field_number(const struct record_field *field, const void *row)
{
    const char *at = (const char *)row + field->offset;
    int32_t narrow;
    int64_t wide;
    bool truth;
    switch (field->kind) {
    case RECORD_TEXT:
    case RECORD_STRING:
    case RECORD_REAL:
    case RECORD_VOLUME:
    case RECORD_HASH:
        return 0;
    case RECORD_BOOL:
        memcpy(&truth, at, sizeof truth);
        return truth;
    default:
        break;
    }
    if (field->size == sizeof wide) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    memcpy(&narrow, at, sizeof narrow);
    return field->kind == RECORD_UNSIGNED ? (int64_t)(uint32_t)narrow : narrow;
}

void record_field_set_number(const struct record_field *field, void *row, int64_t number)
{
    char *at = (char *)row + field->offset;
    int32_t narrow = (int32_t)number;
    bool truth = number != 0;
    if (field->kind == RECORD_BOOL)
        memcpy(at, &truth, sizeof truth);
    else if (field->size == sizeof number)
        memcpy(at, &number, sizeof number);
    else
        memcpy(at, &narrow, sizeof narrow);
}

const struct record_field *record_find(const struct record *record, const char *name)
{
    for (int i = 0; i < record->n; i++)
        if (strcmp(record->fields[i].name, name) == 0)
            return &record->fields[i];
    return NULL;
}

bool record_field_is(const struct record_field *field, unsigned flag)
{
    return (field->flags & flag) == flag;
}

bool record_is_decimal(const struct record_field *field)
{
    return field->kind == RECORD_PRICE || field->kind == RECORD_QTY || field->kind == RECORD_QUOTE ||
           field->kind == RECORD_E6 || field->kind == RECORD_SHARE_E6 || field->kind == RECORD_SHARE_E4 ||
           field->kind == RECORD_E9;
}

double record_field_real(const struct record_field *field, const void *row)
{
    double value;
    memcpy(&value, (const char *)row + field->offset, sizeof value);
    return value;
}

void record_field_set_real(const struct record_field *field, void *row, double value)
{
    memcpy((char *)row + field->offset, &value, sizeof value);
}

bool record_field_none(const struct record_field *field, const void *row)
{
    if (!(field->flags & RECORD_OPTIONAL))
        return false;
    if (field->kind == RECORD_TEXT || field->kind == RECORD_STRING)
        return !*record_field_text(field, row);
    if (field->kind == RECORD_REAL)
        return !isfinite(record_field_real(field, row));
    int64_t number = record_field_number(field, row);
    if (record_field_is(field, RECORD_UNKNOWN))
        return number < 0;
    return number == (record_field_is(field, RECORD_ABSENT) ? INT64_MIN : 0);
}

const char *record_field_text(const struct record_field *field, const void *row)
{
    const char *text = (const char *)row + field->offset;
    if (field->kind == RECORD_STRING)
        memcpy(&text, text, sizeof text);
    return text ? text : "";
}

bool record_field_set_text(const struct record_field *field, void *row, const char *text)
{
    size_t len = strlen(text);
    if (field->kind == RECORD_STRING) {
        memcpy((char *)row + field->offset, &text, sizeof text);
        return true;
    }
    if (len >= field->size)
        return false;
    memcpy((char *)row + field->offset, text, len + 1);
    return true;
}

const char *record_field_word(const struct record_field *field, const void *row)
{
    int value = (int)record_field_number(field, row);
    return field->words->names ? field->words->names[value] : field->words->name(value);
}

static bool copy_field(const struct record_field *from, const void *row, const struct record_field *to,
                       void *ret)
{
    bool is_text = to->kind == RECORD_TEXT || to->kind == RECORD_STRING;
    const char *text = is_text ? record_field_text(from, row) : "";
    if (to->kind == RECORD_TEXT)
        return snprintf((char *)ret + to->offset, to->size, "%s", text) < (int)to->size;
    if (to->kind == RECORD_STRING)
        return record_field_set_text(to, ret, text);
    if (to->kind == RECORD_HASH || to->kind == RECORD_VOLUME)
        memcpy((char *)ret + to->offset, (const char *)row + from->offset, to->size);
    else if (to->kind == RECORD_REAL)
        record_field_set_real(to, ret, record_field_real(from, row));
    else
        record_field_set_number(to, ret, record_field_number(from, row));
    return true;
}

bool record_copy(const struct record *record, const void *row, const struct record *ret_record, void *ret)
{
    bool whole = true;
    for (int i = 0; i < ret_record->n; i++)
        for (int k = 0; k < record->n; k++)
            if (strcmp(record->fields[k].member, ret_record->fields[i].member) == 0)
                whole &= copy_field(&record->fields[k], row, &ret_record->fields[i], ret);
    return whole;
}

int record_strings(const struct record *record, const void *row, const char *ret[static RECORD_STRINGS_MAX])
{
    int n = 0;
    for (int i = 0; i < record->n && n < RECORD_STRINGS_MAX; i++)
        if (record->fields[i].kind == RECORD_STRING)
            ret[n++] = record_field_text(&record->fields[i], row);
    return n;
}

void record_set_strings(const struct record *record, void *row, const char *texts)
{
    for (int i = 0; i < record->n; i++)
        if (record->fields[i].kind == RECORD_STRING) {
            record_field_set_text(&record->fields[i], row, texts);
            texts += strlen(texts) + 1;
        }
}

int record_words_parse(const struct record_words *words, const char *name)
{
    if (words->parse)
        return words->parse(name);
    for (int i = 0; i < words->n; i++)
        if (strcmp(words->names ? words->names[i] : words->name(i), name) == 0)
            return i;
    return -EINVAL;
}

static bool same(const struct record_field *field, const char *a, const char *b)
{
    if (field->kind == RECORD_STRING)
        return strcmp(record_field_text(field, a), record_field_text(field, b)) == 0;
    a += field->offset, b += field->offset;
    return field->kind == RECORD_TEXT ? strncmp(a, b, field->size) == 0 : memcmp(a, b, field->size) == 0;
}

const struct record_field *record_compare(const struct record *record, const void *a, const void *b)
{
    for (const struct record_field *field = record->fields; field < record->fields + record->n; field++)
        if (field->kind != RECORD_SYMBOL && !same(field, a, b))
            return field;
    return NULL;
}
