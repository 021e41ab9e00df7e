/* Starts and stops sweeps: `papertape sweep` in a session of its own, which outlives the dashboard, with its
 * output in files (tui/sweep_files.h). And the short questions before one: what a strategy's parameters are,
 * and how long the sweep will take. Never touches the screen. */
#ifndef TUI_SWEEP_JOB_H
#define TUI_SWEEP_JOB_H

#include "tui/backtest_job.h"
#include "tui/child.h"
#include "tui/sweep_files.h"
#include "tui/sweep_form.h"

enum { SWEEP_OWN_MAX = 64 };

struct sweep_job {
    pid_t own[SWEEP_OWN_MAX]; /* [n_own] that were started here, and wait to be reaped */
    int n_own;
    struct tui_child child;  /* of a question */
    bool describes;          /* which: else how long it takes */
    struct backtest_job run; /* of one set */
};

void tui_sweep_job_init(struct sweep_job *job);
/* Ends the question and the run; sweeps continue. */
void tui_sweep_job_finish(struct sweep_job *job);

/* Starts one of these values (with paths that exist made absolute) in a new folder, or, where `id` is not "",
 * again in that one: what it has done already is kept. 0 with its id; -EBUSY: it runs; -errno, with a
 * sentence.
 */
int tui_sweep_job_start(struct sweep_job *job, const json_t *fields, const char *state_dir,
                        char id[static SWEEP_ID_MAX], char words[static SWEEP_COMPLAINT_MAX]);

/* Asks a running one to stop: what it has done is written. False: it does not run, or may not be signalled.
 */
bool tui_sweep_job_stop(const struct sweep_entry *entry);

/* Removes the folder of one that does not run. 0 or -errno. */
int tui_sweep_job_remove(const char *id);

/* Takes the exit statuses of those that have ended. */
void tui_sweep_job_reap(struct sweep_job *job);

/* Questions: one at a time, the one before is ended. 0 or -errno. */
int tui_sweep_job_describe(struct sweep_job *job, const char *strategy);
int tui_sweep_job_plan(struct sweep_job *job, const json_t *fields, const char *state_dir);

#endif
