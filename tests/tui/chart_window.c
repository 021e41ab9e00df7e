/* The bars that a chart shows: 2000 minutes with gaps in a database, which is read by windows as the keys of
 * the dashboard want them, compared with the list that was stored; then with indicators of the newest of
 * them. */
#include "cli/format.h"
#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/chart_keys.h"

enum { BARS = 2000, WIDTH = 80, HEIGHT = 24 };

static const int64_t minute_ns = 60000000000;
static const struct moment now = {1723161255342000000, 1000000};
static int64_t opens[BARS];
static struct model *model;
static struct history_reader *reader;
static struct view view;

static struct symbol symbol_put(void)
{
    return (struct symbol){.name = "BTCUSDT",
                           .base = "BTC",
                           .quote = "USDT",
                           .price_scale = 8,
                           .qty_scale = 8,
                           .quote_scale = 8,
                           .trading = true};
}

static void put(const char *path)
{
    static const struct db_writer_config config;
    struct db_writer *writer;
    char words[DB_ERROR_MAX];
    struct symbol symbol = symbol_put();

    CHECK_INT(db_writer_open(path, &config, &writer, words, sizeof(words)), 0);
    db_writer_put_symbol(writer, 0, "binance", &symbol, minute_ns);
    int64_t at = fixture_now_ns / minute_ns * minute_ns - 4 * BARS * minute_ns;
    for (int i = 0; i < BARS; i++) {
        int64_t price = (1000 + i) * INT64_C(100000000);
        struct bar bar = {
            .open_ns = at, .open = price, .high = price, .low = price, .close = price, .volume = price};
        opens[i] = at;
        db_writer_put_bar(writer, 0, minute_ns, BAR_VENUE, &bar);
        at += i % 97 == 0 ? 150 * minute_ns : minute_ns; /* longer than what is read after a window */
    }
    CHECK_INT(db_writer_close(writer, 20000, words, sizeof(words)), 0);
}

static int number(int64_t open_ns)
{
    for (int i = 0; i < BARS; i++)
        if (opens[i] == open_ns)
            return i;
    return -1;
}

static void read_bars(void)
{
    struct history_want want = {.symbol = "BTCUSDT", .bars_end_ns = view.chart.end_ns};
    char words[256];

    strcpy(want.interval, view.timeframe[0] ? view.timeframe : "1m");
    CHECK_INT(tui_history_read_chart(reader, &want, &model->history, words, sizeof(words)), 0);
}

/* What the chart has: the model's position has lines over it, with words that take four columns more. */
static int drawn_columns(void)
{
    return WIDTH - 2 - (model->status.n_positions > 0 ? 15 : 11);
}

/* The key, then what it wants to be read; the first and the last bar that are shown then. */
static void press(int key, int *ret_first, int *ret_last)
{
    const struct history *h = &model->history;
    int first, n;

    if (tui_keys_press(&view, model, WIDTH, HEIGHT, now, key) == ACTION_BARS)
        read_bars();
    tui_chart_window(&view.chart, h, drawn_columns(), &first, &n);
    CHECK(n > 0 && first >= 0 && first + n <= h->n_bars);
    *ret_first = number(h->bars[first].open_ns);
    *ret_last = number(h->bars[first + n - 1].open_ns);
    CHECK_INT(*ret_last - *ret_first, n - 1); /* no bar is left out */
    CHECK_NEAR(h->bars[first].close, 1000 + *ret_first, 1e-9);
}

/* Is the bar the last one in the chart's title? */
static bool title_says(int last)
{
    char *text = picture_draw(model, &view, now, WIDTH, HEIGHT, GLYPHS_ASCII), time[FORMAT_MAX], words[64];

    cli_format_time(time, opens[last]);
    snprintf(words, sizeof(words), "to %.11s", time + 5);
    bool is = text && strstr(text, words);
    free(text);
    return is;
}

static void check_panning(void)
{
    int first, last, before = BARS - 1, steps = 0, columns = drawn_columns();

    do {
        press(',', &first, &last);
        CHECK(last == before - columns / 4 || first == 0);
        CHECK_INT(last - first, columns - 1);
        before = last;
    } while (first > 0 && ++steps < BARS);
    CHECK(steps > 50);
    press(',', &first, &last); /* no further */
    CHECK_INT(first, 0);
    CHECK_INT(last, columns - 1);
    for (before = last, steps = 0; view.chart.end_ns && steps < BARS; steps++) {
        press('.', &first, &last);
        CHECK(last == before + columns / 4 || last == BARS - 1);
        before = last;
    }
    CHECK_INT(last, BARS - 1); /* and follows the newest from here on */
    press('.', &first, &last);
    CHECK_INT(last, BARS - 1);
    CHECK_INT(view.chart.end_ns, 0);
}

