#include "cli/page/saved.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run_args.h"
#include "cli/stored.h"
#include "cli/stored_bars.h"
#include "db/backtest.h"
#include "exchange/decimal.h"
#include "exchange/exit_status.h"
#include "strategy/recorded.h"

/* What is read of one database, account by account. */
struct reading {
    const char *verb, *path;
    struct page_saved *saved;
    struct db_reader *reader;
    int account;  /* whose equity is read */
    size_t *caps; /* [2 * n] of fills and ledger rows, an account each */
    size_t points, cap_points;
    int64_t first_ns; /* of the first point of equity: the first row's close */
    int r;
};

static int fail(const struct reading *reading, const char *words)
{
    return cli_stored_fail(EXIT_ERROR, reading->verb, reading->path, words);
}

/* ---- rows ---- */

/* Room for one more of n; NULL without memory, which leaves the array as it was. */
static void *room(void *array, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return array;
    size_t more = *cap ? 2 * *cap : 256;
    void *moved = reallocarray(array, more, size);
    if (moved)
        *cap = more;
    return moved;
}

static void describe_param(const char *name, const json_t *value, struct strategy_description *into)
{
    struct strategy_described_param *param = &into->params[into->n_params];
    *param = (struct strategy_described_param){.fallback = NAN}; /* not known: each is shown */
    snprintf(param->name, sizeof param->name, "%s", name);
    snprintf(param->words, sizeof param->words, "%s", json_is_string(value) ? json_string_value(value) : "");
    into->values[into->n_params] = param->min = param->max = json_number_value(value);
    into->n_params++;
}

/* A strategy from outside, by what was stored of it: none of its code is run. 0 or -errno. */
static int describe(const struct db_account_row *row, struct account_spec *spec)
{
    const char *name = row->account.strategy, *library = strategy_form_source(STRATEGY_LIBRARY, name),
               *source = library ? library : strategy_form_source(STRATEGY_PROCESS, name);
    struct strategy_description description = {.form = library ? STRATEGY_LIBRARY : STRATEGY_PROCESS};
    json_t *params = row->params ? json_loads(row->params, 0, NULL) : NULL;
    const char *key;
    const json_t *value;
    snprintf(description.source, sizeof description.source, "%.*s", (int)sizeof description.source - 1,
             source);
    json_object_foreach(params, key, value) if (description.n_params < STRATEGY_PARAMS_MAX)
        describe_param(key, value, &description);
    int r = params ? strategy_recorded(&description, &spec->strategy) : -EBADMSG;
    memcpy(spec->params, description.values, sizeof description.values);
    json_decref(params);
    return r;
}

static void take_account(void *ctx, const struct db_account_row *row)
{
    struct reading *reading = ctx;
    struct backtest *backtest = &reading->saved->backtest;
    struct account_spec spec = {.currency_scale = row->account.currency_scale,
                                .cash = row->account.cash,
                                .rules = row->account.rules,
                                .session = row->account.session};
    struct account_spec *moved = reallocarray(reading->saved->accounts, (size_t)backtest->n_accounts + 1,
                                              sizeof *reading->saved->accounts);
    if (!moved || row->unread) {
        reading->r = moved ? -EBADMSG : -ENOMEM;
        reading->saved->accounts = moved ? moved : reading->saved->accounts;
        return;
    }
    if (db_account_spec(&row->account, &spec) < 0) { /* a strategy that this program does not have */
        memcpy(spec.name, row->account.name, sizeof spec.name);
        memcpy(spec.currency, row->account.currency, sizeof spec.currency);
        if (strategy_is_outside(row->account.strategy))
            reading->r = describe(row, &spec);
    }
    reading->saved->accounts = moved;
    moved[backtest->n_accounts++] = spec;
}

static void take_point(void *ctx, const struct db_equity_point *point)
{
    struct reading *reading = ctx;
    struct backtest_account *account = &reading->saved->backtest.accounts[reading->account];
    const struct account_spec *spec = &reading->saved->accounts[reading->account];
    double *moved = room(account->equity, reading->points, &reading->cap_points, sizeof *moved);
    if (!moved) {
        reading->r = -ENOMEM;
        return;
    }
    account->equity = moved;
    reading->first_ns = reading->points == 0 ? point->ts_ns : reading->first_ns;
    moved[reading->points++] = decimal_to_double(point->equity, spec->currency_scale);
    account->final_equity = point->equity;
    account->final_cash = point->cash;
}

/* The account of a row; NULL: of none. */
static struct backtest_account *account_of(struct reading *reading, const struct db_account *account)
{
    bool known = account && account->number >= 0 && account->number < reading->saved->backtest.n_accounts;
    return known ? &reading->saved->backtest.accounts[account->number] : NULL;
}

