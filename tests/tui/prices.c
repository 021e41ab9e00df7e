/* The prices' change of 24 hours from stored bars, where the status has none, and their order: eight symbols,
 * whose bars before those 24 hours are there, missing, or too old; the chosen symbol stays chosen. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/writer.h"
#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/keys.h"

enum { SYMBOLS = 8 };

#define MINUTE_NS 60000000000LL
#define HOUR_NS   (60 * MINUTE_NS)
#define UNIT      100000000LL

static const struct moment now = {1723161255342000000, 1000000};

/* What is stored of each symbol and what its status says; the newest bar closed at 100. */
static const struct {
    const char *name, *market;
    double status; /* NaN: n/a */
    int before;    /* the close then, so many hours before the newest; 0: none */
    int hours;
    double change; /* that is expected */
} cases[SYMBOLS] = {
    {"AAA", "always", NAN, 80, 24, 25},    /* a bar at that minute */
    {"BBB", "always", -3, 80, 24, -3},     /* the status says it */
    {"CCC", "always", NAN, 125, 25, -20},  /* an hour's hole */
    {"DDD", "always", NAN, 80, 26, NAN},   /* a longer one */
    {"EEE", "regular", NAN, 50, 96, 100},  /* a weekend */
    {"FFF", "regular", NAN, 50, 121, NAN}, /* longer than one */
    {"GGG", "always", NAN, 80, 23, NAN},   /* not 24 hours ago */
    {"HHH", "always", 0, 0, 0, 0},
};

static void put_bar(struct db_writer *writer, int symbol, int64_t open_ns, int close)
{
    int64_t price = close * UNIT;
    struct bar bar = {.open_ns = open_ns, .open = price, .high = price, .low = price, .close = price};

    db_writer_put_bar(writer, symbol, MINUTE_NS, BAR_VENUE, &bar);
}

static int put(const char *path)
{
    static const struct db_writer_config config;
    struct db_writer *writer;
    char words[DB_ERROR_MAX];
    int r = db_writer_open(path, &config, &writer, words, sizeof(words));

    for (int i = 0; r == 0 && i < SYMBOLS; i++) {
        struct symbol symbol = {
            .quote = "USDT", .price_scale = 8, .qty_scale = 8, .quote_scale = 8, .trading = true};
        int64_t newest = now.wall_ns / MINUTE_NS * MINUTE_NS - MINUTE_NS;
        snprintf(symbol.name, sizeof(symbol.name), "%s", cases[i].name);
        snprintf(symbol.base, sizeof(symbol.base), "%s", cases[i].name);
        db_writer_put_symbol(writer, i, "binance", &symbol, MINUTE_NS);
        if (cases[i].before)
            put_bar(writer, i, newest - cases[i].hours * HOUR_NS, cases[i].before);
        put_bar(writer, i, newest, 100);
    }
    return r == 0 ? db_writer_close(writer, 20000, words, sizeof(words)) : r;
}

static void take(struct model *model)
{
    struct status *status = &model->status;

    tui_status_init(status);
    status->n_symbols = SYMBOLS;
    for (int i = 0; i < SYMBOLS; i++) {
        struct status_symbol *symbol = &status->symbols[i];
        *symbol = (struct status_symbol){.last = i == 0 ? NAN : 100,
                                         .change_24h_pct = cases[i].status,
                                         .price_decimals = 2,
                                         .limit_ms = -1};
        strcpy(symbol->symbol, cases[i].name);
        strcpy(symbol->market, cases[i].market);
        strcpy(symbol->interval, "1m");
    }
    model->source = model->holdings = MODEL_DAEMON;
    model->status_mono_ms = now.mono_ms;
}

static void check_order(const struct view *view, const struct model *model, const char *expected)
{
    int rows[STATUS_SYMBOLS_MAX], n = tui_view_symbols(view, model, rows);
    char found[SYMBOLS + 1] = "";

    CHECK_INT(n, SYMBOLS);
    for (int i = 0; i < n; i++)
        found[i] = model->status.symbols[rows[i]].symbol[0];
    CHECK_STR(found, expected);
}

/* o and I, and the arrows between them. */
static void check_keys(struct model *model)
{
    struct view view;

    tui_view_init(&view, true, 1000);
    view.tab = TAB_MARKET;
    check_order(&view, model, "ABCDEFGH");
    tui_keys_press(&view, model, 80, 24, now, 'j');
    tui_keys_press(&view, model, 80, 24, now, 'j');
    CHECK_STR(tui_view_symbol(&view, model)->symbol, "CCC");
    tui_keys_press(&view, model, 80, 24, now, 'o');
    check_order(&view, model, "EAHBCDFG");
    CHECK_STR(tui_view_symbol(&view, model)->symbol, "CCC"); /* which stays chosen */
    CHECK_INT(tui_view_cursor(&view, model, PANEL_PRICES), 4);
    char *text = picture_draw(model, &view, now, 100, 40, GLYPHS_ASCII);
    const char *first = text ? strstr(text, "EEE") : NULL, *second = text ? strstr(text, "AAA") : NULL;
    CHECK(text && strstr(text, "Prices by 24h (8)") && strstr(text, ">CCC") && first && second);
    CHECK(first < second && strstr(text, "+100.0%") && strstr(text, "+25.00%"));
    free(text);
    tui_keys_press(&view, model, 80, 24, now, 'k');
    CHECK_STR(tui_view_symbol(&view, model)->symbol, "BBB");
    tui_keys_press(&view, model, 80, 24, now, 'I');
    check_order(&view, model, "CBHAEDFG");
    CHECK_STR(tui_view_symbol(&view, model)->symbol, "BBB");
    model->status.symbols[1].change_24h_pct = 1000; /* it moves, and stays chosen */
    check_order(&view, model, "CHAEBDFG");
    CHECK_STR(tui_view_symbol(&view, model)->symbol, "BBB");
    tui_keys_press(&view, model, 80, 24, now, 'o');
    check_order(&view, model, "HGFEDCBA");
}

int main(void)
{
    char words[256];
    struct history_reader *reader;
    const char *path = scratch_path("papertape.db");

    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return CHECK_SKIP;
    CHECK_INT(put(path), 0);
    struct model *model = tui_model_create(1000);
    take(model);
    CHECK_INT(tui_history_open(path, &reader, words, sizeof(words)), 0);
    CHECK_INT(tui_history_read_changes(reader, &model->status, now.wall_ns, &model->history), 0);
    for (int i = 0; i < SYMBOLS; i++) {
        double change = tui_history_change(&model->history, &model->status.symbols[i]);
        CHECK(isnan(cases[i].change) ? isnan(change) : fabs(change - cases[i].change) < 1e-9);
    }
    check_keys(model);
    tui_history_close(reader);
    tui_model_destroy(model);
    return check_done("tui/prices");
}
