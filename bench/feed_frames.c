/* Frames a second on one core: feed_frames [--state | --synthetic | --allocations] FILE. bench/feed runs it.
 *
 * FILE is a recording (../shared/data/README.md); on standard output a line a figure: case, value, best, unit
 * and limit between tabs, the value being the median of ROUNDS rounds over the whole file, in processor time.
 * Cases:
 * - parse: binance_parse() alone
 * - book_bars: parsed and applied to the order book and to bars of a minute built from trades
 * - book_bars_indicators: the same with bars of a second; each that closes updates the indicators that the
 * daemon keeps by default, ten outputs, and each change of book or quote the book's measures, of which the
 * bars update three more
 * - engine: engine_handle() with a strategy on bars of a second, which papertape-replay's tape adds
 * - scan_bytewise: a loop that looks at one byte at a time
 *
 * The limit of all is a bare scan, vectorised by the compiler, of the same bytes: nothing can read them
 * faster. Each round must leave the same book and bars, or nothing is printed. With --state the book and the
 * bars are printed instead of figures, for bench/feed to compare with an implementation in Python; with
 * --allocations how often memory was asked for in the second half of the frames, by book_bars_indicators and
 * by engine: nothing that happens once a frame may.
 *
 * Prediction, for btcusdt_2024-08-08 (41,249 frames, 248 bytes on average) at 4 GHz:
 * - reading: 248 bytes at 1.5 cycles, 372
 * - decimals: 3.0 levels of 2, 0.68 quotes of 4 and 0.24 trades of 2, 9.2 a frame, each a chain of 13 to 15
 *   digits at 4 cycles, 500
 * - 20 keys and their dispatch at 10 cycles, 200
 * - together 1,070 cycles, 270 ns: parse, 3.7e6 frames/s
 * - book: 3.0 levels, a search of some 8 steps and now and then a move of a few hundred bytes, 30 ns each;
 *   the bar 5 ns a trade: 90 ns more, so book_bars 2.8e6 frames/s
 * - book_bars_indicators: a book measured 0.08 times a frame, 25 ns; 0.009 bars a frame at 0.5 us: 7 ns more,
 * the same rate
 * - scan: 248 bytes at 16 bytes a cycle and some waiting for the L3 cache, 6 ns, 1.6e8 frames/s */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/allocations.h"
#include "bench/frames.h"
#include "engine/engine.h"
#include "engine/event.h"
#include "engine/measure.h"
#include "exchange/binance/format.h"
#include "exchange/binance/rest_parse.h"
#include "indicators_gpu/indicators.h"
#include "strategy/strategy.h"

enum { ROUNDS = 15, BARS_MAX = 4096, SYNTHETIC_S = 300 };

#define SECOND_NS 1000000000LL

/* What is kept of one symbol without the engine. */
struct market {
    struct book book;
    struct bar_builder builder;
    struct market_quote quote;
    struct bar bars[BARS_MAX]; /* closed, whole or not */
    size_t n_bars;
};

static struct venue_parser *parser;
static struct book_level snapshot_bids[FRAMES_LEVELS_MAX], snapshot_asks[FRAMES_LEVELS_MAX];

_Noreturn static void die(const char *what, int r)
{
    fprintf(stderr, "feed_frames: %s: %s\n", what, strerror(-r));
    exit(EXIT_FAILURE);
}

static void parse_snapshot(const struct frames *frames, size_t i, struct event_snapshot *ret)
{
    *ret = (struct event_snapshot){.bids = snapshot_bids, .asks = snapshot_asks};
    int r = binance_parse_depth(frames->text + frames->list[i].offset, frames->list[i].len, &frames_symbol,
                                snapshot_bids, &ret->n_bids, snapshot_asks, &ret->n_asks, FRAMES_LEVELS_MAX,
                                &ret->last_id);
    if (r < 0)
        die("snapshot", r);
}

static void parse(const struct frames *frames, size_t i, struct market_event *ret)
{
    int r = binance_parse(parser, frames->text + frames->list[i].offset, frames->list[i].len, ret);
    if (r != 0)
        die("frame", r < 0 ? r : -ENOMSG);
}

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * 0x9e3779b97f4a7c15u;
}

static uint64_t hash_book(const struct book *book)
{
    uint64_t hash = mix(book->state, book->last_id);
    for (uint32_t i = 0; i < book->bids.n; i++)
        hash = mix(mix(hash, (uint64_t)book->bids.levels[i].price), (uint64_t)book->bids.levels[i].qty);
    for (uint32_t i = 0; i < book->asks.n; i++)
        hash = mix(mix(hash, (uint64_t)book->asks.levels[i].price), (uint64_t)book->asks.levels[i].qty);
    return hash;
}

