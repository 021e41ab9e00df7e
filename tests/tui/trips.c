/* Round trips on the positions' tab: pictures at fixed sizes, what its keys show and open, the page of one;
 * their sums by symbol and by who opened against a plain recount, in random rows. */
#include "tui/lists.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/random.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/history_reader.h"
#include "tui/item_keys.h"
#include "tui/keys.h"
#include "tui/mouse.h"

enum { TRIPS = 40, ROWS = 60, ROUNDS = 300, SCALE = 8 };

static const char *golden;
static struct model *model;
static struct view view;
static const struct moment now = {1723161255342000000, 1000000};

static enum action press(int key)
{
    return tui_keys_press(&view, model, 80, 24, now, key);
}

/* ---- sums ---- */

static struct random random_state;

static int draw(int below)
{
    return (int)random_between(&random_state, 0, below - 1);
}

static double all_profits[ROWS][8]; /* of each row's trades */

static void make_row(struct db_trip_sum *row, int at)
{
    static const char *const names[] = {"BTCUSDT", "ETHUSDT", "by hand", "sma-cross"}, *const accounts[] = {
                                                                                           "main", "other",
                                                                                           "third"};

    *row = (struct db_trip_sum){.scale = SCALE, .by_symbol = draw(2) == 0};
    strcpy(row->name, names[draw(4)]);
    strcpy(row->account, accounts[draw(3)]);
    strcpy(row->currency, draw(4) ? "USDT" : "BTC");
    row->pnl = draw(12) ? (int128_t)draw(2000000) * 1000 - 1000000000 : DB_REPORT_UNKNOWN;
    row->fees = draw(1000);
    row->fills = (uint64_t)draw(50);
    row->holds = draw(3) == 0;
    for (int i = draw(8); i > 0; i--) {
        double profit = draw(2001) / 10.0 - 100;
        all_profits[at][row->trades.n] = profit;
        metrics_trades_add(&row->trades, profit, draw(1000));
    }
}

/* The rows that one of the result stands for, counted again one by one. */
static void check_row(const struct db_trip_sums *sums, const char *account, bool by_symbol,
                      const struct db_trip_sum *row)
{
    struct db_trip_sum again = {0};
    size_t wins = 0, n = 0;
    double won = 0, lost = 0, best = 0, worst = 0;
    bool unknown = false;

    for (size_t i = 0; i < sums->n; i++) {
        const struct db_trip_sum *s = &sums->rows[i];
        if (s->by_symbol != by_symbol || strcmp(s->name, row->name) || strcmp(s->currency, row->currency) ||
            (account[0] && strcmp(s->account, account)))
            continue;
        unknown |= s->pnl == DB_REPORT_UNKNOWN;
        again.pnl += s->pnl;
        again.fees += s->fees;
        again.fills += s->fills;
        again.holds |= s->holds;
        for (size_t k = 0; k < s->trades.n; k++, n++) {
            double profit = all_profits[i][k];
            wins += profit > 0;
            *(profit > 0 ? &won : &lost) += profit;
            best = fmax(best, profit);
            worst = fmin(worst, profit);
        }
    }
    CHECK(row->pnl == (unknown ? DB_REPORT_UNKNOWN : again.pnl));
    CHECK(row->fees == again.fees && row->fills == again.fills && row->holds == again.holds);
    CHECK(row->trades.n == n && row->trades.wins == wins && row->trades.losses == n - wins);
    CHECK(fabs(row->trades.won - won) < 1e-9 && fabs(row->trades.lost - lost) < 1e-9);
    CHECK(row->trades.largest_win == best && row->trades.largest_loss == worst);
    CHECK(n == 0 || fabs(row->trades.mean - (won + lost) / (double)n) < 1e-9);
}

