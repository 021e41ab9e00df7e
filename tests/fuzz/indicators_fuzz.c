/* Bytes as specifications and bars. Whatever they are:
 *   - a text is refused with a sentence, or is a specification that is written and read again as the same;
 *   - the stream gives the reference's bits, also as a clone, as a look ahead, and put together from its
 *     fields; both refuse the same bars;
 *   - the cpu backend refuses what the reference refuses, and is within the rows' tolerances on tame bars;
 *   - a request that breaks the contract is refused, and nothing is written;
 *   - a stream whose fields are any numbers can continue.
 *
 *   build-fuzz/tests/fuzz/indicators_fuzz -max_total_time=60 -max_len=512 \
 *       NEW_CORPUS tests/fuzz/corpus_indicators */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "indicators_gpu/indicators.h"
#include "tests/indicators_gpu/series.h"

enum { SPECS_MAX = 3, BARS_MAX = 400, OUTPUTS = SPECS_MAX * INDICATOR_OUTPUTS_MAX, FIELDS_MAX = 1 << 18 };

#define NO_DIFFERENCE 1e-24 /* indicators.h */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_hold(bool holds, const char *what, int line)
{
    if (holds)
        return;
    fprintf(stderr, "indicators_fuzz: line %d: %s\n", line, what);
    abort();
}
#define must(condition) must_hold(condition, #condition, __LINE__)

struct input {
    const uint8_t *at;
    size_t left;
};

/* Zeros where the input has ended. */
static unsigned byte(struct input *in)
{
    if (in->left == 0)
        return 0;
    in->left--;
    return *in->at++;
}

static unsigned pair(struct input *in)
{
    unsigned low = byte(in);
    return low | byte(in) << 8;
}

static double any_double(struct input *in)
{
    static const double values[] = {NAN,     INFINITY, -INFINITY, 0.0,     -0.0,  DBL_TRUE_MIN,
                                    DBL_MIN, DBL_MAX,  -DBL_MAX,  FLT_MAX, 1e300, -1e-300,
                                    1e-160,  9.3e18,   -1.0,      1.0};
    unsigned b = byte(in);
    if (b < sizeof(values) / sizeof(values[0]))
        return values[b];
    uint64_t bits = 0;
    double value;
    for (int i = 0; i < 8; i++)
        bits |= (uint64_t)byte(in) << 8 * i;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof(a)) == 0;
}

static bool same_spec(const struct indicator_spec *a, const struct indicator_spec *b)
{
    bool equal = a->row == b->row;
    for (size_t i = 0; equal && i < a->row->n_options; i++)
        equal = a->options[i] == b->options[i];
    return equal;
}

static void *memory(size_t bytes)
{
    void *p = malloc(bytes ? bytes : 1);
    must(p != NULL);
    return p;
}

/* Reads a text with an error buffer of any size. */
static bool read_text(struct input *in, struct indicator_spec *ret)
{
    char text[64] = "", again[160];
    size_t len = byte(in) % sizeof(text), cap = byte(in);
    for (size_t i = 0; i < len; i++)
        text[i] = (char)byte(in);
    char *err = memory(cap);
    struct indicator_spec spec = {0}, second;
    int r = indicator_spec_parse(text, &spec, err, cap);
    must(r == 0 || r == -EINVAL);
    if (r < 0) {
        must(!spec.row && (cap == 0 || memchr(err, '\0', cap)) && (cap < 2 || err[0]));
    } else {
        must(indicator_spec_valid(&spec));
        must(indicator_spec_text(&spec, again, sizeof(again)) < sizeof(again));
        must(indicator_spec_parse(again, &second, NULL, 0) == 0 && same_spec(&spec, &second));
        for (size_t k = 0; k < spec.row->n_outputs; k++) {
            size_t whole = indicator_spec_name(&spec, k, again, sizeof(again));
            must(whole == strlen(again) && indicator_spec_name(&spec, k, err, cap) == whole);
            must(cap == 0 || (strlen(err) <= whole && strncmp(err, again, strlen(err)) == 0));
        }
        *ret = spec;
    }
    free(err);
    return r == 0;
}

