/* Asks again for what changes slowly: the venue's clock, and what it lists. Filters, halts and delistings
 * become events. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/execution/executions.h"
#include "daemon/feed/internal.h"
#include "daemon/log.h"

#define FEED_CLOCK_REFRESH_NS (6 * 3600 * 1000000000LL) /* of the market's time, which may run fast */

/* ---- is it news? ---- */

static bool same_filters(const struct symbol_filters *a, const struct symbol_filters *b)
{
    return a->price_min == b->price_min && a->price_max == b->price_max && a->tick == b->tick &&
           a->qty_min == b->qty_min && a->qty_max == b->qty_max && a->step == b->step &&
           a->market_qty_min == b->market_qty_min && a->market_qty_max == b->market_qty_max &&
           a->market_step == b->market_step && a->notional_min == b->notional_min &&
           a->notional_max == b->notional_max && a->notional_min_market == b->notional_min_market &&
           a->notional_max_market == b->notional_max_market && a->bid_up_e4 == b->bid_up_e4 &&
           a->bid_down_e4 == b->bid_down_e4 && a->ask_up_e4 == b->ask_up_e4 &&
           a->ask_down_e4 == b->ask_down_e4 && a->orders_max == b->orders_max;
}

static bool same(const struct symbol *a, const struct symbol *b)
{
    return a->trading == b->trading && a->gone == b->gone && a->loose_ids == b->loose_ids &&
           strcmp(a->calendar, b->calendar) == 0 && strcmp(a->feed, b->feed) == 0 &&
           a->primary == b->primary && same_filters(&a->filters, &b->filters);
}

void feed_listed_well(struct feed *feed, const struct symbol *symbol)
{
    if (!symbol->gone)
        feed_alert_end(feed, "delisted", symbol->name);
    if (symbol->trading)
        feed_alert_end(feed, "symbol-trading", symbol->name);
}

static void report_change(struct feed *feed, const struct symbol *before, const struct symbol *now)
{
    feed_listed_well(feed, now);
    if (now->gone && !before->gone)
        feed_alert_raise(feed, DB_WARNING, "delisted", now->name, "%s is listed no longer", now->name);
    else if (!now->trading && before->trading)
        feed_alert_raise(feed, DB_WARNING, "symbol-trading", now->name,
                         "%s: the venue takes no orders for now", now->name);
    else if (!same_filters(&now->filters, &before->filters))
        feed_alert(feed, DB_INFO, "symbol-filters", "%s: the venue has other filters for orders", now->name);
}

void feed_take_listed(struct feed *feed, int symbol, const struct venue_symbol *listed_now)
{
    struct feed_symbol *ours = &feed->symbols[symbol];
    struct symbol before = feed->listed[symbol], now = listed_now->found ? listed_now->symbol : before;
    char err[SESSION_ERROR_MAX];
    if (listed_now->unusable) {
        daemon_log_warning("%s: %s is listed so that it cannot be read: it is known as before",
                           feed->venue->format->name, before.name);
        return;
    }
    if (listed_now->found) {
        ours->unlisted = false;
    } else if (before.calendar[0] && !before.gone && !ours->unlisted) {
        ours->unlisted = true; /* what its actions say of it comes first */
        feed_ask_hours(feed);
        return;
    } else {
        now.gone = true;
        now.trading = false;
    }
    feed_own(feed, &now);
    feed_keep_base(feed, symbol, &now);
    now.quote_scale = before.quote_scale; /* ours: session_units.c */
    if (!symbol_same_units(&before, &now)) {
        if (!ours->odd_units)
            feed_alert_raise(
                feed, DB_ERROR, "symbol-units", now.name,
                "%s is listed with other assets or decimals by now: it is known as it was until the next "
                "start",
                now.name);
        ours->odd_units = true;
        return;
    }
    if (same(&before, &now))
        return;
    feed->listed[symbol] = now; /* in its place: parsers point to it */
    if (daemon_session_update_symbol(feed->daemon->session, ours->index, &now, err, sizeof err) < 0)
        daemon_log_error("%s", err);
    report_change(feed, &before, &now);
}

/* ---- asking ---- */

struct refresh_call {
    struct feed_asked asked;
    struct feed *feed;
    bool list; /* else the time, */
    bool only; /* and not the list after it */
    int n;
};

static void ask(struct feed *feed, bool list, bool only);

static void end_renewal(struct feed_asked *asked)
{
    const struct refresh_call *call = (struct refresh_call *)asked;
    if (call->only)
        call->feed->renews = false;
}

static void have_list(void *user, const struct venue_reply *reply)
{
    struct refresh_call *call = user;
    struct feed *feed = call->feed;
    int n = call->n;
    bool list = call->list, only = call->only;
    end_renewal(&call->asked);
    feed_answered(&call->asked);
    free(call);
    if (feed_reply_is_final(feed, reply)) {
        feed_end_for_good(feed, reply->text);
    } else if (reply->error) {
        daemon_log_warning("feed: %s: %s: %s", feed->venue->format->name, list ? "symbols" : "time",
                           reply->text);
    } else if (!list) {
        feed_take_time(feed, reply);
        daemon_executions_clock_renewed(feed->daemon->executions, feed->venue->format->name);
    } else {
        for (int s = 0; s < n; s++)
            feed_take_listed(feed, s, &reply->symbols.list[s]);
    }
    if (!list && !only && !feed->final)
        ask(feed, true, false);
    feed_release(feed);
}

static int send_refresh(struct feed_asked *asked)
{
    struct refresh_call *call = (struct refresh_call *)asked;
    struct feed *feed = call->feed;
    if (!call->list)
        return net_requests_time(feed->rest, have_list, call, NULL);
    const char **names = calloc((size_t)feed->n_symbols, sizeof *names);
    if (!names)
        return -ENOMEM;
    call->n = feed->n_symbols;
    for (int s = 0; s < call->n; s++)
        names[s] = feed->listed[s].name;
    int r = net_requests_symbols(feed->rest, names, (size_t)call->n, have_list, call, NULL);
    free(names);
    return r;
}

static void ask(struct feed *feed, bool list, bool only)
{
    struct refresh_call *call = calloc(1, sizeof *call);
    if (!call)
        return;
    *call = (struct refresh_call){
        .asked = {.send = send_refresh, .dropped = end_renewal}, .feed = feed, .list = list, .only = only};
    feed->renews |= only;
    if (feed_ask(feed, &call->asked, true) < 0 && only)
        feed->renews = false;
}

void feed_renew_clock(struct feed *feed)
{
    if (!feed->final && !feed->renews && feed->daemon->config.clock == CLOCK_WALL)
        ask(feed, false, true);
}

void feed_refresh(struct feed *feed, int64_t now_ns)
{
    int64_t every = feed->daemon->config.refresh_ms * 1000000;
    bool wall = feed->daemon->config.clock == CLOCK_WALL;
    if (!wall && every > 0 && every < FEED_CLOCK_REFRESH_NS)
        every = FEED_CLOCK_REFRESH_NS;
    if (feed->final)
        return;
    if (now_ns >= feed->hours_ask_ns)
        feed_ask_hours(feed);
    if (every == 0)
        return;
    if (feed->list_ask_ns == INT64_MAX) {
        feed->list_ask_ns = now_ns + every;
    } else if (now_ns >= feed->list_ask_ns) {
        feed->list_ask_ns = now_ns + every;
        ask(feed, !wall, false); /* on the feed's clock the venue's is not used */
    }
}
