#include "cli/run_args.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/lake/bars.h"
#include "cli/stored.h"
#include "cli/stored_bars.h"
#include "exchange/bar.h"
#include "exchange/bars_file.h"
#include "exchange/calendar_file.h"
#include "exchange/exit_status.h"
#include "exchange/order_rules.h"
#include "indicators_gpu/plugin_file.h"

static const int64_t not_given = -1; /* in the bytes of a key's value */

/* The struct that a verb's options fill begins with this one. */
static struct run_args *run_of(const struct option_call *call)
{
    return call->into;
}

static void *place_of(const struct option_call *call, const struct option_row *row)
{
    return (char *)call->into + row->at;
}

static int wrong(const struct option_call *call, const struct option_row *row, const char *value,
                 const char *words)
{
    return option_fail(call, EXIT_USAGE, "--%s: \"%.64s\": %s", row->name, value, words);
}

static char *place_of_term(struct run_args *args, int i)
{
    return (char *)&args->terms + backtest_terms_keys[i].offset;
}

void cli_run_init(struct run_args *args, const char *verb, int max_choices)
{
    *args = (struct run_args){.verb = verb, .max_choices = max_choices, .terms.session = SESSION_REGULAR};
    for (int i = 0; i < BACKTEST_TERMS; i++)
        memcpy(place_of_term(args, i), &not_given, backtest_terms_keys[i].size);
}

void cli_run_finish(struct run_args *args)
{
    for (int i = 0; i < RUN_LISTS; i++)
        free(args->lists[i]);
    for (size_t i = 0; i < args->n_bars; i++) {
        free(args->fetched[i]);
        free(args->named[i]);
        free(args->listed[i]);
        free(args->hashes[i]);
    }
    cli_run_fetch_finish(args);
    cli_run_calendar_finish(args);
    backtest_external_finish(&args->external);
    backtest_actions_finish(&args->actions);
    backtest_universe_finish(&args->universe);
    *args = (struct run_args){0};
}

int cli_run_list(struct option_call *call, const struct option_row *row, const char *value, char **text,
                 const char **words, size_t *n)
{
    if (*text)
        return wrong(call, row, value, "it was given before: name all with commas between");
    *text = strdup(value);
    if (!*text)
        return option_fail(call, EXIT_ERROR, "out of memory");
    char *next = *text;
    while (next) {
        char *word = strsep(&next, ",");
        if (!*word)
            return wrong(call, row, value, "a name is empty");
        if (*n == SYMBOLS_MAX)
            return wrong(call, row, value, "there can be 256 at most");
        words[(*n)++] = word;
    }
    return EXIT_OK;
}

#define TAKE_LIST(list, words, n) \
    static int take_##words(struct option_call *call, const struct option_row *row, const char *value) \
    { \
        struct run_args *args = run_of(call); \
        return cli_run_list(call, row, value, &args->lists[list], args->words, &args->n); \
    }
TAKE_LIST(RUN_BARS, bars, n_bars)
TAKE_LIST(RUN_SYMBOLS, symbols, n_symbols)
TAKE_LIST(RUN_LOTS, lots, n_lots)
TAKE_LIST(RUN_TICKS, ticks, n_ticks)
TAKE_LIST(RUN_COLUMNS, columns, n_columns)

/* Assets are in upper case. */
static int take_quotes(struct option_call *call, const struct option_row *row, const char *value)
{
    struct run_args *args = run_of(call);
    char **text = &args->lists[RUN_QUOTES];
    int status = cli_run_list(call, row, value, text, args->quotes, &args->n_quotes);
    for (size_t i = 0; status == EXIT_OK && i < args->n_quotes; i++) {
        if (strlen(args->quotes[i]) >= ASSET_NAME_MAX)
            return wrong(call, row, value, "an asset's name has at most 15 letters");
        for (char *c = *text + (args->quotes[i] - *text); *c; c++)
            *c = (char)toupper((unsigned char)*c);
    }
    return status;
}

static int take_time(struct option_call *call, const struct option_row *row, const char *value)
{
    int status = cli_stored_take_time(call, row, value);
    if (status == EXIT_OK && *(int64_t *)place_of(call, row) <= 0)
        return wrong(call, row, value, "a time after 1970 is needed");
    return status;
}

