/* Ways to keep an order book, measured on the differences of a recording: book_layouts FILE. bench/book runs
 * it.
 *
 * FILE is a recording (../shared/data/README.md). On standard output a line a figure: case, value and unit
 * between tabs. Each layout of bench/book_layout.h takes every difference behind the snapshot; in the end all
 * must hold the same levels, or nothing is printed. Then they are timed, in processor time:
 * - NAME: one book, nanoseconds a level that changes, median of ROUNDS rounds
 * - NAME_500: 500 books in turn, each at a difference of its own: neither their levels nor the branches of
 * the one before are near
 * - NAME_bytes: of the heap, at the end, both sides
 * The book of exchange/book.h is measured the same way, as `book`: book_diff() with its checks.
 *
 * Predicted for btcusdt_2024-08-08, whose differences have 36 levels, four fifths of them inserted or
 * deleted, 250 levels from the best on average (a tenth over 700), in sides of 1,000 to 2,200 levels; and
 * found:
 * - pairs: a search of 9 steps, half of them guessed wrong at 4 ns, 18 ns; 4 kB moved at 60 B/ns for four
 * fifths, 52 ns: 70 ns a level. Found 57: what is moved is in the cache
 * - columns: the same bytes in two moves, searched in half as many lines: 70 ns. Found 61
 * - blocks of 32: a directory of 40 to 90 blocks from the best on, 6 steps, 3 ns; 5 steps within, 8 ns; a
 * quarter of a kilobyte moved, 8 ns: 20 ns. Found 33 to 38 for all sizes: it is not the bytes, but four or
 * five branches that cannot be predicted (where the search ends, insert, delete or neither, how much to move)
 * - graves: what is deleted is soon inserted again, at the same price or beside it: 25 ns. Found 34, for the
 * same reason
 * - merged: so all of a difference's searches advance in step, without such branches, and what lies between
 * two changes moves once: 11 steps of 1 ns and 10 ns for the moves, 21 ns. Found 28
 * - 500 books, 35 MB: found 1.2 to 1.5 times as much, merged and graves 40, blocks 41 to 51, pairs 55 to 70.
 * So the book is the merged one. It is also the smallest, and its levels lie in order, which the state of the
 * engine, the dashboard and the walk of an order through the book read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/book_layout.h"
#include "bench/frames.h"
#include "exchange/binance/format.h"
#include "exchange/binance/rest_parse.h"

enum { ROUNDS = 9, MANY = 500, MANY_STEPS = 1000, LEVELS_MAX = 65536 };

static const struct book_layout *const layouts[] = {&layout_pairs,     &layout_columns,  &layout_merged,
                                                    &layout_blocks16,  &layout_blocks32, &layout_blocks64,
                                                    &layout_blocks128, &layout_graves};

/* The differences of a recording, and the snapshot before them. For layouts prices ascend towards the best:
 * those of asks are negative. */
struct difference {
    uint64_t first_id, last_id;
    size_t bids, asks; /* where they begin */
    uint32_t n_bids, n_asks;
};
struct tape {
    struct difference *list;
    size_t n, n_levels;
    struct book_level *levels, *turned; /* as the venue has them; and for layouts */
    struct book_level bids[FRAMES_LEVELS_MAX], asks[FRAMES_LEVELS_MAX];         /* the snapshot: best first */
    struct book_level low_bids[FRAMES_LEVELS_MAX], low_asks[FRAMES_LEVELS_MAX]; /* worst first, for layouts */
    uint32_t n_bids, n_asks;
    uint64_t last_id;
};

static struct tape tape;

_Noreturn static void die(const char *what)
{
    fprintf(stderr, "book_layouts: %s\n", what);
    exit(EXIT_FAILURE);
}

void *book_layout_room(void *p, size_t n, size_t size)
{
    void *room = p ? realloc(p, n * size) : calloc(n, size);
    if (!room)
        die("out of memory");
    return room;
}

