#include "trainer/command/sample.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/studies/store.h"
#include "exchange/nearest.h"
#include "trainer/command/args.h"
#include "trainer/study/sampler.h"

enum { SAMPLES_MAX = 1000000 };

static const char help[] =
    "Usage: papertape-trainer sample --storage URL --study NAME [OPTION]...\n"
    "\n"
    "What a sampler would try next in a stored study, ours or Optuna's: one JSON object a line. Each is for\n"
    "another trial, of those that would come next, and knows nothing of the others. Nothing is written.\n"
    "\n"
    "      --storage URL       sqlite:///FILE, or a file\n"
    "      --study NAME\n"
    "      --n N               how many (default 1)\n"
    "      --sampler S         tpe (default), random, grid or mcmc\n"
    "      --seed N            default 0\n"
    "      --help              this text\n"
    "\n"
    "Exit status: 0 done, 1 an error, 2 a wrong command line.\n";

enum { STORAGE = 256, STUDY, COUNT, SAMPLER, SEED };

static const struct option long_options[] = {
    {"storage", required_argument, NULL, STORAGE},
    {"study", required_argument, NULL, STUDY},
    {"n", required_argument, NULL, COUNT},
    {"sampler", required_argument, NULL, SAMPLER},
    {"seed", required_argument, NULL, SEED},
    {"help", no_argument, NULL, ARGS_HELP},
    {0},
};

struct request {
    const char *storage, *study;
    uint64_t n;
    struct sampler_options options;
};

static int set_sampler(struct request *request, const char *name)
{
    if (sampler_parse(name, &request->options.kind))
        return GO_ON;
    struct nearest nearest = {0};
    for (int kind = 0; kind < SAMPLERS; kind++)
        nearest_offer(&nearest, name, sampler_name((enum sampler_kind)kind));
    return args_say(EXIT_USAGE,
                    "not a sampler: --sampler %.64s: did you mean %s? tpe, random, grid and mcmc are", name,
                    nearest.best);
}

static int take(void *ctx, int option)
{
    struct request *request = ctx;
    switch (option) {
    case STORAGE:
        request->storage = optarg;
        return GO_ON;
    case STUDY:
        request->study = optarg;
        return GO_ON;
    case COUNT:
        return args_whole("n", optarg, 1, SAMPLES_MAX, &request->n);
    case SAMPLER:
        return set_sampler(request, optarg);
    case SEED:
        return args_whole("seed", optarg, 0, UINT64_MAX, &request->options.seed);
    default:
        return args_say(EXIT_USAGE, "a word too many: %.64s: options only; see sample --help", optarg);
    }
}

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

static int refuse(int r, const struct request *request)
{
    const char *sampler = sampler_name(request->options.kind);
    return r == -ENODATA
               ? args_say(EXIT_FAILURE, "no points left: %s: all of the grid were tried", request->study)
           : r == -EINVAL
               ? args_say(EXIT_FAILURE, "several objectives: %s: %s needs one; tpe and random take them",
                          request->study, sampler)
           : r == -EIO ? args_say(EXIT_FAILURE, "cannot write: stdout: a file or a reader")
                       : args_say(EXIT_FAILURE, "%s: %s: memory is needed", strerror(-r), request->study);
}

static int print_samples(const struct request *request, const struct study *study)
{
    struct sampler *sampler = NULL;
    struct space space = {0};
    double *values = NULL;
    int r = space_union(study, &space);
    if (r == 0 && space.n == 0)
        return args_say(EXIT_FAILURE,
                        "no parameters: %s: a study with at least one trial that has some is needed",
                        request->study);
    if (r == 0)
        r = sampler_create(&request->options, &sampler);
    if (r == 0 && !(values = calloc((size_t)space.n, sizeof *values)))
        r = -ENOMEM;
    for (uint64_t i = 0; r == 0 && i < request->n; i++) {
        r = sampler_sample(sampler, study, study->n_trials + (int)i, &space, values, NULL);
        if (r == 0)
            r = print_one(&space, values);
    }
    free(values);
    sampler_destroy(sampler);
    space_finish(&space);
    return r < 0 ? refuse(r, request) : EXIT_SUCCESS;
}

static int run(const struct request *request)
{
    struct study_store *store = NULL;
    struct study *study = NULL;
    char err[STUDY_ERROR_MAX];
    int64_t id;
    int r = study_store_open(request->storage, STUDY_STORE_READ, 0, &store, err);
    if (r == 0)
        r = study_store_find(store, request->study, &id, err);
    if (r == 0)
        r = study_store_load(store, id, &study, err);
    study_store_close(store);
    if (r < 0)
        return args_say(EXIT_FAILURE, "%s", err);
    int status = print_samples(request, study);
    study_destroy(study);
    return status;
}

int command_sample(int argc, char **argv)
{
    struct request request = {.n = 1, .options = sampler_defaults()};
    const struct args_rules rules = {"sample", help, "", long_options, take};
    int status = args_parse(&rules, argc, argv, &request);
    if (status != GO_ON)
        return status;
    if (!request.storage || !request.study)
        return args_say(EXIT_USAGE, "something is missing: command line: %s; see sample --help",
                        request.storage ? "--study NAME" : "--storage URL");
    return run(&request);
}
