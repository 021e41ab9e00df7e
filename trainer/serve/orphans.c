/* What a former co-process left: records, and workers that may still live. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/clock.h"
#include "exchange/fail.h"
#include "exchange/whole_file.h"
#include "trainer/serve/internal.h"

/* The orphaned worker; 0: unknown. */
pid_t serve_orphans_pid(const struct serve_training *training)
{
    char path[PATH_MAX + 16];
    struct process process;
    const struct training_record *record = &training->record;
    if (record->pid > 0 && strcmp(record->boot, training->serve->boot) == 0 &&
        serve_process_look(record->pid, &process) && process.started == record->pid_started)
        return record->pid;
    snprintf(path, sizeof path, "%s/worker.lock", training->folder);
    return serve_process_holder(path);
}

/* Looks after an orphaned worker: nothing reads its pipe, so that its next line fails (EPIPE) and
 * it stops. */
void serve_orphans_look(struct serve_training *training)
{
    if (serve_worker_lives(training->folder)) {
        if (training->asked_ms == 0 && training->record.ending == ENDING_NONE)
            serve_run_ask(training, ENDING_SHUTDOWN);
        else if (training->asked_ms == 0) /* the former co-process had asked it */
            training->asked_ms = serve_now_ms(training->serve);
        if (training->grace_ms == 0)
            training->grace_ms = training->serve->options->grace_ms;
        return;
    }
    training->orphaned = false;
    training->place = SCHEDULE_CPU;
    training->record.pid = 0;
    if (training->record.ending == ENDING_SHUTDOWN)
        training->record.ending = ENDING_NONE;
    serve_run_end_as_asked(training);
    training->record.ending = ENDING_NONE;
    training->asked_ms = 0;
    training->killed = false;
    serve_queue_save(training);
}

/* ---- Records. ---- */

static int place_of(const struct serve *serve, const char *device)
{
    for (int i = 0; i < serve->options->n_devices; i++)
        if (strcmp(serve->options->devices[i], device) == 0)
            return i;
    return SCHEDULE_CPU;
}

static void take_over(struct serve_training *training)
{
    struct training_record *record = &training->record;
    char err[CONFIG_ERROR_MAX];
    bool readable = serve_training_wants_read(record->config, &training->wants, err) == 0;
    if (!serve_training_state_ended(record->state) && !serve_queue_open_events(training))
        training->serve->options->log("events cannot be kept: the disk has no room, or is read only");
    if (serve_training_state_runs(record->state)) {
        training->orphaned = true;
        training->limit_mib = serve_queue_wanted_mib(training);
        training->place = place_of(training->serve, record->device);
    } else if (!readable && !serve_training_state_ended(record->state)) {
        serve_training_enter(training, TRAINING_FAILED, "config", clock_wall_ns(), "%.500s", err);
        serve_queue_save(training);
    }
}

/* A folder whose record cannot be read is shown as failed, and left as it is. */
static void show_broken(struct serve_training *training, const char *why)
{
    struct stat st;
    struct training_record *record = &training->record;
    record->created_ns = stat(training->folder, &st) == 0 ? (int64_t)st.st_mtim.tv_sec * 1000000000 : 1;
    record->ended_ns = record->created_ns;
    record->state = TRAINING_FAILED;
    record->config = strdup("");
    char reason[TRAINING_RECORD_REASON_MAX];
    snprintf(reason, sizeof reason, "%.400s; start it again with overwrite", why);
    serve_training_record_text(record->reason, sizeof record->reason, reason);
    training->serve->options->log(why);
}

/* Removes temporary files of a killed writer. */
static void sweep(const char *folder)
{
    static const char *const names[] = {"record.json", "training.ini", "events.jsonl"};
    DIR *dir = opendir(folder);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            size_t n = strlen(names[i]);
            if (strncmp(entry->d_name, names[i], n) == 0 &&
                whole_file_is_rest(entry->d_name + n, TRAINING_TEMPORARY))
                (void)unlinkat(dirfd(dir), entry->d_name, 0);
        }
    closedir(dir);
}

static int load_one(struct serve *serve, const char *name, char err[static SERVE_ERROR_MAX])
{
    char path[2 * PATH_MAX], why[TRAINING_RECORD_ERROR_MAX];
    struct training_record record;
    snprintf(path, sizeof path, "%s/%s/record.json", serve->folder, name);
    int r = serve_training_record_read(path, &record, why);
    if (r == -ENOENT || r == -ENOTDIR) /* never acknowledged */
        return 0;
    struct serve_training *training = serve_training_create(serve->folder, name, why);
    if (!training) {
        if (r == 0)
            serve_training_record_finish(&record);
        return fail_with(-ENOMEM, err, SERVE_ERROR_MAX, "%s", why);
    }
    training->serve = serve;
    sweep(training->folder);
    if (r == 0 && strcmp(record.name, name) == 0) {
        training->record = record;
        /* The former co-process may have been killed before its rename was on the disk: until it is, no key
         * of the record may answer a repeat. */
        if (whole_file_sync_folder(path) < 0)
            serve_queue_save(training);
        take_over(training);
    } else {
        if (r == 0)
            serve_training_record_finish(&record);
        show_broken(training, r < 0 ? why : "record.json is of a training of another name");
    }
    serve_queue_add(serve, training);
    return 0;
}

int serve_orphans_load(struct serve *serve, char err[static SERVE_ERROR_MAX])
{
    DIR *folder = opendir(serve->folder);
    int r = 0;
    if (!folder) {
        r = -errno;
        snprintf(err, SERVE_ERROR_MAX, "%.300s: cannot be read: %s", serve->folder, strerror(-r));
        return r;
    }
    for (struct dirent *entry; r == 0 && (entry = readdir(folder));)
        if (serve_training_record_name_is_good(entry->d_name))
            r = load_one(serve, entry->d_name, err);
    closedir(folder);
    return r;
}
