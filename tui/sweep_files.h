/* The sweeps that a dashboard started, as files: each has a folder in
 * $XDG_CACHE_HOME/papertape/dashboard-sweeps, which is found again by any dashboard of that user, while the
 * sweep runs and after it.
 *
 * In it are `fields.json`, the form's values and when it was started; `lock`, which the sweep's process holds
 * as long as it lives, and `pid`, its number; `progress`, its standard error: lines of
 * papertape.sweep_progress/1, and what it complains of; `result.json`, papertape.sweep/1; and `rows.csv`,
 * every set, as --csv writes it. What is here reads; tui/sweep_job.h writes. Never touches the screen. */
#ifndef TUI_SWEEP_FILES_H
#define TUI_SWEEP_FILES_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/sweep_run.h"
#include "engine/backtest/sweep.h"
#include "strategy/params.h"

enum {
    SWEEP_ENTRIES_MAX = 256, /* the newest are listed */
    SWEEP_ID_MAX = 32,
    SWEEP_SENTENCES = 3,
    SWEEP_RULE_MAX = 128,
    SWEEP_COMPLAINT_MAX = 400,
};

enum sweep_state { SWEEP_RUNNING, SWEEP_DONE, SWEEP_STOPPED, SWEEP_FAILED };
const char *tui_sweep_state_word(enum sweep_state state);

/* As its last line has it; done -1: there is none yet. Figures NaN, texts "": it has none. */
struct sweep_so_far {
    int64_t done, of;
    double seconds, left_s, value;
    int64_t trades;
    char stage[16], set[SWEEP_VALUES_MAX], metric[SWEEP_METRIC_NAME_MAX];
};

/* The figures of papertape.sweep/1 that a list shows. Counts -1, figures NaN: not known. */
struct sweep_outcome {
    int64_t runs, combinations, few;
    bool screened;
    int64_t exact;                               /* of its runs */
    int64_t periods, period_days, periods_above; /* of the best on them; periods 0: none */
    double period_median;
    double dsr, sharpe, pbo, seconds;
    char universe[SWEEP_RULE_MAX]; /* its rule; "" */
    char verdict[24], metric[SWEEP_METRIC_NAME_MAX];
    char sentences[SWEEP_SENTENCES][SWEEP_WORDS_MAX]; /* as the verb says them; "" */
};

struct sweep_entry {
    char id[SWEEP_ID_MAX]; /* the folder's name */
    int64_t started_ns;
    json_t *fields; /* owned */
    enum sweep_state state;
    pid_t pid; /* 0: not known */
    struct sweep_so_far so_far;
    struct sweep_outcome outcome;
    char complaint[SWEEP_COMPLAINT_MAX]; /* why it failed; "" */
    bool settled;                        /* it has ended, and was read */
};

/* Newest first. All zero is an empty one. */
struct sweep_list {
    struct sweep_entry entries[SWEEP_ENTRIES_MAX];
    int n;
    char words[SWEEP_COMPLAINT_MAX]; /* why they cannot be read; "" */
};

/* The folder of all, and the path of a file of one ("": its folder). False: there is no place for it. */
bool tui_sweep_folder(char ret[static PATH_MAX]);
bool tui_sweep_path(const char *id, const char *file, char ret[static PATH_MAX]);

/* Reads what is there; of those that are listed already what has changed. True: something has. */
bool tui_sweep_list_read(struct sweep_list *list);
void tui_sweep_list_finish(struct sweep_list *list);
struct sweep_entry *tui_sweep_list_find(const struct sweep_list *list, const char *id); /* or NULL */
const char *tui_sweep_entry_field(const struct sweep_entry *entry, const char *name);   /* "": it has none */

/* What of papertape.sweep/1 is in it. */
void tui_sweep_outcome_take(struct sweep_outcome *outcome, const json_t *result);

/* sweep_asked.c: its samples, screen, periods and universe in a line, and what they gave once it has ended;
 * "" where it has none of them. Returns buf. */
const char *tui_sweep_entry_asked(const struct sweep_entry *entry, char *buf, size_t size);

/* Does a process hold its lock? */
bool tui_sweep_is_running(const char *id);

/* A row of the table, in the order of the result. NaN: n/a; shares in percent. */
struct sweep_row {
    int rank;                   /* from 1 */
    char set[SWEEP_VALUES_MAX]; /* "fast=5 slow=20" */
    double metric, dsr, return_pct, sharpe, drawdown_pct, fees_twice, more_slippage;
    int64_t trades, beside, beside_hold;
};

/* Every set of rows.csv. */
enum { SWEEP_RUN_METRICS = SWEEP_DSR + 1, SWEEP_RUNS_MOST = 100000 /* that are read, the best */ };
struct sweep_run_row {
    double metrics[SWEEP_RUN_METRICS];  /* by enum sweep_metric; shares in percent; NaN: n/a */
    double values[STRATEGY_PARAMS_MAX]; /* of each axis; of words their place in its `words` */
    double equity;
    int64_t trades;
};
struct sweep_axis_names {
    char name[STRATEGY_PARAM_NAME_MAX];
    char words[STRATEGY_WORDS_MAX][STRATEGY_WORD_MAX]; /* [n_words], in the order of the rows */
    int n_words;                                       /* 0: numbers */
};

struct sweep_detail {
    char id[SWEEP_ID_MAX];  /* whose it is; "": of no sweep */
    struct sweep_row *rows; /* [n_rows], owned */
    int n_rows;
    bool has_metric;               /* the table has a column for what they are ordered by: it has no other */
    struct sweep_axis_names *axes; /* [n_axes], owned */
    int n_axes;
    struct sweep_run_row *runs; /* [n_runs], owned: best first */
    size_t n_runs;
    char words[SWEEP_COMPLAINT_MAX]; /* what could not be read; "" */
};

/* Reads both files of an ended sweep. 0 or -errno, and words. */
int tui_sweep_detail_read(struct sweep_detail *detail, const struct sweep_entry *entry);
void tui_sweep_detail_finish(struct sweep_detail *detail);

/* The set of a run as the command line takes it, and one of its values. */
const char *tui_sweep_run_set(const struct sweep_detail *detail, const struct sweep_run_row *run,
                              char ret[static SWEEP_VALUES_MAX]);
const char *tui_sweep_value(const struct sweep_axis_names *axis, double value,
                            char ret[static STRATEGY_WORD_MAX]);

#endif
