/* The prices' change of 24 hours from stored bars, where the status has none, and their order: symbols
 * whose bars before those 24 hours are there, missing, too old or too long; the chosen symbol stays chosen.
 */
#include <locale.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/writer.h"
#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/collect.h"
#include "tui/keys.h"
#include "tui/lists.h"

enum { SYMBOLS = 8, CASES = 16 }; /* the first are shown too */

#define MINUTE_NS 60000000000LL
#define HOUR_NS   (60 * MINUTE_NS)
#define UNIT      100000000LL

static const struct moment now = {1723161255342000000, 1000000};

/* What is stored of each symbol and what its status says; the newest bar closed at 100. */
static const struct {
    const char *name, *market;
    double status;        /* NaN: n/a */
    int before;           /* the close then, so many hours before the newest; 0: none */
    int hours;            /* of those hours */
    double change;        /* that is expected */
    const char *interval; /* NULL: 1m */
    int old;              /* hours since the newest bar ended */
    int later;            /* the close of the bar after that one; 0: none */
} cases[CASES] = {
    {"AAA", "always", NAN, 80, 24, 25},    /* a bar at that minute */
    {"BBB", "always", -3, 80, 24, -3},     /* the status says it */
    {"CCC", "always", NAN, 125, 25, -20},  /* an hour's hole */
    {"DDD", "always", NAN, 80, 26, NAN},   /* a longer one */
    {"EEE", "regular", NAN, 50, 96, 100},  /* a weekend */
    {"FFF", "regular", NAN, 50, 121, NAN}, /* longer than one */
    {"GGG", "always", NAN, 80, 23, NAN},   /* not 24 hours ago */
    {"HHH", "always", 0, 0, 0, 0},
    {"III", "always", NAN, 80, 24, NAN, NULL, 72},   /* the newest is of days ago */
    {"JJJ", "always", NAN, 80, 24, NAN, NULL, 5},    /* of hours: those before are not the last 24 */
    {"KKK", "regular", NAN, 80, 4, 25, NULL, 20},    /* 24 hours before now, not before the newest */
    {"LLL", "closed", NAN, 80, 24, 25, NULL, 40},    /* over a weekend the last session's */
    {"MMM", "closed", NAN, 80, 24, NAN, NULL, 100},  /* closed for too long */
    {"NNN", "always", NAN, 80, 24, 25, "1h", 0, 50}, /* the bar that had ended by then, not the one after */
    {"OOO", "always", NAN, 80, 24, NAN, "4h"},       /* of which the close may be hours from then */
    {"PPP", "always", NAN, 80, 24, NAN, "1d"},
};

static void put_bar(struct db_writer *writer, int symbol, int64_t interval_ns, int64_t open_ns, int close)
{
    int64_t price = close * UNIT;
    struct bar bar = {.open_ns = open_ns, .open = price, .high = price, .low = price, .close = price};

    db_writer_put_bar(writer, symbol, interval_ns, BAR_VENUE, &bar);
}

static const char *interval_of(int i)
{
    return cases[i].interval ? cases[i].interval : "1m";
}

static int put(const char *path)
{
    static const struct db_writer_config config;
    struct db_writer *writer;
    char words[DB_ERROR_MAX];
    int r = db_writer_open(path, &config, &writer, words, sizeof(words));

    for (int i = 0; r == 0 && i < CASES; i++) {
        struct symbol symbol = {
            .quote = "USDT", .price_scale = 8, .qty_scale = 8, .quote_scale = 8, .trading = true};
        int64_t interval_ns;
        CHECK_INT(bar_interval_parse(interval_of(i), &interval_ns), 0);
        int64_t newest = bar_open_time(now.wall_ns - cases[i].old * HOUR_NS, interval_ns) - interval_ns;
        int64_t before = newest - cases[i].hours * HOUR_NS;
        snprintf(symbol.name, sizeof(symbol.name), "%s", cases[i].name);
        snprintf(symbol.base, sizeof(symbol.base), "%s", cases[i].name);
        db_writer_put_symbol(writer, i, "binance", &symbol, interval_ns);
        if (cases[i].before)
            put_bar(writer, i, interval_ns, before, cases[i].before);
        if (cases[i].later)
            put_bar(writer, i, interval_ns, before + interval_ns, cases[i].later);
        put_bar(writer, i, interval_ns, newest, 100);
    }
    return r == 0 ? db_writer_close(writer, 20000, words, sizeof(words)) : r;
}

