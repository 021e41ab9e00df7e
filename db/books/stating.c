/* The rows of an account's ledger, one after another. */
#include "db/books/stating.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/books/stating_internal.h"

/* ---- currencies ---- */

/* All sums of a currency at a finer scale: exact. */
static void refine(struct db_statement_money *money, int scale)
{
    int128_t *const sums[] = {&money->opening,      &money->closing,    &money->opening_cash,
                              &money->cash,         &money->deposits,   &money->withdrawals,
                              &money->transfers,    &money->resets,     &money->exchanged,
                              &money->realized,     &money->unrealized, &money->fees,
                              &money->fees_in_kind, &money->interest,   &money->opening_receivable,
                              &money->receivable,   &money->withheld,   &money->dividends};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        *sums[i] *= decimal_pow10(scale - money->scale);
    money->scale = scale;
}

struct db_statement_money *db_stating_money(struct db_stating *stating, const char *asset, int scale)
{
    struct db_statement_account *into = stating->into;
    for (size_t i = 0; i < into->n_moneys; i++)
        if (strcmp(into->moneys[i].asset, asset) == 0) {
            if (scale > into->moneys[i].scale)
                refine(&into->moneys[i], scale);
            return &into->moneys[i];
        }
    struct db_statement_money *more = reallocarray(into->moneys, into->n_moneys + 1, sizeof *more);
    if (!more)
        return NULL;
    into->moneys = more;
    struct db_statement_money *money = &more[into->n_moneys++];
    *money = (struct db_statement_money){.scale = scale};
    snprintf(money->asset, sizeof money->asset, "%s", asset);
    return money;
}

static bool is_currency(const struct db_stating *stating, const char *asset)
{
    return strcmp(asset, stating->into->account.currency) == 0;
}

/* ---- holdings ---- */

static struct db_stating_holding *holding_of(struct db_stating *stating, int64_t symbol,
                                             const struct symbol *listed)
{
    for (size_t i = 0; i < stating->n_holdings; i++)
        if (stating->holdings[i].symbol == symbol)
            return &stating->holdings[i];
    struct db_stating_holding *more = reallocarray(stating->holdings, stating->n_holdings + 1, sizeof *more);
    if (!more)
        return NULL;
    stating->holdings = more;
    struct db_stating_holding *holding = &more[stating->n_holdings++];
    *holding = (struct db_stating_holding){.symbol = symbol, .listed = *listed};
    const int shift = listed->price_scale + listed->qty_scale - listed->quote_scale;
    holding->unit = shift >= 0 && shift <= DECIMAL_SCALE_MAX ? decimal_pow10(shift) : 0;
    return holding;
}

/* ---- flows ---- */

int db_stating_flow(struct db_stating *stating, const struct db_statement_flow *flow)
{
    struct db_statement_account *into = stating->into;
    if ((into->n_flows & (into->n_flows - 1)) == 0) {
        size_t room = into->n_flows ? 2 * into->n_flows : 1;
        struct db_statement_flow *more = reallocarray(into->flows, room, sizeof *more);
        if (!more)
            return -ENOMEM;
        into->flows = more;
    }
    into->flows[into->n_flows++] = *flow;
    return 0;
}

/* Of the row's money, which is at the row's scale or a finer one. */
static int take_flow(struct db_stating *stating, const struct db_stating_row *row,
                     struct db_statement_money *money, int128_t amount)
{
    const bool of_reset = row->kind == LEDGER_DEPOSIT && row->ts_ns == stating->reset_ns;
    if (!stating->counts)
        return 0;
    if (of_reset)
        money->resets += amount;
    else if (row->kind == LEDGER_TRANSFER)
        money->transfers += amount;
    else if (amount < 0)
        money->withdrawals += amount;
    else
        money->deposits += amount;
    struct db_statement_flow flow = {.id = row->id,
                                     .ts_ns = row->ts_ns,
                                     .kind = row->kind,
                                     .of_reset = of_reset,
                                     .scale = money->scale,
                                     .amount = amount};
    memcpy(flow.asset, money->asset, sizeof flow.asset);
    return db_stating_flow(stating, &flow);
}

/* ---- fills and splits ---- */

/* What a fee that was taken of the bought coin is worth at the fill's price, at most its notional. */
static int64_t in_kind(const struct db_stating_fill *fill, int64_t unit)
{
    const int128_t product = (int128_t)fill->price * fill->fee_base;
    const int128_t value = product / unit + (product % unit != 0);
    return value < fill->notional ? (int64_t)value : fill->notional;
}

static int take_fill(struct db_stating *stating, const struct db_stating_row *row)
{
    const struct db_stating_fill *fill = row->fill;
    struct db_stating_holding *holding = holding_of(stating, fill->symbol, fill->listed);
    struct db_statement_money *money =
        db_stating_money(stating, fill->listed->quote, fill->listed->quote_scale);
    if (!holding || !money)
        return -ENOMEM;
    if (holding->unit == 0 || fill->qty <= fill->fee_base || fill->price <= 0)
        return -EBADMSG;
    const int64_t fee = fill->fee_base ? in_kind(fill, holding->unit) : 0;
    if (stating->counts) {
        const int128_t finer = (int128_t)fee * decimal_pow10(money->scale - fill->listed->quote_scale);
        money->fees += finer;
        money->fees_in_kind += finer;
    }
    holding->fill_price = fill->price;
    holding->fill_ns = row->ts_ns;
    return position_apply(&holding->position, &holding->lots, fill->side, fill->qty - fill->fee_base,
                          fill->notional - fee, row->ts_ns);
}

