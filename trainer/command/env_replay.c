#include "trainer/command/env_replay_args.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/command/args.h"
#include "trainer/command/replay_actions.h"
#include "trainer/command/replay_bars.h"
#include "trainer/command/replay_params.h"
#include "trainer/command/replay_print.h"
#include "trainer/command/replay_trades.h"
#include "trainer/data.h"
#include "trainer/env/device.h"

struct env_replay_request {
    struct env_replay_args args;
    struct replay_params params;
    struct replay_actions actions;
    const char **assets, **action_names; /* [n_symbols]; [action_size] */
    struct market *market;
    struct trainer_data *data;
    struct env_market *env_market;
    struct env *env;
    struct gpu_module *module; /* NULL: the CPU steps; else `env` is a copy of the device's state */
    struct env_device_market *device_market;
    struct env_device *device;
};

/* ---- What it runs on. ---- */

static bool set_names(struct env_replay_request *request)
{
    static const char *const day_trade[] = {"direction", "size"};
    const struct replay_params *params = &request->params;
    bool day = params->env.task == ENV_DAY_TRADE;
    size_t n = (size_t)params->n_symbols;
    request->assets = calloc(n, sizeof(char *));
    request->action_names = calloc(n < 2 ? 2 : n, sizeof(char *));
    if (!request->assets || !request->action_names)
        return false;
    for (size_t i = 0; i < n; i++)
        request->assets[i] = request->action_names[i] = params->symbols[i];
    for (size_t i = 0; i < 2 && day; i++)
        request->action_names[i] = day_trade[i];
    return true;
}

static void close_device(struct env_replay_request *request)
{
    env_device_destroy(request->device);
    env_device_market_destroy(request->device_market);
    gpu_module_close(request->module);
    request->device = NULL;
    request->device_market = NULL;
    request->module = NULL;
}

/* Do the actions begin at the episode's first row? */
static int check_first_row(const struct env_replay_request *request)
{
    char err[REPLAY_ERROR_MAX];
    int32_t row;
    const struct env_info info = {.row = &row};
    env_info(request->env, &info);
    if (trainer_replay_actions_begin_at(&request->actions, request->args.actions_path, (int64_t)row + 1,
                                        err) < 0)
        return trainer_args_say(EXIT_FAILURE, "%s", err);
    return GO_ON;
}

static int make_env(struct env_replay_request *request)
{
    struct replay_params *params = &request->params;
    char err[TRAINER_DATA_ERROR_MAX];
    struct trainer_data_options how = {.rows = params->bars,
                                       .common = params->env.execution == ENV_REFERENCE,
                                       .min_order_qty = params->min_order_qty};
    if (trainer_replay_bars_load(params, request->args.params_path, request->args.bars,
                                 request->args.exchange_info, &request->market, &how.from, err) < 0)
        return trainer_args_say(EXIT_FAILURE, "%s", err);
    if (trainer_data_create(request->market, &how, &request->data, err) < 0)
        return trainer_args_say(EXIT_FAILURE, "%s: %s", request->args.params_path, err);
    params->env.autoreset = ENV_NO_RESET; /* one episode */
    if (env_market_create(trainer_data_source(request->data), &params->env, &request->env_market, err) < 0)
        return trainer_args_say(EXIT_FAILURE, "%s: %s", request->args.params_path, err);
    struct env_options options = {.copies = 1, .seed = request->args.seed, .backend = request->args.backend};
    if (env_create(&params->env, request->env_market, &options, &request->env, err) < 0)
        return trainer_args_say(EXIT_FAILURE, "%s: %s", request->args.params_path, err);
    return check_first_row(request);
}

/* Opens the device, or prints why it cannot. */
static int open_device(struct env_replay_request *request)
{
    char why[ENV_ERROR_MAX];
    int r = gpu_module_open(NULL, &request->module, why, sizeof why);
    if (r == 0)
        r = env_device_market_create(request->module, request->env_market, &request->device_market, why);
    if (r == 0)
        r = env_device_create(request->device_market, request->env, &request->device, why);
    if (r == 0)
        return GO_ON;
    close_device(request);
    return trainer_args_say(GO_ON, "--backend gpu: %s: the CPU steps instead", why);
}

/* ---- The run. ---- */

struct run {
    struct replay_row row;
    struct replay_trades *trades;
    FILE *json;
    float *first, *last;
    size_t steps;
    bool done;
    double reward;
};

/* The account is read from the host's environment. */
static int step(struct env_replay_request *request, const struct env_io *io, char err[static ENV_ERROR_MAX])
{
    if (!request->device)
        return env_step(request->env, io, err);
    int r = env_device_step(request->device, io, err);
    return r < 0 ? r : env_device_store(request->device, request->env, err);
}

