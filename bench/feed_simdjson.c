/* Our pull reader against simdjson: feed_simdjson FILE. bench/feed runs it where simdjson is installed.
 *
 * Both read the same frames into the same fields with the same decimals; every frame must give equal results
 * before anything is timed. Lines to standard output: case, median, best, unit and an empty limit between
 * tabs.
 *
 * Prediction: a frame of 248 bytes is short for simdjson, whose first stage finds the structure of 64 bytes
 * at a time and whose second then jumps from one to the next: stage one 60 ns, 40 strings and numbers at 3
 * ns, the decimals as ours 130 ns: 310 ns, about as long as ours. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/frames.h"
#include "bench/simdjson_parse.h"
#include "exchange/binance/format.h"

enum { ROUNDS = 15 };

static struct simdjson_event theirs;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool same_levels(const struct simdjson_level *theirs_list, uint32_t n,
                        const struct book_level *ours_list, uint32_t n_ours)
{
    bool same = n == n_ours;
    for (uint32_t i = 0; same && i < n; i++)
        same = theirs_list[i].price == ours_list[i].price && theirs_list[i].qty == ours_list[i].qty;
    return same;
}

static bool same(const struct market_event *ours)
{
    const struct market_trade *trade = &ours->trade;
    const struct market_quote *quote = &ours->quote;
    const struct market_depth *depth = &ours->depth;
    if (theirs.event_ns != ours->event_ns)
        return false;
    switch (ours->kind) {
    case MARKET_TRADE:
        return theirs.kind == SIMDJSON_TRADE && theirs.ts_ns == trade->ts_ns && theirs.id == trade->id &&
               theirs.price == trade->price && theirs.qty == trade->qty &&
               (theirs.buyer_maker != 0) == trade->buyer_maker;
    case MARKET_QUOTE:
        return theirs.kind == SIMDJSON_QUOTE && (uint64_t)theirs.id == quote->update_id &&
               theirs.bid == quote->bid && theirs.bid_qty == quote->bid_qty && theirs.ask == quote->ask &&
               theirs.ask_qty == quote->ask_qty;
    case MARKET_DEPTH:
        return theirs.kind == SIMDJSON_DEPTH && (uint64_t)theirs.first_id == depth->first_id &&
               (uint64_t)theirs.last_id == depth->last_id &&
               same_levels(theirs.bids, theirs.n_bids, depth->bids, depth->n_bids) &&
               same_levels(theirs.asks, theirs.n_asks, depth->asks, depth->n_asks);
    default:
        return false;
    }
}

static struct venue_parser *parser;

static bool read_ours(const char *text, size_t len, struct market_event *event)
{
    return binance_parse(parser, text, len, event) == 0;
}

static bool read_theirs(const char *text, size_t len, struct market_event *event)
{
    (void)event;
    return simdjson_parse(text, len, decimal_parse, &theirs) == 0;
}

/* Keeps trades, quotes and differences of the book, once both readers have agreed on each. */
static void keep_compared(struct frames *frames)
{
    size_t n = 0;
    for (size_t i = 0; i < frames->n; i++) {
        const char *text = frames->text + frames->list[i].offset;
        size_t len = frames->list[i].len;
        struct market_event event;
        if (frames->list[i].snapshot)
            continue;
        bool read = read_ours(text, len, &event) && read_theirs(text, len, NULL);
        if (read && theirs.kind == SIMDJSON_OTHER)
            continue;
        if (!read || !same(&event)) {
            fprintf(stderr, "feed_simdjson: frame %zu: the readers differ: %.*s\n", i, (int)len, text);
            exit(EXIT_FAILURE);
        }
        frames->list[n++] = frames->list[i];
    }
    frames->n = n;
}

static void measure(const char *name, const struct frames *frames,
                    bool (*read)(const char *, size_t, struct market_event *))
{
    double rates[ROUNDS];
    struct market_event event;
    for (int round = -1; round < ROUNDS; round++) {
        size_t n = 0;
        int64_t begin_ns = frames_cpu_ns();
        for (size_t i = 0; i < frames->n; i++)
            n += read(frames->text + frames->list[i].offset, frames->list[i].len, &event);
        if (round >= 0) /* the first warms the caches */
            rates[round] = 1e9 * (double)n / (double)(frames_cpu_ns() - begin_ns);
    }
    qsort(rates, ROUNDS, sizeof *rates, by_value);
    printf("%s\t%.0f\t%.0f\tframes/s\t\n", name, rates[ROUNDS / 2], rates[ROUNDS - 1]);
}

int main(int argc, char **argv)
{
    struct frames frames;
    if (argc != 2) {
        fputs("usage: feed_simdjson FILE\n", stderr);
        return 2;
    }
    frames_read(argv[1], &frames);
    if (binance_parser_create(&frames_symbol, 1, &parser) < 0)
        return EXIT_FAILURE;
    frames_pin();
    keep_compared(&frames);
    fprintf(stderr, "feed_simdjson: simdjson uses %s\n", simdjson_implementation());
    measure("parse_pull", &frames, read_ours);
    measure("parse_simdjson", &frames, read_theirs);
    binance_parser_destroy(parser);
    frames_finish(&frames);
    return EXIT_SUCCESS;
}
