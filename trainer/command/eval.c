#include "trainer/command/eval.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bar.h"
#include "exchange/bars_file.h"
#include "trainer/command/args.h"
#include "trainer/command/eval_result.h"
#include "trainer/command/replay_print.h"
#include "trainer/command/replay_trades.h"

static const char help[] =
    "Usage: papertape-trainer eval POLICY --bars F… [OPTION]...\n"
    "\n"
    "Plays a trained policy (.safetensors) in its own environment on these bars, without chance:\n"
    "means of actions, the likeliest of levels, the middles of ranges. Prints what came of it as\n"
    "JSON, papertape.eval/1.\n"
    "\n"
    "      --bars F…             bars files of its symbols, of its interval: words or commas\n"
    "                            between them\n"
    "      --from T, --to T      of them\n"
    "      --splits cpcv:N,K     besides: N groups of rows, each for itself, and all combinations\n"
    "                            of K of them; groups that follow one another are one episode\n"
    "      --exchange-info F     the venue's exchangeInfo, for the lots and ticks of market\n"
    "      --steps F             write the account after every step to F, as env-replay prints it\n"
    "      --trades F            write every trade to F, as env-replay does\n"
    "      --json                the default: nothing else is printed\n"
    "      --help                this text\n"
    "\n"
    "T is ISO 8601 (UTC without a zone), or epoch in s, ms, us or ns.\n"
    "Exit status: 0 done, 1 an error, 2 a wrong command line.\n";

struct request {
    const char *policy_path, *steps, *trades, *splits;
    char **words; /* that are no option's; all but the policy are bars files */
    size_t n_words;
    char **paths; /* of --bars; their text is in `texts` */
    size_t n_paths;
    char **texts;
    size_t n_texts;
    struct eval_bars bars;
    struct split split;
    struct trained_policy *policy;
    struct eval_market market;
    struct eval_episode whole;
    struct replay_row row;
    struct replay_trades *trades_out;
    FILE *steps_out;
    const char **assets, **actions;
};

enum { BARS = 256, FROM, TO, SPLITS, EXCHANGE_INFO, STEPS, TRADES, JSON };

static const struct option long_options[] = {
    {"bars", required_argument, NULL, BARS},
    {"from", required_argument, NULL, FROM},
    {"to", required_argument, NULL, TO},
    {"splits", required_argument, NULL, SPLITS},
    {"exchange-info", required_argument, NULL, EXCHANGE_INFO},
    {"steps", required_argument, NULL, STEPS},
    {"trades", required_argument, NULL, TRADES},
    {"json", no_argument, NULL, JSON},
    {"help", no_argument, NULL, ARGS_HELP},
    {0},
};

static int append(char ***list, size_t *n, char *text)
{
    char **moved = text ? reallocarray(*list, *n + 1, sizeof *moved) : NULL;
    if (!moved)
        return args_say(EXIT_FAILURE, "out of memory");
    *list = moved;
    moved[(*n)++] = text;
    return GO_ON;
}

static int take_bars(struct request *request, const char *value)
{
    char *next = strdup(value), *word;
    int status = append(&request->texts, &request->n_texts, next);
    if (status != GO_ON)
        free(next);
    while (status == GO_ON && (word = strsep(&next, ",")) != NULL)
        status = word[0] ? append(&request->paths, &request->n_paths, word)
                         : args_say(EXIT_USAGE, "a name is empty: --bars %.128s: F[,F…] is right", value);
    return status;
}

static int take_time(const char *option, const char *value, int64_t *ret_ns)
{
    if (bars_time_parse(value, strlen(value), ret_ns) == 0)
        return GO_ON;
    return args_say(EXIT_USAGE, "no time: %s %.64s: one as 2024-01-31T12:00Z", option, value);
}

static int take(void *ctx, int option)
{
    struct request *request = ctx;
    char err[SPLIT_ERROR_MAX];
    switch (option) {
    case BARS:
        return take_bars(request, optarg);
    case FROM:
        return take_time("--from", optarg, &request->bars.from_ns);
    case TO:
        return take_time("--to", optarg, &request->bars.to_ns);
    case SPLITS:
        request->splits = optarg;
        return split_parse(optarg, &request->split, err) < 0 ? args_say(EXIT_USAGE, "%s", err) : GO_ON;
    case EXCHANGE_INFO:
        request->bars.exchange_info = optarg;
        return GO_ON;
    case STEPS:
        request->steps = optarg;
        return GO_ON;
    case TRADES:
        request->trades = optarg;
        return GO_ON;
    case JSON:
        return GO_ON;
    default: /* a word */
        return append(&request->words, &request->n_words, optarg);
    }
}

