/* The sets of a sweep and the file that its results are kept in: samples are in their ranges, each once, the
 * same of a seed; Sobol's sequence fills evenly; what a kill, a disk or another program leaves of the file is
 * found, and never taken for results. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/backtest/sobol.h"
#include "engine/backtest/sweep_file.h"
#include "exchange/folder.h"
#include "strategy/strategy.h"
#include "tests/check.h"

static const struct strategy *cross(void)
{
    return strategy_find("sma-cross");
}

static void grid_of(struct backtest_grid *grid, const char *const *texts, int n)
{
    char err[BACKTEST_GRID_ERROR_MAX] = "";
    *grid = (struct backtest_grid){0};
    for (int i = 0; i < n; i++)
        if (backtest_grid_add(grid, cross(), texts[i], err) < 0)
            fprintf(stderr, "%s: %s\n", texts[i], err);
    CHECK_INT(grid->n_axes, n);
}

/* SciPy's stats.qmc.Sobol(32, scramble=False).random(8), times 2^32, of some dimensions; the oracle has all.
 */
static void test_sobol(void)
{
    static const uint32_t expected[][8] = {
        {0, 0x80000000, 0xc0000000, 0x40000000, 0x60000000, 0xe0000000, 0xa0000000, 0x20000000},
        {0, 0x80000000, 0x40000000, 0xc0000000, 0x60000000, 0xe0000000, 0x20000000, 0xa0000000}};
    struct backtest_sobol sobol;
    backtest_sobol_init(&sobol);
    for (int d = 0; d < 2; d++)
        for (uint32_t i = 0; i < 8; i++)
            CHECK_INT(backtest_sobol_at(&sobol, i, d), expected[d][i]);
    /* Of 2^k points each of 2^k intervals has one, in every dimension. */
    for (int d = 0; d < BACKTEST_SOBOL_DIMENSIONS; d++) {
        bool seen[256] = {false};
        for (uint32_t i = 0; i < 256; i++)
            seen[backtest_sobol_at(&sobol, i, d) >> 24] = true;
        for (int k = 0; k < 256; k++)
            CHECK(seen[k]);
    }
}

static void test_samples(bool sobol)
{
    const char *const texts[] = {"fast=2:60", "slow=10,300,20,10", "fraction=0.1:0.9"};
    struct backtest_grid grid;
    struct backtest_sets sets, again, other;
    char err[BACKTEST_GRID_ERROR_MAX];
    struct backtest_sampling sampling = {.n = 5000, .sobol = sobol, .seed = 7};
    grid_of(&grid, texts, 3);
    CHECK_INT(grid.axes[1].n, 3);
    CHECK_INT(grid.axes[1].again, 1);
    CHECK(grid.axes[2].continuous && !grid.axes[0].continuous);
    CHECK_NEAR(grid.axes[2].high, 0.9, 1e-15);
    CHECK_INT(backtest_sets_open(&grid, &sampling, &sets, err), 0);
    CHECK_INT(backtest_sets_open(&grid, &sampling, &again, err), 0);
    sampling.seed = 8;
    CHECK_INT(backtest_sets_open(&grid, &sampling, &other, err), 0);
    CHECK_INT(sets.n, again.n);
    CHECK(memcmp(sets.drawn, again.drawn, sets.n * 3 * sizeof *sets.drawn) == 0);
    CHECK(memcmp(sets.drawn, other.drawn, 100 * 3 * sizeof *sets.drawn) != 0);
    CHECK(sets.n > 4900 && sets.n <= 5000 && sets.asked == 5000);
    double sum[3] = {0};
    for (size_t i = 0; i < sets.n; i++) {
        const double *at = sets.drawn + 3 * i;
        CHECK(at[0] >= 2 && at[0] <= 60 && at[0] == floor(at[0]));
        CHECK(at[1] == 10 || at[1] == 20 || at[1] == 300);
        CHECK(at[2] >= 0.1 && at[2] <= 0.9);
        for (int a = 0; a < 3; a++)
            sum[a] += at[a] / (double)sets.n;
        for (size_t k = 0; i % 500 == 0 && k < i; k++)
            CHECK(memcmp(at, sets.drawn + 3 * k, 3 * sizeof *at) != 0);
    }
    /* Means: of so many independent ones, five standard errors. */
    CHECK_NEAR(sum[0], 31, 5 * 17 / sqrt(5000));
    CHECK_NEAR(sum[1], 110, 5 * 135 / sqrt(5000));
    CHECK_NEAR(sum[2], 0.5, 5 * 0.24 / sqrt(5000));
    backtest_sets_finish(&sets);
    backtest_sets_finish(&again);
    backtest_sets_finish(&other);
    backtest_grid_finish(&grid);
}

/* Bit k of x at the other end of 16. */
static size_t reversed16(size_t x)
{
    size_t ret = 0;
    for (int k = 0; k < 16; k++)
        ret |= (x >> k & 1) << (15 - k);
    return ret;
}

/* Where periods start. Of Sobol's sequence in one dimension point k is its Gray code's bits in reverse: a
 * digital shift leaves what two points differ in, and each part of the places has one of as many points. */
