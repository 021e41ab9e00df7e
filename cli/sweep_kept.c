/* Where a sweep's results are kept while it runs, and after it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "cli/sweep_run.h"
#include "exchange/clock.h"
#include "exchange/folder.h"
#include "exchange/whole_file.h"

static const int64_t age_ns = INT64_C(30) * 86400 * 1000000000;
static const uint64_t bytes_most = UINT64_C(2) << 30;
static const size_t program_most = (size_t)1 << 30;

/* This very program, so that results of another build are not taken for this one's. */
struct program {
    char version[16];
    uint64_t sum;
};

static struct program program_of_this(void)
{
    struct program program;
    char *bytes;
    size_t n;
    memset(&program, 0, sizeof program);
    snprintf(program.version, sizeof program.version, "%s", PAPERTAPE_VERSION);
    if (whole_file_read("/proc/self/exe", program_most, &bytes, &n) == 0) {
        program.sum = XXH3_64bits(bytes, n);
        free(bytes);
    }
    return program;
}

static bool folder_of(const struct sweep *sweep, char ret[static PATH_MAX])
{
    char own[PATH_MAX];
    if (!sweep->run.cache)
        return folder_cache("sweeps", NULL, ret);
    return snprintf(own, sizeof own, "%s/sweeps", sweep->run.cache) < PATH_MAX &&
           folder_cache("sweeps", own, ret);
}

void cli_sweep_keep(const struct sweep *sweep, const struct backtest_sweep *all, struct sweep_file *ret)
{
    const struct program program = program_of_this();
    char folder[PATH_MAX];
    uint8_t key[SWEEP_KEY];
    *ret = (struct sweep_file){.fd = -1};
    if (sweep->run.no_cache || sweep->sets.n > BACKTEST_GRID_MOST || !folder_of(sweep, folder) ||
        backtest_sweep_key(all, &program, sizeof program, key) < 0)
        return;
    backtest_sweep_file_open(ret, folder, key, sweep->fresh);
    if (ret->why[0])
        fprintf(stderr, "papertape: sweep: note: %s\n", ret->why);
    if (ret->fd >= 0)
        backtest_sweep_file_trim(folder, ret->path, clock_wall_ns(), age_ns, bytes_most);
    ret->why[0] = '\0';
}
