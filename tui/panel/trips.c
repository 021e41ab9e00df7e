/* Closed round trips, the newest first; and what was gained by symbol, and by who opened. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/format.h"
#include "cli/text.h"
#include "exchange/decimal.h"
#include "tui/panel/list.h"

/* As tui_list_columns() has them. */
enum {
    ENDED,
    SYMBOL,
    SIDE,
    QTY,
    ENTRY,
    EXIT,
    PROFIT,
    RETURN,
    LASTED,
    REASON,
    STARTED,
    FEES,
    ACCOUNT,
    STRATEGY,
    FILLS,
    ORDER
};
enum { LITTLE_DECIMALS = 8, WIDE = 110 };

/* Wider ones, from so many columns on. */
static void widen(struct column *shown, int width)
{
    if (width < WIDE)
        return;
    shown[QTY].width = 10;
    shown[ENTRY].width = shown[EXIT].width = 11;
    shown[PROFIT].width = shown[FEES].width = 10;
    shown[RETURN].width = 8;
    shown[REASON].width = 13;
}

static const char *when(char buf[static FORMAT_MAX], int64_t ts_ns)
{
    char text[FORMAT_MAX];

    if (ts_ns <= 0)
        return "-";
    cli_format_time(text, ts_ns); /* 2024-08-08 14:02:11 */
    snprintf(buf, FORMAT_MAX, "%.11s", strlen(text) > 5 ? text + 5 : text);
    return buf;
}

static const char *percent(char buf[static FORMAT_MAX], double pct)
{
    return isfinite(pct) ? cli_format_percent(buf, pct, fabs(pct) < 10 ? 2 : fabs(pct) < 100 ? 1 : 0) : "-";
}

static const char *money(char buf[static FORMAT_MAX], double value, int width)
{
    int decimals = value != 0 && fabs(value) < 0.005 ? LITTLE_DECIMALS : 2; /* of bitcoins, say */

    if (!isfinite(value))
        return "-";
    while (decimals > 0 && strlen(cli_format_signed(buf, value, decimals)) > (size_t)width)
        decimals--;
    if (fabs(value) < 0.5 * pow(10, -decimals)) /* no digit of it has room */
        decimals = 2;
    return cli_format_signed(buf, value, decimals);
}

static const char *number(char buf[static FORMAT_MAX], double value, int decimals, int width)
{
    return isfinite(value) ? cli_format_fit(buf, value, decimals, width) : "-";
}

static void draw_trip(const struct table *table, int y, const struct history_trip *t)
{
    const struct column *c = table->columns;
    char text[FORMAT_MAX];

    panel_table_text(table, ENDED, y, STYLE_DIM, when(text, t->closed_ns));
    panel_table_text(table, STARTED, y, STYLE_DIM, when(text, t->opened_ns));
    panel_table_text(table, SYMBOL, y, STYLE_STRONG, t->symbol);
    panel_table_text(table, SIDE, y, t->is_short ? STYLE_DOWN : STYLE_UP, t->is_short ? "S" : "L");
    panel_table_text(table, QTY, y, STYLE_NORMAL, number(text, t->qty, t->qty_decimals, c[QTY].width));
    panel_table_text(table, ENTRY, y, STYLE_NORMAL,
                     number(text, t->entry, t->price_decimals, c[ENTRY].width));
    panel_table_text(table, EXIT, y, STYLE_NORMAL, number(text, t->exit, t->price_decimals, c[EXIT].width));
    panel_table_text(table, PROFIT, y, style_signed(t->profit, 2), money(text, t->profit, c[PROFIT].width));
    panel_table_text(table, RETURN, y, style_signed(t->return_pct, 2), percent(text, t->return_pct));
    panel_table_text(table, LASTED, y, STYLE_DIM,
                     t->opened_ns > 0 ? cli_format_age(text, (t->closed_ns - t->opened_ns) / 1000000) : "-");
    panel_table_text(table, REASON, y, STYLE_DIM, t->reason[0] ? t->reason : "-");
    panel_table_text(table, FEES, y, STYLE_NORMAL, number(text, t->fees, 2, c[FEES].width));
    panel_table_text(table, ACCOUNT, y, STYLE_DIM, t->account);
    panel_table_text(table, STRATEGY, y, STYLE_DIM, t->strategy);
    snprintf(text, sizeof(text), "%lld", (long long)t->fills);
    panel_table_text(table, FILLS, y, STYLE_DIM, text);
    snprintf(text, sizeof(text), "%lld", (long long)t->order);
    panel_table_text(table, ORDER, y, STYLE_DIM, t->order > 0 ? text : "");
}

