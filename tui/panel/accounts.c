#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "tui/panel/frame.h"

enum { ACCOUNT, EQUITY, RETURN, DRAWDOWN, SHORT, CASH, DAY, REALIZED, FEES, INTEREST, STRATEGY, COLUMNS };

static const struct column columns[COLUMNS] = {
    {"", 9, false, 1},       {"equity", 12, true, 2},   {"return", 8, true, 3},     {"dd", 7, true, 4},
    {"short", 11, true, 10}, {"cash", 12, true, 7},     {"P&L today", 9, true, 6},  {"realized", 9, true, 8},
    {"fees", 8, true, 9},    {"interest", 9, true, 11}, {"strategy", 14, false, 5},
};

void panel_accounts(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    int n = model->status.n_accounts, title;
    struct area body = panel_frame_rule(area, scene, PANEL_ACCOUNTS, "Accounts", n, &title);
    struct column shown[COLUMNS];
    memcpy(shown, columns, sizeof(shown));
    for (int i = 0; i < n; i++)
        if (model->status.accounts[i].short_value > 0)
            shown[SHORT].rank = 5; /* the liability matters more than the day's change */
    struct table table = panel_frame_table(area, title, shown, COLUMNS);
    enum freshness freshness = tui_model_accounts_freshness(model, scene->now);
    struct window window = panel_frame_window(scene, PANEL_ACCOUNTS, n, body.height);
    char text[FORMAT_MAX];

    if (n == 0)
        panel_frame_empty(&body, "no account is known yet");
    for (int i = window.first; i < window.end; i++) {
        const struct status_account *a = &model->status.accounts[i];
        int y = i - window.first + 1;
        const double plain[] = {a->cash, a->day_pnl, a->realized, a->fees};
        bool gone = freshness == GONE;
        panel_table_text(&table, ACCOUNT, y, STYLE_STRONG, a->account);
        panel_table_text(&table, EQUITY, y, panel_frame_style(freshness, STYLE_STRONG),
                         gone ? "-" : cli_format_fit(text, a->equity, 2, 12));
        panel_table_text(&table, RETURN, y, panel_frame_style(freshness, style_signed(a->return_pct)),
                         gone ? "-" : cli_format_percent(text, a->return_pct, 2));
        panel_table_text(&table, DRAWDOWN, y,
                         panel_frame_style(freshness, a->killed ? STYLE_BAD : style_signed(a->drawdown_pct)),
                         gone ? "-"
                         : a->killed
                             ? "killed"
                             : cli_format_percent(text, a->drawdown_pct, fabs(a->drawdown_pct) < 1 ? 2 : 1));
        for (int k = 0; k < 4; k++)
            panel_table_text(
                &table, CASH + k, y,
                panel_frame_style(freshness, k == 1 || k == 2 ? style_signed(plain[k]) : STYLE_NORMAL),
                gone && k == 1     ? "-"
                : k == 1 || k == 2 ? cli_format_signed(text, plain[k], 2)
                                   : cli_format_fit(text, plain[k], 2, columns[CASH + k].width));
        panel_table_text(&table, SHORT, y,
                         panel_frame_style(freshness, a->short_value > 0 ? STYLE_DOWN : STYLE_DIM),
                         gone                 ? "-"
                         : a->short_value > 0 ? cli_format_fit(text, -a->short_value, 2, columns[SHORT].width)
                                              : "none");
        panel_table_text(&table, INTEREST, y, STYLE_NORMAL,
                         cli_format_fit(text, a->interest_owed, 2, columns[INTEREST].width));
        panel_table_text(&table, STRATEGY, y, STYLE_DIM, a->strategy[0] ? a->strategy : "none");
        if (i == window.cursor)
            panel_frame_cursor(&body, y - 1);
    }
}