static void take(struct model *model)
{
    struct status *status = &model->status;

    tui_status_finish(status);
    tui_status_init(status);
    for (int i = 0; i < CASES; i++) {
        struct status_symbol *symbol = tui_status_add(status, STATUS_SYMBOLS);
        *symbol = (struct status_symbol){.last = i == 0 ? NAN : 100,
                                         .change_24h_pct = cases[i].status,
                                         .price_decimals = 2,
                                         .limit_ms = -1};
        strcpy(symbol->symbol, cases[i].name);
        strcpy(symbol->market, cases[i].market);
        strcpy(symbol->interval, interval_of(i));
    }
    model->source = model->holdings = MODEL_DAEMON;
    model->status_mono_ms = now.mono_ms;
}

static void check_order(const struct view *view, const struct model *model, const char *expected)
{
    struct lists_rows rows;
    char found[SYMBOLS + 1] = "";

    tui_lists_rows(view, model, LIST_PRICES, &rows);
    CHECK_INT(rows.items.n, SYMBOLS);
    for (int i = 0; i < rows.items.n; i++)
        found[i] = ((const struct status_symbol *)tui_lists_row(&rows, i))->symbol[0];
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
    CHECK(text && strstr(text, "Prices (5 of 8) by 24h") && strstr(text, ">CCC") && first && second);
    CHECK(first < second && strstr(text, "+100.0%") && strstr(text, "+25.00%"));
    free(text);
    tui_keys_press(&view, model, 80, 24, now, 'k');
    CHECK_STR(tui_view_symbol(&view, model)->symbol, "BBB");
    tui_keys_press(&view, model, 80, 24, now, 'I');
    check_order(&view, model, "CBHAEGFD");
    CHECK_STR(tui_view_symbol(&view, model)->symbol, "BBB");
    model->status.symbols[1].change_24h_pct = 1000; /* it moves, and stays chosen */
    check_order(&view, model, "CHAEBGFD");
    CHECK_STR(tui_view_symbol(&view, model)->symbol, "BBB");
    while (view.lists[LIST_PRICES].sort != 0)
        tui_keys_press(&view, model, 80, 24, now, 'o');
    check_order(&view, model, "HGFEDCBA");
}

static void check_changes(struct history_reader *reader, struct model *model)
{
    tui_history_read_changes(reader, &model->status, now.wall_ns, &model->history);
    for (int i = 0; i < CASES; i++) {
        double change = tui_history_change(&model->history, &model->status.symbols[i]);
        bool right = isnan(cases[i].change) ? isnan(change) : fabs(change - cases[i].change) < 1e-9;
        if (!right)
            fprintf(stderr, "%s: %g, not %g\n", cases[i].name, change, cases[i].change);
        CHECK(right);
    }
}

/* Nothing of a saved run becomes old: its day is the last one that it has. */
static void check_saved(struct history_reader *reader, struct model *model)
{
    struct history h = {0};
    struct status_symbol *old = &model->status.symbols['I' - 'A'];

    model->status.saved = true;
    tui_history_read_changes(reader, &model->status, now.wall_ns, &h);
    CHECK_NEAR(tui_history_change(&h, old), 25, 1e-9);
    model->status.saved = false;
}

