#include "tui/paste.h"

#include <string.h>

#include "cli/text.h"
#include "tui/press.h"

static void trim(struct paste *paste)
{
    size_t first = 0;

    if (paste->n > PASTE_MAX)
        return;
    while (paste->n > 0 && paste->keys[paste->n - 1] == ' ')
        paste->n--;
    while (first < paste->n && paste->keys[first] == ' ')
        first++;
    paste->n -= first;
    memmove(paste->keys, paste->keys + first, paste->n * sizeof(paste->keys[0]));
}

bool tui_paste_press(struct paste *paste, int key, int64_t mono_ms, bool *ret_whole)
{
    *ret_whole = false;
    if (key == PRESS_PASTE) {
        paste->on = true;
        paste->n = 0;
    }
    if (!paste->on)
        return key == PRESS_PASTE_END;
    paste->mono_ms = mono_ms;
    if (key == PRESS_PASTE_END) {
        paste->on = false;
        *ret_whole = true;
        trim(paste);
    } else if (key != PRESS_PASTE) {
        bool blank = key == PRESS_ENTER || key == '\t' || key == ' ';
        bool shown = key > ' ' && key <= 0x10ffff && cli_text_char_width((wchar_t)key) >= 0;
        if (paste->n < PASTE_MAX)
            paste->keys[paste->n] = blank ? ' ' : shown ? key : '?';
        paste->n++;
    }
    return true;
}

bool tui_paste_expire(struct paste *paste, int64_t mono_ms)
{
    if (!paste->on || mono_ms - paste->mono_ms < PASTE_SILENCE_MS)
        return false;
    paste->on = false;
    return true;
}
