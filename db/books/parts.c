#include "db/books/parts.h"

#include <errno.h>
#include <stdlib.h>

static bool make_room(void **rows, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return true;
    const size_t room = *cap ? 2 * *cap : 64;
    void *more = realloc(*rows, room * size);
    if (!more)
        return false;
    *rows = more;
    *cap = room;
    return true;
}
#define MAKE_ROOM(rows, n, cap) make_room((void **)&(rows), n, &(cap), sizeof *(rows))

static int begin(struct books_parts *parts, const struct db_books_change *change)
{
    for (size_t i = 0; i < change->n_begun; i++) {
        const struct db_books_lot *begun = &change->begun[i];
        struct books_open_lot lot = {.account = change->account,
                                     .symbol = change->symbol,
                                     .is_short = change->begun_short,
                                     .opened_ns = begun->opened_ns,
                                     .qty = begun->qty,
                                     .cost = begun->cost,
                                     .number = 1};
        const size_t at = begun->number - 1;
        while (parts->n_lots <= at) { /* lots of other accounts have numbers too */
            if (!MAKE_ROOM(parts->lots, parts->n_lots, parts->cap_lots))
                return -ENOMEM;
            parts->lots[parts->n_lots++] = (struct books_open_lot){0};
        }
        lot.first = lot.next = parts->lots[at].first;
        lot.last = parts->lots[at].last;
        parts->lots[at] = lot;
    }
    return 0;
}

static int append(struct books_parts *parts, struct books_open_lot *lot, int64_t qty, int64_t cost)
{
    if (!MAKE_ROOM(parts->parts, parts->n_parts, parts->cap_parts))
        return -ENOMEM;
    parts->parts[parts->n_parts++] = (struct books_part){qty, cost, 0};
    if (lot->last)
        parts->parts[lot->last - 1].next = parts->n_parts;
    else
        lot->first = parts->n_parts;
    lot->last = parts->n_parts;
    return 0;
}

static int end(struct books_parts *parts, const struct db_books_change *change, enum books_parts_pass pass)
{
    int r = 0;
    for (size_t i = 0; i < change->n_ended && r == 0; i++) {
        const struct db_books_lot *ended = &change->ended[i].of;
        struct books_open_lot *lot = &parts->lots[ended->number - 1];
        lot->qty -= ended->qty;
        lot->cost -= ended->cost;
        if (pass == BOOKS_PARTS_KNOWN) {
            lot->number++;
            lot->next = parts->parts[lot->next - 1].next;
        } else if (pass == BOOKS_PARTS_NOTED) {
            r = append(parts, lot, ended->qty, ended->cost);
        }
    }
    return r;
}

int db_books_parts_follow(struct books_parts *parts, const struct db_books_change *change,
                          enum books_parts_pass pass)
{
    int r = end(parts, change, pass);
    return r == 0 ? begin(parts, change) : r;
}

void db_books_parts_rewind(struct books_parts *parts)
{
    for (size_t i = 0; i < parts->n_lots; i++)
        parts->lots[i].qty = parts->lots[i].cost = 0;
}

bool db_books_parts_next(const struct books_parts *parts, size_t lot, struct books_part_at *at)
{
    const struct books_open_lot *of = &parts->lots[lot];
    if (!at->started)
        *at = (struct books_part_at){.part = of->next,
                                     .number = of->number,
                                     .left_qty = of->qty,
                                     .left_cost = of->cost,
                                     .started = true};
    else
        at->number++;
    if (at->left_qty == 0)
        return false;
    if (at->part) {
        const struct books_part *part = &parts->parts[at->part - 1];
        at->qty = part->qty;
        at->cost = part->cost;
        at->part = part->next;
    } else {
        at->qty = at->left_qty;
        at->cost = at->left_cost;
    }
    at->left_qty -= at->qty;
    at->left_cost -= at->cost;
    return true;
}

void db_books_parts_finish(struct books_parts *parts)
{
    free(parts->lots);
    free(parts->parts);
    *parts = (struct books_parts){0};
}
