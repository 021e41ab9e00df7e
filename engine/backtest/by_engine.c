/* Runs the engine on a market's bars: closed klines in the order of time, then of symbols, each received at
 * its end; rows before `from` as history; splits and dividends between them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/backtest/drive.h"
#include "engine/backtest/phases.h"
#include "engine/backtest/run.h"
#include "engine/backtest/universe.h"
#include "engine/column.h"
#include "engine/event.h"
#include "exchange/clock.h"
#include "exchange/decimal.h"
#include "strategy/external.h"

enum { PROGRESS_ROWS = 4096, PROGRESS_ROWS_OUTSIDE = 32 /* of strategies that take a process a bar */ };

static const int64_t TICK_LIQUIDITY = INT64_MAX / 4; /* on both sides of a trade's price */

/* The exact bar of a row. 0, or -EINVAL for what is no price or quantity at the symbol's scales. */
static int bar_at(const struct market *market, int symbol, size_t row, struct bar *ret)
{
    const struct market_series *series = &market->series[symbol];
    int scale = series->symbol.price_scale;
    *ret = (struct bar){.open_ns = market_open_ns(market, row), .first_trade_id = -1, .last_trade_id = -1};
    if (decimal_from_double(series->open[row], scale, &ret->open) < 0 ||
        decimal_from_double(series->high[row], scale, &ret->high) < 0 ||
        decimal_from_double(series->low[row], scale, &ret->low) < 0 ||
        decimal_from_double(series->close[row], scale, &ret->close) < 0 ||
        decimal128_from_double(series->volume[row], series->symbol.qty_scale, &ret->volume) < 0 ||
        ret->low <= 0)
        return -EINVAL;
    return 0;
}

static uint64_t sequence(const struct market *market, size_t row, int symbol)
{
    return row * (size_t)market->n_symbols + (size_t)symbol + 1;
}

static int refuse_bar(struct run_thread *thread, int symbol, size_t row)
{
    const struct market *market = thread->run->config->market;
    return backtest_run_fail(
        thread, -EINVAL,
        "%s: the bar of row %zu is no bar: its prices must be above 0, at most %d digits after "
        "the point, and below 9.2e18 units of them",
        market->series[symbol].symbol.name, row, market->series[symbol].symbol.price_scale);
}

static int refuse_decision(struct run_thread *thread, const struct drive *drive,
                           const struct strategy_request *request, const struct strategy_decision *decision)
{
    const struct account_spec *spec = engine_account_spec(drive->engine, request->account);
    char time[CLOCK_TEXT_MAX];
    return backtest_run_fail(thread, -EINVAL, "%.80s: no decision on the bar %s: %s: %s",
                             strategy_title(spec->strategy), clock_utc_text(request->bar.open_ns, time),
                             strategy_outcome_name(decision->outcome), decision->fault);
}

/* Passes what the engine asks to the hosts, as of the event that it asks at. */
static int answer(struct run_thread *thread, struct drive *drive, const struct event *after)
{
    struct strategy_request request;
    struct strategy_decision decision = {0};
    int r = 0;
    while (r == 0 && engine_request_next(drive->engine, &request)) {
        strategy_host_decide(drive->hosts[request.account], &request, &decision);
        if (decision.outcome != STRATEGY_DECIDED)
            return refuse_decision(thread, drive, &request, &decision);
        const struct event event = {
            .seq = after->seq,
            .recv_ns = after->recv_ns,
            .kind = EVENT_DECISION,
            .decision = {request.account, request.symbol, request.bar.open_ns, &decision}};
        r = engine_handle(drive->engine, &event);
    }
    return r;
}

