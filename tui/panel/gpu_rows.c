#include "tui/panel/gpu_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/text.h"
#include "tui/chart.h"
#include "tui/panel/frame.h"

#define GIB (1024.0 * 1024 * 1024)

enum {
    FRESH_MS = 3000,  /* at least, however short the interval: the writer and the reading take time */
    LINES = 3,        /* of a device */
    WIDE = 96,        /* columns: longer bars and lines of the past */
    KEY_COLUMNS = 20, /* that a long name leaves to the key */
    NAME_LEAST = 12,
    FEW_DEVICES = 2, /* a blank line stands between so few */
};

int64_t panel_gpu_age_ms(const struct scene *scene, int64_t then_ns)
{
    return then_ns < scene->now.wall_ns ? (scene->now.wall_ns - then_ns) / 1000000 : 0;
}

bool panel_gpu_old(const struct scene *scene, int64_t then_ns, int64_t interval_ns)
{
    int64_t fresh_ms = HISTORY_FRESH_INTERVALS * interval_ns / 1000000;

    return panel_gpu_age_ms(scene, then_ns) > (fresh_ms > FRESH_MS ? fresh_ms : FRESH_MS);
}

enum style panel_gpu_style(const struct scene *scene, int64_t then_ns, int64_t interval_ns, enum style style)
{
    return panel_gpu_old(scene, then_ns, interval_ns) ? STYLE_DIM : style;
}

static bool old(const struct scene *scene, const struct history_device *d)
{
    return panel_gpu_old(scene, d->last_ns, d->interval_ns);
}

static enum style style_of(const struct scene *scene, const struct history_device *d, enum style style)
{
    return old(scene, d) ? STYLE_DIM : style;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* By which processes name it; nothing where there is one. Returns the column after it. */
static int number(const struct area *body, int x, int y, const struct scene *scene,
                  const struct history_device *d)
{
    const struct history_devices *h = &scene->model->history.devices;

    return h->n > 1 ? tui_area_printf(body, x, y, STYLE_DIM, "%d ", (int)(d - h->devices)) : x;
}

int panel_gpu_spark(const struct area *body, int x, int y, int columns, const char *label,
                    const double *values, int n, double most)
{
    x = tui_area_text(body, x, y, STYLE_DIM, label);
    struct area inside = tui_area_part(body, x, y, columns, 1);

    tui_chart_line(&inside, values, n, 0, most, STYLE_CHART);
    return x + columns;
}

static void name_line(const struct area *body, int y, const struct scene *scene,
                      const struct history_device *d)
{
    char age[FORMAT_MAX], words[2 * FORMAT_MAX], about[2 * STATUS_TEXT_MAX];
    const char *name = d->name[0] ? d->name : "n/a";
    enum style style = old(scene, d) || d->reason[0] ? STYLE_WARN : STYLE_DIM;

    snprintf(words, sizeof(words), "%s %s ago", old(scene, d) ? "last use" : "sampled",
             cli_format_age(age, panel_gpu_age_ms(scene, d->last_ns)));
    int end = tui_area_text_right(body, body->width - 1, y, style, words);
    int x = number(body, 1, y, scene, d);
    if (d->reason[0]) { /* the age stays whole, and half of the line */
        int room = least(cli_text_width(d->reason), (end - x) / 2);
        end -= room + 2;
        tui_area_text_cut(body, end, y, room, style, d->reason);
    }
    snprintf(about, sizeof(about), "%s%s%s%s%s", d->key, d->driver[0] ? ", driver " : "", d->driver,
             d->profile[0] ? ", profile " : "", d->profile);
    int room = end - x - 4 - least(cli_text_width(d->key) + 1, KEY_COLUMNS);
    x = tui_area_text_cut(body, x, y, least(cli_text_width(name), room > NAME_LEAST ? room : NAME_LEAST),
                          STYLE_STRONG, name);
    tui_area_text_cut(body, x + 2, y, end - x - 4, STYLE_DIM, about);
}

static void util_line(const struct area *body, int y, const struct scene *scene,
                      const struct history_device *d)
{
    bool wide = body->width >= WIDE;
    int bar = wide ? 16 : 12, minute = wide ? 15 : 10, day = wide ? 24 : 12;
    enum style plain = style_of(scene, d, STYLE_NORMAL);
    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX];

