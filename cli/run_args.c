#include "cli/run_args.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/rules_args.h"
#include "cli/stored.h"
#include "cli/stored_bars.h"
#include "exchange/bar.h"
#include "exchange/bars_file.h"
#include "exchange/decimal.h"
#include "exchange/exit_status.h"

enum { SHARE_SCALE = 6, WHAT_MAX = 128 };

/* Values of getopt_long() beyond those that a verb uses for itself. */
enum {
    OPTION_STRATEGY = 0x1000,
    OPTION_SET,
    OPTION_BARS,
    OPTION_SYMBOL,
    OPTION_LOT,
    OPTION_TICK,
    OPTION_QUOTE,
    OPTION_REPAIR,
    OPTION_EXCHANGE_INFO,
    OPTION_CACHE,
    OPTION_NO_CACHE,
    OPTION_FROM,
    OPTION_TO,
    OPTION_INTERVAL,
    OPTION_CASH,
    OPTION_FEE_MAKER,
    OPTION_FEE_TAKER,
    OPTION_FEES,
    OPTION_SLIPPAGE,
    OPTION_LATENCY,
    OPTION_RISK,
    OPTION_THREADS,
    OPTION_WAY,
    OPTION_STATE,
};

const struct option run_args_options[RUN_ARGS_OPTIONS] = {
    {"strategy", required_argument, NULL, OPTION_STRATEGY},
    {"set", required_argument, NULL, OPTION_SET},
    {"bars", required_argument, NULL, OPTION_BARS},
    {"symbol", required_argument, NULL, OPTION_SYMBOL},
    {"lot", required_argument, NULL, OPTION_LOT},
    {"tick", required_argument, NULL, OPTION_TICK},
    {"quote", required_argument, NULL, OPTION_QUOTE},
    {"repair", no_argument, NULL, OPTION_REPAIR},
    {"exchange-info", required_argument, NULL, OPTION_EXCHANGE_INFO},
    {"cache", required_argument, NULL, OPTION_CACHE},
    {"no-cache", no_argument, NULL, OPTION_NO_CACHE},
    {"from", required_argument, NULL, OPTION_FROM},
    {"to", required_argument, NULL, OPTION_TO},
    {"interval", required_argument, NULL, OPTION_INTERVAL},
    {"cash", required_argument, NULL, OPTION_CASH},
    {"fee-maker", required_argument, NULL, OPTION_FEE_MAKER},
    {"fee-taker", required_argument, NULL, OPTION_FEE_TAKER},
    {"fees", required_argument, NULL, OPTION_FEES},
    {"slippage", required_argument, NULL, OPTION_SLIPPAGE},
    {"latency-ms", required_argument, NULL, OPTION_LATENCY},
    {"risk", required_argument, NULL, OPTION_RISK},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"way", required_argument, NULL, OPTION_WAY},
    {"state", required_argument, NULL, OPTION_STATE},
};

const char run_args_help[] =
    "  --strategy S       its name, or NAME:key=value,key=value\n"
    "  --set key=value    parameters of the --strategy before it; what each may be says\n"
    "                     papertape backtest --list-strategies\n"
    "  --bars F[,F…]      bars files, CSV or JSON (docs/market-store.md), plain or gzip, one\n"
    "                     symbol each; files of one symbol that follow each other are one\n"
    "                     series; or a state directory or its papertape.db, of which all\n"
    "                     symbols are taken\n"
    "  --symbol S[,S…]    their symbols, where the names do not have them: one for all, or one\n"
    "                     a file\n"
    "  --interval I       of the bars, as 1m or 4h, where the files leave it open\n"
    "  --from T, --to T   trade bars that open in [from, to); those before warm the\n"
    "                     indicators up\n"
    "  --lot N, --tick N, --quote ASSET\n"
    "                     the step of quantities, the step of prices and the currency, where\n"
    "                     the files cannot tell: one for all, or one a file with commas\n"
    "  --repair           widen low and high of bars whose open or close lies outside them,\n"
    "                     and say how many; without it such a bar is an error\n"
    "  --exchange-info F  the venue's list of symbols, for their ticks and lots\n"
    "  --cache DIR, --no-cache\n"
    "                     where the market is kept, ready to be mapped; or nowhere\n"
    "  --cash N           that each account begins with: 10000\n"
    "  --fee-maker R, --fee-taker R, --fees TIER\n"
    "                     shares of a fill's notional: 0.001 is 0.1 %, and the default\n"
    "  --slippage R       takers' prices are this share worse: 0\n"
    "  --latency-ms N     between a decision and its effect: 50; below an interval it\n"
    "                     changes nothing\n"
    "  --risk key=value   limits, as in [risk] of papertaped.ini; none by default\n"
    "  --threads N        0, the default: one a core\n";

static int wrong(const struct run_args *args, const char *option, const char *value, const char *words)
{
    char what[WHAT_MAX];
    snprintf(what, sizeof what, "%s: \"%.64s\"", option, value);
    return stored_fail(EXIT_USAGE, args->verb, what, words);
}

