/* What trials reported: the chosen one, and those with the best values for comparison. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/chart.h"
#include "tui/panel/study_words.h"
#include "tui/study_rows.h"

enum { AXIS = 9, OTHERS = 4, VALUES_MAX = 2 * CANVAS_SIDE_MAX };

/* The reports at each of n places that divide the steps evenly, straight lines between them. */
static void spread(const struct tui_study_trial *trial, int64_t first, int64_t last, double *values, int n)
{
    double range = (double)last - (double)first;
    int before = -1;

    for (int i = 0; i < n; i++)
        values[i] = NAN;
    for (int i = 0; i < trial->n_reports; i++) {
        double value = trial->reports[i].value;
        if (!isfinite(value))
            continue;
        int at =
            range > 0 ? (int)(((double)trial->reports[i].step - (double)first) / range * (n - 1)) : n - 1;
        at = at < 0 ? 0 : at >= n ? n - 1 : at;
        for (int k = before + 1; before >= 0 && k < at; k++)
            values[k] = values[before] + (value - values[before]) * (k - before) / (at - before);
        values[at] = value;
        before = at;
    }
}

static void widen(const struct tui_study_trial *trial, int64_t *first, int64_t *last, double *low,
                  double *high)
{
    for (int i = 0; i < trial->n_reports; i++) {
        const struct trial_report *report = &trial->reports[i];
        *first = report->step < *first ? report->step : *first;
        *last = report->step > *last ? report->step : *last;
        if (isfinite(report->value)) {
            *low = fmin(*low, report->value);
            *high = fmax(*high, report->value);
        }
    }
}

/* The best that reported, other than the chosen one. */
static int best_others(const struct tui_study_page *page, const struct tui_study_trial *chosen,
                       const struct tui_study_trial **ret)
{
    int n = 0;

    for (int i = 0; i < page->n_trials; i++) {
        const struct tui_study_trial *trial = &page->trials[i];
        if (trial == chosen || trial->state != TRIAL_COMPLETE || !trial->values || trial->n_reports == 0 ||
            isnan(trial->values[0]))
            continue;
        int at = n < OTHERS ? n++ : OTHERS;
        for (;
             at > 0 && tui_study_better(page->study.directions[0], trial->values[0], ret[at - 1]->values[0]);
             at--)
            if (at < OTHERS)
                ret[at] = ret[at - 1];
        if (at < OTHERS)
            ret[at] = trial;
    }
    return n;
}

void panel_reports(const struct area *area, const struct scene *scene)
{
    static double values[VALUES_MAX];
    const struct tui_study_page *page;
    const struct tui_study_trial *others[OTHERS] = {NULL};
    struct area body = panel_study_frame(area, scene, PANEL_REPORTS, "Intermediate values", &page);
    const struct tui_study_trial *trial = page ? tui_view_trial(scene->view, scene->model) : NULL;
    int64_t first = INT64_MAX, last = INT64_MIN;
    double low = INFINITY, high = -INFINITY;
    char a[FORMAT_MAX], name[32];

    if (!page)
        return;
    int n = best_others(page, trial, others), columns = body.width - AXIS - 2, rows = body.height - 1;
    if (trial)
        widen(trial, &first, &last, &low, &high);
    for (int i = 0; i < n; i++)
        widen(others[i], &first, &last, &low, &high);
    if (!(low <= high) || tui_model_studies_freshness(scene->model, scene->now) == GONE) {
        panel_frame_empty(&body, low <= high ? "-" : "no value was reported");
        return;
    }
    if (columns < 4 || rows < 1)
        return;
    double ends[2] = {low, high};
    tui_chart_range(ends, 2, &low, &high);
    struct area inside = tui_area_part(&body, 1, 0, columns, rows);
    int points = 2 * columns < VALUES_MAX ? 2 * columns : VALUES_MAX;
    if (trial && trial->n_reports > 0) {
        spread(trial, first, last, values, points);
        tui_chart_line(&inside, values, points, low, high, STYLE_CHART);
    }
    for (int i = 0; i < n; i++) {
        spread(others[i], first, last, values, points);
        tui_chart_overlay(&inside, values, points, low, high, STYLE_LINE);
    }
    tui_area_text(&body, columns + 2, 0, STYLE_DIM, tui_study_number(a, sizeof(a), high));
    if (rows > 1)
        tui_area_text(&body, columns + 2, rows - 1, STYLE_DIM, tui_study_number(a, sizeof(a), low));
    int x =
        tui_area_printf(&body, 1, rows, STYLE_DIM, "step %lld to %lld", (long long)first, (long long)last);
    if (trial && trial->n_reports > 0)
        x = tui_area_printf(&body, x + 2, rows, STYLE_CHART, "%s",
                            tui_study_trial_name(page, trial, name, sizeof(name)));
    if (n > 0)
        tui_area_printf(&body, x + 2, rows, STYLE_LINE, "and the best %d", n);
}