    int x = tui_area_text(body, 3, y, STYLE_DIM, "util ");
    tui_chart_bar(body, x, y, bar, d->last.util_percent / 100, style_of(scene, d, STYLE_CHART));
    x = tui_area_printf(body, x + bar + 1, y, plain, "%3s%%", cli_format_number(a, d->last.util_percent, 0));
    x = tui_area_printf(body, x, y, STYLE_NORMAL, "  mean %3s max %3s",
                        cli_format_number(b, d->mean.util_percent, 0),
                        cli_format_number(c, d->max.util_percent, 0));
    x = panel_gpu_spark(body, x, y, minute, "  60s ", d->minute, HISTORY_MINUTE_PARTS, 100);
    panel_gpu_spark(body, x, y, day, " 24h ", d->day, HISTORY_DAY_PARTS, 100);
}

/* Why it is throttled while it is, else the share of the day in which it was; empty when it never was. */
static void throttle_words(struct segment *ret, const struct history_device *d)
{
    double now = db_throttled_most(&d->last), mean = db_throttled_most(&d->mean);
    char kinds[FORMAT_MAX];

    *ret = (struct segment){.style = now > 0 ? STYLE_WARN : STYLE_DIM, .rank = now > 0 ? 1 : 5, .gap = 2};
    cli_format_throttled(kinds, d->last.throttle_power, d->last.throttle_thermal, d->last.throttle_hardware);
    if (now > 0)
        snprintf(ret->text, sizeof(ret->text), "%s%s", strchr(kinds, '+') ? "" : "throttled ", kinds);
    else if (mean > 0)
        snprintf(ret->text, sizeof(ret->text), "throttled %.0f%%", 100 * mean);
}

static void memory_line(const struct area *body, int y, const struct scene *scene,
                        const struct history_device *d)
{
    int bar = body->width >= WIDE ? 16 : 12;
    enum style plain = style_of(scene, d, STYLE_NORMAL);
    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX];
    struct segment segments[] = {{.style = plain, .rank = 1},
                                 {.style = STYLE_NORMAL, .rank = 3, .gap = 1},
                                 {.style = plain, .rank = 2, .gap = 2},
                                 {.style = STYLE_NORMAL, .rank = 6, .gap = 1},
                                 {.style = plain, .rank = 7, .gap = 2},
                                 {.style = plain, .rank = 1, .gap = 2},
                                 {.style = STYLE_NORMAL, .rank = 4, .gap = 1},
                                 {.style = plain, .rank = 8, .gap = 2},
                                 {.text = ""}};
#define WRITE(i, ...) snprintf(segments[i].text, sizeof(segments[i].text), __VA_ARGS__)
    WRITE(0, "%s/%s GiB", cli_format_number(a, d->last.memory_used_bytes / GIB, 1),
          cli_format_number(b, d->last.memory_total_bytes / GIB, 1));
    WRITE(1, "max %s", cli_format_number(a, d->max.memory_used_bytes / GIB, 1));
    WRITE(2, "%s/%s W", cli_format_number(a, d->last.power_w, 0),
          cli_format_number(b, d->last.power_limit_w, 0));
    WRITE(3, "mean %s max %s", cli_format_number(a, d->mean.power_w, 0),
          cli_format_number(b, d->max.power_w, 0));
    WRITE(4, "%s MHz", cli_format_number(a, d->last.clock_mhz, 0));
    WRITE(5, "%s C", cli_format_number(a, d->last.temperature_c, 0));
    WRITE(6, "max %s", cli_format_number(c, d->max.temperature_c, 0));
    if (isfinite(d->last.fan_percent))
        WRITE(7, "fan %s%%", cli_format_number(a, d->last.fan_percent, 0));
