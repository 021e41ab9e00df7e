/* The account of a parameter set in the screen: fills, in doubles, one set at a time, since a bar in a
 * hundred has one. The rules are those of sim_plain.c, sim_bar.c and sim_intent.c for one symbol, without the
 * roundings of money to its last digit. Plain functions over plain structs, for host and device alike.
 *
 * Prices are whole numbers of the symbol's price_scale, quantities of its qty_scale, money is the account's
 * currency as a plain number. */
#ifndef ENGINE_BACKTEST_SCREEN_ACCOUNT_H
#define ENGINE_BACKTEST_SCREEN_ACCOUNT_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/backtest/screen/lanes.h"
#include "exchange/fill_rules.h"

#ifdef SCREEN_ALONE
enum { SCREEN_LANES = 1 };
#else
enum { SCREEN_LANES = 16 }; /* sets of a group */
#endif

enum {
    SCREEN_BLOCKS = 16,   /* equal parts of the rows, whose returns are summed apart */
    SCREEN_PIECE = 4096,  /* bars whose columns exist at once on the CPU */
    SCREEN_STRETCH = 256, /* bars that one group walks before the next does: a tile of 16 KiB */
};

/* What all sets have. Amounts of money are whole numbers of the currency's last digit, in doubles. */
struct screen_terms {
    double cash;                         /* at the start */
    double money_units;                  /* in 1 of the currency */
    double unit, per_unit;               /* price times quantity over this is money; 1 / unit */
    double price_units;                  /* in 1 of the currency */
    double slippage_e6, price_min, tick; /* tick 0: none */
    double lowest;                       /* price that a sale gets */
    double maker_e6, taker_e6, most_e6;  /* fees */
    double product_min, product_max;     /* price times quantity of a market order; 0 and INFINITY: none */
    double price_max, target_most;       /* of a profit; the latter times the last price */
    struct fill_lot lot;
};

/* Sums of a set's returns, in their order in screen_group. */
enum screen_sum { SUM_R, SUM_R2, SUM_R3, SUM_R4, SUM_DOWN2, SUM_LOSS, SCREEN_SUMS };

/* What a set's trades read and write, side by side in memory. */
struct screen_account {
    double want, want_stop, want_target; /* of the next entry: share of equity, prices; 0, INFINITY: none */
    double stop_at, target_at;           /* of the position */
    double cost;                         /* of the position, with its fee */
    double fees, won, lost;
    double shift, off, squares; /* the first trade's profit; sums of the others' distances from it */
    uint32_t entry_row, exposed;
    uint32_t trades, wins, fills, refused;
    /* Parameters, as the rule reads them. */
    uint32_t atr; /* of the wide columns */
    double fraction, rsi_max, stop_atr, profit_atr, risk, fraction_max;
};

/* Sixteen sets: their parameters, accounts and figures. Zeroed at first, except as plan.c fills it. */
struct screen_group {
    /* What the kernel has in registers. */
    /* Of a stretch: shares of the equity at the close before it. Profit at a close is
     * base + qty * (close - reference). */
    float qty[SCREEN_LANES], base[SCREEN_LANES];
    float top[SCREEN_LANES];                          /* the highest equity before it, as a profit */
    float trough[SCREEN_LANES];                       /* the deepest drawdown so far, not more than 0 */
    double reference;                                 /* the close before it, in units */
    double equity[SCREEN_LANES], share[SCREEN_LANES]; /* before it; 1 / that */
    double peak[SCREEN_LANES];
    float stop[SCREEN_LANES], target[SCREEN_LANES]; /* -1, INFINITY: none */
    /* Bits of lanes. enter, leave: at the open after a stretch; entering, leaving: of the bar that trades. */
    uint32_t active, below, held, enter, leave, entering, leaving;

    double money[SCREEN_LANES], units[SCREEN_LANES];
    struct screen_account accounts[SCREEN_LANES];
    double sums[SCREEN_SUMS][SCREEN_LANES];
    double block_sum[SCREEN_BLOCKS][SCREEN_LANES], block_square[SCREEN_BLOCKS][SCREEN_LANES];

