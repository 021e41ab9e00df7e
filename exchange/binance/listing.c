#include "exchange/binance/stream.h"

#include <stdlib.h>
#include <string.h>

static bool add(struct listing *listing, struct json_text text)
{
    if (listing->n == listing->cap) {
        size_t cap = listing->cap ? listing->cap * 2 : 64;
        char **names = reallocarray(listing->names, cap, sizeof(*names));
        if (!names)
            return false;
        listing->names = names;
        listing->cap = cap;
    }
    char *name = strndup(text.data, text.len);
    if (!name)
        return false;
    listing->names[listing->n++] = name;
    return true;
}

bool binance_listing_take(struct listing *listing, struct json list)
{
    json_enter_array(&list);
    while (json_element(&list)) {
        struct json_text text;
        if (!json_read_string(&list, &text) || !add(listing, text))
            return false;
    }
    return !list.failed;
}

void binance_listing_drop(struct listing *listing)
{
    for (size_t i = 0; i < listing->n; i++)
        free(listing->names[i]);
    free(listing->names);
    *listing = (struct listing){0};
}

void binance_listing_end(struct listing *listing, const char *error)
{
    struct listing ended = *listing;
    *listing = (struct listing){0};
    if (ended.done)
        ended.done(ended.user, error ? NULL : (const char *const *)ended.names, error ? 0 : ended.n, error);
    binance_listing_drop(&ended);
}
