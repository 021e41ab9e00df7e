#include "engine/market/grid.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/bars_gaps.h"
#include "exchange/clock.h"
#include "exchange/fail.h"

/* The sources of one symbol. */
struct group {
    struct market_source **member; /* in the order of their time */
    int n;
    size_t bars;
};

static int by_time(const void *a, const void *b)
{
    const struct market_source *x = *(struct market_source *const *)a, *y = *(struct market_source *const *)b;
    int64_t first = x->bars.open_time_ns[0], second = y->bars.open_time_ns[0];
    return (first > second) - (first < second);
}

static int check_times(const struct group *g, char err[static MARKET_ERROR_MAX])
{
    char text[CLOCK_TEXT_MAX];
    for (int i = 1; i < g->n; i++) {
        const struct market_source *before = g->member[i - 1], *after = g->member[i];
        int64_t begin_ns = after->bars.open_time_ns[0];
        if (before->bars.open_time_ns[before->bars.n - 1] < begin_ns)
            continue;
        snprintf(
            err, MARKET_ERROR_MAX,
            "symbol twice: %s: %s and %s both have bars at %s: each symbol once, or files of it that follow "
            "each other",
            after->bars.symbol, before->origin, after->origin, clock_utc_text(begin_ns, text));
        return -EINVAL;
    }
    return 0;
}

/* The interval of those that have one; 0: there is none. Of months, which no market takes, it is the whole's.
 */
static int find_interval(const struct group *g, int64_t *ret_ns, char err[static MARKET_ERROR_MAX])
{
    const struct market_source *first = NULL;
    for (int i = 0; i < g->n; i++)
        if (g->member[i]->bars.interval_ns == BAR_MONTH_NS) {
            *ret_ns = BAR_MONTH_NS;
            return 0;
        }
    for (int i = 0; i < g->n && *ret_ns == 0; i++) {
        const struct market_source *source = g->member[i];
        if (source->bars.interval_ns != 0 && !first)
            first = source;
        else if (source->bars.interval_ns != 0 && source->bars.interval_ns != first->bars.interval_ns)
            return market_store_intervals_differ(first, source, err);
    }
    if (first)
        *ret_ns = first->bars.interval_ns;
    return 0;
}

/* All files must have the same value of each term, or none. */
static int check_terms(const struct group *g, const struct market_terms *terms,
                       char err[static MARKET_ERROR_MAX])
{
    static const char *const options[] = {"--lot", "--tick", "--quote"};
    const char *const *const lists[] = {terms->lots, terms->ticks, terms->quotes};
    for (int t = 0; t < 3; t++)
        for (int i = 1; lists[t] && i < g->n; i++) {
            const char *a = lists[t][g->member[0]->file], *b = lists[t][g->member[i]->file];
            if (a == b || (a && b && strcmp(a, b) == 0))
                continue;
            return fail_with(-EINVAL, err, MARKET_ERROR_MAX,
                             "%s: \"%.64s\" and \"%.64s\": %s: the same for all its files", options[t],
                             a ? a : "", b ? b : "", g->member[i]->bars.symbol);
        }
    return 0;
}

static bool allocate(struct bars_file *bars, size_t n)
{
    bars->open_time_ns = malloc(n * sizeof *bars->open_time_ns);
    bars->open = malloc(n * sizeof(double));
    bars->high = malloc(n * sizeof(double));
    bars->low = malloc(n * sizeof(double));
    bars->close = malloc(n * sizeof(double));
    bars->volume = malloc(n * sizeof(double));
    bars->session = calloc(n, sizeof *bars->session); /* of files without: NONE */
    return bars->open_time_ns && bars->open && bars->high && bars->low && bars->close && bars->volume &&
           bars->session;
}

