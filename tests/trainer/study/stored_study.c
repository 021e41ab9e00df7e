/* Writes a file of studies for sample_verb.py: "search", best where the rate is high; "two", of two
 * objectives; "empty"; "endless" and "wide", whose ranges nothing can be drawn from; "fine", whose grid is
 * too large. */
#include "db/studies/store.h"
#include "tests/fatal.h"
#include "trainer/study/sampler.h"

static char err[STUDY_ERROR_MAX];

static struct space search_space(void)
{
    struct space space = {0};
    struct distribution distribution;
    json_t *choices = json_loads("[0.9, \"auto\", null]", 0, NULL);
    if (distribution_categories(choices, &distribution, err) < 0 ||
        space_add(&space, "gamma", &distribution) < 0)
        fatal("%s", err);
    distribution_finish(&distribution);
    json_decref(choices);
    if (distribution_number(DISTRIBUTION_INT, 1, 3, 1, false, &distribution, err) < 0 ||
        space_add(&space, "layers", &distribution) < 0 ||
        distribution_number(DISTRIBUTION_FLOAT, 1e-6, 1e-3, 0, true, &distribution, err) < 0 ||
        space_add(&space, "rate", &distribution) < 0 ||
        distribution_number(DISTRIBUTION_INT, 512, 1536, 64, false, &distribution, err) < 0 ||
        space_add(&space, "width", &distribution) < 0)
        fatal("%s", err);
    return space;
}

static void write_study(struct study_store *store, const char *name, int n_objectives, int n_trials,
                        const struct space *space)
{
    static const enum study_direction directions[] = {STUDY_MAXIMIZE, STUDY_MINIMIZE};
    struct sampler_options options = sampler_defaults();
    struct sampler *sampler;
    struct study *study;
    int64_t id, trial;
    int number;
    options.kind = SAMPLER_RANDOM;
    if (study_store_create(store, name, directions, n_objectives, &id, NULL, err) < 0 ||
        study_store_load(store, id, &study, err) < 0 || sampler_create(&options, &sampler) < 0)
        fatal("%s", err);
    for (int i = 0; i < n_trials; i++) {
        double values[8];
        struct study_store_param params[8];
        if (study_store_ask(store, id, false, &trial, &number, err) < 0 ||
            sampler_sample(sampler, study, number, space, values, NULL) < 0)
            fatal("%s", err);
        for (int k = 0; k < space->n; k++)
            params[k] =
                (struct study_store_param){space->params[k].name, &space->params[k].distribution, values[k]};
        if (study_store_set_params(store, trial, params, space->n, err) < 0 ||
            study_store_tell(store, trial, TRIAL_COMPLETE, (double[]){values[2], values[1]}, n_objectives,
                             err) < 0)
            fatal("%s", err);
    }
    sampler_destroy(sampler);
    study_destroy(study);
}

/* A study of 12 trials, of parameters x and y of one distribution, both 0. */
static void write_zeros(struct study_store *store, const char *name, const char *text)
{
    static const enum study_direction directions[] = {STUDY_MAXIMIZE};
    struct distribution distribution;
    int64_t id, trial;
    int number;
    if (distribution_parse(text, &distribution, err) < 0 ||
        study_store_create(store, name, directions, 1, &id, NULL, err) < 0)
        fatal("%s", err);
    for (int i = 0; i < 12; i++)
        if (study_store_ask(store, id, false, &trial, &number, err) < 0 ||
            study_store_set_params(
                store, trial, (struct study_store_param[]){{"x", &distribution, 0}, {"y", &distribution, 0}},
                2, err) < 0 ||
            study_store_tell(store, trial, TRIAL_COMPLETE, (double[]){i}, 1, err) < 0)
            fatal("%s", err);
    distribution_finish(&distribution);
}

#define NUMBERS(kind, low, high, step) \
    "{\"name\": \"" kind "Distribution\", \"attributes\": {\"step\": " step ", \"low\": " low \
    ", \"high\": " high ", \"log\": false}}"

int main(int argc, char **argv)
{
    struct study_store *store;
    struct space space = search_space();
    if (argc != 2 || study_store_open(argv[1], STUDY_STORE_WRITE, 0, &store, err) < 0)
        fatal("stored-study FILE: %s", err);
    if (study_store_begin(store, err) < 0)
        fatal("%s", err);
    write_study(store, "search", 1, 40, &space);
    write_study(store, "two", 2, 15, &space);
    write_study(store, "empty", 1, 0, &space);
    write_zeros(store, "endless", NUMBERS("Float", "-Infinity", "Infinity", "null"));
    write_zeros(store, "wide", NUMBERS("Float", "-1e308", "1e308", "null"));
    write_zeros(store, "fine", NUMBERS("Int", "0", "10000000000", "1"));
    if (study_store_commit(store, err) < 0)
        fatal("%s", err);
    study_store_close(store);
    space_finish(&space);
    return EXIT_SUCCESS;
}
