/* The cpu backend against the reference on the same rounded inputs, within what the row states: every row
 * with every precision and instruction set that the processor has, over series of every kind, sizes around
 * each edge, and memory at every alignment; and to the bit beside other rows and whatever was in memory.
 *
 *   indicators-fast FIXTURES      the test; it ends with each row's worst error as a share of its tolerance
 *   indicators-fast --time SPEC…  then nanoseconds a bar, for the specs that just passed */
#include "indicators_gpu/indicator_rows.h"
#include "indicators_gpu/indicators.h"

#include <float.h>
#include <malloc.h>
#include <time.h>

#include "tests/check.h"
#include "tests/indicators_gpu/fast_series.h"
#include "tests/indicators_gpu/specs.h"

#ifdef __SANITIZE_ADDRESS__
enum { EACH = 5 };
#else
enum { EACH = 1 };
#endif

static const char *const precision_names[] = {"f64", "f32"};

/* By row and precision: the largest share of the tolerance so far, and where. */
static struct worst {
    double share, error;
    char where[80];
} worst[INDICATOR_IDS][2];

/* How many deviations the options ask for, which BBANDS and STDDEV state their tolerance for one of. */
static double deviations_of(const struct indicator_spec *spec)
{
    if (spec->row->id == INDICATOR_BBANDS || spec->row->id == INDICATOR_STDDEV)
        return fmax(spec->options[1], 1.0);
    return 1.0;
}

/* A value's last digit may always differ, and what is less than NO_DIFFERENCE (indicators.h). */
#define NO_DIFFERENCE 1e-24
static double tolerance_of(const struct indicator_spec *spec, bool f32, double value, double top,
                           double column)
{
    const struct indicator *row = spec->row;
    double share = f32 ? row->tolerance.f32 : row->tolerance.f64, of = 1.0;
    if (row->tolerance.scale == INDICATOR_OF_VALUE)
        of = fabs(value);
    if (row->tolerance.scale == INDICATOR_OF_PRICE)
        of = top;
    if (row->tolerance.scale == INDICATOR_OF_COLUMN)
        of = column;
    share *= deviations_of(spec);
    return fmax(fmax(share * of, NO_DIFFERENCE), (f32 ? FLT_EPSILON : DBL_EPSILON) * fabs(value));
}

/* Returns how many cells are wrong. */
static size_t compare(const char *text, const struct indicator_spec *spec, const struct fast_series *s,
                      const struct fast_outputs *got, double *const reference[], const char *kind,
                      const char *isa)
{
    const struct indicator *row = spec->row;
    size_t misses = 0, first = 0, output = 0;
    for (size_t k = 0; k < row->n_outputs; k++) {
        double column = 0;
        for (size_t i = 0; i < s->n; i++)
            column = fabs(reference[k][i]) > column ? fabs(reference[k][i]) : column;
        for (size_t i = 0; i < s->n; i++) {
            double value = reference[k][i], fast = fast_output(got, k, i);
            double tolerance = tolerance_of(spec, s->f32, value, s->top, column), error = fabs(fast - value);
            struct worst *w = &worst[row->id][s->f32];
            if (isnan(value) ? isnan(fast) : error <= tolerance) {
                if (error > 0 && error / tolerance > w->share) {
                    w->share = error / tolerance;
                    w->error = error;
                    snprintf(w->where, sizeof(w->where), "%s %s %s n=%zu bar %zu", text, kind, isa, s->n, i);
                }
                continue;
            }
            if (misses++ == 0) {
                first = i;
                output = k;
            }
        }
    }
    if (misses > 0)
        fprintf(stderr, "%s %s %s %s n=%zu: %zu cells are wrong, the first at %zu.%zu: %.9g, not %.9g\n",
                text, precision_names[s->f32], isa, kind, s->n, misses, output, first,
                fast_output(got, output, first), reference[output][first]);
    return misses;
}

