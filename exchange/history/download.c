#include "exchange/history/download.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/fail.h"
#include "exchange/net/requests.h"

enum { ASKED_MAX = 8 }; /* pages on their way or queued, of all jobs */

enum wanted { A_PAGE, THE_FIRST, THE_FIRST_DAY };

/* A request, and what has come of it. */
struct asking {
    struct asking *next;
    struct history_download *download;
    struct history_job *job;
    struct venue_call *call;
    int64_t from_ns, end_ns; /* what is not in the store yet */
    enum wanted what;
    struct bar *bars;
    struct market_trade *trades;
    size_t n, room;
};

struct history_download {
    struct venue_rest *rest;
    const struct venue *venue;
    struct history_job *jobs;
    size_t n, turn; /* whose page is the next */
    int64_t now_ns;
    struct asking *askings;
    unsigned asked;
    void (*changed)(void *ctx);
    void *ctx;
};

static void ask_more(struct history_download *download);

static void end_job(struct history_job *job, int error, const char *why)
{
    if (job->error)
        return;
    job->error = error;
    snprintf(job->why, sizeof job->why, "%s", why);
}

bool history_download_over(const struct history_download *download)
{
    return download->asked == 0;
}

/* ---- what has come ---- */

static int64_t lacked(const struct history_job *job)
{
    int64_t at_ns = job->from_ns, from_ns, end_ns, sum = 0;
    while (history_store_lacks(job->store, at_ns, job->end_ns, &from_ns, &end_ns)) {
        sum += end_ns - from_ns;
        at_ns = end_ns;
    }
    return sum;
}

static void forget(struct asking *asking)
{
    struct history_download *download = asking->download;
    struct asking **at = &download->askings;
    while (*at != asking)
        at = &(*at)->next;
    *at = asking->next;
    asking->job->asked--;
    download->asked--;
    free(asking->bars);
    free(asking->trades);
    free(asking);
}

static int keep(struct asking *asking, const struct bar *bars, size_t n)
{
    if (asking->n + n > asking->room) {
        size_t room = 2 * (asking->n + n);
        struct bar *more = reallocarray(asking->bars, room, sizeof *more);
        if (!more)
            return -ENOMEM;
        asking->bars = more;
        asking->room = room;
    }
    if (n > 0) /* else there may be no room yet */
        memcpy(asking->bars + asking->n, bars, n * sizeof *bars);
    asking->n += n;
    return 0;
}

static int keep_trades(struct asking *asking, const struct market_event *events, size_t n)
{
    if (asking->n + n > asking->room) {
        size_t room = 2 * (asking->n + n);
        struct market_trade *more = reallocarray(asking->trades, room, sizeof *more);
        if (!more)
            return -ENOMEM;
        asking->trades = more;
        asking->room = room;
    }
    for (size_t i = 0; i < n; i++)
        asking->trades[asking->n++] = events[i].trade;
    return 0;
}

/* Before its first row the venue has nothing, or no longer: the store knows that, too. */
static int take_first(struct asking *asking)
{
    struct history_job *job = asking->job;
    job->first_ns = asking->n == 0 ? INT64_MAX
                    : asking->bars ? asking->bars[0].open_ns
                                   : asking->trades[0].ts_ns;
    const bool older = job->interval_ns > 0 && job->interval_ns < BAR_DAY_NS && job->first_ns > job->from_ns;
    job->listed_ns = older ? -1 : job->first_ns;
    int64_t end_ns = job->first_ns < job->end_ns ? job->first_ns : job->end_ns;
    if (end_ns <= job->from_ns)
        return 0;
    int r = history_store_add_nothing(job->store, asking->download->now_ns, job->from_ns, end_ns);
    job->next_ns = end_ns;
    job->done_ns = end_ns - job->from_ns;
    return r;
}

/* The rows are whole all the same. */
static void take_no_first_day(struct history_job *job)
{
    job->listed_ns = job->first_ns;
    job->day_failed = true;
}

/* The day of its first bar is no older one. */
static int take_first_day(struct asking *asking)
{
    struct history_job *job = asking->job;
    job->listed_ns = asking->n > 0 ? asking->bars[0].open_ns : INT64_MAX;
    if (job->listed_ns == INT64_MAX || job->listed_ns + BAR_DAY_NS > job->first_ns)
        job->listed_ns = job->first_ns;
    return 0;
}

