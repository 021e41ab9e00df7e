/* indicators --list: the registry for readers, one specification in full, and JSON. */
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/indicators.h"
#include "cli/stored.h"
#include "exchange/exit_status.h"
#include "indicators_gpu/indicators.h"

static const char *const inputs[INDICATOR_COLUMNS] = {"open", "high", "low", "close", "volume", "time"};
static const char *const scales[] = {
    [INDICATOR_OF_VALUE] = "value",
    [INDICATOR_OF_PRICE] = "price",
    [INDICATOR_OF_COLUMN] = "column",
    [INDICATOR_OF_ONE] = "absolute",
};
/* As struct indicator names them, and as the table does. */
static const char *const families[][2] = {
    {"moving_averages", "moving averages"},
    {"momentum", "momentum"},
    {"trend", "trend"},
    {"volatility", "volatility"},
    {"volume", "volume"},
    {"statistics", "statistics"},
    {"prices", "prices"},
    {"cycles", "cycles"},
    {"candles", "candles"},
};
enum { FAMILIES = sizeof(families) / sizeof(families[0]) };

static struct indicator_spec default_spec(const struct indicator *row)
{
    struct indicator_spec spec = {.row = row};
    for (size_t i = 0; i < row->n_options; i++)
        spec.options[i] = row->options[i].value;
    return spec;
}

static const struct stored_column columns[] = {
    {"family", -15}, {"name", -4},   {"summary", -7}, {"options", -7},   {"inputs", -6}, {"outputs", -7},
    {"first", 5},    {"warm-up", 7}, {"bytes", 5},    {"tolerance", -9}, {"source", -6},
};

enum { FAMILY, NAME, SUMMARY, OPTIONS, INPUTS, OUTPUTS, FIRST, WARMUP, BYTES, TOLERANCE, SOURCE, COLUMNS };

/* A cell of the table; what is longer than any row's text is cut. */
enum { CELL = 200 };

