#include "db/books/lots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"

int64_t db_books_share(int64_t whole, int64_t part, int64_t of)
{
    if (part == of)
        return whole;
    const int128_t product = (int128_t)whole * part;
    const int128_t down = product / of;
    return (int64_t)(down - (product % of < 0));
}

/* Room for n of them. False: no memory. */
static bool reserve(void **rows, size_t *cap, size_t n, size_t size)
{
    size_t room = *cap ? *cap : 8;
    if (n <= *cap)
        return true;
    while (room < n)
        room *= 2;
    void *more = realloc(*rows, room * size);
    if (!more)
        return false;
    *rows = more;
    *cap = room;
    return true;
}
#define RESERVE(rows, cap, n) reserve((void **)&(rows), &(cap), n, sizeof *(rows))

/* ---- tags ---- */

static bool push(struct books_tags *tags, struct books_tag tag)
{
    if (tags->first > tags->cap / 2) {
        tags->n -= tags->first;
        memmove(tags->tags, tags->tags + tags->first, tags->n * sizeof *tags->tags);
        tags->first = 0;
    }
    if (!RESERVE(tags->tags, tags->cap, tags->n + 1))
        return false;
    tags->tags[tags->n++] = tag;
    return true;
}

static void clear(struct books_tags *tags)
{
    tags->first = tags->n = 0;
}

/* The index of an account's holding, made when there is none. -1: no memory. */
static ptrdiff_t holding_of(struct books_lots *lots, int account, int symbol)
{
    const size_t before = lots->holdings.n;
    if (!RESERVE(lots->tags, lots->cap_tags, before + 1))
        return -1;
    const struct db_holding *holding = db_holdings_of(&lots->holdings, account, symbol);
    if (!holding)
        return -1;
    const size_t at = (size_t)(holding - lots->holdings.rows);
    if (lots->holdings.n > before) {
        memmove(lots->tags + at + 1, lots->tags + at, (before - at) * sizeof *lots->tags);
        lots->tags[at] = (struct books_tags){0};
    }
    return (ptrdiff_t)at;
}

/* ---- what ends, and what begins ---- */

static struct lot *lots_of(const struct db_holding *holding, size_t *n)
{
    *n = holding->lots.n - holding->lots.first;
    return holding->lots.lots + holding->lots.first;
}

static bool begin(struct books_lots *lots, struct books_tags *tags, size_t i, const struct lot *lot,
                  uint64_t fill, int64_t fee)
{
    if (!RESERVE(lots->begun, lots->cap_begun, i + 1) ||
        !push(tags, (struct books_tag){++lots->numbers, fill, fee}))
        return false;
    lots->begun[i] = (struct db_books_lot){lots->numbers, fill, lot->qty, fee, lot->cost, lot->opened_ns};
    return true;
}

/* Notes that `qty` and `cost` of a lot, `was`, ended, and takes its part of the fee. */
static void end_part(struct books_lots *lots, size_t i, struct books_tag *tag, const struct lot *was,
                     int64_t qty, int64_t cost)
{
    const int64_t fee = db_books_share(tag->fee, qty, was->qty);
    tag->fee -= fee;
    lots->ended[i] = (struct db_books_part){.of = {tag->number, tag->fill, qty, fee, cost, was->opened_ns}};
}

/* The lots' values, as they are before something takes of the oldest ones up to `qty`. Their number; -1: no
 * memory. */
static ptrdiff_t keep(struct books_lots *lots, const struct db_holding *holding, int64_t qty)
{
    size_t n, i = 0;
    const struct lot *at = lots_of(holding, &n);
    for (; i < n && qty > 0; qty -= at[i++].qty)
        if (!RESERVE(lots->before, lots->cap_before, i + 1) || !RESERVE(lots->ended, lots->cap_ended, i + 1))
            return -1;
        else
            lots->before[i] = at[i];
    return (ptrdiff_t)i;
}

