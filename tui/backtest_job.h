/* A backtest that the dashboard started: `papertape backtest --account` as a child process, so that the
 * screen keeps running. One at a time. Never touches the screen. */
#ifndef TUI_BACKTEST_JOB_H
#define TUI_BACKTEST_JOB_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/child.h"
#include "tui/history.h"
#include "tui/status.h"

enum backtest_state { BACKTEST_NONE, BACKTEST_RUNNING, BACKTEST_DONE, BACKTEST_FAILED, BACKTEST_STOPPED };

/* The part of it that is shown. Figures are NaN, counts -1, where the report has none. */
struct backtest_view {
    enum backtest_state state;
    char account[ACCOUNT_NAME_MAX];
    int64_t started_ms, ended_ms; /* monotonic */
    double equity, return_pct, drawdown_pct, sharpe, win_rate_pct;
    int64_t trades, fills;
    char words[STATUS_TEXT_MAX];                     /* why it failed */
    struct history_equity curve[HISTORY_EQUITY_MAX]; /* going up in time; thinned, with its extremes */
    int n_curve;
};

struct backtest_job {
    struct tui_child child;
    char folder[PATH_MAX]; /* of its equity file, under TMPDIR; "" for none */
};

void tui_backtest_job_init(struct backtest_job *job);
/* Stops the one that runs, and waits for it. */
void tui_backtest_job_finish(struct backtest_job *job);

/* Starts one of the account's strategy over the bars that its daemon stored. 0; -EBUSY while one runs;
 * -errno; on failure `view` says why. */
int tui_backtest_job_start(struct backtest_job *job, const char *state_dir, const char *account,
                           int64_t mono_ms, struct backtest_view *view);
/* The same of any command line of the verb, argv[0] the program's name, n words. */
int tui_backtest_job_run(struct backtest_job *job, char *const *line, int n, const char *state_dir,
                         int64_t mono_ms, struct backtest_view *view);
void tui_backtest_job_stop(struct backtest_job *job, int64_t mono_ms, struct backtest_view *view);

/* Reads what has come without waiting; true when `view` has changed. Pipes to poll for input: the child's. */
bool tui_backtest_job_io(struct backtest_job *job, int64_t mono_ms, struct backtest_view *view);

/* Takes a report (papertape.backtest/1) and the CSV of --equity into the view. False when it is not a
 * report. */
bool tui_backtest_view_take(struct backtest_view *view, const char *report, const char *equity_path);

#endif
