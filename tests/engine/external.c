/* External columns: what a strategy sees of them in a backtest, live with saved states and recorded events,
 * and as columns, against a search of all values for each bar; guards; files, and what is refused of them. */
#include "engine/backtest/external.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>

#include "engine/backtest/guard.h"
#include "engine/backtest/read.h"
#include "engine/column.h"
#include "engine/event_text.h"
#include "engine/record.h"
#include "engine/specs.h"
#include "tests/engine/reload.h"
#include "tests/engine/synthetic_market.h"
#include "tests/scratch.h"

#define E8        INT64_C(100000000)
#define SECOND_NS INT64_C(1000000000)
#define MINUTE_NS (60 * SECOND_NS)

enum { SYMBOLS = 2, ROWS = 1500, FROM = 100, VALUES = 400, OUTPUTS = 4, FILLS_MAX = 4096 };

static const struct made_walk walk = {
    .gaps_permille = 10, .gap_longest = 5, .steps = 40, .start = 60000 * E8, .tick = E8 / 100, .step = 1000};

static struct {
    const struct market *market;
    double values[SYMBOLS][ROWS][OUTPUTS];
    bool seen[SYMBOLS][ROWS];
} noted;

static size_t specs_of(const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    static const char *const words[OUTPUTS] = {"col:funding", "sma:3@col:funding", "col:mood,7m", "sma:2"};
    (void)params;
    for (int i = 0; i < OUTPUTS; i++)
        snprintf(specs[i], STRATEGY_SPEC_TEXT, "%s", words[i]);
    return OUTPUTS;
}

/* Long while its symbol's funding is above 0. */
static size_t follow(const double *params, void *state, const struct strategy_input *input,
                     struct intent *intents)
{
    const struct market *market = noted.market;
    const size_t row = (size_t)((input->ts_ns - market->start_ns) / market->interval_ns) - 1;
    (void)params;
    (void)state;
    for (int s = 0; row < ROWS && s < SYMBOLS; s++)
        if (market_present(&market->series[s], row) && market->series[s].close[row] == input->close &&
            market->series[s].open[row] == input->open && market->series[s].high[row] == input->high) {
            memcpy(noted.values[s][row], input->indicators, sizeof noted.values[s][row]);
            noted.seen[s][row] = true;
        }
    bool wanted = input->indicators[0] > 0;
    if (wanted == (input->qty > 0) || input->live_orders)
        return 0;
    intents[0] = (struct intent){
        .kind = wanted ? INTENT_ENTER : INTENT_EXIT, .fraction = wanted ? 0.3 : 0, .why = "funding"};
    return 1;
}

static const struct strategy follower = {
    .name = "follower", .summary = "follows its funding", .specs = specs_of, .on_bar = follow};

const struct strategy *const *strategy_list(size_t *ret_n)
{
    static const struct strategy *const all[] = {&follower};
    *ret_n = 1;
    return all;
}

static struct synthetic_market made;
static struct external_columns columns;
static struct account_spec account;

static void random_column(struct random *random, const char *name, const char *symbol)
{
    struct external_column *column = &columns.columns[columns.n++];
    *column = (struct external_column){.values = calloc(VALUES, sizeof *column->values)};
    snprintf(column->name, sizeof column->name, "%s", name);
    snprintf(column->symbol, sizeof column->symbol, "%s", symbol);
    int64_t published_ns = MADE_START_NS - 100 * MINUTE_NS, of_ns = published_ns - MINUTE_NS;
    while (column->n < VALUES) {
        /* now and then on a bar's very end, several in a bar, or none for long */
        published_ns += random_between(random, 1, random_chance(random, 10) ? 30 * MINUTE_NS : 6 * MINUTE_NS);
        if (random_chance(random, 30))
            published_ns += MINUTE_NS - published_ns % MINUTE_NS;
        if (random_chance(random, 90) && published_ns - SECOND_NS > of_ns)
            of_ns = published_ns - random_between(random, 0, SECOND_NS);
        column->values[column->n++] =
            (struct column_value){of_ns, published_ns, (double)random_between(random, -1000, 1000) / 64};
    }
}

