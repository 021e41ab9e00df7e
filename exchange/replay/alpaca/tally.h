/* Bars of a synthetic market, at any time, as they were known at any time: trades that are reported late,
 * corrected or cancelled change the bar of their minute from the moment of that report on. */
#ifndef EXCHANGE_REPLAY_ALPACA_TALLY_H
#define EXCHANGE_REPLAY_ALPACA_TALLY_H

#include "exchange/decimal.h"
#include "exchange/replay/alpaca/made.h"

/* Which of the trades and quotes a feed has. */
enum made_feed { MADE_FEED_ALL, MADE_FEED_IEX };

/* Prices and sizes of 10^-9. */
struct tally {
    int64_t begin_ns;
    int64_t open, high, low, close; /* of trades that make a price; 0 before the first */
    int64_t volume, count;          /* of all trades */
    int128_t turnover;              /* price × size of all trades: of 10^-18 */
};

/* Adds a trade as it was known at `as_of_ns`, at its place: trades come in order of their time. */
void replay_tally_trade(struct tally *tally, const struct made_trade *trade, int64_t as_of_ns);

/* Adds a later tally to an earlier one. */
void replay_tally_join(struct tally *tally, const struct tally *later);

static inline bool tally_priced(const struct tally *tally)
{
    return tally->open > 0;
}
/* Fills an empty one with a file's bar of that minute that has no volume; false: there is none. */
bool replay_tally_quiet(const struct made *made, int symbol, int64_t minute, struct tally *ret);

bool replay_tally_same(const struct tally *a, const struct tally *b);

/* Volume-weighted average price, in 10^-9. */
int64_t replay_tally_vwap(const struct tally *tally);

/* The bar of one minute; false when it has no price (there is no bar then). */
bool replay_tally_minute(struct made *made, int symbol, int64_t minute, enum made_feed feed, int64_t as_of_ns,
                         struct tally *ret);

/* What prices before an action are adjusted for, as of a moment; may be added up. */
enum { TALLY_RAW = 0, TALLY_SPLITS = 1, TALLY_DIVIDENDS = 2 };

/* Of the trades from begin_ns to before end_ns, both whole minutes, in minutes that are over by as_of_ns. */
bool replay_tally_span(struct made *made, int symbol, int64_t begin_ns, int64_t end_ns, enum made_feed feed,
                       unsigned adjust, int64_t as_of_ns, struct tally *ret);

/* The period of a daily bar that holds `ns`: for stocks the date in New York (from midnight to midnight), for
 * all others that of UTC. */
void replay_tally_day(const struct made *made, int symbol, int64_t ns, int64_t *ret_begin_ns,
                      int64_t *ret_end_ns);

#endif
