#include "exchange/book.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void book_init(struct book *book)
{
    memset(book, 0, sizeof *book);
}

void book_finish(struct book *book)
{
    free(book->bids.levels);
    free(book->asks.levels);
    free(book->pending);
    free(book->pending_levels);
    book_init(book);
}

static void forget_pending(struct book *book)
{
    book->n_pending = 0;
    book->n_pending_levels = 0;
}

void book_reset(struct book *book)
{
    book->bids.n = book->asks.n = 0;
    book->last_id = 0;
    book->state = BOOK_EMPTY;
    book->ahead = false;
    forget_pending(book);
}

/* Makes room for `need` items; capacities double, so a book stops allocating soon. */
static int reserve(void **items, uint32_t *cap, uint32_t need, size_t size, uint32_t most)
{
    if (need <= *cap)
        return 0;
    if (need > most)
        return -E2BIG;
    uint32_t grown = *cap ? *cap : 256;
    while (grown < need)
        grown *= 2;
    void *moved = realloc(*items, grown * size);
    if (!moved)
        return -ENOMEM;
    *items = moved;
    *cap = grown;
    return 0;
}

int book_reserve(struct book *book, uint32_t n_bids, uint32_t n_asks, uint32_t n_pending,
                 uint32_t n_pending_levels)
{
    int r = reserve((void **)&book->bids.levels, &book->bids.cap, n_bids, sizeof *book->bids.levels,
                    BOOK_LEVELS_MAX);
    if (r == 0)
        r = reserve((void **)&book->asks.levels, &book->asks.cap, n_asks, sizeof *book->asks.levels,
                    BOOK_LEVELS_MAX);
    if (r == 0)
        r = reserve((void **)&book->pending, &book->cap_pending, n_pending, sizeof *book->pending,
                    BOOK_BUFFER_MAX);
    if (r == 0)
        r = reserve((void **)&book->pending_levels, &book->cap_pending_levels, n_pending_levels,
                    sizeof *book->pending_levels, BOOK_BUFFER_MAX);
    return r;
}

/* The index where `key` stands or belongs, in an array ascending by sign·price. Most changes are near the
 * best price, at the end: steps double from there, then the interval is halved. */
