#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "exchange/margin.h"
#include "tui/panel/frame.h"

enum {
    ACCOUNT,
    EQUITY,
    RETURN,
    DRAWDOWN,
    SHORT,
    CASH,
    DAY,
    REALIZED,
    FEES,
    INTEREST,
    STRATEGY,
    THERE,
    PLAIN
};
/* Of accounts by the rules for stocks, where there are any. */
enum { MARGIN = PLAIN, POWER, EXCESS, NEEDS, TRADES, SETTLED, SETTLES, COLUMNS };

static const struct column columns[COLUMNS] = {
    {"", 9, false, 1},          {"equity", 12, true, 2},    {"return", 8, true, 3},
    {"", 7, true, 4},           {"short", 11, true, 10},    {"cash", 12, true, 7},
    {"P&L today", 9, true, 6},  {"realized", 9, true, 8},   {"fees", 8, true, 9},
    {"interest", 9, true, 11},  {"strategy", 14, false, 5}, {"at venue", 12, false, 2},
    {"margin", 8, false, 7},    {"buys", 10, true, 3},      {"excess", 10, true, 4},
    {"needs", 15, true, 12},    {"trades", 7, true, 6},     {"settled", 11, true, 8},
    {"unsettled", 15, true, 5},
};

static bool by_rules(const struct status_account *account)
{
    return account->margin[0] &&
           (strcmp(account->margin, "off") != 0 || strcmp(account->settlement, "off") != 0);
}

static bool any_at_venue(const struct status *status)
{
    for (int i = 0; i < status->n_accounts; i++)
        if (status->accounts[i].there.venue[0])
            return true;
    return false;
}

/* Which columns there are, and which go first where not all fit. Returns how many. */
static int choose_columns(const struct model *model, struct column shown[static COLUMNS])
{
    const struct status *status = &model->status;
    bool by = false, shorts = false;
    memcpy(shown, columns, sizeof columns);
    shown[DRAWDOWN].label = tui_model_drawdown_name(model);
    for (int i = 0; i < status->n_accounts; i++) {
        shorts |= status->accounts[i].short_value > 0;
        by |= by_rules(&status->accounts[i]);
    }
    if (shorts)
        shown[SHORT].rank = 5; /* the liability matters more than the day's change */
    for (int k = RETURN; by && k < THERE; k++)
        shown[k].rank += 10;
    if (!any_at_venue(status))
        shown[THERE].rank = 0;
    return by ? COLUMNS : PLAIN;
}

/* Two amounts in one cell: "41.2k/20.6k". */
static const char *pair(char text[static FORMAT_MAX], double a, double b)
{
    char first[FORMAT_MAX], second[FORMAT_MAX];
    snprintf(text, FORMAT_MAX, "%s/%s", cli_format_fit(first, a, 0, 7), cli_format_fit(second, b, 0, 7));
    return text;
}

/* "500.00 11-26": so much, and when the last of it is settled. */
static const char *unsettled(char text[static FORMAT_MAX], const struct status_account *account)
{
    char amount[FORMAT_MAX], time[FORMAT_MAX];
    if (account->settles_ns <= 0)
        return "none";
    snprintf(text, FORMAT_MAX, "%s %.5s", cli_format_fit(amount, account->unsettled, 2, 9),
             cli_format_time(time, account->settles_ns) + strlen("2026-"));
    return text;
}

static void draw_there(const struct table *table, int y, enum freshness freshness,
                       const struct status_venue_account *there)
{
    char text[FORMAT_MAX];
    bool fine = there->attached && there->unknown <= 0;

    if (there->attached && !fine)
        snprintf(text, sizeof text, "%lld unknown", (long long)there->unknown);
    else
        snprintf(text, sizeof text, "%s",
                 there->halted     ? "halted"
                 : there->attached ? "attached"
                 : there->venue[0] ? "not attached"
                                   : "");
    panel_table_text(table, THERE, y,
                     panel_frame_style(freshness, there->halted ? STYLE_BAD
                                                  : fine        ? STYLE_NORMAL
                                                                : STYLE_WARN),
                     text);
}

/* A line for each account at a venue, below the accounts, as far as there is room. */
static void draw_venue_lines(const struct area *body, const struct scene *scene, int y)
{
    const struct status *status = &scene->model->status;
    char words[STATUS_AT_VENUE_MAX];

    for (int i = 0; i < status->n_accounts; i++) {
        const struct status_account *account = &status->accounts[i];
        tui_status_at_venue(account, tui_model_clock_ns(scene->model, scene->now), words);
        if (!words[0] || y >= body->height)
            continue;
        int x = tui_area_text(body, 3, y, STYLE_DIM, account->account) + 1;
        x = tui_area_text(body, x, y, STYLE_DIM, "at") + 1;
        if (x < body->width)
            tui_area_text_cut(body, x, y, body->width - x, STYLE_DIM, words);
        y++;
    }
}