static void check_sums(void)
{
    static const char *const accounts[] = {"", "main", "other", "unknown"};
    struct db_trip_sum rows[ROWS], merged[ROWS];
    struct db_trip_sums sums = {.rows = rows};

    for (int round = 0; round < ROUNDS; round++) {
        sums.n = (size_t)draw(ROWS);
        for (size_t i = 0; i < sums.n; i++)
            make_row(&rows[i], (int)i);
        for (int a = 0; a < 4; a++)
            for (int by_symbol = 0; by_symbol < 2; by_symbol++) {
                size_t n = db_trip_sums_merge(&sums, accounts[a], by_symbol, merged), covered = 0, there = 0;
                for (size_t i = 0; i < n; i++) {
                    check_row(&sums, accounts[a], by_symbol, &merged[i]);
                    covered += merged[i].fills;
                    bool unknown = merged[i].pnl == DB_REPORT_UNKNOWN;
                    CHECK(i == 0 || unknown || merged[i - 1].pnl >= merged[i].pnl);
                    CHECK(i == 0 || unknown || merged[i - 1].pnl != DB_REPORT_UNKNOWN);
                }
                for (size_t i = 0; i < sums.n; i++)
                    if (rows[i].by_symbol == (by_symbol != 0) &&
                        (!accounts[a][0] || strcmp(rows[i].account, accounts[a]) == 0))
                        there += rows[i].fills;
                CHECK_INT(covered, there); /* no row is left out or counted twice */
            }
    }
}

/* ---- the screen ---- */

static void put_sum(struct db_trip_sums *sums, const char *name, bool by_symbol, double pnl, double fees,
                    const double *profits, int n)
{
    struct db_trip_sum *row = &sums->rows[sums->n++];

    *row = (struct db_trip_sum){.scale = SCALE, .by_symbol = by_symbol};
    strcpy(row->account, "main");
    strcpy(row->currency, "USDT");
    strcpy(row->name, name);
    row->pnl = isnan(pnl) ? DB_REPORT_UNKNOWN : (int128_t)llround(pnl * 1e8);
    row->fees = llround(fees * 1e8);
    for (int i = 0; i < n; i++)
        metrics_trades_add(&row->trades, profits[i], 1);
}

/* What a reader would have given: some forty trips, of all kinds. */
static void make_trips(void)
{
    static const char *const reasons[] = {"cross down", "stop", "take profit", "by hand", "flatten", ""};
    struct list_rows *read = &model->lists[DB_LIST_TRIPS];
    struct history_trip *rows = calloc(TRIPS, sizeof(*rows));
    const double mixed[] = {20.5, -8.25, 31, -12.5}, wins[] = {4, 5};

    *read = (struct list_rows){.have = true, .rows = rows, .query = {.list = DB_LIST_TRIPS}};
    read->window.n = TRIPS;
    read->window.count = read->window.total = TRIPS;
    for (int i = 0; i < TRIPS; i++) {
        struct history_trip *t = &rows[i];
        bool btc = i % 3 != 1;
        double entry = btc ? 61000 + 37 * i : 2600 + 3 * i, move = (i % 7 - 3) * 0.004;
        *t = (struct history_trip){.id = 200 - 2 * i,
                                   .first_fill = i == TRIPS - 1 ? 0 : 199 - 2 * i,
                                   .fills = 2,
                                   .order = 300 - i,
                                   .closed_ns = now.wall_ns - i * INT64_C(7654321000000),
                                   .is_short = i % 5 == 2,
                                   .qty = btc ? 0.01 : 1.25,
                                   .entry = entry,
                                   .exit = entry * (1 + move),
                                   .fees = btc ? 1.22 : 6.5,
                                   .price_decimals = 2,
                                   .quote_decimals = 8,
                                   .qty_decimals = btc ? 5 : 4};
        t->opened_ns = t->closed_ns - (i + 1) * (i + 1) * INT64_C(9000000000);
        t->profit = (t->is_short ? -1 : 1) * t->qty * entry * move - t->fees;
        t->return_pct = 100 * t->profit / (t->qty * entry);
        strcpy(t->account, "main");
        strcpy(t->symbol, btc ? "BTCUSDT" : "ETHUSDT");
        strcpy(t->quote, "USDT");
        strcpy(t->strategy, i % 4 == 3 ? "by hand" : "sma-cross-rsi");
        strcpy(t->reason, reasons[i % 6]);
        read->window.ids[i] = t->id;
    }
    rows[TRIPS - 1].opened_ns = 0; /* from before the record */
    rows[TRIPS - 1].entry = rows[TRIPS - 1].return_pct = NAN;
    read->sums.rows = calloc(8, sizeof(*read->sums.rows));
    put_sum(&read->sums, "BTCUSDT", true, 30.75, 12.5, mixed, 4);
    put_sum(&read->sums, "ETHUSDT", true, -1234.5, 65.25, mixed + 3, 1);
    read->sums.rows[1].holds = true; /* its avg P&L is of the closed one alone */
    put_sum(&read->sums, "SOLUSDT", true, NAN, 0, NULL, 0);
    put_sum(&read->sums, "sma-cross-rsi", false, -1200.25, 77.75, mixed, 4);
    put_sum(&read->sums, "by hand", false, 9, 0, wins, 2);
    put_sum(&read->sums, "policy ppo-btc-with-a-long-name_3", false, -12.5, 0, NULL, 0);
}

