/* Indicators of a shared object, lib:FILE.so:NAME:options: what is said of tables that cannot be used, and
 * that a good one is an indicator like the built-in ones: the reference, the stream and the cpu backend agree
 * to the bit, with the built-in sma where it is one; warm-up, NaNs, copies and saved states. plugin_rows
 * PLUGIN.so */
#include <errno.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include "indicators_gpu/include/papertape/indicator.h"
#include "indicators_gpu/indicators.h"
#include "tests/check.h"
#include "tests/indicators_gpu/plugin_cases.h"
#include "tests/random.h"
#include "tests/scratch.h"

enum { BARS = 300 };

/* What a file that was built once relies on. */
_Static_assert(sizeof(struct papertape_bar) == 48 && sizeof(struct papertape_bars) == 48, "bars");
_Static_assert(sizeof(struct papertape_option) == 40 && sizeof(struct papertape_indicator) == 104, "tables");
_Static_assert(offsetof(struct papertape_option, whole) == 32, "papertape_option.whole");
_Static_assert(offsetof(struct papertape_indicator, next) == 8, "papertape_indicator.next");
_Static_assert(offsetof(struct papertape_indicator, inputs) == 32, "papertape_indicator.inputs");
_Static_assert(offsetof(struct papertape_indicator, outputs) == 56, "papertape_indicator.outputs");
_Static_assert(offsetof(struct papertape_indicator, lookback) == 64, "papertape_indicator.lookback");
_Static_assert(offsetof(struct papertape_indicator, batch) == 96, "papertape_indicator.batch");

static char *object, *mark, path[SCRATCH_PATH_MAX];
static size_t object_size;
static double open_[BARS], high[BARS], low[BARS], close_[BARS], volume[BARS], time_[BARS];
static const struct indicator_columns columns = {open_, high, low, close_, volume, time_};

static void write_object(uint32_t which)
{
    snprintf(path, sizeof path, "%s/object-%u.so", scratch_root(), which);
    memcpy(mark + 16, &which, sizeof which);
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(object, 1, object_size, file) == object_size && fclose(file) == 0);
    CHECK_INT(chmod(path, 0755), 0);
}

static struct indicator_spec parsed(const char *rest)
{
    char text[SCRATCH_PATH_MAX + 64], err[400] = "";
    struct indicator_spec spec = {NULL, {0}};
    snprintf(text, sizeof text, "lib:%s%s", path, rest);
    CHECK_INT(indicator_spec_parse(text, &spec, err, sizeof err), 0);
    CHECK_STR(err, "");
    if (!spec.row)
        exit(1);
    return spec;
}

static void refused(const char *rest, const char *words)
{
    char text[SCRATCH_PATH_MAX + 64], err[400] = "";
    struct indicator_spec spec;
    snprintf(text, sizeof text, "lib:%s%s", path, rest);
    CHECK_INT(indicator_spec_parse(text, &spec, err, sizeof err), -EINVAL);
    CHECK(strstr(err, words) && !strchr(err, '\n'));
    if (!strstr(err, words))
        fprintf(stderr, "\"%s\", not \"%s\"\n", err, words);
}

