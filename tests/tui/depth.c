/* The ladder and the tape of random books and trades, from 20×1 to 60×60, prices of 1 to 9 decimals: which
 * price stands in which row, exact to the last digit, with the star of our orders, and how long its bar is,
 * by integers sorted here. */
#include "tui/depth.h"

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tui/ladder.h"
#include "tui/tape.h"

enum {
    OWN = 6,
    SIDE_MAX = DEPTH_LEVELS_MAX + OWN,
    WIDTH_MIN = 20,
    WIDTH_MAX = 60,
    HEIGHT_MAX = 60,
    QTY_SCALE = 3
};

enum { QTY_FROM = 26 }; /* columns from which on quantities are whole */

static struct random rng;

static int below(int n)
{
    return (int)random_between(&rng, 0, n - 1);
}

/* A price of one side, in its smallest unit. */
struct expected {
    int64_t price, qty; /* qty 0: only ours */
    bool own;
};

static struct side {
    struct expected rows[SIDE_MAX];
    int n;
} asks, bids;

static int by_price(const void *a, const void *b)
{
    const struct expected *x = a, *y = b;
    return (x->price > y->price) - (x->price < y->price);
}

/* Best first: asks up, bids down. */
static void sort(struct side *side, bool up)
{
    qsort(side->rows, (size_t)side->n, sizeof(side->rows[0]), by_price);
    for (int i = 0; !up && i < side->n / 2; i++) {
        struct expected swapped = side->rows[i];
        side->rows[i] = side->rows[side->n - 1 - i];
        side->rows[side->n - 1 - i] = swapped;
    }
}

static bool has(const struct side *side, int64_t price)
{
    for (int i = 0; i < side->n; i++)
        if (side->rows[i].price == price)
            return true;
    return false;
}

static void make_side(struct side *side, int n, bool up, int64_t from, int64_t step)
{
    side->n = 0;
    for (int i = 0; i < n; i++) {
        from += (up ? 1 : -1) * (1 + below(5)) * step;
        side->rows[side->n++] = (struct expected){from, 1 + below(100000), false};
    }
}

static json_t *levels(const struct side *side, int decimals)
{
    json_t *array = json_array();

    for (int i = 0; i < side->n; i++) {
        char price[DECIMAL_TEXT_MAX], qty[DECIMAL_TEXT_MAX];
        decimal_format(side->rows[i].price, decimals, price);
        decimal_format(side->rows[i].qty, QTY_SCALE, qty);
        json_array_append_new(array, json_pack("[ss]", price, qty));
    }
    return array;
}

static void read_row(const struct canvas *canvas, int y, char *ret, size_t size)
{
    size_t n = 0;

    for (int x = 0; x < canvas->width; x++) {
        wchar_t c = tui_canvas_cell(canvas, x, y)->text[0];
        ret[n] = c < 0x80 ? (char)c : '='; /* a bar, a rule */
        n += n + 1 < size;
    }
    ret[n] = '\0';
}

static int more(int a, int b)
{
    return a > b ? a : b;
}

/* Digits after the point without zeros at the end. */
static int needed(int64_t units, int scale)
{
    while (scale > 0 && units % 10 == 0) {
        units /= 10;
        scale--;
    }
    return scale;
}

static size_t put(int64_t units, int scale, int digits, char ret[static DECIMAL_TEXT_MAX])
{
    return decimal_format(units / decimal_pow10(scale - digits), digits, ret);
}

/* Draws, and the row of each price is where it belongs. */
static void check_side(const struct canvas *canvas, const struct side *side, bool up, int middle,
                       int decimals)
{
    int rows = up ? middle : canvas->height - 1 - middle, end = 0, qty_digits = 0;
    char line[256], price[DECIMAL_TEXT_MAX];

    for (int i = 0; i < asks.n; i++)
        qty_digits = more(qty_digits, asks.rows[i].qty ? needed(asks.rows[i].qty, QTY_SCALE) : 0);
    for (int i = 0; i < bids.n; i++)
        qty_digits = more(qty_digits, bids.rows[i].qty ? needed(bids.rows[i].qty, QTY_SCALE) : 0);
    for (int i = 0; i < rows; i++) {
        read_row(canvas, up ? middle - 1 - i : middle + 1 + i, line, sizeof(line));
        if (i >= side->n) {
            CHECK_INT(strspn(line, " "), strlen(line));
            continue;
        }
        size_t len = decimal_format(side->rows[i].price, decimals, price);
        CHECK_INT(line[0] == '*', side->rows[i].own);
        const char *at = line + 1 + strspn(line + 1, " ");
        CHECK(strncmp(at, price, len) == 0 && (at[len] == ' ' || !at[len]));
        int ends = (int)(at - line) + (int)len;
        CHECK(end == 0 || ends == end); /* digits under digits */
        end = ends;
        if (side->rows[i].qty)
            put(side->rows[i].qty, QTY_SCALE, qty_digits, price);
        else
            strcpy(price, "-");
        at += len + strspn(at + len, " ");
        CHECK(canvas->width < QTY_FROM || strncmp(at, price, strlen(price)) == 0);
    }
}

