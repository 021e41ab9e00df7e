/* What the event log costs, and recovery after a day of 50 symbols: engine_log FOLDER FILE. bench/engine runs
 * it. FOLDER is on a real disk, FILE a recording as for engine_events.
 *
 * On standard output a line a figure: case, value, unit between tabs. All times are processor time.
 * - log_encode: of the loop, an event: engine/record.h and a batch
 * - log_write: of the disk's thread, an event: compression, hashes, write() (no sync)
 * - log_raw_bytes, log_bytes: of an event, before compression and in the file
 * - log_read: events/s through engine_replay_step() with the engine, its account and an idle strategy
 * Then a day is played: SYMBOLS symbols whose rates fall with their rank from the recording's 115 events/s,
 * mixed as in the recording: 62 million events; a book of 1,000 levels a side each, bars of a minute, a
 * strategy on each. Everything is logged with the daemon's defaults (64 MB a segment), old segments go.
 * - day_events, day_bytes: of the whole day; day_played: events/s, generator, engine and log together
 * - state_bytes: of the engine's state
 * - recovery: seconds from the newest state to the last event, after the day
 * - recovery_full: the same had it stopped just before the next state: the longest that it can take
 *
 * Prediction: a quote is 5 numbers of 3 to 6 bytes, a trade 6, a level of a difference 9 bytes: 25, 30 and
 * 330 bytes, 55 on average, 60 ns to encode; zstd at level 1 takes 250 MB/s of such, SHA-256 1 GB/s: 280 ns,
 * and halves them: 28 bytes. A segment then holds 1.2 million events, which the engine takes at 2.5 million/s
 * after reading: recovery_full 0.6 s, a state (1.6 MB of books) 10 ms. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/reel.h"
#include "engine/record.h"
#include "engine/replay.h"
#include "exchange/journal/journal.h"
#include "strategy/strategy.h"

enum {
    SYMBOLS = 50,
    LEVELS = 1000,
    CHANGES = 36, /* levels of a difference, as in the recording */
    DAY_S = 86400,
    BATCH = 256 << 10, /* the recorder's */
    SEGMENT = 64 << 20,
    WARM_BARS = 100,
};

#define FIRST_RATE 115.0 /* events/s of the first symbol */
#define RANK_POWER 0.8

struct log {
    struct journal_writer *writer;
    struct journal_batch batch;
    struct codec codec;
    uint64_t events;
    int64_t encode_ns, write_ns;
};

