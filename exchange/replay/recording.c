#include "exchange/replay/recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "exchange/replay/follow.h"
#include "exchange/replay/lines.h"

#define NS_PER_MS      1000000LL
#define CLOSE_GRACE_NS (200 * NS_PER_MS) /* trades come a few milliseconds after their time */

struct file {
    struct lines lines;
    int first_symbol; /* that its frames name; -1: none yet */
    bool ended;
    struct frame_line line; /* the one to play next */
};

/* One symbol's book, and what a first reading found. */
struct followed {
    struct follow book;
    uint64_t seen_id; /* last id of its differences so far */
    bool has_trades;
};

struct recording {
    struct replay_source base;
    struct file *files;
    size_t n_files;
    int64_t from_ns, to_ns;
    bool done;
    struct followed symbols[TAPE_SYMBOLS_MAX];
    size_t snapshots_ahead; /* in the files, after the position */
    struct frame_levels levels;
    struct json_text info; /* a reply of exchangeInfo, as it was recorded */
};

/* Passes on the file's error. */
static int fail(struct recording *r, const struct file *f, int err)
{
    memcpy(r->base.error, f->lines.error, SOURCE_ERROR_MAX);
    return err;
}

static int fail_frame(struct recording *r, struct file *f, int err)
{
    return fail(
        r, f,
        replay_lines_fail(&f->lines, err, "bad frame", "a frame as the venue sends it (%s)", strerror(-err)));
}

static int read_line(struct recording *r, struct file *f)
{
    int rc = replay_lines_next(&f->lines, &f->line);
    return rc < 0 ? fail(r, f, rc) : rc;
}

static int open_file(struct recording *r, struct file *f)
{
    int rc = replay_lines_open(&f->lines, f->lines.path);
    return rc < 0 ? fail(r, f, rc) : 0;
}

/* A raw frame without a symbol, as serverShutdown: it was meant for the recorder's connection. */
static bool nameless(const struct replay_frame *frame)
{
    char name[64];
    return frame->stream.len == 0 && replay_frame_raw_name(frame->data, name) == -ENOENT;
}

/* A frame's stream; makes it (and its symbol) when it is new. */
static struct replay_stream *stream_of(struct recording *r, struct file *f, const struct replay_frame *frame)
{
    char raw_name[64];
    struct json_text name = frame->stream;
    size_t symbol_len;
    int interval;
    if (name.len == 0) {
        if (replay_frame_raw_name(frame->data, raw_name) != 0)
            return NULL;
        name = (struct json_text){raw_name, strlen(raw_name)};
    }
    if (replay_stream_parse(name.data, name.len, &symbol_len, &interval) != STREAM_OTHER)
        replay_tape_symbol_add(r->base.tape, name.data, symbol_len);
    struct replay_stream *s = replay_tape_stream(r->base.tape, name.data, name.len);
    if (s && f->first_symbol < 0)
        f->first_symbol = s->symbol;
    return s;
}

/* The symbol of a snapshot: by the URL, or the one of the file whose ids are nearest. */
static int snapshot_symbol(struct recording *r, const struct file *f, uint64_t last_id)
{
    struct tape *tape = r->base.tape;
    struct json_text name = replay_reply_argument(f->line.url, "symbol");
    if (name.len > 0)
        return replay_tape_symbol_add(tape, name.data, name.len);
    int best = f->first_symbol;
    uint64_t best_off = UINT64_MAX;
    for (int i = 0; i < tape->n_symbols; i++) {
        uint64_t seen = r->symbols[i].seen_id;
        uint64_t off = seen > last_id ? seen - last_id : last_id - seen;
        if (seen > 0 && off < best_off) {
            best = i;
            best_off = off;
        }
    }
    return best;
}

static void count_digits(int64_t units, int *digits)
{
    int n = 8;
    while (n > *digits && units % 10 == 0) {
        units /= 10;
        n--;
    }
    if (n > *digits)
        *digits = n;
}

static void learn_digits(struct tape_symbol *sym, int64_t price, int64_t qty)
{
    count_digits(price, &sym->price_digits);
    count_digits(qty, &sym->qty_digits);
}

/* The first reply that lists symbols is the one that is served. */
static int keep_info(struct recording *r, const struct file *f)
{
    if (replay_reply_kind(f->line.url) != REPLY_INFO || r->info.data)
        return 0;
    char *copy = malloc(f->line.frame.len);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, f->line.frame.data, f->line.frame.len);
    r->info = (struct json_text){copy, f->line.frame.len};
    return 0;
}

