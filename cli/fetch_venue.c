#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fetch.h"
#include "cli/progress.h"
#include "daemon/feed/keys.h"
#include "exchange/clock.h"
#include "exchange/early_stop.h"
#include "exchange/fail.h"
#include "exchange/folder.h"
#include "exchange/nearest.h"
#include "exchange/net/context.h"
#include "exchange/net/requests.h"
#include "exchange/net/secret.h"

enum {
    ATTEMPTS = 50,      /* of a page: a ban, and a night's outage, are waited for, */
    FIRST_ATTEMPTS = 4, /* … but at first a wrong address is as likely */
    STOP_LOOK_MS = 100,
    SAID_MS = 5000,   /* without a failure a shorter wait is not worth a line */
    QUIET_MS = 60000, /* after so long without one the next failure is the first again */
};

/* Before and after any time there is a session within so long. */
#define AROUND_NS     (10 * BAR_DAY_NS)
#define DAYS_ASKED_NS (365 * AROUND_NS) /* ten years at once */

struct asking {
    struct fetch *fetch;
    uv_loop_t loop;
    uv_timer_t look; /* whether it is to stop */
    struct net_context *net;
    struct venue_rest *rest;
    struct feed_keys *keys;
    struct history_download *download;
    struct progress progress;
    char note[80];     /* behind the bar */
    int64_t said_ms;   /* the wait up to then has a line */
    uint64_t failures; /* that were seen, */
    int64_t failed_ms; /* … when, */
    int said_attempt;  /* … and which of a page has a line */
    int r;
    bool done;
};

static void show(struct asking *asking);

static int fail(struct asking *asking, int r, const char *what, const char *why)
{
    return fail_with(r, asking->fetch->err, sizeof asking->fetch->err, "%s%s%s", what, *what ? ": " : "",
                     why);
}

/* When what failed, or waits for the venue's limit, is sent. */
static int64_t waits_until(const struct venue_rest_status *status)
{
    const int64_t retry_ms = status->attempt > 0 ? status->retry_ms : 0;
    return status->paused_until_ms > retry_ms ? status->paused_until_ms : retry_ms;
}

/* Is it a page's next attempt, of which there was no line? At first, which may be a wrong address, only where
 * the venue limits. */
static bool is_new_attempt(struct asking *asking, const struct venue_rest_status *status, int64_t now)
{
    const bool failed = status->failures > asking->failures;
    if (!failed && now > asking->failed_ms + QUIET_MS)
        asking->said_attempt = 0;
    if (failed) {
        asking->failures = status->failures;
        asking->failed_ms = now;
    }
    return failed && status->attempt > asking->said_attempt &&
           (asking->download || status->paused_until_ms > now);
}

/* Where no bar is shown, a line for each longer wait, and for each further attempt of a page. */
static void say_wait(struct asking *asking, const struct venue_rest_status *status)
{
    const int64_t now = clock_now_ms(), until_ms = waits_until(status);
    const bool again = is_new_attempt(asking, status, now);
    char attempt[64] = "";
    if (asking->progress.shows ||
        (!again && (status->paused_until_ms <= now + SAID_MS || now < asking->said_ms)))
        return;
    if (status->attempt > 0)
        snprintf(attempt, sizeof attempt, "attempt %d of %d failed, ", status->attempt, status->attempts_max);
    asking->said_attempt = status->attempt > asking->said_attempt ? status->attempt : asking->said_attempt;
    asking->said_ms = until_ms > now + SAID_MS ? until_ms : now + SAID_MS;
    const char *why = status->detail[0] ? status->detail : "its limit is near";
    const size_t n = strlen(why);
    fprintf(stderr, "papertape: %s: %s: %.*s; %strying again in %.1f s\n", asking->fetch->asked->verb,
            asking->fetch->venue->title, (int)(why[n - 1] == '.' ? n - 1 : n), why, attempt,
            until_ms > now ? (double)(until_ms - now) / 1000 : 0.0);
}