int cli_run_take_interval(struct option_call *call, const struct option_row *row, const char *value)
{
    char why[CONFIG_WHY_MAX];
    int64_t ns = 0;
    if (bar_interval_parse_any(value, &ns) == 0 && ns == BAR_MONTH_NS)
        return option_fail(call, EXIT_USAGE,
                           "--%s %s: rows have one length here, and months have several: 1d or 1w", row->name,
                           value);
    if (ns == 0 && config_key_word(value, BAR_INTERVAL_NAMES, why) < 0)
        return option_fail(call, EXIT_USAGE, "--%s: %s", row->name, why);
    *(int64_t *)place_of(call, row) = ns;
    return EXIT_OK;
}

int cli_run_take_plugins(struct option_call *call, const struct option_row *row, const char *value)
{
    if (access(value, R_OK | X_OK) < 0)
        return option_fail(call, EXIT_USAGE, "--%s: %s: %s: a folder of shared objects is needed", row->name,
                           value, strerror(errno));
    return indicator_plugin_folder_set(value) == 0
               ? EXIT_OK
               : option_fail(call, EXIT_USAGE, "--%s: a shorter path is needed", row->name);
}

static int take_strategy(struct option_call *call, const struct option_row *row, const char *value)
{
    struct run_args *args = run_of(call);
    if (args->n_choices == args->max_choices)
        return wrong(call, row, value,
                     args->max_choices == 1 ? "one strategy is expected" : "there can be 64 at most");
    int status = cli_strategy_args_choose(args->verb, value, &args->choices[args->n_choices]);
    args->n_choices += status == EXIT_OK;
    return status;
}

/* Where the strategy is an argument, it may stand behind its --set. */
static int take_set(struct option_call *call, const struct option_row *row, const char *value)
{
    struct run_args *args = run_of(call);
    if (args->n_choices > 0)
        return cli_strategy_args_set(args->verb, value, &args->choices[args->n_choices - 1]);
    if (!call->verb->actions->arguments || args->n_sets == STRATEGY_ARGS_MAX)
        return wrong(call, row, value, "it belongs behind the --strategy that it is of");
    args->sets[args->n_sets++] = value;
    return EXIT_OK;
}

int cli_run_strategy(struct option_call *call, const char *name)
{
    struct run_args *args = run_of(call);
    int status = take_strategy(call, cli_run_options, name);
    for (int i = 0; i < args->n_sets && status == EXIT_OK; i++)
        status = cli_strategy_args_set(args->verb, args->sets[i], &args->choices[0]);
    return status;
}

static int take_way(struct option_call *call, const struct option_row *row, const char *value)
{
    (void)row;
    run_of(call)->way = *value == 'a' ? BACKTEST_AUTO : *value == 'e' ? BACKTEST_ENGINE : BACKTEST_COLUMNS;
    return EXIT_OK;
}

static int take_fees(struct option_call *call, const struct option_row *row, const char *value)
{
    (void)row;
    return cli_rules_args_fees(run_of(call)->verb, value, &run_of(call)->terms.fees);
}

static int take_venue(struct option_call *call, const struct option_row *row, const char *value)
{
    char words[256] = "a venue with rules by class is needed:";
    const struct order_rules *rules;
    const char *last = "";
    for (size_t i = 0; (rules = order_rules_row(i)); i++) {
        size_t len = strlen(words);
        if (strcmp(rules->venue, value) == 0) {
            run_of(call)->terms.venue = rules->venue;
            return EXIT_OK;
        }
        if (strcmp(rules->venue, last) != 0)
            snprintf(words + len, sizeof words - len, " %s,", last = rules->venue);
    }
    words[strlen(words) - 1] = ';';
    strncat(words, " of others nothing is refused", sizeof words - strlen(words) - 1);
    return wrong(call, row, value, words);
}

static int take_risk(struct option_call *call, const struct option_row *row, const char *value)
{
    (void)row;
    return cli_rules_args_risk(run_of(call)->verb, value, &run_of(call)->terms.risk);
}