static int step_all(struct env_replay_request *request, struct run *run)
{
    const struct replay_actions *actions = &request->actions;
    char err[ENV_ERROR_MAX];
    trainer_replay_print_header(stdout, &run->row);
    for (; run->steps < actions->n && !run->done; run->steps++) {
        const float *action = actions->values + run->steps * (size_t)actions->width;
        float reward;
        uint8_t terminated, truncated;
        struct env_io io = {
            .actions = action, .rewards = &reward, .terminated = &terminated, .truncated = &truncated};
        if (step(request, &io, err) < 0)
            return trainer_args_say(EXIT_FAILURE, "%s:%zu: %s", request->args.actions_path,
                                    actions->lines[run->steps], err);
        run->done = terminated || truncated;
        run->reward += (double)reward;
        trainer_replay_print_row(stdout, &run->row, request->env, action, reward, run->done);
        if (ferror(stdout)) /* option_main() reports it */
            return EXIT_FAILURE;
    }
    if (run->steps < actions->n)
        trainer_args_say(GO_ON, "%zu rows of actions are left: %s:%zu: the episode was over before",
                         actions->n - run->steps, request->args.actions_path, actions->lines[run->steps]);
    else if (!run->done)
        trainer_args_say(GO_ON, "the episode is not over: %s: actions for %zu steps only",
                         request->args.actions_path, actions->n);
    return GO_ON;
}

static int cannot_write(const char *path, const char *right, int error)
{
    return trainer_args_say(EXIT_FAILURE, "cannot write: %s: %s (%s)", path, right, strerror(-error));
}

/* Opens all output files before the run writes anything. */
static int open_files(const struct env_replay_request *request, struct run *run)
{
    static const char right[] = "a file in a writable folder";
    const char *trades = request->args.trades, *observations = request->args.observations;
    bool reference = request->params.env.execution == ENV_REFERENCE;
    if (observations && !(run->json = fopen(observations, "we")))
        return cannot_write(observations, right, -errno);
    int r = trades ? trainer_replay_trades_open(trades, request->env, request->env_market, request->market,
                                                reference, &run->trades)
                   : 0;
    return r < 0 ? cannot_write(trades, right, r) : GO_ON;
}

/* Ends both files; the summary only where the run went well. */
static int close_files(const struct env_replay_request *request, struct run *run, int observation_size,
                       int status)
{
    static const char right[] = "room on the disk";
    int r = run->trades ? trainer_replay_trades_close(run->trades, request->env) : 0;
    if (r < 0 && status == GO_ON)
        status = cannot_write(request->args.trades, right, r);
    if (!run->json)
        return status;
    const char *backend = request->device ? "gpu" : env_backend_name(request->args.backend);
    struct replay_summary summary = {backend,    run->steps, run->done,  observation_size,
                                     run->first, run->last,  run->reward};
    r = status == GO_ON ? trainer_replay_print_json(run->json, &summary) : 0;
    if (fclose(run->json) != 0 && r == 0)
        r = -errno;
    return r < 0 && status == GO_ON ? cannot_write(request->args.observations, right, r) : status;
}

static int play(struct env_replay_request *request)
{
    struct run run = {0};
    int n = env_observation_size(request->env), status;
    run.first = malloc((size_t)n * sizeof(float));
    run.last = malloc((size_t)n * sizeof(float));
    bool memory =
        trainer_replay_row_init(&run.row, request->assets, request->params.n_symbols, request->action_names,
                                env_action_size(request->env), request->params.env.execution == ENV_MARKET);
    if (!memory || !run.first || !run.last) {
        status = trainer_args_say(EXIT_FAILURE, "out of memory");
        goto out;
    }
    status = open_files(request, &run);
    if (status == GO_ON) {
        env_observe(request->env, run.first);
        status = step_all(request, &run);
        env_observe(request->env, run.last);
    }
    status = close_files(request, &run, n, status);
out:
    trainer_replay_row_finish(&run.row);
    free(run.first);
    free(run.last);
    return status;
}

int trainer_env_replay(struct option_call *call)
{
    const struct env_replay_args *args = call->into;
    char err[REPLAY_ERROR_MAX];
    int status = args->list_params ? trainer_replay_list_params() : trainer_env_replay_args_check(call);
    if (status != EXIT_OK || args->list_params)
        return status;
    struct env_replay_request request = {.args = *args};
    status = GO_ON;
    if (trainer_replay_params_read(request.args.params_path, request.args.preset, request.args.execution,
                                   &request.params, err) < 0)
        return trainer_args_say(EXIT_FAILURE, "%s", err);
    if (!set_names(&request))
        status = trainer_args_say(EXIT_FAILURE, "out of memory");
    if (status == GO_ON && env_params_check(&request.params.env, request.params.n_symbols, err) < 0)
        status = trainer_args_say(EXIT_FAILURE, "%s: %s", request.args.params_path, err);
    int width = request.params.env.task == ENV_DAY_TRADE ? 2 : request.params.n_symbols;
    if (status == GO_ON && trainer_replay_actions_read(request.args.actions_path, request.action_names, width,
                                                       &request.actions, err) < 0)
        status = trainer_args_say(EXIT_FAILURE, "%s", err);
    if (status == GO_ON && request.params.env.actions == ENV_DISCRETE &&
        trainer_replay_actions_are_levels(&request.actions, request.args.actions_path, request.action_names,
                                          request.params.env.levels, err) < 0)
        status = trainer_args_say(EXIT_FAILURE, "%s", err);
    if (status == GO_ON)
        status = make_env(&request);
    if (status == GO_ON && request.args.where == ON_GPU)
        status = open_device(&request);
    if (status == GO_ON)
        status = play(&request);
    close_device(&request);
    env_destroy(request.env);
    env_market_destroy(request.env_market);
    trainer_data_destroy(request.data);
    market_store_close(request.market);
    trainer_replay_actions_finish(&request.actions);
    trainer_replay_params_finish(&request.params);
    free(request.assets);
    free(request.action_names);
    return status == GO_ON ? EXIT_SUCCESS : status;
}
