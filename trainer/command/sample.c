#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/store.h"
#include "trainer/command/args.h"
#include "trainer/study/grid.h"
#include "trainer/study/sampler.h"

enum { SAMPLES_MAX = 1000000 };

struct sample_request {
    const char *storage, *study;
    uint64_t n, seed;
    struct sampler_options options;
};

#define AT(member) offsetof(struct sample_request, member)

static int take_sampler(struct option_call *call, const struct option_row *row, const char *name)
{
    (void)row;
    sampler_parse(name, &((struct sample_request *)call->into)->options.kind);
    return EXIT_OK;
}

static const struct option_row options[] = {
    TRAINER_STORAGE(struct sample_request, ""),
    {"study", "STUDY", "which of its studies", AT(study)},
    {"n", "N", "how many; 1 by default", AT(n), .low = 1, .high = SAMPLES_MAX},
    {"sampler", "tpe|random|grid|mcmc",
     "with their defaults: TPE, the default, has Optuna's; a grid has 5 values of a float without a step; a "
     "Metropolis chain begins at temperature 1",
     .take = take_sampler},
    TRAINER_SEED(struct sample_request, "0 by default; the same study, sampler and seed give the same lines"),
};

static int print_one(const struct space *space, const double *values)
{
    json_t *params = json_object(), *line = json_object();
    bool fine = params && line;
    for (int i = 0; fine && i < space->n; i++)
        fine = json_object_set_new(params, space->params[i].name,
                                   distribution_external(&space->params[i].distribution, values[i])) == 0;
    fine = fine && json_object_set(line, "params", params) == 0 &&
           json_dumpf(line, stdout, JSON_COMPACT) == 0 && putchar('\n') == '\n';
    json_decref(params);
    json_decref(line);
    return fine ? 0 : -EIO;
}

static int refuse(int r, const struct sample_request *request, const struct space *space)
{
    const char *sampler = sampler_name(request->options.kind);
    return r == -ENODATA ? trainer_args_say(EXIT_FAILURE, "no points left: %s: all of the grid were tried",
                                            request->study)
           : r == -ERANGE
               ? trainer_args_say(
                     EXIT_FAILURE, "too many points: %s: a grid of %.3g: less than 1.8e19 are right",
                     request->study, sampler_grid_size_about(space, request->options.grid_points))
           : r == -EINVAL ? trainer_args_say(EXIT_FAILURE,
                                             "several objectives: %s: %s needs one; tpe and random take them",
                                             request->study, sampler)
           : r == -EIO
               ? trainer_args_say(EXIT_FAILURE, "cannot write: stdout: a file or a reader")
               : trainer_args_say(EXIT_FAILURE, "%s: %s: memory is needed", strerror(-r), request->study);
}

/* Optuna keeps ranges that nothing can be drawn from. */
static int check_ranges(const struct space *space)
{
    for (int i = 0; i < space->n; i++) {
        const struct distribution *distribution = &space->params[i].distribution;
        if (!isfinite(distribution->low) || !isfinite(distribution->high))
            return trainer_args_say(EXIT_FAILURE,
                                    "parameter %.100s: a range without an end cannot be drawn from",
                                    space->params[i].name);
        if (!isfinite(distribution->high - distribution->low))
            return trainer_args_say(EXIT_FAILURE,
                                    "parameter %.100s: a range wider than %.3g cannot be drawn from",
                                    space->params[i].name, DBL_MAX);
    }
    return GO_ON;
}

/* Free points, each once; -ENODATA with *ret_n of them: there are no more. */
static int print_points(const struct sample_request *request, const struct study *study,
                        const struct space *space, double *values, uint64_t *ret_n)
{
    struct grid_walk walk;
    int r = sampler_grid_walk_begin(study, study->n_trials, space, request->options.grid_points,
                                    request->options.seed, &walk);
    if (r < 0)
        return r;
    while (r == 0 && *ret_n < request->n) {
        r = sampler_grid_walk_next(&walk, values);
        if (r == 0 && (r = print_one(space, values)) == 0)
            ++*ret_n;
    }
    sampler_grid_walk_finish(&walk);
    return r;
}

static int print_draws(const struct sample_request *request, const struct study *study,
                       const struct space *space, double *values)
{
    struct sampler *sampler = NULL;
    int r = sampler_create(&request->options, &sampler);
    for (uint64_t i = 0; r == 0 && i < request->n; i++) {
        r = sampler_sample(sampler, study, study->n_trials + (int)i, space, values, NULL);
        if (r == 0)
            r = print_one(space, values);
    }
    sampler_destroy(sampler);
    return r;
}

static int print_samples(const struct sample_request *request, const struct study *study,
                         const struct space *space)
{
    uint64_t n = 0;
    if (space->n == 0)
        return trainer_args_say(EXIT_FAILURE,
                                "no parameters: %s: a study with at least one trial that has some is needed",
                                request->study);
    int status = check_ranges(space);
    if (status != GO_ON)
        return status;
    double *values = calloc((size_t)space->n, sizeof *values);
    int r = !values                                 ? -ENOMEM
            : request->options.kind == SAMPLER_GRID ? print_points(request, study, space, values, &n)
                                                    : print_draws(request, study, space, values);
    free(values);
    if (r == -ENODATA && n > 0)
        return trainer_args_say(EXIT_FAILURE, "no points left: %s: the grid has no more than these %llu",
                                request->study, (unsigned long long)n);
    return r < 0 ? refuse(r, request, space) : EXIT_SUCCESS;
}

static int sample(const struct sample_request *request)
{
    struct study_store *store = NULL;
    struct study *study = NULL;
    char err[STUDY_ERROR_MAX];
    int64_t id;
    int status = trainer_args_storage(request->storage);
    if (status != GO_ON)
        return status;
    int r = study_store_open(request->storage, STUDY_STORE_READ, 0, &store, err);
    if (r == 0)
        r = study_store_find(store, request->study, &id, err);
    if (r == 0)
        r = study_store_load(store, id, &study, err);
    study_store_close(store);
    if (r < 0)
        return trainer_args_say(EXIT_FAILURE, "%s", err);
    struct space space = {0};
    r = space_union(study, &space);
    status = r < 0 ? refuse(r, request, &space) : print_samples(request, study, &space);
    space_finish(&space);
    study_destroy(study);
    return status;
}

static int run(struct option_call *call)
{
    struct sample_request *request = call->into;
    request->options.seed = request->seed;
    return sample(request);
}

static void init(void *into)
{
    *(struct sample_request *)into = (struct sample_request){.n = 1, .options = sampler_defaults()};
}

static const struct option_action actions[] = {{.needed = "storage study", .run = run}};
TRAINER_VERB(sample) = {
    .name = "sample",
    .words = "what a sampler would try next in a stored study",
    .about =
        "What a sampler would try next in a stored study, ours or Optuna's: one JSON object a line, over all "
        "parameters that any of its trials had, each with its newest range. Each is for another trial, of "
        "those that would come next, and is drawn as if it were the only one; of a grid they are the next "
        "points that were not tried, each once. Nothing is written.",
    .exits = TRAINER_STORAGE_EXITS ".",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct sample_request),
    .init = init,
};
