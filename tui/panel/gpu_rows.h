/* The devices' lines of the GPU's tab and of the overview; and how old samples are drawn. */
#ifndef TUI_PANEL_GPU_ROWS_H
#define TUI_PANEL_GPU_ROWS_H

#include "tui/panel/panel.h"

enum {
    PANEL_GPU_FRESH_MS = 10000, /* samples come each 1 to 2 s */
    PANEL_GPU_HOLDERS = 4,      /* lines of processes that there should be room for below the devices */
};

int64_t panel_gpu_age_ms(const struct scene *scene, int64_t then_ns);

/* Figures that are old are dim; their age stands beside them. */
enum style panel_gpu_style(const struct scene *scene, int64_t then_ns, enum style style);

/* Three lines each, and blanks between them where there is room. Returns the row after the last. */
int panel_gpu_devices(const struct area *body, const struct scene *scene);

/* One line each: the overview's. */
void panel_gpu_short(const struct area *body, const struct scene *scene);

#endif