/* First reading: what is in a frame? */
static int learn(struct recording *r, struct file *f, int64_t *first_ns)
{
    struct tape *tape = r->base.tape;
    struct replay_frame frame;
    struct tape_trade trade;
    struct level bid, ask;
    struct candle candle;
    int64_t first, last, event_ns = f->line.ts_ns;
    uint64_t first_id, last_id;
    int rc = replay_frame_read(f->line.frame, &frame);
    if (rc < 0)
        return rc;
    if (frame.kind == FRAME_OTHER)
        return keep_info(r, f);
    if (frame.kind == FRAME_SNAPSHOT) {
        if ((rc = replay_frame_snapshot(frame.data, &last_id, &r->levels)) < 0)
            return rc;
        int symbol = snapshot_symbol(r, f, last_id);
        r->snapshots_ahead++;
        return symbol < 0 || r->symbols[symbol].book.has_snapshot
                   ? 0
                   : replay_follow_snapshot(&r->symbols[symbol].book, last_id, &r->levels);
    }
    if (nameless(&frame))
        return 0;
    struct replay_stream *s = stream_of(r, f, &frame);
    if (!s)
        return -EINVAL;
    s->recorded = true;
    if (s->symbol < 0)
        return 0;
    struct tape_symbol *sym = &tape->symbols[s->symbol];
    switch (s->kind) {
    case STREAM_TRADE:
        if ((rc = replay_frame_trade(frame.data, &trade)) < 0)
            return rc;
        learn_digits(sym, trade.price, trade.qty);
        r->symbols[s->symbol].has_trades = true;
        event_ns = trade.event_ns;
        break;
    case STREAM_AGG_TRADE:
        if ((rc = replay_frame_agg_trade(frame.data, &trade, &first, &last)) < 0)
            return rc;
        learn_digits(sym, trade.price, trade.qty);
        event_ns = trade.event_ns;
        break;
    case STREAM_BOOK_TICKER:
        if ((rc = replay_frame_quote(frame.data, &first_id, &bid, &ask)) < 0)
            return rc;
        learn_digits(sym, bid.price, bid.qty);
        learn_digits(sym, ask.price, ask.qty);
        return 0;
    case STREAM_DEPTH_FAST:
    case STREAM_DEPTH:
        if ((rc = replay_frame_depth(frame.data, &event_ns, &first_id, &last_id, &r->levels)) < 0)
            return rc;
        r->symbols[s->symbol].seen_id = last_id;
        for (size_t i = 0; i < r->levels.n_bids; i++)
            learn_digits(sym, r->levels.bids[i].price, r->levels.bids[i].qty);
        for (size_t i = 0; i < r->levels.n_asks; i++)
            learn_digits(sym, r->levels.asks[i].price, r->levels.asks[i].qty);
        break;
    case STREAM_KLINE:
        if ((rc = replay_frame_kline(frame.data, &event_ns, &candle)) < 0)
            return rc;
        break;
    case STREAM_MINI_TICKER:
    case STREAM_OTHER:
        return 0;
    }
    if (event_ns < *first_ns)
        *first_ns = event_ns;
    return 0;
}

static int play_depth(struct recording *r, struct replay_stream *s, const struct replay_frame *frame)
{
    struct frame_levels *l = &r->levels;
    int64_t event_ns;
    uint64_t first_id, last_id;
    int rc = replay_frame_depth(frame->data, &event_ns, &first_id, &last_id, l);
    if (rc < 0)
        return rc;
    r->symbols[s->symbol].seen_id = last_id;
    if ((rc = replay_follow_update(&r->symbols[s->symbol].book, first_id, last_id, l,
                                   r->snapshots_ahead > 0)) < 0)
        return rc;
    replay_tape_advance(r->base.tape, s->symbol, event_ns, CLOSE_GRACE_NS);
    if (s->kind == STREAM_DEPTH) {
        replay_tape_recorded(r->base.tape, s, frame->data.data, frame->data.len);
        replay_tape_depth(r->base.tape, s->symbol, event_ns, first_id, last_id, l->bids, l->n_bids, l->asks,
                          l->n_asks, NULL, 0);
    } else {
        replay_tape_depth(r->base.tape, s->symbol, event_ns, first_id, last_id, l->bids, l->n_bids, l->asks,
                          l->n_asks, frame->data.data, frame->data.len);
    }
    return 0;
}