static void check_picture(const char *name, int width, int height)
{
    CHECK(picture_matches(golden, name, model, &view, now, width, height, GLYPHS_BRAILLE));
}

static void check_pictures(void)
{
    tui_view_init(&view, false, 1000);
    view.tab = TAB_POSITIONS;
    check_picture("positions-all-120x40", 120, 40);
    check_picture("positions-all-200x60", 200, 60);
    press('t');
    check_picture("positions-trips-80x24", 80, 24);
    press('z');
    check_picture("positions-trips-zoomed-80x24", 80, 24);
    press('t'); /* the zoom goes with it */
    CHECK_INT(view.zoomed, PANEL_BY_SYMBOL);
    press('z');
    check_picture("positions-symbols-80x24", 80, 24);
    press('t');
    press('A');
    check_picture("positions-strategies-80x24", 80, 24);
    press('t');
    CHECK_INT(view.foot, FOOT_EQUITY);
    CHECK_INT(view.focus, PANEL_EQUITY);
}

/* Every foot at many sizes, with a name as long as names may be, and without braille: something is drawn, and
 * P&L is there wherever the sums are. */
static void check_sizes(void)
{
    char *name = model->status.accounts[0].account;
    char kept[ACCOUNT_NAME_MAX];

    memcpy(kept, name, sizeof(kept));
    memset(name, 'n', ACCOUNT_NAME_MAX - 1);
    tui_view_init(&view, false, 1000);
    view.tab = TAB_POSITIONS;
    for (int width = 1; width <= 220; width += 9)
        for (int height = 1; height <= 70; height += 4)
            for (int k = 0; k < 2 * FEET; k++) {
                view.foot = (enum layout_foot)(k % FEET);
                view.trips_one = k >= FEET;
                char *text =
                    picture_draw(model, &view, now, width, height, k % 2 ? GLYPHS_ASCII : GLYPHS_BRAILLE);
                CHECK(text && text[0]);
                if (text && !view.trips_one && view.foot == FOOT_SYMBOLS && width >= 40 && height >= 13)
                    CHECK(strstr(text, "-1234.50") != NULL);
                free(text);
            }
    memcpy(name, kept, sizeof(kept));
}

/* The labels of a foot's table at that size, each after a blank; "": it has no room for a row of labels. */
static void read_labels(int width, int height, enum panel panel, const char *title, char *ret, size_t size)
{
    struct layout layout;
    char *text = picture_draw(model, &view, now, width, height, GLYPHS_ASCII), *next = NULL;
    const char *at = text ? strstr(text, title) : NULL;

    tui_view_layout(&view, model, width, height, &layout);
    const struct rect *rect = tui_layout_find(&layout, panel);
    *ret = '\0';
    if (rect && rect->height >= 5) {
        CHECK(at != NULL);
        char *end = at ? strchr(at, '\n') : NULL;
        const char *closing = at ? strchr(at, ')') : NULL;
        at = closing && closing < end ? closing + 1 : end;                 /* a long title is cut */
        if (end && (end[1] == '-' || strncmp(end + 1, " closed", 7) == 0)) /* those on a row of their own */
            end = strchr(end + 1, '\n');
        if (end)
            *end = '\0';
        for (char *word = end ? strtok_r(text + (at - text), "-\n ", &next) : NULL; word;
             word = strtok_r(NULL, "-\n ", &next))
            snprintf(ret + strlen(ret), size - strlen(ret), " %s", word);
    }
    free(text);
}