static void on_look(uv_timer_t *timer)
{
    struct asking *asking = timer->data;
    const struct venue_rest_status *status = asking->rest ? net_requests_status(asking->rest) : NULL;
    if (early_stop_asked()) {
        asking->r = -ECANCELED;
        asking->done = true;
    } else if (!asking->download && status && status->failures >= FIRST_ATTEMPTS) {
        asking->r = fail(asking, -EIO, asking->fetch->venue->title, status->detail);
        asking->done = true;
    } else if (status) {
        if (asking->download)
            show(asking);
        say_wait(asking, status);
    }
}

/* Turns the loop until the callback of a request sets `done`. Its result. */
static int wait_for(struct asking *asking, int r)
{
    asking->done = false;
    asking->r = r;
    while (r == 0 && !asking->done)
        uv_run(&asking->loop, UV_RUN_ONCE);
    return asking->r;
}

/* ---- what the symbols are ---- */

static bool refused(struct asking *asking, const struct venue_reply *reply)
{
    if (!reply->more || reply->error)
        asking->done = true;
    if (reply->error)
        asking->r = fail(asking, reply->error, asking->fetch->venue->title, reply->text);
    return reply->error != 0;
}

static void have_time(void *user, const struct venue_reply *reply)
{
    struct asking *asking = user;
    if (!refused(asking, reply))
        asking->fetch->now_ns = reply->server_ns;
}

/* The first that is named as this one: a venue answers of each name once. */
static size_t first_named(const struct fetch *fetch, size_t i)
{
    size_t first = 0;
    while (strcmp(fetch->symbols[first].name, fetch->symbols[i].name) != 0)
        first++;
    return first;
}

static void have_symbols(void *user, const struct venue_reply *reply)
{
    struct asking *asking = user;
    struct fetch *fetch = asking->fetch;
    if (refused(asking, reply))
        return;
    for (size_t i = 0; i < fetch->n; i++) {
        const struct venue_symbol *found = &reply->symbols.list[first_named(fetch, i)];
        fetch->symbols[i].symbol = found->symbol;
        fetch->jobs[i].error = 0;
        if (!found->found || found->unusable)
            fetch->jobs[i].error = fail_with(-ENOENT, fetch->jobs[i].why, sizeof fetch->jobs[i].why, "%s%s",
                                             found->found ? "it is listed so that it cannot be read"
                                                          : "the venue does not list it",
                                             found->found ? "" : NEAREST_SUGGEST(found->nearest));
    }
}

static void have_days(void *user, const struct venue_reply *reply)
{
    struct asking *asking = user;
    struct fetch *fetch = asking->fetch;
    if (!refused(asking, reply) && feed_calendar_take(&fetch->calendar, reply->days.list, reply->days.n) < 0)
        asking->r = fail(asking, -EBADMSG, fetch->venue->title, "its trading days contradict each other");
}

static int ask_for_days(struct asking *asking)
{
    const struct fetch *fetch = asking->fetch;
    int64_t from_ns = fetch->from_ns > AROUND_NS ? fetch->from_ns - AROUND_NS : 0;
    int64_t end_ns = fetch->now_ns + AROUND_NS;
    int r = 0;
    for (; r == 0 && from_ns < end_ns; from_ns += DAYS_ASKED_NS)
        r = wait_for(asking,
                     net_requests_days(asking->rest, from_ns,
                                       end_ns - from_ns < DAYS_ASKED_NS ? end_ns : from_ns + DAYS_ASKED_NS,
                                       have_days, asking, NULL));
    return r;
}

/* BTC-USD, as in a file's name, where only BTC/USD can be listed. False: no name has changed. */
static bool spell_as_pairs(struct fetch *fetch)
{
    bool any = false;
    for (size_t i = 0; i < fetch->n; i++) {
        char *dash = fetch->jobs[i].error == -ENOENT ? strchr(fetch->symbols[i].name, '-') : NULL;
        any |= dash != NULL;
        if (dash)
            *dash = '/';
    }
    return any;
}

/* BTC-USD and BTC/USD are one: its store is opened once. */
static void refuse_twins(struct fetch *fetch)
{
    for (size_t i = 0; i < fetch->n; i++)
        if (first_named(fetch, i) < i && !fetch->jobs[i].error)
            fetch->jobs[i].error =
                fail_with(-EEXIST, fetch->jobs[i].why, sizeof fetch->jobs[i].why, "it is named twice");
}

