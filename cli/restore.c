#include "cli/restore.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/stored.h"
#include "cli/verbs.h"
#include "daemon/rebuild.h"
#include "exchange/early_stop.h"
#include "exchange/exit_status.h"
#include "exchange/venues.h"

struct asked {
    bool from_events;
};

static int print(const struct option_call *call, const struct state_dir *state,
                 const struct restore_result *result)
{
    char time[STORED_CELL], path[STATE_PATH_MAX + sizeof "/" BACKUP_CONFIG];
    snprintf(path, sizeof path, "%s/" BACKUP_CONFIG, state->path);
    bool configured = access(path, F_OK) == 0;
    if (call->json)
        return cli_stored_print("restore",
                                json_pack("{s:s, s:s, s:I, s:I, s:I, s:i, s:I, s:s, s:I, s:b, s:b}", "schema",
                                          "papertape.restored/1", "state", state->path, "created_ns",
                                          (json_int_t)result->created_ns, "event", (json_int_t)result->event,
                                          "log_event", (json_int_t)result->log_event, "files", result->files,
                                          "ledger_rows", (json_int_t)result->ledger_rows, "hash",
                                          result->hash, "bytes", (json_int_t)result->bytes, "older",
                                          result->older, "configured", configured),
                                15);
    printf("%s: %d files, %.1f MB, of %s, up to event %" PRIu64 "\n", state->path, result->files,
           (double)result->bytes / 1e6, cli_stored_time(STORED_TABLE, time, result->created_ns),
           result->event);
    printf("ledger %s: %" PRIu64 " rows\nhash %s\n", result->older ? "not verified yet" : "ok",
           result->ledger_rows, result->hash);
    if (!configured)
        puts("no configuration in it");
    if (result->older)
        puts(
            "its database is of an older version, which the next start migrates: `papertape ledger verify` then");
    return EXIT_OK;
}

/* The state that is named, or where a daemon of this user would have it: never one that was found. */
static int find_state(struct option_call *call, struct state_dir *ret)
{
    char err[DB_ERROR_MAX];
    int r = db_state_dir_find(call->state, ret, err, sizeof err);
    return r < 0 ? option_fail(call, r == -EINVAL ? EXIT_USAGE : EXIT_ERROR, "%s", err) : EXIT_OK;
}

static int rebuild(const struct option_call *call, const struct state_dir *state)
{
    struct rebuild_result result;
    char err[BACKUP_ERROR_MAX];
    int r = daemon_rebuild_state(state, venue_default()->format->name, early_stop_flag(), &result, err,
                                 sizeof err);
    if (r < 0)
        return cli_stored_fail(r == -ECANCELED ? EXIT_ERROR : exit_status_of_start(r), "restore", "", err);
    if (call->json)
        return cli_stored_print("restore",
                                json_pack("{s:s, s:s, s:I, s:I, s:b, s:s}", "schema", "papertape.rebuilt/1",
                                          "state", state->path, "event", (json_int_t)result.event_seq,
                                          "whole_from", (json_int_t)result.base_seq, "lost_money",
                                          result.lost_money, "text", result.text),
                                15);
    puts(result.text);
    return EXIT_OK;
}

static int run(struct option_call *call)
{
    const struct asked *asked = call->into;
    struct restore_result result;
    struct state_dir state;
    char err[BACKUP_ERROR_MAX] = "";
    if (asked->from_events && call->n > 0)
        return option_fail(call, EXIT_USAGE, "one of both is right: a backup, or --from-events");
    if (!asked->from_events && call->n == 0)
        return option_fail(call, EXIT_USAGE,
                           "a backup, or --from-events, is needed, as: restore backup.tar.zst");
    int status = find_state(call, &state);
    if (status != EXIT_OK)
        return status;
    early_stop_catch();
    if (asked->from_events)
        return rebuild(call, &state);
    int r =
        cli_restore_state(call->arguments[0], state.path, false, early_stop_flag(), &result, err, sizeof err);
    return r < 0 ? cli_stored_fail(EXIT_ERROR, "restore", "", err) : print(call, &state, &result);
}

static const struct option_action actions[] = {{.arguments = "[PATH]", .run = run}};

static const struct option_row options[] = {
    {"from-events", NULL,
     "instead of a backup: builds the database of the state again from its event log and what can be read of "
     "the present file, which is kept; no daemon may run on it",
     offsetof(struct asked, from_events)},
};

CLI_VERB(cli_restore) = {
    .name = "restore",
    .words = "puts a backup into a new state, or builds the database again",
    .about =
        "Restores a backup of `papertape backup` into a state directory that does not exist or is empty. "
        "Everything is compared with the backup's list of hashes first; what was unpacked is verified as "
        "`ledger verify` and `events verify` do, and takes its place once it is on the disk: else there "
        "is no state. Without --state it is the caller's own, never one that was found. The configuration of "
        "then, if the backup has one, is papertaped.ini in it. What an upgrade of the schema kept is restored by "
        "the name of its folder, former/schema-N of the state. With --json papertape.restored/1, of --from-events "
        "papertape.rebuilt/1.",
    .exits = "1: nothing was restored.",
    .page = "record",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct asked),
};
