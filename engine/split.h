/* How a split changes numbers: pure, for the engine's own files and for db/verify and recovery, which
 * compute the same. `shares` new ones for every `per` old ones, both above zero. */
#ifndef ENGINE_SPLIT_H
#define ENGINE_SPLIT_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/position.h"
#include "exchange/bar.h"
#include "exchange/corporate_action.h"
#include "exchange/symbol.h"

struct stock_split {
    int64_t shares, per;
    int64_t ex_ns; /* it applies to what was opened, ordered or reported up to then */
};

/* Most of both sides of a ratio, and of money and quantities after it. */
enum { SPLIT_RATIO_MAX = ACTION_RATIO_MAX };
bool engine_split_valid(const struct stock_split *split);

/* A quantity >= 0, rounded down; -1 beyond what quantities can be. */
int64_t engine_split_qty(const struct stock_split *split, int64_t qty);
/* The same on the symbol's step. */
int64_t engine_split_lot(const struct stock_split *split, const struct symbol *symbol, int64_t qty);
/* The same for a price that is only displayed: at least one unit where it was not 0, and bounded. */
int64_t engine_split_shown(const struct stock_split *split, int64_t price);
/* The same to the nearest tick. */
int64_t engine_split_tick(const struct stock_split *split, const struct symbol *symbol, int64_t price);
/* Converts a bar that opens before ex_ns to new shares; prices are at least one unit. */
void engine_split_bar(const struct stock_split *split, struct bar *bar);

/* Converts the part of a position that was opened up to ex_ns. Returns by how much it grows (of a short:
 * shrinks), lots and costs with it; what rounds to nothing is closed for nothing at now_ns. On failure
 * nothing has changed: -ERANGE beyond what quantities can be, -ENOMEM. *ret_left_out: was a fraction left
 * out? */
int engine_split_position(const struct stock_split *split, struct position *position, struct lots *lots,
                          int64_t now_ns, int64_t *ret_change, bool *ret_left_out);

/* What a lot has after it, of lots taken oldest first: the difference of the converted running sums, so that
 * they sum to the whole. *had and *given begin with 0. */
int64_t engine_split_lot_qty(const struct stock_split *split, const struct lot *lot, int128_t *had,
                             int64_t *given);

/* What a dividend pays for `qty` shares (negative: short) in the quote, rounded down; false beyond what
 * money can be. */
bool engine_dividend_amount(const struct corporate_action *action, const struct symbol *symbol, int64_t qty,
                            int64_t *ret);
/* The part of a position that was opened up to a moment; negative of a short. */
int64_t position_before(const struct position *position, const struct lots *lots, int64_t ns);

#endif