static void make_columns(struct random *random)
{
    columns = (struct external_columns){.columns = calloc(4, sizeof *columns.columns), .cap = 4};
    random_column(random, "funding", "");
    random_column(random, "funding", "C1USDT");
    random_column(random, "mood", "");
    random_column(random, "mood", "NONEUSDT"); /* of no symbol here */
}

/* Every value is looked at. */
static double searched(const char *name, int symbol, int64_t end_ns, int64_t age_ns)
{
    int64_t newest_ns = INT64_MIN;
    double value = NAN;
    for (size_t i = 0; i < columns.n; i++) {
        const struct external_column *column = &columns.columns[i];
        bool own = strcmp(column->symbol, made.series[symbol].symbol.name) == 0;
        for (size_t k = 0; strcmp(column->name, name) == 0 && (own || !column->symbol[0]) && k < column->n;
             k++)
            if (column->values[k].published_ns <= end_ns && column->values[k].published_ns >= newest_ns) {
                newest_ns = column->values[k].published_ns;
                value = column->values[k].value;
            }
    }
    return age_ns > 0 && end_ns - newest_ns > age_ns ? NAN : value;
}

static bool same(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
}

/* What was noted of a row, against the search; the average is of the last three bars that are there. */
static void check_noted(void)
{
    size_t stale = 0, numbers = 0;
    for (int s = 0; s < SYMBOLS; s++) {
        double last[3] = {NAN, NAN, NAN};
        for (size_t row = 0; row < ROWS; row++) {
            int64_t end_ns = market_open_ns(&made.market, row + 1);
            if (!market_present(&made.series[s], row))
                continue;
            double funding = searched("funding", s, end_ns, 0),
                   mood = searched("mood", s, end_ns, 7 * MINUTE_NS);
            if (!isnan(funding)) {
                memmove(last, last + 1, 2 * sizeof *last);
                last[2] = funding;
            }
            if (!noted.seen[s][row])
                continue;
            const double *values = noted.values[s][row];
            CHECK(same(values[0], funding) && same(values[2], mood));
            CHECK(isnan(last[0]) ? isnan(values[1])
                                 : fabs(values[1] - (last[0] + last[1] + last[2]) / 3) < 1e-9);
            stale += isnan(mood);
            numbers += !isnan(mood);
        }
    }
    CHECK(stale > 100 && numbers > 500);
}

static struct backtest_config config_of(enum backtest_way way)
{
    return (struct backtest_config){.market = &made.market,
                                    .external = &columns,
                                    .from = FROM,
                                    .to = ROWS,
                                    .accounts = &account,
                                    .n_accounts = 1,
                                    .latency_ns = 50000000,
                                    .way = way,
                                    .threads = 1,
                                    .orders = true};
}

static void check_read(void)
{
    static const char *const names[OUTPUTS] = {"col_funding", "sma_3@col_funding", "col_mood_7m", "sma_2"};
    const struct backtest_config config = config_of(BACKTEST_AUTO);
    for (int s = 0; s < SYMBOLS; s++) {
        struct backtest_read read;
        char err[SPECS_ERROR_MAX] = "";
        CHECK_INT(backtest_read_symbol(&config, 0, s, &read, err), 0);
        CHECK_INT(read.n, OUTPUTS);
        for (int k = 0; k < OUTPUTS; k++)
            CHECK_STR(read.names[k], names[k]);
        for (size_t row = FROM; row < ROWS; row++)
            for (int k = 0; k < OUTPUTS && market_present(&made.series[s], row); k++)
                CHECK(noted.seen[s][row] &&
                      same(read.values[(size_t)k * read.rows + row - FROM], noted.values[s][row][k]));
        backtest_read_finish(&read);
    }
}

/* ---- live ---- */

static struct fill fills[FILLS_MAX];
static size_t n_fills;

static void on_fill(void *ctx, const struct fill *fill)
{
    (void)ctx;
    if (n_fills < FILLS_MAX)
        fills[n_fills++] = *fill;
}

struct live {
    struct engine *engine;
    uint64_t seq;
    struct random *random;
    size_t next[4];
};

