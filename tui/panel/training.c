#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/text.h"
#include "tui/chart.h"
#include "tui/panel/frame.h"
#include "tui/panel/training_words.h"

enum { BAR_COLUMNS = 24, GAP = 2 };

/* Where the next figure goes: after the last one, or in the next row. */
struct figure_flow {
    const struct area *area;
    int x, y;
};

static void put(struct figure_flow *flow, const char *label, enum style style, const char *text)
{
    int width = cli_text_width(label) + 1 + cli_text_width(text);

    if (flow->x > 1 && flow->x + width > flow->area->width) {
        flow->x = 1;
        flow->y++;
    }
    if (flow->y >= flow->area->height)
        return;
    int x = tui_area_text(flow->area, flow->x, flow->y, STYLE_DIM, label) + 1;
    tui_area_text_cut(flow->area, x, flow->y,
                      flow->area->width - x < cli_text_width(text) ? flow->area->width - x
                                                                   : cli_text_width(text),
                      style, text);
    flow->x += width + GAP;
}

static void number(struct figure_flow *flow, const char *label, enum freshness freshness, double value)
{
    char a[FORMAT_MAX];

    if (isfinite(value))
        put(flow, label, panel_frame_style(freshness, STYLE_NORMAL),
            freshness == GONE ? "-" : cli_format_count(a, value));
}

/* Its state, its progress, and since when that is known. */
static void head(const struct area *body, const struct scene *scene, const struct status_training *t,
                 enum freshness freshness)
{
    char a[FORMAT_MAX], b[FORMAT_MAX], steps[PANEL_TRAINING_STEPS_MAX];
    enum style style, plain = panel_frame_style(freshness, STYLE_NORMAL);
    const char *state = panel_training_state(t, freshness, &style);
    bool gone = freshness == GONE;
    int x = tui_area_text(body, 1, 0, style, state) + GAP;

    if (gone) {
        x = tui_area_text(body, x, 0, STYLE_DIM, "-") + GAP;
    } else if (panel_training_endless(t)) {
        x = tui_area_printf(body, x, 0, plain, "%s steps%s",
                            cli_format_count(a, panel_training_number(t->steps)),
                            tui_model_training_ended(t) ? "" : ", until stopped") +
            GAP;
    } else {
        int columns = body->width < 70 ? BAR_COLUMNS / 2 : BAR_COLUMNS;
        tui_chart_bar(body, x, 0, columns, panel_training_share(t),
                      panel_frame_style(freshness, STYLE_CHART));
        x = tui_area_printf(body, x + columns + 1, 0, plain, "%s",
                            panel_training_percent(a, panel_training_share(t))) +
            GAP;
        x = tui_area_text(body, x, 0, plain, panel_training_steps(steps, t, " steps")) + GAP;
        if (tui_model_training_works(t) && x + 12 < body->width)
            x = tui_area_printf(body, x, 0, plain, "%s left", panel_training_left(a, t)) + GAP;
    }
    int64_t age = panel_training_age(scene->model, t, scene->now);
    snprintf(b, sizeof(b), "age %s", cli_format_age(a, age));
    if (body->width - cli_text_width(b) > x)
        tui_area_text_right(body, body->width - 1, 0, freshness == FRESH ? STYLE_DIM : STYLE_WARN, b);
}

static void figures(struct figure_flow *flow, const struct scene *scene, const struct status_training *t,
                    enum freshness freshness)
{
    const struct history_training *past = &scene->model->history.training;
    bool gone = freshness == GONE, works = tui_model_training_works(t);
    enum style plain = panel_frame_style(freshness, STYLE_NORMAL);
    char a[FORMAT_MAX], b[FORMAT_MAX], both[RECORD_BYTES_WORD + RECORD_BYTES_BACKEND + 2 * FORMAT_MAX];

    put(flow, "return", gone ? STYLE_DIM : panel_frame_style(freshness, style_signed(t->episode_return, 4)),
        gone ? "-" : panel_training_return(a, t->episode_return));
    put(flow, "steps/s", plain, gone || !works ? "-" : cli_format_count(a, t->steps_s));
    number(flow, "iteration", freshness, panel_training_number(t->iteration));
    if (t->device[0] || t->backend[0]) {
        snprintf(both, sizeof(both), "%s%s%s", t->device, t->device[0] && t->backend[0] ? " " : "",
                 t->backend);
        put(flow, "on", plain, both);
    }
    if (isfinite(t->utilisation))
        put(flow, "device", plain, gone || !works ? "-" : panel_training_busy(a, t->utilisation));
    if (isfinite(t->cpu_utilisation))
        put(flow, "cpu", plain, gone || !works ? "-" : panel_training_busy(a, t->cpu_utilisation));
    if (isfinite(t->memory_mib)) {
        snprintf(both, sizeof(both), "%s%s%s", panel_training_memory(a, t->memory_mib),
                 isfinite(t->memory_limit_mib) ? " of " : "",
                 isfinite(t->memory_limit_mib) ? panel_training_memory(b, t->memory_limit_mib) : "");
        put(flow, "memory", plain, gone || !works ? "-" : both);
    }
    if (isfinite(t->device_mib))
        put(flow, "device memory", plain, gone || !works ? "-" : panel_training_memory(a, t->device_mib));
    number(flow, "checkpoint", FRESH, panel_training_number(t->checkpoint_steps));
    if (isfinite(t->cpu_s))
        put(flow, "cpu time", STYLE_NORMAL, cli_format_age(a, (int64_t)(t->cpu_s * 1000)));
    number(flow, "attempts", FRESH, panel_training_number(t->attempts));
    if (t->restarts > 0)
        number(flow, "restarts", FRESH, (double)t->restarts);
    if (t->priority != 0)
        number(flow, "priority", FRESH, (double)t->priority);
    if (past->n_evaluations == 0 || strcmp(past->points.training, t->training) != 0)
        return;
    const struct db_training_evaluation *last = &past->evaluations[past->n_evaluations - 1];
    snprintf(both, sizeof(both), "%s at %s", cli_format_percent(a, 100 * last->total_return, 2),
             cli_format_count(b, (double)last->steps));
    put(flow, "evaluated", style_signed(100 * last->total_return, 2), both);
    if (isfinite(last->benchmark_return))
        put(flow, "holding", STYLE_NORMAL, cli_format_percent(a, 100 * last->benchmark_return, 2));
    if (isfinite(last->drawdown))
        put(flow, "drawdown", STYLE_NORMAL, cli_format_percent(a, -100 * fabs(last->drawdown), 1));
}