static struct indicator_spec make_spec(struct input *in)
{
    size_t n_rows;
    const struct indicator *const *rows = indicator_rows(&n_rows);
    struct indicator_spec spec = {.row = rows[byte(in) % n_rows]};
    for (size_t i = 0; i < spec.row->n_options; i++) {
        const struct indicator_option *option = &spec.row->options[i];
        unsigned b = byte(in);
        double step = option->whole ? b % 48 : b / 32.0;
        spec.options[i] = b == 0 ? option->value : fmin(option->min + step, option->max);
        if (b == 255)
            spec.options[i] = option->max;
    }
    must(indicator_spec_valid(&spec));
    return spec;
}

/* Bars of a kind, then leading NaNs and values of any sort. True when nothing was put in. */
static bool make_bars(struct input *in, struct series *ret)
{
    size_t n = pair(in) % BARS_MAX;
    enum series_kind kind = byte(in) % SERIES_KINDS;
    *ret = series_make(n, kind, byte(in));
    double *columns[INDICATOR_COLUMNS] = {ret->open, ret->high, ret->low, ret->close, ret->volume, ret->time};
    size_t leading = byte(in), n_any = byte(in) % 8;
    if (leading > 32)
        leading = 0;
    for (size_t i = 0; i < leading && i < n; i++)
        columns[i % INDICATOR_COLUMNS][i] = NAN;
    for (size_t i = 0; i < n_any && n > 0; i++) {
        size_t at = pair(in) % n, column = byte(in) % INDICATOR_COLUMNS;
        columns[column][at] = any_double(in);
    }
    return n_any == 0;
}

static void copy_number(void *ctx, double *value)
{
    double **at = ctx;
    *(*at)++ = *value;
}

static void copy_count(void *ctx, uint64_t *value, uint64_t most)
{
    double **at = ctx;
    must(*value <= most);
    *(*at)++ = (double)*value;
}

static void set_number(void *ctx, double *value)
{
    double **at = ctx;
    *value = *(*at)++;
}

static void set_count(void *ctx, uint64_t *value, uint64_t most)
{
    double **at = ctx;
    *value = (uint64_t) * (*at)++;
    must(*value <= most);
}

/* A stream put together from the fields of another. */
static struct indicator_stream *restored(struct indicator_stream *from)
{
    static double fields[FIELDS_MAX];
    double *read = fields, *set = fields;
    struct indicator_stream *to;
    if (indicator_lookback(indicator_stream_spec(from)) > BARS_MAX)
        return NULL; /* windows of many empty cells */
    must(indicator_stream_open(indicator_stream_spec(from), &to) == 0);
    indicator_stream_visit(from, &(struct indicator_stream_fields){&read, copy_number, copy_count});
    indicator_stream_visit(to, &(struct indicator_stream_fields){&set, set_number, set_count});
    must(set == read && read <= fields + FIELDS_MAX);
    return to;
}

static void check_stream(struct input *in, const struct indicator_spec *spec, const struct series *s,
                         double *const reference[], bool refused)
{
    size_t change = s->n > 0 ? pair(in) % s->n : 0, start = s->n, lookback = indicator_lookback(spec);
    unsigned how = byte(in) % 3;
    struct indicator_stream *stream;
    must(indicator_stream_open(spec, &stream) == 0);

    for (size_t i = 0; i < s->n; i++) {
        struct indicator_bar bar = series_bar(s, i);
        double out[INDICATOR_OUTPUTS_MAX], ahead[INDICATOR_OUTPUTS_MAX];
        if (i == change && how > 0) {
            struct indicator_stream *other = NULL;
            if (how == 1)
                must(indicator_stream_clone(stream, &other) == 0);
            else
                other = restored(stream);
            if (other) {
                indicator_stream_close(stream);
                stream = other;
            }
        }
        bool may = indicator_stream_peek(stream, &bar, ahead);
        uint64_t before = indicator_stream_bars(stream);
        bool closed = indicator_stream_update(stream, &bar, out);
        if (start == s->n && indicator_stream_bars(stream) > 0)
            start = i;
        must(may == closed && (!closed || indicator_stream_bars(stream) == before + 1));
        if (!refused)
            must(closed == (start < s->n && i >= start + lookback));
        for (size_t k = 0; k < spec->row->n_outputs; k++) {
            must(!closed || same(ahead[k], out[k]));
            must(refused || same(closed ? out[k] : (double)NAN, reference[k][i]));
        }
    }
    must(refused == (indicator_stream_refused(stream) > 0));
    indicator_stream_close(stream);
}

