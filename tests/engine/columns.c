/* A strategy's indicators as columns are, to the bit, what its slots' streams gave at each bar: random bars
 * with holes, every row of the registry, longer timeframes; also when the engine was saved and loaded on the
 * way. */
#include "engine/backtest/columns.h"
#include "engine/frame.h"
#include "engine/state.h"
#include "exchange/decimal.h"
#include "indicators_gpu/features/group.h"
#include "record/codec.h"
#include "strategy/strategy.h"
#include "tests/engine/harness.h"
#include "tests/random.h"

enum { BARS_MAX = 3000, RUNS = 40, RUNS_LONG = 1000, OUTPUTS = STRATEGY_SPECS_MAX * INDICATOR_OUTPUTS_MAX };

static const struct trading_calendar no_calendar;
static char texts[STRATEGY_SPECS_MAX][STRATEGY_SPEC_TEXT];
static size_t n_texts;
static double said[HARNESS_SYMBOLS][OUTPUTS][BARS_MAX]; /* by the streams */
static size_t n_said[HARNESS_SYMBOLS];
static int speaks; /* the symbol whose bars are played */
static size_t n_outputs;
static int n_loaded;

static size_t listener_specs(const double *params, char specs[][STRATEGY_SPEC_TEXT])
{
    (void)params;
    memcpy(specs, texts, n_texts * sizeof *texts);
    return n_texts;
}

static size_t listener_bar(const double *params, void *state, const struct strategy_input *input,
                           struct intent *intents)
{
    (void)params;
    (void)state;
    (void)intents;
    for (size_t k = 0; k < n_outputs; k++)
        said[speaks][k][n_said[speaks]] = input->indicators[k];
    n_said[speaks]++;
    return 0;
}

static const struct strategy listener = {
    .name = "listener", .summary = "wants nothing", .specs = listener_specs, .on_bar = listener_bar};

/* The only strategy there is here: a state names it, and finds it again. */
const struct strategy *const *strategy_list(size_t *ret_n)
{
    static const struct strategy *const all[] = {&listener};
    *ret_n = 1;
    return all;
}

/* ---- bars */

struct history {
    int64_t interval_ns;
    size_t rows;
    struct bar bars[HARNESS_SYMBOLS][BARS_MAX]; /* open_ns 0: missing */
};

static struct history history;

static void draw_history(struct random *random)
{
    static const int64_t intervals[] = {MINUTE_NS, 5 * MINUTE_NS, 15 * MINUTE_NS, 60 * MINUTE_NS};
    history.interval_ns = intervals[random_between(random, 0, 3)];
    history.rows = (size_t)random_between(random, 1, BARS_MAX);
    int64_t start_ns =
        bar_open_time(START_NS + random_between(random, 0, 1000) * MINUTE_NS, history.interval_ns);
    bool holes = random_chance(random, 70), still = random_chance(random, 10);
    for (int s = 0; s < HARNESS_SYMBOLS; s++) {
        int64_t price = 60000 * E8;
        bool away = random_chance(random, 50);
        for (size_t i = 0; i < history.rows; i++) {
            away = away ? !random_chance(random, 20) : holes && random_chance(random, 2);
            int64_t step = still ? 0 : random_between(random, -300, 300), close = price + step * (E8 / 10);
            struct bar bar = flat_bar(start_ns + (int64_t)i * history.interval_ns, price);
            bar.close = close;
            bar.high =
                (close > price ? close : price) + (still ? 0 : random_between(random, 0, 99) * (E8 / 100));
            bar.low =
                (close < price ? close : price) - (still ? 0 : random_between(random, 0, 99) * (E8 / 100));
            bar.volume = random_between(random, 0, 1000) * 12345;
            history.bars[s][i] = away ? (struct bar){0} : bar;
            if (!away)
                price = close;
        }
    }
}

static double cells[HARNESS_SYMBOLS][5][BARS_MAX];
static uint64_t present[HARNESS_SYMBOLS][(BARS_MAX + 63) / 64];
static int64_t grid[BARS_MAX];

