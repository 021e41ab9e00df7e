#include "engine/fill_compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/match.h"
#include "exchange/fail.h"
#include "exchange/fill_rules.h"

enum { MOMENTS = 1 << 18 }; /* the newest events that an order's arrival is looked for among */

struct received_event {
    uint64_t seq;
    int64_t recv_ns;
};

struct followed {
    struct compared_order order;
    int account, symbol; /* in the engine of its run */
    double venue_worth;  /* price times quantity, of venue_qty */
    uint64_t at_seq;     /* the last event before it arrived; 0: not known */
};

struct compare_run {
    const struct fill_compare_options *options;
    struct replay *replay;
    struct followed *followed;
    size_t n, cap;
    struct received_event *moments; /* a ring */
    size_t n_moments;
    struct followed *filled; /* by the event of this step: took for the first time */
    bool no_memory;
};

static struct followed *find(struct compare_run *run, uint64_t id)
{
    for (size_t i = run->n; i-- > 0;)
        if (run->followed[i].order.id == id)
            return &run->followed[i];
    return NULL;
}

/* What closes may wait here for the cancel of an exit, and when a stop triggers the venue alone knows. */
static void on_order(void *ctx, const struct order *order)
{
    struct compare_run *run = ctx;
    const struct engine *engine = engine_replay_engine(run->replay);
    const struct fill_compare_options *o = run->options;
    if (!engine || order->state != ORDER_PENDING || !engine_at_venue(engine, order) || order->reduce_only ||
        order_is_stop(order->type) || order->created_ns < o->from_ns ||
        (o->to_ns && order->created_ns >= o->to_ns))
        return;
    struct followed *known = find(run, order->id);
    const struct symbol *symbol = engine_symbol(engine, order->symbol);
    if (!known && !(known = engine_live_append((void **)&run->followed, &run->n, &run->cap, sizeof *known))) {
        run->no_memory = true;
        return;
    }
    *known = (struct followed){.account = order->account, .symbol = order->symbol};
    known->order = (struct compared_order){.id = order->id,
                                           .side = order->side,
                                           .type = order->type,
                                           .price_scale = symbol->price_scale,
                                           .qty_scale = symbol->qty_scale,
                                           .quote_scale = symbol->quote_scale,
                                           .price = order->price,
                                           .decided_ns = order->effective_ns,
                                           .latency_ns = INT64_MIN,
                                           .venue_price = NAN,
                                           .model_price = NAN,
                                           .worse_bp = NAN};
    memcpy(known->order.account, engine_account(engine, order->account)->name, sizeof known->order.account);
    memcpy(known->order.symbol, symbol->name, sizeof known->order.symbol);
    memcpy(known->order.quote, symbol->quote, sizeof known->order.quote);
}

static void on_fill(void *ctx, const struct fill *fill)
{
    struct compare_run *run = ctx;
    struct followed *of = fill->basis == FILL_BASIS_VENUE && !fill->maker ? find(run, fill->order_id) : NULL;
    if (!of)
        return;
    double price = decimal_to_double(fill->price, of->order.price_scale);
    if (of->order.venue_qty == 0)
        run->filled = of;
    of->order.venue_qty += fill->qty;
    of->venue_worth += price * (double)fill->qty;
    of->order.venue_price = of->venue_worth / (double)of->order.venue_qty;
    of->order.venue_fee += decimal_to_double(fill->fee, of->order.quote_scale) +
                           price * decimal_to_double(fill->fee_base, of->order.qty_scale);
}

/* The last event that was received by then; 0: it is not known. */
static uint64_t moment_of(const struct compare_run *run, int64_t ns)
{
    size_t n = run->n_moments < MOMENTS ? run->n_moments : MOMENTS;
    for (size_t back = 1; back <= n; back++) {
        const struct received_event *moment = &run->moments[(run->n_moments - back) % MOMENTS];
        if (moment->recv_ns <= ns)
            return moment->seq;
    }
    return 0;
}

/* After each event: when it was received, and when the order that it filled arrived at the venue. */
static void note(struct compare_run *run)
{
    const struct event *event = engine_replay_event(run->replay);
    const struct engine *engine = engine_replay_engine(run->replay);
    if (run->filled && event->venue_order.fill.ts_ns > 0) {
        int64_t ns = event->venue_order.fill.ts_ns - engine->markets[run->filled->symbol].ahead_ns;
        run->filled->order.latency_ns = ns - run->filled->order.decided_ns;
        run->filled->at_seq = moment_of(run, ns);
    }
    run->filled = NULL;
    run->moments[run->n_moments++ % MOMENTS] = (struct received_event){event->seq, event->recv_ns};
}

