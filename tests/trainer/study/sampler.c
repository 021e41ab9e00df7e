/* Samplers: what all of them draw is in its distribution and the same again; grids, chains, promises, and the
 * arithmetic of TPE's cut normals and fronts. Densities are compared with Optuna's in tpe_oracle.py. */
#include <errno.h>
#include <math.h>

#include "db/studies/study_build.h"
#include "tests/check.h"
#include "tests/db/studies/add_trial.h"
#include "tests/fatal.h"
#include "tests/random.h"
#include "trainer/study/axis.h"
#include "trainer/study/grid.h"
#include "trainer/study/metropolis.h"
#include "trainer/study/sampler.h"
#include "trainer/study/tpe/front.h"
#include "trainer/study/tpe/history.h"
#include "trainer/study/tpe/normal.h"
#include "trainer/study/tpe/running.h"
#include "trainer/study/tpe/tpe.h"

static void add_number(struct space *space, const char *name, enum distribution_kind kind, double low,
                       double high, double step, bool log)
{
    char err[DISTRIBUTION_ERROR_MAX] = "";
    struct distribution distribution;
    if (distribution_number(kind, low, high, step, log, &distribution, err) < 0)
        fatal("%s", err);
    CHECK_INT(space_add(space, name, &distribution), 0);
}

static void add_choices(struct space *space, const char *name, const char *choices)
{
    char err[DISTRIBUTION_ERROR_MAX] = "";
    struct distribution distribution;
    json_t *list = json_loads(choices, 0, NULL);
    if (distribution_categories(list, &distribution, err) < 0)
        fatal("%s", err);
    CHECK_INT(space_add(space, name, &distribution), 0);
    distribution_finish(&distribution);
    json_decref(list);
}

/* One of each kind, and one that can only be one value. */
static struct space every_kind(void)
{
    struct space space = {0};
    add_number(&space, "float", DISTRIBUTION_FLOAT, -1.5, 2.5, 0, false);
    add_number(&space, "float_log", DISTRIBUTION_FLOAT, 1e-6, 1e-2, 0, true);
    add_number(&space, "float_step", DISTRIBUTION_FLOAT, 0.1, 1.1, 0.05, false);
    add_number(&space, "whole", DISTRIBUTION_INT, -3, 12, 1, false);
    add_number(&space, "whole_step", DISTRIBUTION_INT, 512, 1536, 64, false);
    add_number(&space, "whole_log", DISTRIBUTION_INT, 1, 1000, 1, true);
    add_number(&space, "single", DISTRIBUTION_FLOAT, 0.5, 0.5, 0, false);
    add_choices(&space, "choice", "[2048, 4096, \"x\", null]");
    return space;
}

static struct study *new_study(int n_objectives)
{
    static const enum study_direction directions[] = {STUDY_MINIMIZE, STUDY_MAXIMIZE, STUDY_MINIMIZE};
    return study_create(1, "memory", directions, n_objectives);
}

static struct study_trial *add_trial(struct study *study, enum trial_state state, const struct space *space,
                                     const double *values)
{
    struct study_trial *trial = add_next_trial(study, study->n_trials + 1, state);
    for (int i = 0; i < space->n; i++) {
        char err[DISTRIBUTION_ERROR_MAX], *text = distribution_text(&space->params[i].distribution);
        CHECK_INT(study_trial_put_param(trial, study_param(study, space->params[i].name),
                                        study_distribution(study, text, err), values[i]),
                  0);
        free(text);
    }
    study->version++;
    return trial;
}

static void finish_trial(struct study *study, struct study_trial *trial, double value)
{
    trial->state = TRIAL_COMPLETE;
    for (int i = 0; i < study->n_objectives; i++)
        study_trial_put_value(trial, study->n_objectives, i, i ? -value * i : value);
    study->version++;
}

static bool contains_all(const struct space *space, const double *values)
{
    for (int i = 0; i < space->n; i++)
        if (!distribution_contains(&space->params[i].distribution, values[i])) {
            fprintf(stderr, "%s: %.17g\n", space->params[i].name, values[i]);
            return false;
        }
    return true;
}

/* Trials that run, end, are pruned and fail; every sampler's values are their distribution's, and a second
 * sampler that has seen nothing before draws the same. */
