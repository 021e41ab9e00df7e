/* What an account is worth at a moment: where the period begins, at a reset, at its end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/books/stating_internal.h"

/* ---- one position ---- */

static int128_t realized_of(const struct db_stating *stating, const struct db_stating_holding *holding)
{
    return stating->fifo ? holding->position.fifo_realized : holding->position.realized;
}

/* What it cost; negative: what a short was sold for. */
static int128_t book_of(const struct db_stating *stating, const struct db_stating_holding *holding)
{
    const int64_t cost = stating->fifo ? holding->position.fifo_cost : holding->position.cost;
    return holding->position.qty < 0 ? -(int128_t)cost : cost;
}

/* As the engine values it: away from zero for a short, whose liability is not made smaller. */
static int128_t worth(const struct db_stating_holding *holding, int64_t price)
{
    const int128_t product = (int128_t)price * holding->position.qty;
    return product / holding->unit - (product < 0 && product % holding->unit != 0);
}

static int add_mark(struct db_stating *stating, const struct db_statement_mark *mark)
{
    struct db_statement_account *into = stating->into;
    if ((into->n_marks & (into->n_marks - 1)) == 0) {
        size_t room = into->n_marks ? 2 * into->n_marks : 1;
        struct db_statement_mark *more = reallocarray(into->marks, room, sizeof *more);
        if (!more)
            return -ENOMEM;
        into->marks = more;
    }
    into->marks[into->n_marks++] = *mark;
    return 0;
}

/* By a mark, which is listed; without one at what it cost. */
static int value(struct db_stating *stating, const struct db_stating_holding *holding,
                 enum db_statement_moment moment, int64_t ts_ns, struct db_statement_mark *ret)
{
    *ret = (struct db_statement_mark){.moment = moment,
                                      .ts_ns = ts_ns,
                                      .symbol = holding->listed,
                                      .qty = holding->position.qty,
                                      .cost = book_of(stating, holding)};
    ret->value = ret->cost;
    if (holding->position.qty == 0)
        return 0;
    int r = stating->mark(stating->ctx, stating, holding, ret);
    if (r < 0)
        return r;
    if (ret->source == DB_STATEMENT_NONE && holding->fill_price > 0) {
        ret->source = DB_STATEMENT_FILL;
        ret->price = holding->fill_price;
        ret->mark_ns = holding->fill_ns;
    }
    if (ret->source != DB_STATEMENT_NONE)
        ret->value = worth(holding, ret->price);
    return add_mark(stating, ret);
}

/* ---- an account ---- */

/* The quote's money, and what its units are of the symbol's. */
static struct db_statement_money *quote_of(struct db_stating *stating,
                                           const struct db_stating_holding *holding, int64_t *ret_finer)
{
    const struct symbol *listed = &holding->listed;
    struct db_statement_money *money = db_stating_money(stating, listed->quote, listed->quote_scale);
    if (money)
        *ret_finer = decimal_pow10(money->scale - listed->quote_scale);
    return money;
}

/* Every position: its value into closing, and what it gained since the period's beginning or the last reset
 * into the figures. */
static int value_all(struct db_stating *stating, enum db_statement_moment moment, int64_t ts_ns)
{
    for (size_t i = 0; i < stating->into->n_moneys; i++)
        stating->into->moneys[i].closing =
            stating->into->moneys[i].cash + stating->into->moneys[i].receivable;
    for (size_t i = 0; i < stating->n_holdings; i++) {
        struct db_stating_holding *holding = &stating->holdings[i];
        struct db_statement_mark mark;
        int64_t finer = 1;
        struct db_statement_money *money = quote_of(stating, holding, &finer);
        int r = money ? value(stating, holding, moment, ts_ns, &mark) : -ENOMEM;
        if (r < 0)
            return r;
        const bool unpriced = holding->position.qty != 0 && mark.source == DB_STATEMENT_NONE;
        money->closing += mark.value * finer;
        money->realized += (realized_of(stating, holding) - holding->realized) * finer;
        money->unrealized += (mark.value - mark.cost - holding->unrealized) * finer;
        holding->realized = realized_of(stating, holding);
        holding->unrealized = mark.value - mark.cost;
        money->no_opening |= moment == DB_STATEMENT_OPENING && unpriced;
        money->no_reset |= moment == DB_STATEMENT_RESET && unpriced;
        money->no_closing |= moment == DB_STATEMENT_CLOSING && unpriced;
    }
    return 0;
}

