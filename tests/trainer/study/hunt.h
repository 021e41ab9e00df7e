/* A small search, by the real parts: a storage, a sampler, trials; for study_proposal_make(). */
#ifndef TESTS_TRAINER_STUDY_HUNT_H
#define TESTS_TRAINER_STUDY_HUNT_H

#include "tests/trainer/study/place.h"
#include "trainer/study/proposal.h"

struct hunt {
    struct place_bars bars;
    struct train_config *config;
    struct study_settings settings;
    struct study_market *market;
    struct study_store *store;
    int64_t id;
    struct study *study;
    struct sampler *sampler;
    char folder[SCRATCH_PATH_MAX];
    char reported[512];          /* the last words */
    struct study_members others; /* as the test has it */
};

static inline void hunt_reported(void *ctx, const char *words)
{
    struct hunt *hunt = ctx;
    snprintf(hunt->reported, sizeof hunt->reported, "%s", words);
}

static inline void hunt_check(int r, const char *err)
{
    if (r < 0)
        fatal("%s", err);
}

/* `search`: lines of [study] and [search]. */
static inline void hunt_begin(struct hunt *hunt, size_t rows, bool signal, uint64_t seed, const char *search)
{
    char text[PLACE_TEXT], err[CONFIG_ERROR_MAX], name[32];
    bool is_study;
    *hunt = (struct hunt){.config = fatal_calloc(1, sizeof(struct train_config))};
    place_draw(&hunt->bars, rows, signal, seed);
    const char *features = place_features("log_return:1 zscore\nvolume log1p zscore\n");
    place_text(text, place_write(&hunt->bars, "AAA", NULL), features, search);
    hunt_check(study_settings_parse("hunt", text, hunt->config, &hunt->settings, &is_study, err), err);
    hunt->settings.sampler.seed = seed;
    hunt->market = place_open(hunt->config, &hunt->settings);
    snprintf(name, sizeof name, "hunt-%d-%llu", signal, (unsigned long long)seed);
    snprintf(hunt->folder, sizeof hunt->folder, "%s", scratch_path(name));
    scratch_remove(hunt->folder);
    const enum study_direction up = STUDY_MAXIMIZE;
    hunt_check(study_store_open(scratch_path("studies.db"), STUDY_STORE_WRITE, 0, &hunt->store, err), err);
    hunt_check(study_store_create(hunt->store, name, &up, 1, &hunt->id, NULL, err), err);
    hunt_check(study_store_load(hunt->store, hunt->id, &hunt->study, err), err);
    hunt_check(sampler_create(&hunt->settings.sampler, &hunt->sampler), "sampler");
}

/* One more trial; returns its outcome. */
static inline double hunt_trial(struct hunt *hunt)
{
    char err[TRIAL_ERROR_MAX], folder[SCRATCH_PATH_MAX + 16];
    const struct space *space = &hunt->settings.space;
    struct train_config *config = fatal_calloc(1, sizeof *config);
    double *values = fatal_calloc((size_t)space->n + 1, sizeof(double));
    struct study_store_param *params = fatal_calloc((size_t)space->n + 1, sizeof *params);
    struct trial_outcome outcome;
    int64_t trial;
    int number;
    hunt_check(study_store_ask(hunt->store, hunt->id, false, &trial, &number, err), err);
    hunt_check(study_store_sync(hunt->store, hunt->study, err), err);
    hunt_check(sampler_sample(hunt->sampler, hunt->study, number, space, values, NULL), "sample");
    for (int i = 0; i < space->n; i++)
        params[i] =
            (struct study_store_param){space->params[i].name, &space->params[i].distribution, values[i]};
    hunt_check(study_store_set_params(hunt->store, trial, params, space->n, err), err);
    hunt_check(study_settings_apply(hunt->config, space, values, config, err), err);
    snprintf(folder, sizeof folder, "%s/%d", hunt->folder, number);
    hunt_check(study_trial_run(hunt->market, config, folder, NULL, &outcome, err), err);
    hunt_check(study_store_tell(hunt->store, trial, TRIAL_COMPLETE, &outcome.value, 1, err), err);
    hunt_check(study_store_sync(hunt->store, hunt->study, err), err);
    free(params);
    free(values);
    free(config);
    return outcome.value;
}

static inline int hunt_propose(struct hunt *hunt, json_t **ret, char err[static TRIAL_ERROR_MAX])
{
    const struct trial_calls calls = {.ctx = hunt, .warned = hunt_reported};
    return study_proposal_make(hunt->market, hunt->config, &hunt->settings, hunt->study, &hunt->others,
                               hunt->folder, &calls, ret, err);
}

static inline void hunt_end(struct hunt *hunt)
{
    sampler_destroy(hunt->sampler);
    study_destroy(hunt->study);
    study_store_close(hunt->store);
    study_market_close(hunt->market);
    study_settings_finish(&hunt->settings);
    place_free(&hunt->bars);
    free(hunt->config);
}

#endif