static int handle(struct run_thread *thread, struct drive *drive, const struct event *event)
{
    drive->event_seq = event->seq;
    drive->event_ns = event->recv_ns;
    int r = engine_handle(drive->engine, event);
    if (r == 0 && engine_requests(drive->engine) > 0)
        r = answer(thread, drive, event);
    if (r == 0 && !drive->out_of_memory)
        return 0;
    if (atomic_load(&thread->run->failed))
        return r;
    return backtest_run_fail(thread, r == -EINVAL ? r : -ENOMEM, "%s",
                             r == -EINVAL ? event->kind == EVENT_ACTION
                                                ? "the engine refuses a split or dividend"
                                                : "the engine refuses a bar"
                                          : "not enough memory for this backtest");
}

/* The number that an event between bars has: without trades that of the last bar that may have come before.
 */
static uint64_t number_between(struct drive *drive)
{
    return drive->config->ticks ? ++drive->seq : sequence(drive->config->market, drive->row, 0) - 1;
}

/* The symbol of a column: -1 of every one; of none that is here -2. */
static int symbol_of(const struct drive *drive, const struct external_column *column)
{
    int s = column->symbol[0] ? engine_find_symbol_written(drive->engine, column->symbol) : -1;
    return column->symbol[0] && s < 0 ? -2 : s;
}

static void note_read(void *ctx, const char *name)
{
    struct drive *drive = ctx;
    const struct external_columns *external = drive->config->external;
    for (size_t i = 0; i < external->n; i++)
        if (strcmp(external->columns[i].name, name) == 0 && symbol_of(drive, &external->columns[i]) >= -1)
            drive->seen[i] = 0;
}

/* Only those that some strategy reads, of symbols that are here, are given. */
static int open_columns(struct run_thread *thread, struct drive *drive)
{
    const struct external_columns *external = drive->config->external;
    size_t n = 0;
    for (size_t i = 0; external && i < external->n; i++)
        drive->seen[i] = external->columns[i].n;
    if (external)
        engine_column_each(drive->engine, note_read, drive);
    for (size_t i = 0; external && i < external->n; i++)
        n += drive->seen[i] < external->columns[i].n;
    return n <= COLUMN_SERIES_MAX ? 0
                                  : backtest_run_fail(thread, -EINVAL,
                                                      "its strategies read %zu external columns of symbols: "
                                                      "at most %d are right",
                                                      n, COLUMN_SERIES_MAX);
}

/* The values of external columns that are published by the end of a row, before its bars. */
static int give_columns(struct run_thread *thread, struct drive *drive)
{
    const struct external_columns *external = drive->config->external;
    const int64_t end_ns = market_open_ns(drive->config->market, drive->row + 1);
    int r = 0;
    for (size_t i = 0; external && r == 0 && i < external->n; i++) {
        const struct external_column *column = &external->columns[i];
        size_t *at = &drive->seen[i];
        if (*at == column->n || column->values[*at].published_ns > end_ns)
            continue;
        struct event event = {.seq = number_between(drive),
                              .recv_ns = end_ns,
                              .kind = EVENT_COLUMN,
                              .column.symbol = symbol_of(drive, column)};
        memcpy(event.column.name, column->name, sizeof event.column.name);
        for (; r == 0 && *at < column->n && column->values[*at].published_ns <= end_ns; ++*at) {
            event.column.value = column->values[*at];
            r = handle(thread, drive, &event);
        }
    }
    return r;
}

/* When the next action takes effect, if that is before a time; else that time. */
static int64_t next_action_ns(const struct drive *drive, int64_t before_ns)
{
    const struct backtest_config *config = drive->config;
    bool due = drive->action < config->n_actions && config->actions[drive->action].at_ns < before_ns;
    return due ? config->actions[drive->action].at_ns : before_ns;
}

static int give_action(struct run_thread *thread, struct drive *drive)
{
    const struct backtest_action *action = &drive->config->actions[drive->action++];
    const struct event event = {
        .seq = number_between(drive),
        .recv_ns = action->at_ns > drive->event_ns ? action->at_ns : drive->event_ns,
        .kind = EVENT_ACTION,
        .action = {.symbol = action->symbol, .action = action->action},
    };
    return handle(thread, drive, &event);
}

