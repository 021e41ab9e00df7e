#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "tui/chart.h"
#include "tui/panel/chart_figures.h"
#include "tui/panel/frame.h"
#include "tui/panel/training_words.h"

enum {
    AXIS = 9,
    BESIDE_FROM = 60, /* columns from which on a second figure is beside the return */
    VALUES_MAX = 2 * CANVAS_SIDE_MAX,
    CURVES_MAX = COMPARE_MAX + 1,
};

#define NAME(figure, member, words) [FIGURE_##figure] = words,
static const char *const names[FIGURES] = {HISTORY_FIGURES(NAME)};

/* One learning curve as it is drawn: smoothed. */
struct smooth_curve {
    const struct history_points *points;
    double values[HISTORY_POINTS_MAX];
};

/* The chosen training's first, then those that are marked. */
struct curves {
    struct smooth_curve of[CURVES_MAX];
    int n, baseline; /* baseline -1: they are not compared */
};

static void take(struct curves *curves, const struct history_points *points)
{
    if (points->n > 0)
        curves->of[curves->n++].points = points;
}

static void read_curves(struct curves *curves, const struct scene *scene)
{
    const struct history *h = &scene->model->history;
    const struct compare *compare = &scene->view->compare;
    const char *wanted = tui_view_wanted_training(scene->view, scene->model);

    curves->n = 0;
    curves->baseline = -1;
    if (strcmp(h->training.points.training, wanted) == 0)
        take(curves, &h->training.points);
    for (int i = 0; i < compare->n; i++) {
        bool chosen = strcmp(compare->marked[i], wanted) == 0;
        const struct history_points *points = chosen ? &h->training.points : &h->compared[i];
        if (strcmp(points->training, compare->marked[i]) != 0 || points->n == 0)
            continue; /* not read yet, or nothing is stored */
        if (i == compare->baseline)
            curves->baseline = chosen ? 0 : curves->n;
        if (!chosen)
            take(curves, points);
    }
    if (curves->baseline < 0 && curves->n > 1)
        curves->baseline = 0;
    if (curves->n < 2)
        curves->baseline = -1;
}

/* One figure of all of them, smoothed. */
static void smooth(struct curves *curves, enum history_figure figure, double weight)
{
    for (int i = 0; i < curves->n; i++) {
        struct smooth_curve *curve = &curves->of[i];
        memcpy(curve->values, curve->points->figures[figure], sizeof(curve->values));
        tui_compare_smooth(curve->values, curve->points->n, weight);
    }
}

static int64_t last_steps(const struct smooth_curve *curve)
{
    return curve->points->steps[curve->points->n - 1];
}

/* The figure at each of n places that divide the steps from..to evenly: the last that falls there, a straight
 * line where none does. */
static void spread(const struct smooth_curve *curve, int64_t from, int64_t to, double *values, int n)
{
    double first = (double)from, range = (double)to - first;
    int before = -1;

    for (int i = 0; i < n; i++)
        values[i] = NAN;
    for (int i = 0; i < curve->points->n; i++) {
        double value = curve->values[i];
        if (!isfinite(value))
            continue;
        int at = range > 0 ? (int)(((double)curve->points->steps[i] - first) / range * (n - 1)) : n - 1;
        at = at < 0 ? 0 : at >= n ? n - 1 : at;
        for (int k = before + 1; before >= 0 && k < at; k++)
            values[k] = values[before] + (value - values[before]) * (k - before) / (at - before);
        values[at] = value;
        before = at;
    }
}

static char *short_number(char buf[static FORMAT_MAX], double value)
{
    double size = fabs(value);

    if (size >= 1e5)
        return cli_format_count(buf, value);
    if (size > 0 && size < 1e-3)
        snprintf(buf, FORMAT_MAX, "%.1e", value);
    else
        snprintf(buf, FORMAT_MAX, "%.*f", size < 10 ? 4 : size < 1000 ? 2 : 0, size > 0 ? value : 0);
    return buf;
}

static double last_value(const struct smooth_curve *curve)
{
    for (int i = curve->points->n - 1; i >= 0; i--)
        if (isfinite(curve->values[i]))
            return curve->values[i];
    return NAN;
}

/* How a curve is drawn: the chosen one as ever, others like indicators over prices. */
static struct chart_overlay style_of(int at)
{
    return at == 0 ? (struct chart_overlay){STYLE_CHART, 0xf} : panel_chart_style(at);
}

/* A row for each: its line, its name, its newest value, and how far it is from the baseline where both have
 * come. */
static void legend(const struct area *area, const struct curves *curves)
{
    const struct smooth_curve *base = &curves->of[curves->baseline];
    char name[STATUS_TRAINING_NAME_MAX], a[FORMAT_MAX], b[FORMAT_MAX];
    int width = area->width / 2 < 31 ? area->width / 2 : 31;

    for (int i = 0; i < curves->n && i < area->height; i++) {
        const struct smooth_curve *curve = &curves->of[i];
        struct area line = tui_area_part(area, 0, i, area->width, 1);
        int x = panel_chart_sample(&line, 1, style_of(i)) + 1;
        panel_frame_middle(area->canvas, name, sizeof(name), curve->points->training, width);
        tui_area_text(&line, x, 0, i == 0 ? STYLE_STRONG : STYLE_NORMAL, name);
        double last = last_value(curve);
        x = tui_area_text(&line, x + width + 1, 0, STYLE_NORMAL,
                          isfinite(last) ? short_number(a, last) : "n/a");
        if (i == curves->baseline) {
            tui_area_text_cut(&line, x + 1, 0, line.width - x - 1, STYLE_DIM, "baseline");
            continue;
        }
        int64_t at = last_steps(curve) < last_steps(base) ? last_steps(curve) : last_steps(base);
        double more = tui_compare_at(curve->points->steps, curve->values, curve->points->n, at) -
                      tui_compare_at(base->points->steps, base->values, base->points->n, at);
        if (isfinite(more)) {
            char text[3 * FORMAT_MAX];
            cli_format_count(b, (double)at);
            snprintf(text, sizeof(text), "%s%.20s at %.16s", more > 0 ? "+" : "", short_number(a, more), b);
            tui_area_text_cut(&line, x + 1, 0, line.width - x - 1, style_signed(more, 4), text);
        }
    }
}

