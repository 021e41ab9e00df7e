/* Two rows of a record, field by field, to the last bit. */
#ifndef RECORD_COMPARE_H
#define RECORD_COMPARE_H

#include "exchange/symbol.h"
#include "record/field.h"

enum { RECORD_TEXT_MAX = 96 };

/* The first field that differs, in the record's order; NULL where none does. Symbols are not compared: their
 * indices are a process's own. */
const struct record_field *record_compare(const struct record *record, const void *a, const void *b);

/* A value as text: decimals of the symbol's scales (NULL: units), names, nanoseconds, texts in quotes. */
void record_value(const struct record_field *field, const void *row, const struct symbol *symbol,
                  char ret[static RECORD_TEXT_MAX]);

#endif
