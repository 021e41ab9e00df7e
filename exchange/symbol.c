#include "exchange/symbol.h"

#include <string.h>

bool symbol_same_units(const struct symbol *a, const struct symbol *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->base, b->base) == 0 &&
           strcmp(a->quote, b->quote) == 0 && a->price_scale == b->price_scale &&
           a->qty_scale == b->qty_scale && a->quote_scale == b->quote_scale;
}