/* fee-tiers, withholding: of backtest_charge_keys. */
static int take_charge(struct option_call *call, const struct option_row *row, const char *value)
{
    struct backtest_terms *terms = &run_of(call)->terms;
    const char *name = strcmp(row->name, "fee-tiers") == 0 ? "fee_tiers" : row->name;
    const struct config_key *key = config_key_find(backtest_charge_keys, BACKTEST_CHARGES, NULL, name);
    char why[CONFIG_WHY_MAX];
    if (config_key_read(key, value, terms, why) < 0)
        return wrong(call, row, value, why);
    terms->own_fees |= terms->rules.fee_tiers[0] != '\0';
    return EXIT_OK;
}

#define AT(member) offsetof(struct run_args, member)

const struct option_row cli_run_options[CLI_RUN_OPTIONS] = {
    {"strategy", "STRATEGY",
     "its name; or lib:FILE.so, a shared object, whose code runs as this program's (docs/plugins.md); with "
     ":key=value,key=value behind it; or exec:COMMAND, a process of its own (docs/plugins-protocol.md)",
     .take = take_strategy},
    {"plugins", "DIR", "where lib:NAME is NAME.so; it stands before the --strategy",
     .take = cli_run_take_plugins},
    {"set", "KEY=VALUE",
     "a parameter of the --strategy before it; papertape backtest --list-strategies has them",
     .take = take_set},
    {"bars", "FILE[,FILE...]",
     "bars files, CSV or JSON (docs/market-store.md), plain or gzip, one symbol each; files of one symbol "
     "that follow each other are one series; or a state directory or its papertape.db, of which all symbols "
     "are taken; or a folder of bars files, as papertape fetch writes it, of which all are taken, or those of --interval and "
     "--symbol; or Parquet (docs/lake.md), a file, or a folder as papertape export writes it, of which all symbols are "
     "taken, or those of --symbol; or VENUE:SYMBOL, whose history is fetched (docs/history.md), with --interval and --from",
     .take = take_bars},
    {"rest-url", "URL", "in place of the host of that venue, https://HOST[:PORT]", AT(rest_url),
     .with = "bars"},
    {"ca-file", "FILE", "certificates (PEM) that are trusted alone there", AT(ca_file), .with = "bars"},
    {"keys", "FILE", "of that venue: two lines, id and secret, of mode 0600", AT(keys), .with = "bars"},
    {"feed", "WORD", "of that venue's stocks, as in its section of papertaped.ini", AT(feed), .with = "bars"},
    {"symbol", "SYMBOL[,SYMBOL...]", "where the files' names do not have it: one for all, or one a file",
     .take = take_symbols},
    {"interval", "INTERVAL", "of the bars, as 1m or 4h, where the files leave it open", AT(interval_ns),
     cli_run_take_interval},
    {"from", "T", "trade bars that open at T or later; those before warm the indicators up", AT(from_ns),
     take_time},
    {"to", "T", "trade bars that open before T", AT(to_ns), take_time, .after = "from"},
    {"lot", "N[,N...]", "the step of quantities, where the files do not show it: one for all, or one a file",
     .take = take_lots},
    {"tick", "N[,N...]", "the step of prices, likewise", .take = take_ticks},
    {"quote", "ASSET[,ASSET...]", "the currency, likewise", .take = take_quotes},
    {"columns", "FILE[,FILE...]",
     "external columns that a strategy reads as col:NAME (docs/backtest.md): CSV timestamp,published,NAME..., each value "
     "seen from its published time on",
     .take = take_columns},
    {"repair", NULL,
     "widen low and high of bars whose open or close lies outside them, and say how many; without it such a "
     "bar is an error",
     AT(repair)},
    {"calendar", "CALENDAR",
     "when the bars' market trades, " CALENDAR_NAMES " (docs/market-store.md); without it at all times",
     AT(calendar)},
    {"session", "regular|extended|all",
     "the bars that are read, decided and traded on: of the regular session, which it is with a calendar, of "
     "that and the extended hours, or every bar",
     .take = cli_run_take_session},
    {"zone", "ZONE", "of the files' times that name none, as America/New_York; UTC without it", AT(zone)},
    {"straddle", "refuse|keep",
     "bars that begin in one session and end in another: an error, or kept, as part of the regular session",
     .take = cli_run_take_straddle},
    {"corporate-actions", "FILE|none",
     "splits and dividends (CSV, as papertape actions --csv prints them) that raw bars trade through as live, by the "
     "engine; without it those that a state directory has stored, and none of files",
     AT(actions_from)},
    {"universe", "RULE",
     "which of the symbols may be entered, by their closed bars and looked at again at stated times, as \"volume>1e6 & "
     "age>30d; top 10 by volume; every 1d\"; of volume, volatility, change, price and age. The engine trades it",
     .take = cli_run_take_universe},
    {"exchange-info", "FILE", "the venue's list of symbols, for their ticks and lots", AT(exchange_info),
     .without = "lot tick quote"},
    {"cache", "DIR", "where the market is kept, ready to be mapped", AT(cache), .without = "no-cache"},
    {"no-cache", NULL, "it is kept nowhere", AT(no_cache)},
    {"cash", "N", .key = &backtest_terms_keys[BACKTEST_CASH]},
    {"fee-maker", "R", .key = &backtest_terms_keys[BACKTEST_FEE_MAKER]},
    {"fee-taker", "R", .key = &backtest_terms_keys[BACKTEST_FEE_TAKER]},
    {"fees", "TIER", "both rates, of a venue's tier: papertape fees lists them", .take = take_fees,
     .without = "fee-maker fee-taker"},
    {"fee-tiers", "STEPS",
     "rates by the account's volume of 30 days, VOLUME MAKER TAKER, VOLUME MAKER TAKER …, as \"0 0.1% 0.1%, "
     "1000000 0.09% 0.1%\" (docs/risk.md). The engine trades it",
     .take = take_charge, .without = "fee-maker fee-taker fees"},
    {"regulatory-fees", NULL,
     "sales of stocks of the US cost what the SEC and FINRA take, by date (docs/risk.md). The engine trades them",
     AT(terms.rules.regulatory_fees)},
    {"withholding", "R", "the tax that is kept of dividends of what is held: 15% or 0.15",
     .take = take_charge, .with = "corporate-actions"},
    {"slippage", "R", .key = &backtest_terms_keys[BACKTEST_SLIPPAGE]},
    {"latency-ms", "N", .key = &backtest_terms_keys[BACKTEST_LATENCY]},
    {"risk", "LIMIT=VALUE", "a limit, as in [risk] of papertaped.ini; none when left out", .take = take_risk},
    {"margin", "WORD", .key = &backtest_terms_keys[BACKTEST_MARGIN]},
    {"pattern-day-trader", "WORD", .key = &backtest_terms_keys[BACKTEST_DAY_TRADER]},
    {"settlement", "WORD", .key = &backtest_terms_keys[BACKTEST_SETTLEMENT]},
    {"shorts", NULL, "an account may sell what it does not hold (docs/accounts.md)", AT(terms.rules.shorts)},
    {"collateral", "R", .key = &backtest_terms_keys[BACKTEST_COLLATERAL], .with = "shorts"},
    {"maintenance", "R", .key = &backtest_terms_keys[BACKTEST_MAINTENANCE], .with = "shorts"},
    {"borrow-rate", "R", .key = &backtest_terms_keys[BACKTEST_BORROW_RATE], .with = "shorts"},
    {"venue", "VENUE",
     "its rules of orders hold, and its fees where no option names some: of stocks with --calendar, else of crypto",
     .take = take_venue},
    {"threads", "N", "0, the default: one a core", AT(threads), .low = 0, .high = 64},
    {"way", "auto|engine|columns",
     "engine: bar by bar; columns: vectorised, with the same results; auto: the faster that can",
     .take = take_way},
};

