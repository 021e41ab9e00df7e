#include "bench/frames.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "exchange/replay/recording.h"
#include "exchange/replay/render.h"
#include "exchange/replay/synthetic.h"

#define SECOND_NS 1000000000LL
#define START_NS  (1723161240 * SECOND_NS) /* 2024-08-08 23:54:00 */

enum { SEED = 1, CHUNK = 1 << 20 };

const struct symbol frames_symbol = {
    .name = "BTCUSDT",
    .base = "BTC",
    .quote = "USDT",
    .price_scale = 8,
    .qty_scale = 8,
    .quote_scale = 8,
    .trading = true,
    .filters = {.price_min = 1000000,
                .price_max = 100000000000000,
                .tick = 1000000,
                .qty_min = 1000,
                .qty_max = 900000000000,
                .step = 1000,
                .market_qty_max = 10000000000,
                .notional_min = 500000000,
                .notional_min_market = true,
                .bid_up_e4 = 50000,
                .bid_down_e4 = 2000,
                .ask_up_e4 = 50000,
                .ask_down_e4 = 2000,
                .orders_max = 200},
};

static void die(const char *what, const char *where)
{
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, where);
    exit(EXIT_FAILURE);
}

static void add(struct frames *frames, size_t offset, size_t len, bool snapshot)
{
    if (frames->n == frames->cap) {
        frames->cap = frames->cap ? 2 * frames->cap : 1024;
        frames->list = realloc(frames->list, frames->cap * sizeof *frames->list);
        if (!frames->list)
            die("frames", "out of memory");
    }
    frames->list[frames->n++] = (struct frame_at){offset, (uint32_t)len, snapshot};
}

void frames_read(const char *path, struct frames *ret)
{
    struct frames frames = {0};
    gzFile in = gzopen(path, "rb");
    if (!in)
        die(path, "a recording is needed");
    for (int got = CHUNK; got == CHUNK; frames.size += (size_t)got) {
        frames.text = realloc(frames.text, frames.size + CHUNK + FRAMES_PADDING);
        got = frames.text ? gzread(in, frames.text + frames.size, CHUNK) : -1;
        if (got < 0)
            die(path, "it cannot be read");
    }
    gzclose(in);
    memset(frames.text + frames.size, 0, FRAMES_PADDING);
    const char *end = frames.text + frames.size;
    for (const char *line = frames.text, *next; line < end; line = next + 1) {
        next = memchr(line, '\n', (size_t)(end - line));
        if (!next)
            next = end;
        const char *frame = memchr(line, ' ', (size_t)(next - line));
        if (!frame)
            die(path, "lines of a time, a space and a frame are needed");
        frame++;
        static const char rest[] = "{\"lastUpdateId\"";
        add(&frames, (size_t)(frame - frames.text), (size_t)(next - frame),
            (size_t)(next - frame) > sizeof rest && memcmp(frame, rest, sizeof rest - 1) == 0);
    }
    *ret = frames;
}

/* --- what the replay would serve */

struct listener_of_all {
    struct frames frames;
    struct text text;
    bool depth_came;
};

static void receive(void *user, struct replay_stream *stream, int unit, const char *data, size_t len)
{
    struct listener_of_all *all = user;
    (void)unit;
    if (stream->n_listeners == 0)
        return;
    size_t offset = all->text.len;
    text_lit(&all->text, "{\"stream\":\"");
    text_bytes(&all->text, stream->name, stream->name_len);
    text_lit(&all->text, "\",\"data\":");
    text_bytes(&all->text, data, len);
    text_lit(&all->text, "}");
    add(&all->frames, offset, all->text.len - offset, false);
    all->depth_came |= stream->kind == STREAM_DEPTH_FAST;
}

static void receive_snapshot(struct listener_of_all *all, const struct source_book *book)
{
    const struct replay_ladder *sides[] = {book->bids, book->asks};
    static const char *const names[] = {",\"bids\":", ",\"asks\":"};
    size_t offset = all->text.len;
    text_lit(&all->text, "{\"lastUpdateId\":");
    text_int(&all->text, (int64_t)book->last_id);
    for (int i = 0; i < 2; i++) {
        text_str(&all->text, names[i]);
        replay_render_levels(&all->text, sides[i]->levels + sides[i]->n - 1, sides[i]->n, -1);
    }
    text_lit(&all->text, "}");
    add(&all->frames, offset, all->text.len - offset, true);
}

void frames_serve(const char *path, int seconds, struct frames *ret)
{
    static const char *const streams[] = {"btcusdt@trade", "btcusdt@kline_1s", "btcusdt@bookTicker",
                                          "btcusdt@depth@100ms", "btcusdt@miniTicker"};
    struct listener_of_all all = {0};
    struct tape *tape = calloc(1, sizeof *tape);
    struct replay_source *source = NULL;
    char error[SOURCE_ERROR_MAX] = "out of memory";
    if (!tape)
        die("frames", error);
    replay_tape_init(tape);
    tape->deliver = receive;
    tape->user = &all;
    const struct synthetic_config made = {
        .seed = SEED, .start_ns = START_NS, .end_ns = START_NS + seconds * SECOND_NS, .symbols = 2};
    int r = path ? replay_recording_create(tape, &path, 1, INT64_MIN, INT64_MAX, &source, error)
                 : replay_synthetic_create(tape, &made, &source);
    if (r < 0)
        die("frames", error);
    for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
        if (replay_tape_listen(tape, streams[i], strlen(streams[i]), &all, true, STREAM_MS) < 0)
            die(streams[i], error);
    bool have_book = false;
    int symbol = replay_tape_symbol_find(tape, frames_symbol.name, strlen(frames_symbol.name));
    while (source->ops->due(source) != INT64_MAX) {
        struct source_book book;
        if (source->ops->step(source) < 0)
            die("frames", source->error);
        if (!have_book && all.depth_came && source->ops->book(source, symbol, &book)) {
            receive_snapshot(&all, &book);
            have_book = true;
        }
    }
    replay_tape_end(tape);
    char padding[FRAMES_PADDING] = {0};
    all.frames.size = all.text.len;
    text_bytes(&all.text, padding, sizeof padding);
    if (!text_ok(&all.text) || tape->failed)
        die("frames", "out of memory");
    all.frames.text = all.text.data;
    source_destroy(source);
    replay_tape_finish(tape);
    free(tape);
    *ret = all.frames;
}

void frames_write(const struct frames *frames, const char *path)
{
    FILE *out = fopen(path, "w");
    if (!out)
        die(path, "it cannot be written");
    for (size_t i = 0; i < frames->n; i++) {
        const struct frame_at *at = &frames->list[i];
        fprintf(out, "%lld %.*s\n", START_NS + (long long)i, (int)at->len, frames->text + at->offset);
    }
    if (ferror(out) | fclose(out))
        die(path, "it cannot be written");
}

void frames_finish(struct frames *frames)
{
    free(frames->text);
    free(frames->list);
    *frames = (struct frames){0};
}

static int64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * SECOND_NS + now.tv_nsec;
}

int64_t frames_clock_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

int64_t frames_cpu_ns(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

int frames_pin(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) < 0)
        return -1;
    int core = CPU_SETSIZE - 1;
    while (core >= 0 && !CPU_ISSET(core, &set))
        core--;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    return sched_setaffinity(0, sizeof set, &set) < 0 ? -1 : core;
}