/* As the journal gives it. */
static void give(struct live *live, const struct event *event)
{
    struct codec codec = {0};
    struct event_memory memory = {0};
    struct event read = {.seq = ++live->seq, .recv_ns = event->recv_ns};
    CHECK_INT(event_encode(event, &codec), 0);
    CHECK_INT(event_decode(codec.bytes, codec.len, &memory, &read), 0);
    CHECK_INT(engine_handle(live->engine, &read), 0);
    codec_finish(&codec);
    event_memory_finish(&memory);
    if (random_chance(live->random, 2))
        reload_engine(&live->engine);
}

/* Values that are published by then, and at random some that are not yet. */
static void give_values(struct live *live, int64_t until_ns)
{
    for (size_t i = 0; i < columns.n; i++) {
        const struct external_column *column = &columns.columns[i];
        int symbol = column->symbol[0] ? engine_find_symbol(live->engine, column->symbol) : -1;
        while (live->next[i] < column->n &&
               (column->values[live->next[i]].published_ns <= until_ns || random_chance(live->random, 3))) {
            struct event event = {.kind = EVENT_COLUMN,
                                  .recv_ns = until_ns,
                                  .column = {symbol, "", column->values[live->next[i]++]}};
            memcpy(event.column.name, column->name, sizeof event.column.name);
            if (symbol >= 0 || !column->symbol[0])
                give(live, &event);
        }
    }
}

static struct bar exact_bar(int symbol, size_t row)
{
    const struct market_series *series = &made.series[symbol];
    struct bar bar = {
        .open_ns = market_open_ns(&made.market, row), .first_trade_id = -1, .last_trade_id = -1};
    decimal_from_double(series->open[row], 8, &bar.open);
    decimal_from_double(series->high[row], 8, &bar.high);
    decimal_from_double(series->low[row], 8, &bar.low);
    decimal_from_double(series->close[row], 8, &bar.close);
    decimal128_from_double(series->volume[row], 8, &bar.volume);
    return bar;
}

/* Rows before FROM are history that is there before, so that its bars see values of the past. */
static void give_bars(struct live *live, size_t row)
{
    for (int s = 0; s < SYMBOLS; s++) {
        if (!market_present(&made.series[s], row))
            continue;
        const struct bar bar = exact_bar(s, row);
        struct event event = {.recv_ns = market_open_ns(&made.market, row + 1)};
        if (row < FROM) {
            event.kind = EVENT_BARS;
            event.bars = (struct event_bars){.symbol = s, .bars = &bar, .n = 1};
        } else {
            event.kind = EVENT_MARKET;
            event.market = (struct market_event){.kind = MARKET_KLINE,
                                                 .symbol = s,
                                                 .event_ns = event.recv_ns,
                                                 .kline = {MINUTE_NS, bar, true}};
        }
        give(live, &event);
        event.kind = EVENT_BARS; /* a gap is one */
        event.bars = (struct event_bars){.symbol = s};
        give(live, &event);
    }
}

static void run_live(struct random *random, const struct engine_config *setup)
{
    const struct engine_sink sink = {.fill = on_fill};
    struct live live = {.random = random};
    n_fills = 0;
    CHECK_INT(engine_create(setup, &sink, &live.engine), 0);
    for (size_t row = 0; row < ROWS; row++) {
        give_values(&live, market_open_ns(&made.market, row + 1));
        give_bars(&live, row);
    }
    engine_destroy(live.engine);
}

static void test_ways(struct random *random)
{
    const struct symbol symbols[SYMBOLS] = {made.series[0].symbol, made.series[1].symbol};
    const struct engine_config setup = {.symbols = symbols,
                                        .n_symbols = SYMBOLS,
                                        .accounts = &account,
                                        .n_accounts = 1,
                                        .interval_ns = MINUTE_NS,
                                        .latency_ns = 50000000,
                                        .fill_model = FILL_BAR};
    struct backtest backtest;
    char err[512] = "";
    const struct backtest_config config = config_of(BACKTEST_AUTO);
    CHECK_INT(backtest_run(&config, &backtest, err, sizeof err), 0);
    CHECK_STR(err, "");
    CHECK_INT(backtest.accounts[0].way, BACKTEST_ENGINE);
    check_noted();
    check_read();
    memset(noted.seen, 0, sizeof noted.seen);
    run_live(random, &setup);
    check_noted();
    CHECK(backtest.accounts[0].n_fills > 50);
    CHECK_INT(n_fills, backtest.accounts[0].n_fills);
    for (size_t i = 0; i < n_fills && i < backtest.accounts[0].n_fills; i++) {
        const struct fill *a = &fills[i], *b = &backtest.accounts[0].fills[i];
        CHECK(a->symbol == b->symbol && a->side == b->side && a->price == b->price && a->qty == b->qty &&
              a->ts_ns == b->ts_ns && a->order_id == b->order_id);
    }
    backtest_finish(&backtest);
}

