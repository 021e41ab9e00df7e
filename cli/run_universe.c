/* --universe of run_args.h's bars: which symbols may be entered, by a rule. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/format.h"
#include "cli/run_args.h"
#include "cli/stored.h"
#include "exchange/exit_status.h"
#include "record/json.h"

int cli_run_take_universe(struct option_call *call, const struct option_row *row, const char *value)
{
    struct run_args *args = call->into;
    char err[UNIVERSE_ERROR_MAX];
    (void)row;
    if (engine_universe_parse(value, &args->universe_rule, err) < 0)
        return option_fail(call, EXIT_USAGE, "--universe: %s", err);
    args->universe_given = true;
    return EXIT_OK;
}

/* The highest measure that there was, in words. */
static void note_empty(const struct run_args *args, const struct market *market)
{
    const struct backtest_universe *universe = &args->universe;
    char text[UNIVERSE_TEXT_MAX];
    fprintf(
        stderr,
        "papertape: %s: note: --universe: no symbol is in at any of its times, so that nothing is entered: "
        "%s\n",
        args->verb,
        engine_universe_empty_text(&universe->rule, universe->highest,
                                   market->series[universe->highest_symbol].symbol.name, text));
}

int cli_run_universe(struct run_args *args, const struct market *market, size_t from, size_t to)
{
    char err[UNIVERSE_ERROR_MAX];
    if (!args->universe_given)
        return EXIT_OK;
    if (backtest_universe_make(market, args->actions.list, args->actions.n, &args->universe_rule,
                               &args->universe, err) < 0)
        return cli_stored_fail(EXIT_ERROR, args->verb, "--universe", err);
    struct backtest_universe_sums sums = cli_run_universe_sums(args, market, from, to);
    if (sums.times == sums.empty)
        note_empty(args, market);
    else if (sums.empty > 0)
        fprintf(
            stderr,
            "papertape: %s: note: --universe: at %zu of %zu times no symbol is in, and nothing is entered\n",
            args->verb, sums.empty, sums.times);
    return EXIT_OK;
}

struct backtest_universe_sums cli_run_universe_sums(const struct run_args *args, const struct market *market,
                                                    size_t from, size_t to)
{
    return backtest_universe_sum(&args->universe, market_open_ns(market, from), market_open_ns(market, to));
}

const struct backtest_universe *cli_run_universe_of(const struct run_args *args)
{
    return args->universe_given ? &args->universe : NULL;
}

json_t *cli_run_universe_json(const struct run_args *args, const struct market *market, size_t from,
                              size_t to)
{
    const struct backtest_universe_sums sums = cli_run_universe_sums(args, market, from, to);
    return json_pack("{s:s, s:I, s:I, s:o}", "rule", args->universe_rule.text, "times",
                     (json_int_t)sums.times, "times_empty", (json_int_t)sums.empty, "mean_symbols",
                     record_json_real(sums.mean));
}

/* The rule in lines of 80 columns, cut at its blanks. */
static void print_rule(const char *rule)
{
    const size_t width = 70;
    for (const char *label = "universe"; *rule; label = "") {
        size_t n = strlen(rule), at = n > width ? width : n;
        while (at > 0 && rule[at] != ' ' && rule[at] != '\0')
            at--;
        at = at > 0 ? at : width;
        printf("%-10s%.*s\n", label, (int)at, rule);
        rule += at + strspn(rule + at, " ");
    }
}

void cli_run_universe_print(const struct run_args *args, const struct market *market, size_t from, size_t to)
{
    const struct backtest_universe_sums sums = cli_run_universe_sums(args, market, from, to);
    if (!args->universe_given)
        return;
    print_rule(args->universe_rule.text);
    printf("          %zu times, %.1f of %d symbols in, none at %zu\n", sums.times,
           sums.times > 0 ? sums.mean : 0, market->n_symbols, sums.empty);
}
