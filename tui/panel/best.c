#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/chart.h"
#include "tui/panel/study_words.h"

enum { AXIS = 9, VALUES_MAX = 2 * CANVAS_SIDE_MAX };

static int rising(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;

    return p < q ? -1 : p > q;
}

/* The range of the best so far, and of the better half of all values: worse ones are off the chart. */
static bool range(const struct tui_study_page *page, double *ret_low, double *ret_high)
{
    int n = page->n_results, found = 0;
    double *sorted = malloc(((size_t)n + 1) * sizeof(*sorted)), ends[3] = {NAN, NAN, NAN};

    if (!sorted)
        return false;
    for (int i = 0; i < n; i++)
        if (isfinite(page->values[i]))
            sorted[found++] = page->values[i];
    qsort(sorted, (size_t)found, sizeof(*sorted), rising);
    if (found > 0) {
        bool up = page->study.directions[0] == STUDY_MAXIMIZE;
        ends[0] = sorted[found / 2];
        ends[1] = sorted[up ? found - 1 : 0];
        for (int i = 0; i < n && !isfinite(ends[2]); i++)
            ends[2] = page->best[i]; /* the first */
    }
    free(sorted);
    return tui_chart_range(ends, 3, ret_low, ret_high);
}

void panel_best(const struct area *area, const struct scene *scene)
{
    static double best[VALUES_MAX], values[VALUES_MAX];
    const struct tui_study_page *page;
    struct area body = panel_study_frame(area, scene, PANEL_BEST, "Best so far", &page);
    enum freshness freshness = tui_model_studies_freshness(scene->model, scene->now);
    double low, high;
    char a[FORMAT_MAX];

    if (!page)
        return;
    if (page->study.n_objectives != 1) {
        tui_area_printf(&body, 1, 0, STYLE_DIM, "n/a: %d objectives, Pareto front %d",
                        page->study.n_objectives, page->study.pareto);
        return;
    }
    int columns = body.width - AXIS - 2, rows = body.height - 1;
    if (freshness == GONE || page->n_results == 0 || !range(page, &low, &high)) {
        panel_frame_empty(&body, freshness == GONE ? "-" : "no trial has completed");
        return;
    }
    if (columns < 4 || rows < 1)
        return;
    struct area inside = tui_area_part(&body, 1, 0, columns, rows);
    int points = 2 * columns < VALUES_MAX ? 2 * columns : VALUES_MAX;
    for (int i = 0; i < points; i++) { /* steps: a value holds until the next one */
        int at = (int)((long)i * page->n_results / points),
            next = (int)((long)(i + 1) * page->n_results / points);
        int last = next > at ? next - 1 : at;
        best[i] = page->best[last];
        values[i] = page->values[last] >= low && page->values[last] <= high ? page->values[last] : NAN;
    }
    tui_chart_line(&inside, best, points, low, high, panel_frame_style(freshness, STYLE_CHART));
    if (body.canvas->glyphs != GLYPHS_BRAILLE) /* there it would be one with the line */
        tui_chart_overlay(&inside, values, points, low, high, STYLE_LINE);
    tui_area_text(&body, columns + 2, 0, STYLE_DIM, tui_study_number(a, sizeof(a), high));
    if (rows > 1)
        tui_area_text(&body, columns + 2, rows - 1, STYLE_DIM, tui_study_number(a, sizeof(a), low));
    tui_area_printf(&body, 1, rows, STYLE_DIM, "%s completed, in their order",
                    cli_format_count(a, page->n_results));
}