/* --- the cases: each goes once over the frames and returns what it is left with, as a hash */

static uint64_t run_parse(const struct frames *frames)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < frames->n; i++) {
        struct market_event event;
        struct event_snapshot snapshot;
        if (frames->list[i].snapshot) {
            parse_snapshot(frames, i, &snapshot);
            hash = mix(hash, snapshot.last_id);
        } else {
            parse(frames, i, &event);
            hash = mix(hash, (uint64_t)event.kind);
        }
    }
    return hash;
}

static void apply_trade(struct market *market, const struct market_trade *trade)
{
    struct bar bar;
    enum bar_built built =
        bar_builder_trade(&market->builder, trade->ts_ns, trade->id, trade->price, trade->qty, &bar);
    if ((built == BAR_CLOSED || built == BAR_INCOMPLETE) && market->n_bars < BARS_MAX)
        market->bars[market->n_bars++] = bar;
}

static void apply(struct market *market, const struct market_event *event)
{
    const struct market_depth *depth = &event->depth;
    int r = 0;
    if (event->kind == MARKET_TRADE)
        apply_trade(market, &event->trade);
    else if (event->kind == MARKET_QUOTE)
        market->quote = event->quote;
    else if (event->kind == MARKET_DEPTH)
        r = book_diff(&market->book, depth->first_id, depth->last_id, depth->bids, depth->n_bids, depth->asks,
                      depth->n_asks);
    if (r < 0)
        die("book", r);
}

static void build_market(const struct frames *frames, struct market *market)
{
    bar_builder_init(&market->builder, 60 * SECOND_NS);
    for (size_t i = 0; i < frames->n; i++) {
        struct market_event event;
        struct event_snapshot snapshot;
        if (!frames->list[i].snapshot) {
            parse(frames, i, &event);
            apply(market, &event);
            continue;
        }
        parse_snapshot(frames, i, &snapshot);
        int r = book_snapshot(&market->book, snapshot.last_id, snapshot.bids, snapshot.n_bids, snapshot.asks,
                              snapshot.n_asks);
        if (r < 0)
            die("book", r);
    }
}

static uint64_t run_book_bars(const struct frames *frames)
{
    static struct market market;
    book_reset(&market.book);
    market.n_bars = 0;
    build_market(frames, &market);
    uint64_t hash = mix(hash_book(&market.book), market.quote.update_id);
    for (size_t i = 0; i < market.n_bars; i++)
        hash = mix(mix(hash, (uint64_t)market.bars[i].close), (uint64_t)market.bars[i].volume);
    return mix(hash, (uint64_t)market.builder.forming.volume);
}

/* What `engine` and `book_bars_indicators` asked for in the second half of the frames. */
static uint64_t asked_for;

static const char *const specs[] = {"sma:20",      "ema:14", "rsi:14", "macd:12,26,9", "atr:14",
                                    "bbands:20,2", "sma:20", "sma:20", "sma:20" /* of the measures */};
enum { SPECS = sizeof specs / sizeof *specs, PRICE_SPECS = SPECS - BOOK_MEASURES };

struct watched {
    struct indicator_stream *streams[SPECS];
    struct measure_track track;
    uint64_t bars;
    double outputs[SPECS][INDICATOR_OUTPUTS_MAX];
};

static void open_streams(struct watched *watched)
{
    *watched = (struct watched){0};
    for (int i = 0; i < SPECS; i++) {
        struct indicator_spec spec;
        char why[200];
        if (indicator_spec_parse(specs[i], &spec, why, sizeof why) < 0 ||
            indicator_stream_open(&spec, &watched->streams[i]) < 0)
            die(specs[i], -EINVAL);
    }
}

static void watch_bar(struct watched *watched, const struct bar *bar)
{
    struct measure_bar measured[BOOK_MEASURES];
    const struct indicator_bar tick = {.open = decimal_to_double(bar->open, frames_symbol.price_scale),
                                       .high = decimal_to_double(bar->high, frames_symbol.price_scale),
                                       .low = decimal_to_double(bar->low, frames_symbol.price_scale),
                                       .close = decimal_to_double(bar->close, frames_symbol.price_scale),
                                       .volume = decimal_to_double(bar->volume, frames_symbol.qty_scale),
                                       .time = (double)bar->open_ns * 1e-9};
    watched->bars++;
    for (int i = 0; i < PRICE_SPECS; i++)
        indicator_stream_update(watched->streams[i], &tick, watched->outputs[i]);
    if (!engine_measure_of(&watched->track, bar->open_ns, measured))
        return;
    for (int m = 0; m < BOOK_MEASURES; m++) {
        const struct indicator_bar of = {
            measured[m].open, measured[m].high, measured[m].low, measured[m].close, 0, tick.time};
        indicator_stream_update(watched->streams[PRICE_SPECS + m], &of, watched->outputs[PRICE_SPECS + m]);
    }
}

