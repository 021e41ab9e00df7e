/* What the verbs share that run strategies on bars: backtest, sweep, lookahead, warmup. */
#ifndef CLI_RUN_ARGS_H
#define CLI_RUN_ARGS_H

#include <getopt.h>

#include "cli/strategy_args.h"
#include "engine/backtest/backtest.h"

enum { RUN_CASH_SCALE = 8 };

/* The lists with commas. */
enum run_list { RUN_BARS, RUN_SYMBOLS, RUN_LOTS, RUN_TICKS, RUN_QUOTES, RUN_LISTS };

/* Zeroed, then run_args_init(). Texts are the command line's own. */
struct run_args {
    const char *verb;
    const char *bars[SYMBOLS_MAX], *symbols[SYMBOLS_MAX], *lots[SYMBOLS_MAX], *ticks[SYMBOLS_MAX],
        *quotes[SYMBOLS_MAX];
    size_t n_bars, n_symbols; /* n_symbols: 0, 1 or n_bars */
    size_t n_lots, n_ticks, n_quotes;
    const char *exchange_info, *cache, *state;
    bool no_cache, repair;
    bool stored;                         /* the bars are a database's: run_args_load() finds that */
    int64_t from_ns, to_ns, interval_ns; /* 0: not given */
    int64_t cash;                        /* at RUN_CASH_SCALE */
    struct fee_rates fees;
    int32_t slippage_e6;
    int64_t latency_ns;
    bool cash_given, maker_given, taker_given, slippage_given, latency_given;
    struct risk_limits risk;
    struct strategy_choice choices[STRATEGY_ARGS_MAX];
    int n_choices, max_choices;
    int threads;
    enum backtest_way way;
    char *lists[RUN_LISTS]; /* owned: the texts of the lists, cut at their commas */
};

void run_args_init(struct run_args *args, const char *verb, int max_choices);
void run_args_finish(struct run_args *args);

/* The long options that it reads, to be put before a verb's own; ends without a NULL row. */
enum { RUN_ARGS_OPTIONS = 24 };
extern const struct option run_args_options[RUN_ARGS_OPTIONS];

/* Takes an option that getopt_long() returned. EXIT_OK; EXIT_USAGE with its line on stderr; -1 for one that
 * is the verb's own. */
int run_args_take(struct run_args *args, int option, const char *value);

/* After the last option: do the choices and times go together? The same statuses. */
int run_args_check(const struct run_args *args);

/* Loads the bars. EXIT_OK with *ret for market_store_close(), or EXIT_ERROR with its line on stderr; notes on
 * gaps and caches go to stderr too. ret_from, ret_to: the rows that are to be traded. */
int run_args_load(struct run_args *args, struct market **ret, struct market_load *load, size_t *ret_from,
                  size_t *ret_to);

/* --symbol of the bars files, NULL where it was not given; one that was given once is of all of them.
 * EXIT_OK, or EXIT_USAGE for other numbers of them. */
int run_args_names(struct run_args *args, const char *const **ret);

/* --lot, --tick and --quote of n files, as market_options has them; one that was given once is of all of
 * them. EXIT_OK; EXIT_USAGE for other numbers of them. */
int run_args_terms(struct run_args *args, size_t n, struct market_terms *ret);

/* One line on stderr for each thing about a market that its source left open: gaps, repaired rows, rounded
 * prices, an unknown quote asset. */
void run_args_note(const struct run_args *args, const struct market *market);

/* Prints why bars were refused, with the option that would take them: r is what loading them returned.
 * EXIT_ERROR. */
int run_args_refuse(const struct run_args *args, int r, char err[static MARKET_ERROR_MAX]);

/* Where a symbol's terms come from, in words: "--lot", "file", "name", "exchange info", "database",
 * "default". */
enum run_term { RUN_TERM_LOT, RUN_TERM_TICK, RUN_TERM_QUOTE };
const char *run_args_source(const struct run_args *args, enum run_term term, const struct symbol *symbol);

/* A line on stderr where the volumes of a file are whole numbers, so that its lot is 1, and that costs more
 * than 1 % of the cash. */
void run_args_note_lot(const struct run_args *args, const struct market_series *series);

/* A line on stderr where orders of `account` were refused for their quantity, with the symbol and what would
 * help, and one where they were for a tick. */
void run_args_note_refused(const struct run_args *args, const struct market *market, const char *account,
                           const struct backtest_account *refused);

/* The rows of a market that --from and --to name. The same statuses. */
int run_args_rows(const struct run_args *args, const struct market *market, size_t *ret_from, size_t *ret_to);

/* The account of a choice in a market: named after the strategy, and numbered where several have one.
 * EXIT_OK, or EXIT_ERROR where the market's symbols are not quoted in one currency. */
int run_args_account(const struct run_args *args, const struct market *market, int choice,
                     struct account_spec *ret);

/* The account of a policy, "policy": with the capital and the fees that it was made for, where the command
 * line says nothing else. The same statuses. */
int run_args_policy_account(const struct run_args *args, const struct market *market,
                            const struct policy *policy, struct account_spec *ret);

/* The help's lines on these options. */
extern const char run_args_help[];

#endif
