/* --export: a backtest's records through a pipe to a Python with pyarrow, which writes them into one file. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/backtest_result.h"
#include "cli/export.h"
#include "cli/stored.h"
#include "engine/backtest/audit.h"
#include "engine/backtest/read.h"
#include "exchange/exit_status.h"
#include "exchange/text.h"

enum { PART_BYTES = 4 << 20 };

/* ---- columns ---- */

struct kind {
    const char *name, *type;
};

static const struct kind bar_kinds[] = {{"symbol", "text"}, {"open_time_ns", "time"}, {"open", "real"},
                                        {"high", "real"},   {"low", "real"},          {"close", "real"},
                                        {"volume", "real"}};
static const struct kind equity_kinds[] = {
    {"ts_ns", "time"}, {"account", "text"}, {"equity", "real"}, {"cash", "real"}, {"peak", "real"}};
static const struct kind trade_kinds[] = {{"account", "text"},  {"symbol", "text"},  {"side", "text"},
                                          {"entry_ns", "time"}, {"exit_ns", "time"}, {"bars", "int"},
                                          {"qty", "real"},      {"cost", "real"},    {"proceeds", "real"},
                                          {"fees", "real"},     {"profit", "real"}};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static json_t *columns_of(const struct kind *kinds, size_t n)
{
    json_t *columns = json_array();
    for (size_t i = 0; columns && i < n; i++)
        cli_export_column(columns, kinds[i].name, kinds[i].type);
    return columns;
}

static json_t *columns_of_list(const struct stored_list *list)
{
    json_t *columns = json_array();
    for (int i = 0; columns && i < list->n_columns; i++)
        if (list->own[i].width < STORED_JSON_ONLY)
            cli_export_column(columns, list->own[i].name, cli_export_type(list, &list->own[i]));
    return columns;
}

/* What a record's columns are; `reads`: those of indicators, behind the bars' own. */
static json_t *columns_of_record(enum backtest_output output)
{
    switch (output) {
    case OUTPUT_EQUITY:
        return columns_of(equity_kinds, COUNT(equity_kinds));
    case OUTPUT_ROUNDS:
        return columns_of(trade_kinds, COUNT(trade_kinds));
    case OUTPUT_TRADES: {
        struct stored_list list = cli_fills_list(STORED_CSV, NULL);
        return columns_of_list(&list);
    }
    default: {
        struct stored_list list = cli_orders_list(STORED_CSV, NULL);
        return columns_of_list(&list);
    }
    }
}

/* ---- parts ---- */

/* Lines of CSV that are sent in parts; the first has names, and is left out. */
struct parts {
    struct lake_python *python;
    const char *record;
    const json_t *columns;
    struct text lines;
    bool named; /* the line of names is gone */
    int status;
};

static void send_lines(struct parts *parts, size_t n)
{
    json_t *request = json_pack("{s:s, s:O, s:I}", "record", parts->record, "columns", parts->columns,
                                "bytes", (json_int_t)n);
    if (n == 0 || parts->status != EXIT_OK) {
        json_decref(request);
        return;
    }
    if (cli_lake_send(parts->python, request))
        (void)cli_lake_send_bytes(parts->python, parts->lines.data, n); /* its answer says why not */
    parts->status = cli_lake_ask(parts->python, NULL, NULL);
}

/* Removes the first n bytes. */
static void forget(struct text *text, size_t n)
{
    if (n == 0)
        return;
    memmove(text->data, text->data + n, text->len - n);
    text->len -= n;
}

static void send_whole_lines(struct parts *parts)
{
    struct text *lines = &parts->lines;
    const char *end = lines->len > 0 ? memchr(lines->data, '\n', lines->len) : NULL;
    if (!parts->named && end) {
        forget(lines, (size_t)(end - lines->data) + 1);
        parts->named = true;
    }
    if (!parts->named)
        return;
    end = lines->len > 0 ? memrchr(lines->data, '\n', lines->len) : NULL;
    size_t n = end ? (size_t)(end - lines->data) + 1 : 0;
    send_lines(parts, n);
    forget(lines, n);
}

