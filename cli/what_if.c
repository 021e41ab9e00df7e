#include "cli/verbs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/format.h"
#include "cli/stored.h"
#include "cli/text.h"
#include "db/state.h"
#include "engine/what_if.h"
#include "exchange/exit_status.h"
#include "record/config_key.h"
#include "record/print.h"
#include "strategy/param_json.h"
#include "strategy/policy/cache.h"
#include "strategy/strategy.h"

#define MINUTE_NS (60 * 1000000000LL)

enum { SETS_MAX = STRATEGY_PARAMS_MAX, ROWS = 48 };

struct span {
    int64_t end_ns, was, would_be;
};

struct asked {
    const char *account, *strategy, *policy;
    int64_t at_ns, to_ns;
    const char *sets[SETS_MAX];
    int n_sets;
};

struct what_if_output {
    const struct asked *asked;
    struct span *spans;
    size_t n_spans, cap_spans;
    bool failed, refused;
};

static int take_set(struct option_call *call, const struct option_row *row, const char *value)
{
    struct asked *asked = call->into;

    if (!strchr(value, '='))
        return option_fail(call, EXIT_USAGE, "--%s: \"%.64s\": KEY=VALUE is needed", row->name, value);
    if (asked->n_sets == SETS_MAX)
        return option_fail(call, EXIT_USAGE, "--%s: more parameters than a strategy has", row->name);
    asked->sets[asked->n_sets++] = value;
    return EXIT_OK;
}

static int check(const struct option_call *call, const struct asked *asked)
{
    const char *why = NULL;

    if (asked->policy && !policy_names_one_file(asked->policy))
        why = "--policy: F.safetensors of a trained policy or NAME.ensemble.json is needed: a recorded one "
              "decides on its own bars only, as papertape backtest --policy plays it";
    else if (asked->to_ns <= asked->at_ns)
        why = "--to: it must be later than --at";
    return why ? option_fail(call, EXIT_USAGE, "%s", why) : EXIT_OK;
}

/* A bad key or value is an error of the command line, though only the log may say which strategy it is for.
 */
static int set_params(void *ctx, const struct strategy *strategy, double params[static STRATEGY_PARAMS_MAX],
                      char *err, size_t err_size)
{
    struct what_if_output *out = ctx;
    for (int i = 0; i < out->asked->n_sets; i++) {
        const char *set = out->asked->sets[i], *equals = strchr(set, '=');
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(equals - set), set);
        char why[CONFIG_WHY_MAX] = "the account has no strategy";
        int r = strategy ? strategy_set(strategy, params, name, equals + 1, why) : -ENOENT;
        if (r == 0)
            continue;
        snprintf(err, err_size, "--set: %.64s: %s", name, why);
        out->refused = true;
        return r;
    }
    return 0;
}

static void on_span(void *ctx, int64_t end_ns, int64_t was, int64_t would_be)
{
    struct what_if_output *out = ctx;
    if (out->n_spans == out->cap_spans) {
        size_t cap = out->cap_spans ? 2 * out->cap_spans : 64;
        struct span *moved = realloc(out->spans, cap * sizeof *moved);
        if (!moved) {
            out->failed = true;
            return;
        }
        out->spans = moved;
        out->cap_spans = cap;
    }
    out->spans[out->n_spans++] = (struct span){end_ns, was, would_be};
}

/* Keeps the ends of minutes, of hours, of days: as fine as ROWS allow; and the last. */
static void thin(struct what_if_output *out)
{
    static const int64_t steps[] = {1, 5, 15, 60, 240, 1440, 10080};
    enum { STEPS = sizeof steps / sizeof *steps };
    size_t step = 0, kept = 0, n = out->n_spans;
    int64_t whole_ns = n > 0 ? out->spans[n - 1].end_ns - out->spans[0].end_ns : 0;
    while (step < STEPS - 1 && whole_ns / (steps[step] * MINUTE_NS) > ROWS)
        step++;
    for (size_t i = 0; i < n; i++)
        if (i == n - 1 || out->spans[i].end_ns % (steps[step] * MINUTE_NS) == 0)
            out->spans[kept++] = out->spans[i];
    out->n_spans = kept;
}

/* ---- output */

PRINT_OBJECT(way_object, struct what_if_way, PRINT_WORD(strategy), PRINT_LATER("params"),
             PRINT_AS(QUOTE, REQUIRED, begin, "equity_begin"), PRINT_AS(QUOTE, REQUIRED, end, "equity_end"),
             PRINT_LATER("return_pct"), PRINT_PERCENT(drawdown, "drawdown_pct"), PRINT_WHOLE(orders),
             PRINT_WHOLE(rejected), PRINT_WHOLE(fills), PRINT_QUOTE(fees));
