#include "cli/page/charts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/page/page.h"
#include "tui/chart_bars.h"
#include "tui/chart_curves.h"

enum {
    WIDTH_DEFAULT = 80,
    WIDTH_LEAST = 40,
    WIDTH_MOST = 200,
    EQUITY_ROWS = 12,
    DROP_ROWS = 6,
    DECIMALS = 2
};
_Static_assert(PAGE_COMPARED_MAX + 1 <= (int)CHART_CURVES_MAX, "the runs that a page draws, and a benchmark");

int tui_run_chart_width(void)
{
    struct winsize size;
    bool known = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    int width = known ? size.ws_col : WIDTH_DEFAULT;
    return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : width;
}

static struct chart_curve curve_of(const struct page_run *run, const char *name, const double *y)
{
    return (struct chart_curve){.name = name, .time = run->x, .y = y, .n = run->n + 1};
}

/* ---- a run ---- */

static int print_curves(const struct page_run *run, int width, FILE *out)
{
    char title[PAGE_NAME_MAX + 64];
    snprintf(title, sizeof title, "equity %s, %s", run->spec->currency, run->name);
    const struct chart_curve equity[] = {curve_of(run, NULL, run->equity),
                                         curve_of(run, run->source->benchmark, run->held)};
    const struct chart_curve drop = curve_of(run, NULL, run->drawdown);
    struct chart_curve exposed[] = {curve_of(run, NULL, run->gross),
                                    curve_of(run, "long less short", run->net)};
    exposed[0].mean = exposed[1].mean = true;
    const struct chart_curves all[] = {
        {title, equity, run->held ? 2 : 1, EQUITY_ROWS, DECIMALS, run->equity[0]},
        {"drawdown, %", &drop, 1, DROP_ROWS, DECIMALS, 0},
        {"positions, % of equity", exposed, run->shorts ? 2 : 1, DROP_ROWS, DECIMALS, 0}};
    const int n = run->result->n_fills > 0 ? 3 : 2; /* without a fill nothing was exposed */
    int r = 0;
    for (int i = 0; i < n && r == 0; i++)
        r = tui_chart_curves_print(&all[i], width, out);
    return r;
}

int tui_run_chart(const struct page_run *run, int width, FILE *out)
{
    double *returns = malloc((run->n + 1) * sizeof *returns);
    bool days;
    int r = returns ? print_curves(run, width, out) : -ENOMEM;
    if (r == 0) {
        size_t n = cli_page_run_returns(run, &days, returns);
        r = tui_chart_bars_print(days ? "returns of days, %" : "returns of rows, %", returns, n, width, out);
    }
    free(returns);
    return r;
}

/* ---- several ---- */

int tui_run_chart_compared(const struct page_run *runs, size_t n, int width, FILE *out)
{
    struct page_compared compared;
    struct chart_curve equity[CHART_CURVES_MAX], drops[CHART_CURVES_MAX];
    char title[64], words[PAGE_WORDS_MAX];
    int r = cli_page_compared_make(runs, n, &compared);
    if (r < 0)
        return r;
    for (int i = 0; i < compared.drawn; i++) {
        equity[i] = curve_of(&runs[i], runs[i].name, compared.equity[i]);
        drops[i] = curve_of(&runs[i], runs[i].name, runs[i].drawdown);
    }
    snprintf(title, sizeof title, "equity, %s", compared.unit);
    struct chart_curves of = {title, equity, compared.drawn, EQUITY_ROWS, DECIMALS, compared.start};
    if (compared.held) {
        equity[of.n] = curve_of(&runs[0], runs[0].source->benchmark, compared.held);
        equity[of.n++].dotted = true;
    }
    r = tui_chart_curves_print(&of, width, out);
    of = (struct chart_curves){"drawdown, %", drops, compared.drawn, EQUITY_ROWS, DECIMALS, 0};
    r = r < 0 ? r : tui_chart_curves_print(&of, width, out);
    if (r == 0 && cli_page_compared_more(n, words))
        fprintf(out, "\n%s\n", words);
    cli_page_compared_finish(&compared);
    return r;
}
