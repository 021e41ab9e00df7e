/* The pages of sweeps: their frame, the list, and one as a table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/text.h"
#include "tui/chart.h"
#include "tui/key_map.h"
#include "tui/panel/sweep.h"

enum { NAME_MAX_SHOWN = 40, SHORT = 16 /* rows of a page */ };

const char *panel_sweep_bars(const char *bars, char *buf, size_t size)
{
    char text[SWEEP_VALUE_MAX], *next = text, *word;
    size_t at = 0;

    snprintf(text, sizeof(text), "%s", bars);
    buf[0] = '\0';
    while ((word = strsep(&next, ",")) && at < size) {
        const char *slash = strrchr(word, '/');
        at += (size_t)snprintf(buf + at, size - at, "%s%s", at > 0 ? "," : "",
                               slash && slash[1] ? slash + 1 : word);
    }
    return buf;
}

enum style panel_sweep_state_style(enum sweep_state state)
{
    return state == SWEEP_DONE      ? STYLE_GOOD
           : state == SWEEP_FAILED  ? STYLE_BAD
           : state == SWEEP_STOPPED ? STYLE_WARN
                                    : STYLE_STRONG;
}

static struct window window_of(int row, int n, int height)
{
    const int first = row >= height ? row - height + 1 : 0;

    return (struct window){first, first + height < n ? first + height : n, n > 0 ? row : -1};
}

static void empty(const struct area *body, const struct scene *scene, const struct sweep_list_view *view,
                  const char *none)
{
    char sentence[PANEL_SENTENCE_MAX];

    panel_frame_empty(
        body,
        panel_frame_sentence(scene, view->filter[0] ? "no row has that: `/` another, or `Esc` for all" : none,
                             sentence));
}

/* ---- the list ---- */

enum { STARTED, STRATEGY, BARS, STATE, SETS, DSR, SHARPE, PBO, VERDICT, LIST_COLUMNS };

static const struct column list_columns[LIST_COLUMNS] = {
    {"started", 16, false, 6}, {"strategy", 14, false, 1}, {"bars", 14, false, 9},
    {"state", 8, false, 1},    {"sets", 11, true, 2},      {"best dsr", 8, true, 3},
    {"Sharpe", 7, true, 8},    {"PBO", 6, true, 7},        {"verdict", 14, false, 4},
};

static const char *verdict_words(const char *verdict)
{
    return strcmp(verdict, "more_than_luck") == 0 ? "more than luck" : verdict[0] ? verdict : "-";
}

static const char *share(char buf[static FORMAT_MAX], double value)
{
    char number[FORMAT_MAX];

    snprintf(buf, FORMAT_MAX, isnan(value) ? "%s" : "%s%%", cli_format_number(number, 100 * value, 1));
    return buf;
}

static void list_row(const struct table *table, int y, const struct sweep_entry *entry)
{
    char text[SWEEP_VALUE_MAX], number[FORMAT_MAX], other[FORMAT_MAX];
    const struct sweep_outcome *outcome = &entry->outcome;
    const bool running = entry->state == SWEEP_RUNNING;

    panel_table_text(
        table, STARTED, y, STYLE_DIM,
        (snprintf(text, sizeof(text), "%.16s", cli_format_time(number, entry->started_ns)), text));
    panel_table_text(table, STRATEGY, y, STYLE_STRONG, tui_sweep_entry_field(entry, "strategy"));
    panel_table_text(table, BARS, y, STYLE_NORMAL,
                     panel_sweep_bars(tui_sweep_entry_field(entry, "bars"), text, sizeof(text)));
    panel_table_text(table, STATE, y, panel_sweep_state_style(entry->state),
                     tui_sweep_state_word(entry->state));
    if (running && entry->so_far.done >= 0)
        snprintf(text, sizeof(text), "%lld/%lld", (long long)entry->so_far.done, (long long)entry->so_far.of);
    else if (outcome->runs >= 0)
        snprintf(text, sizeof(text), "%lld/%lld", (long long)outcome->runs, (long long)outcome->combinations);
    else
        snprintf(text, sizeof(text), "-");
    panel_table_text(table, SETS, y, STYLE_NORMAL, text);
    panel_table_text(table, DSR, y, STYLE_STRONG, cli_format_number(number, outcome->dsr, 4));
    panel_table_text(table, SHARPE, y, STYLE_NORMAL,
                     cli_format_number(number, running ? entry->so_far.value : outcome->sharpe, 3));
    panel_table_text(table, PBO, y, STYLE_NORMAL, share(other, outcome->pbo));
    panel_table_text(table, VERDICT, y,
                     strcmp(outcome->verdict, "more_than_luck") == 0 ? STYLE_GOOD : STYLE_NORMAL,
                     verdict_words(outcome->verdict));
}