_Noreturn static void die(const char *what, const char *why)
{
    fprintf(stderr, "engine_log: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static void check(const char *what, int r)
{
    if (r < 0)
        die(what, strerror(-r));
}

static void log_open(struct log *log, const char *dir, bool prune)
{
    char err[JOURNAL_ERROR_MAX];
    struct journal_tail tail;
    const struct journal_writer_config config = {.dir = dir,
                                                 .segment_bytes = SEGMENT,
                                                 .segment_ns = 3600 * REEL_SECOND_NS,
                                                 .keep_bytes = prune ? 1 : 0};
    *log = (struct log){0};
    journal_batch_init(&log->batch);
    codec_save(&log->codec);
    if (journal_writer_open(&config, &log->writer, &tail, err, sizeof err) < 0)
        die(dir, err);
}

static void log_close(struct log *log)
{
    journal_writer_close(log->writer);
    journal_batch_finish(&log->batch);
    codec_finish(&log->codec);
}

static void log_flush(struct log *log)
{
    int64_t begin_ns = frames_cpu_ns();
    check("journal", journal_writer_put(log->writer, &log->batch));
    journal_batch_clear(&log->batch);
    log->write_ns += frames_cpu_ns() - begin_ns;
}

static void log_add(struct log *log, enum journal_kind kind, uint64_t seq, int64_t recv_ns)
{
    const struct journal_record record = {kind, seq, recv_ns, log->codec.bytes, log->codec.len};
    check("batch", journal_batch_add(&log->batch, &record));
}

static void log_state(struct log *log, const struct engine *engine, uint64_t seq, int64_t recv_ns,
                      enum state_why why)
{
    check("state", engine_state_record_encode(engine, 1, why, NULL, 0, &log->codec));
    log_add(log, JOURNAL_STATE, seq, recv_ns);
    log_flush(log);
}

static void log_event(struct log *log, const struct event *event)
{
    check("event", event_encode(event, &log->codec));
    log_add(log, JOURNAL_EVENT, event->seq, event->recv_ns);
    log->events++;
}

static struct engine *open_engine(const struct symbol *symbols, int n)
{
    struct account_spec account = {.name = "main",
                                   .currency = "USDT",
                                   .currency_scale = 8,
                                   .cash = 10000 * 100000000LL,
                                   .rules = {.fees = {1000, 1000}, .risk = {.exposure_symbol = 0.5}},
                                   .strategy = strategy_find("sma-cross-rsi")};
    strategy_defaults(account.strategy, account.params);
    const struct engine_config config = {.symbols = symbols,
                                         .n_symbols = n,
                                         .accounts = &account,
                                         .n_accounts = 1,
                                         .interval_ns = 60 * REEL_SECOND_NS,
                                         .latency_ns = REEL_SECOND_NS / 20,
                                         .equity_interval_ns = 10 * REEL_SECOND_NS};
    const struct engine_sink sink = {0};
    struct engine *engine;
    check("engine", engine_create(&config, &sink, &engine));
    return engine;
}

static void print(const char *name, double value, const char *unit)
{
    printf("%s\t%.9g\t%s\n", name, value, unit);
    fflush(stdout);
}

/* ---- the recording */

static void play_again(const char *dir)
{
    const struct replay_options options = {.path = dir};
    struct replay *replay;
    char err[JOURNAL_ERROR_MAX];
    uint64_t n = 0;
    int r;
    int64_t begin_ns = frames_cpu_ns();
    if (engine_replay_open(&options, &replay, err, sizeof err) < 0)
        die(dir, err);
    while ((r = engine_replay_step(replay)) == 1)
        n++;
    if (r < 0)
        die(dir, engine_replay_error(replay));
    print("log_read", 1e9 * (double)n / (double)(frames_cpu_ns() - begin_ns), "events/s");
    engine_replay_close(replay);
}

static void measure_recording(const char *folder, const char *path)
{
    struct reel reel = {0};
    struct log log;
    char dir[512];
    snprintf(dir, sizeof dir, "%s/recording", folder);
    reel_read(path, &reel);
    struct engine *engine = open_engine(&frames_symbol, 1);
    log_open(&log, dir, false);
    log_state(&log, engine, 0, 0, STATE_NEW_RUN);
    log.write_ns = 0;
    struct journal_writer_stats before, after;
    journal_writer_stats(log.writer, &before);
    for (size_t i = 0; i < reel.n;) {
        int64_t begin_ns = frames_cpu_ns();
        for (; i < reel.n && log.batch.len < BATCH; i++)
            log_event(&log, &reel.events[i]);
        log.encode_ns += frames_cpu_ns() - begin_ns;
        log_flush(&log);
    }
    journal_writer_stats(log.writer, &after);
    double n = (double)log.events;
    print("log_encode", 1e-9 * (double)log.encode_ns / n, "s");
    print("log_write", 1e-9 * (double)log.write_ns / n, "s");
    print("log_raw_bytes", (double)(after.raw_bytes - before.raw_bytes) / n, "B");
    print("log_bytes", (double)(after.file_bytes - before.file_bytes) / n, "B");
    log_close(&log);
    engine_destroy(engine);
    play_again(dir);
    reel_finish(&reel);
}

/* ---- the day */

struct stock {
    double rate, next_s;
    int64_t middle; /* in ticks */
    uint64_t update_id;
    int64_t trade_id, bar_open_ns, bar_open, high, low;
};

struct day {
    struct symbol symbols[SYMBOLS];
    struct stock stocks[SYMBOLS];
    uint64_t random;
    struct book_level bids[LEVELS], asks[LEVELS];
    struct event event;
};

#define TICK 1000000LL

static uint64_t next_random(struct day *day, uint64_t below)
{
    day->random ^= day->random << 13;
    day->random ^= day->random >> 7;
    day->random ^= day->random << 17;
    return day->random % below;
}

static void day_init(struct day *day)
{
    memset(day, 0, sizeof *day);
    day->random = 88172645463325252u;
    for (int s = 0; s < SYMBOLS; s++) {
        struct stock *stock = &day->stocks[s];
        day->symbols[s] = frames_symbol;
        snprintf(day->symbols[s].name, sizeof day->symbols[s].name, "S%dUSDT", s);
        snprintf(day->symbols[s].base, sizeof day->symbols[s].base, "S%d", s);
        *stock = (struct stock){.rate = FIRST_RATE / pow(s + 1, RANK_POWER),
                                .middle = 6000000 / (s + 1),
                                .update_id = 1000,
                                .trade_id = 1};
        stock->next_s = (double)s / SYMBOLS;
    }
}

static void make_snapshot(struct day *day, int s, struct event_snapshot *ret)
{
    int64_t middle = day->stocks[s].middle;
    for (int i = 0; i < LEVELS; i++) {
        day->bids[i] =
            (struct book_level){(middle - 1 - i) * TICK, (int64_t)(1 + next_random(day, 500000)) * 1000};
        day->asks[i] =
            (struct book_level){(middle + 1 + i) * TICK, (int64_t)(1 + next_random(day, 500000)) * 1000};
    }
    *ret = (struct event_snapshot){s, day->stocks[s].update_id, day->bids, day->asks, LEVELS, LEVELS};
}

static void make_depth(struct day *day, struct stock *stock, struct market_event *ret)
{
    uint32_t n_bids = 0, n_asks = 0;
    for (int i = 0; i < CHANGES; i++) {
        int64_t away = 1 + (int64_t)(next_random(day, 30) * next_random(day, 30));
        int64_t qty = next_random(day, 4) ? (int64_t)(1 + next_random(day, 500000)) * 1000 : 0;
        if (i % 2)
            day->bids[n_bids++] = (struct book_level){(stock->middle - away) * TICK, qty};
        else
            day->asks[n_asks++] = (struct book_level){(stock->middle + away) * TICK, qty};
    }
    *ret = (struct market_event){
        .kind = MARKET_DEPTH,
        .depth = {stock->update_id + 1, stock->update_id + 50, day->bids, day->asks, n_bids, n_asks}};
    stock->update_id += 50;
}

static void make_quote(struct day *day, struct stock *stock, struct market_event *ret)
{
    stock->middle += (int64_t)next_random(day, 3) - 1;
    *ret = (struct market_event){.kind = MARKET_QUOTE,
                                 .quote = {stock->update_id, (stock->middle - 1) * TICK,
                                           (int64_t)(1 + next_random(day, 500000)) * 1000,
                                           (stock->middle + 1) * TICK,
                                           (int64_t)(1 + next_random(day, 500000)) * 1000}};
}

static void make_trade(struct day *day, struct stock *stock, int64_t now_ns, struct market_event *ret)
{
    bool sold = next_random(day, 2);
    int64_t price = (stock->middle + (sold ? -1 : 1)) * TICK;
    *ret = (struct market_event){.kind = MARKET_TRADE,
                                 .trade = {.ts_ns = now_ns - 2000000,
                                           .id = stock->trade_id,
                                           .first_id = stock->trade_id,
                                           .last_id = stock->trade_id,
                                           .price = price,
                                           .qty = (int64_t)(1 + next_random(day, 50000)) * 1000,
                                           .buyer_maker = sold}};
    stock->trade_id++;
    if (price > stock->high)
        stock->high = price;
    if (price < stock->low)
        stock->low = price;
}

static void make_bar(struct stock *stock, int64_t open_ns, struct market_event *ret)
{
    int64_t close = stock->middle * TICK;
    int64_t high = stock->high > close ? stock->high : close, low = stock->low < close ? stock->low : close;
    if (stock->bar_open > high)
        high = stock->bar_open;
    if (stock->bar_open < low)
        low = stock->bar_open;
    *ret = (struct market_event){.kind = MARKET_KLINE,
                                 .kline = {60 * REEL_SECOND_NS,
                                           {.open_ns = open_ns,
                                            .open = stock->bar_open,
                                            .high = high,
                                            .low = low,
                                            .close = close,
                                            .volume = 100000000,
                                            .trades = 1,
                                            .first_trade_id = -1,
                                            .last_trade_id = -1},
                                           true}};
    stock->bar_open = stock->high = stock->low = close;
}

/* The next event of a symbol at a time; bars come first when their minute is over. */
static void make_event(struct day *day, int s, int64_t now_ns)
{
    struct stock *stock = &day->stocks[s];
    struct event *event = &day->event;
    int64_t open_ns = now_ns / (60 * REEL_SECOND_NS) * (60 * REEL_SECOND_NS);
    uint64_t dice = next_random(day, 100);
    event->kind = EVENT_MARKET;
    if (stock->bar_open_ns != open_ns && stock->bar_open_ns != 0)
        make_bar(stock, stock->bar_open_ns, &event->market);
    else if (dice < 68)
        make_quote(day, stock, &event->market);
    else if (dice < 92)
        make_trade(day, stock, now_ns, &event->market);
    else
        make_depth(day, stock, &event->market);
    if (stock->bar_open_ns == 0)
        stock->bar_open = stock->high = stock->low = stock->middle * TICK;
    stock->bar_open_ns = open_ns;
    event->market.symbol = s;
    event->market.event_ns = now_ns - 2000000;
}

static int earliest(const struct day *day)
{
    int at = 0;
    for (int s = 1; s < SYMBOLS; s++)
        if (day->stocks[s].next_s < day->stocks[at].next_s)
            at = s;
    return at;
}

static void give(struct day *day, struct engine *engine, struct log *log, int64_t now_ns)
{
    day->event.seq++;
    day->event.recv_ns = now_ns;
    log_event(log, &day->event);
    check("engine", engine_handle(engine, &day->event));
    if (log->batch.len < BATCH)
        return;
    log_flush(log);
    if (journal_writer_full(log->writer))
        log_state(log, engine, day->event.seq, now_ns, STATE_ROTATION);
}

/* Differences of a minute, then snapshots: this is how books are started. */
static void play_day(struct day *day, struct engine *engine, struct log *log, int64_t *ret_end_ns)
{
    int64_t start_ns = REEL_START_NS / (DAY_S * REEL_SECOND_NS) * (DAY_S * REEL_SECOND_NS), now_ns = start_ns;
    for (int s = 0; s < SYMBOLS; s++) {
        make_snapshot(day, s, &day->event.snapshot);
        day->event.kind = EVENT_SNAPSHOT;
        give(day, engine, log, now_ns);
    }
    for (;;) {
        int s = earliest(day);
        double at_s = day->stocks[s].next_s;
        if (at_s >= DAY_S)
            break;
        now_ns = start_ns + (int64_t)(at_s * 1e9);
        make_event(day, s, now_ns);
        day->stocks[s].next_s += (0.5 + 0.001 * (double)next_random(day, 1000)) / day->stocks[s].rate;
        give(day, engine, log, now_ns);
    }
    if (log->batch.len > 0)
        log_flush(log);
    *ret_end_ns = now_ns;
}

/* From a state to the event `to_seq`: as a daemon does that starts again. */
static double recover(const char *dir, uint64_t from_seq, uint64_t to_seq, uint64_t *ret_from,
                      uint64_t *ret_hash)
{
    struct replay_options options = {.path = dir, .from_seq = from_seq, .newest = from_seq == 0};
    struct replay *replay;
    char err[JOURNAL_ERROR_MAX];
    int r = 1;
    int64_t begin_ns = frames_cpu_ns();
    if (engine_replay_open(&options, &replay, err, sizeof err) < 0)
        die(dir, err);
    *ret_from = engine_replay_seq(replay);
    while (engine_replay_seq(replay) < to_seq && (r = engine_replay_step(replay)) == 1)
        ;
    double took_s = 1e-9 * (double)(frames_cpu_ns() - begin_ns);
    if (r < 0)
        die(dir, engine_replay_error(replay));
    const struct engine_counters *counters = engine_counters(engine_replay_engine(replay));
    *ret_hash = counters->events * 31 + counters->fills * 7 +
                (uint64_t)engine_equity(engine_replay_engine(replay), 0);
    engine_replay_close(replay);
    return took_s;
}

static void measure_day(const char *folder)
{
    static struct day day;
    struct log log;
    struct journal_writer_stats stats;
    char dir[512];
    int64_t end_ns;
    uint64_t newest, previous, hash, ignored;
    snprintf(dir, sizeof dir, "%s/day", folder);
    day_init(&day);
    struct engine *engine = open_engine(day.symbols, SYMBOLS);
    log_open(&log, dir, true);
    log_state(&log, engine, 0, 0, STATE_NEW_RUN);
    int64_t begin_ns = frames_cpu_ns();
    play_day(&day, engine, &log, &end_ns);
    print("day_played", 1e9 * (double)log.events / (double)(frames_cpu_ns() - begin_ns), "events/s");
    journal_writer_stats(log.writer, &stats);
    print("day_events", (double)log.events, "events");
    print("day_bytes", (double)stats.file_bytes, "B");
    check("state", engine_state_record_encode(engine, 1, STATE_STOP, NULL, 0, &log.codec));
    print("state_bytes", (double)log.codec.len, "B");
    const struct engine_counters *counters = engine_counters(engine);
    uint64_t expected = counters->events * 31 + counters->fills * 7 + (uint64_t)engine_equity(engine, 0);
    log_close(&log);

    double took_s = recover(dir, 0, UINT64_MAX, &newest, &hash);
    if (hash != expected)
        die(dir, "what was recovered is not what was lost");
    print("recovery", took_s, "s");
    print("recovery_full", recover(dir, newest - 1, newest, &previous, &ignored), "s");
    fprintf(stderr,
            "day: %" PRIu64 " events, %" PRIu64 " fills; the newest state is %" PRIu64
            " events old, a full segment has %" PRIu64 "\n",
            log.events, counters->fills, day.event.seq - newest, newest - previous);
    engine_destroy(engine);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fputs("usage: engine_log FOLDER FILE\n", stderr);
        return 2;
    }
    frames_pin();
    measure_recording(argv[1], argv[2]);
    measure_day(argv[1]);
    return EXIT_SUCCESS;
}
