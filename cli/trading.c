#include "cli/verbs.h"

#include <stdio.h>

#include "cli/ask.h"
#include "cli/text.h"
#include "exchange/exit_status.h"

static const char pause_help[] =
    "Usage: papertape pause [--state DIR]\n"
    "\n"
    "Opens no new position until resume; stops and orders that reduce one still work.\n";
static const char resume_help[] = "Usage: papertape resume [--state DIR]\n"
                                  "\n"
                                  "Trades again after pause. An account that its drawdown killed: account "
                                  "resume.\n";
static const char flatten_help[] =
    "Usage: papertape flatten --yes [--state DIR]\n"
    "\n"
    "Pauses, cancels every open order, and closes every position at the market.\n"
    "\n"
    "  --yes  required: without it nothing is done\n";

static int switch_trading(int argc, char **argv, const char *verb, const char *help)
{
    struct ask_options options;
    json_t *result;
    int r = ask_options(argc, argv, NULL, help, &options);

    if (r != EXIT_OK || options.done)
        return r;
    if (options.first < argc)
        return ask_usage(verb, "no argument is expected");
    r = ask_daemon(verb, options.state, verb, NULL, &result);
    if (r != EXIT_OK)
        return r;
    const char *trading = json_string_value(json_object_get(result, "trading"));
    fputs("trading ", stdout);
    text_print(stdout, trading ? trading : "n/a");
    putchar('\n');
    json_decref(result);
    return EXIT_OK;
}

static int run_pause(int argc, char **argv)
{
    return switch_trading(argc, argv, "pause", pause_help);
}

static int run_resume(int argc, char **argv)
{
    return switch_trading(argc, argv, "resume", resume_help);
}

static int run_flatten(int argc, char **argv)
{
    struct ask_options options;
    json_t *result, *order;
    size_t i;
    int r = ask_options(argc, argv, "yes", flatten_help, &options);

    if (r != EXIT_OK || options.done)
        return r;
    if (options.first < argc)
        return ask_usage("flatten", "no argument is expected");
    if (!options.flag)
        return ask_usage("flatten", "--yes: it closes every position, and nothing is done without this");
    r = ask_daemon("flatten", options.state, "flatten", json_pack("{s:s}", "confirm", "FLATTEN"), &result);
    if (r != EXIT_OK)
        return r;
    printf("canceled %lld\n", (long long)json_integer_value(json_object_get(result, "canceled")));
    json_array_foreach(json_object_get(result, "orders"), i, order)
        printf("order %lld\n", (long long)json_integer_value(order));
    json_decref(result);
    return EXIT_OK;
}

const struct option_verb cli_pause = {
    .name = "pause", .words = "no new positions until resume", .run = run_pause};

const struct option_verb cli_resume = {.name = "resume", .words = "trade again", .run = run_resume};

const struct option_verb cli_flatten = {
    .name = "flatten", .words = "pause, cancel every order, close every position", .run = run_flatten};
