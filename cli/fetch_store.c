/* The stores of what is fetched, and the range that is wanted of them where they have all of it: then the
 * venue is not asked. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/fetch.h"
#include "exchange/clock.h"
#include "exchange/early_stop.h"
#include "exchange/fail.h"
#include "exchange/folder.h"
#include "exchange/history/known.h"

enum { BUSY_LOOK_NS = 100 * 1000 * 1000 };
#define LONGEST_NS (32 * BAR_DAY_NS) /* more than any bar is */

bool cli_fetch_has_days(const struct fetch *fetch, const struct fetch_symbol *symbol)
{
    return !fetch->venue->always_open && symbol->symbol.calendar[0] != '\0';
}

/* Of the venue's stocks: as it was asked for, or the one that it has without. */
static const char *feed_of(const struct fetch *fetch)
{
    for (size_t i = 0; i < fetch->venue->n_options && !fetch->asked->feed; i++)
        if (strcmp(fetch->venue->options[i].name, "feed") == 0)
            return fetch->venue->options[i].fallback;
    return fetch->asked->feed ? fetch->asked->feed : "";
}

/* Bars that open before --to, and are whole by now; trades up to either. */
static void set_end(struct fetch *fetch, struct history_job *job)
{
    int64_t known_ns = fetch->now_ns, open_ns, end_ns;
    if (fetch->venue->bars_late_ns)
        known_ns -= fetch->venue->bars_late_ns(job->symbol, fetch->settings, fetch->n_settings);
    if (fetch->trades) {
        job->end_ns = fetch->asked->to_ns < known_ns ? fetch->asked->to_ns : known_ns;
        return;
    }
    trading_bar_span(job->calendar, fetch->interval_ns, known_ns, &open_ns, &end_ns);
    job->end_ns = fetch->asked->to_ns < open_ns ? fetch->asked->to_ns : open_ns;
}

void cli_fetch_host_of(const char *rest_url, const struct venue *venue, char host[static FETCH_HOST_MAX])
{
    struct url url;
    host[0] = '\0';
    if (rest_url && strcmp(rest_url, venue->rest_url) != 0 && net_url_parse(rest_url, &url) == 0)
        snprintf(host, FETCH_HOST_MAX, "%s:%u", url.host, url.port);
}

void cli_fetch_host(const struct fetch *fetch, char host[static FETCH_HOST_MAX])
{
    cli_fetch_host_of(fetch->asked->rest_url, fetch->venue, host);
}

/* The series that its store is of; `host` becomes a part of it. */
static struct history_series name_series(const struct fetch *fetch, const struct fetch_symbol *symbol,
                                         bool stock, char host[static FETCH_HOST_MAX])
{
    cli_fetch_host(fetch, host);
    return (struct history_series){
        .venue = fetch->venue->format->name,
        .symbol = symbol->name,
        .host = host,
        .feed = stock ? feed_of(fetch) : "",
        .adjustment = venue_adjustment_names[stock ? fetch->adjustment : VENUE_RAW],
        .interval_ns = fetch->interval_ns,
        .price_scale = symbol->symbol.price_scale,
        .qty_scale = symbol->symbol.qty_scale,
    };
}

/* Another process may fetch it: what that has then is there. */
static int open_or_wait(const struct fetch *fetch, const struct history_series *series, const char *folder,
                        struct history_store **ret, char *err, size_t err_size)
{
    const struct timespec pause = {.tv_nsec = BUSY_LOOK_NS};
    int r = history_store_open(folder, series, ret, err, err_size);
    if (r == -EBUSY)
        fprintf(stderr, "papertape: %s: %s; waits for it\n", fetch->asked->verb, err);
    while (r == -EBUSY && !early_stop_asked()) {
        (void)nanosleep(&pause, NULL);
        r = history_store_open(folder, series, ret, err, err_size);
    }
    return r;
}

