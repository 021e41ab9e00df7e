/* A list of symbols by their names, as parsers look them up. Pure; it allocates nothing. */
#ifndef EXCHANGE_SYMBOL_TABLE_H
#define EXCHANGE_SYMBOL_TABLE_H

#include <stddef.h>
#include <string.h>

#include "exchange/symbol.h"

enum { SYMBOL_TABLE_SLOTS = 16384 }; /* power of two, at least four times SYMBOLS_MAX */

/* Zeroed, except the list, which is the caller's, stays where it is, and outlives the table. */
struct symbol_table {
    const struct symbol *symbols;
    size_t n;
    int16_t slots[SYMBOL_TABLE_SLOTS]; /* index + 1, by hash of the name */
};

/* The first n of the list, those that were there among them. 0; -EINVAL: fewer than before, more than
 * SYMBOLS_MAX, or a name twice; then nothing has changed. */
int symbol_table_grow(struct symbol_table *table, size_t n);

static inline uint32_t symbol_table_hash(const char *name, size_t len)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return hash ^ (hash >> 15);
}

/* The index of a name; -1: there is none. */
static inline int symbol_table_find(const struct symbol_table *table, const char *name, size_t len)
{
    if (len >= SYMBOL_NAME_MAX)
        return -1;
    for (uint32_t slot = symbol_table_hash(name, len);; slot++) {
        int index = table->slots[slot % SYMBOL_TABLE_SLOTS] - 1;
        if (index < 0)
            return -1;
        const char *known = table->symbols[index].name;
        if (memcmp(known, name, len) == 0 && known[len] == '\0')
            return index;
    }
}

#endif