static void test_tables(void)
{
    static const struct {
        uint32_t which;
        const char *says;
    } tables[] = {
        {PLUGIN_VERSION, "made for version 7 of papertape/indicator.h, this program has 1: build it again"},
        {PLUGIN_NEXT_VERSION, "the table of indicator 2 has version 9"},
        {PLUGIN_NAME, "the name of indicator 1: lower case letters"},
        {PLUGIN_NAME_TWICE, "two indicators are called band"},
        {PLUGIN_SUMMARY, "indicator mean: its summary: one line"},
        {PLUGIN_INPUTS, "indicator mean: inputs 0x40"},
        {PLUGIN_LOOKBACK, "indicator mean: lookback: the function is missing"},
        {PLUGIN_UPDATE, "indicator mean: update: the function is missing"},
        {PLUGIN_HUGE_STATE, "1099511627776 bytes of memory with these options: at most"},
        {PLUGIN_HUGE_LOOKBACK, "1099511627776 bars before the first output with these options: at most"},
        {PLUGIN_OPTION_NAME, "the name of option 1: lower case letters"},
        {PLUGIN_OPTION_RANGE, "option period: its range 2000 to 1000"},
        {PLUGIN_OPTION_NEGATIVE, "option period: its range -1 to 1000"},
        {PLUGIN_OPTION_DEFAULT, "option period: its default 0 is not within 1 to 1000"},
        {PLUGIN_OPTION_NAN, "option period: its default nan is not within 1 to 1000"},
        {PLUGIN_OPTION_WHOLE, "option period: its default 2.5 is no whole number"},
        {PLUGIN_OPTION_TWICE, "two options are called period"},
        {PLUGIN_OPTIONS_MANY, "5 options: there are at most 4"},
        {PLUGIN_OPTIONS_MISSING, "1 options: there are at most 4"},
        {PLUGIN_OUTPUTS_NONE, "0 outputs: there are 1 to 4"},
        {PLUGIN_OUTPUTS_MANY, "5 outputs: there are 1 to 4"},
        {PLUGIN_OUTPUT_ONLY, "the only output's name"},
        {PLUGIN_OUTPUT_NAME, "the name of output 1: lower case letters"},
        {PLUGIN_OUTPUT_TWICE, "two outputs are called same"},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        write_object(tables[i].which);
        refused(":mean:20", tables[i].says);
    }
}

static void test_texts(void)
{
    char text[SCRATCH_PATH_MAX + 64], expected[SCRATCH_PATH_MAX + 64];
    struct indicator_spec spec = parsed(":mean");
    CHECK(spec.row->plugin && spec.row->id == 0 && !spec.row->code && spec.options[0] == 20);
    CHECK(indicator_spec_valid(&spec));
    CHECK_INT(indicator_spec_name(&spec, 0, text, sizeof text), strlen("object-0:mean_20"));
    CHECK_STR(text, "object-0:mean_20");
    spec = parsed(":band:5,0.1");
    snprintf(expected, sizeof expected, "lib:%s:band:5,0.1", path);
    CHECK_INT(indicator_spec_text(&spec, text, sizeof text), strlen(expected));
    CHECK_STR(text, expected);
    CHECK(parsed(text + 4 + strlen(path)).row == spec.row);
    (void)indicator_spec_name(&spec, 1, text, sizeof text);
    CHECK_STR(text, "object-0:band_5_0.1.lower");
    refused("", "which indicator? lib:FILE.so:NAME, it has mean, band, broken");
    refused(":", "which indicator?");
    refused(":means", "has no indicator \"means\": it has mean, band, broken");
    refused(":mean:0", "mean: period \"0\": a whole number from 1 to 1000 is needed");
    refused(":mean:20,3", "mean: takes 1 option (period), \"3\" is too many");
    refused(":band:5,0.6", "band: part \"0.6\": a number from 0 to 0.5 is needed");
    CHECK(!indicator_find("mean")); /* and no built-in one is changed */
}