static void test_starts(void)
{
    enum { N = 4096, PARTS = 64, PART = 157, PLACES = PARTS * PART };
    struct backtest_sampling sampling = {.sobol = true, .seed = 7};
    size_t at[N], again[N], other[N];
    double sum = 0;
    backtest_sampling_starts(&sampling, N, 1 << 16, at);
    for (size_t k = 0; k < N; k++)
        CHECK_INT(at[k] ^ at[0], reversed16(k ^ k >> 1));
    sampling.seed = 8;
    backtest_sampling_starts(&sampling, N, 1 << 16, other);
    CHECK(at[0] != other[0]);
    backtest_sampling_starts(&sampling, N, PLACES, at);
    for (size_t k = 0; k < N; k += PARTS) {
        bool seen[PARTS] = {false};
        for (size_t i = k; i < k + PARTS; i++) {
            CHECK(at[i] < PLACES && !seen[at[i] % PLACES / PART]);
            seen[at[i] % PLACES / PART] = true;
        }
    }
    sampling.sobol = false;
    backtest_sampling_starts(&sampling, N, PLACES, at);
    backtest_sampling_starts(&sampling, N, PLACES, again);
    CHECK(memcmp(at, again, sizeof at) == 0 && at[0] != at[1]);
    for (size_t k = 0; k < N; k++) {
        CHECK(at[k] < PLACES);
        sum += (double)at[k] / N;
    }
    CHECK_NEAR(sum, PLACES / 2.0, 5 * PLACES / sqrt(12.0 * N)); /* five standard errors */
    sampling.n = 40;                                            /* samples of parameters: the periods stay */
    backtest_sampling_starts(&sampling, 3, PLACES, again);
    CHECK(memcmp(at, again, 3 * sizeof *at) == 0);
    backtest_sampling_starts(&sampling, 3, 1, again);
    CHECK(again[0] == 0 && again[1] == 0 && again[2] == 0);
}

/* Of few points equal ones are one, in the order of their first. The nearest, by all distances. */
static void test_distinct(void)
{
    const char *const texts[] = {"fast=2:4", "slow=10:13"};
    struct backtest_grid grid;
    struct backtest_sets sets;
    char err[BACKTEST_GRID_ERROR_MAX];
    const struct backtest_sampling sampling = {.n = 1000, .seed = 1}, most = {.n = BACKTEST_GRID_MOST + 1};
    grid_of(&grid, texts, 2);
    CHECK_INT(backtest_sets_open(&grid, &sampling, &sets, err), 0);
    CHECK_INT(sets.n, 12);
    size_t beside[BACKTEST_SETS_BESIDE], n = backtest_sets_beside(&sets, 0, beside, BACKTEST_SETS_BESIDE);
    CHECK_INT(n, BACKTEST_SETS_NEAREST);
    double before = 0;
    for (size_t i = 0; i < n; i++) {
        double x = (sets.drawn[2 * beside[i]] - sets.drawn[0]) / 2;
        double y = (sets.drawn[2 * beside[i] + 1] - sets.drawn[1]) / 3;
        CHECK(beside[i] != 0 && x * x + y * y >= before);
        before = x * x + y * y;
    }
    backtest_sets_finish(&sets);
    CHECK_INT(backtest_sets_open(&grid, &most, &sets, err), -EINVAL);
    CHECK(strstr(err, "1000001 samples: at most 1000000") != NULL);
    backtest_grid_finish(&grid);
}

/* ---- the file ---- */

static struct sweep_result made_row(size_t i)
{
    struct sweep_result row = {.combination = i, .trades = 3 * i, .exact = true, .dsr = NAN};
    row.metrics[SWEEP_SHARPE] = 0.5 * (double)i;
    row.block_mean[15] = -(double)i;
    return row;
}

static size_t rows_in(const char *folder, const uint8_t *key, const char *why, struct sweep_file *file)
{
    struct sweep_result rows[64];
    backtest_sweep_file_open(file, folder, key, false);
    if (!(why[0] ? strstr(file->why, why) != NULL : !file->why[0])) {
        check_failures++;
        fprintf(stderr, "\"%s\" is not in: %s\n", why, file->why);
    }
    size_t n = backtest_sweep_file_rows(file, rows, 64);
    for (size_t i = 0; i < n; i++) {
        CHECK_INT(rows[i].combination, i);
        CHECK_INT(rows[i].trades, 3 * i);
        CHECK_NEAR(rows[i].metrics[SWEEP_SHARPE], 0.5 * (double)i, 0);
        CHECK_NEAR(rows[i].block_mean[15], -(double)i, 0);
    }
    return n;
}

static void add(struct sweep_file *file, size_t from, size_t n)
{
    struct sweep_result rows[16];
    for (size_t i = 0; i < n; i++)
        rows[i] = made_row(from + i);
    backtest_sweep_file_add(file, rows, n);
    CHECK(!file->failed);
}

