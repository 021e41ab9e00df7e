#include "tui/canvas.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"

enum { PRINTED_MAX = 1024 }; /* bytes of a formatted text */

static const struct cell blank = {.text = {L' '}, .style = STYLE_NORMAL};

int tui_canvas_init(struct canvas *canvas, int width, int height, enum glyphs glyphs)
{
    if (width < 1 || height < 1 || width > CANVAS_SIDE_MAX || height > CANVAS_SIDE_MAX)
        return -EINVAL;
    struct cell *cells = malloc((size_t)width * (size_t)height * sizeof(*cells));
    if (!cells)
        return -ENOMEM;
    *canvas = (struct canvas){.width = width, .height = height, .glyphs = glyphs, .cells = cells};
    tui_canvas_clear(canvas);
    return 0;
}

void tui_canvas_finish(struct canvas *canvas)
{
    free(canvas->cells);
    free(canvas->cut_text);
    *canvas = (struct canvas){0};
}

void tui_canvas_clear(struct canvas *canvas)
{
    for (int i = 0; i < canvas->width * canvas->height; i++)
        canvas->cells[i] = blank;
    canvas->keeps = true;
    canvas->part = canvas->n_cuts = canvas->n_rows = 0;
    canvas->n_cut_text = 0;
    canvas->joint_y = -1;
}

void tui_area_row(const struct area *area, int y, int lines, int index)
{
    struct canvas *canvas = area->canvas;

    if (y >= 0 && y < area->height && canvas->n_rows < CANVAS_ROWS_MAX)
        canvas->rows[canvas->n_rows++] = (struct canvas_row){
            area->x, area->y + y, area->width, lines < area->height - y ? lines : area->height - y, index};
}

const struct canvas_row *tui_canvas_row_at(const struct canvas *canvas, int x, int y)
{
    for (int i = 0; i < canvas->n_rows; i++) {
        const struct canvas_row *row = &canvas->rows[i];
        if (x >= row->x && x < row->x + row->width && y >= row->y && y < row->y + row->height)
            return row;
    }
    return NULL;
}

const char *tui_canvas_cut(const struct canvas *canvas, int i, int *ret_part)
{
    if (i < 0 || i >= canvas->n_cuts)
        return NULL;
    *ret_part = canvas->cuts[i].part;
    return canvas->cut_text + canvas->cuts[i].at;
}

void tui_canvas_cover(struct canvas *canvas)
{
    canvas->part = canvas->n_cuts = 0;
    canvas->n_cut_text = 0;
    canvas->joint_y = -1;
    canvas->keeps = true;
}

bool tui_canvas_keep(struct canvas *canvas, const char *text)
{
    size_t size = strlen(text) + 1;

    canvas->joint_y = -1;
    if (!canvas->keeps || canvas->n_cuts == CANVAS_CUTS_MAX || size > CANVAS_CUT_BYTES - canvas->n_cut_text)
        return false;
    if (!canvas->cut_text && !(canvas->cut_text = malloc(CANVAS_CUT_BYTES)))
        return false;
    for (int i = 0; i < canvas->n_cuts; i++)
        if (strcmp(canvas->cut_text + canvas->cuts[i].at, text) == 0)
            return false;
    canvas->cuts[canvas->n_cuts++] = (struct canvas_cut){canvas->part, canvas->n_cut_text};
    memcpy(canvas->cut_text + canvas->n_cut_text, text, size);
    canvas->n_cut_text += size;
    return true;
}

/* Keeps a text that the right edge cut, at absolute columns [x, end): one that continues the last such text
 * of its row, after a few blanks at most, is added to it. */
static void keep_clipped(struct canvas *canvas, int x, int end, int y, const char *text)
{
    enum { GAP_MAX = 3 };
    const int gap = x - canvas->joint_x;
    const size_t size = strlen(text);

    if (canvas->joint_y == y && gap >= 0 && gap <= GAP_MAX) {
        if ((size_t)gap + size > CANVAS_CUT_BYTES - canvas->n_cut_text)
            return;
        char *to = canvas->cut_text + canvas->n_cut_text - 1;
        memset(to, ' ', (size_t)gap);
        memcpy(to + gap, text, size + 1);
        canvas->n_cut_text += (size_t)gap + size;
    } else {
        canvas->joint_y = tui_canvas_keep(canvas, text) ? y : -1;
    }
    canvas->joint_x = end;
}

struct cell *tui_canvas_cell(const struct canvas *canvas, int x, int y)
{
    return &canvas->cells[y * canvas->width + x];
}

static void print_char(FILE *out, wchar_t c)
{
    unsigned u = (unsigned)c;

    if (u < 0x80) {
        fputc((int)u, out);
    } else if (u < 0x800) {
        fputc((int)(0xc0 | u >> 6), out);
        fputc((int)(0x80 | (u & 0x3f)), out);
    } else {
        if (u < 0x10000) {
            fputc((int)(0xe0 | u >> 12), out);
        } else {
            fputc((int)(0xf0 | u >> 18), out);
            fputc((int)(0x80 | (u >> 12 & 0x3f)), out);
        }
        fputc((int)(0x80 | (u >> 6 & 0x3f)), out);
        fputc((int)(0x80 | (u & 0x3f)), out);
    }
}