static int take_page(struct asking *asking)
{
    struct history_job *job = asking->job;
    size_t changed = 0;
    int r = history_store_add(job->store, asking->download->now_ns, asking->from_ns, asking->end_ns,
                              asking->bars, asking->n, &changed);
    job->pages++;
    if (r < 0)
        return r;
    job->changed += changed;
    job->rows += asking->n;
    job->done_ns += asking->end_ns - asking->from_ns;
    return 0;
}

static int by_time_and_id(const void *a, const void *b)
{
    const struct market_trade *x = a, *y = b;
    return x->ts_ns != y->ts_ns ? (x->ts_ns > y->ts_ns) - (x->ts_ns < y->ts_ns)
                                : (x->id > y->id) - (x->id < y->id);
}

/* Of a page that another follows the trades before its last time: more of that time may follow. */
static int take_trades(struct asking *asking, bool more)
{
    struct history_job *job = asking->job;
    const int64_t end_ns = !more || asking->n == 0 ? asking->end_ns : asking->trades[asking->n - 1].ts_ns;
    size_t n = asking->n, changed = 0;
    if (more) {
        n = 0;
        while (n < asking->n && asking->trades[n].ts_ns < end_ns)
            n++;
    }
    job->pages++;
    if (more && (n == 0 || end_ns <= asking->from_ns))
        return 0;
    if (n > 0) /* ids of one time may be of several exchanges */
        qsort(asking->trades, n, sizeof *asking->trades, by_time_and_id);
    int r = (asking->download->venue->aggregates ? history_store_add_later_trades : history_store_add_trades)(
        job->store, asking->download->now_ns, asking->from_ns, end_ns, asking->trades, n, &changed);
    if (r < 0)
        return r;
    job->changed += changed;
    job->rows += n;
    job->done_ns += end_ns - asking->from_ns;
    asking->from_ns = end_ns;
    asking->n -= n;
    if (asking->n > 0)
        memmove(asking->trades, asking->trades + n, asking->n * sizeof *asking->trades);
    return r;
}

/* Of one request: what has come is kept, and stored once it is known to be whole. 0; -errno. */
static int take_reply(struct asking *asking, const struct venue_reply *reply, char *why, size_t why_size)
{
    struct history_job *job = asking->job;
    const bool trades = job->interval_ns == 0;
    int r = trades ? keep_trades(asking, reply->latest.list, reply->latest.n)
                   : keep(asking, reply->bars.list, reply->bars.n_closed);
    if (r < 0)
        return fail_with(r, why, why_size, "out of memory");
    if (reply->more && !trades)
        return 0;
    r = asking->what == THE_FIRST       ? take_first(asking)
        : asking->what == THE_FIRST_DAY ? take_first_day(asking)
        : trades                        ? take_trades(asking, reply->more)
                                        : take_page(asking);
    return r < 0 ? fail_with(r, why, why_size, "%.300s: %s", history_store_path(job->store), strerror(-r))
                 : 0;
}

static void have_rows(void *user, const struct venue_reply *reply)
{
    struct asking *asking = user;
    struct history_download *download = asking->download;
    struct history_job *job = asking->job;
    char why[VENUE_DETAIL_MAX * 2];
    int r = reply->error;
    if (r < 0 && asking->what == THE_FIRST_DAY) {
        take_no_first_day(job);
        r = 0;
    } else if (r < 0)
        snprintf(why, sizeof why, "%s", reply->text);
    else
        r = take_reply(asking, reply, why, sizeof why);
    if (r == 0 && reply->more) {
        if (job->interval_ns == 0)
            download->changed(download->ctx);
        return;
    }
    if (r < 0 && reply->more)
        net_requests_cancel(download->rest, asking->call);
    if (r < 0)
        end_job(job, r, why);
    forget(asking);
    ask_more(download);
    download->changed(download->ctx);
}

/* ---- asking ---- */

static int ask(struct history_download *download, struct history_job *job, int64_t from_ns, int64_t end_ns,
               enum wanted what)
{
    struct asking *asking = calloc(1, sizeof *asking);
    if (!asking)
        return -ENOMEM;
    *asking = (struct asking){.next = download->askings,
                              .download = download,
                              .job = job,
                              .from_ns = from_ns,
                              .end_ns = end_ns,
                              .what = what};
    const struct venue_trades_request trades = {
        .symbol = job->symbol, .start_ns = from_ns, .end_ns = end_ns, .max = what == A_PAGE ? 0 : 1};
    const struct venue_bars_request bars = {
        .symbol = job->symbol,
        .interval_ns = what == THE_FIRST_DAY ? BAR_DAY_NS : job->interval_ns,
        .start_ns = from_ns,
        .end_ns = end_ns - 1,
        .now_ns = download->now_ns,
        .max = what == A_PAGE ? 0 : 1,
        .calendar = job->calendar,
        .adjustment = job->adjustment,
        .venue_days = job->venue_days,
    };
    int r = job->interval_ns == 0
                ? net_requests_trades(download->rest, &trades, have_rows, asking, &asking->call)
                : net_requests_bars(download->rest, &bars, have_rows, asking, &asking->call);
    if (r < 0) {
        free(asking);
        return r;
    }
    download->askings = asking;
    download->asked++;
    job->asked++;
    return 0;
}