#undef WRITE
    throttle_words(&segments[8], d);
    int x = tui_area_text(body, 3, y, STYLE_DIM, "mem  ");
    tui_chart_bar(body, x, y, bar, d->last.memory_used_bytes / d->last.memory_total_bytes,
                  style_of(scene, d, STYLE_CHART));
    panel_frame_segments(body, x + bar + 1, y, body->width - 1, segments,
                         sizeof(segments) / sizeof(segments[0]));
}

static void short_line(const struct area *body, int y, const struct scene *scene,
                       const struct history_device *d)
{
    enum style plain = style_of(scene, d, STYLE_NORMAL);
    char a[FORMAT_MAX], b[FORMAT_MAX];
    struct segment segments[] = {
        {.style = plain, .rank = 1, .gap = 0}, {.style = STYLE_NORMAL, .rank = 4, .gap = 1},
        {.style = plain, .rank = 3, .gap = 2}, {.style = plain, .rank = 5, .gap = 2},
        {.style = plain, .rank = 2, .gap = 2}, {.style = STYLE_WARN, .rank = 1, .gap = 2}};
#define WRITE(i, ...) snprintf(segments[i].text, sizeof(segments[i].text), __VA_ARGS__)
    WRITE(0, "%3s%%", cli_format_number(a, d->last.util_percent, 0));
    WRITE(1, "mean %s max %s", cli_format_number(a, d->mean.util_percent, 0),
          cli_format_number(b, d->max.util_percent, 0));
    WRITE(2, "%s/%s GiB", cli_format_number(a, d->last.memory_used_bytes / GIB, 1),
          cli_format_number(b, d->last.memory_total_bytes / GIB, 1));
    WRITE(3, "%s W", cli_format_number(a, d->last.power_w, 0));
    WRITE(4, "%s C", cli_format_number(a, d->last.temperature_c, 0));
    if (old(scene, d))
        WRITE(5, "%s ago", cli_format_age(a, panel_gpu_age_ms(scene, d->last_ns)));
#undef WRITE
    int x = number(body, 1, y, scene, d);
    tui_area_text_cut(body, x, y, 17 - x, STYLE_STRONG, d->name[0] ? d->name : d->key);
    panel_gpu_spark(body, 18, y, 10, "", d->minute, HISTORY_MINUTE_PARTS, 100);
    panel_frame_segments(body, 29, y, body->width - 1, segments, sizeof(segments) / sizeof(segments[0]));
}

int panel_gpu_each(const struct history_devices *h)
{
    return h->n <= FEW_DEVICES ? LINES + 1 : LINES;
}

int panel_gpu_devices(const struct area *body, int y, const struct scene *scene)
{
    const struct history_devices *h = &scene->model->history.devices;

    for (int i = 0; i < h->n; i++, y += panel_gpu_each(h)) {
        name_line(body, y, scene, &h->devices[i]);
        util_line(body, y + 1, scene, &h->devices[i]);
        memory_line(body, y + 2, scene, &h->devices[i]);
    }
    return y;
}

/* -1 for a figure that is not known. */
static double known(double figure)
{
    return isnan(figure) ? -1 : figure;
}

/* Does `a` stand before `b`? */
static bool before(const struct scene *scene, const struct history_device *a, const struct history_device *b)
{
    if (old(scene, a) != old(scene, b))
        return old(scene, b);
    double by = known(a->last.temperature_c) - known(b->last.temperature_c);
    return by > 0 || (!(by < 0) && known(a->last.util_percent) > known(b->last.util_percent));
}

int panel_gpu_short(const struct area *body, const struct scene *scene)
{
    const struct history_devices *h = &scene->model->history.devices;
    const struct history_device *order[HISTORY_DEVICES_MAX];

    for (int i = 0; i < h->n; i++) {
        int at = i;
        for (; at > 0 && before(scene, &h->devices[i], order[at - 1]); at--)
            order[at] = order[at - 1];
        order[at] = &h->devices[i];
    }
    for (int i = 0; i < h->n && i < body->height; i++)
        short_line(body, i, scene, order[i]);
    return h->n > body->height ? h->n - body->height : 0;
}
