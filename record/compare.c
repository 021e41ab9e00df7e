#include "record/compare.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "exchange/decimal.h"

static bool same(const struct record_field *field, const char *a, const char *b)
{
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

static void show_hash(const struct record_field *field, const void *row, char ret[static RECORD_TEXT_MAX])
{
    const unsigned char *bytes = (const unsigned char *)row + field->offset;
    for (size_t i = 0; i < field->size; i++)
        snprintf(ret + 2 * i, RECORD_TEXT_MAX - 2 * i, "%02x", bytes[i]);
}

static void show_decimal(int64_t units, int scale, char ret[static RECORD_TEXT_MAX])
{
    char text[DECIMAL_TEXT_MAX];
    decimal_format_short(units, scale, text);
    snprintf(ret, RECORD_TEXT_MAX, "%s", text);
}

void record_value(const struct record_field *field, const void *row, const struct symbol *symbol,
                  char ret[static RECORD_TEXT_MAX])
{
    static const struct symbol units;
    const struct symbol *scales = symbol ? symbol : &units;
    int64_t number = record_field_number(field, row);
    switch (field->kind) {
    case RECORD_UNSIGNED:
        snprintf(ret, RECORD_TEXT_MAX, "%" PRIu64, (uint64_t)number);
        break;
    case RECORD_BOOL:
        snprintf(ret, RECORD_TEXT_MAX, "%s", number ? "true" : "false");
        break;
    case RECORD_TEXT:
        snprintf(ret, RECORD_TEXT_MAX, "\"%.*s\"", (int)field->size, record_field_text(field, row));
        break;
    case RECORD_WORD:
        snprintf(ret, RECORD_TEXT_MAX, "%s", record_field_word(field, row));
        break;
    case RECORD_PRICE:
        show_decimal(number, scales->price_scale, ret);
        break;
    case RECORD_QTY:
        show_decimal(number, scales->qty_scale, ret);
        break;
    case RECORD_QUOTE:
        show_decimal(number, scales->quote_scale, ret);
        break;
    case RECORD_HASH:
        show_hash(field, row, ret);
        break;
    default:
        snprintf(ret, RECORD_TEXT_MAX, "%" PRId64, number);
    }
}