static uint64_t run_indicators(const struct frames *frames)
{
    static struct market market;
    static struct watched watched;
    int64_t now_ns = 0;
    book_reset(&market.book);
    bar_builder_init(&market.builder, SECOND_NS);
    open_streams(&watched);
    for (size_t i = 0; i < frames->n; i++) {
        struct market_event event = {.kind = MARKET_DEPTH};
        struct event_snapshot snapshot;
        double measures[BOOK_MEASURES];
        if (i == frames->n / 2)
            asked_for = allocations();
        market.n_bars = 0;
        if (frames->list[i].snapshot) {
            parse_snapshot(frames, i, &snapshot);
            int r = book_snapshot(&market.book, snapshot.last_id, snapshot.bids, snapshot.n_bids,
                                  snapshot.asks, snapshot.n_asks);
            if (r < 0)
                die("book", r);
        } else {
            parse(frames, i, &event);
            apply(&market, &event);
        }
        now_ns = event.event_ns > now_ns ? event.event_ns : now_ns;
        if (event.kind == MARKET_DEPTH || (event.kind == MARKET_QUOTE && market.book.state != BOOK_SYNCED))
            engine_measure_note(&watched.track, bar_open_time(now_ns, SECOND_NS),
                                book_measures(&market.book, &frames_symbol, measures) ? measures : NULL);
        for (size_t k = 0; k < market.n_bars; k++)
            watch_bar(&watched, &market.bars[k]);
    }
    asked_for = allocations() - asked_for;
    uint64_t hash = mix(hash_book(&market.book), watched.bars), bits;
    for (int i = 0; i < SPECS; i++) {
        memcpy(&bits, &watched.outputs[i][0], sizeof bits);
        hash = mix(hash, bits);
        indicator_stream_close(watched.streams[i]);
    }
    return hash;
}

static uint64_t run_engine(const struct frames *frames)
{
    struct account_spec account = {
        .name = "main",
        .currency = "USDT",
        .currency_scale = 8,
        .cash = 10000 * 100000000LL,
        .rules = {.fees = {1000, 1000},
                  .risk = {.exposure_symbol = 0.5, .exposure_account = 1, .orders_per_second = 10}},
        .strategy = strategy_find("sma-cross-rsi")};
    strategy_defaults(account.strategy, account.params);
    struct engine_config config = {.symbols = &frames_symbol,
                                   .n_symbols = 1,
                                   .accounts = &account,
                                   .n_accounts = 1,
                                   .interval_ns = SECOND_NS,
                                   .latency_ns = SECOND_NS / 20,
                                   .equity_interval_ns = 10 * SECOND_NS};
    struct engine_sink sink = {0};
    struct engine *engine;
    struct event event = {0};
    int r = engine_create(&config, &sink, &engine);
    if (r == 0)
        r = engine_start(engine, 0);
    for (size_t i = 0; i < frames->n && r == 0; i++) {
        event.seq++;
        if (i == frames->n / 2)
            asked_for = allocations();
        if (frames->list[i].snapshot) {
            event.kind = EVENT_SNAPSHOT;
            parse_snapshot(frames, i, &event.snapshot);
        } else {
            event.kind = EVENT_MARKET;
            parse(frames, i, &event.market);
            if (event.market.event_ns > event.recv_ns)
                event.recv_ns = event.market.event_ns;
        }
        r = engine_handle(engine, &event);
    }
    asked_for = allocations() - asked_for;
    if (r < 0)
        die("engine", r);
    const struct engine_counters *counters = engine_counters(engine);
    uint64_t hash = mix(mix(hash_book(engine_book(engine, 0)), counters->fills), counters->decisions);
    hash = mix(hash, (uint64_t)engine_equity(engine, 0));
    engine_destroy(engine);
    return hash;
}

static uint64_t run_scan(const struct frames *frames)
{
    uint64_t sum = 0, word;
    for (size_t i = 0; i < frames->size; i += sizeof word) {
        memcpy(&word, frames->text + i, sizeof word);
        sum += word;
    }
    return sum;
}

/* Each step waits for the one before, as in a reader that goes from character to character. */
static uint64_t run_scan_bytewise(const struct frames *frames)
{
    uint64_t strings = 0, inside = 0;
    for (size_t i = 0; i < frames->size; i++) {
        inside ^= frames->text[i] == '"';
        __asm__("" : "+r"(inside)); /* no vectors */
        strings += inside;
    }
    return strings;
}

/* --- measuring */

