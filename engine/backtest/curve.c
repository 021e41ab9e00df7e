/* Equity at each row's close: ((cash + q0·c0) + q1·c1) + …, of the symbols held, in their order; every
 * product and sum rounded once. Between two changes of the holdings it is one pass over the closes. */
#include <errno.h>
#include <stdlib.h>

#include "engine/backtest/run.h"
#include "strategy/clones.h"

enum {
    BLOCK = 1024, /* rows: 8 KiB, which stay in the first cache from one symbol to the next */
    WHOLE = 64,   /* rows at once: what is written past the last one is written again later */
};

int backtest_curve_open(struct curve *curve, const struct market *market, size_t from, size_t to)
{
    *curve = (struct curve){.market = market, .from = from, .next = from, .to = to};
    curve->equity = malloc((to - from) * sizeof *curve->equity);
    curve->qty = calloc((size_t)market->n_symbols, sizeof *curve->qty);
    if (curve->equity && curve->qty)
        return 0;
    free(curve->equity);
    backtest_curve_close(curve);
    return -ENOMEM;
}

void backtest_curve_close(struct curve *curve)
{
    free(curve->qty);
    *curve = (struct curve){0};
}

void backtest_curve_hold(struct curve *curve, int symbol, double qty)
{
    curve->held += (qty != 0) - (curve->qty[symbol] != 0);
    curve->qty[symbol] = qty;
}

CLONES static void fill(double *restrict equity, size_t n, double cash)
{
    for (size_t i = 0; i < n; i++)
        equity[i] = cash;
}

CLONES static void add(double *restrict equity, const double *restrict close, size_t n, double qty)
{
    for (size_t i = 0; i < n; i++)
        equity[i] += qty * close[i];
}

CLONES static void first(double *restrict equity, const double *restrict close, size_t n, double cash,
                         double qty)
{
    for (size_t i = 0; i < n; i++)
        equity[i] = cash + qty * close[i];
}

static void block(const struct curve *curve, size_t row, size_t n)
{
    double *equity = curve->equity + (row - curve->from);
    int left = curve->held;
    if (left == 0)
        fill(equity, n, curve->cash);
    for (int s = 0; left > 0; s++) {
        double qty = curve->qty[s];
        if (qty == 0)
            continue;
        const double *close = curve->market->series[s].close + row;
        if (left == curve->held)
            first(equity, close, n, curve->cash, qty);
        else
            add(equity, close, n, qty);
        left--;
    }
}

void backtest_curve_to(struct curve *curve, size_t row)
{
    if (curve->held > 0)
        curve->exposed += row - curve->next;
    while (curve->next < row) {
        size_t left = curve->to - curve->next, n = row - curve->next;
        n = n < BLOCK ? n : BLOCK;
        size_t whole = (n + WHOLE - 1) / WHOLE * WHOLE;
        block(curve, curve->next, whole < left ? whole : n);
        curve->next += n;
    }
}