static int play_stream(struct recording *r, struct replay_stream *s, const struct replay_frame *frame)
{
    struct tape *tape = r->base.tape;
    const char *raw = frame->data.data;
    size_t raw_len = frame->data.len;
    struct tape_trade trade;
    struct level bid, ask;
    struct candle candle;
    int64_t first, last, event_ns;
    uint64_t id;
    int rc = 0;
    switch (s->symbol < 0 ? STREAM_OTHER : s->kind) {
    case STREAM_TRADE:
        if ((rc = replay_frame_trade(frame->data, &trade)) == 0)
            replay_tape_trade(tape, s->symbol, &trade, false, raw, raw_len);
        break;
    case STREAM_AGG_TRADE:
        if ((rc = replay_frame_agg_trade(frame->data, &trade, &first, &last)) == 0)
            replay_tape_agg_trade(tape, s->symbol, &trade, first, last, !r->symbols[s->symbol].has_trades,
                                  raw, raw_len);
        break;
    case STREAM_BOOK_TICKER:
        if ((rc = replay_frame_quote(frame->data, &id, &bid, &ask)) == 0)
            replay_tape_quote(tape, s->symbol, id, bid.price, bid.qty, ask.price, ask.qty, raw, raw_len);
        break;
    case STREAM_DEPTH:
    case STREAM_DEPTH_FAST:
        rc = play_depth(r, s, frame);
        break;
    case STREAM_KLINE:
        if ((rc = replay_frame_kline(frame->data, &event_ns, &candle)) == 0) {
            rc = replay_candles_put(&tape->symbols[s->symbol].candles, s->interval, &candle);
            replay_tape_advance(tape, s->symbol, event_ns, CLOSE_GRACE_NS);
            replay_tape_recorded(tape, s, raw, raw_len);
        }
        break;
    case STREAM_MINI_TICKER:
    case STREAM_OTHER:
        replay_tape_recorded(tape, s, raw, raw_len);
        break;
    }
    return rc;
}

/* Bars of a recorded reply: history, and replacements of those made from incomplete trades. */
struct put_klines {
    struct candles *candles;
    int interval;
    int64_t until_ns; /* when the reply came: a bar that closes later is still forming */
};

static int put_kline(void *ctx, const struct candle *row, int64_t close_ns)
{
    const struct put_klines *put = ctx;
    return close_ns < put->until_ns ? replay_candles_put(put->candles, put->interval, row) : 0;
}

static int play_reply(struct recording *r, const struct file *f)
{
    struct json_text url = f->line.url;
    if (replay_reply_kind(url) != REPLY_KLINES)
        return 0;
    struct json_text name = replay_reply_argument(url, "symbol"),
                     interval = replay_reply_argument(url, "interval");
    int symbol = replay_tape_symbol_add(r->base.tape, name.data, name.len);
    struct put_klines put = {.interval = replay_candle_interval_find(interval.data, interval.len),
                             .until_ns = f->line.ts_ns};
    if (symbol < 0 || put.interval < 0)
        return 0; /* an error from the venue */
    put.candles = &r->base.tape->symbols[symbol].candles;
    int rc = replay_reply_klines(f->line.frame, put_kline, &put);
    return rc == -EINVAL ? 0 : rc;
}

/* The file whose next line is the earliest; NULL at the end of all. */
static struct file *next_file(struct recording *r)
{
    struct file *first = NULL;
    for (size_t i = 0; i < r->n_files; i++) {
        struct file *f = &r->files[i];
        if (!f->ended && (!first || f->line.ts_ns < first->line.ts_ns))
            first = f;
    }
    return first;
}

static int64_t recording_due(struct replay_source *source)
{
    struct recording *r = (struct recording *)source;
    struct file *f = r->done ? NULL : next_file(r);
    return f ? f->line.ts_ns : INT64_MAX;
}

static void end(struct recording *r)
{
    if (!r->done)
        replay_tape_end(r->base.tape);
    r->done = true;
}

static int recording_step(struct replay_source *source)
{
    struct recording *r = (struct recording *)source;
    struct file *f = next_file(r);
    struct replay_frame frame;
    if (!f || r->done)
        return 0;
    int rc = replay_frame_read(f->line.frame, &frame);
    if (rc == 0 && frame.kind == FRAME_SNAPSHOT) {
        uint64_t last_id;
        rc = replay_frame_snapshot(frame.data, &last_id, &r->levels);
        int symbol = rc == 0 ? snapshot_symbol(r, f, last_id) : -1;
        r->snapshots_ahead--;
        if (symbol >= 0)
            rc = replay_follow_snapshot(&r->symbols[symbol].book, last_id, &r->levels);
    } else if (rc == 0 && frame.kind == FRAME_STREAM && nameless(&frame)) {
        rc = 0;
    } else if (rc == 0 && frame.kind == FRAME_STREAM) {
        struct replay_stream *s = stream_of(r, f, &frame);
        rc = s ? play_stream(r, s, &frame) : -ENOMEM;
    } else if (rc == 0) {
        rc = play_reply(r, f);
    }
    if (rc < 0)
        return fail_frame(r, f, rc);
    if ((rc = read_line(r, f)) < 0)
        return rc;
    f->ended = rc == 0;
    if (!next_file(r) || source->tape->now_ns >= r->to_ns)
        end(r);
    return 0;
}