static int give_actions(struct run_thread *thread, struct drive *drive, int64_t before_ns)
{
    int r = 0;
    while (r == 0 && next_action_ns(drive, before_ns) < before_ns)
        r = give_action(thread, drive);
    return r;
}

/* ---- the universe ---- */

static int give_membership(struct run_thread *thread, struct drive *drive, int symbol, bool in, int64_t at_ns)
{
    const struct event event = {.seq = number_between(drive),
                                .recv_ns = at_ns > drive->event_ns ? at_ns : drive->event_ns,
                                .kind = EVENT_UNIVERSE,
                                .universe = {symbol, in}};
    return handle(thread, drive, &event);
}

/* An engine begins with every symbol in: those that are not when the first row opens. */
static int give_universe(struct run_thread *thread, struct drive *drive)
{
    const struct backtest_config *config = drive->config;
    const int64_t from_ns = market_open_ns(config->market, config->from);
    int r = 0;
    if (!config->universe)
        return 0;
    bool *in = calloc((size_t)config->market->n_symbols, sizeof *in);
    if (!in)
        return backtest_run_fail(thread, -ENOMEM, "not enough memory for this backtest");
    backtest_universe_until(config->universe, from_ns, &drive->change, in);
    for (int s = 0; s < config->market->n_symbols && r == 0; s++)
        if (!in[s])
            r = give_membership(thread, drive, s, false, from_ns);
    free(in);
    return r;
}

/* When the universe changes next, if that is not after a time; else INT64_MAX. */
static int64_t next_change_ns(const struct drive *drive, int64_t until_ns)
{
    const struct backtest_universe *universe = drive->config->universe;
    bool due = universe && drive->change < universe->n && universe->changes[drive->change].at_ns <= until_ns;
    return due ? universe->changes[drive->change].at_ns : INT64_MAX;
}

static int give_change(struct run_thread *thread, struct drive *drive)
{
    const struct backtest_membership *change = &drive->config->universe->changes[drive->change++];
    return give_membership(thread, drive, change->symbol, change->in, change->at_ns);
}

/* ---- rows ---- */

static int give_past_bar(struct run_thread *thread, struct drive *drive, int symbol)
{
    const struct market *market = drive->config->market;
    struct bar bar;
    if (!market_present(&market->series[symbol], drive->row))
        return 0;
    if (bar_at(market, symbol, drive->row, &bar) < 0)
        return refuse_bar(thread, symbol, drive->row);
    const struct event event = {.seq = sequence(market, drive->row, symbol),
                                .recv_ns = market_open_ns(market, drive->row + 1),
                                .kind = EVENT_BARS,
                                .bars = {.symbol = symbol, .bars = &bar, .n = 1}};
    return handle(thread, drive, &event);
}

static int give_history(struct run_thread *thread, struct drive *drive)
{
    const struct backtest_config *config = drive->config;
    const struct market *market = config->market;
    int r = 0;
    for (drive->row = 0; drive->row < config->from && r == 0; drive->row++) {
        if (config->n_actions > 0 && market_any_present(market, drive->row))
            r = give_actions(thread, drive, market_open_ns(market, drive->row + 1));
        if (r == 0)
            r = give_columns(thread, drive);
        for (int s = 0; s < market->n_symbols && r == 0; s++)
            r = give_past_bar(thread, drive, s);
    }
    return r;
}

/* Is the market traded before and after its session, as with [venue] extended_hours = on: does an account
 * choose to? */
static bool trades_extended(const struct backtest_config *config)
{
    int a = 0;
    while (a < config->n_accounts && config->accounts[a].session != SESSION_EXTENDED)
        a++;
    return a < config->n_accounts && !config->limits_outside;
}

/* The calendar's phase, as it is since phases.at_ns. */
static int give_phase(struct run_thread *thread, struct drive *drive)
{
    const struct trading_now *now = &drive->phases.now;
    struct event event = {.seq = number_between(drive),
                          .recv_ns = drive->phases.at_ns,
                          .kind = EVENT_SESSION,
                          .session = {.phase = now->phase,
                                      .next_ns = now->next_ns,
                                      .extended = trades_extended(drive->config)}};
    memcpy(event.session.calendar, drive->config->calendar->name, sizeof event.session.calendar);
    return handle(thread, drive, &event);
}

