/* Bars of long ago, beside the stream: [market] history as a duration. What the database lacks is asked for
 * page by page, the newest first, so that what is there is whole from some time on, and put there. Nothing of
 * it is an event: neither engine nor log sees these bars. A page is asked for once the one before is on the
 * disk, in the background of the venue's requests (VENUE_BACKGROUND_PERCENT). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/board.h"
#include "daemon/feed/backfill.h"
#include "daemon/log.h"
#include "db/reader.h"
#include "exchange/clock.h"

enum {
    PAGES_A_TURN = 4, /* of the loop, that are looked for in the database */
    STORE_LOOK_MS = 20,
    READ_AGAIN_MS = 1000,
    RETRY_MIN_MS = 1000,
    RETRY_MAX_MS = 10 * 60 * 1000,
};
#define DAY_NS (24 * 3600 * INT64_C(1000000000))

static struct db_writer *writer_of(const struct feed *feed)
{
    return daemon_session_writer(feed->daemon->session);
}

static int64_t interval_of(const struct feed *feed)
{
    return feed->daemon->config.interval_ns;
}

static void on_timer(uv_timer_t *timer);

static void wake_in(struct feed *feed, int64_t ms)
{
    uv_timer_start(&feed->past.timer, on_timer, (uint64_t)ms, 0);
}

/* ---- what is wanted ---- */

/* Of stocks as far as their days are known; not what is deleted at its age anyway. */
static int64_t wanted_from(const struct feed *feed, int symbol)
{
    const struct daemon_config *config = &feed->daemon->config;
    const struct trading_calendar days = feed_days(feed, symbol);
    int64_t back_ns = config->history_ns, kept_ns = config->bars_days * DAY_NS;
    if (kept_ns > 0 && kept_ns < back_ns)
        back_ns = kept_ns;
    int64_t from_ns = bar_open_time(feed_venue_now_ns(feed) - back_ns, config->interval_ns);
    from_ns = from_ns > 0 ? from_ns : 0;
    return days.n > 0 && days.from_ns > from_ns ? days.from_ns : from_ns;
}

static void begin(struct feed *feed, int symbol)
{
    struct feed_symbol *ours = &feed->symbols[symbol];
    bool wanted = feed->daemon->config.history_ns > 0;
    if ((!wanted && ours->lost_from_ns == 0) || ours->past_end_ns == 0)
        return;
    if (!ours->past && !(ours->past = calloc(1, sizeof *ours->past)))
        return; /* without memory the next start does it */
    ours->past->from_ns = wanted ? wanted_from(feed, symbol) : ours->past_end_ns;
    if (ours->lost_from_ns > 0 && ours->lost_from_ns < ours->past->from_ns)
        ours->past->from_ns = ours->lost_from_ns;
    ours->past->end_ns = ours->past_end_ns;
    ours->past->done = ours->past->refused = false;
    feed->past.ticket = db_writer_last(writer_of(feed)); /* what was put before is seen */
    if (feed->stage == STAGE_STREAM)
        wake_in(feed, 0);
}

void feed_backfill(struct feed *feed, int symbol, int64_t end_ns)
{
    struct feed_symbol *ours = &feed->symbols[symbol];
    ours->past_end_ns = end_ns > ours->past_end_ns ? end_ns : ours->past_end_ns;
    begin(feed, symbol);
}

void feed_backfill_lost(struct feed *feed, int symbol, int64_t from_ns, int64_t end_ns)
{
    int64_t *lost_ns = &feed->symbols[symbol].lost_from_ns;
    *lost_ns = *lost_ns == 0 || from_ns < *lost_ns ? from_ns : *lost_ns;
    feed_backfill(feed, symbol, end_ns);
}

void feed_take_history(struct feed *feed)
{
    for (int s = 0; s < feed->n_symbols; s++) {
        if (feed->daemon->config.history_ns == 0 && feed->symbols[s].past)
            feed->symbols[s].past->done = true;
        begin(feed, s);
    }
}

void feed_backfill_go(struct feed *feed)
{
    bool any = feed->daemon->config.history_ns > 0;
    for (int s = 0; s < feed->n_symbols; s++)
        any |= feed->symbols[s].lost_from_ns > 0;
    if (any)
        wake_in(feed, 0);
}

/* ---- a page ---- */

static int ask(struct feed *feed, int symbol, int64_t from_ns, int64_t end_ns, bool first);

static void forget_page(struct feed *feed)
{
    free(feed->past.list);
    feed->past.list = NULL;
    feed->past.n = 0;
    feed->past.call = NULL;
}

