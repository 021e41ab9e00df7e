/* The local book: the venue's rule case by case, then random streams with losses, reconnections and late
 * snapshots against a plain array of quantities by price. */
#include "exchange/book.h"

#include <errno.h>

#include "tests/check.h"
#include "tests/random.h"

static struct book_level at(int64_t price, int64_t qty)
{
    return (struct book_level){price, qty};
}

static int diff(struct book *book, uint64_t first, uint64_t last, struct book_level bid,
                struct book_level ask)
{
    return book_diff(book, first, last, &bid, bid.price != 0, &ask, ask.price != 0);
}

static int snapshot(struct book *book, uint64_t id)
{
    struct book_level bids[] = {at(100, 5), at(99, 6)}, asks[] = {at(101, 7), at(103, 8)};
    return book_snapshot(book, id, bids, 2, asks, 2);
}

static const struct book_level none;

static void check_best(const struct book *book, struct book_level bid, struct book_level ask)
{
    CHECK_INT(book_bid(book, 0)->price, bid.price);
    CHECK_INT(book_bid(book, 0)->qty, bid.qty);
    CHECK_INT(book_ask(book, 0)->price, ask.price);
    CHECK_INT(book_ask(book, 0)->qty, ask.qty);
    CHECK(book_valid(book));
}

static void test_rule(void)
{
    struct book book;
    book_init(&book);
    CHECK_INT(book.state, BOOK_EMPTY);
    CHECK(!book_bid(&book, 0) && !book_ask(&book, 0) && book_valid(&book));
    CHECK_INT(diff(&book, 11, 12, at(100, 1), none), BOOK_NEED_SNAPSHOT);
    CHECK_INT(diff(&book, 13, 14, none, at(101, 9)), BOOK_BUFFERED);
    CHECK_INT(diff(&book, 15, 17, at(98, 3), at(103, 0)), BOOK_BUFFERED);
    CHECK_INT(snapshot(&book, 9), BOOK_NEED_SNAPSHOT); /* U 11 > 9 + 1 */
    CHECK_INT(book.state, BOOK_SYNCING);
    CHECK_INT(snapshot(&book, 14), BOOK_APPLIED); /* drops u <= 14 */
    CHECK_INT(book.state, BOOK_SYNCED);
    CHECK_INT(book.last_id, 17);
    check_best(&book, at(100, 5), at(101, 7));
    CHECK_INT(book_bid(&book, 1)->price, 99);
    CHECK_INT(book_bid(&book, 2)->price, 98);
    CHECK(!book_bid(&book, 3) && !book_ask(&book, 1));
    CHECK_INT(snapshot(&book, 20), BOOK_IGNORED);

    CHECK_INT(diff(&book, 16, 17, at(100, 77), none), BOOK_IGNORED);
    CHECK_INT(diff(&book, 17, 18, at(100, 0), at(102, 4)), BOOK_APPLIED); /* overlaps */
    check_best(&book, at(99, 6), at(101, 7));
    CHECK_INT(diff(&book, 19, 19, at(500, 0), at(500, 0)), BOOK_APPLIED); /* deletes what is not there */
    CHECK_INT(diff(&book, 21, 22, at(100, 1), none), BOOK_NEED_SNAPSHOT); /* 20 is missing */
    CHECK_INT(book.gaps, 1);
    CHECK_INT(book.resyncs, 1);
    CHECK(!book_bid(&book, 0) && !book_ask(&book, 0));
    CHECK_INT(diff(&book, 23, 23, at(97, 2), none), BOOK_BUFFERED);
    CHECK_INT(snapshot(&book, 20), BOOK_APPLIED);
    check_best(&book, at(100, 1), at(101, 7));
    book_reset(&book);
    CHECK_INT(book.state, BOOK_EMPTY);
    CHECK_INT(diff(&book, 30, 30, none, none), BOOK_NEED_SNAPSHOT);
    book_finish(&book);
}

