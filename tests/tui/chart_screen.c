/* The market's chart, read back from the drawn screen: candles against the scale beside them and the figures
 * above, the values of indicators, gaps, orders far from the market, closed hours, stale figures, the bar
 * that is forming, and keys that are held down; at three sizes in three tiers of glyphs. */
#include <locale.h>
#include <wchar.h>

#include "cli/format.h"
#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/keys.h"
#include "tui/panel/chart_figures.h"

enum { EIGHT = 8, ROW_MAX = 256, RUNS_MAX = 64 };
enum { AXIS = 15 }; /* the fixture's position has lines: words at the axis */

/* Labels and ends of wicks are in the row that is nearest to their price: each within half a row. */
static const double rows_near = 1.5;

static const struct moment now = {1723161255342000000, 1000000};
static const int64_t minute_ns = 60000000000;
static const struct {
    int width, height;
} sizes[] = {{80, 24}, {120, 40}, {200, 60}};
static struct model *model;
static struct view view;
static struct canvas canvas;
static struct rect chart;
static int columns, top, bottom; /* of the plot: its rows top..bottom-1 have prices */

static wchar_t at(int x, int y)
{
    return tui_canvas_cell(&canvas, x, y)->text[0];
}

static enum style style_at(int x, int y)
{
    return (enum style)tui_canvas_cell(&canvas, x, y)->style;
}

/* A row of the chart's panel from a column of it on, in ASCII, what is not as '?'. */
static const char *row_text(int y, int from)
{
    static char text[ROW_MAX + 1];
    int n = 0;

    for (int x = chart.x + from; x < chart.x + chart.width && n < ROW_MAX; x++)
        text[n++] = at(x, y) < 128 ? (char)at(x, y) : '?';
    while (n > 0 && text[n - 1] == ' ')
        n--;
    text[n] = '\0';
    return text;
}

static const char *axis_text(int y)
{
    return row_text(y, columns + 1);
}

/* Draws it, and finds the plot: from below the figures to above the volume. */
static void draw(size_t size, enum glyphs glyphs)
{
    struct layout layout;
    const int width = sizes[size].width, height = sizes[size].height;

    tui_canvas_finish(&canvas);
    CHECK_INT(tui_canvas_init(&canvas, width, height, glyphs), 0);
    tui_view_draw(&view, model, now, &canvas);
    tui_view_layout(&view, model, width, height, &layout);
    const struct rect *rect = tui_layout_find(&layout, PANEL_CHART);
    CHECK(rect);
    chart = rect ? *rect : (struct rect){0, 0, width, height};
    columns = chart.width - 2 - AXIS;
    for (bottom = chart.y + 1; bottom < chart.y + chart.height - 1; bottom++)
        if (strncmp(axis_text(bottom), " v ", 3) == 0)
            break;
    for (top = chart.y + 2; top < bottom && strchr(row_text(top, 1), '_'); top++) /* names of indicators */
        ;
}

static enum action press(size_t size, int key)
{
    return tui_keys_press(&view, model, sizes[size].width, sizes[size].height, now, key);
}

static void start(void)
{
    tui_view_finish(&view);
    tui_view_init(&view, true, 1000);
    view.tab = TAB_MARKET;
}

static bool is_candle(int x, int y)
{
    const enum style style = style_at(x, y);

    return (style == STYLE_UP || style == STYLE_DOWN) && at(x, y) != L' ';
}

/* The candles: neighbouring columns that have one, with the first and the last row of each. */
struct run {
    int first, last, high, low;
};

static int find_runs(struct run runs[static RUNS_MAX])
{
    int n = 0, before = -2;

    for (int x = 1; x <= columns; x++) {
        int high = -1, low = -1;
        for (int y = top; y < bottom; y++)
            if (is_candle(chart.x + x, y)) {
                high = high < 0 ? y : high;
                low = y;
            }
        if (high < 0)
            continue;
        if (x > before + 1 && n < RUNS_MAX)
            runs[n++] = (struct run){x, x, high, low};
        struct run *run = &runs[n - 1];
        run->last = before = x;
        run->high = high < run->high ? high : run->high;
        run->low = low > run->low ? low : run->low;
    }
    return n;
}