/* Nothing is lost: it is asked for again, or by the next start. */
static void fail(struct feed *feed, int symbol, int error, const char *why)
{
    bool refused = error == -ENOENT || error == -EINVAL || error == -EPROTO;
    int64_t delay_ms = refused ? 0 : net_backoff_next(&feed->past.backoff);
    feed->symbols[symbol].past->refused = refused;
    feed->past.retry_at_ms = refused ? 0 : clock_now_ms() + delay_ms;
    snprintf(feed->past.why, sizeof feed->past.why, "%s", refused ? "" : why);
    if (refused)
        daemon_log_warning("%s: its history is not asked for before the next start: %s",
                           feed->listed[symbol].name, why);
    else
        daemon_log_warning("%s: its history could not be fetched: %s; trying again in %.1f s",
                           feed->listed[symbol].name, why, (double)delay_ms / 1000);
    wake_in(feed, delay_ms);
}

static void put_bars(struct feed *feed, int symbol)
{
    const struct trading_calendar days = feed_days(feed, symbol);
    for (size_t i = 0; i < feed->past.n; i++) {
        struct bar *bar = &feed->past.list[i];
        bar->session =
            trading_session_of(&days, bar->open_ns, trading_bar_end(&days, interval_of(feed), bar->open_ns));
        db_writer_put_past_bar(writer_of(feed), feed->symbols[symbol].index, interval_of(feed), bar);
    }
}

/* Bars and what is known then are one transaction. A page that does not begin with a bar may be from before
 * the listing. */
static void take_page(struct feed *feed, int symbol)
{
    struct feed_past *own = &feed->past;
    struct backfill *past = feed->symbols[symbol].past;
    bool empty = own->n == 0 || own->list[0].open_ns >= own->from_ns + interval_of(feed);
    db_writer_group_begin(writer_of(feed));
    put_bars(feed, symbol);
    feed_covered_add(&past->covered, own->from_ns, own->end_ns);
    feed_backfill_store(feed, symbol);
    db_writer_group_end(writer_of(feed));
    own->ticket = db_writer_last(writer_of(feed));
    own->bars += own->n;
    past->bars += own->n;
    forget_page(feed);
    if (empty && past->covered.listed_ns < 0 && own->from_ns > past->from_ns)
        ask(feed, symbol, 0, own->end_ns, true);
}

static void take_first(struct feed *feed, int symbol)
{
    struct backfill *past = feed->symbols[symbol].past;
    past->covered.listed_ns = feed->past.n > 0 ? feed->past.list[0].open_ns : feed->past.end_ns;
    feed_backfill_store(feed, symbol);
    forget_page(feed);
    char when[CLOCK_TEXT_MAX];
    clock_utc_text(past->covered.listed_ns, when);
    if (past->covered.listed_ns > past->from_ns)
        daemon_log_info("%s: there is no older history: %s has no bar before %s", feed->listed[symbol].name,
                        feed->venue->title, when);
}

static void have_bars(void *user, const struct venue_reply *reply)
{
    struct feed *feed = user;
    struct feed_past *own = &feed->past;
    int symbol = own->symbol;
    size_t n = reply->error ? 0 : reply->bars.n_closed;
    struct bar *grown = n > 0 ? realloc(own->list, (own->n + n) * sizeof *grown) : own->list;
    feed_skipped(feed, reply);
    if (n > 0 && !grown) {
        if (reply->more)
            net_requests_cancel(feed->rest, own->call);
        forget_page(feed);
        fail(feed, symbol, -ENOMEM, "out of memory");
        return;
    }
    own->list = grown;
    if (n > 0)
        memcpy(own->list + own->n, reply->bars.list, n * sizeof *own->list);
    own->n += n;
    if (reply->error) {
        forget_page(feed);
        fail(feed, symbol, reply->error, reply->text);
    } else if (!reply->more) {
        net_backoff_reset(&own->backoff);
        own->retry_at_ms = 0;
        own->why[0] = '\0';
        if (own->first)
            take_first(feed, symbol);
        else
            take_page(feed, symbol);
        if (!own->call)
            wake_in(feed, 0);
    }
}

static int ask(struct feed *feed, int symbol, int64_t from_ns, int64_t end_ns, bool first)
{
    struct feed_past *own = &feed->past;
    const struct trading_calendar days = feed_days(feed, symbol);
    const struct venue_bars_request request = {
        .symbol = &feed->listed[symbol],
        .interval_ns = interval_of(feed),
        .start_ns = from_ns,
        .end_ns = end_ns - 1,
        .now_ns = feed_venue_now_ns(feed),
        .max = first ? 1 : 0,
        .adjustment = feed->symbols[symbol].calendar >= 0 ? VENUE_SPLIT : VENUE_RAW,
        .calendar = &days,
        .background = true,
    };
    own->symbol = symbol;
    own->first = first;
    own->from_ns = from_ns;
    own->end_ns = end_ns;
    own->failures = net_requests_status(feed->rest)->failures;
    int r = net_requests_bars(feed->rest, &request, have_bars, feed, &own->call);
    if (r < 0)
        fail(feed, symbol, r, r == -EINVAL ? "the venue has no bars of this interval" : strerror(-r));
    return r;
}

