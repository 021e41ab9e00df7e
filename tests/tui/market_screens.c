/* The pictures of the market's page: the chart and what is below it, prices that are waited for, depth and
 * trades, gaps and sessions of its bars; what its title says, and any size with each choice of the chart. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/history.h"
#include "tui/keys.h"
#include "tui/view.h"

static const char *golden;
static struct history_reader *reader;
static struct model *model;
static const struct moment now = {1723161255342000000, 1000000};

static void check_screen(const char *name, const struct view *view, int width, int height, enum glyphs glyphs)
{
    CHECK(picture_matches(golden, name, model, view, now, width, height, glyphs));
}

/* What the collector reads for another timeframe. */
static int read_bars(const char *timeframe)
{
    struct history_want want = {.symbol = "BTCUSDT"};
    char words[256];

    snprintf(want.interval, sizeof(want.interval), "%s", timeframe);
    return tui_history_read(reader, fixture_now_ns, &want, &model->history, words, sizeof(words));
}

/* The chart: prices under an average and its bands, and below them RSI, MACD, or nothing; five minutes;
 * without braille. */
static void check_chart(void)
{
    struct view view;

    tui_view_init(&view, true, 1000);
    view.tab = TAB_MARKET;
    check_screen("market-120x40", &view, 120, 40, GLYPHS_BRAILLE);
    check_screen("market-200x60", &view, 200, 60, GLYPHS_BRAILLE);
    view.below = 1;
    check_screen("market-macd-120x40", &view, 120, 40, GLYPHS_BRAILLE);
    check_screen("market-ascii-80x24", &view, 80, 24, GLYPHS_ASCII);
    view.below = 2;
    check_screen("market-alone-80x24", &view, 80, 24, GLYPHS_BLOCK);
    check_screen("market-40x10", &view, 40, 10, GLYPHS_BRAILLE); /* no half numbers, no room for more */
    const struct history_bar *last = &model->history.bars[model->history.n_bars - 1];
    json_t *live = json_pack("{s:{s:I, s:f, s:f, s:f, s:f, s:f, s:{s:f}}}", "forming", "open_time_ms",
                             (json_int_t)(last->open_ns / 1000000 + 60000), "open", last->close, "high",
                             last->close + 15, "low", last->close - 80, "close", last->close - 60, "volume",
                             1.5, "indicators", "sma_20", 61770.25);
    tui_live_bars_take(&model->live, "BTCUSDT", "1m", live, now.mono_ms);
    json_decref(live);
    check_screen("market-forming-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    tui_live_bars_take(&model->live, "", "", NULL, 0);
    int n_bars = model->history.n_bars;
    model->history.n_bars = 3; /* its first time beside its last, not under it */
    check_screen("market-few-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    model->history.n_bars = n_bars;
    strcpy(view.timeframe, "5m"); /* not read yet: no bar of another timeframe is drawn as one */
    check_screen("market-unread-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    CHECK_INT(read_bars("5m"), 0);
    view.below = 0;
    check_screen("market-5m-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    strcpy(view.timeframe, "4h"); /* not kept: the market's own */
    CHECK_STR(tui_view_timeframe(&view, model, &model->status.symbols[0]), "1m");
    CHECK_INT(read_bars("1m"), 0);
}

/* Prices that are waited for: a mark at the symbol's name, the nearest on the chart, all on its page. */
static void check_price_alerts(void)
{
    static const struct status_price_alert alerts[] = {
        {3, "BTCUSDT", "above", 61925.5, 1723160000000000000},
        {5, "BTCUSDT", "above", 65000, 1723160000000000000},
        {6, "BTCUSDT", "below", 61650, 1723160000000000000},
        {7, "BTCUSDT", "below", 500, 1723160000000000000},
        {9, "DOGEUSDT", "below", 61655, 1723160000000000000},
    };
    struct status *status = &model->status;
    struct view view;

    for (size_t i = 0; i < sizeof(alerts) / sizeof(alerts[0]); i++)
        *(struct status_price_alert *)tui_status_add(status, STATUS_PRICE_ALERTS) = alerts[i];
    tui_view_init(&view, true, 1000);
    view.tab = TAB_MARKET;
    check_screen("market-alerts-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    check_screen("market-alerts-ascii-80x24", &view, 80, 24, GLYPHS_ASCII);
    status->n_price_alerts = 0;
}

/* Depth and trades beside the chart and instead of it, with orders of ours at a level and between two; why
 * there are none: another symbol, out of step, stale, no answer, no daemon. */
static void check_depth(void)
{
    static const struct {
        double price, qty;
        const char *side;
    } ours[] = {{61837.62, 0.05, "BUY"}, {61836.5, 0.125, "BUY"}, {61838.66, 0.3, "SELL"}};
    struct status *status = &model->status;
    int n_orders = status->n_orders;
    struct depth_book book = model->depth;
    struct view view;

    for (int i = 0; i < 3; i++) {
        struct status_order *order = tui_status_add(status, STATUS_ORDERS);
        status->orders_total = status->n_orders;
        *order = status->orders[0];
        order->stop = NAN;
        order->price = ours[i].price;
        order->qty = ours[i].qty;
        strcpy(order->side, ours[i].side);
    }
    tui_view_init(&view, true, 1000);
    view.tab = TAB_MARKET;
    tui_keys_press(&view, model, 80, 24, now, 'd');
    check_screen("market-depth-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    check_screen("market-depth-ascii-80x24", &view, 80, 24, GLYPHS_ASCII);
    check_screen("market-depth-40x10", &view, 40, 10, GLYPHS_BRAILLE);
    tui_keys_press(&view, model, 120, 40, now, 'd');
    check_screen("market-depth-120x40", &view, 120, 40, GLYPHS_BRAILLE);
    check_screen("market-depth-200x60", &view, 200, 60, GLYPHS_BRAILLE);
    view.depth = true;
    view.cursor[PANEL_PRICES] = 1; /* the daemon has not answered for it yet */
    check_screen("market-depth-asking-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    view.cursor[PANEL_PRICES] = 0;
    view.focus = PANEL_TRADES; /* older ones, as far as they fill the panel */
    for (int i = 0; i < 30; i++)
        tui_keys_press(&view, model, 80, 24, now, i < 2 ? 'j' : PRESS_DOWN);
    CHECK_INT(view.cursor[PANEL_TRADES], 20 - 15);
    check_screen("market-depth-older-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    view.cursor[PANEL_TRADES] = 0;
    view.focus = PANEL_PRICES;
    strcpy(model->depth.state, "syncing");
    model->tape.answer.mono_ms -= 5000;
    check_screen("market-depth-syncing-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    model->tape.answer.mono_ms += 5000;
    model->depth = book;
    model->depth.answer.mono_ms -= 5000;
    check_screen("market-depth-stale-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    model->depth = book;
    status->n_orders = status->orders_total = n_orders;
}

static bool market_says(const struct view *view, const char *words)
{
    char *text = picture_draw(model, view, now, 120, 40, GLYPHS_BRAILLE);
    bool says = text && strstr(text, words);

    free(text);
    return says;
}

/* What the chart's title says of the scale that is drawn, and of fills older than those that were read. */
static void check_title(void)
{
    struct history *h = &model->history, *kept = malloc(sizeof(*kept));
    struct view view;

    *kept = *h;
    tui_view_init(&view, true, 1000);
    view.tab = TAB_MARKET;
    CHECK(market_says(&view, "BTCUSDT 1m─"));
    while (h->n_fills < HISTORY_ROWS_MAX)
        h->fills[h->n_fills++] = h->fills[2];
    for (int i = 0; i < h->n_fills; i++)
        h->fills[i].ts_ns = fixture_now_ns - i * 15 * INT64_C(1000000000);
    CHECK(market_says(&view, "BTCUSDT 1m fills from 08-08 23:04─"));
    h->n_fills--; /* all that there are */
    CHECK(market_says(&view, "BTCUSDT 1m─"));
    h->fills[h->n_fills++].ts_ns = h->bars[0].open_ns; /* as old as the oldest bar */
    CHECK(market_says(&view, "BTCUSDT 1m─"));
    view.chart.log = true;
    CHECK(market_says(&view, "BTCUSDT 1m log─"));
    for (int i = 0; i < h->n_bars; i++)
        h->bars[i].low = i ? h->bars[i].low : 0; /* no logarithm: the scale is linear */
    view.chart.bars = h->n_bars;
    CHECK(market_says(&view, "BTCUSDT 1m─"));
    *h = *kept;
    free(kept);
}

/* What the daemon has of now: the newest closed bar and the one that is forming, both unknown to the
 * database. */
static void take_live(void)
{
    const json_int_t ms = model->history.bars[model->history.n_bars - 1].open_ns / 1000000;
    json_t *live = json_pack("{s:{s:I, s:f, s:f, s:f, s:f, s:f}, s:{s:I, s:f, s:f, s:f, s:f, s:f}}", "closed",
                             "open_time_ms", ms + 60000, "open", 61000.0, "high", 61020.0, "low", 60990.0,
                             "close", 61010.0, "volume", 1.5, "forming", "open_time_ms", ms + 120000, "open",
                             61010.0, "high", 61015.0, "low", 60980.0, "close", 60985.0, "volume", 0.5);

    tui_live_bars_take(&model->live, "BTCUSDT", "1m", live, now.mono_ms);
    json_decref(live);
    CHECK_INT(tui_live_bars_newer(&model->live, &model->history), 2);
}

/* The chart alone in any size, with each choice of it. */
static void check_chart_sizes(void)
{
    struct view view;

    tui_view_init(&view, true, 1000);
    view.tab = TAB_MARKET;
    view.zoomed = PANEL_CHART;
    for (int i = 0; i < 400; i++) {
        int width = 1 + i * 89 % CANVAS_SIDE_MAX, height = 1 + i * 31 % 120;
        if (i == 200)
            take_live();
        view.chart = (struct chart_window){.line = i & 1,
                                           .log = i & 2,
                                           .crosshair = i & 4,
                                           .bars = i & 8 ? 1 + i % 300 : 0,
                                           .end_ns = i & 16 ? fixture_now_ns - i * 60000000000 : 0};
        char *text = picture_draw(model, &view, now, width, height, (enum glyphs)(i % 3));
        CHECK(text && picture_safe("chart", text, width, height));
        free(text);
    }
    tui_live_bars_take(&model->live, "", "", NULL, 0);
}

/* A minute's bars with those from 140 to 240 missing, a few, and others as a line, on a logarithmic scale,
 * under a crosshair, of the past. */
static void check_gap(void)
{
    struct history *h = &model->history, *kept = malloc(sizeof(*kept));
    struct random random = {3}; /* not another's seed: the pictures are of these bars */
    double price = 61000;
    struct view view;

    *kept = *h;
    h->n_bars = h->n_outputs = 0;
    h->bars_oldest = h->bars_newest = true;
    for (int i = 0; i < 300; i++) {
        double close = price + (double)random_between(&random, -100, 100) / 2;
        double wick = (double)random_between(&random, 0, 1000) / 1000;
        if (i < 140 || i > 240)
            h->bars[h->n_bars++] = (struct history_bar){
                .open_ns = (fixture_now_ns / 60000000000 - 300 + i) * 60000000000,
                .open = price,
                .high = fmax(price, close) + 20 * wick,
                .low = fmin(price, close) - 15 * wick,
                .close = close,
                .volume = 10.5,
            };
        price = close;
    }
    tui_view_init(&view, true, 1000);
    view.tab = TAB_MARKET;
    check_screen("market-gap-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    check_screen("market-gap-120x40", &view, 120, 40, GLYPHS_BRAILLE);
    check_screen("market-gap-200x60", &view, 200, 60, GLYPHS_BRAILLE);
    check_screen("market-gap-ascii-80x24", &view, 80, 24, GLYPHS_ASCII);
    tui_keys_press(&view, model, 120, 40, now, '{'); /* all */
    tui_keys_press(&view, model, 120, 40, now, 'L');
    tui_keys_press(&view, model, 120, 40, now, 'c');
    check_screen("market-line-120x40", &view, 120, 40, GLYPHS_BRAILLE);
    tui_view_init(&view, true, 1000);
    view.tab = TAB_MARKET;
    tui_keys_press(&view, model, 80, 24, now, ',');
    for (int i = 0; i < 30; i++)
        tui_keys_press(&view, model, 80, 24, now, i == 0 ? 'm' : ',');
    check_screen("market-crosshair-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    view.help = true;
    check_screen("market-help-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    check_chart_sizes();
    struct status_symbol *symbol = &model->status.symbols[0];
    char market[sizeof(symbol->market)];
    memcpy(market, symbol->market, sizeof(market));
    strcpy(symbol->market, "regular"); /* a market with sessions: the same bars of three days */
    for (int i = 0; i < h->n_bars; i++)
        h->bars[i].open_ns = (fixture_now_ns / 86400000000000 - 2 + i / 70) * 86400000000000 +
                             (13 * 60 + 30 + i % 70) * 60000000000;
    tui_view_init(&view, true, 1000);
    view.tab = TAB_MARKET;
    tui_keys_press(&view, model, 120, 40, now, '{');
    check_screen("market-sessions-120x40", &view, 120, 40, GLYPHS_BRAILLE);
    memcpy(symbol->market, market, sizeof(market));
    h->n_bars = 8;
    tui_view_init(&view, true, 1000);
    view.tab = TAB_MARKET;
    check_screen("market-eight-120x40", &view, 120, 40, GLYPHS_BRAILLE);
    *h = *kept;
    free(kept);
}

int main(int argc, char **argv)
{
    const char *path = scratch_path("papertape.db");

    if (argc != 2 || !setlocale(LC_CTYPE, "C.UTF-8"))
        return argc != 2 ? EXIT_FAILURE : CHECK_SKIP;
    golden = argv[1];
    CHECK_INT(fixture_database(path), 0);
    model = picture_model(path, "{}", now, &reader);
    if (!model)
        return EXIT_FAILURE;
    fixture_take_depth(model, now);
    check_chart();
    check_price_alerts();
    check_depth();
    check_title();
    check_gap();
    tui_history_close(reader);
    tui_model_destroy(model);
    return check_done("tui/market_screens");
}
