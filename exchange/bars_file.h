/* Bars files: history as CSV, plain or gzip, told apart by content.
 *
 * With a header: a time column `open_time` or `timestamp` and open, high, low, close, volume, in any order
 * and case; other columns are ignored. Without one: an archive's twelve columns (open time, open, high, low,
 * close, volume, …), of which the first six are needed. Times are ISO 8601 (without a zone: UTC) or an epoch
 * in s, ms, µs or ns, told apart by size. A row is bad when it cannot be read, high < low, its volume is
 * negative, or its time does not rise; the first bad row ends the reading. */
#ifndef EXCHANGE_BARS_FILE_H
#define EXCHANGE_BARS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/symbol.h"

enum { BARS_FILE_ERROR_MAX = 512 };

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
    int64_t interval_ns; /* the difference that most rows have, else the smallest; 0 when n < 2 */
    struct bars_gap *gaps;
    size_t n_gaps;
    int price_digits,
        volume_digits; /* most digits after the point in the file (at most 18): with up to 15 significant
                        * digits, decimal_from_double() at this scale gives the text's value exactly */
    unsigned long digits_line; /* the line of the first price with price_digits */
    uint64_t bytes;            /* of the file, as it lies on the disk */
};

/* Reads a whole file. `symbol` names it, or NULL: the file's name up to the first `_` (or `.`).
 * Returns 0; -ENOENT and other errors of opening; -EIO for a damaged gzip stream; -EINVAL for what the file
 * says; -ENOMEM. On failure *ret is untouched and `error` holds "what: FILE:LINE: what would be right". */
int bars_file_read(const char *path, const char *symbol, struct bars_file *ret,
                   char error[static BARS_FILE_ERROR_MAX]);

/* The same, and the SHA-256 of the file's bytes, as they were read, into sha256[32] (unless NULL); written
 * only when the whole file was. */
int bars_file_read_hashed(const char *path, const char *symbol, uint8_t *sha256, struct bars_file *ret,
                          char error[static BARS_FILE_ERROR_MAX]);

/* The symbol of a file, as above. 0; -EINVAL for a name without letters or with too many. */
int bars_file_symbol(const char *path, const char *symbol, char ret[static SYMBOL_NAME_MAX]);

/* Makes room in the columns for more than *cap rows, and sets it; begin with a zeroed struct and 0. False
 * without memory. */
bool bars_file_grow(struct bars_file *file, size_t *cap);

/* Frees the columns; fine on a zeroed struct. */
void bars_file_finish(struct bars_file *file);

/* Finds the gaps again for another interval, as when the user names it. 0, -EINVAL (interval <= 0) or
 * -ENOMEM. */
int bars_file_set_interval(struct bars_file *file, int64_t interval_ns);

/* One time as it stands in a bars file or after --from: ISO 8601 or an epoch. 0 or -EINVAL. */
int bars_time_parse(const char *text, size_t len, int64_t *ret_ns);

#endif
