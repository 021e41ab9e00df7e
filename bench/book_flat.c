/* The layouts that are one array, or two. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench/book_layout.h"

struct pairs {
    struct book_level *levels;
    uint32_t n, cap;
};

static void *pairs_create(void)
{
    return book_layout_room(NULL, 1, sizeof(struct pairs));
}

static void pairs_destroy(void *side)
{
    struct pairs *pairs = side;
    free(pairs->levels);
    free(pairs);
}

static void reserve(struct pairs *pairs, uint32_t n)
{
    if (n <= pairs->cap)
        return;
    uint32_t cap = pairs->cap ? pairs->cap : 256;
    while (cap < n)
        cap *= 2;
    pairs->levels = book_layout_room(pairs->levels, cap, sizeof *pairs->levels);
    pairs->cap = cap;
}

static void pairs_load(void *side, const struct book_level *levels, uint32_t n)
{
    struct pairs *pairs = side;
    reserve(pairs, n);
    memcpy(pairs->levels, levels, n * sizeof *levels);
    pairs->n = n;
}

/* Where `price` stands or belongs among the first n: steps double from the end, then the interval is halved,
 * without branches. */
static uint32_t find(const struct book_level *levels, uint32_t n, int64_t price)
{
    uint32_t high = n, step = 4;
    while (high >= step && levels[high - step].price >= price) {
        high -= step;
        step *= 2;
    }
    uint32_t low = high >= step ? high - step + 1 : 0;
    for (uint32_t left = high - low; left > 0;) {
        uint32_t half = left / 2;
        low += (left - half) & -(uint32_t)(levels[low + half].price < price);
        left = half;
    }
    return low;
}

static void pairs_set(struct pairs *pairs, struct book_level level)
{
    uint32_t at = find(pairs->levels, pairs->n, level.price);
    bool present = at < pairs->n && pairs->levels[at].price == level.price;
    if (present && level.qty) {
        pairs->levels[at].qty = level.qty;
    } else if (present) {
        memmove(&pairs->levels[at], &pairs->levels[at + 1], (pairs->n - at - 1) * sizeof level);
        pairs->n--;
    } else if (level.qty) {
        reserve(pairs, pairs->n + 1);
        memmove(&pairs->levels[at + 1], &pairs->levels[at], (pairs->n - at) * sizeof level);
        pairs->levels[at] = level;
        pairs->n++;
    }
}

static void pairs_apply(void *side, const struct book_level *levels, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        pairs_set(side, levels[i]);
}

static uint32_t pairs_read(const void *side, struct book_level *ret, uint32_t most)
{
    const struct pairs *pairs = side;
    uint32_t n = pairs->n < most ? pairs->n : most;
    for (uint32_t i = 0; i < n; i++)
        ret[i] = pairs->levels[pairs->n - 1 - i];
    return n;
}

static size_t pairs_bytes(const void *side)
{
    const struct pairs *pairs = side;
    return sizeof *pairs + pairs->cap * sizeof *pairs->levels;
}

const struct book_layout layout_pairs = {"pairs",     pairs_create, pairs_destroy, pairs_load,
                                         pairs_apply, pairs_read,   pairs_bytes};

/* --- columns */

struct columns {
    int64_t *prices, *qtys;
    uint32_t n, cap;
};

static void *columns_create(void)
{
    return book_layout_room(NULL, 1, sizeof(struct columns));
}

static void columns_destroy(void *side)
{
    struct columns *columns = side;
    free(columns->prices);
    free(columns->qtys);
    free(columns);
}

static void columns_reserve(struct columns *columns, uint32_t n)
{
    if (n <= columns->cap)
        return;
    uint32_t cap = columns->cap ? columns->cap : 256;
    while (cap < n)
        cap *= 2;
    columns->prices = book_layout_room(columns->prices, cap, sizeof *columns->prices);
    columns->qtys = book_layout_room(columns->qtys, cap, sizeof *columns->qtys);
    columns->cap = cap;
}

static void columns_load(void *side, const struct book_level *levels, uint32_t n)
{
    struct columns *columns = side;
    columns_reserve(columns, n);
    for (uint32_t i = 0; i < n; i++) {
        columns->prices[i] = levels[i].price;
        columns->qtys[i] = levels[i].qty;
    }
    columns->n = n;
}

