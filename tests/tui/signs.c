/* Gains and losses on all panels, of figures close to 0 and on the edges of rounding: what is shown as 0.00
 * has neither the colour of a gain nor of a loss, and no sign; what has a sign and a colour has those of the
 * same side. */
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"
#include "tui/history_reader.h"
#include "tui/list_source.h"
#include "tui/lists.h"
#include "tui/view.h"

enum { ROUNDS = 60, ROWS = 8, TOKEN_MAX = 64 };

static struct model *model;
static struct view view;
static struct history_reader *reader;
static struct random random_state;
static int coloured[PANELS]; /* figures with a sign, a digit above 0 and the colour of a gain or a loss */
static const struct moment now = {1723161255342000000, 1000000};
static const struct {
    int width, height;
} sizes[] = {{80, 24}, {120, 40}, {200, 60}};

static double figure(void)
{
    static const double edges[] = {0,         0.5,       0.05,      0.005, 0.0005,   0.00005,
                                   5e-7,      0.0049999, 0.0050001, 0.004, 0.049999, 0.499999,
                                   0.9949999, 0.9950001, 1.005,     2.5,   12.345,   1234.5};
    enum { EDGES = sizeof(edges) / sizeof(edges[0]) };
    double size = random_chance(&random_state, 70)
                      ? edges[random_between(&random_state, 0, EDGES - 1)]
                      : pow(10, (double)random_between(&random_state, -800, 500) / 100);

    return random_chance(&random_state, 50) ? -size : size;
}

/* ---- the text of a figure ---- */

static void check_format(void)
{
    char text[FORMAT_MAX];

    for (int i = 0; i < 200000; i++) {
        const double value = figure();
        const int decimals = (int)random_between(&random_state, 0, 12);
        const char *zero = strpbrk(cli_format_signed(text, value, decimals), "123456789") ? NULL : text;
        const int sign = zero ? 0 : text[0] == '-' ? -1 : 1;
        CHECK(zero ? text[0] == '0' : text[0] == (value < 0 ? '-' : '+'));
        CHECK_INT(cli_format_sign(value, decimals), sign);
        CHECK_INT(style_signed(value, decimals), sign > 0 ? STYLE_UP : sign < 0 ? STYLE_DOWN : STYLE_NORMAL);
        cli_format_number(text, value, decimals);
        CHECK((text[0] == '-') == (sign < 0));
        cli_format_count(text, value);
        CHECK(text[0] != '-' || strpbrk(text, "123456789"));
    }
    CHECK_INT(cli_format_sign(NAN, 2), 0);
    CHECK_INT(cli_format_sign(INFINITY, 2), 0);
    CHECK_INT(cli_format_sign(-1e300, 2), -1);
}

/* ---- the panels ---- */

static enum panel panel_at(const struct layout *layout, int x, int y)
{
    for (int i = 0; i < layout->n; i++) {
        const struct rect *r = &layout->rects[i];
        if (x >= r->x && x < r->x + r->width && y >= r->y && y < r->y + r->height)
            return r->panel;
    }
    return PANEL_NONE;
}

/* One word of the screen, in one style. */
static void check_word(const char *word, enum style style, enum panel panel)
{
    const size_t len = strlen(word), digits = strspn(word + strspn(word, "+-"), "0123456789.");
    const char *end = word + strspn(word, "+-") + digits;
    const bool is_figure = digits > 0 && len - (size_t)(end - word) <= 1 && strchr("%", *end),
               is_zero = is_figure && strpbrk(word, "123456789") == NULL,
               is_coloured = style == STYLE_UP || style == STYLE_DOWN;

    if (!is_figure)
        return;
    bool right = !(is_zero && is_coloured) && !(is_zero && word[0] != '0' && word[0] != '.') &&
                 !(word[0] == '-' && style == STYLE_UP) && !(word[0] == '+' && style == STYLE_DOWN);
    CHECK(right);
    if (!right)
        fprintf(stderr, "panel %d: %s in style %d\n", (int)panel, word, (int)style);
    coloured[panel] += is_coloured && !is_zero && (word[0] == '-' || word[0] == '+');
}

static void check_screen(int width, int height)
{
    struct canvas canvas;
    struct layout layout;
    char word[TOKEN_MAX];

    CHECK_INT(tui_canvas_init(&canvas, width, height, GLYPHS_BRAILLE), 0);
    tui_view_draw(&view, model, now, &canvas);
    tui_view_layout(&view, model, width, height, &layout);
    for (int y = 0; y < height; y++)
        for (int x = 0, n = 0; x < width; x++) {
            const struct cell *cell = tui_canvas_cell(&canvas, x, y),
                              *next = x + 1 < width ? tui_canvas_cell(&canvas, x + 1, y) : NULL;
            const bool blank = cell->text[0] == L' ' || !cell->text[0];
            if (!blank && n + 1 < TOKEN_MAX)
                word[n++] = cell->text[0] < 0x80 ? (char)cell->text[0] : '?';
            word[n] = '\0';
            if (n > 0 && (blank || !next || next->text[0] == L' ' || next->style != cell->style)) {
                check_word(word, (enum style)(blank ? STYLE_NORMAL : cell->style), panel_at(&layout, x, y));
                n = 0;
            }
        }
    tui_canvas_finish(&canvas);
}

/* ---- figures at random ---- */