/* Any number in each field; the stream has to live with it. */
static void any_number(void *ctx, double *value)
{
    *value = any_double(ctx);
}

static void any_count(void *ctx, uint64_t *value, uint64_t most)
{
    uint64_t any = (uint64_t)pair(ctx) << (byte(ctx) % 49);
    *value = most == UINT64_MAX ? any : any % (most + 1);
}

static void check_hostile(struct input *in, const struct indicator_spec *spec, const struct series *s)
{
    struct indicator_stream *stream;
    must(indicator_stream_open(spec, &stream) == 0);
    if (indicator_lookback(spec) <= BARS_MAX)
        indicator_stream_visit(stream, &(struct indicator_stream_fields){in, any_number, any_count});
    for (size_t i = 0; i < s->n; i++) {
        struct indicator_bar bar = series_bar(s, i);
        double out[INDICATOR_OUTPUTS_MAX];
        indicator_stream_peek(stream, &bar, out);
        indicator_stream_update(stream, &bar, out);
    }
    indicator_stream_close(stream);
}

static double tolerance_of(const struct indicator *row, bool f32, double value, double price, double column)
{
    double share = f32 ? row->tolerance.f32 : row->tolerance.f64;
    switch (row->tolerance.scale) {
    case INDICATOR_OF_VALUE:
        return share * fabs(value);
    case INDICATOR_OF_PRICE:
        return share * price;
    case INDICATOR_OF_COLUMN:
        return share * column;
    case INDICATOR_OF_ONE:
        break;
    }
    return share;
}

/* Columns and outputs of one precision, each memory of exactly its size. */
struct batch {
    bool f32;
    size_t n, n_outputs;
    struct series wide; /* what the columns hold, in float64 */
    void *columns[INDICATOR_COLUMNS], *out[OUTPUTS];
    double *reference[OUTPUTS];
};

static size_t cell(const struct batch *b)
{
    return b->f32 ? sizeof(float) : sizeof(double);
}

static double value_of(const struct batch *b, size_t output, size_t i)
{
    return b->f32 ? (double)((float *)b->out[output])[i] : ((double *)b->out[output])[i];
}

static double *copy_of(const double *column, size_t n, bool f32)
{
    double *copy = memory(n * sizeof(double));
    for (size_t i = 0; i < n; i++)
        copy[i] = !f32                        ? column[i]
                  : fabs(column[i]) > FLT_MAX ? copysign(INFINITY, column[i])
                                              : (double)(float)column[i];
    return copy;
}

static void *narrow(const double *column, size_t n)
{
    float *values = memory(n * sizeof(float));
    for (size_t i = 0; i < n; i++)
        values[i] = (float)column[i];
    return values;
}

static void make_batch(struct batch *b, const struct series *s, size_t n_outputs, bool f32)
{
    const double *from[INDICATOR_COLUMNS] = {s->open, s->high, s->low, s->close, s->volume, s->time};
    double **to[INDICATOR_COLUMNS] = {&b->wide.open,  &b->wide.high,   &b->wide.low,
                                      &b->wide.close, &b->wide.volume, &b->wide.time};
    *b = (struct batch){.f32 = f32, .n = s->n, .n_outputs = n_outputs, .wide.n = s->n};
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        bool time = 1u << c == INDICATOR_TIME;
        *to[c] = copy_of(from[c], s->n, f32 && !time);
        b->columns[c] = f32 && !time ? narrow(*to[c], s->n) : copy_of(from[c], s->n, false);
    }
    for (size_t k = 0; k < n_outputs; k++) {
        b->out[k] = memory(s->n * cell(b));
        b->reference[k] = memory(s->n * sizeof(double));
        memset(b->out[k], 0x5a, s->n * cell(b));
        memset(b->reference[k], 0x5a, s->n * sizeof(double));
    }
}

