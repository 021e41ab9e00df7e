/* Candles in the three tiers of glyphs, random ones that have a column each or share columns: a candle ends
 * in the rows of its highest high and its lowest low, and one that rose looks different from one that fell,
 * without colours. */
#include <locale.h>

#include "tests/check.h"
#include "tests/random.h"
#include "tui/candle.h"

enum { COLUMNS = 60, ROWS = 12, TIERS = 3 };

static const int64_t minute_ns = 60000000000;
static struct random random_state;

static double draw(void) /* 0 to 1 */
{
    return (double)random_between(&random_state, 0, 1 << 24) / (1 << 24);
}

static void make(struct history_bar *bars, int n)
{
    for (int i = 0; i < n; i++) {
        double open = 20 + 60 * draw(), close = 20 + 60 * draw();
        bars[i] = (struct history_bar){.open_ns = (1000 + i) * minute_ns,
                                       .open = open,
                                       .high = fmax(open, close) + 20 * draw(),
                                       .low = fmin(open, close) - 20 * draw(),
                                       .close = close,
                                       .volume = 1 + draw()};
    }
}

/* The row of a price between 0 and 100, from the top: the nearest of two levels a row. */
static int row_of(double price)
{
    return ROWS - 1 - (int)floor(price / 100 * (2 * ROWS - 1) + 0.5) / 2;
}

static wchar_t at(const struct canvas *canvas, int x, int y)
{
    return tui_canvas_cell(canvas, x, y)->text[0];
}

static void check_random(enum glyphs glyphs, int n)
{
    static struct history_bar bars[HISTORY_BARS_MAX];
    struct time_axis time;
    struct price_axis price;
    struct canvas canvas;

    make(bars, n);
    CHECK_INT(tui_canvas_init(&canvas, COLUMNS, ROWS, glyphs), 0);
    struct area area = tui_canvas_area(&canvas);
    CHECK(tui_axis_init(&time, bars, n, minute_ns, COLUMNS, false));
    CHECK(tui_axis_price_init(&price, 0, 100, ROWS, false));
    tui_candle_draw(&area, &time, &price);
    for (int x = 0; x < COLUMNS; x++) {
        double high = -1, low = 101;
        for (int i = 0; i < n; i++)
            if ((int)floor((i + 0.5) * COLUMNS / n) == x) { /* the bar's middle: no gaps */
                high = fmax(high, bars[i].high);
                low = fmin(low, bars[i].low);
            }
        if (high < 0)
            continue;
        int top = 0, bottom = ROWS - 1;
        while (top < ROWS && at(&canvas, x, top) == L' ')
            top++;
        while (bottom >= 0 && at(&canvas, x, bottom) == L' ')
            bottom--;
        CHECK_INT(top, row_of(high));
        CHECK_INT(bottom, row_of(low));
    }
    tui_canvas_finish(&canvas);
}

/* What one bar from 10 to 90 looks like: its wick at both ends, its body between 20 and 80. */
static void one(enum glyphs glyphs, bool fell, wchar_t column[ROWS])
{
    struct history_bar bar = {minute_ns, fell ? 80 : 20, 90, 10, fell ? 20 : 80, 1};
    struct time_axis time;
    struct price_axis price;
    struct canvas canvas;

    CHECK_INT(tui_canvas_init(&canvas, 1, ROWS, glyphs), 0);
    struct area area = tui_canvas_area(&canvas);
    CHECK(tui_axis_init(&time, &bar, 1, minute_ns, 1, false));
    CHECK(tui_axis_price_init(&price, 0, 100, ROWS, false));
    tui_candle_draw(&area, &time, &price);
    for (int y = 0; y < ROWS; y++)
        column[y] = at(&canvas, 0, y);
    tui_canvas_finish(&canvas);
}

static void check_shapes(enum glyphs glyphs)
{
    wchar_t rose[ROWS], fell[ROWS];

    one(glyphs, false, rose);
    one(glyphs, true, fell);
    CHECK(rose[0] == L' ' && rose[ROWS - 1] == L' ');
    for (int y = row_of(80) + 1; y < row_of(20); y++) /* whole cells of the body */
        CHECK(rose[y] != fell[y] && rose[y] == rose[ROWS / 2] && fell[y] == fell[ROWS / 2]);
    for (int y = 0; y < ROWS; y++)
        CHECK((rose[y] == L' ') == (fell[y] == L' '));
    CHECK(rose[row_of(90)] == fell[row_of(90)] && rose[row_of(90)] != rose[ROWS / 2]);
}

/* The volume's highest column reaches the top, an empty one nothing; of bars that share one the mean. */
static void check_volume(void)
{
    struct history_bar bars[16] = {0};
    struct time_axis time;
    struct canvas canvas;

    for (int i = 0; i < 16; i++)
        bars[i] = (struct history_bar){.open_ns = (1 + i) * minute_ns,
                                       .open = 1,
                                       .high = 1,
                                       .low = 1,
                                       .close = 1,
                                       .volume = i < 8 ? i % 2 : 2};
    CHECK_INT(tui_canvas_init(&canvas, 8, 2, GLYPHS_BLOCK), 0);
    struct area area = tui_canvas_area(&canvas);
    CHECK(tui_axis_init(&time, bars, 16, minute_ns, 8, false));
    CHECK_NEAR(tui_candle_volume(&area, &time), 2, 0);
    for (int x = 0; x < 8; x++) {
        CHECK(at(&canvas, x, 0) == (x < 4 ? L' ' : L'█'));
        CHECK(at(&canvas, x, 1) == (x < 4 ? L'▄' : L'█')); /* a half, of two rows a quarter */
    }
    for (int i = 0; i < 16; i++)
        bars[i].volume = 0;
    CHECK_NEAR(tui_candle_volume(&area, &time), 0, 0);
    tui_canvas_finish(&canvas);
}

int main(void)
{
    static const int counts[] = {1, 2, 5, 8, 17, 30, 59, 60, 61, 119, 120, 250, 400};

    if (!setlocale(LC_CTYPE, "C.UTF-8")) {
        printf("skipped: no C.UTF-8 locale\n");
        return CHECK_SKIP;
    }
    random_state = random_seeded("tui/candle", 7);
    for (int tier = 0; tier < TIERS; tier++) {
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
            check_random((enum glyphs)tier, counts[i]);
        check_shapes((enum glyphs)tier);
    }
    check_volume();
    return check_done("tui/candle");
}