/* Adds the bars of one file, and frees them. */
static void take(struct market_source *to, struct market_source *from, int part)
{
    struct bars_file *out = &to->bars, *in = &from->bars;
    memcpy(out->open_time_ns + out->n, in->open_time_ns, in->n * sizeof *in->open_time_ns);
    memcpy(out->open + out->n, in->open, in->n * sizeof(double));
    memcpy(out->high + out->n, in->high, in->n * sizeof(double));
    memcpy(out->low + out->n, in->low, in->n * sizeof(double));
    memcpy(out->close + out->n, in->close, in->n * sizeof(double));
    memcpy(out->volume + out->n, in->volume, in->n * sizeof(double));
    if (in->session)
        memcpy(out->session + out->n, in->session, in->n);
    if (in->fits[0])
        memcpy(out->fits, in->fits, sizeof out->fits);
    memcpy(to->parts[part].origin, from->origin, sizeof from->origin);
    to->parts[part].first = out->n;
    if (in->price_digits > out->price_digits || part == 0) {
        out->price_digits = in->price_digits;
        out->digits_line = in->digits_line;
        memcpy(to->origin, from->origin, sizeof to->origin);
    }
    if (in->volume_digits > out->volume_digits)
        out->volume_digits = in->volume_digits;
    out->n += in->n;
    out->repaired += in->repaired;
    out->bytes += in->bytes;
    bars_file_finish(in);
}

static int join(struct group *g, struct market_source *first, int64_t interval_ns,
                char err[static MARKET_ERROR_MAX])
{
    struct market_source whole = {.file = first->file};
    memcpy(whole.bars.symbol, first->bars.symbol, sizeof whole.bars.symbol);
    whole.parts = calloc((size_t)g->n, sizeof *whole.parts);
    int r = whole.parts && allocate(&whole.bars, g->bars) ? 0 : -ENOMEM;
    if (r == 0) {
        whole.n_parts = (size_t)g->n;
        for (int i = 0; i < g->n; i++)
            take(&whole, g->member[i], i);
        bars_file_forget_none(&whole.bars);
        r = bars_file_set_interval(&whole.bars, interval_ns ? interval_ns : bars_gaps_interval(&whole.bars));
    }
    if (r < 0) {
        market_store_sources_finish(&whole, 1);
        snprintf(err, MARKET_ERROR_MAX, "out of memory: %s: fewer bars", first->origin);
        return r;
    }
    *first = whole;
    return 0;
}

/* The sources from `first` on that have its symbol become one, there. */
static int join_from(struct market_source *sources, int first, int n, int64_t interval_ns,
                     const struct market_terms *terms, struct group *g, char err[static MARKET_ERROR_MAX])
{
    g->n = 0;
    g->bars = 0;
    for (int i = first; i < n; i++)
        if (sources[i].bars.n > 0 && strcmp(sources[i].bars.symbol, sources[first].bars.symbol) == 0) {
            g->member[g->n++] = &sources[i];
            g->bars += sources[i].bars.n;
        }
    if (g->n == 1)
        return 0;
    int r = check_terms(g, terms, err);
    qsort(g->member, (size_t)g->n, sizeof *g->member, by_time);
    if (r == 0)
        r = check_times(g, err);
    if (r == 0)
        r = find_interval(g, &interval_ns, err);
    return r < 0 ? r : join(g, &sources[first], interval_ns, err);
}

int market_store_join(struct market_source *sources, int *n, int64_t interval_ns,
                      const struct market_terms *terms, char err[static MARKET_ERROR_MAX])
{
    struct group g = {.member = calloc((size_t)*n, sizeof(*g.member))};
    int r = 0, kept = 0;
    if (!g.member)
        return fail_with(-ENOMEM, err, MARKET_ERROR_MAX, "out of memory");
    for (int i = 0; r == 0 && i < *n; i++) {
        if (sources[i].bars.n == 0) /* an earlier source has taken its bars */
            continue;
        r = join_from(sources, i, *n, interval_ns, terms, &g, err);
        if (r == 0 && kept < i) {
            sources[kept] = sources[i];
            sources[i] = (struct market_source){0};
        }
        kept += r == 0;
    }
    free(g.member);
    if (r == 0)
        *n = kept;
    return r;
}