static void check_zooming(void)
{
    int first, last;

    for (int i = 0; i < 20; i++)
        press(',', &first, &last);
    int end = last;
    for (int i = 0; i < 9; i++) {
        press('{', &first, &last);
        CHECK_INT(last, end);
    }
    CHECK_INT(last - first, CHART_BARS_MAX - 1);
    press(',', &first, &last);
    CHECK_INT(last, end - CHART_BARS_MAX / 4);
    press('.', &first, &last);
    CHECK_INT(last, end);
    for (int i = 0; i < 9; i++) {
        press('}', &first, &last);
        CHECK_INT(last, end);
    }
    CHECK_INT(last - first, CHART_BARS_MIN - 1);
}

/* One by one, also past the edges of the window. */
static void check_crosshair(void)
{
    const struct history *h = &model->history;
    int first, last, before, n;

    press('m', &first, &last);
    before = last;
    for (int i = 0; i < 700; i++) {
        press(i < 350 ? ',' : '.', &first, &last);
        tui_chart_window(&view.chart, h, drawn_columns(), &first, &n);
        int at = tui_chart_crosshair(&view.chart, h, first, n);
        CHECK(at >= first && at < first + n);
        CHECK_INT(number(h->bars[at].open_ns), before + (i < 350 ? -1 : 1));
        before = number(h->bars[at].open_ns);
    }
    press('m', &first, &last);
    CHECK_INT(tui_chart_crosshair(&view.chart, h, first, n), -1);
}

/* Closer and wider: the crosshair stays at its bar, which is shown, wherever in the window it is. */
static void check_zoom_at_crosshair(void)
{
    const struct history *h = &model->history;
    const struct chart_window before = view.chart;
    const enum panel focus = view.focus;
    int first, last, n;

    view.focus = PANEL_CHART; /* End is its own */
    for (int back = 0; back < 60; back += 7) {
        press(PRESS_END, &first, &last);
        press('m', &first, &last);
        for (int i = 0; i < back; i++)
            press(',', &first, &last);
        tui_chart_window(&view.chart, h, drawn_columns(), &first, &n);
        int bar = number(h->bars[tui_chart_crosshair(&view.chart, h, first, n)].open_ns);
        for (const char *key = "}}}{{{{}"; *key; key++) {
            press(*key, &first, &last);
            CHECK(bar >= first && bar <= last);
            tui_chart_window(&view.chart, h, drawn_columns(), &first, &n);
            CHECK_INT(number(h->bars[tui_chart_crosshair(&view.chart, h, first, n)].open_ns), bar);
        }
        press('m', &first, &last);
    }
    view.chart = before;
    view.focus = focus;
    read_bars();
}

/* The chart's panel takes the arrows' other keys; elsewhere the keys say where the chart is. */
static void check_focus(void)
{
    int first, last;

    view.focus = PANEL_CHART;
    press(PRESS_END, &first, &last);
    CHECK_INT(last, BARS - 1);
    press(PRESS_PAGE_UP, &first, &last);
    CHECK_INT(last, BARS - 1 - CHART_BARS_MIN);
    CHECK_INT(tui_keys_press(&view, model, WIDTH, HEIGHT, now, 'c'), ACTION_NONE);
    CHECK_INT(tui_keys_press(&view, model, WIDTH, HEIGHT, now, 'L'), ACTION_NONE);
    CHECK(view.chart.line && view.chart.log);
    static const int kept[] = {0, 2};
    for (int i = 0; i < 2; i++) { /* a page is as many bars as are drawn */
        model->status.n_positions = kept[i];
        model->status.n_orders = 0;
        view.chart = (struct chart_window){.line = true};
        press(PRESS_END, &first, &last);
        CHECK_INT(last - first, drawn_columns() - 1);
        press(PRESS_PAGE_UP, &first, &last);
        CHECK_INT(last, BARS - 1 - drawn_columns());
        CHECK(title_says(last));
    }
    view.tab = TAB_LOG;
    CHECK_INT(tui_keys_press(&view, model, WIDTH, HEIGHT, now, 'c'), ACTION_NONE);
    CHECK(view.chart.line);
    CHECK_INT(view.outcome, OUTCOME_NOTE);
}