void panel_trips(const struct area *area, const struct scene *scene)
{
    const struct model *model = scene->model;
    const char *account = tui_view_trips_account(scene->view, model);
    struct list_frame frame;
    struct column shown[LIST_COLUMNS_MAX];
    char title[ACCOUNT_NAME_MAX + 40];

    snprintf(title, sizeof(title), "Round trips%s%s", account[0] ? " of " : "", account);
    panel_list_frame(area, scene, PANEL_TRIPS, title, "", &frame);
    int n = panel_list_columns(scene, DB_LIST_TRIPS, shown);
    widen(shown, area->width);
    const int words = account[0] ? (int)strlen(" of ") + cli_text_width(account) : 0;
    if (area->height >= PANEL_LABELS_BELOW_FROM &&
        panel_frame_hides(&frame.area, frame.title_end - words, frame.title_end, shown, n))
        panel_list_labels_below(area, scene, PANEL_TRIPS, &frame);
    struct table table = panel_frame_table(&frame.area, frame.title_end, shown, n);

    panel_list_empty(&frame, scene, frame.rows.have ? "no closed one yet" : "not read yet");
    for (int i = frame.window.first; i < frame.window.end; i++) {
        const struct history_trip *trip = tui_lists_row(&frame.rows, i);
        int y = i - frame.window.first + 1;
        panel_frame_row(&frame.body, y - 1, &frame.window, i);
        if (trip)
            draw_trip(&table, y, trip);
        else
            panel_list_unread(&frame, &frame.body, y - 1, i);
    }
}

/* ---- sums ---- */

enum { SUMS_WIDE = 76, SUMS_NARROW = 61 };
enum { NAME, CURRENCY, TRADES, WON, GAINED, FACTOR, MEAN, PAID, SUMS };

static const struct column sums_columns[SUMS] = {
    {"", 11, false, 1},   {"in", 5, false, 0},    {"trades", 6, true, 3},  {"win %", 5, true, 4},
    {"P&L", 10, true, 2}, {"factor", 6, true, 5}, {"avg P&L", 8, true, 6}, {"fees", 8, true, 7},
};

static void draw_sum(const struct table *table, int y, const struct db_trip_sum *sum)
{
    const struct metrics_trades *trades = &sum->trades;
    const struct metrics_trade_ratios ratios = metrics_trade_ratios(trades);
    const double unit = (double)decimal_pow10(sum->scale);
    const double pnl = sum->pnl == DB_REPORT_UNKNOWN ? NAN : (double)sum->pnl / unit;
    const struct column *c = table->columns;
    bool none = trades->n == 0;
    char text[FORMAT_MAX], name[DB_REPORT_SOURCE_MAX];

    panel_frame_middle(table->area->canvas, name, sizeof(name), sum->name, c[NAME].width);
    panel_table_text(table, NAME, y, STYLE_STRONG, name);
    panel_table_text(table, CURRENCY, y, STYLE_NORMAL, sum->currency);
    snprintf(text, sizeof(text), "%zu%s", trades->n, sum->holds ? "+" : "");
    panel_table_text(table, TRADES, y, STYLE_NORMAL, text);
    snprintf(text, sizeof(text), "%.0f%%", none ? 0 : 100 * ratios.win_rate);
    panel_table_text(table, WON, y, none ? STYLE_DIM : STYLE_NORMAL, none ? "-" : text);
    panel_table_text(table, GAINED, y, style_signed(pnl, 2), money(text, pnl, c[GAINED].width));
    panel_table_text(table, FACTOR, y, none ? STYLE_DIM : STYLE_NORMAL,
                     none ? "-" : number(text, ratios.profit_factor, 2, c[FACTOR].width));
    panel_table_text(table, MEAN, y, none ? STYLE_DIM : style_signed(ratios.expectancy, 2),
                     none ? "-" : money(text, ratios.expectancy, c[MEAN].width));
    panel_table_text(table, PAID, y, STYLE_NORMAL, number(text, (double)sum->fees / unit, 2, c[PAID].width));
}

