/* What the mouse does to the view: it presses the keys that would do the same. */
#ifndef TUI_MOUSE_H
#define TUI_MOUSE_H

#include "tui/keys.h"

/* PRESS_CLICK or a wheel at a cell of the canvas as it was drawn last. A click on a tab opens it, on a row
 * chooses it, on the chosen one, or soon again at the cell of the click that chose it, is Enter, elsewhere in
 * a panel it gives that the focus; the wheel moves in the panel below it, or in what covers that. On the
 * chart a click sets the crosshair, and the wheel zooms.
 */
enum action tui_mouse_press(struct view *view, const struct model *model, const struct canvas *drawn,
                            struct moment now, int press, int x, int y);

/* The chosen row's lines, as drawn, or all of an item's page, a tabulator between name and value; to be
 * freed. NULL: no row is chosen, or no memory. */
char *tui_copy_text(const struct view *view, const struct model *model, const struct canvas *drawn);

#endif