static int give_phases_until(struct run_thread *thread, struct drive *drive, int64_t until_ns)
{
    int r = 0;
    while (r == 0 && drive->sessions && backtest_phases_next(&drive->phases, until_ns))
        r = give_phase(thread, drive);
    return r;
}

/* What changed until a row with bars opens; with limits outside until it ends, as a live engine has it before
 * the bars: what is decided on them is ordered in the new phase. */
static int64_t phases_until_ns(const struct drive *drive)
{
    const struct market *market = drive->config->market;
    return market_open_ns(market, drive->row) + (drive->config->limits_outside ? market->interval_ns : 0);
}

/* What comes before the bars of a row that has some: what takes effect before it ends, which with trades
 * comes between them, and what changed of the universe and of the sessions. */
static int give_between(struct run_thread *thread, struct drive *drive)
{
    const struct backtest_config *config = drive->config;
    const struct market *market = config->market;
    int64_t before_ns = market_open_ns(market, drive->row + (config->ticks ? 0 : 1));
    int64_t phases_ns = phases_until_ns(drive), open_ns = market_open_ns(market, drive->row);
    int r = 0;
    if (!market_any_present(market, drive->row) ||
        (!drive->sessions && config->n_actions == 0 && !config->universe))
        return 0;
    for (;;) {
        int64_t action_ns = next_action_ns(drive, before_ns), change_ns = next_change_ns(drive, open_ns);
        bool changes = change_ns != INT64_MAX && change_ns <= action_ns;
        int64_t at_ns = changes ? change_ns : action_ns;
        if (r < 0 || (!changes && action_ns >= before_ns))
            break;
        r = give_phases_until(thread, drive, at_ns - 1 < phases_ns ? at_ns - 1 : phases_ns);
        if (r == 0)
            r = changes ? give_change(thread, drive) : give_action(thread, drive);
    }
    return r == 0 ? give_phases_until(thread, drive, phases_ns) : r;
}

/* The days, before everything else. */
static int give_calendar(struct run_thread *thread, struct drive *drive)
{
    const struct backtest_config *config = drive->config;
    struct event event;
    drive->sessions =
        backtest_phases_open(&drive->phases, config->calendar, market_open_ns(config->market, config->from));
    if (!drive->sessions)
        return 0;
    if (engine_calendar_event(config->calendar, &event) < 0)
        return backtest_run_fail(thread, -ENOMEM, "not enough memory for this backtest");
    event.seq = 0;
    event.recv_ns = market_open_ns(config->market, 0);
    return handle(thread, drive, &event);
}

/* The missing bars never come: answers with none, so that the bars that wait for them are used. */
static int answer_gaps(struct run_thread *thread, struct drive *drive, const struct event *after)
{
    for (int s = 0; s < drive->config->market->n_symbols; s++) {
        if (!drive->waits[s])
            continue;
        drive->waits[s] = 0;
        const struct event event = {
            .seq = after->seq, .recv_ns = after->recv_ns, .kind = EVENT_BARS, .bars = {.symbol = s}};
        int r = handle(thread, drive, &event);
        if (r < 0)
            return r;
    }
    drive->any_waits = false;
    return 0;
}

/* The symbol whose trade comes next before a time; -1: there is none. */
static int next_tick(const struct drive *drive, int64_t before_ns)
{
    int next = -1;
    for (int s = 0; s < drive->config->market->n_symbols; s++) {
        const struct backtest_ticks *of = &drive->config->ticks[s];
        if (drive->ticks[s] == of->n)
            continue;
        int64_t ts_ns = of->ticks[drive->ticks[s]].ts_ns;
        if (ts_ns < before_ns) {
            before_ns = ts_ns;
            next = s;
        }
    }
    return next;
}

