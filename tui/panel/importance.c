#include <stdio.h>
#include <string.h>

#include "tui/chart.h"
#include "tui/panel/search_words.h"

enum { PERCENT_COLUMNS = 5, NAME_COLUMNS = 20 };

void panel_importance(const struct area *area, const struct scene *scene)
{
    const struct search_page *page;
    char title[64], text[FORMAT_MAX];
    const struct search_page *known = view_search_page(scene->view, scene->model);
    bool several = known && known->search.n_objectives > 1;
    struct area body = search_frame(area, scene, PANEL_IMPORTANCE,
                                    several ? "Importance, first objective" : "Importance (fANOVA)", &page);
    bool gone = model_searches_freshness(scene->model, scene->now) == GONE;

    if (!page)
        return;
    if (page->n_importance == 0 || gone) {
        frame_empty(&body, gone                  ? "-"
                           : page->n_params == 0 ? "no parameters"
                           : page->importance_trials < 4
                               ? "n/a: at least 4 completed trials are needed"
                               : "n/a: no value differs, or no parameter is in all");
        return;
    }
    snprintf(title, sizeof(title), " of %d trials ", page->importance_trials);
    if (area->width > (several ? 52 : 44))
        area_text_right(area, area->width - 1, 0, STYLE_DIM, title);
    int name = body.width > 2 * NAME_COLUMNS + PERCENT_COLUMNS ? NAME_COLUMNS : body.width / 2;
    int bar = body.width - name - PERCENT_COLUMNS - 3;
    struct window window = frame_window(scene, PANEL_IMPORTANCE, page->n_importance, body.height);
    for (int i = window.first; i < window.end; i++) {
        int y = i - window.first;
        area_text_cut(&body, 1, y, name, STYLE_NORMAL, page->params[page->importance[i].param]);
        chart_bar(&body, name + 2, y, bar, page->importance[i].share, STYLE_CHART);
        snprintf(text, sizeof(text), "%.0f%%", 100 * page->importance[i].share);
        area_text_right(&body, body.width, y, STYLE_NORMAL, text);
        if (i == window.cursor)
            frame_cursor(&body, y);
    }
}
