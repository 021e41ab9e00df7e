/* What the verbs share that run strategies on bars: backtest, sweep, lookahead, warmup. */
#ifndef CLI_RUN_ARGS_H
#define CLI_RUN_ARGS_H

#include <limits.h>

#include <jansson.h>

#include "cli/strategy_args.h"
#include "db/state.h"
#include "engine/backtest/actions_file.h"
#include "engine/backtest/backtest.h"
#include "engine/backtest/terms.h"
#include "engine/backtest/universe.h"
#include "exchange/trading_calendar.h"
#include "record/option.h"

/* The lists with commas. */
enum run_list { RUN_BARS, RUN_SYMBOLS, RUN_LOTS, RUN_TICKS, RUN_QUOTES, RUN_COLUMNS, RUN_LISTS };

/* The first member of what such a verb's options fill. Texts are the command line's own. */
struct run_args {
    struct backtest_terms terms; /* first: the options that are its keys have their places in it */
    const char *verb;
    const char *bars[SYMBOLS_MAX], *symbols[SYMBOLS_MAX], *lots[SYMBOLS_MAX], *ticks[SYMBOLS_MAX],
        *quotes[SYMBOLS_MAX], *columns[SYMBOLS_MAX];
    size_t n_bars, n_symbols; /* n_symbols: 0, 1 or n_bars */
    size_t n_lots, n_ticks, n_quotes, n_columns;
    struct external_columns external;   /* owned: once cli_run_columns_load() was called */
    char *named[SYMBOLS_MAX];           /* owned: the symbols of bars out of Parquet; NULL: of others */
    char *fetched[SYMBOLS_MAX];         /* owned: files that were fetched, or found in a folder */
    uint8_t *hashes[SYMBOLS_MAX];       /* owned: of bars that are fetched; NULL: of a file's bytes */
    struct run_fetch *fetching;         /* owned: whose files are not written yet */
    struct lake_python *lake;           /* owned: the same of Parquet */
    struct symbol *listed[SYMBOLS_MAX]; /* owned: as the venue lists it; NULL: not known */
    const char *rest_url, *ca_file, *keys, *feed; /* of the venue that they are fetched from */
    const char *exchange_info, *cache, *state;
    bool no_cache, repair;
    const char *calendar, *zone; /* NULL: not given */
    bool session_given, straddle_given, keep_straddling;
    bool policy_follows;          /* one that has not been read: it may name the calendar */
    struct calendar_file *table;  /* owned: once the bars are loaded; NULL: the run has no calendar */
    struct trading_calendar days; /* its days; n 0: it has none */
    struct trading_day *widened;  /* owned: of days, where bars that straddle are kept */
    const char *actions_from; /* NULL, "none" or a file: of splits and dividends; NULL: a database's own */
    struct backtest_actions actions; /* owned: once cli_run_actions() has read them */
    bool universe_given;
    struct engine_universe_rule universe_rule; /* where it was given */
    struct backtest_universe universe;         /* owned: once cli_run_universe() has made it */
    bool stored;                               /* the bars are a database's: cli_run_load() finds that */
    int64_t account_ns;                        /* when its daemon made the account; 0: none did */
    int64_t from_ns, to_ns, interval_ns;       /* 0: not given */
    bool given[BACKTEST_TERMS];
    struct strategy_choice choices[STRATEGY_ARGS_MAX];
    int n_choices, max_choices;
    const char *sets[STRATEGY_ARGS_MAX]; /* of the strategy that is an argument */
    int n_sets;
    int64_t threads;
    enum backtest_way way;
    char *lists[RUN_LISTS]; /* owned: the texts of the lists, cut at their commas */
};

void cli_run_init(struct run_args *args, const char *verb, int max_choices);
void cli_run_finish(struct run_args *args);

/* Their rows, for OPTION_SHARED(). */
enum { CLI_RUN_OPTIONS = 46 };
extern const struct option_row cli_run_options[CLI_RUN_OPTIONS];

/* Of a verb whose argument is the strategy: chooses it, with its --set. EXIT_OK; EXIT_USAGE with a line. */
int cli_run_strategy(struct option_call *call, const char *name);

/* For rows of such a list: the words between commas, at most SYMBOLS_MAX; what they point into goes into
 * *text, for the caller to free. EXIT_OK, or a status with its line. */