/* The next range that it is to ask for. */
static bool next_range(const struct history_job *job, int64_t *ret_from_ns, int64_t *ret_end_ns)
{
    *ret_from_ns = job->next_ns;
    *ret_end_ns = job->end_ns;
    return job->refresh ? job->next_ns < job->end_ns
                        : history_store_lacks(job->store, job->next_ns, job->end_ns, ret_from_ns, ret_end_ns);
}

bool history_job_over(const struct history_job *job)
{
    int64_t from_ns, end_ns;
    return job->asked == 0 &&
           (job->error || (job->first_ns >= 0 && job->listed_ns >= 0 && !next_range(job, &from_ns, &end_ns)));
}

static const char *why_refused(const struct history_job *job, int r)
{
    return r != -EINVAL            ? strerror(-r)
           : job->interval_ns == 0 ? "the venue has no trades of the past"
                                   : "the venue has no bars of this interval";
}

static bool end_refused(struct history_job *job, int r)
{
    if (r < 0)
        end_job(job, r, why_refused(job, r));
    return r == 0;
}

/* Up to the end of the venue's page in which it begins. */
static bool ask_page(struct history_download *download, struct history_job *job)
{
    int64_t from_ns, end_ns,
        span_ns = job->interval_ns > 0 ? job->interval_ns * (int64_t)download->venue->bars_page
                                       : download->venue->trades_span_ns;
    if (!next_range(job, &from_ns, &end_ns))
        return false;
    if (end_ns > from_ns - from_ns % span_ns + span_ns)
        end_ns = from_ns - from_ns % span_ns + span_ns;
    if (!end_refused(job, ask(download, job, from_ns, end_ns, A_PAGE)))
        return false;
    job->next_ns = end_ns;
    return true;
}

/* The venue's first row, its first day where that may be older, then the next page. False: there is none now.
 */
static bool ask_next(struct history_download *download, struct history_job *job)
{
    if (job->error)
        return false;
    if (job->first_ns < 0)
        return job->asked == 0 && end_refused(job, ask(download, job, 0, job->end_ns, THE_FIRST));
    if (job->listed_ns < 0 && !job->day_asked) {
        job->day_asked = true;
        int r = ask(download, job, 0, job->end_ns, THE_FIRST_DAY);
        if (r != -EINVAL)
            return end_refused(job, r);
        take_no_first_day(job); /* it has no bars of a day */
    }
    return ask_page(download, job);
}

/* The jobs take turns. */
static void ask_more(struct history_download *download)
{
    for (size_t idle = 0; idle < download->n && download->asked < ASKED_MAX;) {
        idle = ask_next(download, &download->jobs[download->turn]) ? 0 : idle + 1;
        download->turn = (download->turn + 1) % download->n;
    }
}

int history_download_start(struct venue_rest *rest, const struct venue *venue, struct history_job *jobs,
                           size_t n, int64_t now_ns, void (*changed)(void *ctx), void *ctx,
                           struct history_download **ret)
{
    struct history_download *download = calloc(1, sizeof *download);
    if (!download)
        return -ENOMEM;
    *download = (struct history_download){
        .rest = rest, .venue = venue, .jobs = jobs, .n = n, .now_ns = now_ns, .changed = changed, .ctx = ctx};
    for (size_t i = 0; i < n; i++) {
        jobs[i].first_ns = jobs[i].listed_ns = -1;
        jobs[i].day_asked = jobs[i].day_failed = false;
        jobs[i].next_ns = jobs[i].from_ns;
        jobs[i].lacked_ns = jobs[i].error     ? 0
                            : jobs[i].refresh ? jobs[i].end_ns - jobs[i].from_ns
                                              : lacked(&jobs[i]);
    }
    *ret = download;
    ask_more(download);
    return 0;
}

void history_download_destroy(struct history_download *download)
{
    if (!download)
        return;
    while (download->askings) {
        net_requests_cancel(download->rest, download->askings->call);
        forget(download->askings);
    }
    free(download);
}
