/* A bars file as the market of one symbol: each bar becomes seeded trades that open, reach high and low and
 * close as the bar does and add up to its volume to the last unit, each after a quote that it takes. Quotes
 * and trades stay within low and high; the quote of a bar with a single price is a tick wide. A bar is a
 * function of the file, the seed and its time alone. All feeds have the same quotes and trades, and no trade
 * is late, corrected or cancelled: what is made of them is the bar of the file. Official closing prices
 * (replay_made_closing()) are of the consolidated feed alone.
 *
 * A stock's file is read by the calendar as a backtest of regular hours reads it, and refused for the same
 * (exchange/bars_session.h). Its bars of a day are traded in the day's session; mixed ones that are kept in
 * the part of a day's trading hours (sessions.h). Where one of a file's bars is off the clock's grid, as an
 * hour from 9:30, they end with the session that they begin in.
 */
#ifndef EXCHANGE_REPLAY_ALPACA_FILE_BARS_H
#define EXCHANGE_REPLAY_ALPACA_FILE_BARS_H

#include "exchange/replay/alpaca/made.h"
#include "exchange/replay/source.h"

struct file_bars;

/* How a stock's file is read. */
struct file_bars_reading {
    const struct trading_calendar *calendar;
    const char *zone;     /* of times without one; NULL: UTC; of pairs' files too */
    bool keep_straddling; /* mixed bars, and a day's without the word regular, are taken */
};

/* Reads a file. Its symbol is its name's (exchange/bars_name.h): a pair, "BTC/USD", where a dollar or a coin
 * is behind a '-' or "USD", "USDC" or "USDT" ends a name of six letters or more (BTC-USD, BTCUSDT); else a
 * stock ("BRK-B" is BRK.B). `interval_ns` 0: what its times show. 0, or -errno with "what: where: what would
 * be right". */
int replay_file_bars_open(const char *path, int64_t interval_ns, const struct file_bars_reading *reading,
                          struct file_bars **ret, char error[static SOURCE_ERROR_MAX]);
void replay_file_bars_close(struct file_bars *f); /* NULL is fine */

/* The pair or stock that a name in a file means. 0, or -EINVAL for one that is too long. */
int replay_file_bars_symbol_of(const char *name, char ret[static SYMBOL_NAME_MAX], bool *ret_crypto);

const char *replay_file_bars_name(const struct file_bars *f);
struct made_symbol replay_file_bars_symbol(struct file_bars *f);

/* A stock split shares:per at `ns`: from then on prices are divided, and volumes multiplied, by the ratio;
 * not where the file shows the split already, its prices' step there being nearer to the ratio than to none.
 * 0; -EINVAL where a bar could not be played any more. */
int replay_file_bars_split(struct file_bars *f, int64_t ns, int64_t shares, int64_t per);

/* From the first bar's opening to the last one's end. */
void replay_file_bars_range(const struct file_bars *f, int64_t *ret_from_ns, int64_t *ret_to_ns);

/* The opening of the first bar at or after `ns`; INT64_MAX: none. */
int64_t replay_file_bars_next(const struct file_bars *f, int64_t ns);

/* As replay_made_minute() and replay_made_quiet(). */
size_t replay_file_bars_minute(const struct file_bars *f, uint64_t seed, int64_t minute,
                               struct made_tick ticks[static MADE_TICKS_MAX]);
bool replay_file_bars_quiet(const struct file_bars *f, int64_t minute, int64_t ret_ohlc[static 4]);

/* The close of the last bar that lies between the two; false: there is none. */
bool replay_file_bars_last(const struct file_bars *f, int64_t from_ns, int64_t to_ns, int64_t *ret_price);

/* The close before `ns`, or the first open. */
int64_t replay_file_bars_price(const struct file_bars *f, int64_t ns);

#endif
