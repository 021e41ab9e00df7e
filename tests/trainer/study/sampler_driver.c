/* A study in memory that another program drives: one JSON object a line in, one out.
 *
 * study     directions, sampler, seed, tpe {option: number}, space {name: distribution}: starts a new study
 * trial     state, params {name: [distribution, internal value]}, values, reports [[step, value]], system
 * ask       adds a RUNNING trial with the sampler's values of the space, and their promise: number, values
 * finish    number, state, values
 * sample    number: values and promise for it, and changes nothing
 * densities number, space, points: logarithms of both densities
 * spaces    the spaces of joint draws
 * chain     the Metropolis chain over the space
 * Numbers that JSON lacks are "inf", "-inf" and "nan". */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "db/studies/study_build.h"
#include "tests/db/studies/add_trial.h"
#include "tests/fatal.h"
#include "trainer/study/metropolis.h"
#include "trainer/study/sampler.h"
#include "trainer/study/tpe/tpe.h"

struct driver {
    struct study *study;
    struct sampler *sampler;
    struct sampler_options options;
    struct tpe *tpe;
    struct space space;
};

static double number_of(const json_t *json)
{
    const char *word = json_string_value(json);
    return word ? strtod(word, NULL) : json_number_value(json);
}

static json_t *number_json(double value)
{
    char word[32];
    snprintf(word, sizeof word, "%g", value);
    return isfinite(value) ? json_real(value) : json_string(word);
}

static json_t *numbers_json(const double *values, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, number_json(values[i]));
    return list;
}

static enum trial_state state_of(const json_t *request)
{
    const char *name = json_string_value(json_object_get(request, "state"));
    for (int state = 0; name && state < TRIAL_STATES; state++)
        if (strcmp(study_trial_state_name((enum trial_state)state), name) == 0)
            return (enum trial_state)state;
    fatal("state: %s", name ? name : "none");
}

static int distribution_of(struct driver *driver, const json_t *text)
{
    char err[DISTRIBUTION_ERROR_MAX] = "";
    int at = study_distribution(driver->study, json_string_value(text), err);
    if (at < 0)
        fatal("%s", err);
    return at;
}

static struct space space_of(const json_t *spaces)
{
    struct space space = {0};
    const char *name;
    json_t *text;
    json_object_foreach((json_t *)(uintptr_t)spaces, name, text)
    {
        char err[DISTRIBUTION_ERROR_MAX] = "";
        struct distribution distribution;
        if (distribution_parse(json_string_value(text), &distribution, err) < 0)
            fatal("%s", err);
        space_add(&space, name, &distribution);
        distribution_finish(&distribution);
    }
    return space;
}

static void set_tpe(struct tpe_options *tpe, const json_t *options)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)options, name, value)
    {
        double number = number_of(value);
        if (strcmp(name, "n_startup_trials") == 0)
            tpe->n_startup_trials = (int)number;
        else if (strcmp(name, "n_ei_candidates") == 0)
            tpe->n_ei_candidates = (int)number;
        else if (strcmp(name, "prior_weight") == 0)
            tpe->prior_weight = number;
        else if (strcmp(name, "consider_magic_clip") == 0)
            tpe->consider_magic_clip = number != 0;
        else if (strcmp(name, "consider_endpoints") == 0)
            tpe->consider_endpoints = number != 0;
        else if (strcmp(name, "multivariate") == 0)
            tpe->multivariate = number != 0;
        else if (strcmp(name, "group") == 0)
            tpe->group = number != 0;
        else if (strcmp(name, "constant_liar") == 0)
            tpe->constant_liar = number != 0;
        else if (strcmp(name, "gamma_share") == 0)
            tpe->gamma_share = number;
        else if (strcmp(name, "gamma_most") == 0)
            tpe->gamma_most = (int)number;
        else
            fatal("tpe: %s", name);
    }
}

static void finish(struct driver *driver)
{
    study_destroy(driver->study);
    sampler_destroy(driver->sampler);
    tpe_destroy(driver->tpe);
    space_finish(&driver->space);
    *driver = (struct driver){0};
}