static bool recording_book(struct replay_source *source, int symbol, struct source_book *ret)
{
    return replay_follow_book(&((struct recording *)source)->symbols[symbol].book, ret);
}

static void recording_destroy(struct replay_source *source)
{
    struct recording *r = (struct recording *)source;
    for (size_t i = 0; i < r->n_files; i++)
        replay_lines_finish(&r->files[i].lines);
    free((char *)(uintptr_t)r->info.data);
    for (int i = 0; i < TAPE_SYMBOLS_MAX; i++)
        replay_follow_finish(&r->symbols[i].book);
    replay_frame_levels_finish(&r->levels);
    free(r->files);
    free(r);
}

static const struct source_ops recording_ops = {recording_due, recording_step, recording_book,
                                                recording_destroy};

static int learn_file(struct recording *r, struct file *f, int64_t *first_ns)
{
    int rc = open_file(r, f);
    if (rc < 0)
        return rc;
    while ((rc = read_line(r, f)) > 0)
        if ((rc = learn(r, f, first_ns)) < 0)
            return fail_frame(r, f, rc);
    replay_lines_close(&f->lines);
    return rc;
}

/* Opens a file again, at its first line. */
static int rewind_file(struct recording *r, struct file *f)
{
    int rc = open_file(r, f);
    if (rc < 0)
        return rc;
    if ((rc = read_line(r, f)) < 0)
        return rc;
    f->ended = rc == 0;
    return 0;
}

static int nothing(struct recording *r, struct file *f)
{
    return fail(r, f, replay_lines_fail(&f->lines, -EINVAL, "nothing to play", "a recording with frames"));
}

/* Emits the venue's list of symbols again. */
static int share_info(struct recording *r)
{
    struct tape *tape = r->base.tape;
    for (int i = 0; i < tape->n_symbols && r->info.data; i++) {
        struct json_text object = replay_reply_symbol(r->info, tape->symbols[i].name);
        if (object.len > 0 && !(tape->symbols[i].info = strndup(object.data, object.len)))
            return -ENOMEM;
    }
    return 0;
}

/* What was received before the market's first event is history: it is there when play starts. */
static int play_history(struct recording *r)
{
    struct file *f;
    struct replay_frame frame;
    while ((f = next_file(r)) && f->line.url.len > 0 && replay_frame_read(f->line.frame, &frame) == 0 &&
           frame.kind == FRAME_OTHER) {
        int rc = recording_step(&r->base);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int load(struct recording *r)
{
    int64_t first_ns = INT64_MAX;
    for (size_t i = 0; i < r->n_files; i++) {
        int rc = learn_file(r, &r->files[i], &first_ns);
        if (rc < 0)
            return rc;
    }
    for (size_t i = 0; i < r->n_files; i++) {
        int rc = rewind_file(r, &r->files[i]);
        if (rc < 0)
            return rc;
    }
    struct file *f = next_file(r);
    if (!f)
        return nothing(r, &r->files[0]);
    r->base.tape->now_ns = first_ns != INT64_MAX ? first_ns : f->line.ts_ns;
    int rc = share_info(r);
    if (rc == 0)
        rc = play_history(r);
    if (rc < 0)
        return rc;
    while (!r->done && r->base.tape->now_ns < r->from_ns) {
        if ((rc = recording_step(&r->base)) < 0)
            return rc;
    }
    return 0;
}

int replay_recording_create(struct tape *tape, const char *const *paths, size_t n_paths, int64_t from_ns,
                            int64_t to_ns, struct replay_source **ret, char error[static SOURCE_ERROR_MAX])
{
    struct recording *r = calloc(1, sizeof(*r));
    struct file *files = calloc(n_paths, sizeof(*files));
    if (!r || !files) {
        free(r);
        free(files);
        return fail_with(-ENOMEM, error, SOURCE_ERROR_MAX, "out of memory");
    }
    r->base = (struct replay_source){.ops = &recording_ops, .tape = tape};
    r->files = files;
    r->n_files = n_paths;
    r->from_ns = from_ns;
    r->to_ns = to_ns;
    for (size_t i = 0; i < n_paths; i++)
        files[i] = (struct file){.lines.path = paths[i], .first_symbol = -1};
    for (int i = 0; i < TAPE_SYMBOLS_MAX; i++)
        replay_follow_init(&r->symbols[i].book);
    int rc = load(r);
    if (rc < 0) {
        memcpy(error, r->base.error, SOURCE_ERROR_MAX);
        recording_destroy(&r->base);
        return rc;
    }
    *ret = &r->base;
    return 0;
}
