/* A record's values as texts for people. */
#ifndef RECORD_VALUE_H
#define RECORD_VALUE_H

#include "exchange/symbol.h"
#include "record/field.h"

enum { RECORD_TEXT_MAX = 96 };

/* The number of decimals of a field: of a price, a quantity, a quote amount by the symbol, of a share 4,
 * since lists show it in percent. -1: the kind has none, or the symbol is unknown (NULL). */
int record_scale(const struct record_field *field, const struct symbol *symbol);

/* A value for a replay's difference: decimals of the symbol's scales (NULL: units), names, nanoseconds,
 * millionths, texts in quotes. */
void record_value(const struct record_field *field, const void *row, const struct symbol *symbol,
                  char ret[static RECORD_TEXT_MAX]);

#endif