/* An account's name in the title, as long as names may be, hides none of the labels that are there without
 * it. */
static void check_labels(void)
{
    static const struct {
        enum layout_foot foot;
        enum panel panel;
        const char *title;
    } feet[] = {{FOOT_TRIPS, PANEL_TRIPS, "-Round trips"},
                {FOOT_SYMBOLS, PANEL_BY_SYMBOL, "y symbol"},
                {FOOT_STRATEGIES, PANEL_BY_STRATEGY, "y strategy"}};
    struct list_rows *read = &model->lists[DB_LIST_TRIPS];
    char *name = model->status.accounts[0].account, kept[ACCOUNT_NAME_MAX];
    int labels = 0;

    memcpy(kept, name, sizeof(kept));
    tui_view_init(&view, false, 1000);
    view.tab = TAB_POSITIONS;
    for (size_t k = 0; k < sizeof(feet) / sizeof(feet[0]); k++)
        for (int width = 40; width <= 109; width++)
            for (int height = 20; height <= 32; height += 4)
                for (size_t length = 1; length < ACCOUNT_NAME_MAX; length += 6) {
                    char without[256], with[256], all[256], *next = NULL;
                    memset(name, 'n', length);
                    name[length] = '\0';
                    view.foot = feet[k].foot;
                    view.trips_one = false;
                    read->query.account[0] = '\0';
                    read_labels(width, height, feet[k].panel, feet[k].title, without, sizeof(without));
                    view.trips_one = true;
                    strcpy(read->query.account, name);
                    read_labels(width, height, feet[k].panel, feet[k].title, with, sizeof(with));
                    strcpy(all, without);
                    for (char *label = strtok_r(all, " ", &next); label; label = strtok_r(NULL, " ", &next)) {
                        if (!strstr(with, label))
                            fprintf(stderr, "%d x %d, a name of %zu: \"%s\" lacks %s\n", width, height,
                                    length, with, label);
                        CHECK(strstr(with, label) != NULL);
                        labels++;
                    }
                }
    CHECK(labels > 10000);
    memcpy(name, kept, sizeof(kept));
    read->query.account[0] = '\0';
}

/* What is to be read: for the list, its sums and the page of one, and nothing elsewhere; of whose account. */
static void check_want(void)
{
    struct lists_want want;
    struct layout layout;

    tui_view_init(&view, false, 1000);
    view.tab = TAB_POSITIONS;
    for (int foot = 0; foot < FEET; foot++) {
        tui_view_layout(&view, model, 80, 24, &layout);
        tui_lists_want(&view, model, &layout, &want);
        CHECK_INT(want.list[DB_LIST_TRIPS].used, view.foot != FOOT_EQUITY);
        CHECK_STR(want.list[DB_LIST_TRIPS].query.account, "");
        press('t');
    }
    press('A');
    press('t');
    tui_view_layout(&view, model, 80, 24, &layout);
    tui_lists_want(&view, model, &layout, &want);
    CHECK_STR(want.list[DB_LIST_TRIPS].query.account, "main");
    press('6');
    press('t'); /* there is no foot here */
    tui_view_layout(&view, model, 80, 24, &layout);
    tui_lists_want(&view, model, &layout, &want);
    CHECK(!want.list[DB_LIST_TRIPS].used && want.list[DB_LIST_FILLS].used);
    CHECK_INT(view.foot, FOOT_TRIPS);
}

static void read_page(void)
{
    struct item_page page = {.item = view.item};

    tui_item_status(&page, model);
    tui_item_page_finish(&model->item);
    model->item = page;
}

