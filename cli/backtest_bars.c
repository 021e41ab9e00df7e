/* Strategies on bars or on trades: loads them, runs, checks that the ledger adds up, and reports. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>

#include "cli/backtest_result.h"
#include "cli/lake/python.h"
#include "cli/progress.h"
#include "cli/stored.h"
#include "cli/stored_bars.h"
#include "cli/unzip.h"
#include "engine/backtest/audit.h"
#include "engine/backtest/ticks_file.h"
#include "exchange/clock.h"
#include "exchange/decimal.h"
#include "exchange/exit_status.h"
#include "exchange/fill_rules.h"
#include "strategy/policy/cache.h"

/* All that a run on bars owns. */
struct bars_run {
    struct backtest_args *args;
    const struct market *market;
    struct market *loaded;     /* of --bars */
    struct ticks_market ticks; /* of --ticks */
    struct market_load load;
    double load_s;
    struct policy *policy;        /* of --policy */
    struct stored_account stored; /* of --account, or the settings of the database that has the bars */
    struct market ordered;        /* `loaded`, its symbols in the policy's order */
    struct market_series *series; /* of `ordered` */
    struct account_spec *accounts;
    int n_accounts;
    int64_t latency_ns;
    int32_t slippage_e6;
    struct backtest_report *reports;
    struct backtest backtest;
    struct output outputs[BACKTEST_OUTPUTS];
    struct lake_python *exporting; /* of --export; NULL */
    struct backtest_config config;
    struct report_config report;
    struct progress progress;
    struct backtest_result result;
};

enum { DRAWDOWNS = 5 };

static const int64_t MINUTE_NS = INT64_C(60) * 1000000000;

static double peak_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? 1024.0 * (double)usage.ru_maxrss : 0;
}

/* The symbol of that name, or the first one, that has a bar to be held from; -1: there is none. */
static int find_benchmark(const struct bars_run *run, const char *name)
{
    for (int s = 0; s < run->market->n_symbols; s++) {
        const struct market_series *series = &run->market->series[s];
        size_t row = run->config.from;
        if (name && strcasecmp(series->symbol.name, name) != 0)
            continue;
        while (row < run->config.to && !market_present(series, row))
            row++;
        if (row < run->config.to)
            return s;
    }
    return -1;
}

/* report.h defines the benchmark. */
static int choose_benchmark(struct bars_run *run)
{
    const char *name = run->args->benchmark;
    const struct market *market = run->market;
    run->report = (struct report_config){.drawdowns = DRAWDOWNS,
                                         .tails = run->args->json || run->args->outputs[OUTPUT_PAGE]};
    if (name && strcmp(name, "none") == 0) {
        run->report.benchmark = REPORT_BENCHMARK_NONE;
        return EXIT_OK;
    }
    if (name && strcmp(name, "equal") == 0) {
        run->report.benchmark = REPORT_BENCHMARK_EQUAL;
        run->result.benchmark = "all symbols in equal parts";
        return EXIT_OK;
    }
    int s = find_benchmark(run, name), first = find_benchmark(run, NULL);
    if (name && s < 0) {
        char words[96];
        snprintf(words, sizeof words, "there are no bars of it to hold: equal, none%s%.24s would do",
                 first < 0 ? "" : " or ", first < 0 ? "" : market->series[first].symbol.name);
        return cli_backtest_fail(EXIT_ERROR, name[0] ? name : "--benchmark", words);
    }
    run->report.benchmark = s < 0 ? REPORT_BENCHMARK_NONE : REPORT_BENCHMARK_SYMBOL;
    run->report.symbol = s;
    run->result.benchmark = s < 0 ? NULL : market->series[s].symbol.name;
    return EXIT_OK;
}