    /* Parameters, as the rule reads them. */
    float rsi_low[SCREEN_LANES], rsi_high[SCREEN_LANES];
    uint32_t first[SCREEN_LANES];     /* bar at which all its indicators have a value */
    uint32_t warm;                    /* the largest of them */
    uint32_t column[4][SCREEN_LANES]; /* enum screen_role */
    uint32_t set[SCREEN_LANES];
    uint8_t all; /* bit of a role: its column is the same in all lanes */
};

/* Bars of one part of the history. */
struct screen_bars {
    size_t n, first;                         /* of the bars; the first one's index */
    const double *open, *high, *low, *close; /* units */
    const float *highs, *lows;               /* the same, rounded */
    const double *real;                      /* closes as prices; those before them can be read, too */
    const uint32_t *periods;                 /* of each column that is a simple average; 0: of others */
    const uint32_t *rows;                    /* NULL: bar i is row first + i */
    const float *columns;                    /* of bar i at column * column_step + i * bar_step */
    size_t column_step, bar_step;
    const double *wide; /* what is read at entries alone: at column * wide_step + i */
    size_t wide_step;
};

/* Where stretches end, whose sums of floats are added to the doubles: the same everywhere, so that the same
 * operations give the same bits. */
struct screen_cuts {
    size_t n, from;                /* bars; the first traded one */
    uint32_t begin[SCREEN_BLOCKS]; /* first bar of each block */
};

/* The end of the stretch that begins at a bar, and which block it is in: -1: in none. */
SCREEN_RULE size_t screen_cut(const struct screen_cuts *cuts, size_t bar, int *ret_block)
{
    int block = 0;
    size_t end = bar - bar % SCREEN_PIECE + SCREEN_PIECE;
    while (block < SCREEN_BLOCKS && cuts->begin[block] <= bar)
        block++;
    end = end < cuts->n ? end : cuts->n;
    end = bar + SCREEN_STRETCH < end ? bar + SCREEN_STRETCH : end;
    if (block < SCREEN_BLOCKS && cuts->begin[block] < end)
        end = cuts->begin[block];
    if (bar < cuts->from && cuts->from < end)
        end = cuts->from;
    *ret_block = block - 1;
    return end;
}

/* An account that has not traded. */
SCREEN_RULE void screen_start(const struct screen_terms *terms, struct screen_group *g, int lane)
{
    g->money[lane] = g->equity[lane] = g->peak[lane] = terms->cash;
    g->stop[lane] = -1;
    g->target[lane] = INFINITY;
    g->share[lane] = 1 / terms->cash;
    g->accounts[lane].target_at = g->accounts[lane].want_target = INFINITY;
}

SCREEN_RULE uint32_t screen_row(const struct screen_bars *bars, size_t i)
{
    return bars->rows ? bars->rows[i] : (uint32_t)(bars->first + i);
}

/* On the tick: counted from the lowest price, as fill_floor_price(). */
SCREEN_RULE double screen_floor(const struct screen_terms *terms, double price)
{
    if (!(terms->tick > 0) || !(price > terms->price_min))
        return price;
    return floor((price - terms->price_min) / terms->tick) * terms->tick + terms->price_min;
}

SCREEN_RULE double screen_ceil(const struct screen_terms *terms, double price)
{
    double below = screen_floor(terms, price);
    return below < price && terms->tick > 0 ? below + terms->tick : below;
}

/* fill_slipped(). */
SCREEN_RULE double screen_bought_at(const struct screen_terms *terms, double price)
{
    if (!(terms->slippage_e6 > 0))
        return price;
    return screen_ceil(terms, price + ceil(price * terms->slippage_e6 / 1e6));
}

