/* Screens compared with the pictures in tests/tui/golden. With PAPERTAPE_GOLDEN=write they are written again,
 * to be looked at before they are kept. Differences go to stderr. */
#ifndef TESTS_TUI_PICTURE_H
#define TESTS_TUI_PICTURE_H

#include "tui/view.h"

/* A model with the fixture's status and `more` merged into it, and what its database at `path` has, of bars
 * BTCUSDT's minutes. The reader is the caller's. NULL: it failed. */
struct model *picture_model(const char *path, const char *more, struct moment now,
                            struct history_reader **ret_reader);

/* The screen as text, for free(); NULL without memory. */
char *picture_draw(const struct model *model, const struct view *view, struct moment now, int width,
                   int height, enum glyphs glyphs);

/* Is every row within the width, is their number right, and is there no control character? */
bool picture_safe(const char *name, const char *text, int width, int height);

/* Draws, and compares with GOLDEN/NAME.txt. */
bool picture_matches(const char *golden, const char *name, const struct model *model, const struct view *view,
                     struct moment now, int width, int height, enum glyphs glyphs);

#endif
