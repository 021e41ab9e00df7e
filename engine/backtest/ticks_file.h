/* Trades of a venue's history, and the market that they make. Lines as archives have them: id, price, qty,
 * quoteQty, time, isBuyerMaker and further columns, or of aggregates id, price, qty, first id, last id, time,
 * isBuyerMaker; or of single trades, by their header, trade id, price, qty, time, isBuyerMaker, whether they
 * make a price (else they count for the volume alone), whose ids may be in any order; with or without a
 * header, times in ms or us, distinguished by size; or a recording of a venue's frames, NANOSECONDS {json} a
 * line, of which the symbol's trades are used. Plain or gzip. Ids rise, times do not fall. */
#ifndef ENGINE_BACKTEST_TICKS_FILE_H
#define ENGINE_BACKTEST_TICKS_FILE_H

#include "engine/backtest/backtest.h"
#include "exchange/bars_input.h"

struct ticks_market {
    struct market *market;        /* bars built of the trades; an interval without trades is missing */
    struct backtest_ticks *ticks; /* [market->n_symbols] */
    size_t n;                     /* trades of all */
    size_t source_bytes;          /* of the files on the disk */
};

/* Opens the one file of a zip archive. 0; -errno with a sentence. */
typedef int ticks_unpack(const char *path, struct bars_bytes *ret, const char **ret_why);

struct ticks_options {
    ticks_unpack *unpack;      /* NULL: an archive is refused */
    const char *const *names;  /* symbols of the files, one each; NULL: by the files' names */
    const char *exchange_info; /* as market_options's, and the next */
    struct market_terms terms;
    int64_t interval_ns; /* of the bars; more than 0 */
};

/* Reads files of one symbol each; those of one symbol are one series, in the order that they are given in. 0
 * with *ret; -EINVAL for what files or options say, errors of opening, -EIO, -ENOMEM, with one sentence
 * "what: where: what would be right". */
int backtest_ticks_market_load(const char *const *paths, size_t n, const struct ticks_options *options,
                               struct ticks_market *ret, char err[static MARKET_ERROR_MAX]);
void backtest_ticks_market_finish(struct ticks_market *ticks); /* all zero is fine */

#endif