/* Symbols that an account does not trade, for want of bars. */
static void note_short(const struct bars_run *run)
{
    char err[256];
    struct backtest_needs needs;
    for (int a = 0; a < run->n_accounts; a++) {
        if (backtest_needs(&run->config, &run->accounts[a], &needs, err, sizeof err) < 0 ||
            needs.n_short == 0)
            continue;
        fprintf(stderr,
                "papertape: backtest: note: %s has fewer bars than the %zu that %s of %s needs: nothing is "
                "done in it",
                run->market->series[needs.first_short].symbol.name, needs.bars, needs.output,
                run->accounts[a].name);
        if (needs.n_short > 1)
            fprintf(stderr, "; nor in %d more", needs.n_short - 1);
        fputc('\n', stderr);
    }
}

/* The daemon's account, whose session says which bars are wanted. */
static int read_account(struct bars_run *run)
{
    struct backtest_args *args = run->args;
    struct state_dir state;
    char err[256];
    if (!args->account)
        return EXIT_OK;
    if (db_state_dir_resolve(args->run.state, &state, err, sizeof err) < 0)
        return cli_backtest_fail(EXIT_ERROR, "--state", err);
    int status = cli_stored_bars_account("backtest", state.database, args->account, &run->stored);
    args->run.terms.session = run->stored.spec.session;
    args->run.account_ns = run->stored.saved ? 0 : run->stored.created_ns;
    return status;
}

/* Of a policy on a daemon's bars: how that daemon trades. */
static int read_settings(struct bars_run *run)
{
    char database[STATE_PATH_MAX];
    if (!run->policy || !run->args->run.stored || !db_state_database(run->args->run.bars[0], database))
        return EXIT_OK;
    return cli_stored_bars_settings("backtest", database, &run->stored);
}

/* The rules of orders are those of --venue, and of an account or a policy on the bars of a daemon the venue's
 * of these: files do not name theirs. */
static void choose_venue(const struct bars_run *run, struct backtest_config *config)
{
    const struct run_args *args = &run->args->run;
    config->venue = args->terms.venue;
    config->class_by_calendar = args->terms.venue != NULL;
    if (!config->venue && (run->args->account || run->policy) && args->stored && run->stored.venue[0])
        config->venue = run->stored.venue;
}

/* Does the account, or the policy on its daemon's bars, give limit orders before and after the session, as
 * its venue takes them? */
static bool limits_outside(const struct bars_run *run, const char *venue)
{
    const struct stored_account *account = &run->stored;
    enum session_choice session = run->policy ? run->policy->session : account->spec.session;
    bool outside = cli_run_calendar(&run->args->run) && session == SESSION_EXTENDED;
    bool of_daemon = run->args->account || (run->policy && run->args->run.stored);
    if (!of_daemon || !outside || account->extended_hours == 1)
        return false;
    if (account->extended_hours == 0 && venue) {
        if (run->policy)
            fprintf(stderr,
                    "papertape: backtest: note: [venue] extended_hours is off in the bars' daemon, and "
                    "here: a policy of session extended is refused there\n");
        return true;
    }
    fprintf(stderr, "papertape: backtest: note: %s: [venue] extended_hours is taken as on: %s\n",
            run->args->account ? run->args->account : run->args->policy,
            venue ? "its database does not say that it is off"
                  : "no venue's rules of orders hold without --venue");
    return false;
}

/* From when it was made, with the daemon's latency and slippage, where the command line does not set them. */
static int take_account(struct bars_run *run, size_t *from)
{
    const struct backtest_args *args = run->args;
    const struct market *market = run->market;
    const struct stored_account account = run->stored;
    run->accounts[0] = account.spec;
    if (!args->run.given[BACKTEST_LATENCY] && account.latency_ns >= 0)
        run->latency_ns = account.latency_ns;
    if (!args->run.given[BACKTEST_SLIPPAGE] && account.slippage_e6 >= 0)
        run->slippage_e6 = account.slippage_e6;
    int64_t first_ns = account.created_ns - market->interval_ns + 1; /* the bar that closes next */
    if (!args->run.from_ns && first_ns > market->start_ns &&
        market_store_row_at(market, first_ns) < market->rows)
        *from = market_store_row_at(market, first_ns);
    return EXIT_OK;
}