static void skip_ticks(struct drive *drive, int64_t before_ns)
{
    for (int s; (s = next_tick(drive, before_ns)) >= 0;)
        drive->ticks[s]++;
}

/* The trades of a row: each first as the best prices, then as itself. */
static int give_ticks(struct run_thread *thread, struct drive *drive)
{
    int64_t end_ns = market_open_ns(drive->config->market, drive->row + 1);
    int r = 0;
    for (int s; r == 0 && (s = next_tick(drive, end_ns)) >= 0;) {
        const struct backtest_tick *tick = &drive->config->ticks[s].ticks[drive->ticks[s]++];
        r = give_actions(thread, drive, tick->ts_ns + 1);
        if (r < 0)
            return r;
        struct event event = {
            .seq = ++drive->seq,
            .recv_ns = tick->ts_ns,
            .kind = EVENT_MARKET,
            .market = {.kind = MARKET_QUOTE,
                       .symbol = s,
                       .quote = {drive->seq, tick->price, TICK_LIQUIDITY, tick->price, TICK_LIQUIDITY}}};
        r = handle(thread, drive, &event);
        event.seq = ++drive->seq;
        event.market = (struct market_event){.kind = MARKET_TRADE,
                                             .symbol = s,
                                             .event_ns = tick->ts_ns,
                                             .trade = {.ts_ns = tick->ts_ns,
                                                       .id = tick->id,
                                                       .first_id = tick->id,
                                                       .last_id = tick->id,
                                                       .price = tick->price,
                                                       .qty = tick->qty,
                                                       .buyer_maker = tick->buyer_maker}};
        if (r == 0)
            r = handle(thread, drive, &event);
    }
    return r == 0 ? give_actions(thread, drive, end_ns) : r;
}

static int give_row(struct run_thread *thread, struct drive *drive)
{
    const struct market *market = drive->config->market;
    size_t row = drive->row;
    struct event event = {
        .recv_ns = market_open_ns(market, row + 1),
        .kind = EVENT_MARKET,
        .market = {.kind = MARKET_KLINE, .kline = {.interval_ns = market->interval_ns, .closed = true}}};
    event.market.event_ns = event.recv_ns;
    for (int s = 0; s < market->n_symbols; s++) {
        if (!market_present(&market->series[s], row))
            continue;
        event.seq = drive->config->ticks ? ++drive->seq : sequence(market, row, s);
        event.market.symbol = s;
        if (bar_at(market, s, row, &event.market.kline.bar) < 0)
            return refuse_bar(thread, s, row);
        int r = handle(thread, drive, &event);
        if (r == 0 && drive->any_waits)
            r = answer_gaps(thread, drive, &event);
        if (r < 0)
            return r;
    }
    return 0;
}

/* After a row: where something changed, or interest may have, the curve continues with the new holdings. */
static void note_holdings(struct drive *drive)
{
    for (int a = 0; a < drive->n; a++) {
        struct account_book *book = &drive->books[a];
        const struct account *account = engine_account(drive->engine, a);
        if (!book->moved && account->shorts == 0 && account->unpaid_interest == 0 && account->payable == 0)
            continue;
        book->moved = false;
        backtest_curve_to(&book->curve, drive->row);
        const struct balance *currency = &account->assets[account->currency_at];
        book->curve.cash = decimal_to_double(currency->total - currency->borrowed - account->unpaid_interest +
                                                 account->receivable - account->payable,
                                             currency->scale);
        for (int s = 0; s < drive->config->market->n_symbols; s++)
            if (account->pairs[s].quote == account->currency_at)
                backtest_curve_hold(&book->curve, s,
                                    decimal_to_double(account->positions[s].qty,
                                                      drive->config->market->series[s].symbol.qty_scale));
    }
}

/* A stop is asked for so often. */
static size_t progress_rows(const struct drive *drive)
{
    for (int i = 0; i < drive->n; i++)
        if (drive->hosts && drive->hosts[i])
            return PROGRESS_ROWS_OUTSIDE;
    return PROGRESS_ROWS;
}