int db_stating_begin(struct db_stating *stating, int64_t from_ns)
{
    int r = db_stating_receivables_until(stating, from_ns);
    r = r < 0 ? r : value_all(stating, DB_STATEMENT_OPENING, from_ns);
    for (size_t i = 0; i < stating->into->n_moneys; i++) {
        struct db_statement_money *money = &stating->into->moneys[i];
        money->opening = money->closing;
        money->opening_cash = money->cash;
        money->opening_receivable = money->receivable;
        money->realized = money->unrealized = 0;
    }
    stating->counts = true;
    return r;
}

static void clear(struct db_stating *stating, int64_t ts_ns)
{
    for (size_t i = 0; i < stating->n_holdings; i++) {
        struct db_stating_holding *holding = &stating->holdings[i];
        position_lots_finish(&holding->lots);
        holding->position = (struct position){.updated_ns = ts_ns};
        holding->realized = holding->unrealized = 0;
    }
    for (size_t i = 0; i < stating->into->n_moneys; i++)
        stating->into->moneys[i].cash = stating->into->moneys[i].receivable = 0;
    for (size_t i = 0; i < stating->receivable; i++)
        stating->receivables[i].open = false; /* that they are written off says nothing more */
}

int db_stating_reset(struct db_stating *stating, const struct db_stating_row *row)
{
    int r = stating->counts ? value_all(stating, DB_STATEMENT_RESET, row->ts_ns) : 0;
    for (size_t i = 0; i < stating->into->n_moneys && stating->counts && r == 0; i++) {
        struct db_statement_money *money = &stating->into->moneys[i];
        struct db_statement_flow flow = {.id = row->id,
                                         .ts_ns = row->ts_ns,
                                         .kind = LEDGER_RESET,
                                         .of_reset = true,
                                         .scale = money->scale,
                                         .amount = -money->closing};
        memcpy(flow.asset, money->asset, sizeof flow.asset);
        money->resets += flow.amount;
        r = money->closing != 0 || i == 0 ? db_stating_flow(stating, &flow) : 0;
    }
    clear(stating, row->ts_ns);
    stating->reset_ns = row->ts_ns;
    return r;
}

/* ---- the end ---- */

static bool ties(const struct db_statement_money *money)
{
    return money->opening + db_statement_flows(money) + money->realized + money->unrealized - money->fees -
               money->interest + money->dividends ==
           money->closing;
}

static bool is_empty(const struct db_statement_money *money)
{
    return money->opening == 0 && money->closing == 0 && money->opening_cash == 0 && money->cash == 0 &&
           money->deposits == 0 && money->withdrawals == 0 && money->transfers == 0 && money->resets == 0 &&
           money->exchanged == 0 && money->realized == 0 && money->unrealized == 0 && money->fees == 0 &&
           money->interest == 0 && money->dividends == 0 && money->opening_receivable == 0 &&
           money->receivable == 0;
}

/* The account's currency stays, and what moved. */
static void leave_out_empty(struct db_statement_account *into)
{
    size_t kept = 1;
    for (size_t i = 1; i < into->n_moneys; i++)
        if (!is_empty(&into->moneys[i]))
            into->moneys[kept++] = into->moneys[i];
    into->n_moneys = kept;
}

int db_stating_end(struct db_stating *stating, int64_t to_ns)
{
    int r = db_stating_receivables_until(stating, to_ns);
    r = r < 0 ? r : value_all(stating, DB_STATEMENT_CLOSING, to_ns);
    for (size_t i = 0; i < stating->into->n_moneys && r == 0; i++)
        r = ties(&stating->into->moneys[i]) ? 0 : -EBADMSG;
    if (r == 0)
        leave_out_empty(stating->into);
    return r;
}