static void add(char cell[static CELL], const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(char cell[static CELL], const char *format, ...)
{
    size_t len = strlen(cell);
    va_list args;
    va_start(args, format);
    vsnprintf(cell + len, CELL - len, format, args);
    va_end(args);
}

/* "fast=12 slow=26 signal=9 (1-100000)": options with one range share it. */
static void add_options(char cell[static CELL], const struct indicator *row)
{
    for (size_t i = 0; i < row->n_options; i++) {
        const struct indicator_option *option = &row->options[i], *next = option + 1;
        bool last = i + 1 == row->n_options;
        add(cell, "%s%s=%.15g", i > 0 ? " " : "", option->name, option->value);
        if (last || next->min != option->min || next->max != option->max)
            add(cell, " (%.15g-%.15g)", option->min, option->max);
    }
}

static void add_inputs(char cell[static CELL], const struct indicator *row)
{
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        if (row->inputs & 1u << c)
            add(cell, "%s%s", *cell ? "," : "", inputs[c]);
}

static void add_tolerance(char cell[static CELL], const struct indicator *row)
{
    bool absolute = row->tolerance.scale == INDICATOR_OF_ONE;
    add(cell, "%g %g %s%s", row->tolerance.f64, row->tolerance.f32, absolute ? "" : "of ",
        scales[row->tolerance.scale]);
}

static void print_row(struct stored_list *list, const char *family, const struct indicator *row)
{
    struct indicator_spec spec = default_spec(row);
    size_t warmup = indicator_warmup(&spec, INDICATOR_F64);
    char cells[COLUMNS][CELL] = {{0}};
    const char *texts[COLUMNS];

    for (int c = 0; c < COLUMNS; c++)
        texts[c] = cells[c];
    texts[FAMILY] = family;
    texts[NAME] = row->name;
    texts[SUMMARY] = row->summary;
    texts[SOURCE] = row->source;
    add_options(cells[OPTIONS], row);
    add_inputs(cells[INPUTS], row);
    for (size_t k = 0; k < row->n_outputs; k++)
        add(cells[OUTPUTS], "%s%s", k > 0 ? "," : "", *row->outputs[k] ? row->outputs[k] : row->name);
    add(cells[FIRST], "%zu", indicator_lookback(&spec));
    if (warmup == INDICATOR_FOREVER)
        add(cells[WARMUP], "never");
    else
        add(cells[WARMUP], "%zu", warmup);
    add(cells[BYTES], "%zu", indicator_bytes(&spec, INDICATOR_F64));
    add_tolerance(cells[TOLERANCE], row);
    cli_stored_row(list, texts);
}

int cli_indicators_list_table(void)
{
    size_t n;
    const struct indicator *const *rows = indicator_rows(&n);
    struct stored_list list = {
        .name = "indicators", .form = STORED_TABLE, .columns = columns, .n_columns = COLUMNS, .fits = true};

    for (int f = 0; f < FAMILIES; f++)
        for (size_t i = 0; i < n; i++)
            if (strcmp(rows[i]->family, families[f][0]) == 0)
                print_row(&list, families[f][1], rows[i]);
    cli_stored_end(&list);
    return EXIT_OK;
}

void cli_indicators_column(const struct indicator_spec *spec, size_t output, const char *interval, char *buf,
                           size_t cap)
{
    indicator_spec_name(spec, output, buf, cap);
    size_t len = strlen(buf);
    if (interval)
        snprintf(buf + len, cap - len, "@%s", interval);
}

int cli_indicators_list_specs(const struct indicator_spec *specs, const char *const intervals[], size_t n)
{
    for (size_t s = 0; s < n; s++) {
        const struct indicator_spec *spec = &specs[s];
        const struct indicator *row = spec->row;
        const char *at = intervals[s] ? "@" : "", *of = intervals[s] ? " of " : "";
        const char *interval = intervals[s] ? intervals[s] : "";
        char text[160], reads[CELL] = "", tolerance[CELL] = "";
        add_inputs(reads, row);
        add_tolerance(tolerance, row);
        indicator_spec_text(spec, text, sizeof(text));
        printf("%s%s%s%s: %s\n", s > 0 ? "\n" : "", text, at, interval, row->summary);
        printf("  source     %s\n  family     %s\n", row->source, row->family);
        for (size_t i = 0; i < row->n_options; i++) {
            const struct indicator_option *option = &row->options[i];
            printf("  %-10s %s from %.15g to %.15g, %.15g when it is left out\n", i > 0 ? "" : "options",
                   option->name, option->min, option->max, option->value);
        }
        printf("  reads      %s\n", reads);
        for (size_t k = 0; k < row->n_outputs; k++) {
            cli_indicators_column(spec, k, intervals[s], text, sizeof(text));
            printf("  %-10s %s\n", k > 0 ? "" : "columns", text);
        }
        printf("  first      at bar %zu%s%s, counted from 0\n", indicator_lookback(spec), of, interval);
        if (indicator_warmup(spec, INDICATOR_F64) == INDICATOR_FOREVER)
            puts("  warm-up    never over: it remembers its first bar");
        else
            printf(
                "  warm-up    %zu bars%s%s in float64, %zu in float32, until how it began no longer shows\n",
                indicator_warmup(spec, INDICATOR_F64), of, interval, indicator_warmup(spec, INDICATOR_F32));
        printf("  bytes      %zu a bar in float64, %zu in float32; %zu a stream\n",
               indicator_bytes(spec, INDICATOR_F64), indicator_bytes(spec, INDICATOR_F32),
               indicator_stream_bytes(spec));
        printf("  tolerance  of --backend cpu: %s (float64, float32)\n", tolerance);
    }
    return EXIT_OK;
}

static json_t *warmup_json(const struct indicator_spec *spec, enum indicator_precision precision)
{
    size_t bars = indicator_warmup(spec, precision);
    return bars == INDICATOR_FOREVER ? json_null() : json_integer((json_int_t)bars);
}

static json_t *bytes_json(const struct indicator_spec *spec, enum indicator_precision precision)
{
    return json_integer((json_int_t)indicator_bytes(spec, precision));
}

static json_t *json_of(const struct indicator_spec *spec, const char *interval)
{
    const struct indicator *row = spec->row;
    json_t *reads = json_array(), *options = json_array(), *names = json_array();
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        if (row->inputs & 1u << c)
            json_array_append_new(reads, json_string(inputs[c]));
    for (size_t i = 0; i < row->n_options; i++) {
        const struct indicator_option *option = &row->options[i];
        json_array_append_new(options, json_pack("{s:s, s:f, s:f, s:f, s:f, s:b}", "name", option->name,
                                                 "default", option->value, "value", spec->options[i], "min",
                                                 option->min, "max", option->max, "whole", option->whole));
    }
    for (size_t k = 0; k < row->n_outputs; k++) {
        char name[160];
        cli_indicators_column(spec, k, interval, name, sizeof(name));
        json_array_append_new(names, json_string(name));
    }
    return json_pack(
        "{s:s, s:s?, s:s, s:o, s:o, s:o, s:I, s:b, s:s, s:s, s:{s:o, s:o}, s:{s:o, s:o}, s:I, s:{s:s, "
        "s:f, s:f}}",
        "name", row->name, "interval", interval, "summary", row->summary, "inputs", reads, "options", options,
        "columns", names, "lookback_bars", (json_int_t)indicator_lookback(spec), "gpu", true, "family",
        row->family, "source", row->source, "warmup_bars", "f64", warmup_json(spec, INDICATOR_F64), "f32",
        warmup_json(spec, INDICATOR_F32), "bytes_per_bar", "f64", bytes_json(spec, INDICATOR_F64), "f32",
        bytes_json(spec, INDICATOR_F32), "state_bytes", (json_int_t)indicator_stream_bytes(spec), "tolerance",
        "of", scales[row->tolerance.scale], "f64", row->tolerance.f64, "f32", row->tolerance.f32);
}

int cli_indicators_list_json(const struct indicator_spec *specs, const char *const intervals[], size_t n)
{
    size_t n_rows;
    const struct indicator *const *rows = indicator_rows(&n_rows);
    json_t *all = json_array();
    for (size_t i = 0; i < (n > 0 ? n : n_rows); i++) {
        struct indicator_spec spec = n > 0 ? specs[i] : default_spec(rows[i]);
        json_array_append_new(all, json_of(&spec, n > 0 ? intervals[i] : NULL));
    }
    json_t *root = json_pack("{s:s, s:o}", "schema", "papertape.indicators/1", "indicators", all);
    int r = root ? json_dumpf(root, stdout, JSON_INDENT(2)) : -1;
    json_decref(root);
    if (r < 0 && !ferror(stdout))
        return cli_stored_fail(EXIT_ERROR, "indicators", "", "out of memory");
    putchar('\n');
    return EXIT_OK;
}