void run_args_init(struct run_args *args, const char *verb, int max_choices)
{
    *args = (struct run_args){.verb = verb,
                              .cash = 10000 * decimal_pow10(RUN_CASH_SCALE),
                              .fees = {1000, 1000},
                              .latency_ns = 50 * INT64_C(1000000),
                              .max_choices = max_choices};
}

void run_args_finish(struct run_args *args)
{
    for (int i = 0; i < RUN_LISTS; i++)
        free(args->lists[i]);
    *args = (struct run_args){0};
}

/* Adds the words between commas; what they point into goes into *text. */
static int take_list(const struct run_args *args, const char *option, const char *value, char **text,
                     const char **words, size_t *n)
{
    if (*text)
        return wrong(args, option, value, "it was given before: name all with commas between");
    *text = strdup(value);
    if (!*text)
        return stored_fail(EXIT_ERROR, args->verb, "", "out of memory");
    char *next = *text;
    while (next) {
        char *word = strsep(&next, ",");
        if (!*word)
            return wrong(args, option, value, "a name is empty");
        if (*n == SYMBOLS_MAX)
            return wrong(args, option, value, "there can be 256 at most");
        words[(*n)++] = word;
    }
    return EXIT_OK;
}

/* Assets are in upper case. */
static int take_quotes(struct run_args *args, const char *value)
{
    int status = take_list(args, "--quote", value, &args->lists[RUN_QUOTES], args->quotes, &args->n_quotes);
    for (size_t i = 0; status == EXIT_OK && i < args->n_quotes; i++) {
        if (strlen(args->quotes[i]) >= ASSET_NAME_MAX)
            return wrong(args, "--quote", value, "an asset's name has at most 15 letters");
        for (char *c = args->lists[RUN_QUOTES] + (args->quotes[i] - args->lists[RUN_QUOTES]); *c; c++)
            *c = (char)toupper((unsigned char)*c);
    }
    return status;
}

static int take_time(const struct run_args *args, const char *option, const char *value, int64_t *ret)
{
    if (bars_time_parse(value, strlen(value), ret) == 0 && *ret > 0)
        return EXIT_OK;
    return wrong(args, option, value, "a time as 2024-08-08, 2024-08-08T14:02:00Z or 1723125720 is needed");
}

static int take_share(const struct run_args *args, const char *option, const char *value, int32_t *ret)
{
    int64_t units;
    if (decimal_parse_str(value, SHARE_SCALE, &units) < 0 || units < 0 || units > 100000)
        return wrong(args, option, value, "a share from 0 to 0.1, with at most 6 digits, is needed");
    *ret = (int32_t)units;
    return EXIT_OK;
}

static int take_whole(const struct run_args *args, const char *option, const char *value, int64_t max,
                      int64_t *ret)
{
    char words[80];
    int64_t units;
    if (decimal_parse_str(value, 0, &units) == 0 && units >= 0 && units <= max) {
        *ret = units;
        return EXIT_OK;
    }
    snprintf(words, sizeof words, "a whole number from 0 to %lld is needed", (long long)max);
    return wrong(args, option, value, words);
}

static int take_strategy(struct run_args *args, const char *value)
{
    if (args->n_choices == args->max_choices)
        return wrong(args, "--strategy", value,
                     args->max_choices == 1 ? "one strategy is expected" : "there can be 64 at most");
    int status = strategy_args_choose(args->verb, value, &args->choices[args->n_choices]);
    args->n_choices += status == EXIT_OK;
    return status;
}

static int take_way(struct run_args *args, const char *value)
{
    static const char *const names[] = {
        [BACKTEST_AUTO] = "auto", [BACKTEST_ENGINE] = "engine", [BACKTEST_COLUMNS] = "columns"};
    for (int i = 0; i < 3; i++)
        if (strcmp(value, names[i]) == 0) {
            args->way = (enum backtest_way)i;
            return EXIT_OK;
        }
    return wrong(args, "--way", value, "auto, engine or columns is needed");
}

static int take_money(struct run_args *args, int option, const char *value)
{
    int64_t whole = 0;
    int status = EXIT_OK;
    switch (option) {
    case OPTION_CASH:
        if (decimal_parse_str(value, RUN_CASH_SCALE, &args->cash) < 0 || args->cash <= 0 ||
            args->cash > 10000000000 * decimal_pow10(RUN_CASH_SCALE))
            return wrong(args, "--cash", value, "an amount above 0, to 10000000000, is needed");
        args->cash_given = true;
        return EXIT_OK;
    case OPTION_FEE_MAKER:
        args->maker_given = true;
        return take_share(args, "--fee-maker", value, &args->fees.maker_e6);
    case OPTION_FEE_TAKER:
        args->taker_given = true;
        return take_share(args, "--fee-taker", value, &args->fees.taker_e6);
    case OPTION_FEES:
        args->maker_given = args->taker_given = true;
        return rules_args_fees(args->verb, value, &args->fees);
    case OPTION_SLIPPAGE:
        args->slippage_given = true;
        return take_share(args, "--slippage", value, &args->slippage_e6);
    case OPTION_LATENCY:
        status = take_whole(args, "--latency-ms", value, 60000, &whole);
        args->latency_ns = whole * INT64_C(1000000);
        args->latency_given = true;
        return status;
    case OPTION_RISK:
        return rules_args_risk(args->verb, value, &args->risk);
    default:
        return -1;
    }
}