/* Rows of the sums as they are drawn: as many as are merged, also of one account. */
static void check_counts(void)
{
    static struct db_trip_sum rows[ROWS], merged[ROWS];
    struct list_rows *read = &model->lists[DB_LIST_TRIPS];
    const struct db_trip_sums kept = read->sums;

    tui_view_init(&view, false, 1000);
    for (int round = 0; round < ROUNDS; round++) {
        read->sums = (struct db_trip_sums){.rows = rows, .n = (size_t)draw(ROWS)};
        for (size_t i = 0; i < read->sums.n; i++)
            make_row(&rows[i], (int)i);
        view.trips_one = round % 2;
        for (int by_symbol = 0; by_symbol < 2; by_symbol++)
            CHECK_INT(tui_view_rows(&view, model, by_symbol ? PANEL_BY_SYMBOL : PANEL_BY_STRATEGY),
                      db_trip_sums_merge(&read->sums, view.trips_one ? "main" : "", by_symbol, merged));
    }
    read->sums = kept;
}

/* Sums of several currencies: each says its own, and those of one are together, by their P&L. */
static void check_currencies(void)
{
    static const char *const order[] = {"in", "BTCUSDT", " BTC ", "BTCUSDT", "USDT", "ETHUSDT", "USDT"};
    static struct db_trip_sum rows[3];
    struct list_rows *read = &model->lists[DB_LIST_TRIPS];
    const struct db_trip_sums kept = read->sums;

    read->sums = (struct db_trip_sums){.rows = rows};
    put_sum(&read->sums, "BTCUSDT", true, 30.75, 12.5, NULL, 0);
    put_sum(&read->sums, "ETHUSDT", true, -1234.5, 65.25, NULL, 0);
    put_sum(&read->sums, "BTCUSDT", true, -0.25, 0, NULL, 0);
    strcpy(rows[2].currency, "BTC");
    tui_view_init(&view, false, 1000);
    view.tab = TAB_POSITIONS;
    view.foot = FOOT_SYMBOLS;
    for (int width = 40; width <= 120; width += 40) {
        char *text = picture_draw(model, &view, now, width, 24, GLYPHS_ASCII);
        const char *at = text ? strstr(text, "By symbol") : NULL;
        at = at ? at : text ? strstr(text, "P&L by symbol") : NULL;
        for (size_t i = 0; at && i < sizeof(order) / sizeof(order[0]); i++) {
            at = strstr(at, order[i]);
            CHECK(at != NULL);
            at = at ? at + strlen(order[i]) : NULL;
        }
        CHECK(at != NULL);
        free(text);
    }
    read->sums = kept;
}

/* While another account is chosen than the rows were read of, they are not shown under its name. */
static void check_other_account(void)
{
    struct list_rows *read = &model->lists[DB_LIST_TRIPS];

    tui_view_init(&view, false, 1000);
    view.tab = TAB_POSITIONS;
    view.foot = FOOT_TRIPS;
    press('A');
    char *text = picture_draw(model, &view, now, 80, 24, GLYPHS_ASCII);
    CHECK(text && strstr(text, "Round trips of main-") && strstr(text, "not read yet") &&
          !strstr(text, "cross d"));
    free(text);
    CHECK_INT(tui_view_rows(&view, model, PANEL_TRIPS), 0);
    strcpy(read->query.account, "main");
    text = picture_draw(model, &view, now, 80, 24, GLYPHS_ASCII);
    CHECK(text && strstr(text, "Round trips of main (40)") && strstr(text, "cross d"));
    free(text);
    CHECK_INT(tui_view_rows(&view, model, PANEL_TRIPS), TRIPS);
    read->query.account[0] = '\0';
}