/* ---- from page to page ---- */

/* Looks at the symbol's next page, which is there, or is asked for. -errno of the database. */
static int look(struct feed *feed, struct db_reader *reader, int symbol)
{
    struct backfill *past = feed->symbols[symbol].past;
    int64_t from_ns, end_ns, page_ns = interval_of(feed) * (int64_t)feed->venue->bars_page;
    if (!feed_covered_lacks(&past->covered, past->from_ns, past->end_ns, &from_ns, &end_ns)) {
        past->done = true;
        feed->symbols[symbol].lost_from_ns = 0;
        if (past->changed)
            feed_backfill_store(feed, symbol);
        feed_backfill_end_gaps(feed, reader, symbol);
        if (past->first && past->bars > 0) /* the charts began without a past */
            daemon_board_again(feed->daemon->board, feed->symbols[symbol].index);
        past->first = false;
        return 0;
    }
    int64_t begins_ns = end_ns - 1 - (end_ns - 1) % page_ns;
    from_ns = from_ns > begins_ns ? from_ns : begins_ns;
    if (feed_backfill_is_whole(feed, reader, symbol, from_ns, end_ns)) {
        feed_covered_add(&past->covered, from_ns, end_ns);
        past->changed = true;
    } else {
        feed_backfill_say_progress(feed);
        ask(feed, symbol, from_ns, end_ns, false);
    }
    return 0;
}

/* What former runs knew, so that what is left can be said. -errno of the database. */
static int load_all(struct feed *feed, struct db_reader *reader)
{
    int r = 0;
    for (int s = 0; s < feed->n_symbols && r == 0; s++)
        if (feed_backfill_goes_on(feed, s) && !feed->symbols[s].past->loaded)
            r = feed_backfill_load(feed, reader, s);
    return r;
}

/* The symbols take turns. -1: all is there. */
static int next_symbol(struct feed *feed)
{
    for (int i = 0; i < feed->n_symbols; i++) {
        int symbol = (feed->past.turn + i) % feed->n_symbols;
        if (!feed_backfill_goes_on(feed, symbol))
            continue;
        feed->past.turn = symbol + 1;
        return symbol;
    }
    return -1;
}

static void on_timer(uv_timer_t *timer)
{
    struct feed *feed = timer->data;
    struct feed_past *own = &feed->past;
    char why[DB_ERROR_MAX];
    struct db_reader *reader = NULL;
    int symbol = 0;
    if (feed->stage != STAGE_STREAM || feed->final || own->call)
        return;
    if (db_writer_committed(writer_of(feed)) < own->ticket) {
        wake_in(feed, STORE_LOOK_MS);
        return;
    }
    int64_t wait_ms = own->retry_at_ms - clock_now_ms();
    if (wait_ms > 0) {
        wake_in(feed, wait_ms);
        return;
    }
    own->retry_at_ms = 0;
    int r = db_reader_open(feed->daemon->state.database, &reader, why, sizeof why);
    if (r == 0)
        r = load_all(feed, reader);
    for (int i = 0; i < PAGES_A_TURN && r == 0 && !own->call && own->retry_at_ms == 0 && symbol >= 0; i++) {
        symbol = next_symbol(feed);
        r = symbol >= 0 ? look(feed, reader, symbol) : 0;
    }
    db_reader_close(reader);
    if (r < 0)
        wake_in(feed, READ_AGAIN_MS);
    else if (symbol < 0)
        feed_backfill_say_end(feed);
    else if (!own->call && own->retry_at_ms == 0)
        wake_in(feed, 0);
}

/* ---- begin and end ---- */

void feed_backfill_init(struct feed *feed)
{
    uv_timer_init(feed->daemon->loop, &feed->past.timer);
    feed->past.timer.data = feed;
    net_backoff_init(&feed->past.backoff, RETRY_MIN_MS, RETRY_MAX_MS, uv_hrtime());
}

void feed_backfill_finish(struct feed *feed)
{
    forget_page(feed);
    for (int s = 0; feed->symbols && s < SYMBOLS_MAX; s++)
        free(feed->symbols[s].past);
}