static void plot(const struct area *area, struct curves *curves, enum history_figure figure,
                 const struct scene *scene)
{
    static double values[CURVES_MAX][VALUES_MAX];
    char a[FORMAT_MAX], b[FORMAT_MAX];
    double all[2 * CURVES_MAX], low, high;
    int smoothed = scene->view->compare.smooth;
    int64_t from = curves->of[0].points->steps[0], to = last_steps(&curves->of[0]);

    smooth(curves, figure, tui_compare_weight(smoothed));
    double last = last_value(&curves->of[0]);
    int x = tui_area_text(area, 1, 0, STYLE_DIM, names[figure]) + 1;
    x = tui_area_text(area, x, 0, STYLE_STRONG, isfinite(last) ? short_number(a, last) : "n/a");
    if (smoothed > 0) {
        snprintf(b, sizeof(b), "smoothed %g", tui_compare_weight(smoothed));
        tui_area_text_cut(area, x + 2, 0, area->width - x - 2, STYLE_DIM, b);
    }
    struct area body = *area;
    if (curves->baseline >= 0 && area->height >= curves->n + 5) {
        body = tui_area_part(area, 0, curves->n, area->width, area->height - curves->n);
        struct area rows = tui_area_part(area, 0, 1, area->width, curves->n);
        legend(&rows, curves);
    }
    int columns = body.width - AXIS - 2, rows = body.height - 2;
    if (columns < 4 || rows < 1)
        return;
    int n = 2 * columns < VALUES_MAX ? 2 * columns : VALUES_MAX;
    for (int i = 1; i < curves->n; i++) {
        from = curves->of[i].points->steps[0] < from ? curves->of[i].points->steps[0] : from;
        to = last_steps(&curves->of[i]) > to ? last_steps(&curves->of[i]) : to;
    }
    for (int i = 0; i < curves->n; i++) {
        double *ends = &all[(size_t)i * 2];
        spread(&curves->of[i], from, to, values[i], n);
        if (!tui_chart_range(values[i], n, &ends[0], &ends[1]))
            ends[0] = ends[1] = NAN;
    }
    if (curves->n == 1 ? !tui_chart_range(values[0], n, &low, &high)
                       : !tui_chart_range(all, 2 * curves->n, &low, &high))
        return;
    struct area inside = tui_area_part(&body, 1, 1, columns, rows);
    tui_chart_line(&inside, values[0], n, low, high, STYLE_CHART);
    for (int i = 1; i < curves->n; i++) {
        struct chart_overlay style = style_of(i);
        for (int k = 0; k < n; k++)
            if (!(style.dots >> k % CHART_DOTS & 1))
                values[i][k] = NAN;
        tui_chart_overlay(&inside, values[i], n, low, high, style.style);
    }
    tui_area_text(&body, columns + 2, 1, STYLE_DIM, short_number(a, high));
    if (rows > 1)
        tui_area_text(&body, columns + 2, rows, STYLE_DIM, short_number(a, low));
    cli_format_count(a, (double)from);
    tui_area_text(&body, 1, body.height - 1, STYLE_DIM, a);
    cli_format_count(a, (double)to);
    snprintf(b, sizeof(b), "%.16s steps", a);
    tui_area_text_right(&body, 1 + columns, body.height - 1, STYLE_DIM, b);
}

void panel_curve(const struct area *area, const struct scene *scene)
{
    static struct curves curves;
    const char *wanted = tui_view_wanted_training(scene->view, scene->model);
    char title[STATUS_TRAINING_NAME_MAX + 24];

    read_curves(&curves, scene);
    if (curves.n > 1)
        snprintf(title, sizeof(title), "Learning curves of %d", curves.n);
    else
        snprintf(title, sizeof(title), "Learning curves%s%s", wanted[0] && !scene->view->detail ? " " : "",
                 scene->view->detail ? "" : wanted);
    struct area body = panel_frame_rule(area, scene, PANEL_CURVE, title, -1, NULL);
    if (curves.n == 0) {
        panel_frame_empty(&body, panel_frame_no_history(scene->model, "no update is stored yet"));
        return;
    }
    /* One place for one figure: the return comes first. Two: it stands at the left, and has both when its
     * turn comes at the right. */
    enum history_figure chosen = (enum history_figure)(scene->view->curve % FIGURES);
    if (body.width < BESIDE_FROM) {
        plot(&body, &curves, (enum history_figure)((chosen + FIGURES - 1) % FIGURES), scene);
    } else if (chosen == FIGURE_RETURN) {
        plot(&body, &curves, FIGURE_RETURN, scene);
    } else {
        int left = body.width / 2;
        struct area first = tui_area_part(&body, 0, 0, left, body.height),
                    second = tui_area_part(&body, left, 0, body.width - left, body.height);
        plot(&first, &curves, FIGURE_RETURN, scene);
        plot(&second, &curves, chosen, scene);
    }
}
