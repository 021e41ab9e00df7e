/* One line that is being typed: UTF-8, a cursor between characters, and the keys that move and change it.
 * Characters that must not reach a terminal are never accepted. */
#ifndef TUI_LINE_EDIT_H
#define TUI_LINE_EDIT_H

#include <stdbool.h>
#include <stddef.h>

enum { LINE_EDIT_MAX = 8448 /* bytes with the NUL: the longest value of a configuration */ };

struct line_edit {
    char text[LINE_EDIT_MAX];
    size_t len, at; /* bytes; `at` stands before a character, never before a mark that combines */
    bool over;      /* a character had no room since something was last erased */
    size_t size;    /* bytes that it may grow to, with the NUL: 1..LINE_EDIT_MAX */
};

/* Begins with `text`, cleaned (cli_text_clean()) and cut to `size` bytes with the NUL; the cursor at its end.
 */
void tui_line_edit_begin(struct line_edit *edit, const char *text, size_t size);

/* A character types it; arrows, Home, End (Ctrl-A, Ctrl-E), Backspace, Delete, Ctrl-U (all before the
 * cursor) and Ctrl-K (all after it) work as usual. False for a key that is not of a line, and for a
 * character that must not be shown or has no room. */
bool tui_line_edit_press(struct line_edit *edit, int key);

/* Types all of them, or none: false where there is no room. */
bool tui_line_edit_paste(struct line_edit *edit, const int *keys, size_t n);

/* A short word that is typed at its end alone: a character from `first` to '~', Backspace, or Ctrl-U for all
 * of it. False where the key is none of these. */
bool tui_line_edit_word(char *word, size_t size, int first, int key);

#endif