/* Compares the n oldest lots of before with those that are left of them: `left` of all lots. */
static void compare(struct books_lots *lots, struct books_tags *tags, const struct lot *now, size_t left,
                    size_t n)
{
    const size_t held = tags->n - tags->first, whole = held - left < n ? held - left : n;
    for (size_t i = 0; i < n; i++) {
        const struct lot *was = &lots->before[i];
        const struct lot none = {0}, *is = i < whole ? &none : &now[i - whole];
        end_part(lots, i, &tags->tags[tags->first + i], was, was->qty - is->qty, was->cost - is->cost);
    }
    tags->first += whole;
    if (tags->first == tags->n)
        clear(tags);
}

/* Gives each ended part its share of what the whole closing was: of the average cost, value and fee. */
static void share_out(struct books_lots *lots, size_t n, int64_t closed, int64_t average, int64_t value,
                      int64_t fee)
{
    int64_t qty = 0, had_average = 0, had_value = 0, had_fee = 0;
    for (size_t i = 0; i < n; i++) {
        struct db_books_part *part = &lots->ended[i];
        qty += part->of.qty;
        const int64_t to_average = db_books_share(average, qty, closed);
        const int64_t to_value = db_books_share(value, qty, closed);
        const int64_t to_fee = db_books_share(fee, qty, closed);
        part->average = to_average - had_average;
        part->value = to_value - had_value;
        part->fee = to_fee - had_fee;
        had_average = to_average;
        had_value = to_value;
        had_fee = to_fee;
    }
}

static void pass(const struct books_lots *lots, const struct db_holding *holding, size_t ended, size_t begun,
                 struct db_books_change *change)
{
    change->position = &holding->position;
    change->ended = lots->ended;
    change->n_ended = ended;
    change->begun = lots->begun;
    change->n_begun = begun;
}

/* ---- what happens ---- */

int db_books_lots_fill(struct books_lots *lots, const struct fill *fill, struct db_books_change *change)
{
    const ptrdiff_t at = holding_of(lots, fill->account, fill->symbol);
    if (at < 0)
        return -ENOMEM;
    const struct db_holding *holding = &lots->holdings.rows[at];
    struct books_tags *tags = &lots->tags[at];
    const int64_t held = holding->position.qty, cost = holding->position.cost;
    const int64_t qty = fill->qty - fill->fee_base;
    const int64_t against = fill->side == ORDER_BUY ? -held : held;
    const int64_t closed = against <= 0 ? 0 : against < qty ? against : qty;
    const ptrdiff_t n = keep(lots, holding, closed);
    if (n < 0)
        return -ENOMEM;
    int r = db_holdings_fill(&lots->holdings, fill->account, fill->symbol, fill->side, qty, fill->notional,
                             fill->fee, fill->ts_ns);
    if (r < 0)
        return r;
    size_t left;
    const struct lot *now = lots_of(holding, &left);
    const bool opens = qty > closed;
    const struct lot *opened = opens ? &now[left - 1] : NULL;
    const int64_t fee = closed > 0 ? db_books_share(fill->fee, closed, qty) : 0;
    compare(lots, tags, now, left - opens, (size_t)n);
    share_out(lots, (size_t)n, closed, opens && closed > 0 ? cost : cost - holding->position.cost,
              fill->notional - (opens ? opened->cost : 0), fee);
    if (opens && !begin(lots, tags, 0, opened, fill->id, fill->fee - fee))
        return -ENOMEM;
    pass(lots, holding, (size_t)n, opens, change);
    change->ended_short = held < 0;
    change->begun_short = fill->side == ORDER_SELL;
    return 0;
}

int db_books_lots_base(struct books_lots *lots, size_t at, struct db_books_change *change)
{
    const struct db_holding *holding = &lots->holdings.rows[at];
    size_t n;
    const struct lot *now = lots_of(holding, &n);
    while (lots->cap_tags < lots->holdings.n) {
        const size_t had = lots->cap_tags;
        if (!RESERVE(lots->tags, lots->cap_tags, lots->holdings.n))
            return -ENOMEM;
        memset(lots->tags + had, 0, (lots->cap_tags - had) * sizeof *lots->tags);
    }
    for (size_t i = 0; i < n; i++)
        if (!begin(lots, &lots->tags[at], i, &now[i], 0, 0))
            return -ENOMEM;
    pass(lots, holding, 0, n, change);
    change->begun_short = holding->position.qty < 0;
    return 0;
}