/* Enter opens the row under the cursor, Enter there its order; Esc goes back to the row. */
static void check_page(void)
{
    const struct history_trip *trips = model->lists[DB_LIST_TRIPS].rows;

    tui_view_init(&view, false, 1000);
    press('5');
    press('t');
    for (int at = 0; at < TRIPS; at++) {
        CHECK_INT(press(PRESS_ENTER), ACTION_COLLECT);
        CHECK_INT(view.item.kind, ITEM_TRIP);
        CHECK_INT(view.item.id, trips[at].id);
        read_page();
        CHECK_INT(model->item.item.first, trips[at].first_fill);
        if (at == 4)
            check_picture("item-trip-80x24", 80, 24);
        press(PRESS_ESCAPE);
        CHECK_INT(view.focus, PANEL_TRIPS);
        press('j');
    }
    press(PRESS_ENTER);
    press(PRESS_ENTER);
    CHECK_INT(view.item.kind, ITEM_ORDER);
    CHECK_INT(view.item.id, trips[TRIPS - 1].order);

    tui_view_init(&view, false, 1000); /* --open trip:192: its order is known once it was read */
    CHECK(tui_item_parse("trip:192", &view.item));
    tui_item_keys_open(&view, &view.item);
    CHECK_INT(view.foot, FOOT_TRIPS);
    CHECK_INT(view.lists[DB_LIST_TRIPS].id, 192);
    CHECK_INT(press(PRESS_ENTER), ACTION_NONE);
    read_page();
    press(PRESS_ENTER);
    CHECK_INT(view.item.id, 296);
}

/* C chooses the columns of the round trips; those that are not usual among them. */
static void check_columns(void)
{
    tui_view_init(&view, false, 1000);
    view.tab = TAB_POSITIONS;
    press('t');
    press('C');
    CHECK_INT(view.choosing, CHOOSING_COLUMNS);
    CHECK_INT(view.listed, DB_LIST_TRIPS);
    press(PRESS_END);
    press(' ');
    press(PRESS_ESCAPE);
    CHECK(strstr(view.settings.columns[DB_LIST_TRIPS], " order") != NULL);
    strcpy(view.settings.columns[DB_LIST_TRIPS], "symbol P&L fills order strategy");
    check_picture("positions-trips-columns-80x24", 80, 24);
}

/* Each drawn row of the three tables is chosen by a click on it. */
static void check_mouse(void)
{
    static const enum panel tables[] = {PANEL_TRIPS, PANEL_BY_SYMBOL, PANEL_BY_STRATEGY};
    struct canvas canvas;
    struct layout layout;

    tui_view_init(&view, false, 1000);
    view.tab = TAB_POSITIONS;
    CHECK_INT(tui_canvas_init(&canvas, 120, 40, GLYPHS_BRAILLE), 0);
    for (size_t t = 0; t < sizeof(tables) / sizeof(tables[0]); t++)
        for (int row = 2; row >= 0; row--) {
            tui_view_draw(&view, model, now, &canvas);
            tui_view_layout(&view, model, 120, 40, &layout);
            const struct rect *rect = tui_layout_find(&layout, tables[t]);
            CHECK(rect != NULL);
            tui_mouse_press(&view, model, &canvas, now, PRESS_CLICK, rect->x + 5, rect->y + 1 + row);
            CHECK_INT(view.focus, tables[t]);
            CHECK_INT(tui_view_cursor(&view, model, tables[t]), row);
        }
    tui_canvas_finish(&canvas);
}

int main(int argc, char **argv)
{
    char words[256];
    struct history_reader *reader = NULL;

    if (argc != 2 || !setlocale(LC_CTYPE, "C.UTF-8"))
        return argc != 2 ? EXIT_FAILURE : CHECK_SKIP;
    golden = argv[1];
    random_state = random_seeded("tui/trips", 1);
    check_sums();
    model = tui_model_create(1000);
    const char *database = scratch_path("trips.db");
    CHECK_INT(fixture_database(database), 0);
    CHECK_INT(tui_history_open(database, &reader, words, sizeof(words)), 0);
    struct history_want want = {.symbol = "BTCUSDT", .interval = "1m"};
    CHECK_INT(tui_history_read(reader, fixture_now_ns, &want, &model->history, words, sizeof(words)), 0);
    tui_history_close(reader);
    model->have_history = true;
    json_t *status = json_loads(fixture_status, 0, NULL);
    CHECK_INT(tui_model_take_status(model, status, now), 0);
    json_decref(status);
    make_trips();
    check_pictures();
    check_sizes();
    check_labels();
    check_want();
    check_counts();
    check_currencies();
    check_other_account();
    check_page();
    check_columns();
    check_mouse();
    tui_model_destroy(model);
    return check_done("tui/trips");
}
