#include <stdio.h>

#include "cli/answer.h"
#include "cli/ask.h"
#include "cli/text.h"
#include "cli/verbs.h"
#include "exchange/exit_status.h"

static void print_trading(const struct option_call *call, const json_t *result)
{
    const char *trading = json_string_value(json_object_get(result, "trading"));

    fputs("trading ", call->out);
    cli_text_print(call->out, trading ? trading : "n/a");
    fputc('\n', call->out);
}

static int switch_trading(struct option_call *call)
{
    json_t *result = NULL;
    int r = cli_ask_call(call, call->verb->name, NULL, &result);

    return cli_ask_done(call, r, "papertape.trading/1", result, print_trading);
}

static void print_flattened(const struct option_call *call, const json_t *result)
{
    const json_t *order;
    size_t i;

    fprintf(call->out, "canceled %lld\n", (long long)json_integer_value(json_object_get(result, "canceled")));
    json_array_foreach(json_object_get(result, "orders"), i, order)
        fprintf(call->out, "order %lld\n", (long long)json_integer_value(order));
    cli_ask_print_notes(call->out, result);
    json_array_foreach(json_object_get(result, "not_closed"), i, order)
    {
        fputs("not closed ", call->out);
        cli_text_print(call->out, cli_answer_text(order, "symbol"));
        fputs(" account ", call->out);
        cli_text_print(call->out, cli_answer_text(order, "account"));
        fputs(": ", call->out);
        cli_text_print(call->out, cli_answer_text(order, "words"));
        fputc('\n', call->out);
    }
}

static int flatten(struct option_call *call)
{
    json_t *result = NULL;

    if (!*(const bool *)call->into)
        return option_fail(call, EXIT_USAGE,
                           "--yes: it closes every position, and nothing is done without this");
    int r = cli_ask_call(call, "flatten", json_pack("{s:s}", "confirm", "FLATTEN"), &result);
    bool left = r == EXIT_OK && json_array_size(json_object_get(result, "not_closed")) > 0;
    r = cli_ask_done(call, r, "papertape.flatten/1", result, print_flattened);
    return left ? EXIT_ERROR : r;
}

static const struct option_action switching[] = {{.need = OPTION_NEEDS_DAEMON,
                                                  .acts = true,
                                                  .run = switch_trading}},
                                  flattening[] = {
                                      {.need = OPTION_NEEDS_DAEMON, .acts = true, .run = flatten}};
static const struct option_row flatten_options[] = {{"yes", NULL, "required: without it nothing is done"}};

CLI_VERB(cli_pause) = {
    .name = "pause",
    .words = "no new positions until resume",
    .about = "Opens no new position until resume; stops and orders that reduce one still work.",
    .page = "trading",
    OPTION_ACTIONS(switching),
};

CLI_VERB(cli_resume) = {
    .name = "resume",
    .words = "trade again",
    .about = "Resumes trading after pause. An account locked by its drawdown limit needs account resume.",
    .page = "trading",
    OPTION_ACTIONS(switching),
};

CLI_VERB(cli_flatten) = {
    .name = "flatten",
    .words = "pause, cancel every order, close every position",
    .about =
        "Pauses, cancels every open order, and closes every position at the market. What cannot be closed now is named, "
        "with its account and why: its trading is halted, its market closed, it has no price; it is closed once it can "
        "be, until resume.",
    .exits = "1: not everything is being closed.",
    .page = "trading",
    OPTION_ACTIONS(flattening),
    OPTION_OPTIONS(flatten_options),
    .size = sizeof(bool),
};