/* ---- the future ---- */

/* What is published after a row's end changes nothing up to it. */
static void test_future(struct random *random)
{
    static double before[SYMBOLS][ROWS][OUTPUTS];
    const size_t cut = (size_t)random_between(random, ROWS / 3, ROWS / 2);
    const struct external_change change = {
        .after_ns = market_open_ns(&made.market, cut + 1), .changes = true, .seed = 5};
    struct external_columns changed;
    struct backtest backtest;
    char err[512] = "";
    size_t differ = 0;
    memcpy(before, noted.values, sizeof before);
    CHECK_INT(backtest_external_copy(&columns, &change, &changed), 0);
    struct backtest_config config = config_of(BACKTEST_AUTO);
    config.external = &changed;
    CHECK_INT(backtest_run(&config, &backtest, err, sizeof err), 0);
    for (int s = 0; s < SYMBOLS; s++)
        for (size_t row = 0; row < ROWS; row++)
            for (int k = 0; k < OUTPUTS && market_present(&made.series[s], row); k++) {
                bool equal = same(before[s][row][k], noted.values[s][row][k]);
                CHECK(row > cut || equal);
                differ += !equal;
            }
    CHECK(differ > 500);
    backtest_finish(&backtest);
    backtest_external_finish(&changed);
}

static void test_guards(void)
{
    const struct guard_config config = {.market = &made.market,
                                        .external = &columns,
                                        .account = &account,
                                        .latency_ns = 50000000,
                                        .cuts = 6,
                                        .seed = 7,
                                        .threads = 1};
    struct guard_lookahead lookahead = {0};
    struct guard_warmup warmup = {0};
    char err[512] = "";
    CHECK_INT(backtest_guard_lookahead(&config, &lookahead, err, sizeof err), 0);
    CHECK_STR(err, "");
    CHECK(!lookahead.found && lookahead.decisions > 50 && !lookahead.columns);
    CHECK_INT(backtest_guard_warmup(&config, &warmup, err, sizeof err), 0);
    CHECK_STR(err, "");
    CHECK(warmup.settles && warmup.decisions > 10);
    struct guard_config without = config;
    without.external = NULL;
    CHECK_INT(backtest_guard_lookahead(&without, &lookahead, err, sizeof err), -EINVAL);
    CHECK_STR(err, "strategy follower reads col:funding: a file with that column is needed, as --columns");
}

/* ---- what is refused ---- */

static void test_names(void)
{
    struct backtest backtest;
    char err[512] = "";
    struct backtest_config config = config_of(BACKTEST_COLUMNS);
    CHECK_INT(backtest_run(&config, &backtest, err, sizeof err), -EINVAL);
    CHECK(strstr(err, "it reads external columns"));
    char saved[COLUMN_NAME_MAX];
    memcpy(saved, columns.columns[2].name, sizeof saved);
    for (int i = 2; i < 4; i++)
        snprintf(columns.columns[i].name, COLUMN_NAME_MAX, "moods");
    config.way = BACKTEST_AUTO;
    CHECK_INT(backtest_run(&config, &backtest, err, sizeof err), -EINVAL);
    CHECK_STR(err, "strategy follower reads col:mood: no file of columns has it: did you mean moods?");
    for (int i = 2; i < 4; i++)
        memcpy(columns.columns[i].name, saved, sizeof saved);
}

