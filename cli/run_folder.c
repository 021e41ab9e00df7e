/* --bars of a folder of bars files, as fetch writes them: its files take its place. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cli/lake/bars.h"
#include "cli/run_args.h"
#include "cli/stored.h"
#include "exchange/bar.h"
#include "exchange/bars_name.h"
#include "exchange/exit_status.h"
#include "exchange/folder.h"

struct bars_folder {
    struct run_args *args;
    const char *folder;
    char *paths[SYMBOLS_MAX]; /* in the order of their names */
    int64_t interval_ns[SYMBOLS_MAX];
    size_t n, place; /* of them; in --bars */
    bool state, full;
    bool any;   /* bars files, also of other symbols and intervals */
    bool other; /* names that are no state directory's */
};

static bool ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n > m && strcmp(name + n - m, ending) == 0;
}

/* BTC/USD is BTC-USD in a file's name. */
static bool is_symbol(const char *asked, const char *in_name)
{
    for (; *asked && *in_name; asked++, in_name++)
        if (strncasecmp(asked, in_name, 1) != 0 && !(*asked == '/' && *in_name == '-'))
            return false;
    return *asked == *in_name;
}

/* Of a folder alone --symbol names the files that are taken; else it names the symbols of the files. */
static bool is_wanted(const struct bars_folder *found, const char *symbol)
{
    const struct run_args *args = found->args;
    bool wanted = args->n_symbols == 0 || args->n_bars > 1;
    for (size_t i = 0; i < args->n_symbols && !wanted; i++)
        wanted = is_symbol(args->symbols[i], symbol);
    return wanted;
}

/* As they are before a database is there. */
static bool is_of_state(const char *name)
{
    static const char *const names[] = {"papertape.db", "papertaped.lock", "events", "checkpoints",
                                        "control.sock"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return name[0] == '.';
}

static int take_name(void *ctx, const char *name)
{
    struct bars_folder *found = ctx;
    struct bars_name parsed = {.trades = false};
    char path[PATH_MAX];
    size_t at = found->n;
    found->state |= strcmp(name, "papertape.db") == 0;
    found->other |= !is_of_state(name);
    if (!ends_with(name, ".csv") && !ends_with(name, ".csv.gz"))
        return 0;
    if (bars_name_parse(name, &parsed) < 0 || parsed.trades)
        return 0;
    found->any = true;
    if (!is_wanted(found, parsed.symbol))
        return 0;
    if (found->n == SYMBOLS_MAX || snprintf(path, sizeof path, "%s/%s", found->folder, name) >= PATH_MAX) {
        found->full = true;
        return 0;
    }
    char *copy = strdup(path);
    if (!copy)
        return -ENOMEM;
    for (; at > 0 && strcmp(found->paths[at - 1], copy) > 0; at--) {
        found->paths[at] = found->paths[at - 1];
        found->interval_ns[at] = found->interval_ns[at - 1];
    }
    found->paths[at] = copy;
    found->interval_ns[at] = parsed.interval_ns;
    found->n++;
    return 0;
}

/* Those of --interval, where it is given and names say it. */
static void keep_interval(struct bars_folder *found)
{
    const int64_t wanted_ns = found->args->interval_ns;
    size_t kept = 0;
    for (size_t i = 0; i < found->n; i++) {
        if (wanted_ns > 0 && found->interval_ns[i] > 0 && found->interval_ns[i] != wanted_ns) {
            free(found->paths[i]);
            continue;
        }
        found->paths[kept] = found->paths[i];
        found->interval_ns[kept++] = found->interval_ns[i];
    }
    found->n = kept;
}

static int check(const struct bars_folder *found)
{
    const struct run_args *args = found->args;
    const char *what = NULL;
    if (found->full || args->n_bars - 1 + found->n > SYMBOLS_MAX)
        what = "it has more files than there can be, 256";
    for (size_t i = 1; i < found->n && !what; i++)
        if (found->interval_ns[i] != found->interval_ns[0])
            what = "its files are of several intervals: --interval names one";
    return what ? cli_stored_fail(EXIT_USAGE, args->verb, found->folder, what) : EXIT_OK;
}

static void put_in_place(struct bars_folder *found)
{
    struct run_args *args = found->args;
    const size_t place = found->place, behind = args->n_bars - place - 1, n = found->n;
    memmove(&args->bars[place + n], &args->bars[place + 1], behind * sizeof *args->bars);
    memmove(&args->fetched[place + n], &args->fetched[place + 1], behind * sizeof *args->fetched);
    for (size_t i = 0; i < n; i++)
        args->bars[place + i] = args->fetched[place + i] = found->paths[i];
    args->n_symbols = args->n_bars == 1 ? 0 : args->n_symbols;
    args->n_bars += n - 1;
    found->n = 0;
}

static int refuse(const struct bars_folder *found)
{
    return cli_stored_fail(
        EXIT_ERROR, found->args->verb, found->folder,
        found->any ? "it has no bars file of --symbol and --interval"
                   : "it has no bars: it was searched for papertape.db (a state directory), NAME.csv and "
                     "NAME.csv.gz (bars files), and NAME.parquet, KEY=VALUE/ and _manifest.jsonl (Parquet); "
                     "other folders in it were not");
}

/* An empty one stays: it may become a state directory. */
static int take_folder(struct run_args *args, size_t place)
{
    struct bars_folder found = {.args = args, .folder = args->bars[place], .place = place};
    int r = folder_each(found.folder, take_name, &found);
    int status = EXIT_OK;
    if (r < 0)
        status = cli_stored_fail(EXIT_ERROR, args->verb, found.folder, strerror(-r));
    else if (!found.state)
        keep_interval(&found);
    if (r == 0 && !found.state && found.n > 0 && (status = check(&found)) == EXIT_OK)
        put_in_place(&found);
    else if (r == 0 && !found.state && found.n == 0 && found.other && !cli_lake_is(found.folder))
        status = refuse(&found);
    for (size_t i = 0; i < found.n; i++)
        free(found.paths[i]);
    return status;
}

int cli_run_folders(struct run_args *args)
{
    struct stat st;
    int status = EXIT_OK;
    for (size_t i = args->n_bars; i > 0 && status == EXIT_OK; i--)
        if (stat(args->bars[i - 1], &st) == 0 && S_ISDIR(st.st_mode))
            status = take_folder(args, i - 1);
    return status;
}