void panel_sweep_list(const struct area *area, const struct scene *scene)
{
    const struct sweep_page *page = scene->view->sweeps;
    int n, *rows = tui_sweep_page_entries(page, &n);
    struct column shown[LIST_COLUMNS];

    memcpy(shown, list_columns, sizeof(shown));
    if (area->width >= 100)
        shown[BARS].width = 24;
    struct table table = panel_frame_table(area, PANEL_LABELS_BELOW, shown, LIST_COLUMNS);
    struct area body = tui_area_part(area, 0, 1, area->width, area->height - 1);
    struct window window = window_of(page->of_list.row, n, body.height);
    for (int i = window.first; i < window.end; i++) {
        list_row(&table, i - window.first + 1, &page->list.entries[rows[i]]);
        panel_frame_row(&body, i - window.first, &window, i);
    }
    if (n == 0 && page->list.words[0])
        panel_frame_empty(&body, page->list.words);
    else if (n == 0)
        empty(&body, scene, &page->of_list, "no sweep was started here yet: `s` starts one, by a form");
    free(rows);
}

/* ---- one of them ---- */

enum { RANK, METRIC, R_DSR, RETURN, R_SHARPE, DRAWDOWN, TRADES, BESIDE, FEES, SLIP, SET, TABLE_COLUMNS };

static const struct column table_columns[TABLE_COLUMNS] = {
    {"rank", 4, true, 2},    {"metric", 9, true, 1},  {"dsr", 7, true, 3},    {"return %", 9, true, 4},
    {"Sharpe", 8, true, 3},  {"maxdd %", 8, true, 5}, {"trades", 7, true, 6}, {"beside", 8, true, 7},
    {"fees x2", 8, true, 8}, {"+slip", 8, true, 9},   {"set", 20, false, 1},
};

static const char *cell(char buf[static FORMAT_MAX], double value, int decimals)
{
    return cli_format_number(buf, value, fabs(value) < 1e7 ? decimals : 0);
}

static void table_row(const struct table *table, int y, const struct sweep_row *row)
{
    char text[FORMAT_MAX];

    snprintf(text, sizeof(text), "%d", row->rank);
    panel_table_text(table, RANK, y, STYLE_DIM, text);
    panel_table_text(table, METRIC, y, STYLE_STRONG, cell(text, row->metric, 4));
    panel_table_text(table, R_DSR, y, STYLE_STRONG, cell(text, row->dsr, 4));
    panel_table_text(table, RETURN, y, style_signed(row->return_pct, 2), cell(text, row->return_pct, 2));
    panel_table_text(table, R_SHARPE, y, style_signed(row->sharpe, 3), cell(text, row->sharpe, 3));
    panel_table_text(table, DRAWDOWN, y, STYLE_NORMAL, cell(text, row->drawdown_pct, 2));
    snprintf(text, sizeof(text), "%lld", (long long)row->trades);
    panel_table_text(table, TRADES, y, STYLE_NORMAL, text);
    if (row->beside > 0)
        snprintf(text, sizeof(text), "%lld/%lld", (long long)row->beside_hold, (long long)row->beside);
    else
        cli_format_number(text, NAN, 0);
    panel_table_text(table, BESIDE, y, STYLE_NORMAL, text);
    panel_table_text(table, FEES, y, style_signed(row->fees_twice, 3), cell(text, row->fees_twice, 3));
    panel_table_text(table, SLIP, y, style_signed(row->more_slippage, 3), cell(text, row->more_slippage, 3));
    panel_table_text(table, SET, y, STYLE_STRONG, row->set);
}

