#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cli/backup_outcome.h"
#include "cli/backup_part.h"
#include "cli/backup_rotate.h"
#include "cli/backup_state.h"
#include "cli/restore.h"
#include "cli/running.h"
#include "cli/service.h"
#include "cli/stored.h"
#include "cli/verbs.h"
#include "exchange/clock.h"
#include "exchange/early_stop.h"
#include "exchange/exit_status.h"
#include "exchange/fail.h"
#include "exchange/folder.h"

struct asked {
    const char *config;
    int64_t keep; /* 0: not asked for */
    bool drill;
};

struct backup {
    const struct asked *asked;
    struct state_dir state;
    char path[PATH_MAX]; /* of the backup */
    char err[BACKUP_ERROR_MAX];
    struct cli_service service; /* that keeps the state */
    const char *config;         /* the file that went into it; NULL: none */
    struct backup_outcome outcome;
    uint64_t log_event;
    size_t removed;
};

/* As asked, else the running daemon's, else that of the service that keeps the state; NULL: none. */
static const char *config_of(struct backup *backup)
{
    struct daemon_config_given given = {0};
    pid_t holder = 0;
    const char *file = NULL;
    if (backup->asked->config)
        return backup->asked->config;
    if (db_state_dir_holder(&backup->state, &holder) == 1 && cli_running_is_own(holder) &&
        cli_running_given(holder, &given))
        file = given.file;
    else if (cli_service_of(&backup->state, &backup->service))
        file = backup->service.config;
    return file && access(file, F_OK) == 0 ? file : NULL;
}

static int write_backup(struct backup *backup)
{
    struct backup_sink *sink = malloc(sizeof *sink);
    int r = sink ? cli_backup_sink_open(sink, backup->path, early_stop_flag())
                 : fail_with(-ENOMEM, backup->err, sizeof backup->err, "out of memory");
    if (r == 0) {
        sink->manifest.created_ns = backup->outcome.begin_ns;
        backup->config = config_of(backup);
        r = cli_backup_state(sink, &backup->state, backup->config);
        backup->outcome.event = sink->manifest.moment.event;
        backup->outcome.bytes = sink->bytes;
        backup->outcome.files = (int)json_object_size(sink->manifest.files);
        backup->log_event = sink->manifest.log_event;
        r = cli_backup_sink_close(sink, r);
    }
    if (r < 0 && sink)
        snprintf(backup->err, sizeof backup->err, "%s", sink->err);
    else if (r == 0 && !backup->config)
        fputs("papertape: backup: no configuration in it: --config FILE names one\n", stderr);
    free(sink);
    return r;
}

/* Does that say something of the archive, not of this machine? */
static bool is_unsound(int r)
{
    return r == -EBADMSG || r == -EMEDIUMTYPE;
}

/* Restores it into a scratch folder beside it, which is removed again. */
static int drill(struct backup *backup)
{
    struct restore_result result;
    char scratch[PATH_MAX + sizeof BACKUP_DRILL_ENDING], err[BACKUP_ERROR_MAX];
    snprintf(scratch, sizeof scratch, "%s" BACKUP_DRILL_ENDING, backup->path);
    int r = folder_remove(scratch);
    r = r < 0 ? fail_with(r, err, sizeof err, "%s: %s", scratch, strerror(-r))
              : cli_restore_state(backup->path, scratch, true, early_stop_flag(), &result, err, sizeof err);
    if (r < 0) {
        if (is_unsound(r))
            (void)cli_backup_failed(backup->path, backup->path);
        snprintf(backup->err, sizeof backup->err, "%s: it was written, and %s: %.400s", backup->path,
                 is_unsound(r) ? "cannot be restored" : "the drill could not be made", err);
    } else if ((r = folder_remove(scratch)) < 0) {
        fail_with(r, backup->err, sizeof backup->err, "%s: %s", scratch, strerror(-r));
    }
    backup->outcome.drilled = r == 0;
    return r;
}

