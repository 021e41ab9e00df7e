/* Bars files: history as CSV or JSON, plain or gzip, recognised by content.
 *
 * CSV, with commas, or with semicolons or tabs where its first line has no comma. With a header: a time
 * column and open, high, low, close, volume (or "Volume BTC"), in any order and case; other columns are
 * ignored. The time column is the first of these names that is there: open_time, timestamp, unix, datetime,
 * date, time; else a first column without a name (or "Unnamed: 0", or "Price", below which yfinance writes
 * two more lines of names). Without a header: an archive's twelve columns (open time, open, high, low, close,
 * volume, …), of which the first six are needed. JSON: one array of arrays in that order, as freqtrade keeps
 * them. Times are ISO 8601 (without a zone: UTC, or options' zone) or an epoch in s, ms, µs or ns, recognised
 * by size. A column `session` says in which session a bar is (bar_session_names); other words say nothing.
 *
 * A row is bad when it cannot be read, a price of it is not above 0, high < low, its open or close lies
 * outside low to high, its volume is negative, or its time does not rise; the first bad row ends the reading.
 * With a calendar a file is also refused for bars that no session holds, or beyond its range: bars_session.h.
 */
#ifndef EXCHANGE_BARS_FILE_H
#define EXCHANGE_BARS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/symbol.h"
#include "exchange/trading_calendar.h"

enum { BARS_FILE_ERROR_MAX = 512, BARS_FITS_MAX = 48 };

/* Bars that are missing between two rows. */
struct bars_gap {
    size_t row;             /* index of the first bar after the gap */
    int64_t from_ns, to_ns; /* the gap: [from, to) */
    int64_t missing;        /* whole intervals in it */
};

struct bars_file {
    char symbol[SYMBOL_NAME_MAX];
    size_t n;
    int64_t *open_time_ns; /* n each; rising */
    double *open, *high, *low, *close, *volume;
    uint8_t *session;    /* [n] of enum bar_session, by calendar or column; NULL: no row has one */
    int64_t interval_ns; /* the difference that most rows have, else the smallest; BAR_MONTH_NS where each
                          * opens with a month; of one row what the file's name says, or 0 */
    struct bars_gap *gaps;
    size_t n_gaps;
    int price_digits,
        volume_digits; /* most digits after the point in the file (at most 18): with up to 15 significant
                        * digits, decimal_from_double() at this scale gives the text's value exactly */
    unsigned long digits_line; /* the line of the first price with price_digits (JSON: its row) */
    size_t repaired;           /* rows whose low or high was widened */
    uint64_t bytes;            /* of the file, as it lies on the disk */
    char fits[BARS_FITS_MAX];  /* "": its times are good; else what volume's peaks fit better, at the opening
                                * and the close: "--zone UTC", "times 1 h later" */
};

/* Zeroed: the symbol by the file's name, bad rows are refused. */
struct bars_file_options {
    const char *symbol; /* the file's symbol, or NULL */
    bool any_price;     /* prices need not be above 0, as a spread's */
    bool as_is;         /* the numbers may be any that can be read, and are the file's, to be compared */
    bool repair;        /* low and high are widened to take in open and close, and such rows are counted */
    uint8_t *sha256;    /* [32], unless NULL: of the file's bytes, as they were read, once all of it was */
    const char *zone; /* of times without one, as zone_open() takes it; NULL: UTC. A time that comes twice is
                       * the second where the first does not rise. Dates, bars of a day or more, have none */
    const struct trading_calendar *calendar; /* NULL, or without days: bars have the sessions of the column */
    enum session_choice session;             /* which bars are wanted of it; all of them are read */
    bool closed_stay_out;                    /* bars in no session are never wanted: there is no --session all
                                              * to name */
    bool keep_straddling;                    /* mixed bars of REGULAR hours count as such, else refused */
};

/* Reads a whole file. Returns 0; -ENOENT and other errors of opening; -EIO for a damaged gzip stream; -ERANGE
 * for an open or close outside low to high, which .repair takes; -EINVAL for what else the file says, and for
 * one without bars; -ENOMEM. On failure *ret is untouched and `error` holds "what: FILE:LINE: what
 * would be right" (of JSON "FILE: row N"). */
int bars_file_read_with(const char *path, const struct bars_file_options *options, struct bars_file *ret,
                        char error[static BARS_FILE_ERROR_MAX]);

/* The same with a symbol or NULL, and no other option. */
int bars_file_read(const char *path, const char *symbol, struct bars_file *ret,
                   char error[static BARS_FILE_ERROR_MAX]);

/* Must it be widened? Then low and high take in open and close. */
static inline bool bars_widen(double open, double *high, double *low, double close)
{
    double most = open > close ? open : close, least = open > close ? close : open;
    bool outside = most > *high || least < *low;
    if (most > *high)
        *high = most;
    if (least < *low)
        *low = least;
    return outside;
}

/* The symbol of a file: `symbol` itself, or, where that is NULL, the one in the file's name (bars_name.h). 0;
 * -EINVAL for none, or one with too many letters. */
int bars_file_symbol(const char *path, const char *symbol, char ret[static SYMBOL_NAME_MAX]);

/* Makes room in the columns for more than *cap rows, and sets it; begin with a zeroed struct and 0. False
 * without memory. */
bool bars_file_grow(struct bars_file *file, size_t *cap);

/* Removes the bars of other sessions than those of the choice; gaps are those of the times that are left.
 * Returns 0 with how many were removed, or -ENOMEM. */
int bars_file_keep(struct bars_file *file, enum session_choice choice, size_t *ret_removed);

/* The first of n rising times at or after `ns`; n: all are before it. */
size_t bars_row_at(const int64_t *open_time_ns, size_t n, int64_t ns);

/* Frees the column of sessions where no bar has one. */
void bars_file_forget_none(struct bars_file *file);

/* Frees the columns; fine on a zeroed struct. */
void bars_file_finish(struct bars_file *file);

/* Finds the gaps again for another interval, as when the user names it. 0, -EINVAL (interval <= 0) or
 * -ENOMEM. */
int bars_file_set_interval(struct bars_file *file, int64_t interval_ns);

/* Parses a time of a bars file or of --from: ISO 8601 or an epoch. 0 or -EINVAL. */
int bars_time_parse(const char *text, size_t len, int64_t *ret_ns);

/* The same; *ret_local: it is ISO 8601 without a zone, taken as UTC's. */
int bars_time_read(const char *text, size_t len, int64_t *ret_ns, bool *ret_local);

#endif
