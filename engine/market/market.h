/* The market store: bars of many symbols on one grid of time, as columns. Row r opens at
 * start_ns + r * interval_ns for every symbol. A bar that is missing is marked and not tradable: its prices
 * repeat the last close (before the first bar: the first open), its volume is 0. So is one whose session is
 * not among those that were asked for.
 *
 * Prices are doubles that decimal_from_double() at the symbol's price_scale turns into the exact integers
 * that they came from; a source whose prices cannot is refused. */
#ifndef ENGINE_MARKET_MARKET_H
#define ENGINE_MARKET_MARKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/bars_file.h"
#include "exchange/symbol.h"
#include "exchange/trading_calendar.h"

enum { MARKET_ERROR_MAX = 1024, MARKET_HASH_SIZE = 32 };

struct market_series {
    struct symbol symbol;
    const double *open, *high, *low, *close, *volume; /* [rows] */
    const uint64_t *present;                          /* bit r % 64 of word r / 64: the bar is there */
    const uint8_t *session;   /* [rows] of enum bar_session, NONE where no bar is; NULL: no bar has one */
    size_t first, last;       /* the rows of its first and of its last bar */
    size_t missing;           /* bars that are not there between the two */
    size_t repaired;          /* bars whose low or high was widened */
    size_t left_out;          /* bars of other sessions than those asked for */
    int price_digits;         /* most digits after the point of its prices, at most symbol.price_scale */
    int rounded_digits;       /* of the source's prices, where these were rounded to price_digits; else 0 */
    char fits[BARS_FITS_MAX]; /* struct bars_file's */
};

/* Bits of a row of market_store_compact(): its day's last; the one before that; its day's first. */
enum { MARKET_ROW_ENDS = 1, MARKET_ROW_LEAVES = 2, MARKET_ROW_BEGINS = 4 };

/* Arrays belong to the market, mapped from a cache or allocated, 64-byte aligned; nothing writes to them. */
struct market {
    int n_symbols;
    size_t rows;
    int64_t start_ns, interval_ns;
    /* NULL: rows lie on the clock. Else of market_store_compact(): when each row opens, and [rows] when the
     * last one ends; MARKET_ROW_… bits. */
    const int64_t *open_ns;             /* [rows + 1] */
    const uint8_t *marks;               /* [rows] */
    const struct market_series *series; /* [n_symbols], in the order in which they were asked for */
    enum session_choice choice;         /* the bars that are there; without sessions it has no effect */
    uint8_t calendar[MARKET_HASH_SIZE]; /* trading_calendar_hash() of theirs; zeros: loaded without one */
    uint8_t content[MARKET_HASH_SIZE];  /* SHA-256 of grid, symbols and bars, wherever they came from, and of
                                         * the choice and calendar, where there is one */
    size_t bytes;                       /* of all columns */
};

static inline bool market_present(const struct market_series *series, size_t row)
{
    return series->present[row / 64] >> (row % 64) & 1;
}

static inline bool market_any_present(const struct market *market, size_t row)
{
    for (int s = 0; s < market->n_symbols; s++)
        if (market_present(&market->series[s], row))
            return true;
    return false;
}

static inline enum bar_session market_session(const struct market_series *series, size_t row)
{
    return series->session ? (enum bar_session)series->session[row] : BAR_SESSION_NONE;
}

static inline int64_t market_open_ns(const struct market *market, size_t row)
{
    return market->open_ns ? market->open_ns[row] : market->start_ns + (int64_t)row * market->interval_ns;
}

/* How far apart rows are by the clock, of which a year's number of rows is a fraction: interval_ns, and of
 * market_store_compact(), where nights have no rows, the mean with them. So the figures of a year are the
 * same over rows of the sessions and over those of the clock (docs/metrics.md). */
static inline int64_t market_row_ns(const struct market *market)
{
    return market->open_ns ? (market->open_ns[market->rows] - market->open_ns[0]) / (int64_t)market->rows
                           : market->interval_ns;
}

/* The first row that opens at or after `ns`: 0 for a time before the first, rows for one after the last. A
 * backtest of [--from, --to) trades rows [market_store_row_at(from), market_store_row_at(to)). */
size_t market_store_row_at(const struct market *market, int64_t ns);