static int find_path(struct backup *backup, const char *given)
{
    if (strlen(given) >= PATH_MAX - BACKUP_NAME_MAX)
        return fail_with(-ENAMETOOLONG, backup->err, sizeof backup->err, "%.64s…: %s", given,
                         strerror(ENAMETOOLONG));
    size_t len = strlen(given), ending = strlen(BACKUP_ARCHIVE_ENDING);
    if (backup->asked->keep > 0 && len >= ending && strcmp(given + len - ending, BACKUP_ARCHIVE_ENDING) == 0)
        return fail_with(-EINVAL, backup->err, sizeof backup->err,
                         "%s: with --keep a folder is needed, not an archive's name", given);
    if (backup->asked->keep == 0) {
        snprintf(backup->path, sizeof backup->path, "%s", given);
        return 0;
    }
    int r = cli_backup_dated(given, backup->outcome.begin_ns, backup->path);
    return r < 0 ? fail_with(r, backup->err, sizeof backup->err, "%s: %s", given, strerror(-r)) : 0;
}

static int make(struct backup *backup, const char *given)
{
    int r = write_backup(backup);
    if (r == 0 && backup->asked->drill)
        r = drill(backup);
    if (r == 0 && backup->asked->keep > 0) /* only behind a good one */
        r = cli_backup_rotate(given, backup->path, (size_t)backup->asked->keep, &backup->removed, backup->err,
                              sizeof backup->err);
    return r;
}

/* ---- what is printed ---- */

static int print(const struct option_call *call, const struct backup *backup)
{
    const struct backup_outcome *outcome = &backup->outcome;
    double seconds = (double)(outcome->end_ns - outcome->begin_ns) / 1e9;
    if (call->json)
        return cli_stored_print("backup",
                                json_pack("{s:s, s:s, s:s?, s:I, s:I, s:i, s:I, s:f, s:b, s:I}", "schema",
                                          "papertape.backup_made/1", "file", backup->path, "configuration",
                                          backup->config, "event", (json_int_t)outcome->event, "log_event",
                                          (json_int_t)backup->log_event, "files", outcome->files, "bytes",
                                          (json_int_t)outcome->bytes, "seconds", seconds, "drilled",
                                          outcome->drilled, "removed", (json_int_t)backup->removed),
                                6);
    printf("%s: %d files, %.1f MB, up to event %" PRIu64 ", in %.1f s\n", backup->path, outcome->files,
           (double)outcome->bytes / 1e6, outcome->event, seconds);
    if (outcome->drilled)
        puts("restored into a scratch folder and verified");
    if (backup->removed > 0)
        printf("%zu older removed\n", backup->removed);
    return EXIT_OK;
}

/* Trading comes first, also where no unit says so. */
static void yield_to_others(void)
{
    enum { WHO_PROCESS = 1, CLASS_IDLE = 3, CLASS_SHIFT = 13, NICE = 19 }; /* linux/ioprio.h */
    setpriority(PRIO_PROCESS, 0, NICE);
    syscall(SYS_ioprio_set, WHO_PROCESS, 0, CLASS_IDLE << CLASS_SHIFT);
}

/* What the caller asked for cannot be: this says nothing of the state's backups, as long as a person sees it,
 * who keeps no dated ones. 0 or -errno. */
static int check_asked(struct backup *backup, const char *given)
{
    const char *config = backup->asked->config;
    char folder[PATH_MAX];
    int r = find_path(backup, given);
    if (r < 0 || backup->asked->keep > 0)
        return r;
    snprintf(folder, sizeof folder, "%s", backup->path);
    if (access(backup->path, F_OK) == 0)
        return fail_with(-EEXIST, backup->err, sizeof backup->err, "%s: exists", backup->path);
    if (access(dirname(folder), W_OK) < 0)
        return fail_with(-errno, backup->err, sizeof backup->err, "%s: %s", backup->path, strerror(errno));
    if (config && access(config, R_OK) < 0)
        return fail_with(-errno, backup->err, sizeof backup->err, "%s: %s", config, strerror(errno));
    return 0;
}