static uint32_t find(const struct book_side *side, int64_t key, int sign)
{
    const struct book_level *levels = side->levels;
    uint32_t high = side->n, step = 1;
    while (high >= step && sign * levels[high - step].price >= key) {
        high -= step;
        step *= 2;
    }
    uint32_t low = high >= step ? high - step + 1 : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sign * levels[middle].price < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static int set_level(struct book_side *side, struct book_level level, int sign)
{
    uint32_t at = find(side, sign * level.price, sign);
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
    int r = reserve((void **)&side->levels, &side->cap, side->n + 1, sizeof level, BOOK_LEVELS_MAX);
    if (r < 0)
        return r;
    memmove(&side->levels[at + 1], &side->levels[at], (side->n - at) * sizeof level);
    side->levels[at] = level;
    side->n++;
    return 0;
}

static bool is_crossed(const struct book *book)
{
    const struct book_level *bid = book_bid(book, 0), *ask = book_ask(book, 0);
    return bid && ask && bid->price >= ask->price;
}

static int apply(struct book *book, uint64_t last_id, const struct book_level *bids, uint32_t n_bids,
                 const struct book_level *asks, uint32_t n_asks)
{
    int r = 0;
    for (uint32_t i = 0; i < n_bids && r == 0; i++)
        r = set_level(&book->bids, bids[i], 1);
    for (uint32_t i = 0; i < n_asks && r == 0; i++)
        r = set_level(&book->asks, asks[i], -1);
    if (r < 0) {
        book_reset(book);
        return r;
    }
    book->last_id = last_id;
    return BOOK_APPLIED;
}

static int buffer(struct book *book, uint64_t first_id, uint64_t last_id, const struct book_level *bids,
                  uint32_t n_bids, const struct book_level *asks, uint32_t n_asks)
{
    if (book->n_pending > 0 && first_id > book->pending[book->n_pending - 1].last_id + 1) {
        book->gaps++;
        forget_pending(book);
    }
    uint32_t levels = n_bids + n_asks;
    int r = reserve((void **)&book->pending, &book->cap_pending, book->n_pending + 1, sizeof *book->pending,
                    BOOK_BUFFER_MAX);
    if (r == 0)
        r = reserve((void **)&book->pending_levels, &book->cap_pending_levels,
                    book->n_pending_levels + levels + 1, sizeof *book->pending_levels, BOOK_BUFFER_MAX);
    if (r < 0) {
        book_reset(book);
        return r;
    }
    book->pending[book->n_pending++] = (struct book_pending){first_id, last_id, n_bids, n_asks};
    if (n_bids)
        memcpy(&book->pending_levels[book->n_pending_levels], bids, n_bids * sizeof *bids);
    if (n_asks)
        memcpy(&book->pending_levels[book->n_pending_levels + n_bids], asks, n_asks * sizeof *asks);
    book->n_pending_levels += levels;
    return BOOK_BUFFERED;
}

/* Starts (again) from nothing with this difference as the first. */
static int restart(struct book *book, uint64_t first_id, uint64_t last_id, const struct book_level *bids,
                   uint32_t n_bids, const struct book_level *asks, uint32_t n_asks)
{
    book_reset(book);
    book->state = BOOK_SYNCING;
    int r = buffer(book, first_id, last_id, bids, n_bids, asks, n_asks);
    return r < 0 ? r : BOOK_NEED_SNAPSHOT;
}

int book_diff(struct book *book, uint64_t first_id, uint64_t last_id, const struct book_level *bids,
              uint32_t n_bids, const struct book_level *asks, uint32_t n_asks)
{
    if (book->state == BOOK_EMPTY)
        return restart(book, first_id, last_id, bids, n_bids, asks, n_asks);
    if (book->state == BOOK_SYNCING && !book->ahead)
        return buffer(book, first_id, last_id, bids, n_bids, asks, n_asks);
    if (last_id <= book->last_id) {
        if (book->ahead && last_id == book->last_id) {
            book->ahead = false;
            book->state = BOOK_SYNCED;
        }
        return BOOK_IGNORED;
    }
    if (book->last_id != 0 && first_id > book->last_id + 1) {
        book->gaps++;
        book->resyncs++;
        return restart(book, first_id, last_id, bids, n_bids, asks, n_asks);
    }
    int r = apply(book, last_id, bids, n_bids, asks, n_asks);
    if (r < 0)
        return r;
    if (is_crossed(book)) {
        book->crossed++;
        book->resyncs++;
        return restart(book, first_id, last_id, bids, n_bids, asks, n_asks);
    }
    book->ahead = false;
    book->state = BOOK_SYNCED;
    return BOOK_APPLIED;
}

/* Snapshots come best first; sides are kept best last. Strictly sorted, no empty level. */
static int load_side(struct book_side *side, const struct book_level *levels, uint32_t n, int sign)
{
    int r = reserve((void **)&side->levels, &side->cap, n, sizeof *levels, BOOK_LEVELS_MAX);
    if (r < 0)
        return r;
    for (uint32_t i = 0; i < n; i++) {
        if (levels[i].qty <= 0 || (i > 0 && sign * levels[i].price >= sign * levels[i - 1].price))
            return -EINVAL;
        side->levels[n - 1 - i] = levels[i];
    }
    side->n = n;
    return 0;
}

int book_snapshot(struct book *book, uint64_t last_id, const struct book_level *bids, uint32_t n_bids,
                  const struct book_level *asks, uint32_t n_asks)
{
    if (book->state == BOOK_SYNCED || book->ahead)
        return BOOK_IGNORED;
    if (book->n_pending > 0 && last_id != 0 && book->pending[0].first_id > last_id + 1)
        return BOOK_NEED_SNAPSHOT;
    bool crossed = n_bids > 0 && n_asks > 0 && bids[0].price >= asks[0].price;
    int r = crossed ? -EINVAL : load_side(&book->bids, bids, n_bids, 1);
    if (r == 0)
        r = load_side(&book->asks, asks, n_asks, -1);
    if (r < 0) {
        book_reset(book); /* so that the next difference asks for another one */
        return r;
    }
    book->last_id = last_id;

    uint64_t reached = book->n_pending > 0 ? book->pending[book->n_pending - 1].last_id : last_id;
    const struct book_level *levels = book->pending_levels;
    for (uint32_t i = 0; i < book->n_pending; i++) {
        struct book_pending diff = book->pending[i];
        if (diff.last_id > book->last_id) {
            r = apply(book, diff.last_id, levels, diff.n_bids, levels + diff.n_bids, diff.n_asks);
            if (r < 0)
                return r;
        }
        levels += diff.n_bids + diff.n_asks;
    }
    if (is_crossed(book)) { /* the differences stay for the next snapshot */
        book->crossed++;
        book->resyncs++;
        book->bids.n = book->asks.n = 0;
        book->last_id = 0;
        return BOOK_NEED_SNAPSHOT;
    }
    forget_pending(book);
    book->ahead = reached < book->last_id;
    book->state = book->ahead ? BOOK_SYNCING : BOOK_SYNCED;
    return BOOK_APPLIED;
}

static int replace_side(struct book_side *side, const struct book_level *levels, uint32_t n, int sign)
{
    int r = load_side(side, levels, n, sign);
    if (r != -EINVAL)
        return r;
    side->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        r = levels[i].qty < 0 ? -EINVAL : set_level(side, levels[i], sign);
        if (r < 0)
            return r;
    }
    return 0;
}