static int symbol_of(const struct reading *reading, const char *name)
{
    const struct market *market = reading->saved->market;
    for (int s = 0; s < market->n_symbols; s++)
        if (strcmp(market->series[s].symbol.name, name) == 0)
            return s;
    return -1;
}

static void take_fill(void *ctx, const struct db_fill_row *row)
{
    struct reading *reading = ctx;
    struct backtest_account *account = account_of(reading, row->account);
    int symbol = symbol_of(reading, row->symbol->symbol.name);
    if (!account || symbol < 0) {
        reading->r = -EBADMSG;
        return;
    }
    struct fill *moved =
        room(account->fills, account->n_fills, &reading->caps[2 * row->account->number], sizeof *moved);
    if (!moved) {
        reading->r = -ENOMEM;
        return;
    }
    account->fills = moved;
    moved[account->n_fills] = row->fill;
    moved[account->n_fills].account = row->account->number;
    moved[account->n_fills++].symbol = symbol;
}

static void count_order(void *ctx, const struct db_order_row *row)
{
    struct reading *reading = ctx;
    struct backtest_account *account = account_of(reading, row->account);
    if (!account)
        return;
    account->n_orders++;
    if (row->order.state == ORDER_REJECTED)
        account->refused[row->order.reason]++;
}

/* Of the ledger what the page sums up. */
static void take_ledger(void *ctx, const struct db_ledger_row *row)
{
    struct reading *reading = ctx;
    struct backtest_account *account = account_of(reading, row->account);
    if (!account || (row->row.kind != LEDGER_INTEREST && row->row.kind != LEDGER_DIVIDEND))
        return;
    struct ledger_row *moved =
        room(account->ledger, account->n_ledger, &reading->caps[2 * row->account->number + 1], sizeof *moved);
    if (!moved) {
        reading->r = -ENOMEM;
        return;
    }
    account->ledger = moved;
    moved[account->n_ledger++] = row->row;
}

/* ---- all ---- */

static int read_equity(struct reading *reading)
{
    struct backtest *backtest = &reading->saved->backtest;
    size_t first = 0;
    int r = 0;
    for (int a = 0; a < backtest->n_accounts && r == 0 && reading->r == 0; a++) {
        reading->account = a;
        reading->points = reading->cap_points = 0;
        r = db_reader_equity(reading->reader, a, INT64_MIN, 0, take_point, reading);
        if (r == 0 && a > 0 && reading->points != first)
            r = -EBADMSG;
        first = reading->points;
    }
    return r;
}

static int read_rows(struct reading *reading)
{
    struct backtest *backtest = &reading->saved->backtest;
    int r = db_reader_accounts(reading->reader, take_account, reading);
    if (r < 0 || reading->r < 0 || backtest->n_accounts == 0)
        return r;
    backtest->accounts = calloc((size_t)backtest->n_accounts, sizeof *backtest->accounts);
    reading->caps = calloc(2 * (size_t)backtest->n_accounts, sizeof *reading->caps);
    if (!backtest->accounts || !reading->caps)
        return reading->r = -ENOMEM;
    r = read_equity(reading);
    if (r == 0 && reading->r == 0)
        r = db_reader_fills(reading->reader, 0, take_fill, reading);
    if (r == 0 && reading->r == 0)
        r = db_reader_orders(reading->reader, false, 0, count_order, reading);
    if (r == 0 && reading->r == 0)
        r = db_reader_ledger(reading->reader, take_ledger, reading);
    if (r == 0 && reading->r == 0)
        r = cli_page_saved_actions(reading->reader, reading->saved, &reading->r);
    return r;
}

/* Rows at whose close something was held. */
struct holding {
    const struct backtest_account *account;
    int64_t *held; /* [n_symbols] */
    size_t fill, taken;
    int n; /* symbols that are held */
};

static void move(struct holding *holding, int symbol, int64_t by)
{
    int64_t before = holding->held[symbol];
    holding->held[symbol] += by;
    holding->n += (holding->held[symbol] != 0) - (before != 0);
}

static void take_splits(struct holding *holding, int64_t before_ns)
{
    const struct backtest_taken *taken;
    while ((taken = backtest_taken_next(holding->account, holding->fill, before_ns, &holding->taken)))
        move(holding, taken->symbol, taken->change);
}

static void hold_until(struct holding *holding, int64_t before_ns)
{
    const struct backtest_account *account = holding->account;
    for (; holding->fill < account->n_fills && account->fills[holding->fill].ts_ns < before_ns;
         holding->fill++) {
        const struct fill *fill = &account->fills[holding->fill];
        take_splits(holding, INT64_MAX);
        move(holding, fill->symbol, fill->side == ORDER_BUY ? fill_moves(fill) : -fill->qty);
    }
    take_splits(holding, before_ns);
}