struct backtest_config cli_run_config(const struct run_args *args, const struct market *market, size_t from,
                                      size_t to)
{
    return (struct backtest_config){.market = market,
                                    .actions = args->actions.list,
                                    .n_actions = args->actions.n,
                                    .universe = cli_run_universe_of(args),
                                    .calendar = cli_run_calendar(args),
                                    .external = cli_run_columns(args),
                                    .venue = args->terms.venue,
                                    .class_by_calendar = args->terms.venue != NULL,
                                    .from = from,
                                    .to = to,
                                    .latency_ns = args->terms.latency_ns,
                                    .slippage_e6 = args->terms.slippage_e6,
                                    .way = args->way,
                                    .threads = (int)args->threads};
}

/* One of each file, where there is one. */
static int spread(const struct run_args *args, const char *option, const char **words, size_t *n,
                  size_t files, const char *const **ret)
{
    if (*n != 0 && *n != 1 && *n != files)
        return cli_stored_fail(EXIT_USAGE, args->verb, option, "one for all files, or one a file is needed");
    for (; *n > 0 && *n < files; ++*n)
        words[*n] = words[0];
    *ret = *n > 0 ? words : NULL;
    return EXIT_OK;
}

int cli_run_names(struct run_args *args, const char *const **ret)
{
    int status = spread(args, "--symbol", args->symbols, &args->n_symbols, args->n_bars, ret);
    for (size_t i = 0; i < args->n_bars && status == EXIT_OK; i++)
        if (args->named[i]) {
            args->symbols[i] = args->named[i];
            *ret = args->symbols; /* NULL for each of the others, where --symbol is not given */
        }
    return status;
}