/* The same bars as a market has them: what is missing repeats the last close. */
static struct market make_market(struct market_series series[HARNESS_SYMBOLS], int64_t start_ns)
{
    memset(present, 0, sizeof present);
    for (int s = 0; s < HARNESS_SYMBOLS; s++) {
        for (size_t i = 0; i < history.rows; i++) {
            const struct bar *bar = &history.bars[s][i];
            double last = i > 0 ? cells[s][3][i - 1] : 1;
            cells[s][0][i] = bar->open_ns ? decimal_to_double(bar->open, 8) : last;
            cells[s][1][i] = bar->open_ns ? decimal_to_double(bar->high, 8) : last;
            cells[s][2][i] = bar->open_ns ? decimal_to_double(bar->low, 8) : last;
            cells[s][3][i] = bar->open_ns ? decimal_to_double(bar->close, 8) : last;
            cells[s][4][i] = bar->open_ns ? decimal_to_double(bar->volume, 8) : 0;
            present[s][i / 64] |= (uint64_t)(bar->open_ns != 0) << (i % 64);
            grid[i] = start_ns + (int64_t)i * history.interval_ns;
        }
        series[s] = (struct market_series){.open = cells[s][0],
                                           .high = cells[s][1],
                                           .low = cells[s][2],
                                           .close = cells[s][3],
                                           .volume = cells[s][4],
                                           .present = present[s]};
    }
    return (struct market){.n_symbols = HARNESS_SYMBOLS,
                           .rows = history.rows,
                           .start_ns = start_ns,
                           .interval_ns = history.interval_ns,
                           .series = series};
}

/* ---- both ways */

static void draw_texts(struct random *random)
{
    static const char *const frames[] = {"1h", "2h", "4h", "1d", "1w", "15m"};
    size_t n_rows;
    const struct indicator *const *rows = indicator_rows(&n_rows);
    n_texts = (size_t)random_between(random, 1, STRATEGY_SPECS_MAX);
    for (size_t i = 0; i < n_texts;) {
        struct indicator_spec spec = {.row = rows[random_between(random, 0, (int64_t)n_rows - 1)]};
        char text[STRATEGY_SPEC_TEXT], err[160];
        int64_t frame_ns;
        for (size_t k = 0; k < spec.row->n_options; k++)
            spec.options[k] = spec.row->options[k].value;
        if (spec.row->n_options > 0 && spec.row->options[0].whole && random_chance(random, 50))
            spec.options[0] = spec.row->options[0].min + (double)random_between(random, 0, 30);
        if (!indicator_spec_valid(&spec))
            continue;
        indicator_spec_text(&spec, text, sizeof text);
        const char *frame = frames[random_between(random, 0, 5)];
        if (random_chance(random, 50) && bar_interval_parse(frame, &frame_ns) == 0 &&
            frame_ns % history.interval_ns == 0)
            snprintf(texts[i], sizeof texts[i], "%.40s@%s", text, frame);
        else
            snprintf(texts[i], sizeof texts[i], "%s", text);
        if (strchr(texts[i], '@') || indicator_spec_parse(text, &spec, err, sizeof err) == 0)
            i++;
    }
}

/* Plays the bars of every symbol; at each `swap` the engine is saved, loaded and replaced by the loaded
 * one. */
static void play(struct engine **engine, struct random *random)
{
    int64_t now_ns = START_NS + 4000 * 60 * MINUTE_NS;
    uint64_t seq = 0;
    for (int s = 0; s < HARNESS_SYMBOLS; s++) {
        speaks = s;
        n_said[s] = 0;
        for (size_t i = 0; i < history.rows; i++) {
            if (history.bars[s][i].open_ns == 0)
                continue;
            struct event event = {
                .seq = ++seq, .recv_ns = now_ns, .kind = EVENT_BARS, .bars = {s, &history.bars[s][i], 1}};
            CHECK_INT(engine_handle(*engine, &event), 0);
            if (!random || !random_chance(random, 1))
                continue;
            struct codec codec = {0};
            struct engine_sink sink = {0};
            struct engine *loaded = NULL;
            char err[ENGINE_ERROR_MAX] = "";
            codec_save(&codec);
            CHECK_INT(engine_save(*engine, &codec), 0);
            CHECK_INT(engine_load(codec.bytes, codec.len, &sink, NULL, &loaded, err), 0);
            codec_finish(&codec);
            if (loaded) {
                engine_destroy(*engine);
                *engine = loaded;
                n_loaded++;
            }
        }
    }
}