static void test_spec_words(void)
{
    static const char *const bad[] = {"col:",   "col:1st", "col:a-b",  "col:abcdefghijklmnopqrstuvwx",
                                      "col:a,", "col:a,8", "col:a,0h", "col:a@1h"};
    struct column_source source;
    char err[200] = "";
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK_INT(strategy_column_parse(bad[i], &source, err, sizeof err), -EINVAL);
    CHECK_INT(strategy_column_parse("col:abcdefghijklmnopqrstuvw,90s", &source, err, sizeof err), 0);
    CHECK_STR(source.name, "abcdefghijklmnopqrstuvw");
    CHECK_INT(source.age_ns, 90 * SECOND_NS);
    CHECK(strategy_column_is("col:x") && !strategy_column_is("sma:20@col:x"));
}

/* A value that is refused leaves the engine as it was. */
static void check_refused(struct engine *engine, int symbol, const char *name, struct column_value value,
                          const char *words)
{
    struct event event = {.seq = 9, .kind = EVENT_COLUMN, .column = {symbol, "", value}};
    char err[COLUMN_ERROR_MAX] = "";
    const uint32_t before = engine->n_columns;
    snprintf(event.column.name, sizeof event.column.name, "%s", name);
    event.recv_ns = engine_now(engine);
    CHECK(engine_column_check(engine, &event.column, err) < 0);
    CHECK(strstr(err, words));
    if (!strstr(err, words))
        fprintf(stderr, "%s\n", err);
    CHECK_INT(engine_handle(engine, &event), -EINVAL);
    CHECK_INT(engine->n_columns, before);
}

/* A name beyond the most that are kept has an error of its own: it is not for later. */
static void check_full(struct engine *engine, int64_t at)
{
    struct event event = {.recv_ns = engine_now(engine), .kind = EVENT_COLUMN};
    event.column = (struct event_column){1, "", {at, at, 1}};
    char err[COLUMN_ERROR_MAX];
    for (uint32_t i = engine->n_columns; i < COLUMN_SERIES_MAX; i++) {
        snprintf(event.column.name, sizeof event.column.name, "c%u", i);
        CHECK_INT(engine_handle(engine, &event), 0);
    }
    check_refused(engine, 0, "funding", event.column.value, "4096 columns");
    event.column.symbol = 0;
    CHECK_INT(engine_column_check(engine, &event.column, err), -E2BIG);
}

static void test_events(void)
{
    const struct symbol symbols[SYMBOLS] = {made.series[0].symbol, made.series[1].symbol};
    const struct engine_config setup = {.symbols = symbols,
                                        .n_symbols = SYMBOLS,
                                        .accounts = &account,
                                        .n_accounts = 1,
                                        .interval_ns = MINUTE_NS};
    const struct engine_sink sink = {0};
    struct engine *engine = NULL;
    const int64_t at = MADE_START_NS;
    CHECK_INT(engine_create(&setup, &sink, &engine), 0);
    struct event event = {
        .seq = 1, .recv_ns = at, .kind = EVENT_COLUMN, .column = {1, "funding", {at, at + 5, 0.25}}};
    char text[EVENT_TEXT_MAX];
    CHECK_INT(engine_handle(engine, &event), 0);
    CHECK_STR(event_text(&event, engine, text),
              "COLUMN funding of C1USDT: 0.25, at 2024-08-09T00:00:00Z, published 2024-08-09T00:00:00Z");
    check_refused(engine, 1, "funding", (struct column_value){at, at + 5, 1}, "each is later");
    check_refused(engine, 1, "funding", (struct column_value){at - 1, at + 6, 1}, "times rise");
    check_refused(engine, 1, "funding", (struct column_value){at + 9, at + 8, 1}, "before its timestamp");
    check_refused(engine, 1, "funding", (struct column_value){at, at + 8, NAN}, "not finite");
    check_refused(engine, 1, "funding", (struct column_value){at, at + 8, INFINITY}, "not finite");
    check_refused(engine, 1, "funding", (struct column_value){-1, at + 8, 1}, "after 1970");
    check_refused(engine, 2, "funding", (struct column_value){at, at + 8, 1}, "no such symbol");
    check_refused(engine, -1, "fun ding", (struct column_value){at, at + 8, 1}, "a letter, then");
    for (int64_t i = 1; i < COLUMN_VALUES_MAX; i++) {
        event.column.value = (struct column_value){at, at + MINUTE_NS + i, (double)i};
        CHECK_INT(engine_handle(engine, &event), 0);
    }
    check_refused(engine, 1, "funding", (struct column_value){at, at + 2 * MINUTE_NS, 1},
                  "not published yet");
    reload_engine(&engine);
    event.recv_ns = at + MINUTE_NS + 1; /* the second one is published: the first is no longer needed */
    event.column.value = (struct column_value){at, at + 2 * MINUTE_NS, 1};
    CHECK_INT(engine_handle(engine, &event), 0);
    reload_engine(&engine);
    check_full(engine, at);
    engine_destroy(engine);
}

