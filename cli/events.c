#include "cli/events.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/stored.h"
#include "cli/verbs.h"
#include "db/state.h"
#include "exchange/bars_file.h"
#include "exchange/exit_status.h"
#include "exchange/replay/convert.h"

static const char help[] =
    "Usage: papertape events list [--json] [--state DIR | PATH]\n"
    "       papertape events verify [--json] [--state DIR | PATH]\n"
    "       papertape events show --at T | --seq N [--n K] [--json] [--state DIR | PATH]\n"
    "       papertape events export PATH -o FILE\n"
    "       papertape events import FILE… -o DIR\n"
    "\n"
    "The event log, every input of the engine: STATE/events, or PATH: a state directory, a log's "
    "directory,\nor one segment of it.\n"
    "\n"
    "list:   the segments: sequence numbers, times, sizes, what they hold.\n"
    "verify: reads everything and checks every hash; exits 1 and names file, block and byte of the first "
    "fault.\n"
    "show:   events in words, from a time (as 2024-08-08T14:00:00Z) or a sequence number on.\n"
    "export: recorded frames as lines `NANOSECONDS {json}`, depth snapshots among them; any other reply as\n"
    "        `URL -> SECONDS.NANOSECONDS: {json}`. A log keeps a request's path, not whom it asked: URL is "
    "the\n"
    "        public address of that path. gzip when FILE ends in .gz; - is stdout.\n"
    "import: recordings (lines of text, plain or gzip) into a log that papertape-replay --recording plays.\n"
    "\n"
    "  --n K        so many (20)\n"
    "  --json       papertape.events/1\n"
    "  --state DIR  the daemon's state directory\n";

static const struct verb {
    const char *name, *allowed; /* its options */
    int (*run)(const struct events_asked *asked);
} verbs[] = {
    {"export", "o", events_export}, {"import", "o", events_import},  {"list", "js", events_list},
    {"show", "jsatn", events_show}, {"verify", "js", events_verify},
};

enum { VERBS = sizeof verbs / sizeof *verbs, SHOWN = 20 };

static int by_name(const void *name, const void *verb)
{
    return strcmp(name, ((const struct verb *)verb)->name);
}

static bool parse_number(const char *text, uint64_t *ret)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end != '\0' || errno != 0)
        return false;
    *ret = value;
    return true;
}

static int parse(int argc, char **argv, const struct verb *verb, struct events_asked *asked)
{
    static const struct option options[] = {
        {"state", required_argument, NULL, 's'},
        {"json", no_argument, NULL, 'j'},
        {"at", required_argument, NULL, 'a'},
        {"seq", required_argument, NULL, 't'},
        {"n", required_argument, NULL, 'n'},
        {"output", required_argument, NULL, 'o'},
        {NULL, 0, NULL, 0},
    };
    int option;
    optind = 0;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:", options, NULL)) != -1) {
        if (option == '?' || option == ':')
            return ask_wrong_option(asked->verb, argv, option);
        if (!strchr(verb->allowed, option))
            return stored_fail(EXIT_USAGE, asked->verb, argv[optind - 1],
                               "not an option of this verb: see papertape events --help");
        switch (option) {
        case 's':
            asked->state = optarg;
            break;
        case 'j':
            asked->json = true;
            break;
        case 'a':
            if (bars_time_parse(optarg, strlen(optarg), &asked->at_ns) < 0)
                return stored_fail(EXIT_USAGE, asked->verb, optarg,
                                   "--at: a time as 2024-08-08T14:02:00Z is needed");
            asked->by_time = true;
            break;
        case 't':
            if (!parse_number(optarg, &asked->seq))
                return stored_fail(EXIT_USAGE, asked->verb, optarg, "--seq: a sequence number is needed");
            asked->by_seq = true;
            break;
        case 'n':
            if (!parse_number(optarg, &asked->n) || asked->n == 0)
                return stored_fail(EXIT_USAGE, asked->verb, optarg, "--n: how many? From 1");
            break;
        default:
            asked->out = optarg;
        }
    }
    asked->files = argv + optind;
    asked->n_files = argc - optind;
    return EXIT_OK;
}

/* Which log: the argument, or the state directory's. `events` has room for it. */
static int find_log(const struct verb *verb, struct events_asked *asked, struct state_dir *state)
{
    char err[256];
    bool converts = verb->run == events_export || verb->run == events_import;
    if (converts && (asked->n_files == 0 || !asked->out))
        return ask_usage(asked->verb, verb->run == events_import
                                          ? "recordings and -o DIR are needed: papertape events --help"
                                          : "a log and -o FILE are needed: papertape events --help");
    if (verb->run == events_import)
        return EXIT_OK;
    if (asked->n_files > 1)
        return stored_fail(EXIT_USAGE, asked->verb, asked->files[1], "one log at a time");
    if (asked->n_files == 1 && asked->state)
        return ask_usage(asked->verb, "--state and a path: one of the two");
    asked->path = state->events;
    if (asked->n_files == 1)
        return stored_find_log(asked->verb, asked->files[0], state->events);
    int r = state_dir_look(asked->state, state, err, sizeof err);
    return r < 0 ? stored_fail(r == -EINVAL ? EXIT_USAGE : EXIT_ERROR, asked->verb, "", err) : EXIT_OK;
}

static int run_line(int argc, char **argv)
{
    struct state_dir state;
    char name[32];
    struct events_asked asked = {.n = SHOWN};
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(help, stdout);
            return EXIT_OK;
        }
    const struct verb *verb = argc > 1 ? bsearch(argv[1], verbs, VERBS, sizeof *verbs, by_name) : NULL;
    if (!verb)
        return argc > 1 ? stored_fail(EXIT_USAGE, "events", argv[1],
                                      "unknown: list, verify, show, export or import is expected")
                        : ask_usage("events", "list, verify, show, export or import is expected");
    snprintf(name, sizeof name, "events %s", verb->name);
    asked.verb = name;
    int status = parse(argc - 1, argv + 1, verb, &asked);
    if (status == EXIT_OK)
        status = find_log(verb, &asked, &state);
    return status == EXIT_OK ? verb->run(&asked) : status;
}

/* ---- recordings ---- */

static int report(const struct events_asked *asked, int r, const struct convert_counts *counts,
                  const char *error)
{
    if (r < 0)
        return stored_fail(EXIT_ERROR, asked->verb, "", error);
    fprintf(stderr, "papertape: %s: %llu frames, %llu replies", asked->verb,
            (unsigned long long)counts->frames, (unsigned long long)counts->replies);
    if (counts->late > 0)
        fprintf(stderr, "; %llu had a time before the line before them, and have its time now",
                (unsigned long long)counts->late);
    fputc('\n', stderr);
    return EXIT_OK;
}

int events_export(const struct events_asked *asked)
{
    struct convert_counts counts;
    char error[CONVERT_ERROR_MAX];
    return report(asked, convert_export(asked->path, asked->out, &counts, error), &counts, error);
}

int events_import(const struct events_asked *asked)
{
    struct convert_counts counts;
    char error[CONVERT_ERROR_MAX];
    int r =
        convert_import((const char *const *)asked->files, (size_t)asked->n_files, asked->out, &counts, error);
    return report(asked, r, &counts, error);
}

const struct option_verb cli_events = {
    .name = "events", .words = "the event log: list, verify, show, export, import", .run = run_line};
