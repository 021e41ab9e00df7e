/* A ranking of strategies (engine/backtest/rank.h), for its printers. */
#ifndef CLI_RANK_H
#define CLI_RANK_H

#include <stdio.h>

#include "cli/run_args.h"
#include "engine/backtest/rank.h"

/* Seconds of a ranking's stages, in their order. */
enum rank_stage {
    RANK_LOAD,
    RANK_INDICATORS,
    RANK_SIGNALS,
    RANK_BACKTESTS,
    RANK_RANKING, /* figures, luck, order */
    RANK_REPORT,  /* --csv and --report */
    RANK_STAGES
};

struct rank_run {
    struct run_args run;
    enum sweep_metric metric;
    int64_t min_trades;
    const char *csv, *page;
    bool named; /* strategies were given; else all built-in ones are taken */

    struct market *market;
    struct market_load load;
    struct account_spec *accounts; /* [run.n_choices] */
    struct backtest_config config;
    struct backtest_rank ranked;
    double seconds[RANK_STAGES];
};

/* What is ranked, in the sentences on luck. */
#define RANK_WHAT "strategies"

double cli_rank_years(const struct rank_run *rank);

/* The place of a row of the ranking: 1 is best; 0: it has too few trades to be ranked. */
size_t cli_rank_place(const struct rank_run *rank, size_t row);

/* Of a row: the account, and its parameters that are not the default, "fast=20 slow=50". */
enum { RANK_PARAMS_MAX = 512 };
const struct account_spec *cli_rank_account(const struct rank_run *rank, size_t row);
const char *cli_rank_params(const struct rank_run *rank, size_t row, char ret[static RANK_PARAMS_MAX]);

const char *cli_rank_stage_name(enum rank_stage stage);

/* rank_print.c, rank_json.c; page/page_rank.c: 0 or -ENOMEM. */
void cli_rank_print(const struct rank_run *rank);
int cli_rank_print_json(const struct rank_run *rank); /* an exit status */
void cli_rank_write_csv(const struct rank_run *rank, FILE *out);
struct text;
int cli_page_rank(struct text *text, const struct rank_run *rank);

#endif
