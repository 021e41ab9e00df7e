/* One study from its configuration to its proposal. */
#ifndef TRAINER_COMMAND_STUDY_RUN_H
#define TRAINER_COMMAND_STUDY_RUN_H

#include <limits.h>

#include "db/studies/store.h"
#include "trainer/command/study_args.h"
#include "trainer/command/study_machine.h"
#include "trainer/study/artifacts.h"
#include "trainer/study/supervise.h"
#include "trainer/telemetry/report.h"

enum { STUDY_URL_MAX = PATH_MAX };

struct study_run {
    const struct study_args *args;
    struct report report;
    char *text;                            /* of the configuration */
    struct train_config config, of_worker; /* of_worker: with its share of the machine */
    struct study_settings settings;
    bool has_settings, there; /* there: the study existed before this run */
    int64_t now_ns;
    int wanted;        /* the study's trials, where --resume takes them; 0: the configuration's */
    uint64_t said[16]; /* hashes of the artifact store's warnings: each is printed once */
    unsigned n_said;
    char url[STUDY_URL_MAX], folder[PATH_MAX];
    struct study *study; /* as last read */
    struct study_market *market;
    int workers;
    struct study_machine machine;
    struct study_progress last; /* its pointer to the study is no longer valid */
    double best;
    int best_number; /* -1: none */
    json_t *proposal;
    struct artifact_store *artifacts; /* NULL: none */
    struct study_store_waits waits;   /* of its storage */
};

/* Where it is kept, as it may be shown: a file as it was given, a server without its password. For free(). */
char *trainer_study_storage(const struct study_run *run);

/* The events. */
void trainer_study_started(struct study_run *run);
void trainer_study_trial(struct study_run *run, const struct study_trial *trial,
                         const struct study_progress *figures);
void trainer_study_looked(struct study_run *run,
                          const struct study_progress *figures); /* the line on a terminal */
void trainer_study_proposed(struct study_run *run);
void trainer_study_report_judged(struct study_run *run, json_t *proposal); /* another member's proposal */
void trainer_study_ended(struct study_run *run, const char *result, const char *cause);
/* A line on stderr, the events of an error and of the end; EXIT_FAILURE. */
__attribute__((format(printf, 3, 4))) int trainer_study_failed(struct study_run *run, const char *cause,
                                                               const char *format, ...);
/* The same where stderr already has the line. */
int trainer_study_failed_printed(struct study_run *run, const char *cause, const char *words);

/* study_end.c. All but warn and is_stopped: the exit status of a run that has ended, with its last event. */

void trainer_study_warn(void *ctx, const char *words); /* `ctx`: the run */
/* Was it asked to end, or is no reader of its output left? */
bool trainer_study_is_stopped(void *ctx);
int trainer_study_stopped(struct study_run *run);
/* By an -errno of its storage. One that does not answer keeps no run that was asked to end. */
int trainer_study_storage_failed(struct study_run *run, int error, const char *words);
/* All is done. Files that wait are lost where the state does not outlive this machine's job. */
int trainer_study_done(struct study_run *run);

/* study_config.c; GO_ON, or the exit status after an error. */

int trainer_study_find_places(struct study_run *run, const char *state);
/* A URL that no start finds right: the units do not repeat it. */
int trainer_study_check_storage(struct study_run *run);
int trainer_study_make_places(struct study_run *run);
/* The configuration, with what the command line says instead; once more after another process has created the
 * study. */
int trainer_study_take_config(struct study_run *run);
/* Writes it to `path`: 0, -errno. */
int trainer_study_write_text(const struct study_run *run, const char *path);

/* study_propose.c; likewise. */

/* The earlier proposal, of this machine, or else of another. */
int trainer_study_take_earlier(struct study_run *run);
int trainer_study_propose(struct study_run *run);

/* Its artifact store (trainer/study/artifacts.h); GO_ON, or the exit status after an error. Without a store
 * nothing. */

/* The URL that was given, before anything is stored. */
int trainer_study_artifacts_open(struct study_run *run);
/* Without one, the URL of run->study; what is in the spool is uploaded. */
int trainer_study_artifacts_begin(struct study_run *run);
/* Tries the store that was given, before anything of the study is stored there. */
int trainer_study_artifacts_check(struct study_run *run);
/* What is in the spool, once more: how many files stay there. */
int trainer_study_artifacts_resume(struct study_run *run);
/* What this machine lacks of its trials and the members'. */
int trainer_study_artifacts_fetch(struct study_run *run, struct study_members *others, const char *folders);
/* EXIT_SUCCESS: proposal.json is another machine's now. */
int trainer_study_artifacts_earlier(struct study_run *run);
/* Uploads the proposal that was made. */
int trainer_study_artifacts_propose(struct study_run *run);
/* Deletes old runs' files there. */
void trainer_study_artifacts_forget(struct study_run *run);

/* Reports its proposal, once it is judged over all trials that the study has by now, and judges and reports
 * those of the study's other members; it may be stopped between two. What cannot be judged is a warning. 0,
 * or -errno of the storage with a sentence. */
int trainer_study_judge(struct study_run *run, char err[static STUDY_ERROR_MAX]);

#endif
