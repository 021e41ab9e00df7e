/* Importance against exact variances: additive functions on whole grids, where a fully grown tree is the
 * function; and of studies with holes, several kinds of parameters, and nothing to tell. */
#include "trainer/study/importance.h"

#include "tests/check.h"
#include "trainer/study/importance_forest.h"

enum { SIDE = 12, CHOICES = 3 };

static double first(int i)
{
    return 3.0 * i - 0.1 * i * i;
}

static double second(int i)
{
    return i % 2 ? 5 : -1;
}

static double third(int i)
{
    return i == 1 ? 4 : 0;
}

static double variance(double (*f)(int), int n)
{
    double mean = 0, sum = 0;

    for (int i = 0; i < n; i++)
        mean += f(i) / n;
    for (int i = 0; i < n; i++)
        sum += (f(i) - mean) * (f(i) - mean) / n;
    return sum;
}

/* Cells of one size each: places in the middle, cut halfway. The fourth axis says nothing. */
static void check_exact(void)
{
    enum { D = 4, N = SIDE * SIDE * CHOICES * 2 };
    static double x[N][D], y[N];
    const struct importance_axis axes[D] = {{0, 0, 1}, {0, -2, 4}, {CHOICES, 0, CHOICES - 1}, {0, 0, 2}};
    double shares[D], v[3] = {variance(first, SIDE), variance(second, SIDE), variance(third, CHOICES)};
    int n = 0;

    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++)
            for (int k = 0; k < CHOICES; k++)
                for (int l = 0; l < 2; l++, n++) {
                    const double row[D] = {(i + 0.5) / SIDE, -2 + 6 * (j + 0.5) / SIDE, k, l + 0.5};
                    memcpy(x[n], row, sizeof(row));
                    y[n] = first(i) + second(j) + third(k);
                }
    struct importance_forest forest = {1, 64, false, 0};
    CHECK_INT(importance_fit(&forest, &x[0][0], y, n, axes, D, shares), 0);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(shares[i], v[i] / (v[0] + v[1] + v[2]), 1e-12);
    CHECK_NEAR(shares[3], 0, 1e-24);

    for (int i = 0; i < N; i++) /* what two say only together is nobody's */
        y[i] = (x[i][0] > 0.5) != (x[i][1] > 1) ? 1 : -1;
    CHECK_INT(importance_fit(&forest, &x[0][0], y, n, axes, D, shares), 0);
    for (int i = 0; i < D; i++)
        CHECK_NEAR(shares[i], 0, 1e-12);
    for (int i = 0; i < N; i++)
        y[i] = 7;
    CHECK_INT(importance_fit(&forest, &x[0][0], y, n, axes, D, shares), 0);
    for (int i = 0; i < D; i++)
        CHECK_NEAR(shares[i], 0, 0);
}

/* The forest of a study: trees of draws, so that the variances are met roughly. */
enum { TRIALS = 400 };

static struct study study;
static struct study_trial trials[TRIALS], *pointers[TRIALS];
static struct trial_param params[TRIALS][4];
static double values[TRIALS];
static char study_name[] = "s", lr_name[] = "lr", units_name[] = "units", kind_name[] = "kind",
            rare_name[] = "rare";
static char *names[] = {lr_name, units_name, kind_name, rare_name};
static struct distribution distributions[4];

static void make_study(void)
{
    char err[DISTRIBUTION_ERROR_MAX];
    json_t *choices = json_pack("[sss]", "a", "b", "c");

    CHECK_INT(distribution_number(DISTRIBUTION_FLOAT, 1e-6, 1e-2, 0, true, &distributions[0], err), 0);
    CHECK_INT(distribution_number(DISTRIBUTION_INT, 1, 8, 1, false, &distributions[1], err), 0);
    CHECK_INT(distribution_categories(choices, &distributions[2], err), 0);
    CHECK_INT(distribution_number(DISTRIBUTION_FLOAT, 0, 1, 0, false, &distributions[3], err), 0);
    json_decref(choices);
    for (int i = 0; i < TRIALS; i++) {
        double lr = pow(10, -6 + 4 * fmod(i * 0.6180339887498949, 1)), units = 1 + i * 5 % 8,
               kind = i * 7 % 3;
        const struct trial_param row[4] = {{0, 0, lr}, {1, 1, units}, {2, 2, kind}, {3, 3, 0.5}};
        memcpy(params[i], row, sizeof(row));
        values[i] = 2 * log10(lr) + (kind == 1 ? 1.5 : 0);
        trials[i] = (struct study_trial){.id = i + 1,
                                         .number = i,
                                         .state = TRIAL_COMPLETE,
                                         .values = &values[i],
                                         .params = params[i],
                                         .n_params = i % 50 == 7 ? 3 : 4}; /* `rare` is not always there */
        pointers[i] = &trials[i];
    }
    study = (struct study){.name = study_name,
                           .n_objectives = 1,
                           .directions = {STUDY_MAXIMIZE},
                           .params = names,
                           .n_params = 4,
                           .distributions = distributions,
                           .n_distributions = 4,
                           .trials = pointers,
                           .n_trials = TRIALS};
}

static void check_study(void)
{
    struct importance found[8], again[8];
    double sum = 0, lr = 4.0 * 16 / 12, kind = 1.5 * 1.5 * 2 / 9;

    make_study();
    CHECK_INT(importance_compute(&study, 0, 1, found, 8), 3);
    CHECK_INT(found[0].param, 0);
    CHECK_INT(found[1].param, 2);
    CHECK_INT(found[2].param, 1);
    CHECK_NEAR(found[0].share, lr / (lr + kind), 0.03);
    CHECK_NEAR(found[1].share, kind / (lr + kind), 0.03);
    for (int i = 0; i < 3; i++)
        sum += found[i].share;
    CHECK_NEAR(sum, 1, 1e-12);
    CHECK_INT(importance_compute(&study, 0, 1, again, 8), 3);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(found[i].share, again[i].share, 0);
    CHECK_INT(importance_compute(&study, 0, 2, again, 1), 1);
    CHECK(again[0].share != found[0].share);
    CHECK_INT(importance_compute(&study, 1, 1, again, 8), 0);
    CHECK_INT(importance_compute(&study, -1, 1, again, 8), 0);

    values[3] = INFINITY; /* not finite: passed over, as are trials that did not complete */
    for (int i = 50; i < TRIALS; i++)
        trials[i].state = i % 2 ? TRIAL_PRUNED : TRIAL_RUNNING;
    CHECK_INT(importance_compute(&study, 0, 1, again, 8), 3);
    CHECK_INT(again[0].param, 0);
    for (int i = 4; i < TRIALS; i++)
        trials[i].state = TRIAL_FAIL;
    CHECK_INT(importance_compute(&study, 0, 1, again, 8), 0); /* three */
    trials[4].state = TRIAL_COMPLETE;
    CHECK_INT(importance_compute(&study, 0, 1, again, 8), 4); /* those have `rare` too */
    for (int i = 0; i < TRIALS; i++)
        values[i] = 1;
    CHECK_INT(importance_compute(&study, 0, 1, again, 8), 0);
    study.n_trials = 0;
    CHECK_INT(importance_compute(&study, 0, 1, again, 8), 0);
    for (int i = 0; i < 4; i++)
        distribution_finish(&distributions[i]);
}

int main(void)
{
    check_exact();
    check_study();
    return check_done("trainer/importance");
}
