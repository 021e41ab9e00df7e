#include "trainer/study/report_chart.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#define NS_PER_S INT64_C(1000000000)

enum {
    WIDTH = 760,
    HEIGHT = 320,
    LEFT = 64,
    RIGHT = 16,
    TOP = 14,
    BOTTOM = 40,
    CURVE_POINTS = 600,
    TICKS = 6
};

void study_chart_escape(struct text *text, const char *words)
{
    for (const char *p = words; *p; p++)
        switch (*p) {
        case '&':
            text_lit(text, "&amp;");
            break;
        case '<':
            text_lit(text, "&lt;");
            break;
        case '>':
            text_lit(text, "&gt;");
            break;
        case '"':
            text_lit(text, "&quot;");
            break;
        default:
            text_bytes(text, (unsigned char)*p < ' ' || *p == 0x7f ? "?" : p, 1);
        }
}

/* ---- axes ---- */

struct chart_range {
    double low, high;
};

static void widen(struct chart_range *range, double x)
{
    if (!isfinite(x))
        return;
    range->low = x < range->low ? x : range->low;
    range->high = x > range->high ? x : range->high;
}

/* Of nothing, and of one number, a range around it. */
static struct chart_range settle(struct chart_range range)
{
    if (!(range.low <= range.high))
        return (struct chart_range){0, 1};
    double room = range.high > range.low ? 0.04 * (range.high - range.low) : fabs(range.low) * 0.1 + 1e-6;
    return (struct chart_range){range.low - room, range.high + room};
}

static double place_x(struct chart_range range, double x)
{
    return LEFT + (x - range.low) / (range.high - range.low) * (WIDTH - LEFT - RIGHT);
}

static double place_y(struct chart_range range, double y)
{
    return HEIGHT - BOTTOM - (y - range.low) / (range.high - range.low) * (HEIGHT - TOP - BOTTOM);
}