static void test_draws(enum sampler_kind kind, bool multivariate, bool group, int n_objectives)
{
    struct space space = every_kind();
    struct study *study = new_study(n_objectives);
    struct sampler_options options = sampler_defaults();
    struct sampler *sampler, *fresh;
    options.kind = kind;
    options.seed = 7;
    options.tpe.multivariate = multivariate;
    options.tpe.group = group;
    CHECK_INT(sampler_create(&options, &sampler), 0);
    double values[16], again[16];
    for (int number = 0; number < 60; number++) {
        json_t *promise = NULL, *same = NULL;
        CHECK_INT(sampler_sample(sampler, study, number, &space, values, &promise), 0);
        CHECK(contains_all(&space, values));
        CHECK_INT(sampler_create(&options, &fresh), 0);
        CHECK_INT(sampler_sample(fresh, study, number, &space, again, &same), 0);
        sampler_destroy(fresh);
        CHECK(memcmp(values, again, (size_t)space.n * sizeof *values) == 0);
        CHECK(json_equal(promise, same) || (!promise && !same));
        CHECK(!promise || (kind == SAMPLER_TPE && number >= 10));
        CHECK(promise || kind != SAMPLER_TPE || number < 20 || !(multivariate || group) || n_objectives > 1);
        json_decref(promise);
        json_decref(same);
        struct study_trial *trial = add_trial(study, TRIAL_RUNNING, &space, values);
        if (number % 5 == 3 && n_objectives == 1) {
            trial->state = TRIAL_PRUNED;
            study_trial_put_report(trial, number, values[0]);
        } else if (number % 7 == 5) {
            trial->state = TRIAL_FAIL;
        } else if (number % 11 != 4) {
            finish_trial(study, trial, values[0] * values[0] + values[1]);
        }
    }
    sampler_destroy(sampler);
    study_destroy(study);
    space_finish(&space);
}

/* Another number, or another seed, draws something else. */
static void test_draws_differ(void)
{
    struct space space = every_kind();
    struct study *study = new_study(1);
    struct sampler_options options = sampler_defaults();
    double a[16], b[16], c[16];
    struct sampler *sampler;
    CHECK_INT(sampler_create(&options, &sampler), 0);
    CHECK_INT(sampler_sample(sampler, study, 0, &space, a, NULL), 0);
    CHECK_INT(sampler_sample(sampler, study, 1, &space, b, NULL), 0);
    sampler_destroy(sampler);
    options.seed = 1;
    CHECK_INT(sampler_create(&options, &sampler), 0);
    CHECK_INT(sampler_sample(sampler, study, 0, &space, c, NULL), 0);
    sampler_destroy(sampler);
    CHECK(a[1] != b[1] && a[1] != c[1]);
    study_destroy(study);
    space_finish(&space);
}

/* A sampler that is handed another study forgets the first; one that is handed a study that took a trial back
 * too. */
static void test_another_study(void)
{
    struct space space = every_kind();
    struct sampler_options options = sampler_defaults();
    struct sampler *sampler, *fresh;
    options.seed = 3;
    CHECK_INT(sampler_create(&options, &sampler), 0);
    double values[16], again[16];
    struct study *studies[2] = {new_study(1), new_study(1)};
    for (int i = 0; i < 2; i++)
        for (int number = 0; number < 30; number++) {
            CHECK_INT(sampler_sample(sampler, studies[i], number, &space, values, NULL), 0);
            finish_trial(studies[i], add_trial(studies[i], TRIAL_RUNNING, &space, values),
                         i ? values[0] : -values[0]);
        }
    studies[1]->trials[29]->state = TRIAL_RUNNING;
    for (int i = 0; i < 2; i++) {
        CHECK_INT(sampler_create(&options, &fresh), 0);
        CHECK_INT(sampler_sample(sampler, studies[i], 40, &space, values, NULL), 0);
        CHECK_INT(sampler_sample(fresh, studies[i], 40, &space, again, NULL), 0);
        CHECK(memcmp(values, again, (size_t)space.n * sizeof *values) == 0);
        sampler_destroy(fresh);
        study_destroy(studies[i]);
    }
    sampler_destroy(sampler);
    space_finish(&space);
}

