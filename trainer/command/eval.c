#include "trainer/command/eval_args.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bar.h"
#include "strategy/metrics/verdict_json.h"
#include "trainer/command/args.h"
#include "trainer/command/eval_report.h"
#include "trainer/command/eval_result.h"
#include "trainer/command/replay_print.h"
#include "trainer/command/replay_trades.h"

struct eval_request {
    struct eval_args args;
    struct trained_policy *policy; /* or */
    struct ensemble_policy *ensemble;
    struct eval_market market;
    struct training_episode whole;
    struct trainer_trace trace;   /* for the page */
    struct training_calls traced; /* what fills it, called with --report alone */
    struct replay_row row;
    struct replay_trades *trades_out;
    FILE *steps_out;
    const char **assets, **actions;
};

/* ---- files that are written ---- */

static void on_begin(void *ctx, const struct env *env)
{
    struct eval_request *request = ctx;
    if (request->args.report)
        request->traced.begins(request->traced.ctx, env);
}

static void on_close(void *ctx, const struct training_trade *trade)
{
    struct eval_request *request = ctx;
    if (request->args.report)
        request->traced.closed(request->traced.ctx, trade);
}

static void on_step(void *ctx, const struct env *env, const float *actions, float reward, bool done)
{
    struct eval_request *request = ctx;
    if (request->steps_out)
        trainer_replay_print_row(request->steps_out, &request->row, env, actions, reward, done);
    if (request->args.report)
        request->traced.stepped(request->traced.ctx, env, actions, reward, done);
}

static void on_trade(void *ctx, const struct env_trade *trade)
{
    struct eval_request *request = ctx;
    if (request->trades_out)
        trainer_replay_trades_write(request->trades_out, trade);
    if (request->args.report)
        request->traced.traded(request->traced.ctx, trade);
}

static int cannot_write(const char *path, int error)
{
    return trainer_args_say(EXIT_FAILURE, "cannot write: %s: a file in a writable folder with room (%s)",
                            path, strerror(error));
}

static int open_steps(struct eval_request *request)
{
    static const char *const day_trade[] = {"direction", "size"};
    const struct eval_market *market = &request->market;
    int n = market->bars->n_symbols, n_actions = env_action_size(market->env);
    request->assets = calloc((size_t)n, sizeof *request->assets);
    if (!request->assets)
        return trainer_args_say(EXIT_FAILURE, "out of memory");
    for (int i = 0; i < n; i++)
        request->assets[i] = market->policy->policy.assets[i].name;
    bool day = market->params.task == ENV_DAY_TRADE;
    if (!trainer_replay_row_init(&request->row, request->assets, n, day ? day_trade : request->assets,
                                 n_actions, market->params.execution == ENV_MARKET))
        return trainer_args_say(EXIT_FAILURE, "out of memory");
    request->steps_out = fopen(request->args.steps, "we");
    if (!request->steps_out)
        return cannot_write(request->args.steps, errno);
    trainer_replay_print_header(request->steps_out, &request->row);
    return GO_ON;
}

static int open_files(struct eval_request *request)
{
    const struct eval_market *market = &request->market;
    int status = request->args.steps ? open_steps(request) : GO_ON;
    if (status != GO_ON || !request->args.trades)
        return status;
    int r = trainer_replay_trades_create(request->args.trades, market->env_market, market->bars,
                                         market->params.execution == ENV_REFERENCE, &request->trades_out);
    return r < 0 ? cannot_write(request->args.trades, -r) : GO_ON;
}

