#include "tui/panel/panel.h"

typedef void (*draw_fn)(const struct area *area, const struct scene *scene);

#define DRAWN_BY(number, name) [PANEL_##number] = panel_##name,
static const draw_fn draw[PANELS] = {PANEL_LIST(DRAWN_BY)};

void panel_draw(enum panel panel, const struct area *area, const struct scene *scene)
{
    if (draw[panel] && area->width > 0 && area->height > 0)
        draw[panel](area, scene);
}
