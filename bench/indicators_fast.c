/* Times indicator_compute() on one core: bench/indicators builds and runs it.
 *
 *   indicators_fast PRECISION ISA BARS SECONDS SPEC…      ns a bar for all the specs in one pass
 *   indicators_fast copy                                   bytes a nanosecond that a copy reads and writes
 *   indicators_fast rows                                   the rows: name, bytes a bar in float64 and float32
 *   indicators_fast isas                                   the instruction sets that the processor has
 *
 * A timing is one number: processor time of the fastest repetition, since others may share the machine.
 * Columns are huge pages where the system gives them, and begin 1088 bytes apart modulo a page: at equal
 * offsets they fight for the same cache sets. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "indicators_gpu/indicators.h"

enum { STAGGER = 1088, HUGE_PAGE = 2 << 20, SPECS_MAX = 160, OUTPUTS_MAX = 4 * SPECS_MAX };

/* Processor time. */
static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* The columns stand one after the other in one mapping. */
struct memory {
    char *at;
    size_t used, bytes, n_columns;
};

static bool memory_open(struct memory *memory, size_t n_columns, size_t column_bytes)
{
    memory->bytes = n_columns * (column_bytes + 4096 + STAGGER) + 2 * (size_t)HUGE_PAGE;
    char *at = mmap(NULL, memory->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return false;
    madvise(at, memory->bytes, MADV_HUGEPAGE);
    memory->at = at;
    memory->used = memory->n_columns = 0;
    return true;
}

static void *memory_column(struct memory *memory, size_t bytes)
{
    size_t at = (memory->used + 4095) / 4096 * 4096 + memory->n_columns++ * STAGGER % 4096;
    memory->used = at + bytes;
    return memory->at + at;
}

static uint64_t seed = 1;
static double uniform(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(seed >> 11) * 0x1p-53;
}

static void put(void *column, bool narrow, size_t i, double value)
{
    if (narrow)
        ((float *)column)[i] = (float)value;
    else
        ((double *)column)[i] = value;
}

static void walk(void *const columns[INDICATOR_COLUMNS], bool narrow, size_t n)
{
    double price = 50000.0;
    for (size_t i = 0; i < n; i++) {
        double open = price, wick = uniform();
        price *= 1.0 + 0.004 * (uniform() - 0.5);
        put(columns[0], narrow, i, open);
        put(columns[1], narrow, i, (open > price ? open : price) * (1.0 + 0.001 * wick));
        put(columns[2], narrow, i, (open < price ? open : price) * (1.0 - 0.001 * uniform()));
        put(columns[3], narrow, i, price);
        put(columns[4], narrow, i, 1.0 + 9.0 * uniform());
        ((double *)columns[5])[i] = 1.7e9 + 60.0 * (double)i;
    }
}

/* What the processor copies: the floor under everything that reads and writes each byte once. */
static double copy_rate(void)
{
    enum { BYTES = 32 << 20 };
    struct memory memory;
    if (!memory_open(&memory, 2, BYTES))
        return 0.0;
    char *from = memory_column(&memory, BYTES), *to = memory_column(&memory, BYTES);
    memset(from, 1, BYTES);
    memset(to, 1, BYTES);
    double best = 1e30, begin = now_ns();
    for (int turn = 0; turn < 200 && now_ns() - begin < 1e9; turn++) {
        double start = now_ns();
#if defined(__SSE2__)
        for (size_t i = 0; i < BYTES; i += 64)
            for (size_t j = 0; j < 64; j += 16)
                _mm_stream_si128((__m128i *)(to + i + j), _mm_load_si128((const __m128i *)(from + i + j)));
        _mm_sfence();
#else
        memcpy(to, from, BYTES);
#endif
        double took = now_ns() - start;
        best = took < best ? took : best;
    }
    munmap(memory.at, memory.bytes);
    return 2.0 * BYTES / best;
}

static void print_rows(void)
{
    size_t n;
    const struct indicator *const *rows = indicator_rows(&n);
    for (size_t i = 0; i < n; i++) {
        struct indicator_spec spec;
        char err[200];
        if (indicator_spec_parse(rows[i]->name, &spec, err, sizeof(err)) == 0)
            printf("%s\t%zu\t%zu\n", rows[i]->name, indicator_bytes(&spec, INDICATOR_F64),
                   indicator_bytes(&spec, INDICATOR_F32));
    }
}

static int usage(const char *why)
{
    fprintf(stderr, "indicators_fast: %s\nusage: indicators_fast f64|f32 ISA BARS SECONDS SPEC…, or copy\n",
            why);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "copy") == 0) {
        printf("%.3f\n", copy_rate());
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "rows") == 0) {
        print_rows();
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "isas") == 0) {
        for (enum indicator_isa isa = INDICATOR_ISA_BASELINE; isa <= indicator_isa_best(); isa++)
            printf("%s\n", indicator_isa_name(isa));
        return 0;
    }
    if (argc < 6)
        return usage("too few arguments");
    bool narrow = strcmp(argv[1], "f32") == 0;
    size_t n = strtoull(argv[3], NULL, 10), cell = narrow ? 4 : 8, n_outputs = 0;
    double seconds = strtod(argv[4], NULL);
    struct indicator_request request = {.precision = narrow ? INDICATOR_F32 : INDICATOR_F64};
    while (strcmp(argv[2], indicator_isa_name(request.isa)) != 0 || request.isa == INDICATOR_ISA_BEST)
        if (++request.isa > INDICATOR_ISA_AVX512)
            return usage("no such instruction set");

    static struct indicator_spec specs[SPECS_MAX];
    char err[200] = "";
    for (int i = 5; i < argc && request.n_specs < SPECS_MAX; i++) {
        if (indicator_spec_parse(argv[i], &specs[request.n_specs], err, sizeof(err)) < 0)
            return usage(err);
        n_outputs += specs[request.n_specs++].row->n_outputs;
    }
    struct memory memory;
    if (n == 0 || !memory_open(&memory, INDICATOR_COLUMNS + n_outputs, n * 8))
        return usage("no memory for so many bars");
    void *columns[INDICATOR_COLUMNS], *out[OUTPUTS_MAX];
    for (size_t c = 0; c < INDICATOR_COLUMNS; c++) {
        columns[c] = memory_column(&memory, n * (c == 5 ? 8 : cell));
        request.columns[c] = (struct indicator_column){columns[c], n};
    }
    for (size_t k = 0; k < n_outputs; k++) {
        out[k] = memory_column(&memory, n * cell);
        memset(out[k], 0, n * cell);
    }
    walk(columns, narrow, n);
    request.specs = specs;
    request.out = out;

    double best = 1e30, begin = now_ns();
    for (int turn = 0; turn < 3 || now_ns() - begin < 1e9 * seconds; turn++) {
        double start = now_ns();
        if (indicator_compute(&request, err, sizeof(err)) < 0)
            return usage(err);
        double took = now_ns() - start;
        best = took < best ? took : best;
    }
    printf("%.4f\n", best / (double)n);
    munmap(memory.at, memory.bytes);
    return 0;
}
