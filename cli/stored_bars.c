#include "cli/stored_bars.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/stored.h"
#include "db/backtest.h"
#include "db/market_source.h"
#include "db/reader.h"
#include "exchange/exit_status.h"
#include "exchange/fail.h"
#include "exchange/nearest.h"
#include "strategy/external.h"
#include "strategy/policy/policy.h"

/* The symbols that the database has bars of. */
struct listed {
    char names[SYMBOLS_MAX][SYMBOL_NAME_MAX];
    size_t n;
    char calendar[CALENDAR_NAME_MAX]; /* of the first that has one; "": none */
};

static void list_symbol(void *ctx, const struct db_symbol_row *row)
{
    struct listed *listed = ctx;
    if (!listed->calendar[0])
        memcpy(listed->calendar, row->symbol.calendar, sizeof listed->calendar);
    if (listed->n < SYMBOLS_MAX)
        memcpy(listed->names[listed->n++], row->symbol.name, SYMBOL_NAME_MAX);
}

static void see_bar(void *ctx, const struct bar *bar)
{
    (void)bar;
    *(bool *)ctx = true;
}

static bool has_bars(struct db_reader *reader, const char *symbol, int64_t interval_ns)
{
    bool any = false;
    return db_reader_last_bars(reader, symbol, interval_ns, BAR_VENUE, 1, see_bar, &any) == 0 && any;
}

/* Keeps the symbols that have bars of it; how many. */
static size_t keep(struct db_reader *reader, const struct listed *all, int64_t interval_ns,
                   struct listed *kept)
{
    kept->n = 0;
    for (size_t i = 0; i < all->n; i++)
        if (has_bars(reader, all->names[i], interval_ns))
            memcpy(kept->names[kept->n++], all->names[i], SYMBOL_NAME_MAX);
    return kept->n;
}

static int choose(const struct run_args *args, const char *database, struct listed *ret, int64_t *ret_ns)
{
    struct db_reader *reader;
    struct listed *all = calloc(1, sizeof *all);
    int status = all ? cli_stored_open_file(args->verb, database, &reader)
                     : cli_stored_fail(EXIT_ERROR, args->verb, database, "out of memory");
    if (status != EXIT_OK) {
        free(all);
        return status;
    }
    ret->n = 0;
    int r = db_reader_symbols(reader, list_symbol, all);
    if (r == 0 && args->interval_ns > 0)
        keep(reader, all, *ret_ns = args->interval_ns, ret);
    for (size_t i = 0; r == 0 && args->interval_ns == 0 && ret->n == 0 && i < BAR_INTERVALS; i++)
        keep(reader, all, *ret_ns = bar_intervals[i].ns, ret);
    memcpy(ret->calendar, all->calendar, sizeof ret->calendar);
    free(all);
    status = cli_stored_close(args->verb, reader, r);
    if (status == EXIT_OK && ret->n == 0)
        return cli_stored_fail(EXIT_ERROR, args->verb, database,
                               args->interval_ns > 0 ? "it holds no bars of that interval"
                                                     : "it holds no bars");
    return status;
}

/* The one that is given, or the table of the symbols' own: the venue's of the stocks of US exchanges, or a
 * saved backtest's. */
static int open_calendar(struct run_args *args, const char *calendar)
{
    if (args->calendar || calendar[0] == '\0')
        return cli_run_calendar_open(args, args->calendar);
    if (strcmp(policy_calendar_table(calendar), "nyse") == 0)
        return cli_run_calendar_open(args, "nyse");
    return cli_stored_fail(EXIT_ERROR, args->verb, calendar,
                           "the days of its symbols' calendar are needed: --calendar FILE");
}

int cli_stored_bars_load(struct run_args *args, const char *database, struct market **ret,
                         struct market_load *load)
{
    const char *names[SYMBOLS_MAX];
    char err[MARKET_ERROR_MAX];
    struct market_options options = {.threads = args->threads, .repair = args->repair};
    struct listed *listed = calloc(1, sizeof *listed);
    if (!listed)
        return cli_stored_fail(EXIT_ERROR, args->verb, "", "out of memory");
    int status = choose(args, database, listed, &options.interval_ns);
    if (status == EXIT_OK)
        status = open_calendar(args, listed->calendar);
    options.calendar = cli_run_calendar(args);
    options.session = args->terms.session;
    options.raw = !args->actions_from || strcmp(args->actions_from, "none") != 0;
    options.account_ns = args->account_ns;
    options.account_bars = ENGINE_RECENT_BARS_MAX;
    size_t n = args->n_symbols > 0 ? args->n_symbols : listed->n;
    for (size_t i = 0; i < n; i++)
        names[i] = args->n_symbols > 0 ? args->symbols[i] : listed->names[i];
    int r = status == EXIT_OK ? db_market_load(database, names, n, BAR_VENUE, &options, ret, load, err) : 0;
    if (r < 0)
        status = cli_run_refuse(args, r, err);
    free(listed);
    return status;
}