static void execute(const char *path, const char *sql)
{
    sqlite3 *db;

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

/* Bars that cannot be read: no change is known. */
static void check_unreadable(const char *path, struct history_reader *reader, struct model *model)
{
    execute(path, "ALTER TABLE bars RENAME COLUMN close TO closes");
    model->history = (struct history){0};
    tui_history_read_changes(reader, &model->status, now.wall_ns, &model->history);
    CHECK(isnan(tui_history_change(&model->history, &model->status.symbols[0])));
    CHECK(tui_history_change(&model->history, &model->status.symbols[1]) == -3);
    execute(path, "ALTER TABLE bars RENAME COLUMN closes TO close");
}

/* That alone does not discard what else was read. */
static void check_history(void)
{
    static const struct history_want want;
    struct collector collector;
    struct state_dir state = {0};

    snprintf(state.database, sizeof(state.database), "%s", scratch_path("other.db"));
    snprintf(state.socket, sizeof(state.socket), "%s", scratch_path("no.sock"));
    snprintf(state.socket_read, sizeof(state.socket_read), "%s", scratch_path("no-read.sock"));
    CHECK_INT(fixture_database(state.database), 0);
    execute(state.database, "ALTER TABLE bars RENAME COLUMN close TO closes");
    CHECK_INT(tui_collector_init(&collector, &state, NULL, 1000), 0);
    tui_collector_read(&collector, &want);
    CHECK(collector.model->have_history && collector.model->history.n_fills > 0);
    CHECK(collector.model->status.n_symbols > 0);
    for (int i = 0; i < collector.model->status.n_symbols; i++)
        CHECK(!isfinite(collector.model->status.symbols[i].change_24h_pct));
    CHECK_STR(collector.model->database_words, "");
    tui_collector_finish(&collector);
}

/* The nearest on each side, against all of them in a list without an order. */
static void check_price_alerts(void)
{
    static const char *const names[] = {"AAA", "BBB", "CCC"};
    struct random rng = random_seeded("tui/prices", 7);
    struct status *status = calloc(1, sizeof(*status));

    for (int round = 0; status && round < 300; round++) {
        const int n_alerts = (int)random_between(&rng, 0, round % 20);
        status->n_price_alerts = 0;
        for (int i = 0; i < n_alerts; i++) {
            struct status_price_alert *alert = tui_status_add(status, STATUS_PRICE_ALERTS);
            strcpy(alert->symbol, names[random_between(&rng, 0, 2)]);
            strcpy(alert->side, random_chance(&rng, 50) ? "above" : "below");
            alert->price = (double)random_between(&rng, 1, 1000) / 100;
        }
        for (int s = 0; s < 3; s++) {
            double above, below;
            int n = tui_status_price_alerts(status, names[s], &above, &below), ours = 0, highs = 0, lows = 0;
            for (int i = 0; i < status->n_price_alerts; i++) {
                const struct status_price_alert *alert = &status->price_alerts[i];
                bool high = strcmp(alert->side, "above") == 0;
                if (strcmp(alert->symbol, names[s]) != 0)
                    continue;
                ours++;
                CHECK(high ? alert->price >= above : alert->price <= below);
                highs += high && alert->price == above;
                lows += !high && alert->price == below;
            }
            CHECK_INT(n, ours);
            CHECK(highs > 0 || isnan(above));
            CHECK(lows > 0 || isnan(below));
        }
    }
    if (status)
        tui_status_finish(status);
    free(status);
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
    check_changes(reader, model);
    check_saved(reader, model);
    check_unreadable(path, reader, model);
    take(model);
    model->history = (struct history){0};
    tui_history_close(reader);
    CHECK_INT(tui_history_open(path, &reader, words, sizeof(words)), 0);
    check_changes(reader, model);
    model->status.n_symbols = SYMBOLS;
    check_keys(model);
    tui_history_close(reader);
    check_history();
    check_price_alerts();
    tui_model_destroy(model);
    return check_done("tui/prices");
}
