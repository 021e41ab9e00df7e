#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "tui/chart.h"
#include "tui/panel/chart_marks.h"
#include "tui/panel/frame.h"

enum {
    SAMPLES_MAX = 512,
    AXIS = 9,
    BELOW_FROM = 12, /* rows from which on the drawdown has room below the curve, the times below all, */
    DAYS_FROM = 18,  /* and each day's profit or loss below that */
};

static const int64_t day_ns = (int64_t)86400 * 1000000000;

/* The chosen account's curve: what is stored, and now. */
struct equity_curve {
    struct history_equity points[HISTORY_EQUITY_MAX + 1];
    int n;
};

static void read_curve(struct equity_curve *curve, const struct model *model,
                       const struct status_account *account, enum freshness freshness, struct moment now)
{
    const struct history *h = &model->history;
    int64_t clock_ns = tui_model_clock_ns(model, now);

    curve->n = 0;
    if (account && h->equity_account[0] && strcmp(h->equity_account, account->account) != 0)
        return; /* it has not been read yet */
    memcpy(curve->points, h->equity, (size_t)h->n_equity * sizeof(h->equity[0]));
    curve->n = h->n_equity;
    if (account && isfinite(account->equity) && freshness == FRESH && clock_ns > 0) {
        if (curve->n > 0 && clock_ns < curve->points[curve->n - 1].ts_ns)
            clock_ns = curve->points[curve->n - 1].ts_ns;
        double peak = curve->n > 0 ? curve->points[curve->n - 1].peak : NAN;
        peak = peak < account->equity ? account->equity : peak;
        curve->points[curve->n++] = (struct history_equity){clock_ns, account->equity, peak};
    }
}

/* Samples a curve at `n` equal steps of the time from `first` to `last`; between two points it is constant,
 * before the first it has no value. */
static void sample(const struct history_equity *points, int n_points, int64_t first, int64_t last,
                   double *values, int n)
{
    for (int i = 0, at = -1; i < n; i++) {
        int64_t until = i == n - 1 ? last : first + (int64_t)((double)(last - first) * (i + 1) / n);
        while (at + 1 < n_points && points[at + 1].ts_ns <= until)
            at++;
        values[i] = at < 0 ? NAN : points[at].equity;
    }
}

/* The same, two values for each column of the chart; where the column's highest or lowest point is neither of
 * them, these are, in their order of time. Where a column has room for `one`, that is the further from the
 * column before. */
static void sample_extremes(const struct history_equity *points, int n_points, int64_t first, int64_t last,
                            double *values, int n, bool one)
{
    int at = 0;

    sample(points, n_points, first, last, values, n);
    while (at < n_points && points[at].ts_ns < first)
        at++;
    for (int i = 0; i + 1 < n; i += 2) {
        int64_t until = i + 2 >= n ? last : first + (int64_t)((double)(last - first) * (i + 2) / n);
        int low = -1, high = -1;
        for (; at < n_points && points[at].ts_ns <= until; at++) {
            double value = points[at].equity;
            low = isfinite(value) && (low < 0 || value < points[low].equity) ? at : low;
            high = isfinite(value) && (high < 0 || value > points[high].equity) ? at : high;
        }
        if (low < 0 || (points[low].equity >= fmin(values[i], values[i + 1]) &&
                        points[high].equity <= fmax(values[i], values[i + 1])))
            continue;
        double before = i > 0 && isfinite(values[i - 1]) ? values[i - 1] : values[i + 1];
        int lead = low < high ? low : high, rear = low < high ? high : low;
        if (one)
            lead = rear = points[high].equity - before >= before - points[low].equity ? high : low;
        values[i] = points[lead].equity;
        values[i + 1] = points[rear].equity;
    }
}

/* The backtest's last point until then. */
static double backtest_at(const struct backtest_view *backtest, int64_t ts_ns)
{
    double value;

    sample(backtest->curve, backtest->n_curve, ts_ns, ts_ns, &value, 1);
    return value;
}

/* The backtest's curve of the account, over the same time; false when there is none of it. */
static bool sample_backtest(const struct model *model, const struct status_account *account, int64_t first,
                            int64_t last, double *values, int n, bool one)
{
    const struct backtest_view *backtest = &model->backtest;

    if (backtest->state != BACKTEST_DONE || !account || strcmp(backtest->account, account->account) != 0 ||
        backtest->n_curve == 0 || backtest->curve[0].ts_ns > last)
        return false;
    sample_extremes(backtest->curve, backtest->n_curve, first, last, values, n, one);
    return true;
}

/* What holding the benchmark, bought at its first close, would have made of the first point's money, over the
 * same time; false: it is not known. */
