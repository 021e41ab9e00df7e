/* Checks splits and dividends against the ledger: record/ledger_row.h and docs/venues.md say what each
 * books, and in which order. An action takes effect where its rows are, or before the first fill of a later
 * event; the times of rows do not show their order (bars fill orders after their time). */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "db/verification.h"
#include "exchange/fill_rules.h"

static void take_action(void *ctx, const struct db_action_row *row)
{
    struct verification *v = ctx;
    if (row->action.input_seq <= v->base.event_seq)
        return; /* it is in the base */
    struct verified_action *known = VERIFY_APPEND(v, v->actions, v->n_actions);
    if (!known)
        return;
    *known = (struct verified_action){.id = row->action.id,
                                      .action = row->action.action,
                                      .symbol = (int)(row->symbol - v->reader->symbols),
                                      .ts_ns = row->action.ts_ns,
                                      .input_seq = row->action.input_seq};
    if (known->action.kind == ACTION_SPLIT) {
        const struct stock_split split = db_verify_split(known);
        if (!engine_split_valid(&split))
            db_verify_wrong(v, "corporate_actions", row->action.id,
                            "a split of %" PRId64 " for %" PRId64 " is none", split.shares, split.per);
    }
    if (v->n_actions > 1 && known->input_seq < known[-1].input_seq)
        db_verify_wrong(v, "corporate_actions", row->action.id,
                        "is of an event before that of the row before it");
}

int db_verify_load_actions(struct verification *v)
{
    int r = db_reader_actions(v->reader, NULL, take_action, v);
    return r == 0 ? db_verify_load_receivables(v) : r;
}

struct stock_split db_verify_split(const struct verified_action *action)
{
    return (struct stock_split){action->action.shares, action->action.per, action->action.ex_ns};
}

/* ---- the rows required by the action that takes effect now ---- */

static void expect(struct verification *v, enum ledger_kind kind, int64_t account, const char *asset,
                   int scale, int64_t amount, bool at_most)
{
    struct expected_row *row = VERIFY_APPEND(v, v->expected, v->n_expected);
    if (!row)
        return;
    *row = (struct expected_row){
        .kind = kind, .account = (int)account, .scale = scale, .amount = amount, .at_most = at_most};
    memcpy(row->asset, asset, strnlen(asset, sizeof row->asset - 1));
}

struct splitting {
    struct verification *v;
    const struct symbol *symbol;
};

/* A short's liability changes by two rows that cancel out. */
static void expect_split(void *ctx, const struct db_holding *holding, int64_t before, int64_t change)
{
    struct splitting *s = ctx;
    const char *base = s->symbol->base;
    int scale = s->symbol->qty_scale;
    if (change == 0)
        return;
    if (before < 0 && change < 0)
        expect(s->v, LEDGER_BORROW, holding->account, base, scale, -change, false);
    expect(s->v, LEDGER_SPLIT, holding->account, base, scale, change, false);
    if (before < 0 && change > 0)
        expect(s->v, LEDGER_BORROW, holding->account, base, scale, -change, false);
}

/* From a short account no more is taken than it has free; what would be more than an account can hold is
 * not paid. */
static void expect_dividend(struct verification *v, const struct verified_action *action)
{
    const struct symbol *symbol = &v->reader->symbols[action->symbol].symbol;
    for (size_t i = 0; i < v->holdings.n; i++) {
        const struct db_holding *holding = &v->holdings.rows[i];
        int64_t amount = 0;
        if (holding->symbol != action->symbol || db_verify_withholds_all(v, (int)holding->account, action))
            continue;
        int64_t qty = position_before(&holding->position, &holding->lots, action->action.ex_ns);
        if (qty == 0 || !engine_dividend_amount(&action->action, symbol, qty, &amount) || amount == 0 ||
            amount > FILL_MONEY_MAX -
                         db_verify_total(v, (int)holding->account, symbol->quote, symbol->quote_scale))
            continue;
        expect(v, LEDGER_DIVIDEND, holding->account, symbol->quote, symbol->quote_scale, amount, amount < 0);
    }
}

static void begin(struct verification *v)
{
    const struct verified_action *action = &v->actions[v->actions_done++];
    v->n_expected = v->at_expected = 0;
    if (action->action.kind == ACTION_DIVIDEND) {
        if (action->action.pay_ns <= action->ts_ns) /* else it is booked: verify_charges.c */
            expect_dividend(v, action);
        return;
    }
    const struct stock_split split = db_verify_split(action);
    struct splitting splitting = {v, &v->reader->symbols[action->symbol].symbol};
    int r = db_holdings_split(&v->holdings, action->symbol, &split, action->ts_ns, expect_split, &splitting);
    if (r == -ERANGE)
        db_verify_wrong(v, "corporate_actions", action->id,
                        "it makes of a position what is beyond all bounds");
    else if (r < 0)
        v->out_of_memory = true;
}

