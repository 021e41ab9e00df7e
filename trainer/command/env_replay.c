#include "trainer/command/env_replay.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "trainer/command/replay_actions.h"
#include "trainer/command/replay_bars.h"
#include "trainer/command/replay_params.h"
#include "trainer/command/replay_print.h"
#include "trainer/command/replay_trades.h"
#include "trainer/data.h"
#include "trainer/env/device.h"

enum { EXIT_USAGE = 2, GO_ON = -1 };

static const char help[] =
    "Usage: papertape-trainer env-replay PARAMS.json ACTIONS.csv --bars DIR [OPTION]...\n"
    "       papertape-trainer env-replay --list-params\n"
    "\n"
    "Runs one copy of the training environment through the action_* columns of ACTIONS.csv and\n"
    "prints the account after every step as CSV. PARAMS.json has symbols, first_bar, bars,\n"
    "min_order_qty and params; the bars are DIR/{SYMBOL}USDT_5m.csv.gz.\n"
    "\n"
    "      --bars DIR            where the bars files are\n"
    "      --backend B           cpu (default): the widest instruction set that there is;\n"
    "                            scalar, baseline, avx2, avx512: that one; gpu: the device, or\n"
    "                            the CPU where there is none, with the reason on stderr\n"
    "      --preset P            reference, market or day-trade, before the keys of params\n"
    "      --execution E         reference or market, after them\n"
    "      --exchange-info F     the venue's exchangeInfo, for the lots and ticks of market\n"
    "      --seed N              of what a copy draws from ranges (default 0)\n"
    "      --json F              write the first and the last observation to F\n"
    "      --trades F            write every trade to F as CSV (needs --backend scalar, and takes it)\n"
    "      --list-params         every key of params: range, presets, meaning\n"
    "      --help                this text\n"
    "\n"
    "Exit status: 0 done, 1 an error, 2 a wrong command line.\n";

enum backend_choice { ON_CPU, ON_GPU };

struct request {
    const char *params_path, *actions_path, *bars, *preset, *execution, *exchange_info, *json, *trades;
    enum backend_choice where;
    enum env_backend backend;
    const char *backend_name; /* as it was given, or NULL */
    uint64_t seed;
    struct replay_params params;
    struct replay_actions actions;
    const char **assets, **action_names; /* [n_symbols]; [action_size] */
    struct market *market;
    struct trainer_data *data;
    struct env_market *env_market;
    struct env *env;
    struct gpu_module *module; /* NULL: the CPU steps; else `env` follows the device */
    struct env_device_market *device_market;
    struct env_device *device;
};

__attribute__((format(printf, 2, 3))) static int say(int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("papertape-trainer: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return status;
}

/* ---- The command line. ---- */

static int set_backend(struct request *request, const char *name)
{
    request->backend_name = name;
    request->where = strcmp(name, "gpu") == 0 ? ON_GPU : ON_CPU;
    request->backend = ENV_BEST;
    if (request->where == ON_GPU || strcmp(name, "cpu") == 0)
        return GO_ON;
    for (int backend = ENV_SCALAR; backend <= ENV_AVX512; backend++)
        if (strcmp(name, env_backend_name((enum env_backend)backend)) == 0) {
            request->backend = (enum env_backend)backend;
            return GO_ON;
        }
    return say(EXIT_USAGE, "unknown backend: --backend %.32s: cpu, gpu, scalar, baseline, avx2 or avx512",
               name);
}

static int set_seed(struct request *request, const char *text)
{
    char *end;
    errno = 0;
    request->seed = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0)
        return say(EXIT_USAGE, "bad seed: --seed %.32s: a whole number from 0 to 18446744073709551615", text);
    return GO_ON;
}

enum { BARS = 256, BACKEND, PRESET, EXECUTION, EXCHANGE_INFO, SEED, JSON, TRADES, LIST_PARAMS, HELP };

static const struct option long_options[] = {
    {"bars", required_argument, NULL, BARS},
    {"backend", required_argument, NULL, BACKEND},
    {"preset", required_argument, NULL, PRESET},
    {"execution", required_argument, NULL, EXECUTION},
    {"exchange-info", required_argument, NULL, EXCHANGE_INFO},
    {"seed", required_argument, NULL, SEED},
    {"json", required_argument, NULL, JSON},
    {"trades", required_argument, NULL, TRADES},
    {"list-params", no_argument, NULL, LIST_PARAMS},
    {"help", no_argument, NULL, HELP},
    {0},
};