static ssize_t take(void *ctx, const char *bytes, size_t n)
{
    struct parts *parts = ctx;
    text_bytes(&parts->lines, bytes, n);
    if (!text_ok(&parts->lines))
        return 0;
    if (parts->lines.len >= PART_BYTES)
        send_whole_lines(parts);
    return parts->status == EXIT_OK ? (ssize_t)n : 0;
}

static int failed(const char *words)
{
    return cli_backtest_fail(EXIT_ERROR, "--export", words);
}

/* Sends what `print` writes. Takes the columns. An exit status. */
static int send_record(struct lake_python *python, const char *record, json_t *columns,
                       void (*print)(const void *ctx, FILE *out), const void *ctx)
{
    struct parts parts = {.python = python, .record = record, .columns = columns};
    FILE *out = fopencookie(&parts, "w", (cookie_io_functions_t){.write = take});
    if (out) {
        print(ctx, out);
        fclose(out);
        if (parts.status == EXIT_OK)
            send_whole_lines(&parts);
    }
    if (parts.status == EXIT_OK && (!out || !text_ok(&parts.lines)))
        parts.status = failed("out of memory");
    text_finish(&parts.lines);
    json_decref(columns);
    return parts.status;
}

/* ---- records ---- */

struct printing {
    const struct backtest_result *result;
    const struct backtest_rows *rows;
    enum backtest_output output;
};

static void print_output(const void *ctx, FILE *out)
{
    const struct printing *printing = ctx;
    cli_backtest_write_one(printing->result, printing->rows, printing->output, true, out);
}

/* Of each account the indicators of one symbol; those of the same name are the same. */
struct bars_printing {
    const struct backtest_result *result;
    int symbol;
    const struct backtest_read *reads; /* [n_accounts] */
};

/* Is it an output of an account before this one? */
static bool seen(const struct backtest_read *reads, int account, size_t output)
{
    for (int a = 0; a < account; a++)
        for (size_t k = 0; k < reads[a].n; k++)
            if (strcmp(reads[a].names[k], reads[account].names[output]) == 0)
                return true;
    return false;
}

static void print_real(FILE *out, double value)
{
    if (isfinite(value))
        fprintf(out, ",%.17g", value);
    else
        fputc(',', out);
}

static void print_bar(const struct bars_printing *printing, size_t row, FILE *out)
{
    const struct backtest_result *result = printing->result;
    const struct market_series *series = &result->market->series[printing->symbol];
    const size_t at = row - result->backtest->from;
    cli_stored_csv(out, series->symbol.name);
    fprintf(out, ",%" PRId64, market_open_ns(result->market, row));
    print_real(out, series->open[row]);
    print_real(out, series->high[row]);
    print_real(out, series->low[row]);
    print_real(out, series->close[row]);
    print_real(out, series->volume[row]);
    for (int a = 0; a < result->backtest->n_accounts; a++)
        for (size_t k = 0; k < printing->reads[a].n; k++)
            if (!seen(printing->reads, a, k))
                print_real(out, printing->reads[a].values[k * printing->reads[a].rows + at]);
    fputc('\n', out);
}

static void print_bars(const void *ctx, FILE *out)
{
    const struct bars_printing *printing = ctx;
    const struct market_series *series = &printing->result->market->series[printing->symbol];
    const struct backtest *backtest = printing->result->backtest;
    fputs("names\n", out);
    for (size_t row = backtest->from; row < backtest->to && !ferror(out); row++)
        if (row >= series->first && row <= series->last && market_present(series, row))
            print_bar(printing, row, out);
}

static json_t *bar_columns(const struct backtest_read *reads, int n)
{
    json_t *columns = columns_of(bar_kinds, COUNT(bar_kinds));
    for (int a = 0; a < n; a++)
        for (size_t k = 0; k < reads[a].n; k++)
            if (!seen(reads, a, k))
                cli_export_column(columns, reads[a].names[k], "real");
    return columns;
}

static void reads_finish(struct backtest_read *reads, int n)
{
    for (int a = 0; reads && a < n; a++)
        backtest_read_finish(&reads[a]);
    free(reads);
}

