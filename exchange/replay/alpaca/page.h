/* A page of what happened between two moments, over several symbols: in order of symbol, then of time, up
 * to a limit that counts over all symbols, with a token at which the next page starts. */
#ifndef EXCHANGE_REPLAY_ALPACA_PAGE_H
#define EXCHANGE_REPLAY_ALPACA_PAGE_H

#include "exchange/replay/alpaca/rest.h"
#include "exchange/replay/alpaca/tally.h"

enum { PAGE_LIMIT = 1000, PAGE_LIMIT_MAX = 10000, PAGE_TOKEN_MAX = 128 };

enum page_unit { PAGE_MINUTES, PAGE_DAYS, PAGE_WEEKS, PAGE_MONTHS };

/* A request. */
struct page_query {
    struct made *made;
    int symbols[MADE_SYMBOLS_MAX]; /* in order of their names */
    int n_symbols;
    bool alone; /* one by its path: the list stands without its symbol */
    enum made_feed feed;
    int64_t start_ns, end_ns; /* both included */
    int64_t now_ns;           /* as of: what is reported later is not seen */
    size_t limit;
    bool falls;       /* newest first */
    int token_symbol; /* continues after the item at token_ns of this symbol; -1: from the start */
    int64_t token_ns;
    enum page_unit unit; /* of bars */
    int64_t length;      /* in minutes, or 1 */
    unsigned adjust;
};

enum page_of { PAGE_BARS, PAGE_TRADES, PAGE_QUOTES };

/* Writes the list or map under `name`, and next_page_token; what encloses them is the caller's. */
void replay_page_write(const struct page_query *query, enum page_of what, const char *name,
                       struct wire *wire);

/* "1Min", "15T", "4Hour", "1D", "1Week", "3M". */
bool replay_page_timeframe(const char *text, enum page_unit *ret_unit, int64_t *ret_length);

/* A token that replay_page_write() wrote; false for anything else. */
bool replay_page_token_read(const char *token, const struct made *made, int *ret_symbol, int64_t *ret_ns);

/* The latest before `now_ns`, at most two weeks back; false when there is none. */
bool replay_page_last_tick(struct made *made, int symbol, enum made_feed feed, int64_t now_ns, bool traded,
                           struct made_tick *ret);
bool replay_page_last_minute(struct made *made, int symbol, enum made_feed feed, int64_t now_ns,
                             struct tally *ret);

#endif
