/* Several runs on one page: curves over each other, figures side by side, differences to the first. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page/page.h"

enum { FIGURES_MAX = 64 };

struct figures {
    int n;
    char names[FIGURES_MAX][40];
    double values[FIGURES_MAX];
};

static void take(void *ctx, const char *name, double value)
{
    struct figures *figures = ctx;
    if (figures->n == FIGURES_MAX)
        return;
    snprintf(figures->names[figures->n], sizeof figures->names[0], "%s", name);
    figures->values[figures->n++] = value;
}

/* ---- curves ---- */

/* Runs of other cash are scaled to 100 at the beginning. */
static bool same_money(const struct page_run *runs, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (strcmp(runs[i].spec->currency, runs[0].spec->currency) != 0 ||
            runs[i].equity[0] != runs[0].equity[0])
            return false;
    return true;
}

static double *scaled(const struct page_run *run)
{
    double *made = calloc(run->n + 1, sizeof *made);
    for (size_t i = 0; made && i <= run->n; i++)
        made[i] = 100 * run->equity[i] / run->equity[0];
    return made;
}

int cli_page_compared_make(const struct page_run *runs, size_t n, struct page_compared *ret)
{
    const bool same = same_money(runs, n);
    struct page_compared made = {.drawn = (int)(n < PAGE_COMPARED_MAX ? n : PAGE_COMPARED_MAX),
                                 .unit = same ? runs[0].spec->currency : "100 at the beginning",
                                 .start = same ? runs[0].equity[0] : 100,
                                 .held = same ? runs[0].held : NULL};
    for (int i = 0; i < made.drawn; i++) {
        made.scaled[i] = same ? NULL : scaled(&runs[i]);
        made.equity[i] = same ? runs[i].equity : made.scaled[i];
        if (!made.equity[i]) {
            cli_page_compared_finish(&made);
            return -ENOMEM;
        }
    }
    *ret = made;
    return 0;
}

void cli_page_compared_finish(struct page_compared *compared)
{
    for (int i = 0; i < PAGE_COMPARED_MAX; i++)
        free(compared->scaled[i]);
}

const char *cli_page_compared_more(size_t n, char ret[static PAGE_WORDS_MAX])
{
    if (n <= PAGE_COMPARED_MAX)
        return NULL;
    snprintf(ret, PAGE_WORDS_MAX, "The first %d of %zu runs are drawn.", (int)PAGE_COMPARED_MAX, n);
    return ret;
}

static void draw(struct text *text, const struct page_run *runs, const struct page_compared *compared)
{
    struct report_series equity[PAGE_COMPARED_MAX + 1], drops[PAGE_COMPARED_MAX];
    for (int i = 0; i < compared->drawn; i++) {
        const struct page_run *run = &runs[i];
        equity[i] = (struct report_series){
            REPORT_LINE, i >= 2 ? (i + 1) % REPORT_COLOURS : i, run->name, run->x, compared->equity[i], NULL,
            run->n + 1};
        drops[i] = equity[i];
        drops[i].y = run->drawdown;
    }
    struct report_curves of = {.unit = compared->unit,
                               .start = compared->start,
                               .series = equity,
                               .n = compared->drawn,
                               .caption = "Equity at each row's close, after costs."};
    if (compared->held)
        equity[of.n++] = (struct report_series){
            REPORT_LINE, 2, runs[0].source->benchmark, runs[0].x, compared->held, NULL, runs[0].n + 1};
    report_part_equity(text, &of);
    of.unit = "%";
    of.series = drops;
    of.n = compared->drawn;
    of.caption = "How far equity is below its highest so far.";
    report_part_drawdown(text, &of);
}

static int curves(struct text *text, const struct page_run *runs, size_t n)
{
    struct page_compared compared;
    char words[PAGE_WORDS_MAX];
    int r = cli_page_compared_make(runs, n, &compared);
    if (r < 0)
        return r;
    draw(text, runs, &compared);
    cli_page_compared_finish(&compared);
    if (cli_page_compared_more(n, words))
        report_page_paragraph(text, words);
    return 0;
}

/* ---- figures ---- */

static void names_row(struct text *text, const char *first, const struct page_run *runs, size_t n)
{
    const char **names = calloc(n + 1, sizeof *names);
    if (!names) {
        text->failed = true;
        return;
    }
    names[0] = first;
    for (size_t i = 0; i < n; i++)
        names[i + 1] = runs[i].name;
    report_page_table(text, names, (int)n + 1);
    free(names);
}

static void words_row(struct text *text, const char *name, const struct page_run *runs, size_t n,
                      const char *(*words)(const struct page_run *run, char ret[static PAGE_WORDS_MAX]))
{
    char cell[PAGE_WORDS_MAX];
    report_page_row(text);
    report_page_cell(text, name);
    for (size_t i = 0; i < n; i++)
        report_page_cell(text, words(&runs[i], cell));
    report_page_row_end(text);
}