int book_replace(struct book *book, uint64_t last_id, const struct book_level *bids, uint32_t n_bids,
                 const struct book_level *asks, uint32_t n_asks)
{
    book_reset(book);
    int r = replace_side(&book->bids, bids, n_bids, 1);
    if (r == 0)
        r = replace_side(&book->asks, asks, n_asks, -1);
    if (r < 0) {
        book_reset(book);
        return r;
    }
    if (is_crossed(book)) {
        book->crossed++;
        book->resyncs++;
        book->bids.n = book->asks.n = 0;
        book->state = BOOK_SYNCING;
        return BOOK_NEED_SNAPSHOT;
    }
    book->last_id = last_id;
    book->state = BOOK_SYNCED;
    return BOOK_APPLIED;
}

const struct book_level *book_bid(const struct book *book, uint32_t i)
{
    return i < book->bids.n ? &book->bids.levels[book->bids.n - 1 - i] : NULL;
}

const struct book_level *book_ask(const struct book *book, uint32_t i)
{
    return i < book->asks.n ? &book->asks.levels[book->asks.n - 1 - i] : NULL;
}

int64_t book_shown(const struct book *book, bool bids, int64_t price)
{
    const struct book_side *side = bids ? &book->bids : &book->asks;
    int sign = bids ? 1 : -1;
    uint32_t at = find(side, sign * price, sign);
    if (at < side->n && side->levels[at].price == price)
        return side->levels[at].qty;
    return at == 0 ? -1 : 0;
}

bool book_valid(const struct book *book)
{
    for (uint32_t i = 0; i < book->bids.n; i++)
        if (book->bids.levels[i].qty <= 0 ||
            (i > 0 && book->bids.levels[i - 1].price >= book->bids.levels[i].price))
            return false;
    for (uint32_t i = 0; i < book->asks.n; i++)
        if (book->asks.levels[i].qty <= 0 ||
            (i > 0 && book->asks.levels[i - 1].price <= book->asks.levels[i].price))
            return false;
    return book->bids.n == 0 || book->asks.n == 0 || book_bid(book, 0)->price < book_ask(book, 0)->price;
}
