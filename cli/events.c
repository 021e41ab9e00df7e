#include "cli/events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/stored.h"
#include "cli/verbs.h"
#include "db/state.h"
#include "exchange/exit_status.h"
#include "exchange/fail.h"
#include "exchange/replay/convert.h"

enum { SHOWN = 20 };

/* The log: the argument, or the state directory's. `state` has room for it. */
static int find_log(const struct option_call *call, struct events_asked *asked, struct state_dir *state)
{
    if (call->n == 1 && call->state)
        return option_fail(call, EXIT_USAGE, "--state and a path: one of the two");
    asked->path = state->events;
    if (call->n == 1)
        return cli_stored_find_log(asked->verb, call->arguments[0], state->events);
    return cli_stored_state(call, state);
}

static int run(struct option_call *call)
{
    static const struct {
        const char *name;
        int (*run)(const struct events_asked *asked);
    } actions[] = {{"list", cli_events_list},
                   {"verify", cli_events_verify},
                   {"show", cli_events_show},
                   {"export", cli_events_export},
                   {"import", cli_events_import}};
    struct events_asked *asked = call->into;
    struct state_dir state;
    char name[32];
    size_t i = 0;
    int status = EXIT_OK;

    while (strcmp(actions[i].name, call->action->name) != 0)
        i++;
    snprintf(name, sizeof name, "events %s", call->action->name);
    asked->verb = name;
    asked->json = call->json;
    asked->form = cli_stored_form(call);
    asked->files = call->arguments;
    asked->n_files = call->n;
    if (actions[i].run != cli_events_import)
        status = find_log(call, asked, &state);
    return status == EXIT_OK ? actions[i].run(asked) : status;
}

static void init(void *into)
{
    *(struct events_asked *)into = (struct events_asked){
        .selection = DB_SELECTION_ALL, .n = SHOWN, .at_ns = EVENTS_NOT_GIVEN, .seq = EVENTS_NOT_GIVEN};
}

static const struct option_action actions[] = {
    {"list", "[PATH]", "the segments: sequence numbers, times, sizes, what they hold",
     .need = OPTION_NEEDS_STATE, OPTION_LISTS, .run = run},
    {"verify", "[PATH]",
     "reads everything and checks every hash; names file, block and byte of the first fault, and "
     "exits 1",
     .need = OPTION_NEEDS_STATE, .run = run},
    {"show", "[PATH]",
     "what came in, in words, from a time or a sequence number on. Of a command: the account, amounts "
     "and prices",
     .needed = "at|seq", .need = OPTION_NEEDS_STATE, .run = run},
    {"export", "PATH",
     "recorded frames as lines `NANOSECONDS {json}`, depth snapshots among them; any other reply as `URL -> "
     "SECONDS.NANOSECONDS: {json}`. A log keeps a request's path, not whom it asked: URL is the public "
     "address of that path",
     .needed = "output", .run = run},
    {"import", "FILE...",
     "recordings (lines of text, plain or gzip) into a log that papertape-replay --recording plays",
     .needed = "output", .run = run},
};

static const struct option_row options[] = {
    SELECTED_PERIOD("segments that reach into the time", .of = "list"),
    {"at", "T", "from that time on", offsetof(struct events_asked, at_ns), cli_stored_take_time,
     .of = "show"},
    {"seq", "N", "from that sequence number on", offsetof(struct events_asked, seq), .of = "show", .low = 0,
     .high = INT64_MAX},
    {"n", "N", "so many events (20)", offsetof(struct events_asked, n), .of = "show", .low = 1,
     .high = INT64_MAX},
    {"output", "FILE",
     "where to: a file (gzip when its name ends in .gz; - is stdout), of import a directory",
     offsetof(struct events_asked, out), .of = "export import", .letter = 'o'},
};

static const struct option_refusal refused[] = {SELECTED_REFUSED_ACCOUNT(
    "the log has the inputs of all accounts; events show names the account of a command")};

CLI_VERB(cli_events) = {
    .name = "events",
    .words = "what the log holds: list, verify, show, export, import",
    .about = "The event log, every input of the engine: STATE/events, or PATH: a state directory, a log's "
             "directory, or one segment of it. There and back every frame is the same, byte for byte. With "
             "--json, papertape.events/1.",
    .page = "record",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    OPTION_REFUSED(refused),
    .size = sizeof(struct events_asked),
    .init = init,
};

/* ---- recordings ---- */

static int report(const struct events_asked *asked, int r, const struct convert_counts *counts,
                  const char *error)
{
    if (r < 0)
        return cli_stored_fail(EXIT_ERROR, asked->verb, "", error);
    fprintf(stderr, "papertape: %s: %llu frames, %llu replies", asked->verb,
            (unsigned long long)counts->frames, (unsigned long long)counts->replies);
    if (counts->late > 0)
        fprintf(stderr, "; %llu had a time before the line before them, and have its time now",
                (unsigned long long)counts->late);
    fputc('\n', stderr);
    return EXIT_OK;
}

int cli_events_export(const struct events_asked *asked)
{
    struct convert_counts counts;
    char error[CONVERT_ERROR_MAX];
    struct output output;
    if (cli_output_open(asked->verb, asked->out, &output) != EXIT_OK)
        return EXIT_ERROR;
    int fd = fcntl(fileno(output.file), F_DUPFD_CLOEXEC, 0);
    int r = fd < 0 ? fail_with(-errno, error, sizeof error, "%s", strerror(errno))
                   : replay_convert_export(asked->path, fd, asked->out, &counts, error);
    int status = r < 0 ? EXIT_OK : cli_output_commit(asked->verb, &output);
    cli_output_drop(&output);
    return status == EXIT_OK ? report(asked, r, &counts, error) : status;
}

int cli_events_import(const struct events_asked *asked)
{
    struct convert_counts counts;
    char error[CONVERT_ERROR_MAX];
    int r = replay_convert_import((const char *const *)asked->files, (size_t)asked->n_files, asked->out,
                                  &counts, error);
    return report(asked, r, &counts, error);
}