static int take(struct request *request, int option)
{
    switch (option) {
    case BARS:
        request->bars = optarg;
        return GO_ON;
    case BACKEND:
        return set_backend(request, optarg);
    case PRESET:
        request->preset = optarg;
        return GO_ON;
    case EXECUTION:
        request->execution = optarg;
        return GO_ON;
    case EXCHANGE_INFO:
        request->exchange_info = optarg;
        return GO_ON;
    case SEED:
        return set_seed(request, optarg);
    case JSON:
        request->json = optarg;
        return GO_ON;
    case TRADES:
        request->trades = optarg;
        return GO_ON;
    case LIST_PARAMS:
        return replay_list_params();
    case HELP:
        fputs(help, stdout);
        return EXIT_SUCCESS;
    default:
        return EXIT_USAGE;
    }
}

/* GO_ON, or the exit status. */
static int parse(struct request *request, int argc, char **argv)
{
    char *words[2] = {NULL, NULL};
    int n = 0;
    opterr = 0;
    optind = 0;
    for (int option; (option = getopt_long(argc, argv, "-:h", long_options, NULL)) != -1;) {
        int status;
        if (option == ':')
            return say(EXIT_USAGE, "no value: %s: it needs one; see env-replay --help", argv[optind - 1]);
        if (option == '?')
            return say(EXIT_USAGE, "unknown option: %s: see env-replay --help", argv[optind - 1]);
        if (option == 1) {
            if (n < 2)
                words[n] = optarg;
            n++;
            continue;
        }
        status = take(request, option == 'h' ? HELP : option);
        if (status != GO_ON)
            return status;
    }
    for (; optind < argc; optind++, n++)
        if (n < 2)
            words[n] = argv[optind];
    if (n != 2)
        return say(EXIT_USAGE, "%d files: command line: PARAMS.json and ACTIONS.csv are needed", n);
    if (!request->bars)
        return say(EXIT_USAGE, "no bars: command line: --bars DIR with the bars files");
    if (request->trades && request->backend_name && request->backend != ENV_SCALAR)
        return say(EXIT_USAGE, "--trades: --backend %.32s: scalar, which alone tells of trades",
                   request->backend_name);
    if (request->trades)
        request->backend = ENV_SCALAR;
    if (request->backend == ENV_BEST) /* by its name, for --json */
        for (request->backend = ENV_AVX512; !env_backend_works(request->backend);)
            request->backend--;
    request->params_path = words[0];
    request->actions_path = words[1];
    return GO_ON;
}

/* ---- What it runs on. ---- */

static bool set_names(struct request *request)
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

static void close_device(struct request *request)
{
    env_device_destroy(request->device);
    env_device_market_destroy(request->device_market);
    gpu_module_close(request->module);
    request->device = NULL;
    request->device_market = NULL;
    request->module = NULL;
}

/* Are the actions for the rows that the episode has? */
static int check_first_row(const struct request *request)
{
    char err[REPLAY_ERROR_MAX];
    int32_t row;
    const struct env_info info = {.row = &row};
    env_info(request->env, &info);
    if (replay_actions_begin_at(&request->actions, request->actions_path, (int64_t)row + 1, err) < 0)
        return say(EXIT_FAILURE, "%s", err);
    return GO_ON;
}

static int make_env(struct request *request)
{
    struct replay_params *params = &request->params;
    char err[TRAINER_DATA_ERROR_MAX];
    struct trainer_data_options how = {.rows = params->bars,
                                       .common = params->env.execution == ENV_REFERENCE,
                                       .min_order_qty = params->min_order_qty};
    if (replay_bars_load(params, request->params_path, request->bars, request->exchange_info,
                         &request->market, &how.from, err) < 0)
        return say(EXIT_FAILURE, "%s", err);
    if (trainer_data_create(request->market, &how, &request->data, err) < 0)
        return say(EXIT_FAILURE, "%s: %s", request->params_path, err);
    params->env.autoreset = ENV_NO_RESET; /* one episode */
    if (env_market_create(trainer_data_source(request->data), &params->env, &request->env_market, err) < 0)
        return say(EXIT_FAILURE, "%s: %s", request->params_path, err);
    struct env_options options = {.copies = 1, .seed = request->seed, .backend = request->backend};
    if (env_create(&params->env, request->env_market, &options, &request->env, err) < 0)
        return say(EXIT_FAILURE, "%s: %s", request->params_path, err);
    return check_first_row(request);
}

/* The device, or a line on stderr that says why not. */
static int open_device(struct request *request)
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
    return say(GO_ON, "--backend gpu: %s: the CPU steps instead", why);
}

/* ---- The run. ---- */

struct run {
    struct replay_row row;
    struct replay_trades *trades;
    float *first, *last;
    size_t steps;
    bool done;
    double reward;
};