bool tui_canvas_print(const struct canvas *canvas, FILE *out)
{
    for (int y = 0; y < canvas->height; y++) {
        int end = canvas->width;
        while (end > 0 && wcscmp(tui_canvas_cell(canvas, end - 1, y)->text, L" ") == 0)
            end--;
        for (int x = 0; x < end; x++)
            for (const wchar_t *c = tui_canvas_cell(canvas, x, y)->text; *c; c++)
                print_char(out, *c);
        fputc('\n', out);
    }
    return !ferror(out);
}

struct area tui_canvas_area(struct canvas *canvas)
{
    return (struct area){canvas, 0, 0, canvas->width, canvas->height};
}

struct area tui_area_part(const struct area *area, int x, int y, int width, int height)
{
    if (x < 0) {
        width += x;
        x = 0;
    }
    if (y < 0) {
        height += y;
        y = 0;
    }
    if (width > area->width - x)
        width = area->width - x;
    if (height > area->height - y)
        height = area->height - y;
    return (struct area){area->canvas, area->x + x, area->y + y, width > 0 ? width : 0,
                         height > 0 ? height : 0};
}

/* A cell is about to be overwritten: when it is half of a wide character, the other half becomes blank. */
static void split_wide(struct canvas *canvas, int x, int y)
{
    struct cell *cell = tui_canvas_cell(canvas, x, y);

    if (!cell->text[0] && x > 0)
        tui_canvas_cell(canvas, x - 1, y)->text[0] = L' ', tui_canvas_cell(canvas, x - 1, y)->text[1] = L'\0';
    if (x + 1 < canvas->width && !tui_canvas_cell(canvas, x + 1, y)->text[0])
        tui_canvas_cell(canvas, x + 1, y)->text[0] = L' ', tui_canvas_cell(canvas, x + 1, y)->text[1] = L'\0';
}

/* Puts a character of `width` columns at (x, y) of the area if all of it is inside. */
static bool put(const struct area *area, int x, int y, enum style style, wchar_t c, int width)
{
    if (x < 0 || x + width > area->width || y < 0 || y >= area->height)
        return false;
    int cx = area->x + x, cy = area->y + y;
    for (int i = 0; i < width; i++) {
        split_wide(area->canvas, cx + i, cy);
        struct cell *cell = tui_canvas_cell(area->canvas, cx + i, cy);
        memset(cell, 0, sizeof(*cell));
        cell->style = (unsigned char)style;
        cell->text[0] = i == 0 ? c : L'\0';
    }
    return true;
}

static void add_mark(const struct area *area, int x, int y, wchar_t mark)
{
    if (x < 0 || x >= area->width || y < 0 || y >= area->height)
        return;
    struct cell *cell = tui_canvas_cell(area->canvas, area->x + x, area->y + y);
    for (int i = 1; i <= CELL_MARKS; i++)
        if (!cell->text[i]) {
            cell->text[i] = mark;
            return;
        }
}

static int draw_text(const struct area *area, int x, int y, enum style style, const char *text)
{
    int base = -1; /* column of the character that a combining mark belongs to */

    while (*text) {
        wchar_t c;
        text += cli_text_decode(text, &c);
        int width = cli_text_char_width(c);
        if (width < 0) {
            c = TEXT_REPLACEMENT;
            width = 1;
        }
        if (width == 0) {
            if (base >= 0)
                add_mark(area, base, y, c);
            continue;
        }
        base = put(area, x, y, style, c, width) ? x : -1;
        x += width;
    }
    return x;
}

int tui_area_text(const struct area *area, int x, int y, enum style style, const char *text)
{
    int end = draw_text(area, x, y, style, text);

    if (end <= area->width || area->width < 1 || y < 0 || y >= area->height)
        return end;
    keep_clipped(area->canvas, area->x + x, area->x + end, area->y + y, text);
    if (x < area->width)
        tui_area_char(area, area->width - 1, y, style, L'~');
    return end;
}

int tui_area_printf(const struct area *area, int x, int y, enum style style, const char *format, ...)
{
    char text[PRINTED_MAX];
    va_list args;

    va_start(args, format);
    int n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    return n < 0 ? x : tui_area_text(area, x, y, style, text);
}

int tui_area_text_right(const struct area *area, int end, int y, enum style style, const char *text)
{
    int x = end - cli_text_width(text);

    tui_area_text(area, x, y, style, text);
    return x;
}

int tui_area_text_cut(const struct area *area, int x, int y, int columns, enum style style, const char *text)
{
    return tui_area_text_cut_of(area, x, y, columns, style, text, text);
}

int tui_area_text_cut_of(const struct area *area, int x, int y, int columns, enum style style,
                         const char *text, const char *whole)
{
    if (columns <= 0)
        return x;
    struct area part = tui_area_part(area, x, y, columns, 1);
    if (x < 0)
        return x + columns;
    draw_text(&part, 0, 0, style, text);
    if (cli_text_width(text) <= part.width)
        return x + columns;
    if (part.height > 0)
        tui_canvas_keep(area->canvas, whole);
    if (part.width == columns)
        tui_area_char(&part, columns - 1, 0, style, L'~');
    return x + columns;
}

void tui_area_char(const struct area *area, int x, int y, enum style style, wchar_t c)
{
    int width = cli_text_char_width(c);

    if (width < 1)
        put(area, x, y, style, TEXT_REPLACEMENT, 1);
    else
        put(area, x, y, style, c, width);
}

void tui_area_line(const struct area *area, int x, int y, int columns, enum style style, wchar_t c)
{
    for (int i = 0; i < columns; i++)
        tui_area_char(area, x + i, y, style, c);
}
