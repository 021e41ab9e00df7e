#include "cli/backtest_events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/stored.h"
#include "exchange/clock.h"

enum { EVENTS_A_LOOK = 1 << 14 };

/* A symbol as some run of the log knew it; they are never moved, since orders point to them. */
struct listed {
    struct symbol symbol;
    struct listed *next;
};

struct kept_order {
    struct order order; /* as last emitted; id 0: of before the log */
    const struct symbol *symbol;
};

struct run {
    const struct events_options *options;
    struct events_result *result;
    struct replay *replay;
    struct stored_list ledger, trades;
    struct listed *listed;
    const struct symbol *symbols[SYMBOLS_MAX]; /* of the engine as it is now */
    uint64_t known_runs;
    struct kept_order *orders; /* [id - first_order] */
    uint64_t first_order;
    size_t n_orders, cap_orders;
    bool no_memory;
};

/* Another run's engine numbers its symbols differently. */
static const struct symbol *symbol_of(struct run *run, int index)
{
    if (run->known_runs != engine_replay_runs(run->replay)) {
        run->known_runs = engine_replay_runs(run->replay);
        memset(run->symbols, 0, sizeof run->symbols);
    }
    if (run->symbols[index])
        return run->symbols[index];
    const struct symbol *symbol = engine_symbol(engine_replay_engine(run->replay), index);
    struct listed *at = run->listed;
    while (at && !(strcmp(at->symbol.name, symbol->name) == 0 && symbol_same_units(&at->symbol, symbol)))
        at = at->next;
    if (!at) {
        at = malloc(sizeof *at);
        if (!at) {
            run->no_memory = true;
            return symbol;
        }
        *at = (struct listed){*symbol, run->listed};
        run->listed = at;
    }
    return run->symbols[index] = &at->symbol;
}

static const char *account_of(const struct run *run, int index)
{
    return engine_account(engine_replay_engine(run->replay), index)->name;
}

static void keep_order(struct run *run, const struct order *order)
{
    if (order->id < run->first_order)
        return;
    size_t at = (size_t)(order->id - run->first_order);
    if (at >= run->cap_orders) {
        size_t cap = run->cap_orders ? 2 * run->cap_orders : 256;
        while (cap <= at)
            cap *= 2;
        struct kept_order *moved = realloc(run->orders, cap * sizeof *moved);
        if (!moved) {
            run->no_memory = true;
            return;
        }
        memset(moved + run->cap_orders, 0, (cap - run->cap_orders) * sizeof *moved);
        run->orders = moved;
        run->cap_orders = cap;
    }
    bool known = order->symbol >= 0 && order->symbol < engine_symbols(engine_replay_engine(run->replay));
    run->orders[at] = (struct kept_order){*order, known ? symbol_of(run, order->symbol) : NULL};
    if (at >= run->n_orders)
        run->n_orders = at + 1;
}

static void on_order(void *ctx, const struct order *order)
{
    struct run *run = ctx;
    if (order->id > run->result->after.last_order) { /* emitted for the first time */
        run->result->after.last_order = order->id;
        run->result->orders++;
        run->result->rejected += order->state == ORDER_REJECTED;
    }
    if (run->options->orders)
        keep_order(run, order);
}

static void on_fill(void *ctx, const struct fill *fill)
{
    struct run *run = ctx;
    run->result->fills++;
    if (run->options->trades)
        cli_stored_record_row(
            &run->trades, fill,
            &(struct record_context){symbol_of(run, fill->symbol), account_of(run, fill->account)});
}

static void on_ledger(void *ctx, const struct ledger_row *row)
{
    struct run *run = ctx;
    run->result->ledger_rows++;
    if (run->options->ledger)
        cli_ledger_row(&run->ledger, row, account_of(run, row->account));
}

static void on_equity(void *ctx, const struct equity_point *point)
{
    struct run *run = ctx;
    run->result->equity_points++;
    const struct account *account = engine_account(engine_replay_engine(run->replay), point->account);
    cli_events_curves_point(&run->result->curves, account, point);
    if (!run->options->equity)
        return;
    char equity[STORED_CELL], cash[STORED_CELL], peak[STORED_CELL];
    fprintf(run->options->equity, "%" PRId64 ",%s,%s,%s,%s\n", point->ts_ns, account->name,
            cli_stored_decimal(STORED_CSV, equity, point->equity, account->currency_scale),
            cli_stored_decimal(STORED_CSV, cash, point->cash, account->currency_scale),
            cli_stored_decimal(STORED_CSV, peak, point->peak, account->currency_scale));
}

static void on_bar(void *ctx, int symbol, enum bar_source source, const struct bar *bar)
{
    struct run *run = ctx;
    if (source == BAR_VENUE)
        cli_events_curves_bar(&run->result->curves, symbol, bar);
}

