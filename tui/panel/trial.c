#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "tui/panel/study_words.h"
#include "tui/panel/training_words.h"

static void facts(struct tui_study_flow *flow, const struct scene *scene, const struct tui_study_page *page,
                  const struct tui_study_trial *trial)
{
    char a[FORMAT_MAX], words[160];
    enum style style;

    const char *state = panel_study_trial_state(trial, scene->now, &style);
    panel_study_put(flow, "state", style, state);
    panel_study_values(words, sizeof(words), page, trial);
    panel_study_put(flow, "value", words[0] ? STYLE_STRONG : STYLE_DIM, words[0] ? words : "n/a");
    int64_t ms = tui_study_trial_duration_ms(trial, scene->now.wall_ns / 1000);
    if (ms >= 0)
        panel_study_put(flow, "duration", STYLE_NORMAL, cli_format_age(a, ms));
    if (trial->started_us != STUDY_NO_TIME)
        panel_study_put(flow, "started", STYLE_NORMAL, cli_format_time(a, trial->started_us * 1000));
    if (trial->worker[0])
        panel_study_put(flow, "worker", STYLE_NORMAL, trial->worker);
    if (trial->n_reports > 0) {
        snprintf(words, sizeof(words), "%d", trial->n_reports);
        panel_study_put(flow, "reports", STYLE_NORMAL, words);
    }
    if (trial->retries > 0) {
        snprintf(words, sizeof(words), "%d", trial->retries);
        panel_study_put(flow, "attempts before", STYLE_NORMAL, words);
    }
    if (trial->violation > 0)
        panel_study_put(flow, "violates its constraints by", STYLE_BAD,
                        tui_study_number(words, sizeof(words), trial->violation));
}

void panel_trial(const struct area *area, const struct scene *scene)
{
    const struct tui_study_page *page = tui_view_study_page(scene->view, scene->model);
    const struct tui_study_trial *trial = page ? tui_view_trial(scene->view, scene->model) : NULL;
    char title[64] = "Trial", text[64];

    if (trial)
        snprintf(title, sizeof(title), "Trial %s", tui_study_trial_name(page, trial, text, sizeof(text)));
    struct area body = panel_study_frame(area, scene, PANEL_TRIAL, title, &page);
    if (!page)
        return;
    if (!trial || tui_model_studies_freshness(scene->model, scene->now) == GONE) {
        panel_frame_empty(&body, trial ? "-" : "no trial is chosen");
        return;
    }
    int top = 0, from = tui_view_cursor(scene->view, scene->model, PANEL_TRIAL);
    if (trial->failure)
        top = panel_frame_wrap(&body, 0, body.height > 6 ? body.height - 4 : 1, STYLE_BAD, trial->failure);
    struct area rest = tui_area_part(&body, 0, top, body.width, body.height - top);
    struct tui_study_flow flow = {&rest, 1, 0};
    if (from == 0)
        facts(&flow, scene, page, trial);
    for (int i = from; i < page->n_params; i++)
        if (tui_study_cell_text(page, &trial->cells[i], text, sizeof(text))[0])
            panel_study_put(&flow, page->params[i], STYLE_NORMAL, text);
    bool ours = page->attributes_trial == trial->number &&
                strcmp(page->attributes_study, page->members[trial->member]) == 0;
    int skipped = from > page->n_params ? from - page->n_params : 0;
    for (int i = skipped; ours && i < page->n_attributes && flow.y < rest.height; i++)
        panel_study_put(&flow, page->attributes[i].key, page->attributes[i].system ? STYLE_DIM : STYLE_NORMAL,
                        page->attributes[i].json);
}
