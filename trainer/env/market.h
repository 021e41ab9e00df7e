/* What an environment trades on: bars of n assets on one grid and their features, made once, shared by all
 * environments, uploaded once by a device. Only read after it is made. */
#ifndef TRAINER_ENV_MARKET_H
#define TRAINER_ENV_MARKET_H

#include "strategy/policy/rules.h"
#include "trainer/env/params.h"

struct symbol; /* exchange/symbol.h; strategy/policy/symbol.h makes its policy_symbol */

/* Of a row: it is the last bar of its session; the next one is, so that its orders are the last that fill
 * before the session's end. */
enum { ENV_ROW_ENDS = 1, ENV_ROW_LEAVES = 2 };

/* One asset's columns, borrowed while env_market_create() runs. */
struct env_asset_source {
    const char *name;
    double min_order_qty;        /* m_i, in units of the asset; >= 0 */
    const struct symbol *symbol; /* how the venue lists it; NULL: it trades with ENV_REFERENCE only */
    const double *open, *high, *low, *close, *volume; /* [rows]; open, high, low: NULL without symbol */
    const uint64_t *present; /* bit r % 64 of word r / 64: the bar is there; NULL: all are */
};

struct env_market_source {
    size_t rows;
    int n_assets;
    const struct env_asset_source *assets; /* [n_assets] */
    /* [rows] rising, by interval_ns each where the execution is market: `present` marks missing bars; NULL:
     * start_ns + row * interval_ns. Execution reference takes rows that all assets have. */
    const int64_t *open_ns;
    /* NULL: sessions end by the clock (session_close_s, session_zone), and rows lie on it. Else [rows], of a
     * market with a calendar: ENV_ROW_ENDS | ENV_ROW_LEAVES; rows are then the sessions' bars, one after the
     * other, and open_ns may jump behind a row that ends one. */
    const uint8_t *sessions;
    int64_t start_ns, interval_ns;
    /* What is seen: [rows][n_features], unscaled (norm_tech is applied once, when an environment's market
     * is built), NULL for the reference's: the closes, then the volumes, as float32. */
    const float *features;
    int n_features;
    size_t first_row; /* the first row whose features all have values; episodes begin such that none before
                         is seen */
};

/* Rows [from, to) of a market. */
struct env_block {
    int32_t from, to;
};

/* The arrays as the steps read them; on a device, that one's pointers. Rows are 64-byte padded where said. */
struct env_market_view {
    size_t rows;
    int32_t n, n_features;
    int32_t row_stride; /* floats from one row of `close` to the next: n rounded up to 16 */
    const float *close; /* [rows][row_stride], 0 in the padding */
    /* ENV_MARKET: open, high, low, close in price units, 0 for a missing bar: [rows][n][4]; else NULL */
    const double *bars;
    bool gaps; /* is any missing? */
    /* Features times norm_tech, newest first, so that an observation's L rows are contiguous:
     * row r begins at (rows - 1 - r) * n_features. */
    const float *features;
    const struct policy_symbol *symbols; /* [n]; ENV_MARKET */
    const double *least;                 /* [n] m_i as the execution counts it: units, or quanta */
    const uint8_t *session;         /* ENV_DAY_TRADE, or of a calendar: ENV_ROW_… bits [rows]; or NULL */
    const int64_t *open_ns;         /* [rows] of a source with sessions, or NULL: by the clock */
    int32_t first_row;              /* no episode begins before */
    int64_t interval_ns, start_ns;  /* start_ns: when row 0 opens */
    int32_t n_blocks;               /* 0: episodes lie anywhere */
    const struct env_block *blocks; /* [n_blocks]: each episode lies within one of them */
};

struct env_market;

#ifndef __CUDACC__ /* the host's, in C */
#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Copies and checks the source for these parameters (execution, task, norm_tech, lookback, session). 0, for
 * env_market_destroy(); -EINVAL with asset and row for a price that is not positive or not finite, high <
 * low, times that do not rise by the interval (unsorted, twice), fewer rows than lookback and an episode
 * need, features that norm_tech takes beyond float32, times or a length beyond 2^62 ns, an asset without a
 * symbol where execution is market, capital or quantities that would not be exact (POLICY_EXACT_MAX) or less
 * than a unit, invalid shapes; -ENOMEM. */
int env_market_create(const struct env_market_source *source, const struct env_params *params,
                      struct env_market **ret, char err[static ENV_ERROR_MAX]);
void env_market_destroy(struct env_market *market); /* NULL is fine */

/* The same market, whose episodes each begin and end within one of `blocks`, rising and apart from each
 * other, none before the first row that has all features: what lies between is never stepped through. Blocks
 * of fewer rows than an episode (2 * lookback + 1 at least) are left out. With random_start episodes begin at
 * a row that is drawn evenly among all those where they fit; else at a block's first row, episode k (from 1)
 * of copy c in block (c + k - 1) mod their number, and with episode_bars 0 each is as long as its block.
 * Environments of it take no `start` and no env_windows(). Nothing is copied: `market` must outlive it. 0,
 * for env_market_destroy(); -EINVAL names the block; -ENOMEM. */
int env_market_blocks(const struct env_market *market, const struct env_block *blocks, int n,
                      struct env_market **ret, char err[static ENV_ERROR_MAX]);
const struct env_market_view *env_market_view(const struct env_market *market);
const char *env_market_asset(const struct env_market *market, int asset);
int64_t env_market_open_ns(const struct env_market *market, size_t row);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif

#endif
