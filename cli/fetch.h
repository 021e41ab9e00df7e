/* `papertape fetch`: what its files share. fetch.c has the command line and the order of things,
 * fetch_venue.c asks the venue, fetch_store.c has what is kept, fetch_archive.c and fetch_archive_rows.c read
 * the venue's files, fetch_write.c writes files and finds what is missing, fetch_trades.c has
 * the columns of trades, fetch_market.c leaves a market in its cache, fetch_check.c and fetch_check_trades.c
 * compare a file. */
#ifndef CLI_FETCH_H
#define CLI_FETCH_H

#include <jansson.h>
#include <limits.h>
#include <uv.h>

#include "daemon/feed/calendar.h"
#include "engine/market/market.h"
#include "exchange/bars_file.h"
#include "exchange/history/download.h"
#include "exchange/history/missing.h"
#include "exchange/net/url.h"
#include "record/option.h"

enum { FETCH_SYMBOLS_MAX = 256, FETCH_ERROR_MAX = PATH_MAX + 512, FETCH_HOST_MAX = URL_HOST_MAX + 8 };

struct fetch_asked {
    const char *verb; /* in messages */
    const char *venue, *symbols, *out, *check, *rest_url, *trading_url, *ca_file, *keys, *feed, *crypto,
        *adjustment, *interval, *cache, *archive;
    char *own_symbols; /* owned */
    bool refresh, trades, no_cache;
    bool plain;             /* files in a folder are no gzip */
    int64_t from_ns, to_ns; /* INT64_MIN, INT64_MAX: not given */
};

struct fetch_symbol {
    char name[SYMBOL_NAME_MAX];
    struct symbol symbol;
    struct history_store *store;
    struct history_missing *missing; /* found by fetch_write() */
    size_t n_missing, room_missing;
    uint64_t archived; /* rows that came from the venue's files */
    uint64_t rows;     /* in the range */
    char path[PATH_MAX];
    bool written;
    int status; /* of its file */
};

enum { FETCH_SETTINGS = 3 }; /* options that are a venue's own */

struct fetch {
    const struct fetch_asked *asked;
    struct venue_setting settings[FETCH_SETTINGS];
    size_t n_settings;
    const struct venue *venue;
    bool trades;         /* no bars */
    int64_t interval_ns; /* of bars */
    int64_t from_ns, now_ns;
    enum venue_adjustment adjustment;
    struct fetch_symbol symbols[FETCH_SYMBOLS_MAX];
    struct history_job jobs[FETCH_SYMBOLS_MAX]; /* of the same symbol */
    size_t n;
    void (*over)(struct fetch *fetch, size_t i); /* that job has ended; may come more than once; NULL */
    struct calendar calendar;                    /* of stocks */
    struct trading_calendar days, always;
    char err[FETCH_ERROR_MAX];
};

struct fetch *cli_fetch_new(const struct fetch_asked *asked); /* NULL without memory */
void cli_fetch_free(struct fetch *fetch);                     /* NULL is fine */

/* "bar" or "trade". */
const char *cli_fetch_row(const struct fetch *fetch);
/* "1m" or "trades": what files are named after. */
const char *cli_fetch_rows(const struct fetch *fetch);

/* Takes what was asked for. EXIT_OK; EXIT_USAGE with a sentence in fetch->err. */
int cli_fetch_take(struct fetch *fetch);

/* "HOST:PORT" where the history is another server's than the venue's own; else "". */
void cli_fetch_host(const struct fetch *fetch, char host[static FETCH_HOST_MAX]);
void cli_fetch_host_of(const char *rest_url, const struct venue *venue, char host[static FETCH_HOST_MAX]);
/* Until when the venue said to wait, of the wall's clock, in this run or one before; 0: it did not, or that
 * is over. */
int64_t cli_fetch_banned_until(const struct fetch *fetch);
void cli_fetch_banned(const struct fetch *fetch, int64_t until_ns); /* keeps it */

/* Has the symbol trading days? */
bool cli_fetch_has_days(const struct fetch *fetch, const struct fetch_symbol *symbol);
/* Prepares the job of a symbol whose listing is known, and opens its store; or says in the job why not.
 * `kept`: one that is there, to read alone; else it waits for another process that fetches the series. */
void cli_fetch_open(struct fetch *fetch, size_t i, const char *folder, bool kept);
/* All of them, so that no two processes wait for each other. */
void cli_fetch_open_all(struct fetch *fetch, const char *folder);
/* Where all of a stated range is kept and settled: opens the stores, and has files written, without the
 * venue. False: it has to be asked; nothing is open. */
bool cli_fetch_from_cache(struct fetch *fetch);
/* Up to when all symbols are kept whole and settled from the range's beginning on; INT64_MIN: not even there,
 * or not known. */
int64_t cli_fetch_kept_to(struct fetch *fetch);
/* What the venue lists a symbol with, without what changes from day to day: new, to the digit; NULL without
 * memory. And back: false for another object. */
