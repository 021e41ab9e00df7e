#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/text.h"
#include "tui/chart.h"
#include "tui/panel/frame.h"
#include "tui/panel/gpu_rows.h"
#include "tui/panel/training_words.h"

#define GIB (1024.0 * 1024 * 1024)
#define MIB (1024.0 * 1024)

enum {
    BAR_COLUMNS = 20,
    USES_LEAST = 3, /* lines that a part gets before the one above it gets more */
    PROCESSES_LEAST = 4,
    USE_STATES = 8,
    TITLES_ROWS = 6, /* three, and what the daemon says */
};

/* ---- what is on them ---- */

static void holder_line(const struct area *body, int y, const struct scene *scene,
                        const struct history_holder *p)
{
    const struct history_devices *h = &scene->model->history.devices;
    enum style plain = p->now ? STYLE_NORMAL : STYLE_DIM;
    char a[FORMAT_MAX], b[FORMAT_MAX], role[PROCESS_ROLE_MAX];

    panel_frame_middle(role, sizeof(role), p->role[0] ? p->role : p->name[0] ? p->name : "n/a", 20);
    tui_area_text_cut(body, 3, y, 20, p->role[0] && p->now ? STYLE_STRONG : plain, role);
    int x =
        tui_area_printf(body, 24, y, plain, "%7s GiB max %s", cli_format_number(a, p->memory_bytes / GIB, 1),
                        cli_format_number(b, p->memory_bytes_max / GIB, 1));
    x = tui_area_printf(body, x < 46 ? 46 : x + 1, y, plain, "%4s%s",
                        cli_format_number(a, p->util_percent, 0), isfinite(p->util_percent) ? "%" : "");
    x = x < 52 ? 52 : x + 1;
    if (p->now)
        x = tui_area_printf(body, x, y, plain, "for %s",
                            cli_format_age(a, (p->ts_ns - p->first_ns) / 1000000));
    else
        x = tui_area_printf(body, x, y, plain, "until %s ago",
                            cli_format_age(a, panel_gpu_age_ms(scene, p->ts_ns)));
    x = tui_area_printf(body, x < 62 ? 62 : x + 1, y, STYLE_DIM, "pid %lld", (long long)p->pid);
    if (h->n > 1)
        tui_area_printf(body, x, y, STYLE_DIM, " on %d", p->device);
}

static int holders(const struct area *body, int y, int rows, const struct scene *scene)
{
    const struct history_devices *h = &scene->model->history.devices;
    int hidden = 0;

    for (int i = 0; i < h->n; i++)
        hidden += !h->devices[i].processes_known;
    if (h->n == 0 || rows < 1)
        return y;
    if (h->n_holders == 0) {
        int x = tui_area_text(body, 1, y, STYLE_DIM, "processes ");
        tui_area_text(body, x, y, STYLE_NORMAL,
                      hidden == h->n ? "n/a: hidden by the container or by /proc" : "no process");
        return y + 1;
    }
    for (int i = 0; i < h->n_holders && rows > 0; i++, rows--)
        holder_line(body, y++, scene, &h->holders[i]);
    return y;
}

/* A line a training: "ppo-btc  rollout 35%  update 96%". */
static int uses(const struct area *body, int y, int rows, const struct scene *scene)
{
    const struct history_devices *h = &scene->model->history.devices;

    for (int i = 0; i < h->n_uses && rows > 0; rows--, y++) {
        const char *training = h->uses[i].training;
        struct segment segments[USE_STATES];
        int n = 0;
        for (; i < h->n_uses && strcmp(h->uses[i].training, training) == 0; i++) {
            if (n == USE_STATES)
                continue;
            segments[n] = (struct segment){.style = STYLE_NORMAL, .rank = n + 1, .gap = n ? 2 : 0};
            snprintf(segments[n].text, sizeof(segments[n].text), "%s %.0f%%", h->uses[i].state,
                     h->uses[i].util_percent);
            n++;
        }
        char name[STATUS_TRAINING_NAME_MAX];
        panel_frame_middle(name, sizeof(name), training, 20);
        tui_area_text_cut(body, 3, y, 20, STYLE_STRONG, name);
        panel_frame_segments(body, 24, y, body->width - 1, segments, n);
    }
    return y;
}

