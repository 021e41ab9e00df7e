/* Importance against exact variances: additive functions on whole grids, where a fully grown tree is the
 * function; of studies with holes, several kinds of parameters, and nothing to explain; and of several
 * workers, whose trials count as those of one study that has them all. */
#include "trainer/study/importance.h"

#include "tests/check.h"

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

    for (int i = 0; i < N; i++) /* an effect of two parameters together is neither's */
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

static int compute(int objective, uint64_t seed, struct importance *ret, int cap)
{
    struct study *const alone = &study;
    struct importance_basis basis;

    return importance_compute(&alone, 1, objective, seed, ret, cap, &basis);
}

static void check_study(void)
{
    struct importance found[8], again[8];
    double sum = 0, lr = 4.0 * 16 / 12, kind = 1.5 * 1.5 * 2 / 9;

    make_study();
    CHECK_INT(compute(0, 1, found, 8), 3);
    CHECK_STR(found[0].param, "lr");
    CHECK_STR(found[1].param, "kind");
    CHECK_STR(found[2].param, "units");
    CHECK_NEAR(found[0].share, lr / (lr + kind), 0.03);
    CHECK_NEAR(found[1].share, kind / (lr + kind), 0.03);
    for (int i = 0; i < 3; i++)
        sum += found[i].share;
    CHECK_NEAR(sum, 1, 1e-12);
    CHECK_INT(compute(0, 1, again, 8), 3);
    for (int i = 0; i < 3; i++)
        CHECK_NEAR(found[i].share, again[i].share, 0);
    CHECK_INT(compute(0, 2, again, 1), 1);
    CHECK(again[0].share != found[0].share);
    CHECK_INT(compute(1, 1, again, 8), 0);
    CHECK_INT(compute(-1, 1, again, 8), 0);

    values[3] = INFINITY; /* not finite: passed over, as are trials that did not complete */
    for (int i = 50; i < TRIALS; i++)
        trials[i].state = i % 2 ? TRIAL_PRUNED : TRIAL_RUNNING;
    CHECK_INT(compute(0, 1, again, 8), 3);
    CHECK_STR(again[0].param, "lr");
    for (int i = 4; i < TRIALS; i++)
        trials[i].state = TRIAL_FAIL;
    CHECK_INT(compute(0, 1, again, 8), 0); /* three */
    trials[4].state = TRIAL_COMPLETE;
    CHECK_INT(compute(0, 1, again, 8), 4); /* those have `rare` too */
    for (int i = 0; i < TRIALS; i++)
        values[i] = 1;
    CHECK_INT(compute(0, 1, again, 8), 0);
    study.n_trials = 0;
    CHECK_INT(compute(0, 1, again, 8), 0);
    for (int i = 0; i < 4; i++)
        distribution_finish(&distributions[i]);
}

/* ---- Workers together. ---- */

enum { WORKERS = 4, WORKER_TRIALS = 700, ALL = WORKERS * WORKER_TRIALS };

/* Trials in turn, so that those that completed last are of all. Each worker has met the parameters in an
 * order of its own, and `whole` has all that the one with the same number has. */
static struct study workers[WORKERS], whole;
static struct study_trial own_trials[ALL], whole_trials[ALL];
static struct study_trial *own_pointers[WORKERS][WORKER_TRIALS], *whole_pointers[ALL];
static struct trial_param own_params[ALL][4], whole_params[ALL][4];
static double own_values[ALL];
static struct distribution spaces[8];
static char *orders[WORKERS][4] = {{lr_name, units_name, kind_name, rare_name},
                                   {kind_name, lr_name, rare_name, units_name},
                                   {units_name, rare_name, lr_name, kind_name},
                                   {rare_name, kind_name, units_name, lr_name}};

/* Of `worker` in place of the one that it was drawn from; the values are those of both. */
static void make_workers(void)
{
    char err[DISTRIBUTION_ERROR_MAX];
    json_t *choices = json_pack("[sss]", "a", "b", "c"), *others = json_pack("[sss]", "a", "b", "d");

    CHECK_INT(distribution_number(DISTRIBUTION_FLOAT, 1e-6, 1e-2, 0, true, &spaces[0], err), 0);
    CHECK_INT(distribution_number(DISTRIBUTION_INT, 1, 8, 1, false, &spaces[1], err), 0);
    CHECK_INT(distribution_categories(choices, &spaces[2], err), 0);
    CHECK_INT(distribution_number(DISTRIBUTION_FLOAT, 0, 1, 0, false, &spaces[3], err), 0);
    CHECK_INT(distribution_number(DISTRIBUTION_FLOAT, 1e-8, 1e-1, 0, true, &spaces[4], err), 0); /* wider */
    CHECK_INT(distribution_number(DISTRIBUTION_FLOAT, 1e-6, 1e-2, 0, false, &spaces[5], err), 0);
    CHECK_INT(distribution_categories(others, &spaces[6], err), 0);
    json_decref(choices);
    json_decref(others);
    for (int w = 0; w < WORKERS; w++)
        workers[w] = (struct study){.id = w + 1,
                                    .name = study_name,
                                    .n_objectives = 1,
                                    .directions = {STUDY_MAXIMIZE},
                                    .params = orders[w],
                                    .n_params = 4,
                                    .distributions = spaces,
                                    .n_distributions = 7,
                                    .trials = own_pointers[w]};
    for (int i = 0; i < ALL; i++) {
        int w = i % WORKERS;
        double lr = pow(10, -6 + 4 * fmod(i * 0.6180339887498949, 1)), units = 1 + i * 5 % 8,
               kind = i * 7 % 3, rare = fmod(i * 0.7548776662, 1);
        for (int k = 0; k < 4; k++) {
            const char *name = orders[w][k];
            int at = name == lr_name ? 0 : name == units_name ? 1 : name == kind_name ? 2 : 3;
            double value = at == 0 ? lr : at == 1 ? units : at == 2 ? kind : rare;
            own_params[i][k] = (struct trial_param){k, at, value};
            whole_params[i][at] = (struct trial_param){at, at, value};
        }
        /* Older trials say something else, so that it is seen which of them count. */
        own_values[i] = i < ALL / 2 ? rare : 2 * log10(lr) + (kind == 1 ? 1.5 : 0) + 0.1 * units;
        own_trials[i] = (struct study_trial){.number = workers[w].n_trials,
                                             .state = TRIAL_COMPLETE,
                                             .completed_us = 1000 + i,
                                             .values = &own_values[i],
                                             .params = own_params[i],
                                             .n_params = 4};
        own_pointers[w][workers[w].n_trials++] = &own_trials[i];
    }
}

