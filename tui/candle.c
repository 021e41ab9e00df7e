#include "tui/candle.h"

#include <math.h>

enum {
    BODY_SIDE_MAX = 4, /* columns of a wide body beside its middle */
    BLOCK_LEVELS = 8,
    ASCII_LEVELS = 3,
};

/* What is in one half of a cell. */
enum half { NOTHING, WICK, BODY, HALVES };

/* Columns of a candle: of its body, and of its wick. */
enum place { FIRST, LAST, MIDDLE, PLACES };

/* By glyphs, whether it fell, its lower and its upper half. */
static const wchar_t cells[][2][HALVES][HALVES] = {
    [GLYPHS_ASCII] = {{{L' ', L'\'', L'+'}, {L'.', L'|', L'+'}, {L'+', L'+', L'+'}},
                      {{L' ', L'\'', L'#'}, {L'.', L'|', L'#'}, {L'#', L'#', L'#'}}},
    [GLYPHS_BLOCK] = {{{L' ', L'\'', L'║'}, {L'.', L'│', L'║'}, {L'║', L'║', L'║'}},
                      {{L' ', L'\'', L'▀'}, {L'.', L'│', L'▀'}, {L'▄', L'▄', L'█'}}},
    [GLYPHS_BRAILLE] = {{{L' ', L'╵', L'╹'}, {L'╷', L'│', L'╿'}, {L'╻', L'╽', L'┃'}},
                        {{L' ', L'╵', L'▀'}, {L'╷', L'│', L'▀'}, {L'▄', L'▄', L'█'}}},
};

/* The bars of one column as one: bars[i..end). */
static struct history_bar joined(const struct time_axis *time, int i, int *ret_end)
{
    struct history_bar bar = time->bars[i];
    int column = tui_axis_column(time, i);

    for (i++; i < time->n && tui_axis_column(time, i) == column; i++) {
        bar.high = fmax(bar.high, time->bars[i].high);
        bar.low = fmin(bar.low, time->bars[i].low);
        bar.close = time->bars[i].close;
        bar.volume += time->bars[i].volume;
    }
    *ret_end = i;
    return bar;
}

/* The columns first..last of a bar's body, its middle among them: a blank stays between neighbours that have
 * more than one column each; where that is not so for all, none stays, as it would look like a missing bar.
 */
static void extent(const struct time_axis *time, int i, int *ret_first, int *ret_last)
{
    int slot = tui_axis_slot(time), middle = tui_axis_column(time, i), side = (slot - 2) / 2;

    side = side < 0 ? 0 : side < BODY_SIDE_MAX ? side : BODY_SIDE_MAX;
    *ret_first = middle - side;
    *ret_last = middle + side;
    if (slot == 1)
        tui_axis_cells(time, i, ret_first, ret_last);
}

/* Of bars i..end-1, joined: what forms is dim. */
static enum style style_of(const struct time_axis *time, int i, int end, const struct history_bar *bar)
{
    if (time->forming && i == time->n - 1 && end == time->n)
        return STYLE_DIM;
    return bar->close < bar->open ? STYLE_DOWN : STYLE_UP;
}

static enum half half_of(int level, const int wick[2], const int body[2])
{
    return level >= body[0] && level <= body[1]   ? BODY
           : level >= wick[0] && level <= wick[1] ? WICK
                                                  : NOTHING;
}

static void one(const struct area *area, const struct price_axis *price, const int columns[static PLACES],
                const struct history_bar *bar, enum style style)
{
    int levels = 2 * price->rows;
    const int wick[2] = {tui_axis_level(price, bar->low, levels), tui_axis_level(price, bar->high, levels)};
    const int body[2] = {tui_axis_level(price, fmin(bar->open, bar->close), levels),
                         tui_axis_level(price, fmax(bar->open, bar->close), levels)};
    bool fell = bar->close < bar->open;

    if (wick[0] < 0 || wick[1] < 0 || body[0] < 0 || body[1] < 0)
        return;
    for (int row = wick[0] / 2; row <= wick[1] / 2; row++) {
        enum half lower = half_of(2 * row, wick, body), upper = half_of(2 * row + 1, wick, body);
        int y = area->height - 1 - row;
        wchar_t beside =
            cells[area->canvas->glyphs][fell][lower == BODY ? BODY : NOTHING][upper == BODY ? BODY : NOTHING];
        for (int x = columns[FIRST]; x <= columns[LAST] && beside != L' '; x++)
            tui_area_char(area, x, y, style, beside);
        tui_area_char(area, columns[MIDDLE], y, style, cells[area->canvas->glyphs][fell][lower][upper]);
    }
}

void tui_candle_draw(const struct area *area, const struct time_axis *time, const struct price_axis *price)
{
    for (int i = 0, end; i < time->n; i = end) {
        int columns[PLACES];
        columns[MIDDLE] = tui_axis_column(time, i);
        extent(time, i, &columns[FIRST], &columns[LAST]);
        struct history_bar bar = joined(time, i, &end);
        one(area, price, columns, &bar, style_of(time, i, end, &bar));
    }
}

static void column_of(const struct area *area, int x, int level, enum style style)
{
    bool plain = area->canvas->glyphs == GLYPHS_ASCII;
    int most = plain ? ASCII_LEVELS : BLOCK_LEVELS;

    for (int y = area->height - 1; y >= 0 && level > 0; y--, level -= most) {
        int part = level < most ? level : most;
        tui_area_char(area, x, y, style, plain ? L".:|"[part - 1] : (wchar_t)(0x2580 + part));
    }
}

double tui_candle_volume(const struct area *area, const struct time_axis *time)
{
    int levels = area->height * (area->canvas->glyphs == GLYPHS_ASCII ? ASCII_LEVELS : BLOCK_LEVELS);
    double most = 0;

    for (int i = 0, end; i < time->n; i = end) {
        double sum = joined(time, i, &end).volume;
        most = fmax(most, sum / (end - i));
    }
    for (int i = 0, end; i < time->n && most > 0; i = end) {
        int first, last;
        extent(time, i, &first, &last);
        struct history_bar bar = joined(time, i, &end);
        int level = (int)ceil(bar.volume / (end - i) / most * levels - 1e-9);
        for (int x = first; x <= last; x++)
            column_of(area, x, level, style_of(time, i, end, &bar));
    }
    return most;
}