static int ask_for_symbols(struct asking *asking)
{
    struct fetch *fetch = asking->fetch;
    const char *names[FETCH_SYMBOLS_MAX];
    bool days = false;
    for (size_t i = 0; i < fetch->n; i++)
        names[i] = fetch->symbols[i].name;
    int r = wait_for(asking, net_requests_time(asking->rest, have_time, asking, NULL));
    if (r == 0)
        r = wait_for(asking, net_requests_symbols(asking->rest, names, fetch->n, have_symbols, asking, NULL));
    if (r == 0 && spell_as_pairs(fetch))
        r = wait_for(asking, net_requests_symbols(asking->rest, names, fetch->n, have_symbols, asking, NULL));
    refuse_twins(fetch);
    for (size_t i = 0; i < fetch->n && r == 0; i++)
        days |= cli_fetch_has_days(fetch, &fetch->symbols[i]);
    feed_calendar_init(&fetch->calendar, "", true);
    return r == 0 && days ? ask_for_days(asking) : r;
}

/* ---- the bars ---- */

static void show(struct asking *asking)
{
    const struct fetch *fetch = asking->fetch;
    const struct venue_rest_status *status = net_requests_status(asking->rest);
    int64_t lacked_ns = 0, done_ns = 0;
    uint64_t rows = 0;
    for (size_t i = 0; i < fetch->n; i++) {
        lacked_ns += fetch->jobs[i].lacked_ns;
        done_ns += fetch->jobs[i].done_ns;
        rows += fetch->jobs[i].rows;
    }
    cli_progress_count(&asking->progress, rows, fetch->trades ? "trades" : "bars");
    const int64_t wait_ms = waits_until(status) - clock_now_ms();
    char attempt[32] = "";
    if (status->attempt > 0)
        snprintf(attempt, sizeof attempt, "attempt %d, ", status->attempt + 1);
    snprintf(asking->note, sizeof asking->note, "%sin %lld s: %.40s", attempt,
             (long long)(wait_ms + 999) / 1000, status->detail);
    asking->progress.note = wait_ms > 0 ? asking->note : "";
    cli_progress_show(&asking->progress, lacked_ns > 0 ? (double)done_ns / (double)lacked_ns : 1);
}

static void on_page(void *ctx)
{
    struct asking *asking = ctx;
    show(asking);
    for (size_t i = 0; i < asking->fetch->n; i++)
        if (asking->fetch->over && history_job_over(&asking->fetch->jobs[i]))
            asking->fetch->over(asking->fetch, i);
    if (history_download_over(asking->download))
        asking->done = true;
}

static int fill_stores(struct asking *asking)
{
    struct fetch *fetch = asking->fetch;
    char folder[PATH_MAX];
    int r = 0;
    if (!folder_cache("history", fetch->asked->cache, folder))
        return fail(asking, -ENOENT, "", "no place for it: --cache DIR, $XDG_CACHE_HOME or $HOME");
    fetch->days = feed_calendar_view(&fetch->calendar);
    cli_fetch_open_all(fetch, folder);
    if (early_stop_asked())
        return -ECANCELED;
    if (fetch->asked->archive && (r = cli_fetch_archive(fetch)) < 0)
        return r;
    cli_progress_begin(&asking->progress, fetch->asked->verb);
    r = history_download_start(asking->rest, fetch->venue, fetch->jobs, fetch->n, fetch->now_ns, on_page,
                               asking, &asking->download);
    if (r == 0 && !history_download_over(asking->download))
        r = wait_for(asking, 0);
    if (r == 0)
        on_page(asking); /* jobs that lacked nothing */
    cli_progress_end(&asking->progress);
    if (r == 0)
        cli_fetch_remember(fetch, folder);
    for (size_t i = 0; i < fetch->n && r == 0; i++)
        r = fetch->jobs[i].error ? 1 : 0;
    return r;
}

/* ---- the connection ---- */

static void on_ban(void *user, int64_t until_ns, const char *why)
{
    const struct asking *asking = user;
    (void)why;
    cli_fetch_banned(asking->fetch, until_ns);
}