/* Without the first symbol the second is the first: each column is still its symbol's. */
static void test_moved(void)
{
    const struct symbol symbols[SYMBOLS] = {made.series[0].symbol, made.series[1].symbol};
    struct engine_config setup = {.symbols = symbols,
                                  .n_symbols = SYMBOLS,
                                  .accounts = &account,
                                  .n_accounts = 1,
                                  .interval_ns = MINUTE_NS};
    const struct engine_sink sink = {0};
    struct engine *engine = NULL;
    char err[ENGINE_ERROR_MAX] = "";
    CHECK_INT(engine_create(&setup, &sink, &engine), 0);
    for (int s = -1; s < SYMBOLS; s++) {
        const int64_t at = MADE_START_NS + s;
        struct event event = {.seq = (uint64_t)s + 2,
                              .recv_ns = at,
                              .kind = EVENT_COLUMN,
                              .column = {s, "funding", {at, at, 1}}};
        CHECK_INT(engine_handle(engine, &event), 0);
    }
    setup.symbols = &symbols[1];
    setup.n_symbols = 1;
    CHECK_INT(engine_configure(engine, &setup, err), 0);
    CHECK_INT(engine_column_last(engine, -1, "funding"), MADE_START_NS - 1);
    CHECK_INT(engine_column_last(engine, 0, "funding"), MADE_START_NS + 1);
    CHECK_INT(engine_column_last(engine, 0, "mood"), 0);
    reload_engine(&engine);
    CHECK_INT(engine_column_last(engine, 0, "funding"), MADE_START_NS + 1);
    engine_destroy(engine);
}

/* A file may write its symbols in small letters. */
static void test_symbol_case(void)
{
    struct column_value value = {1, 2, 0.5};
    struct external_column column = {.name = "funding", .symbol = "btcusdt", .values = &value, .n = 1};
    const struct external_columns small = {.columns = &column, .n = 1};
    const struct column_source source = {.name = "funding"};
    CHECK(backtest_external_at(&small, "BTCUSDT", &source, 3) == 0.5);
    CHECK(isnan(backtest_external_at(&small, "ETHUSDT", &source, 3)));
}

/* All columns with their symbols in small letters: the same fills. */
static void test_small_letters(void)
{
    struct external_column small[16];
    CHECK(columns.n > 0 && columns.n <= sizeof small / sizeof *small);
    for (size_t i = 0; i < columns.n; i++) {
        small[i] = columns.columns[i];
        for (char *c = small[i].symbol; *c; c++)
            *c = (char)tolower((unsigned char)*c);
    }
    const struct external_columns lower = {.columns = small, .n = columns.n};
    struct backtest_config config = config_of(BACKTEST_AUTO);
    struct backtest written, as_small;
    char err[512] = "";
    CHECK_INT(backtest_run(&config, &written, err, sizeof err), 0);
    config.external = &lower;
    CHECK_INT(backtest_run(&config, &as_small, err, sizeof err), 0);
    CHECK(written.accounts[0].n_fills > 50);
    CHECK_INT(as_small.accounts[0].n_fills, written.accounts[0].n_fills);
    for (size_t i = 0; i < written.accounts[0].n_fills && i < as_small.accounts[0].n_fills; i++)
        CHECK(written.accounts[0].fills[i].ts_ns == as_small.accounts[0].fills[i].ts_ns &&
              written.accounts[0].fills[i].qty == as_small.accounts[0].fills[i].qty);
    backtest_finish(&written);
    backtest_finish(&as_small);
}

