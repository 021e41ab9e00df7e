/* Events a second through the engine on one core, without network, parser or disk: engine_events FILE.
 * bench/engine runs it. FILE is a recording (../shared/data/README.md), or one of the synthetic market.
 * Everything is in memory, parsed, before the clock starts.
 *
 * On standard output a line a figure: case, median, best, unit between tabs, of ROUNDS rounds in processor
 * time, each with an engine of its own. Cases, and what ends every round alike or nothing is printed:
 * - book: the recording's depth differences and quotes, and its snapshot; one account, no order
 * - market: all its events, trades too
 * - bars5: closed bars of a minute of one symbol, each after a quote at its close that is counted in the
 *   time but not in the number; a strategy reads five indicators (sma ema rsi macd atr) and buys and sells
 *   on crosses, so that orders, fills and ledger rows are made
 * - bars5_50: the same of 50 symbols in turn
 * - trades_orders: the recording's trades, while ORDERS limit and stop orders rest at 1 to 2 % from the
 *   price; one trade in FILL_EVERY meets an order near the price that fills
 * - floor: a bare copy of each event of `book` into another place: what memory alone would allow
 *
 * Prediction, at 4 GHz, for btcusdt_2024-08-08:
 * - book: quotes (nine of ten events) cost a compare and 40 bytes, 15 ns with the dispatch; differences bring
 *   30 levels on average at 25 ns: 0.1 * 750 + 15 = 90 ns: 1.1e7 events/s
 * - bars5: five streams at 15 ns (macd three averages), the strategy's input 40 ns, an equity point 20 ns,
 *   the quote 15 ns: 150 ns; an order every ten bars with its SHA-256 rows (3 at 400 ns), a market order's
 *   way 500 ns: 170 ns more; 320 ns: 3.1e6 bars/s
 * - trades_orders: a look at each of 40 orders at 2 ns, the bar 10 ns: 100 ns; 1e7 events/s, if nothing is
 *   looked at twice */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/reel.h"
#include "engine/engine.h"
#include "engine/event.h"
#include "strategy/strategy.h"

enum {
    ROUNDS = 9,
    BARS = 50000,
    MANY = 50,
    ORDERS = 40,
    FILL_EVERY = 100,
    SPECS = 5,
};

#define SECOND_NS REEL_SECOND_NS
#define MINUTE_NS (60 * SECOND_NS)
#define START_NS  REEL_START_NS
#define E8        100000000LL

_Noreturn static void die(const char *what, int r)
{
    fprintf(stderr, "engine_events: %s: %s\n", what, strerror(-r));
    exit(EXIT_FAILURE);
}

/* ---- the strategy */

static size_t five_specs(const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    static const char *const names[SPECS] = {"sma:20", "ema:20", "rsi:14", "macd:12,26,9", "atr:14"};
    (void)params;
    for (int i = 0; i < SPECS; i++)
        snprintf(specs[i], STRATEGY_SPEC_TEXT, "%s", names[i]);
    return SPECS;
}

enum { SMA, EMA, RSI, MACD, SIGNAL, HISTOGRAM, ATR };

static size_t five_on_bar(const double *params, void *state, const struct strategy_input *input,
                          struct intent *intents)
{
    const double *value = input->indicators;
    int *before = state, side = value[EMA] > value[SMA] ? 1 : -1;
    (void)params;
    int crossed = *before != 0 && *before != side;
    *before = side;
    if (!crossed || input->live_orders)
        return 0;
    if (side < 0 && input->qty > 0) {
        intents[0] = (struct intent){.kind = INTENT_EXIT, .why = "cross down"};
        return 1;
    }
    if (side > 0 && input->qty == 0 && value[RSI] < 80 && value[HISTOGRAM] > -value[ATR]) {
        intents[0] = (struct intent){.kind = INTENT_ENTER,
                                     .fraction = 0.01,
                                     .stop = input->close - 50 * value[ATR],
                                     .why = "cross up"};
        return 1;
    }
    return 0;
}

static const struct strategy five = {
    .name = "five", .summary = "for the benchmark", .specs = five_specs, .on_bar = five_on_bar};

/* ---- engines */

struct job {
    const char *name;
    const struct event *events;
    size_t n, counted; /* counted: what the rate counts */
    const struct symbol *symbols;
    int n_symbols;
    const struct strategy *strategy;
    uint64_t fills;
};

