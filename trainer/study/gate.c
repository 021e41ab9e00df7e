#include "trainer/study/gate.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exchange/fail.h"

struct gate_limits gate_defaults(void)
{
    return (struct gate_limits){
        .min_excess = 0.1, .max_pbo = 0.4, .min_deflated = 0.9, .max_drawdown = 0.3, .min_trades = 20};
}

static struct gate_verdict at_least(const char *gate, double figure, double limit)
{
    return (struct gate_verdict){gate, figure, limit, false, figure >= limit}; /* NaN: false */
}

static struct gate_verdict at_most(const char *gate, double figure, double limit)
{
    return (struct gate_verdict){gate, figure, limit, true, figure <= limit};
}

int gate_judge(const struct gate_limits *limits, const struct gate_figures *figures,
               struct gate_verdict ret[static GATES_MAX], bool *ret_all)
{
    int n = 0;
    double excess = figures->sharpe - figures->sharpe_holding;
    ret[n++] = at_least("excess", excess, limits->min_excess);
    ret[n++] = at_most("pbo", figures->pbo, limits->max_pbo);
    ret[n++] = at_least("deflated", figures->deflated, limits->min_deflated);
    ret[n++] = at_most("drawdown", figures->drawdown, limits->max_drawdown);
    ret[n] = at_least("trades", figures->trades < 0 ? NAN : (double)figures->trades, limits->min_trades);
    n++;
    bool all = true;
    for (int i = 0; i < n; i++)
        all = all && ret[i].passed;
    *ret_all = all;
    return n;
}

/* Appends; truncates what does not fit. */
__attribute__((format(printf, 4, 5))) static void put(char *buf, size_t cap, size_t *at, const char *format,
                                                      ...)
{
    va_list list;
    va_start(list, format);
    int n = *at < cap ? vsnprintf(buf + *at, cap - *at, format, list) : 0;
    va_end(list);
    *at += n > 0 ? (size_t)n : 0;
}

void gate_words(const struct gate_verdict *verdicts, int n, bool all, char *buf, size_t cap)
{
    size_t at = 0;
    int shown = 0;
    if (cap > 0)
        buf[0] = '\0';
    for (int i = 0; i < n; i++) {
        const struct gate_verdict *v = &verdicts[i];
        if (!all && v->passed)
            continue;
        put(buf, cap, &at, "%s%s ", shown++ ? ", " : "", v->gate);
        if (isnan(v->figure))
            put(buf, cap, &at, "is not known%s",
                strcmp(v->gate, "deflated") == 0 ? ": its trial has no returns here, or they do not vary"
                                                 : "");
        else
            put(buf, cap, &at, "%.3g", v->figure);
        put(buf, cap, &at, " (%s %.3g is right)", v->most ? "at most" : "at least", v->limit);
    }
}

/* ---- a proposal's figures ---- */

/* A number, or NaN for null. */
static bool read_number(const json_t *object, const char *key, double *ret)
{
    const json_t *value = json_object_get(object, key);
    *ret = json_is_number(value) ? json_number_value(value) : NAN;
    return json_is_number(value) || json_is_null(value);
}

int gate_figures_parse(const json_t *proposal, struct gate_figures *ret, char err[static GATE_ERROR_MAX])
{
    const json_t *holdout = json_object_get(proposal, "holdout");
    struct gate_figures figures = {0};
    double drawdown_pct, trades;
    const char *deflated = json_object_get(proposal, "skill") ? "skill" : "deflated_sharpe";
    const struct {
        const json_t *object;
        const char *in, *key;
        double *to;
    } keys[] = {{holdout, "holdout.", "sharpe", &figures.sharpe},
                {holdout, "holdout.", "sharpe_holding", &figures.sharpe_holding},
                {holdout, "holdout.", "drawdown_pct", &drawdown_pct},
                {holdout, "holdout.", "trades", &trades},
                {proposal, "", "pbo", &figures.pbo},
                {proposal, "", deflated, &figures.deflated}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!read_number(keys[i].object, keys[i].key, keys[i].to))
            return fail_with(-EINVAL, err, GATE_ERROR_MAX, "proposal: %s%s: a number, or null, is right",
                             keys[i].in, keys[i].key);
    figures.drawdown = fabs(drawdown_pct) / 100;
    figures.trades = trades >= 0 && trades < 0x1p62 ? (long long)trades : -1;
    *ret = figures;
    return 0;
}