static int close_files(struct eval_request *request, int status)
{
    int r = request->trades_out ? trainer_replay_trades_destroy(request->trades_out) : 0;
    if (r < 0 && status == GO_ON)
        status = cannot_write(request->args.trades, -r);
    bool failed = request->steps_out && ferror(request->steps_out);
    if (request->steps_out && (fclose(request->steps_out) != 0 || failed) && status == GO_ON)
        status = cannot_write(request->args.steps, errno);
    trainer_replay_row_finish(&request->row);
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

/* The symbols that lack bars in rows [from, to) of env_market, and how many; also a line on stderr. */
static json_t *missing_json(const struct eval_market *market, size_t from, size_t to)
{
    const struct market *bars = market->bars;
    size_t first = market_store_row_at(bars, env_market_open_ns(market->env_market, from));
    size_t end = market_store_row_at(bars, env_market_open_ns(market->env_market, to - 1)) + 1;
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

/* What --set changed, as it was given. */
static json_t *set_json(const struct eval_args *args)
{
    json_t *set = json_object();
    for (size_t i = 0; i < args->n_sets; i++) {
        char key[128];
        const char *equals = strchr(args->sets[i], '=');
        snprintf(key, sizeof key, "%.*s", (int)(equals - args->sets[i]), args->sets[i]);
        json_object_set_new(set, key, json_string(equals + 1));
    }
    return set;
}

/* Rows [from, to) of those that the policy, or a member of the ensemble, was trained on: the most of any. */
static size_t trained_rows(const struct eval_request *request, size_t from)
{
    const struct eval_market *market = &request->market;
    size_t n = request->ensemble ? (size_t)request->ensemble->policy.n_members : 1, most = 0;
    for (size_t m = 0; m < n; m++) {
        const struct trained_policy *trained =
            request->ensemble ? request->ensemble->members[m] : request->policy;
        size_t rows = 0;
        for (size_t row = from; row < market->to; row++) {
            int64_t ns = env_market_open_ns(market->env_market, row);
            rows += ns >= trained->trained_from_ns && ns < trained->trained_to_ns;
        }
        most = rows > most ? rows : most;
    }
    return most;
}

/* What a policy does on rows that it learned from says nothing of it: there is no verdict on them. */
static void judge(struct eval_request *request, size_t from, struct verdict *verdict, json_t *object)
{
    char words[160];
    size_t rows = trained_rows(request, from);
    json_object_set_new(object, "trained_rows", json_integer((json_int_t)rows));
    if (rows > 0)
        *verdict = (struct verdict){0};
    metrics_verdict_json(verdict->kind != VERDICT_NONE ? verdict : NULL, object);
    if (rows == 0)
        return;
    snprintf(words, sizeof words, "Not judged: %zu of these %zu rows are among those that it was trained on.",
             rows, request->market.to - from);
    json_object_set_new(object, "verdict_text", json_string(words));
    fprintf(stderr, "papertape-trainer: note: %s: n%s\n", request->args.policy_path, words + 1);
}

static json_t *head_json(const struct eval_request *request, size_t from)
{
    const struct eval_market *market = &request->market;
    const struct env_params *params = &market->params;
    char id[POLICY_ID_TEXT];
    policy_id_text(request->ensemble ? request->ensemble->policy.id : request->policy->policy.id, id);
    return json_pack(
        "{s:s, s:s, s:s, s:o, s:s, s:I, s:s, s:s, s:s, s:i, s:I, s:I, s:I, s:o, s:f}", "schema",
        "papertape.eval/1", "policy", request->args.policy_path, "id", id, "symbols",
        symbols_json(market->bars), "interval", bar_interval_name(market->bars->interval_ns), "interval_ns",
        (json_int_t)market->bars->interval_ns, "execution",
        params->execution == ENV_MARKET ? "market" : "reference", "task",
        params->task == ENV_DAY_TRADE ? "day-trade" : "portfolio", "actions",
        params->actions == ENV_DISCRETE ? "discrete" : "continuous", "lookback", params->lookback, "first_ns",
        (json_int_t)env_market_open_ns(market->env_market, from), "last_ns",
        (json_int_t)(env_market_open_ns(market->env_market, market->to - 1) + market->bars->interval_ns),
        "rows", (json_int_t)(market->to - from), "missing_bars", missing_json(market, from, market->to),
        "periods_per_year", metrics_periods_per_year(market_row_ns(market->bars)));
}

static int write_report(struct eval_request *request, const struct verdict *verdict)
{
    int r = request->args.report ? trainer_eval_report(&request->args, &request->market, &request->whole,
                                                       &request->trace, verdict)
                                 : 0;
    return r < 0 ? cannot_write(request->args.report, -r) : GO_ON;
}

static int play(struct eval_request *request, json_t **ret)
{
    struct eval_market *market = &request->market;
    const struct training_calls calls = {
        .ctx = request, .begins = on_begin, .stepped = on_step, .traded = on_trade, .closed = on_close};
    size_t from = market->from > market->first ? market->from : market->first;
    struct eval_result result = {0};
    struct verdict verdict = {0};
    char err[EVAL_ERROR_MAX] = "out of memory";
    json_t *split = NULL;
    request->row.first = (int32_t)from;
    int r = trainer_eval_episode_play(market, from, market->to, &calls, &request->whole, err);
    if (r == 0)
        r = trainer_eval_result_add(&result, &request->whole);
    if (r == 0)
        r = training_episode_verdict(&request->whole, &verdict);
    if (r == 0 && request->args.splits) {
        split = trainer_eval_split_json(market, &request->args.split, from, market->to, err);
        r = split ? 0 : -EINVAL;
    }
    json_t *object = r == 0 ? head_json(request, from) : NULL;
    if (object) {
        json_object_set_new(object, "whole", trainer_eval_result_json(&result, market_row_ns(market->bars)));
        json_object_set_new(object, "splits", split ? split : json_null());
        if (request->args.n_sets > 0)
            json_object_set_new(object, "set", set_json(&request->args));
        judge(request, from, &verdict, object);
    }
    trainer_eval_result_finish(&result);
    if (!object)
        return trainer_args_say(EXIT_FAILURE, "%s: %s", request->args.policy_path, err);
    *ret = object;
    return write_report(request, &verdict);
}

static int open_policy(struct eval_request *request)
{
    const char *path = request->args.policy_path;
    char err[EVAL_ERROR_MAX];
    bool many = policy_names_ensemble(path);
    int r = many ? ensemble_load(path, &request->ensemble, err)
                 : policy_trained_load(path, &request->policy, err);
    if (r < 0)
        return trainer_args_say(EXIT_FAILURE, "%s", err);
    r = many
            ? trainer_eval_market_open_ensemble(request->ensemble, &request->args.bars, &request->market, err)
            : trainer_eval_market_open(request->policy, &request->args.bars, &request->market, err);
    if (r == 0 && request->market.zone_note[0])
        fprintf(stderr, "papertape-trainer: note: %s\n", request->market.zone_note);
    return r < 0 ? trainer_args_say(EXIT_FAILURE, "%s: %s", path, err) : GO_ON;
}

static int run(struct eval_request *request)
{
    json_t *object = NULL;
    int status = open_policy(request);
    if (status == GO_ON)
        status = open_files(request);
    if (status == GO_ON)
        status = play(request, &object);
    status = close_files(request, status);
    if (status == GO_ON && (json_dumpf(object, stdout, JSON_INDENT(1)) < 0 || putchar('\n') == EOF))
        status = trainer_args_say(EXIT_FAILURE, "cannot write: stdout: a file or a reader");
    json_decref(object);
    return status;
}

int trainer_eval(struct option_call *call)
{
    int status = trainer_eval_args_check(call);
    if (status != EXIT_OK)
        return status;
    struct eval_request request = {.args = *(const struct eval_args *)call->into};
    request.traced = trainer_trace_calls(&request.trace);
    status = run(&request);
    training_episode_finish(&request.whole);
    trainer_trace_finish(&request.trace);
    trainer_eval_market_close(&request.market);
    policy_trained_destroy(request.policy);
    ensemble_destroy(request.ensemble);
    return status == GO_ON ? EXIT_SUCCESS : status;
}