static size_t keep_levels(const struct book_level *levels, uint32_t n, int sign)
{
    static size_t cap;
    if (tape.n_levels + n > cap) {
        cap = 2 * (tape.n_levels + n);
        tape.levels = book_layout_room(tape.levels, cap, sizeof *tape.levels);
        tape.turned = book_layout_room(tape.turned, cap, sizeof *tape.turned);
    }
    size_t at = tape.n_levels;
    for (uint32_t i = 0; i < n; i++) {
        tape.levels[at + i] = levels[i];
        tape.turned[at + i] = (struct book_level){sign * levels[i].price, levels[i].qty};
    }
    tape.n_levels += n;
    return at;
}

static void keep(const struct market_depth *depth)
{
    tape.list = book_layout_room(tape.list, tape.n + 1, sizeof *tape.list);
    struct difference *difference = &tape.list[tape.n++];
    *difference = (struct difference){.first_id = depth->first_id,
                                      .last_id = depth->last_id,
                                      .n_bids = depth->n_bids,
                                      .n_asks = depth->n_asks};
    difference->bids = keep_levels(depth->bids, depth->n_bids, 1);
    difference->asks = keep_levels(depth->asks, depth->n_asks, -1);
}

/* The snapshot first: differences before it in the recording may reach beyond it. */
static void read_snapshot(const struct frames *frames)
{
    for (size_t i = 0; i < frames->n && tape.last_id == 0; i++)
        if (frames->list[i].snapshot &&
            binance_parse_depth(frames->text + frames->list[i].offset, frames->list[i].len, &frames_symbol,
                                tape.bids, &tape.n_bids, tape.asks, &tape.n_asks, FRAMES_LEVELS_MAX,
                                &tape.last_id) < 0)
            die("the snapshot is malformed");
}

static void read_tape(const char *path)
{
    struct symbol symbols[] = {frames_symbol, frames_symbol};
    struct frames frames;
    struct venue_parser *parser;
    strcpy(symbols[1].name, "ETHUSDT");
    frames_read(path, &frames);
    if (binance_parser_create(symbols, 2, &parser) < 0)
        die("out of memory");
    read_snapshot(&frames);
    for (size_t i = 0; i < frames.n && tape.last_id != 0; i++) {
        struct market_event event;
        if (!frames.list[i].snapshot &&
            binance_parse(parser, frames.text + frames.list[i].offset, frames.list[i].len, &event) == 0 &&
            event.kind == MARKET_DEPTH && event.depth.last_id > tape.last_id)
            keep(&event.depth);
    }
    if (tape.n == 0)
        die("the recording has no difference behind its snapshot");
    for (uint32_t i = 0; i < tape.n_bids; i++)
        tape.low_bids[tape.n_bids - 1 - i] = tape.bids[i];
    for (uint32_t i = 0; i < tape.n_asks; i++)
        tape.low_asks[tape.n_asks - 1 - i] = (struct book_level){-tape.asks[i].price, tape.asks[i].qty};
    binance_parser_destroy(parser);
    frames_finish(&frames);
}

/* A book of some layout, or of exchange/book.h where it is NULL. */
struct any {
    const struct book_layout *layout;
    void *bids, *asks;
    struct book book;
};

static void load(struct any *any, const struct book_layout *layout)
{
    *any = (struct any){.layout = layout};
    if (!layout) {
        book_init(&any->book);
        if (book_snapshot(&any->book, tape.last_id, tape.bids, tape.n_bids, tape.asks, tape.n_asks) !=
            BOOK_APPLIED)
            die("the snapshot is refused");
        return;
    }
    any->bids = layout->create();
    any->asks = layout->create();
    layout->load(any->bids, tape.low_bids, tape.n_bids);
    layout->load(any->asks, tape.low_asks, tape.n_asks);
}

static void finish(struct any *any)
{
    if (any->layout) {
        any->layout->destroy(any->bids);
        any->layout->destroy(any->asks);
    }
    book_finish(&any->book);
}

static void apply(struct any *any, const struct difference *d)
{
    if (any->layout) {
        any->layout->apply(any->bids, tape.turned + d->bids, d->n_bids);
        any->layout->apply(any->asks, tape.turned + d->asks, d->n_asks);
    } else if (book_diff(&any->book, d->first_id, d->last_id, tape.levels + d->bids, d->n_bids,
                         tape.levels + d->asks, d->n_asks) != BOOK_APPLIED) {
        die("a difference is not applied: the recording has a gap");
    }
}