/* The scale by its labels: the row, as a fraction, of a price. */
static double row_of(double price)
{
    double prices[2] = {NAN, NAN};
    int rows[2] = {0, 0};

    for (int y = top; y < bottom; y++) {
        double value;
        char rest;
        if (sscanf(axis_text(y), " %lf%c", &value, &rest) != 1 || axis_text(y)[0] == '>')
            continue;
        int which = isnan(prices[0]) ? 0 : 1;
        prices[which] = value;
        rows[which] = y;
    }
    return rows[0] + (price - prices[0]) / (prices[1] - prices[0]) * (rows[1] - rows[0]);
}

/* A figure of the line above the plot; NaN: it is not there. */
static double figure(const char *name)
{
    char words[16];

    snprintf(words, sizeof(words), " %s ", name);
    for (int y = chart.y + 1; y < top; y++) {
        const char *found = strstr(row_text(y, 0), words);
        if (found)
            return strtod(found + strlen(words), NULL);
    }
    return NAN;
}

static void make_bars(int n, unsigned seed)
{
    struct random random = {seed};
    struct history *h = &model->history;
    double price = 61800;

    h->n_bars = n;
    h->n_outputs = 0;
    h->bars_oldest = h->bars_newest = true;
    for (int i = 0; i < n; i++) {
        double close = price + (double)random_between(&random, -10000, 10000) / 100;
        double up = (double)random_between(&random, 0, 8000) / 100;
        double down = (double)random_between(&random, 0, 8000) / 100;
        h->bars[i] = (struct history_bar){.open_ns = (now.wall_ns / minute_ns - n + i) * minute_ns,
                                          .open = price,
                                          .high = fmax(price, close) + up,
                                          .low = fmin(price, close) - down,
                                          .close = close,
                                          .volume = 1 + i % 5};
        price = close;
    }
}

/* Eight bars from the first quarter of the width to the last: each wick ends at the rows of its high and its
 * low by the scale's labels, which the figures under the crosshair say in numbers. */
static void check_eight(size_t size, enum glyphs glyphs, unsigned seed)
{
    const struct history *h = &model->history;
    struct run runs[RUNS_MAX];

    make_bars(EIGHT, seed);
    start();
    draw(size, glyphs);
    CHECK_INT(find_runs(runs), EIGHT);
    CHECK(runs[0].last <= columns / 4 && runs[EIGHT - 1].first > columns * 3 / 4);
    press(size, 'm');
    for (int i = EIGHT - 1; i >= 0; i--, press(size, ',')) {
        draw(size, glyphs);
        CHECK_INT(find_runs(runs), EIGHT);
        CHECK_NEAR(figure("h"), h->bars[i].high, 0.00501);
        CHECK_NEAR(figure("l"), h->bars[i].low, 0.00501);
        CHECK_NEAR(figure("o"), h->bars[i].open, 0.00501);
        CHECK_NEAR(figure("c"), h->bars[i].close, 0.00501);
        CHECK_NEAR(runs[i].high, row_of(figure("h")), rows_near);
        CHECK_NEAR(runs[i].low, row_of(figure("l")), rows_near);
        bool crossed = false; /* the crosshair fills one of the bar's columns */
        for (int x = runs[i].first; x <= runs[i].last; x++) {
            int blanks = 0;
            for (int y = top; y < bottom; y++)
                blanks += at(chart.x + x, y) == L' ';
            crossed |= blanks == 0;
        }
        CHECK(crossed);
    }
}