static int make_accounts(struct bars_run *run, size_t *from)
{
    const char *account = run->args->account;
    int n = run->args->run.n_choices, status = EXIT_OK;
    run->n_accounts = account || run->policy ? 1 : n;
    run->accounts = calloc((size_t)run->n_accounts, sizeof *run->accounts);
    run->reports = calloc((size_t)run->n_accounts, sizeof *run->reports);
    if (!run->accounts || !run->reports)
        return cli_backtest_fail(EXIT_ERROR, "", "out of memory");
    if (account)
        return take_account(run, from);
    if (run->policy) {
        if (!run->args->run.given[BACKTEST_SLIPPAGE])
            run->slippage_e6 = run->policy->slippage_e6;
        return cli_run_policy_account(&run->args->run, run->market, run->policy, &run->accounts[0]);
    }
    for (int i = 0; i < n && status == EXIT_OK; i++)
        status = cli_run_account(&run->args->run, run->market, i, &run->accounts[i]);
    return status;
}

static void configure(struct bars_run *run, size_t from, size_t to)
{
    const struct run_args *args = &run->args->run;
    run->config = cli_run_config(args, run->market, from, to);
    run->config.ticks = run->ticks.ticks;
    run->config.accounts = run->accounts;
    run->config.n_accounts = run->n_accounts;
    run->config.latency_ns = run->latency_ns;
    run->config.slippage_e6 = run->slippage_e6;
    run->config.orders = run->config.ledger = true;
    run->config.progress = cli_progress_show;
    run->config.ctx = &run->progress;
    choose_venue(run, &run->config);
    run->config.limits_outside = limits_outside(run, run->config.venue);
}

/* Accounts whose equity reached the most that is counted, and may have been more. */
static void note_most(const struct bars_run *run)
{
    const struct backtest *backtest = &run->backtest;
    for (int a = 0; a < run->n_accounts; a++) {
        const struct account_spec *spec = &run->accounts[a];
        double most = decimal_to_double(FILL_MONEY_MAX, spec->currency_scale);
        size_t i = 0, n = backtest->to - backtest->from;
        while (i < n && backtest->accounts[a].equity[i] < most)
            i++;
        if (i < n)
            fprintf(stderr,
                    "papertape: backtest: note: %s came to %.0f %s, and no more is counted: its numbers are "
                    "wrong from there on, less cash is needed\n",
                    spec->name, most, spec->currency);
    }
}

static void note_long_only(const struct bars_run *run)
{
    for (int a = 0; a < run->n_accounts; a++)
        cli_run_note_long_only(&run->args->run, &run->config, &run->accounts[a]);
}

/* Reports orders that were refused for a value that a file does not have. */
static void note_refused(const struct bars_run *run)
{
    for (int a = 0; a < run->n_accounts; a++)
        cli_run_note_refused(&run->args->run, run->market, run->accounts[a].name, &run->backtest.accounts[a]);
}

static bool is_idle(const struct backtest_account *account)
{
    uint64_t refused = 0;
    for (int reason = 0; reason < ORDER_REASONS; reason++)
        refused += account->refused[reason];
    for (int fault = 0; fault < INTENT_FAULTS; fault++)
        refused += account->intents[fault];
    return account->n_orders == 0 && refused == 0;
}

/* Reports accounts without an order, where nothing was refused. */
static void note_idle(const struct bars_run *run)
{
    for (int a = 0; a < run->n_accounts; a++) {
        const struct strategy *strategy = run->accounts[a].strategy;
        if (!is_idle(&run->backtest.accounts[a]))
            continue;
        fprintf(stderr, "papertape: backtest: note: %s: no order: the %s asked for none on any bar",
                run->accounts[a].name, strategy ? "rule" : "policy");
        fprintf(stderr, strategy
                            ? "; --list-strategies has its parameters, docs/strategies.md its conditions\n"
                            : "\n");
    }
}