/* 1, 2 or 5 times a power of ten, so that there are about TICKS of them. */
static double tick_step(struct chart_range range)
{
    double rough = (range.high - range.low) / TICKS, power = pow(10, floor(log10(rough))),
           times = rough / power;
    return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

static void begin(struct text *text, const char *title)
{
    text_format(text,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n<title>",
                WIDTH, HEIGHT);
    study_chart_escape(text, title);
    text_lit(text, "</title>\n");
}

static void line(struct text *text, const char *class, double x0, double y0, double x1, double y1)
{
    text_format(text, "<line class=\"%s\" x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\"/>\n", class, x0, y0,
                x1, y1);
}

static void words_at(struct text *text, double x, double y, const char *anchor, const char *words)
{
    text_format(text, "<text x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\">", x, y, anchor);
    study_chart_escape(text, words);
    text_lit(text, "</text>\n");
}

static void y_axis(struct text *text, struct chart_range range)
{
    double step = tick_step(range);
    char words[32];
    for (double at = ceil(range.low / step); at * step <= range.high; at++) {
        double y = place_y(range, at * step);
        line(text, "grid", LEFT, y, WIDTH - RIGHT, y);
        snprintf(words, sizeof words, "%.6g", at * step + 0.0);
        words_at(text, LEFT - 6, y + 4, "end", words);
    }
}

static void x_axis(struct text *text, struct chart_range range, const char *name)
{
    double step = tick_step(range);
    char words[32];
    for (double at = ceil(range.low / step); at * step <= range.high; at++) {
        snprintf(words, sizeof words, "%.6g", at * step + 0.0);
        line(text, "grid", place_x(range, at * step), TOP, place_x(range, at * step), HEIGHT - BOTTOM);
        words_at(text, place_x(range, at * step), HEIGHT - BOTTOM + 16, "middle", words);
    }
    words_at(text, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 6, "middle", name);
}

/* ---- curves ---- */

/* Is this row drawn? Long curves are thinned, but the last row is always drawn. */
static bool is_drawn(size_t row, size_t rows)
{
    size_t every = (rows + CURVE_POINTS - 1) / CURVE_POINTS;
    return row % every == 0 || row + 1 == rows;
}

static struct chart_range curve_range(const struct chart_curve *curves, int n, size_t rows)
{
    struct chart_range range = {1, 1};
    for (int i = 0; i < n; i++) {
        double equity = 1;
        for (size_t row = 0; row < rows; row++) {
            equity *= 1 + curves[i].returns[row * curves[i].stride];
            if (is_drawn(row, rows))
                widen(&range, equity);
        }
    }
    return settle(range);
}

static void row_axis(struct text *text, size_t rows, const int64_t *open_ns)
{
    for (int i = 0; i <= 4; i++) {
        size_t row = (rows - 1) * (size_t)i / 4;
        char words[32];
        snprintf(words, sizeof words, "%zu", row + 1);
        time_t seconds = open_ns ? (time_t)(open_ns[row] / NS_PER_S) : 0;
        struct tm tm;
        if (open_ns && gmtime_r(&seconds, &tm))
            strftime(words, sizeof words, "%Y-%m-%d", &tm);
        words_at(text, LEFT + i * (WIDTH - LEFT - RIGHT) / 4.0, HEIGHT - BOTTOM + 16,
                 i == 0   ? "start"
                 : i == 4 ? "end"
                          : "middle",
                 words);
    }
    words_at(text, (LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 6, "middle", open_ns ? "UTC" : "row");
}

void study_chart_curves(struct text *text, const char *title, const struct chart_curve *curves, int n,
                        size_t rows, const int64_t *open_ns)
{
    struct chart_range y = curve_range(curves, n, rows), x = {0, (double)rows};
    begin(text, title);
    y_axis(text, y);
    row_axis(text, rows, open_ns);
    for (int i = n - 1; i >= 0; i--) { /* the first is on top */
        double equity = 1;
        text_format(text, "<polyline class=\"c%d\" points=\"%.2f,%.2f", i, place_x(x, 0), place_y(y, 1));
        for (size_t row = 0; row < rows; row++) {
            equity *= 1 + curves[i].returns[row * curves[i].stride];
            if (is_drawn(row, rows) && isfinite(equity))
                text_format(text, " %.2f,%.2f", place_x(x, (double)row + 1), place_y(y, equity));
        }
        text_lit(text, "\"/>\n");
    }
    for (int i = 0; i < n; i++) {
        double at = TOP + 12 + 16 * i;
        text_format(text, "<line class=\"c%d\" x1=\"%d\" y1=\"%.2f\" x2=\"%d\" y2=\"%.2f\"/>\n", i, LEFT + 10,
                    at - 4, LEFT + 34, at - 4);
        words_at(text, LEFT + 40, at, "start", curves[i].name);
    }
    text_lit(text, "</svg>\n");
}

/* ---- bars, points ---- */

void study_chart_bars(struct text *text, const char *title, const double *bars, int n, double low,
                      double high, double until)
{
    struct chart_range x = {low, high}, y = {0, 0};
    double width = (high - low) / n;
    for (int i = 0; i < n; i++)
        widen(&y, bars[i]);
    y.high = y.high > 0 ? 1.04 * y.high : 1;
    begin(text, title);
    y_axis(text, y);
    x_axis(text, x, "λ: left of 0 the choice was in the worse half out of sample");
    for (int i = 0; i < n; i++) {
        double from = place_x(x, low + i * width), to = place_x(x, low + (i + 1) * width),
               top = place_y(y, bars[i]);
        text_format(text, "<rect class=\"c%d\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n",
                    low + (i + 0.5) * width <= until, from + 1, top, to - from - 2, HEIGHT - BOTTOM - top);
    }
    line(text, "axis", place_x(x, until), TOP, place_x(x, until), HEIGHT - BOTTOM);
    text_lit(text, "</svg>\n");
}

void study_chart_points(struct text *text, const char *title, const double *points, size_t n, double slope,
                        double intercept)
{
    struct chart_range x = {INFINITY, -INFINITY}, y = {0, 0}, seen;
    for (size_t i = 0; i < n; i++) {
        widen(&x, points[2 * i]);
        widen(&y, points[2 * i + 1]);
    }
    seen = x;
    bool fit = isfinite(slope) && isfinite(intercept) && seen.low < seen.high;
    if (fit) {
        widen(&y, slope * seen.low + intercept);
        widen(&y, slope * seen.high + intercept);
    }
    x = settle(x);
    y = settle(y);
    begin(text, title);
    y_axis(text, y);
    x_axis(text, x, "Sharpe in sample; out of sample above");
    line(text, "axis", LEFT, place_y(y, 0), WIDTH - RIGHT, place_y(y, 0));
    text_lit(text, "<g class=\"points\">\n");
    for (size_t i = 0; i < n; i++)
        if (isfinite(points[2 * i]) && isfinite(points[2 * i + 1]))
            text_format(text, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2\"/>\n", place_x(x, points[2 * i]),
                        place_y(y, points[2 * i + 1]));
    text_lit(text, "</g>\n");
    if (fit)
        line(text, "fit", place_x(x, seen.low), place_y(y, slope * seen.low + intercept),
             place_x(x, seen.high), place_y(y, slope * seen.high + intercept));
    text_lit(text, "</svg>\n");
}
