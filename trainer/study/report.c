/* The HTML file of a validation (report/page.h). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/json.h"
#include "report/page.h"
#include "trainer/study/validation.h"

/* ---- tables ---- */

enum { DIGITS = 4 };

static void row(struct text *text, const char *name, double value, const char *words)
{
    report_page_fact_number(text, name, value, DIGITS, words);
}

static void named(struct text *text, const char *name, const json_t *column)
{
    report_page_fact(text, name, json_string_value(json_object_get(column, "name")), NULL);
}

static void figures(struct text *text, const json_t *validation)
{
    const json_t *deflated = json_object_get(validation, "deflated");
    const json_t *best = json_object_get(validation, "deflated_best");
    report_page_facts(text);
    row(text, "Probability of backtest overfitting", record_json_number(validation, "pbo"),
        "half splits in which the best in sample was in the worse half out of sample; 0.5 is pure luck");
    row(text, "Probability of loss", record_json_number(validation, "probability_of_loss"),
        "half splits in which it lost out of sample");
    row(text, "Degradation: slope", record_json_number(validation, "slope"),
        "of out-of-sample on in-sample Sharpe; below 0 what looked better did worse");
    row(text, "Degradation: intercept", record_json_number(validation, "intercept"), "");
    row(text, "R²", record_json_number(validation, "r2"), "of that line");
    named(text, "The trial that is looked at", deflated);
    row(text, "Deflated Sharpe ratio", record_json_number(deflated, "deflated_sharpe"),
        "probability that it is better than the best of so many by luck");
    row(text, "Deflated by luck alone", record_json_number(deflated, "deflated_capped"),
        "trials' Sharpes may differ by skill, too: by no more than luck can make them differ");
    row(text, "The same beyond holding", record_json_number(deflated, "deflated_beyond_holding"),
        "of the returns that holding does not explain");
    row(text, "Skill", record_json_number(deflated, "skill"),
        "the lower one of both, which the gates look at");
    row(text, "Probabilistic Sharpe ratio", record_json_number(deflated, "probabilistic_sharpe"),
        "the same, had it been the only one");
    row(text, "Sharpe", record_json_number(deflated, "sharpe"), "");
    row(text, "Sharpe to be expected of luck", record_json_number(deflated, "expected_sharpe"),
        "of the best of so many");
    row(text, "Sharpe to be expected of luck alone", record_json_number(deflated, "expected_capped"), "");
    named(text, "The best by its Sharpe", best);
    row(text, "Deflated Sharpe ratio of that", record_json_number(best, "deflated_sharpe"), "");
    row(text, "Skill of that", record_json_number(best, "skill"), "");
    row(text, "Trials", record_json_number(deflated, "trials"), "that were tried");
    row(text, "Half splits", record_json_number(validation, "splits"), "");
    report_page_facts_end(text);
}

static void curve_row(struct text *text, const char *name, const json_t *trial)
{
    static const char *const keys[] = {"sharpe", "return_pct", "drawdown_pct", "chosen_pct"};
    report_page_row(text);
    report_page_cell(text, name);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        report_page_value(text, record_json_number(trial, keys[i]), DIGITS);
    report_page_row_end(text);
}

static void trials(struct text *text, const json_t *validation)
{
    static const char *const names[] = {"trial", "Sharpe", "return %", "drawdown %", "chosen %"};
    size_t i;
    json_t *trial;
    report_page_table(text, names, sizeof names / sizeof *names);
    json_array_foreach(json_object_get(validation, "columns"), i, trial)
        curve_row(text, json_string_value(json_object_get(trial, "name")), trial);
    if (json_is_object(json_object_get(validation, "holding")))
        curve_row(text, "holding", json_object_get(validation, "holding"));
    if (json_is_object(json_object_get(validation, "equal_weight")))
        curve_row(text, "equal weight", json_object_get(validation, "equal_weight"));
    report_page_table_end(text);
}

/* ---- pictures ---- */

enum { CURVES_MAX = 4, CURVE_NAME_MAX = 160 };

/* Curves of what 1 became: `rows` + 1 values each. */
struct curves {
    struct report_series list[CURVES_MAX];
    char names[2][CURVE_NAME_MAX];
    double *equity; /* [CURVES_MAX][rows + 1] */
    int64_t *x;     /* [rows + 1] */
    int n;
    bool wide;
};

/* The time at which a row begins; its number where times are not known. */
static void place_rows(const struct returns_matrix *returns, int64_t *ret)
{
    size_t rows = returns->rows;
    for (size_t i = 0; i <= rows; i++)
        ret[i] = !returns->open_ns ? (int64_t)i
                 : i < rows        ? returns->open_ns[i]
                 : rows > 1        ? 2 * returns->open_ns[i - 1] - returns->open_ns[i - 2]
                                   : returns->open_ns[0] + 1;
}

static void add_curve(struct curves *curves, const char *name, const double *values, size_t stride,
                      size_t rows)
{
    double *equity = curves->equity + (size_t)curves->n * (rows + 1);
    equity[0] = 1;
    for (size_t i = 0; i < rows; i++)
        equity[i + 1] = equity[i] * (1 + values[i * stride]);
    curves->wide = curves->wide || report_chart_is_wide(equity, rows + 1);
    curves->list[curves->n] = (struct report_series){
        .shape = REPORT_LINE, .colour = curves->n, .name = name, .x = curves->x, .y = equity, .n = rows + 1};
    curves->n++;
}