static int give_rows(struct run_thread *thread, struct drive *drive)
{
    const struct backtest_config *config = drive->config;
    int r = give_calendar(thread, drive);
    if (r == 0)
        r = give_history(thread, drive);
    drive->row = config->from;
    if (r == 0 && drive->sessions)
        r = give_phase(thread, drive);
    r = r < 0 ? r : give_universe(thread, drive);
    if (config->ticks)
        skip_ticks(drive, market_open_ns(config->market, config->from));
    const size_t step = progress_rows(drive);
    for (drive->row = config->from; r == 0 && drive->row < config->to; drive->row++) {
        r = give_between(thread, drive);
        if (config->ticks && r == 0)
            r = give_ticks(thread, drive);
        if (r == 0)
            r = give_columns(thread, drive);
        if (r == 0)
            r = give_row(thread, drive);
        note_holdings(drive);
        if ((drive->row - config->from) % step == step - 1 &&
            !backtest_run_progress(thread, step * (size_t)drive->n))
            return -ECANCELED;
    }
    /* What is done stays, also where this says to stop. */
    if (r == 0)
        (void)backtest_run_progress(thread, (config->to - config->from) % step * (size_t)drive->n);
    return r;
}

/* Assigns each account its orders, by id. */
static int deal_orders(struct drive *drive)
{
    for (size_t i = 0; i < drive->n_orders; i++)
        drive->books[drive->orders[i].account - drive->first].ret->n_orders++;
    if (drive->n == 1) {
        drive->books[0].ret->orders = drive->orders;
        drive->orders = NULL;
        return 0;
    }
    for (int a = 0; a < drive->n; a++) {
        struct backtest_account *ret = drive->books[a].ret;
        ret->orders = malloc((ret->n_orders + 1) * sizeof *ret->orders);
        if (!ret->orders)
            return -ENOMEM;
        ret->n_orders = 0;
    }
    for (size_t i = 0; i < drive->n_orders; i++) {
        struct backtest_account *ret = drive->books[drive->orders[i].account - drive->first].ret;
        ret->orders[ret->n_orders++] = drive->orders[i];
    }
    return 0;
}

static int sum_up(struct run_thread *thread, struct drive *drive)
{
    int r = drive->config->orders ? deal_orders(drive) : 0;
    for (int a = 0; a < drive->n && r == 0; a++) {
        struct account_book *book = &drive->books[a];
        const struct account *account = engine_account(drive->engine, a);
        backtest_curve_to(&book->curve, drive->config->to);
        book->ret->equity = book->curve.equity;
        book->curve.equity = NULL;
        book->ret->exposed = book->curve.exposed;
        book->ret->way = BACKTEST_ENGINE;
        memcpy(book->ret->intents, engine_intents_refused(drive->engine, a), sizeof book->ret->intents);
        book->ret->final_equity = engine_equity(drive->engine, a);
        book->ret->final_cash = account->assets[account->currency_at].total;
        book->ret->killed_ns = account->killed_ns;
        r = backtest_trades_sum(drive->config, book->ret);
    }
    return r < 0 ? backtest_run_fail(thread, r, "not enough memory for this backtest") : 0;
}