PRINT_OBJECT(span_object, struct span, PRINT_AS(TIME, REQUIRED, end_ns, "ts_ns"), PRINT_QUOTE(was),
             PRINT_QUOTE(would_be));
PRINT_OBJECT(result_object, struct what_if_result, PRINT_LATER("schema"), PRINT_LATER("account"),
             PRINT_TEXT(currency), PRINT_WHOLE(at_seq), PRINT_WHOLE(at_ns), PRINT_WHOLE(to_seq),
             PRINT_WHOLE(to_ns), PRINT_WHOLE(events), PRINT_WHOLE(runs), PRINT_WHOLE(holes),
             PRINT_WHOLE(commands_left_out), PRINT_LATER("assumes"), PRINT_LATER("was"),
             PRINT_LATER("would_be"), PRINT_LATER("equity"));

static json_t *way_json(const struct what_if_way *way, const struct symbol *money)
{
    const struct strategy *strategy = way->strategy[0] ? strategy_find(way->strategy) : NULL;
    json_t *object = way_object(way, money), *params = json_object();
    for (size_t i = 0; strategy && i < strategy->n_params; i++)
        json_object_set_new(params, strategy->params[i].name,
                            strategy_param_json(&strategy->params[i], way->params[i]));
    json_object_set_new(object, "params", params);
    if (way->begin > 0)
        json_object_set_new(object, "return_pct",
                            json_real(100 * ((double)way->end / (double)way->begin - 1)));
    return object;
}

static int print_json(const struct what_if_output *out, const struct what_if_result *result)
{
    const struct symbol money = {.quote_scale = result->currency_scale};
    json_t *object = result_object(result, NULL), *spans = json_array();
    for (size_t i = 0; i < out->n_spans; i++)
        json_array_append_new(spans, span_object(&out->spans[i], &money));
    json_object_set_new(object, "schema", json_string("papertape.what-if/1"));
    json_object_set_new(object, "account", json_string(out->asked->account));
    json_object_set_new(object, "assumes", json_string("the market does not react"));
    json_object_set_new(object, "was", way_json(&result->was, &money));
    json_object_set_new(object, "would_be", way_json(&result->would_be, &money));
    json_object_set_new(object, "equity", spans);
    return cli_stored_print("what-if", object, 15);
}

static void print_way(const char *what, const struct what_if_way *way)
{
    const struct strategy *strategy = way->strategy[0] ? strategy_find(way->strategy) : NULL;
    char text[STRATEGY_WORD_MAX];
    printf("%-9s %s", what, way->strategy[0] ? way->strategy : "no strategy");
    for (size_t i = 0; strategy && i < strategy->n_params; i++)
        printf("%s%s %s", i ? ", " : ": ", strategy->params[i].name,
               strategy_param_text(&strategy->params[i], way->params[i], text));
    putchar('\n');
}

static void print_row(const char *what, const char *was, const char *would_be)
{
    printf("%-24s %20s %20s\n", what, was, would_be);
}

static void print_decimals(const char *what, int64_t was, int64_t would_be, int scale)
{
    char a[STORED_CELL], b[STORED_CELL];
    print_row(what, cli_stored_decimal(STORED_TABLE, a, was, scale),
              cli_stored_decimal(STORED_TABLE, b, would_be, scale));
}

static void print_counts(const char *what, uint64_t was, uint64_t would_be)
{
    char a[STORED_CELL], b[STORED_CELL];
    print_row(what, cli_stored_integer(a, (long long)was), cli_stored_integer(b, (long long)would_be));
}

static void print_text(const struct what_if_output *out, const struct what_if_result *result)
{
    const struct what_if_way *was = &result->was, *would_be = &result->would_be;
    char from[STORED_CELL], to[STORED_CELL], a[STORED_CELL], b[STORED_CELL], text[FORMAT_MAX];
    int scale = result->currency_scale;
    printf("account ");
    cli_text_print(stdout, out->asked->account);
    printf(", from %s (event %" PRIu64 ") to %s (event %" PRIu64 ")\n",
           cli_stored_time(STORED_TABLE, from, result->at_ns), result->at_seq,
           cli_stored_time(STORED_TABLE, to, result->to_ns), result->to_seq);
    print_way("was", was);
    print_way("would be", would_be);
    putchar('\n');
    print_row("equity until", "was", "would be");
    for (size_t i = 0; i < out->n_spans; i++)
        print_decimals(cli_stored_time(STORED_TABLE, from, out->spans[i].end_ns), out->spans[i].was,
                       out->spans[i].would_be, scale);
    putchar('\n');
    print_decimals("final equity", was->end, would_be->end, scale);
    snprintf(a, sizeof a, "%s %%", cli_format_number(text, 100 * was->drawdown, 4));
    snprintf(b, sizeof b, "%s %%", cli_format_number(text, 100 * would_be->drawdown, 4));
    print_row("deepest drawdown", a, b);
    print_counts("orders", was->orders, would_be->orders);
    print_counts("of them refused", was->rejected, would_be->rejected);
    print_counts("fills", was->fills, would_be->fills);
    print_decimals("fees", was->fees, would_be->fees, scale);
    puts("\nIt is assumed that the market does not react: no price moves, and nothing is taken from anyone.");
    if (result->commands_left_out > 0)
        printf("%" PRIu64 " commands concern orders that would not have been made, or name another policy: "
               "they are left out.\n",
               result->commands_left_out);
    if (result->holes > 0)
        printf("%" PRIu64 " events were never recorded: the fork did not see what happened in between.\n",
               result->holes);
}

