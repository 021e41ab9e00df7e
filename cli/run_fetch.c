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
#include "exchange/nearest.h"
#include "exchange/venues.h"

enum { NAMES_MAX = SYMBOLS_MAX * SYMBOL_NAME_MAX };

/* What one venue is asked for, until its files are written or not needed. */
struct run_fetch {
    struct run_fetch *next;
    struct fetch_asked asked;
    struct fetch *fetch;
    char names[NAMES_MAX];
};

/* What follows "VENUE:"; NULL: the word does not begin so. */
static const char *after_venue(const char *word, const struct venue *venue)
{
    size_t n = strlen(venue->format->name);
    return strncmp(word, venue->format->name, n) == 0 && word[n] == ':' ? word + n + 1 : NULL;
}

/* The symbol, where the word names that venue and no file; NULL: it does not. */
static const char *symbol_of(const char *word, const struct venue *venue)
{
    const char *symbol = after_venue(word, venue);
    return symbol && access(word, F_OK) < 0 ? symbol : NULL;
}

static bool names_any(const struct run_args *args, const struct venue *venue)
{
    for (size_t i = 0; i < args->n_bars; i++)
        if (symbol_of(args->bars[i], venue))
            return true;
    return false;
}

static void note_file(const struct run_args *args, const char *word, const struct venue *venue)
{
    if (after_venue(word, venue) && !symbol_of(word, venue))
        fprintf(stderr, "papertape: %s: note: %s is a file here, which is read; nothing is fetched for it\n",
                args->verb, word);
}

