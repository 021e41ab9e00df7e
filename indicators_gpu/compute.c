#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "exchange/fail.h"
#include "indicators_gpu/fast/pass.h"
#include "indicators_gpu/isa.h"
#include "indicators_gpu/plugin_rows.h"

static const char *const column_names[INDICATOR_COLUMNS] = {"open", "high", "low", "close", "volume", "time"};

#if HAVE_AVX_SETS
extern const struct fast_set fast_set_baseline_f64, fast_set_baseline_f32, fast_set_avx2_f64,
    fast_set_avx2_f32, fast_set_avx512_f64, fast_set_avx512_f32;
#else
extern const struct fast_set fast_set_baseline_f64, fast_set_baseline_f32;
#endif

const struct fast_set *indicators_fast_set(enum indicator_isa isa, enum indicator_precision precision)
{
    bool f32 = precision == INDICATOR_F32;
    switch (isa) {
#if HAVE_AVX_SETS
    case INDICATOR_ISA_AVX512:
        return f32 ? &fast_set_avx512_f32 : &fast_set_avx512_f64;
    case INDICATOR_ISA_AVX2:
        return f32 ? &fast_set_avx2_f32 : &fast_set_avx2_f64;
#endif
    case INDICATOR_ISA_BASELINE:
        return f32 ? &fast_set_baseline_f32 : &fast_set_baseline_f64;
    default:
        return NULL;
    }
}

static bool processor_has(enum indicator_isa isa)
{
#if HAVE_AVX_SETS
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (isa == INDICATOR_ISA_AVX2)
        return avx2;
    if (isa == INDICATOR_ISA_AVX512)
        return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
#endif
    return isa == INDICATOR_ISA_BASELINE;
}

enum indicator_isa indicator_isa_best(void)
{
    if (processor_has(INDICATOR_ISA_AVX512))
        return INDICATOR_ISA_AVX512;
    return processor_has(INDICATOR_ISA_AVX2) ? INDICATOR_ISA_AVX2 : INDICATOR_ISA_BASELINE;
}

const char *indicator_isa_name(enum indicator_isa isa)
{
    switch (isa) {
    case INDICATOR_ISA_AVX512:
        return "avx512";
    case INDICATOR_ISA_AVX2:
        return "avx2";
    case INDICATOR_ISA_BASELINE:
        return "baseline";
    case INDICATOR_ISA_BEST:
        break;
    }
    return indicator_isa_name(indicator_isa_best());
}

struct refusal {
    char *err;
    size_t cap;
};

#define refuse(to, ...) fail_with(-EINVAL, (to)->err, (to)->cap, __VA_ARGS__)

static int check_options(const struct indicator_request *request, const struct refusal *refusal)
{
    for (size_t s = 0; s < request->n_specs; s++) {
        const struct indicator_spec *spec = &request->specs[s];
        for (size_t i = 0; i < spec->row->n_options; i++) {
            const struct indicator_option *option = &spec->row->options[i];
            double value = spec->options[i];
            bool whole = !option->whole || value == floor(value);
            if (!(value >= option->min && value <= option->max) || !whole)
                return refuse(refusal, "%s's option %s is %g: it goes from %g to %g%s", spec->row->name,
                              option->name, value, option->min, option->max,
                              option->whole ? ", whole numbers only" : "");
        }
    }
    return 0;
}

/* Takes the number of bars from the first column that is read. */
static int check_columns(const struct indicator_request *request, unsigned inputs, size_t *ret_n,
                         const struct refusal *refusal)
{
    size_t first = INDICATOR_COLUMNS;
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        const struct indicator_column *column = &request->columns[c];
        const char *name = column_names[c];
        if (!(inputs & 1u << c))
            continue;
        if (first == INDICATOR_COLUMNS)
            first = c;
        if (column->n != request->columns[first].n)
            return refuse(refusal, "the column %s has %zu bars where %s has %zu: all need as many", name,
                          column->n, column_names[first], request->columns[first].n);
        if (!column->values && column->n > 0)
            return refuse(refusal, "the column %s is missing", name);
        size_t cell = fast_cell(request->precision, c);
        if ((uintptr_t)column->values % cell != 0)
            return refuse(refusal, "the column %s is misaligned: its address has to be a multiple of %zu",
                          name, cell);
    }
    *ret_n = first < INDICATOR_COLUMNS ? request->columns[first].n : 0;
    return 0;
}

