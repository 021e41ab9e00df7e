/* TA-Lib's values, or NumPy's where TA-Lib has none, from talib.txt: one fixture drives the reference, the
 * stream and the GPU's kernels, by way of a module whose device is the CPU. A row of the registry without a
 * column there fails. The arguments are the file and the module. */
#include "indicators_gpu/indicator_rows.h"
#include "indicators_gpu/module.h"

#include "tests/check.h"
#include "tests/indicators_gpu/series.h"

/* Longest line: a column of 120 values. */
enum { LINE_MAX_LEN = 8192 };

/* Relative to the value; for what passes through 0, also `times` what the fixture allows the row at a bar. */
static size_t misses(const double *got, const double *expected, size_t n, double times,
                     const double *absolute)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (isnan(expected[i])
                ? !isnan(got[i])
                : !(fabs(got[i] - expected[i]) <= 1e-12 * fabs(expected[i]) + times * absolute[i]))
            count++;
    return count;
}

static struct gpu_module *module;

static void check_column(const struct indicator_spec *spec, size_t output, const struct series *s,
                         const double *expected, const double *absolute)
{
    struct indicator_columns in = series_columns(s);
    struct outputs o = outputs_make(spec->row, s->n);
    CHECK_INT(indicator_reference(spec, &in, s->n, o.at), 0);
    CHECK_INT(misses(o.at[output], expected, s->n, 1, absolute), 0);

    struct indicator_stream *stream;
    CHECK_INT(indicator_stream_open(spec, &stream), 0);
    for (size_t i = 0; i < s->n; i++) {
        struct indicator_bar bar = series_bar(s, i);
        double values[INDICATOR_OUTPUTS_MAX];
        o.at[output][i] = indicator_stream_update(stream, &bar, values) ? values[output] : NAN;
    }
    indicator_stream_close(stream);
    CHECK_INT(misses(o.at[output], expected, s->n, 1, absolute), 0);

    struct gpu_batch batch = {GPU_EXACT, 1, s->n, &in, 1, spec, o.at, INDICATOR_F64};
    char reason[GPU_REASON_MAX];
    CHECK_INT(gpu_module_compute(module, &batch, reason, sizeof(reason)), 0);
    CHECK_INT(misses(o.at[output], expected, s->n, 1, absolute), 0);
    batch.method = GPU_PARALLEL;
    CHECK_INT(gpu_module_compute(module, &batch, reason, sizeof(reason)), 0);
    CHECK_INT(misses(o.at[output], expected, s->n, 10, absolute), 0);
    outputs_free(&o);
}

/* Next line that is no comment. */
static bool next_line(FILE *file, char *line, int cap)
{
    do {
        if (!fgets(line, cap, file))
            return false;
    } while (line[0] == '#');
    line[strcspn(line, "\n")] = '\0';
    return true;
}

/* The rest of a line as numbers; returns how many, at most `cap`. */
static size_t read_numbers(const char *text, double *ret, size_t cap)
{
    for (size_t n = 0;; n++) {
        char *end;
        double value = strtod(text, &end);
        if (end == text)
            return n;
        if (n < cap)
            ret[n] = value;
        text = end;
    }
}

/* One number for all bars, or one each. */
static bool read_absolute(const char *text, double *ret, size_t n)
{
    size_t given = read_numbers(text, ret, n);
    for (size_t i = 1; given == 1 && i < n; i++)
        ret[i] = ret[0];
    return given == 1 || given == n;
}

int main(int argc, char **argv)
{
    char line[LINE_MAX_LEN];
    size_t n = 0, n_rows;
    char reason[GPU_REASON_MAX] = "";
    FILE *file = argc == 3 ? fopen(argv[1], "r") : NULL;
    CHECK(file != NULL);
    if (file)
        CHECK_INT(gpu_module_open(argv[2], &module, reason, sizeof(reason)), 0);
    CHECK_STR(reason, "");
    if (!file || !module || !next_line(file, line, sizeof(line)) || sscanf(line, "bars %zu", &n) != 1) {
        CHECK(!"a fixture file and a module are needed");
        return check_done("indicators_gpu/fixtures");
    }
    struct series s = series_make(n, SERIES_FLAT, 0);
    for (size_t i = 0; i < n; i++)
        CHECK(next_line(file, line, sizeof(line)) &&
              sscanf(line, "%lf %lf %lf %lf %lf %lf", &s.open[i], &s.high[i], &s.low[i], &s.close[i],
                     &s.volume[i], &s.time[i]) == 6);

    const struct indicator *const *rows = indicator_rows(&n_rows);
    bool covered[INDICATOR_IDS][INDICATOR_OUTPUTS_MAX] = {0};
    double *expected = series_column(n), *absolute[INDICATOR_IDS];
    for (size_t id = 0; id < INDICATOR_IDS; id++) {
        absolute[id] = series_column(n);
        memset(absolute[id], 0, n * sizeof(double));
    }
    while (next_line(file, line, sizeof(line))) {
        char text[64], err[200];
        size_t output;
        int values;
        struct indicator_spec spec;
        if (sscanf(line, "absolute %63s %n", text, &values) == 1) {
            const struct indicator *row = indicator_find(text);
            CHECK(row != NULL && read_absolute(line + values, absolute[row ? row->id : 0], n));
            continue;
        }
        if (sscanf(line, "column %63s %zu %n", text, &output, &values) != 2 ||
            indicator_spec_parse(text, &spec, err, sizeof(err)) < 0 || output >= spec.row->n_outputs) {
            fprintf(stderr, "  %.60s\n", line);
            CHECK(!"a column of the registry");
            continue;
        }
        unsigned long before = check_failures;
        CHECK_INT(read_numbers(line + values, expected, n), n);
        check_column(&spec, output, &s, expected, absolute[spec.row->id]);
        if (check_failures > before)
            fprintf(stderr, "  %s output %zu\n", text, output);
        covered[spec.row->id][output] = true;
    }
    for (size_t r = 0; r < n_rows; r++)
        for (size_t k = 0; k < rows[r]->n_outputs; k++) {
            CHECK(covered[rows[r]->id][k]);
            if (!covered[rows[r]->id][k])
                fprintf(stderr,
                        "  %s output %zu has no fixture: FIXTURES of tests/indicators_gpu/oracle, then "
                        "fixtures.py writes talib.txt\n",
                        rows[r]->name, k);
        }
    for (size_t id = 0; id < INDICATOR_IDS; id++)
        free(absolute[id]);
    free(expected);
    series_free(&s);
    fclose(file);
    gpu_module_close(module);
    return check_done("indicators_gpu/fixtures");
}