/* By how much a split would change what is held. */
static int64_t split_change(const struct db_stating_split *split, const struct db_stating_holding *holding)
{
    const int64_t held = position_before(&holding->position, &holding->lots, split->split.ex_ns);
    const int64_t size = held < 0 ? -held : held, change = engine_split_qty(&split->split, size) - size;
    return held < 0 ? -change : change;
}

/* The row that a split booked: the next one of its time that changes something by so much. Those that change
 * nothing have no row. */
static int take_split(struct db_stating *stating, const struct db_stating_row *row)
{
    for (size_t i = stating->split; i < stating->n_splits; i++) {
        const struct db_stating_split *split = &stating->splits[i];
        for (size_t k = 0; k < stating->n_holdings && split->ts_ns == row->ts_ns; k++) {
            struct db_stating_holding *holding = &stating->holdings[k];
            int64_t change;
            bool left_out;
            if (holding->symbol != split->symbol || strcmp(holding->listed.base, row->asset) != 0 ||
                split_change(split, holding) != row->amount)
                continue;
            stating->split = i + 1;
            holding->fill_price = engine_split_shown(&split->split, holding->fill_price);
            return engine_split_position(&split->split, &holding->position, &holding->lots, row->ts_ns,
                                         &change, &left_out);
        }
    }
    return -EBADMSG;
}

/* ---- rows ---- */

/* Does the row move what a symbol's position is of? */
static bool moves_base(const struct db_stating_row *row)
{
    return row->kind == LEDGER_SPLIT || (row->fill && strcmp(row->asset, row->fill->listed->base) == 0);
}

/* A row of money: which figure it is of. Trades in the quote are in realized gains and the book. */
static int take_money(struct db_stating *stating, const struct db_stating_row *row)
{
    struct db_statement_money *money = db_stating_money(stating, row->asset, row->scale);
    if (!money)
        return -ENOMEM;
    const int128_t amount = (int128_t)row->amount * decimal_pow10(money->scale - row->scale);
    money->cash += amount;
    if (row->kind == LEDGER_DEPOSIT || row->kind == LEDGER_TRANSFER)
        return take_flow(stating, row, money, amount);
    if (!stating->counts)
        return 0;
    if (moves_base(row))
        money->exchanged += amount;
    else if (row->kind == LEDGER_FEE)
        money->fees -= amount;
    else if (row->kind == LEDGER_INTEREST)
        money->interest -= amount;
    else if (row->kind == LEDGER_DIVIDEND)
        money->dividends += amount;
    return 0;
}

int db_stating_row(struct db_stating *stating, const struct db_stating_row *row)
{
    const bool of_fill = row->kind == LEDGER_TRADE || row->kind == LEDGER_FEE;
    int r = 0;
    stating->into->any = true;
    if (of_fill && !row->fill)
        return -EBADMSG;
    r = db_stating_receivables(stating, row);
    if (r < 0)
        return r;
    if (row->kind == LEDGER_BORROW)
        return 0;                  /* as much a liability as a balance */
    if (row->kind == LEDGER_RESET) /* its first row; the others are of what leaves with it */
        return is_currency(stating, row->asset) ? db_stating_reset(stating, row) : 0;
    if (row->kind == LEDGER_TRADE && row->fill->id != stating->last_fill) {
        stating->last_fill = row->fill->id;
        r = take_fill(stating, row);
    } else if (row->kind == LEDGER_SPLIT) {
        r = take_split(stating, row);
    }
    if (r < 0 || (moves_base(row) && !is_currency(stating, row->asset)))
        return r;
    return take_money(stating, row);
}

/* ---- the beginning and the end of all ---- */

int db_stating_init(struct db_stating *stating, struct db_statement_account *into)
{
    stating->into = into;
    stating->reset_ns = INT64_MIN;
    return db_stating_money(stating, into->account.currency, into->account.currency_scale) ? 0 : -ENOMEM;
}

int db_stating_base_cash(struct db_stating *stating, const char *asset, int scale, int64_t amount)
{
    struct db_statement_money *money = db_stating_money(stating, asset, scale);
    if (!money)
        return -ENOMEM;
    money->cash += (int128_t)amount * decimal_pow10(money->scale - scale);
    stating->into->any = true;
    return 0;
}

int db_stating_base_position(struct db_stating *stating, int64_t symbol, const struct symbol *listed,
                             const struct position *position, struct lots *lots)
{
    struct db_stating_holding *holding = holding_of(stating, symbol, listed);
    if (!holding)
        return -ENOMEM;
    if (holding->unit == 0)
        return -EBADMSG;
    holding->position = *position;
    holding->lots = *lots;
    *lots = (struct lots){0};
    if (!db_stating_money(stating, listed->quote, listed->quote_scale))
        return -ENOMEM;
    return is_currency(stating, listed->base)
               ? 0
               : db_stating_base_cash(stating, listed->base, listed->qty_scale, -position->qty);
}

void db_stating_finish(struct db_stating *stating)
{
    for (size_t i = 0; i < stating->n_holdings; i++)
        position_lots_finish(&stating->holdings[i].lots);
    free(stating->holdings);
    free(stating->receivables);
    *stating = (struct db_stating){0};
}
