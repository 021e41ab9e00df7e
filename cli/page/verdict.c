/* The verdict on a run, over steps of one or more rows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/page/run.h"
#include "exchange/decimal.h"

enum { CELLS_MOST = 1000000 /* steps times symbols */ };

struct steps {
    size_t n, rows; /* of a step, except the last, which may have fewer */
    int n_symbols;
    const int *symbols; /* [n_symbols] of the market */
    double *equity, *held, *weights, *moves;
};

/* The rows of steps 0 to i, the i-th among them. */
static size_t end_of(const struct steps *steps, size_t i, size_t rows)
{
    size_t end = (i + 1) * steps->rows;
    return end < rows ? end : rows;
}

/* One share from a step's begin on, through splits and dividends. */
struct share {
    double qty, cash;
    size_t action; /* the next one */
};

/* Takes those of a symbol that take effect before a time. */
static void take_actions(const struct page_run *run, int symbol, int64_t before_ns, struct share *share)
{
    const struct backtest_config *config = run->source->config;
    for (; share->action < config->n_actions; share->action++) {
        const struct backtest_action *next = &config->actions[share->action];
        if (next->at_ns >= before_ns)
            return;
        if (next->symbol != symbol)
            continue;
        if (next->action.kind == ACTION_SPLIT)
            share->qty *= (double)next->action.shares / (double)next->action.per;
        else
            share->cash += share->qty * decimal_to_double(next->action.cash, ACTION_CASH_SCALE);
    }
}

/* What a symbol's position was at the close before each step, as a share of equity, and how its worth moved.
 */
static void fill_symbol(const struct page_run *run, struct steps *steps, int k, double *values)
{
    const struct backtest *backtest = run->source->backtest;
    const struct market_series *series = &run->source->config->market->series[steps->symbols[k]];
    const double *close = series->close + backtest->from;
    double before = backtest->from > 0 ? close[-1] : series->open[0];
    struct share share = {0};
    cli_page_run_values(run, steps->symbols[k], values);
    take_actions(run, steps->symbols[k], run->x[0], &share);
    for (size_t i = 0; i < steps->n; i++) {
        size_t begin = i * steps->rows, end = end_of(steps, i, run->n);
        steps->weights[(size_t)k * steps->n + i] = begin > 0 ? values[begin - 1] / run->equity[begin] : 0;
        share = (struct share){.qty = 1, .action = share.action};
        take_actions(run, steps->symbols[k], run->x[end], &share);
        steps->moves[(size_t)k * steps->n + i] = (share.qty * close[end - 1] + share.cash) / before - 1;
        before = close[end - 1];
    }
}

static void fill(const struct page_run *run, struct steps *steps, double *values)
{
    for (size_t i = 0; i < steps->n; i++) {
        size_t end = end_of(steps, i, run->n);
        steps->equity[i] = run->equity[end];
        steps->held[i] = run->held[end];
    }
    for (int k = 0; k < steps->n_symbols; k++)
        fill_symbol(run, steps, k, values);
}

static int judge(const struct page_run *run, struct steps *steps, struct verdict *ret)
{
    const size_t cells = steps->n * (size_t)steps->n_symbols;
    double *values = malloc(run->n * sizeof *values);
    double *room = malloc((2 * steps->n + 2 * cells) * sizeof *room);
    if (!values || !room) {
        free(values);
        free(room);
        return -ENOMEM;
    }
    steps->equity = room;
    steps->held = room + steps->n;
    steps->weights = room + 2 * steps->n;
    steps->moves = steps->weights + cells;
    fill(run, steps, values);
    const struct verdict_input input = {.n = steps->n,
                                        .n_assets = steps->n_symbols,
                                        .initial = run->equity[0],
                                        .equity = steps->equity,
                                        .benchmark = steps->held,
                                        .weights = steps->weights,
                                        .moves = steps->moves,
                                        .fees = run->report->fees,
                                        .opened = run->opened,
                                        .closed = run->closed,
                                        .buys = (int64_t)run->buys,
                                        .sells = (int64_t)run->sells};
    int r = metrics_verdict(&input, ret);
    free(values);
    free(room);
    return r;
}

int cli_page_run_verdict(const struct page_run *run, struct verdict *ret, size_t *ret_rows)
{
    const int n_symbols = run->source->config->market->n_symbols;
    int *symbols = calloc((size_t)n_symbols, sizeof *symbols);
    bool *traded = calloc((size_t)n_symbols, sizeof *traded);
    struct steps steps = {.symbols = symbols};
    int r = symbols && traded ? 0 : -ENOMEM;
    if (r == 0 && (!run->held || run->n == 0))
        r = -ENODATA;
    if (r == 0) {
        for (size_t i = 0; i < run->result->n_fills; i++)
            traded[run->result->fills[i].symbol] = true;
        for (int s = 0; s < n_symbols; s++)
            if (traded[s])
                symbols[steps.n_symbols++] = s;
        steps.n_symbols += steps.n_symbols == 0; /* the first one's, at weights of 0 */
        const size_t most = (size_t)CELLS_MOST / (size_t)steps.n_symbols;
        steps.rows = (run->n + most - 1) / most;
        steps.n = (run->n + steps.rows - 1) / steps.rows;
        *ret_rows = steps.rows;
        r = judge(run, &steps, ret);
    }
    free(symbols);
    free(traded);
    return r;
}