static bool same(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0 && !(isnan(a[i]) && isnan(b[i])))
            return false;
    return true;
}

static double columns[HARNESS_SYMBOLS][OUTPUTS][BARS_MAX];

static void compute(const struct strategy *strategy, const double *params, const struct market *market,
                    struct random *random)
{
    struct runner_spec specs[STRATEGY_SPECS_MAX];
    struct columns_job jobs[HARNESS_SYMBOLS] = {0};
    double *outs[HARNESS_SYMBOLS][OUTPUTS];
    char err[SPECS_ERROR_MAX] = "";
    size_t n;
    CHECK_INT(engine_runner_specs(strategy, params, history.interval_ns, specs, &n, err), 0);
    n_outputs = engine_runner_outputs(specs, n);
    for (int s = 0; s < HARNESS_SYMBOLS; s++) {
        for (size_t k = 0; k < n_outputs; k++)
            outs[s][k] = columns[s][k];
        CHECK_INT(backtest_columns_dense(market, s, 0, market->rows, grid, &jobs[s].bars), 0);
        jobs[s].out = outs[s];
    }
    CHECK_INT(
        backtest_columns_compute(specs, n, jobs, HARNESS_SYMBOLS, (int)random_between(random, 1, 3), err), 0);
    for (int s = 0; s < HARNESS_SYMBOLS; s++) {
        size_t n_bars = 0;
        for (size_t i = 0; i < history.rows; i++)
            n_bars += history.bars[s][i].open_ns != 0;
        CHECK_INT(jobs[s].bars.n, n_bars);
        backtest_columns_dense_finish(&jobs[s].bars);
    }
}

static struct harness h; /* its configuration only */

static struct engine *make_engine(const struct strategy *strategy)
{
    struct engine_sink sink = {0};
    struct engine *engine = NULL;
    harness_forget(&h);
    harness_init(&h);
    h.config.interval_ns = history.interval_ns;
    h.accounts[ALICE].strategy = strategy;
    if (strategy->n_params > 0)
        strategy_defaults(strategy, h.accounts[ALICE].params);
    CHECK_INT(engine_create(&h.config, &sink, &engine), 0);
    return engine;
}

static void test_rows(struct random *random)
{
    struct market_series series[HARNESS_SYMBOLS];
    draw_history(random);
    draw_texts(random);
    int64_t start_ns = 0;
    for (size_t i = 0; i < history.rows && start_ns == 0; i++)
        for (int s = 0; s < HARNESS_SYMBOLS && start_ns == 0; s++)
            if (history.bars[s][i].open_ns)
                start_ns = history.bars[s][i].open_ns - (int64_t)i * history.interval_ns;
    struct market market = make_market(series, start_ns);
    compute(&listener, h.accounts[ALICE].params, &market, random);
    struct engine *engine = make_engine(&listener);
    if (!engine)
        return;
    play(&engine, random_chance(random, 50) ? random : NULL);
    engine_destroy(engine);
    for (int s = 0; s < HARNESS_SYMBOLS; s++)
        for (size_t k = 0; k < n_outputs; k++)
            if (!same(columns[s][k], said[s][k], n_said[s])) {
                fprintf(stderr, "output %zu of", k);
                for (size_t i = 0; i < n_texts; i++)
                    fprintf(stderr, " %s", texts[i]);
                fprintf(stderr, ", %zu bars\n", n_said[s]);
                CHECK(!"columns and streams are equal");
            } else {
                CHECK(true);
            }
}