static void move(int64_t *column, uint32_t to, uint32_t from, uint32_t n)
{
    memmove(column + to, column + from, n * sizeof *column);
}

static void columns_set(struct columns *columns, struct book_level level)
{
    uint32_t high = columns->n, step = 1;
    while (high >= step && columns->prices[high - step] >= level.price) {
        high -= step;
        step *= 2;
    }
    uint32_t low = high >= step ? high - step + 1 : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (columns->prices[middle] < level.price)
            low = middle + 1;
        else
            high = middle;
    }
    bool present = low < columns->n && columns->prices[low] == level.price;
    if (present && level.qty) {
        columns->qtys[low] = level.qty;
    } else if (present) {
        columns->n--;
        move(columns->prices, low, low + 1, columns->n - low);
        move(columns->qtys, low, low + 1, columns->n - low);
    } else if (level.qty) {
        columns_reserve(columns, columns->n + 1);
        move(columns->prices, low + 1, low, columns->n - low);
        move(columns->qtys, low + 1, low, columns->n - low);
        columns->prices[low] = level.price;
        columns->qtys[low] = level.qty;
        columns->n++;
    }
}

static void columns_apply(void *side, const struct book_level *levels, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        columns_set(side, levels[i]);
}

static uint32_t columns_read(const void *side, struct book_level *ret, uint32_t most)
{
    const struct columns *columns = side;
    uint32_t n = columns->n < most ? columns->n : most;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = columns->n - 1 - i;
        ret[i] = (struct book_level){columns->prices[at], columns->qtys[at]};
    }
    return n;
}

static size_t columns_bytes(const void *side)
{
    const struct columns *columns = side;
    return sizeof *columns + 2 * columns->cap * sizeof *columns->prices;
}

const struct book_layout layout_columns = {"columns",     columns_create, columns_destroy, columns_load,
                                           columns_apply, columns_read,   columns_bytes};

/* --- merged: the places of all changes are found first, without a branch that depends on the data, so that
 * several searches are under way at once; then what stands between two changes moves once, by what the
 * changes behind it added. */

enum { MERGE_MAX = 64 };

struct cut {
    struct book_level level;
    uint32_t at;   /* the level itself, or the one before which it belongs */
    int32_t grows; /* -1: deleted, 1: inserted */
};

/* Where each change's price stands or belongs: all intervals are halved in step. */
static void find_all(const struct pairs *pairs, const struct book_level *changes, uint32_t n, uint32_t *ret)
{
    memset(ret, 0, n * sizeof *ret);
    for (uint32_t left = pairs->n; left > 0; left /= 2) {
        uint32_t half = left / 2, more = left - half;
        for (uint32_t i = 0; i < n; i++)
            ret[i] += more & -(uint32_t)(pairs->levels[ret[i] + half].price < changes[i].price);
    }
}

static void merge(struct pairs *pairs, const struct book_level *changes, uint32_t n)
{
    struct cut cuts[MERGE_MAX + 1];
    int32_t shifts[MERGE_MAX + 1];
    uint32_t places[MERGE_MAX], n_cuts = 0;
    reserve(pairs, pairs->n + n + 1);
    struct book_level none, *levels = pairs->levels;
    levels[pairs->n].price = INT64_MIN;
    find_all(pairs, changes, n, places);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = places[i];
        bool present = levels[at].price == changes[i].price, stays = changes[i].qty != 0;
        int64_t *kept[2] = {&none.qty, &levels[at].qty};
        *kept[present & stays] = changes[i].qty;
        cuts[n_cuts] = (struct cut){changes[i], at, (int32_t)stays * 2 - 1};
        n_cuts += present ^ stays;
    }
    /* Segment i lies between cut i and the better cut i - 1; `shift` is what the cuts at and below it add. */
    int32_t sum = 0;
    for (uint32_t i = n_cuts; i-- > 0;)
        shifts[i] = sum += cuts[i].grows;
    uint32_t end = pairs->n;
    for (uint32_t i = 0; i < n_cuts; i++) { /* to the right: the rightmost first */
        uint32_t from = cuts[i].at + (cuts[i].grows < 0);
        if (shifts[i] > 0)
            memmove(&levels[from + (uint32_t)shifts[i]], &levels[from], (end - from) * sizeof *levels);
        end = cuts[i].at;
    }
    for (uint32_t i = n_cuts; i-- > 0;) {
        uint32_t from = cuts[i].at + (cuts[i].grows < 0);
        end = i ? cuts[i - 1].at : pairs->n;
        if (shifts[i] < 0)
            memmove(&levels[from - (uint32_t)-shifts[i]], &levels[from], (end - from) * sizeof *levels);
    }
    for (uint32_t i = 0; i < n_cuts; i++)
        if (cuts[i].grows > 0)
            levels[(uint32_t)((int32_t)cuts[i].at + shifts[i] - 1)] = cuts[i].level;
    pairs->n = (uint32_t)((int32_t)pairs->n + sum);
}