static void test_gap_in_the_buffer(void)
{
    struct book book;
    book_init(&book);
    CHECK_INT(diff(&book, 11, 12, at(90, 1), none), BOOK_NEED_SNAPSHOT);
    CHECK_INT(diff(&book, 20, 21, at(91, 1), none),
              BOOK_BUFFERED); /* 13..19 are lost: only this counts now */
    CHECK_INT(snapshot(&book, 15), BOOK_NEED_SNAPSHOT);
    CHECK_INT(snapshot(&book, 19), BOOK_APPLIED);
    CHECK_INT(book.last_id, 21);
    CHECK_INT(book_bid(&book, 2)->price, 91);
    CHECK(!book_bid(&book, 3));
    book_finish(&book);
}

/* A snapshot from the stream's future: the book waits until the stream has reached it. */
static void test_ahead(void)
{
    struct book book;
    book_init(&book);
    CHECK_INT(diff(&book, 11, 12, at(100, 1), none), BOOK_NEED_SNAPSHOT);
    CHECK_INT(snapshot(&book, 20), BOOK_APPLIED);
    CHECK_INT(book.state, BOOK_SYNCING);
    CHECK_INT(snapshot(&book, 21), BOOK_IGNORED);
    CHECK_INT(diff(&book, 13, 19, at(100, 2), none), BOOK_IGNORED);
    CHECK_INT(book.state, BOOK_SYNCING);
    CHECK_INT(diff(&book, 20, 20, at(100, 3), none), BOOK_IGNORED);
    CHECK_INT(book.state, BOOK_SYNCED);
    check_best(&book, at(100, 5), at(101, 7));

    book_reset(&book);
    diff(&book, 11, 12, at(100, 1), none);
    snapshot(&book, 20);
    CHECK_INT(diff(&book, 18, 23, at(100, 3), none), BOOK_APPLIED);
    CHECK_INT(book.state, BOOK_SYNCED);
    check_best(&book, at(100, 3), at(101, 7));

    book_reset(&book);
    diff(&book, 11, 12, at(100, 1), none);
    snapshot(&book, 20);
    CHECK_INT(diff(&book, 22, 23, at(100, 3), none), BOOK_NEED_SNAPSHOT);
    CHECK_INT(book.state, BOOK_SYNCING);
    CHECK(!book.ahead);

    /* Before any difference, a snapshot is taken as it is. */
    book_reset(&book);
    CHECK_INT(snapshot(&book, 20), BOOK_APPLIED);
    CHECK_INT(book.state, BOOK_SYNCED);
    book_finish(&book);
}

/* A snapshot that cannot be right is refused, and another one is asked for. */
static void test_refused_snapshots(void)
{
    struct book_level good_bids[] = {at(100, 1), at(99, 1)}, good_asks[] = {at(101, 1), at(102, 1)};
    struct book_level unsorted[] = {at(100, 1), at(100, 2)}, rising[] = {at(100, 1), at(101, 1)};
    struct book_level empty[] = {at(100, 0)}, negative[] = {at(100, -1)},
                      falling[] = {at(103, 1), at(102, 1)};
    struct book_level crossing[] = {at(100, 1)};
    struct {
        const struct book_level *bids, *asks;
        uint32_t n_bids, n_asks;
    } bad[] = {{unsorted, good_asks, 2, 2}, {rising, good_asks, 2, 2},  {empty, good_asks, 1, 2},
               {negative, good_asks, 1, 2}, {good_bids, falling, 2, 2}, {good_bids, crossing, 2, 1}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct book book;
        book_init(&book);
        CHECK_INT(diff(&book, 11, 12, at(98, 1), none), BOOK_NEED_SNAPSHOT);
        CHECK_INT(book_snapshot(&book, 12, bad[i].bids, bad[i].n_bids, bad[i].asks, bad[i].n_asks), -EINVAL);
        CHECK(!book_bid(&book, 0) && !book_ask(&book, 0));
        CHECK_INT(diff(&book, 13, 14, at(98, 1), none), BOOK_NEED_SNAPSHOT);
        CHECK_INT(book_snapshot(&book, 13, good_bids, 2, good_asks, 2), BOOK_APPLIED);
        CHECK_INT(book.state, BOOK_SYNCED);
        book_finish(&book);
    }
}

