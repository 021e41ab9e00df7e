/* Series side by side (exact/): every bit that indicator_reference() gives, with each instruction set that
 * the processor has, for every number of lanes, series of all lengths, and outputs that stand anywhere. */
#include "indicators_gpu/exact/exact.h"
#include "indicators_gpu/indicator_rows.h"
#include "tests/check.h"
#include "tests/random.h"

enum { LANES_MAX = 8, BARS_MAX = 700, GUARD = 3, RUNS = 400, RUNS_LONG = 20000, OUTPUTS = 3 };

#define POISON UINT64_C(0x7ff4dead00000bad)

struct series {
    double high[BARS_MAX], low[BARS_MAX], close[BARS_MAX];
};

static struct series series[LANES_MAX];
static _Alignas(64) double outs[LANES_MAX][OUTPUTS][16 + BARS_MAX + GUARD];

static double part(struct random *random)
{
    return (double)random_between(random, 0, 1 << 30) / (1 << 30);
}

/* A walk, prices that stand still, or jumps by many orders of magnitude. */
static void draw(struct random *random, struct series *to)
{
    double price = 100;
    int kind = (int)random_between(random, 0, 3);
    for (size_t i = 0; i < BARS_MAX; i++) {
        if (kind == 1)
            price *= random_chance(random, 5) ? 1e-40 * pow(10, (double)random_between(random, 0, 80)) : 1;
        else if (kind != 2)
            price *= 1 + 0.02 * (part(random) - 0.5);
        if (price > 1e100 || price < 1e-300)
            price = 100;
        to->close[i] = price;
        to->high[i] = kind == 2 ? price : price * (1 + 0.01 * part(random));
        to->low[i] = kind == 2 ? price : price * (1 - 0.01 * part(random));
    }
}

static struct indicator_spec draw_spec(struct random *random, enum indicator_id id)
{
    static const char *const names[] = {
        [INDICATOR_SMA] = "sma",   [INDICATOR_EMA] = "ema", [INDICATOR_RSI] = "rsi",
        [INDICATOR_MACD] = "macd", [INDICATOR_ATR] = "atr",
    };
    struct indicator_spec spec = {.row = indicator_find(names[id])};
    for (size_t k = 0; k < spec.row->n_options; k++) {
        double least = spec.row->options[k].min;
        spec.options[k] = least + (double)random_between(random, 0, random_chance(random, 80) ? 40 : 400);
    }
    return spec;
}

static bool same(const double *a, const double *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0 && !(isnan(a[i]) && isnan(b[i])))
            return false;
    return true;
}

static bool poisoned(const double *cells, size_t n)
{
    const uint64_t poison = POISON;
    for (size_t i = 0; i < n; i++)
        if (memcmp(&cells[i], &poison, sizeof poison) != 0)
            return false;
    return true;
}

/* The same in parts, cut where it comes. */
static void compute_parts(struct random *random, const struct exact_task *tasks, size_t n,
                          enum indicator_isa isa)
{
    struct exact_memory memory[LANES_MAX] = {{0}};
    for (size_t from = 0, to; from < BARS_MAX; from = to) {
        struct exact_task parts[LANES_MAX];
        double *outputs[LANES_MAX][OUTPUTS];
        size_t n_parts = 0;
        to = from + (size_t)random_between(random, 1, random_chance(random, 50) ? 90 : BARS_MAX);
        for (size_t l = 0; l < n; l++) {
            const struct exact_task *whole = &tasks[l];
            size_t end = to < whole->n ? to : whole->n;
            if (end <= from)
                continue;
            for (size_t k = 0; k < whole->spec->row->n_outputs; k++)
                outputs[l][k] = whole->out[k] + from;
            parts[n_parts++] = (struct exact_task){.spec = whole->spec,
                                                   .in = {.high = whole->in.high + from,
                                                          .low = whole->in.low + from,
                                                          .close = whole->in.close + from},
                                                   .n = end - from,
                                                   .out = outputs[l],
                                                   .done = from,
                                                   .memory = &memory[l]};
        }
        if (n_parts > 0)
            exact_compute(parts, n_parts, isa);
    }
}