int cli_run_list(struct option_call *call, const struct option_row *row, const char *value, char **text,
                 const char **words, size_t *n);

/* After the last option: are the choices and times compatible? The same statuses. */
int cli_run_check(struct run_args *args);

/* Loads the bars. EXIT_OK with *ret for market_store_close(), or EXIT_ERROR with its line on stderr; notes on
 * gaps and caches go to stderr too. ret_from, ret_to: the rows that are to be traded. */
int cli_run_load(struct run_args *args, struct market **ret, struct market_load *load, size_t *ret_from,
                 size_t *ret_to);

/* Reads the files of --columns into args->external, once; cli_run_load() does so. EXIT_OK, or EXIT_ERROR with
 * its line. */
int cli_run_columns_load(struct run_args *args);
/* Of a run's configuration; NULL: there are none. */
const struct external_columns *cli_run_columns(const struct run_args *args);

/* What the options say of a run of rows [from, to), once the actions and the universe are there; the
 * accounts, and what is kept, are the caller's to add. */
struct backtest_config cli_run_config(const struct run_args *args, const struct market *market, size_t from,
                                      size_t to);

/* In the place of each folder of --bars that is no state directory come its files. EXIT_OK, or a status with
 * its line. */
int cli_run_folders(struct run_args *args);

/* Is --bars one state directory, or its database? Then the database's path. */
bool cli_run_stored(const struct run_args *args, char database[static STATE_PATH_MAX]);

/* In the place of each Parquet file or folder of --bars come names of files of bars, in a folder that can be
 * removed once they are loaded; "": there is none. As of what is fetched their hashes are known, and
 * cli_run_write_fetched() makes them. The same statuses. */
int cli_run_lake(struct run_args *args, char folder[static PATH_MAX]);
int cli_run_lake_write(struct run_args *args);
void cli_run_lake_finish(struct run_args *args);

/* An error's names of these files become the names of the Parquet files and the rows that they were made of.
 */
void cli_run_lake_where(struct run_args *args, char err[static MARKET_ERROR_MAX]);

/* Once the bars are loaded, in the order in which they are traded: reads their splits and dividends, with a
 * line on stderr for those that are left out. EXIT_OK, or EXIT_ERROR with its line. */
int cli_run_actions(struct run_args *args, const struct market *market);

/* Once they and the actions are there, of rows [from, to): computes the universe, with a line on stderr where
 * nothing is in at some of its times, or at all. EXIT_OK, or EXIT_ERROR with its line. */
int cli_run_universe(struct run_args *args, const struct market *market, size_t from, size_t to);
int cli_run_take_universe(struct option_call *call, const struct option_row *row, const char *value);
const struct backtest_universe *cli_run_universe_of(const struct run_args *args); /* NULL: there is no rule */
struct backtest_universe_sums cli_run_universe_sums(const struct run_args *args, const struct market *market,
                                                    size_t from, size_t to);
json_t *cli_run_universe_json(const struct run_args *args, const struct market *market, size_t from,
                              size_t to);
void cli_run_universe_print(const struct run_args *args, const struct market *market, size_t from,
                            size_t to); /* two lines; nothing without a rule */

/* Fetches what --bars names as VENUE:SYMBOL, and puts names of files into their places, which are in a folder
 * of their own; "": there is none. It can be removed once they are loaded. Their hashes are known, and
 * cli_run_write_fetched(), a market_options' write() of the args, makes them where they are read. EXIT_OK, or
 * a status with its line. */
int cli_run_fetch(struct run_args *args, char folder[static PATH_MAX]);
int cli_run_write_fetched(void *args, char err[MARKET_ERROR_MAX]);
/* Lets go of the history, which other processes can fetch then. */
void cli_run_fetch_finish(struct run_args *args);

/* Of files that --venue lists, by their names and what is kept of its history: their listings. */
void cli_run_list_files(struct run_args *args);

/* Parquet's symbols and --symbol of the bars files, NULL where it was not given; one that was given once is
 * of all of them. EXIT_OK, or EXIT_USAGE for other numbers of them. */
int cli_run_names(struct run_args *args, const char *const **ret);

/* --lot, --tick and --quote of n files, as market_options has them; one that was given once is of all of
 * them. EXIT_OK; EXIT_USAGE for other numbers of them. */
int cli_run_terms(struct run_args *args, size_t n, struct market_terms *ret);