static struct engine *open_engine(const struct job *job)
{
    struct account_spec account = {.name = "main",
                                   .currency = "USDT",
                                   .currency_scale = 8,
                                   .cash = 1000000 * E8,
                                   .rules = {.fees = {1000, 1000}, .risk = {.exposure_symbol = 0.5}},
                                   .strategy = job->strategy};
    struct engine_config config = {.symbols = job->symbols,
                                   .n_symbols = job->n_symbols,
                                   .accounts = &account,
                                   .n_accounts = 1,
                                   .interval_ns = MINUTE_NS,
                                   .latency_ns = SECOND_NS / 20,
                                   .equity_interval_ns = 10 * SECOND_NS};
    struct engine_sink sink = {0};
    struct engine *engine;
    int r = engine_create(&config, &sink, &engine);
    if (r == 0)
        r = engine_start(engine, START_NS);
    if (r < 0)
        die("engine", r);
    return engine;
}

static uint64_t run_engine(struct job *job)
{
    struct engine *engine = open_engine(job);
    for (size_t i = 0; i < job->n; i++) {
        int r = engine_handle(engine, &job->events[i]);
        if (r < 0)
            die(job->name, r);
    }
    const struct engine_counters *counters = engine_counters(engine);
    const struct book_level *bid = book_bid(engine_book(engine, 0), 0);
    uint64_t hash = counters->fills * 31 + counters->orders * 17 + (uint64_t)engine_equity(engine, 0) +
                    (bid ? (uint64_t)bid->qty : 0);
    job->fills = counters->fills;
    engine_destroy(engine);
    return hash;
}

static uint64_t run_copy(struct job *job)
{
    static struct event to;
    uint64_t sum = 0;
    for (size_t i = 0; i < job->n; i++) {
        to = job->events[i];
        __asm__("" ::"m"(to));
        sum += to.seq;
    }
    return sum;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(struct job *job, uint64_t (*run)(struct job *))
{
    double rates[ROUNDS];
    uint64_t expected = run(job); /* and the caches are warm */
    for (int round = 0; round < ROUNDS; round++) {
        int64_t begin_ns = frames_cpu_ns();
        uint64_t hash = run(job);
        rates[round] = 1e9 * (double)job->counted / (double)(frames_cpu_ns() - begin_ns);
        if (hash != expected) {
            fprintf(stderr, "engine_events: %s: two rounds end differently\n", job->name);
            exit(EXIT_FAILURE);
        }
    }
    qsort(rates, ROUNDS, sizeof *rates, by_value);
    printf("%s\t%.0f\t%.0f\tevents/s\n", job->name, rates[ROUNDS / 2], rates[ROUNDS - 1]);
    fprintf(stderr, "%s: %zu events, %zu counted, %llu fills\n", job->name, job->n, job->counted,
            (unsigned long long)job->fills);
}

/* ---- events in memory */

static bool is_market(const struct event *event, enum market_kind kind)
{
    return event->kind == EVENT_MARKET && event->market.kind == kind;
}

static void only_book(const struct reel *all, struct reel *ret)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->events[i].kind == EVENT_SNAPSHOT || is_market(&all->events[i], MARKET_DEPTH) ||
            is_market(&all->events[i], MARKET_QUOTE))
            reel_put(ret, &all->events[i]);
}

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static struct event quote_at(int symbol, int64_t recv_ns, uint64_t id, int64_t price)
{
    return (struct event){.recv_ns = recv_ns,
                          .kind = EVENT_MARKET,
                          .market = {.kind = MARKET_QUOTE,
                                     .symbol = symbol,
                                     .quote = {id, price - price % 1000000, 5 * E8,
                                               price - price % 1000000 + 1000000, 5 * E8}}};
}

