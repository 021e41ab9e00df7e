#include "tests/trainer/study/simulated.h"

#include <math.h>
#include <string.h>

#include "strategy/metrics.h"
#include "strategy/metrics/overfit.h"
#include "tests/fatal.h"
#include "trainer/study/internal.h"
#include "trainer/study/validation.h"

enum { ROWS = SIMULATED_ROWS_MAX, ALL = ROWS + ROWS / 4, TRIALS = SIMULATED_TRIALS_MAX };
#define PERIODS       8760.0 /* hourly */
#define DEVIATION     0.005  /* of a row's return */
#define MEMORY        0.97   /* autocorrelation of what a policy holds */
#define SIGNAL_MEMORY 0.9    /* of what there is to see */

struct search {
    int trials, rows, all;        /* of the study; with those held out */
    double market[ALL];           /* returns of holding */
    double returns[TRIALS][ALL];  /* of the trials */
    double matrix[ROWS * TRIALS]; /* [rows][trials], of the study */
};

static double normal(struct random *random)
{
    double u = ((double)(random_next(random) >> 11) + 0.5) * 0x1p-53;
    double v = ((double)(random_next(random) >> 11) + 0.5) * 0x1p-53;
    return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* A wandering series of deviation 1. */
static void wander(struct random *random, double memory, int n, double *to)
{
    double x = normal(random);
    for (int i = 0; i < n; i++) {
        to[i] = x;
        x = memory * x + sqrt(1 - memory * memory) * normal(random);
    }
}

static void simulate(struct random *random, const struct simulated_kind *kind, struct search *search)
{
    static double signal[ALL], common[ALL], own[ALL];
    int seeing = (int)lround(kind->seeing * kind->trials), all = kind->rows + kind->rows / 4;
    search->trials = kind->trials;
    search->rows = kind->rows;
    search->all = all;
    wander(random, SIGNAL_MEMORY, all, signal);
    wander(random, MEMORY, all, common);
    for (int i = 0; i < all; i++)
        search->market[i] = DEVIATION * (normal(random) + kind->drift + kind->signal * signal[i]);
    for (int c = 0; c < kind->trials; c++) {
        double base = (double)random_between(random, -1000, 1000) / 1000, before = NAN;
        double skill = c < seeing ? 0.8 + (double)random_between(random, 0, 200) / 1000 : 0;
        wander(random, MEMORY, all, own);
        for (int i = 0; i < all; i++) {
            double moved = kind->alike * common[i] + sqrt(1 - kind->alike * kind->alike) * own[i];
            double share = 1 / (1 + exp(-(base + moved + 3 * skill * signal[i])));
            search->returns[c][i] =
                share * search->market[i] - (i > 0 ? kind->fee * fabs(share - before) : 0);
            before = share;
        }
        for (int i = 0; i < kind->rows; i++)
            search->matrix[i * kind->trials + c] = search->returns[c][i];
    }
}

static struct metrics metrics_of(const double *returns, int n)
{
    const struct metrics_series series = metrics_returns(returns, (size_t)n);
    struct metrics m;
    metrics_compute(&series, PERIODS, &m);
    return m;
}

/* The Sharpe of the rows of some groups together, as study_figures() has it. */
static double sharpe_of(const struct search *search, const struct study_split *split, const int *chosen,
                        const double *returns)
{
    static double rows[ROWS];
    int n = 0;
    for (int i = 0; i < split->tested; i++) {
        struct split_rows group = split_group(split, (size_t)search->rows, chosen[i]);
        memcpy(rows + n, returns + group.from, (group.to - group.from) * sizeof *rows);
        n += (int)(group.to - group.from);
    }
    double sharpe = metrics_of(rows, n).sharpe;
    return isfinite(sharpe) ? sharpe : 0;
}

/* By the objective of a study that says nothing of it. */
static int choose(const struct search *search)
{
    static struct trial_outcome outcome;
    const struct study_settings settings = study_settings_defaults();
    double best = -INFINITY, holding[TRIAL_SPLITS_MAX];
    int at = 0, chosen[SPLIT_GROUPS_MAX], n = 0;
    split_begin(&settings.split, chosen);
    do
        holding[n++] = sharpe_of(search, &settings.split, chosen, search->market);
    while (split_next(&settings.split, chosen));
    outcome.n_splits = n;
    for (int c = 0; c < search->trials; c++) {
        for (int i = 0; i < n; i++) {
            split_combination(&settings.split, i, chosen);
            outcome.splits[i].sharpe = sharpe_of(search, &settings.split, chosen, search->returns[c]);
            outcome.splits[i].holding = holding[i];
        }
        double value = study_value(&settings, &outcome);
        at = value > best ? c : at;
        best = value > best ? value : best;
    }
    return at;
}

/* What its proposal says of the holdout. Its trades are many: it holds another share at every row. */
static json_t *proposal_of(const struct search *search, int proposed)
{
    const double *returns = search->returns[proposed] + search->rows, *market = search->market + search->rows;
    int n = search->all - search->rows;
    struct metrics held = metrics_of(returns, n);
    return json_pack("{s:{s:f, s:f, s:f, s:i}}", "holdout", "sharpe", held.sharpe, "sharpe_holding",
                     metrics_of(market, n).sharpe, "drawdown_pct", -100 * fabs(held.max_drawdown), "trades",
                     n);
}

static json_t *validate(struct search *search, int proposed)
{
    static char names_of[TRIALS][24], *names[TRIALS];
    const struct returns_matrix returns = {.rows = (size_t)search->rows,
                                           .columns = (size_t)search->trials,
                                           .values = search->matrix,
                                           .names = names,
                                           .holding = search->market,
                                           .proposed = names_of[proposed]};
    char err[VALIDATION_ERROR_MAX];
    json_t *validation = NULL;
    for (int c = 0; c < search->trials; c++) {
        snprintf(names_of[c], sizeof names_of[c], "trial %d", c);
        names[c] = names_of[c];
    }
    if (validation_json(&returns, VALIDATION_BLOCKS, PERIODS, &validation, err) < 0)
        fatal("%s", err);
    return validation;
}

static json_int_t column_of(const json_t *validation, const char *key)
{
    return json_integer_value(json_object_get(json_object_get(validation, key), "column"));
}

void simulated_study(struct random *random, const struct simulated_kind *kind, struct simulated_figures *ret)
{
    static const char *const keys[SIMULATED_RATIOS] = {
        [SIMULATED_SKILL] = "skill",
        [SIMULATED_CAPPED] = "deflated_capped",
        [SIMULATED_PAPER] = "deflated_sharpe",
    };
    static struct search search;
    char err[GATE_ERROR_MAX];
    if (kind->trials > TRIALS || kind->rows > ROWS)
        fatal("a simulated search: %d trials, %d rows: too many", kind->trials, kind->rows);
    simulate(random, kind, &search);
    int proposed = choose(&search);
    json_t *validation = validate(&search, proposed), *proposal = proposal_of(&search, proposed);
    const json_t *deflated = json_object_get(validation, "deflated");
    if (column_of(validation, "deflated") != proposed)
        fatal("deflated is not of trial %d, which is proposed", proposed);
    ret->otherwise = column_of(validation, "best") != proposed;
    validation_figures(validation, proposal);
    for (int i = 0; i < SIMULATED_RATIOS; i++) {
        json_object_set(proposal, "skill", json_object_get(deflated, keys[i]));
        if (gate_figures_parse(proposal, &ret->by[i], err) < 0)
            fatal("%s", err);
    }
    json_decref(proposal);
    json_decref(validation);
}
