/* Golden screens: one status, one database, one moment, drawn at fixed sizes. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixtures/dashboard.h"
#include "tests/check.h"
#include "tests/scratch.h"
#include "tests/tui/picture.h"
#include "tui/history.h"
#include "tui/keys.h"
#include "tui/status_reader.h"
#include "tui/view.h"

static const char *golden;
static struct model *model;
static struct moment now = {1723161255342000000, 1000000};

static void check_screen(const char *name, const struct view *view, int width, int height, enum glyphs glyphs)
{
    CHECK(picture_matches(golden, name, model, view, now, width, height, glyphs));
}

static void check_sizes(void)
{
    static const struct {
        const char *name;
        int width, height;
    } sizes[] = {
        {"overview-80x24", 80, 24}, {"overview-120x40", 120, 40}, {"overview-200x60", 200, 60},
        {"overview-40x10", 40, 10}, {"overview-39x9", 39, 9},
    };
    struct view view;

    tui_view_init(&view, false, 1000);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        check_screen(sizes[i].name, &view, sizes[i].width, sizes[i].height, GLYPHS_BRAILLE);
    check_screen("overview-ascii-80x24", &view, 80, 24, GLYPHS_ASCII);
}

static void check_tabs(void)
{
    static const char *const names[TABS] = {
        [TAB_STUDY] = "study-80x24",
        [TAB_GPU] = "gpu-80x24",
        [TAB_MARKET] = "market-80x24",
        [TAB_ORDERS] = "orders-80x24",
        [TAB_POSITIONS] = "positions-80x24",
        [TAB_ALERTS] = "alerts-80x24",
        [TAB_LOG] = "log-80x24",
    };
    struct view view;

    tui_view_init(&view, true, 1000);
    for (int tab = 0; tab < TABS; tab++) {
        view.tab = (enum tab)tab;
        if (names[tab])
            check_screen(names[tab], &view, 80, 24, GLYPHS_BRAILLE);
    }
}

static const char *database;

static void check_overlays(void)
{
    struct view view;

    tui_view_init(&view, false, 1000);
    view.help = true;
    check_screen("help-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    view.help = false;
    view.setup = true;
    view.setup_row = 1;
    check_screen("set-up-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    view.setup = false;
    view.prompt = PROMPT_FLATTEN;
    strcpy(view.typed, "FLAT");
    check_screen("flatten-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    check_screen("flatten-40x10", &view, 40, 10, GLYPHS_BRAILLE);
    view.prompt = PROMPT_NONE;
    tui_view_report(&view, OUTCOME_REFUSED, "flatten", "RISK_STORAGE: the database \033[31mcannot commit",
                    now);
    now.mono_ms += 94000; /* the daemon has stopped answering */
    check_screen("gone-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    now.mono_ms -= 90000;
    check_screen("stale-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    now.mono_ms -= 4000;
}

/* The command line, what Tab offers, and outcomes that are longer than the last line. */
static void check_commands(void)
{
    static const char typed[] = "order buy BTCUSDT 0.01 --t";
    struct view view;

    tui_view_init(&view, false, 1000);
    view.line = tui_command_line_create();
    view.prompt = PROMPT_COMMAND;
    check_screen("command-empty-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    tui_command_line_open(view.line, "order buy BTCUSDT 0.01 --tif ");
    check_screen("command-about-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    view.readonly = true;
    check_screen("command-readonly-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    view.readonly = false;
    tui_command_line_open(view.line, "");
    for (const char *c = typed; *c; c++)
        tui_command_line_press(view.line, model, *c);
    tui_command_line_press(view.line, model, '\t');
    check_screen("command-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    tui_command_line_press(view.line, model, '\t');
    check_screen("command-40x10", &view, 40, 10, GLYPHS_ASCII);
    view.prompt = PROMPT_NONE;
    tui_view_report(
        &view, OUTCOME_REFUSED, "order",
        "INSUFFICIENT_BALANCE: the account does not hold enough: 601176.8763 USDT needed, 48818.82 "
        "available (order 4)",
        now);
    check_screen("command-refused-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    tui_view_report(&view, OUTCOME_UNANSWERED, "pause", "timed out: it may still be carried out", now);
    check_screen("command-unanswered-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    tui_view_finish(&view);
}

/* A long reason and a long tag: the header keeps its figures, the prices their indicators. A disk that is
 * checked. */
static void check_halted(void)
{
    struct status *status = &model->status;
    struct history_fill *fill = &model->history.fills[0], kept = *fill;
    double equity = status->accounts[0].equity, drawdown = status->accounts[0].drawdown_pct;
    struct view view;

    tui_view_init(&view, false, 1000);
    strcpy(status->trading, "halted");
    strcpy(status->trading_reason, "halted: the drawdown of account main reached 20 %");
    strcpy(fill->tag, "cross down");
    strcpy(fill->side, "SELL");
    status->accounts[0].equity = 1234567.89;
    status->accounts[0].drawdown_pct = -20.4;
    check_screen("halted-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    strcpy(status->trading, "paused");
    strcpy(status->trading_reason, "paused by the user");
    check_screen("paused-120x40", &view, 120, 40, GLYPHS_BRAILLE);
    strcpy(status->trading, "on");
    strcpy(status->trading_reason, "");
    char state[sizeof status->db.state], detail[sizeof status->db.detail];
    memcpy(state, status->db.state, sizeof state);
    memcpy(detail, status->db.detail, sizeof detail);
    strcpy(status->db.state, "checking");
    strcpy(status->db.detail, "event log: what the disk has is compared with what was written");
    check_screen("storage-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    memcpy(status->db.state, state, sizeof state);
    memcpy(status->db.detail, detail, sizeof detail);
    status->accounts[0].equity = equity;
    status->accounts[0].drawdown_pct = drawdown;
    *fill = kept;
}

/* From 80 columns on the header has equity, return and drawdown, of whom each is, whatever is wrong. */
static void check_header(void)
{
    enum { ACCOUNTS = 5 };
    static const char *const names[] = {"main", "a-name-of-thirty-one-characters"};
    static const char *const states[] = {"on", "paused", "halted"};
    static const double equities[] = {12.34, 15133.13, 1234567.89};
    struct status *status = &model->status;
    struct status kept;
    struct view view;

    CHECK(tui_status_copy(status, &kept));
    tui_view_init(&view, false, 1000);
    for (int i = 0; i < 2 * 3 * 3 * 2 * 2; i++) {
        const char *name = names[i % 2];
        const double equity = equities[i / 2 % 3];
        const int several = i / 18 % 2;
        strcpy(status->trading, states[i / 6 % 3]);
        strcpy(status->parity.state, i / 36 % 2 ? "failed" : "ok");
        strcpy(status->db.state, i / 36 % 2 ? "ok" : "checking");
        status->n_accounts = 0;
        for (int k = 0; k < (several ? ACCOUNTS : 1); k++) {
            struct status_account *account = tui_status_add(status, STATUS_ACCOUNTS);
            *account = kept.accounts[0];
            snprintf(account->account, sizeof(account->account), "%s", k == 3 ? name : "other");
            account->equity = equity / (several ? ACCOUNTS : 1);
            account->deposits = account->equity / 1.0243;
            account->return_pct = 2.43;
            account->drawdown_pct = k == 3 || !several ? -20.4 : -1.5;
        }
        status->n_totals = 0;
        tui_status_sum(status, NULL);
        for (int width = 80; width <= 200; width += 10) {
            char whole[32], *text = picture_draw(model, &view, now, width, 24, GLYPHS_ASCII),
                            *line = strndup(text, strcspn(text, "\n"));
            snprintf(whole, sizeof(whole), " %.5s",
                     i / 2 % 3 == 0   ? "12.34"
                     : i / 2 % 3 == 1 ? "15133"
                                      : "12345");
            bool good = strstr(line, whole) && strstr(line, " +2.43% ") && strstr(line, " -20") &&
                        strstr(line, "TRADING") &&
                        strstr(line, i / 36 % 2 ? "parity FAILED" : "STORAGE checking");
            if (several)
                good &= strstr(line, "all ") && strstr(line, i % 2 ? "dd a-n" : "dd main -20");
            if (!good)
                fprintf(stderr, "%d columns: %s\n", width, line);
            CHECK(good);
            free(line);
            free(text);
        }
    }
    tui_status_finish(status);
    *status = kept;
    tui_view_finish(&view);
}

/* A group of more orders than a bracket has, with the longest numbers: two of them are named. */
static void check_large_group(struct view *view)
{
    const int64_t first = INT64_MAX - 40;
    char *text;

    for (int64_t id = first; id < INT64_MAX; id++) {
        struct status_order *order = tui_status_add(&model->status, STATUS_ORDERS);
        *order = model->status.orders[0];
        order->id = id;
        order->group = first;
    }
    view->order = first + 20;
    text = picture_draw(model, view, now, 80, 24, GLYPHS_BRAILLE);
    CHECK(text && strstr(text, "Orders 9223372036854775767 and 9223372036854775768 end"));
    free(text);
}

/* Two accounts, a short, an OCO, a bracket, and a comparison that failed; then an order to cancel. */
static void check_several(void)
{
    json_t *object = json_loads(fixture_status, 0, NULL), *more = json_loads(fixture_several, 0, NULL);
    struct view view;

    CHECK_INT(json_object_update(object, more), 0);
    CHECK_INT(tui_model_take_status(model, object, now), 0);
    tui_view_init(&view, false, 1000);
    check_screen("several-120x40", &view, 120, 40, GLYPHS_BRAILLE);
    check_screen("several-200x60", &view, 200, 60, GLYPHS_BRAILLE);
    view.tab = TAB_POSITIONS;
    check_screen("several-positions-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    view.tab = TAB_ORDERS;
    view.focus = PANEL_ORDERS;
    view.cursor[PANEL_ORDERS] = 2;
    check_screen("several-orders-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    check_screen("several-orders-40x10", &view, 40, 10, GLYPHS_BRAILLE);
    check_screen("several-orders-200x60", &view, 200, 60, GLYPHS_BRAILLE);
    view.prompt = PROMPT_CANCEL;
    view.order = 12;
    check_screen("cancel-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    check_screen("cancel-40x10", &view, 40, 10, GLYPHS_BRAILLE);
    view.order = 14; /* a bracket's exit: the other ends with it, the entry stays */
    check_screen("cancel-exit-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    view.order = 13;
    check_screen("cancel-entry-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    view.prompt = PROMPT_NONE;
    view.cursor[PANEL_ORDERS] = 7; /* a refused one, whose reason has no column */
    check_screen("refused-orders-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    view.cursor[PANEL_ORDERS] = 2;
    view.prompt = PROMPT_CANCEL;
    view.order = 99; /* it ended while the question stood */
    check_screen("cancel-ended-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    json_t *orders = json_object_get(object, "orders"), *entry = json_array_get(orders, 3);
    json_object_set_new(entry, "state", json_string("PARTIAL"));
    json_object_set_new(entry, "filled", json_real(0.5));
    CHECK_INT(tui_model_take_status(model, object, now), 0);
    view.order = 13; /* its exits start for the part that was filled */
    check_screen("cancel-partly-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    json_array_remove(orders, 3);
    for (size_t i = 3; i < json_array_size(orders); i++)
        json_object_set_new(json_array_get(orders, i), "state", json_string("OPEN"));
    CHECK_INT(tui_model_take_status(model, object, now), 0);
    view.order = 14; /* its entry has ended, and what that filled stays */
    check_screen("cancel-alone-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    check_large_group(&view);
    json_decref(object);
    json_decref(more);
    object = json_loads(fixture_status, 0, NULL);
    CHECK_INT(tui_model_take_status(model, object, now), 0);
    json_decref(object);
}

/* Accounts at a venue: how each is there, an order of unknown outcome, one from elsewhere. */
static void check_at_venue(void)
{
    json_t *object;
    struct view view;

    CHECK_INT(fixture_take(model, fixture_at_venue, now), 0);
    tui_view_init(&view, false, 1000);
    check_screen("at-venue-120x40", &view, 120, 40, GLYPHS_BRAILLE);
    view.tab = TAB_POSITIONS;
    check_screen("at-venue-positions-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    view.zoomed = PANEL_ACCOUNTS;
    struct status_account *last = &model->status.accounts[model->status.n_accounts - 1];
    strcpy(last->halted, "no decision on 3 bars in a row (in all 3 late, 0 invalid, 0 ended)");
    check_screen("at-venue-accounts-120x40", &view, 120, 40, GLYPHS_BRAILLE);
    last->halted[0] = '\0';
    view.zoomed = PANEL_NONE;
    view.tab = TAB_ORDERS;
    check_screen("at-venue-orders-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    view.focus = PANEL_ORDERS;
    view.cursor[PANEL_ORDERS] = 2;
    CHECK_INT(tui_keys_press(&view, model, 80, 24, now, 'x'), ACTION_NONE);
    CHECK_INT(view.prompt, PROMPT_NONE);
    check_screen("at-venue-external-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    view.cursor[PANEL_ORDERS] = 0;
    CHECK_INT(tui_keys_press(&view, model, 80, 24, now, 'E'), ACTION_NONE);
    CHECK(!tui_view_form(&view));
    CHECK_INT(view.outcome, OUTCOME_REFUSED);
    CHECK(strstr(view.words, "x cancels it, O gives a new one"));
    object = json_loads(fixture_status, 0, NULL);
    CHECK_INT(tui_model_take_status(model, object, now), 0);
    json_decref(object);
}

/* Venues: rates and budgets, a market that is closed, one that is banned, a symbol that is halted. */
static void check_venues(void)
{
    json_t *object;
    struct view view;

    CHECK_INT(fixture_take(model, fixture_venues, now), 0);
    for (int i = 0; i < model->status.n_streams; i++)
        strcpy(model->status.streams[i].venue, "binance");
    tui_view_init(&view, true, 1000);
    check_screen("venues-overview-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    check_screen("venues-overview-120x40", &view, 120, 40, GLYPHS_BRAILLE);
    check_screen("venues-overview-200x60", &view, 200, 60, GLYPHS_BRAILLE);
    view.tab = TAB_ALERTS;
    check_screen("venues-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    check_screen("venues-40x10", &view, 40, 10, GLYPHS_BRAILLE);
    view.zoomed = PANEL_VENUES;
    check_screen("venues-zoomed-120x40", &view, 120, 40, GLYPHS_BRAILLE);
    object = json_loads(fixture_status, 0, NULL);
    CHECK_INT(tui_model_take_status(model, object, now), 0);
    json_decref(object);
}

/* A chosen alert is shown whole; one that is over says when. */
static void check_alerts(void)
{
    struct history_alert *alerts = model->history.alerts;
    struct history_alert kept[2] = {alerts[0], alerts[2]};
    struct view view;

    tui_view_init(&view, true, 1000);
    view.tab = TAB_ALERTS;
    alerts[0].text[0] = '\0';
    for (size_t i = 0, n = 0; n + 11 < sizeof(alerts[0].text); i++)
        n += (size_t)snprintf(alerts[0].text + n, sizeof(alerts[0].text) - n, "%sword%zu", n ? " " : "",
                              i % 10);
    strcat(alerts[0].text, " end");
    alerts[2].closed_ns = fixture_now_ns - 60 * INT64_C(1000000000);
    check_screen("alerts-detail-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    view.cursor[PANEL_ALERTS] = 2;
    check_screen("alerts-closed-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    alerts[0] = kept[0];
    alerts[2] = kept[1];
}

/* Trades that were closed, and a backtest beside the live equity: running, done, failed. */
static void check_strategies(void)
{
    struct history *h = &model->history;
    struct history_account *trades = &h->accounts[0], kept = *trades;
    struct backtest_view *backtest = &model->backtest;
    struct view view;

    tui_view_init(&view, false, 1000);
    view.tab = TAB_POSITIONS;
    trades->trades = (struct trade_statistics){.fills = 51,
                                               .trades = 25,
                                               .wins = 14,
                                               .losing = 2,
                                               .longest = 5,
                                               .open = 1,
                                               .won = 812.5,
                                               .lost = 403.1,
                                               .fees = 61.72,
                                               .best = 140.22,
                                               .worst = -88.4};
    *backtest = (struct backtest_view){.state = BACKTEST_RUNNING, .started_ms = now.mono_ms - 2400};
    strcpy(backtest->account, "main");
    view.focus = PANEL_STRATEGIES;
    check_screen("backtest-running-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    backtest->state = BACKTEST_DONE;
    backtest->return_pct = 1.305;
    for (int i = 0; i < 200; i++)
        backtest->curve[backtest->n_curve++] =
            (struct history_equity){h->equity[0].ts_ns + 3600000000000 + (int64_t)i * 400000000000,
                                    10060 + 40 * (i % 50 / 25) + i, 10075 + i};
    check_screen("backtest-done-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    check_screen("backtest-done-200x60", &view, 200, 60, GLYPHS_BRAILLE);
    check_screen("backtest-done-ascii-80x24", &view, 80, 24, GLYPHS_ASCII);
    backtest->state = BACKTEST_FAILED;
    tui_view_report(&view, OUTCOME_REFUSED, "backtest", "papertape: backtest: no bars of BTCUSDT are stored",
                    now);
    check_screen("backtest-failed-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    *backtest = (struct backtest_view){0};
    *trades = kept;
}

/* No crash and no control character at any size and tab. */
static void check_every_size(void)
{
    struct view view;
    struct canvas canvas;

    tui_view_init(&view, false, 1000);
    for (int width = 1; width < 220; width += 9)
        for (int height = 1; height < 70; height += 4)
            for (int tab = 0; tab < TABS; tab++) {
                view.tab = (enum tab)tab;
                view.help = (width + height) % 3 == 0;
                view.depth = width / 9 % 2;
                view.prompt = (enum prompt)((width + height) % 5 % (PROMPT_CANCEL + 1));
                CHECK_INT(tui_canvas_init(&canvas, width, height, (enum glyphs)(width % 3)), 0);
                tui_view_draw(&view, model, now, &canvas);
                tui_canvas_finish(&canvas);
            }
}

static int load(bool daemon)
{
    char words[256];
    static const struct history_want want = {.symbol = "BTCUSDT", .interval = "1m"};
    struct history_reader *reader;
    int r = tui_history_open(database, &reader, words, sizeof(words));
    if (r == 0)
        r = tui_history_read(reader, fixture_now_ns, &want, &model->history, words, sizeof(words));
    if (r == 0 && !daemon) {
        int64_t age_ms = -1;
        struct status *stored = calloc(1, sizeof(*stored));
        r = tui_history_status(reader, now.wall_ns, stored, &age_ms, words, sizeof(words));
        if (r == 0)
            tui_model_take_stored(model, stored, age_ms, now);
        tui_status_finish(stored);
        free(stored);
        snprintf(model->daemon_words, sizeof(model->daemon_words),
                 "/run/papertape/control.sock: no daemon is listening");
    }
    if (r < 0)
        fprintf(stderr, "%s: %s\n", database, words);
    else
        tui_history_close(reader);
    model->have_history = r == 0;
    return r;
}

/* The daemon is back and the venue is not: it does not know what it holds, and the database does. */
static void check_waiting(void)
{
    json_t *object = json_loads(fixture_status, 0, NULL), *feed = json_object_get(object, "feed");
    static const char *const unknown[] = {"accounts", "symbols", "positions", "orders", "counters"};
    struct view view;

    tui_view_init(&view, false, 1000);
    for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
        json_object_set_new(object, unknown[i], json_null());
    json_object_set_new(feed, "state", json_string("retry"));
    json_object_set_new(feed, "streams", json_array());
    json_object_set_new(feed, "age_ms", json_null());
    json_object_set_new(feed, "retry_in_ms", json_integer(11200));
    json_object_set_new(feed, "detail",
                        json_string("https://api.example:443/api/v3/exchangeInfo: Could not resolve host: "
                                    "api.example; attempt 4"));
    CHECK_INT(tui_model_take_status(model, object, now), 0);
    CHECK_INT(model->holdings, MODEL_NOTHING);
    check_screen("unknown-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    now.wall_ns += 30000000000; /* after the last stored price */
    CHECK_INT(load(false), 0);
    now.wall_ns = fixture_now_ns;
    CHECK_INT(model->source, MODEL_DAEMON);
    CHECK_INT(model->holdings, MODEL_DATABASE);
    CHECK_INT(model->status.n_positions, 1);
    check_screen("waiting-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    json_decref(object);
}

/* The feed's panel sets what computes apart from the devices there are, however narrow it is. */
static void check_feed_devices(void)
{
    static const struct {
        int width, height, n;
        const char *words;
    } cases[] = {
        {80, 24, 1, "compute cpu  gpu NVIDIA H100 80GB HBM3 97 % 1.0 GiB"},
        {80, 24, 3, "compute cpu  gpu NVIDIA H100 80GB HBM3 97 % 1.0 GiB  and 2 more"},
        {120, 40, 1, "gpu NVIDIA H100 80~HBM3 97 % 1.0 GiB"},
        {120, 40, 3, "gpu 97 % 1.0 GiB  and 2 more"},
    };
    struct view view;
    json_t *status = json_loads(fixture_status, 0, NULL), *device;

    tui_view_init(&view, false, 1000);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        json_t *devices = json_array();
        for (int n = 0; n < cases[i].n; n++) {
            device = json_pack("{s:s, s:i, s:i}", "name", "NVIDIA H100 80GB HBM3", "util_pct", 97,
                               "mem_used_mib", 1000);
            json_array_append_new(devices, device);
        }
        json_object_set_new(json_object_get(status, "gpu"), "devices", devices);
        CHECK_INT(tui_model_take_status(model, status, now), 0);
        char *text = picture_draw(model, &view, now, cases[i].width, cases[i].height, GLYPHS_BRAILLE);
        if (text && !strstr(text, cases[i].words))
            fprintf(stderr, "%s", text);
        CHECK(text && strstr(text, cases[i].words));
        free(text);
    }
    json_decref(status);
    status = json_loads(fixture_status, 0, NULL);
    CHECK_INT(tui_model_take_status(model, status, now), 0);
    json_decref(status);
}

int main(int argc, char **argv)
{
    struct view view;

    if (argc != 2 || !setlocale(LC_CTYPE, "C.UTF-8"))
        return argc != 2 ? EXIT_FAILURE : CHECK_SKIP;
    golden = argv[1];
    database = scratch_path("papertape.db");
    CHECK_INT(fixture_database(database), 0);

    model = tui_model_create(1000);
    json_t *status = json_loads(fixture_status, 0, NULL);
    CHECK_INT(tui_model_take_status(model, status, now), 0);
    json_decref(status);
    fixture_take_depth(model, now);
    CHECK_INT(load(true), 0);
    CHECK_INT(model->history.n_fills, 3);
    CHECK_INT(model->history.n_equity, 288);
    CHECK_INT(model->history.n_bars, 120);
    CHECK_STR(model->history.fills[0].tag, "by hand");
    check_sizes();
    check_tabs();
    check_overlays();
    check_commands();
    check_halted();
    check_feed_devices();
    check_header();
    check_several();
    check_at_venue();
    check_venues();
    check_alerts();
    check_strategies();
    check_every_size();
    check_waiting();
    model->source = MODEL_NOTHING;
    CHECK_INT(load(false), 0); /* the daemon is gone: the database alone */
    CHECK_INT(model->source, MODEL_DATABASE);
    tui_view_init(&view, false, 1000);
    check_screen("database-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    tui_model_destroy(model);
    model = tui_model_create(1000); /* nothing at all yet */
    check_screen("nothing-80x24", &view, 80, 24, GLYPHS_BRAILLE);
    check_every_size();
    tui_model_destroy(model);

    return check_done("tui/screens");
}