static void try(struct random *random, enum indicator_isa isa, enum indicator_id id)
{
    struct indicator_spec specs[LANES_MAX];
    struct exact_task tasks[LANES_MAX];
    double *columns[LANES_MAX][OUTPUTS];
    for (size_t i = 0; i < sizeof outs / sizeof(double); i++)
        memcpy((double *)outs + i, &(uint64_t){POISON}, sizeof(double));
    specs[0] = draw_spec(random, id);
    size_t n = (size_t)random_between(random, 1, (int64_t)exact_lanes(&specs[0], isa));
    size_t usual = (size_t)random_between(random, 0, BARS_MAX);
    for (size_t l = 0; l < n; l++) {
        const struct series *from = &series[random_chance(random, 80) ? l : 0];
        size_t at = random_chance(random, 50) ? 0 : (size_t)random_between(random, 0, 7);
        if (l > 0)
            specs[l] = random_chance(random, 50) ? specs[0] : draw_spec(random, id);
        for (size_t k = 0; k < OUTPUTS; k++)
            columns[l][k] = outs[l][k] + 8 + at;
        tasks[l] = (struct exact_task){
            .spec = &specs[l],
            .in = {.high = from->high, .low = from->low, .close = from->close},
            .n = random_chance(random, 60) ? usual : (size_t)random_between(random, 0, BARS_MAX),
            .out = columns[l]};
    }
    if (random_chance(random, 50))
        exact_compute(tasks, n, isa);
    else
        compute_parts(random, tasks, n, isa);
    for (size_t l = 0; l < LANES_MAX; l++)
        for (size_t k = 0; k < OUTPUTS; k++) {
            const double *column = outs[l][k], *end = column + sizeof outs[l][k] / sizeof *column;
            if (l >= n || k >= specs[l].row->n_outputs) {
                CHECK(poisoned(column, (size_t)(end - column)));
                continue;
            }
            const double *out = columns[l][k];
            CHECK(poisoned(column, (size_t)(out - column)));
            CHECK(poisoned(out + tasks[l].n, (size_t)(end - out) - tasks[l].n));
            double wanted[OUTPUTS][BARS_MAX + 1], *const to[] = {wanted[0], wanted[1], wanted[2]};
            CHECK_INT(indicator_reference(tasks[l].spec, &tasks[l].in, tasks[l].n, to), 0);
            CHECK(same(out, wanted[k], tasks[l].n));
        }
}

static double *column(size_t n)
{
    double *ret = aligned_alloc(64, (n * sizeof *ret + 63) / 64 * 64);
    if (!ret)
        abort();
    return ret;
}

/* Columns that do not stay in the cache are written past it; the last lane's not, for it stands askew. */
static void test_long(struct random *random, enum indicator_isa isa, enum indicator_id id, bool askew)
{
    enum { LONG = (1 << 18) + 1000 };
    struct indicator_spec spec = draw_spec(random, id);
    size_t n_lanes = exact_lanes(&spec, isa), n_outputs = spec.row->n_outputs;
    struct exact_task tasks[LANES_MAX];
    double *columns[LANES_MAX][OUTPUTS], *in[3], *wanted[OUTPUTS], price = 100;
    for (int c = 0; c < 3; c++)
        in[c] = column(LONG);
    for (size_t i = 0; i < LONG; i++) {
        price *= 1 + 0.002 * (part(random) - 0.5);
        in[0][i] = price;
        in[1][i] = price * 1.001;
        in[2][i] = price * (1 - 0.001 * part(random));
    }
    for (size_t k = 0; k < n_outputs; k++)
        wanted[k] = column(LONG);
    for (size_t l = 0; l < n_lanes; l++) {
        for (size_t k = 0; k < n_outputs; k++)
            columns[l][k] = column(LONG + 1) + (askew && l + 1 == n_lanes);
        tasks[l] = (struct exact_task){.spec = &spec,
                                       .in = {.close = in[0] + l, .high = in[1] + l, .low = in[2] + l},
                                       .n = LONG - l,
                                       .out = columns[l]};
    }
    exact_compute(tasks, n_lanes, isa);
    for (size_t l = 0; l < n_lanes; l++) {
        CHECK_INT(indicator_reference(&spec, &tasks[l].in, tasks[l].n, wanted), 0);
        for (size_t k = 0; k < n_outputs; k++) {
            CHECK(same(columns[l][k], wanted[k], tasks[l].n));
            free(columns[l][k] - (askew && l + 1 == n_lanes));
        }
    }
    for (size_t k = 0; k < n_outputs; k++)
        free(wanted[k]);
    for (int c = 0; c < 3; c++)
        free(in[c]);
}

int main(void)
{
    static const enum indicator_id rows[] = {INDICATOR_SMA, INDICATOR_EMA, INDICATOR_RSI, INDICATOR_MACD,
                                             INDICATOR_ATR};
    struct random random = random_seeded("indicators_gpu/side_by_side", 20261121);
    int runs = getenv("PAPERTAPE_LONG") ? RUNS_LONG : RUNS;
    for (int isa = INDICATOR_ISA_BASELINE; isa <= (int)indicator_isa_best(); isa++) {
        for (int i = 0; i < runs; i++) {
            for (size_t l = 0; l < LANES_MAX; l++)
                draw(&random, &series[l]);
            for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
                try(&random, (enum indicator_isa)isa, rows[r]);
        }
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            test_long(&random, (enum indicator_isa)isa, rows[r], random_chance(&random, 30));
        printf("%s: %d runs of each row\n", indicator_isa_name((enum indicator_isa)isa), runs);
    }
    struct indicator_spec other;
    char err[160];
    CHECK(indicator_spec_parse("wma:20", &other, err, sizeof err) == 0 && !exact_serves(&other));
    return check_done("indicators_gpu/side_by_side");
}
