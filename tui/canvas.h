/* A screen in memory: cells with a meaning, drawn on without a terminal, then shown by curses or printed.
 *
 * Text is UTF-8 from any source: it is cleaned and clipped here to columns, so that no caller can draw
 * outside its area, cut a wide character in two, or send a control character to the terminal. */
#ifndef TUI_CANVAS_H
#define TUI_CANVAS_H

#include <stdbool.h>
#include <stdio.h>
#include <wchar.h>

#include "tui/style.h"

enum {
    CELL_MARKS = 2, /* combining marks kept on one character */
    CANVAS_SIDE_MAX = 1000,
    CANVAS_CUTS_MAX = 256, /* texts that are kept because they were cut, and their bytes */
    CANVAS_CUT_BYTES = 1 << 16,
    CANVAS_ROWS_MAX = 1 << 10, /* rows of lists that are kept */
};

struct cell {
    wchar_t text[1 + CELL_MARKS + 1]; /* NUL-terminated; empty: the right half of a wide character */
    unsigned char style;              /* enum style */
};

/* Which characters charts and rules are made of. */
enum glyphs { GLYPHS_ASCII, GLYPHS_BLOCK, GLYPHS_BRAILLE };

struct canvas {
    int width, height;
    enum glyphs glyphs;
    struct cell *cells; /* row by row */
    /* Texts that were cut since the canvas was blanked, each once, while `keeps`, as drawn by `part`. */
    bool keeps;
    int part;
    int n_cuts;
    struct canvas_cut {
        int part;
        size_t at; /* in cut_text */
    } cuts[CANVAS_CUTS_MAX];
    char *cut_text; /* owned; NULL: nothing was cut yet */
    size_t n_cut_text;
    int joint_x, joint_y; /* where a text that continues the last kept one begins; joint_y -1: none does */
    /* The rows that can be chosen, as tui_area_row() noted them since the canvas was blanked. */
    int n_rows;
    struct canvas_row {
        int x, y, width, height;
        int index; /* among the rows of its list */
    } rows[CANVAS_ROWS_MAX];
};

/* A rectangle of a canvas with its own origin; what does not fit is not drawn. */
struct area {
    struct canvas *canvas;
    int x, y, width, height;
};

/* Makes a blank canvas of 1..CANVAS_SIDE_MAX columns and rows. 0, -EINVAL or -ENOMEM. */
int tui_canvas_init(struct canvas *canvas, int width, int height, enum glyphs glyphs);
void tui_canvas_finish(struct canvas *canvas);

/* Blanks every cell; from then on texts that are cut are kept, as of part 0. */
void tui_canvas_clear(struct canvas *canvas);

struct cell *tui_canvas_cell(const struct canvas *canvas, int x, int y);

/* The i-th text that was cut, and what part drew it; NULL: past the last. */
const char *tui_canvas_cut(const struct canvas *canvas, int i, int *ret_part);

/* Forgets the texts that were kept: what is drawn from now on covers them. It is of part 0, and kept too. */
void tui_canvas_cover(struct canvas *canvas);

/* Keeps a text of which the caller draws less, until the canvas is blanked. False: it is kept already, or
 * there is no room for it. */
bool tui_canvas_keep(struct canvas *canvas, const char *text);

/* The row to which the cell belongs, or NULL. */
const struct canvas_row *tui_canvas_row_at(const struct canvas *canvas, int x, int y);

/* Writes the rows as text, blanks at their ends left out. False on an output error. */
bool tui_canvas_print(const struct canvas *canvas, FILE *out);

/* The whole canvas, and a part of an area (clipped to it). */
struct area tui_canvas_area(struct canvas *canvas);
struct area tui_area_part(const struct area *area, int x, int y, int width, int height);

/* Notes that a list's row has so many lines of the area, the first at line y; those below the area are cut
 * off. */
void tui_area_row(const struct area *area, int y, int lines, int index);

/* Draws text from column x of row y and returns the column after it, clipped or not. One that the right edge
 * clips ends in "~" there, and is kept. */
int tui_area_text(const struct area *area, int x, int y, enum style style, const char *text);
int tui_area_printf(const struct area *area, int x, int y, enum style style, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Draws text so that it ends before column `end`. Returns the column that it begins in. */
int tui_area_text_right(const struct area *area, int end, int y, enum style style, const char *text);

/* Draws at most `columns` columns of text, the last one as "~" when it was cut. Returns x + columns. */
int tui_area_text_cut(const struct area *area, int x, int y, int columns, enum style style, const char *text);

/* The same of the end of a longer text: where it is cut, that `whole` is kept. */
int tui_area_text_cut_of(const struct area *area, int x, int y, int columns, enum style style,
                         const char *text, const char *whole);

/* Puts one character; repeats it over `columns`. */
void tui_area_char(const struct area *area, int x, int y, enum style style, wchar_t c);
void tui_area_line(const struct area *area, int x, int y, int columns, enum style style, wchar_t c);

#endif