struct measured {
    double median, best; /* frames/s */
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct measured measure(const char *name, const struct frames *frames,
                               uint64_t (*run)(const struct frames *))
{
    double rates[ROUNDS];
    uint64_t expected = run(frames); /* and the caches are warm */
    for (int round = 0; round < ROUNDS; round++) {
        int64_t begin_ns = frames_cpu_ns();
        uint64_t hash = run(frames);
        rates[round] = 1e9 * (double)frames->n / (double)(frames_cpu_ns() - begin_ns);
        if (hash != expected) {
            fprintf(stderr, "feed_frames: %s: two rounds end differently\n", name);
            exit(EXIT_FAILURE);
        }
    }
    qsort(rates, ROUNDS, sizeof *rates, by_value);
    return (struct measured){rates[ROUNDS / 2], rates[ROUNDS - 1]};
}

static void print(const char *name, struct measured rate, struct measured limit)
{
    printf("%s\t%.0f\t%.0f\tframes/s\t%.0f\n", name, rate.median, rate.best, limit.median);
}

/* --- the state, for an independent implementation to agree with */

static const char *text_of(int128_t units, char buf[static DECIMAL_TEXT_MAX])
{
    decimal_format(units, 8, buf);
    return buf;
}

static void print_side(const char *name, const struct book_side *side)
{
    char price[DECIMAL_TEXT_MAX], qty[DECIMAL_TEXT_MAX];
    for (uint32_t i = side->n; i-- > 0;)
        printf("%s %s %s\n", name, text_of(side->levels[i].price, price), text_of(side->levels[i].qty, qty));
}

static void print_bar(const struct bar *bar)
{
    char text[5][DECIMAL_TEXT_MAX];
    printf("bar %lld %s %s %s %s %s %lld\n", (long long)(bar->open_ns / 1000000), text_of(bar->open, text[0]),
           text_of(bar->high, text[1]), text_of(bar->low, text[2]), text_of(bar->close, text[3]),
           text_of(bar->volume, text[4]), (long long)bar->trades);
}

static void print_state(const struct frames *frames)
{
    static struct market market;
    build_market(frames, &market);
    printf("book %llu\n", (unsigned long long)market.book.last_id);
    print_side("bid", &market.book.bids);
    print_side("ask", &market.book.asks);
    for (size_t i = 0; i < market.n_bars; i++)
        print_bar(&market.bars[i]);
    if (market.builder.have_forming)
        print_bar(&market.builder.forming);
    book_finish(&market.book);
}

static void print_figures(const char *path, const struct frames *frames)
{
    struct frames served;
    frames_serve(path, 0, &served);
    frames_pin();
    struct measured limit = measure("scan", frames, run_scan);
    print("parse", measure("parse", frames, run_parse), limit);
    print("book_bars", measure("book_bars", frames, run_book_bars), limit);
    print("book_bars_indicators", measure("book_bars_indicators", frames, run_indicators), limit);
    print("engine", measure("engine", &served, run_engine), measure("scan", &served, run_scan));
    print("scan_bytewise", measure("scan_bytewise", frames, run_scan_bytewise), limit);
    frames_finish(&served);
}

static void print_allocations(const char *path, const struct frames *frames)
{
    struct frames served;
    frames_serve(path, 0, &served);
    run_indicators(frames); /* after which the book has the room that it needs */
    run_indicators(frames);
    printf("book_bars_indicators\t%llu\t%zu\n", (unsigned long long)asked_for, frames->n - frames->n / 2);
    run_engine(&served);
    printf("engine\t%llu\t%zu\n", (unsigned long long)asked_for, served.n - served.n / 2);
    frames_finish(&served);
}

int main(int argc, char **argv)
{
    const char *option = argc == 3 ? argv[1] : "", *path = argv[argc - 1];
    bool state = strcmp(option, "--state") == 0, synthetic = strcmp(option, "--synthetic") == 0;
    bool counted = strcmp(option, "--allocations") == 0;
    struct frames frames;
    if (argc != 2 + (state || synthetic || counted)) {
        fputs("usage: feed_frames [--state | --synthetic | --allocations] FILE\n", stderr);
        return 2;
    }
    if (synthetic) {
        frames_serve(NULL, SYNTHETIC_S, &frames);
        frames_write(&frames, path);
        frames_finish(&frames);
        return EXIT_SUCCESS;
    }
    frames_read(path, &frames);
    int r = binance_parser_create(&frames_symbol, 1, &parser);
    if (r < 0)
        die("parser", r);
    if (state)
        print_state(&frames);
    else if (counted)
        print_allocations(path, &frames);
    else
        print_figures(path, &frames);
    binance_parser_destroy(parser);
    frames_finish(&frames);
    return EXIT_SUCCESS;
}