/* One study with the trials of the workers that have their bit set. */
static struct study *together(unsigned bits)
{
    whole = workers[0];
    whole.trials = whole_pointers;
    whole.n_trials = 0;
    for (int i = 0; i < ALL; i++)
        if (bits >> i % WORKERS & 1) {
            whole_trials[i] = own_trials[i];
            whole_trials[i].params = whole_params[i];
            whole_trials[i].number = whole.n_trials;
            whole_pointers[whole.n_trials++] = &whole_trials[i];
        }
    return &whole;
}

/* The workers' importance is that of the study with the trials of `bits`; what is not among them was left
 * out. */
static void check_same(unsigned bits, int left_out)
{
    struct study *const all[WORKERS] = {&workers[0], &workers[1], &workers[2], &workers[3]}, *const one =
                                                                                                 together(
                                                                                                     bits);
    struct importance found[8], right[8];
    struct importance_basis basis = {0}, alone = {0};
    int n = importance_compute(all, WORKERS, 0, 1, found, 8, &basis);

    CHECK(n > 0);
    CHECK_INT(importance_compute(&one, 1, 0, 1, right, 8, &alone), n);
    CHECK_INT(basis.trials, alone.trials);
    CHECK_INT(basis.trials, one->n_trials < IMPORTANCE_TRIALS_MAX ? one->n_trials : IMPORTANCE_TRIALS_MAX);
    CHECK_INT(basis.studies, __builtin_popcount(bits));
    CHECK_INT(basis.left_out, left_out);
    for (int i = 0; i < n; i++) {
        CHECK_STR(found[i].param, right[i].param);
        CHECK_NEAR(found[i].share, right[i].share, 0);
    }
}

/* In worker w. */
static void redraw(int w, const char *name, int distribution)
{
    int at = name == lr_name ? 0 : name == units_name ? 1 : name == kind_name ? 2 : 3;

    for (int i = w; i < ALL; i += WORKERS) {
        for (int k = 0; k < 4; k++)
            if (orders[w][k] == name)
                own_params[i][k].distribution = distribution;
        whole_params[i][at].distribution = distribution;
    }
}

static void check_workers(void)
{
    make_workers();
    check_same(0xf, 0);    /* 2,000 of 2,800, the newest of each */
    redraw(1, lr_name, 4); /* a wider range: the box has room for it */
    check_same(0xf, 0);
    redraw(1, lr_name, 5); /* not logarithmic */
    check_same(0xd, 1);
    redraw(1, lr_name, 0);
    redraw(3, kind_name, 6); /* other choices */
    check_same(0x7, 1);
    redraw(3, kind_name, 2);
    workers[2].directions[0] = STUDY_MINIMIZE;
    check_same(0xb, 1);
    workers[1].n_objectives = 2;
    workers[1].directions[1] = STUDY_MAXIMIZE;
    check_same(0x9, 2);
    workers[1].n_objectives = 1;
    workers[2].directions[0] = STUDY_MAXIMIZE;

    for (int i = 3; i < ALL; i += WORKERS) { /* this one has never had `units`, which is its third */
        own_params[i][2] = own_params[i][3];
        own_trials[i].n_params = 3;
    }
    check_same(0x7, 1);
    for (int i = 0; i < ALL; i++) /* its trials count for nothing: it is not left out either */
        own_trials[i].state = i % WORKERS == 3 || i % WORKERS == 2 ? TRIAL_PRUNED : TRIAL_COMPLETE;
    check_same(0x3, 0);
    for (int i = 0; i < ALL; i++) /* the one with the most says what is right: now the odd one */
        own_trials[i].state = i % WORKERS == 3 || i > ALL - 40 ? TRIAL_COMPLETE : TRIAL_PRUNED;
    redraw(0, lr_name, 5);
    redraw(1, lr_name, 5);
    struct study *const all[WORKERS] = {&workers[0], &workers[1], &workers[2], &workers[3]};
    struct importance found[8];
    struct importance_basis basis = {0};
    CHECK_INT(importance_compute(all, WORKERS, 0, 1, found, 8, &basis), 3);
    CHECK_INT(basis.studies, 2);
    CHECK_INT(basis.left_out, 2);
    CHECK_INT(basis.trials, WORKER_TRIALS + 10);
    for (int i = 0; i < 7; i++)
        distribution_finish(&spaces[i]);
}

int main(void)
{
    check_exact();
    check_study();
    check_workers();
    return check_done("trainer/importance");
}
