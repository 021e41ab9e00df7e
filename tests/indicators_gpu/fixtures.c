/* TA-Lib's values, from talib.txt: one fixture drives the reference, the stream and the GPU's kernels. A row
 * of the registry without a column there fails. */
#include "tests/check.h"
#include "tests/indicators_gpu/block_runner.h"
#include "tests/indicators_gpu/series.h"
#include "tests/indicators_gpu/tolerance.h"

/* Relative to the value, and for differences of prices, which pass through 0, to the price. */
static size_t misses(const struct indicator_spec *spec, const double *got, const double *expected, size_t n,
                     double top)
{
    double absolute = spec->row->id == INDICATOR_MACD ? 1e-14 * top : 0.0;
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (isnan(expected[i]) ? !isnan(got[i])
                               : !(fabs(got[i] - expected[i]) <= 1e-12 * fabs(expected[i]) + absolute))
            count++;
    return count;
}

static void check_column(const struct indicator_spec *spec, size_t output, const struct series *s,
                         const double *expected)
{
    struct indicator_columns in = series_columns(s);
    struct outputs o = outputs_make(spec->row, s->n);
    double top = 0;
    for (size_t i = 0; i < s->n; i++)
        top = fmax(top, s->high[i]);

    CHECK_INT(indicator_reference(spec, &in, s->n, o.at), 0);
    CHECK_INT(misses(spec, o.at[output], expected, s->n, top), 0);

    struct indicator_stream *stream;
    CHECK_INT(indicator_stream_open(spec, &stream), 0);
    for (size_t i = 0; i < s->n; i++) {
        struct indicator_bar bar = series_bar(s, i);
        double values[INDICATOR_OUTPUTS_MAX];
        o.at[output][i] = indicator_stream_update(stream, &bar, values) ? values[output] : NAN;
    }
    indicator_stream_close(stream);
    CHECK_INT(misses(spec, o.at[output], expected, s->n, top), 0);

    struct gpu_batch batch = {GPU_EXACT, 1, s->n, &in, 1, spec, o.at};
    bool kept = false;
    CHECK_INT(block_compute(&batch, false, &kept), 0);
    CHECK_INT(misses(spec, o.at[output], expected, s->n, top), 0);
    batch.method = GPU_PARALLEL;
    CHECK_INT(block_compute(&batch, false, &kept), 0);
    CHECK_INT(misses(spec, o.at[output], expected, s->n, 10 * top), 0);
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

int main(int argc, char **argv)
{
    char line[256];
    size_t n = 0, n_rows;
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    CHECK(file != NULL);
    if (!file || !next_line(file, line, sizeof(line)) || sscanf(line, "bars %zu", &n) != 1) {
        CHECK(!"a fixture file is needed");
        return check_done("indicators_gpu/fixtures");
    }
    struct series s = series_make(n, SERIES_FLAT, 0);
    for (size_t i = 0; i < n; i++)
        CHECK(next_line(file, line, sizeof(line)) &&
              sscanf(line, "%lf %lf %lf %lf %lf", &s.open[i], &s.high[i], &s.low[i], &s.close[i],
                     &s.volume[i]) == 5);

    const struct indicator *const *rows = indicator_rows(&n_rows);
    bool covered[64][INDICATOR_OUTPUTS_MAX] = {0};
    double *expected = series_column(n);
    while (next_line(file, line, sizeof(line))) {
        char text[64], err[200];
        size_t output;
        struct indicator_spec spec;
        if (sscanf(line, "column %63s %zu", text, &output) != 2 ||
            indicator_spec_parse(text, &spec, err, sizeof(err)) < 0 || output >= spec.row->n_outputs) {
            CHECK(!"a column of the registry");
            break;
        }
        for (size_t i = 0; i < n; i++)
            CHECK(next_line(file, line, sizeof(line)) && sscanf(line, "%lf", &expected[i]) == 1);
        check_column(&spec, output, &s, expected);
        covered[spec.row->id][output] = true;
    }
    for (size_t r = 0; r < n_rows; r++)
        for (size_t k = 0; k < rows[r]->n_outputs; k++)
            CHECK(covered[rows[r]->id][k]);
    free(expected);
    series_free(&s);
    fclose(file);
    return check_done("indicators_gpu/fixtures");
}
