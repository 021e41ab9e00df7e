/* The synthetic market: its messages agree with each other, the same seed gives the same bytes, and it looks
 * like a market. */
#include "exchange/replay/synthetic.h"

#include <math.h>

#include "tests/replay/made.h"

#define NS_PER_S 1000000000LL
#define START_NS (1723161255LL * NS_PER_S)

struct run {
    struct tape *tape;
    struct replay_source *source;
    struct made_check check;
};

static void run_begin_crowd(struct run *run, uint64_t seed, int symbols, double rate, const char *symbol,
                            int unit)
{
    run->tape = calloc(1, sizeof(*run->tape));
    CHECK(run->tape != NULL);
    replay_tape_init(run->tape);
    struct synthetic_config config = {
        .seed = seed, .start_ns = START_NS + 12345, .end_ns = INT64_MAX, .symbols = symbols, .rate = rate};
    CHECK_INT(replay_synthetic_create(run->tape, &config, &run->source), 0);
    CHECK_INT(run->tape->now_ns, START_NS);
    made_check_init(&run->check, run->source, symbol, unit);
}

static void run_begin(struct run *run, uint64_t seed, const char *symbol)
{
    run_begin_crowd(run, seed, 2, 0, symbol, STREAM_MS);
}

static void run_for(struct run *run, int64_t seconds)
{
    while (run->source->ops->due(run->source) <= START_NS + seconds * NS_PER_S)
        CHECK_INT(run->source->ops->step(run->source), 0);
    CHECK(!run->tape->failed);
}

static void run_end(struct run *run)
{
    source_destroy(run->source);
    made_check_finish(&run->check);
    replay_tape_finish(run->tape);
    free(run->tape);
}

static void test_agreement(const char *symbol, uint64_t seed, int64_t base_price, int64_t seconds)
{
    struct run run;
    run_begin(&run, seed, symbol);
    run_for(&run, seconds);
    const struct made_check *c = &run.check;
    made_check_book(&run.check);
    printf("%s seed %" PRIu64 ": %" PRId64 " s, %" PRIu64 " trades, %" PRIu64 " aggregates, %" PRIu64
           " quotes, %" PRIu64 " differences, %" PRIu64 " klines (%" PRIu64 " closed), mean spread %" PRId64
           "\n",
           symbol, seed, seconds, c->trades, c->aggs, c->quotes, c->diffs, c->klines, c->closed,
           c->spread_sum / (int64_t)c->quotes);
    CHECK(c->trades > (uint64_t)seconds * 10 && c->trades < (uint64_t)seconds * 100);
    CHECK(c->aggs < c->trades && c->aggs > c->trades / 2);
    CHECK(c->diffs > (uint64_t)seconds * 9 && c->diffs <= (uint64_t)seconds * 10);
    CHECK(c->slow_diffs >= (uint64_t)seconds - 2 && c->tickers >= (uint64_t)seconds - 2);
    CHECK(c->closed >= (uint64_t)(seconds + seconds / 60 + seconds / 300) - 2);
    CHECK(c->bids.n >= 200 && c->asks.n >= 200);
    CHECK(c->bid.price > base_price / 100 * 90 && c->ask.price < base_price / 100 * 110);
    CHECK(c->spread_sum / (int64_t)c->quotes <=
          20 * 1000000); /* ticks of 0.01, the sweeps' moments included */
    run_end(&run);
}

static void test_determinism(void)
{
    uint64_t hashes[3];
    for (int i = 0; i < 3; i++) {
        struct run run;
        run_begin(&run, i < 2 ? 7 : 8, "BTCUSDT");
        run_for(&run, 20);
        hashes[i] = run.check.hash;
        run_end(&run);
    }
    CHECK(hashes[0] == hashes[1]);
    CHECK(hashes[0] != hashes[2]);
}

