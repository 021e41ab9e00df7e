#include "tui/ladder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/text.h"

enum {
    ROWS_MAX = DEPTH_LEVELS_MAX + STATUS_ORDERS_MAX, /* a side */
    QTY_MIN = 4,                                     /* columns below which no quantity is shown */
    BAR_MIN = 2,
    OWN_DECIMALS = 8, /* of our quantities, where the book has none to go by */
    EIGHTHS = 8,
};

/* A row of one side. */
struct row {
    const struct depth_level *level; /* NULL: only ours */
    struct depth_decimal price;
    double own; /* what is left of our orders; 0: none */
};

struct side {
    struct row rows[ROWS_MAX]; /* best first */
    int n;
};

/* Digits after the points of prices and quantities. */
struct digits {
    int price, qty;
};

/* Where the columns are: the price's and the quantity's ends, and the bar's part. */
struct columns {
    int price_end, price_width, qty_end, qty_width, bar_x, bar_width;
};

static bool same(double a, double b, int decimals)
{
    return fabs(a - b) < 0.5 * pow(10, -decimals);
}

/* Puts an order of ours to its level, or between two. */
static void add_own(struct side *side, const struct depth_own *own, int decimals)
{
    char text[FORMAT_MAX];
    int at = 0;

    while (at < side->n && !same(side->rows[at].price.value, own->price, decimals) &&
           (own->sells ? side->rows[at].price.value < own->price : side->rows[at].price.value > own->price))
        at++;
    if (at < side->n && same(side->rows[at].price.value, own->price, decimals)) {
        side->rows[at].own += own->qty;
        return;
    }
    if (side->n == ROWS_MAX)
        return;
    memmove(&side->rows[at + 1], &side->rows[at], (size_t)(side->n++ - at) * sizeof(side->rows[0]));
    side->rows[at] = (struct row){.own = own->qty, .price.value = own->price};
    snprintf(side->rows[at].price.text, DEPTH_TEXT_MAX, "%.23s",
             cli_format_number(text, own->price, decimals));
}

static void fill(struct side *side, const struct depth_level *levels, int n, bool asks,
                 const struct depth_own *own, int n_own, int decimals)
{
    side->n = 0;
    for (int i = 0; i < n; i++)
        side->rows[side->n++] = (struct row){&levels[i], levels[i].price, 0};
    for (int i = 0; i < n_own; i++)
        if (own[i].sells == asks)
            add_own(side, &own[i], decimals);
}

/* The digits that all levels need, so that the columns stay where they are while levels come and go. */
static void need_digits(struct digits *digits, const struct depth_level *levels, int n)
{
    for (int i = 0; i < n; i++) {
        int price = tui_depth_digits(&levels[i].price), qty = tui_depth_digits(&levels[i].qty);
        digits->price = price > digits->price ? price : digits->price;
        digits->qty = qty > digits->qty ? qty : digits->qty;
    }
}

static void widest(const struct side *side, int rows, const struct digits *digits, int *price, int *qty,
                   double *most)
{
    for (int i = 0; i < side->n && i < rows; i++) {
        const struct row *row = &side->rows[i];
        int width = tui_depth_width(&row->price, digits->price);
        *price = width > *price ? width : *price;
        if (!row->level)
            continue;
        width = tui_depth_width(&row->level->qty, digits->qty);
        *qty = width > *qty ? width : *qty;
        *most = fmax(*most, row->level->qty.value);
    }
}

/* The price comes first, then the quantity, then the bar. */
static struct columns lay_out(int width, int price, int qty)
{
    struct columns ret = {.price_width = price < width - 1 ? price : width - 1};
    int left = width - 1 - ret.price_width - 1; /* the mark before it, a blank behind it */

    ret.price_end = 1 + ret.price_width;
    ret.qty_width = qty < left ? qty : left < QTY_MIN ? 0 : left;
    ret.qty_end = ret.price_end + 1 + ret.qty_width;
    ret.bar_x = ret.qty_end + 1;
    ret.bar_width = width - ret.bar_x;
    if (ret.bar_width < BAR_MIN || ret.qty_width == 0)
        ret.bar_width = 0;
    return ret;
}

/* A bar of `part` of the room, an eighth of a column at least. */
static void bar(const struct area *area, int x, int y, int width, double part, enum style style)
{
    static const wchar_t ends[EIGHTHS] = {L' ', L'▏', L'▎', L'▍', L'▌', L'▋', L'▊', L'▉'};
    bool plain = area->canvas->glyphs == GLYPHS_ASCII;
    int eighths = (int)(part * width * EIGHTHS + 0.5), whole;

    eighths = eighths < 1 ? 1 : eighths > width * EIGHTHS ? width * EIGHTHS : eighths;
    whole = plain ? (eighths + EIGHTHS - 1) / EIGHTHS : eighths / EIGHTHS;
    tui_area_line(area, x, y, whole, style, plain ? L'#' : L'█');
    if (!plain && eighths % EIGHTHS)
        tui_area_char(area, x + whole, y, style, ends[eighths % EIGHTHS]);
}