SCREEN_RULE double screen_sold_at(const struct screen_terms *terms, double price)
{
    if (!(terms->slippage_e6 > 0))
        return price;
    double worse = price - ceil(price * terms->slippage_e6 / 1e6);
    worse = screen_floor(terms, worse > terms->lowest ? worse : terms->lowest);
    return worse > price ? price : worse;
}

/* What the floats have of a lane's account. */
SCREEN_RULE void screen_hold(const struct screen_terms *terms, struct screen_group *g, int lane, double units)
{
    uint32_t bit = UINT32_C(1) << lane;
    double share = g->share[lane], held = units * terms->per_unit;
    g->units[lane] = units;
    g->qty[lane] = (float)(held * share);
    g->base[lane] = (float)((g->money[lane] - g->equity[lane] + held * g->reference) * share);
    g->held = units != 0 ? g->held | bit : g->held & ~bit;
    if (units != 0)
        return;
    g->stop[lane] = -1;
    g->target[lane] = INFINITY;
}

SCREEN_RULE void screen_count(struct screen_account *account, double profit)
{
    if (account->trades++ == 0)
        account->shift = profit;
    double off = profit - account->shift;
    account->off += off;
    account->squares += off * off;
    account->wins += profit > 0;
    account->won += profit > 0 ? profit : 0;
    account->lost += profit > 0 ? 0 : profit;
}

/* The position ends, in a row. */
SCREEN_RULE void screen_sell(const struct screen_terms *terms, struct screen_group *g, int lane, double price,
                             double rate_e6, uint32_t row)
{
    struct screen_account *account = &g->accounts[lane];
    double notional = floor(price * g->units[lane] * terms->per_unit), fee = ceil(notional * rate_e6 * 1e-6);
    g->money[lane] += notional - fee;
    account->fees += fee;
    account->fills++;
    account->exposed += row - account->entry_row;
    screen_count(account, notional - fee - account->cost);
    screen_hold(terms, g, lane, 0);
}

/* Whole lots that an amount pays for, the fee included. */
SCREEN_RULE double screen_lots(const struct screen_terms *terms, double amount, double price)
{
    double notional = floor(amount * 1e6 / (1e6 + terms->most_e6)), units = notional * terms->unit / price;
    return units < 9e18 ? (double)fill_floor_qty(&terms->lot, true, (int64_t)units) : 0;
}

SCREEN_RULE double screen_purchase(const struct screen_terms *terms, double units, double price)
{
    double notional = ceil(price * units * terms->per_unit);
    return notional + ceil(notional * terms->most_e6 * 1e-6);
}

/* Does the venue take a market order, or a stop, of this notional? */
SCREEN_RULE bool screen_taken(const struct screen_terms *terms, double units, double price)
{
    double product = units * price;
    return product >= terms->product_min && product <= terms->product_max;
}

/* What is ordered at a close by an account that holds nothing; 0: it is refused, with all legs of its
 * bracket. */
SCREEN_RULE double screen_ordered(const struct screen_terms *terms, const struct screen_group *g, int lane,
                                  double last)
{
    double stop = g->accounts[lane].want_stop, target = g->accounts[lane].want_target;
    double units = screen_lots(terms, floor(g->money[lane] * g->accounts[lane].want), last);
    if (!(units > 0) || !screen_taken(terms, units, last) || (stop > 0 && !screen_taken(terms, units, stop)))
        return 0;
    if (target < INFINITY && (target > terms->price_max || target > last * terms->target_most))
        return 0;
    return units;
}

SCREEN_RULE void screen_refuse(struct screen_account *account)
{
    account->refused += 1 + (account->want_stop > 0) + (account->want_target < INFINITY);
}

