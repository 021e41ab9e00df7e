/* Checks orders against their terms, and fills against their orders and the rules of exchange/fill_rules.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "db/verification.h"
#include "exchange/fill_rules.h"

static void check_state(struct verification *v, const struct order *o)
{
    bool consistent = true;
    switch (o->state) {
    case ORDER_HELD:
    case ORDER_PENDING:
    case ORDER_OPEN:
    case ORDER_UNKNOWN:
        consistent = o->filled == 0;
        break;
    case ORDER_PARTIAL:
        consistent = o->filled > 0 && o->filled < o->qty;
        break;
    case ORDER_FILLED:
        consistent = o->filled == o->qty;
        break;
    case ORDER_CANCELED:
    case ORDER_EXPIRED:
        consistent = o->filled < o->qty;
        break;
    case ORDER_REJECTED:
        consistent = o->filled == 0 && o->reason != ORDER_OK;
        break;
    case ORDER_STATES:
        consistent = false;
        break;
    }
    if (!consistent)
        db_verify_wrong(v, "orders", o->id, "%s does not go with %" PRId64 " of %" PRId64 " filled",
                        order_state_name(o->state), o->filled, o->qty);
}

/* Numbers of before the base that no row has. */
static void pad_orders(struct verification *v, uint64_t before)
{
    while (v->n_orders + 1 < before && !db_verify_stopped(v)) {
        struct known_order *none = VERIFY_APPEND(v, v->orders, v->n_orders);
        if (none)
            *none = (struct known_order){.missing = true, .ended = true};
    }
}

static void pad_fills(struct verification *v, uint64_t before)
{
    while (v->n_fills + 1 < before && !db_verify_stopped(v)) {
        struct known_fill *none = VERIFY_APPEND(v, v->fills, v->n_fills);
        if (none)
            *none = (struct known_fill){.missing = true};
    }
}

static void check_order(void *ctx, const struct db_order_row *row)
{
    struct verification *v = ctx;
    const struct order *o = &row->order;
    if (db_verify_stopped(v))
        return;
    pad_orders(v, o->id);
    check_state(v, o);
    if (o->parent >= o->id || o->group > o->id + 2)
        db_verify_wrong(v, "orders", o->id, "its group or parent is not one that it can have");
    struct known_order *known = VERIFY_APPEND(v, v->orders, v->n_orders);
    if (known)
        *known = (struct known_order){
            .account = o->account,
            .symbol = o->symbol,
            .side = o->side,
            .type = o->type,
            .tif = o->tif,
            .state = o->state,
            .triggered = o->triggered,
            .post_only = o->post_only,
            .reduce_only = o->reduce_only,
            .amended = o->amends > 0,
            .ended = o->id <= v->base.last_order,
            .qty = o->qty,
            .price = o->price,
            .group = o->group,
            .parent = o->parent,
            .says_filled = o->filled,
            .says_cost = o->cost,
            .created_ns = o->created_ns,
            .updated_ns = o->updated_ns,
        };
}

/* Is the fill within the order's terms? The former limit of an order that was amended, or split, is not
 * known any more. */
static void check_terms(struct verification *v, const struct fill *f, const struct known_order *order)
{
    bool conditional = order->type == ORDER_STOP_LIMIT || order->type == ORDER_TAKE_PROFIT_LIMIT;
    if (order_has_limit(order->type) && !order->amended && !db_verify_spans_split(v, order, f->input_seq) &&
        !fill_limit_crosses(f->side, order->price, f->price))
        db_verify_wrong(v, "fills", f->id, "%s at %" PRId64 ", beyond the order's limit of %" PRId64,
                        order_side_name(f->side), f->price, order->price);
    if (conditional && !order->triggered)
        db_verify_wrong(v, "fills", f->id, "is of order %" PRIu64 ", which was not triggered", f->order_id);
    if (order->post_only && !f->maker)
        db_verify_wrong(v, "fills", f->id, "took from the book for order %" PRIu64 ", which is post-only",
                        f->order_id);
}

static void check_fill(void *ctx, const struct db_fill_row *row)
{
    struct verification *v = ctx;
    const struct fill *f = &row->fill;
    const struct symbol *symbol = &row->symbol->symbol;
    if (db_verify_stopped(v))
        return;
    pad_fills(v, f->id);
    if (f->order_id < 1 || f->order_id > v->n_orders || v->orders[f->order_id - 1].missing) {
        db_verify_wrong(v, "fills", f->id, "there is no order %" PRIu64, f->order_id);
        return;
    }
    struct known_order *order = &v->orders[f->order_id - 1];
    if (order->account != f->account || order->symbol != f->symbol || order->side != f->side)
        db_verify_wrong(v, "fills", f->id, "is not of its order's account, symbol and side");
    int shift = symbol->price_scale + symbol->qty_scale - symbol->quote_scale;
    if (shift < 0 || shift > DECIMAL_SCALE_MAX)
        db_verify_wrong(v, "symbols", (uint64_t)row->symbol->id, "its scales do not go together");
    else if (f->basis != FILL_BASIS_VENUE &&
             f->notional != fill_notional(f->side, f->price, f->qty, decimal_pow10(shift)))
        db_verify_wrong(v, "fills", f->id, "the notional is not price times quantity");
    db_verify_fee(v, f, symbol, row->rate_known);
    if (f->id > v->base.last_fill)
        check_terms(v, f, order);
    db_verify_worth(v, f->input_seq);
    if (f->id > v->base.last_fill) { /* what was before is in the base */
        order->filled += f->qty;
        order->worth += f->qty;
        order->cost += f->notional;
    }
    struct known_fill *known = VERIFY_APPEND(v, v->fills, v->n_fills);
    if (known)
        *known = (struct known_fill){
            .order_id = f->order_id,
            .account = f->account,
            .symbol = f->symbol,
            .side = f->side,
            .ts_ns = f->ts_ns,
            .price = f->price,
            .qty = f->qty,
            .notional = f->notional,
            .fee = f->fee,
            .fee_base = f->fee_base,
            .fee_e6 = f->fee_e6,
            .maker = f->maker,
            .of_venue = f->basis == FILL_BASIS_VENUE,
            .input_seq = f->input_seq,
        };
}

