#include "exchange/book_side.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    MERGE_MIN = 3, /* changes; fewer are made one by one */
    MERGE_MAX = 64,
};

int book_room(void **items, uint32_t *cap, uint32_t need, size_t size, uint32_t most)
{
    if (need <= *cap)
        return 0;
    if (need > most)
        return -E2BIG;
    uint32_t grown = *cap + *cap / 2;
    if (grown < need)
        grown = need + need / 8;
    grown = (grown + 63) / 64 * 64;
    if (grown > most)
        grown = most;
    void *moved = realloc(*items, grown * size);
    if (!moved)
        return -ENOMEM;
    *items = moved;
    *cap = grown;
    return 0;
}

static int side_room(struct book_side *side, uint32_t n)
{
    return book_room((void **)&side->levels, &side->cap, n, sizeof *side->levels, BOOK_LEVELS_MAX);
}

/* Most changes are near the best price, at the end: steps double from there, then the interval is halved,
 * without branches. */
uint32_t book_side_find(const struct book_side *side, int64_t price, int sign)
{
    const struct book_level *levels = side->levels;
    int64_t key = sign * price;
    uint32_t high = side->n, step = 4;
    while (high >= step && sign * levels[high - step].price >= key) {
        high -= step;
        step *= 2;
    }
    uint32_t low = high >= step ? high - step + 1 : 0;
    for (uint32_t left = high - low; left > 0;) {
        uint32_t half = left / 2;
        low += (left - half) & -(uint32_t)(sign * levels[low + half].price < key);
        left = half;
    }
    return low;
}

static int set_level(struct book_side *side, struct book_level level, int sign)
{
    uint32_t at = book_side_find(side, level.price, sign);
    bool present = at < side->n && side->levels[at].price == level.price;
    if (present && level.qty != 0) {
        side->levels[at].qty = level.qty;
        return 0;
    }
    if (present) {
        memmove(&side->levels[at], &side->levels[at + 1], (side->n - at - 1) * sizeof level);
        side->n--;
        return 0;
    }
    if (level.qty == 0)
        return 0;
    int r = side_room(side, side->n + 1);
    if (r < 0)
        return r;
    memmove(&side->levels[at + 1], &side->levels[at], (side->n - at) * sizeof level);
    side->levels[at] = level;
    side->n++;
    return 0;
}

/* Finds the index where each change's price is or belongs. All intervals are halved in step, without
 * branches, so that the memory access of one search overlaps with the others. */
static inline __attribute__((always_inline)) void
find_all(const struct book_side *side, const struct book_level *changes, uint32_t n, int sign, uint32_t *ret)
{
    const struct book_level *levels = side->levels;
    memset(ret, 0, n * sizeof *ret);
    for (uint32_t left = side->n; left > 0; left /= 2) {
        uint32_t half = left / 2, more = left - half;
        for (uint32_t i = 0; i < n; i++) {
            int64_t price = levels[ret[i] + half].price;
            bool worse = sign > 0 ? price < changes[i].price : price > changes[i].price;
            ret[i] += more & -(uint32_t)worse;
        }
    }
}

/* A change that moves what is better: a level deleted (grows -1) at `at`, or one inserted (1) before it. */
struct cut {
    struct book_level level;
    uint32_t at;
    int32_t grows;
};

/* Sets the quantities of the levels that stay, and finds the cuts. No branch depends on what a change is,
 * as it could not be predicted. */
static uint32_t find_cuts(struct book_side *side, const struct book_level *changes, uint32_t n, int sign,
                          struct cut cuts[static MERGE_MAX + 1])
{
    uint32_t places[MERGE_MAX], n_cuts = 0;
    int64_t nowhere;
    if (sign > 0)
        find_all(side, changes, n, 1, places);
    else
        find_all(side, changes, n, -1, places);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = places[i];
        struct book_level *level = &side->levels[at - (at == side->n)];
        bool present = (at < side->n) & (level->price == changes[i].price), stays = changes[i].qty != 0;
        int64_t *const kept[2] = {&nowhere, &level->qty};
        *kept[present & stays] = changes[i].qty;
        cuts[n_cuts] = (struct cut){changes[i], at, stays ? 1 : -1};
        n_cuts += present ^ stays;
    }
    return n_cuts;
}

/* Changes that come strictly best first, of a side with levels: what lies between two cuts moves once, by
 * what the cuts on its worse side add. Of neighbours that move apart or together none overwrites what another
 * still has to move, if those that go to the right are moved from the right on, and those that go to the left
 * from the left. */
static int merge(struct book_side *side, const struct book_level *changes, uint32_t n, int sign)
{
    struct cut cuts[MERGE_MAX + 1];
    int32_t shifts[MERGE_MAX], sum = 0; /* of what lies on the better side of a cut, up to the next one */
    uint32_t n_cuts = find_cuts(side, changes, n, sign, cuts);
    for (uint32_t i = n_cuts; i-- > 0;)
        shifts[i] = sum += cuts[i].grows;
    int r = sum > 0 ? side_room(side, side->n + (uint32_t)sum) : 0;
    if (r < 0)
        return r;
    struct book_level *levels = side->levels;
    uint32_t end = side->n;
    for (uint32_t i = 0; i < n_cuts; end = cuts[i++].at) {
        uint32_t from = cuts[i].at + (cuts[i].grows < 0);
        if (shifts[i] > 0)
            memmove(&levels[from + (uint32_t)shifts[i]], &levels[from], (end - from) * sizeof *levels);
    }
    for (uint32_t i = n_cuts; i-- > 0;) {
        uint32_t from = cuts[i].at + (cuts[i].grows < 0);
        end = i > 0 ? cuts[i - 1].at : side->n;
        if (shifts[i] < 0)
            memmove(&levels[from - (uint32_t)-shifts[i]], &levels[from], (end - from) * sizeof *levels);
    }
    for (uint32_t i = 0; i < n_cuts; i++)
        if (cuts[i].grows > 0)
            levels[(uint32_t)((int32_t)cuts[i].at + shifts[i] - 1)] = cuts[i].level;
    side->n = (uint32_t)((int32_t)side->n + sum);
    return 0;
}

int book_side_apply(struct book_side *side, const struct book_level *changes, uint32_t n, int sign)
{
    int r = 0;
    for (uint32_t from = 0, end; from < n && r == 0; from = end) {
        end = from + 1;
        while (end < n && end - from < MERGE_MAX && sign * changes[end].price < sign * changes[end - 1].price)
            end++;
        if (end - from >= MERGE_MIN && side->n > 0)
            r = merge(side, changes + from, end - from, sign);
        else
            for (uint32_t i = from; i < end && r == 0; i++)
                r = set_level(side, changes[i], sign);
    }
    return r;
}

int book_side_load(struct book_side *side, const struct book_level *levels, uint32_t n, int sign)
{
    int r = side_room(side, n);
    if (r < 0)
        return r;
    side->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (levels[i].qty <= 0 || (i > 0 && sign * levels[i].price >= sign * levels[i - 1].price))
            return -EINVAL;
        side->levels[n - 1 - i] = levels[i];
    }
    side->n = n;
    return 0;
}
