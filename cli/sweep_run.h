/* A sweep's runs and their results, for its printers. */
#ifndef CLI_SWEEP_RUN_H
#define CLI_SWEEP_RUN_H

#include <jansson.h>
#include <stdio.h>

#include "cli/run_args.h"
#include "engine/backtest/luck.h"
#include "engine/backtest/sweep_file.h"

/* Costs that the best are run with again: takers' and makers' fees times so much, and so much more slippage.
 */
#define SWEEP_FEES_TIMES 2
#define SWEEP_SLIPPAGE   0.0005
enum { SWEEP_COSTS_FEES, SWEEP_COSTS_SLIPPAGE, SWEEP_COSTS };

enum {
    SWEEP_MIN_TRADES = DEFLATE_LUCK_TRADES,
    SWEEP_ASK_S = 60 /* a sweep that takes longer is asked about */
};

/* Periods that the listed runs are run on, too: --periods K of --period-days N. */
struct sweep_periods {
    int64_t n, days; /* 0: none */
    bool ran;
    size_t rows;    /* of each */
    size_t *from;   /* [n] its first row; drawn by sweep->sampling, and may overlap */
    double *sharpe; /* [shown][n] */
    /* Of each listed row; a period in which equity never moved has no Sharpe ratio and counts as 0. */
    struct sweep_period_figures {
        double median, worst; /* Sharpe ratio */
        size_t above;         /* periods in which it is above 0 */
        double share;         /* of all */
    } * figures;              /* [shown] */
};

struct sweep {
    struct run_args run;
    struct backtest_grid grid;
    enum sweep_metric metric;
    int64_t top; /* so many are listed */
    int64_t min_trades, samples, seed;
    const char *csv, *returns;
    const char *page;                  /* --report */
    bool chart;                        /* the same in characters */
    struct backtest_sampling sampling; /* of the sets, and of the periods */
    bool sampling_given;
    bool yes, fresh;
    bool screen;        /* only what may be among the `top` is run exactly */
    bool gpu;           /* screened on the device */
    bool progress;      /* lines of JSON on stderr */
    bool dry_run;       /* only how many sets there are, and how long they take */
    struct sweep_plan { /* of a dry run, once that is known */
        bool known;
        size_t tried, left;
        double seconds; /* for those that are left */
    } plan;
    bool kept;          /* what is done is on the disk, and the same command continues */
    int asked;          /* so often about the time that it takes */
    bool asked_screen;  /* about the screen's */
    bool screened;      /* what is left to run may be among the best */
    size_t times;       /* so many sweeps follow each other; 0: 1 */
    int64_t walk_ns[3]; /* in sample, out of sample, step; 0: no walk-forward */

    struct backtest_sets sets;
    struct sweep_results runs; /* by combination, then sorted, best first */
    struct backtest_luck luck;
    size_t shown;                            /* the first rows that have enough trades, at most `top` */
    struct backtest_beside *beside;          /* [shown] */
    struct sweep_result *costs[SWEEP_COSTS]; /* [shown]; NULL: not run */
    struct gpu_module *device;               /* NULL: none */
    struct market *market;
    struct market_load load;
    size_t from, to;
    double seconds, load_seconds;
    struct sweep_periods periods;
};

/* Loads the bars and runs all combinations, on all cores; an estimate of the time goes to stderr. An exit
 * status, with its line on stderr; EXIT_OK also where it was stopped. */
int cli_sweep_run(struct sweep *sweep);

/* One sweep of the loaded market on its rows [from, to), into sweep->runs, with luck and order. The same. */
int cli_sweep_rows(struct sweep *sweep, const struct backtest_config *config,
                   const struct account_spec *base);

/* sweep_judge.c: what stands beside the best, once they are in order: neighbours, other costs. */
int cli_sweep_judge(struct sweep *sweep, const struct backtest_config *config,
                    const struct account_spec *base);

/* sweep_periods.c: runs them; nothing without --periods. An exit status. What is printed of them, and added
 * to the object of --json and each row of `top`. */
int cli_sweep_periods(struct sweep *sweep, const struct backtest_config *config,
                      const struct account_spec *base);
void cli_sweep_periods_finish(struct sweep_periods *periods);
/* "8 of 30 days, drawn by seed 1". Returns ret. */
enum { SWEEP_PERIODS_MAX = 96 };
const char *cli_sweep_periods_text(const struct sweep *sweep, char ret[static SWEEP_PERIODS_MAX]);
void cli_sweep_periods_print(const struct sweep *sweep);
void cli_sweep_periods_json(const struct sweep *sweep, json_t *object, json_t *top);

/* sweep_ask.c: is it wanted, with `left` sets to go after `tried`, of so many seconds each? Or a screen of so
 * many seconds? False: no, and a line says so; of a dry run, sweep->plan does. */
