/* The result of a backtest on bars or on trades, for its printers and files. */
#ifndef CLI_BACKTEST_RESULT_H
#define CLI_BACKTEST_RESULT_H

#include <jansson.h>

#include "cli/backtest_args.h"
#include "engine/backtest/report.h"

struct backtest_result {
    const struct backtest_args *args;
    const struct market *market;
    const struct market_load *load;
    size_t n_ticks;                      /* trades that were played; 0: bars were */
    const struct account_spec *accounts; /* [backtest.n_accounts] */
    const struct backtest *backtest;
    const struct backtest_report *reports; /* [backtest.n_accounts] */
    const struct backtest_config *config;
    const struct report_config *options; /* the benchmark's */
    const char *benchmark;               /* what it is, in words; NULL: none */
    uint8_t hash[LEDGER_HASH_SIZE];      /* of the last ledger row; what all rows make of it was checked */
    size_t ledger_rows;
    double seconds[BACKTEST_STAGES];
    double peak_bytes; /* of memory, of this process */
};

/* backtest_print.c: the text. */
void cli_backtest_print(const struct backtest_result *result);

/* Splits and dividends that took effect on an account in the rows that were traded, of symbols that it did
 * not hold, too; `paid`: by dividends, less those of shorts, in its currency. */
struct backtest_acted {
    uint64_t splits, dividends;
    double paid;
};
struct backtest_acted cli_backtest_acted(const struct backtest_result *result, int a);

/* backtest_json.c: papertape.backtest/1. An exit status. */
int cli_backtest_print_json(const struct backtest_result *result);
/* An account in it; of the result its market, accounts, backtest and reports are read. NULL: no memory. */
json_t *cli_backtest_account_json(const struct backtest_result *result, int a);

/* backtest_csv.c: writes into the files that were opened, and puts them in their places. An exit status. */
int cli_backtest_write(const struct backtest_result *result, struct output outputs[static BACKTEST_OUTPUTS]);

/* One of them, as CSV with a line of names. */
struct backtest_rows;
void cli_backtest_write_one(const struct backtest_result *result, const struct backtest_rows *rows,
                            enum backtest_output output, bool plain, FILE *out);

/* backtest_export.c: --export, bars with the indicators that the strategies read, equity, trades, fills and
 * orders in one file of Parquet or Arrow, by a Python with pyarrow. The first starts it, and looks whether
 * the file can be written, before the run. Exit statuses. */
struct lake_python;
int cli_backtest_export_begin(const char *path, struct lake_python **ret);
int cli_backtest_export(const struct backtest_result *result, struct lake_python *python);

/* page/page_backtest.c: writes the page of --report into an open file, which is committed by the caller. An
 * exit status. What it is made of, a page_run an account, for cli_backtest_runs_finish(). */
struct page_run;
struct page_source;
int cli_backtest_page(const struct backtest_result *result, FILE *out);
int cli_backtest_chart(const struct backtest_result *result); /* --chart, on stdout */
int cli_backtest_runs(const struct backtest_result *result, struct page_source *source,
                      struct page_run **ret);
void cli_backtest_runs_finish(struct page_run *runs, int n);

/* backtest_save.c: makes the state directory of --save, which is new or empty; the check looks for that
 * alone. Exit statuses. */
int cli_backtest_save(const struct backtest_result *result);
int cli_backtest_save_check(const char *path);

#endif