static int run(struct option_call *call)
{
    const struct asked *asked = call->into;
    struct what_if_output out = {.asked = asked};
    struct what_if_options options = {.account = asked->account,
                                      .at_ns = asked->at_ns,
                                      .to_ns = asked->to_ns,
                                      .same_strategy = !asked->strategy && !asked->policy,
                                      .set = asked->policy ? NULL : set_params,
                                      .span = on_span,
                                      .ctx = &out};
    struct what_if_result result;
    struct state_dir dir;
    char err[JOURNAL_ERROR_MAX];
    int status = check(call, asked);
    if (status != EXIT_OK)
        return status;
    if (asked->strategy && strcmp(asked->strategy, "none") != 0) {
        options.strategy = strategy_find(asked->strategy);
        if (!options.strategy) {
            strategy_unknown(asked->strategy, "none", err, sizeof err);
            return cli_stored_fail(EXIT_USAGE, "what-if", "--strategy", err);
        }
    }
    double params[STRATEGY_PARAMS_MAX];
    if (options.strategy && (strategy_defaults(options.strategy, params),
                             set_params(&out, options.strategy, params, err, sizeof err) < 0))
        return option_fail(call, EXIT_USAGE, "%s", err);
    status = cli_stored_state(call, &dir);
    if (status != EXIT_OK)
        return status;
    struct policy *policy = NULL;
    char why[POLICY_ERROR_MAX];
    if (asked->policy && policy_load(asked->policy, NULL, &policy, why) < 0)
        return cli_stored_fail(EXIT_ERROR, "what-if", "--policy", why);
    options.policy = policy;
    options.path = dir.events;
    options.span_ns = MINUTE_NS;
    int r = engine_what_if_run(&options, &result, err, sizeof err);
    policy_destroy(policy);
    thin(&out);
    if (r < 0)
        status = cli_stored_fail(out.refused ? EXIT_USAGE : EXIT_ERROR, "what-if", "", err);
    else if (out.failed)
        status = cli_stored_fail(EXIT_ERROR, "what-if", "", "out of memory");
    else if (call->json)
        status = print_json(&out, &result);
    else
        print_text(&out, &result);
    free(out.spans);
    return status;
}

static void init(void *into)
{
    *(struct asked *)into = (struct asked){.account = "main", .to_ns = INT64_MAX};
}

static const struct option_action actions[] = {{.example = "--at 2024-08-08T14:00:00Z --strategy none",
                                                .needed = "at strategy,policy,set",
                                                .need = OPTION_NEEDS_STATE,
                                                .run = run}};

static const struct option_row options[] = {
    {"at", "T", "the moment, as 2024-08-08T14:00:00Z", offsetof(struct asked, at_ns), cli_stored_take_time},
    {"to", "T", "the end; the log's when left out", offsetof(struct asked, to_ns), cli_stored_take_time},
    {"account", "ACCOUNT", "main when left out", offsetof(struct asked, account)},
    {"strategy", "STRATEGY", "another strategy; none: orders by hand only", offsetof(struct asked, strategy)},
    {"set", "KEY=VALUE", "a parameter; the others stay as they were, or are another strategy's defaults",
     .take = take_set},
    {"policy", "FILE",
     "a trained policy instead, F.safetensors, or an ensemble, NAME.ensemble.json: it is shown the last bars "
     "before T, at most 1000 of a symbol, and continues with what the account holds",
     offsetof(struct asked, policy), .without = "strategy set"},
};

CLI_VERB(cli_what_if) = {
    .name = "what-if",
    .words = "a past moment again, with other parameters",
    .about =
        "Plays the engine's log to a past moment, gives one account another strategy, other parameters or a "
        "trained policy there, and plays on to the end: its equity as it was beside what it would have been, "
        "drawdown, orders, fills, fees.\nIt assumes that the market does not react: what would have been "
        "bought and sold moves no price and takes nothing from anyone. The account begins with what it held "
        "and had ordered. Commands are given again to both. With --json, papertape.what-if/1.",
    .page = "backtest",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct asked),
    .init = init,
};
