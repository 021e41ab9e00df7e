#include "record/value.h"

#include <inttypes.h>
#include <stdio.h>

#include "exchange/decimal.h"

enum { PERCENT_SCALE = 4 }; /* of a share in millionths */

int record_scale(const struct record_field *field, const struct symbol *symbol)
{
    switch (field->kind) {
    case RECORD_PRICE:
        return symbol ? symbol->price_scale : -1;
    case RECORD_QTY:
    case RECORD_VOLUME:
        return symbol ? symbol->qty_scale : -1;
    case RECORD_QUOTE:
        return symbol ? symbol->quote_scale : -1;
    case RECORD_E6:
        return PERCENT_SCALE;
    case RECORD_SHARE_E6:
        return 6;
    case RECORD_SHARE_E4:
        return 4;
    case RECORD_E9:
        return 9;
    default:
        return -1;
    }
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
    int64_t number = record_field_number(field, row);
    switch (field->kind) {
    case RECORD_UNSIGNED:
        snprintf(ret, RECORD_TEXT_MAX, "%" PRIu64, (uint64_t)number);
        break;
    case RECORD_BOOL:
        snprintf(ret, RECORD_TEXT_MAX, "%s", number ? "true" : "false");
        break;
    case RECORD_REAL:
        snprintf(ret, RECORD_TEXT_MAX, "%.17g", record_field_real(field, row));
        break;
    case RECORD_TEXT:
        snprintf(ret, RECORD_TEXT_MAX, "\"%.*s\"", (int)field->size, record_field_text(field, row));
        break;
    case RECORD_STRING:
        snprintf(ret, RECORD_TEXT_MAX, "\"%.*s\"", RECORD_TEXT_MAX - 3, record_field_text(field, row));
        break;
    case RECORD_WORD:
        snprintf(ret, RECORD_TEXT_MAX, "%s", record_field_word(field, row));
        break;
    case RECORD_PRICE:
    case RECORD_QTY:
    case RECORD_QUOTE:
        show_decimal(number, symbol ? record_scale(field, symbol) : 0, ret);
        break;
    case RECORD_HASH:
        show_hash(field, row, ret);
        break;
    default:
        snprintf(ret, RECORD_TEXT_MAX, "%" PRId64, number);
    }
}