/* Higher bars, and when each is closed, are those of the features. */
static void test_frames(struct random *random)
{
    static const int64_t hours[] = {1, 2, 4, 24};
    static double time[BARS_MAX];
    struct market_series series[HARNESS_SYMBOLS];
    struct columns_bars dense;
    struct feature_timeframe wanted;
    char err[160] = "";
    draw_history(random);
    int64_t start_ns =
        bar_open_time(START_NS + random_between(random, 0, 1000) * MINUTE_NS, history.interval_ns);
    struct market market = make_market(series, start_ns);
    CHECK_INT(backtest_columns_dense(&market, 0, 0, market.rows, grid, &dense), 0);
    for (size_t i = 0; i < dense.n; i++)
        time[i] = (double)(dense.open_ns[i] / SECOND_NS);
    struct frame frame = {.interval_ns = hours[random_between(random, 0, 3)] * 60 * MINUTE_NS,
                          .base_ns = history.interval_ns};
    const struct feature_bars bars = {{dense.open, dense.high, dense.low, dense.close, dense.volume, time},
                                      dense.n,
                                      history.interval_ns / SECOND_NS};
    if (frame.interval_ns ==
        history.interval_ns) { /* the features have none of those: each bar closes itself */
        backtest_columns_dense_finish(&dense);
        return;
    }
    CHECK_INT(feature_timeframe_build(frame.interval_ns / SECOND_NS, &bars, &wanted, err, sizeof err), 0);
    size_t n = 0;
    for (size_t i = 0; i < dense.n; i++) {
        const struct indicator_bar bar = {dense.open[i],  dense.high[i],   dense.low[i],
                                          dense.close[i], dense.volume[i], 0};
        struct indicator_bar closed[2];
        size_t n_closed = engine_frame_add(&frame, &no_calendar, dense.open_ns[i], &bar, closed);
        for (size_t k = 0; k < n_closed && n < wanted.n; k++, n++) {
            const struct indicator_columns *in = &wanted.columns;
            CHECK(closed[k].open == in->open[n] && closed[k].high == in->high[n] &&
                  closed[k].low == in->low[n] && closed[k].close == in->close[n] &&
                  closed[k].volume == in->volume[n] && fabs(closed[k].time - in->time[n]) < 1e-6);
        }
        CHECK_INT(n, wanted.closed[i]);
    }
    CHECK_INT(n, wanted.n);
    feature_timeframe_finish(&wanted);
    backtest_columns_dense_finish(&dense);
}

/* A week begins on Monday; one that history begins within is left out; one that is missed at its end closes
 * with the first bar after. */
static void test_weeks(void)
{
    const int64_t day = 1440 * MINUTE_NS, thursday = 1723075200 * SECOND_NS; /* 2024-08-08 */
    struct frame frame = {.interval_ns = 7 * day, .base_ns = day};
    struct indicator_bar closed[2];
    size_t n[14];
    for (int i = 0; i < 14; i++) {
        struct indicator_bar bar = {i, i + 0.5, i - 0.5, i, 1, 0};
        n[i] = i == 10 ? 9
                       : engine_frame_add(&frame, &no_calendar, thursday + i * day, &bar,
                                          closed); /* no bar on Sunday the 18th */
        if (i == 11) {
            CHECK(n[i] == 1 && closed[0].open == 4 && closed[0].high == 9.5 && closed[0].low == 3.5);
            CHECK(closed[0].close == 9 && closed[0].volume == 6);
            CHECK_NEAR(closed[0].time, 1723420800, 1e-6); /* Monday the 12th */
        } else if (i != 10) {
            CHECK_INT(n[i], 0);
        }
    }
}

static void test_room(void)
{
    static const size_t sizes[] = {0, 1, 7, 8, 9, 512, 100003, 524288};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct columns_room room;
        CHECK_INT(backtest_columns_room_make(3, sizes[i], &room), 0);
        CHECK(room.stride >= sizes[i] && (uintptr_t)room.cells % 64 == 0 && room.stride % 8 == 0);
        for (size_t k = 0; k < 3; k++)
            for (size_t n = 0; n < sizes[i]; n++)
                room.cells[k * room.stride + n] = (double)(k + n);
        CHECK(sizes[i] == 0 || room.cells[room.stride] == 1);
        backtest_columns_room_finish(&room);
        CHECK(!room.cells && room.mapped == 0);
    }
    struct columns_room room = {0};
    CHECK_INT(backtest_columns_room_make(SIZE_MAX / 8, 1 << 20, &room), -ENOMEM);
    backtest_columns_room_finish(&room);
}

int main(void)
{
    struct random random = random_seeded("engine/columns", 20261121);
    int runs = getenv("PAPERTAPE_LONG") ? RUNS_LONG : RUNS;
    for (int i = 0; i < runs; i++) {
        test_rows(&random);
        test_frames(&random);
    }
    test_weeks();
    test_room();
    printf("%d runs of random rows; %d states were saved and loaded on the way\n", runs, n_loaded);
    CHECK(n_loaded > 0);
    harness_forget(&h);
    return check_done("engine/columns");
}
