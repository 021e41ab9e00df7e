/* --bars VENUE:SYMBOL: a venue's history, of which only what is not kept from before is fetched. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/fetch.h"
#include "cli/run_args.h"
#include "cli/stored.h"
#include "exchange/early_stop.h"
#include "exchange/exit_status.h"
#include "exchange/folder.h"
#include "exchange/venues.h"

enum { NAMES_MAX = SYMBOLS_MAX * SYMBOL_NAME_MAX };

/* The symbol, where the word names that venue and no file; NULL: it does not. */
static const char *symbol_of(const char *word, const struct venue *venue)
{
    size_t n = strlen(venue->format->name);
    bool is = strncmp(word, venue->format->name, n) == 0 && word[n] == ':' && access(word, F_OK) < 0;
    return is ? word + n + 1 : NULL;
}

static void note(const struct run_args *args, const struct fetch *fetch, size_t i)
{
    const struct fetch_symbol *symbol = &fetch->symbols[i];
    fprintf(stderr, "papertape: %s: note: %s:%s: %llu bars, %llu of them fetched now\n", args->verb,
            fetch->venue->format->name, symbol->name, (unsigned long long)symbol->rows,
            (unsigned long long)fetch->jobs[i].rows);
}

/* A copy whose bytes are those of any other of the same listing; NULL: it has none. */
static struct symbol *copy_listing(const struct symbol *symbol)
{
    struct symbol *copy = calloc(1, sizeof *copy);
    json_t *listing = cli_fetch_listing(symbol);
    if (copy && (!listing || !cli_fetch_take_listing(listing, copy))) {
        free(copy);
        copy = NULL;
    }
    json_decref(listing);
    if (copy)
        copy->trading = true; /* when its bars were */
    return copy;
}

void cli_run_list_files(struct run_args *args)
{
    const struct venue *venue = args->venue ? venue_find(args->venue) : NULL;
    const struct fetch_asked asked = {.rest_url = args->rest_url, .cache = args->cache};
    char name[SYMBOL_NAME_MAX], listed[SYMBOL_NAME_MAX];
    struct symbol found;
    for (size_t i = 0; i < args->n_bars && venue; i++) {
        const char *given = args->n_symbols > 0 ? args->symbols[args->n_symbols > i ? i : 0] : NULL;
        if (!args->listed[i] && bars_file_symbol(args->bars[i], given, name) == 0 &&
            cli_fetch_find_listing(&asked, venue, cli_stored_symbol(name, listed), &found))
            args->listed[i] = copy_listing(&found);
    }
}

/* In the words' places come the files. */
static int put_files(struct run_args *args, const struct fetch *fetch)
{
    size_t k = 0;
    for (size_t i = 0; i < args->n_bars; i++) {
        if (!symbol_of(args->bars[i], fetch->venue))
            continue;
        args->fetched[i] = strdup(fetch->symbols[k].path);
        if (!args->fetched[i])
            return cli_stored_fail(EXIT_ERROR, args->verb, "", "out of memory");
        args->bars[i] = args->fetched[i];
        args->listed[i] = copy_listing(&fetch->symbols[k].symbol);
        args->calendar = args->calendar || !fetch->symbols[k].symbol.calendar[0] ? args->calendar : "nyse";
        note(args, fetch, k++);
    }
    return EXIT_OK;
}

static int fetch_all(struct run_args *args, struct fetch *fetch, const char *what)
{
    int status = cli_fetch_take(fetch);
    if (status == EXIT_OK)
        status = cli_fetch_place(fetch);
    if (status != EXIT_OK)
        return cli_stored_fail(status, args->verb, what, fetch->err);
    fetch->over = cli_fetch_write;
    early_stop_catch(); /* so that the folder is removed */
    int r = cli_fetch_from_venue(fetch);
    early_stop_release();
    if (r < 0)
        return cli_stored_fail(EXIT_ERROR, args->verb, what, fetch->err);
    status = cli_fetch_say(args->verb, fetch);
    return status == EXIT_OK ? put_files(args, fetch) : status;
}

static int fetch_of(struct run_args *args, const struct venue *venue, const char *folder)
{
    char names[NAMES_MAX] = "", what[128];
    size_t n = 0;
    for (size_t i = 0; i < args->n_bars; i++) {
        const char *symbol = symbol_of(args->bars[i], venue);
        if (symbol)
            n += (size_t)snprintf(names + n, n < sizeof names ? sizeof names - n : 0, "%s%s", n ? "," : "",
                                  symbol);
    }
    if (n == 0)
        return EXIT_OK;
    snprintf(what, sizeof what, "--bars %s:%.80s%s", venue->format->name, names,
             strlen(names) > 80 ? "…" : "");
    if (n >= sizeof names)
        return cli_stored_fail(EXIT_USAGE, args->verb, what, "the names are too long");
    if (!args->interval_ns || !args->from_ns)
        return cli_stored_fail(EXIT_USAGE, args->verb, what, "--interval and --from are needed");
    const struct fetch_asked asked = {
        .verb = args->verb,
        .venue = venue->format->name,
        .symbols = names,
        .interval = bar_interval_name(args->interval_ns),
        .from_ns = args->from_ns,
        .to_ns = args->to_ns ? args->to_ns : INT64_MAX,
        .out = folder,
        .cache = args->cache,
        .rest_url = args->rest_url,
        .ca_file = args->ca_file,
        .keys = args->keys,
        .feed = args->feed,
    };
    struct fetch *fetch = cli_fetch_new(&asked);
    int status =
        fetch ? fetch_all(args, fetch, what) : cli_stored_fail(EXIT_ERROR, args->verb, what, "out of memory");
    cli_fetch_free(fetch);
    return status;
}

int cli_run_fetch(struct run_args *args, char folder[static PATH_MAX])
{
    size_t n;
    const struct venue *const *venues = venues_known(&n);
    bool any = false;
    int status = EXIT_OK;
    folder[0] = '\0';
    for (size_t v = 0; v < n; v++)
        for (size_t i = 0; i < args->n_bars; i++)
            any |= symbol_of(args->bars[i], venues[v]) != NULL;
    if (!any)
        return EXIT_OK;
    int r = folder_temporary("bars", folder);
    if (r < 0) {
        status = cli_stored_fail(EXIT_ERROR, args->verb, folder, strerror(-r));
        folder[0] = '\0';
    }
    for (size_t v = 0; v < n && status == EXIT_OK; v++)
        status = fetch_of(args, venues[v], folder);
    return status;
}