static int simulate(struct bars_run *run)
{
    char err[512] = "";
    cli_progress_begin(&run->progress, "backtest");
    int r = backtest_run(&run->config, &run->backtest, err, sizeof err);
    cli_progress_end(&run->progress);
    if (r < 0)
        return cli_backtest_fail(EXIT_ERROR, "", err);
    memcpy(run->result.seconds, run->backtest.seconds, sizeof run->result.seconds);
    r = backtest_audit(&run->backtest, run->market, run->accounts, run->result.hash, err, sizeof err);
    return r < 0 ? cli_backtest_fail(EXIT_ERROR, "the ledger does not add up", err) : EXIT_OK;
}

static int measure(struct bars_run *run)
{
    const struct backtest *backtest = &run->backtest;
    double started_s = clock_now_s();
    for (int a = 0; a < backtest->n_accounts; a++) {
        if (backtest_report(&run->config, backtest, a, &run->report, &run->reports[a]) < 0)
            return cli_backtest_fail(EXIT_ERROR, "", "out of memory");
        run->result.ledger_rows += backtest->accounts[a].n_ledger;
    }
    run->result.seconds[STAGE_METRICS] = clock_now_s() - started_s;
    run->result.peak_bytes = peak_bytes();
    return EXIT_OK;
}

static int report(struct bars_run *run)
{
    run->result.args = run->args;
    run->result.market = run->market;
    run->result.load = &run->load;
    run->result.n_ticks = run->ticks.n;
    run->result.accounts = run->accounts;
    run->result.backtest = &run->backtest;
    run->result.reports = run->reports;
    run->result.config = &run->config;
    run->result.options = &run->report;
    int status = run->args->save ? cli_backtest_save(&run->result) : EXIT_OK;
    if (status == EXIT_OK && run->exporting)
        status = cli_backtest_export(&run->result, run->exporting);
    if (status == EXIT_OK)
        status = cli_backtest_write(&run->result, run->outputs);
    if (status != EXIT_OK)
        return status;
    if (run->args->json)
        return cli_backtest_print_json(&run->result);
    cli_backtest_print(&run->result);
    return run->args->chart ? cli_backtest_chart(&run->result) : EXIT_OK;
}

static int load_ticks(struct bars_run *run, size_t *ret_from, size_t *ret_to)
{
    struct backtest_args *args = run->args;
    struct ticks_options options = {.unpack = cli_unzip_bytes,
                                    .names = args->run.n_symbols > 0 ? args->run.symbols : NULL,
                                    .exchange_info = args->run.exchange_info,
                                    .interval_ns =
                                        args->run.interval_ns > 0 ? args->run.interval_ns : MINUTE_NS};
    char err[MARKET_ERROR_MAX];
    int status = cli_run_terms(&args->run, args->n_ticks, &options.terms);
    if (status != EXIT_OK)
        return status;
    if (backtest_ticks_market_load(args->ticks, args->n_ticks, &options, &run->ticks, err) < 0)
        return cli_backtest_fail(EXIT_ERROR, "", err);
    run->load.source_bytes = run->ticks.source_bytes;
    run->market = run->ticks.market;
    cli_run_note(&args->run, run->market);
    return cli_run_rows(&args->run, run->market, ret_from, ret_to);
}

/* Bars of one time come to the engine in the order of its symbols, and orders fill in that: the policy's
 * own, whatever the order of --bars. */
