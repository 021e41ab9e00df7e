/* The backtest of one set of a sweep: its figures beside those of the sweep, and its equity. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tui/chart.h"
#include "tui/panel/sweep.h"

enum { NAME_X = 1, OWN_X = 28, SWEEP_X = 42, AXIS = 12, LINE_ROWS = 3 };

static void put_figure(const struct area *area, int y, const char *name, enum style style, const char *own,
                       const char *sweeps)
{
    tui_area_text(area, NAME_X, y, STYLE_DIM, name);
    tui_area_text_right(area, OWN_X, y, style, own);
    tui_area_text_right(area, SWEEP_X, y, *sweeps && strcmp(own, sweeps) != 0 ? STYLE_WARN : STYLE_DIM,
                        sweeps);
}

/* Returns the row after the last. */
static int draw_figures(const struct area *area, const struct sweep_page *page)
{
    const struct backtest_view *run = &page->run;
    const struct sweep_run_figures *of = &page->run_figures;
    char own[FORMAT_MAX], sweeps[FORMAT_MAX];
    int y = 0;

    tui_area_text_right(area, OWN_X, y, STYLE_TITLE, "this run");
    tui_area_text_right(area, SWEEP_X, y++, STYLE_TITLE, "in the sweep");
    put_figure(area, y++, "return %", style_signed(run->return_pct, 2),
               cli_format_number(own, run->return_pct, 2), cli_format_number(sweeps, of->return_pct, 2));
    put_figure(area, y++, "Sharpe", style_signed(run->sharpe, 3), cli_format_number(own, run->sharpe, 3),
               cli_format_number(sweeps, of->sharpe, 3));
    put_figure(area, y++, "max drawdown %", STYLE_NORMAL, cli_format_number(own, run->drawdown_pct, 2),
               cli_format_number(sweeps, of->drawdown_pct, 2));
    put_figure(area, y++, "trades", STYLE_NORMAL, cli_format_number(own, (double)run->trades, 0),
               cli_format_number(sweeps, (double)of->trades, 0));
    put_figure(area, y++, "equity", STYLE_STRONG, cli_format_number(own, run->equity, 2), "");
    put_figure(area, y++, "trades won %", STYLE_NORMAL, cli_format_number(own, run->win_rate_pct, 1), "");
    return y;
}

/* The curve at equal steps of time: the last point until each. */
static int sample(const struct backtest_view *run, double *values, int n)
{
    const struct history_equity *curve = run->curve;
    const int64_t first = curve[0].ts_ns, span = run->n_curve > 1 ? curve[run->n_curve - 1].ts_ns - first : 0;
    int at = 0;

    for (int i = 0; i < n && span > 0; i++) {
        const int64_t until = first + span / n * (i + 1) + (i == n - 1 ? span : 0);
        while (at + 1 < run->n_curve && curve[at + 1].ts_ns <= until)
            at++;
        values[i] = curve[at].equity;
    }
    return span > 0 ? n : 0;
}

static void draw_equity(const struct area *area, const struct backtest_view *run)
{
    double values[2 * CANVAS_SIDE_MAX], low, high;
    char text[FORMAT_MAX];
    struct area chart = tui_area_part(area, 1, 1, area->width - AXIS - 2, area->height - 1);

    tui_area_text(area, 1, 0, STYLE_TITLE, "equity");
    const int n = chart.width > 0 && run->n_curve > 0 ? sample(run, values, 2 * chart.width) : 0;
    if (area->height >= 3 && tui_chart_range(values, n, &low, &high)) {
        tui_chart_line(&chart, values, n, low, high, STYLE_CHART);
        tui_area_text_right(area, area->width - 1, 1, STYLE_DIM, cli_format_fit(text, high, 2, AXIS - 1));
        tui_area_text_right(area, area->width - 1, area->height - 1, STYLE_DIM,
                            cli_format_fit(text, low, 2, AXIS - 1));
    }
}

/* The same, from a shell. */
static void draw_line(const struct area *area, const struct sweep_page *page)
{
    const struct sweep_entry *entry = tui_sweep_list_find(&page->list, page->chosen);
    struct sweep_argv argv = {0};
    char line[2 * SWEEP_VALUE_MAX];

    if (!entry)
        return;
    tui_sweep_argv_run(&argv, entry->fields, page->run_set);
    const int n = snprintf(line, sizeof(line), "From a shell: ");
    tui_sweep_argv_line(&argv, line + n, sizeof(line) - (size_t)n);
    panel_frame_wrap(area, 0, area->height, STYLE_DIM, line);
    tui_sweep_argv_finish(&argv);
}

void panel_sweep_run(const struct area *area, const struct scene *scene)
{
    const struct sweep_page *page = scene->view->sweeps;
    struct area line = tui_area_part(area, 1, area->height - LINE_ROWS, area->width - 2, LINE_ROWS),
                rest = tui_area_part(area, 1, 0, area->width - 2, area->height - LINE_ROWS);
    char text[STATUS_TEXT_MAX + FORMAT_MAX], age[FORMAT_MAX];

    draw_line(&line, page);
    if (page->run.state == BACKTEST_DONE) {
        int y = draw_figures(&rest, page) + 1;
        struct area equity = tui_area_part(area, 0, y, area->width, rest.height - y);
        draw_equity(&equity, &page->run);
        return;
    }
    if (page->run.state == BACKTEST_FAILED)
        snprintf(text, sizeof(text), "%s", page->run.words);
    else if (page->run.state == BACKTEST_STOPPED)
        snprintf(text, sizeof(text), "stopped");
    else
        snprintf(text, sizeof(text), "it runs: %s",
                 page->run.state == BACKTEST_RUNNING
                     ? cli_format_age(age, scene->real_now.mono_ms - page->run.started_ms)
                     : "");
    panel_frame_wrap(&rest, 0, 4, page->run.state == BACKTEST_FAILED ? STYLE_BAD : STYLE_WARN, text);
}