/* A changed range: a value that was drawn for the old one and is outside is drawn again. */
static void test_changed_range(void)
{
    struct space old = {0}, now = {0};
    struct study *study = new_study(1);
    struct sampler_options options = sampler_defaults();
    struct sampler *sampler;
    add_number(&old, "x", DISTRIBUTION_FLOAT, 0, 10, 0, false);
    add_number(&now, "new", DISTRIBUTION_INT, 1, 4, 1, false);
    add_number(&now, "x", DISTRIBUTION_FLOAT, 9, 20, 0, false);
    CHECK_INT(sampler_create(&options, &sampler), 0);
    for (int number = 0; number < 40; number++) {
        double values[2];
        const struct space *space = number < 20 ? &old : &now;
        CHECK_INT(sampler_sample(sampler, study, number, space, values, NULL), 0);
        CHECK(contains_all(space, values));
        finish_trial(study, add_trial(study, TRIAL_RUNNING, space, values), values[space->n - 1]);
    }
    sampler_destroy(sampler);
    study_destroy(study);
    space_finish(&old);
    space_finish(&now);
}

/* How many spaces trials have in common: none, or one. */
static int joint(const struct study *study, struct space **ret)
{
    struct tpe_history history = {0};
    int n = -1;
    CHECK_INT(tpe_history_update(&history, study), 0);
    CHECK_INT(tpe_intersection(&history, ret, &n), 0);
    tpe_history_finish(&history);
    return n;
}

static void test_spaces(void)
{
    struct space all = every_kind(), some = {0}, found, *common;
    struct study *study = new_study(1);
    double values[16] = {1, 0.5, 1e-4, 0.6, 0.5, 3, 10, 576};
    CHECK_INT(joint(study, &common), 0);
    CHECK_INT(space_union(study, &found), 0);
    CHECK_INT(found.n, 0);
    for (int i = 0; i < all.n; i++)
        values[i] = all.params[i].distribution.low;
    finish_trial(study, add_trial(study, TRIAL_RUNNING, &all, values), 1);
    if (joint(study, &common) != 1)
        fatal("nothing in common");
    CHECK_INT(common->n, all.n - 1);
    CHECK_INT(space_find(common, "single"), -1);
    CHECK_INT(space_find(common, "choice"), 0);
    space_finish(common);
    free(common);
    add_number(&some, "float", DISTRIBUTION_FLOAT, 0, 1, 0, false);
    CHECK_INT(space_add(&some, "float", &some.params[0].distribution), -EEXIST);
    add_number(&some, "whole", DISTRIBUTION_INT, -3, 12, 1, false);
    finish_trial(study, add_trial(study, TRIAL_RUNNING, &some, (double[]){0.5, 3}), 1);
    if (joint(study, &common) != 1)
        fatal("nothing in common");
    CHECK_INT(common->n, 1);
    CHECK_STR(common->params[0].name, "whole");
    space_finish(common);
    free(common);
    CHECK_INT(space_union(study, &found), 0);
    CHECK_INT(found.n, all.n);
    CHECK_NEAR(found.params[space_find(&found, "float")].distribution.high, 1, 0);
    space_finish(&found);
    study_destroy(study);
    space_finish(&all);
    space_finish(&some);
}

/* Each point once, failed ones again, whichever worker asks in between; then no more. */
static void test_grid(void)
{
    struct space space = {0};
    struct study *study = new_study(1);
    struct sampler_options options = sampler_defaults();
    struct sampler *sampler;
    add_number(&space, "a", DISTRIBUTION_FLOAT, 1e-4, 1, 0, true);
    add_number(&space, "b", DISTRIBUTION_INT, 2, 8, 3, false);
    add_choices(&space, "c", "[true, false]");
    options.kind = SAMPLER_GRID;
    options.grid_points = 4;
    options.seed = 11;
    CHECK_INT((intmax_t)sampler_grid_size(&space, 4), 24);
    CHECK_INT(sampler_create(&options, &sampler), 0);
    int seen[24] = {0}, failed = 0, r;
    double values[5];
    while ((r = sampler_sample(sampler, study, study->n_trials, &space, values, NULL)) == 0 &&
           study->n_trials < 99) {
        CHECK(contains_all(&space, values));
        int level = (int)lround((log10(values[0]) + 4) / 4 * 3);
        CHECK_NEAR(values[0], pow(10, -4 + level * 4.0 / 3), 1e-12);
        struct study_trial *trial = add_trial(study, TRIAL_RUNNING, &space, values);
        if (failed < 3 && study->n_trials % 4 == 0) {
            trial->state = TRIAL_FAIL;
            failed++;
        } else {
            seen[level * 6 + (int)(values[1] - 2) / 3 * 2 + (int)values[2]]++;
            if (study->n_trials % 3)
                finish_trial(study, trial, 1);
        }
    }
    CHECK_INT(r, -ENODATA);
    CHECK_INT(study->n_trials, 24 + failed);
    for (int i = 0; i < 24; i++)
        CHECK_INT(seen[i], 1);
    sampler_destroy(sampler);
    study_destroy(study);
    add_number(&space, "d", DISTRIBUTION_INT, 0, 1e15, 1, false);
    add_number(&space, "e", DISTRIBUTION_INT, 0, 1e15, 1, false);
    CHECK(sampler_grid_size(&space, 4) == UINT64_MAX);
    CHECK_NEAR(sampler_grid_size_about(&space, 4), 24e30, 1e17);
    CHECK_INT(sampler_create(&options, &sampler), 0);
    study = new_study(1);
    CHECK_INT(sampler_sample(sampler, study, 0, &space, values, NULL), -ERANGE);
    study_destroy(study);
    sampler_destroy(sampler);
    space_finish(&space);
}

