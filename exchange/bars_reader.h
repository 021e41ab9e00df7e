/* Shared by the parts of the reader of bars files: bars_file.c, bars_columns.c, bars_row.c, bars_wanted.c and
 * bars_fit.c. */
#ifndef EXCHANGE_BARS_READER_H
#define EXCHANGE_BARS_READER_H

#include <stddef.h>

#include "exchange/bars_file.h"
#include "exchange/bars_input.h"
#include "exchange/zone.h"

enum { BARS_FIELDS_MAX = 256, BARS_NO_COLUMN = -1 };

enum bars_column { COL_TIME, COL_OPEN, COL_HIGH, COL_LOW, COL_CLOSE, COL_VOLUME, BARS_COLUMNS };

extern const char *const bars_column_names[BARS_COLUMNS];

struct bars_field {
    char *data;
    size_t len;
};

struct bars_reader {
    const char *path;
    const struct bars_file_options *options;
    struct bars_input *in;
    bool json;
    char separator; /* of CSV: a comma, or a semicolon or tab where the first line has no comma */
    unsigned long line;
    char *error;
    char *text; /* the line */
    size_t len;
    struct bars_field fields[BARS_FIELDS_MAX];
    int n_fields;
    int where[BARS_COLUMNS];       /* field index of each column */
    int session;                   /* the same of the session's; BARS_NO_COLUMN */
    int n_needed;                  /* fields up to the last of them */
    bool more_names;               /* lines of names may follow the header */
    bool known;                    /* a file of bars, by its header or first row: it may be quoted */
    const struct bars_field *time; /* of the row */
    size_t cap;
    int64_t interval_ns; /* by the file's name, or 0 */
    struct zone *zone;   /* of times without one; NULL: UTC */
    size_t local;        /* rows whose times had none */
    uint32_t *lines;     /* with a calendar: of each row, of JSON its number */
    struct bars_file out;
};

/* Writes what is wrong at the line that was read last, and what would be right, into r->error. Returns err.
 */
__attribute__((format(printf, 4, 5))) int bars_fail(struct bars_reader *r, int err, const char *what,
                                                    const char *right, ...);

/* The same at the line of a row of r->out, once all were read; without it where the lines are not known. */
__attribute__((format(printf, 5, 6))) int bars_fail_at(struct bars_reader *r, size_t row, int err,
                                                       const char *what, const char *right, ...);

/* Finds the columns, from the fields of the first line: a header's names, or an archive's order. 0 or
 * -EINVAL with the sentence. */
int bars_columns_find(struct bars_reader *r, bool header);

/* Is the line one more of a header, yfinance's second or third one? "Ticker,AAPL,…" and "Date,,,,,". */
bool bars_columns_more(struct bars_reader *r);

/* Takes the fields as a bar that follows the one before. 0; -EINVAL, -ENOMEM with the sentence. */
int bars_row_read(struct bars_reader *r);

/* A kind of file that is no text of bars, by its first bytes (bars_kind.c). */
struct bars_kind {
    const char *what;  /* "a zip archive" */
    const char *right; /* what is needed in its place */
};

enum { BARS_KIND_BYTES = 16 };

/* The kind of a file that starts with these n bytes, of which the first BARS_KIND_BYTES are enough; NULL
 * for one that may be text of bars. */
const struct bars_kind *bars_kind_find(const char *first, size_t n);

#endif