static void note(const struct run_args *args, const struct fetch *fetch, size_t i, uint64_t bars)
{
    fprintf(stderr, "papertape: %s: note: %s:%s: %llu bars, %llu of them fetched now\n", args->verb,
            fetch->venue->format->name, fetch->symbols[i].name, (unsigned long long)bars,
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
    const struct venue *venue = args->terms.venue ? venue_find(args->terms.venue) : NULL;
    const struct fetch_asked asked = {.rest_url = args->rest_url, .cache = args->cache};
    char name[SYMBOL_NAME_MAX], listed[SYMBOL_NAME_MAX];
    struct symbol found;
    for (size_t i = 0; i < args->n_bars && venue; i++) {
        const char *given = args->named[i]        ? args->named[i]
                            : args->n_symbols > 0 ? args->symbols[args->n_symbols > i ? i : 0]
                                                  : NULL;
        if (!args->listed[i] && bars_file_symbol(args->bars[i], given, name) == 0 &&
            cli_fetch_find_listing(&asked, venue, cli_stored_symbol(name, listed), &found))
            args->listed[i] = copy_listing(&found);
    }
}

/* In a word's place comes the name of a file, and what its content follows from. */
static int put_file(struct run_args *args, struct fetch *fetch, size_t i, size_t k)
{
    uint64_t bars;
    args->fetched[i] = strdup(fetch->symbols[k].path);
    args->hashes[i] = malloc(MARKET_HASH_SIZE);
    if (!args->fetched[i] || !args->hashes[i])
        return cli_stored_fail(EXIT_ERROR, args->verb, "", "out of memory");
    int r = cli_fetch_digest(fetch, k, args->hashes[i], &bars);
    if (r < 0)
        return cli_stored_fail(EXIT_ERROR, args->verb, history_store_path(fetch->jobs[k].store),
                               strerror(-r));
    args->bars[i] = args->fetched[i];
    args->listed[i] = copy_listing(&fetch->symbols[k].symbol);
    args->calendar = args->calendar || !fetch->symbols[k].symbol.calendar[0] ? args->calendar : "nyse";
    note(args, fetch, k, bars);
    return EXIT_OK;
}

static int put_files(struct run_args *args, struct fetch *fetch)
{
    int status = EXIT_OK;
    for (size_t i = 0, k = 0; i < args->n_bars && status == EXIT_OK; i++)
        if (symbol_of(args->bars[i], fetch->venue))
            status = put_file(args, fetch, i, k++);
    return status;
}

static int fetch_all(struct run_args *args, struct fetch *fetch, const char *what)
{
    int status = cli_fetch_take(fetch);
    if (status == EXIT_OK)
        status = cli_fetch_place(fetch);
    if (status != EXIT_OK)
        return cli_stored_fail(status, args->verb, what, fetch->err);
    early_stop_catch(); /* so that the folder is removed */
    int r = cli_fetch_from_venue(fetch);
    early_stop_release();
    if (r < 0)
        return cli_stored_fail(EXIT_ERROR, args->verb, what, fetch->err);
    status = cli_fetch_say(args->verb, fetch);
    return status == EXIT_OK ? put_files(args, fetch) : status;
}

/* The names with commas between; their length, which may be more than there is room for. */
static size_t join_names(const struct run_args *args, const struct venue *venue, char names[static NAMES_MAX])
{
    size_t n = 0;
    for (size_t i = 0; i < args->n_bars; i++) {
        const char *symbol = symbol_of(args->bars[i], venue);
        if (symbol)
            n += (size_t)snprintf(names + n, n < NAMES_MAX ? NAMES_MAX - n : 0, "%s%s", n ? "," : "", symbol);
    }
    return n;
}

static int fetch_of(struct run_args *args, const struct venue *venue, const char *folder)
{
    char what[128];
    struct run_fetch *run = calloc(1, sizeof *run);
    if (!run)
        return cli_stored_fail(EXIT_ERROR, args->verb, folder, "out of memory");
    run->next = args->fetching;
    args->fetching = run;
    const size_t n = join_names(args, venue, run->names);
    snprintf(what, sizeof what, "--bars %s:%.80s%s", venue->format->name, run->names,
             strlen(run->names) > 80 ? "…" : "");
    if (n >= NAMES_MAX)
        return cli_stored_fail(EXIT_USAGE, args->verb, what, "the names are too long");
    if (!args->interval_ns || !args->from_ns)
        return cli_stored_fail(EXIT_USAGE, args->verb, what, "--interval and --from are needed");
    run->asked = (struct fetch_asked){
        .verb = args->verb,
        .venue = venue->format->name,
        .symbols = run->names,
        .interval = bar_interval_name(args->interval_ns),
        .from_ns = args->from_ns,
        .to_ns = args->to_ns ? args->to_ns : INT64_MAX,
        .out = folder,
        .plain = true,
        .cache = args->cache,
        .rest_url = args->rest_url,
        .ca_file = args->ca_file,
        .keys = args->keys,
        .feed = args->feed,
    };
    run->fetch = cli_fetch_new(&run->asked);
    return run->fetch ? fetch_all(args, run->fetch, what)
                      : cli_stored_fail(EXIT_ERROR, args->verb, what, "out of memory");
}

int cli_run_write_fetched(void *ctx, char err[MARKET_ERROR_MAX])
{
    struct run_args *args = ctx;
    (void)err; /* the line of what fails is printed */
    early_stop_catch();
    int status = cli_run_lake_write(args);
    for (const struct run_fetch *run = args->fetching; run && status == EXIT_OK; run = run->next)
        for (size_t i = 0; run->fetch && i < run->fetch->n && status == EXIT_OK; i++) {
            cli_fetch_write(run->fetch, i);
            status = run->fetch->symbols[i].status;
        }
    if (early_stop_asked())
        status = cli_stored_fail(EXIT_ERROR, args->verb, "", "stopped");
    early_stop_release();
    return status == EXIT_OK ? 0 : -EIO;
}

void cli_run_fetch_finish(struct run_args *args)
{
    while (args->fetching) {
        struct run_fetch *run = args->fetching;
        args->fetching = run->next;
        cli_fetch_free(run->fetch);
        free(run);
    }
}

/* A word as VENUE:SYMBOL that names neither a venue nor a file is refused with the venues that there are. */
static int check_word(const struct run_args *args, const char *word, const struct venue *const *venues,
                      size_t n)
{
    char name[64], what[PATH_MAX];
    struct nearest known = {0};
    const size_t len = strcspn(word, ":");
    if (word[len] == '\0' || len == 0 || len >= sizeof name || memchr(word, '/', len) ||
        access(word, F_OK) == 0)
        return EXIT_OK;
    snprintf(name, sizeof name, "%.*s", (int)len, word);
    for (size_t v = 0; v < n; v++) {
        if (after_venue(word, venues[v]))
            return EXIT_OK;
        nearest_offer(&known, name, venues[v]->format->name);
    }
    snprintf(what, sizeof what, "--bars %s: there is no such file, and no venue \"%s\"%s", word, name,
             NEAREST_HINT(&known, name));
    return cli_stored_fail(EXIT_USAGE, args->verb, "", what);
}

int cli_run_fetch(struct run_args *args, char folder[static PATH_MAX])
{
    size_t n;
    const struct venue *const *venues = venues_known(&n);
    bool any = false;
    int status = EXIT_OK;
    folder[0] = '\0';
    for (size_t i = 0; i < args->n_bars && status == EXIT_OK; i++)
        status = check_word(args, args->bars[i], venues, n);
    if (status != EXIT_OK)
        return status;
    for (size_t v = 0; v < n; v++) {
        any |= names_any(args, venues[v]);
        for (size_t i = 0; i < args->n_bars; i++)
            note_file(args, args->bars[i], venues[v]);
    }
    if (!any)
        return EXIT_OK;
    int r = folder_temporary("bars", folder);
    if (r < 0) {
        status = cli_stored_fail(EXIT_ERROR, args->verb, folder, strerror(-r));
        folder[0] = '\0';
    }
    for (size_t v = 0; v < n && status == EXIT_OK; v++)
        if (names_any(args, venues[v]))
            status = fetch_of(args, venues[v], folder);
    return status;
}
