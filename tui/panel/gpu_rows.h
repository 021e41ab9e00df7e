/* The lines of the GPU's tab and of the overview; and how old samples are drawn. */
#ifndef TUI_PANEL_GPU_ROWS_H
#define TUI_PANEL_GPU_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "tui/panel/panel.h"

int64_t panel_gpu_age_ms(const struct scene *scene, int64_t then_ns);

/* Is a sample older than HISTORY_FRESH_INTERVALS? */
bool panel_gpu_old(const struct scene *scene, int64_t then_ns, int64_t interval_ns);

/* Figures that are old are dim; their age stands beside them. */
enum style panel_gpu_style(const struct scene *scene, int64_t then_ns, int64_t interval_ns, enum style style);

/* A line of `columns` columns after its label, from 0 to `most`. Returns the column after it. */
int panel_gpu_spark(const struct area *body, int x, int y, int columns, const char *label,
                    const double *values, int n, double most);

/* How many rows a device has: its lines, and a blank one where there are few devices. */
int panel_gpu_each(const struct history_devices *h);

/* All devices from row y on, which may be above the area. Returns the row after the last. */
int panel_gpu_devices(const struct area *body, int y, const struct scene *scene);

/* The processes on them, utilisation by phase and our own processes, each under its title. Returns the row
 * after the last. */
int panel_gpu_held(const struct area *body, int y, const struct scene *scene);

/* One line each: the overview's; those that are sampled first, by temperature, then by utilisation. Returns
 * how many there was no row for. */
int panel_gpu_short(const struct area *body, const struct scene *scene);

#endif