/* Indicators of the newest n bars of an interval. */
static void keep(const char *path, int64_t interval_ns, int n)
{
    static const struct db_writer_config config;
    struct db_writer *writer;
    char words[DB_ERROR_MAX];
    struct db_chart_series series = {.interval_ns = interval_ns,
                                     .base_ns = minute_ns,
                                     .next_ns = fixture_now_ns,
                                     .specs = "sma:20",
                                     .names = "sma_20",
                                     .memory = ""};

    CHECK_INT(db_writer_open(path, &config, &writer, words, sizeof(words)), 0);
    struct symbol symbol = symbol_put();
    db_writer_put_symbol(writer, 0, "binance", &symbol, minute_ns);
    db_writer_put_chart_series(writer, &series, true);
    for (int i = BARS - n; i < BARS; i++) {
        int64_t price = (1000 + i) * INT64_C(100000000);
        double output = i;
        struct db_chart_bar bar = {
            .interval_ns = interval_ns,
            .bar = {.open_ns = opens[i], .open = price, .high = price, .low = price, .close = price},
            .outputs = &output,
            .n_outputs = 1};
        db_writer_put_chart_bar(writer, &bar);
    }
    CHECK_INT(db_writer_close(writer, 20000, words, sizeof(words)), 0);
}

/* Bars with indicators first; the others are behind them, by as many steps, and back. */
static void check_kept(const char *path)
{
    static const int counts[] = {1, 40, 300, 1000};
    const struct history *h = &model->history;
    int columns = drawn_columns(), first, last;

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        int n = counts[i], before = BARS - 1, steps = 0;
        keep(path, minute_ns, n);
        while (opens[BARS - n] <= opens[BARS - 1] - DB_CHART_BARS_KEPT * minute_ns)
            n--;
        view.chart = (struct chart_window){0};
        read_bars();
        CHECK_INT(h->n_bars, n < HISTORY_BARS_MAX ? n : HISTORY_BARS_MAX);
        CHECK_INT(h->n_outputs, 1);
        do {
            press(',', &first, &last);
            CHECK(last < before || first == 0);
            CHECK(last - first == columns - 1 || h->n_outputs == 1);
            for (int k = 0; k < h->n_bars && h->n_outputs == 1; k++)
                CHECK_NEAR(h->outputs[0][k], number(h->bars[k].open_ns), 0);
            if (first < BARS - n || last >= BARS - n + CHART_BARS_MAX)
                CHECK_INT(h->n_outputs, first >= BARS - n);
            before = last;
        } while (first > 0 && ++steps < BARS);
        CHECK_INT(first, 0);
        CHECK_INT(last, columns - 1);
        press(PRESS_END, &first, &last);
        CHECK_INT(last, BARS - 1);
        CHECK_INT(h->n_outputs, 1);
    }
    keep(path, 5 * minute_ns, 30); /* nothing is stored behind these */
    strcpy(view.timeframe, "5m");
    read_bars();
    CHECK_INT(h->n_bars, 30);
    CHECK(h->bars_oldest && h->bars_newest);
    press(',', &first, &last);
    CHECK_INT(last, BARS - 1);
    view.timeframe[0] = '\0';
}

int main(void)
{
    const char *path = scratch_path("papertape.db");
    char words[256];

    put(path);
    model = tui_model_create(1000);
    json_t *status = json_loads(fixture_status, 0, NULL);
    CHECK_INT(tui_model_take_status(model, status, now), 0);
    json_decref(status);
    CHECK_INT(tui_history_open(path, &reader, words, sizeof(words)), 0);
    tui_view_init(&view, true, 1000);
    view.tab = TAB_MARKET;
    read_bars();
    CHECK_INT(model->history.n_bars, HISTORY_BARS_MAX);
    check_panning();
    check_zooming();
    check_crosshair();
    check_zoom_at_crosshair();
    check_focus();
    view.tab = TAB_MARKET;
    check_kept(path);
    tui_history_close(reader);
    tui_model_destroy(model);
    return check_done("tui/chart_window");
}
