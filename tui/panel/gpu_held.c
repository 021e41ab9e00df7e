/* What is on the devices, and what our own processes use. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "tui/panel/frame.h"
#include "tui/panel/gpu_rows.h"

#define GIB (1024.0 * 1024 * 1024)
#define MIB (1024.0 * 1024)

enum { USE_STATES = 8 };

static void holder_line(const struct area *body, int y, const struct scene *scene,
                        const struct history_holder *p)
{
    const struct history_devices *h = &scene->model->history.devices;
    enum style plain = p->now ? STYLE_NORMAL : STYLE_DIM;
    char a[FORMAT_MAX], b[FORMAT_MAX], role[PROCESS_ROLE_MAX];

    panel_frame_middle(body->canvas, role, sizeof(role),
                       p->role[0]   ? p->role
                       : p->name[0] ? p->name
                                    : "n/a",
                       20);
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

static int title(const struct area *body, int y, const char *words)
{
    tui_area_text(body, 1, y, STYLE_DIM, words);
    return y + 1;
}

/* "on 0, 2: n/a: hidden by …"; of all devices without their numbers. */
static void hidden_devices(const struct area *body, int x, int y, const struct history_devices *h, int hidden)
{
    const char *separator = "on ";
    for (int i = 0; i < h->n && hidden < h->n; i++)
        if (!h->devices[i].processes_known) {
            x = tui_area_printf(body, x, y, STYLE_DIM, "%s%d", separator, i);
            separator = ", ";
        }
    if (hidden < h->n)
        x = tui_area_text(body, x, y, STYLE_DIM, ": ");
    tui_area_text_cut(body, x, y, body->width - x, STYLE_NORMAL, FORMAT_HIDDEN);
}

static int holders(const struct area *body, int y, const struct scene *scene)
{
    const struct history_devices *h = &scene->model->history.devices;
    int hidden = 0;

    for (int i = 0; i < h->n; i++)
        hidden += !h->devices[i].processes_known;
    if (h->n == 0)
        return y;
    if (h->n_holders > 0)
        y = title(body, y, "processes on devices");
    for (int i = 0; i < h->n_holders; i++)
        holder_line(body, y++, scene, &h->holders[i]);
    if (h->n_holders > 0 && hidden == 0)
        return y;
    int x = tui_area_text(body, 1, y, STYLE_DIM, "processes ");
    if (hidden == 0)
        tui_area_text(body, x, y, STYLE_NORMAL, "no process");
    else
        hidden_devices(body, x, y, h, hidden);
    return y + 1;
}

/* A line a training and device: "ppo-btc  on 0  rollout 35%  update 96%". */
static int uses(const struct area *body, int y, const struct scene *scene)
{
    const struct history_devices *h = &scene->model->history.devices;

    if (h->n_uses > 0)
        tui_area_printf(body, 1, y++, STYLE_DIM, "utilisation by phase, last %d h", HISTORY_USES_S / 3600);
    for (int i = 0; i < h->n_uses; y++) {
        const struct history_use *first = &h->uses[i];
        struct segment segments[USE_STATES];
        int n = 0;
        for (; i < h->n_uses && h->uses[i].device == first->device &&
               strcmp(h->uses[i].training, first->training) == 0;
             i++) {
            if (n == USE_STATES)
                continue;
            segments[n] = (struct segment){.style = STYLE_NORMAL, .rank = n + 1, .gap = n ? 2 : 0};
            char a[FORMAT_MAX];
            snprintf(segments[n].text, sizeof(segments[n].text), "%s %s%s", h->uses[i].state,
                     cli_format_number(a, h->uses[i].util_percent, 0),
                     isfinite(h->uses[i].util_percent) ? "%" : "");
            n++;
        }
        char name[STATUS_TRAINING_NAME_MAX];
        panel_frame_middle(body->canvas, name, sizeof(name), first->training, 20);
        tui_area_text_cut(body, 3, y, 20, STYLE_STRONG, name);
        int x = h->n > 1 ? tui_area_printf(body, 24, y, STYLE_DIM, "on %d  ", first->device) : 24;
        panel_frame_segments(body, x, y, body->width - 1, segments, n);
    }
    return y;
}

/* Its past, where no device has lines: processor time of up to all the cores that it used, and memory. */
static void past_line(const struct area *body, int y, const struct history_process *p)
{
    int part = (body->width - 50) / 3;
    double cores = fmax(100, p->max.cpu_percent), most = fmax(1, p->max.resident_bytes);

    part = part < 8 ? 8 : part > HISTORY_DAY_PARTS / 2 ? HISTORY_DAY_PARTS / 2 : part;
    int x = panel_gpu_spark(body, 24, y, part, "cpu 60s ", p->minute, HISTORY_MINUTE_PARTS, cores);
    x = panel_gpu_spark(body, x, y, part, " 24h ", p->day, HISTORY_DAY_PARTS, cores);
    panel_gpu_spark(body, x, y, part, "  mem 24h ", p->memory_day, HISTORY_DAY_PARTS, most);
}

static int processes(const struct area *body, int y, const struct scene *scene)
{
    const struct history_devices *h = &scene->model->history.devices;
    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX], name[PROCESS_ROLE_MAX];

    if (h->n_processes > 0)
        y = title(body, y, "own processes");
    for (int i = 0; i < h->n_processes; i++, y++) {
        const struct history_process *p = &h->processes[i];
        enum style plain = panel_gpu_style(scene, p->last_ns, p->interval_ns, STYLE_NORMAL);
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
        if (panel_gpu_old(scene, p->last_ns, p->interval_ns))
            WRITE(4, "%s ago", cli_format_age(a, panel_gpu_age_ms(scene, p->last_ns)));
#undef WRITE
        panel_frame_middle(body->canvas, name, sizeof(name), p->role, 20);
        tui_area_text_cut(body, 3, y, 20, STYLE_STRONG, name);
        panel_frame_segments(body, 24, y, body->width - 1, segments, sizeof(segments) / sizeof(segments[0]));
        if (h->n == 0)
            past_line(body, ++y, p);
    }
    return y;
}

int panel_gpu_held(const struct area *body, int y, const struct scene *scene)
{
    y = holders(body, y, scene);
    y = uses(body, y, scene);
    return processes(body, y, scene);
}
