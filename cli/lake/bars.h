/* Bars in Parquet as --bars has them: a file, a folder of such, or what papertape export wrote. Python reads
 * them (cli/lake/papertape_lake/read.py) into files of bars as CSV, one a symbol, which are loaded as any
 * others. */
#ifndef CLI_LAKE_BARS_H
#define CLI_LAKE_BARS_H

#include <limits.h>
#include <stdbool.h>

#include "cli/lake/python.h"

/* Is it Parquet: a file by its first bytes, a folder by what is in it? */
bool cli_lake_is(const char *path);

/* Makes a temporary folder for its bars. EXIT_OK; EXIT_ERROR with a line that names it and TMPDIR. */
int cli_lake_folder(const char *verb, char ret[static PATH_MAX]);

struct lake_asked {
    const char *verb, *path;
    const char *const *symbols; /* n_symbols of them; 0: those that it has */
    size_t n_symbols;
    int64_t interval_ns; /* 0: the one that it has */
};

/* Which files its bars become in the folder `out`, where they are not yet, and a SHA-256 of what their
 * content follows from: [{"path": …, "symbol": …, "sha256": …}, …], the caller's. *python is started at
 * first, for cli_lake_finish(). EXIT_OK; EXIT_ERROR with its line. */
int cli_lake_bars(const struct lake_asked *asked, const char *out, struct lake_python **python, json_t **ret);

/* Writes the files of all that it was asked for. The same statuses. */
int cli_lake_write_bars(struct lake_python *python);

/* Once they are written: in `words`, of `size` bytes, what "PATH" or "PATH:LINE" of such a file was made of
 * takes their place: "lake/a.parquet: row 7 (row group 0), BTCUSDT". They stay where that is not found. */
void cli_lake_where(struct lake_python *python, const char *path, char *words, size_t size);

#endif
