/* The charts of `papertape report --chart`: those of its page. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cli/months.h"
#include "cli/page/charts.h"
#include "cli/text.h"
#include "db/report/report.h"
#include "report/page_parts.h"
#include "tui/chart_bars.h"
#include "tui/chart_curves.h"

enum { EQUITY_ROWS = 12, ROWS = 6, DECIMALS = 2, TITLE_WORDS = 160 };

static struct chart_curve curve_of(const struct db_report_account *a, const double *y)
{
    return (struct chart_curve){.time = a->chart_ns, .y = y, .n = a->n_chart};
}

static int print_curves(const struct db_report_account *a, int width, FILE *out)
{
    char title[TITLE_WORDS];
    snprintf(title, sizeof title, "equity %s, %s", a->account.currency, a->account.name);
    const struct chart_curve equity = curve_of(a, a->chart_equity), drop = curve_of(a, a->chart_drawdown);
    struct chart_curve exposed = curve_of(a, a->chart_exposure);
    exposed.mean = true;
    const struct chart_curves all[] = {{title, &equity, 1, EQUITY_ROWS, DECIMALS, NAN},
                                       {"drawdown, %", &drop, 1, ROWS, DECIMALS, 0},
                                       {"not cash, % of equity", &exposed, 1, ROWS, DECIMALS, 0}};
    int r = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all && r == 0; i++)
        r = tui_chart_curves_print(&all[i], width, out);
    return r;
}

/* ---- returns ---- */

static int print_months(const struct db_report_account *a, FILE *out)
{
    struct report_month *each = calloc(a->n_days + 1, sizeof *each);
    struct metrics_month *months = calloc(a->n_days + 1, sizeof *months);
    const size_t n = each && months ? db_report_months(a, false, each) : 0;
    for (size_t i = 0; i < n; i++)
        months[i] = (struct metrics_month){
            .year = each[i].year, .month = each[i].month, .total_return = each[i].total_return};
    if (n > 0) {
        fputc('\n', out);
        cli_months_print(months, n, out);
    }
    const int r = each && months ? 0 : -ENOMEM;
    free(each);
    free(months);
    return r;
}

static int print_distribution(const struct db_report_account *a, int width, FILE *out)
{
    double *percent = calloc(a->n_days + 1, sizeof *percent);
    const size_t n = percent ? db_report_returns(a, percent) : 0;
    int r = percent ? 0 : -ENOMEM;
    if (n > 0)
        r = tui_chart_bars_print("returns of days, %", percent, n, width, out);
    free(percent);
    return r;
}

/* ---- all ---- */

static int print_account(const struct db_report_account *a, int width, FILE *out)
{
    if (a->n_chart < 2) {
        fputs("\n  no curve of ", out);
        cli_text_print(out, a->account.name);
        fputs(": it has fewer than two points of equity\n", out);
        return 0;
    }
    int r = print_curves(a, width, out);
    r = r < 0 ? r : print_months(a, out);
    return r < 0 ? r : print_distribution(a, width, out);
}

int tui_report_chart(const struct db_report *report, int width, FILE *out)
{
    int r = 0;
    for (size_t i = 0; i < report->n_accounts && r == 0; i++)
        r = print_account(&report->accounts[i], width, out);
    return r;
}
