/* What papertape export writes: a lake's tables, file by file. */
#ifndef CLI_EXPORT_H
#define CLI_EXPORT_H

#include <jansson.h>
#include <stdio.h>

#include "cli/lake/python.h"
#include "cli/progress.h"
#include "cli/stored.h"
#include "db/day_rows.h"

/* In the order in which they are written. */
enum export_table {
    EXPORT_BARS,
    EXPORT_FILLS,
    EXPORT_ORDERS,
    EXPORT_LEDGER,
    EXPORT_EQUITY,
    EXPORT_TABLES,
};
#define EXPORT_TABLE_NAMES "bars, fills, orders, ledger, equity"

struct export_totals {
    uint64_t files, written, unchanged;
    uint64_t damaged;    /* files that could not be read, set aside and written again; of those written */
    uint64_t rows, kept; /* of these files; kept: what only they have, and the database no longer */
};

struct export
{
    struct db_reader *reader;
    struct lake_python *python;
    int64_t from_day, to_day; /* since 1970, both included */
    struct export_totals totals[EXPORT_TABLES];
    struct progress progress;
    int status; /* EXIT_ERROR once a line was printed */
};

/* A file: a day's rows. Within one snapshot rows() prints them as CSV, the same each time, and keep() says
 * what stays of an older file ("keep" of cli/lake/papertape_lake/rows.py). Both return 0 or -errno of the
 * reader. */
struct export_file {
    enum export_table table;
    const char *name;
    int64_t day;
    int (*rows)(struct export *export, void *ctx, FILE *out, uint64_t *ret_rows);
    int (*keep)(struct export *export, void *ctx, json_t **ret);
    json_t *(*columns)(void *ctx); /* "columns"; NULL without memory */
    void *ctx;
};

/* Writes it, unless it has no rows or the lake has it already. 0; -errno of the reader; -ECANCELED with
 * export->status. */
int cli_export_file(struct export *export, const struct export_file *file);

/* A table's days. The same. */
int cli_export_bars(struct export *export);
int cli_export_trading(struct export *export, enum export_table table);
int cli_export_equity(struct export *export);

/* Compares the files of a lake with its manifest, without a database, and prints which are wrong and what
 * mends them. EXIT_OK; EXIT_ERROR, also for one that is wrong. `python`: as of cli_lake_start(). */
int cli_export_verify(const char *folder, const char *python, bool json);

extern const char *const cli_export_names[EXPORT_TABLES];

/* ["open_time", "time"] of `columns`; a time's name loses its _ns, which its type says. */
void cli_export_column(json_t *columns, const char *name, const char *type);

/* What a record's column is in Parquet: "text", "decimal", "int", "bool", "real", "time". */
const char *cli_export_type(const struct stored_list *list, const struct stored_column *column);

/* Shows how far a table has come. */
void cli_export_progress(struct export *export, int64_t first, int64_t day, int64_t last);

#endif