static void try(const char *text, enum fast_kind kind, size_t n, bool f32, size_t shift)
{
    struct indicator_spec spec = test_spec(text);
    struct fast_series s = fast_series_make(n, kind, f32, shift);
    struct fast_outputs reference = fast_outputs_make(spec.row->n_outputs, n, false, 0);
    struct indicator_columns wide = fast_series_wide(&s);
    CHECK_INT(indicator_reference(&spec, &wide, n, (double **)reference.at), 0);

    for (enum indicator_isa isa = INDICATOR_ISA_BASELINE; isa <= indicator_isa_best(); isa++) {
        struct fast_outputs got = fast_outputs_make(spec.row->n_outputs, n, f32, shift);
        struct indicator_request request = fast_request(&s, &spec, 1, &got, isa);
        char err[200] = "";
        CHECK_INT(indicator_compute(&request, err, sizeof(err)), 0);
        CHECK_STR(err, "");
        CHECK(fast_outputs_sound(&got));
        CHECK_INT(compare(text, &spec, &s, &got, (double **)reference.at, fast_kind_names[kind],
                          indicator_isa_name(isa)),
                  0);
        fast_outputs_free(&got);
    }
    fast_outputs_free(&reference);
    fast_series_free(&s);
}

/* What is written once has no vectors, and the reference's operations: sizes around its first output and the
 * blocks', and of the kinds the jumps. */
static void test_spec_once_somewhere(const char *text, const struct indicator_spec *spec)
{
    size_t lookback = indicator_lookback(spec);
    const size_t sizes[] = {0,    1,        lookback > 0 ? lookback - 1 : 0, lookback, lookback + 1, 33,
                            1025, 2048 + 65};
    for (int f32 = 0; f32 < 2; f32++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
            try(text, FAST_WALK, sizes[i], f32, i % 2 ? i % 9 : 0);
        try(text, FAST_JUMPS, lookback + 1333, f32, 3);
    }
}

static void test_spec_everywhere(const char *text, bool thorough)
{
    struct indicator_spec spec = test_spec(text);
    if (test_spec_once(&spec) && !test_long()) {
        test_spec_once_somewhere(text, &spec);
        return;
    }
    size_t lookback = indicator_lookback(&spec), around = lookback > 0 ? lookback - 1 : 0;
    const size_t sizes[] = {0,    1,         around, lookback,       lookback + 1, 31,   32,   33,
                            64,   100,       1023,   1024,           1025,         1087, 1089, 2047,
                            2049, 2048 + 65, 5000,   lookback + 3000};
    for (int f32 = 0; f32 < 2; f32++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
            try(text, FAST_WALK, sizes[i], f32, i % 2 ? i % 9 : 0);
        for (enum fast_kind kind = 0; kind < FAST_KINDS; kind++)
            try(text, kind, 3333, f32, kind);
        if (!strchr(text, ':') || thorough)
            try(text, FAST_WALK, 100003, f32, 0);
        if (thorough || strcmp(text, "ema") == 0)
            try(text, FAST_WALK, 1000003, f32, 0);
    }
}

/* What is computed alone, beside others and from other addresses is the same to the bit. */
static void test_together(bool f32, enum indicator_isa isa)
{
    enum { N = 4321 };
    static struct indicator_spec specs[TEST_SPECS];
    struct fast_series s = fast_series_make(N, FAST_WALK, f32, 0),
                       shifted = fast_series_make(N, FAST_WALK, f32, 3);
    size_t n_outputs = 0, first = 0;
    char err[200] = "";
    for (size_t t = 0; t < TEST_SPECS; t++) {
        specs[t] = test_spec(test_specs[t]);
        n_outputs += specs[t].row->n_outputs;
    }
    struct fast_outputs all = fast_outputs_make(n_outputs, N, f32, 0);
    struct indicator_request request = fast_request(&s, specs, TEST_SPECS, &all, isa);
    CHECK_INT(indicator_compute(&request, err, sizeof(err)), 0);
    CHECK(fast_outputs_sound(&all));
    for (size_t t = 0; t < TEST_SPECS; t++) {
        struct fast_outputs one = fast_outputs_make(specs[t].row->n_outputs, N, f32, 5);
        request = fast_request(&shifted, &specs[t], 1, &one, isa);
        CHECK_INT(indicator_compute(&request, err, sizeof(err)), 0);
        for (size_t k = 0; k < one.n_outputs; k++) {
            bool same = memcmp(one.at[k], all.at[first + k], N * fast_cell(&one)) == 0;
            if (!same)
                fprintf(stderr, "%s differs beside others\n", test_specs[t]);
            CHECK(same);
        }
        first += one.n_outputs;
        fast_outputs_free(&one);
    }
    fast_outputs_free(&all);
    fast_series_free(&shifted);
    fast_series_free(&s);
}

/* What later calls find in memory that they do not write: 64 KB of stack, and what malloc() gives. */
__attribute__((noinline)) static void leave_behind(double value, int heap)
{
    volatile double stack[1 << 13];
    for (size_t i = 0; i < sizeof(stack) / sizeof(stack[0]); i++)
        stack[i] = value;
    mallopt(M_PERTURB, heap);
}

