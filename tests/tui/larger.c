/* Nothing that a screen of 80×24 has is missing in a larger one: each tab's panels are there in every size,
 * and each word of a panel in some sizes; all that one trades by is at once on 200×60 and larger ones. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/history_reader.h"

enum { WIDTH = 80, HEIGHT = 24, WIDTH_MOST = 300, HEIGHT_MOST = 120, TEXT_MAX = 1 << 17 };

static struct model *model;
static struct view view;
static const struct moment now = {1723161255342000000, 1000000};

/* What rows of a rectangle show, a line each, between blanks. */
static void put_text(const struct canvas *canvas, const struct rect *rect, int rows,
                     char ret[static TEXT_MAX])
{
    size_t n = 0;

    for (int y = rect->y; y < rect->y + rows; y++) {
        ret[n++] = ' ';
        for (int x = rect->x; x < rect->x + rect->width; x++) {
            const wchar_t *c = tui_canvas_cell(canvas, x, y)->text;
            for (; *c; c++)
                ret[n++] = *c == L'─' ? ' ' : *c < 0x80 ? (char)*c : '\x01';
        }
        ret[n++] = ' ';
    }
    ret[n] = '\0';
}

/* A chart has other figures on its axes in another size: its title alone is compared. */
static int compared_rows(const struct rect *rect)
{
    return rect->panel == PANEL_CHART || rect->panel == PANEL_EQUITY || rect->panel == PANEL_CURVE
               ? 1
               : rect->height;
}

/* The cursor may stand before another word; a label that is short there may be whole here. */
static bool is_there(const char *word, size_t len, const char *text)
{
    char whole[256];

    if (len == 1 && *word == '>')
        return strchr(text, '>') != NULL;
    if (len == 2 && strncmp(word, "at", len) == 0 && strstr(text, " trigger ")) /* it has its column */
        return true;
    if (len == 3 && strncmp(word, "T/M", len) == 0 && strstr(text, " taker/maker "))
        return true;

    snprintf(whole, sizeof(whole), " %.*s ", (int)len, word);
    return strstr(text, whole) != NULL;
}

/* The words that are not cut, and no part of a picture. */
static void check_words(const char *small, const char *large, const struct rect *rect, int width, int height)
{
    size_t len;

    for (const char *word = small + strspn(small, " "); *word; word += len + strspn(word + len, " ")) {
        len = strcspn(word, " ");
        if (memchr(word, '\x01', len) || word[len - 1] == '~' || is_there(word, len, large))
            continue;
        fprintf(stderr, "%dx%d, tab %d, panel %d: no %.*s\n", width, height, (int)view.tab + 1,
                (int)rect->panel, (int)len, word);
        CHECK(false);
    }
    CHECK(true);
}

static void draw(struct canvas *canvas, struct layout *layout, int width, int height)
{
    CHECK_INT(tui_canvas_init(canvas, width, height, GLYPHS_BRAILLE), 0);
    tui_view_draw(&view, model, now, canvas);
    tui_view_layout(&view, model, width, height, layout);
}

static void check_text(void)
{
    static const int sizes[][2] = {{81, 25},  {100, 30}, {116, 40}, {119, 36}, {120, 33},
                                   {120, 40}, {132, 43}, {160, 50}, {180, 33}, {180, 53},
                                   {200, 60}, {238, 70}, {300, 120}};
    static char small_text[TEXT_MAX], large_text[TEXT_MAX];
    struct layout small_layout, large_layout;
    struct canvas small, large;

    for (int tab = 0; tab < TABS; tab++)
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            view.tab = (enum tab)tab;
            draw(&small, &small_layout, WIDTH, HEIGHT);
            draw(&large, &large_layout, sizes[i][0], sizes[i][1]);
            for (int k = 0; k < small_layout.n; k++) {
                const struct rect *rect = &small_layout.rects[k],
                                  *other = tui_layout_find(&large_layout, rect->panel);
                if (rect->panel <= PANEL_KEYS || !other) /* tabs and keys have longer words */
                    continue;
                put_text(&small, rect, compared_rows(rect), small_text);
                put_text(&large, other, other->height, large_text);
                check_words(small_text, large_text, rect, sizes[i][0], sizes[i][1]);
            }
            tui_canvas_finish(&small);
            tui_canvas_finish(&large);
        }
}

static void check_panels(void)
{
    struct layout small, large;

    for (int n = 0; n < 2 * 2 * 2 * FEET; n++)
        for (int tab = 0; tab < TABS; tab++) {
            struct layout_choice choice = {.tab = (enum tab)tab,
                                           .trainings = n % 2 * 3,
                                           .studies = n / 2 % 2 * 2,
                                           .venues = n / 2 % 2 + 1,
                                           .devices = n / 4 % 2,
                                           .symbols = 3,
                                           .foot = (enum layout_foot)(n / 8)};
            tui_layout_compute(WIDTH, HEIGHT, &choice, &small);
            int missing = 0;
            for (int width = WIDTH; width <= WIDTH_MOST; width++)
                for (int height = HEIGHT; height <= HEIGHT_MOST; height++) {
                    tui_layout_compute(width, height, &choice, &large);
                    for (int i = 0; i < small.n; i++) {
                        bool there = tui_layout_find(&large, small.rects[i].panel) != NULL;
                        if (!there && missing++ == 0)
                            fprintf(stderr, "%dx%d, tab %d: no panel %d\n", width, height, tab + 1,
                                    (int)small.rects[i].panel);
                    }
                }
            CHECK_INT(missing, 0);
        }
}

/* What one trades by is there at once. */
static void check_market(void)
{
    static const enum panel panels[] = {PANEL_PRICES,    PANEL_CHART,  PANEL_DEPTH,  PANEL_TRADES,
                                        PANEL_POSITIONS, PANEL_EQUITY, PANEL_ORDERS, PANEL_LOG};
    static const enum tab tabs[] = {TAB_OVERVIEW, TAB_MARKET};
    struct layout layout;

    for (int width = 200; width <= WIDTH_MOST; width++)
        for (int height = 60; height <= HEIGHT_MOST; height++)
            for (int n = 0; n < 2 * 5; n++) {
                struct layout_choice choice = {.tab = tabs[n % 2], .venues = n / 2, .symbols = 1 + n / 2};
                tui_layout_compute(width, height, &choice, &layout);
                for (size_t i = 0; i < sizeof(panels) / sizeof(panels[0]); i++)
                    if (!tui_layout_find(&layout, panels[i])) {
                        fprintf(stderr, "%dx%d, tab %d: no panel %d\n", width, height, (int)choice.tab + 1,
                                (int)panels[i]);
                        CHECK(false);
                    }
                const struct rect *chart = tui_layout_find(&layout, PANEL_CHART);
                CHECK(chart && chart->height >= 12 && (choice.tab != TAB_MARKET || chart->width >= 120));
            }
}

int main(void)
{
    const char *path = scratch_path("papertape.db");
    struct history_reader *reader;

    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return CHECK_SKIP;
    CHECK_INT(fixture_database(path), 0);
    model = picture_model(path, "{}", now, &reader);
    if (!model)
        return EXIT_FAILURE;
    check_panels();
    check_market();
    tui_view_init(&view, false, 1000);
    check_text();
    tui_view_finish(&view);
    tui_history_close(reader);
    tui_model_destroy(model);
    return check_done("tui/larger");
}
