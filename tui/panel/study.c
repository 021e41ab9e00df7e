#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/text.h"
#include "tui/chart.h"
#include "tui/panel/study_words.h"
#include "tui/panel/training_words.h"

enum { BAR_COLUMNS = 16, WIDE = 100 /* room for secondary figures */ };

static void counts(const struct area *body, const struct scene *scene, const struct tui_study *study,
                   enum style plain)
{
    char a[FORMAT_MAX], age[FORMAT_MAX + 8];
    int done = tui_study_done(study), x = 1, failed = tui_study_failed(study);

    if (study->wanted > 0) {
        int columns = body->width < 70 ? BAR_COLUMNS / 2 : BAR_COLUMNS;
        tui_chart_bar(body, x, 0, columns, (double)done / (double)study->wanted,
                      plain == STYLE_DIM ? STYLE_DIM : STYLE_CHART);
        x = tui_area_printf(body, x + columns + 1, 0, plain, "%d/%lld", done, (long long)study->wanted) + 2;
    } else {
        x = tui_area_printf(body, x, 0, plain, "%d done", done) + 2;
    }
    x = tui_area_printf(body, x, 0, plain, "run %d ", tui_study_running(study));
    if (study->stale > 0)
        x = tui_area_printf(body, x, 0, STYLE_WARN, "stale %s ", panel_study_stale(a, study, scene->now));
    x = tui_area_printf(body, x, 0, plain, "ok %d pruned %d ", study->counts[TRIAL_COMPLETE],
                        study->counts[TRIAL_PRUNED]);
    x = tui_area_printf(body, x, 0, failed > 0 && plain != STYLE_DIM ? STYLE_BAD : plain, "fail %d", failed);
    if (study->retried > 0 && body->width >= WIDE)
        x = tui_area_printf(body, x, 0, plain, " retried %d", study->retried);
    if (study->counts[TRIAL_WAITING] > 0)
        x = tui_area_printf(body, x, 0, plain, " wait %d", study->counts[TRIAL_WAITING]);
    if (isfinite(study->eta_s) && study->eta_s > 0)
        x = tui_area_printf(body, x + 2, 0, plain, "eta %s", panel_study_eta(a, study->eta_s));
    snprintf(age, sizeof(age), "age %s", cli_format_age(a, panel_study_age_ms(study, scene->now)));
    if (body->width - cli_text_width(age) > x + 1)
        tui_area_text_right(body, body->width - 1, 0,
                            panel_study_silent(study, scene->now) ? STYLE_WARN : STYLE_DIM, age);
}

/* How many trainings the study's workers are, and how many of them are in the state that is shown. */
static int count_jobs(const struct model *model, const struct tui_study *study, int *ret_alike)
{
    const struct status_training *jobs[STATUS_STUDY_TRAININGS_MAX];
    int n = tui_model_study_trainings(model, study, jobs);

    *ret_alike = 0;
    for (int i = 0; i < n; i++)
        *ret_alike += strcmp(jobs[i]->state, jobs[0]->state) == 0;
    return n;
}

static void figures(struct tui_study_flow *flow, const struct scene *scene, const struct tui_study_page *page,
                    enum style plain)
{
    const struct tui_study *study = &page->study;
    char a[FORMAT_MAX], b[2 * FORMAT_MAX], name[STATUS_WORD_MAX];
    enum style style;
    int alike;