/* In the columns of bars; 0: there is none. */
static int bar_length(const struct canvas *canvas, int y)
{
    int n = 0;

    for (int x = 0; x < canvas->width; x++)
        n += tui_canvas_cell(canvas, x, y)->text[0] == (canvas->glyphs == GLYPHS_ASCII ? L'#' : L'█');
    return n;
}

/* More has no shorter bar. */
static void check_bars(const struct canvas *canvas, int middle)
{
    for (int i = 0; i < asks.n && i < middle; i++)
        for (int k = 0; k < bids.n && k < canvas->height - 1 - middle; k++) {
            const struct expected *a = &asks.rows[i], *b = &bids.rows[k];
            int ask = bar_length(canvas, middle - 1 - i), bid = bar_length(canvas, middle + 1 + k);
            if (!a->own && !b->own && a->qty >= b->qty)
                CHECK(ask >= bid);
        }
}

static void check_middle(const struct canvas *canvas, int middle, int decimals)
{
    int n_asks = 0, n_bids = 0;
    int64_t ask = 0, bid = 0;
    char line[256], spread[DECIMAL_TEXT_MAX];

    for (int i = asks.n - 1; i >= 0; i--)
        if (asks.rows[i].qty)
            ask = asks.rows[i].price, n_asks++;
    for (int i = bids.n - 1; i >= 0; i--)
        if (bids.rows[i].qty)
            bid = bids.rows[i].price, n_bids++;
    read_row(canvas, middle, line, sizeof(line));
    decimal_format(ask < bid ? bid - ask : ask - bid, decimals, spread);
    CHECK((strstr(line, "no asks") != NULL) == (n_asks == 0));
    CHECK((strstr(line, "no bids") != NULL) == (n_bids == 0));
    CHECK((strstr(line, "crossed") != NULL) == (n_asks && n_bids && ask < bid));
    CHECK((strstr(line, "locked") != NULL) == (n_asks && n_bids && ask == bid));
    CHECK(!n_asks || !n_bids || ask == bid || strstr(line, spread));
}

static void check_ladder(int width, int height)
{
    struct depth_book book = {{{0}}};
    struct depth_own own[OWN];
    struct canvas canvas;
    int decimals = 1 + below(9), kind = below(8), n_own = below(OWN + 1), middle = (height - 1) / 2;
    int64_t unit = decimal_pow10(decimals > 6 ? decimals - 6 : 0), mid = (1000 + below(60000)) * 1000 * unit;
    int n = kind == 1 ? 1 : below(DEPTH_LEVELS_MAX + 1);

    make_side(&asks, kind == 2 ? 0 : n, true, mid - (kind == 3 ? 200 * unit : 0), unit);
    make_side(&bids, kind == 4 ? 0 : n, false, mid, unit);
    if (kind == 5 && n > 0)
        asks.rows[0].price = bids.rows[0].price;
    json_t *result = json_pack("{s:s, s:o, s:o}", "state", "synced", "asks", levels(&asks, decimals), "bids",
                               levels(&bids, decimals));
    tui_depth_take_book(&book, "BTCUSDT", result, "", 5);
    json_decref(result);
    CHECK_INT(book.n_asks, asks.n);
    CHECK_INT(book.n_bids, bids.n);
    for (int i = 0; i < n_own; i++) {
        struct side *side = i & 1 ? &asks : &bids;
        int64_t price = side->n && below(2) ? side->rows[below(side->n)].price
                                            : mid + (i & 1 ? 1 : -1) * (1 + below(300)) * unit;
        own[i] = (struct depth_own){i & 1, (double)price / (double)decimal_pow10(decimals), 0.5};
        for (int k = 0; k < side->n; k++)
            side->rows[k].own |= side->rows[k].price == price;
        if (!has(side, price))
            side->rows[side->n++] = (struct expected){price, 0, true};
    }
    sort(&asks, true);
    sort(&bids, false);
    CHECK_INT(tui_canvas_init(&canvas, width, height, (enum glyphs)below(3)), 0);
    struct area area = tui_canvas_area(&canvas);
    tui_ladder_draw(&area, &book, decimals, own, n_own);
    check_side(&canvas, &asks, true, middle, decimals);
    check_side(&canvas, &bids, false, middle, decimals);
    check_bars(&canvas, middle);
    check_middle(&canvas, middle, decimals);
    tui_canvas_finish(&canvas);
}