/* Does the order agree with the sums of its fills? */
static void check_sums(struct verification *v, uint64_t id, const struct known_order *o)
{
    if (o->says_filled != o->filled)
        db_verify_wrong(v, "orders", id, "says %" PRId64 " filled, its fills add up to %" PRId64,
                        o->says_filled, o->filled);
    if (o->says_cost != o->cost)
        db_verify_wrong(v, "orders", id, "says a cost of %" PRId64 ", its fills add up to %" PRId64,
                        o->says_cost, o->cost);
    if (o->tif == ORDER_FOK && o->filled != 0 && o->filled != o->qty)
        db_verify_wrong(v, "orders", id, "fill or kill, and filled in part");
}

/* Orders of a group stand side by side: an OCO's two, or a bracket's entry and its exits. Of two that exclude
 * each other one trades; exits sell no more than the entry bought. */
static void check_group(struct verification *v, uint64_t id, const struct known_order *o)
{
    if (o->group == 0 || o->state == ORDER_REJECTED || o->group <= v->base.last_order)
        return;
    if (o->parent) {
        const struct known_order *entry = &v->orders[o->parent - 1];
        int64_t exits = 0;
        for (uint64_t other = o->parent + 1; other <= id; other++)
            if (v->orders[other - 1].parent == o->parent)
                exits += v->orders[other - 1].worth;
        if (entry->group != o->group || entry->account != o->account || entry->symbol != o->symbol ||
            entry->side == o->side)
            db_verify_wrong(v, "orders", id, "is no exit of its entry, order %" PRIu64, o->parent);
        if (exits > entry->worth)
            db_verify_wrong(v, "orders", id,
                            "exits of order %" PRIu64 " traded %" PRId64 ", more than the %" PRId64
                            " that it did",
                            o->parent, exits, entry->worth);
    }
    for (uint64_t other = id > 2 ? id - 2 : 1; other < id; other++) {
        const struct known_order *twin = &v->orders[other - 1];
        if (twin->group == o->group && twin->parent == o->parent && twin->filled > 0 && o->filled > 0)
            db_verify_wrong(v, "orders", id, "one cancels the other, and order %" PRIu64 " traded too",
                            other);
    }
}

int db_verify_trades(struct verification *v)
{
    int r = db_verify_load_actions(v);
    if (r == 0 && !db_verify_stopped(v))
        r = db_reader_orders(v->reader, false, 0, check_order, v);
    if (r == 0 && !db_verify_stopped(v)) {
        pad_orders(v, v->base.last_order + 1);
        r = db_verify_base_orders(v);
    }
    if (r == 0 && !db_verify_stopped(v))
        r = db_reader_fills(v->reader, 0, check_fill, v);
    pad_fills(v, v->base.last_fill + 1);
    db_verify_worth(v, UINT64_MAX);
    for (size_t i = 0; r == 0 && i < v->n_orders && !db_verify_stopped(v); i++) {
        if (v->orders[i].ended)
            continue;
        check_sums(v, i + 1, &v->orders[i]);
        check_group(v, i + 1, &v->orders[i]);
    }
    return r;
}

void db_verify_follow(struct verification *v, uint64_t fill_id)
{
    const struct known_fill *f = &v->fills[fill_id - 1];
    const struct db_holding *holding = db_holdings_of(&v->holdings, f->account, f->symbol);
    if (!holding) {
        v->out_of_memory = true;
        return;
    }
    int64_t moves = f->qty - f->fee_base;
    int64_t held = holding->position.qty, change = f->side == ORDER_BUY ? moves : -moves;
    bool reduces = held != 0 && (held > 0) != (change > 0) && (held > 0 ? held >= f->qty : -held >= f->qty);
    if (v->orders[f->order_id - 1].reduce_only && !reduces)
        db_verify_wrong(v, "fills", fill_id, "%s %" PRId64 " of %" PRId64 " held, though reduce-only",
                        order_side_name(f->side), f->qty, held);
    int r =
        db_holdings_fill(&v->holdings, f->account, f->symbol, f->side, moves, f->notional, f->fee, f->ts_ns);
    if (r == -ERANGE)
        db_verify_wrong(v, "fills", fill_id, "its position is beyond all bounds");
    else if (r < 0)
        v->out_of_memory = true;
}
