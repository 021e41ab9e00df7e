/* What a terminal pastes between its two marks (bracketed paste): collected as text, never taken as keys. */
#ifndef TUI_PASTE_H
#define TUI_PASTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PASTE_MAX = 8448,       /* characters that are kept */
    PASTE_SILENCE_MS = 2000 /* after which a paste without its second mark is given up */
};

struct paste {
    bool on;             /* between the marks */
    int64_t mono_ms;     /* of the newest character */
    size_t n;            /* characters that came; those beyond PASTE_MAX are only counted */
    int keys[PASTE_MAX]; /* printable; line ends and other blanks are ' ', what must not be shown is '?' */
};

/* True when the key was of a paste. Then *ret_whole: the second mark has come, and keys [0, n) are it,
 * without the blanks at its ends. */
bool tui_paste_press(struct paste *paste, int key, int64_t mono_ms, bool *ret_whole);

/* Gives up one that has gone silent. True when there was one. */
bool tui_paste_expire(struct paste *paste, int64_t mono_ms);

#endif