/* A column in memory. `index` counts the outputs; inputs have none. */
struct extent {
    uintptr_t from, to;
    bool output;
    size_t index;
};

static int extent_order(const void *a, const void *b)
{
    const struct extent *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* "rsi_14" or "macd_12_26_9.hist". */
static void output_name(const struct indicator_request *request, size_t index, char *buf, size_t cap)
{
    size_t s = 0;
    while (index >= request->specs[s].row->n_outputs)
        index -= request->specs[s++].row->n_outputs;
    indicator_spec_name(&request->specs[s], index, buf, cap);
}

static int overlap(const struct indicator_request *request, const struct extent *a, const struct extent *b,
                   const struct refusal *refusal)
{
    char name[96], other[96];
    if (!a->output) {
        const struct extent *swap = a;
        a = b;
        b = swap;
    }
    output_name(request, a->index, name, sizeof(name));
    if (b->output)
        output_name(request, b->index, other, sizeof(other));
    return refuse(refusal, "the output %s overlaps the %s %s: each needs memory of its own", name,
                  b->output ? "output" : "column", b->output ? other : column_names[b->index]);
}

static int check_outputs(const struct indicator_request *request, unsigned inputs, size_t n, size_t n_outputs,
                         const struct refusal *refusal)
{
    size_t cell = fast_cell(request->precision, FAST_CLOSE), n_extents = 0;
    struct extent *extents = malloc((n_outputs + INDICATOR_COLUMNS) * sizeof(*extents));
    char name[96];
    int r = 0;
    if (!extents)
        return -ENOMEM;
    for (size_t i = 0; i < n_outputs && r == 0; i++) {
        uintptr_t at = (uintptr_t)request->out[i];
        if (at == 0 || at % cell != 0)
            output_name(request, i, name, sizeof(name));
        if (at == 0)
            r = refuse(refusal, "the output %s is missing", name);
        else if (at % cell != 0)
            r = refuse(refusal, "the output %s is misaligned: its address has to be a multiple of %zu", name,
                       cell);
        extents[n_extents++] = (struct extent){at, at + n * cell, true, i};
    }
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        uintptr_t at = (uintptr_t)request->columns[c].values;
        if (inputs & 1u << c)
            extents[n_extents++] = (struct extent){at, at + n * fast_cell(request->precision, c), false, c};
    }
    qsort(extents, n_extents, sizeof(*extents), extent_order);

    /* Sorted by address; each is compared with the ones before it that reach furthest. */
    const struct extent *input = NULL, *output = NULL;
    for (size_t i = 0; i < n_extents && r == 0; i++) {
        const struct extent *e = &extents[i];
        if (output && e->from < output->to)
            r = overlap(request, output, e, refusal);
        else if (e->output && input && e->from < input->to)
            r = overlap(request, input, e, refusal);
        if (e->output && (!output || e->to > output->to))
            output = e;
        if (!e->output && (!input || e->to > input->to))
            input = e;
    }
    free(extents);
    return r;
}

static double value_at(const struct indicator_request *request, size_t column, size_t i)
{
    const void *values = request->columns[column].values;
    if (fast_cell(request->precision, column) == sizeof(double))
        return ((const double *)values)[i];
    return (double)((const float *)values)[i];
}

static int refuse_bar(const struct indicator_request *request, unsigned inputs, size_t i,
                      const struct refusal *refusal)
{
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        if (inputs & 1u << c && !isfinite(value_at(request, c, i)))
            return refuse(
                refusal,
                "bar %zu of the column %s is %s: only finite values may follow the first complete bar", i,
                column_names[c], isnan(value_at(request, c, i)) ? "not a number" : "infinite");
    return -EINVAL;
}

/* The first bar where every column of `inputs` has a number, n if there is none. */
static int find_start(const struct indicator_request *request, unsigned inputs, size_t n, size_t *ret_start,
                      const struct refusal *refusal)
{
    for (size_t i = 0; i < n; i++) {
        bool complete = true;
        for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
            if (!(inputs & 1u << c))
                continue;
            double value = value_at(request, c, i);
            if (isinf(value))
                return refuse_bar(request, 1u << c, i, refusal);
            complete = complete && !isnan(value);
        }
        if (complete) {
            *ret_start = i;
            return 0;
        }
    }
    *ret_start = n;
    return 0;
}

static void fill_nan(const struct indicator_request *request, void *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (request->precision == INDICATOR_F64)
            ((double *)out)[i] = (double)NAN;
        else
            ((float *)out)[i] = NAN;
}