/* A walk whose first bars lack a price, as columns may. */
static void make_bars(size_t without)
{
    struct random random = {7};
    double price = 100;
    for (size_t i = 0; i < BARS; i++) {
        double change = (double)random_between(&random, -100, 100) / 100;
        open_[i] = price;
        close_[i] = price + change;
        high[i] = fmax(price, close_[i]) + 0.25;
        low[i] = fmin(price, close_[i]) - 0.25;
        volume[i] = 1;
        time_[i] = (double)i * 60;
        price = close_[i];
        if (i < without)
            close_[i] = high[i] = (double)NAN;
    }
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void stream_into(const struct indicator_spec *spec, double out[][BARS])
{
    struct indicator_stream *stream, *copy = NULL;
    CHECK_INT(indicator_stream_open(spec, &stream), 0);
    for (size_t i = 0; i < BARS; i++) {
        const struct indicator_bar bar = {open_[i], high[i], low[i], close_[i], volume[i], time_[i]};
        double ahead[INDICATOR_OUTPUTS_MAX], values[INDICATOR_OUTPUTS_MAX];
        bool peeks = indicator_stream_peek(stream, &bar, ahead);
        bool ready = indicator_stream_update(stream, &bar, values);
        CHECK(peeks == ready);
        for (size_t k = 0; k < spec->row->n_outputs; k++) {
            out[k][i] = ready ? values[k] : (double)NAN;
            CHECK(!ready || same(ahead[k], values[k]));
        }
        if (i == BARS / 2) { /* a copy continues */
            CHECK_INT(indicator_stream_clone(stream, &copy), 0);
            indicator_stream_close(stream);
            stream = copy;
        }
    }
    CHECK_INT(indicator_stream_refused(stream), 0);
    indicator_stream_close(stream);
}

/* Reference, stream and cpu backend of a spec; and another spec's reference, where that is to be the same. */
static void compare(const char *rest, const char *built_in)
{
    static double reference[2][BARS], streamed[2][BARS], fast[2][BARS], own[1][BARS];
    static float narrow[5][BARS], narrow_out[2][BARS];
    const struct indicator_spec spec = parsed(rest);
    double *outs[2] = {reference[0], reference[1]};
    char err[200] = "";
    CHECK_INT(indicator_reference(&spec, &columns, BARS, outs), 0);
    stream_into(&spec, streamed);
    struct indicator_request request = {
        .precision = INDICATOR_F64, .n_specs = 1, .specs = &spec, .out = (void *const[]){fast[0], fast[1]}};
    const double *const all[] = {open_, high, low, close_, volume, time_};
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        request.columns[c] = (struct indicator_column){all[c], BARS};
    CHECK_INT(indicator_compute(&request, err, sizeof err), 0);
    for (size_t c = 0; c < 5; c++) {
        for (size_t i = 0; i < BARS; i++)
            narrow[c][i] = (float)all[c][i];
        request.columns[c].values = narrow[c];
    }
    request.precision = INDICATOR_F32;
    request.out = (void *const[]){narrow_out[0], narrow_out[1]};
    CHECK_INT(indicator_compute(&request, err, sizeof err), 0);
    CHECK_STR(err, "");
    struct indicator_spec twin;
    if (built_in) {
        CHECK_INT(indicator_spec_parse(built_in, &twin, err, sizeof err), 0);
        CHECK_INT(indicator_reference(&twin, &columns, BARS, (double *const[]){own[0]}), 0);
        CHECK_INT(indicator_lookback(&spec), indicator_lookback(&twin));
        CHECK_INT(indicator_warmup(&spec, INDICATOR_F64), indicator_warmup(&twin, INDICATOR_F64));
    }
    for (size_t k = 0; k < spec.row->n_outputs; k++)
        for (size_t i = 0; i < BARS; i++) {
            CHECK(same(reference[k][i], streamed[k][i]) && same(reference[k][i], fast[k][i]));
            CHECK(isnan(reference[k][i]) == isnan(narrow_out[k][i]));
            CHECK(isnan(reference[k][i]) ||
                  fabs((double)narrow_out[k][i] - reference[k][i]) <= 1e-5 * fabs(reference[k][i]));
            CHECK(!built_in || same(reference[k][i], own[k][i]));
        }
}

static void test_values(void)
{
    for (size_t without = 0; without < 8; without += 7) {
        make_bars(without);
        compare(":mean:20", "sma:20");
        compare(":mean:1", "sma:1");
        compare(":band:10,0.25", NULL);
    }
    make_bars(0);
    static double values[2][BARS];
    struct indicator_spec spec = parsed(":broken:5");
    CHECK_INT(indicator_reference(&spec, &columns, BARS, (double *const[]){values[0]}), 0);
    CHECK(values[0][3] == 4 && isnan(values[0][4]) && values[0][5] == 6); /* what is infinite is no value */
    spec = parsed(":band:10,0");
    CHECK_INT(indicator_reference(&spec, &columns, BARS, (double *const[]){values[0], values[1]}), 0);
    CHECK(isnan(values[0][8]) && !isnan(values[0][9]));
    double most = high[0];
    for (size_t i = 1; i < 10; i++)
        most = fmax(most, high[i]);
    CHECK(values[0][9] == most);
    close_[50] = (double)INFINITY;
    spec = parsed(":mean:20");
    CHECK_INT(indicator_reference(&spec, &columns, BARS, (double *const[]){values[0]}), -EINVAL);
}

/* ---- saved states ---- */

struct saved {
    uint64_t words[256];
    size_t n, at;
    bool reads;
};

static void count(void *ctx, uint64_t *value, uint64_t most)
{
    struct saved *saved = ctx;
    if (saved->reads)
        *value = saved->at < saved->n ? saved->words[saved->at++] : 0;
    else
        saved->words[saved->n++] = *value;
    *value = *value < most ? *value : most;
}

static void number(void *ctx, double *value)
{
    uint64_t word;
    memcpy(&word, value, sizeof word);
    count(ctx, &word, UINT64_MAX);
    memcpy(value, &word, sizeof word);
}

static double feed(struct indicator_stream *stream, size_t from, size_t to)
{
    double values[INDICATOR_OUTPUTS_MAX] = {0};
    for (size_t i = from; i < to; i++) {
        const struct indicator_bar bar = {open_[i], high[i], low[i], close_[i], volume[i], time_[i]};
        if (!indicator_stream_update(stream, &bar, values))
            values[0] = (double)NAN;
    }
    return values[0];
}

/* A stream that is set from what another one saved continues as that one; one whose memory has another size
 * by now begins again. */
static void test_saved(void)
{
    make_bars(0);
    const struct indicator_spec spec = parsed(":mean:20"), other = parsed(":mean:30");
    struct indicator_stream *stream, *next, *changed;
    struct saved saved = {.n = 0};
    struct indicator_stream_fields fields = {.ctx = &saved, .number = number, .count = count};
    CHECK(indicator_stream_open(&spec, &stream) == 0 && indicator_stream_open(&spec, &next) == 0 &&
          indicator_stream_open(&other, &changed) == 0);
    (void)feed(stream, 0, 100);
    indicator_stream_visit(stream, &fields);
    saved.reads = true;
    indicator_stream_visit(next, &fields);
    CHECK_INT(saved.at, saved.n);
    CHECK_INT(indicator_stream_bars(next), 100);
    CHECK(same(feed(stream, 100, 101), feed(next, 100, 101)));
    saved.at = 0;
    indicator_stream_visit(changed, &fields);
    CHECK_INT(saved.at, saved.n);
    CHECK_INT(indicator_stream_bars(changed), 0);
    CHECK(isnan(feed(changed, 100, 129)) && !isnan(feed(changed, 129, 130)));
    indicator_stream_close(stream);
    indicator_stream_close(next);
    indicator_stream_close(changed);
}

int main(int argc, char **argv)
{
    struct stat st;
    FILE *file = argc == 2 ? fopen(argv[1], "rb") : NULL;
    if (!file || fstat(fileno(file), &st) < 0)
        return 2;
    object_size = (size_t)st.st_size;
    object = malloc(object_size);
    CHECK(object && fread(object, 1, object_size, file) == object_size);
    fclose(file);
    mark = memmem(object, object_size, PLUGIN_MARK, sizeof PLUGIN_MARK);
    CHECK(mark);
    if (!mark)
        return 1;
    test_tables();
    write_object(PLUGIN_RIGHT);
    test_texts();
    test_values();
    test_saved();
    free(object);
    return check_done("plugin_rows");
}