static void draw_rows(const struct area *area, const struct scene *scene)
{
    const struct sweep_page *page = scene->view->sweeps;
    const struct sweep_entry *entry = tui_sweep_list_find(&page->list, page->chosen);
    int n, *rows = tui_sweep_page_rows(page, &n), widest = 3;
    struct column shown[TABLE_COLUMNS];

    memcpy(shown, table_columns, sizeof(shown));
    for (int i = 0; i < n; i++) {
        int width = cli_text_width(page->detail.rows[rows[i]].set);
        widest = width > widest ? width : widest;
    }
    shown[SET].width = widest < area->width / 2 ? widest : area->width / 2;
    shown[METRIC].label = entry ? entry->outcome.metric : "";
    shown[METRIC].rank = page->detail.has_metric ? shown[METRIC].rank : 0;
    if (page->detail.has_metric && cli_text_width(shown[METRIC].label) > shown[METRIC].width)
        shown[METRIC].width = cli_text_width(shown[METRIC].label);
    struct table table = panel_frame_table(area, PANEL_LABELS_BELOW, shown, TABLE_COLUMNS);
    struct area body = tui_area_part(area, 0, 1, area->width, area->height - 1);
    struct window window = window_of(page->of_table.row, n, body.height);
    for (int i = window.first; i < window.end; i++) {
        table_row(&table, i - window.first + 1, &page->detail.rows[rows[i]]);
        panel_frame_row(&body, i - window.first, &window, i);
    }
    if (n == 0)
        empty(&body, scene, &page->of_table, "no set has so many trades: there is none to be ranked");
    free(rows);
}

static int bar(const struct area *area, int y, const struct sweep_so_far *so_far)
{
    enum { CELLS = 20 };
    char text[256], time[SWEEP_TIME_MAX], left[SWEEP_TIME_MAX + 8] = "";
    double done = so_far->of > 0 ? (double)so_far->done / (double)so_far->of : 0;

    if (!isnan(so_far->left_s))
        snprintf(left, sizeof(left), ", %s left", cli_sweep_time(so_far->left_s, time));
    tui_chart_bar(area, 1, y, CELLS, done, STYLE_CHART);
    cli_sweep_time(so_far->seconds, time);
    snprintf(text, sizeof(text), "%.0f %%  %lld of %lld sets%s, %s%s", 100 * done, (long long)so_far->done,
             (long long)so_far->of, strcmp(so_far->stage, "screen") == 0 ? " screened" : "", time, left);
    tui_area_text_cut(area, CELLS + 3, y, area->width - CELLS - 3, STYLE_NORMAL, text);
    return y + 1;
}

int panel_sweep_so_far(const struct area *area, int y, int rows, const struct sweep_entry *entry)
{
    const struct sweep_so_far *so_far = &entry->so_far;
    char text[SWEEP_VALUES_MAX + 128], number[FORMAT_MAX];
    struct area part = tui_area_part(area, 1, 0, area->width - 2, area->height);

    if (so_far->done < 0)
        return panel_frame_wrap(&part, y, 1, STYLE_DIM, "the bars are loaded, and the first sets run");
    y = bar(area, y, so_far);
    if (so_far->set[0])
        snprintf(text, sizeof(text), "best so far: %s: %s %s, %lld trades", so_far->set, so_far->metric,
                 cell(number, so_far->value, 3), (long long)so_far->trades);
    else
        snprintf(text, sizeof(text), "best so far: no set has so many trades");
    return panel_frame_wrap(&part, y, rows - 1, STYLE_STRONG, text);
}

/* Which bars, how many sets, how long. Returns the row after the last. */
static int draw_counts(const struct area *area, int y, int rows, const struct sweep_entry *entry)
{
    char bars[SWEEP_VALUE_MAX], text[2 * SWEEP_VALUE_MAX], time[SWEEP_TIME_MAX], few[64] = "";
    const struct sweep_outcome *outcome = &entry->outcome;

    panel_sweep_bars(tui_sweep_entry_field(entry, "bars"), bars, sizeof(bars));
    if (outcome->few > 0)
        snprintf(few, sizeof(few), "; %lld have too few trades to be ranked", (long long)outcome->few);
    if (outcome->runs >= 0)
        snprintf(text, sizeof(text), "%s: %lld of %lld sets, %s%s", bars, (long long)outcome->runs,
                 (long long)outcome->combinations, cli_sweep_time(outcome->seconds, time), few);
    else
        snprintf(text, sizeof(text), "%s", bars);
    return panel_frame_wrap(area, y, rows, STYLE_DIM, text);
}