static bool sample_benchmark(const struct scene *scene, double money, int64_t first, int64_t last,
                             double *values, int n)
{
    const struct history_benchmark *benchmark = &scene->model->history.benchmark;
    bool found = false;

    for (int i = 0; scene->view->benchmark && i < n; i++) {
        int64_t at_ns = i == n - 1 ? last : first + (int64_t)((double)(last - first) * (i + 1) / n);
        values[i] = money * tui_history_benchmark(benchmark, at_ns);
        found |= isfinite(values[i]);
    }
    return found;
}

/* "7d", or how much there is of it; "all 94d". */
static const char *span_words(char buf[static FORMAT_MAX], enum history_span span, int64_t span_ms)
{
    int64_t asked_ms = tui_history_span_ns(span) / 1000000;
    char age[FORMAT_MAX];

    if (asked_ms > 0 && span_ms > asked_ms / 10 * 9)
        return tui_history_span_name(span);
    snprintf(buf, FORMAT_MAX, "%s%s%.20s", asked_ms ? "" : tui_history_span_name(span), asked_ms ? "" : " ",
             cli_format_age(age, span_ms));
    return buf;
}

/* A row of words over a part of the body, and the figures at the part's left edge. */
static struct area part_of(const struct area *body, const struct area *chart, int y, int rows,
                           const char *words)
{
    tui_area_text(body, chart->x - body->x, y, STYLE_DIM, words);
    return tui_area_part(body, chart->x - body->x, y + 1, chart->width, rows - 1);
}

static void edge(const struct area *body, const struct area *part, int row, const char *text)
{
    tui_area_text_right(body, part->x - body->x - 1, part->y - body->y + row, STYLE_DIM, text);
}

/* How far below its peak each point is, in per cent; the deepest from `from_ns` to `to_ns`, or NaN. */
static double falls_of(const struct history_equity *points, int n, int64_t from_ns, int64_t to_ns,
                       struct history_equity *ret)
{
    double low = NAN;

    for (int i = 0; i < n; i++) {
        double fall = 100 * (points[i].equity / points[i].peak - 1);
        ret[i] = (struct history_equity){points[i].ts_ns, fall > 0 ? 0 : fall, NAN}; /* NaN stays one */
        if (points[i].ts_ns >= from_ns && points[i].ts_ns <= to_ns)
            low = fmin(low, ret[i].equity);
    }
    return low;
}

static char *fall_text(char buf[static FORMAT_MAX], double fall)
{
    return cli_format_percent(buf, fall, fall > -1 ? 2 : 1);
}

/* The drawdown: 0 at the top; with the backtest's where it is shown. */
static void draw_drawdown(const struct area *body, const struct area *chart, int y, int rows,
                          const struct equity_curve *curve, const struct backtest_view *backtest,
                          int64_t from_ns, int64_t to_ns)
{
    struct history_equity points[HISTORY_EQUITY_MAX + 1], tested[HISTORY_EQUITY_MAX];
    double values[SAMPLES_MAX], low = falls_of(curve->points, curve->n, from_ns, to_ns, points),
                                tested_low = NAN;
    static const char explanation[] = "dd: below the peak so far; ";
    char a[FORMAT_MAX], b[FORMAT_MAX] = "", words[3 * FORMAT_MAX];
    int n = chart->width * 2 < SAMPLES_MAX ? chart->width * 2 : SAMPLES_MAX;
    const bool one = chart->canvas->glyphs != GLYPHS_BRAILLE;

    if (backtest) {
        tested_low = falls_of(backtest->curve, backtest->n_curve, from_ns, to_ns, tested);
        fall_text(b, tested_low);
    }
    fall_text(a, low);
    const int length = snprintf(words, sizeof(words), "%smax dd %s%s%s", explanation, a,
                                backtest ? "  .. backtest " : "", b);
    const bool fits = !backtest || length <= body->width - (chart->x - body->x);
    struct area part = part_of(body, chart, y, rows, fits ? words : words + strlen(explanation));
    edge(body, &part, 0, "0%");
    const double least = fmin(low, tested_low);
    if (!(least < 0))
        return;
    sample_extremes(points, curve->n, from_ns, to_ns, values, n, one);
    tui_chart_line(&part, values, n, least, 0, STYLE_DOWN);
    if (backtest) {
        sample_extremes(tested, backtest->n_curve, from_ns, to_ns, values, n, one);
        tui_chart_overlay(&part, values, n, least, 0, STYLE_LINE);
    }
    edge(body, &part, part.height - 1, fall_text(a, least));
}

/* The UTC day that a column's left edge is in. */
static int64_t day_at(int64_t from_ns, int64_t to_ns, int x, int columns)
{
    return (from_ns + (int64_t)((double)(to_ns - from_ns) * x / columns)) / day_ns;
}