/* A book whose sides meet has lost something, though every number is there: it begins again. */
static void test_crossed(void)
{
    struct book book;
    book_init(&book);
    CHECK_INT(diff(&book, 11, 12, none, none), BOOK_NEED_SNAPSHOT);
    CHECK_INT(snapshot(&book, 12), BOOK_APPLIED);
    CHECK_INT(diff(&book, 13, 14, at(101, 1), none), BOOK_NEED_SNAPSHOT); /* at the best ask */
    CHECK_INT(book.crossed, 1);
    CHECK_INT(book.resyncs, 1);
    CHECK_INT(book.gaps, 0);
    CHECK_INT(book.state, BOOK_SYNCING);
    CHECK(!book_bid(&book, 0) && !book_ask(&book, 0));
    CHECK_INT(diff(&book, 15, 16, none, at(104, 1)), BOOK_BUFFERED);
    CHECK_INT(snapshot(&book, 13), BOOK_NEED_SNAPSHOT); /* which does not know of 14 either */
    CHECK_INT(book.crossed, 2);
    CHECK_INT(book.state, BOOK_SYNCING);
    CHECK(!book_bid(&book, 0) && !book_ask(&book, 0));
    CHECK_INT(diff(&book, 17, 17, at(99, 0), none), BOOK_BUFFERED);
    CHECK_INT(snapshot(&book, 14), BOOK_APPLIED);
    CHECK_INT(book.state, BOOK_SYNCED);
    CHECK_INT(book.last_id, 17);
    check_best(&book, at(100, 5), at(101, 7));
    CHECK_INT(book_ask(&book, 2)->price, 104);
    CHECK(!book_bid(&book, 1));
    /* Both sides may move through each other within one difference. */
    CHECK_INT(diff(&book, 18, 18, at(102, 1), at(101, 0)), BOOK_APPLIED);
    check_best(&book, at(102, 1), at(103, 8));
    CHECK_INT(diff(&book, 19, 19, at(101, 1), at(90, 1)), BOOK_NEED_SNAPSHOT);
    CHECK_INT(book.crossed, 3);
    book_finish(&book);
}

/* The whole book within the stream, numbered or not. */
static void test_replace(void)
{
    struct book_level bids[] = {at(99, 6), at(100, 5), at(98, 0)}, asks[] = {at(101, 7), at(103, 8)};
    struct book_level negative = at(99, -1), high = at(101, 1);
    struct book book;
    book_init(&book);
    CHECK_INT(book_replace(&book, 0, bids, 3, asks, 2), BOOK_APPLIED);
    CHECK_INT(book.state, BOOK_SYNCED);
    check_best(&book, at(100, 5), at(101, 7));
    CHECK_INT(book_bid(&book, 1)->price, 99);
    CHECK(!book_bid(&book, 2));
    CHECK_INT(diff(&book, 57, 57, at(100, 0), at(102, 1)), BOOK_APPLIED); /* 0: any number follows */
    CHECK_INT(diff(&book, 58, 58, at(99, 4), none), BOOK_APPLIED);
    check_best(&book, at(99, 4), at(101, 7));
    CHECK_INT(diff(&book, 60, 60, at(99, 4), none), BOOK_NEED_SNAPSHOT);
    CHECK_INT(book.gaps, 1);
    CHECK_INT(book_replace(&book, 70, bids + 1, 1, asks, 1), BOOK_APPLIED); /* what was buffered is gone */
    check_best(&book, at(100, 5), at(101, 7));
    CHECK(!book_bid(&book, 1) && !book_ask(&book, 1));
    CHECK_INT(diff(&book, 70, 70, at(99, 4), none), BOOK_IGNORED);
    CHECK_INT(diff(&book, 71, 71, at(99, 4), none), BOOK_APPLIED);
    CHECK_INT(diff(&book, 73, 73, at(99, 4), none), BOOK_NEED_SNAPSHOT);

    CHECK_INT(book_replace(&book, 0, &high, 1, asks, 2), BOOK_NEED_SNAPSHOT);
    CHECK_INT(book.crossed, 1);
    CHECK_INT(book.state, BOOK_SYNCING);
    CHECK_INT(diff(&book, 80, 80, at(99, 4), none), BOOK_BUFFERED);
    CHECK_INT(snapshot(&book, 0), BOOK_APPLIED); /* it is not numbered: the buffered one comes after it */
    check_best(&book, at(100, 5), at(101, 7));
    CHECK_INT(book_bid(&book, 1)->qty, 4);
    CHECK_INT(book.last_id, 80);
    CHECK_INT(book_replace(&book, 0, &negative, 1, asks, 2), -EINVAL);
    CHECK_INT(book.state, BOOK_EMPTY);
    CHECK_INT(book_replace(&book, 0, NULL, 0, NULL, 0), BOOK_APPLIED);
    CHECK(!book_bid(&book, 0) && book.state == BOOK_SYNCED);
    book_finish(&book);
}

