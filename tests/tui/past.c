/* The dashboard of an earlier moment: what it shows against what the rows say, its pictures, the keys that
 * lead there and back, and that nothing acts there. */
#include "tui/past.h"

#include <locale.h>
#include <math.h>
#include <poll.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/counts.h"
#include "tests/random.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/collect.h"
#include "tui/history_reader.h"
#include "tui/item_keys.h"
#include "tui/lists.h"
#include "tui/past_keys.h"

#define SECOND_NS INT64_C(1000000000)

enum { ROUNDS = 30, AGO_S = 3000, MANY_FILLS = 2 * HISTORY_FILLS_A_READ + 5000 };

static const char *golden, *path;
static struct model *model; /* of the moment that was read last */
static struct view view;
static const struct moment now = {1723161255342000000, 1000000};
static struct tui_past_source *source;

/* The entries of the fills, a deposit before them, and an order that rested from 3500 s to 1000 s ago. */
static void put_more(void)
{
    char sql[4096];
    sqlite3 *db;

    snprintf(
        sql, sizeof(sql),
        "INSERT INTO ledger SELECT 1, 1723050000000000000, 0, 'USDT', 8, 'deposit', 1000000000000, "
        "1000000000000, NULL, NULL, zeroblob(32);"
        "INSERT INTO ledger SELECT 10 * f.id, ts_ns, f.account, s.base, 8, 'trade', qty, qty, order_id, "
        "f.id, zeroblob(32) FROM fills f JOIN symbols s ON s.id = f.symbol;"
        "INSERT INTO ledger SELECT 10 * f.id + 1, ts_ns, f.account, 'USDT', 8, 'trade', -notional, "
        "1000000000000 - (SELECT sum(notional + fee) FROM fills e WHERE e.id <= f.id) + fee, order_id, "
        "f.id, zeroblob(32) FROM fills f;"
        "INSERT INTO ledger SELECT 10 * f.id + 2, ts_ns, f.account, 'USDT', 8, 'fee', -fee, 1000000000000 "
        "- (SELECT sum(notional + fee) FROM fills e WHERE e.id <= f.id), order_id, f.id, zeroblob(32) FROM "
        "fills f;"
        "CREATE TEMP TABLE more AS SELECT * FROM orders WHERE id = 7;"
        "UPDATE more SET id = 2, side = 'BUY', type = 'LIMIT', state = 'CANCELED', price = 6000000000000, "
        "stop_price = 0, tag = 'by hand', created_ns = %lld, effective_ns = %lld, updated_ns = %lld;"
        "INSERT INTO orders SELECT * FROM more",
        (long long)(fixture_now_ns - 3500 * SECOND_NS), (long long)(fixture_now_ns - 3500 * SECOND_NS),
        (long long)(fixture_now_ns - 1000 * SECOND_NS));
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static int64_t ask(const char *sql, int64_t at_ns)
{
    sqlite3_stmt *stmt;
    sqlite3 *db;
    int64_t value = 0;

    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    sqlite3_bind_int64(stmt, 1, at_ns);
    if (sqlite3_step(stmt) == SQLITE_ROW)
        value = sqlite3_column_int64(stmt, 0);
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return value;
}

static struct past_read read_past(struct past_want want)
{
    struct past_read read;

    if (!want.want.symbol[0])
        want.want = (struct history_want){.symbol = "BTCUSDT", .interval = "1m", .account = "main"};
    tui_past_source_read(source, &want, &read);
    if (read.model) {
        tui_model_destroy(model);
        model = read.model;
        view.at_ns = model->at_ns;
    }
    return read;
}

static struct past_read jump(int64_t at_ns)
{
    return read_past((struct past_want){.jumps = true, .at_ns = at_ns});
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-6;
}

/* One moment by hand. */
static void check_moment(void)
{
    struct past_read read = jump(fixture_now_ns - AGO_S * SECOND_NS);
    const struct status *s = &model->status;

    CHECK(read.model && !read.now && !read.words[0]);
    CHECK_INT(model->at_ns, fixture_now_ns - AGO_S * SECOND_NS);
    CHECK_INT(s->n_positions, 2);
    CHECK(near(s->positions[0].qty, 0.05) && near(s->positions[0].entry, 61700.5));
    CHECK(near(s->positions[1].qty, 1.25) && near(s->positions[1].entry, 2620.5));
    double paid = 0.05 * 61700.5 + 1.25 * 2620.5, fees = paid / 1000;
    CHECK_INT(s->n_accounts, 1);
    CHECK(near(s->accounts[0].cash, 10000 - paid - fees) && near(s->accounts[0].fees, fees));
    CHECK(near(s->accounts[0].deposits, 10000));
    CHECK_INT(s->n_orders, 1);
    CHECK(s->orders[0].id == 2 && strcmp(s->orders[0].state, "OPEN") == 0);
    CHECK_INT(model->history.n_orders, 3);
    CHECK_INT(model->history.n_fills, 2);
    CHECK_INT(model->history.n_alerts, 1); /* acknowledged later */
    CHECK(model->history.alerts[0].open);
    CHECK_INT(tui_model_alerts_open(model), 1);
}

/* Nothing later is there, and nothing earlier is missing. */
static void check_random(void)
{
    struct random random = random_seeded("tui/past", 7);

    const int rounds = counts_of("moments", ROUNDS, ROUNDS / 3);
    for (int i = 0; i < rounds; i++) {
        int64_t at_ns = fixture_now_ns - random_between(&random, 0, 7000) * SECOND_NS;
        struct past_read read = jump(at_ns);
        const struct history *h = &model->history;
        CHECK(read.model != NULL);
        CHECK_INT(h->n_orders, ask("SELECT count(*) FROM orders WHERE created_ns <= ?1", at_ns));
        CHECK_INT(h->n_fills, ask("SELECT count(*) FROM fills WHERE ts_ns <= ?1", at_ns));
        CHECK_INT(h->n_alerts, ask("SELECT count(*) FROM alerts WHERE ts_ns <= ?1", at_ns));
        CHECK_INT(h->n_log,
                  h->n_orders + h->n_alerts + ask("SELECT count(*) FROM commands WHERE ts_ns <= ?1", at_ns));
        CHECK_INT(model->status.n_orders,
                  ask("SELECT count(*) FROM orders WHERE created_ns <= ?1 AND (updated_ns > ?1 OR state = "
                      "'OPEN')",
                      at_ns));
        CHECK(h->n_equity > 0 && h->equity[h->n_equity - 1].ts_ns ==
                                     ask("SELECT max(ts_ns) FROM equity WHERE ts_ns <= ?1", at_ns));
        CHECK(h->n_bars > 0 && h->n_outputs > 0 &&
              h->bars[h->n_bars - 1].open_ns ==
                  ask("SELECT max(open_ns) FROM chart_bars WHERE symbol = 1 AND interval_ns = 60000000000 "
                      "AND open_ns + interval_ns <= ?1",
                      at_ns));
        for (int k = 0; k < h->n_log; k++)
            CHECK(h->log[k].ts_ns <= at_ns);
    }
}

static struct past_read go(int steps, bool by_bar)
{
    return read_past((struct past_want){.steps = steps, .by_bar = by_bar});
}

/* A time of the day: of the newest's day in a visit's first jump, then of the day that is shown. */
static void check_clock(int64_t newest_ns)
{
    static const int offsets_s[] = {0, 19800, -18000};
    static const char *const zones[] = {"UTC0", "XST-5:30", "XWT5"};
    const int64_t day_ns = 86400 * SECOND_NS;
    unsigned visit = 100;

    for (int i = 0; i < 3; i++) {
        const int64_t offset_ns = offsets_s[i] * SECOND_NS;
        setenv("TZ", zones[i], 1);
        tzset();
        cli_format_local(i > 0);
        for (int ago_days = 0; ago_days < 3; ago_days++) {
            struct past_want want = {.visit = ++visit, .jumps = true, .at_ns = newest_ns - ago_days * day_ns};
            if (ago_days > 0)
                read_past(want);
            const int64_t midnight_ns = (want.at_ns + offset_ns) / day_ns * day_ns - offset_ns;
            want.of_day = true;
            for (int s = 0; s < 86400; s += 14401) {
                want.at_ns = s * SECOND_NS;
                struct past_read read = read_past(want);
                if (midnight_ns + want.at_ns <= newest_ns)
                    CHECK_INT(model->at_ns, midnight_ns + want.at_ns);
                else
                    CHECK(!read.model && strstr(read.words, " is later than all that is recorded"));
            }
        }
    }
    setenv("TZ", "UTC", 1);
    tzset();
    cli_format_local(false);
}

static void check_steps(void)
{
    jump(fixture_now_ns - AGO_S * SECOND_NS);
    go(-1, false);
    CHECK_INT(model->at_ns, fixture_now_ns - 3500 * SECOND_NS);
    go(-2, false);
    CHECK_INT(model->at_ns, fixture_now_ns - 5000 * SECOND_NS);
    struct past_read read = go(-100, false);
    CHECK(read.model && strstr(read.words, "nothing earlier"));
    CHECK_INT(model->at_ns, fixture_now_ns - 7200 * SECOND_NS);
    go(3, false);
    CHECK_INT(model->at_ns, fixture_now_ns - 3500 * SECOND_NS);
    go(1, true);
    CHECK_INT(model->at_ns,
              (fixture_now_ns - 3500 * SECOND_NS) / (60 * SECOND_NS) * 60 * SECOND_NS + 60 * SECOND_NS);
    int64_t bar_ns = model->at_ns;
    go(-1, true);
    CHECK_INT(model->at_ns, bar_ns - 60 * SECOND_NS);
    read = go(1000, true);
    CHECK(read.now && !read.model);
    go(-1, false); /* from now: the newest */
    CHECK_INT(model->at_ns, fixture_now_ns - 20 * SECOND_NS);
    int64_t newest_ns = -1;
    read = jump(fixture_now_ns + SECOND_NS); /* this machine's clock is later still */
    CHECK(!read.model && !read.now &&
          strstr(read.words, "is later than all that is recorded: the newest that "
                             "is recorded is of "));
    /* before the newest that is recorded, whatever it is now */
    for (int ago_s = 1; ago_s < 5000; ago_s += 70) {
        read = jump(-ago_s * SECOND_NS);
        newest_ns = newest_ns < 0 ? model->at_ns + ago_s * SECOND_NS : newest_ns;
        CHECK_INT(model->at_ns, newest_ns - ago_s * SECOND_NS);
    }
    check_clock(newest_ns);
    jump(0); /* :at -0s */
    CHECK_INT(model->at_ns, newest_ns);
    read = jump(newest_ns);
    CHECK(read.model && !read.now);
    CHECK(jump(newest_ns + 1).words[0] != '\0');
    read = jump(clock_wall_ns() + 3600 * SECOND_NS); /* to come: refused */
    CHECK(!read.model && !read.now &&
          strstr(read.words, "is later than now: the newest that is recorded is of "));
    read = jump(SECOND_NS);
    CHECK(read.model && model->status.n_symbols == 0 && model->status.n_positions == 0);
    read = jump(SECOND_NS - 1);
    CHECK(read.model && strstr(read.words, "nothing is recorded"));
    read = read_past((struct past_want){.visit = 1, .steps = -1}); /* another visit starts from now */
    CHECK_INT(model->at_ns, fixture_now_ns - 20 * SECOND_NS);
}

/* Statistics of many fills are continued from those of another moment: they are those of a reading that has
 * no other, whatever was read before. One that is stopped reads nothing, and can be read again. */
static void check_statistics(void)
{
    const char *many = scratch_path("many.db");
    struct random random = random_seeded("tui/past", 8);
    struct tui_past_source *kept = tui_past_source_create(many);
    struct past_read one, other;
    char sql[1024];
    sqlite3 *db;

    CHECK_INT(fixture_database(many), 0);
    snprintf(sql, sizeof(sql),
             "CREATE TEMP TABLE more AS WITH n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < %d) "
             "SELECT n.i, f.* FROM n, (SELECT * FROM fills ORDER BY id LIMIT 1) f;"
             "UPDATE more SET id = 1000 + i, ts_ns = %lld + i * 1000000, side = iif(i %% 2, 'SELL', 'BUY'), "
             "price = price + i * 1000;"
             "ALTER TABLE more DROP COLUMN i;"
             "INSERT INTO fills SELECT * FROM more",
             MANY_FILLS, (long long)fixture_now_ns);
    CHECK_INT(sqlite3_open(many, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    for (int i = 0; i < 6; i++) {
        const int n = (int)random_between(&random, 1, MANY_FILLS - 1);
        const struct past_want want = {.jumps = true, .at_ns = fixture_now_ns + n * INT64_C(1000000)};
        struct tui_past_source *fresh = tui_past_source_create(many);
        tui_past_source_stop(fresh, true);
        CHECK(!tui_past_source_read(fresh, &want, &one));
        tui_past_source_stop(fresh, false);
        CHECK(tui_past_source_read(fresh, &want, &one) && tui_past_source_read(kept, &want, &other));
        const struct history_account *a = tui_history_account(&one.model->history, "main"),
                                     *b = tui_history_account(&other.model->history, "main");
        CHECK_INT(a->trades.fills, n + 3);
        CHECK(memcmp(&a->trades, &b->trades, sizeof(a->trades)) == 0);
        tui_model_destroy(one.model);
        tui_model_destroy(other.model);
        tui_past_source_destroy(fresh);
        struct tui_past_reader *reader = tui_past_reader_create(many);
        tui_past_reader_want(reader, &want);
        tui_past_reader_destroy(reader); /* in the midst of it */
    }
    tui_past_source_destroy(kept);
}

static enum action press(int key)
{
    return tui_keys_press(&view, model, 80, 24, now, key);
}

/* What acts is refused with words, whatever is shown. */
static void check_refused(void)
{
    char words[VIEW_BARRED_MAX];

    for (int tab = 0; tab < TABS; tab++) {
        tui_view_init(&view, false, 1000);
        jump(fixture_now_ns - AGO_S * SECOND_NS);
        view.tab = (enum tab)tab;
        for (const char *key = "pFaxsSrePRBEOb@"; *key; key++) {
            view.outcome = OUTCOME_NONE;
            CHECK_INT(press(*key), ACTION_NONE);
            CHECK_INT(view.prompt, PROMPT_NONE);
            CHECK(view.outcome == OUTCOME_NOTE && strstr(view.words, "the past cannot be acted on"));
        }
    }
    CHECK(strstr(tui_view_barred(&view, model, words), "Esc returns to now") != NULL);
}

/* A question or a form of before the past came is closed when it comes, a typed line is not; a command that
 * is sent all the same is refused. */
static void check_late_answers(void)
{
    const struct past_want want = {.jumps = true, .at_ns = fixture_now_ns - AGO_S * SECOND_NS};
    struct state_dir state = {.path = "/nowhere", .socket = "/nowhere/control.sock"};
    struct collector collector;

    snprintf(state.database, sizeof(state.database), "%s", path);
    for (enum prompt prompt = PROMPT_NONE; prompt < PROMPTS; prompt++) {
        const bool typed = prompt == PROMPT_COMMAND || prompt == PROMPT_LIST || prompt == PROMPT_FIND;
        CHECK_INT(tui_collector_init(&collector, &state, NULL, 1000), 0);
        tui_view_init(&view, false, 1000);
        tui_collector_past(&collector, &view, &want, now);
        view.prompt = prompt;
        if (prompt == PROMPT_ORDER)
            view.order_form = tui_order_form_create(0);
        if (prompt == PROMPT_RESTART)
            view.page = tui_form_page_create("ppo-btc", true);
        struct pollfd fd = {.fd = tui_collector_past_fd(&collector), .events = POLLIN};
        CHECK_INT(poll(&fd, 1, 60000), 1);
        CHECK(tui_collector_take_past(&collector, &view, now));
        CHECK_INT(view.at_ns, want.at_ns);
        CHECK_INT(view.prompt, typed ? prompt : PROMPT_NONE);
        CHECK(!tui_view_form(&view));
        tui_collector_command(&collector, &view, "flatten", json_pack("{s:s}", "confirm", "FLATTEN"), now);
        CHECK_INT(view.outcome, OUTCOME_REFUSED);
        CHECK_STR(view.words, "the past cannot be acted on: Esc returns to now");
        tui_collector_finish(&collector);
        tui_view_finish(&view);
    }
}

/* Without a page the database is not opened for one at each step. */
static void check_page(void)
{
    static const struct item fill = {.kind = ITEM_FILL, .id = 1};
    struct state_dir state = {.path = "/nowhere", .socket = "/nowhere/control.sock"};
    struct collector collector;
    char words[STATUS_TEXT_MAX];

    snprintf(state.database, sizeof(state.database), "%s", path);
    CHECK_INT(tui_collector_init(&collector, &state, NULL, 1000), 0);
    tui_view_init(&view, false, 1000);
    const struct past_want go = {.jumps = true, .at_ns = fixture_now_ns - AGO_S * SECOND_NS};
    CHECK(tui_collector_past_once(&collector, &view, &go, 80, words));
    tui_collector_read_item(&collector, now);
    CHECK(!collector.past_rows);
    tui_collector_want_item(&collector, &fill);
    tui_collector_read_item(&collector, now);
    CHECK(collector.past_rows);
    CHECK(collector.past->item.n > 0);
    tui_collector_finish(&collector);
}

static void check_keys(void)
{
    enum action action;
    char text[COMMAND_LINE_MAX];

    tui_view_init(&view, false, 1000);
    CHECK_INT(press('>'), ACTION_NONE);
    CHECK_INT(press('<'), ACTION_PAST);
    CHECK(view.go.steps == -1 && !view.go.by_bar && !view.go.jumps);
    view.tab = TAB_MARKET;
    view.at_ns = model->at_ns;
    CHECK_INT(press('>'), ACTION_PAST);
    CHECK(view.go.steps == 1 && view.go.by_bar);
    view.tab = TAB_ORDERS;
    CHECK_INT(press(PRESS_ENTER), ACTION_COLLECT);
    CHECK_INT(view.item.kind, ITEM_ORDER);
    CHECK_INT(press(PRESS_ESCAPE), ACTION_COLLECT); /* to the list first */
    CHECK_INT(press(PRESS_ESCAPE), ACTION_NOW);

    CHECK(tui_past_keys_line(&view, " at  2024-08-08T23:00 ", now, &action));
    CHECK_INT(action, ACTION_PAST);
    CHECK(view.go.jumps && view.go.at_ns == INT64_C(1723158000) * SECOND_NS);
    for (int s = 0; s < 86400; s += 61) {
        char line[24];
        snprintf(line, sizeof(line), "at %02d:%02d:%02d", s / 3600, s / 60 % 60, s % 60);
        CHECK(tui_past_keys_line(&view, line, now, &action) && action == ACTION_PAST);
        CHECK(view.go.jumps && view.go.of_day && view.go.at_ns == s * SECOND_NS);
    }
    CHECK(tui_past_keys_line(&view, "at 9:05", now, &action) && action == ACTION_PAST);
    CHECK(view.go.of_day && view.go.at_ns == (9 * 60 + 5) * 60 * SECOND_NS);
    static const char *const no_clock[] = {"24:00",       "11:60", "11:3",   "11:30:", "11:30:60",
                                           "11:30:00:00", ":30",   "111:30", "11:300"};
    for (size_t i = 0; i < sizeof(no_clock) / sizeof(no_clock[0]); i++) {
        int64_t ns;
        CHECK(!tui_past_clock_parse(no_clock[i], &ns));
    }
    CHECK(tui_past_keys_line(&view, "at now", now, &action) && action == ACTION_NOW);
    CHECK(tui_past_keys_line(&view, "at noon", now, &action) && action == ACTION_NONE);
    CHECK_INT(view.outcome, OUTCOME_REFUSED);
    CHECK(!tui_past_keys_line(&view, "attach 7", now, &action));
    CHECK(!tui_past_keys_line(&view, "order buy BTCUSDT 1", now, &action));
    CHECK(tui_past_keys_line(&view, "what-if --at 2024-08-08 --set fast=3", now, &action));
    CHECK(action == ACTION_COLLECT && view.item.kind == ITEM_WHAT_IF);
    CHECK(strcmp(view.item.name, "what-if --at 2024-08-08 --set fast=3") == 0);
    memset(text, 'x', sizeof(text) - 1);
    memcpy(text, "what-if ", 8);
    text[sizeof(text) - 1] = '\0';
    CHECK(tui_past_keys_line(&view, text, now, &action) && view.outcome == OUTCOME_REFUSED);
}

static void check_what_if(void)
{
    char text[COMMAND_LINE_MAX];
    struct item order = {.kind = ITEM_ORDER, .id = 4};

    tui_view_init(&view, false, 1000);
    jump(fixture_now_ns - AGO_S * SECOND_NS);
    CHECK(!tui_past_keys_what_if(&view, model, PANEL_PRICES, now, text));
    tui_item_keys_open(&view, &order);
    CHECK(tui_past_keys_what_if(&view, model, PANEL_ITEM, now, text));
    CHECK(strcmp(text, "what-if --at 2024-08-08T23:04:15.342000000Z --account main --strategy ") == 0);
    view.at_ns = 0; /* of now: from when it was given */
    CHECK(tui_past_keys_what_if(&view, model, PANEL_ITEM, now, text));
    CHECK(strcmp(text, "what-if --at 2024-08-08T22:54:15.342000000Z --account main --strategy ") == 0);
}

static void read_lists(int width, int height)
{
    struct list_rows read[DB_LISTS] = {0};
    struct lists_want want;
    struct layout layout;
    struct history_reader *reader;
    char words[256];

    CHECK_INT(tui_history_open_at(path, view.at_ns, &reader, words, sizeof(words)), 0);
    tui_view_layout(&view, model, width, height, &layout);
    tui_lists_want(&view, model, &layout, &want);
    for (int i = 0; i < DB_LISTS; i++)
        if (want.list[i].used)
            CHECK_INT(tui_list_source_read(reader->db, (enum db_list)i, &want.list[i], true, &read[i]), 0);
    tui_lists_take(&view, model, read, now);
    tui_history_close(reader);
}

static void check_pictures(void)
{
    static const struct {
        const char *name;
        enum tab tab;
        int width, height;
    } pictures[] = {{"past-80x24", TAB_OVERVIEW, 80, 24},
                    {"past-120x40", TAB_OVERVIEW, 120, 40},
                    {"past-200x60", TAB_OVERVIEW, 200, 60},
                    {"past-39x9", TAB_OVERVIEW, 39, 9},
                    {"past-market-80x24", TAB_MARKET, 80, 24},
                    {"past-orders-80x24", TAB_ORDERS, 80, 24},
                    {"past-positions-80x24", TAB_POSITIONS, 80, 24},
                    {"past-log-80x24", TAB_LOG, 80, 24}};

    for (size_t i = 0; i < sizeof(pictures) / sizeof(pictures[0]); i++) {
        tui_view_init(&view, false, 1000);
        jump(fixture_now_ns - AGO_S * SECOND_NS);
        view.tab = pictures[i].tab;
        read_lists(pictures[i].width, pictures[i].height);
        CHECK(picture_matches(golden, pictures[i].name, model, &view, now, pictures[i].width,
                              pictures[i].height, GLYPHS_BRAILLE));
    }
}

/* What was read of another moment is not shown. */
static void check_lists(void)
{
    struct list_rows read[DB_LISTS] = {0};

    tui_view_init(&view, false, 1000);
    jump(fixture_now_ns - AGO_S * SECOND_NS);
    read[DB_LIST_ORDERS] = (struct list_rows){.have = true, .at_ns = 0};
    tui_lists_take(&view, model, read, now);
    CHECK(!model->lists[DB_LIST_ORDERS].have);
    view.tab = TAB_ORDERS;
    read_lists(80, 24);
    CHECK(model->lists[DB_LIST_ORDERS].have);
    CHECK_INT(model->lists[DB_LIST_ORDERS].window.total, 2); /* the live one is before them */
}

int main(int argc, char **argv)
{
    if (argc != 2 || !setlocale(LC_CTYPE, "C.UTF-8"))
        return argc != 2 ? EXIT_FAILURE : CHECK_SKIP;
    golden = argv[1];
    path = scratch_path("papertape.db");
    CHECK_INT(fixture_database(path), 0);
    put_more();
    source = tui_past_source_create(path);
    tui_view_init(&view, false, 1000);
    check_moment();
    check_random();
    check_steps();
    check_statistics();
    check_refused();
    check_late_answers();
    check_page();
    check_keys();
    check_what_if();
    check_lists();
    check_pictures();
    tui_past_source_destroy(source);
    tui_model_destroy(model);
    return check_done("tui/past");
}
