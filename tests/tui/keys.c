/* What keys do: tabs, cursors, and commands, of which one wants to be confirmed. */
#include "tui/keys.h"

#include "fixtures/dashboard.h"
#include "tests/check.h"

static struct model *model;
static struct view view;
static const struct moment now = {1723161255342000000, 1000000};

static enum action press(int key)
{
    return tui_keys_press(&view, model, 80, 24, now, key);
}

static enum action type(const char *text)
{
    enum action action = ACTION_NONE;

    for (; *text; text++)
        action = press(*text);
    return action;
}

static void begin(bool readonly)
{
    tui_view_init(&view, readonly, 1000);
}

/* Of the symbol under the cursor: three timeframes, one indicator over the prices, two below. */
static void keep_chart(void)
{
    static const char *const timeframes[] = {"1m", "5m", "1h"};
    static const char *const names[] = {"rsi_14", "sma_20", "macd_12_26_9.macd", "macd_12_26_9.signal"};
    struct history *h = &model->history;

    strcpy(h->bars_symbol, tui_view_symbol(&view, model)->symbol);
    h->n_timeframes = 3;
    h->n_outputs = 4;
    for (int i = 0; i < h->n_timeframes; i++)
        strcpy(h->timeframes[i], timeframes[i]);
    for (int i = 0; i < h->n_outputs; i++)
        strcpy(h->output_names[i], names[i]);
}

/* A saved run has all of its equity until a span is chosen. */
static void check_span_of_saved(void)
{
    struct history_want want;
    const enum model_source source = model->source;

    model->source = MODEL_DATABASE;
    model->status.saved = true;
    view.span_chosen = false;
    tui_view_want(&view, model, 80, &want);
    CHECK_INT(want.span, SPAN_ALL);
    CHECK_INT(press('u'), ACTION_COLLECT);
    tui_view_want(&view, model, 80, &want);
    CHECK_INT(want.span, SPAN_DAY);
    model->status.saved = false;
    model->source = source;
}