static void free_batch(struct batch *b)
{
    series_free(&b->wide);
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        free(b->columns[c]);
    for (size_t k = 0; k < b->n_outputs; k++) {
        free(b->out[k]);
        free(b->reference[k]);
    }
}

static bool untouched(const void *memory_of, size_t bytes)
{
    const uint8_t *at = memory_of;
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != 0x5a)
            return false;
    return true;
}

/* Every spec's reference. True where none refuses. */
static bool compute_reference(struct batch *b, const struct indicator_spec *specs, size_t n_specs,
                              bool ret_refused[])
{
    struct indicator_columns in = series_columns(&b->wide);
    double **out = b->reference;
    bool all = true;
    for (size_t s = 0; s < n_specs; out += specs[s++].row->n_outputs) {
        size_t start = SIZE_MAX, bad = SIZE_MAX;
        int r = indicator_reference(&specs[s], &in, b->n, out);
        must(r == 0 || r == -EINVAL);
        must(indicator_check(specs[s].row, &in, b->n, &start, &bad) == r);
        must(r < 0 ? start == SIZE_MAX && bad < b->n : start <= b->n && bad == SIZE_MAX);
        for (size_t k = 0; r < 0 && k < specs[s].row->n_outputs; k++)
            must(untouched(out[k], b->n * sizeof(double)));
        ret_refused[s] = r < 0;
        all = all && r == 0;
    }
    return all;
}

static void compare(const struct batch *b, const struct indicator_spec *spec, size_t first, bool tame)
{
    double price = 0;
    for (size_t i = 0; i < b->n; i++)
        price = fmax(price, fmax(fabs(b->wide.high[i]), fabs(b->wide.low[i])));
    for (size_t k = first; k < first + spec->row->n_outputs; k++) {
        double column = 0;
        for (size_t i = 0; i < b->n; i++)
            column = fmax(column, fabs(b->reference[k][i]));
        for (size_t i = 0; i < b->n; i++) {
            double value = b->reference[k][i], got = value_of(b, k, i);
            if (i < indicator_lookback(spec))
                must(isnan(got));
            if (!tame || (isnan(value) && isnan(got)))
                continue;
            double tolerance = tolerance_of(spec->row, b->f32, value, price, column);
            tolerance = fmax(tolerance, fabs(value) * (b->f32 ? FLT_EPSILON : DBL_EPSILON));
            tolerance = fmax(tolerance, NO_DIFFERENCE);
            if (fabs(got - value) <= tolerance)
                continue;
            char name[160];
            indicator_spec_name(spec, k - first, name, sizeof(name));
            fprintf(stderr, "indicators_fuzz: %s %s bar %zu: %.17g, not %.17g\n", name,
                    b->f32 ? "f32" : "f64", i, got, value);
            abort();
        }
    }
}

