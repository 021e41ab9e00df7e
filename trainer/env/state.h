/* The environment's state: one column a quantity, one element a copy, plain enough for a device. Every
 * backend steps the same columns by the same operations in the same order, each an IEEE one rounded once, so
 * all give the same bits: scalar, SIMD, and the CUDA block functions on the CPU.
 *
 * Columns of assets are [n][stride]: copy e of asset i is at [i * stride + e]. stride >= copies, padded such
 * that columns do not fall onto each other in the cache; elements beyond `copies` are stepped too and mean
 * nothing. All columns lie in one allocation, 64-byte aligned.
 *
 * `money` is float with params.float32, else double. With ENV_REFERENCE it is in the currency; with
 * ENV_MARKET (double always) in the quote's units, whole numbers. */
#ifndef TRAINER_ENV_STATE_H
#define TRAINER_ENV_STATE_H

#include "trainer/env/market.h"
#include "trainer/env/params.h"

enum {
    ENV_LANES = 16, /* copies are stepped in blocks of so many */
    ENV_ENDED = 1,  /* flags: the episode has ended; the next step resets it, or does nothing */
};

struct env_state {
    size_t copies, stride;
    int32_t n;

    /* From here on all members are columns: a device moves them as such (cuda/layout.h).
     *
     * A copy. */
    int32_t *row;      /* t */
    int32_t *first;    /* the episode's row 0; t begins at first + lookback - 1 */
    int32_t *last;     /* t at which it is truncated: first + episode rows - lookback - 1 */
    uint32_t *episode; /* started so far: part of the random numbers' counter */
    uint8_t *flags;
    int32_t *buys, *sells;
    void *cash, *equity, *benchmark, *fees; /* money */
    void *capital;                          /* money: C0 of this episode */
    double *fee_buy, *fee_sell;             /* shares; drawn */
    float *slippage;                        /* likewise */
    double *gamma_return, *reward_sum;
    double *peak;     /* highest equity of the episode, currency or units like cash */
    double *drawdown; /* largest so far, a share, >= 0 */

    /* A copy and asset, ENV_REFERENCE. */
    float *qty, *held, *best, *scale, *bench; /* best: the trailing stop's peak; bench: bq_i */
    float *cool;                              /* bars until purchases are allowed again */

    /* A copy and asset, ENV_MARKET: quanta, price units, money; whole numbers. */
    double *lots;                                       /* held */
    double *m_scale, *m_qty, *m_held, *m_cool, *m_peak; /* struct policy_memory */
    double *stop, *stop_qty;                            /* the protective stop; 0, 0: none */
    double *waiting, *reserved; /* a market order for the next bar that exists, and its reserve */
    double *closed;             /* the last close, at which equity is computed */
    double *m_bench; /* the benchmark's money for one price unit: quanta / divisor, a plain number */

    /* With limits, else NULL: of a copy and asset what is held has cost, without fees, money, and its part of
     * struct policy_memory; then struct policy_portfolio, of a copy. */
    double *m_cost, *m_taken;
    double *all_peak, *all_until, *all_day, *all_opening, *all_lost;

    /* ENV_DAY_TRADE, a copy. */
    double *day_equity; /* at the session's beginning */
    double *entry;      /* average price of the position, long or short */
};

/* The results of each copy's last episode; written when one ends. Currency. */
struct env_ended {
    double *equity, *benchmark, *fees, *reward, *drawdown, *exposure; /* reward: the sum */
    int32_t *steps, *buys, *sells;
};

#endif
