/* The keys of the chart: candles or a line, its scale, which bars, the crosshair. */
#ifndef TUI_CHART_KEYS_H
#define TUI_CHART_KEYS_H

#include "tui/keys.h"

/* One of c L m , . { }, or on the chart's panel of PgUp PgDn Home End. ACTION_BARS where other bars are to
 * be read. */
enum action tui_chart_keys_press(struct view *view, const struct model *model, const struct layout *layout,
                                 struct moment now, int key);

#endif