static void parameters(const struct area *rest, const struct scene *scene, const char *name)
{
    const struct history_training *past = &scene->model->history.training;
    struct figure_flow flow = {rest, 1, 0};
    const char *section = "";

    if (strcmp(past->points.training, name) != 0 || past->n_parameters == 0) {
        panel_frame_empty(rest, panel_frame_no_history(scene->model, "its parameters are not stored yet"));
        return;
    }
    int from = tui_view_cursor(scene->view, scene->model, PANEL_TRAINING);
    from = from < past->n_parameters ? from : past->n_parameters - 1;
    for (int i = from; i < past->n_parameters && flow.y < rest->height; i++) {
        const struct history_parameter *p = &past->parameters[i];
        char label[sizeof(p->section) + sizeof(p->key) + 4];
        bool same = strcmp(section, p->section) == 0;
        snprintf(label, sizeof(label), "%s%s%s%s", same ? "" : "[", same ? "" : p->section, same ? "" : "] ",
                 p->key);
        section = p->section;
        put(&flow, label, STYLE_NORMAL, p->value);
    }
}

/* Of a training that there is no more: what it was, where that is known. */
static void gone_words(const struct scene *scene, char words[static PANEL_SENTENCE_MAX])
{
    const struct status_training *was = &scene->model->page_training;
    const char *name = scene->view->training;
    char a[FORMAT_MAX], b[FORMAT_MAX], here[3 * FORMAT_MAX] = "", sentence[PANEL_SENTENCE_MAX];

    if (strcmp(was->training, name) == 0)
        snprintf(here, sizeof(here), " any more (it was here: %s, %.20s steps, return %.20s)", was->state,
                 cli_format_count(a, panel_training_number(was->steps)),
                 panel_training_return(b, was->episode_return));
    snprintf(words, PANEL_SENTENCE_MAX, "no such training %.40s%s; %.80s", name, here,
             panel_frame_sentence(scene, "`Esc` goes back to the list", sentence));
}

void panel_training(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct status_training *t = tui_view_training(scene->view, model);
    char title[STATUS_TRAINING_NAME_MAX + 16], words[PANEL_SENTENCE_MAX];

    snprintf(title, sizeof(title), "Training %s", t ? t->training : scene->view->training);
    struct area body = panel_frame_rule(area, scene, PANEL_TRAINING, title, -1, NULL);
    if (!t) {
        gone_words(scene, words);
        panel_frame_empty(&body, words);
        return;
    }
    enum freshness freshness = tui_model_training_freshness(model, t, scene->now);
    head(&body, scene, t, freshness);
    int top = 1;
    if (t->reason[0] && body.height > 2) {
        char why[sizeof(t->cause) + sizeof(t->reason) + 2];
        struct area text = tui_area_part(&body, 1, 0, body.width - 1, body.height - 1);
        snprintf(why, sizeof(why), "%s%s%s", t->cause, t->cause[0] ? ": " : "", t->reason);
        top = panel_frame_wrap(&text, top, text.height - top,
                               strcmp(t->state, "failed") == 0 ? STYLE_BAD : STYLE_NORMAL, why);
    }
    if (t->verdict[0] && body.height > top + 1) {
        int x = tui_area_text(&body, 1, top, STYLE_DIM, "verdict") + 1;
        tui_area_text_cut(&body, x, top, body.width - x, panel_training_verdict_style(t->verdict),
                          t->verdict_text[0] ? t->verdict_text : t->verdict);
        top++;
    }
    struct area middle = tui_area_part(&body, 0, top, body.width, body.height - top);
    struct figure_flow flow = {&middle, 1, 0};
    figures(&flow, scene, t, freshness);
    struct area rest = tui_area_part(&middle, 0, flow.y + 1, body.width, middle.height - flow.y - 1);
    if (rest.height > 0)
        parameters(&rest, scene, t->training);
}