/* Profit or loss of each UTC day: up from the middle, or down. */
static void draw_days(const struct area *body, const struct area *chart, int y, int rows,
                      const struct history *history, int64_t from_ns, int64_t to_ns)
{
    double most = 0;
    char a[FORMAT_MAX];
    struct area part = part_of(body, chart, y, rows, "each day's profit or loss");
    int middle = part.height / 2;
    bool plain = part.canvas->glyphs == GLYPHS_ASCII;

    for (int64_t day = from_ns / day_ns; day <= to_ns / day_ns; day++)
        most = fmax(most, fabs(tui_history_day_profit(history, day)));
    for (int x = 0; most > 0 && x < part.width; x++) {
        int64_t day = day_at(from_ns, to_ns, x, part.width);
        int64_t end = x + 1 < part.width ? day_at(from_ns, to_ns, x + 1, part.width) : to_ns / day_ns + 1;
        double value = tui_history_day_profit(history, day);
        while (++day < end) { /* of several in a column the greatest move */
            double next = tui_history_day_profit(history, day);
            value = fabs(next) > fabs(value) ? next : value;
        }
        int length = (int)lround(fabs(value) / most * middle);
        for (int k = 1; k <= length; k++)
            tui_area_char(&part, x, value > 0 ? middle - k : middle + k, value > 0 ? STYLE_UP : STYLE_DOWN,
                          plain ? value > 0 ? L'+' : L'-' : L'█');
    }
    tui_area_line(&part, 0, middle, part.width, STYLE_RULE, plain ? L'-' : L'─');
    edge(body, &part, 0, cli_format_signed(a, most, most < 100 ? 2 : 0));
}

/* The times below, in the body's last row. */
static void draw_times(const struct area *body, const struct area *chart, int64_t from_ns, int64_t to_ns)
{
    const int64_t second_ns = 1000000000; /* the axis is one of bars: of the first second and the last */
    const struct history_bar ends[] = {{.open_ns = from_ns}, {.open_ns = to_ns - second_ns}};
    const int x = chart->x - body->x;
    struct area row = tui_area_part(body, x, body->height - 1, body->width - x, 1);
    struct time_axis axis;

    if (to_ns - from_ns > 2 * second_ns && tui_axis_init(&axis, ends, 2, second_ns, chart->width, false))
        panel_chart_times(&row, &axis);
}

/* Which curves are drawn beside the account's: none without its label, which stands in the rule with `own`,
 * or the backtest's `pair`. A benchmark's is shortened to its symbol where that has room. */
static void fit_labels(int width, const char *own, const char *pair, char *more, bool *both, bool *holds)
{
    enum { TITLE = 16, TITLE_BESIDE = 24 };

    *both = *both && width > (int)strlen(pair) + TITLE;
    const int room = width - TITLE_BESIDE - (int)strlen(*both ? pair : own);
    char *figure = strchr(more + strspn(more, " :"), ' ');
    if (*holds && (int)strlen(more) >= room && figure)
        figure[1] = '\0';
    *holds = *holds && (int)strlen(more) < room;
}

