/* What is fetched as a market of rows, ready in its cache. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <xxhash.h>

#include "cli/fetch.h"
#include "exchange/exit_status.h"

enum { READY_BARS_MAX = 8 * 1000 * 1000 }; /* of 1m 15 years; they are held once, and one symbol twice */

/* ---- the content ---- */

struct digesting {
    XXH3_state_t *state;
    const struct fetch *fetch;
    const struct history_job *job;
    uint64_t rows;
};

static int add_bar(void *ctx, const struct bar *bar)
{
    struct digesting *d = ctx;
    const int64_t row[] = {bar->open_ns,
                           bar->open,
                           bar->high,
                           bar->low,
                           bar->close,
                           (int64_t)bar->volume,
                           (int64_t)(bar->volume >> 64),
                           d->job->calendar->n > 0 ? (int)cli_fetch_session(d->fetch, d->job, bar->open_ns)
                                                   : -1};
    d->rows++;
    return XXH3_128bits_update(d->state, row, sizeof row) == XXH_OK ? 0 : -EIO;
}

int cli_fetch_digest(const struct fetch *fetch, size_t i, uint8_t ret[static MARKET_HASH_SIZE],
                     uint64_t *ret_bars)
{
    const struct history_job *job = &fetch->jobs[i];
    const int64_t head[] = {job->symbol->price_scale, job->symbol->qty_scale, fetch->interval_ns};
    struct digesting digesting = {.state = XXH3_createState(), .fetch = fetch, .job = job};
    XXH128_canonical_t text;
    int r = digesting.state && XXH3_128bits_reset(digesting.state) == XXH_OK &&
                    XXH3_128bits_update(digesting.state, head, sizeof head) == XXH_OK
                ? 0
                : -ENOMEM;
    if (r == 0)
        r = history_store_each(job->store, fetch->from_ns, job->end_ns, add_bar, &digesting);
    if (r == 0) {
        XXH128_canonicalFromHash(&text, XXH3_128bits_digest(digesting.state));
        memset(ret, 0, MARKET_HASH_SIZE);
        memcpy(ret, text.digest, sizeof text.digest);
        *ret_bars = digesting.rows;
    }
    XXH3_freeState(digesting.state);
    return r;
}

/* ---- the cache ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool is_file(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

void cli_fetch_make_ready(const struct fetch *fetch)
{
    const char *paths[FETCH_SYMBOLS_MAX];
    const struct market_options options = {.cache = fetch->asked->cache};
    char err[MARKET_ERROR_MAX];
    struct market *market;
    uint64_t rows = 0;
    if (fetch->asked->no_cache || fetch->trades || fetch->interval_ns == BAR_MONTH_NS)
        return;
    for (size_t i = 0; i < fetch->n; i++) {
        const struct fetch_symbol *symbol = &fetch->symbols[i];
        if (!symbol->written || symbol->status != EXIT_OK || cli_fetch_has_days(fetch, symbol) ||
            !is_file(symbol->path))
            return;
        paths[i] = symbol->path;
        rows += symbol->rows;
    }
    if (rows > READY_BARS_MAX)
        return;
    qsort(paths, fetch->n, sizeof *paths, by_name);
    if (market_store_load_files(paths, fetch->n, &options, &market, NULL, err) == 0)
        market_store_close(market);
}