int run_args_take(struct run_args *args, int option, const char *value)
{
    int64_t whole = 0;
    int status;
    switch (option) {
    case OPTION_STRATEGY:
        return take_strategy(args, value);
    case OPTION_SET:
        if (args->n_choices == 0)
            return wrong(args, "--set", value, "it belongs behind the --strategy that it is of");
        return strategy_args_set(args->verb, value, &args->choices[args->n_choices - 1]);
    case OPTION_BARS:
        return take_list(args, "--bars", value, &args->lists[RUN_BARS], args->bars, &args->n_bars);
    case OPTION_SYMBOL:
        return take_list(args, "--symbol", value, &args->lists[RUN_SYMBOLS], args->symbols, &args->n_symbols);
    case OPTION_LOT:
        return take_list(args, "--lot", value, &args->lists[RUN_LOTS], args->lots, &args->n_lots);
    case OPTION_TICK:
        return take_list(args, "--tick", value, &args->lists[RUN_TICKS], args->ticks, &args->n_ticks);
    case OPTION_QUOTE:
        return take_quotes(args, value);
    case OPTION_REPAIR:
        args->repair = true;
        return EXIT_OK;
    case OPTION_EXCHANGE_INFO:
        args->exchange_info = value;
        return EXIT_OK;
    case OPTION_CACHE:
        args->cache = value;
        return EXIT_OK;
    case OPTION_NO_CACHE:
        args->no_cache = true;
        return EXIT_OK;
    case OPTION_FROM:
        return take_time(args, "--from", value, &args->from_ns);
    case OPTION_TO:
        return take_time(args, "--to", value, &args->to_ns);
    case OPTION_INTERVAL:
        if (bar_interval_parse(value, &args->interval_ns) == 0)
            return EXIT_OK;
        return wrong(args, "--interval", value, "an interval as 1m, 15m, 4h or 1d is needed");
    case OPTION_THREADS:
        status = take_whole(args, "--threads", value, 64, &whole);
        args->threads = (int)whole;
        return status;
    case OPTION_WAY:
        return take_way(args, value);
    case OPTION_STATE:
        args->state = value;
        return EXIT_OK;
    default:
        return take_money(args, option, value);
    }
}

/* One of each file, where there is one. */
static int spread(const struct run_args *args, const char *option, const char **words, size_t *n,
                  size_t files, const char *const **ret)
{
    if (*n != 0 && *n != 1 && *n != files)
        return stored_fail(EXIT_USAGE, args->verb, option, "one for all files, or one a file is needed");
    for (; *n > 0 && *n < files; ++*n)
        words[*n] = words[0];
    *ret = *n > 0 ? words : NULL;
    return EXIT_OK;
}

int run_args_names(struct run_args *args, const char *const **ret)
{
    return spread(args, "--symbol", args->symbols, &args->n_symbols, args->n_bars, ret);
}

int run_args_terms(struct run_args *args, size_t n, struct market_terms *ret)
{
    struct market_terms terms;
    int status = spread(args, "--lot", args->lots, &args->n_lots, n, &terms.lots);
    if (status == EXIT_OK)
        status = spread(args, "--tick", args->ticks, &args->n_ticks, n, &terms.ticks);
    if (status == EXIT_OK)
        status = spread(args, "--quote", args->quotes, &args->n_quotes, n, &terms.quotes);
    if (status == EXIT_OK)
        *ret = terms;
    return status;
}

int run_args_check(const struct run_args *args)
{
    if (args->from_ns && args->to_ns && args->to_ns <= args->from_ns)
        return stored_fail(EXIT_USAGE, args->verb, "--to", "it must be later than --from");
    char database[STATE_PATH_MAX];
    bool stored = args->n_bars == 1 && stored_bars_find(args->bars[0], database);
    if (args->n_symbols > 1 && args->n_bars > 0 && args->n_symbols != args->n_bars && !stored)
        return stored_fail(EXIT_USAGE, args->verb, "--symbol",
                           "one name for all files of --bars, or one name for each file is needed");
    if (args->exchange_info && args->n_lots + args->n_ticks + args->n_quotes > 0)
        return stored_fail(EXIT_USAGE, args->verb, "--exchange-info",
                           "it has lots, ticks and quotes: without --lot, --tick and --quote");
    if (stored && args->n_lots + args->n_ticks + args->n_quotes > 0)
        return stored_fail(EXIT_USAGE, args->verb, args->bars[0],
                           "a database has lots, ticks and quotes: without --lot, --tick and --quote");
    if (args->cache && args->no_cache)
        return stored_fail(EXIT_USAGE, args->verb, "--cache", "it contradicts --no-cache");
    for (int i = 0; i < args->n_choices; i++) {
        int status = strategy_args_check(args->verb, &args->choices[i]);
        if (status != EXIT_OK)
            return status;
    }
    return EXIT_OK;
}