/* Best first. */
static uint32_t read_side(const struct any *any, bool bids, struct book_level *ret)
{
    if (any->layout) {
        uint32_t n = any->layout->read(bids ? any->bids : any->asks, ret, LEVELS_MAX);
        for (uint32_t i = 0; i < n && !bids; i++)
            ret[i].price = -ret[i].price;
        return n;
    }
    const struct book_level *level;
    uint32_t n = 0;
    for (; (level = bids ? book_bid(&any->book, n) : book_ask(&any->book, n)) != NULL; n++)
        ret[n] = *level;
    return n;
}

static void check_same(const struct any *a, const struct any *b, const char *name)
{
    static struct book_level ours[LEVELS_MAX], theirs[LEVELS_MAX];
    for (int bids = 0; bids < 2; bids++) {
        uint32_t n = read_side(a, bids, ours), m = read_side(b, bids, theirs);
        if (n != m || memcmp(ours, theirs, n * sizeof *ours) != 0) {
            fprintf(stderr, "book_layouts: %s holds %u %s, not the same %u levels\n", name, m,
                    bids ? "bids" : "asks", n);
            exit(EXIT_FAILURE);
        }
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double time_one(const struct book_layout *layout)
{
    double ns[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        struct any any;
        load(&any, layout);
        int64_t begin = frames_cpu_ns();
        for (size_t i = 0; i < tape.n; i++)
            apply(&any, &tape.list[i]);
        ns[round] = (double)(frames_cpu_ns() - begin) / (double)tape.n_levels;
        finish(&any);
    }
    qsort(ns, ROUNDS, sizeof *ns, by_value);
    return ns[ROUNDS / 2];
}

/* Each book is one difference further than the next, so that no branch is learnt from the book before. */
static double time_many(const struct book_layout *layout)
{
    static struct any all[MANY];
    size_t levels = 0, n = tape.n < MANY_STEPS ? tape.n : MANY_STEPS;
    for (int i = 0; i < MANY; i++)
        load(&all[i], layout);
    int64_t begin = frames_cpu_ns();
    for (size_t step = 0; step < n; step++)
        for (size_t k = 0; k < MANY && k <= step; k++) {
            const struct difference *d = &tape.list[step - k];
            levels += d->n_bids + d->n_asks;
            apply(&all[k], d);
        }
    double ns = (double)(frames_cpu_ns() - begin) / (double)levels;
    for (int i = 0; i < MANY; i++)
        finish(&all[i]);
    return ns;
}

static size_t bytes_of(const struct any *any)
{
    if (any->layout)
        return any->layout->bytes(any->bids) + any->layout->bytes(any->asks);
    return book_bytes(&any->book);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: book_layouts FILE\n", stderr);
        return 2;
    }
    read_tape(argv[1]);
    enum { N = sizeof layouts / sizeof *layouts };
    struct any any[N + 1];
    for (int l = 0; l <= N; l++) {
        load(&any[l], l < N ? layouts[l] : NULL);
        for (size_t i = 0; i < tape.n; i++)
            apply(&any[l], &tape.list[i]);
        if (l > 0)
            check_same(&any[0], &any[l], l < N ? layouts[l]->name : "book");
    }
    frames_pin();
    fprintf(stderr, "%zu differences, %.1f levels each\n", tape.n, (double)tape.n_levels / (double)tape.n);
    for (int l = 0; l <= N; l++) {
        const char *name = l < N ? layouts[l]->name : "book";
        const struct book_layout *layout = l < N ? layouts[l] : NULL;
        printf("%s\t%.2f\tns/level\n", name, time_one(layout));
        printf("%s_500\t%.2f\tns/level\n", name, time_many(layout));
        printf("%s_bytes\t%zu\tB\n", name, bytes_of(&any[l]));
        fflush(stdout);
    }
    for (int l = 0; l <= N; l++)
        finish(&any[l]);
    free(tape.list);
    free(tape.levels);
    free(tape.turned);
    return EXIT_SUCCESS;
}
