#include "exchange/symbol_table.h"

#include <errno.h>

_Static_assert(SYMBOL_TABLE_SLOTS >= 4 * SYMBOLS_MAX && SYMBOLS_MAX < INT16_MAX,
               "the table of names is too small");

/* A table that holds a name already is left as it is. */
static bool enter(struct symbol_table *table, size_t i)
{
    const char *name = table->symbols[i].name;
    size_t len = strlen(name);
    if (symbol_table_find(table, name, len) >= 0)
        return false;
    uint32_t slot = symbol_table_hash(name, len);
    while (table->slots[slot % SYMBOL_TABLE_SLOTS] != 0)
        slot++;
    table->slots[slot % SYMBOL_TABLE_SLOTS] = (int16_t)(i + 1);
    return true;
}

int symbol_table_grow(struct symbol_table *table, size_t n)
{
    size_t i = 0, before = table->n;
    if (n > SYMBOLS_MAX || n < before)
        return -EINVAL;
    memset(table->slots, 0, sizeof(table->slots));
    while (i < n && enter(table, i))
        i++;
    table->n = i == n ? n : before;
    if (i == n)
        return 0;
    memset(table->slots, 0, sizeof(table->slots));
    for (i = 0; i < before; i++)
        enter(table, i);
    return -EINVAL;
}