static void fill(struct curves *curves, const struct returns_matrix *returns, const json_t *validation)
{
    static const char *const names[] = {"best", "median"};
    place_rows(returns, curves->x);
    for (int i = 0; i < 2; i++) {
        const json_t *trial = json_object_get(validation, names[i]);
        json_int_t column = json_integer_value(json_object_get(trial, "column"));
        snprintf(curves->names[i], CURVE_NAME_MAX, "%s: %.120s", names[i], returns->names[column]);
        add_curve(curves, curves->names[i], returns->values + column, returns->columns, returns->rows);
    }
    if (returns->holding)
        add_curve(curves, "holding", returns->holding, 1, returns->rows);
    if (returns->equal_weight)
        add_curve(curves, "equal weight", returns->equal_weight, 1, returns->rows);
}

static bool equity(struct text *text, const struct returns_matrix *returns, const json_t *validation)
{
    struct curves curves = {.equity = calloc(CURVES_MAX * (returns->rows + 1), sizeof(double)),
                            .x = calloc(returns->rows + 1, sizeof(int64_t))};
    bool done = curves.equity && curves.x;
    if (done) {
        fill(&curves, returns, validation);
        const struct report_chart chart = {.title = "What 1 became",
                                           .x_name = returns->open_ns ? NULL : "row",
                                           .y_name = curves.wide ? "1 became, log scale" : "1 became",
                                           .time = returns->open_ns != NULL,
                                           .logarithmic = curves.wide,
                                           .also = 1,
                                           .series = curves.list,
                                           .n = curves.n};
        report_page_chart(text, &chart,
                          "What 1 became out of sample, rows one after the other: the trial with the best "
                          "Sharpe ratio, the one in the middle, and what needs no trial.");
    }
    free(curves.equity);
    free(curves.x);
    return done;
}

static bool lambda(struct text *text, const json_t *validation)
{
    const json_t *object = json_object_get(validation, "lambda"), *counts = json_object_get(object, "counts");
    size_t n = json_array_size(counts);
    double *bars = calloc(n + 1, sizeof *bars);
    for (size_t i = 0; bars && i < n; i++)
        bars[i] = json_number_value(json_array_get(counts, i));
    if (bars) {
        const struct report_bars chart = {.title = "Distribution of λ",
                                          .x_name = "λ",
                                          .y_name = "half splits",
                                          .bars = bars,
                                          .n = (int)n,
                                          .low = record_json_number(object, "low"),
                                          .high = record_json_number(object, "high"),
                                          .until = 0};
        report_page_bars(text, &chart,
                         "λ of each half split: left of 0 the best in sample was in the worse half out of "
                         "sample.");
    }
    free(bars);
    return bars != NULL;
}

static bool points(struct text *text, const json_t *validation)
{
    const json_t *list = json_object_get(validation, "points");
    size_t n = json_array_size(list);
    double *xy = calloc(2 * n + 1, sizeof *xy);
    for (size_t i = 0; xy && i < 2 * n; i++) {
        const json_t *value = json_array_get(json_array_get(list, i / 2), i % 2);
        xy[i] = json_is_number(value) ? json_number_value(value) : NAN;
    }
    if (xy) {
        const struct report_points chart = {.title = "Out-of-sample over in-sample Sharpe",
                                            .x_name = "Sharpe in sample",
                                            .y_name = "Sharpe out of sample",
                                            .xy = xy,
                                            .n = n,
                                            .slope = record_json_number(validation, "slope"),
                                            .intercept = record_json_number(validation, "intercept")};
        report_page_points(text, &chart,
                           "The trial chosen in sample, a dot a half split, and the line of least squares: "
                           "where it falls, what looked better did worse.");
    }
    free(xy);
    return xy != NULL;
}

static bool page(struct text *text, const struct returns_matrix *returns, const json_t *validation,
                 const char *title)
{
    bool annual = json_is_number(json_object_get(validation, "periods_per_year"));
    char words[128];
    report_page_begin(text, title);
    snprintf(words, sizeof words, "%zu rows of %zu trials, out of sample. Sharpe ratios are %s.",
             returns->rows, returns->columns, annual ? "a year's" : "a row's");
    report_page_paragraph(text, words);
    report_page_heading(text, "Is the best one luck?");
    figures(text, validation);
    report_page_heading(text, "Equity");
    bool done = equity(text, returns, validation);
    report_page_heading(text, "Where the choice ended up out of sample");
    done = done && lambda(text, validation);
    report_page_heading(text, "What in-sample Sharpe was worth");
    done = done && points(text, validation);
    report_page_heading(text, "Trials");
    trials(text, validation);
    report_page_end(text);
    return done && text_ok(text);
}

int validation_report(const struct returns_matrix *returns, const json_t *validation, const char *title,
                      const char *path, char err[static VALIDATION_ERROR_MAX])
{
    struct text text = {0};
    int r = page(&text, returns, validation, title) ? report_page_write(&text, path) : -ENOMEM;
    text_finish(&text);
    if (r < 0)
        snprintf(err, VALIDATION_ERROR_MAX,
                 "%.300s: cannot be written: a file in a writable folder with room (%s)", path, strerror(-r));
    return r;
}