/* The policy is the first word of that ending, or the first one; the others are bars files, as --bars F G. */
static int sort_words(struct request *request)
{
    static const char ending[] = ".safetensors";
    size_t at = request->n_words, length = sizeof ending - 1;
    for (size_t i = 0; i < request->n_words && at == request->n_words; i++) {
        size_t n = strlen(request->words[i]);
        if (n > length && strcmp(request->words[i] + n - length, ending) == 0)
            at = i;
    }
    if (at == request->n_words)
        at = 0;
    if (request->n_words == 0)
        return args_say(EXIT_USAGE, "no policy: command line: one is needed, F.safetensors");
    if (request->n_paths == 0)
        return args_say(EXIT_USAGE, "no bars: command line: --bars F… of the policy's symbols");
    request->policy_path = request->words[at];
    int status = GO_ON;
    for (size_t i = 0; i < request->n_words && status == GO_ON; i++)
        if (i != at)
            status = take_bars(request, request->words[i]);
    return status;
}

static int parse(int argc, char **argv, struct request *request)
{
    static const struct args_rules rules = {
        .verb = "eval", .help = help, .letters = "", .options = long_options, .take = take};
    request->bars.from_ns = INT64_MIN;
    request->bars.to_ns = INT64_MAX;
    int status = args_parse(&rules, argc, argv, request);
    if (status != GO_ON)
        return status;
    status = sort_words(request);
    if (status != GO_ON)
        return status;
    request->bars.paths = request->paths;
    request->bars.n = request->n_paths;
    return GO_ON;
}

/* ---- what is written beside ---- */

static void on_step(void *ctx, const struct env *env, const float *actions, float reward, bool done)
{
    struct request *request = ctx;
    if (request->steps_out)
        replay_print_row(request->steps_out, &request->row, env, actions, reward, done);
}

static void on_trade(void *ctx, const struct env_trade *trade)
{
    struct request *request = ctx;
    if (request->trades_out)
        replay_trades_write(request->trades_out, trade);
}

static int cannot_write(const char *path, int error)
{
    return args_say(EXIT_FAILURE, "cannot write: %s: a file in a writable folder with room (%s)", path,
                    strerror(error));
}

static int open_steps(struct request *request)
{
    static const char *const day_trade[] = {"direction", "size"};
    const struct eval_market *market = &request->market;
    int n = market->bars->n_symbols, n_actions = env_action_size(market->env);
    request->assets = calloc((size_t)n, sizeof *request->assets);
    if (!request->assets)
        return args_say(EXIT_FAILURE, "out of memory");
    for (int i = 0; i < n; i++)
        request->assets[i] = market->policy->policy.assets[i].name;
    bool day = market->params.task == ENV_DAY_TRADE;
    if (!replay_row_init(&request->row, request->assets, n, day ? day_trade : request->assets, n_actions,
                         market->params.execution == ENV_MARKET))
        return args_say(EXIT_FAILURE, "out of memory");
    request->steps_out = fopen(request->steps, "we");
    if (!request->steps_out)
        return cannot_write(request->steps, errno);
    replay_print_header(request->steps_out, &request->row);
    return GO_ON;
}

static int open_files(struct request *request)
{
    const struct eval_market *market = &request->market;
    int status = request->steps ? open_steps(request) : GO_ON;
    if (status != GO_ON || !request->trades)
        return status;
    int r = replay_trades_create(request->trades, market->env_market, market->bars,
                                 market->params.execution == ENV_REFERENCE, &request->trades_out);
    return r < 0 ? cannot_write(request->trades, -r) : GO_ON;
}

static int close_files(struct request *request, int status)
{
    int r = request->trades_out ? replay_trades_destroy(request->trades_out) : 0;
    if (r < 0 && status == GO_ON)
        status = cannot_write(request->trades, -r);
    bool failed = request->steps_out && ferror(request->steps_out);
    if (request->steps_out && (fclose(request->steps_out) != 0 || failed) && status == GO_ON)
        status = cannot_write(request->steps, errno);
    replay_row_finish(&request->row);
    free(request->assets);
    return status;
}

/* ---- the run ---- */

static json_t *symbols_json(const struct market *bars)
{
    json_t *names = json_array();
    for (int s = 0; s < bars->n_symbols; s++)
        json_array_append_new(names, json_string(bars->series[s].symbol.name));
    return names;
}

/* Of each symbol that lacks bars in rows [from, to) of the environment's market, how many; a line on stderr.
 */