static void begin(struct driver *driver, const json_t *request)
{
    enum study_direction directions[STUDY_OBJECTIVES_MAX];
    const json_t *list = json_object_get(request, "directions"),
                 *sampler = json_object_get(request, "sampler");
    int n = (int)json_array_size(list);
    for (int i = 0; i < n && i < STUDY_OBJECTIVES_MAX; i++)
        directions[i] = strcmp(json_string_value(json_array_get(list, (size_t)i)), "MAXIMIZE") == 0
                            ? STUDY_MAXIMIZE
                            : STUDY_MINIMIZE;
    finish(driver);
    driver->options = sampler_defaults();
    driver->options.seed = (uint64_t)json_integer_value(json_object_get(request, "seed"));
    if (sampler && !sampler_parse(json_string_value(sampler), &driver->options.kind))
        fatal("sampler: %s", json_string_value(sampler));
    set_tpe(&driver->options.tpe, json_object_get(request, "tpe"));
    driver->study = study_create(1, "memory", directions, n);
    driver->space = space_of(json_object_get(request, "space"));
    driver->tpe = tpe_create();
    if (!driver->study || !driver->tpe || sampler_create(&driver->options, &driver->sampler) < 0)
        fatal("out of memory");
}

static void end_trial(struct driver *driver, struct study_trial *trial, const json_t *request)
{
    const json_t *values = json_object_get(request, "values"), *reports = json_object_get(request, "reports");
    trial->state = state_of(request);
    for (size_t i = 0; i < json_array_size(values); i++)
        study_trial_put_value(trial, driver->study->n_objectives, (int)i,
                              number_of(json_array_get(values, i)));
    for (size_t i = 0; i < json_array_size(reports); i++) {
        const json_t *report = json_array_get(reports, i);
        study_trial_put_report(trial, json_integer_value(json_array_get(report, 0)),
                               number_of(json_array_get(report, 1)));
    }
    driver->study->version++;
}

static void add_trial(struct driver *driver, const json_t *request)
{
    struct study_trial *trial = add_next_trial(driver->study, driver->study->n_trials + 1, state_of(request));
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(request, "params"), name, value) study_trial_put_param(
        trial, study_param(driver->study, name), distribution_of(driver, json_array_get(value, 0)),
        number_of(json_array_get(value, 1)));
    json_object_foreach(json_object_get(request, "system"), name, value)
        study_attribute_put(&trial->system, &trial->n_system, name, json_string_value(value));
    end_trial(driver, trial, request);
}

static json_t *sample(struct driver *driver, int number, double *values)
{
    json_t *promise = NULL;
    int r = sampler_sample(driver->sampler, driver->study, number, &driver->space, values, &promise);
    if (r < 0)
        return json_pack("{s:i}", "error", r);
    return json_pack("{s:i,s:o,s:o}", "number", number, "values", numbers_json(values, driver->space.n),
                     "promise", promise ? promise : json_null());
}

static json_t *ask(struct driver *driver)
{
    double *values = calloc((size_t)driver->space.n + 1, sizeof *values);
    struct study_trial *trial = add_next_trial(driver->study, driver->study->n_trials + 1, TRIAL_RUNNING);
    json_t *answer = sample(driver, trial->number, values), *promise = json_object_get(answer, "promise");
    for (size_t i = 0; i < json_array_size(promise); i++) {
        char key[48], *text = json_dumps(json_array_get(promise, i), JSON_ENCODE_ANY);
        snprintf(key, sizeof key, "tpe:relative_params:%zu", i);
        study_attribute_put(&trial->system, &trial->n_system, key, text);
        free(text);
    }
    for (int i = 0; i < driver->space.n && !json_object_get(answer, "error"); i++) {
        const struct space_param *param = &driver->space.params[i];
        char err[DISTRIBUTION_ERROR_MAX], *text = distribution_text(&param->distribution);
        if (!distribution_contains(&param->distribution, values[i]))
            fatal("%s: %.17g is not in %s", param->name, values[i], text);
        study_trial_put_param(trial, study_param(driver->study, param->name),
                              study_distribution(driver->study, text, err), values[i]);
        free(text);
    }
    driver->study->version++;
    free(values);
    return answer;
}