/* The outcome's file, wherever who reads it is. */
static void put_absolute(const char *path, char ret[static 2 * PATH_MAX])
{
    char here[PATH_MAX];
    if (path[0] != '/' && getcwd(here, sizeof here))
        snprintf(ret, 2 * PATH_MAX, "%s/%s", here, path);
    else
        snprintf(ret, 2 * PATH_MAX, "%s", path);
}

/* In the state, if this user may write there: another one's backup is as good. False: it could not. */
static bool note(struct backup *backup, int r)
{
    struct backup_outcome *outcome = &backup->outcome;
    char file[2 * PATH_MAX];
    put_absolute(backup->path, file);
    outcome->end_ns = clock_wall_ns();
    outcome->file = file;
    outcome->error = r < 0 ? backup->err : NULL;
    int noted = cli_backup_outcome_write(&backup->state, outcome);
    if (noted == 0 || noted == -EACCES || noted == -EROFS || noted == -EPERM)
        return true;
    fprintf(stderr, "papertape: backup: %s/" BACKUP_OUTCOME ": %s\n", backup->state.path, strerror(-noted));
    return false;
}

static int run(struct option_call *call)
{
    struct backup *backup = calloc(1, sizeof *backup);
    if (!backup)
        return option_fail(call, EXIT_ERROR, "out of memory");
    backup->asked = call->into;
    backup->outcome.begin_ns = clock_wall_ns();
    int status = EXIT_OK,
        r = db_state_dir_resolve(call->state, &backup->state, backup->err, sizeof backup->err);
    if (r < 0) {
        status = option_fail(call, r == -EINVAL ? EXIT_USAGE : EXIT_ERROR, "%s", backup->err);
    } else if (access(backup->state.database, F_OK) < 0 && errno == ENOENT) {
        status = option_fail(call, EXIT_NO_DAEMON, "%s: " DB_NOT_YET("database", "papertaped"),
                             backup->state.database);
    } else {
        early_stop_catch(); /* what is half written is removed */
        yield_to_others();
        r = check_asked(backup, call->arguments[0]);
        bool asked_wrong = r < 0 && (backup->asked->keep == 0 || r == -EINVAL);
        r = r < 0 ? r : make(backup, call->arguments[0]);
        bool noted = asked_wrong || r == -ECANCELED || note(backup, r);
        status = r < 0 ? cli_stored_fail(EXIT_ERROR, "backup", "", backup->err) : print(call, backup);
        status = noted ? status : EXIT_ERROR;
    }
    free(backup);
    return status;
}

static const struct option_action actions[] = {
    {.arguments = "PATH", .example = "backup.tar.zst", .need = OPTION_NEEDS_STATE, .run = run}};

static const struct option_row options[] = {
    {"config", "FILE",
     "the configuration that goes with it; else that of the running daemon, or of the service's state, the "
     "service's " SERVICE_FILE "; without one a line on stderr says so",
     offsetof(struct asked, config)},
    {"keep", "N",
     "PATH is a folder: writes an archive there with its date as name, and then removes all but the N newest "
     "of these",
     offsetof(struct asked, keep), .low = 1, .high = 100000},
    {"drill", NULL, "restores it into a scratch folder beside it, verifies that, and removes it again",
     offsetof(struct asked, drill)},
};

CLI_VERB(cli_backup) = {
    .name = "backup",
    .words = "copies the state, while the daemon runs, into an archive or a folder",
    .about =
        "Backs up a state directory, while the daemon and trainings run: the database as it is at one moment, "
        "the event log up to the event of that moment, the other databases, policies, checkpoints, trainings "
        "and studies, the configuration, and manifest.json, a list of sizes and hashes. Never keys, locks "
        "and sockets. PATH is an archive where its name ends in .tar.zst, as tar --zstd reads it, else a "
        "new folder; it gets its name once it is complete and on the disk. The state's backup.json says what "
        "became of the last backup. With --json papertape.backup_made/1.",
    .exits =
        "1: it failed, and left nothing; or the drill, and the backup is there, as PATH.failed where it was found to be "
        "damaged; or the removal of older ones or the writing of backup.json, and the backup is there.",
    .page = "record",
    OPTION_ACTIONS(actions),
    OPTION_OPTIONS(options),
    .size = sizeof(struct asked),
};