static int processes(const struct area *body, int y, int rows, const struct scene *scene)
{
    const struct history_devices *h = &scene->model->history.devices;
    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX], name[PROCESS_ROLE_MAX];

    for (int i = 0; i < h->n_processes && rows > 0; i++, y++, rows--) {
        const struct history_process *p = &h->processes[i];
        enum style plain = panel_gpu_style(scene, p->last_ns, STYLE_NORMAL);
        struct segment segments[] = {{.style = plain, .rank = 1},
                                     {.style = STYLE_NORMAL, .rank = 3, .gap = 1},
                                     {.style = plain, .rank = 1, .gap = 2},
                                     {.style = plain, .rank = 4, .gap = 2},
                                     {.style = STYLE_WARN, .rank = 2, .gap = 2}};
#define WRITE(k, ...) snprintf(segments[k].text, sizeof(segments[k].text), __VA_ARGS__)
        WRITE(0, "cpu %s%%", cli_format_number(a, p->last.cpu_percent, 0));
        WRITE(1, "mean %s max %s", cli_format_number(a, p->mean.cpu_percent, 0),
              cli_format_number(b, p->max.cpu_percent, 0));
        WRITE(2, "mem %s max %s MiB", cli_format_number(a, p->last.resident_bytes / MIB, 0),
              cli_format_number(c, p->max.resident_bytes / MIB, 0));
        WRITE(3, "disk %s read %s written MiB/s", cli_format_number(a, p->last.read_bytes_s / MIB, 1),
              cli_format_number(b, p->last.written_bytes_s / MIB, 1));
        if (panel_gpu_age_ms(scene, p->last_ns) > PANEL_GPU_FRESH_MS)
            WRITE(4, "%s ago", cli_format_age(a, panel_gpu_age_ms(scene, p->last_ns)));
#undef WRITE
        panel_frame_middle(name, sizeof(name), p->role, 20);
        tui_area_text_cut(body, 3, y, 20, STYLE_STRONG, name);
        panel_frame_segments(body, 24, y, body->width - 1, segments, sizeof(segments) / sizeof(segments[0]));
    }
    return y;
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

/* Why devices are not sampled, "" while they are: the daemon's word, else the last that it stored. */
static const char *reason_of(const struct model *model)
{
    return model->source == MODEL_DAEMON ? model->status.gpu.reason : model->history.devices.reason;
}

/* One line. */
static int no_device(const struct area *body, const struct model *model)
{
    const char *reason = reason_of(model);

    tui_area_text_cut(body, 1, 0, body->width - 2, STYLE_NORMAL, reason[0] ? reason : "no GPU");
    return 1;
}

/* At the end of the rule: what the figures are of, or why none come. */
static void rule_words(const struct area *area, const struct model *model)
{
    const char *reason = reason_of(model);
    char words[STATUS_TEXT_MAX + 2];

    snprintf(words, sizeof(words), " %s ", reason[0] ? reason : "mean and max of 24 h");
    if (cli_text_width(words) + 12 < area->width)
        tui_area_text_right(area, area->width - 1, 0, reason[0] ? STYLE_WARN : STYLE_DIM, words);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int trainings_used(const struct history_devices *h)
{
    int n = 0;

    for (int i = 0; i < h->n_uses; i++)
        n += i == 0 || strcmp(h->uses[i].training, h->uses[i - 1].training) != 0;
    return n;
}

static int title(const struct area *body, int y, bool shown, const char *words)
{
    if (shown)
        tui_area_text(body, 1, y, STYLE_DIM, words);
    return y + shown;
}

/* The parts below the devices: each gets its least before the one above it gets more; titles where there is
 * room for all. */
static int parts(const struct area *body, int y, const struct scene *scene)
{
    const struct history_devices *h = &scene->model->history.devices;
    int used = trainings_used(h);
    bool titled = y + h->n_holders + used + h->n_processes + TITLES_ROWS <= body->height;
    int below = least(used, USES_LEAST) + least(h->n_processes, PROCESSES_LEAST),
        left = body->height - y - below;

    y = title(body, y, titled && h->n_holders > 0, "processes on devices");
    y = holders(body, y,
                left > PANEL_GPU_HOLDERS || titled ? left : least(body->height - y, PANEL_GPU_HOLDERS),
                scene);
    y = title(body, y, titled && used > 0, "utilisation by phase, last 2 h");
    y = uses(body, y, body->height - y - least(h->n_processes, PROCESSES_LEAST), scene);
    y = title(body, y, titled && h->n_processes > 0, "own processes");
    return processes(body, y, body->height - y, scene);
}

void panel_gpu(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const struct history_devices *h = &model->history.devices;
    struct area body = panel_frame_rule(area, scene, PANEL_GPU, "GPU", h->n ? h->n : -1, NULL);
    bool live = model->source == MODEL_DAEMON && tui_model_freshness(model, scene->now) != GONE;

    if (!model->have_history && !live) {
        panel_frame_empty(&body, panel_frame_no_history(model, "n/a"));
        return;
    }
    if (scene->view->tab == TAB_OVERVIEW && scene->view->zoomed != PANEL_GPU) {
        panel_gpu_short(&body, scene);
        return;
    }
    if (h->n > 0)
        rule_words(area, model);
    int y = h->n > 0 ? panel_gpu_devices(&body, scene) : no_device(&body, model);
    y = parts(&body, y, scene);
    if (live && y < body.height) {
        y = compute(&body, y, model);
        trainings(&body, y + 1, scene);
    }
}