static json_t *missing_json(const struct eval_market *market, size_t from, size_t to)
{
    const struct market *bars = market->bars;
    size_t first = market_row_at(bars, env_market_open_ns(market->env_market, from));
    size_t end = market_row_at(bars, env_market_open_ns(market->env_market, to - 1)) + 1;
    json_t *missing = json_object();
    for (int s = 0; s < bars->n_symbols; s++) {
        char note[TRAINER_DATA_NOTE_MAX];
        size_t n = trainer_data_missing(bars, s, first, end, note);
        if (n > 0)
            fprintf(stderr, "papertape-trainer: note: %s\n", note);
        json_object_set_new(missing, bars->series[s].symbol.name, json_integer((json_int_t)n));
    }
    return missing;
}

static json_t *head_json(const struct request *request, size_t from)
{
    const struct eval_market *market = &request->market;
    const struct env_params *params = &market->params;
    char id[POLICY_ID_TEXT];
    policy_id_text(request->policy->policy.id, id);
    return json_pack(
        "{s:s, s:s, s:s, s:o, s:s, s:I, s:s, s:s, s:s, s:i, s:I, s:I, s:I, s:o, s:f}", "schema",
        "papertape.eval/1", "policy", request->policy_path, "id", id, "symbols", symbols_json(market->bars),
        "interval", bar_interval_name(market->bars->interval_ns), "interval_ns",
        (json_int_t)market->bars->interval_ns, "execution",
        params->execution == ENV_MARKET ? "market" : "reference", "task",
        params->task == ENV_DAY_TRADE ? "day-trade" : "portfolio", "actions",
        params->actions == ENV_DISCRETE ? "discrete" : "continuous", "lookback", params->lookback, "first_ns",
        (json_int_t)env_market_open_ns(market->env_market, from), "last_ns",
        (json_int_t)(env_market_open_ns(market->env_market, market->to - 1) + market->bars->interval_ns),
        "rows", (json_int_t)(market->to - from), "missing_bars", missing_json(market, from, market->to),
        "periods_per_year", metrics_periods_per_year(market->bars->interval_ns));
}

static int play(struct request *request, json_t **ret)
{
    struct eval_market *market = &request->market;
    const struct eval_tell tell = {.ctx = request, .stepped = on_step, .traded = on_trade};
    size_t from = market->from > market->first ? market->from : market->first;
    struct eval_result result = {0};
    char err[EVAL_ERROR_MAX] = "out of memory";
    json_t *split = NULL;
    request->row.first = (int32_t)from;
    int r = eval_episode_play(market, from, market->to, &tell, &request->whole, err);
    if (r == 0)
        r = eval_result_add(&result, &request->whole);
    if (r == 0 && request->splits) {
        split = eval_split_json(market, &request->split, from, market->to, err);
        r = split ? 0 : -EINVAL;
    }
    json_t *object = r == 0 ? head_json(request, from) : NULL;
    if (object) {
        json_object_set_new(object, "whole", eval_result_json(&result, market->bars->interval_ns));
        json_object_set_new(object, "splits", split ? split : json_null());
    }
    eval_result_finish(&result);
    eval_episode_finish(&request->whole);
    if (!object)
        return args_say(EXIT_FAILURE, "%s: %s", request->policy_path, err);
    *ret = object;
    return GO_ON;
}

static int run(struct request *request)
{
    char err[EVAL_ERROR_MAX];
    json_t *object = NULL;
    if (policy_trained_load(request->policy_path, &request->policy, err) < 0)
        return args_say(EXIT_FAILURE, "%s", err);
    if (eval_market_open(request->policy, &request->bars, &request->market, err) < 0)
        return args_say(EXIT_FAILURE, "%s: %s", request->policy_path, err);
    int status = open_files(request);
    if (status == GO_ON)
        status = play(request, &object);
    status = close_files(request, status);
    if (status == GO_ON && (json_dumpf(object, stdout, JSON_INDENT(1)) < 0 || putchar('\n') == EOF))
        status = args_say(EXIT_FAILURE, "cannot write: stdout: a file or a reader");
    json_decref(object);
    return status;
}

int command_eval(int argc, char **argv)
{
    struct request request = {0};
    int status = parse(argc, argv, &request);
    if (status == GO_ON)
        status = run(&request);
    eval_market_close(&request.market);
    policy_trained_destroy(request.policy);
    for (size_t i = 0; i < request.n_texts; i++)
        free(request.texts[i]);
    free(request.texts);
    free(request.words);
    free(request.paths);
    return status == GO_ON ? EXIT_SUCCESS : status;
}