/* The host's environment is where the account is read. */
static int step(struct request *request, const struct env_io *io, char err[static ENV_ERROR_MAX])
{
    if (!request->device)
        return env_step(request->env, io, err);
    int r = env_device_step(request->device, io, err);
    return r < 0 ? r : env_device_store(request->device, request->env, err);
}

static int step_all(struct request *request, struct run *run)
{
    const struct replay_actions *actions = &request->actions;
    char err[ENV_ERROR_MAX];
    replay_print_header(stdout, &run->row);
    for (; run->steps < actions->n && !run->done; run->steps++) {
        const float *action = actions->values + run->steps * (size_t)actions->width;
        float reward;
        uint8_t terminated, truncated;
        struct env_io io = {
            .actions = action, .rewards = &reward, .terminated = &terminated, .truncated = &truncated};
        if (step(request, &io, err) < 0)
            return say(EXIT_FAILURE, "%s:%zu: %s", request->actions_path, actions->lines[run->steps], err);
        run->done = terminated || truncated;
        run->reward += (double)reward;
        replay_print_row(stdout, &run->row, request->env, action, reward, run->done);
        if (ferror(stdout))
            return say(EXIT_FAILURE, "cannot write: stdout: a file or a reader");
    }
    if (run->steps < actions->n)
        say(GO_ON, "%zu rows of actions are left: %s:%zu: the episode was over before",
            actions->n - run->steps, request->actions_path, actions->lines[run->steps]);
    else if (!run->done)
        say(GO_ON, "the episode is not over: %s: actions for %zu steps only", request->actions_path,
            actions->n);
    return GO_ON;
}

static int play(struct request *request)
{
    struct run run = {0};
    int n = env_observation_size(request->env), status = GO_ON, r;
    run.first = malloc((size_t)n * sizeof(float));
    run.last = malloc((size_t)n * sizeof(float));
    bool memory = replay_row_init(&run.row, request->assets, request->params.n_symbols, request->action_names,
                                  env_action_size(request->env), request->params.env.execution == ENV_MARKET);
    if (!memory || !run.first || !run.last) {
        status = say(EXIT_FAILURE, "out of memory");
        goto out;
    }
    if (request->trades &&
        (r = replay_trades_open(request->trades, request->env, request->env_market, request->assets,
                                request->params.env.execution == ENV_REFERENCE, &run.trades)) < 0) {
        status = say(EXIT_FAILURE, "cannot write: %s: a file in a writable folder (%s)", request->trades,
                     strerror(-r));
        goto out;
    }
    env_observe(request->env, run.first);
    status = step_all(request, &run);
    env_observe(request->env, run.last);
    if (run.trades && (r = replay_trades_close(run.trades, request->env)) < 0 && status == GO_ON)
        status = say(EXIT_FAILURE, "cannot write: %s: room on the disk (%s)", request->trades, strerror(-r));
    if (request->json && status == GO_ON) {
        const char *backend = request->device ? "gpu" : env_backend_name(request->backend);
        struct replay_summary summary = {backend, run.steps, run.done, n, run.first, run.last, run.reward};
        if ((r = replay_print_json(request->json, &summary)) < 0)
            status = say(EXIT_FAILURE, "cannot write: %s: a file in a writable folder (%s)", request->json,
                         strerror(-r));
    }
out:
    replay_row_finish(&run.row);
    free(run.first);
    free(run.last);
    return status;
}

int command_env_replay(int argc, char **argv)
{
    struct request request = {0};
    char err[REPLAY_ERROR_MAX];
    int status = parse(&request, argc, argv);
    if (status != GO_ON)
        return status;
    if (replay_params_read(request.params_path, request.preset, request.execution, &request.params, err) < 0)
        return say(EXIT_FAILURE, "%s", err);
    if (!set_names(&request))
        status = say(EXIT_FAILURE, "out of memory");
    if (status == GO_ON && env_params_check(&request.params.env, request.params.n_symbols, err) < 0)
        status = say(EXIT_FAILURE, "%s: %s", request.params_path, err);
    int width = request.params.env.task == ENV_DAY_TRADE ? 2 : request.params.n_symbols;
    if (status == GO_ON &&
        replay_actions_read(request.actions_path, request.action_names, width, &request.actions, err) < 0)
        status = say(EXIT_FAILURE, "%s", err);
    if (status == GO_ON)
        status = make_env(&request);
    if (status == GO_ON && request.where == ON_GPU)
        status = open_device(&request);
    if (status == GO_ON)
        status = play(&request);
    close_device(&request);
    env_destroy(request.env);
    env_market_destroy(request.env_market);
    trainer_data_destroy(request.data);
    market_close(request.market);
    replay_actions_finish(&request.actions);
    replay_params_finish(&request.params);
    free(request.assets);
    free(request.action_names);
    return status == GO_ON ? EXIT_SUCCESS : status;
}