static void draw_by_rules(const struct table *table, int y, enum freshness freshness,
                          const struct status_account *account)
{
    char text[FORMAT_MAX];
    bool margin = strcmp(account->margin, "off") != 0, settles = strcmp(account->settlement, "off") != 0;
    enum style plain = panel_frame_style(freshness, STYLE_NORMAL);
    enum style excess =
        panel_frame_style(freshness, cli_format_sign(account->excess, 2) < 0 ? STYLE_BAD : STYLE_NORMAL);
    panel_table_text(table, MARGIN, y, STYLE_NORMAL, margin ? account->margin : "none");
    if (margin || settles)
        panel_table_text(table, POWER, y, plain,
                         cli_format_fit(text, account->buying_power, 2, columns[POWER].width));
    if (margin) {
        panel_table_text(table, EXCESS, y, excess,
                         cli_format_fit(text, account->excess, 2, columns[EXCESS].width));
        panel_table_text(table, NEEDS, y, plain,
                         pair(text, account->initial_margin, account->maintenance_margin));
        snprintf(text, sizeof text, "%lld/%d%s", (long long)account->day_trades, MARGIN_DAY_TRADE_DAYS,
                 account->day_trader ? " PDT" : "");
        panel_table_text(table, TRADES, y, account->day_trader ? STYLE_BAD : plain, text);
    }
    if (settles) {
        panel_table_text(table, SETTLED, y, plain,
                         cli_format_fit(text, account->settled, 2, columns[SETTLED].width));
        panel_table_text(table, SETTLES, y, plain, unsettled(text, account));
    }
}

void panel_accounts(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const int n = model->status.n_accounts;
    int title;
    struct area body =
        panel_frame_rule_of(area, scene, PANEL_ACCOUNTS, "Accounts", n, model->status.accounts_total, &title);
    struct column shown[COLUMNS];
    int n_columns = choose_columns(model, shown);
    struct table table = panel_frame_table(area, title, shown, n_columns);
    enum freshness freshness = tui_model_accounts_freshness(model, scene->now);
    struct window window = panel_frame_window(scene, PANEL_ACCOUNTS, n, body.height);
    char text[FORMAT_MAX];

    if (n == 0)
        panel_frame_empty(&body, "no account is known yet");
    for (int i = window.first; i < window.end; i++) {
        const struct status_account *a = &model->status.accounts[i];
        int y = i - window.first + 1;
        const double plain[] = {a->cash, a->day_pnl, a->realized, a->fees};
        const double drawdown = tui_model_drawdown(model, a);
        bool gone = freshness == GONE, shorts = cli_format_sign(a->short_value, 2) > 0;
        panel_table_text(&table, ACCOUNT, y, STYLE_STRONG, a->account);
        panel_table_text(&table, EQUITY, y, panel_frame_style(freshness, STYLE_STRONG),
                         gone ? "-" : cli_format_fit(text, a->equity, 2, 12));
        panel_table_text(&table, RETURN, y, panel_frame_style(freshness, style_signed(a->return_pct, 2)),
                         gone ? "-" : cli_format_percent(text, a->return_pct, 2));
        panel_table_text(
            &table, DRAWDOWN, y,
            panel_frame_style(freshness, a->killed || a->halted[0] ? STYLE_BAD : style_signed(drawdown, 2)),
            gone           ? "-"
            : a->killed    ? "killed"
            : a->halted[0] ? "halted"
                           : cli_format_percent(text, drawdown, fabs(drawdown) < 1 ? 2 : 1));
        for (int k = 0; k < 4; k++)
            panel_table_text(
                &table, CASH + k, y,
                panel_frame_style(freshness, k == 1 || k == 2 ? style_signed(plain[k], 2) : STYLE_NORMAL),
                gone && k == 1     ? "-"
                : k == 1 || k == 2 ? cli_format_signed(text, plain[k], 2)
                                   : cli_format_fit(text, plain[k], 2, columns[CASH + k].width));
        panel_table_text(&table, SHORT, y, panel_frame_style(freshness, shorts ? STYLE_DOWN : STYLE_DIM),
                         gone     ? "-"
                         : shorts ? cli_format_fit(text, -a->short_value, 2, columns[SHORT].width)
                                  : "none");
        panel_table_text(&table, INTEREST, y, STYLE_NORMAL,
                         cli_format_fit(text, scene->model->status.saved ? a->interest : a->interest_owed, 2,
                                        columns[INTEREST].width));
        panel_table_text(&table, STRATEGY, y, STYLE_DIM, a->strategy[0] ? a->strategy : "none");
        draw_there(&table, y, freshness, &a->there);
        if (n_columns > PLAIN && !gone)
            draw_by_rules(&table, y, freshness, a);
        panel_frame_row(&body, y - 1, &window, i);
    }
    draw_venue_lines(&body, scene, window.end - window.first);
}