/* On a normal, whose loss is half the square, at temperature 1 the chain takes near to 23 % of its steps, and
 * where it is has that normal's mean and deviation. */
static void test_metropolis(void)
{
    enum { N = 3000, WIDTH = 3 };
    struct space space = {0};
    struct study *study = new_study(1);
    struct sampler_options options = sampler_defaults();
    struct sampler *sampler;
    struct metropolis_chain chain;
    add_number(&space, "x", DISTRIBUTION_FLOAT, -10, 10, 0, false);
    add_number(&space, "y", DISTRIBUTION_FLOAT, -10, 10, 0, false);
    add_number(&space, "z", DISTRIBUTION_FLOAT, -10, 10, 0, false);
    options.kind = SAMPLER_METROPOLIS;
    options.metropolis.cooling = 1;
    options.seed = 5;
    CHECK_INT(sampler_create(&options, &sampler), 0);
    double sum[WIDTH] = {0}, squares[WIDTH] = {0}, values[WIDTH];
    for (int number = 0; number < N; number++) {
        CHECK_INT(sampler_sample(sampler, study, number, &space, values, NULL), 0);
        finish_trial(study, add_trial(study, TRIAL_RUNNING, &space, values),
                     0.5 * (values[0] * values[0] + values[1] * values[1] + values[2] * values[2]));
        CHECK_INT(sampler_metropolis_chain(&options.metropolis, options.seed, study, &space, &chain), 0);
        CHECK((chain.at < 0) == (number + 1 < options.metropolis.burn_in));
        for (int d = 0; d < WIDTH && chain.at >= 0; d++) {
            double at = study->trials[chain.at]->params[d].value;
            sum[d] += at;
            squares[d] += at * at;
        }
    }
    CHECK_INT(chain.steps, N - options.metropolis.burn_in);
    CHECK_NEAR((double)chain.taken / chain.steps, 0.23, 0.03);
    CHECK_NEAR(chain.acceptance, 0.23, 0.02);
    for (int d = 0; d < WIDTH; d++) {
        CHECK_NEAR(sum[d] / N, 0, 0.3);
        CHECK_NEAR(squares[d] / N, 1, 0.35);
    }
    sampler_destroy(sampler);
    study_destroy(study);
    study = new_study(2);
    CHECK_INT(sampler_metropolis_chain(&options.metropolis, 1, study, &space, &chain), -EINVAL);
    study_destroy(study);
    space_finish(&space);
}

/* An exponential temperature freezes the chain: it goes only down, and near to the best. */
static void test_cooling(void)
{
    struct space space = {0};
    struct study *study = new_study(1);
    struct sampler_options options = sampler_defaults();
    struct sampler *sampler;
    struct metropolis_chain chain;
    add_number(&space, "x", DISTRIBUTION_FLOAT, -10, 10, 0, false);
    add_choices(&space, "c", "[0, 1, 2, 3]");
    options.kind = SAMPLER_METROPOLIS;
    options.metropolis.cooling = 0.9;
    CHECK_INT(sampler_create(&options, &sampler), 0);
    for (int number = 0; number < 400; number++) {
        double values[2];
        CHECK_INT(sampler_sample(sampler, study, number, &space, values, NULL), 0);
        finish_trial(study, add_trial(study, TRIAL_RUNNING, &space, values),
                     fabs(values[1] - 7) + (values[0] == 2 ? 0 : 1));
    }
    CHECK_INT(sampler_metropolis_chain(&options.metropolis, 0, study, &space, &chain), 0);
    CHECK(study->trials[chain.at] == study_best(study));
    CHECK(study_best(study)->values[0] < 0.05);
    sampler_destroy(sampler);
    study_destroy(study);
    space_finish(&space);
}