/* ---- files ---- */

static void check_file(const char *text, const char *words)
{
    const char *path = scratch_write("columns.csv", text);
    struct external_columns read = {0};
    char err[EXTERNAL_ERROR_MAX] = "";
    int r = backtest_external_read(path, &read, err);
    CHECK_INT(r, -EINVAL);
    CHECK(strstr(err, words));
    if (!strstr(err, words))
        fprintf(stderr, "%s\n", err);
    backtest_external_finish(&read);
}

static void test_files(void)
{
    struct external_columns read = {0};
    char err[EXTERNAL_ERROR_MAX] = "";
    const char *good = "Published, timestamp ,mood,symbol,funding\n"
                       "2024-08-09T00:00:01Z,2024-08-09T00:00:00Z,1.5,,\n"
                       "1723161602,1723161600,,C1USDT,-2e-4\n"
                       "1723161603000,1723161600000,2,,0.1\r\n";
    CHECK_INT(backtest_external_read(scratch_write("good.csv", good), &read, err), 0);
    CHECK_STR(err, "");
    CHECK_INT(read.n, 3);
    CHECK_STR(read.columns[0].name, "mood");
    CHECK(read.columns[0].n == 2 && read.columns[0].values[1].value == 2 && !read.columns[0].symbol[0]);
    CHECK_INT(read.columns[0].values[1].published_ns, MADE_START_NS + 3 * SECOND_NS);
    CHECK_STR(read.columns[1].symbol, "C1USDT");
    CHECK(read.columns[1].values[0].value == -2e-4);
    CHECK_INT(read.columns[1].values[0].timestamp_ns, MADE_START_NS);
    CHECK_INT(backtest_external_read(scratch_write("again.csv", good), &read, err), -EINVAL);
    CHECK(strstr(err, "again.csv: line 1: column mood is in an earlier file"));
    backtest_external_finish(&read);
#define HEAD "timestamp,published,x\n"
    check_file("", "there is no value");
    check_file(HEAD, "there is no value");
    check_file("timestamp,x\n1,2\n", "line 1: a header timestamp,published,NAME");
    check_file("timestamp,published\n1,2\n", "line 1: a header");
    check_file("timestamp,published,x,x\n", "each needs its own");
    check_file("timestamp,published,x,timestamp\n", "each needs its own");
    check_file("timestamp,published,a b\n", "\"a b\": a column's name");
    check_file(HEAD "1723161600,1723161600,1\n1723161600,1723161600,2\n", "line 3: x: published at");
    check_file(HEAD "1723161600,1723161600,1\n1723161500,1723161700,2\n", "line 3: x: its timestamp");
    check_file(HEAD "1723161600,1723161599,1\n", "line 2: x: published at 2024-08-08T23:59:59Z, before its");
    check_file(HEAD "1723161600,1723161600,nan\n", "line 2: x \"nan\" is no number");
    check_file(HEAD "1723161600,1723161600,inf\n", "is no number");
    check_file(HEAD "1723161600,1723161600,1e999\n", "is no number");
    check_file(HEAD "1723161600,1723161600\n", "2 fields: the header has 3");
    check_file(HEAD "yesterday,1723161600,1\n", "timestamp \"yesterday\" is no time");
    CHECK_INT(backtest_external_read("/nonexistent/columns.csv", &read, err), -ENOENT);
    CHECK(strstr(err, "/nonexistent/columns.csv: cannot read it"));
}

int main(void)
{
    struct random random = random_seeded("engine/external", 3208);
    account = (struct account_spec){.name = "follower",
                                    .currency = "USDT",
                                    .currency_scale = 8,
                                    .cash = 100000 * E8,
                                    .rules = {.fees = {1000, 2000}},
                                    .strategy = &follower};
    made_open(&made, &random, &walk, SYMBOLS, ROWS, MINUTE_NS);
    noted.market = &made.market;
    make_columns(&random);
    test_spec_words();
    test_events();
    test_moved();
    test_symbol_case();
    test_files();
    test_names();
    test_ways(&random);
    test_small_letters();
    test_future(&random);
    test_guards();
    backtest_external_finish(&columns);
    made_close(&made);
    return check_done("engine/external");
}
