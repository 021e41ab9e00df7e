/* The pages of sweeps (tui/sweep_page.h), each in its file. */
#ifndef TUI_PANEL_SWEEP_H
#define TUI_PANEL_SWEEP_H

#include "tui/panel/frame.h"
#include "tui/sweep_page.h"

/* Each draws all of the screen but the title and the last line. */
void panel_sweep_list(const struct area *area, const struct scene *scene);
void panel_sweep_table(const struct area *area, const struct scene *scene);
void panel_sweep_form(const struct area *area, const struct scene *scene);
void panel_sweep_map(const struct area *area, const struct scene *scene);
void panel_sweep_run(const struct area *area, const struct scene *scene);

/* The bars' names without their folders, as "BTCUSDT_5m.csv.gz". Returns buf. */
const char *panel_sweep_bars(const char *bars, char *buf, size_t size);

enum style panel_sweep_state_style(enum sweep_state state);

/* A running one: its bar, sets, time left and the best so far, in at most so many rows. Returns the row after
 * the last. */
int panel_sweep_so_far(const struct area *area, int y, int rows, const struct sweep_entry *entry);

#endif