/* After a split: each lot that is left has the tag of its former one; a lot's fee that is gone goes where its
 * cost went. */
static int begin_again(struct books_lots *lots, struct books_tags *tags, const struct stock_split *split,
                       size_t n, const struct lot *now)
{
    int128_t had = 0;
    int64_t given = 0, fee = 0;
    size_t kept = 0;
    struct books_tags new = {0};
    for (size_t i = 0; i < n; i++) {
        const struct books_tag *was = &tags->tags[tags->first + i];
        fee += was->fee;
        if (engine_split_lot_qty(split, &lots->before[i], &had, &given) == 0)
            continue;
        if (!begin(lots, &new, kept, &now[kept], was->fill, fee)) {
            free(new.tags);
            return -ENOMEM;
        }
        kept++;
        fee = 0;
    }
    if (kept > 0) {
        new.tags[kept - 1].fee += fee;
        lots->begun[kept - 1].fee += fee;
    }
    free(tags->tags);
    *tags = new;
    return 0;
}

/* Every lot ends, and begins again as it is after the split. */
static int split_lots(struct books_lots *lots, struct books_tags *tags, const struct stock_split *split,
                      size_t n, const struct lot *now)
{
    for (size_t i = 0; i < n; i++) {
        const struct books_tag *tag = &tags->tags[tags->first + i];
        const struct lot *lot = &lots->before[i];
        lots->ended[i] = (struct db_books_part){
            .of = {tag->number, tag->fill, lot->qty, tag->fee, lot->cost, lot->opened_ns}};
    }
    return begin_again(lots, tags, split, n, now);
}

int db_books_lots_split(struct books_lots *lots, size_t at, const struct stock_split *split, int64_t ts_ns,
                        struct db_books_change *change, int64_t *ret_change)
{
    struct db_holding *holding = &lots->holdings.rows[at];
    const int64_t held = holding->position.qty, cost = holding->position.cost;
    const int64_t before = position_before(&holding->position, &holding->lots, split->ex_ns);
    const int64_t old = before < 0 ? -before : before;
    const bool nothing = engine_split_qty(split, old) == 0;
    const ptrdiff_t n = keep(lots, holding, nothing ? old : held < 0 ? -held : held);
    bool left_out;
    if (n < 0)
        return -ENOMEM;
    int r = engine_split_position(split, &holding->position, &holding->lots, ts_ns, ret_change, &left_out);
    if (r < 0)
        return r;
    size_t left;
    const struct lot *now = lots_of(holding, &left);
    change->ended_short = change->begun_short = held < 0;
    if (nothing) {
        change->cause = DB_BOOKS_VOID;
        compare(lots, &lots->tags[at], now, left, (size_t)n);
        share_out(lots, (size_t)n, old, cost - holding->position.cost, 0, 0);
    } else {
        r = split_lots(lots, &lots->tags[at], split, (size_t)n, now);
    }
    pass(lots, holding, (size_t)n, nothing ? 0 : left, change);
    return r;
}

int db_books_lots_end(struct books_lots *lots, size_t at, struct db_books_change *change)
{
    const struct db_holding *holding = &lots->holdings.rows[at];
    const int64_t held = holding->position.qty;
    const ptrdiff_t n = keep(lots, holding, held < 0 ? -held : held);
    if (n < 0)
        return -ENOMEM;
    compare(lots, &lots->tags[at], NULL, 0, (size_t)n);
    pass(lots, holding, (size_t)n, 0, change);
    change->ended_short = held < 0;
    return 0;
}

void db_books_lots_finish(struct books_lots *lots)
{
    for (size_t i = 0; i < lots->holdings.n && i < lots->cap_tags; i++)
        free(lots->tags[i].tags);
    free(lots->tags);
    free(lots->ended);
    free(lots->begun);
    free(lots->before);
    db_holdings_finish(&lots->holdings);
    *lots = (struct books_lots){0};
}
