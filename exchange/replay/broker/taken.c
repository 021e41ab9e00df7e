#include "exchange/replay/broker/taken.h"

#include <stdlib.h>

static struct taken_level *find(struct taken_levels *taken, int symbol, bool bids, const struct level *level)
{
    for (size_t i = 0; i < taken->n; i++) {
        struct taken_level *t = &taken->all[i];
        if (t->symbol != symbol || t->bids != bids || t->price != level->price)
            continue;
        if (t->shown != level->qty) {
            t->shown = level->qty;
            t->qty = 0;
        }
        return t;
    }
    return NULL;
}

int64_t replay_taken_left(struct taken_levels *taken, int symbol, bool bids, const struct level *level)
{
    const struct taken_level *t = find(taken, symbol, bids, level);
    return t ? level->qty - t->qty : level->qty;
}

static struct taken_level *add(struct taken_levels *taken)
{
    if (taken->n == taken->cap) {
        const size_t cap = taken->cap ? taken->cap * 2 : 64;
        struct taken_level *grown = reallocarray(taken->all, cap, sizeof(*grown));
        if (!grown)
            return NULL;
        taken->all = grown;
        taken->cap = cap;
    }
    return &taken->all[taken->n++];
}

void replay_taken_add(struct taken_levels *taken, int symbol, bool bids, const struct level *level,
                      int64_t qty)
{
    struct taken_level *t = find(taken, symbol, bids, level);
    if (!t && (t = add(taken)))
        *t = (struct taken_level){symbol, bids, level->price, level->qty, 0};
    if (t)
        t->qty += qty;
}

void replay_taken_finish(struct taken_levels *taken)
{
    free(taken->all);
    *taken = (struct taken_levels){0};
}