/* Every value of a step has an equal share of random draws, both ends too. */
static void test_even(void)
{
    enum { N = 60000, LEVELS = 6 };
    struct space space = {0};
    add_number(&space, "x", DISTRIBUTION_FLOAT, 0.5, 1.75, 0.25, false);
    struct axis axis = study_axis_of(&space.params[0].distribution);
    int count[LEVELS] = {0};
    for (int i = 0; i < N; i++) {
        struct draw draw = sampler_draw_begin(1, i);
        count[(int)lround((study_axis_draw(&axis, &draw) - 0.5) / 0.25)]++;
    }
    double chi = 0, expected = (double)N / LEVELS;
    for (int i = 0; i < LEVELS; i++)
        chi += (count[i] - expected) * (count[i] - expected) / expected;
    CHECK(chi < 20.5); /* 5 degrees of freedom, 0.1 % */
    space_finish(&space);
}

/* The three ways to a mass agree, and with a sum over the density; quantiles are where their mass is. */
static void test_normal(void)
{
    struct random random = random_seeded("sampler", 20261122);
    for (int i = 0; i < 20000; i++) {
        double a = -12 + 24 * (double)random_next(&random) * 0x1p-64;
        double h = exp(-18 + 21 * (double)random_next(&random) * 0x1p-64), b = a + h, more;
        h = b - a;
        double mass = tpe_normal_log_mass(a, b), factor = tpe_normal_mass(a, b, &more);
        CHECK_NEAR(log(factor) + more, mass, 1e-12 * (1 + fabs(mass)));
        CHECK_NEAR(tpe_normal_log_mass(-b, -a), mass, 1e-12 * (1 + fabs(mass)));
        if (h < 1e-6) /* Simpson's rule is exact to h^4 here */
            CHECK_NEAR(mass, log(h) - 0.5 * (a + h / 2) * (a + h / 2) - NORMAL_LOG_SQRT_2PI, 1e-10);
        double half = tpe_normal_log_mass(a, a + h / 2), rest = tpe_normal_log_mass(a + h / 2, b);
        double most = half > rest ? half : rest;
        CHECK_NEAR(most + log(exp(half - most) + exp(rest - most)), mass, 1e-11 * (1 + fabs(mass)));
        double u = ((double)(random_next(&random) >> 12) + 0.5) * 0x1p-52,
               x = tpe_normal_cut_quantile(u, a, b);
        CHECK(x >= a && x <= b);
        if (h > 1e-3 && x > a)
            CHECK_NEAR(exp(tpe_normal_log_mass(a, x) - mass), u, 1e-6);
    }
    CHECK_NEAR(tpe_normal_log_mass(-1, 1), log(0.68268949213708585), 1e-15);
    CHECK_NEAR(tpe_normal_log_mass(-60, -50), -1254.8313611394199, 1e-9); /* SciPy's log_ndtr */
    double x = tpe_normal_cut_quantile(0.5, 50, 60);
    CHECK(x > 50 && x < 50.1);
}

static void test_fronts(void)
{
    /* the front of (0, 4) (1, 2) (2, 1) (4, 0), behind it (3, 3) and (5, 5) */
    const double losses[] = {5, 5, 0, 4, 3, 3, 1, 2, 2, 1, 4, 0};
    bool chosen[6];
    CHECK_INT(tpe_front_choose(losses, 6, 2, 5, chosen), 0);
    CHECK(!chosen[0] && chosen[1] && chosen[2] && chosen[3] && chosen[4] && chosen[5]);
    CHECK_INT(tpe_front_choose(losses, 6, 2, 2, chosen), 0);
    CHECK(!chosen[0] && !chosen[2] && chosen[3] + chosen[4] + chosen[1] + chosen[5] == 2 && chosen[3]);
    CHECK_INT(tpe_front_choose(losses, 6, 2, 0, chosen), 0);
    CHECK(!chosen[1]);
    CHECK_INT(tpe_front_choose(losses, 6, 2, 9, chosen), 0);
    CHECK(chosen[0]);
    const double plane[] = {0, 4, 1, 2, 2, 1, 4, 0}, at[] = {5, 5};
    CHECK_NEAR(tpe_hypervolume(plane, 4, 2, at), 1 + 3 + 8 + 5, 1e-12);
    const double solid[] = {0, 0, 0, 1, 0, 0, 0, 0, 1}, corner[] = {2, 3, 4};
    CHECK_NEAR(tpe_hypervolume(solid, 3, 3, corner), 24, 1e-12);
    CHECK_NEAR(tpe_hypervolume(NULL, 0, 3, corner), 0, 0);
}