/* Bars of a walk: each opens at the close before. bench/engine_peers.py makes the same. */
static void make_bars(int n_symbols, struct reel *ret)
{
    static int64_t prices[MANY];
    uint64_t random = 88172645463325252u;
    for (int s = 0; s < n_symbols; s++)
        prices[s] = 60000 * E8;
    for (int i = 0; i < BARS; i++) {
        int s = i % n_symbols;
        int64_t step = (int64_t)(next_random(&random) % 12001) - 6000,
                up = (int64_t)(next_random(&random) % 3000), down = (int64_t)(next_random(&random) % 3000),
                open = prices[s], close = open + step * 1000000,
                high = (open > close ? open : close) + up * 1000000,
                low = (open < close ? open : close) - down * 1000000;
        if (close < 1000 * E8)
            close = low = 1000 * E8;
        prices[s] = close;
        int64_t open_ns = START_NS + i / n_symbols * MINUTE_NS, recv_ns = open_ns + MINUTE_NS;
        struct event event = quote_at(s, recv_ns, (uint64_t)i + 1, close);
        reel_put(ret, &event);
        event = (struct event){.recv_ns = recv_ns,
                               .kind = EVENT_MARKET,
                               .market = {.kind = MARKET_KLINE,
                                          .symbol = s,
                                          .event_ns = recv_ns,
                                          .kline = {.interval_ns = MINUTE_NS,
                                                    .closed = true,
                                                    .bar = {.open_ns = open_ns,
                                                            .open = open,
                                                            .high = high,
                                                            .low = low,
                                                            .close = close,
                                                            .volume = 10 * E8,
                                                            .trades = 100,
                                                            .first_trade_id = -1,
                                                            .last_trade_id = -1}}}};
        reel_put(ret, &event);
    }
}

/* An event points to its orders: as long as the process lives. */
static struct order *keep_leg(struct order leg)
{
    struct order *kept = malloc(sizeof *kept);
    if (!kept)
        exit(EXIT_FAILURE);
    *kept = leg;
    return kept;
}

static struct event order_event(int64_t recv_ns, enum order_side side, enum order_type type, int64_t price)
{
    struct event event = {.recv_ns = recv_ns,
                          .kind = EVENT_COMMAND,
                          .command = {.kind = COMMAND_ORDER, .order = {.n_legs = 1}}};
    price -= price % 1000000;
    event.command.order.legs = keep_leg((struct order){.side = side,
                                                       .type = type,
                                                       .qty = E8 / 1000,
                                                       .price = type == ORDER_LIMIT ? price : 0,
                                                       .stop_price = type == ORDER_STOP ? price : 0,
                                                       .by_hand = true,
                                                       .tag = "bench"});
    return event;
}

/* Orders rest on both sides; every FILL_EVERY trades one more is placed where the next trades fill it. */
static size_t make_trades(const struct reel *all, struct reel *ret)
{
    size_t trades = 0;
    for (size_t i = 0; i < all->n; i++) {
        if (!is_market(&all->events[i], MARKET_TRADE))
            continue;
        int64_t recv_ns = all->events[i].recv_ns, price = all->events[i].market.trade.price;
        for (int k = 0; k < ORDERS && trades == 0; k++) {
            struct event event = quote_at(0, recv_ns, 1, price);
            if (k == 0)
                reel_put(ret, &event);
            bool stop = k % 2;
            event = order_event(recv_ns, ORDER_BUY, stop ? ORDER_STOP : ORDER_LIMIT,
                                price + (stop ? 1 : -1) * (price / 100 + k * price / 4000));
            reel_put(ret, &event);
        }
        if (trades % FILL_EVERY == 0) {
            struct event event = order_event(recv_ns, ORDER_BUY, ORDER_LIMIT, price - 1000000);
            reel_put(ret, &event);
        }
        reel_put(ret, &all->events[i]);
        trades++;
    }
    return trades;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: engine_events FILE\n", stderr);
        return 2;
    }
    static struct symbol symbols[MANY];
    for (int s = 0; s < MANY; s++) {
        symbols[s] = frames_symbol;
        if (s > 0) {
            snprintf(symbols[s].name, sizeof symbols[s].name, "S%dUSDT", s);
            snprintf(symbols[s].base, sizeof symbols[s].base, "S%d", s);
        }
    }
    struct reel all = {0}, book = {0}, bars = {0}, bars_many = {0}, trades = {0};
    reel_read(argv[1], &all);
    only_book(&all, &book);
    make_bars(1, &bars);
    make_bars(MANY, &bars_many);
    size_t n_trades = make_trades(&all, &trades);
    frames_pin();
    struct job jobs[] = {
        {"book", book.events, book.n, book.n, symbols, 1, NULL, 0},
        {"market", all.events, all.n, all.n, symbols, 1, NULL, 0},
        {"bars5", bars.events, bars.n, BARS, symbols, 1, &five, 0},
        {"bars5_50", bars_many.events, bars_many.n, BARS, symbols, MANY, &five, 0},
        {"trades_orders", trades.events, trades.n, n_trades, symbols, 1, NULL, 0},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        measure(&jobs[i], run_engine);
    struct job floor_of_book = {"floor", book.events, book.n, book.n, symbols, 1, NULL, 0};
    measure(&floor_of_book, run_copy);
    return EXIT_SUCCESS;
}
