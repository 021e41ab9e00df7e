/* Colours of the styles, as curses attributes. */
#ifndef TUI_THEME_H
#define TUI_THEME_H

#include <stdbool.h>

#include "tui/style.h"

enum scheme { SCHEME_DEFAULT, SCHEME_LIGHT, SCHEME_COLOUR_BLIND, SCHEME_MONO, SCHEMES };

/* "default", "light", "colour-blind", "mono"; enum scheme or -EINVAL. */
int tui_scheme_parse(const char *name);

/* A style in a scheme: colour numbers of the 256 or of the 8, -1 for the terminal's own. */
struct paint {
    short colour_256, colour_8;
    bool bold, dim, reverse;
};
struct paint tui_theme_paint(enum scheme scheme, enum style style);

#endif
