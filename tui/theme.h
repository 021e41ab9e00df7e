/* Colours of the styles. */
#ifndef TUI_THEME_H
#define TUI_THEME_H

#include <stdbool.h>

#include "tui/style.h"

enum scheme { SCHEME_DEFAULT, SCHEME_LIGHT, SCHEME_COLOUR_BLIND, SCHEME_MONO, SCHEMES };

/* How many colours are drawn with; auto: as many as the terminal says that it has. */
enum colours { COLOURS_AUTO, COLOURS_TRUE, COLOURS_256, COLOURS_8 };

/* "default", "light", "colour-blind", "mono"; enum scheme or -EINVAL. */
int tui_scheme_parse(const char *name);

enum { PAINT_OWN = -1 }; /* the terminal's own colour */

/* A style in a scheme: what it is in 24 bits, 0xRRGGBB, and the one of the terminal's first 8 that means the
 * same there; PAINT_OWN. Dim only where it has no colour. */
struct paint {
    int rgb;
    short colour_8;
    bool bold, dim, reverse;
};
struct paint tui_theme_paint(enum scheme scheme, enum style style);

/* The number of the one nearest to 0xRRGGBB among the cube and the greys of xterm's 256 colours, 16 to 255,
 * by the sum of the squares of what the components differ by; PAINT_OWN is itself. */
short tui_theme_nearest_256(int rgb);

#endif