static void check_moving(void)
{
    char names[SETTINGS_NAMES_MAX];

    begin(false);
    for (int i = 0; i < TABS; i++) {
        press('1' + i);
        CHECK_INT(view.tab, i);
    }
    press(PRESS_RIGHT);
    CHECK_INT(view.tab, TAB_OVERVIEW);
    press('h');
    CHECK_INT(view.tab, TAB_LOG);
    press('1');
    press('j');
    CHECK_INT(view.cursor[PANEL_PRICES], 1);
    press(PRESS_DOWN);
    press(PRESS_PAGE_DOWN);
    CHECK_INT(view.cursor[PANEL_PRICES], 1);
    CHECK_STR(tui_view_symbol(&view, model)->symbol, "ETHUSDT");
    type("gg");
    CHECK_INT(view.cursor[PANEL_PRICES], 0);
    press('G');
    CHECK_INT(view.cursor[PANEL_PRICES], 1);
    type("gxg"); /* not gg */
    CHECK_INT(view.cursor[PANEL_PRICES], 1);
    press('\t');
    CHECK_INT(view.focus, PANEL_POSITIONS);
    press('z');
    CHECK_INT(view.zoomed, PANEL_POSITIONS);
    press(PRESS_ESCAPE);
    CHECK_INT(view.zoomed, PANEL_NONE);
    press('?');
    CHECK(view.help);
    CHECK_INT(press('p'), ACTION_NONE); /* closes the help, and nothing else */
    CHECK(!view.help && view.prompt == PROMPT_NONE);
    press('+');
    CHECK_INT(view.interval_ms, 2000);
    type("----");
    CHECK_INT(view.interval_ms, 250);
    view.settings_kept = view.settings;
    CHECK_INT(press('M'), ACTION_SETTINGS); /* which takes all of them, the interval too */
    CHECK(!view.settings.mouse);
    CHECK_STR(tui_settings_changed(&view.settings, &view.settings_kept, names), "mouse");
    CHECK_NEAR(view.settings.interval, 0.25, 0);
    press('M');
    CHECK_INT(press(']'), ACTION_NONE); /* nothing is kept */
    CHECK_INT(view.outcome, OUTCOME_NOTE);
    keep_chart();
    CHECK_INT(press(']'), ACTION_COLLECT);
    CHECK_STR(view.timeframe, "5m");
    CHECK_INT(press(']'), ACTION_COLLECT);
    CHECK_STR(view.timeframe, "1h");
    CHECK_INT(press(']'), ACTION_COLLECT); /* round */
    CHECK_STR(view.timeframe, "1m");
    CHECK_INT(press('['), ACTION_COLLECT);
    CHECK_STR(view.timeframe, "1h");
    for (int i = 0; i < 4; i++) { /* rsi, macd, nothing, rsi */
        CHECK_INT(view.below, i % 3);
        CHECK_INT(press('i'), ACTION_NONE);
    }
    CHECK_INT(press(PRESS_F2), ACTION_NONE);
    CHECK(view.setup);
    CHECK_INT(press('j'), ACTION_NONE);
    CHECK_INT(press('j'), ACTION_NONE); /* the third row: what charts are made of */
    CHECK_INT(press(PRESS_ENTER), ACTION_SETTINGS);
    CHECK_INT(view.settings.glyphs, SETTINGS_ASCII);
    CHECK_STR(tui_settings_changed(&view.settings, &view.settings_kept, names), "glyphs");
    CHECK_INT(press('h'), ACTION_SETTINGS);
    CHECK_INT(view.settings.glyphs, SETTINGS_AUTO);
    CHECK_STR(tui_settings_changed(&view.settings, &view.settings_kept, names), ""); /* back again */
    CHECK_INT(press('F'), ACTION_NONE); /* no key of the screen below does anything */
    CHECK_INT(view.prompt, PROMPT_NONE);
    CHECK_INT(press('s'), ACTION_SETTINGS_SAVE);
    CHECK_INT(press('q'), ACTION_NONE);
    CHECK(!view.setup);
    for (int i = 0; i < SPANS; i++) {
        CHECK_INT(view.equity_span, i);
        CHECK_INT(press('u'), ACTION_COLLECT);
    }
    CHECK_INT(view.equity_span, SPAN_DAY);
    check_span_of_saved();
    CHECK_INT(press('q'), ACTION_QUIT);
    CHECK_INT(press('L' & 0x1f), ACTION_REDRAW);
    press('f');
    CHECK(view.frozen);
    CHECK_INT(press('f'), ACTION_COLLECT);
}

/* Where the settings have no room for another name, nothing is changed, and the last line says so. */
static void check_full(void)
{
    begin(false);
    press('4');
    keep_chart();
    memset(view.settings.hides, 'x', OVERLAY_HIDES_MAX - 2);
    view.settings.hides[OVERLAY_HIDES_MAX - 2] = '\0';
    press('C');
    CHECK_INT(view.choosing, CHOOSING_INDICATORS);
    CHECK_INT(press(PRESS_ENTER), ACTION_NONE);
    CHECK_INT(strlen(view.settings.hides), OVERLAY_HIDES_MAX - 2);
    CHECK_INT(view.outcome, OUTCOME_NOTE);
    CHECK(strstr(view.words, "no more can be hidden") != NULL);
}

