#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "tui/chart.h"
#include "tui/panel/study_plots.h"
#include "tui/panel/study_words.h"

enum { PERCENT_COLUMNS = 5, NAME_COLUMNS = 20, RULE_COLUMNS = 4 };

/* Of how many trials it is, and of which workers where there are several: as much as fits into `room`.
 * Left-out trials are named first. */
static void basis(char *buf, size_t size, const struct tui_study_page *page, int room)
{
    const struct importance_basis *of = &page->importance_of;
    int workers = of->studies + of->left_out, n;

    n = of->left_out
            ? snprintf(buf, size, " of %d trials, %d of %d workers ", of->trials, of->studies, workers)
        : of->studies > 1 ? snprintf(buf, size, " of %d trials, %d workers ", of->trials, of->studies)
                          : room + 1;
    if (n > room)
        n = of->left_out ? snprintf(buf, size, " %d of %d workers ", of->studies, workers)
                         : snprintf(buf, size, " of %d trials ", of->trials);
    if (n > room)
        buf[0] = '\0';
}

void panel_importance(const struct area *area, const struct scene *scene)
{
    if (scene->view->study_plot != PLOT_IMPORTANCE) {
        panel_study_plot(area, scene);
        return;
    }
    const struct tui_study_page *page;
    char words[96], text[FORMAT_MAX];
    const struct tui_study_page *known = tui_view_study_page(scene->view, scene->model);
    const char *title =
        known && known->study.n_objectives > 1 ? "Importance, first objective" : "Importance (fANOVA)";
    struct area body = panel_study_frame(area, scene, PANEL_IMPORTANCE, title, &page);
    bool gone = tui_model_studies_freshness(scene->model, scene->now) == GONE;

    if (!page)
        return;
    if (page->n_importance == 0 || gone) {
        panel_frame_empty(&body, gone                  ? "-"
                                 : page->n_params == 0 ? "no parameters"
                                 : page->importance_of.trials < 4
                                     ? "n/a: at least 4 completed trials are needed"
                                     : "n/a: no value differs, or no parameter is in all");
        return;
    }
    if (tui_model_studies_freshness(scene->model, scene->now) == FRESH) { /* else its age is there */
        basis(words, sizeof(words), page, area->width - cli_text_width(title) - RULE_COLUMNS);
        tui_area_text_right(area, area->width - 1, 0, STYLE_DIM, words);
    }
    int name = body.width > 2 * NAME_COLUMNS + PERCENT_COLUMNS ? NAME_COLUMNS : body.width / 2;
    int bar = body.width - name - PERCENT_COLUMNS - 3;
    struct window window = panel_frame_window(scene, PANEL_IMPORTANCE, page->n_importance, body.height);
    for (int i = window.first; i < window.end; i++) {
        int y = i - window.first;
        tui_area_text_cut(&body, 1, y, name, STYLE_NORMAL, page->params[page->importance[i].param]);
        tui_chart_bar(&body, name + 2, y, bar, page->importance[i].share, STYLE_CHART);
        snprintf(text, sizeof(text), "%.0f%%", 100 * page->importance[i].share);
        tui_area_text_right(&body, body.width, y, STYLE_NORMAL, text);
        panel_frame_row(&body, y, &window, i);
    }
}