static void flip(const char *path, off_t at)
{
    int fd = open(path, O_RDWR);
    uint8_t byte = 0;
    CHECK(fd >= 0 && pread(fd, &byte, 1, at) == 1);
    byte ^= 1;
    CHECK(pwrite(fd, &byte, 1, at) == 1);
    close(fd);
}

static void test_file(const char *folder)
{
    const uint8_t key[SWEEP_KEY] = {1, 2, 3}, another[SWEEP_KEY] = {1, 2, 4};
    struct sweep_file file, second;
    struct stat st;
    char copy[PATH_MAX];
    CHECK_INT(rows_in(folder, key, "", &file), 0);
    add(&file, 0, 10);
    add(&file, 10, 3);
    CHECK_INT(rows_in(folder, key, "running elsewhere", &second), 0); /* one at a time */
    CHECK(second.fd < 0);
    backtest_sweep_file_add(&second, (struct sweep_result[]){made_row(0)}, 1); /* does nothing */
    backtest_sweep_file_close(&file);
    CHECK_INT(rows_in(folder, key, "", &file), 13);
    backtest_sweep_file_close(&file);
    CHECK_INT(rows_in(folder, another, "", &file), 0);
    backtest_sweep_file_close(&file);

    /* A kill in the middle of a record, at each of some bytes: what is whole stays, and more can follow. */
    CHECK_INT(rows_in(folder, key, "", &file), 13);
    snprintf(copy, sizeof copy, "%s", file.path);
    CHECK_INT(stat(copy, &st), 0);
    backtest_sweep_file_close(&file);
    const off_t record = (off_t)(sizeof(struct sweep_result) + 8), header = st.st_size - 13 * record;
    for (off_t less = 1; less < record; less += 41) {
        CHECK_INT(truncate(copy, header + 13 * record - less), 0);
        CHECK_INT(rows_in(folder, key, "", &file), 12);
        add(&file, 12, 1);
        backtest_sweep_file_close(&file);
        CHECK_INT(rows_in(folder, key, "", &file), 13);
        backtest_sweep_file_close(&file);
    }

    /* Any byte that is another: it is started again, and says so. */
    for (off_t at = 0; at < header + 13 * record; at += 97) {
        flip(copy, at);
        CHECK_INT(rows_in(folder, key, "was damaged: it is started again", &file), 0);
        add(&file, 0, 13);
        backtest_sweep_file_close(&file);
    }
    CHECK_INT(truncate(copy, 3), 0);
    CHECK_INT(rows_in(folder, key, "was damaged", &file), 0);
    add(&file, 0, 2);
    backtest_sweep_file_close(&file);
    backtest_sweep_file_open(&file, folder, key, true); /* fresh */
    CHECK_INT(file.n, 0);
    backtest_sweep_file_close(&file);
    CHECK_INT(rows_in("/dev/null/nowhere", key, "nothing is kept to continue from", &file), 0);
}

static void test_trim(const char *folder)
{
    struct sweep_file files[4];
    char other[PATH_MAX + 16];
    for (uint8_t i = 0; i < 4; i++) {
        const uint8_t key[SWEEP_KEY] = {9, i};
        struct timespec times[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
        backtest_sweep_file_open(&files[i], folder, key, false);
        add(&files[i], 0, 4);
        futimens(files[i].fd, times);
        backtest_sweep_file_close(&files[i]);
    }
    snprintf(other, sizeof other, "%s/notes.sweep", folder);
    close(open(other, O_CREAT | O_WRONLY, 0600));
    struct stat st;
    CHECK_INT(stat(files[0].path, &st), 0);
    /* All others of the folder are newer; the oldest one is the one that is kept. */
    backtest_sweep_file_trim(folder, files[0].path, INT64_C(1010) * 1000000000, INT64_C(9) * 1000000000 - 1,
                             UINT64_MAX);
    CHECK_INT(access(files[0].path, F_OK), 0);
    CHECK_INT(access(files[1].path, F_OK), -1); /* too old */
    CHECK_INT(access(files[2].path, F_OK), 0);
    backtest_sweep_file_trim(folder, files[0].path, 0, INT64_MAX, 0);
    CHECK_INT(access(files[0].path, F_OK), 0);
    CHECK_INT(access(files[2].path, F_OK) + access(files[3].path, F_OK), -2); /* too many bytes */
    CHECK_INT(access(other, F_OK), 0);
}

int main(int argc, char **argv)
{
    char folder[PATH_MAX];
    if (argc == 2 && strcmp(argv[1], "sobol") == 0) { /* for the oracle */
        struct backtest_sobol sobol;
        backtest_sobol_init(&sobol);
        for (uint32_t i = 0; i < 1024; i++)
            for (int d = 0; d < BACKTEST_SOBOL_DIMENSIONS; d++)
                printf("%u\n", backtest_sobol_at(&sobol, i, d));
        return 0;
    }
    CHECK_INT(folder_temporary("sweep-test", folder), 0);
    test_sobol();
    test_samples(false);
    test_samples(true);
    test_starts();
    test_distinct();
    test_file(folder);
    test_trim(folder);
    folder_remove(folder);
    return check_done("engine/sweep");
}