static int order_symbols(struct bars_run *run)
{
    const struct market *from = run->loaded;
    run->series = calloc((size_t)from->n_symbols, sizeof *run->series);
    if (!run->series)
        return cli_backtest_fail(EXIT_ERROR, "", "out of memory");
    memcpy(run->series, from->series, (size_t)from->n_symbols * sizeof *run->series);
    for (int i = 0, at = 0; i < run->policy->n_assets; i++)
        for (int s = at; s < from->n_symbols; s++) {
            struct market_series found = run->series[s];
            if (policy_find_symbol(&run->policy->assets[i], found.symbol.quote, &found.symbol, 1) < 0)
                continue;
            memmove(&run->series[at + 1], &run->series[at], (size_t)(s - at) * sizeof found);
            run->series[at++] = found;
            break;
        }
    run->ordered = *from;
    run->ordered.series = run->series;
    run->market = &run->ordered;
    return EXIT_OK;
}

static int load(struct bars_run *run, size_t *ret_from, size_t *ret_to)
{
    double started_s = clock_now_s();
    int status = EXIT_OK;
    if (run->args->n_ticks > 0)
        status = load_ticks(run, ret_from, ret_to);
    else
        status = cli_run_load(&run->args->run, &run->loaded, &run->load, ret_from, ret_to);
    if (status == EXIT_OK && run->args->n_ticks > 0)
        status = cli_run_columns_load(&run->args->run);
    if (status == EXIT_OK && run->loaded)
        run->market = run->loaded;
    if (status == EXIT_OK && run->loaded && run->policy)
        status = order_symbols(run);
    run->load_s = clock_now_s() - started_s;
    return status;
}

static int read_policy(struct bars_run *run)
{
    char err[POLICY_ERROR_MAX];
    if (!run->args->policy)
        return EXIT_OK;
    if (policy_load(run->args->policy, run->args->actions, &run->policy, err) < 0)
        return cli_backtest_fail(EXIT_ERROR, "", err);
    return cli_run_policy_session(&run->args->run, run->policy);
}

static int go(struct bars_run *run)
{
    size_t from, to;
    int status = run->args->save ? cli_backtest_save_check(run->args->save) : EXIT_OK;
    if (status == EXIT_OK)
        status = read_policy(run);
    if (status == EXIT_OK)
        status = read_account(run);
    if (status == EXIT_OK)
        status = cli_backtest_open_outputs(run->args, run->outputs);
    if (status == EXIT_OK && run->args->export_to)
        status = cli_backtest_export_begin(run->args->export_to, &run->exporting);
    if (status == EXIT_OK)
        status = load(run, &from, &to);
    if (status == EXIT_OK)
        status = cli_run_actions(&run->args->run, run->market);
    if (status == EXIT_OK)
        status = make_accounts(run, &from);
    if (status == EXIT_OK)
        status = read_settings(run);
    if (status == EXIT_OK)
        status = cli_run_universe(&run->args->run, run->market, from, to);
    if (status == EXIT_OK) {
        configure(run, from, to);
        status = choose_benchmark(run);
    }
    if (status == EXIT_OK)
        status = simulate(run);
    if (status == EXIT_OK) {
        note_short(run);
        note_long_only(run);
        note_most(run);
        note_refused(run);
        note_idle(run);
    }
    run->result.seconds[STAGE_LOAD] = run->load_s;
    if (status == EXIT_OK)
        status = measure(run);
    return status == EXIT_OK ? report(run) : status;
}

int cli_backtest_bars(struct backtest_args *args)
{
    struct bars_run run = {
        .args = args, .latency_ns = args->run.terms.latency_ns, .slippage_e6 = args->run.terms.slippage_e6};
    int status = go(&run);
    for (int a = 0; run.reports && a < run.n_accounts; a++)
        backtest_report_finish(&run.reports[a]);
    cli_backtest_drop_outputs(run.outputs);
    cli_lake_finish(run.exporting);
    backtest_finish(&run.backtest);
    free(run.reports);
    free(run.accounts);
    policy_destroy(run.policy);
    free(run.series);
    market_store_close(run.loaded);
    backtest_ticks_market_finish(&run.ticks);
    return status;
}