/* Breaks one thing of a sound request. False where there is nothing to break. */
static bool break_request(struct input *in, struct indicator_request *request, struct indicator_spec *specs,
                          void **out, const struct batch *b)
{
    size_t c = 0, k = byte(in) % b->n_outputs, other = (k + 1) % b->n_outputs;
    const struct indicator *row = specs[0].row;
    while (!(row->inputs & 1u << c))
        c++;
    struct indicator_column *column = &request->columns[c];
    switch (byte(in) % 10) {
    case 0:
        column->values = NULL;
        return true;
    case 1:
        column->values = (const char *)column->values + 1 + byte(in) % 3;
        return true;
    case 2:
        column->n--; /* of the only column that is read, no longer unequal */
        return (row->inputs & (row->inputs - 1)) != 0;
    case 3:
        out[k] = NULL;
        return true;
    case 4:
        out[k] = (char *)out[k] + 1 + byte(in) % 3;
        return true;
    case 5:
        out[k] = (char *)out[other] + byte(in) % b->n * cell(b);
        return k != other;
    case 6:
        out[k] = (char *)b->columns[c] + byte(in) % b->n * cell(b);
        return true;
    case 7:
        specs[0].options[0] = row->n_options > 0 ? row->options[0].max + 1 : 0;
        return row->n_options > 0;
    case 8:
        specs[0].options[0] = row->n_options > 0 ? row->options[0].min - 0.5 : 0;
        return row->n_options > 0;
    default:
        specs[0].options[0] = NAN;
        return row->n_options > 0;
    }
}

static void check_broken(struct input *in, const struct indicator_request *sound, const struct batch *b)
{
    struct indicator_request request = *sound;
    struct indicator_spec specs[SPECS_MAX];
    void *out[OUTPUTS];
    memcpy(specs, sound->specs, sound->n_specs * sizeof(specs[0]));
    memcpy(out, sound->out, b->n_outputs * sizeof(out[0]));
    request.specs = specs;
    request.out = out;
    if (!break_request(in, &request, specs, out, b))
        return;
    size_t cap = byte(in);
    char *err = memory(cap);
    must(indicator_compute(&request, err, cap) == -EINVAL);
    must(cap < 2 || (memchr(err, '\0', cap) && err[0]));
    for (size_t k = 0; k < b->n_outputs; k++)
        must(untouched(b->out[k], b->n * cell(b)));
    free(err);
}

static void check_fast(struct input *in, struct batch *b, const struct indicator_spec *specs, size_t n_specs,
                       bool tame, bool sound)
{
    struct indicator_request request = {.precision = b->f32 ? INDICATOR_F32 : INDICATOR_F64,
                                        .n_specs = n_specs,
                                        .specs = specs,
                                        .out = b->out};
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        request.columns[c] = (struct indicator_column){b->columns[c], b->n};
    request.isa = INDICATOR_ISA_BASELINE + byte(in) % (indicator_isa_best() - INDICATOR_ISA_BASELINE + 1);
    if (b->n > 0)
        check_broken(in, &request, b);
    char err[200] = "";
    int r = indicator_compute(&request, err, sizeof(err));
    must(r == (sound ? 0 : -EINVAL) && (r < 0) == (err[0] != '\0'));
    size_t first = 0;
    for (size_t s = 0; r == 0 && s < n_specs; first += specs[s++].row->n_outputs)
        compare(b, &specs[s], first, tame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct indicator_spec specs[SPECS_MAX];
    size_t n_specs = 0, n_outputs = 0, more = byte(&in) % SPECS_MAX;
    n_specs += read_text(&in, &specs[0]);
    while (n_specs == 0 || (more > 0 && n_specs < SPECS_MAX)) {
        specs[n_specs++] = make_spec(&in);
        more -= more > 0;
    }
    for (size_t s = 0; s < n_specs; s++)
        n_outputs += specs[s].row->n_outputs;

    struct series bars;
    bool tame = make_bars(&in, &bars);
    for (int f32 = 0; f32 < 2; f32++) {
        struct batch batch;
        bool refused[SPECS_MAX];
        make_batch(&batch, &bars, n_outputs, f32);
        bool sound = compute_reference(&batch, specs, n_specs, refused);
        check_fast(&in, &batch, specs, n_specs, tame, sound);
        double **reference = batch.reference;
        for (size_t s = 0; !f32 && s < n_specs; reference += specs[s++].row->n_outputs)
            check_stream(&in, &specs[s], &bars, reference, refused[s]);
        free_batch(&batch);
    }
    check_hostile(&in, &specs[0], &bars);
    series_free(&bars);
    return 0;
}