static void print_orders(struct run *run)
{
    struct stored_list list = cli_orders_list(STORED_CSV, run->options->orders);
    for (size_t i = 0; i < run->n_orders; i++) {
        const struct order *order = &run->orders[i].order;
        bool known =
            order->account >= 0 && order->account < engine_accounts(engine_replay_engine(run->replay));
        if (order->id)
            cli_stored_record_row(&list, order,
                                  &(struct record_context){run->orders[i].symbol,
                                                           known ? account_of(run, order->account) : NULL});
    }
    cli_stored_end(&list);
}

static void show_progress(uint64_t done, uint64_t all, double rate)
{
    enum { CELLS = 40 };
    static const char full[] = "########################################";
    double share = all ? (double)done / (double)all : 0;
    int cells = (int)(share * CELLS);
    if (cells > CELLS)
        cells = CELLS;
    fprintf(stderr, "\r[%.*s%*s] %3.0f %%  %.2f million events/s ", cells, full, CELLS - cells, "",
            100 * share, rate * 1e-6);
}

/* The last event that the log holds now; 0: not known. */
static uint64_t last_seq(const char *log)
{
    char err[JOURNAL_ERROR_MAX];
    struct journal_reader *reader;
    struct journal_tail tail = {0};
    if (journal_reader_open(log, &reader, err, sizeof err) < 0)
        return 0;
    if (journal_reader_tail(reader, &tail) < 0)
        tail.last_seq = 0;
    journal_reader_close(reader);
    return tail.last_seq;
}

static int play(struct run *run)
{
    struct events_result *result = run->result;
    bool progress = run->options->progress;
    uint64_t from = engine_replay_seq(run->replay), last = progress ? last_seq(run->options->log) : 0;
    double start = clock_now_s(), shown = start;
    int r;
    while ((r = engine_replay_step(run->replay)) > 0 && !run->no_memory) {
        if (result->events++ == 0) {
            result->first_seq = engine_replay_seq(run->replay);
            result->first_ns = engine_replay_event(run->replay)->recv_ns;
        }
        if (progress && result->events % EVENTS_A_LOOK == 0) {
            double now = clock_now_s();
            if (now - shown > 0.1 && last > from)
                show_progress(engine_replay_seq(run->replay) - from, last - from,
                              (double)result->events / (now - start));
            shown = now - shown > 0.1 ? now : shown;
        }
    }
    result->seconds = clock_now_s() - start;
    if (progress && shown > start)
        fputs("\r\033[K", stderr);
    if (result->events > 0) {
        result->last_seq = engine_replay_seq(run->replay);
        result->last_ns = engine_replay_event(run->replay)->recv_ns;
    }
    return run->no_memory ? -ENOMEM : r;
}

static void begin(struct run *run)
{
    const struct events_options *options = run->options;
    struct engine *engine = engine_replay_engine(run->replay);
    engine_ids(engine, &run->result->before);
    run->result->after = run->result->before;
    run->first_order = run->result->before.last_order + 1;
    if (engine_orders(engine) > 0) /* the oldest that is still alive, and all after it */
        run->first_order = engine_order(engine, 0)->id;
    for (size_t i = 0; i < engine_orders(engine) && options->orders; i++)
        keep_order(run, engine_order(engine, i));
    run->ledger = cli_ledger_list(STORED_CSV, options->ledger);
    run->trades = cli_fills_list(STORED_CSV, options->trades);
    if (options->equity)
        fputs("ts_ns,account,equity,cash,peak\n", options->equity);
}

int cli_backtest_events_play(const struct events_options *options, struct events_result *ret, char *err,
                             size_t err_size)
{
    static const struct engine_sink nothing;
    struct events_result result = {0};
    struct run run = {.options = options, .result = &result};
    struct replay_options how = {.path = options->log,
                                 .from_ns = options->from_ns,
                                 .to_ns = options->to_ns,
                                 .check_states = true,
                                 .sink = {.ctx = &run,
                                          .bar = on_bar,
                                          .order = on_order,
                                          .fill = on_fill,
                                          .ledger = on_ledger,
                                          .equity = on_equity}};
    int r = engine_replay_open(&how, &run.replay, err, err_size);
    if (r < 0)
        return r;
    begin(&run);
    r = play(&run);
    if (options->ledger)
        cli_stored_end(&run.ledger);
    if (options->trades)
        cli_stored_end(&run.trades);
    if (r == 0 && options->orders)
        print_orders(&run);
    if (r == -ENOMEM && run.no_memory)
        snprintf(err, err_size, "out of memory");
    else if (r < 0)
        snprintf(err, err_size, "%s", engine_replay_error(run.replay));
    result.runs = engine_replay_runs(run.replay);
    result.holes = engine_replay_holes(run.replay);
    engine_ids(engine_replay_engine(run.replay), &result.after);
    result.engine = engine_replay_take(run.replay, &nothing);
    while (run.listed) {
        struct listed *next = run.listed->next;
        free(run.listed);
        run.listed = next;
    }
    free(run.orders);
    if (r < 0) {
        cli_events_curves_finish(&result.curves);
        engine_destroy(result.engine);
        return r;
    }
    *ret = result;
    return 0;
}