/* Indicators have their values at the crosshair's bar, else at the last one, whatever the size. */
static void check_legend(size_t size, enum glyphs glyphs)
{
    static const char *const names[] = {
        "sma_20", "ema_14", "bbands_20_2.upper", "bbands_20_2.middle", "bbands_20_2.lower", "rsi_14"};
    struct history *h = &model->history;

    make_bars(200, 5);
    h->n_outputs = 6;
    for (int k = 0; k < h->n_outputs; k++) {
        strcpy(h->output_names[k], names[k]);
        for (int i = 0; i < h->n_bars; i++)
            h->outputs[k][i] = (k == 5 ? 10 : 61000 + 100 * k) + i * 0.25;
    }
    start();
    for (int step = 0; step < 4; step++) {
        int bar = step < 2 ? h->n_bars - 1 : h->n_bars - 1 - (step - 1);
        char text[FORMAT_MAX], all[4 * ROW_MAX] = "";
        draw(size, glyphs);
        for (int y = chart.y + 1; y < top; y++)
            strcat(strcat(all, row_text(y, 0)), "\n");
        for (int k = 0; k < 5; k++) {
            double value = 61000 + 100 * k + bar * 0.25;
            snprintf(text, sizeof(text), "%s%.2f",
                     k == 0   ? "sma_20 "
                     : k == 1 ? "ema_14 "
                     : k == 2 ? "bbands_20_2 "
                              : "",
                     value);
            if (!strstr(all, text))
                fprintf(stderr, "no %s in:\n%s", text, all);
            CHECK(strstr(all, text));
        }
        press(size, step == 0 ? 'm' : ',');
    }
}

/* Random gaps, as the row of volume shows them: each as wide as its time, within a column; and what the
 * labels say is the time of their columns. */
static void check_gaps(size_t size, enum glyphs glyphs)
{
    struct history *h = &model->history;
    struct random random = {23};

    for (int n = 1; n <= CHART_BARS_MAX; n += 1 + n / 16) {
        make_bars(n, (unsigned)n);
        int64_t open_ns = (now.wall_ns / minute_ns - 5000) * minute_ns;
        for (int i = 0; i < n; i++) {
            h->bars[i].open_ns = open_ns;
            open_ns += minute_ns * (random_between(&random, 0, 19) == 0 ? random_between(&random, 2, 40) : 1);
        }
        start();
        view.chart.bars = n;
        draw(size, glyphs);
        const int y = chart.y + chart.height - 2;
        const double from = (double)h->bars[0].open_ns,
                     column = ((double)(h->bars[n - 1].open_ns + minute_ns) - from) / columns;
        int drawn = 0;
        for (int x = 1; x <= columns; x++)
            drawn += at(chart.x + x, y) != L' ';
        CHECK(drawn > 0);
        for (int i = 0; i < n; i++) {
            int x = (int)(((double)(h->bars[i].open_ns + minute_ns / 2) - from) / column);
            CHECK(at(chart.x + 1 + x, y) != L' ');
            double missing =
                i + 1 < n ? (double)(h->bars[i + 1].open_ns - h->bars[i].open_ns - minute_ns) / column : 0;
            int blanks = 0,
                next =
                    i + 1 < n ? (int)(((double)(h->bars[i + 1].open_ns + minute_ns / 2) - from) / column) : x;
            for (int k = x + 1; k < next; k++)
                blanks += at(chart.x + 1 + k, y) == L' ';
            if (minute_ns / column < 2) /* bodies with a blank between them are wider */
                CHECK(abs(blanks - (int)floor(missing + 1e-6)) <= 1);
        }
        const char *labels = row_text(chart.y + chart.height - 1, 1);
        int n_labels = 0;
        for (int k = 0; labels[k]; k++) {
            int hour, minute;
            const bool mark = labels[k] == (glyphs == GLYPHS_ASCII ? '|' : '?');
            const char *colon = strchr(labels + k, ':');
            if (!mark || !colon || sscanf(colon - 2, "%d:%d", &hour, &minute) != 2)
                continue;
            n_labels++;
            double best = INFINITY; /* of the days that are shown the one that is nearest */
            for (int64_t day = (int64_t)from / 86400000000000; day <= (int64_t)from / 86400000000000 + 10;
                 day++) {
                double ts = (double)(day * 1440 + hour * 60 + minute) * (double)minute_ns;
                double left = (ts - from) / column, right = (ts + (double)minute_ns - from) / column;
                double away = fmax(0, fmax(left - 1 - k, k - right));
                best = fmin(best, away);
            }
            CHECK(best <= 1);
        }
        CHECK(n_labels >= 4 || n < EIGHT);
    }
}