/* Puts rows of one currency together, which stay in their order. True: there are several currencies. */
static bool group(struct db_trip_sum *rows, size_t n)
{
    bool several = false;

    for (size_t i = 1; i < n; i++) {
        struct db_trip_sum own = rows[i];
        size_t at = i;
        several |= strcmp(rows[i].currency, rows[0].currency) != 0;
        while (at > 0 && strcmp(own.currency, rows[at - 1].currency) < 0)
            at--;
        memmove(&rows[at + 1], &rows[at], (i - at) * sizeof(*rows));
        rows[at] = own;
    }
    return several;
}

static void draw_sums(const struct area *area, const struct scene *scene, enum panel panel, const char *words)
{
    const struct model *model = scene->model;
    const struct list_rows *read = &model->lists[DB_LIST_TRIPS];
    const char *account = tui_view_trips_account(scene->view, model);
    struct db_trip_sum *rows = calloc(read->sums.n + 1, sizeof(*rows));
    size_t n = rows ? db_trip_sums_merge(&read->sums, account, panel == PANEL_BY_SYMBOL, rows) : 0;
    struct column shown[SUMS];
    char title[ACCOUNT_NAME_MAX + 40];
    int end;

    snprintf(title, sizeof(title), "%s%s%s%s", area->width >= SUMS_WIDE ? "P&L by " : "By ", words,
             account[0] ? " of " : "", account);
    struct area body = panel_frame_rule(area, scene, panel, title, read->have ? (int)n : -1, &end);
    memcpy(shown, sums_columns, sizeof(shown));
    if (area->width >= SUMS_WIDE)
        shown[NAME].width = 24;
    if (area->width < SUMS_NARROW) { /* for all of them in half of 120 columns */
        shown[GAINED].width = 9;
        shown[PAID].width = 7;
    }
    if (group(rows, n)) /* rows of the same name, which no sum of both can be of */
        shown[CURRENCY].rank = 2;
    struct area rows_area = *area;
    int used = 0;
    for (int i = 0; i < SUMS; i++)
        used += shown[i].rank > 0 ? shown[i].width + 1 : 0;
    const bool fits = used + end - shown[NAME].width <= area->width;
    if (account[0] && !fits && area->height >= PANEL_LABELS_BELOW_FROM &&
        panel_frame_hides(area, 0, end, shown, SUMS)) {
        rows_area = panel_frame_labels_below(area);
        body = tui_area_part(&rows_area, 0, 1, rows_area.width, rows_area.height - 1);
        end = PANEL_LABELS_BELOW;
    } else if (shown[NAME].width < end && (fits || end <= area->width / 2))
        shown[NAME].width = end; /* the labels stay right of the title */
    struct table table = panel_frame_table(&rows_area, end, shown, SUMS);
    struct window window = panel_frame_window(scene, panel, (int)n, body.height);
    if (n == 0)
        panel_frame_empty(&body, panel_frame_no_history(model, read->have ? "none yet" : "not read yet"));
    for (int i = window.first; i < window.end; i++) {
        draw_sum(&table, i - window.first + 1, &rows[i]);
        panel_frame_row(&body, i - window.first, &window, i);
    }
    free(rows);
}

void panel_by_symbol(const struct area *area, const struct scene *scene)
{
    draw_sums(area, scene, PANEL_BY_SYMBOL, "symbol");
}

void panel_by_strategy(const struct area *area, const struct scene *scene)
{
    draw_sums(area, scene, PANEL_BY_STRATEGY, "strategy");
}
