/* The screen on a real device against the same block functions on the CPU: every rule, with and without a
 * history before the first traded bar, sets that fill their blocks and that do not. Rows have the same bits
 * but where a power is taken, which is within some last ones; the best of them are the same in the same
 * order. Without a device: exit 77.
 *
 * Arguments: the module's path, that of the module whose device is the CPU, and `small` for sizes that a
 * sanitizer gets through. */
#include <errno.h>
#include <stddef.h>

#include "fixtures/screen_sets.h"
#include "tests/check.h"

enum { TOP = 50 };

static struct gpu_module *module, *on_cpu;
static uint64_t compared, trades;

struct shown {
    struct screen_row *rows;
    struct screen_ranked ranked[TOP];
    size_t n_ranked;
    struct screen_luck luck;
};

static bool near(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-12 * fabs(b);
}

static bool near_float(float a, float b)
{
    return (isnan(a) && isnan(b)) || a == b || fabsf(a - b) <= 2e-7f * fabsf(b);
}

static void show(struct gpu_module *of, enum screen_rule rule, size_t n_bars, size_t n_fast, size_t from,
                 enum sweep_metric metric, struct shown *ret)
{
    struct screen_sets sets;
    char reason[GPU_REASON_MAX] = "";
    float ms;
    CHECK_INT(screen_sets_open(&sets, of, n_bars, n_fast, 70, 32 + n_bars, reason, sizeof reason), 0);
    size_t n = n_fast * 70;
    const struct screen_ranking by = {
        .metric = metric, .min_trades = 3, .rows = (double)(n_bars - from), .year = 324, .expected = 0.01};
    ret->rows = calloc(n, sizeof *ret->rows);
    screen_sets_launch(&sets, rule, from);
    CHECK_INT(screen_sets_columns(&sets, &ms, reason, sizeof reason), 0);
    CHECK_INT(sets.api->walk(sets.screen, &sets.launch, sets.cases, n, &ms, reason, sizeof reason), 0);
    CHECK_INT(sets.api->rows(sets.screen, 0, n, ret->rows, reason, sizeof reason), 0);
    CHECK_INT(sets.api->rank(sets.screen, &by, TOP, ret->ranked, &ret->n_ranked, &ret->luck, &ms, reason,
                             sizeof reason),
              0);
    CHECK_STR(reason, "");
    screen_sets_close(&sets);
}

static void check_row(const struct screen_row *row, const struct screen_row *is)
{
    for (int k = 0; k < SWEEP_METRICS; k++)
        CHECK(k == SWEEP_CAGR || k == SWEEP_CALMAR
                  ? near(row->metrics[k], is->metrics[k])
                  : memcmp(&row->metrics[k], &is->metrics[k], sizeof(double)) == 0 ||
                        (isnan(row->metrics[k]) && isnan(is->metrics[k])));
    size_t from = offsetof(struct screen_row, final_equity), to = offsetof(struct screen_row, skew);
    CHECK(memcmp((const char *)row + from, (const char *)is + from, to - from) == 0);
    CHECK(near_float(row->skew, is->skew) && near_float(row->kurtosis, is->kurtosis));
    CHECK(memcmp(row->block_sum, is->block_sum, sizeof row->block_sum) == 0);
    CHECK(memcmp(row->block_square, is->block_square, sizeof row->block_square) == 0);
    CHECK_INT(row->state, is->state);
    compared++;
    trades += is->trades;
}

static void try(enum screen_rule rule, size_t n_bars, size_t n_fast, size_t from)
{
    static struct shown here, there;
    const enum sweep_metric metric = rule == SCREEN_CROSS ? SWEEP_SORTINO : SWEEP_SHARPE;
    show(module, rule, n_bars, n_fast, from, metric, &there);
    for (int reversed = 0; reversed < 2; reversed++) {
        setenv("BLOCKS_REVERSED", reversed ? "1" : "0", 1);
        show(on_cpu, rule, n_bars, n_fast, from, metric, &here);
        for (size_t i = 0; i < n_fast * 70; i++)
            check_row(&there.rows[i], &here.rows[i]);
        CHECK_INT(there.n_ranked, here.n_ranked);
        for (size_t i = 0; i < here.n_ranked && i < there.n_ranked; i++)
            CHECK_INT(there.ranked[i].at, here.ranked[i].at);
        CHECK(near(there.luck.sum, here.luck.sum) && near(there.luck.squares, here.luck.squares) &&
              near(there.luck.n, here.luck.n));
        free(here.rows);
    }
    free(there.rows);
}

int main(int argc, char **argv)
{
    char reason[GPU_REASON_MAX] = "";
    const bool small = argc > 3 && strcmp(argv[3], "small") == 0;
    CHECK(argc > 2);
    if (argc < 3)
        return check_done("engine/screen_device");
    int r = gpu_module_open(argv[1], &module, reason, sizeof reason);
    if (r == -ENODEV || r == -ENOENT) {
        printf("skipped: %s\n", reason);
        return CHECK_SKIP;
    }
    CHECK_INT(r, 0);
    CHECK_INT(gpu_module_open(argv[2], &on_cpu, reason, sizeof reason), 0);
    if (!module || !on_cpu) {
        fprintf(stderr, "%s\n", reason);
        return check_done("engine/screen_device");
    }
    printf("device: %s\n", gpu_module_device(module));
    for (int rule = 0; rule < SCREEN_RULES; rule++) {
        try((enum screen_rule)rule, small ? 300 : 4500, small ? 1 : 40, 0);
        if (!small)
            try((enum screen_rule)rule, 1500, 3, 300);
    }
    printf("%llu rows, %llu trades\n", (unsigned long long)compared, (unsigned long long)trades);
    CHECK(compared > 0 && trades > 0);
    gpu_module_close(module);
    gpu_module_close(on_cpu);
    return check_done("engine/screen_device");
}