int cli_run_terms(struct run_args *args, size_t n, struct market_terms *ret)
{
    struct market_terms terms = {.listed =
                                     n == args->n_bars ? (const struct symbol *const *)args->listed : NULL};
    int status = spread(args, "--lot", args->lots, &args->n_lots, n, &terms.lots);
    if (status == EXIT_OK)
        status = spread(args, "--tick", args->ticks, &args->n_ticks, n, &terms.ticks);
    if (status == EXIT_OK)
        status = spread(args, "--quote", args->quotes, &args->n_quotes, n, &terms.quotes);
    if (status == EXIT_OK)
        *ret = terms;
    return status;
}

static void set_defaults(struct run_args *args)
{
    char why[CONFIG_WHY_MAX];
    for (int i = 0; i < BACKTEST_TERMS; i++) {
        args->given[i] = memcmp(place_of_term(args, i), &not_given, backtest_terms_keys[i].size) != 0;
        args->terms.own_fees |= args->given[i] && (i == BACKTEST_FEE_MAKER || i == BACKTEST_FEE_TAKER);
        if (!args->given[i])
            (void)config_key_read(&backtest_terms_keys[i], backtest_terms_keys[i].fallback, &args->terms,
                                  why);
    }
}

int cli_run_check(struct run_args *args)
{
    set_defaults(args);
    if (args->terms.cash == 0) /* a deposit may follow in an account of the daemon, so there it is valid */
        return cli_stored_fail(EXIT_USAGE, args->verb, "--cash", "\"0\": a number above 0 is needed");
    int status = cli_run_folders(args);
    if (status != EXIT_OK)
        return status;
    char database[STATE_PATH_MAX];
    bool stored = cli_run_stored(args, database);
    bool names_some = stored || (args->n_bars == 1 && cli_lake_is(args->bars[0]));
    if (args->n_symbols > 1 && args->n_bars > 0 && args->n_symbols != args->n_bars && !names_some)
        return cli_stored_fail(EXIT_USAGE, args->verb, "--symbol",
                               "one name for all files of --bars, or one name for each file is needed");
    status = cli_run_calendar_check(args);
    if (status != EXIT_OK)
        return status;
    bool terms = args->n_lots + args->n_ticks + args->n_quotes > 0;
    if (stored && (terms || args->exchange_info || args->cache))
        return cli_stored_fail(EXIT_USAGE, args->verb, args->bars[0],
                               "a database has lots, ticks and quotes, and no cache: without --lot, --tick, "
                               "--quote, --exchange-info and --cache");
    for (int i = 0; i < args->n_choices; i++) {
        status = cli_strategy_args_check(args->verb, &args->choices[i]);
        if (status != EXIT_OK)
            return status;
    }
    return EXIT_OK;
}
