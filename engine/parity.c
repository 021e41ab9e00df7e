#include "engine/parity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/core.h"
#include "exchange/fail.h"

/* A live order as it was emitted last: it is compared when it ends, or at the end. */
struct emitted_order {
    struct order order;
    uint64_t seq; /* the event that emitted it, or after which the state was that it was found in */
    int64_t ns;
    bool known;    /* emitted by the event of this step */
    bool in_state; /* found in a state, and not emitted since */
};

struct run {
    const struct engine_recorded *recorded;
    struct parity_result result;
    struct replay *replay;
    struct emitted_order *live;
    size_t n_live, cap_live;
    struct difference difference; /* found in this step */
    bool different;
    /* The highest ids accounted for: made here, or in a state. */
    uint64_t last_order, last_fill, last_ledger, last_receivable, last_fee_rate;
    int r;
};

static void differs(struct run *run, const struct difference *difference)
{
    if (run->different)
        return;
    run->different = true;
    run->difference = *difference;
}

/* 1 when the row is there, 0 when it is missing (reported), -errno. */
static int looked_up(struct run *run, int r, const char *table, uint64_t id)
{
    struct difference difference;
    if (r == 0)
        return 1;
    if (r != -ENOENT) {
        run->r = r;
        return r;
    }
    engine_compare_missing(table, id, true, &difference);
    differs(run, &difference);
    return 0;
}

static const struct symbol *symbol_of(const struct run *run, int symbol)
{
    const struct engine *engine = engine_replay_engine(run->replay);
    return symbol >= 0 && symbol < engine->n_symbols ? engine_symbol(engine, symbol) : NULL;
}

static void check_order(struct run *run, const struct order *order)
{
    struct recorded_order row;
    struct difference difference;
    int r = run->recorded->order(run->recorded->ctx, order->id, &row);
    if (looked_up(run, r, "orders", order->id) != 1)
        return;
    if (engine_compare_orders(order, symbol_of(run, order->symbol), &row, &difference))
        run->result.orders++;
    else
        differs(run, &difference);
}

static void forget(struct run *run, size_t at)
{
    run->n_live--;
    memmove(&run->live[at], &run->live[at + 1], (run->n_live - at) * sizeof *run->live);
}

static struct emitted_order *remember(struct run *run, const struct order *order)
{
    size_t at = 0;
    while (at < run->n_live && run->live[at].order.id != order->id)
        at++;
    if (at == run->n_live &&
        !engine_live_append((void **)&run->live, &run->n_live, &run->cap_live, sizeof *run->live)) {
        run->r = -ENOMEM;
        return NULL;
    }
    run->live[at] = (struct emitted_order){.order = *order};
    return &run->live[at];
}

static void on_order(void *ctx, const struct order *order)
{
    struct run *run = ctx;
    if (order->id > run->last_order)
        run->last_order = order->id;
    if (order_live(order->state)) {
        struct emitted_order *emitted_order = remember(run, order);
        if (emitted_order)
            emitted_order->known = true;
        return;
    }
    for (size_t i = 0; i < run->n_live; i++)
        if (run->live[i].order.id == order->id) {
            forget(run, i);
            break;
        }
    check_order(run, order);
}

static void on_fill(void *ctx, const struct fill *fill)
{
    struct run *run = ctx;
    struct recorded_fill row;
    struct difference difference;
    run->last_fill = fill->id;
    if (looked_up(run, run->recorded->fill(run->recorded->ctx, fill->id, &row), "fills", fill->id) != 1)
        return;
    if (engine_compare_fills(fill, symbol_of(run, fill->symbol), &row, &difference))
        run->result.fills++;
    else
        differs(run, &difference);
}

static void on_ledger(void *ctx, const struct ledger_row *made)
{
    struct run *run = ctx;
    struct ledger_row row;
    struct difference difference;
    run->last_ledger = made->id;
    if (looked_up(run, run->recorded->ledger(run->recorded->ctx, made->id, &row), "ledger", made->id) != 1)
        return;
    if (engine_compare_ledger_rows(made, &row, &difference))
        run->result.ledger_rows++;
    else
        differs(run, &difference);
}