static void merged_apply(void *side, const struct book_level *levels, uint32_t n)
{
    uint32_t from = 0;
    while (from < n) {
        uint32_t end = from + 1;
        while (end < n && end - from < MERGE_MAX && levels[end].price < levels[end - 1].price)
            end++;
        if (end - from == 1)
            pairs_set(side, levels[from]);
        else
            merge(side, levels + from, end - from);
        from = end;
    }
}

const struct book_layout layout_merged = {"merged",     pairs_create, pairs_destroy, pairs_load,
                                          merged_apply, pairs_read,   pairs_bytes};

/* --- graves: a level of quantity 0 is an empty slot. The best level never is. */

enum { GRAVE_NEAR = 48 };

struct graves {
    struct pairs pairs;
    uint32_t empty;
};

static void *graves_create(void)
{
    return book_layout_room(NULL, 1, sizeof(struct graves));
}

static void graves_load(void *side, const struct book_level *levels, uint32_t n)
{
    struct graves *graves = side;
    pairs_load(&graves->pairs, levels, n);
    graves->empty = 0;
}

static void compact(struct graves *graves)
{
    struct pairs *pairs = &graves->pairs;
    uint32_t n = 0;
    for (uint32_t i = 0; i < pairs->n; i++)
        if (pairs->levels[i].qty)
            pairs->levels[n++] = pairs->levels[i];
    pairs->n = n;
    graves->empty = 0;
}

static void insert(struct graves *graves, uint32_t at, struct book_level level)
{
    struct pairs *pairs = &graves->pairs;
    struct book_level *levels = pairs->levels;
    for (uint32_t k = 0; k < GRAVE_NEAR; k++) {
        if (at + k < pairs->n && levels[at + k].qty == 0) {
            memmove(&levels[at + 1], &levels[at], k * sizeof level);
            levels[at] = level;
            graves->empty--;
            return;
        }
        if (at > k && levels[at - 1 - k].qty == 0) {
            memmove(&levels[at - 1 - k], &levels[at - k], k * sizeof level);
            levels[at - 1] = level;
            graves->empty--;
            return;
        }
    }
    reserve(pairs, pairs->n + 1);
    levels = pairs->levels;
    memmove(&levels[at + 1], &levels[at], (pairs->n - at) * sizeof level);
    levels[at] = level;
    pairs->n++;
}

static void graves_apply(void *side, const struct book_level *changes, uint32_t n)
{
    struct graves *graves = side;
    struct pairs *pairs = &graves->pairs;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at = find(pairs->levels, pairs->n, changes[i].price);
        if (at < pairs->n && pairs->levels[at].price == changes[i].price) {
            graves->empty -= pairs->levels[at].qty == 0;
            graves->empty += changes[i].qty == 0;
            pairs->levels[at].qty = changes[i].qty;
            while (pairs->n > 0 && pairs->levels[pairs->n - 1].qty == 0) {
                pairs->n--;
                graves->empty--;
            }
        } else if (changes[i].qty) {
            insert(graves, at, changes[i]);
        }
    }
    if (graves->empty > 64 + pairs->n / 2)
        compact(graves);
}

static uint32_t graves_read(const void *side, struct book_level *ret, uint32_t most)
{
    const struct graves *graves = side;
    uint32_t n = 0;
    for (uint32_t i = graves->pairs.n; i-- > 0 && n < most;)
        if (graves->pairs.levels[i].qty)
            ret[n++] = graves->pairs.levels[i];
    return n;
}

static size_t graves_bytes(const void *side)
{
    return pairs_bytes(side) + sizeof(uint32_t);
}

const struct book_layout layout_graves = {"graves",     graves_create, pairs_destroy, graves_load,
                                          graves_apply, graves_read,   graves_bytes};