static bool is_signed(const char *key)
{
    static const char *const keys[] = {"return_pct",  "drawdown_pct", "realized",   "day_pnl",
                                       "upnl",        "excess",       "change_pct", "sharpe",
                                       "short_value", "return",       "bar_close"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static void change(json_t *value)
{
    const char *key;
    json_t *each;
    size_t i;

    json_array_foreach(value, i, each) change(each);
    json_object_foreach(value, key, each)
    {
        if (json_is_number(each) && is_signed(key))
            json_object_set_new(value, key,
                                json_real(strcmp(key, "short_value") ? figure() : fabs(figure())));
        else
            change(each);
    }
}

static void take_status(const char *more)
{
    json_t *object = json_loads(fixture_status, 0, NULL), *other = json_loads(more, 0, NULL);

    CHECK(object && other && json_object_update(object, other) == 0);
    change(object);
    CHECK_INT(tui_model_take_status(model, object, now), 0);
    json_decref(object);
    json_decref(other);
    for (int i = 0; i < model->status.n_symbols; i++) { /* the bar that is open, of what its price is near */
        struct status_symbol *s = &model->status.symbols[i];
        s->bar_open = random_chance(&random_state, 50) ? 61234.5 : 0.00012;
        s->bar_close = s->bar_open * (1 + figure() / 100);
    }
}

static void take_history(void)
{
    struct history *h = &model->history;

    for (int i = 0; i < h->n_equity; i++)
        h->equity[i].equity = 10000 + figure();
    h->equity_flows = 0;
    for (int i = 0; i < model->status.n_accounts; i++) /* the curve's last point */
        model->status.accounts[i].equity = 10000 + figure();
    for (int i = 0; i < h->n_accounts; i++) {
        struct trade_statistics *t = &h->accounts[i].trades;
        t->trades = random_between(&random_state, 0, 3);
        t->won = fabs(figure());
        t->lost = fabs(figure());
        t->best = figure();
        t->worst = figure();
    }
    model->backtest =
        (struct backtest_view){.state = BACKTEST_DONE, .return_pct = figure(), .drawdown_pct = figure()};
    snprintf(model->backtest.account, sizeof(model->backtest.account), "%s",
             model->status.accounts[0].account);
}

/* The lists that the screen shows, read from the database, then with other figures. */
static void take_lists(int width, int height)
{
    struct list_rows read[DB_LISTS] = {0};
    struct lists_want want;
    struct layout layout;

    tui_view_layout(&view, model, width, height, &layout);
    tui_lists_want(&view, model, &layout, &want);
    for (int i = 0; i < DB_LISTS; i++) {
        if (!want.list[i].used)
            continue;
        CHECK(tui_list_source_read(reader->db, (enum db_list)i, &want.list[i], true, &read[i]) >= 0);
        if (read[i].window.n == 0 && i != DB_LIST_BARS) { /* the database has none */
            free(read[i].rows);
            read[i].rows = calloc(ROWS, tui_list_row_size((enum db_list)i));
            read[i].window.n = ROWS;
            read[i].window.count = read[i].window.total = ROWS;
        }
        for (int k = 0; k < (int)read[i].window.n; k++) {
            struct history_trip *trip = (struct history_trip *)read[i].rows + k;
            struct history_list_bar *bar = (struct history_list_bar *)read[i].rows + k;
            struct history_ledger *entry = (struct history_ledger *)read[i].rows + k;
            if (i == DB_LIST_TRIPS)
                trip->profit = figure(), trip->return_pct = figure();
            else if (i == DB_LIST_BARS)
                bar->bar.close = bar->bar.open * (1 + figure() / 100);
            else if (i == DB_LIST_LEDGER)
                entry->kind = entry->contra = "fee", entry->scale = 8,
                entry->amount =
                    random_between(&random_state, -2, 2) * (random_chance(&random_state, 50) ? 1 : 30000000);
        }
    }
    tui_lists_take(&view, model, read, now);
}

static void check_tabs(void)
{
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
        for (int tab = 0; tab < TABS; tab++) {
            view.tab = (enum tab)tab;
            view.foot = (enum layout_foot)random_between(&random_state, 0, FEET - 1);
            view.bars = random_chance(&random_state, 50);
            view.ledger = random_chance(&random_state, 50);
            view.detail = random_chance(&random_state, 50);
            view.equity_span = SPAN_ALL;
            take_lists(sizes[s].width, sizes[s].height);
            check_screen(sizes[s].width, sizes[s].height);
        }
}

int main(void)
{
    static const char *const more[] = {"{}", fixture_several, fixture_at_venue, fixture_trainings,
                                       fixture_venues};
    static const enum panel needed[] = {PANEL_HEADER, PANEL_ACCOUNTS,  PANEL_STRATEGIES, PANEL_POSITIONS,
                                        PANEL_PRICES, PANEL_TRAININGS, PANEL_POLICIES,   PANEL_EQUITY,
                                        PANEL_BARS,   PANEL_TRIPS,     PANEL_LEDGER};
    static const struct history_want want = {.symbol = "BTCUSDT", .interval = "1m"};
    const char *path = scratch_path("papertape.db");
    char words[256];

    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return CHECK_SKIP;
    random_state = random_seeded("tui/signs", 1);
    check_format();
    CHECK_INT(fixture_database(path), 0);
    CHECK_INT(tui_history_open(path, &reader, words, sizeof(words)), 0);
    model = tui_model_create(1000);
    tui_view_init(&view, false, 1000);
    for (int round = 0; round < ROUNDS; round++) {
        take_status(more[(size_t)round % (sizeof(more) / sizeof(more[0]))]);
        CHECK_INT(tui_history_read(reader, now.wall_ns, &want, &model->history, words, sizeof(words)), 0);
        model->have_history = true;
        take_history();
        check_tabs();
    }
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        CHECK(coloured[needed[i]] > 0);
        if (coloured[needed[i]] == 0)
            fprintf(stderr, "panel %d: no coloured figure\n", (int)needed[i]);
    }
    tui_view_finish(&view);
    tui_model_destroy(model);
    tui_history_close(reader);
    return check_done("tui/signs");
}