static void test_bounds(void)
{
    enum { N = BOOK_LEVELS_MAX + 1 };
    struct book_level *levels = calloc(N, sizeof *levels);
    struct book book;
    book_init(&book);
    for (int i = 0; i < N; i++)
        levels[i] = at(2 * N - i, 1);
    CHECK_INT(book_snapshot(&book, 1, levels, N, NULL, 0), -E2BIG);
    CHECK_INT(book.state, BOOK_EMPTY);
    CHECK_INT(book_snapshot(&book, 1, levels, N - 1, NULL, 0), BOOK_APPLIED);
    CHECK_INT(diff(&book, 2, 2, at(5, 1), none), -E2BIG);
    CHECK_INT(book.state, BOOK_EMPTY);
    CHECK_INT(diff(&book, 3, 3, at(5, 1), none), BOOK_NEED_SNAPSHOT);

    /* A stream that never gets its snapshot does not fill the memory. */
    int r = BOOK_BUFFERED;
    uint64_t id = 4;
    uint64_t most = BOOK_BUFFER_MAX / 10000 + 4;
    for (; id < 2 * most && r >= 0; id++)
        r = book_diff(&book, id, id, levels, 10000, NULL, 0);
    CHECK_INT(r, -E2BIG);
    CHECK(id <= most + 2);
    CHECK_INT(book.state, BOOK_EMPTY);
    book_finish(&book);
    free(levels);
}

enum { PRICES = 200, HISTORY = 4000 };

struct venue {
    int64_t bids[PRICES], asks[PRICES]; /* quantity by price */
    uint64_t id;
    int64_t middle;
};

struct message {
    uint64_t first, last;
    struct book_level bids[8], asks[8];
    uint32_t n_bids, n_asks;
};

/* The venue trades and quotes a little, and sends messages of it. Bids stay below the middle, asks above. */
static struct message venue_step(struct venue *venue, struct random *random)
{
    struct message message = {.first = venue->id + 1};
    int64_t before = venue->middle;
    venue->middle += random_between(random, -1, 1);
    if (venue->middle < 20 || venue->middle > PRICES - 20)
        venue->middle = before;
    venue->bids[venue->middle] = venue->asks[venue->middle] = 0;
    message.bids[message.n_bids++] = message.asks[message.n_asks++] = at(venue->middle, 0);
    if (before != venue->middle) { /* what the middle passed over is gone */
        message.bids[message.n_bids++] = message.asks[message.n_asks++] = at(before, 0);
        venue->bids[before] = venue->asks[before] = 0;
    }
    for (int i = (int)random_between(random, 0, 5); i > 0; i--) {
        bool bid = random_chance(random, 50);
        int64_t away = random_between(random, 1, random_chance(random, 80) ? 4 : 19);
        int64_t price = bid ? venue->middle - away : venue->middle + away;
        int64_t qty = random_chance(random, 40) ? 0 : random_between(random, 1, 1000);
        (bid ? venue->bids : venue->asks)[price] = qty;
        if (bid)
            message.bids[message.n_bids++] = at(price, qty);
        else
            message.asks[message.n_asks++] = at(price, qty);
    }
    venue->id += (uint64_t)random_between(random, 1, 5);
    message.last = venue->id;
    return message;
}