    if (study->have_best) {
        snprintf(b, sizeof(b), "%s %s", tui_study_best_name(study, name),
                 tui_study_number(a, sizeof(a), study->best));
        panel_study_put(flow, "best", plain == STYLE_DIM ? plain : STYLE_STRONG, b);
    } else if (study->pareto >= 0) {
        snprintf(b, sizeof(b), "%d of %d", study->pareto, study->counts[TRIAL_COMPLETE]);
        panel_study_put(flow, "Pareto front", plain, b);
    } else {
        panel_study_put(flow, "best", STYLE_DIM, "n/a: no trial has completed");
    }
    const char *state = panel_study_state(scene->model, study, scene->now, a, &style);
    int jobs = count_jobs(scene->model, study, &alike);
    snprintf(b, sizeof(b), "%s (%d of %d)", state, alike, jobs);
    panel_study_put(flow, jobs > 1 ? "jobs" : jobs ? "job" : "state", style, jobs > 1 ? b : state);
    if (panel_study_due_ns(scene->model, study) > 0)
        panel_study_put(flow, "next run", plain, cli_format_time(a, panel_study_due_ns(scene->model, study)));
    if (isfinite(study->trials_h))
        panel_study_put(flow, "trials/h", plain, cli_format_number(a, study->trials_h, 1));
    if (study->started_us != STUDY_NO_TIME)
        panel_study_put(flow, "since", plain, cli_format_time(a, study->started_us * 1000));
    snprintf(b, sizeof(b), "%d", page->n_params);
    panel_study_put(flow, "parameters", plain, b);
    if (study->verdict[0])
        panel_study_put(flow, "verdict",
                        plain == STYLE_DIM ? plain : panel_training_verdict_style(study->verdict),
                        study->verdict_text);
}

/* The parameters of the best trial, those that matter most first. */
static void best_parameters(struct tui_study_flow *flow, const struct tui_study_page *page, enum style plain)
{
    const struct tui_study *study = &page->study;
    const struct tui_study_trial *best =
        study->have_best ? tui_study_page_trial(page, page->members[study->best_member], study->best_number)
                         : NULL;
    char text[64];

    for (int i = 0; best && i < page->n_importance; i++) {
        int param = page->importance[i].param;
        if (tui_study_cell_text(page, &best->cells[param], text, sizeof(text))[0])
            panel_study_put(flow, page->params[param], plain, text);
    }
    for (int i = 0; best && page->n_importance == 0 && i < page->n_params; i++)
        if (tui_study_cell_text(page, &best->cells[i], text, sizeof(text))[0])
            panel_study_put(flow, page->params[i], plain, text);
}

enum { KEPT_ROWS = 2 }; /* of the counts and the best, whatever is wrong */

int panel_study_warning(const struct model *model, const struct tui_study_page *page, int width)
{
    int rows = 0;

    if (model->studies_error)
        rows += panel_frame_wrap_rows(model->studies_words, width - 1);
    if (page->study.unread[0])
        rows += panel_frame_wrap_rows(page->study.unread, width - 1);
    return rows > 0 ? rows - 1 : 0;
}

/* What is wrong, whole where there is room. Returns the area below. */
static struct area warn(const struct area *body, const char *words)
{
    struct area text = tui_area_part(body, 1, 0, body->width - 1, body->height);
    int room = body->height - KEPT_ROWS;
    int rows = panel_frame_wrap(&text, 0, room > 0 ? room : 1, STYLE_WARN, words);

    return tui_area_part(body, 0, rows, body->width, body->height - rows);
}

void panel_study(const struct area *area, const struct scene *scene)
{
    const struct tui_study *chosen = tui_view_study(scene->view, scene->model);
    const struct tui_study_page *page;
    char title[STUDY_LABEL_MAX + 48], direction[STATUS_WORD_MAX];

    if (chosen)
        snprintf(title, sizeof(title), "Study %s (%s)", chosen->label,
                 tui_study_direction(chosen, direction));
    else
        snprintf(title, sizeof(title), "Study %s", scene->view->study);
    struct area body = panel_study_frame(area, scene, PANEL_STUDY, title, &page);
    if (!page)
        return;
    enum freshness freshness = tui_model_studies_freshness(scene->model, scene->now);
    enum style plain = panel_frame_style(freshness, STYLE_NORMAL);
    if (scene->model->studies_error && freshness != FRESH && body.height > 1) {
        body = warn(&body, scene->model->studies_words);
    }
    if (page->study.unread[0] && body.height > 1) {
        body = warn(&body, page->study.unread);
    }
    if (freshness == GONE) {
        tui_area_text(&body, 1, 0, STYLE_DIM, "-");
        return;
    }
    counts(&body, scene, &page->study, plain);
    struct area rest = tui_area_part(&body, 0, 1, body.width, body.height - 1);
    struct tui_study_flow flow = {&rest, 1, 0};
    figures(&flow, scene, page, plain);
    struct tui_study_flow parameters = {&rest, 1, flow.y + 1};
    best_parameters(&parameters, page, plain);
}
