#include "tui/tape.h"

#include <string.h>

#include "cli/format.h"

enum { MARGIN = 1, CLOCK = 8, MINUTES = 5, WORD = 4, SIGN = 1, QTY_MIN = 3 };

/* Widths of the columns; 0: not shown. */
struct columns {
    int clock, side, price, qty;
};

static int total(const struct columns *columns)
{
    return MARGIN + (columns->clock ? columns->clock + 1 : 0) + columns->side + 1 + columns->price + 1 +
           columns->qty;
}

static struct columns lay_out(int width, int price, int qty)
{
    static const struct columns ways[] = {{CLOCK, WORD, 0, 0}, {CLOCK, SIGN, 0, 0}, {MINUTES, SIGN, 0, 0}};

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct columns columns = {ways[i].clock, ways[i].side, price, qty};
        if (total(&columns) <= width)
            return columns;
    }
    struct columns columns = {0, SIGN, price, 0};
    int left = width - total(&columns);
    columns.price += left < -1 ? left + 1 : 0; /* the blank behind it may go, too */
    columns.qty = left >= qty ? qty : left >= QTY_MIN ? left : 0;
    return columns;
}

static const char *taker(enum depth_side side, int columns)
{
    static const char *const words[] = {[DEPTH_UNKNOWN] = "", [DEPTH_BUY] = "BUY", [DEPTH_SELL] = "SELL"};
    static const char *const signs[] = {[DEPTH_UNKNOWN] = "", [DEPTH_BUY] = "+", [DEPTH_SELL] = "-"};

    return columns == WORD ? words[side] : signs[side];
}

static void row(const struct area *area, int y, const struct columns *columns,
                const struct depth_trade *trade)
{
    char text[DEPTH_TEXT_MAX], clock[FORMAT_MAX];
    enum style style = trade->odd                  ? STYLE_DIM
                       : trade->side == DEPTH_BUY  ? STYLE_UP
                       : trade->side == DEPTH_SELL ? STYLE_DOWN
                                                   : STYLE_NORMAL;
    int x = MARGIN;

    if (columns->clock) {
        cli_format_clock(clock, trade->ts_ns);
        clock[columns->clock] = '\0';
        tui_area_text(area, x, y, STYLE_DIM, clock);
        x += columns->clock + 1;
    }
    tui_area_text(area, x, y, style, taker(trade->side, columns->side));
    x += columns->side + 1 + columns->price;
    tui_area_text_right(area, x, y, style, tui_depth_fit(text, &trade->price, columns->price));
    if (columns->qty)
        tui_area_text_right(area, x + 1 + columns->qty, y, trade->odd ? STYLE_DIM : STYLE_NORMAL,
                            tui_depth_fit(text, &trade->qty, columns->qty));
}

void tui_tape_draw(const struct area *area, const struct depth_tape *tape, int first)
{
    int price = 1, qty = 1, end = tape->n - first < area->height ? tape->n : first + area->height;

    for (int i = first; i < end; i++) {
        int width = (int)strlen(tape->trades[i].price.text);
        price = width > price ? width : price;
        width = (int)strlen(tape->trades[i].qty.text);
        qty = width > qty ? width : qty;
    }
    struct columns columns = lay_out(area->width, price, qty);
    for (int i = first; i < end; i++)
        row(area, i - first, &columns, &tape->trades[i]);
}