static void add_order(double price, double stop, const char *side, const char *state)
{
    struct status *status = &model->status;
    const struct status_order first = status->orders[0];
    struct status_order *order = tui_status_add(status, STATUS_ORDERS);

    *order = first;
    order->price = price;
    order->stop = stop;
    strcpy(order->side, side);
    strcpy(order->state, state);
}

static int count_rows(const char *words)
{
    int n = 0;

    for (int y = top; y < bottom; y++)
        n += strcmp(axis_text(y), words) == 0;
    return n;
}

/* Does a text that the screen cut end so? */
static bool is_kept(const char *words)
{
    const char *text;
    int part;

    for (int i = 0; (text = tui_canvas_cut(&canvas, i, &part)); i++)
        if (part == PANEL_CHART && strlen(text) > strlen(words) &&
            strcmp(text + strlen(text) - strlen(words), words) == 0)
            return true;
    return false;
}

/* Orders far from the bars leave the plot as it is: they are at its edges, the nearest next to the bars. */
static void check_far(size_t size, enum glyphs glyphs)
{
    struct status *status = &model->status;
    const int n_orders = status->n_orders;
    wchar_t before[ROW_MAX * 64];
    const char *up = glyphs == GLYPHS_ASCII ? "^" : "?", *down = glyphs == GLYPHS_ASCII ? "v" : "?";
    char words[FORMAT_MAX];
    int n = 0;

    make_bars(120, 9);
    start();
    status->n_orders = 0;
    for (int pass = 0; pass < 3; pass++) {
        if (pass == 1) {
            add_order(72000, NAN, "SELL", "OPEN");
            add_order(40000, NAN, "BUY", "OPEN");
        } else if (pass == 2) {
            for (int i = 1; i <= 20; i++)
                add_order(72000 + 100 * i, NAN, "SELL", "OPEN");
        }
        draw(size, glyphs);
        int same = 0, cells = 0;
        for (int y = top; y < bottom; y++)
            for (int x = 1; x <= columns; x++, cells++) {
                if (pass == 0)
                    before[n++] = at(chart.x + x, y);
                else
                    same += before[cells] == at(chart.x + x, y);
            }
        CHECK(pass == 0 || (same == n && cells == n));
        snprintf(words, sizeof(words), "%s40000.00 buy", down);
        CHECK_INT(count_rows(words), pass > 0);
        snprintf(words, sizeof(words), "%s72000.00 sell", up);
        if (pass == 2 && count_rows(words) == 0) /* it alone has room */
            snprintf(words, sizeof(words), "%s72000.00 +20", up);
        CHECK_INT(count_rows(words), pass > 0);
        int more = 0, shown = 0, last = top;
        for (int y = top; y < bottom; y++) {
            const char *text = axis_text(y);
            double price = strtod(text + 1, NULL);
            if (pass == 2 && text[0] == up[0] && price >= 72000) {
                shown++;
                CHECK(last == top || price < 72000 + 100 * 20);
                more += strstr(text, " +") ? atoi(strstr(text, " +") + 2) : 0;
                last = y;
            }
        }
        CHECK(pass < 2 || shown + more == 21);
        for (int i = 0; pass == 2 && i <= 20; i++) { /* what is not drawn is whole behind `w` */
            snprintf(words, sizeof(words), "%s%d.00 sell", up, 72000 + 100 * i);
            CHECK(count_rows(words) > 0 || is_kept(words + 1));
        }
    }
    status->n_orders = n_orders;
}