bool cli_sweep_ask(struct sweep *sweep, size_t tried, size_t left, double set_s);
bool cli_sweep_ask_screen(const struct sweep *sweep, double seconds);

/* sweep_progress.c: what has been done so far, for --progress. */
struct sweep_watch {
    double started_s, said_s; /* monotonic; said_s 0: nothing was said yet */
    size_t known;             /* sets that an earlier run did */
    bool any;
    struct sweep_result best; /* so far, of those with enough trades, where `any` */
};
void cli_sweep_watch_rows(const struct sweep *sweep, struct sweep_watch *watch,
                          const struct sweep_result *rows, size_t n);
/* A line (papertape.sweep_progress/1) on stderr with that share of a stage done, "screen" or "sets": at most
 * two a second, and a thousand in all; where `last` is set in any case. */
void cli_sweep_watch_say(const struct sweep *sweep, struct sweep_watch *watch, const char *stage,
                         double share, bool last);

/* The plan of a dry run, as a line or as papertape.sweep_plan/1. An exit status. */
int cli_sweep_print_plan(const struct sweep *sweep, const struct account_spec *base, bool json);

/* sweep_kept.c: opens the file that the results are kept in; nothing with --no-cache. */
void cli_sweep_keep(const struct sweep *sweep, const struct backtest_sweep *all, struct sweep_file *ret);

/* sweep_walk.c: IN:OUT[:STEP] into walk_ns; false: it is none. And the whole of it: runs, and prints. */
bool cli_sweep_walk_parse(const char *text, int64_t ret_ns[static 3]);
int cli_sweep_walk(struct sweep *sweep, const struct backtest_config *config, const struct account_spec *base,
                   bool json);

/* sweep_values.c: the axes' values of a set, and as text, "fast=20 slow=50". */
enum { SWEEP_VALUES_MAX = 512 };
void cli_sweep_values(const struct sweep *sweep, size_t combination, double values[STRATEGY_PARAMS_MAX]);
const struct strategy_param *cli_sweep_axis(const struct sweep *sweep, int axis);
const char *cli_sweep_text(const struct sweep *sweep, size_t combination, char ret[static SWEEP_VALUES_MAX]);
double cli_sweep_years(const struct sweep *sweep);

/* sweep_words.c: sentences, of one line or two, of sorted results. Return ret, but the last one NULL where
 * there is no PBO. */
enum { SWEEP_WORDS_MAX = 256 };
const char *cli_sweep_stopped_text(const struct sweep_results *runs, char ret[static SWEEP_WORDS_MAX]);
const char *cli_sweep_verdict_text(const struct sweep_results *runs, char ret[static SWEEP_WORDS_MAX]);
#define SWEEP_WHAT "distinct sets"
/* `what`: SWEEP_WHAT, or what else there are so many of. */
const char *cli_sweep_expected_text(const struct sweep_results *runs, const struct backtest_luck *luck,
                                    const char *what, double years, char ret[static SWEEP_WORDS_MAX]);
const char *cli_sweep_pbo_text(const struct backtest_luck *luck, char ret[static SWEEP_WORDS_MAX]);

/* sweep_values.c: a metric as --json and the page show it: shares as percent, with "_pct" at the name's end.
 */
enum { SWEEP_METRIC_NAME_MAX = 40 };
double cli_sweep_metric(enum sweep_metric metric, const struct sweep_result *result);
const char *cli_sweep_metric_name(enum sweep_metric metric, char ret[static SWEEP_METRIC_NAME_MAX]);
/* The Sharpe ratio of one of the `shown` rows with SWEEP_COSTS_FEES or _SLIPPAGE; NaN: not run. */
double cli_sweep_sharpe_at(const struct sweep *sweep, int costs, size_t row);

/* sweep_print.c, sweep_json.c, sweep_csv.c. Exit statuses. */
json_t *cli_sweep_params_json(const struct sweep *sweep, const struct sweep_result *result); /* a new one */
void cli_sweep_print(const struct sweep *sweep);
int cli_sweep_print_json(const struct sweep *sweep);
void cli_sweep_write_csv(const struct sweep *sweep, FILE *out);
int cli_sweep_write_returns(const struct sweep *sweep, const struct backtest_config *config,
                            const struct account_spec *base, FILE *out);

/* sweep_json.c: what of the best of sorted results is luck; `what` as above. */
json_t *cli_sweep_luck_json(const struct sweep_results *runs, const struct backtest_luck *luck,
                            const char *what, double years);

/* "4.2 min", "3 days": how long so many seconds are. */
enum { SWEEP_TIME_MAX = 32 };
const char *cli_sweep_time(double seconds, char ret[static SWEEP_TIME_MAX]);

#endif