enum { FAIL_WORDS = 500 };

struct wanted {
    const char *name;
    struct nearest nearest;
    struct stored_account account;
    int r; /* -ENOENT until it is found */
    char strategy[DB_STRATEGY_NAME_MAX];
};

static void take_account(void *ctx, const struct db_account_row *row)
{
    struct wanted *wanted = ctx;
    nearest_offer(&wanted->nearest, wanted->name, row->account.name);
    if (strcmp(row->account.name, wanted->name) != 0)
        return;
    wanted->r = db_account_spec(&row->account, &wanted->account.spec) < 0 ? -ENOTSUP : 0;
    wanted->account.created_ns = row->account.created_ns;
    snprintf(wanted->strategy, sizeof wanted->strategy, "%s", row->account.strategy);
}

static void take_venue(void *ctx, const struct db_symbol_row *row)
{
    struct stored_account *account = ctx;
    if (!account->venue[0] && row->symbol.asset != ASSET_UNKNOWN)
        memcpy(account->venue, row->symbol.venue, sizeof account->venue);
}

/* A number of the table meta; -1 where there is none. */
static int64_t meta_number(struct db_reader *reader, const char *key)
{
    char text[32], *end;
    if (db_reader_meta(reader, key, text, sizeof text) < 0)
        return -1;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' ? value : -1;
}

/* 0 or what the database says. */
static int read_settings(struct db_reader *reader, struct stored_account *account)
{
    account->latency_ns = meta_number(reader, "latency_ns");
    account->slippage_e6 = (int32_t)meta_number(reader, "slippage_e6");
    account->extended_hours = (int)meta_number(reader, "extended_hours");
    account->saved = meta_number(reader, DB_BACKTEST_KEY) > 0;
    return db_reader_symbols(reader, take_venue, account);
}

int cli_stored_bars_settings(const char *verb, const char *database, struct stored_account *ret)
{
    struct db_reader *reader;
    *ret = (struct stored_account){0};
    int status = cli_stored_open_file(verb, database, &reader);
    return status == EXIT_OK ? cli_stored_close(verb, reader, read_settings(reader, ret)) : status;
}

/* Reads the settings and the account that is wanted. */
static int read_account(const char *verb, const char *database, struct wanted *wanted)
{
    struct db_reader *reader;
    int status = cli_stored_open_file(verb, database, &reader);
    if (status != EXIT_OK)
        return status;
    int r = read_settings(reader, &wanted->account);
    r = r < 0 ? r : db_reader_accounts(reader, take_account, wanted);
    return cli_stored_close(verb, reader, r);
}

/* A strategy from outside is opened first: its parameters are read by their names then. */
static int read_outside_account(const char *verb, const char *database, struct wanted *wanted)
{
    const struct strategy *strategy;
    char words[FAIL_WORDS];
    if (strategy_open(wanted->strategy, &strategy, words, sizeof words) < 0)
        return cli_stored_fail(EXIT_ERROR, verb, wanted->name, words);
    *wanted = (struct wanted){.name = wanted->name, .r = -ENOENT};
    return read_account(verb, database, wanted);
}

int cli_stored_bars_account(const char *verb, const char *database, const char *name,
                            struct stored_account *ret)
{
    struct wanted wanted = {.name = name, .r = -ENOENT};
    char what[80], words[32 + NEAREST_HINT_MAX];
    int status = read_account(verb, database, &wanted);
    if (status == EXIT_OK && wanted.r == -ENOTSUP && strategy_is_outside(wanted.strategy))
        status = read_outside_account(verb, database, &wanted);
    if (status != EXIT_OK)
        return status;
    if (wanted.r == -ENOENT) {
        snprintf(what, sizeof what, "\"%.64s\"", name);
        snprintf(words, sizeof words, FAIL_NO_ACCOUNT "%s", NEAREST_HINT(&wanted.nearest, name));
        return cli_stored_fail(EXIT_ERROR, verb, what, words);
    }
    if (wanted.r == -ENOTSUP)
        return cli_stored_fail(EXIT_ERROR, verb, wanted.strategy, "this program has no such strategy");
    if (!wanted.account.spec.strategy)
        return cli_stored_fail(
            EXIT_ERROR, verb, name,
            "it has no strategy to try: its orders are by hand, or a policy's, which --policy "
            "with its file tries");
    *ret = wanted.account;
    return EXIT_OK;
}
