/* Saved backtests side by side. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/format.h"
#include "cli/output.h"
#include "cli/page/charts.h"
#include "cli/page/page.h"
#include "cli/page/saved.h"
#include "cli/stored.h"
#include "cli/text.h"
#include "cli/verbs.h"
#include "exchange/exit_status.h"

struct asked {
    const char *page;
    bool chart;
};

/* Each directory, and a run an account. */
struct compared {
    struct page_saved *saved; /* [n_saved] */
    size_t n_saved;
    struct page_run *runs; /* [n] */
    size_t n;
};

static int fail(const char *what, const char *words)
{
    return cli_stored_fail(EXIT_ERROR, "compare", what, words);
}

/* "try", or "try:sma-cross" of several accounts: the directory's last name. */
static void name_of(const char *path, const struct page_saved *saved, int account,
                    char ret[static PAGE_NAME_MAX])
{
    size_t end = strlen(path), begin;
    while (end > 1 && path[end - 1] == '/')
        end--;
    for (begin = end; begin > 0 && path[begin - 1] != '/';)
        begin--;
    if (saved->backtest.n_accounts > 1)
        snprintf(ret, PAGE_NAME_MAX, "%.*s:%s", (int)(end - begin > 48 ? 48 : end - begin), path + begin,
                 saved->accounts[account].name);
    else
        snprintf(ret, PAGE_NAME_MAX, "%.*s", (int)(end - begin), path + begin);
}

static int add_runs(struct compared *all, const char *path, const struct page_saved *saved)
{
    const size_t n = (size_t)saved->backtest.n_accounts;
    struct page_run *moved = reallocarray(all->runs, all->n + n, sizeof *moved);
    int r = moved ? 0 : -ENOMEM;
    all->runs = moved ? moved : all->runs;
    for (int a = 0; a < saved->backtest.n_accounts && r == 0; a++) {
        char name[PAGE_NAME_MAX];
        name_of(path, saved, a, name);
        r = cli_page_run_make(&saved->source, a, name, &all->runs[all->n]);
        all->n += r == 0;
    }
    return r < 0 ? fail(path, strerror(-r)) : EXIT_OK;
}

/* Is it a directory that stands before it, by whatever name? */
static bool is_named_twice(const struct option_call *call, int which)
{
    struct stat own, other;
    if (stat(call->arguments[which], &own) < 0)
        return false;
    for (int i = 0; i < which; i++)
        if (stat(call->arguments[i], &other) == 0 && other.st_dev == own.st_dev && other.st_ino == own.st_ino)
            return true;
    return false;
}

static int load(const struct option_call *call, struct compared *ret)
{
    int status = EXIT_OK;
    for (int i = 1; i < call->n; i++)
        if (is_named_twice(call, i))
            return cli_stored_fail(EXIT_USAGE, "compare", call->arguments[i],
                                   "it is there twice: each run once is needed");
    ret->saved = calloc((size_t)call->n, sizeof *ret->saved);
    if (!ret->saved)
        return fail("", "out of memory");
    for (int i = 0; i < call->n && status == EXIT_OK; i++) {
        status = cli_page_saved_load("compare", call->arguments[i], &ret->saved[i]);
        ret->n_saved += status == EXIT_OK;
        if (status == EXIT_OK)
            status = add_runs(ret, call->arguments[i], &ret->saved[i]);
    }
    if (status == EXIT_OK && ret->n < 2)
        return cli_stored_fail(EXIT_USAGE, "compare", call->arguments[0],
                               "it has one account: a second run is needed to compare it with");
    return status;
}

static void finish(struct compared *all)
{
    for (size_t i = 0; i < all->n; i++)
        cli_page_run_finish(&all->runs[i]);
    for (size_t i = 0; i < all->n_saved; i++)
        cli_page_saved_finish(&all->saved[i]);
    free(all->runs);
    free(all->saved);
}

/* ---- forms ---- */

static int write_page(const struct compared *all, FILE *out)
{
    int r = cli_page_backtest(all->runs, all->n, out);
    return r < 0 ? fail("--report", strerror(-r)) : EXIT_OK;
}

static void set_figure(void *ctx, const char *name, double value)
{
    json_object_set_new(ctx, name, record_json_real(value));
}

