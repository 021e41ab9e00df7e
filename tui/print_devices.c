#include <math.h>
#include <stdio.h>

#include "cli/format.h"
#include "cli/text.h"
#include "tui/print.h"

void tui_print_device(FILE *out, const struct status_device *d, const char *more)
{
    char a[FORMAT_MAX], b[FORMAT_MAX], c[FORMAT_MAX], e[FORMAT_MAX], f[FORMAT_MAX], g[FORMAT_MAX],
        h[FORMAT_MAX], index[FORMAT_MAX] = "", kinds[FORMAT_MAX];
    bool throttled = d->throttle_power > 0 || d->throttle_thermal > 0 || d->throttle_hardware > 0;

    if (d->index >= 0)
        snprintf(index, sizeof(index), ", index %lld", (long long)d->index);
    fprintf(out, "device    %s: util %s %%, memory %s of %s GiB, %s of %s W, %s MHz, %s C%s%s%s%s%s%s\n",
            d->name[0] ? d->name : "n/a", cli_format_number(a, d->util_pct, 0),
            cli_format_number(b, d->mem_used_mib / 1024, 1), cli_format_number(c, d->mem_total_mib / 1024, 1),
            cli_format_number(e, d->power_w, 0), cli_format_number(f, d->power_limit_w, 0),
            cli_format_number(g, d->clock_mhz, 0), cli_format_number(h, d->temp_c, 0),
            throttled ? ", throttled by " : "",
            throttled
                ? cli_format_throttled(kinds, d->throttle_power, d->throttle_thermal, d->throttle_hardware)
                : "",
            d->device[0] ? ", " : "", d->device, index, more);
}

void tui_print_devices(FILE *out, const struct history_devices *stored, struct moment now)
{
    for (int i = 0; i < stored->n; i++) {
        const struct history_device *d = &stored->devices[i];
        char age[FORMAT_MAX], mean[FORMAT_MAX], max[FORMAT_MAX], more[4 * FORMAT_MAX];
        struct status_device last = {.util_pct = d->last.util_percent,
                                     .mem_used_mib = d->last.memory_used_bytes / (1 << 20),
                                     .mem_total_mib = d->last.memory_total_bytes / (1 << 20),
                                     .power_w = d->last.power_w,
                                     .power_limit_w = d->last.power_limit_w,
                                     .clock_mhz = d->last.clock_mhz,
                                     .temp_c = d->last.temperature_c,
                                     .throttle_power = d->last.throttle_power,
                                     .throttle_thermal = d->last.throttle_thermal,
                                     .throttle_hardware = d->last.throttle_hardware,
                                     .index = -1};
        snprintf(more, sizeof(more), "; %s ago; of 24 h util mean %s %%, max %s %%",
                 cli_format_age(age, now.wall_ns > d->last_ns ? (now.wall_ns - d->last_ns) / 1000000 : 0),
                 cli_format_number(mean, d->mean.util_percent, 0),
                 cli_format_number(max, d->max.util_percent, 0));
        cli_text_clean(last.name, sizeof(last.name), d->name);
        cli_text_clean(last.device, sizeof(last.device), d->key);
        tui_print_device(out, &last, more);
    }
    if (stored->reason[0])
        fprintf(out, "gpu       %s\n", stored->reason);
}

#define ROW          struct device_figures
#define FIGURE(name) PRINT_REAL(name),
static const struct record figures_record = PRINT_RECORD(RECORD_DEVICE_FIGURES(FIGURE));
#undef FIGURE
#undef ROW
#define ROW struct history_device
static const struct record device_record =
    PRINT_RECORD(PRINT_AS(TEXT, REQUIRED, key, "device"), PRINT_WORD(name), PRINT_WORD(driver),
                 PRINT_WORD(profile), PRINT_WORD(reason), PRINT_WHOLE(last_ns));
#undef ROW

json_t *tui_print_devices_json(const struct history_devices *stored)
{
    json_t *list = json_array();

    for (int i = 0; i < stored->n; i++) {
        const struct history_device *d = &stored->devices[i];
        json_t *object = record_print(&device_record, d, NULL);
        json_object_set_new(object, "last", record_print(&figures_record, &d->last, NULL));
        json_object_set_new(object, "mean", record_print(&figures_record, &d->mean, NULL));
        json_object_set_new(object, "max", record_print(&figures_record, &d->max, NULL));
        json_array_append_new(list, object);
    }
    return list;
}