static int make_rest(struct asking *asking)
{
    const struct fetch_asked *asked = asking->fetch->asked;
    const struct venue *venue = asking->fetch->venue;
    char error[NET_ERROR_MAX];
    const struct net_config config = {.loop = &asking->loop, .ca_file = asked->ca_file};
    int r = net_context_create(&config, &asking->net, error);
    if (r < 0)
        return fail(asking, r, "", error);
    const struct venue_rest_config rest = {
        .net = asking->net,
        .rest_url = asked->rest_url,
        .jitter_seed = uv_hrtime(),
        .attempts_max = ATTEMPTS,
        .keys = asking->keys ? (struct venue_keys){asking->keys->id, asking->keys->secret}
                             : (struct venue_keys){0},
        .settings = asking->fetch->settings,
        .n_settings = asking->fetch->n_settings,
        .ban = {cli_fetch_banned_until(asking->fetch), on_ban, asking},
    };
    r = venue->rest_create(&rest, &asking->rest);
    return r < 0 ? fail(asking, r, asked->rest_url ? asked->rest_url : venue->rest_url, strerror(-r)) : 0;
}

static int read_keys(struct asking *asking)
{
    const struct fetch *fetch = asking->fetch;
    if (!fetch->asked->keys)
        return fetch->venue->needs_keys
                   ? fail(asking, -ENOKEY, fetch->venue->title,
                          "it answers no request without keys: --keys FILE, two lines, id and secret")
                   : 0;
    asking->keys = net_secret_alloc(sizeof *asking->keys);
    if (!asking->keys)
        return fail(asking, -ENOMEM, "", "out of memory");
    char path[PATH_MAX]; /* a word without a slash would be a credential of the unit's */
    snprintf(path, sizeof path, "%s%s", strchr(fetch->asked->keys, '/') ? "" : "./", fetch->asked->keys);
    return feed_keys_read(path, asking->keys, asking->fetch->err, sizeof asking->fetch->err);
}

static void close_all(struct asking *asking)
{
    history_download_destroy(asking->download);
    net_requests_destroy(asking->rest);
    if (asking->net)
        net_context_stop(asking->net, NULL, NULL);
    uv_close((uv_handle_t *)&asking->look, NULL);
    uv_run(&asking->loop, UV_RUN_DEFAULT);
    uv_loop_close(&asking->loop);
    net_secret_free(asking->keys);
}

/* Where the venue does not answer: what needs no answer. */
static void say_kept(struct fetch *fetch)
{
    char until[CLOCK_TEXT_MAX];
    const int64_t kept_ns = cli_fetch_kept_to(fetch);
    size_t n = strlen(fetch->err);
    if (kept_ns > fetch->from_ns)
        snprintf(fetch->err + n, sizeof fetch->err - n, "; what is kept needs no network: --to %s",
                 clock_utc_text(kept_ns, until));
}

/* The result, unless a stop was asked for. */
static int stopped_or(struct asking *asking, int r)
{
    return r == -ECANCELED || (r >= 0 && early_stop_asked())
               ? fail(asking, -ECANCELED, "",
                      "stopped; what has arrived is kept, and the same command continues")
               : r;
}

int cli_fetch_from_venue(struct fetch *fetch)
{
    struct asking asking = {.fetch = fetch};
    if (cli_fetch_from_cache(fetch))
        return stopped_or(&asking, 0);
    uv_loop_init(&asking.loop);
    uv_timer_init(&asking.loop, &asking.look);
    asking.look.data = &asking;
    uv_timer_start(&asking.look, on_look, STOP_LOOK_MS, STOP_LOOK_MS);
    int r = read_keys(&asking);
    if (r == 0)
        r = make_rest(&asking);
    if (r == 0)
        r = ask_for_symbols(&asking);
    const bool unanswered = r < 0;
    if (r == 0)
        r = fill_stores(&asking);
    r = stopped_or(&asking, r);
    if (r < 0 && r != -ECANCELED && unanswered && !fetch->asked->refresh && !fetch->asked->check)
        say_kept(fetch);
    close_all(&asking);
    return r;
}