/* A symbol that is not listed does not keep the others from coming. */
void cli_fetch_open(struct fetch *fetch, size_t i, const char *folder, bool kept)
{
    struct fetch_symbol *symbol = &fetch->symbols[i];
    struct history_job *job = &fetch->jobs[i];
    char host[FETCH_HOST_MAX], err[FETCH_ERROR_MAX] = "";
    const bool stock = cli_fetch_has_days(fetch, symbol);
    const struct history_series series = name_series(fetch, symbol, stock, host);
    const struct history_job known = *job; /* what the venue's list said */
    *job = (struct history_job){
        .symbol = &symbol->symbol,
        .calendar = stock ? &fetch->days : &fetch->always,
        .adjustment = stock ? fetch->adjustment : VENUE_RAW,
        .refresh = fetch->asked->refresh,
        .venue_days = true,
        .interval_ns = fetch->interval_ns,
        .from_ns = fetch->from_ns,
        .error = known.error,
    };
    memcpy(job->why, known.why, sizeof job->why);
    if (!job->error && stock && fetch->interval_ns > BAR_DAY_NS)
        job->error = fail_with(-EINVAL, job->why, sizeof job->why, "bars of a stock are of a day at most");
    if (job->error)
        return;
    set_end(fetch, job);
    if (job->end_ns <= job->from_ns)
        job->error =
            fail_with(-EINVAL, job->why, sizeof job->why,
                      fetch->trades ? "--from is not before --to or now, by the venue's clock"
                                    : "no bar between --from and --to is whole yet, by the venue's clock");
    else
        job->error = kept ? history_store_open_kept(folder, &series, &symbol->store, err, sizeof err)
                          : open_or_wait(fetch, &series, folder, &symbol->store, err, sizeof err);
    if (job->error && err[0])
        snprintf(job->why, sizeof job->why, "%.380s", err);
    job->store = symbol->store;
}

struct turn {
    const struct fetch *fetch;
    size_t i;
};

static int by_name(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    return strcmp(x->fetch->symbols[x->i].name, y->fetch->symbols[y->i].name);
}

void cli_fetch_open_all(struct fetch *fetch, const char *folder)
{
    struct turn turns[FETCH_SYMBOLS_MAX];
    for (size_t i = 0; i < fetch->n; i++)
        turns[i] = (struct turn){fetch, i};
    qsort(turns, fetch->n, sizeof *turns, by_name);
    for (size_t i = 0; i < fetch->n; i++)
        cli_fetch_open(fetch, turns[i].i, folder, false);
}

/* ---- without the venue ---- */

static bool covers(const struct history_known *known, int64_t from_ns, int64_t end_ns)
{
    return known->n_days > 0 && known->days[0].early_ns <= from_ns &&
           known->days[known->n_days - 1].late_ns >= end_ns;
}

/* What is known of the symbol, as a coin or a stock, whose store is named otherwise. False: nothing is, or
 * not of the range. */
static bool recall(const struct fetch *fetch, const struct fetch_symbol *symbol, const char *folder,
                   struct history_known *ret)
{
    char host[FETCH_HOST_MAX];
    for (int stock = 0; stock <= !fetch->venue->always_open; stock++) {
        const struct history_series series = name_series(fetch, symbol, stock, host);
        if (history_known_read(folder, &series, ret) < 0)
            continue;
        if ((ret->calendar[0] != '\0') == stock &&
            (!stock || covers(ret, fetch->from_ns, fetch->asked->to_ns)))
            return true;
        history_known_finish(ret);
    }
    return false;
}

/* Takes it as if the venue had said it. */
static bool take_known(struct fetch *fetch, size_t i, const char *folder)
{
    struct fetch_symbol *symbol = &fetch->symbols[i];
    struct history_known known;
    if (!recall(fetch, symbol, folder, &known))
        return false;
    if (known.listing)
        (void)cli_fetch_take_listing(known.listing, &symbol->symbol);
    memcpy(symbol->name, known.symbol, sizeof symbol->name);
    memcpy(symbol->symbol.name, known.symbol, sizeof symbol->symbol.name);
    memcpy(symbol->symbol.calendar, known.calendar, sizeof symbol->symbol.calendar);
    symbol->symbol.price_scale = known.price_scale;
    symbol->symbol.qty_scale = known.qty_scale;
    fetch->jobs[i].first_ns = known.first_ns;
    fetch->jobs[i].listed_ns = known.listed_ns;
    bool ok = known.n_days == 0 || feed_calendar_take(&fetch->calendar, known.days, known.n_days) == 0;
    history_known_finish(&known);
    return ok;
}

static bool is_whole(const struct history_job *job)
{
    int64_t from_ns, end_ns;
    return !job->error && !history_store_lacks(job->store, job->from_ns, job->end_ns, &from_ns, &end_ns);
}

static void forget_all(struct fetch *fetch)
{
    for (size_t i = 0; i < fetch->n; i++) {
        history_store_close(fetch->symbols[i].store);
        fetch->symbols[i].store = NULL;
        fetch->symbols[i].symbol = (struct symbol){.name = ""};
        fetch->jobs[i] = (struct history_job){.error = 0};
    }
    feed_calendar_finish(&fetch->calendar);
}