/* One pass over bars [start, n) for the specs that begin there. */
static int compute_from(const struct indicator_request *request, enum indicator_isa isa, size_t start,
                        size_t n, const size_t starts[], struct fast_task *tasks,
                        const struct refusal *refusal)
{
    struct fast_columns columns = {.precision = request->precision, .n = n - start};
    size_t cell = fast_cell(request->precision, FAST_CLOSE), n_tasks = 0, bad = 0;
    unsigned inputs = 0;
    void *const *out = request->out;

    for (size_t s = 0; s < request->n_specs; s++) {
        const struct indicator *row = request->specs[s].row;
        if (starts[s] == start && !row->plugin) {
            struct fast_task *task = &tasks[n_tasks++];
            *task = (struct fast_task){.spec = &request->specs[s]};
            inputs |= row->inputs;
            for (size_t k = 0; k < row->n_outputs; k++) {
                fill_nan(request, out[k], start);
                task->out[k] = (char *)out[k] + start * cell;
            }
        }
        out += row->n_outputs;
    }
    if (start == n || n_tasks == 0)
        return 0;
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++)
        if (inputs & 1u << c)
            columns.at[c] =
                (const char *)request->columns[c].values + start * fast_cell(request->precision, c);
    int r = fast_pass(isa, &columns, tasks, n_tasks, &bad);
    return r == -EINVAL ? refuse_bar(request, inputs, start + bad, refusal) : r;
}

/* Those of shared objects, one after the other. */
static int compute_plugins(const struct indicator_request *request, size_t n, const struct refusal *refusal)
{
    void *const *out = request->out;
    for (size_t s = 0; s < request->n_specs; out += request->specs[s++].row->n_outputs) {
        size_t bad = n;
        int r = request->specs[s].row->plugin ? indicator_plugin_compute(request, s, out, n, &bad) : 0;
        if (r == -EINVAL && bad < n)
            return refuse_bar(request, request->specs[s].row->inputs, bad, refusal);
        if (r == -EINVAL)
            return refuse(refusal, "%s: a bar is not finite", request->specs[s].row->name);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Specs whose columns begin with equally many NaNs share a pass: usually all of them. */
static int compute_all(const struct indicator_request *request, enum indicator_isa isa, size_t n,
                       const struct refusal *refusal)
{
    size_t *starts = malloc((request->n_specs + 1) * sizeof(*starts));
    struct fast_task *tasks = malloc((request->n_specs + 1) * sizeof(*tasks));
    int r = starts && tasks ? 0 : -ENOMEM;

    for (size_t s = 0; s < request->n_specs && r == 0; s++) {
        unsigned inputs = request->specs[s].row->inputs;
        size_t same = 0;
        while (request->specs[same].row->inputs != inputs)
            same++;
        if (same < s)
            starts[s] = starts[same];
        else
            r = find_start(request, inputs, n, &starts[s], refusal);
    }
    for (size_t s = 0; s < request->n_specs && r == 0; s++) {
        bool done = false;
        for (size_t before = 0; before < s && !done; before++)
            done = starts[before] == starts[s];
        if (!done)
            r = compute_from(request, isa, starts[s], n, starts, tasks, refusal);
    }
    if (r == 0)
        r = compute_plugins(request, n, refusal);
    free(starts);
    free(tasks);
    return r;
}

int indicator_compute(const struct indicator_request *request, char *err, size_t err_cap)
{
    const struct refusal refusal = {err, err_cap};
    enum indicator_isa isa = request->isa == INDICATOR_ISA_BEST ? indicator_isa_best() : request->isa;
    unsigned inputs = 0;
    size_t n_outputs = 0, n = 0;

    if (!processor_has(isa))
        return refuse(&refusal, "this processor has no %s: %s is its best", indicator_isa_name(isa),
                      indicator_isa_name(INDICATOR_ISA_BEST));
    int r = check_options(request, &refusal);
    if (r < 0)
        return r;
    for (size_t s = 0; s < request->n_specs; s++) {
        inputs |= request->specs[s].row->inputs;
        n_outputs += request->specs[s].row->n_outputs;
    }
    r = check_columns(request, inputs, &n, &refusal);
    if (r < 0 || n == 0)
        return r;
    r = check_outputs(request, inputs, n, n_outputs, &refusal);
    return r < 0 ? r : compute_all(request, isa, n, &refusal);
}