static int open_drive(struct run_thread *thread, struct drive *drive)
{
    const struct backtest_config *config = drive->config;
    const struct market *market = config->market;
    struct symbol *symbols = malloc((size_t)market->n_symbols * sizeof *symbols);
    drive->books = calloc((size_t)drive->n, sizeof *drive->books);
    drive->seen = calloc(config->external ? config->external->n + 1 : 1, sizeof *drive->seen);
    int r = symbols && drive->books && drive->seen ? 0 : -ENOMEM;
    for (int a = 0; a < drive->n && r == 0; a++) {
        drive->books[a].ret = &thread->run->ret->accounts[drive->first + a];
        r = backtest_curve_open(&drive->books[a].curve, market, config->from, config->to);
        const struct account_spec *spec = &config->accounts[drive->first + a];
        drive->books[a].curve.cash = decimal_to_double(spec->cash, spec->currency_scale);
    }
    if (r < 0) {
        free(symbols);
        return backtest_run_fail(thread, r, "not enough memory for this backtest");
    }
    for (int s = 0; s < market->n_symbols; s++)
        symbols[s] = backtest_run_symbol(config, s);
    const struct engine_config setup = {
        .symbols = symbols,
        .n_symbols = market->n_symbols,
        .accounts = config->accounts + drive->first,
        .n_accounts = drive->n,
        .interval_ns = market->interval_ns,
        .latency_ns = config->latency_ns,
        .fill_model = config->ticks ? FILL_QUOTE : FILL_BAR,
        .slippage_e6 = config->slippage_e6,
        .direct = true,
    };
    const struct engine_sink sink = backtest_drive_sink(drive);
    r = engine_create(&setup, &sink, &drive->engine);
    free(symbols);
    if (r == -EINVAL)
        return backtest_run_fail(
            thread, r,
            "the symbols and accounts contradict each other: an asset must have one scale "
            "throughout, and price and quantity scales must allow for exact sums");
    return r < 0 ? backtest_run_fail(thread, r, "not enough memory for this backtest")
                 : open_columns(thread, drive);
}

static int open_host(struct run_thread *thread, struct drive *drive, int account,
                     const struct symbol *symbols, int n_symbols)
{
    const struct account_spec *spec = &drive->config->accounts[drive->first + account];
    char why[RUN_ERROR_MAX] = "";
    const struct strategy_hello hello = {.account = spec->name,
                                         .currency = spec->currency,
                                         .symbols = symbols,
                                         .n_symbols = n_symbols,
                                         .interval_ns = drive->config->market->interval_ns,
                                         .limit_ns = drive->config->strategy_limit_ns > 0
                                                         ? drive->config->strategy_limit_ns
                                                         : BACKTEST_LIMIT_NS};
    int r = strategy_host_open(spec->strategy, spec->params, &hello, &drive->hosts[account], why, sizeof why);
    return r < 0 ? backtest_run_fail(thread, r, "%.80s: %.160s", strategy_title(spec->strategy), why) : 0;
}

/* One for each account whose strategy is asked. */
static int open_hosts(struct run_thread *thread, struct drive *drive)
{
    int n_symbols = engine_symbols(drive->engine), r = 0;
    struct symbol *symbols = malloc((size_t)n_symbols * sizeof *symbols);
    drive->hosts = calloc((size_t)drive->n, sizeof(struct strategy_host *));
    if (!symbols || !drive->hosts)
        r = backtest_run_fail(thread, -ENOMEM, "not enough memory for this backtest");
    for (int s = 0; r == 0 && s < n_symbols; s++)
        symbols[s] = *engine_symbol(drive->engine, s);
    for (int a = 0; r == 0 && a < drive->n; a++)
        if (strategy_is_asked(drive->config->accounts[drive->first + a].strategy))
            r = open_host(thread, drive, a, symbols, n_symbols);
    free(symbols);
    return r;
}

int backtest_by_engine(struct run_thread *thread, int first, int n)
{
    struct drive drive = {.config = thread->run->config, .first = first, .n = n};
    double started_s = clock_now_s();
    int r = open_drive(thread, &drive);
    if (r == 0)
        r = open_hosts(thread, &drive);
    if (r == 0)
        r = give_rows(thread, &drive);
    if (r == 0)
        r = sum_up(thread, &drive);
    thread->busy[STAGE_SIMULATE] += clock_now_s() - started_s;
    for (int a = 0; drive.books && a < n; a++) {
        free(drive.books[a].curve.equity);
        backtest_curve_close(&drive.books[a].curve);
    }
    for (int a = 0; drive.hosts && a < n; a++)
        strategy_host_close(drive.hosts[a]);
    free(drive.hosts);
    free(drive.seen);
    engine_destroy(drive.engine);
    free(drive.books);
    free(drive.orders);
    return r;
}
