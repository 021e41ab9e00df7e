#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/text.h"
#include "tui/chart.h"
#include "tui/panel/frame.h"
#include "tui/panel/gpu_rows.h"
#include "tui/panel/training_words.h"

enum { BAR_COLUMNS = 20 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* ---- what the daemon says ---- */

static int compute(const struct area *body, int y, const struct model *model)
{
    const struct status *s = &model->status;
    char a[FORMAT_MAX], b[FORMAT_MAX];

    int x = tui_area_text(body, 1, y, STYLE_DIM, "compute ");
    x = tui_area_printf(body, x, y, STYLE_NORMAL, "%s", s->compute.backend[0] ? s->compute.backend : "n/a");
    if (model->history.devices.n > 0 || s->n_devices > 0) /* without a device there is nothing to add */
        tui_area_text_cut(body, x + 2, y, body->width - x - 2, STYLE_DIM, s->compute.reason);
    y++;
    if (s->compute.updates < 0)
        return y;
    x = tui_area_text(body, 1, y, STYLE_DIM, "indicators ");
    x = tui_area_printf(body, x, y, STYLE_NORMAL, "%s bars taken, %s wait",
                        cli_format_count(a, (double)s->compute.updates),
                        cli_format_count(b, (double)s->compute.waiting));
    if (s->compute.device[0])
        tui_area_text_cut(body, x + 2, y, body->width - x - 2, STYLE_DIM, s->compute.device);
    return y + 1;
}

/* The trainings, their devices, and how busy each is. */
static int trainings(const struct area *body, int y, const struct scene *scene)
{
    const struct model *model = scene->model;
    char a[FORMAT_MAX], name[STATUS_TRAINING_NAME_MAX];

    for (int i = 0; i < model->status.n_trainings; i++) {
        const struct status_training *t = tui_model_training(model, i);
        enum freshness freshness = tui_model_training_freshness(model, t, scene->now);
        enum style style, plain = panel_frame_style(freshness, STYLE_NORMAL);
        bool own = isfinite(t->utilisation);
        double busy = own ? t->utilisation : t->cpu_utilisation;
        if (!tui_model_training_works(t))
            continue;
        const char *state = panel_training_state(t, freshness, &style);
        panel_frame_middle(body->canvas, name, sizeof(name), t->training, 15);
        tui_area_text_cut(body, 1, y, 15, panel_frame_style(freshness, STYLE_STRONG), name);
        int x = tui_area_text(body, 17, y, STYLE_DIM, own ? "on " : "");
        x = tui_area_text(body, x, y, plain, t->device[0] ? t->device : "n/a");
        x = x < 22 ? 22 : x + 1;
        if (freshness == GONE) {
            x = tui_area_text(body, x, y, STYLE_DIM, "-");
        } else {
            tui_chart_bar(body, x, y, BAR_COLUMNS, busy, panel_frame_style(freshness, STYLE_CHART));
            x = tui_area_printf(body, x + BAR_COLUMNS + 1, y, plain, "%4s", panel_training_busy(a, busy));
            double mib = own ? t->device_mib : t->memory_mib;
            x = tui_area_printf(body, x + 2, y, plain, "%7s", panel_training_memory(a, mib));
        }
        x = tui_area_text(body, x + 2, y, style, state);
        if (freshness != FRESH)
            tui_area_printf(body, x + 1, y, STYLE_DIM, "%s",
                            cli_format_age(a, panel_training_age(model, t, scene->now)));
        y++;
    }
    return y;
}

/* Why devices are not sampled, "" while they are: the daemon's word, else the last that it stored. */
static const char *reason_of(const struct model *model)
{
    return model->source == MODEL_DAEMON ? model->status.gpu.reason : model->history.devices.reason;
}

/* One line. */
static int no_device(const struct area *body, int y, const struct model *model)
{
    const char *reason = reason_of(model);

    tui_area_text_cut(body, 1, y, body->width - 2, STYLE_NORMAL, reason[0] ? reason : FORMAT_NO_DEVICE);
    return y + 1;
}

/* At the end of the rule: what the figures are of, or why none come. */
static void rule_words(const struct area *area, const char *words, enum style style)
{
    char text[STATUS_TEXT_MAX + 2];

    snprintf(text, sizeof(text), " %s ", words);
    int columns = least(cli_text_width(text), area->width - 14); /* beside the title */
    tui_area_text_cut(area, area->width - 1 - columns, 0, columns, style, text);
}

/* ---- all of it, more rows than the panel may have ---- */

/* From row y on, which may be above the area; returns the row after the last. */
static int content(const struct area *body, int y, const struct scene *scene, bool live)
{
    const struct model *model = scene->model;

    y = model->history.devices.n > 0 ? panel_gpu_devices(body, y, scene) : no_device(body, y, model);
    y = panel_gpu_held(body, y, scene);
    if (!live)
        return y;
    y = compute(body, y, model);
    int end = trainings(body, y + 1, scene);
    return end > y + 1 ? end : y;
}

static bool is_short(const struct view *view)
{
    return view->tab == TAB_OVERVIEW && view->zoomed != PANEL_GPU;
}

/* Drawn where nothing is seen. */
int panel_gpu_rows(const struct view *view, const struct model *model)
{
    struct canvas nothing = {.glyphs = GLYPHS_ASCII};
    const struct area nowhere = {.canvas = &nothing, .width = LAYOUT_WIDTH_MIN};
    const struct scene scene = {.view = view, .model = model};
    bool live = model->source == MODEL_DAEMON;

    return is_short(view) || !(live || model->have_history) ? 0 : content(&nowhere, 0, &scene, live);
}

/* The last row says what is below it. */
static void more_below(const struct area *body, int first, int total, const struct history_devices *h)
{
    int y = body->height - 1, below = total - first - y, devices = 0;
    char text[FORMAT_MAX] = "";

    for (int i = 0; i < h->n; i++)
        devices += i * panel_gpu_each(h) >= first + y;
    if (devices > 0)
        snprintf(text, sizeof(text), ", %d of %d devices", devices, h->n);
    tui_area_line(body, 0, y, body->width, STYLE_NORMAL, L' ');
    tui_area_printf(body, 1, y, STYLE_WARN, "+%d more rows%s: j, PgDn, G", below, text);
}

static void scrolled(const struct area *body, const struct scene *scene, bool live)
{
    struct area none = tui_area_part(body, 0, body->height, 0, 0);
    int total = content(&none, 0, scene, live), last = total > body->height ? total - body->height : 0;
    int first = least(tui_view_cursor(scene->view, scene->model, PANEL_GPU), last);

    content(body, -first, scene, live);
    if (first < last)
        more_below(body, first, total, &scene->model->history.devices);
}

static void draw_short(const struct area *area, const struct area *body, const struct scene *scene)
{
    int more = panel_gpu_short(body, scene);
    char words[FORMAT_MAX];

    snprintf(words, sizeof(words), "+%d", more);
    if (more > 0)
        rule_words(area, words, STYLE_WARN);
}

void panel_gpu(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct history_devices *h = &model->history.devices;
    struct area body = panel_frame_rule(area, scene, PANEL_GPU, "GPU", h->n ? h->n : -1, NULL);
    bool live = model->source == MODEL_DAEMON && tui_model_freshness(model, scene->now) != GONE;
    const char *reason = reason_of(model);

    if (!model->have_history && !live) {
        panel_frame_empty(&body, panel_frame_no_history(model, "n/a"));
        return;
    }
    if (is_short(scene->view)) {
        draw_short(area, &body, scene);
        return;
    }
    if (h->n > 0)
        rule_words(area, reason[0] ? reason : "mean and max of 24 h", reason[0] ? STYLE_WARN : STYLE_DIM);
    scrolled(&body, scene, live);
}
