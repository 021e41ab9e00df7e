/* The HTML file of a validation: one page that loads nothing, in the reader's own light or dark. It is
 * well-formed XML too. Each figure is a <data> with all its digits as value. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/whole_file.h"
#include "record/json.h"
#include "trainer/study/report_chart.h"
#include "trainer/study/validation.h"

static const char head[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta charset=\"utf-8\"/>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n";

static const char style[] =
    "<style>\n"
    ":root { color-scheme: light dark; --ink: #1c2024; --paper: #ffffff; --faint: #d5dbe1; --soft: #5b6670;\n"
    " --k0: #0a5fd0; --k1: #b4540a; --k2: #5b6670; --k3: #1b7a3d; }\n"
    "@media (prefers-color-scheme: dark) { :root { --ink: #e4e9ee; --paper: #101418; --faint: #2e363e;\n"
    " --soft: #9aa6b1; --k0: #66aaff; --k1: #f09a50; --k2: #9aa6b1; --k3: #52c272; } }\n"
    "body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);\n"
    " max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }\n"
    "h1, h2 { line-height: 1.2; } h2 { margin-top: 2.2rem; } p, .soft { color: var(--soft); }\n"
    "table { border-collapse: collapse; font-variant-numeric: tabular-nums; }\n"
    "th, td { text-align: right; padding: .2rem .7rem; border-bottom: 1px solid var(--faint); }\n"
    "th:first-child, td:first-child { text-align: left; }\n"
    "svg { width: 100%; height: auto; } svg text { fill: var(--soft); font-size: 12px; }\n"
    ".grid { stroke: var(--faint); } .axis { stroke: var(--soft); stroke-dasharray: 4 3; }\n"
    ".fit { stroke: var(--k1); stroke-width: 2; } .points { fill: var(--k0); fill-opacity: .3; }\n"
    "polyline { fill: none; stroke-width: 1.6; }\n"
    "polyline.c0, line.c0 { stroke: var(--k0); } polyline.c1, line.c1 { stroke: var(--k1); }\n"
    "polyline.c2, line.c2 { stroke: var(--k2); } polyline.c3, line.c3 { stroke: var(--k3); }\n"
    "rect.c0 { fill: var(--k0); } rect.c1 { fill: var(--k1); }\n"
    "</style>\n</head>\n<body>\n";

static void figure(struct text *text, double value)
{
    if (isfinite(value))
        text_format(text, "<data value=\"%.17g\">%.4g</data>", value, value);
    else
        text_lit(text, "n/a");
}

/* ---- tables ---- */

static void row(struct text *text, const char *name, double value, const char *words)
{
    text_format(text, "<tr><td>%s</td><td>", name);
    figure(text, value);
    text_format(text, "</td><td class=\"soft\">%s</td></tr>\n", words);
}

static void named(struct text *text, const char *name, const json_t *column)
{
    text_format(text, "<tr><td>%s</td><td>", name);
    study_chart_escape(text, json_string_value(json_object_get(column, "name")));
    text_lit(text, "</td><td></td></tr>\n");
}

static void figures(struct text *text, const json_t *validation)
{
    const json_t *deflated = json_object_get(validation, "deflated");
    const json_t *best = json_object_get(validation, "deflated_best");
    text_lit(text, "<table>\n");
    row(text, "Probability of backtest overfitting", record_json_number(validation, "pbo"),
        "half splits in which the best in sample was in the worse half out of sample; 0.5 is pure luck");
    row(text, "Probability of loss", record_json_number(validation, "probability_of_loss"),
        "half splits in which it lost out of sample");
    row(text, "Degradation: slope", record_json_number(validation, "slope"),
        "of out-of-sample on in-sample Sharpe; below 0 what looked better did worse");
    row(text, "Degradation: intercept", record_json_number(validation, "intercept"), "");
    row(text, "R&#178;", record_json_number(validation, "r2"), "of that line");
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
    text_lit(text, "</table>\n");
}

static void curve_row(struct text *text, const char *name, const json_t *trial)
{
    static const char *const keys[] = {"sharpe", "return_pct", "drawdown_pct", "chosen_pct"};
    text_lit(text, "<tr><td>");
    study_chart_escape(text, name);
    text_lit(text, "</td>");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        text_lit(text, "<td>");
        figure(text, record_json_number(trial, keys[i]));
        text_lit(text, "</td>");
    }
    text_lit(text, "</tr>\n");
}