/* A night is one thin mark; the volume is below every candle. */
static void check_sessions(size_t size, enum glyphs glyphs)
{
    enum { DAYS = 3, BARS_A_DAY = 13 };
    static const wchar_t marks[] = {[GLYPHS_ASCII] = L':', [GLYPHS_BLOCK] = L'│', [GLYPHS_BRAILLE] = L'┊'};
    struct status_symbol *symbol = &model->status.symbols[0];
    struct history *h = &model->history;
    struct status_symbol kept = *symbol;
    int nights = 0;

    make_bars(DAYS * BARS_A_DAY, 11);
    strcpy(h->bars_interval, "30m");
    strcpy(symbol->interval, "30m");
    strcpy(symbol->market, "regular");
    for (int i = 0; i < h->n_bars; i++)
        h->bars[i].open_ns = (now.wall_ns / (1440 * minute_ns) - DAYS + i / BARS_A_DAY) * 1440 * minute_ns +
                             (810 + 30 * (i % BARS_A_DAY)) * minute_ns;
    start();
    strcpy(view.timeframe, "30m");
    draw(size, glyphs);
    for (int x = 1; x <= columns; x++) {
        int marked = 0, rows = 0, candle = 0;
        for (int y = top; y < bottom; y++, rows++) {
            marked += at(chart.x + x, y) == marks[glyphs] && style_at(chart.x + x, y) == STYLE_RULE;
            candle += is_candle(chart.x + x, y);
        }
        nights += marked > rows / 2;
        CHECK(!(marked > rows / 2 && candle > 0));
        if (candle > 0)
            CHECK(at(chart.x + x, chart.y + chart.height - 2) !=
                  L' '); /* of the lowest row: no volume is 0 */
    }
    CHECK_INT(nights, DAYS - 1);
    *symbol = kept;
    strcpy(h->bars_interval, "1m");
}

/* Figures and the last price are dim once they are old, and only then. */
static void check_stale(size_t size, enum glyphs glyphs)
{
    struct status_symbol *symbol = &model->status.symbols[0];
    const int64_t kept = symbol->age_ms;

    make_bars(60, 13);
    for (int stale = 0; stale < 2; stale++) {
        symbol->age_ms = stale ? 20000 : 100;
        start();
        draw(size, glyphs);
        CHECK_INT(style_at(chart.x + 3, chart.y + 1), stale ? STYLE_DIM : STYLE_NORMAL);
        int found = 0;
        for (int y = top; y < bottom; y++)
            if (axis_text(y)[0] == '>') {
                found++;
                CHECK_INT(style_at(chart.x + columns + 2, y), stale ? STYLE_DIM : STYLE_STRONG);
            }
        CHECK_INT(found, 1);
    }
    symbol->age_ms = kept;
}

/* The daemon's answer to `indicators`: the history's last bar, and the one that forms after it. */
static void take_live(const char *timeframe, bool newer)
{
    const struct history *h = &model->history;
    const struct history_bar *last = &h->bars[h->n_bars - 1];
    const int64_t open_ns = last->open_ns + (newer ? minute_ns : 0);
    json_t *closed = json_pack("{s:I, s:f, s:f, s:f, s:f, s:f}", "open_time_ms",
                               (json_int_t)(last->open_ns / 1000000), "open", last->open, "high", last->high,
                               "low", last->low, "close", last->close, "volume", last->volume);
    json_t *forming =
        json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:{s:f}}", "open_time_ms", (json_int_t)(open_ns / 1000000),
                  "open", last->close, "high", last->close + 40.25, "low", last->close - 90.5, "close",
                  last->close - 60.5, "volume", 1.0, "indicators", "sma_20", 61234.56);
    json_t *result = json_pack("{s:o, s:o}", "closed", closed, "forming", forming);

    tui_live_bars_take(&model->live, "BTCUSDT", timeframe, result, now.mono_ms);
    json_decref(result);
}