void panel_sweep_table(const struct area *area, const struct scene *scene)
{
    const struct sweep_page *page = scene->view->sweeps;
    const struct sweep_entry *entry = tui_sweep_list_find(&page->list, page->chosen);
    const bool is_short = area->height < SHORT;
    const int most = is_short ? 1 : 3,
              sentences = is_short ? 1 : SWEEP_SENTENCES; /* the rows have room too */
    char asked[SWEEP_VALUE_MAX];
    struct area part = tui_area_part(area, 1, 0, area->width - 2, area->height);

    if (!entry) {
        panel_frame_empty(area, "that sweep is gone");
        return;
    }
    int y = draw_counts(&part, 0, is_short ? 1 : 2, entry);
    if (!is_short)
        y = panel_frame_wrap(&part, y, 2, STYLE_NORMAL, tui_sweep_entry_asked(entry, asked, sizeof(asked)));
    if (entry->state == SWEEP_RUNNING)
        y = panel_sweep_so_far(area, y, 3, entry);
    if (entry->complaint[0])
        y = panel_frame_wrap(&part, y, 4, STYLE_BAD, entry->complaint);
    for (int i = 0; i < sentences; i++)
        if (entry->outcome.sentences[i][0])
            y = panel_frame_wrap(&part, y, most, i == 0 ? STYLE_STRONG : STYLE_NORMAL,
                                 entry->outcome.sentences[i]);
    if (page->detail.words[0])
        y = panel_frame_wrap(&part, y, 2, STYLE_BAD, page->detail.words);
    struct area rows = tui_area_part(area, 0, y, area->width, area->height - y);
    if (entry->outcome.runs >= 0 && page->detail.id[0])
        draw_rows(&rows, scene);
}

/* ---- the frame ---- */

static void put_title(const struct sweep_page *page, char *buf, size_t size)
{
    const struct sweep_entry *entry = tui_sweep_list_find(&page->list, page->chosen);
    const char *strategy = entry ? tui_sweep_entry_field(entry, "strategy") : "";

    if (page->mode == SWEEP_FORM)
        snprintf(buf, size, "Start a sweep");
    else if (page->mode == SWEEP_LIST)
        snprintf(buf, size, "Sweeps (%d)", page->list.n);
    else if (page->mode == SWEEP_MAP)
        snprintf(buf, size, "Sweep %.*s: heat map", NAME_MAX_SHOWN, strategy);
    else if (page->mode == SWEEP_RUN)
        snprintf(buf, size, "Backtest %.*s %.80s", NAME_MAX_SHOWN, strategy, page->run_set);
    else
        snprintf(buf, size, "Sweep %.*s", NAME_MAX_SHOWN, strategy);
}

static void draw_title(const struct area *area, const struct scene *scene)
{
    const struct sweep_page *page = scene->view->sweeps;
    const struct sweep_entry *entry = tui_sweep_list_find(&page->list, page->chosen);
    char title[160], right[96] = "";
    int end;

    put_title(page, title, sizeof(title));
    panel_frame_rule(area, scene, PANEL_NONE, title, -1, &end);
    const struct sweep_list_view *view = page->mode == SWEEP_LIST ? &page->of_list : &page->of_table;
    enum style style = STYLE_DIM;
    if ((page->mode == SWEEP_LIST || page->mode == SWEEP_TABLE) && view->filter[0]) {
        snprintf(right, sizeof(right), "/%.60s", view->filter);
        style = STYLE_WARN;
    } else if (page->mode == SWEEP_TABLE && entry) {
        snprintf(right, sizeof(right), "%s", tui_sweep_state_word(entry->state));
        style = panel_sweep_state_style(entry->state);
    }
    if (right[0])
        panel_frame_rule_right(area, area->width - 1, title, end, style, right);
}

struct hint {
    const char *key, *word;
};

/* What is typed for the list. */
static void draw_filter(const struct area *area, const struct sweep_page *page)
{
    const struct sweep_list_view *view = page->mode == SWEEP_LIST ? &page->of_list : &page->of_table;
    char wrong[160];
    int x = tui_area_text(area, 0, 0, STYLE_KEY, "/");

    x = tui_area_text(area, x, 0, STYLE_STRONG, view->filter);
    tui_area_char(area, x, 0, STYLE_SELECTED, L'_');
    tui_sweep_page_filter_wrong(page, wrong);
    tui_area_text_cut(area, x + 3, 0, area->width - x - 3, wrong[0] ? STYLE_BAD : STYLE_DIM,
                      wrong[0] ? wrong : "a text, column=text, sharpe>1; ! for those without; Enter, Esc");
}