static void check_confirming(void)
{
    begin(false);
    CHECK_INT(press('p'), ACTION_PAUSE); /* at once: it is harmless, and p takes it back */
    CHECK_INT(view.prompt, PROMPT_NONE);
    strcpy(model->status.trading, "paused");
    CHECK_INT(press('p'), ACTION_RESUME);
    strcpy(model->status.trading, "halted"); /* which resuming does not end */
    CHECK_INT(press('p'), ACTION_PAUSE);
    strcpy(model->status.trading, ""); /* not known: the harmless one */
    CHECK_INT(press('p'), ACTION_PAUSE);
    strcpy(model->status.trading, "on");

    press('F');
    CHECK_INT(view.prompt, PROMPT_FLATTEN);
    type("FLATTEN");
    CHECK_INT(press(PRESS_ENTER), ACTION_FLATTEN);
    press('F');
    type("flatten");
    CHECK_INT(press(PRESS_ENTER), ACTION_NONE);
    CHECK_INT(view.prompt, PROMPT_NONE);
    press('F');
    type("FLATTENXXXXXXXXXXXXXXXXXXXXXX"); /* longer than there is room for */
    CHECK_INT(press(PRESS_ENTER), ACTION_NONE);
    press('F');
    type("FLATTEX");
    press(PRESS_BACKSPACE);
    type("N");
    CHECK_INT(press(PRESS_ENTER), ACTION_FLATTEN);
    press('F');
    type("FLATTEN");
    CHECK_INT(press(PRESS_ESCAPE), ACTION_NONE);
    CHECK_INT(view.prompt, PROMPT_NONE);
    CHECK_INT(press('a'), ACTION_NONE); /* no alert */

    model->source = MODEL_DATABASE; /* no daemon to ask */
    CHECK_INT(press('p'), ACTION_NONE);
    press('F');
    CHECK_INT(view.prompt, PROMPT_NONE);
    model->source = MODEL_DAEMON;

    press('F'); /* then the window shrinks: what cannot be seen is not confirmed */
    CHECK_INT(tui_keys_press(&view, model, 39, 9, now, 'F'), ACTION_NONE);
    CHECK_INT(view.prompt, PROMPT_NONE);
    CHECK_INT(tui_keys_press(&view, model, 39, 9, now, 'p'), ACTION_NONE); /* nor done */
    CHECK_INT(tui_keys_press(&view, model, 39, 9, now, 'q'), ACTION_QUIT);

    begin(true);
    CHECK_INT(press('p'), ACTION_NONE);
    press('F');
    CHECK_INT(view.prompt, PROMPT_NONE);
}

static void check_alerts(void)
{
    begin(false);
    model->history.n_alerts = 3;
    model->history.alerts[0] = (struct history_alert){.id = 9, .acked_ns = 1};
    model->history.alerts[1] = (struct history_alert){.id = 8, .open = true};
    model->history.alerts[2] = (struct history_alert){.id = 7, .open = true};
    CHECK_INT(press('a'), ACTION_ACK); /* the newest that is open */
    CHECK_INT(view.alert, 8);
    press('7');
    type("jj");
    CHECK_INT(press('a'), ACTION_ACK);
    CHECK_INT(view.alert, 7);
    type("gg");
    CHECK_INT(press('a'), ACTION_NONE); /* acknowledged already */
    model->history.n_alerts = 0;
}

static void check_cancel(void)
{
    begin(false);
    CHECK_INT(press('x'), ACTION_NONE); /* no order is chosen here */
    CHECK_INT(view.prompt, PROMPT_NONE);
    press('6');
    CHECK_INT(press('x'), ACTION_NONE);
    CHECK_INT(view.prompt, PROMPT_CANCEL);
    CHECK_INT(view.order, 7);
    CHECK_INT(press('y'), ACTION_CANCEL);
    CHECK_INT(view.prompt, PROMPT_NONE);
    for (const char *other = "nxqY "; *other; other++) {
        press('x');
        CHECK_INT(press(*other), ACTION_NONE);
        CHECK_INT(view.prompt, PROMPT_NONE);
    }
    press('x');
    CHECK_INT(press(PRESS_ESCAPE), ACTION_NONE);
    press('x');
    CHECK_INT(press(PRESS_ENTER), ACTION_NONE); /* no is the default */
    CHECK_INT(view.prompt, PROMPT_NONE);

    model->history.n_orders = 1; /* one that has ended stands below the live one */
    model->history.orders[0] = (struct status_order){.id = 3};
    press('j');
    CHECK_INT(view.cursor[PANEL_ORDERS], 1);
    press('x');
    CHECK_INT(view.prompt, PROMPT_NONE);
    press('k');
    press('x'); /* then the window shrinks */
    CHECK_INT(tui_keys_press(&view, model, 39, 9, now, 'y'), ACTION_NONE);
    CHECK_INT(view.prompt, PROMPT_NONE);
    model->history.n_orders = 0;

    model->source = MODEL_DATABASE;
    press('x');
    CHECK_INT(view.prompt, PROMPT_NONE);
    model->source = MODEL_DAEMON;
    begin(true);
    press('6');
    press('x');
    CHECK_INT(view.prompt, PROMPT_NONE);
}

