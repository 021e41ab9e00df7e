/* A local order book, kept by the venue's rule: buffer differences, take a REST snapshot, drop what it
 * already holds, apply the rest in order, and start again at a gap, or when it stands crossed: a best bid at
 * or above the best ask means that something was lost, whatever the numbers say.
 *
 * Each side is a sorted array with the best price last, so that the levels that change most move least. */
#ifndef EXCHANGE_BOOK_H
#define EXCHANGE_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct book_level {
    int64_t price, qty;
};

enum book_state {
    BOOK_EMPTY,   /* nothing seen yet */
    BOOK_SYNCING, /* differences are buffered, a snapshot is needed */
    BOOK_SYNCED,
};

enum {
    BOOK_LEVELS_MAX = 65536,   /* a side; more than a venue really sends */
    BOOK_BUFFER_MAX = 1 << 20, /* buffered levels while waiting for a snapshot */
};

struct book_side {
    struct book_level *levels; /* worst first, best last */
    uint32_t n, cap;
};

/* A difference that waits for the snapshot. */
struct book_pending {
    uint64_t first_id, last_id;
    uint32_t n_bids, n_asks; /* their levels stand in pending_levels one after another */
};

struct book {
    struct book_side bids, asks;
    uint64_t last_id; /* of the last difference or snapshot applied; 0: it had none, any difference follows */
    enum book_state state;
    bool ahead; /* a snapshot is loaded that the stream has not reached yet; syncing until it has */
    uint64_t gaps, resyncs; /* numbers that were missed; times that a book was given up */
    uint64_t crossed;       /* of the resyncs, those of a book that stood crossed; and quotes that did */

    /* While syncing: differences in order of arrival. */
    struct book_pending *pending;
    uint32_t n_pending, cap_pending;
    struct book_level *pending_levels;
    uint32_t n_pending_levels, cap_pending_levels;
};

enum book_result {
    BOOK_APPLIED,
    BOOK_BUFFERED,
    BOOK_IGNORED,       /* older than the book */
    BOOK_NEED_SNAPSHOT, /* first difference, a gap, a crossed book, or a snapshot too old: ask for one (again)
                         */
};

void book_init(struct book *book);
void book_finish(struct book *book);

/* Forgets everything, as after a reconnection. */
void book_reset(struct book *book);

/* Makes room for so many levels and differences, for a book that is restored: the caller fills the arrays
 * and sets the counts. 0; -E2BIG beyond the bounds; -ENOMEM. */
int book_reserve(struct book *book, uint32_t n_bids, uint32_t n_asks, uint32_t n_pending,
                 uint32_t n_pending_levels);

/* Applies or buffers one difference. Returns a book_result; -ENOMEM; -E2BIG when a bound is passed (the
 * book is then reset). BOOK_NEED_SNAPSHOT is returned once, not for each buffered difference. */
int book_diff(struct book *book, uint64_t first_id, uint64_t last_id, const struct book_level *bids,
              uint32_t n_bids, const struct book_level *asks, uint32_t n_asks);

/* Takes a REST snapshot; bids best first, asks best first, as the venue sends them; last_id 0 from a venue
 * that numbers nothing: all that was buffered is applied to it. Returns BOOK_APPLIED when it was taken (the
 * book is synced, or will be as soon as the stream reaches the snapshot, so that the book never runs ahead of
 * the trades); BOOK_IGNORED when the book was synced already; BOOK_NEED_SNAPSHOT when it is older than the
 * buffered differences, or the book stood crossed with them; -EINVAL for a snapshot that is unsorted or
 * crossed; -ENOMEM; -E2BIG. After an error the book is reset: the next difference asks for another snapshot.
 */
int book_snapshot(struct book *book, uint64_t last_id, const struct book_level *bids, uint32_t n_bids,
                  const struct book_level *asks, uint32_t n_asks);

/* Takes the whole book from within the stream (MARKET_BOOK): it replaces what was known, buffered differences
 * too, whatever the state. In any order; levels of quantity 0 are none; last_id 0 where the venue counts
 * nothing. Returns BOOK_APPLIED, the book is synced; BOOK_NEED_SNAPSHOT when it stands crossed; -EINVAL for a
 * negative quantity; -ENOMEM; -E2BIG. After those the book is reset. */
int book_replace(struct book *book, uint64_t last_id, const struct book_level *bids, uint32_t n_bids,
                 const struct book_level *asks, uint32_t n_asks);

/* The i-th best level of a side, or NULL. */
const struct book_level *book_bid(const struct book *book, uint32_t i);
const struct book_level *book_ask(const struct book *book, uint32_t i);

/* The quantity that a side shows at a price: 0 where nothing stands, -1 beyond the worst level that is known.
 */
int64_t book_shown(const struct book *book, bool bids, int64_t price);

/* Memory that it has allocated, without itself. */
size_t book_bytes(const struct book *book);

/* bid < ask, sides sorted strictly, no empty level. */
bool book_valid(const struct book *book);

#endif