/* Ordered at `last`, the close before, and filled at the open. */
SCREEN_RULE void screen_buy(const struct screen_terms *terms, struct screen_group *g, int lane, double last,
                            double open, uint32_t row)
{
    struct screen_account *account = &g->accounts[lane];
    double cash = g->money[lane], price = screen_bought_at(terms, open);
    double units = screen_ordered(terms, g, lane, last);
    if (!(units > 0)) {
        screen_refuse(account);
        return;
    }
    if (screen_purchase(terms, units, price) > cash) {
        double fits = screen_lots(terms, cash, price);
        units = fits < units ? fits : units;
    }
    if (!(units > 0))
        return;
    double notional = ceil(price * units * terms->per_unit), fee = ceil(notional * terms->taker_e6 * 1e-6);
    g->money[lane] = cash - notional - fee;
    account->fees += fee;
    account->fills++;
    account->cost = notional + fee;
    account->entry_row = row;
    screen_hold(terms, g, lane, units);
}

/* An entry's bracket starts: at the open its legs are new, and take it where they have been passed. */
SCREEN_RULE void screen_protect(const struct screen_terms *terms, struct screen_group *g, int lane,
                                double open, uint32_t row)
{
    double stop = g->accounts[lane].want_stop, target = g->accounts[lane].want_target;
    if (open <= stop) {
        screen_sell(terms, g, lane, screen_sold_at(terms, open), terms->taker_e6, row);
    } else if (open >= target) {
        double price = screen_sold_at(terms, open);
        screen_sell(terms, g, lane, price > target ? price : target, terms->taker_e6, row);
    } else {
        g->accounts[lane].stop_at = stop;
        g->accounts[lane].target_at = target;
        g->stop[lane] = stop > 0 ? (float)stop : -1;
        g->target[lane] = (float)target;
    }
}

/* What the open does to a position: stop, profit, then the order to sell, by their ids. */
SCREEN_RULE void screen_open(const struct screen_terms *terms, struct screen_group *g, int lane, double open,
                             bool leaves, uint32_t row, const bool brackets)
{
    if (brackets && open <= g->accounts[lane].stop_at)
        screen_sell(terms, g, lane, screen_sold_at(terms, open), terms->taker_e6, row);
    else if (brackets && open > g->accounts[lane].target_at)
        screen_sell(terms, g, lane, g->accounts[lane].target_at, terms->maker_e6, row);
    else if (leaves)
        screen_sell(terms, g, lane, screen_sold_at(terms, open), terms->taker_e6, row);
}

/* All that happens to one set in a bar before its close. */
SCREEN_RULE void screen_trade(const struct screen_terms *terms, const struct screen_bars *bars, size_t i,
                              struct screen_group *g, int lane, const bool brackets)
{
    struct screen_account *account = &g->accounts[lane];
    uint32_t bit = UINT32_C(1) << lane, row = screen_row(bars, i);
    double open = bars->open[i];
    if (g->held & bit) {
        bool leaves = g->leaving & bit;
        if (leaves && !screen_taken(terms, g->units[lane], bars->close[(ptrdiff_t)i - 1])) {
            account->refused++;
            leaves = false;
        }
        screen_open(terms, g, lane, open, leaves, row, brackets);
    } else if (g->entering & bit) {
        screen_buy(terms, g, lane, bars->close[(ptrdiff_t)i - 1], open, row);
        if (brackets && g->held & bit)
            screen_protect(terms, g, lane, open, row);
    }
    if (!brackets || !(g->held & bit))
        return;
    if (bars->low[i] <= account->stop_at)
        screen_sell(terms, g, lane, screen_sold_at(terms, account->stop_at), terms->taker_e6, row);
    else if (bars->high[i] > account->target_at)
        screen_sell(terms, g, lane, account->target_at, terms->maker_e6, row);
}

/* Orders of the last close, which fill no more: those that are refused count. */
SCREEN_RULE void screen_finish(const struct screen_terms *terms, struct screen_group *g, int lane,
                               double last)
{
    uint32_t bit = UINT32_C(1) << lane;
    if (g->enter & bit && !(screen_ordered(terms, g, lane, last) > 0))
        screen_refuse(&g->accounts[lane]);
    if (g->leave & bit && !screen_taken(terms, g->units[lane], last))
        g->accounts[lane].refused++;
}

#endif
