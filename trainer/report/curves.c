/* Equity, drawdown and exposure of an evaluation, over time. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "trainer/report/evaluation.h"

/* Points 0 to n: before the first step, then after each. */
struct curves {
    size_t n;        /* steps */
    int64_t *x;      /* [n + 1] */
    double *columns; /* [COLUMNS][n + 1] */
};
enum { EQUITY, HOLDING, DROP, HOLDING_DROP, GROSS, NET, COLUMNS };

static double *column(const struct curves *curves, int which)
{
    return curves->columns + (size_t)which * (curves->n + 1);
}

static void drop(const double *equity, size_t n, double *ret)
{
    double best = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        best = equity[i] > best ? equity[i] : best;
        ret[i] = isnan(equity[i]) ? NAN : 100 * (equity[i] / best - 1);
    }
}

/* The weights of step i are held from point i on, up to point i + 1. */
static void expose(const struct training_episode *episode, double *gross, double *net)
{
    for (size_t i = 0; i < episode->n; i++) {
        gross[i] = net[i] = 0;
        for (int a = 0; a < episode->n_assets; a++) {
            double weight = 100 * episode->weights[(size_t)a * episode->n + i];
            gross[i] += fabs(weight);
            net[i] += weight;
        }
    }
    gross[episode->n] = net[episode->n] = NAN;
}

/* The benchmark is bought before the first step, at a row of its own: it has no value at point 0. Where all
 * bars are missing nothing is known. */
static void fill(struct curves *curves, const struct trainer_evaluated *evaluated)
{
    const struct training_episode *episode = evaluated->episode;
    double *equity = column(curves, EQUITY), *holding = column(curves, HOLDING);
    equity[0] = episode->capital;
    holding[0] = NAN;
    for (size_t i = 0; i <= episode->n; i++)
        curves->x[i] = trainer_report_close_ns(evaluated->market, episode->first + i);
    for (size_t i = 0; i < episode->n; i++) {
        bool known = !trainer_report_all_missing(evaluated->market, episode->first + i + 1);
        equity[i + 1] = known ? episode->equity[i] : NAN;
        holding[i + 1] = known ? episode->benchmark[i] : NAN;
    }
    drop(equity, episode->n + 1, column(curves, DROP));
    drop(holding, episode->n + 1, column(curves, HOLDING_DROP));
    expose(episode, column(curves, GROSS), column(curves, NET));
}

static struct report_series series(const struct curves *curves, int which, enum report_shape shape,
                                   int colour, const char *name)
{
    return (struct report_series){shape, colour, name, curves->x, column(curves, which), NULL, curves->n + 1};
}

static void draw_equity(struct text *text, const struct curves *curves,
                        const struct trainer_evaluated *evaluated)
{
    bool wide = report_chart_is_wide(column(curves, EQUITY), 2 * (curves->n + 1)); /* and of holding */
    char unit[64], caption[256];
    const struct report_series list[] = {series(curves, EQUITY, REPORT_LINE, 0, "policy"),
                                         series(curves, HOLDING, REPORT_LINE, 2, "holding")};
    snprintf(unit, sizeof unit, "%s%s", trainer_report_currency(evaluated->market),
             wide ? ", log scale" : "");
    const struct report_chart chart = {.title = "Equity",
                                       .y_name = unit,
                                       .time = true,
                                       .gap = 2 * env_market_view(evaluated->market)->interval_ns,
                                       .logarithmic = wide,
                                       .also = evaluated->episode->capital,
                                       .series = list,
                                       .n = 2};
    snprintf(
        caption, sizeof caption,
        "Cash and positions at each bar's close, after costs, and the same capital held in equal parts of "
        "all symbols. The dashed line is the capital%s.",
        wide ? "; equal distances are equal ratios" : "");
    report_page_chart(text, &chart, caption);
}

static void draw_drawdown(struct text *text, const struct curves *curves,
                          const struct trainer_evaluated *evaluated)
{
    const struct report_series list[] = {series(curves, DROP, REPORT_DROP, 4, "policy"),
                                         series(curves, HOLDING_DROP, REPORT_LINE, 2, "holding")};
    const struct report_chart chart = {.size = REPORT_LOW,
                                       .title = "Drawdown",
                                       .y_name = "%",
                                       .time = true,
                                       .gap = 2 * env_market_view(evaluated->market)->interval_ns,
                                       .also = 0,
                                       .series = list,
                                       .n = 2};
    report_page_chart(text, &chart, "How far equity is below its highest so far.");
}

static bool has_shorts(const struct training_episode *episode)
{
    for (size_t i = 0; i < episode->n * (size_t)episode->n_assets; i++)
        if (episode->weights[i] < 0)
            return true;
    return false;
}

static void draw_exposure(struct text *text, const struct curves *curves,
                          const struct trainer_evaluated *evaluated)
{
    bool shorts = has_shorts(evaluated->episode);
    const struct report_series list[] = {
        series(curves, GROSS, REPORT_SPREAD, 0, shorts ? "long and short" : NULL),
        series(curves, NET, REPORT_SPREAD, 1, "long less short")};
    const struct report_chart chart = {.size = REPORT_LOW,
                                       .title = "Exposure",
                                       .y_name = "%",
                                       .time = true,
                                       .gap = 2 * env_market_view(evaluated->market)->interval_ns,
                                       .also = 0,
                                       .series = list,
                                       .n = shorts ? 2 : 1};
    report_page_chart(
        text, &chart,
        "The value of positions as a share of equity: the line is the mean of the bars that share "
        "a place, the band goes from their least to their highest.");
}

int trainer_report_curves(struct text *text, const struct trainer_evaluated *evaluated)
{
    size_t n = evaluated->episode->n;
    struct curves curves = {n, calloc(n + 1, sizeof(int64_t)), calloc(COLUMNS * (n + 1), sizeof(double))};
    int r = curves.x && curves.columns ? 0 : -ENOMEM;
    if (r == 0) {
        fill(&curves, evaluated);
        draw_equity(text, &curves, evaluated);
        draw_drawdown(text, &curves, evaluated);
        draw_exposure(text, &curves, evaluated);
    }
    free(curves.x);
    free(curves.columns);
    return r;
}
