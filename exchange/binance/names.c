#include "exchange/binance/names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool binance_name_valid(const char *text)
{
    if (!*text || strlen(text) >= VENUE_STREAM_NAME_MAX)
        return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && !strchr("@_!-.", *text))
            return false;
    return true;
}

static struct binance_name **chain_of(const struct binance_names *names, const char *text)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return &names->table[(hash ^ hash >> 15) & (names->cap - 1)];
}

struct binance_name *binance_names_find(const struct binance_names *names, const char *text)
{
    struct binance_name *name = names->cap ? *chain_of(names, text) : NULL;
    while (name && strcmp(name->text, text) != 0)
        name = name->next;
    return name;
}

static bool grow(struct binance_names *names)
{
    struct binance_names wide = {.n = names->n, .cap = names->cap ? names->cap * 2 : 64};
    wide.table = calloc(wide.cap, sizeof(struct binance_name *));
    if (!wide.table)
        return false;
    for (size_t i = 0; i < names->cap; i++) {
        for (struct binance_name *name = names->table[i], *next; name; name = next) {
            struct binance_name **chain = chain_of(&wide, name->text);
            next = name->next;
            name->next = *chain;
            *chain = name;
        }
    }
    free(names->table);
    *names = wide;
    return true;
}

struct binance_name *binance_names_add(struct binance_names *names, const char *text)
{
    if (names->n >= names->cap && !grow(names))
        return NULL;
    struct binance_name *name = calloc(1, sizeof(*name)), **chain = chain_of(names, text);
    if (!name)
        return NULL;
    memcpy(name->text, text, strlen(text) + 1);
    name->next = *chain;
    *chain = name;
    names->n++;
    return name;
}

void binance_names_remove(struct binance_names *names, struct binance_name *name)
{
    struct binance_name **at = chain_of(names, name->text);
    while (*at != name)
        at = &(*at)->next;
    *at = name->next;
    names->n--;
    free(name);
}

void binance_names_clear(struct binance_names *names)
{
    for (size_t i = 0; i < names->cap; i++) {
        for (struct binance_name *name = names->table[i], *next; name; name = next) {
            next = name->next;
            free(name);
        }
    }
    free(names->table);
    *names = (struct binance_names){0};
}
