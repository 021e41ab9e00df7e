#include "exchange/replay/ladder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void replay_ladder_finish(struct replay_ladder *ladder)
{
    free(ladder->levels);
    ladder->levels = NULL;
    ladder->n = ladder->cap = 0;
}

/* Index of the level at `price`, or where it belongs. */
static size_t find(const struct replay_ladder *ladder, int64_t price)
{
    size_t lo = 0, hi = ladder->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int64_t at = ladder->levels[mid].price;
        if (ladder->bid ? at < price : at > price)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

int replay_ladder_set(struct replay_ladder *ladder, int64_t price, int64_t qty)
{
    size_t i = find(ladder, price);
    struct level *at = ladder->levels + i;
    bool found = i < ladder->n && at->price == price;
    if (qty == 0 && !ladder->keep_zero) {
        if (found) {
            memmove(at, at + 1, (ladder->n - i - 1) * sizeof(*at));
            ladder->n--;
        }
        return 0;
    }
    if (found) {
        at->qty = qty;
        return 0;
    }
    if (ladder->n == ladder->cap) {
        size_t cap = ladder->cap ? ladder->cap * 2 : 256;
        struct level *levels = reallocarray(ladder->levels, cap, sizeof(*levels));
        if (!levels)
            return -ENOMEM;
        ladder->levels = levels;
        ladder->cap = cap;
        at = levels + i;
    }
    memmove(at + 1, at, (ladder->n - i) * sizeof(*at));
    *at = (struct level){price, qty};
    ladder->n++;
    return 0;
}

int64_t replay_ladder_qty(const struct replay_ladder *ladder, int64_t price)
{
    size_t i = find(ladder, price);
    return i < ladder->n && ladder->levels[i].price == price ? ladder->levels[i].qty : 0;
}

const struct level *replay_ladder_best(const struct replay_ladder *ladder, size_t i)
{
    return i < ladder->n ? &ladder->levels[ladder->n - 1 - i] : NULL;
}