/* One line on stderr for each thing about a market that its source left open: gaps, repaired rows, rounded
 * prices, an unknown quote asset. */
void cli_run_note(const struct run_args *args, const struct market *market);

/* Prints why bars were refused, with the option that would accept them: r is what loading them returned.
 * EXIT_ERROR. */
int cli_run_refuse(const struct run_args *args, int r, char err[static MARKET_ERROR_MAX]);

/* Where a symbol's terms come from, in words: "--lot", "file", "name", "exchange info", "venue", "database",
 * "default". */
enum run_term { RUN_TERM_LOT, RUN_TERM_TICK, RUN_TERM_QUOTE };
const char *cli_run_source(const struct run_args *args, enum run_term term, const struct symbol *symbol);

/* A line on stderr where the volumes of a file are whole numbers, so that its lot is 1, and that costs more
 * than 1 % of the cash. */
void cli_run_note_lot(const struct run_args *args, const struct market_series *series);

/* A line on stderr where orders of `account` were refused for their quantity, with the symbol and what
 * would help, and one where they were refused for a tick. */
void cli_run_note_refused(const struct run_args *args, const struct market *market, const char *account,
                          const struct backtest_account *refused);

/* The rows of a market that --from and --to name. The same statuses. */
int cli_run_rows(const struct run_args *args, const struct market *market, size_t *ret_from, size_t *ret_to);

/* The account of a choice in a market: named after the strategy, and numbered where several have one.
 * EXIT_OK, or EXIT_ERROR where the market's symbols are not quoted in one currency. */
int cli_run_account(const struct run_args *args, const struct market *market, int choice,
                    struct account_spec *ret);

/* A line on stderr where the account's strategy also sells short, and it may not. */
void cli_run_note_long_only(const struct run_args *args, const struct backtest_config *config,
                            const struct account_spec *account);

/* The account of a policy, "policy": with the capital and the fees that it was made for, where the command
 * line does not set them. The same statuses. */
int cli_run_policy_account(const struct run_args *args, const struct market *market,
                           const struct policy *policy, struct account_spec *ret);

/* A value of --interval, into an int64_t of any verb's. */
int cli_run_take_interval(struct option_call *call, const struct option_row *row, const char *value);

/* --plugins: the folder of shared objects. */
int cli_run_take_plugins(struct option_call *call, const struct option_row *row, const char *value);

/* ---- The market's calendar: run_calendar.c ---- */

/* Values of --session and --straddle, which are one of their words. */
int cli_run_take_session(struct option_call *call, const struct option_row *row, const char *value);
int cli_run_take_straddle(struct option_call *call, const struct option_row *row, const char *value);

/* Is there a calendar that they go with: --calendar, a database's, or maybe a policy's? EXIT_OK, or
 * EXIT_USAGE with its line. */
int cli_run_calendar_check(const struct run_args *args);

/* The session is the policy's, and so is the calendar unless one is given. The same statuses. */
int cli_run_policy_session(struct run_args *args, const struct policy *policy);

/* Opens the one of that name, or file, into args->days; NULL: there is none. EXIT_OK, or EXIT_ERROR with its
 * line. */
int cli_run_calendar_open(struct run_args *args, const char *name);

/* Once the bars are loaded: are they bars for the rules of stocks that are given? Sessions as long as the
 * bars of theirs, where those that straddle are kept. The same statuses. */
int cli_run_calendar_fit(struct run_args *args, const struct market *market);

/* Of a run's configuration; NULL: the market trades at all times. */
const struct trading_calendar *cli_run_calendar(const struct run_args *args);

/* Bars that are not there between a symbol's first and last, of the sessions that are traded. */
size_t cli_run_missing(const struct run_args *args, const struct market *market, int symbol);

void cli_run_calendar_finish(struct run_args *args);

/* ---- An account's rules: rules_args.c ---- */

/* Reads key=value, several with commas, into limits; keys and units are those of papertaped.ini's [risk].
 * EXIT_OK, or EXIT_USAGE with one line on stderr. */
int cli_rules_args_risk(const char *verb, const char *text, struct risk_limits *limits);

/* Reads maker:taker, or a venue's tier, as vip1 or VENUE/vip1. The same statuses. */
int cli_rules_args_fees(const char *verb, const char *text, struct fee_rates *ret);

#endif