static int take_snapshot(struct book *book, const struct venue *venue)
{
    struct book_level bids[PRICES], asks[PRICES];
    uint32_t n_bids = 0, n_asks = 0;
    for (int price = PRICES - 1; price >= 0; price--)
        if (venue->bids[price])
            bids[n_bids++] = at(price, venue->bids[price]);
    for (int price = 0; price < PRICES; price++)
        if (venue->asks[price])
            asks[n_asks++] = at(price, venue->asks[price]);
    return book_snapshot(book, venue->id, bids, n_bids, asks, n_asks);
}

static bool same(const struct book *book, const struct venue *venue)
{
    uint32_t i = 0;
    for (int price = PRICES - 1; price >= 0; price--)
        if (venue->bids[price]) {
            const struct book_level *level = book_bid(book, i++);
            if (!level || level->price != price || level->qty != venue->bids[price])
                return false;
        }
    if (book_bid(book, i))
        return false;
    i = 0;
    for (int price = 0; price < PRICES; price++)
        if (venue->asks[price]) {
            const struct book_level *level = book_ask(book, i++);
            if (!level || level->price != price || level->qty != venue->asks[price])
                return false;
        }
    return !book_ask(book, i) && book_valid(book);
}

/* Whatever is lost, doubled or late: a synced book that has the stream's last id is the venue's. */
static void test_at_random(void)
{
    struct random random = random_seeded("exchange/book", 50093239189);
    struct venue *history = malloc(HISTORY * sizeof *history);
    struct message *messages = malloc(HISTORY * sizeof *messages);
    uint64_t compared = 0, asked = 0, resyncs = 0;
    for (int round = 0; round < 20; round++) {
        struct venue venue = {.middle = PRICES / 2, .id = 1000};
        for (int i = 0; i < HISTORY; i++) {
            messages[i] = venue_step(&venue, &random);
            history[i] = venue;
        }
        struct book book;
        book_init(&book);
        int due = -1;
        for (int i = 0; i < HISTORY; i++) {
            const struct message *m = &messages[i];
            if (round % 4 && random_chance(&random, 1)) /* lost */
                continue;
            if (round % 4 && i > 5 && random_chance(&random, 1)) /* an old one again, and this one lost */
                m -= random_between(&random, 1, 5);
            int r = book_diff(&book, m->first, m->last, m->bids, m->n_bids, m->asks, m->n_asks);
            CHECK(r >= 0);
            if (r == BOOK_NEED_SNAPSHOT) {
                due = i + (int)random_between(&random, 0, 12);
                asked++;
            }
            if (i == due) { /* it may be older than what was buffered, or ahead of what was seen */
                int64_t shown = i + random_between(&random, -15, 6);
                shown = shown < 0 ? 0 : shown >= HISTORY ? HISTORY - 1 : shown;
                r = take_snapshot(&book, &history[shown]);
                CHECK(r == BOOK_APPLIED || r == BOOK_NEED_SNAPSHOT);
                if (r == BOOK_NEED_SNAPSHOT)
                    due = i + 3;
            }
            if (book.state == BOOK_SYNCED && book.last_id == history[i].id) {
                CHECK(same(&book, &history[i]));
                compared++;
            }
            CHECK(book.state != BOOK_SYNCED || (book.last_id <= history[i].id && book_valid(&book)));
            if (random_between(&random, 0, 999) == 0)
                book_reset(&book); /* a reconnection */
        }
        resyncs += book.resyncs;
        book_finish(&book);
    }
    printf("exchange/book: %ju books compared, %ju snapshots, %ju resyncs\n", (uintmax_t)compared,
           (uintmax_t)asked, (uintmax_t)resyncs);
    CHECK(compared > 30000 && asked > 100 && resyncs > 100);
    free(messages);
    free(history);
}

int main(void)
{
    test_rule();
    test_gap_in_the_buffer();
    test_ahead();
    test_refused_snapshots();
    test_crossed();
    test_replace();
    test_bounds();
    test_at_random();
    return check_done("exchange/book");
}
