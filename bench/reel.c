#include "bench/reel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/event.h"
#include "exchange/binance/format.h"
#include "exchange/binance/rest_parse.h"

_Noreturn static void die(const char *what, int r)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(-r));
    exit(EXIT_FAILURE);
}

void reel_put(struct reel *reel, const struct event *event)
{
    if (reel->n == reel->cap) {
        reel->cap = reel->cap ? 2 * reel->cap : 4096;
        reel->events = realloc(reel->events, reel->cap * sizeof *reel->events);
        if (!reel->events)
            die("events", -ENOMEM);
    }
    struct event *to = &reel->events[reel->n++];
    *to = *event;
    to->seq = reel->n;
}

static const struct book_level *keep(const struct book_level *levels, uint32_t n)
{
    struct book_level *kept = malloc((n + 1) * sizeof *kept);
    if (!kept)
        die("levels", -ENOMEM);
    memcpy(kept, levels, n * sizeof *kept);
    return kept;
}

static void read_snapshot(const struct frames *frames, size_t i, struct event_snapshot *ret)
{
    static struct book_level bids[FRAMES_LEVELS_MAX], asks[FRAMES_LEVELS_MAX];
    *ret = (struct event_snapshot){0};
    int r = binance_parse_depth(frames->text + frames->list[i].offset, frames->list[i].len, &frames_symbol,
                                bids, &ret->n_bids, asks, &ret->n_asks, FRAMES_LEVELS_MAX, &ret->last_id);
    if (r < 0)
        die("snapshot", r);
    ret->bids = keep(bids, ret->n_bids);
    ret->asks = keep(asks, ret->n_asks);
}

void reel_read(const char *path, struct reel *reel)
{
    struct frames frames;
    struct venue_parser *parser;
    struct event event = {.recv_ns = REEL_START_NS};
    frames_read(path, &frames);
    int r = binance_parser_create(&frames_symbol, 1, &parser);
    for (size_t i = 0; i < frames.n && r >= 0; i++) {
        if (frames.list[i].snapshot) {
            event.kind = EVENT_SNAPSHOT;
            read_snapshot(&frames, i, &event.snapshot);
        } else {
            event.kind = EVENT_MARKET;
            r = binance_parse(parser, frames.text + frames.list[i].offset, frames.list[i].len, &event.market);
            if (r != 0)
                continue;
            if (event.market.event_ns > event.recv_ns)
                event.recv_ns = event.market.event_ns;
            if (event.market.kind == MARKET_DEPTH) {
                event.market.depth.bids = keep(event.market.depth.bids, event.market.depth.n_bids);
                event.market.depth.asks = keep(event.market.depth.asks, event.market.depth.n_asks);
            }
        }
        reel_put(reel, &event);
    }
    if (r < 0)
        die(path, r);
    binance_parser_destroy(parser);
    frames_finish(&frames);
}

void reel_finish(struct reel *reel)
{
    free(reel->events);
    *reel = (struct reel){0};
}
