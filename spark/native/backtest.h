/* Backtests and sweeps of many symbols, one after the other, as the library's callers see them: options and
 * batches of bars in, rows out, by the Arrow C data interface.
 *
 * Each symbol is a market and an account of its own: what `papertape backtest --strategy S --bars FILE` and
 * `papertape sweep` compute of a file with the same numbers, to the bit. Batches are as in papertape_spark.h,
 * without the columns slice and state, in the order of symbol (bytes compared) and timestamp; a symbol is run
 * when a bar of another one, or the end, follows its last. Of all bars those of one symbol are in memory, and
 * its result. A run belongs to one thread at a time.
 *
 * What is given back, a column each; amounts are decimal128(38, 18), texts utf8, shares as in the verbs:
 *
 *   figures  one row a symbol: symbol, currency, strategy, way, interval, rows, first_ns, last_ns,
 *            bars_missing, deposits, equity, cash, orders, fills, trades, open_trades, wins, losses,
 *            rejected, ledger_rows, ledger_hash, then every figure of papertape.backtest/1, and `error`:
 *            null, or with the option errors=rows why the symbol could not be run
 *   trades   the fills, as --trades has them, with `timestamp`
 *   rounds   trades from flat to flat, as --rounds has them
 *   equity   symbol, timestamp, ts_ns, equity, cash, peak: as --equity has them
 *   sweep    symbol, a column for each axis of the grid, rank (1 is best), then the columns of sweep --csv,
 *            and `error`
 *
 * Every call returns 0, or -errno with one sentence in err[err_cap]; what it returns through
 * pointers is written on success only. */
#ifndef SPARK_NATIVE_BACKTEST_H
#define SPARK_NATIVE_BACKTEST_H

#include <stddef.h>

struct ArrowArray;
struct ArrowSchema;

#pragma GCC visibility push(default)

struct papertape_spark_backtest;

/* `what` is one of the words above, keys and values are spark/native/trading.h's options. -EINVAL for another
 * word or option. */
int papertape_spark_backtest_open(const char *what, const char *const keys[], const char *const values[],
                                  size_t n, struct papertape_spark_backtest **ret, char *err, size_t err_cap);
void papertape_spark_backtest_close(struct papertape_spark_backtest *run); /* NULL is fine */

/* The schema of what is given back, for the caller to release. */
int papertape_spark_backtest_schema(const struct papertape_spark_backtest *run, struct ArrowSchema *ret,
                                    char *err, size_t err_cap);

/* Gives the next batch, which the run releases once it is read, whatever the outcome. -EBUSY while rows of
 * the one before are still to be taken. */
int papertape_spark_backtest_give(struct papertape_spark_backtest *run, struct ArrowArray *batch,
                                  struct ArrowSchema *schema, char *err, size_t err_cap);

/* No batch follows. */
void papertape_spark_backtest_end(struct papertape_spark_backtest *run);

/* Takes rows, at most `most`, for the caller to release: 1 with them; 0: the next batch is needed, or after
 * the end there are no more. -EINVAL for bars that are refused, or a symbol that cannot be run; then the run
 * can only be closed. */
int papertape_spark_backtest_take(struct papertape_spark_backtest *run, size_t most, struct ArrowArray *ret,
                                  struct ArrowSchema *ret_schema, char *err, size_t err_cap);

#pragma GCC visibility pop

#endif