static void trials(struct text *text, const json_t *validation)
{
    size_t i;
    json_t *trial;
    text_lit(text, "<table>\n<tr><th>trial</th><th>Sharpe</th><th>return %</th><th>drawdown %</th>"
                   "<th>chosen %</th></tr>\n");
    json_array_foreach(json_object_get(validation, "columns"), i, trial)
        curve_row(text, json_string_value(json_object_get(trial, "name")), trial);
    if (json_is_object(json_object_get(validation, "holding")))
        curve_row(text, "holding", json_object_get(validation, "holding"));
    if (json_is_object(json_object_get(validation, "equal_weight")))
        curve_row(text, "equal weight", json_object_get(validation, "equal_weight"));
    text_lit(text, "</table>\n");
}

/* ---- pictures ---- */

static void curves(struct text *text, const struct returns_matrix *returns, const json_t *validation)
{
    const char *const names[] = {"best", "median"};
    struct chart_curve list[4];
    char words[2][160];
    int n = 0;
    for (; n < 2; n++) {
        const json_t *trial = json_object_get(validation, names[n]);
        json_int_t column = json_integer_value(json_object_get(trial, "column"));
        snprintf(words[n], sizeof words[n], "%s: %.120s", names[n], returns->names[column]);
        list[n] = (struct chart_curve){words[n], returns->values + column, returns->columns};
    }
    if (returns->holding)
        list[n++] = (struct chart_curve){"holding", returns->holding, 1};
    if (returns->equal_weight)
        list[n++] = (struct chart_curve){"equal weight", returns->equal_weight, 1};
    study_chart_curves(text, "What 1 became", list, n, returns->rows, returns->open_ns);
}

static bool lambda(struct text *text, const json_t *validation)
{
    const json_t *object = json_object_get(validation, "lambda"), *counts = json_object_get(object, "counts");
    size_t n = json_array_size(counts);
    double *bars = calloc(n + 1, sizeof *bars);
    for (size_t i = 0; bars && i < n; i++)
        bars[i] = json_number_value(json_array_get(counts, i));
    if (bars)
        study_chart_bars(text, "Distribution of λ", bars, (int)n, record_json_number(object, "low"),
                         record_json_number(object, "high"), 0);
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
    if (xy)
        study_chart_points(text, "Out-of-sample over in-sample Sharpe", xy, n,
                           record_json_number(validation, "slope"),
                           record_json_number(validation, "intercept"));
    free(xy);
    return xy != NULL;
}

static bool page(struct text *text, const struct returns_matrix *returns, const json_t *validation,
                 const char *title)
{
    bool annual = json_is_number(json_object_get(validation, "periods_per_year"));
    text_str(text, head);
    text_lit(text, "<title>");
    study_chart_escape(text, title);
    text_lit(text, "</title>\n");
    text_str(text, style);
    text_lit(text, "<h1>");
    study_chart_escape(text, title);
    text_format(text,
                "</h1>\n<p>%zu rows of %zu trials, out of sample. Sharpe ratios are %s.</p>\n"
                "<h2>Is the best one luck?</h2>\n",
                returns->rows, returns->columns, annual ? "a year's" : "a row's");
    figures(text, validation);
    text_lit(text, "<h2>Equity</h2>\n");
    curves(text, returns, validation);
    text_lit(text, "<h2>Where the choice ended up out of sample</h2>\n");
    bool done = lambda(text, validation);
    text_lit(text, "<h2>What in-sample Sharpe was worth</h2>\n");
    done = done && points(text, validation);
    text_lit(text, "<h2>Trials</h2>\n");
    trials(text, validation);
    text_lit(text, "</body>\n</html>\n");
    return done && text_ok(text);
}

int validation_report(const struct returns_matrix *returns, const json_t *validation, const char *title,
                      const char *path, char err[static VALIDATION_ERROR_MAX])
{
    struct text text = {0};
    struct whole_file file;
    int r = page(&text, returns, validation, title) ? whole_file_open(path, ".new", 0644, &file) : -ENOMEM;
    if (r == 0) {
        r = whole_file_put(&file, text.data, text.len);
        r = whole_file_close(&file, r);
    }
    text_finish(&text);
    if (r < 0)
        snprintf(err, VALIDATION_ERROR_MAX,
                 "%.300s: cannot be written: a file in a writable folder with room (%s)", path, strerror(-r));
    return r;
}