/* History ends where the live market begins, without holes, and larger bars are made of smaller ones. */
static void test_history(void)
{
    static struct candle bars[1000];
    struct run run;
    run_begin(&run, 7, "ETHUSDT");
    struct candles *candles = &run.tape->symbols[run.check.symbol].candles;
    int64_t before = START_NS - 1;
    for (int interval = 0; interval <= replay_candle_interval_find("1d", 2); interval++) {
        int64_t length = replay_candle_interval_ns(interval);
        int64_t end = before;
        size_t count = 0;
        int64_t next_open = -1, next_first_id = -1;
        for (size_t n = 1; n > 0 && count < 1500; count += n) {
            n = replay_candles_query(candles, interval, -1, end, 1000, bars);
            for (size_t i = n; i > 0; i--) {
                const struct candle *bar = &bars[i - 1];
                if (next_open >= 0) {
                    CHECK_INT(bar->open_ns + length, next_open);
                    CHECK_INT(bar->last_id + 1, next_first_id);
                }
                CHECK(bar->high >= bar->open && bar->high >= bar->close && bar->low <= bar->open &&
                      bar->low <= bar->close);
                CHECK(bar->volume > 0 && bar->taker_volume <= bar->volume &&
                      bar->last_id - bar->first_id + 1 == bar->trades);
                CHECK(bar->low > 0);
                next_open = bar->open_ns;
                next_first_id = bar->first_id;
            }
            end = next_open - 1;
        }
        CHECK(count >= 1500);
    }
    const struct candle_tier *seconds = &candles->tiers[0];
    CHECK_INT(seconds->bars[seconds->n - 1].open_ns, START_NS - NS_PER_S);
    struct candle day, minute = {0};
    CHECK(replay_candles_get(candles, replay_candle_interval_find("1h", 2),
                             replay_candle_open_time(6, START_NS) - 3600 * NS_PER_S, &day));
    for (int i = 0; i < 60; i++) {
        struct candle one;
        CHECK(replay_candles_get(candles, 1, day.open_ns + i * 60 * NS_PER_S, &one));
        if (i == 0)
            minute = one;
        else
            replay_candle_join(&minute, &one);
    }
    CHECK(minute.open == day.open && minute.close == day.close && minute.high == day.high &&
          minute.low == day.low);
    CHECK(minute.volume == day.volume && minute.trades == day.trades && minute.first_id == day.first_id);
    run_end(&run);
}

/* A strategy has something to do: the 10 and 30 second averages cross now and then. */
static void test_crosses(void)
{
    static double closes[4000];
    size_t n = 0, crosses = 0;
    struct run run;
    run_begin(&run, 7, "BTCUSDT");
    run_for(&run, 600);
    const struct candle_tier *seconds = &run.tape->symbols[run.check.symbol].candles.tiers[0];
    for (size_t i = seconds->n - 600; i < seconds->n; i++)
        closes[n++] = (double)seconds->bars[i].close;
    double before = 0;
    for (size_t i = 30; i < n; i++) {
        double fast = 0, slow = 0;
        for (size_t k = 0; k < 30; k++) {
            slow += closes[i - k] / 30;
            fast += k < 10 ? closes[i - k] / 10 : 0;
        }
        crosses += before != 0 && (fast - slow) * before < 0;
        before = fast - slow;
    }
    printf("crosses of SMA(10) and SMA(30) in 570 s: %zu\n", crosses);
    CHECK(crosses >= 8 && crosses <= 60);
    run_end(&run);
}

/* Many symbols at an even rate: each agrees with itself and says as much as was asked for. */
static void test_crowd(int symbols, double rate, const char *symbol)
{
    enum { SECONDS = 20 };
    struct run run;
    run_begin_crowd(&run, 7, symbols, rate, symbol, symbols % 2 == 0 ? STREAM_US : STREAM_MS);
    CHECK_INT(run.tape->n_symbols, symbols);
    run_for(&run, SECONDS);
    made_check_book(&run.check);
    double messages = (double)(run.check.trades + run.check.quotes + run.check.diffs);
    printf("%d symbols, %g messages/s each: %s said %g in %d s\n", symbols, rate, symbol, messages, SECONDS);
    /* The last action may have sent several at once, and it began up to a tenth of a second late. */
    CHECK(fabs(messages - rate * SECONDS) <= 0.1 * rate + 12);
    CHECK(run.check.trades > 0 && run.check.quotes > 0 && run.check.diffs > 0);
    for (int i = 0; i < symbols; i++) {
        const struct tape_symbol *s = &run.tape->symbols[i];
        struct symbol listed;
        CHECK_INT(symbol_default(s->name, NULL, s->price_digits, s->qty_digits, &listed), 0);
        CHECK_INT(replay_tape_symbol_find(run.tape, s->lower, strlen(s->lower)), i);
        CHECK(s->candles.tiers[1].n >= 64);
    }
    run_end(&run);
}

int main(void)
{
    test_agreement("BTCUSDT", 7, 60000 * 100000000LL, 400);
    test_agreement("ETHUSDT", 1, 3000 * 100000000LL, 400);
    test_agreement("BTCUSDT", UINT64_MAX, 60000 * 100000000LL, 120);
    test_determinism();
    test_history();
    test_crosses();
    test_crowd(300, 50, "XAFZUSDT");
    test_crowd(3, 400, "XAAAUSDT");
    test_crowd(40, 2, "BTCUSDT");
    return check_done("synthetic");
}
