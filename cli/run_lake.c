/* --bars of Parquet: in its place come files of bars that Python writes of it into a folder. */
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
    struct lake_python *python;
    char *out;  /* the folder */
    bool alone; /* --bars is one word, and --symbol names which of its symbols are taken */
};

/* Their symbols are in the files' names from then on; of one whose name was given, in --symbol. */
static int put_files(struct lake_run *run, size_t place, const json_t *files)
{
    struct run_args *args = run->args;
    const size_t n = json_array_size(files), behind = args->n_bars - place - 1;
    if (args->n_bars - 1 + n > SYMBOLS_MAX)
        return cli_stored_fail(EXIT_USAGE, args->verb, args->bars[place],
                               "it has more symbols than there can be, 256: --symbol names them");
    memmove(&args->bars[place + n], &args->bars[place + 1], behind * sizeof *args->bars);
    memmove(&args->fetched[place + n], &args->fetched[place + 1], behind * sizeof *args->fetched);
    memset(&args->fetched[place], 0, n * sizeof *args->fetched);
    args->n_bars += n - 1;
    for (size_t i = 0; i < n; i++) {
        args->bars[place + i] = args->fetched[place + i] =
            strdup(json_string_value(json_array_get(files, i)));
        if (!args->bars[place + i])
            return cli_stored_fail(EXIT_ERROR, args->verb, "", "out of memory");
    }
    return EXIT_OK;
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
        status = cli_lake_bars(&asked, folder, &run->python, &files);
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
    if (run->alone && run->args->n_bars > 1)
        run->args->n_symbols = 0; /* the files' names have them */
    cli_lake_finish(run->python);
    return status;
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
    int r = folder_temporary("bars", folder);
    if (r < 0) {
        int status = cli_stored_fail(EXIT_ERROR, args->verb, folder, strerror(-r));
        folder[0] = '\0';
        return status;
    }
    struct lake_run run = {.args = args, .out = folder, .alone = args->n_bars == 1};
    early_stop_catch(); /* so that the folder is removed */
    int status = read_all(&run);
    if (status == EXIT_OK && early_stop_asked())
        status = cli_stored_fail(EXIT_ERROR, args->verb, "", "stopped");
    early_stop_release();
    return status;
}