static size_t exposed(const struct page_saved *saved, const struct backtest_account *account)
{
    const struct market *market = saved->market;
    struct holding holding = {.account = account,
                              .held = calloc((size_t)market->n_symbols, sizeof *holding.held)};
    size_t rows = 0;
    for (size_t row = saved->backtest.from; holding.held && row < saved->backtest.to; row++) {
        hold_until(&holding, market_open_ns(market, row + 1));
        rows += holding.n > 0;
    }
    free(holding.held);
    return rows;
}

static int measure(struct page_saved *saved)
{
    struct backtest *backtest = &saved->backtest;
    int r = 0;
    saved->reports = calloc((size_t)backtest->n_accounts, sizeof *saved->reports);
    saved->config = (struct backtest_config){.market = saved->market,
                                             .actions = saved->actions,
                                             .n_actions = saved->n_actions,
                                             .from = backtest->from,
                                             .to = backtest->to,
                                             .accounts = saved->accounts,
                                             .n_accounts = backtest->n_accounts,
                                             .slippage_e6 = PAGE_SLIPPAGE_UNKNOWN};
    saved->options = (struct report_config){
        .benchmark = REPORT_BENCHMARK_FIRST, .drawdowns = PAGE_DRAWDOWNS, .tails = true};
    for (int a = 0; a < backtest->n_accounts && r == 0; a++) {
        r = saved->reports ? backtest_trades_sum(&saved->config, &backtest->accounts[a]) : -ENOMEM;
        backtest->accounts[a].exposed = exposed(saved, &backtest->accounts[a]);
        if (r == 0)
            r = backtest_report(&saved->config, backtest, a, &saved->options, &saved->reports[a]);
    }
    snprintf(saved->benchmark, sizeof saved->benchmark, "%s", saved->market->series[0].symbol.name);
    saved->source = (struct page_source){.config = &saved->config,
                                         .backtest = backtest,
                                         .reports = saved->reports,
                                         .options = &saved->options,
                                         .benchmark = saved->benchmark};
    return r;
}

/* The bars of the database, all of them. */
static int load_bars(const struct reading *reading, const char *database)
{
    struct market_load load = {0};
    struct run_args args;
    cli_run_init(&args, reading->verb, 1);
    args.bars[args.n_bars++] = database;
    args.terms.session = SESSION_ALL;
    args.session_given = true;
    int status = cli_stored_bars_load(&args, database, &reading->saved->market, &load);
    cli_run_finish(&args);
    return status;
}

static int find_rows(struct reading *reading)
{
    const struct market *market = reading->saved->market;
    struct backtest *backtest = &reading->saved->backtest;
    backtest->from = market_store_row_at(market, reading->first_ns - market->interval_ns);
    backtest->to = backtest->from + reading->points;
    if (reading->points == 0 || backtest->from >= market->rows)
        return fail(reading, "it has no equity on its bars: nothing of it can be compared");
    backtest->to =
        backtest->to < market->rows ? backtest->to : market->rows; /* gaps at its end are not bars */
    return EXIT_OK;
}

static int load(struct reading *reading, const char *database)
{
    struct page_saved *saved = reading->saved;
    int status = load_bars(reading, database);
    if (status == EXIT_OK)
        status = cli_stored_open_file(reading->verb, database, &reading->reader);
    if (status != EXIT_OK)
        return status;
    int r = read_rows(reading);
    if (r == 0 && reading->r == -EBADMSG)
        status = fail(reading, "it has a row that does not fit its other rows");
    else if (r == 0 && reading->r < 0)
        status = fail(reading, strerror(-reading->r));
    status = r < 0 || status == EXIT_OK ? cli_stored_close(reading->verb, reading->reader, r)
                                        : (db_reader_close(reading->reader), status);
    if (status == EXIT_OK)
        status = find_rows(reading);
    if (status == EXIT_OK && (r = measure(saved)) < 0)
        status = fail(reading, strerror(-r));
    return status;
}

int cli_page_saved_load(const char *verb, const char *path, struct page_saved *ret)
{
    struct reading reading = {.verb = verb, .path = path, .saved = ret};
    char database[STATE_PATH_MAX];
    *ret = (struct page_saved){0};
    if (!db_state_database(path, database))
        return fail(&reading, "no state directory is there: papertape backtest --save DIR makes one");
    if (!db_backtest_is(database))
        return fail(&reading,
                    "it is no saved backtest: papertape backtest --save DIR makes one, and papertape report "
                    "has what a daemon did");
    int status = load(&reading, database);
    free(reading.caps);
    if (status != EXIT_OK)
        cli_page_saved_finish(ret);
    return status;
}

void cli_page_saved_finish(struct page_saved *saved)
{
    for (int a = 0; saved->reports && a < saved->backtest.n_accounts; a++)
        backtest_report_finish(&saved->reports[a]);
    free(saved->reports);
    free(saved->accounts);
    free(saved->actions);
    if (saved->backtest.accounts)
        backtest_finish(&saved->backtest);
    market_store_close(saved->market);
    *saved = (struct page_saved){0};
}