/* Causes that were derived by a migration say less than the engine. */
static void on_cause(void *ctx, const struct ledger_cause *made)
{
    struct run *run = ctx;
    struct recorded_cause row;
    struct difference difference;
    if (!run->recorded->cause)
        return;
    int r = run->recorded->cause(run->recorded->ctx, made->id, &row);
    if (made->id <= run->recorded->causes_after && (r == -ENOENT || (r == 0 && row.cause.derived)))
        return;
    if (looked_up(run, r, "ledger_causes", made->id) == 1 &&
        !engine_compare_causes(made, symbol_of(run, made->symbol), &row, &difference))
        differs(run, &difference);
}

static void on_receivable(void *ctx, const struct receivable_row *made)
{
    struct run *run = ctx;
    struct receivable_row row;
    struct difference difference;
    run->last_receivable = made->id;
    if (!run->recorded->receivable)
        return;
    int r = run->recorded->receivable(run->recorded->ctx, made->id, &row);
    if (looked_up(run, r, "receivables", made->id) == 1 &&
        !engine_compare_receivables(made, &row, &difference))
        differs(run, &difference);
}

static void on_fee_rate(void *ctx, const struct fee_rate_change *made)
{
    struct run *run = ctx;
    struct recorded_fee_rate row;
    struct difference difference;
    run->last_fee_rate = made->id;
    if (!run->recorded->fee_rate)
        return;
    int r = run->recorded->fee_rate(run->recorded->ctx, made->id, &row);
    int scale = engine_account(engine_replay_engine(run->replay), made->account)->currency_scale;
    if (looked_up(run, r, "fee_rates", made->id) == 1 &&
        !engine_compare_fee_rates(made, scale, &row, &difference))
        differs(run, &difference);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The engine is one from the state after event `seq`: the comparison continues with its orders. */
static void adopt(struct run *run, uint64_t seq, int64_t ns)
{
    const struct engine *engine = engine_replay_engine(run->replay);
    for (size_t i = run->n_live; i-- > 0;)
        if (!run->live[i].known && !engine_find_order(engine, run->live[i].order.id)) {
            forget(run, i); /* it ended where nothing was recorded */
            run->result.unsettled++;
        }
    for (size_t i = 0; i < engine_orders(engine); i++) {
        const struct order *order = engine_order(engine, i);
        size_t at = 0;
        while (at < run->n_live && run->live[at].order.id != order->id)
            at++;
        if (at < run->n_live && run->live[at].known)
            continue;
        struct emitted_order *emitted_order = remember(run, order);
        if (!emitted_order)
            return;
        emitted_order->seq = seq;
        emitted_order->ns = ns;
        emitted_order->in_state = true;
    }
    run->last_order = later(run->last_order, engine->last_order);
    run->last_fill = later(run->last_fill, engine->last_fill);
    run->last_ledger = later(run->last_ledger, engine->last_ledger);
    run->last_receivable = later(run->last_receivable, engine->last_receivable);
    run->last_fee_rate = later(run->last_fee_rate, engine->last_fee_rate);
}

static void place_difference(struct run *run, uint64_t seq, int64_t ns, const char *text)
{
    run->result.difference = run->difference;
    run->result.difference_seq = seq;
    run->result.difference_ns = ns;
    snprintf(run->result.difference_event, sizeof run->result.difference_event, "%s", text);
}

static void place_difference_here(struct run *run)
{
    const struct event *event = engine_replay_event(run->replay);
    char text[EVENT_TEXT_MAX] = "";
    if (event)
        event_text(event, engine_replay_engine(run->replay), text);
    place_difference(run, engine_replay_seq(run->replay), event ? event->recv_ns : run->result.from_ns, text);
}

static void state_differs(struct run *run)
{
    struct difference difference = {
        .table = "states", .id = engine_replay_seq(run->replay), .field = "bytes"};
    snprintf(difference.replayed, sizeof difference.replayed, "%.90s", engine_replay_error(run->replay));
    snprintf(difference.recorded, sizeof difference.recorded, "the state after event %" PRIu64,
             difference.id);
    differs(run, &difference);
    place_difference_here(run);
}

/* Live orders in their last state, and recorded rows beyond those of the replay. */
static void check_end(struct run *run, bool whole)
{
    const struct engine_recorded *recorded = run->recorded;
    struct difference difference;
    for (size_t i = 0; i < run->n_live && !run->different && run->r == 0; i++) {
        const struct emitted_order *emitted_order = &run->live[i];
        if (!whole) {
            run->result.unsettled++;
            continue;
        }
        check_order(run, &emitted_order->order);
        if (run->different)
            place_difference(run, emitted_order->seq, emitted_order->ns,
                             emitted_order->in_state ? "the state after it"
                                                     : "the last event that changed it");
    }
    if (!whole || run->different || run->r < 0)
        return;
    const struct {
        const char *table;
        uint64_t made, recorded;
    } ends[] = {{"orders", run->last_order, recorded->last_order},
                {"fills", run->last_fill, recorded->last_fill},
                {"ledger", run->last_ledger, recorded->last_ledger},
                {"receivables", run->last_receivable, recorded->last_receivable},
                {"fee_rates", run->last_fee_rate, recorded->last_fee_rate}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends && !run->different; i++)
        if (ends[i].recorded > ends[i].made) {
            engine_compare_missing(ends[i].table, ends[i].made + 1, false, &difference);
            differs(run, &difference);
            place_difference_here(run);
        }
}

static int play(struct run *run, char *err, size_t err_size)
{
    uint64_t to_seq = run->recorded->event_seq, runs = engine_replay_runs(run->replay);
    int r = 1;
    while (engine_replay_seq(run->replay) < to_seq && (r = engine_replay_step(run->replay)) == 1) {
        const struct event *event = engine_replay_event(run->replay);
        if (engine_replay_runs(run->replay) != runs) {
            runs = engine_replay_runs(run->replay);
            adopt(run, event->seq - 1, run->result.to_ns);
        }
        for (size_t i = 0; i < run->n_live; i++)
            if (run->live[i].known) {
                run->live[i].known = false;
                run->live[i].seq = event->seq;
                run->live[i].ns = event->recv_ns;
            }
        if (run->result.events == 0)
            run->result.from_ns = event->recv_ns;
        run->result.events++;
        run->result.to_seq = event->seq;
        run->result.to_ns = event->recv_ns;
        if (run->r < 0) {
            snprintf(err, err_size, run->r == -ENOMEM ? "out of memory" : "the record cannot be read");
            return run->r;
        }
        if (run->different) {
            place_difference_here(run);
            return 0;
        }
    }
    if (r == -EILSEQ)
        state_differs(run);
    else if (r < 0)
        snprintf(err, err_size, "%s", engine_replay_error(run->replay));
    else
        check_end(run, engine_replay_seq(run->replay) >= to_seq);
    return r == -EILSEQ ? 0 : r < 0 ? r : run->r;
}

int engine_parity_run(const struct parity_options *options, struct parity_result *ret, char *err,
                      size_t err_size)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    run->recorded = options->recorded;
    struct replay_options replay = {
        .path = options->path,
        .from_ns = options->from_ns,
        .check_states = true,
        .sink = {.ctx = run,
                 .order = on_order,
                 .fill = on_fill,
                 .ledger = on_ledger,
                 .cause = on_cause,
                 .receivable = on_receivable,
                 .fee_rate = on_fee_rate},
    };
    int r = engine_replay_open(&replay, &run->replay, err, err_size);
    if (r == 0) {
        run->result.from_seq = run->result.to_seq = engine_replay_seq(run->replay);
        run->result.from_ns = run->result.to_ns = engine_received(engine_replay_engine(run->replay));
        adopt(run, run->result.from_seq, run->result.from_ns);
        r = play(run, err, err_size);
        run->result.runs = engine_replay_runs(run->replay);
        run->result.holes = engine_replay_holes(run->replay);
        run->result.equal = !run->different;
    }
    if (r == 0 && options->from_ns > 0 && run->result.to_ns < options->from_ns) {
        snprintf(err, err_size, "the log ends before that time");
        r = -ENOENT;
    }
    if (r == 0)
        *ret = run->result;
    free(run->live);
    engine_replay_close(run->replay);
    free(run);
    return r;
}