json_t *cli_fetch_listing(const struct symbol *symbol);
bool cli_fetch_take_listing(const json_t *object, struct symbol *ret);
/* What is kept of it, beside any of the symbol's series. False: nothing. */
bool cli_fetch_find_listing(const struct fetch_asked *asked, const struct venue *venue, const char *symbol,
                            struct symbol *ret);
/* Keeps what that takes. */
void cli_fetch_remember(const struct fetch *fetch, const char *folder);

/* Finds out what the symbols are, opens their stores and fills them. 0; 1: not all is there, for the reasons
 * of the jobs; -errno with a sentence in fetch->err. */
int cli_fetch_from_venue(struct fetch *fetch);

/* Reads what stores lack from the archive files of --archive. 0; -errno with a sentence in fetch->err. */
int cli_fetch_archive(struct fetch *fetch);

/* What a comparison has found. */
enum { FETCH_DIFFERENCES_PRINTED = 20 }; /* the rest is counted, unless it is JSON */
struct fetch_differences {
    json_t *list;           /* of the differences; NULL: they are printed as they are found */
    size_t rows, different; /* of both; those that differ, or that one of them lacks */
    size_t differences;     /* a row may differ in several columns */
    size_t later;           /* rows of the file that are not whole yet by the venue's clock: not compared, */
    int64_t later_ns;       /* … the first of them */
};

/* Counts a row of the file that the venue was not asked for, where it lies behind what is whole. */
void cli_fetch_see_later(const struct fetch *fetch, int64_t ns, struct fetch_differences *found);
/* Says which symbol of which venue the file could not be compared with. -EIO with a sentence in fetch->err.
 */
int cli_fetch_refuse_check(struct fetch *fetch);
/* Prints papertape.fetch_check/1, or how many there are. An exit status: EXIT_ERROR also where some differ,
 * or were not compared. */
int cli_fetch_print_differences(const struct fetch *fetch, const struct fetch_differences *found,
                                const struct option_call *call);

/* Prints where the file differs from what the venue says now of the range and the symbol, which are the
 * file's. An exit status. */
int cli_fetch_check(struct option_call *call, struct fetch *fetch, const struct bars_file *file);

/* The columns of a file of trades: aggregates, whose ids leave none out, or single ones. */
enum fetch_trade_column {
    TRADE_ID,
    TRADE_PRICE,
    TRADE_QTY,
    TRADE_FIRST,
    TRADE_LAST,
    TRADE_TIME,
    TRADE_MAKER,
    TRADE_MAKES_PRICE,
};
enum { FETCH_TRADE_MAX = 320, FETCH_TRADE_COLUMNS = 7 };
struct fetch_trades_layout {
    const char *head; /* their names, with commas between */
    enum fetch_trade_column columns[FETCH_TRADE_COLUMNS];
    size_t n;
    int64_t unit_ns; /* of the time */
    bool aggregates;
};
/* The venue's. */
const struct fetch_trades_layout *cli_fetch_layout(const struct fetch *fetch);
/* A file's, by its first line; NULL: it is none of trades. */
const struct fetch_trades_layout *cli_fetch_layout_of(const char *path);
/* A line; returns its length. */
int cli_fetch_trade_line(const struct fetch_trades_layout *layout, const struct symbol *symbol,
                         const struct market_trade *trade, char ret[static FETCH_TRADE_MAX]);

/* As cli_fetch_check() of a file of trades. */
int cli_fetch_check_trades(struct option_call *call, struct fetch *fetch,
                           const struct fetch_trades_layout *layout);

/* Says of each symbol that is not whole why, on stderr. EXIT_OK: there is none; EXIT_ERROR. */
int cli_fetch_say(const char *verb, const struct fetch *fetch);

/* The session of a stock's bar; one of a day is of its regular session, which the venue made it of. */
enum bar_session cli_fetch_session(const struct fetch *fetch, const struct history_job *job, int64_t open_ns);

/* For fetch->over: writes the symbol's file, once it is whole. Where a stop is asked for meanwhile
 * (exchange/early_stop.h) there is no file, its status is no EXIT_OK, and the caller says why. */
void cli_fetch_write(struct fetch *fetch, size_t i);
/* Of bars that are whole: XXH3-128 of all that makes their file, for market_options' hashes, without writing
 * it, and how many they are. 0 or -errno. */
int cli_fetch_digest(const struct fetch *fetch, size_t i, uint8_t ret[static MARKET_HASH_SIZE],
                     uint64_t *ret_bars);
/* Has the files that were written, together, as a market in the cache, as a backtest of them alone, or of
 * their folder, looks for it. Nothing where they are stocks', whose calendar a backtest names, months',
 * trades', or too many bars, and with asked->no_cache; where it fails a backtest makes it. */
void cli_fetch_make_ready(const struct fetch *fetch);
/* Where the files go to: checks that, and makes the folder. EXIT_OK, or a status with a sentence in
 * fetch->err. */
int cli_fetch_place(struct fetch *fetch);

#endif