static json_t *densities(struct driver *driver, const json_t *request)
{
    const json_t *points = json_object_get(request, "points");
    struct space space = space_of(json_object_get(request, "space"));
    size_t n = json_array_size(points), width = (size_t)space.n;
    double *at = calloc(n * width + 1, sizeof *at), *below = calloc(2 * n + 1, sizeof *below),
           *above = below + n;
    for (size_t i = 0; i < n * width; i++)
        at[i] = number_of(json_array_get(json_array_get(points, i / width), i % width));
    int number = (int)json_integer_value(json_object_get(request, "number"));
    int r = tpe_log_densities(driver->tpe, &driver->options.tpe, driver->study, number, &space, at, (int)n,
                              below, above);
    json_t *answer = json_pack("{s:i,s:o,s:o}", "error", r, "below", numbers_json(below, (int)n), "above",
                               numbers_json(above, (int)n));
    free(at);
    free(below);
    space_finish(&space);
    return answer;
}

static json_t *spaces(struct driver *driver)
{
    struct space *list = NULL;
    int n = 0, r = tpe_joint_spaces(driver->tpe, &driver->options.tpe, driver->study, &list, &n);
    json_t *answer = json_array();
    for (int i = 0; r == 0 && i < n; i++) {
        json_t *one = json_object();
        for (int k = 0; k < list[i].n; k++) {
            char *text = distribution_text(&list[i].params[k].distribution);
            json_object_set_new(one, list[i].params[k].name, json_string(text));
            free(text);
        }
        json_array_append_new(answer, one);
        space_finish(&list[i]);
    }
    free(list);
    return answer;
}

static json_t *chain(struct driver *driver)
{
    struct metropolis_chain chain;
    int r = sampler_metropolis_chain(&driver->options.metropolis, driver->options.seed, driver->study,
                                     &driver->space, &chain);
    return r < 0 ? json_pack("{s:i}", "error", r)
                 : json_pack("{s:i,s:i,s:i,s:f,s:f}", "at", chain.at, "steps", chain.steps, "taken",
                             chain.taken, "scale", chain.scale, "acceptance", chain.acceptance);
}

static json_t *answer_to(struct driver *driver, const json_t *request)
{
    const char *op = json_string_value(json_object_get(request, "op"));
    int number = (int)json_integer_value(json_object_get(request, "number"));
    if (!op)
        fatal("no op");
    if (strcmp(op, "study") == 0) {
        begin(driver, request);
        return NULL;
    }
    if (strcmp(op, "trial") == 0) {
        add_trial(driver, request);
        return NULL;
    }
    if (strcmp(op, "finish") == 0) {
        end_trial(driver, driver->study->trials[number], request);
        return NULL;
    }
    if (strcmp(op, "sample") == 0) {
        double *values = calloc((size_t)driver->space.n + 1, sizeof *values);
        json_t *answer = sample(driver, number, values);
        free(values);
        return answer;
    }
    return strcmp(op, "ask") == 0         ? ask(driver)
           : strcmp(op, "densities") == 0 ? densities(driver, request)
           : strcmp(op, "spaces") == 0    ? spaces(driver)
           : strcmp(op, "chain") == 0     ? chain(driver)
                                          : (fatal("op: %s", op), NULL);
}

int main(void)
{
    struct driver driver = {0};
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        json_error_t error;
        json_t *request = json_loads(line, 0, &error);
        if (!request)
            fatal("%s: %.80s", error.text, line);
        json_t *answer = answer_to(&driver, request);
        if (answer) {
            json_dumpf(answer, stdout, JSON_COMPACT | JSON_REAL_PRECISION(17));
            putchar('\n');
            fflush(stdout);
        }
        json_decref(answer);
        json_decref(request);
    }
    finish(&driver);
    free(line);
    return EXIT_SUCCESS;
}
