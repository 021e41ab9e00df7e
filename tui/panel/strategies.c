/* The running strategies: statistics of each account's trades, and of its backtest. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "tui/panel/frame.h"

enum { ACCOUNT, STRATEGY, TRADES, WON, FACTOR, MEAN, BEST, WORST, RUN, FEES, BACKTEST, COLUMNS };

enum { WIDE = 100 /* columns of the panel */, STRATEGY_WIDE = 20 };

static const struct column columns[COLUMNS] = {
    {"", 9, false, 1},     {"strategy", 17, false, 5},     {"trades", 6, true, 2},
    {"win %", 5, true, 3}, {"profit factor", 13, true, 4}, {"avg P&L", 8, true, 6},
    {"best", 10, true, 9}, {"worst", 10, true, 10},        {"losing", 6, true, 8},
    {"fees", 9, true, 11}, {"backtest", 8, true, 7},
};

/* The result of the account's backtest, or its state: "+1.30%", "12s …", "failed". */
static enum style backtest_cell(const struct scene *scene, const char *account, char text[static FORMAT_MAX])
{
    const struct backtest_view *backtest = &scene->model->backtest;
    char age[FORMAT_MAX];

    strcpy(text, "-");
    if (backtest->state == BACKTEST_NONE || strcmp(backtest->account, account) != 0)
        return STYLE_DIM;
    switch (backtest->state) {
    case BACKTEST_RUNNING:
        snprintf(text, FORMAT_MAX, "run %.8s",
                 cli_format_age(age, scene->real_now.mono_ms - backtest->started_ms));
        return STYLE_WARN;
    case BACKTEST_DONE:
        cli_format_percent(text, backtest->return_pct, 2);
        return style_signed(backtest->return_pct, 2);
    case BACKTEST_STOPPED:
        strcpy(text, "stopped");
        return STYLE_DIM;
    default:
        strcpy(text, "failed");
        return STYLE_BAD;
    }
}

static void row(const struct table *table, int y, const struct scene *scene,
                const struct status_account *account)
{
    const struct history_account *known = tui_history_account(&scene->model->history, account->account);
    char text[FORMAT_MAX];
    enum style style;

    panel_table_text(table, ACCOUNT, y, STYLE_STRONG, account->account);
    panel_table_text(table, STRATEGY, y, account->strategy[0] ? STYLE_NORMAL : STYLE_DIM,
                     account->strategy[0] ? account->strategy : "none");
    style = backtest_cell(scene, account->account, text);
    panel_table_text(table, BACKTEST, y, style, text);
    if (!known) {
        panel_table_text(table, TRADES, y, STYLE_DIM, "-");
        return;
    }
    const struct trade_statistics *t = &known->trades;
    bool none = t->trades == 0;
    double mean = none ? NAN : (t->won - t->lost) / (double)t->trades;
    snprintf(text, sizeof(text), "%lld%s", (long long)t->trades, t->open > 0 ? "+" : "");
    panel_table_text(table, TRADES, y, STYLE_NORMAL, text);
    snprintf(text, sizeof(text), "%.0f%%", none ? 0 : 100.0 * (double)t->wins / (double)t->trades);
    panel_table_text(table, WON, y, none ? STYLE_DIM : STYLE_NORMAL, none ? "-" : text);
    panel_table_text(table, FACTOR, y, none ? STYLE_DIM : STYLE_NORMAL,
                     t->lost > 0 ? cli_format_number(text, t->won / t->lost, 2) : "-");
    panel_table_text(table, MEAN, y, style_signed(mean, 2),
                     none ? "-" : cli_format_signed(text, mean, fabs(mean) < 1000 ? 2 : 0));
    panel_table_text(table, BEST, y, style_signed(t->best, 2),
                     none ? "-" : cli_format_signed(text, t->best, 2));
    panel_table_text(table, WORST, y, style_signed(t->worst, 2),
                     none ? "-" : cli_format_signed(text, t->worst, 2));
    snprintf(text, sizeof(text), "%lld/%lld", (long long)t->losing, (long long)t->longest);
    panel_table_text(table, RUN, y, STYLE_NORMAL, text);
    panel_table_text(table, FEES, y, STYLE_NORMAL, cli_format_fit(text, t->fees, 2, columns[FEES].width));
}

void panel_strategies(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const int n = model->status.n_accounts;
    int title;
    struct area body = panel_frame_rule_of(area, scene, PANEL_STRATEGIES, "Strategies", n,
                                           model->status.accounts_total, &title);
    struct column shown[COLUMNS];
    memcpy(shown, columns, sizeof(shown));
    if (area->width >= WIDE)
        shown[STRATEGY].width = STRATEGY_WIDE;
    struct table table = panel_frame_table(area, title, shown, COLUMNS);
    struct window window = panel_frame_window(scene, PANEL_STRATEGIES, n, body.height);

    if (n == 0)
        panel_frame_empty(&body, "no account is known yet");
    for (int i = window.first; i < window.end; i++) {
        row(&table, i - window.first + 1, scene, &model->status.accounts[i]);
        panel_frame_row(&body, i - window.first, &window, i);
    }
}