static bool matches(const struct expected_row *e, const struct ledger_row *row, int64_t ts_ns,
                    int64_t withheld)
{
    int64_t amount = e->amount - (e->kind == LEDGER_DIVIDEND ? withheld : 0);
    return e->kind == row->kind && e->account == row->account && strcmp(e->asset, row->asset) == 0 &&
           e->scale == row->scale && row->ts_ns == ts_ns &&
           (e->at_most ? row->amount < 0 && row->amount >= e->amount : row->amount == amount);
}

/* Is it the next row of the action that takes effect? */
static bool take(struct verification *v, const struct ledger_row *row)
{
    for (; v->at_expected < v->n_expected; v->at_expected++) {
        const struct expected_row *e = &v->expected[v->at_expected];
        if (matches(e, row, v->actions[v->actions_done - 1].ts_ns, v->withheld)) {
            v->at_expected++;
            return true;
        }
        if (!e->at_most)
            return false;
    }
    return false;
}

/* The action that took effect last must have all its rows, else it is named. */
static void end(struct verification *v)
{
    for (; v->at_expected < v->n_expected; v->at_expected++) {
        const struct expected_row *e = &v->expected[v->at_expected];
        if (!e->at_most)
            db_verify_wrong(v, "corporate_actions", v->actions[v->actions_done - 1].id,
                            "the ledger has no %s of %" PRId64 " %s of account %s, as it asks for",
                            ledger_kind_name(e->kind), e->amount, e->asset,
                            v->reader->accounts[e->account].account.name);
    }
}

/* ---- the walk ---- */

bool db_verify_action_row(struct verification *v, const struct ledger_row *row)
{
    bool of_action = row->fill_id == 0 && (row->kind == LEDGER_SPLIT || row->kind == LEDGER_DIVIDEND);
    bool loan = row->fill_id == 0 && row->kind == LEDGER_BORROW &&
                (v->resetting != row->account || v->last.ts_ns != row->ts_ns);
    const struct receivable_row *paid = db_verify_receivables(v, row);
    v->withheld = paid ? paid->of.withheld : 0;
    if (paid && paid->of.booked != 0)
        return true;
    if (db_verify_repays(v, row))
        return false;
    if ((of_action || loan) && take(v, row))
        return true;
    end(v);
    while ((of_action || loan) && v->actions_done < v->n_actions && !db_verify_stopped(v)) {
        begin(v);
        if (take(v, row))
            return true;
        end(v);
    }
    if (of_action)
        db_verify_wrong(v, "ledger", row->id, "no corporate action asks for a %s of %" PRId64 " %s then",
                        ledger_kind_name(row->kind), row->amount, row->asset);
    uint64_t seq = row->fill_id >= 1 && row->fill_id <= v->n_fills ? v->fills[row->fill_id - 1].input_seq : 0;
    while (v->actions_done < v->n_actions && !db_verify_stopped(v) &&
           v->actions[v->actions_done].input_seq < seq) {
        begin(v);
        end(v);
    }
    return false;
}

void db_verify_actions_end(struct verification *v)
{
    db_verify_receivables(v, NULL);
    end(v);
    while (v->actions_done < v->n_actions && !db_verify_stopped(v)) {
        begin(v);
        end(v);
    }
}

void db_verify_worth(struct verification *v, uint64_t before_seq)
{
    for (; v->worth_done < v->n_actions && v->actions[v->worth_done].input_seq < before_seq;
         v->worth_done++) {
        const struct verified_action *action = &v->actions[v->worth_done];
        const struct stock_split split = db_verify_split(action);
        for (size_t i = 0; action->action.kind == ACTION_SPLIT && i < v->n_orders; i++) {
            struct known_order *order = &v->orders[i];
            if (order->symbol == action->symbol && order->created_ns <= split.ex_ns && order->worth > 0)
                order->worth = engine_split_qty(&split, order->worth);
        }
    }
}

bool db_verify_spans_split(const struct verification *v, const struct known_order *order, uint64_t seq)
{
    for (size_t i = v->n_actions; i-- > 0 && v->actions[i].input_seq > seq;)
        if (v->actions[i].action.kind == ACTION_SPLIT && v->actions[i].symbol == order->symbol &&
            order->updated_ns >= v->actions[i].ts_ns)
            return true;
    return false;
}