static const char *params_words(const struct page_run *run, char ret[static PAGE_WORDS_MAX])
{
    cli_page_run_params(run->spec, ret);
    return ret[0] ? ret : "defaults";
}

static const char *period_words(const struct page_run *run, char ret[static PAGE_WORDS_MAX])
{
    char from[REPORT_PART_TIME_MAX], to[REPORT_PART_TIME_MAX];
    snprintf(ret, PAGE_WORDS_MAX, "%s to %s", report_part_time(run->report->start_ns, from),
             report_part_time(run->report->end_ns, to));
    return ret;
}

static void runs_table(struct text *text, const struct page_run *runs, size_t n)
{
    names_row(text, "Run", runs, n);
    words_row(text, "strategy", runs, n, cli_page_subject);
    words_row(text, "parameters", runs, n, params_words);
    words_row(text, "traded, UTC", runs, n, period_words);
    report_page_row(text);
    report_page_cell(text, "equity at the end");
    for (size_t i = 0; i < n; i++)
        report_page_value_fixed(text, runs[i].report->final_equity, 2);
    report_page_row_end(text);
    report_page_row(text);
    report_page_cell(text, "closed trades");
    for (size_t i = 0; i < n; i++)
        report_page_value_fixed(text, (double)runs[i].report->trades.n, 0);
    report_page_row_end(text);
    report_page_table_end(text);
}

/* `less` NULL: the figures; else the differences to those. */
static void figures_table(struct text *text, const char *title, const struct page_run *runs, size_t n,
                          const struct figures *all, const struct figures *less)
{
    names_row(text, title, runs, n);
    for (int f = 0; f < all[0].n; f++) {
        report_page_row(text);
        report_page_cell(text, all[0].names[f]);
        for (size_t i = 0; i < n; i++)
            if (less)
                report_page_value_fixed(text, all[i].values[f] - less->values[f], 4);
            else
                report_page_value(text, all[i].values[f], 8);
        report_page_row_end(text);
    }
    report_page_table_end(text);
}

const char *cli_page_apart(const struct page_run *runs, size_t n)
{
    bool apart = false;
    for (size_t i = 1; i < n; i++)
        apart = apart || runs[i].report->start_ns != runs[0].report->start_ns ||
                runs[i].report->end_ns != runs[0].report->end_ns ||
                runs[i].report->interval_ns != runs[0].report->interval_ns;
    return apart
               ? "The runs are not of the same times and interval: their figures are not of the same market."
               : NULL;
}

int cli_page_compare(struct text *text, const struct page_run *runs, size_t n)
{
    struct figures *all = calloc(n, sizeof *all);
    char words[PAGE_WORDS_MAX];
    int r = all ? 0 : -ENOMEM;
    for (size_t i = 0; i < n && r == 0; i++)
        r = cli_page_figures(&runs[i], take, &all[i]);
    if (r == 0) {
        if (cli_page_apart(runs, n))
            report_page_sentence(text, cli_page_apart(runs, n), 0);
        runs_table(text, runs, n);
        r = curves(text, runs, n);
        report_page_heading(text, "Figures");
        report_page_paragraph(text,
                              "As --json of papertape backtest names them; docs/metrics.md defines each.");
        figures_table(text, "Figure", runs, n, all, NULL);
        report_page_heading(text, "Differences");
        snprintf(words, sizeof words, "Each run's figure less that of the first one, %s.", runs[0].name);
        report_page_paragraph(text, words);
        figures_table(text, "Figure", runs + 1, n - 1, all + 1, &all[0]);
    }
    free(all);
    return r;
}

static int page(struct text *text, const struct page_run *runs, size_t n)
{
    const size_t each = PAGE_TRADES_MAX / n, most = each > PAGE_TRADES_LEAST ? each : PAGE_TRADES_LEAST;
    char title[PAGE_WORDS_MAX], subject[PAGE_WORDS_MAX];
    if (n == 1)
        snprintf(title, sizeof title, "Backtest: %.600s", cli_page_subject(&runs[0], subject));
    else
        snprintf(title, sizeof title, "Backtests: %zu runs compared", n);
    report_page_begin(text, title);
    int r = n > 1 ? cli_page_compare(text, runs, n) : 0;
    for (size_t i = 0; i < n && r == 0; i++) {
        if (n > 1) {
            snprintf(title, sizeof title, "Run %zu: %s", i + 1, runs[i].name);
            report_page_section(text, title);
        }
        r = cli_page_run(text, &runs[i], most);
    }
    report_page_end(text);
    return r < 0 || text_ok(text) ? r : -ENOMEM;
}

int cli_page_backtest(const struct page_run *runs, size_t n, FILE *out)
{
    struct text text = {0};
    int r = page(&text, runs, n);
    if (r == 0)
        fwrite(text.data, 1, text.len, out);
    text_finish(&text);
    return r;
}
