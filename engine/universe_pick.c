/* The times of a universe's rule, its measures, and the symbols that it picks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "engine/universe.h"

#define DAY_NS INT64_C(86400000000000)
/* 1970-01-05 was a Monday. */
#define MONDAY_NS (4 * DAY_NS)

/* ---- times ---- */

int64_t engine_universe_last(const struct engine_universe_rule *rule, int64_t ns)
{
    int64_t since = ns - MONDAY_NS - rule->at_ns, over = since % rule->every_ns;
    return ns - (over < 0 ? over + rule->every_ns : over);
}

int64_t engine_universe_next(const struct engine_universe_rule *rule, int64_t ns)
{
    return engine_universe_last(rule, ns) + rule->every_ns;
}

/* ---- measures ---- */

bool engine_universe_uses(const struct engine_universe_rule *rule, enum engine_universe_measure measure)
{
    for (int i = 0; i < rule->n_conditions; i++)
        if (rule->conditions[i].measure == measure)
            return true;
    return rule->n_best > 0 && rule->by == measure;
}

/* The first bar of the window. */
static size_t window_of(const struct engine_universe_bars *bars, size_t n, int64_t from_ns)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (bars->open_ns[middle] < from_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static double volume(const struct engine_universe_bars *bars, size_t from, size_t n, int64_t over_ns)
{
    double sum = 0;
    for (size_t i = from; i < n; i++)
        sum += bars->traded[i];
    return sum / ((double)over_ns / (double)DAY_NS);
}

/* Two passes, as the definition has it. */
static double volatility(const struct engine_universe_bars *bars, size_t from, size_t n)
{
    size_t first = from > 0 ? from : 1, count = n > first ? n - first : 0;
    double sum = 0, squares = 0;
    if (count < 2)
        return NAN;
    for (size_t i = first; i < n; i++)
        sum += log(bars->close[i] / bars->close[i - 1]);
    for (size_t i = first; i < n; i++) {
        double off = log(bars->close[i] / bars->close[i - 1]) - sum / (double)count;
        squares += off * off;
    }
    return sqrt(squares / (double)(count - 1) * ((double)DAY_NS / (double)bars->interval_ns));
}

void engine_universe_measure(const struct engine_universe_rule *rule, const struct engine_universe_bars *bars,
                             size_t n, int64_t ns, double ret[static UNIVERSE_MEASURES])
{
    const size_t from = window_of(bars, n, ns - rule->over_ns);
    for (int m = 0; m < UNIVERSE_MEASURES; m++)
        ret[m] = NAN;
    if (n == 0)
        return;
    ret[UNIVERSE_AGE] = (double)(ns - bars->open_ns[0]);
    if (from == n)
        return;
    if (engine_universe_uses(rule, UNIVERSE_VOLUME))
        ret[UNIVERSE_VOLUME] = volume(bars, from, n, rule->over_ns);
    if (engine_universe_uses(rule, UNIVERSE_VOLATILITY))
        ret[UNIVERSE_VOLATILITY] = volatility(bars, from, n);
    ret[UNIVERSE_CHANGE] = from > 0 ? bars->close[n - 1] / bars->close[from - 1] - 1 : NAN;
    ret[UNIVERSE_PRICE] = bars->price[n - 1];
}

enum engine_universe_measure engine_universe_first(const struct engine_universe_rule *rule)
{
    return rule->n_conditions > 0 ? rule->conditions[0].measure : rule->by;
}

const char *engine_universe_empty_text(const struct engine_universe_rule *rule, double highest,
                                       const char *symbol, char ret[static UNIVERSE_TEXT_MAX])
{
    const enum engine_universe_measure measure = engine_universe_first(rule);
    const char *name = engine_universe_measure_name(measure);
    if (isnan(highest))
        snprintf(ret, UNIVERSE_TEXT_MAX, "no symbol has a %s then", name);
    else
        snprintf(ret, UNIVERSE_TEXT_MAX, "the highest %s of all is %.6g%s, of %.64s", name,
                 measure == UNIVERSE_AGE ? highest / (double)DAY_NS : highest,
                 measure == UNIVERSE_AGE ? " days" : "", symbol);
    return ret;
}

/* ---- picking ---- */

static bool fulfils(const struct engine_universe_rule *rule, const double *of)
{
    bool all = true;
    for (int i = 0; i < rule->n_conditions && all; i++) {
        const double value = rule->conditions[i].value, measure = of[rule->conditions[i].measure];
        switch (rule->conditions[i].op) {
        case UNIVERSE_ABOVE:
            all = measure > value;
            break;
        case UNIVERSE_AT_LEAST:
            all = measure >= value;
            break;
        case UNIVERSE_BELOW:
            all = measure < value;
            break;
        default:
            all = measure <= value;
            break;
        }
    }
    return all && (rule->n_best == 0 || !isnan(of[rule->by]));
}

static bool is_better(const struct engine_universe_rule *rule, const double *a, const double *b)
{
    return rule->bottom ? a[rule->by] < b[rule->by] : a[rule->by] > b[rule->by];
}

/* Into the first places of `order`, of n_best; of equal ones the earlier one stays before the other. */
static size_t rank(const struct engine_universe_rule *rule, const double (*of)[UNIVERSE_MEASURES],
                   size_t symbol, size_t *order, size_t n)
{
    const size_t most = (size_t)rule->n_best;
    size_t at = n;
    while (at > 0 && is_better(rule, of[symbol], of[order[at - 1]]))
        at--;
    if (at == most)
        return n;
    n = n < most ? n + 1 : n;
    memmove(&order[at + 1], &order[at], (n - 1 - at) * sizeof *order);
    order[at] = symbol;
    return n;
}

size_t engine_universe_pick(const struct engine_universe_rule *rule, const double (*of)[UNIVERSE_MEASURES],
                            size_t n_symbols, bool *in, size_t *order)
{
    size_t n = 0, best = 0;
    for (size_t s = 0; s < n_symbols; s++) {
        in[s] = fulfils(rule, of[s]);
        n += in[s];
        if (in[s] && rule->n_best > 0)
            best = rank(rule, of, s, order, best);
    }
    if (rule->n_best == 0)
        return n;
    memset(in, 0, n_symbols * sizeof *in);
    for (size_t i = 0; i < best; i++)
        in[order[i]] = true;
    return best;
}
