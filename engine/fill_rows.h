/* The ledger rows of a fill (record/ledger_row.h), for the two that check them: the audit of a backtest and
 * `ledger verify`. Pure. */
#ifndef ENGINE_FILL_ROWS_H
#define ENGINE_FILL_ROWS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "exchange/order.h"
#include "record/ledger_row.h"

/* A fill has each at most once, and may have both loans: a cover that borrows currency gives back the base.
 */
enum {
    BASE_ROW = 1,
    QUOTE_ROW = 2,
    FEE_ROW = 4,
    BORROW_ROW = 8, /* of the base, or of an asset that is neither, which is wrong */
    LOAN_ROW = 16,  /* of the quote */
};

static inline unsigned engine_fill_row(const struct ledger_row *row, const struct symbol *symbol)
{
    bool base = strcmp(row->asset, symbol->base) == 0;
    if (row->kind == LEDGER_BORROW)
        return !base && strcmp(row->asset, symbol->quote) == 0 ? LOAN_ROW : BORROW_ROW;
    return row->kind == LEDGER_FEE ? FEE_ROW : base ? BASE_ROW : QUOTE_ROW;
}

/* May such a fill borrow, or below 0 give back, so much base? A sale borrows, a purchase gives back. */
static inline bool engine_fill_borrows(enum order_side side, int64_t qty, int64_t amount)
{
    return side == ORDER_SELL ? amount > 0 && amount <= qty : amount < 0 && amount >= -qty;
}

/* May it borrow so much currency: a purchase, at most its `cost` with the fee? Any trade may pay back what is
 * there, which leaves `balance`. */
static inline bool engine_fill_loan(enum order_side side, int64_t cost, int64_t amount, int64_t balance)
{
    return amount > 0 ? side == ORDER_BUY && amount <= cost : amount < 0 && balance >= 0;
}

#endif
