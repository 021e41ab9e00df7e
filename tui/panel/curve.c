#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "tui/chart.h"
#include "tui/panel/frame.h"
#include "tui/panel/training_words.h"

enum {
    AXIS = 9,
    BESIDE_FROM = 60, /* columns from which on a second figure is beside the return */
    VALUES_MAX = 2 * CANVAS_SIDE_MAX,
};

#define NAME(figure, member, words) [FIGURE_##figure] = words,
static const char *const names[FIGURES] = {HISTORY_FIGURES(NAME)};

/* The figure at each of n places that divide the steps evenly: the last that falls there, a straight line
 * where none does. */
static void spread(const struct history_training *past, enum history_figure figure, double *values, int n)
{
    const double *figures = past->figures[figure];
    double first = (double)past->steps[0], range = (double)past->steps[past->n_points - 1] - first;
    int before = -1;

    for (int i = 0; i < n; i++)
        values[i] = NAN;
    for (int i = 0; i < past->n_points; i++) {
        if (!isfinite(figures[i]))
            continue;
        int at = range > 0 ? (int)(((double)past->steps[i] - first) / range * (n - 1)) : n - 1;
        at = at < 0 ? 0 : at >= n ? n - 1 : at;
        for (int k = before + 1; before >= 0 && k < at; k++)
            values[k] = values[before] + (figures[i] - values[before]) * (k - before) / (at - before);
        values[at] = figures[i];
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
        snprintf(buf, FORMAT_MAX, "%.*f", size < 10 ? 4 : size < 1000 ? 2 : 0, value);
    return buf;
}

static void plot(const struct area *area, const struct history_training *past, enum history_figure figure)
{
    static double values[VALUES_MAX];
    char a[FORMAT_MAX], b[FORMAT_MAX];
    double low, high, last = NAN;
    int columns = area->width - AXIS - 2, rows = area->height - 2;

    for (int i = 0; i < past->n_points; i++)
        last = isfinite(past->figures[figure][i]) ? past->figures[figure][i] : last;
    int x = tui_area_text(area, 1, 0, STYLE_DIM, names[figure]) + 1;
    tui_area_text(area, x, 0, STYLE_STRONG, isfinite(last) ? short_number(a, last) : "n/a");
    if (columns < 4 || rows < 1)
        return;
    int n = 2 * columns < VALUES_MAX ? 2 * columns : VALUES_MAX;
    spread(past, figure, values, n);
    if (!tui_chart_range(values, n, &low, &high))
        return;
    struct area inside = tui_area_part(area, 1, 1, columns, rows);
    tui_chart_line(&inside, values, n, low, high, STYLE_CHART);
    tui_area_text(area, columns + 2, 1, STYLE_DIM, short_number(a, high));
    if (rows > 1)
        tui_area_text(area, columns + 2, rows, STYLE_DIM, short_number(a, low));
    cli_format_count(a, (double)past->steps[0]);
    tui_area_text(area, 1, area->height - 1, STYLE_DIM, a);
    cli_format_count(a, (double)past->steps[past->n_points - 1]);
    snprintf(b, sizeof(b), "%.16s steps", a);
    tui_area_text_right(area, 1 + columns, area->height - 1, STYLE_DIM, b);
}

void panel_curve(const struct area *area, const struct scene *scene)
{
    const struct history_training *past = &scene->model->history.training;
    const char *wanted = tui_view_wanted_training(scene->view, scene->model);
    char title[STATUS_TRAINING_NAME_MAX + 24];

    snprintf(title, sizeof(title), "Learning curves%s%s", wanted[0] && !scene->view->detail ? " " : "",
             scene->view->detail ? "" : wanted);
    struct area body = panel_frame_rule(area, scene, PANEL_CURVE, title, -1, NULL);
    if (strcmp(past->training, wanted) != 0 || past->n_points == 0) {
        panel_frame_empty(&body, panel_frame_no_history(scene->model, "no update is stored yet"));
        return;
    }
    /* One place for one figure: the return comes first. Two: it stands at the left, and has both when its
     * turn comes at the right. */
    enum history_figure chosen = (enum history_figure)(scene->view->curve % FIGURES);
    if (body.width < BESIDE_FROM) {
        plot(&body, past, (enum history_figure)((chosen + FIGURES - 1) % FIGURES));
    } else if (chosen == FIGURE_RETURN) {
        plot(&body, past, FIGURE_RETURN);
    } else {
        int left = body.width / 2;
        struct area first = tui_area_part(&body, 0, 0, left, body.height),
                    second = tui_area_part(&body, left, 0, body.width - left, body.height);
        plot(&first, past, FIGURE_RETURN);
        plot(&second, past, chosen);
    }
}