void panel_equity(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    enum freshness freshness = tui_model_accounts_freshness(model, scene->now);
    struct equity_curve curve;
    double values[SAMPLES_MAX], all[HISTORY_EQUITY_MAX + 1 + 2 * SAMPLES_MAX], low, high;
    char a[FORMAT_MAX], b[FORMAT_MAX], text[FORMAT_MAX * 3],
        pair[FORMAT_MAX * 3] = "", title[ACCOUNT_NAME_MAX + 2 * FORMAT_MAX];
    int end;
    const struct status_account *account = tui_view_account(scene->view, model);

    read_curve(&curve, model, account, freshness, scene->now);
    int64_t span_ms = curve.n ? (curve.points[curve.n - 1].ts_ns - curve.points[0].ts_ns) / 1000000 : 0;
    bool several = model->status.n_accounts > 1; /* accounts are not summed: their currencies may differ */
    snprintf(title, sizeof(title), "Equity %s%s%s", span_words(a, model->history.equity_span, span_ms),
             several ? " " : "", several ? account->account : "");
    struct area body = panel_frame_rule(area, scene, PANEL_EQUITY, curve.n ? title : "Equity", -1, &end);
    for (int i = 0; i < curve.n; i++)
        all[i] = curve.points[i].equity;
    int64_t from_ns = curve.n ? curve.points[0].ts_ns : 0,
            to_ns = curve.n ? curve.points[curve.n - 1].ts_ns : 0;
    double backtest[SAMPLES_MAX], held[SAMPLES_MAX];
    const struct history_benchmark *benchmark = &model->history.benchmark;
    char more[SYMBOL_NAME_MAX + FORMAT_MAX + 8] = "";
    int axis = body.width < 24 ? 0 : AXIS, columns = body.width - axis - 3;
    int n = columns < 1 ? 1 : columns * 2 < SAMPLES_MAX ? columns * 2 : SAMPLES_MAX;
    const bool one = body.canvas->glyphs != GLYPHS_BRAILLE;
    bool both = curve.n > 0 && sample_backtest(model, account, from_ns, to_ns, backtest, n, one);
    bool holds = curve.n > 0 && sample_benchmark(scene, all[0], from_ns, to_ns, held, n);
    if (!tui_chart_range(all, curve.n, &low, &high)) {
        panel_frame_empty(&body, panel_frame_no_history(model, "no point yet"));
        return;
    }
    double last = all[curve.n - 1], first = model->history.equity_span == SPAN_ALL ? 0 : all[0];
    const double put_in = first + model->history.equity_flows, gain = last - put_in;
    const double percent = account_return_pct(last, put_in);
    if (holds)
        snprintf(more, sizeof(more), " : %s %s ", benchmark->symbol,
                 cli_format_percent(a, 100 * (held[n - 1] / all[0] - 1), 2));
    if (both)
        snprintf(pair, sizeof(pair), " %s%s  .. backtest %s ", freshness == FRESH ? "live " : "STALE live",
                 freshness == FRESH ? cli_format_fit(a, last, 2, AXIS + 3) : "",
                 cli_format_fit(b, backtest_at(&model->backtest, to_ns), 2, AXIS + 3));
    if (freshness == FRESH)
        snprintf(text, sizeof(text), " %s %s ", cli_format_signed(a, gain, 2),
                 cli_format_percent(b, percent, 2));
    else
        snprintf(text, sizeof(text), " STALE ");
    fit_labels(area->width, text, pair, more, &both, &holds);
    const int right = area->width - 1 - (holds ? (int)strlen(more) : 0);
    if (holds)
        tui_area_text_right(area, area->width - 1, 0, STYLE_LINE_3, more);
    if (both || holds || area->width > (int)strlen(text) + 16) {
        panel_frame_rule_right(area, right, title, end,
                               freshness == FRESH ? style_signed(gain, 2) : STYLE_WARN, both ? pair : text);
        if (freshness == FRESH && !both) /* a small gain of much money is 0.00 % of it */
            tui_area_text_right(area, right - 1, 0, style_signed(percent, 2), b);
    }
    if (both)
        memcpy(all + curve.n, backtest, (size_t)n * sizeof(*all));
    int known = curve.n + (both ? n : 0);
    if (holds)
        memcpy(all + known, held, (size_t)n * sizeof(*all));
    tui_chart_range(all, known + (holds ? n : 0), &low, &high);
    int decimals = high - low >= 20 ? 0 : high - low >= 2 ? 1 : 2;
    int below = axis && body.height >= BELOW_FROM ? body.height / 4 : 0;
    int daily = 0; /* its words, and as many rows for a loss as for a profit */
    if (below && body.height >= DAYS_FROM && to_ns / day_ns > from_ns / day_ns)
        daily = (body.height / 4 + 1) / 2 * 2;
    int rows = body.height - below - daily - (below > 0);
    struct area chart = tui_area_part(&body, axis + 2, 0, columns, rows);
    sample_extremes(curve.points, curve.n, from_ns, to_ns, values, n, one);
    tui_chart_line(&chart, values, n, low, high, panel_frame_style(freshness, STYLE_CHART));
    if (both)
        tui_chart_overlay(&chart, backtest, n, low, high, STYLE_LINE);
    if (holds) {
        for (int i = 0; i < n; i++) /* dotted, as its sign in the title */
            held[i] = i % 4 < 2 ? held[i] : NAN;
        tui_chart_overlay(&chart, held, n, low, high, STYLE_LINE_3);
    }
    if (axis) {
        tui_area_text_right(&body, axis + 1, 0, STYLE_DIM, cli_format_fit(a, high, decimals, axis));
        if (rows > 1)
            tui_area_text_right(&body, axis + 1, rows - 1, STYLE_DIM, cli_format_fit(a, low, decimals, axis));
    }
    if (below) {
        draw_drawdown(&body, &chart, rows, below, &curve, both ? &model->backtest : NULL, from_ns, to_ns);
        draw_times(&body, &chart, from_ns, to_ns);
    }
    if (daily)
        draw_days(&body, &chart, rows + below, daily, &model->history, from_ns, to_ns);
}