/* What is no bar is none: of other types, without a price, before the one that has closed. */
static void check_hostile(void)
{
    static const char *const answers[] = {
        "{}",
        "[]",
        "{\"forming\":7}",
        "{\"closed\":null,\"forming\":null}",
        "{\"forming\":{\"open_time_ms\":\"1\",\"open\":1,\"high\":1,\"low\":1,\"close\":1,\"volume\":1}}",
        "{\"forming\":{\"open_time_ms\":-5,\"open\":1,\"high\":1,\"low\":1,\"close\":1,\"volume\":1}}",
        "{\"forming\":{\"open_time_ms\":60000,\"open\":1,\"high\":null,\"low\":1,\"close\":1,\"volume\":1}}"};
    struct live_bars live = {0};

    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        json_t *result = json_loads(answers[i], 0, NULL);
        tui_live_bars_take(&live, "BTCUSDT", "1m", result, 1);
        CHECK_INT(live.n, 0);
        json_decref(result);
    }
    json_t *result =
        json_loads("{\"closed\":{\"open_time_ms\":120000,\"open\":1,\"high\":1,\"low\":1,\"close\":1,"
                   "\"volume\":1,\"indicators\":{\"sma_20\":\"x\"}},\"forming\":{\"open_time_ms\":60000,"
                   "\"open\":1,\"high\":1,\"low\":1,\"close\":1,\"volume\":1}}",
                   0, NULL);
    tui_live_bars_take(&live, "BTCUSDT", "1m", result, 1);
    CHECK_INT(live.n, 1);
    CHECK(!live.forming[0] && isnan(tui_live_bars_value(&live, 0, "sma_20")));
    CHECK(isnan(tui_live_bars_value(&live, 0, "none")));
    json_decref(result);
    tui_live_bars_finish(&live);
}

static bool figures_say(const char *words)
{
    bool found = false;

    for (int y = chart.y + 1; y < top; y++)
        found |= strstr(row_text(y, 0), words) != NULL;
    return found;
}

static bool says_forming(void)
{
    return strstr(row_text(chart.y, 0), " forming 08-08 23:54") != NULL;
}

/* Bars that the daemon has and the database not yet fill the chart's window with those before them. */
static void check_window(size_t size, enum glyphs glyphs)
{
    struct history *h = &model->history;

    make_bars(CHART_BARS_MIN, 23);
    take_live("1m", true);
    h->n_bars = CHART_BARS_MIN - 1; /* the last one is not stored yet */
    start();
    view.chart.bars = CHART_BARS_MIN;
    draw(size, glyphs);
    CHECK(says_forming());
    CHECK_INT(panel_chart_bar_at(&view, model, now, 1, chart.width), 1);
    tui_live_bars_finish(&model->live);
}

/* The bar that is forming is the last candle, dim, with its figures; not where it is known already, of
 * another timeframe, old, of the past, or where the chart ends before. */
static void check_forming(size_t size, enum glyphs glyphs)
{
    struct history *h = &model->history;

    make_bars(40, 19);
    h->n_outputs = 1;
    strcpy(h->output_names[0], "sma_20");
    for (int i = 0; i < h->n_bars; i++)
        h->outputs[0][i] = 61800;
    h->bars[h->n_bars - 1].open_ns = (now.wall_ns / minute_ns - 1) * minute_ns;
    const double close = h->bars[h->n_bars - 1].close;
    take_live("1m", true);
    start();
    for (int cross = 0; cross < 2; cross++) {
        int high = -1, low = -1, first = columns;
        draw(size, glyphs);
        CHECK(says_forming());
        for (int x = columns * 9 / 10; x <= columns; x++)
            for (int y = top; y < bottom; y++)
                if (style_at(chart.x + x, y) == STYLE_DIM && at(chart.x + x, y) != L' ') {
                    first = x < first ? x : first;
                    high = high < 0 || y < high ? y : high;
                    low = y > low ? y : low;
                }
        CHECK(first > columns * 9 / 10);
        CHECK_NEAR(high, row_of(close + 40.25), rows_near);
        CHECK_NEAR(low, row_of(close - 90.5), rows_near);
        for (int x = first; x <= columns; x++) /* no other candle is behind it */
            for (int y = top; y < bottom; y++)
                CHECK(!is_candle(chart.x + x, y));
        CHECK_NEAR(figure("c"), cross ? close : close - 60.5, 0.00501);
        CHECK_NEAR(figure("sma_20"), cross ? 61800 : 61234.56, 0.00501);
        CHECK_INT(figures_say("forming: "), !cross);
        CHECK(!figures_say("closed: "));
        press(size, 'm');
    }
    h->n_outputs = 0; /* the strategies' are of the last closed bar */
    draw(size, glyphs);
    CHECK(figures_say("closed: sma_10 ") && !figures_say("forming: "));
    h->n_outputs = 1;
    take_live("1m", false); /* it has closed, and is stored */
    draw(size, glyphs);
    CHECK(!says_forming() && !figures_say("forming: ") && !figures_say("closed: "));
    take_live("5m", true);
    draw(size, glyphs);
    CHECK(!says_forming());
    take_live("1m", true);
    model->live.mono_ms -= 4000; /* old */
    draw(size, glyphs);
    CHECK(!says_forming());
    model->live.mono_ms += 4000;
    model->at_ns = now.wall_ns;
    draw(size, glyphs);
    CHECK(!says_forming());
    model->at_ns = 0;
    press(size, '}');
    press(size, ',');
    draw(size, glyphs);
    CHECK(!says_forming());
    tui_live_bars_take(&model->live, "BTCUSDT", "1m", NULL, now.mono_ms);
    start();
    draw(size, glyphs);
    CHECK(!says_forming());
}

