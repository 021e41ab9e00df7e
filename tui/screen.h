/* The terminal: what draws on it and reads its keys by curses. One screen per process. */
#ifndef TUI_SCREEN_H
#define TUI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

#include "tui/canvas.h"
#include "tui/theme.h"

/* Can a full-screen program run: stdin and stdout are terminals, and TERM names one that can move its cursor?
 */
bool tui_screen_possible(void);

/* Takes the terminal, in a process whose threads all block SIGTSTP and call tui_screen_suspend() for it.
 * NO_COLOR makes the scheme mono; the palette is never changed. 0; -ENOTTY when it cannot be done. Afterwards
 * the signals that would end the process restore the terminal first, and so does a library that is missing
 * (lazy_library.h). */
int tui_screen_open(enum scheme scheme, enum colours colours);

/* Other colours from the next update on. */
void tui_screen_scheme(enum scheme scheme, enum colours colours);

/* Restores it. May be called twice. */
void tui_screen_close(void);

/* Stops the process as Ctrl-Z does, with the terminal restored meanwhile; returns when it continues. */
void tui_screen_suspend(void);

/* Takes the mouse, or leaves it to the terminal, for selecting text. */
void tui_screen_mouse(bool on);

/* The cell of the last PRESS_CLICK or wheel. */
void tui_screen_pointer(int *ret_x, int *ret_y);

/* Sends text of `len` bytes to the terminal's clipboard (OSC 52), as far as it allows that. False: no memory.
 */
bool tui_screen_copy(const char *text, size_t len);

/* The size now. */
void tui_screen_size(int *ret_width, int *ret_height);

/* Shows a canvas of just that size: one update, of what has changed. */
void tui_screen_show(const struct canvas *canvas);

/* Forgets what the terminal is assumed to show, so that the next update draws everything. */
void tui_screen_spoilt(void);

/* The next key that waits, as press.h names them; 0 when there is none; -1 at the terminal's end. A resize
 * sets *ret_resized. */
int tui_screen_key(bool *ret_resized);

#endif
