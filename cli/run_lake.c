/* --bars of Parquet: in its place come files of bars that Python writes of it into a folder, where the market
 * store's cache does not have them already. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/lake/bars.h"
#include "cli/run_args.h"
#include "cli/stored.h"
#include "exchange/early_stop.h"
#include "exchange/exit_status.h"
#include "exchange/folder.h"

struct lake_run {
    struct run_args *args;
    char *out;  /* the folder */
    bool alone; /* --bars is one word, and --symbol names which of its symbols are taken */
};

/* False: it is no SHA-256. */
static bool read_hash(const char *text, uint8_t hash[static MARKET_HASH_SIZE])
{
    unsigned byte;
    for (int i = 0; i < MARKET_HASH_SIZE; i++) {
        if (sscanf(text + 2 * i, "%2x", &byte) != 1)
            return false;
        hash[i] = (uint8_t)byte;
    }
    return true;
}

static int put_file(struct run_args *args, size_t place, const json_t *file)
{
    const char *path = json_string_value(json_object_get(file, "path")),
               *sha256 = json_string_value(json_object_get(file, "sha256")),
               *symbol = json_string_value(json_object_get(file, "symbol"));
    args->bars[place] = args->fetched[place] = path ? strdup(path) : NULL;
    args->hashes[place] = malloc(MARKET_HASH_SIZE);
    args->named[place] = symbol ? strdup(symbol) : NULL;
    if (!args->bars[place] || !args->hashes[place] || (symbol && !args->named[place]))
        return cli_stored_fail(EXIT_ERROR, args->verb, "", "out of memory");
    if (!sha256 || strlen(sha256) != 2 * MARKET_HASH_SIZE || !read_hash(sha256, args->hashes[place]))
        return cli_stored_fail(EXIT_ERROR, args->verb, args->bars[place],
                               "the answer of Python has no SHA-256 of it");
    return EXIT_OK;
}

static int put_files(struct lake_run *run, size_t place, const json_t *files)
{
    struct run_args *args = run->args;
    const size_t n = json_array_size(files), behind = args->n_bars - place - 1;
    if (args->n_bars - 1 + n > SYMBOLS_MAX) {
        char words[96];
        snprintf(words, sizeof words, "with its symbols there are more than %d: --symbol names some",
                 SYMBOLS_MAX);
        return cli_stored_fail(EXIT_ERROR, args->verb, args->bars[place], words);
    }
    memmove(&args->bars[place + n], &args->bars[place + 1], behind * sizeof *args->bars);
    memmove(&args->fetched[place + n], &args->fetched[place + 1], behind * sizeof *args->fetched);
    memmove(&args->hashes[place + n], &args->hashes[place + 1], behind * sizeof *args->hashes);
    memmove(&args->named[place + n], &args->named[place + 1], behind * sizeof *args->named);
    memset(&args->fetched[place], 0, n * sizeof *args->fetched);
    memset(&args->named[place], 0, n * sizeof *args->named);
    memset(&args->hashes[place], 0, n * sizeof *args->hashes);
    args->n_bars += n - 1;
    int status = EXIT_OK;
    for (size_t i = 0; i < n && status == EXIT_OK; i++)
        status = put_file(args, place + i, json_array_get(files, i));
    return status;
}

/* A folder of its own for each word: two may have the same symbol, one after the other. */
static int make_folder(const struct lake_run *run, size_t place, char folder[static PATH_MAX])
{
    char failed[PATH_MAX];
    int n = snprintf(folder, PATH_MAX, "%s/%zu", run->out, place);
    int r = n < PATH_MAX ? folder_make(folder, 0700, failed) : -ENAMETOOLONG;
    return r < 0 ? cli_stored_fail(EXIT_ERROR, run->args->verb, folder, strerror(-r)) : EXIT_OK;
}

static int read_word(struct lake_run *run, size_t place)
{
    const struct run_args *args = run->args;
    const size_t own = args->n_symbols > place ? place : 0;
    const struct lake_asked asked = {.verb = args->verb,
                                     .path = args->bars[place],
                                     .symbols = run->alone ? args->symbols : &args->symbols[own],
                                     .n_symbols = run->alone ? args->n_symbols : args->n_symbols > 0,
                                     .interval_ns = args->interval_ns};
    char folder[PATH_MAX];
    json_t *files = NULL;
    int status = make_folder(run, place, folder);
    if (status == EXIT_OK)
        status = cli_lake_bars(&asked, folder, &run->args->lake, &files);
    if (status == EXIT_OK)
        status = put_files(run, place, files);
    json_decref(files);
    return status;
}

static bool any_of(const struct run_args *args)
{
    for (size_t i = 0; i < args->n_bars; i++)
        if (cli_lake_is(args->bars[i]))
            return true;
    return false;
}

static int read_all(struct lake_run *run)
{
    int status = EXIT_OK;
    for (size_t i = run->args->n_bars; i > 0 && status == EXIT_OK; i--)
        if (cli_lake_is(run->args->bars[i - 1]))
            status = read_word(run, i - 1);
    if (run->alone)
        run->args->n_symbols = 0; /* args->named has them */
    return status;
}

int cli_run_lake_write(struct run_args *args)
{
    return args->lake ? cli_lake_write_bars(args->lake) : EXIT_OK;
}

void cli_run_lake_where(struct run_args *args, char err[static MARKET_ERROR_MAX])
{
    for (size_t i = 0; args->lake && i < args->n_bars; i++)
        if (args->named[i])
            cli_lake_where(args->lake, args->bars[i], err, MARKET_ERROR_MAX);
}

void cli_run_lake_finish(struct run_args *args)
{
    cli_lake_finish(args->lake);
    args->lake = NULL;
}

bool cli_run_stored(const struct run_args *args, char database[static STATE_PATH_MAX])
{
    return args->n_bars == 1 && !cli_lake_is(args->bars[0]) && db_state_database(args->bars[0], database);
}

int cli_run_lake(struct run_args *args, char folder[static PATH_MAX])
{
    folder[0] = '\0';
    if (!any_of(args))
        return EXIT_OK;
    int status = cli_lake_folder(args->verb, folder);
    if (status != EXIT_OK) {
        folder[0] = '\0';
        return status;
    }
    struct lake_run run = {.args = args, .out = folder, .alone = args->n_bars == 1};
    early_stop_catch(); /* so that the folder is removed */
    status = read_all(&run);
    if (status == EXIT_OK && early_stop_asked())
        status = cli_stored_fail(EXIT_ERROR, args->verb, "", "stopped");
    early_stop_release();
    return status;
}
