/* Metrics of series on standard input, one JSON line each, for metrics_oracle.py. A case is the line
 * "returns|equity N START PERIODS_PER_YEAR FIRST_NS INTERVAL_NS", then N doubles as they lie in memory, then
 * N of a benchmark of the same kind and start. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/metrics.h"

enum { DRAWDOWNS = 5, MONTHS = 400 };

static bool read_doubles(double **ret, size_t n)
{
    double *values = malloc((n ? n : 1) * sizeof(*values));
    if (!values || fread(values, sizeof(*values), n, stdin) != n) {
        free(values);
        return false;
    }
    *ret = values;
    return true;
}

static void number(const char *name, double value)
{
    if (value != value)
        printf("\"%s\":NaN,", name);
    else if (value - value != 0)
        printf("\"%s\":%sInfinity,", name, value < 0 ? "-" : "");
    else
        printf("\"%s\":%.17g,", name, value);
}

static void print_months(const char *name, const struct metrics_month *months, size_t n)
{
    printf("\"%s\":[", name);
    for (size_t i = 0; i < n && i < MONTHS; i++) {
        printf("%s{\"year\":%d,\"month\":%d,\"first\":%zu,", i ? "," : "", months[i].year, months[i].month,
               months[i].first);
        number("return", months[i].total_return);
        printf("\"rows\":%zu}", months[i].rows);
    }
    printf("],");
}

static void print_drawdowns(const struct metrics_drawdown *drawdowns, size_t n)
{
    printf("\"drawdowns\":[");
    for (size_t i = 0; i < n; i++) {
        printf("%s{\"first\":%zu,\"trough\":%zu,\"end\":%zu,", i ? "," : "", drawdowns[i].first,
               drawdowns[i].trough, drawdowns[i].end);
        number("depth", drawdowns[i].depth);
        printf("\"recovered\":%s}", drawdowns[i].recovered ? "true" : "false");
    }
    printf("]");
}

static void print_scalars(const struct metrics *m)
{
    number("total_return", m->total_return);
    number("cagr", m->cagr);
    number("volatility", m->volatility);
    number("downside", m->downside);
    number("sharpe", m->sharpe);
    number("sortino", m->sortino);
    number("max_drawdown", m->max_drawdown);
    number("calmar", m->calmar);
    number("omega", m->omega);
    number("skew", m->skew);
    number("kurtosis", m->kurtosis);
    number("mean", m->mean);
    number("best", m->best);
    number("worst", m->worst);
    printf("\"n\":%zu,\"missing\":%zu,", m->n, m->missing);
}

static bool answer(const struct metrics_series *series, const struct metrics_series *benchmark,
                   double periods_per_year, int64_t first_ns, int64_t interval_ns)
{
    static struct metrics_month months[MONTHS];
    struct metrics metrics;
    struct metrics_tails tails;
    struct metrics_against against;
    struct metrics_drawdown drawdowns[DRAWDOWNS];
    if (metrics_tails(series, &tails) != 0)
        return false;
    metrics_compute(series, periods_per_year, &metrics);
    metrics_against(series, benchmark, periods_per_year, &against);
    printf("{");
    print_scalars(&metrics);
    number("value_at_risk", tails.value_at_risk);
    number("conditional_value_at_risk", tails.conditional_value_at_risk);
    number("tail_ratio", tails.tail_ratio);
    number("stability", metrics_stability(series));
    number("alpha", against.alpha);
    number("beta", against.beta);
    print_months("months", months, metrics_months(series, first_ns, interval_ns, months, MONTHS));
    print_months("years", months, metrics_years(series, first_ns, interval_ns, months, MONTHS));
    print_drawdowns(drawdowns, metrics_drawdowns(series, drawdowns, DRAWDOWNS));
    printf("}\n");
    return fflush(stdout) == 0;
}

int main(void)
{
    char line[256], kind[16];
    bool good = true;
    while (good && fgets(line, sizeof(line), stdin)) {
        struct metrics_series series = {0}, benchmark;
        double periods_per_year, *values = NULL, *others = NULL;
        long long first_ns, interval_ns;
        good = sscanf(line, "%15s %zu %lf %lf %lld %lld", kind, &series.n, &series.start, &periods_per_year,
                      &first_ns, &interval_ns) == 6 &&
               read_doubles(&values, series.n) && read_doubles(&others, series.n);
        if (good) {
            series.equity = strcmp(kind, "equity") == 0;
            series.values = values;
            benchmark = series;
            benchmark.values = others;
            good = answer(&series, &benchmark, periods_per_year, first_ns, interval_ns);
        }
        free(values);
        free(others);
    }
    return good && !ferror(stdin) ? EXIT_SUCCESS : EXIT_FAILURE;
}