static void draw_hints(const struct area *area, const struct scene *scene)
{
    static const struct hint list[] = {{"Enter", "open"}, {"s", "start"},    {"r", "by the form"},
                                       {"x", "stop"},     {"e", "continue"}, {"m", "map"},
                                       {"Esc", "back"},   {"d", "remove"},   {"o", "sort"},
                                       {"/", "filter"},   {"F1", "help"},    {NULL, NULL}};
    static const struct hint form[] = {
        {"Enter", "start"}, {"F5", "how long"},       {"Space", "range, default"},
        {"Esc", "back"},    {"Left Right", "choice"}, {"F1", "help"},
        {NULL, NULL}};
    static const struct hint table[] = {
        {"Enter", "backtest"}, {"m", "map"},  {"Esc", "back"}, {"x", "stop"},  {"e", "continue"},
        {"r", "by the form"},  {"o", "sort"}, {"/", "filter"}, {"F1", "help"}, {NULL, NULL}};
    static const struct hint map[] = {{"arrows", "cell"}, {"Enter", "backtest"}, {"[]", "across"},
                                      {"{}", "up"},       {"i", "figure"},       {"Esc", "table"},
                                      {"F1", "help"},     {NULL, NULL}};
    static const struct hint run[] = {
        {"Esc", "back"}, {"x", "stop"}, {"F3", "whole texts"}, {"F1", "help"}, {NULL, NULL}};
    static const struct hint *const of[] = {[SWEEP_LIST] = list,
                                            [SWEEP_FORM] = form,
                                            [SWEEP_TABLE] = table,
                                            [SWEEP_MAP] = map,
                                            [SWEEP_RUN] = run};
    struct hint_row row = panel_frame_hints(area);

    for (const struct hint *hint = of[scene->view->sweeps->mode]; hint->key; hint++)
        panel_frame_hint(&row, hint->key, hint->word);
    panel_frame_hints_end(&row);
}

static void draw_last(const struct area *area, const struct scene *scene)
{
    const struct sweep_page *page = scene->view->sweeps;

    if (page->filtering)
        draw_filter(area, page);
    else if (page->words[0])
        tui_area_text_cut(area, 0, 0, area->width, page->failed ? STYLE_BAD : STYLE_WARN, page->words);
    else
        draw_hints(area, scene);
}

static void draw_question(const struct area *screen, const struct sweep_page *page)
{
    char text[256], time[SWEEP_TIME_MAX];
    const bool removes = page->asks == SWEEP_ASKS_REMOVE;
    struct area box = panel_frame_box(screen, 64, 6, removes ? "Remove a sweep" : "Start a sweep");

    if (removes)
        snprintf(text, sizeof(text), "Its files are removed, with what the table and the map show.");
    else
        snprintf(text, sizeof(text),
                 "%.0f sets, about %s, which is more than %lld s, on all cores. x stops it.", page->plan.sets,
                 cli_sweep_time(page->plan.seconds, time), (long long)page->plan.asks_above_s);
    panel_frame_wrap(&box, 0, 2, STYLE_NORMAL, text);
    panel_frame_yes(&box, false, removes ? "removes it" : "starts it");
}

void panel_sweep(const struct area *screen, const struct scene *scene)
{
    const struct sweep_page *page = scene->view->sweeps;
    static void (*const draws[])(const struct area *area, const struct scene *scene) = {
        [SWEEP_LIST] = panel_sweep_list, [SWEEP_FORM] = panel_sweep_form, [SWEEP_TABLE] = panel_sweep_table,
        [SWEEP_MAP] = panel_sweep_map,   [SWEEP_RUN] = panel_sweep_run,
    };
    struct area title = tui_area_part(screen, 0, 0, screen->width, 1),
                body = tui_area_part(screen, 0, 1, screen->width, screen->height - 2),
                last = tui_area_part(screen, 0, screen->height - 1, screen->width, 1);

    screen->canvas->n_rows = 0; /* of what is covered */
    for (int y = 0; y < screen->height; y++)
        tui_area_line(screen, 0, y, screen->width, STYLE_NORMAL, L' ');
    draw_title(&title, scene);
    draws[page->mode](&body, scene);
    draw_last(&last, scene);
    if (page->asks != SWEEP_ASKS_NOTHING)
        draw_question(screen, page);
}
