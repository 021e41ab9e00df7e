#include "tui/tape.h"

#include <string.h>

#include "cli/format.h"

enum { MARGIN = 1, CLOCK = 8, MINUTES = 5, WORD = 4, SIGN = 1, QTY_MIN = 4 };

/* Widths of the columns; 0: not shown. And digits after the points. */
struct columns {
    int clock, side, price, qty;
    int price_digits, qty_digits;
};

static int total(const struct columns *columns)
{
    return MARGIN + (columns->clock ? columns->clock + 1 : 0) + columns->side + 1 + columns->price + 1 +
           columns->qty;
}

static struct columns lay_out(int width, int price, int qty)
{
    static const struct columns ways[] = {
        {.clock = CLOCK, .side = WORD}, {.clock = CLOCK, .side = SIGN}, {.clock = MINUTES, .side = SIGN}};

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        struct columns columns = {.clock = ways[i].clock, .side = ways[i].side, .price = price, .qty = qty};
        if (total(&columns) <= width)
            return columns;
    }
    struct columns columns = {.side = SIGN, .price = price};
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
    enum style beside = trade->odd ? STYLE_DIM : STYLE_NORMAL; /* another for the time would cost bytes */
    int x = MARGIN;

    if (columns->clock) {
        cli_format_clock(clock, trade->ts_ns);
        clock[columns->clock] = '\0';
        tui_area_line(area, x, y, columns->clock + 1, beside, L' ');
        tui_area_text(area, x, y, beside, clock);
        x += columns->clock + 1;
    }
    /* Blanks in the style of what is beside them: each change of it is more bytes than a blank. */
    tui_area_line(area, x, y, columns->side + 1 + columns->price, style, L' ');
    tui_area_text(area, x, y, style, taker(trade->side, columns->side));
    x += columns->side + 1 + columns->price;
    tui_area_text_right(area, x, y, style,
                        tui_depth_fit(text, &trade->price, columns->price_digits, columns->price));
    if (columns->qty)
        tui_area_text_right(area, x + 1 + columns->qty, y, beside,
                            tui_depth_fit(text, &trade->qty, columns->qty_digits, columns->qty));
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

void tui_tape_draw(const struct area *area, const struct depth_tape *tape, int decimals, int first)
{
    int price = 1, qty = 1, price_digits = decimals, qty_digits = 0;
    int end = tape->n - first < area->height ? tape->n : first + area->height;

    for (int i = 0; i < tape->n; i++) { /* of all, so that the columns stay */
        price_digits = most(price_digits, tui_depth_digits(&tape->trades[i].price));
        qty_digits = most(qty_digits, tui_depth_digits(&tape->trades[i].qty));
    }
    for (int i = 0; i < tape->n; i++) {
        price = most(price, tui_depth_width(&tape->trades[i].price, price_digits));
        qty = most(qty, tui_depth_width(&tape->trades[i].qty, qty_digits));
    }
    struct columns columns = lay_out(area->width, price, qty);
    columns.price_digits = price_digits;
    columns.qty_digits = qty_digits;
    for (int i = first; i < end; i++)
        row(area, i - first, &columns, &tape->trades[i]);
}