/* The chosen field's value in the form of order 7, which is left then. */
static const char *amended(const char *name)
{
    static char value[ORDER_VALUE_MAX];
    const struct order_form *form = view.order_form;

    CHECK(form && form->amends == 7 && strcmp(form->fields[form->row].name, name) == 0);
    snprintf(value, sizeof(value), "%s", form ? tui_order_form_value(form, name) : "");
    press(PRESS_ESCAPE);
    CHECK(!view.order_form);
    return value;
}

/* E means the row under the cursor in every order of the rows, as x does. */
static void check_amend(void)
{
    begin(false);
    model->history.n_orders = 2; /* in another order than the usual, the live one is among the others */
    model->history.orders[0] = (struct status_order){.id = 9};
    model->history.orders[1] = (struct status_order){.id = 7};
    type("6Ij");
    CHECK_INT(view.cursor[PANEL_ORDERS], 1);
    press('E');
    CHECK_STR(amended("stop"), "61200.00");
    model->status.orders[0].stop = 1.2e-5; /* never with an exponent, which no verb reads */
    model->status.symbols[0].price_decimals = 7;
    press('E');
    CHECK_STR(amended("stop"), "0.0000120");
    model->status.orders[0].stop = NAN;
    model->history.orders[1].qty_decimals = 5;
    press('E');
    CHECK_STR(amended("qty"), "0.08");
    type("kE");
    CHECK_INT(view.prompt, PROMPT_NONE);
    CHECK_STR(view.words, "that order has ended");
    type("1E");
    CHECK_STR(view.words, "choose an order first: 6, then the arrows");
    view.item = (struct item){.kind = ITEM_ORDER, .id = 7}; /* the page of an order */
    press('E');
    CHECK(view.order_form && view.order_form->amends == 7);
    model->history.n_orders = 0;
    tui_view_finish(&view);
}

static void check_backtest(void)
{
    struct status *status = &model->status;
    int n = status->n_accounts;

    begin(true); /* it changes nothing: read-only or not */
    type("5");
    CHECK_INT(press('b'), ACTION_BACKTEST);
    model->backtest.state = BACKTEST_RUNNING;
    CHECK_INT(press('b'), ACTION_STOP_BACKTEST);
    model->backtest.state = BACKTEST_DONE;
    status->n_accounts = 1;
    strcpy(((struct status_account *)tui_status_add(status, STATUS_ACCOUNTS))->account, "hand");
    view.focus = PANEL_STRATEGIES;
    CHECK_INT(press('j'), ACTION_COLLECT); /* the curve of another account */
    CHECK_STR(tui_view_account(&view, model)->account, "hand");
    CHECK_INT(view.cursor[PANEL_ACCOUNTS], 1);
    CHECK_INT(press('b'), ACTION_NONE);
    CHECK_STR(view.words, "the account has no strategy");
    view.focus = PANEL_ACCOUNTS;
    CHECK_INT(press('k'), ACTION_COLLECT);
    CHECK_STR(tui_view_account(&view, model)->account, status->accounts[0].account);
    status->n_accounts = 0;
    CHECK_INT(press('b'), ACTION_NONE);
    CHECK_STR(view.words, "no account is known");
    CHECK(tui_view_account(&view, model) == NULL);
    status->n_accounts = n;
    model->backtest.state = BACKTEST_NONE;
}

int main(void)
{
    json_t *status = json_loads(fixture_status, 0, NULL);

    model = tui_model_create(1000);
    CHECK_INT(tui_model_take_status(model, status, now), 0);
    json_decref(status);
    check_moving();
    check_full();
    check_confirming();
    check_alerts();
    check_cancel();
    check_amend();
    check_backtest();
    tui_model_destroy(model);
    return check_done("tui/keys");
}