bool cli_fetch_from_cache(struct fetch *fetch)
{
    char folder[PATH_MAX];
    bool whole = fetch->asked->to_ns < INT64_MAX - LONGEST_NS && !fetch->asked->refresh &&
                 folder_cache("history", fetch->asked->cache, folder);
    if (!whole)
        return false;
    feed_calendar_init(&fetch->calendar, "", true);
    for (size_t i = 0; i < fetch->n && whole; i++)
        whole = take_known(fetch, i, folder);
    fetch->days = feed_calendar_view(&fetch->calendar);
    fetch->now_ns = fetch->asked->to_ns + LONGEST_NS; /* what is settled was whole */
    for (size_t i = 0; i < fetch->n && whole; i++) {
        const struct history_job recalled = fetch->jobs[i];
        cli_fetch_open(fetch, i, folder, true);
        fetch->jobs[i].first_ns = recalled.first_ns;
        fetch->jobs[i].listed_ns = recalled.listed_ns;
        whole = is_whole(&fetch->jobs[i]);
    }
    if (!whole)
        forget_all(fetch);
    for (size_t i = 0; i < fetch->n && whole && fetch->over; i++)
        fetch->over(fetch, i);
    return whole;
}

static int64_t kept_to(const struct fetch *fetch, struct fetch_symbol *symbol, const char *folder)
{
    struct history_known known;
    struct history_store *store;
    char host[FETCH_HOST_MAX], err[FETCH_ERROR_MAX];
    int64_t from_ns = INT64_MIN, end_ns;
    if (!recall(fetch, symbol, folder, &known))
        return INT64_MIN;
    symbol->symbol.price_scale = known.price_scale;
    symbol->symbol.qty_scale = known.qty_scale;
    const struct history_series series = name_series(fetch, symbol, known.calendar[0] != '\0', host);
    if (history_store_open_kept(folder, &series, &store, err, sizeof err) == 0) {
        if (!history_store_lacks(store, fetch->from_ns, clock_wall_ns(), &from_ns, &end_ns))
            from_ns = INT64_MIN;
        history_store_close(store);
    }
    history_known_finish(&known);
    return from_ns;
}

int64_t cli_fetch_kept_to(struct fetch *fetch)
{
    char folder[PATH_MAX];
    int64_t least_ns = INT64_MAX;
    if (!folder_cache("history", fetch->asked->cache, folder))
        return INT64_MIN;
    for (size_t i = 0; i < fetch->n; i++) {
        int64_t ns = kept_to(fetch, &fetch->symbols[i], folder);
        least_ns = ns < least_ns ? ns : least_ns;
    }
    return least_ns < INT64_MAX ? least_ns : INT64_MIN;
}

/* Is it known already, of as many days? */
static bool is_known(const char *folder, const struct history_series *series,
                     const struct history_known *known)
{
    struct history_known before;
    if (history_known_read(folder, series, &before) < 0)
        return false;
    bool same = strcmp(before.symbol, known->symbol) == 0 && strcmp(before.calendar, known->calendar) == 0 &&
                before.price_scale == known->price_scale && before.qty_scale == known->qty_scale &&
                before.first_ns == known->first_ns && before.listed_ns == known->listed_ns &&
                json_equal(before.listing, known->listing) &&
                (known->n_days == 0 ||
                 covers(&before, known->days[0].early_ns, known->days[known->n_days - 1].late_ns));
    history_known_finish(&before);
    return same;
}

void cli_fetch_remember(const struct fetch *fetch, const char *folder)
{
    for (size_t i = 0; i < fetch->n; i++) {
        const struct fetch_symbol *symbol = &fetch->symbols[i];
        const struct history_job *job = &fetch->jobs[i];
        const bool stock = cli_fetch_has_days(fetch, symbol);
        char host[FETCH_HOST_MAX];
        const struct history_series series = name_series(fetch, symbol, stock, host);
        struct history_known known = {.price_scale = symbol->symbol.price_scale,
                                      .qty_scale = symbol->symbol.qty_scale,
                                      .listed_ns = job->listed_ns,
                                      .first_ns = job->first_ns,
                                      .days = fetch->calendar.days,
                                      .n_days = stock ? fetch->calendar.n : 0};
        if (job->error || job->day_failed || job->first_ns < 0 || job->listed_ns < 0)
            continue;
        memcpy(known.symbol, symbol->name, sizeof known.symbol);
        if (stock)
            memcpy(known.calendar, symbol->symbol.calendar, sizeof known.calendar);
        known.listing = cli_fetch_listing(&symbol->symbol);
        if (!is_known(folder, &series, &known))
            (void)history_known_write(folder, &series, &known); /* where it fails the venue is asked again */
        json_decref(known.listing);
    }
}
