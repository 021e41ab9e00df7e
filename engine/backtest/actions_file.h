/* Splits and dividends as a file has them: CSV with a header, as `papertape actions --csv` prints it. Columns
 * by their names, in any order; others are left alone:
 *
 * - symbol: of the bars, in any case;
 * - kind: split or dividend;
 * - ex_ns or ex_date: the first moment of the ex-date, a time as bars files have it, UTC without a zone; of a
 *   bare date YYYY-MM-DD with a calendar the first moment of the next day that trades, as live;
 * - shares and per: of a split, so many new ones for so many old ones, not as many; empty or 0 of a dividend;
 * - cash: of a dividend, for one share, in the symbol's quote, up to 9 digits after the point; empty or 0 of
 *   a split;
 * - record_ns or record_date, pay_ns or pay_date: of a dividend, may be missing, or empty; read as the
 * ex-date is. Without a pay date, or with one that is not after the ex-date, it is paid when it takes effect;
 * - id: may be missing, or empty: made of kind and time;
 * - ts_ns: may be missing, or empty: when it took effect, if it was reported later than ex_ns; an earlier one
 *   counts as ex_ns.
 *
 * A file without an action is refused.
 */
#ifndef ENGINE_BACKTEST_ACTIONS_FILE_H
#define ENGINE_BACKTEST_ACTIONS_FILE_H

#include "engine/backtest/backtest.h"

enum { ACTIONS_ERROR_MAX = 512 };

struct backtest_actions {
    struct backtest_action *list; /* owned; in the order of struct backtest_config */
    size_t n;
    /* Left out: of symbols without bars (the first one's name), before a symbol's first bar has closed, where
     * all bars are in new shares, and after the last row. */
    size_t others, early, late;
    size_t before; /* lines of a file whose ts_ns is before the ex-date, from which they count */
    char other[SYMBOL_NAME_MAX];
};

/* Adds one, or counts it as left out. 0 or -ENOMEM. */
int backtest_actions_add(struct backtest_actions *actions, const struct market *market, const char *symbol,
                         const struct backtest_action *action);

/* After the last: into their order. 0, or -EINVAL for one that is there twice, whose symbol and id err names.
 */
int backtest_actions_sort(struct backtest_actions *actions, const struct market *market,
                          char err[static ACTIONS_ERROR_MAX]);

/* Of a file: 0, for backtest_actions_finish(); -EINVAL for what it says, an error of reading it, -ENOMEM;
 * err: one sentence with FILE:LINE. calendar: NULL, or the market's. */
int backtest_actions_read(const char *path, const struct market *market,
                          const struct trading_calendar *calendar, struct backtest_actions *ret,
                          char err[static ACTIONS_ERROR_MAX]);
void backtest_actions_finish(struct backtest_actions *actions); /* all zero is fine */

#endif
