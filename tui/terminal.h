/* The terminal's description (terminfo) with 24-bit colours: curses then sends them as they are. Without that
 * it would have to change the palette, which is the user's and every other program's of that terminal. */
#ifndef TUI_TERMINAL_H
#define TUI_TERMINAL_H

#include <stdbool.h>

enum {
    TERMINAL_RGB_LEAST = 0x100, /* colours below it are the numbers of the palette */
    TERMINAL_RGB = 1 << 24,     /* the colours of the description: 0xRRGGBB */
};

/* Does the terminal that curses has described (cur_term) have 24-bit colours: by COLORTERM, or by RGB or Tc
 * in the description? Of GNU screen and the Linux console, which pass on another terminal's COLORTERM, only
 * by these. */
bool tui_terminal_has_rgb(void);

/* Is it described so? */
bool tui_terminal_sends_rgb(void);

/* Its description, under the name `term`, with colours 0xRRGGBB beside the numbers of the palette, in the
 * compiled format of term(5), as the environment variable TERMINFO takes it. To be freed; NULL: no ANSI
 * colours, or too long. */
char *tui_terminal_description(const char *term);

#endif
