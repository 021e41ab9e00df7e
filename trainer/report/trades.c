/* Fills over prices, and the trades that won and lost most. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "trainer/report/evaluation.h"

enum { CHARTS_MAX = 6, LISTED = 8, DIGITS = 4 };

/* ---- fills over the price ---- */

struct marks {
    int64_t *x;
    double *y;
    size_t n;
};

struct prices {
    struct marks price, buys, sells;
};

static bool make_room(struct prices *prices, size_t rows, size_t fills)
{
    struct marks *const all[] = {&prices->price, &prices->buys, &prices->sells};
    bool done = true;
    for (int i = 0; i < 3; i++) {
        size_t n = i == 0 ? rows : fills;
        all[i]->x = calloc(n + 1, sizeof(int64_t));
        all[i]->y = calloc(n + 1, sizeof(double));
        done = done && all[i]->x && all[i]->y;
    }
    return done;
}

static void finish(struct prices *prices)
{
    struct marks *const all[] = {&prices->price, &prices->buys, &prices->sells};
    for (int i = 0; i < 3; i++) {
        free(all[i]->x);
        free(all[i]->y);
    }
}

/* NaN where the bar is missing. */
static double close_of(const struct env_market *market, size_t row, int asset)
{
    const struct env_market_view *view = env_market_view(market);
    return trainer_report_is_missing(market, row, asset)
               ? NAN
               : (double)view->close[row * (size_t)view->row_stride + (size_t)asset];
}

static void fill(struct prices *prices, const struct trainer_evaluated *evaluated, int asset)
{
    const struct training_episode *episode = evaluated->episode;
    const struct env_market *market = evaluated->market;
    prices->price.n = prices->buys.n = prices->sells.n = 0;
    for (size_t i = 0; i <= episode->n; i++) {
        size_t at = prices->price.n++, row = episode->first + i;
        prices->price.x[at] = trainer_report_close_ns(market, row);
        prices->price.y[at] = close_of(market, row, asset);
    }
    for (size_t i = 0; i < evaluated->trace->n_fills; i++) {
        const struct trainer_fill *fill = &evaluated->trace->fills[i];
        struct marks *marks = fill->qty > 0 ? &prices->buys : &prices->sells;
        if (fill->asset != asset)
            continue;
        marks->x[marks->n] = fill->at_open ? env_market_open_ns(market, (size_t)fill->row)
                                           : trainer_report_close_ns(market, (size_t)fill->row);
        marks->y[marks->n++] = fill->price;
    }
}

static void draw(struct text *text, const struct trainer_evaluated *evaluated, const struct prices *prices,
                 int asset)
{
    const char *name = env_market_asset(evaluated->market, asset);
    bool wide = report_chart_is_wide(prices->price.y, prices->price.n);
    char unit[64], title[96], caption[256];
    const struct report_series list[] = {
        {REPORT_BUYS, 3, "bought", prices->buys.x, prices->buys.y, NULL, prices->buys.n},
        {REPORT_SELLS, 4, "sold", prices->sells.x, prices->sells.y, NULL, prices->sells.n},
        {REPORT_LINE, 2, name, prices->price.x, prices->price.y, NULL, prices->price.n},
    };
    snprintf(unit, sizeof unit, "%s%s", trainer_report_currency(evaluated->market),
             wide ? ", log scale" : "");
    snprintf(title, sizeof title, "Fills of %.64s", name);
    const struct report_chart chart = {.title = title,
                                       .y_name = unit,
                                       .time = true,
                                       .gap = 2 * env_market_view(evaluated->market)->interval_ns,
                                       .logarithmic = wide,
                                       .also = NAN,
                                       .series = list,
                                       .n = 3};
    snprintf(
        caption, sizeof caption,
        "Closes, and at their prices %zu purchases and %zu sales; marks that would cover one another are "
        "drawn once.",
        prices->buys.n, prices->sells.n);
    report_page_chart(text, &chart, caption);
}

static int draw_all(struct text *text, const struct trainer_evaluated *evaluated)
{
    struct prices prices = {0};
    int n = evaluated->episode->n_assets, drawn = n < CHARTS_MAX ? n : CHARTS_MAX;
    int r = make_room(&prices, evaluated->episode->n + 1, evaluated->trace->n_fills) ? 0 : -ENOMEM;
    for (int i = 0; i < drawn && r == 0; i++) {
        fill(&prices, evaluated, i);
        draw(text, evaluated, &prices, i);
    }
    finish(&prices);
    if (drawn < n) {
        char words[96];
        snprintf(words, sizeof words, "The first %d of %d symbols are drawn.", drawn, n);
        report_page_paragraph(text, words);
    }
    return r;
}

/* ---- wins and losses ---- */

static int by_profit(const void *a, const void *b)
{
    const struct training_trade *x = a, *y = b;
    if (x->profit != y->profit)
        return x->profit < y->profit ? 1 : -1;
    return x->opened < y->opened ? -1 : x->opened > y->opened ? 1 : x->asset - y->asset;
}

static void list_one(struct text *text, const struct trainer_evaluated *evaluated,
                     const struct training_trade *trade)
{
    char opened[REPORT_TIME_MAX], closed[REPORT_TIME_MAX], bars[32];
    report_page_row(text);
    report_page_cell(text, env_market_asset(evaluated->market, trade->asset));
    report_page_cell(text, trade->is_short ? "short" : "long");
    report_page_cell(text, trainer_report_time(env_market_open_ns(evaluated->market, trade->opened), opened));
    report_page_cell(text, trainer_report_time(env_market_open_ns(evaluated->market, trade->closed), closed));
    snprintf(bars, sizeof bars, "%zu", trade->closed - trade->opened);
    report_page_cell(text, bars);
    report_page_value(text, trade->most, DIGITS);
    report_page_value_fixed(text, trade->profit, 2);
    report_page_value_fixed(text, 100 * trade->profit / evaluated->episode->capital, 2);
    report_page_row_end(text);
}

static void list(struct text *text, const struct trainer_evaluated *evaluated,
                 const struct training_trade *trades, size_t n, bool wins)
{
    static const char *const names[] = {"symbol", "side", "opened, UTC", "closed, UTC",
                                        "bars",   "most", "profit",      "% of the capital"};
    char words[96];
    size_t listed = 0;
    while (listed < n && listed < LISTED &&
           (wins ? trades[listed].profit > 0 : trades[n - 1 - listed].profit < 0))
        listed++;
    snprintf(words, sizeof words, listed > 0 ? "The largest %s:" : "No trade %s.",
             listed > 0 ? wins ? "wins" : "losses"
             : wins     ? "won"
                        : "lost");
    report_page_paragraph(text, words);
    if (listed == 0)
        return;
    report_page_table(text, names, sizeof names / sizeof *names);
    for (size_t i = 0; i < listed; i++)
        list_one(text, evaluated, wins ? &trades[i] : &trades[n - 1 - i]);
    report_page_table_end(text);
}

int trainer_report_trades(struct text *text, const struct trainer_evaluated *evaluated)
{
    size_t n = evaluated->trace->n_trades;
    struct training_trade *trades = calloc(n + 1, sizeof *trades);
    int r = trades ? draw_all(text, evaluated) : -ENOMEM;
    if (r == 0) {
        for (size_t i = 0; i < n; i++)
            trades[i] = evaluated->trace->trades[i];
        qsort(trades, n, sizeof *trades, by_profit);
        list(text, evaluated, trades, n, true);
        list(text, evaluated, trades, n, false);
    }
    free(trades);
    return r;
}