/* Terms of a symbol that a file does not have: each NULL, or one text a file. */
struct market_terms {
    const char *const *lots;   /* the step of quantities, which is the least one, too */
    const char *const *ticks;  /* the step of prices */
    const char *const *quotes; /* the quote asset, where the name does not end with a known one */
    /* What the symbol's venue lists, NULL where that is not known: in place of symbol_default(), unless the
     * file has more digits, or a quote is given. Their bytes are hashed: without padding that is not 0. */
    const struct symbol *const *listed;
};

/* Zeroed: all bars of all files, symbols by symbol_default(), the user's cache, a thread a core. */
struct market_options {
    int64_t from_ns, to_ns; /* bars that open in [from_ns, to_ns); 0, 0: all; else both count */
    int64_t interval_ns;    /* 0: that of the sources, which then must agree */
    int64_t account_ns;     /* of a database: the bars that its engine's account of then has had; 0: all */
    int64_t account_bars;   /* … of those before it at most so many */
    bool raw;               /* a database's bars as received: else those from before a split in new shares */
    const char *const *names; /* symbols of the files, one each; NULL: by the files' names */
    /* What the files' content follows from, in place of the SHA-256 of their bytes: they need not be there
     * where the cache has the market, else write() makes them before they are read (0 or -errno, with a
     * sentence or without). An entry NULL: that file is there; NULL: all of them are. */
    const uint8_t *const *hashes;
    int (*write)(void *ctx, char err[MARKET_ERROR_MAX]);
    void *write_ctx;
    const char *exchange_info;               /* path of a venue's exchangeInfo with the symbols, or NULL */
    struct market_terms terms;               /* of symbols that no exchangeInfo lists */
    const char *zone;                        /* of the files' times that have none; NULL: UTC */
    const struct trading_calendar *calendar; /* of all symbols; NULL, or without days: none */
    enum session_choice session;             /* bars of others count as missing */
    bool keep_straddling;                    /* as struct bars_file_options has it */
    bool repair;          /* bars whose open or close is outside low to high: widened, else refused */
    const char *cache;    /* folder; NULL: $XDG_CACHE_HOME/papertape/market or ~/.cache/… */
    bool no_cache;        /* neither read nor write one */
    uint64_t cache_bytes; /* the folder's limit, oldest-used files go; 0: MARKET_CACHE_BYTES */
    int threads;          /* 0: one a core */
    int64_t now_ns;       /* the present, for the age of files; 0: by the clock */
};

#define MARKET_CACHE_BYTES (8ull << 30)

/* Statistics of a load. */
struct market_load {
    bool cached;                      /* mapped from the cache; else made from the sources */
    size_t source_bytes;              /* of the files on the disk; 0 when none had to be read */
    size_t bars;                      /* rows that are there, over all symbols */
    double hash_s, read_s;            /* finding what the sources are; reading and parsing them */
    double grid_s, write_s;           /* placing the bars; writing the cache */
    double map_s;                     /* opening and checking the cache */
    char note[MARKET_ERROR_MAX];      /* "", or one line on a cache that was deleted or could not be used */
    char zone_note[MARKET_ERROR_MAX]; /* "", or one line on a file whose times fit another zone better */
};

/* Loads bars files (exchange/bars_file.h), one symbol each, onto one grid: rows are the union of their
 * ranges. Files of one symbol that follow each other are one series of it, in whatever order they are. Prices
 * with more than 8 digits after the point that no exchangeInfo lists get a scale of as many, or, where a
 * double does not hold that many of the largest, are rounded to as many as it holds (rounded_digits). `load`
 * may be NULL. 0 with *ret, for market_store_close(); -ERANGE for a bar that options->repair would take;
 * -EINVAL for what else files, options or the exchangeInfo say (bad rows, intervals that differ, a bar off
 * the grid, a symbol twice or not listed, a price with more digits than its scale, no bars in the range),
 * errors of opening, -EIO, -ENOMEM, with one sentence "what: where: what would be right" in `err`. A cache
 * that is damaged or cannot be written is no error. */
int market_store_load_files(const char *const *paths, size_t n, const struct market_options *options,
                            struct market **ret, struct market_load *load, char err[static MARKET_ERROR_MAX]);

void market_store_close(struct market *market); /* NULL is fine */

#endif
