/* The gates over whole searches, simulated: trials are policies that hold a share of one asset, which wanders
 * on its own; some of them see, where there is something to see, what the next return correlates with. Their
 * returns go the way of a search's: search_value() of the default splits chooses one, validation_json() of
 * all looks at it, its holdout, gate_judge(). Of noise at most 2 of 40 are admitted, of a signal at least 9
 * of 10. docs/studies.md, Gates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strategy/metrics.h"
#include "tests/check.h"
#include "tests/random.h"
#include "trainer/search/inside.h"
#include "trainer/study/gate.h"
#include "trainer/study/overfit.h"
#include "trainer/study/validation.h"

enum { ROWS = 2000, HELD_OUT = 500, ALL = ROWS + HELD_OUT, TRIALS = 20, BLOCKS = 14 };
#define PERIODS       8760.0 /* hourly */
#define DEVIATION     0.005  /* of a row's return */
#define MEMORY        0.97   /* autocorrelation of what a policy holds */
#define SIGNAL_MEMORY 0.9    /* of what there is to see */

struct kind {
    double signal; /* correlation with the next return */
    double seeing; /* share of the trials that see it */
    double alike;  /* share of what they hold that is the same in all */
    double fee, drift;
};

static double normal(struct random *random)
{
    double u = ((double)(random_next(random) >> 11) + 0.5) * 0x1p-53;
    double v = ((double)(random_next(random) >> 11) + 0.5) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* A wandering series of deviation 1. */
static void wander(struct random *random, double memory, double *to)
{
    double x = normal(random);
    for (int i = 0; i < ALL; i++) {
        to[i] = x;
        x = memory * x + sqrt(1 - memory * memory) * normal(random);
    }
}

struct search {
    double market[ALL], signal[ALL], common[ALL], own[ALL], returns[TRIALS][ALL], matrix[ROWS * TRIALS];
};

static void simulate(struct random *random, const struct kind *kind, struct search *search)
{
    wander(random, SIGNAL_MEMORY, search->signal);
    wander(random, MEMORY, search->common);
    for (int i = 0; i < ALL; i++)
        search->market[i] = DEVIATION * (normal(random) + kind->drift + kind->signal * search->signal[i]);
    for (int c = 0; c < TRIALS; c++) {
        bool sees = (double)random_between(random, 0, 999) < 1000 * kind->seeing;
        double base = (double)random_between(random, -1000, 1000) / 1000, before = NAN;
        double skill = sees ? 0.8 + (double)random_between(random, 0, 200) / 1000 : 0;
        wander(random, MEMORY, search->own);
        for (int i = 0; i < ALL; i++) {
            double moved =
                kind->alike * search->common[i] + sqrt(1 - kind->alike * kind->alike) * search->own[i];
            double see = kind->signal > 0 ? 3 * skill * search->signal[i] : 0;
            double share = 1 / (1 + exp(-(base + moved + see)));
            search->returns[c][i] =
                share * search->market[i] - (i > 0 ? kind->fee * fabs(share - before) : 0);
            before = share;
        }
    }
    for (int i = 0; i < ROWS; i++)
        for (int c = 0; c < TRIALS; c++)
            search->matrix[i * TRIALS + c] = search->returns[c][i];
}

static struct metrics metrics_of(const double *returns, size_t n)
{
    const struct metrics_series series = metrics_returns(returns, n);
    struct metrics m;
    metrics_compute(&series, PERIODS, &m);
    return m;
}

static double number_or_0(double x)
{
    return isfinite(x) ? x : 0;
}

/* The Sharpe of the rows of some groups together, as search_figures() has it. */
static double sharpe_of(const struct split *split, const int *chosen, const double *returns)
{
    static double rows[ROWS];
    size_t n = 0;
    for (int i = 0; i < split->tested; i++) {
        struct split_rows group = split_group(split, ROWS, chosen[i]);
        memcpy(rows + n, returns + group.from, (group.to - group.from) * sizeof *rows);
        n += group.to - group.from;
    }
    return number_or_0(metrics_of(rows, n).sharpe);
}

/* By the objective of a study that says nothing of it. */
static int choose(const struct search *search)
{
    static struct search_settings settings = {.deviation_weight = 0.1};
    static struct trial_outcome outcome;
    double best = -INFINITY;
    int at = 0, chosen[SPLIT_GROUPS_MAX];
    char err[SPLIT_ERROR_MAX];
    CHECK_INT(split_parse("cpcv:5,2", &settings.split, err), 0);
    for (int c = 0; c < TRIALS; c++) {
        outcome.n_splits = 0;
        split_begin(&settings.split, chosen);
        do {
            struct trial_split *split = &outcome.splits[outcome.n_splits++];
            split->sharpe = sharpe_of(&settings.split, chosen, search->returns[c]);
            split->holding = sharpe_of(&settings.split, chosen, search->market);
        } while (split_next(&settings.split, chosen));
        double value = search_value(&settings, &outcome);
        at = value > best ? c : at;
        best = value > best ? value : best;
    }
    return at;
}

static int otherwise; /* searches whose choice has not the best Sharpe */

/* Is it admitted? */
static bool judge(struct search *search)
{
    static char names_of[TRIALS][16], *names[TRIALS];
    int best = choose(search);
    char err[VALIDATION_ERROR_MAX];
    const struct returns_matrix returns = {.rows = ROWS,
                                           .columns = TRIALS,
                                           .values = search->matrix,
                                           .names = names,
                                           .holding = search->market,
                                           .proposed = names_of[best]};
    const struct gate_limits limits = gate_defaults();
    struct gate_verdict verdicts[GATES_MAX];
    struct gate_figures figures;
    json_t *validation = NULL;
    bool all = false;
    for (int c = 0; c < TRIALS; c++) {
        snprintf(names_of[c], sizeof names_of[c], "trial %d", c);
        names[c] = names_of[c];
    }
    CHECK_INT(validation_json(&returns, BLOCKS, PERIODS, &validation, err), 0);
    CHECK_INT(json_integer_value(json_object_get(json_object_get(validation, "deflated"), "column")), best);
    otherwise += json_integer_value(json_object_get(json_object_get(validation, "best"), "column")) != best;
    const double *held = search->returns[best] + ROWS, *holding = search->market + ROWS;
    json_t *proposal = json_pack("{s:{s:f, s:f, s:f, s:i}}", "holdout", "sharpe",
                                 sqrt(PERIODS) * overfit_sharpe(held, HELD_OUT, 1), "sharpe_holding",
                                 sqrt(PERIODS) * overfit_sharpe(holding, HELD_OUT, 1), "drawdown_pct",
                                 -100 * fabs(metrics_of(held, HELD_OUT).max_drawdown), "trades", HELD_OUT);
    validation_figures(validation, proposal);
    CHECK_INT(gate_figures_parse(proposal, &figures, err), 0);
    gate_judge(&limits, &figures, verdicts, &all);
    json_decref(proposal);
    json_decref(validation);
    return all;
}

static int admitted(struct random *random, const struct kind *kind, int searches)
{
    static struct search search;
    int n = 0;
    for (int i = 0; i < searches; i++) {
        simulate(random, kind, &search);
        n += judge(&search);
    }
    printf("%s: signal %.1f of %.0f %% of the trials, alike %.2f, fee %.4f, drift %+.2f: %d of %d admitted\n",
           kind->signal > 0 ? "signal" : "noise ", kind->signal, 100 * kind->seeing, kind->alike, kind->fee,
           kind->drift, n, searches);
    return n;
}

int main(void)
{
    static const struct kind noise[] = {{0, 0, 0.3, 0, 0},     {0, 0, 0.95, 0, 0},    {0, 0, 0.6, 0.0005, 0},
                                        {0, 0, 0.3, 0, 0.03},  {0, 0, 0.95, 0, 0.03}, {0, 0, 0.3, 0, -0.03},
                                        {0, 0, 0.95, 0, -0.03}};
    static const struct kind signals[] = {{0.3, 0.2, 0.7, 0.0005, 0},
                                          {0.3, 0.5, 0.7, 0.0005, 0},
                                          {0.3, 0.8, 0.7, 0.0005, 0},
                                          {0.3, 1, 0.7, 0.0005, 0},
                                          {0.5, 0.5, 0.7, 0.0005, 0.03}};
    enum { NOISES = sizeof noise / sizeof *noise, SIGNALS = sizeof signals / sizeof *signals };
    struct random random = random_seeded("trainer/gate_searches", 20261122);
    int each = getenv("PAPERTAPE_LONG") ? 400 : 40, all = 0, found = 0, signal_each = each / 4;
    for (int i = 0; i < NOISES; i++) {
        int n = admitted(&random, &noise[i], each);
        CHECK(20 * n <= each); /* 2 of 40 */
        all += n;
    }
    for (int i = 0; i < SIGNALS; i++) {
        int n = admitted(&random, &signals[i], signal_each);
        CHECK(10 * n >= 9 * signal_each);
        found += n;
    }
    printf("noise: %d of %d admitted; signal: %d of %d\n", all, NOISES * each, found, SIGNALS * signal_each);
    printf("in %d of %d the objective chose another than the best Sharpe\n", otherwise,
           NOISES * each + SIGNALS * signal_each);
    CHECK(otherwise > 0);
    return check_done("trainer/gate_searches");
}