/* What the model takes of what is shown now, at most as much as the venue's fills took. */
static void model(const struct engine *engine, struct followed *of)
{
    struct compared_order *order = &of->order;
    struct book_walk walk;
    double worth = 0;
    engine_walk_begin(&walk, engine, of->account, of->symbol, order->side);
    engine_walk_beyond(&walk, engine);
    while (order->model_qty < order->venue_qty && engine_walk_next(&walk)) {
        int64_t left = order->venue_qty - order->model_qty,
                qty = walk.level.qty < left ? walk.level.qty : left;
        if (order->price > 0 && !fill_limit_crosses(order->side, order->price, walk.level.price))
            break;
        worth += decimal_to_double(walk.level.price, order->price_scale) * (double)qty;
        order->model_qty += qty;
    }
    if (order->model_qty == 0)
        return;
    order->model_price = worth / (double)order->model_qty;
    double more = (order->venue_price - order->model_price) / order->model_price * 1e4;
    order->worse_bp = order->side == ORDER_BUY ? more : -more;
    const struct fee_rates *fees =
        account_fees(&engine->accounts[of->account].rules, &engine->markets[of->symbol].symbol);
    order->model_fee = worth * fees->taker_e6 / 1e6 / (double)decimal_pow10(order->qty_scale);
}

static int play(struct compare_run *run, bool second, char *err, size_t err_size)
{
    struct replay_options options = {.path = run->options->path, .from_ns = run->options->from_ns};
    int r;
    if (!second)
        options.sink = (struct engine_sink){.ctx = run, .order = on_order, .fill = on_fill};
    r = engine_replay_open(&options, &run->replay, err, err_size);
    if (r < 0)
        return r;
    while ((r = engine_replay_step(run->replay)) > 0 && !run->no_memory) {
        if (!second)
            note(run);
        for (size_t i = 0; second && i < run->n; i++)
            if (run->followed[i].at_seq == engine_replay_seq(run->replay))
                model(engine_replay_engine(run->replay), &run->followed[i]);
    }
    if (r < 0)
        snprintf(err, err_size, "%s", engine_replay_error(run->replay));
    return r < 0 ? r : run->no_memory ? -ENOMEM : 0;
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double quantile(const double *sorted, size_t n, double q)
{
    double at = q * (double)(n - 1);
    size_t below = (size_t)at;
    return below + 1 < n ? sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below])
                         : sorted[n - 1];
}

static struct compared_figure figure_of(double *values, size_t n)
{
    if (n == 0)
        return (struct compared_figure){0, NAN, NAN, NAN};
    qsort(values, n, sizeof *values, ascending);
    return (struct compared_figure){n, quantile(values, n, 0.5), quantile(values, n, 0.25),
                                    quantile(values, n, 0.75)};
}

static int sum_up(struct compare_run *run, struct fill_comparison *ret)
{
    double *values = malloc((run->n + 1) * sizeof *values);
    ret->orders = malloc((run->n + 1) * sizeof *ret->orders);
    if (!values || !ret->orders) {
        free(values);
        free(ret->orders);
        return -ENOMEM;
    }
    ret->n = 0;
    for (size_t i = 0; i < run->n; i++)
        if (run->followed[i].order.venue_qty > 0)
            ret->orders[ret->n++] = run->followed[i].order;
    size_t n = 0;
    for (size_t i = 0; i < ret->n; i++)
        if (ret->orders[i].latency_ns != INT64_MIN)
            values[n++] = (double)ret->orders[i].latency_ns / 1e6;
    ret->latency_ms = figure_of(values, n);
    n = 0;
    for (size_t i = 0; i < ret->n; i++)
        if (!isnan(ret->orders[i].worse_bp) && ret->orders[i].model_qty == ret->orders[i].venue_qty)
            values[n++] = ret->orders[i].worse_bp;
    ret->slippage_bp = figure_of(values, n);
    free(values);
    return 0;
}

int engine_fill_compare(const struct fill_compare_options *options, struct fill_comparison *ret, char *err,
                        size_t err_size)
{
    struct compare_run run = {.options = options, .moments = calloc(MOMENTS, sizeof *run.moments)};
    struct fill_comparison made = {0};
    int r = run.moments ? play(&run, false, err, err_size) : -ENOMEM;
    if (run.replay && r == 0) {
        const struct engine *engine = engine_replay_engine(run.replay);
        made.latency_ns = engine->latency_ns;
        made.slippage_e6 = engine->slippage_e6;
    }
    engine_replay_close(run.replay);
    run.replay = NULL;
    if (r == 0 && run.n > 0) {
        r = play(&run, true, err, err_size);
        engine_replay_close(run.replay);
    }
    if (r == 0)
        r = sum_up(&run, &made);
    if (r == -ENOMEM)
        fail_with(r, err, err_size, "out of memory");
    free(run.followed);
    free(run.moments);
    if (r == 0)
        *ret = made;
    return r;
}

void engine_fill_comparison_finish(struct fill_comparison *comparison)
{
    free(comparison->orders);
    *comparison = (struct fill_comparison){0};
}