/* A promise is read back, in pieces of at most 2045 characters; a broken one is ignored. */
static void test_promises(void)
{
    struct study *study = new_study(1);
    struct space space = {0};
    json_t *promise = json_object();
    char name[40], key[48];
    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "parameter_%03d_\xc3\xa4", i);
        add_number(&space, name, DISTRIBUTION_FLOAT, 0, 1, 0, false);
        json_object_set_new(promise, name, json_real(1.0 / (3 + i)));
    }
    struct distribution endless;
    char err[DISTRIBUTION_ERROR_MAX];
    CHECK_INT(distribution_parse("{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [1, "
                                 "Infinity, \"NaN\", NaN]}}",
                                 &endless, err),
              0);
    space_add(&space, "endless", &endless);
    json_object_set_new(promise, "endless", distribution_external(&endless, 1));
    distribution_finish(&endless);
    json_t *pieces = tpe_running_promise(promise);
    CHECK(json_array_size(pieces) > 2);
    /* words, as Python writes them */
    CHECK(strstr(json_string_value(json_array_get(pieces, json_array_size(pieces) - 1)),
                 "\"endless\": Infinity}"));
    struct study_trial *trial = add_next_trial(study, 1, TRIAL_RUNNING);
    for (size_t i = 0; i < json_array_size(pieces) && i < 99; i++) {
        const json_t *piece = json_array_get(pieces, i);
        CHECK(json_string_length(piece) <= TPE_PIECE_MAX);
        CHECK(i + 1 == json_array_size(pieces) || json_string_length(piece) == TPE_PIECE_MAX);
        char *text = json_dumps(piece, JSON_ENCODE_ANY);
        snprintf(key, sizeof key, "tpe:relative_params:%zu", i);
        study_attribute_put(&trial->system, &trial->n_system, key, text);
        free(text);
    }
    struct tpe_running running;
    CHECK_INT(tpe_running_read(study, -1, true, &running), 0);
    CHECK_INT(running.n, 1);
    for (int i = 0; i < space.n; i++) {
        double value = 0;
        CHECK(tpe_running_value(&running.trials[0], -1, &space.params[i], &value));
        CHECK_NEAR(value, i == 0 ? 1 : 1.0 / (2 + i), 0);
    }
    tpe_running_finish(&running);
    CHECK_INT(tpe_running_read(study, trial->number, true, &running), 0);
    CHECK_INT(running.n, 0);
    tpe_running_finish(&running);
    static const char *const broken[] = {"[1]", "\"{\"", "{", "17", "\"[1]\"", "\"\""};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        study_attribute_put(&trial->system, &trial->n_system, "tpe:relative_params:0", broken[i]);
        CHECK_INT(tpe_running_read(study, -1, true, &running), 0);
        double value;
        CHECK(!tpe_running_value(&running.trials[0], -1, &space.params[0], &value));
        tpe_running_finish(&running);
    }
    json_decref(pieces);
    json_decref(promise);
    study_destroy(study);
    space_finish(&space);
}

static void test_names(void)
{
    enum sampler_kind kind;
    for (int i = 0; i < SAMPLERS; i++) {
        CHECK(sampler_parse(sampler_name((enum sampler_kind)i), &kind));
        CHECK_INT(kind, i);
    }
    CHECK(!sampler_parse("TPE", &kind) && !sampler_parse("", &kind) && !sampler_parse("cmaes", &kind));
    sampler_destroy(NULL);
    tpe_destroy(NULL);
}

int main(void)
{
    test_draws(SAMPLER_TPE, true, false, 1);
    test_draws(SAMPLER_TPE, false, false, 1);
    test_draws(SAMPLER_TPE, true, true, 1);
    test_draws(SAMPLER_TPE, true, false, 2);
    test_draws(SAMPLER_TPE, true, false, 3);
    test_draws(SAMPLER_RANDOM, true, false, 1);
    test_draws(SAMPLER_GRID, true, false, 1);
    test_draws(SAMPLER_METROPOLIS, true, false, 1);
    test_draws_differ();
    test_another_study();
    test_changed_range();
    test_spaces();
    test_grid();
    test_metropolis();
    test_cooling();
    test_even();
    test_normal();
    test_fronts();
    test_promises();
    test_names();
    return check_done("sampler");
}