static int print_json(const struct compared *all)
{
    json_t *runs = json_array();
    for (size_t i = 0; i < all->n; i++) {
        const struct page_run *run = &all->runs[i];
        const char *trader = account_spec_trader(run->spec);
        json_t *object =
            json_pack("{s:s, s:s, s:s?, s:s, s:I, s:I, s:I, s:o, s:I, s:I, s:I}", "run", run->name, "account",
                      run->spec->name, "strategy", trader, "currency", run->spec->currency, "first_ns",
                      (json_int_t)run->report->start_ns, "last_ns", (json_int_t)run->report->end_ns, "rows",
                      (json_int_t)run->n, "equity", record_json_real(run->report->final_equity), "trades",
                      (json_int_t)run->report->trades.n, "fills", (json_int_t)run->result->n_fills, "orders",
                      (json_int_t)run->result->n_orders);
        if (cli_page_figures(run, set_figure, object) < 0) {
            json_decref(object);
            json_decref(runs);
            return fail("", "out of memory");
        }
        json_array_append_new(runs, object);
    }
    return cli_stored_print("compare", json_pack("{s:s, s:o}", "schema", "papertape.compare/1", "runs", runs),
                            17);
}

static void print_cell(double value, int decimals)
{
    char cell[FORMAT_MAX];
    printf(" %10s", cli_format_fit(cell, value, decimals, 10));
}

static void print_table(const struct compared *all)
{
    printf("%-24s %10s %10s %10s %10s %10s %10s\n", "run", "equity", "return %", "Sharpe", "maxdd %",
           "trades", "fees");
    for (size_t i = 0; i < all->n; i++) {
        const struct backtest_report *r = all->runs[i].report;
        char name[25];
        snprintf(name, sizeof name, "%s", all->runs[i].name);
        int shown = cli_text_width(name);
        cli_text_print(stdout, name);
        printf("%*s", shown < 24 ? 24 - shown : 0, "");
        print_cell(r->final_equity, 2);
        print_cell(100 * r->metrics.total_return, 2);
        print_cell(r->metrics.sharpe, 3);
        print_cell(100 * r->metrics.max_drawdown, 2);
        print_cell((double)r->trades.n, 0);
        print_cell(r->fees, 2);
        putchar('\n');
    }
    if (cli_page_apart(all->runs, all->n))
        printf("\n%s\n", cli_page_apart(all->runs, all->n));
}

/* ---- the verb ---- */

static int compare(const struct option_call *call, const struct compared *all, struct output *page)
{
    const struct asked *asked = call->into;
    int status = page->file ? write_page(all, page->file) : EXIT_OK;
    if (status == EXIT_OK)
        status = cli_output_commit("compare", page);
    if (status != EXIT_OK)
        return status;
    if (call->json)
        return print_json(all);
    print_table(all);
    int r = asked->chart ? tui_run_chart_compared(all->runs, all->n, tui_run_chart_width(), stdout) : 0;
    return r < 0 ? fail("--chart", strerror(-r)) : EXIT_OK;
}

static int run(struct option_call *call)
{
    const struct asked *asked = call->into;
    struct output page = {0};
    struct compared all = {0};
    int status = asked->page ? cli_output_open("compare", asked->page, &page) : EXIT_OK;
    if (status == EXIT_OK)
        status = load(call, &all);
    if (status == EXIT_OK)
        status = compare(call, &all, &page);
    cli_output_drop(&page);
    finish(&all);
    return status;
}

static const struct option_action actions[] = {
    {.arguments = "RUN...", .example = "~/try-fast ~/try-slow --report compared.html", .run = run}};

static const struct option_row options[] = {
    {"chart", NULL,
     "below the table, in characters as the terminal and its locale have them: equity and drawdown over each other",
     offsetof(struct asked, chart), .without = "json"},
    {"report", "FILE",
     "one HTML page, which loads nothing and runs nothing: curves over each other, figures, differences to the first "
     "run, and all parts of each",
     offsetof(struct asked, page)},
};

CLI_VERB(cli_compare) = {
    .name = "compare",
    .words = "saved backtests side by side",
    .about =
        "Compares backtests that papertape backtest --save DIR kept, each RUN such a directory; of several accounts in "
        "one, each. Figures are those of the run's --json; the benchmark is the first symbol. With --json, "
        "papertape.compare/1.",
    .page = "backtest",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct asked),
};