/* Cells past the last bar are whatever was in memory: no output depends on them. */
static void test_leftovers(const char *text, size_t n, bool f32, enum indicator_isa isa)
{
    struct indicator_spec spec = test_spec(text);
    struct fast_series s = fast_series_make(n, FAST_SINKING, f32, 0);
    struct fast_outputs outputs[4];
    for (size_t k = 0; k < 4; k++) {
        static const double values[] = {0.0, 1.5, -1.0, (double)NAN};
        static const int heap[] = {0xff, 0xc0, 0x80, 0x01}; /* bytes of 00, 3f, 7f, fe */
        char err[200] = "";
        outputs[k] = fast_outputs_make(spec.row->n_outputs, n, f32, 0);
        struct indicator_request request = fast_request(&s, &spec, 1, &outputs[k], isa);
        leave_behind(values[k], heap[k]);
        CHECK_INT(indicator_compute(&request, err, sizeof(err)), 0);
        for (size_t o = 0; o < spec.row->n_outputs; o++) {
            bool same = memcmp(outputs[k].at[o], outputs[0].at[o], n * fast_cell(&outputs[0])) == 0;
            if (!same)
                fprintf(stderr, "%s %s %s n=%zu: output %zu depends on what was in memory\n", text,
                        precision_names[f32], indicator_isa_name(isa), n, o);
            CHECK(same);
        }
    }
    mallopt(M_PERTURB, 0);
    for (size_t k = 0; k < 4; k++)
        fast_outputs_free(&outputs[k]);
    fast_series_free(&s);
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void time_spec(const char *text, size_t n)
{
    struct indicator_spec spec = test_spec(text);
    for (int f32 = 0; f32 < 2; f32++)
        for (enum indicator_isa isa = INDICATOR_ISA_BASELINE; isa <= indicator_isa_best(); isa++) {
            struct fast_series s = fast_series_make(n, FAST_WALK, f32, 0);
            struct fast_outputs o = fast_outputs_make(spec.row->n_outputs, n, f32, 0);
            struct indicator_request request = fast_request(&s, &spec, 1, &o, isa);
            char err[200] = "";
            double best = 1e30, begin = now_ns();
            while (now_ns() - begin < 2e8) {
                double start = now_ns();
                CHECK_INT(indicator_compute(&request, err, sizeof(err)), 0);
                best = fmin(best, now_ns() - start);
            }
            printf("%-24s %s %-8s %8.3f ns a bar\n", text, precision_names[f32], indicator_isa_name(isa),
                   best / (double)n);
            fast_outputs_free(&o);
            fast_series_free(&s);
        }
}

int main(int argc, char **argv)
{
    bool timing = argc > 2 && strcmp(argv[1], "--time") == 0, thorough = getenv("PAPERTAPE_LONG") != NULL;
    if (timing) {
        for (int i = 2; i < argc; i++)
            test_spec_everywhere(argv[i], false);
        for (int i = 2; i < argc && check_failures == 0; i++)
            time_spec(argv[i], 100000);
    } else {
        if (EACH > 1)
            printf("counts: one of %d specs (without a sanitizer: all)\n", EACH);
        if (!thorough)
            printf(
                "counts: %zu of %d specs, written once, with 8 sizes and 2 kinds (PAPERTAPE_LONG: as the others)\n",
                TEST_SPECS - test_specs_apart(), TEST_SPECS);
        for (size_t t = 0; t < TEST_SPECS; t += EACH)
            test_spec_everywhere(test_specs[t], thorough);
        for (enum indicator_isa isa = INDICATOR_ISA_BASELINE; isa <= indicator_isa_best(); isa++) {
            test_together(false, isa);
            test_together(true, isa);
            for (size_t t = 0; t < TEST_SPECS; t += EACH)
                for (size_t n = 251; n < 2048; n += 770) /* 251, 1021, 1791: no whole vectors at the end */
                    for (int f32 = 0; f32 < 2; f32++)
                        test_leftovers(test_specs[t], n, f32, isa);
        }
    }
    for (int id = 0; id < INDICATOR_IDS; id++)
        for (int f32 = 0; f32 < 2; f32++)
            if (worst[id][f32].share > 0)
                printf("%s %.3f of the tolerance, %.3g: %s\n", precision_names[f32], worst[id][f32].share,
                       worst[id][f32].error, worst[id][f32].where);
    return check_done("indicators_gpu/fast");
}