static void check_tape(int width, int height)
{
    static const char *const words[] = {"BUY", "SELL"};
    struct depth_tape tape = {{{0}}};
    struct canvas canvas;
    int decimals = 1 + below(9), n = below(DEPTH_TRADES_MAX + 1), first = n ? below(n) : 0;
    int price_digits = decimals - 1, qty_digits = 0;
    int64_t prices[DEPTH_TRADES_MAX], quantities[DEPTH_TRADES_MAX];
    int sides[DEPTH_TRADES_MAX];
    json_t *trades = json_array();

    for (int i = 0; i < n; i++) {
        char price[DECIMAL_TEXT_MAX], qty[DECIMAL_TEXT_MAX];
        prices[i] = random_between(&rng, 1, 99999 * decimal_pow10(decimals));
        quantities[i] = 1 + below(100000000);
        sides[i] = below(3); /* the third: not said */
        decimal_format(prices[i], decimals, price);
        decimal_format(quantities[i], 5, qty);
        price_digits = more(price_digits, needed(prices[i], decimals));
        qty_digits = more(qty_digits, needed(quantities[i], 5));
        json_t *trade = json_pack("{s:I, s:s, s:s}", "ts_ns", (json_int_t)(3600 + i) * 1000000000, "price",
                                  price, "qty", qty);
        json_object_set_new(trade, "side", sides[i] < 2 ? json_string(words[sides[i]]) : json_null());
        json_array_append_new(trades, trade);
    }
    json_t *result = json_pack("{s:o}", "trades", trades);
    tui_depth_take_tape(&tape, "BTCUSDT", result, "", 5);
    json_decref(result);
    CHECK_INT(tape.n, n);
    CHECK_INT(tui_canvas_init(&canvas, width, height, GLYPHS_ASCII), 0);
    struct area area = tui_canvas_area(&canvas);
    tui_tape_draw(&area, &tape, decimals - 1, first); /* prices have one more, which may be 0 */
    for (int y = 0; y < height; y++) {
        char line[256], price[DECIMAL_TEXT_MAX], clock[16], spaced[DECIMAL_TEXT_MAX + 2];
        read_row(&canvas, y, line, sizeof(line));
        int i = first + y;
        if (i >= n) {
            CHECK_INT(strspn(line, " "), strlen(line));
            continue;
        }
        put(prices[i], decimals, price_digits, price);
        snprintf(spaced, sizeof(spaced), " %s", price);
        snprintf(clock, sizeof(clock), "01:%02d:%02d", i / 60, i % 60);
        CHECK(strstr(line, spaced) != NULL);
        bool word = strstr(line, "BUY") || strstr(line, "SELL");
        CHECK(!word || strstr(line, words[sides[i] & 1]));
        CHECK(sides[i] == 2 || word || strchr(line, sides[i] == 0 ? '+' : '-'));
        CHECK(sides[i] != 2 || (!word && !strpbrk(line, "+-")));
        CHECK(width < 42 || (strstr(line, clock) && (word || sides[i] == 2)));
        char qty[DECIMAL_TEXT_MAX];
        size_t len = put(quantities[i], 5, qty_digits, qty);
        const char *end = line + strlen(line);
        while (end > line && end[-1] == ' ')
            end--;
        CHECK(width < 38 || strncmp(end - len, qty, len) == 0);
    }
    tui_canvas_finish(&canvas);
}

/* What is of another symbol goes; what is no decimal is left out; an error keeps what there is. */
static void check_taken(void)
{
    struct depth_book book = {{{0}}};
    struct depth_tape tape = {{{0}}};
    json_t *result = json_loads("{\"state\":\"synced\\u001b[31m\",\"bids\":[[\"1.5\",\"2\"],[\"x\",\"1\"],"
                                "[\"1.4\"],7,[\"123456789012345678901234567890\",\"1\"],[\"1.3\",\"9\"]],"
                                "\"trades\":[{\"price\":\"\\u0007\",\"qty\":\"1\"},{\"price\":\"2\","
                                "\"qty\":\"1\",\"side\":\"HOLD\",\"odd\":true},null]}",
                                0, NULL);

    tui_depth_take_book(&book, "A", result, "", 5);
    CHECK_INT(book.n_bids, 2);
    CHECK_STR(book.bids[1].price.text, "1.3");
    CHECK_INT(book.n_asks, 0);
    CHECK(!strchr(book.state, 0x1b));
    tui_depth_take_book(&book, "A", NULL, "EAGAIN", 6);
    CHECK_INT(book.n_bids, 2);
    CHECK_STR(book.answer.words, "EAGAIN");
    CHECK_INT(book.answer.mono_ms, 5);
    tui_depth_take_book(&book, "B", NULL, "no", 7);
    CHECK(book.n_bids == 0 && !book.answer.have);
    tui_depth_take_tape(&tape, "A", result, "", 5);
    CHECK_INT(tape.n, 1);
    CHECK(tape.trades[0].side == DEPTH_UNKNOWN && tape.trades[0].odd);
    tui_depth_take_tape(&tape, "B", NULL, "no", 7);
    CHECK(tape.n == 0 && !tape.answer.have);
    json_decref(result);
}

int main(void)
{
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return CHECK_SKIP;
    rng = random_seeded("tui/depth", 30);
    check_taken();
    for (int width = WIDTH_MIN; width <= WIDTH_MAX; width++)
        for (int height = 1; height <= HEIGHT_MAX; height++) {
            check_ladder(width, height);
            check_tape(width, height);
        }
    return check_done("tui/depth");
}