/* symbol < 0: the names alone. An exit status with *ret, for reads_finish(). */
static int read_all(const struct backtest_result *result, int symbol, struct backtest_read **ret)
{
    const int n = result->backtest->n_accounts;
    struct backtest_read *reads = calloc((size_t)n, sizeof *reads);
    char err[SPECS_ERROR_MAX] = "";
    int r = reads ? 0 : -ENOMEM;
    for (int a = 0; a < n && r == 0; a++)
        r = symbol < 0 ? backtest_read_names(result->config, a, &reads[a], err)
                       : backtest_read_symbol(result->config, a, symbol, &reads[a], err);
    if (r < 0) {
        reads_finish(reads, n);
        return failed(r == -ENOMEM ? "out of memory" : err);
    }
    *ret = reads;
    return EXIT_OK;
}

static int send_bars(const struct backtest_result *result, struct lake_python *python)
{
    const int n = result->backtest->n_accounts;
    int status = EXIT_OK;
    for (int s = 0; s < result->market->n_symbols && status == EXIT_OK; s++) {
        struct backtest_read *reads;
        status = read_all(result, s, &reads);
        if (status != EXIT_OK)
            return status;
        const struct bars_printing printing = {result, s, reads};
        status = send_record(python, "bar", bar_columns(reads, n), print_bars, &printing);
        reads_finish(reads, n);
    }
    return status;
}

/* ---- all ---- */

static const struct {
    enum backtest_output output;
    const char *record;
} records[] = {
    {OUTPUT_EQUITY, "equity"}, {OUTPUT_ROUNDS, "trade"}, {OUTPUT_TRADES, "fill"}, {OUTPUT_ORDERS, "order"}};

static bool has(const json_t *columns, const char *name)
{
    for (size_t i = 0; i < json_array_size(columns); i++)
        if (strcmp(json_string_value(json_array_get(json_array_get(columns, i), 0)), name) == 0)
            return true;
    return false;
}

static void add_columns(json_t *schema, json_t *columns)
{
    for (size_t i = 0; i < json_array_size(columns); i++) {
        json_t *column = json_array_get(columns, i);
        if (!has(schema, json_string_value(json_array_get(column, 0))))
            json_array_append(schema, column);
    }
    json_decref(columns);
}

static int send_schema(const struct backtest_result *result, struct lake_python *python)
{
    struct backtest_read *reads;
    int status = read_all(result, -1, &reads);
    if (status != EXIT_OK)
        return status;
    json_t *schema = json_array();
    cli_export_column(schema, "record", "text");
    add_columns(schema, bar_columns(reads, result->backtest->n_accounts));
    for (size_t i = 0; i < COUNT(records); i++)
        add_columns(schema, columns_of_record(records[i].output));
    reads_finish(reads, result->backtest->n_accounts);
    return cli_lake_ask(python, json_pack("{s:o}", "schema", schema), NULL);
}

static bool ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), m = strlen(ending);
    return n > m && strcmp(name + n - m, ending) == 0;
}

int cli_backtest_export_begin(const char *path, struct lake_python **ret)
{
    const char *arguments[] = {"backtest", path, PAPERTAPE_VERSION, NULL};
    if (!ends_with(path, ".parquet") && !ends_with(path, ".arrow"))
        return cli_backtest_fail(EXIT_USAGE, path,
                                 "--export: a name that ends in .parquet or .arrow is needed");
    int status = cli_lake_start("backtest", NULL, arguments, ret);
    return status == EXIT_OK ? cli_lake_ask(*ret, json_pack("{s:b}", "look", true), NULL) : status;
}

int cli_backtest_export(const struct backtest_result *result, struct lake_python *python)
{
    struct backtest_rows rows;
    char err[256];
    int status = send_schema(result, python);
    if (status == EXIT_OK)
        status = send_bars(result, python);
    if (status != EXIT_OK)
        return status;
    if (backtest_rows(result->backtest, &rows, err, sizeof err) < 0)
        return failed(err);
    for (size_t i = 0; i < COUNT(records) && status == EXIT_OK; i++) {
        const struct printing printing = {result, &rows, records[i].output};
        status = send_record(python, records[i].record, columns_of_record(records[i].output), print_output,
                             &printing);
    }
    backtest_rows_finish(&rows);
    return status == EXIT_OK ? cli_lake_ask(python, json_pack("{s:b}", "end", true), NULL) : status;
}
