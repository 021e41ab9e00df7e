#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "tui/chart.h"
#include "tui/panel/frame.h"
#include "tui/panel/training_words.h"

enum { BAR_COLUMNS = 20 };

static void device(const struct area *body, int y, const struct status_device *d)
{
    char a[FORMAT_MAX], b[FORMAT_MAX];

    tui_area_text_cut(body, 1, y, body->width - 2, STYLE_STRONG, d->name);
    int x = tui_area_text(body, 3, y + 1, STYLE_DIM, "util ");
    tui_chart_bar(body, x, y + 1, BAR_COLUMNS, d->util_pct / 100, STYLE_CHART);
    x = tui_area_printf(body, x + BAR_COLUMNS + 1, y + 1, STYLE_NORMAL, "%4s%%",
                        cli_format_number(a, d->util_pct, 0));
    x = tui_area_text(body, x + 3, y + 1, STYLE_DIM, "power ");
    x = tui_area_printf(body, x, y + 1, STYLE_NORMAL, "%s/%s W", cli_format_number(a, d->power_w, 0),
                        cli_format_number(b, d->power_limit_w, 0));
    x = tui_area_text(body, 3, y + 2, STYLE_DIM, "vram ");
    tui_chart_bar(body, x, y + 2, BAR_COLUMNS, d->mem_used_mib / d->mem_total_mib, STYLE_CHART);
    x = tui_area_printf(body, x + BAR_COLUMNS + 1, y + 2, STYLE_NORMAL, "%s/%s MiB",
                        cli_format_number(a, d->mem_used_mib, 0), cli_format_number(b, d->mem_total_mib, 0));
    tui_area_printf(body, x + 3, y + 2, STYLE_NORMAL, "%s MHz  %s C", cli_format_number(a, d->clock_mhz, 0),
                    cli_format_number(b, d->temp_c, 0));
}

/* The trainings, their devices, and how busy each is. */
static void trainings(const struct area *body, int y, const struct scene *scene)
{
    const struct model *model = scene->model;
    char a[FORMAT_MAX], name[STATUS_TRAINING_NAME_MAX];

    for (int i = 0; i < model->status.n_trainings && y < body->height; i++) {
        const struct status_training *t = tui_model_training(model, i);
        enum freshness freshness = tui_model_training_freshness(model, t, scene->now);
        enum style style, plain = panel_frame_style(freshness, STYLE_NORMAL);
        bool own = isfinite(t->utilisation);
        double busy = own ? t->utilisation : t->cpu_utilisation;
        if (!tui_model_training_works(t))
            continue;
        const char *state = panel_training_state(t, freshness, &style);
        panel_frame_middle(name, sizeof(name), t->training, 15);
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
}

void panel_gpu(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct status *s = &model->status;
    struct area body =
        panel_frame_rule(area, scene, PANEL_GPU, "GPU", s->n_devices ? s->n_devices : -1, NULL);

    if (model->source != MODEL_DAEMON || tui_model_freshness(model, scene->now) == GONE) {
        panel_frame_empty(&body, "n/a: the daemon samples the GPU, and none answers");
        return;
    }
    if (s->n_devices == 0) {
        int x = tui_area_printf(&body, 1, 0, STYLE_NORMAL, "%s", s->gpu.state[0] ? s->gpu.state : "n/a");
        tui_area_text_cut(&body, x + 2, 0, body.width - x - 2, STYLE_DIM, s->gpu.reason);
    }
    for (int i = 0; i < s->n_devices; i++)
        device(&body, i * 4, &s->devices[i]);
    int y = s->n_devices > 0 ? s->n_devices * 4 : 2;
    int x = tui_area_text(&body, 1, y, STYLE_DIM, "compute ");
    x = tui_area_printf(&body, x, y, STYLE_NORMAL, "%s", s->compute.backend[0] ? s->compute.backend : "n/a");
    tui_area_text_cut(&body, x + 2, y, body.width - x - 2, STYLE_DIM, s->compute.reason);
    if (s->compute.updates >= 0) {
        char a[FORMAT_MAX], b[FORMAT_MAX];
        y++;
        x = tui_area_text(&body, 1, y, STYLE_DIM, "indicators ");
        x = tui_area_printf(&body, x, y, STYLE_NORMAL, "%s bars taken, %s wait",
                            cli_format_count(a, (double)s->compute.updates),
                            cli_format_count(b, (double)s->compute.waiting));
        if (s->compute.device[0])
            tui_area_text_cut(&body, x + 2, y, body.width - x - 2, STYLE_DIM, s->compute.device);
    }
    trainings(&body, y + 2, scene);
}