static void draw_row(const struct area *area, int y, const struct columns *columns,
                     const struct digits *digits, const struct row *row, double most, enum style style)
{
    char text[DEPTH_TEXT_MAX], own[1 + FORMAT_MAX];
    bool ours = row->own > 0;

    tui_area_line(area, 0, y, area->width, style, L' '); /* each change of style is more bytes than a blank */
    if (ours)
        tui_area_char(area, 0, y, STYLE_KEY, L'*');
    tui_area_text_right(area, columns->price_end, y, ours ? STYLE_KEY : style,
                        tui_depth_fit(text, &row->price, digits->price, columns->price_width));
    if (columns->qty_width > 0)
        tui_area_text_right(
            area, columns->qty_end, y, style,
            row->level ? tui_depth_fit(text, &row->level->qty, digits->qty, columns->qty_width) : "-");
    if (columns->bar_width == 0)
        return;
    if (row->level && row->level->qty.value > 0)
        bar(area, columns->bar_x, y, columns->bar_width, row->level->qty.value / most, style);
    if (!ours)
        return;
    own[0] = '*';
    cli_format_fit(own + 1, row->own, digits->qty, columns->bar_width - 1);
    if ((int)strlen(own) <= columns->bar_width)
        tui_area_text_right(area, columns->bar_x + columns->bar_width, y, STYLE_KEY, own);
}

/* Between the sides: the spread, or what is wrong. */
static void middle(const struct area *area, int y, const struct depth_book *book, int decimals)
{
    char text[80], a[FORMAT_MAX], b[FORMAT_MAX];
    enum style style = STYLE_WARN;
    const struct depth_decimal *bid = &book->bids[0].price, *ask = &book->asks[0].price;
    double spread = ask->value - bid->value, mid = (ask->value + bid->value) / 2;

    if (book->n_bids == 0 || book->n_asks == 0) {
        snprintf(text, sizeof(text), "%s",
                 book->n_bids > 0   ? "no asks"
                 : book->n_asks > 0 ? "no bids"
                                    : "no bids, no asks");
    } else if (spread < -0.5 * pow(10, -decimals)) {
        snprintf(text, sizeof(text), "crossed %s", cli_format_number(a, -spread, decimals));
    } else if (spread < 0.5 * pow(10, -decimals)) {
        snprintf(text, sizeof(text), "locked");
    } else {
        style = STYLE_DIM;
        snprintf(text, sizeof(text), "spread %s  %s bp", cli_format_number(a, spread, decimals),
                 cli_format_number(b, 1e4 * spread / mid, 1e4 * spread / mid < 1 ? 4 : 2));
        if (cli_text_width(text) > area->width)
            snprintf(text, sizeof(text), "%s", cli_format_number(a, spread, decimals));
    }
    int width = cli_text_width(text), x = width < area->width ? (area->width - width) / 2 : 0;
    static const wchar_t rules[] = {[GLYPHS_ASCII] = L'-', [GLYPHS_BLOCK] = L'─', [GLYPHS_BRAILLE] = L'─'};
    if (x > 1) {
        tui_area_line(area, 0, y, x - 1, STYLE_RULE, rules[area->canvas->glyphs]);
        tui_area_line(area, x + width + 1, y, area->width - x - width - 1, STYLE_RULE,
                      rules[area->canvas->glyphs]);
    }
    tui_area_text_cut(area, x, y, area->width - x, style, text);
}

void tui_ladder_draw(const struct area *area, const struct depth_book *book, int decimals,
                     const struct depth_own *own, int n_own)
{
    struct side asks, bids;
    int above = (area->height - 1) / 2, below = area->height - 1 - above;
    struct digits digits = {decimals, 0};
    int price = 0, qty = 1;
    double most = 0;

    if (area->height < 1 || area->width < 1)
        return;
    need_digits(&digits, book->asks, book->n_asks);
    need_digits(&digits, book->bids, book->n_bids);
    if (book->n_asks + book->n_bids == 0)
        digits.qty = OWN_DECIMALS;
    fill(&asks, book->asks, book->n_asks, true, own, n_own, digits.price);
    fill(&bids, book->bids, book->n_bids, false, own, n_own, digits.price);
    widest(&asks, above, &digits, &price, &qty, &most);
    widest(&bids, below, &digits, &price, &qty, &most);
    struct columns columns = lay_out(area->width, price, qty);
    for (int i = 0; i < asks.n && i < above; i++)
        draw_row(area, above - 1 - i, &columns, &digits, &asks.rows[i], most, STYLE_DOWN);
    middle(area, above, book, digits.price);
    for (int i = 0; i < bids.n && i < below; i++)
        draw_row(area, above + 1 + i, &columns, &digits, &bids.rows[i], most, STYLE_UP);
}