/* Zoom keys that are held down: each drawing on the way is whole, the last one is as many bars as there may
 * be, and as few; the newest bar stays at the right edge, or the crosshair on its bar. */
static void check_held(size_t size, enum glyphs glyphs)
{
    const struct history *h = &model->history;

    make_bars(HISTORY_BARS_MAX, 17);
    for (int cross = 0; cross < 2; cross++) {
        start();
        for (int i = 0; i < 20 * cross; i++)
            press(size, i == 0 ? 'm' : ',');
        int64_t held_ns = view.chart.crosshair_ns;
        int before = 0;
        for (int i = 0; i < 60; i++) {
            const bool closer = i / 20 % 2 == 0;
            int first, n;
            press(size, closer ? '}' : '{');
            draw(size, glyphs);
            tui_chart_window(&view.chart, h, columns, &first, &n);
            CHECK(i % 20 == 0 || (closer ? n <= before : n >= before));
            if (i % 20 == 19)
                CHECK_INT(n, closer ? CHART_BARS_MIN : CHART_BARS_MAX);
            CHECK(cross ? view.chart.crosshair_ns == held_ns : view.chart.end_ns == 0);
            int candles = 0, last = 0;
            for (int x = 1; x <= columns; x++)
                for (int y = top, is = 0; y < bottom; y++)
                    if (!is && is_candle(chart.x + x, y)) {
                        is = 1;
                        candles++;
                        last = x;
                    }
            CHECK(candles >= (n < columns ? n : columns) * 9 / 10);
            CHECK(last > columns * 3 / 4);
            before = n;
        }
    }
}

int main(void)
{
    const char *path = scratch_path("papertape.db");
    struct history_reader *reader;

    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return CHECK_SKIP;
    CHECK_INT(fixture_database(path), 0);
    model = picture_model(path, "{}", now, &reader);
    if (!model)
        return EXIT_FAILURE;
    tui_view_init(&view, true, 1000);
    CHECK_INT(tui_canvas_init(&canvas, 1, 1, GLYPHS_ASCII), 0);
    check_hostile();
    for (size_t size = 0; size < sizeof(sizes) / sizeof(sizes[0]); size++)
        for (int tier = GLYPHS_ASCII; tier <= GLYPHS_BRAILLE; tier++) {
            for (unsigned seed = 1; seed <= 20; seed++)
                check_eight(size, (enum glyphs)tier, seed);
            check_legend(size, (enum glyphs)tier);
            check_gaps(size, (enum glyphs)tier);
            check_far(size, (enum glyphs)tier);
            check_sessions(size, (enum glyphs)tier);
            check_stale(size, (enum glyphs)tier);
            check_window(size, (enum glyphs)tier);
            check_forming(size, (enum glyphs)tier);
            check_held(size, (enum glyphs)tier);
        }
    tui_canvas_finish(&canvas);
    tui_view_finish(&view);
    tui_history_close(reader);
    tui_model_destroy(model);
    return check_done("tui/chart_screen");
}
