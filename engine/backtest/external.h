/* Columns from files, for a backtest: engine/column.h. A file is CSV, plain or gzip: a header with
 * `timestamp`, `published` and names of columns, and maybe `symbol`, in any order; then rows in the order of
 * `published`, of each symbol one after the other. Times are as in bars files. An empty cell says nothing of
 * its column; with `symbol` a row is of that one, where it is not empty; else of every symbol. */
#ifndef ENGINE_BACKTEST_EXTERNAL_H
#define ENGINE_BACKTEST_EXTERNAL_H

#include "exchange/symbol.h"
#include "strategy/column.h"

struct runner_spec;
struct strategy;

enum { EXTERNAL_ERROR_MAX = 512 };

struct external_column {
    char name[COLUMN_NAME_MAX];
    char symbol[SYMBOL_NAME_MAX]; /* "": every one */
    struct column_value *values;  /* [n], by published_ns, which rises */
    size_t n, cap;
};

struct external_columns {
    struct external_column *columns; /* [n] */
    size_t n, cap;
};

/* Adds a file's. 0; -EINVAL, -ENOMEM or -errno of reading, err: one sentence, with the file and the line. On
 * failure some may have been added. */
int backtest_external_read(const char *path, struct external_columns *to,
                           char err[static EXTERNAL_ERROR_MAX]);
void backtest_external_finish(struct external_columns *columns); /* all zero is fine */

/* Are all columns that a strategy reads there? 0, or -EINVAL with a clause that names the nearest. `columns`
 * may be NULL. */
int backtest_external_check(const struct external_columns *columns, const struct strategy *strategy,
                            const struct runner_spec *specs, size_t n, char *err, size_t err_size);

/* What the column is to a symbol at the end of a bar; NaN: there is no value. */
double backtest_external_at(const struct external_columns *columns, const char *symbol,
                            const struct column_source *source, int64_t end_ns);

/* A copy whose times are later by so much, without what was published after a time, by the columns' own
 * times; or, with `changes`, with other values there. 0 or -ENOMEM. */
struct external_change {
    int64_t later_ns, after_ns;
    bool changes;
    uint64_t seed;
};
int backtest_external_copy(const struct external_columns *columns, const struct external_change *change,
                           struct external_columns *ret);

#endif
