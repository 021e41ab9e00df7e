/* When a feed's markets trade, and companies' corporate actions: the venue is asked before history and every
 * six hours, and the engine is notified at the moment that they take effect, before any later event of the
 * market. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/board.h"
#include "daemon/feed/internal.h"
#include "daemon/log.h"
#include "engine/event.h"
#include "exchange/clock.h"

#define DAY_NS (86400 * 1000000000LL)

enum {
    DAYS_AHEAD = 30,
    DAYS_BACK_MIN = 14,
    DAYS_BACK_MAX = 800,
    ACTIONS_AHEAD = 8,
    ACTIONS_BACK = 14, /* a venue may report one late, or a former run not have read it */
    ASK_HOURS = 6,
    AGAIN_MINUTES = 5,
};

/* ---- what is known ---- */

void feed_find_calendars(struct feed *feed)
{
    for (int s = 0; s < feed->n_symbols; s++) {
        const char *name = feed->listed[s].calendar;
        int at = 0;
        while (at < feed->n_calendars && strcmp(feed->calendars[at].name, name) != 0)
            at++;
        if (name[0] && at == feed->n_calendars && at < FEED_CALENDARS_MAX)
            feed_calendar_init(&feed->calendars[feed->n_calendars++], name, feed->config->extended_hours);
        feed->symbols[s].calendar = name[0] && at < FEED_CALENDARS_MAX ? at : -1;
    }
}

void feed_hours_finish(struct feed *feed)
{
    for (int c = 0; c < feed->n_calendars; c++)
        feed_calendar_finish(&feed->calendars[c]);
    free(feed->actions);
}

bool feed_symbol_open(const struct feed *feed, int symbol)
{
    int calendar = feed->symbols[symbol].calendar;
    return calendar < 0 || feed_calendar_open(&feed->calendars[calendar]);
}

struct trading_calendar feed_days(const struct feed *feed, int symbol)
{
    int calendar = feed->symbols[symbol].calendar;
    return calendar < 0 ? (struct trading_calendar){0} : feed_calendar_view(&feed->calendars[calendar]);
}

void feed_bar_span(const struct feed *feed, int symbol, int64_t ns, int64_t *ret_open_ns, int64_t *ret_end_ns)
{
    const struct trading_calendar days = feed_days(feed, symbol);
    trading_bar_span(&days, feed->daemon->config.interval_ns, ns, ret_open_ns, ret_end_ns);
}

int64_t feed_bar_before(const struct feed *feed, int symbol, int64_t ns)
{
    int64_t open_ns, end_ns;
    feed_bar_span(feed, symbol, ns, &open_ns, &end_ns);
    feed_bar_span(feed, symbol, open_ns - 1, &open_ns, &end_ns);
    return open_ns;
}

int64_t feed_bar_end(const struct feed *feed, int symbol, int64_t open_ns)
{
    int64_t begin_ns, end_ns;
    feed_bar_span(feed, symbol, open_ns, &begin_ns, &end_ns);
    return begin_ns == open_ns ? end_ns : open_ns + feed->daemon->config.interval_ns;
}

/* The parser joins bars by the days that the engine knows. */
int feed_give_days(struct feed *feed, int calendar)
{
    const struct venue_format *format = feed->venue->format;
    const struct trading_calendar days = feed_calendar_view(&feed->calendars[calendar]);
    return feed->parser && format->parser_calendar && days.n > 0
               ? format->parser_calendar(feed->parser, &days)
               : 0;
}

bool feed_closed(const struct feed *feed)
{
    int streamed = 0;
    for (int s = 0; s < feed->n_symbols; s++) {
        if (!feed->symbols[s].streamed)
            continue;
        int calendar = feed->symbols[s].calendar;
        if (feed_symbol_open(feed, s) || feed->calendars[calendar].now.phase == MARKET_PHASE_UNKNOWN)
            return false;
        streamed++;
    }
    return streamed > 0;
}

static void find_due(struct feed *feed)
{
    int64_t due = INT64_MAX;
    for (int c = 0; c < feed->n_calendars; c++)
        if (feed->calendars[c].due_ns < due)
            due = feed->calendars[c].due_ns;
    for (size_t i = 0; i < feed->n_actions; i++)
        if (!feed->actions[i].given && feed->actions[i].reported.action.ex_ns < due)
            due = feed->actions[i].reported.action.ex_ns;
    feed->due_ns = due;
    feeds_due(feed->feeds);
}

/* ---- what is due ---- */

static void give_actions(struct feed *feed, int64_t now_ns)
{
    struct session *session = feed->daemon->session;
    for (size_t i = 0; i < feed->n_actions; i++) { /* by ex_ns */
        struct feed_known_action *known = &feed->actions[i];
        if (known->given || known->reported.action.ex_ns > now_ns)
            continue;
        known->given = true;
        if (known->reported.renamed[0]) {
            daemon_session_pass(session, known->reported.action.ex_ns);
            feed_rename(feed, known->symbol, known->reported.renamed);
            continue;
        }
        struct event event = {.kind = EVENT_ACTION,
                              .action = {feed->symbols[known->symbol].index, known->reported.action}};
        daemon_session_pass(session, known->reported.action.ex_ns);
        daemon_session_event(session, &event);
    }
}

/* A stream that was not watched while the market was closed counts as received at its opening. */
static void restart_watch(struct feed *feed, int calendar)
{
    int64_t now = clock_now_ms();
    for (size_t i = 0; i < feed->n_streams; i++)
        if (feed->symbols[feed->streams[i].symbol].calendar == calendar)
            feed_listen_to(feed, i, now);
}

/* The engine knows a calendar's days before its market opens or closes by them. */
static void emit_days(struct feed *feed, int at)
{
    struct trading_calendar days;
    struct event event;
    if (!feed_calendar_days(&feed->calendars[at], &days))
        return;
    if (feed_give_days(feed, at) < 0 || engine_calendar_event(&days, &event) < 0) {
        feed->calendars[at].changed = true;
        daemon_log_error("%s: out of memory: its days are passed on later", days.name);
        return;
    }
    daemon_session_event(feed->daemon->session, &event);
    daemon_board_calendars(feed->daemon->board);
}

static void emit_session(struct feed *feed, int at, int64_t at_ns)
{
    const struct calendar *calendar = &feed->calendars[at];
    struct session *session = feed->daemon->session;
    struct event event = {.kind = EVENT_SESSION,
                          .session = {.phase = calendar->now.phase,
                                      .next_ns = calendar->now.next_ns,
                                      .extended = calendar->extended}};
    memcpy(event.session.calendar, calendar->name, sizeof event.session.calendar);
    daemon_session_pass(session, at_ns);
    daemon_session_event(session, &event);
    daemon_log_info("%s: the session is %s%s", calendar->name, market_phase_name(calendar->now.phase),
                    calendar->now.half ? ", of a half day" : "");
    restart_watch(feed, at);
}

/* The calendar whose change comes first; -1: no change is due. */
static int first_due(const struct feed *feed, int64_t now_ns)
{
    int first = -1;
    for (int c = 0; c < feed->n_calendars; c++)
        if (feed->calendars[c].due_ns <= now_ns &&
            (first < 0 || feed->calendars[c].due_ns < feed->calendars[first].due_ns))
            first = c;
    return first;
}

void feed_pass(struct feed *feed, int64_t now_ns)
{
    int first;
    int64_t at_ns;
    if (now_ns < feed->due_ns || !daemon_session_started(feed->daemon->session))
        return;
    for (int c = 0; c < feed->n_calendars; c++)
        emit_days(feed, c);
    while ((first = first_due(feed, now_ns)) >= 0)
        if (feed_calendar_step(&feed->calendars[first], now_ns, &at_ns)) {
            give_actions(feed, at_ns);
            emit_session(feed, first, at_ns);
        }
    give_actions(feed, now_ns);
    find_due(feed);
}

/* ---- days ---- */

/* The days of a calendar that the engine knows, from a former run; n 0: it knows none. */
static const struct trading_calendar *engine_days(const struct feed *feed, int calendar)
{
    static const struct trading_calendar none;
    const struct engine *engine = daemon_session_engine(feed->daemon->session);
    int s = 0;
    while (s < feed->n_symbols && feed->symbols[s].calendar != calendar)
        s++;
    return engine && s < feed->n_symbols ? engine_calendar(engine, feed->symbols[s].index) : &none;
}

/* What is known stays known: policies count the rows of an observation by it, and bars have their sessions.
 */
static int begin_days(struct feed *feed, int calendar)
{
    return feed_calendar_begin(&feed->calendars[calendar], engine_days(feed, calendar));
}

static void take_days(struct feed *feed, const struct venue_reply *reply)
{
    int c = 0;
    while (c < feed->n_calendars && strcmp(feed->calendars[c].name, reply->days.calendar) != 0)
        c++;
    if (c == feed->n_calendars)
        return;
    feed_pass(feed, feed_venue_now_ns(feed)); /* what was due by the days known before */
    int r = begin_days(feed, c);
    if (r == 0)
        r = feed_calendar_take(&feed->calendars[c], reply->days.list, reply->days.n);
    char about[VENUE_DETAIL_MAX];
    snprintf(about, sizeof about, "the days of %s ", feed->calendars[c].name);
    if (r < 0)
        feed_alert_raise(feed, DB_WARNING, "calendar", about, "%scontradict each other: %s is kept", about,
                         feed->calendars[c].n > 0 ? "what was reported before" : "nothing");
    else
        feed_alert_end(feed, "calendar", about);
    find_due(feed);
}

/* Far enough back for the history that is wanted, and without a gap after what the engine knows. */
static int64_t days_from(const struct feed *feed, int64_t now_ns)
{
    const struct daemon_config *config = &feed->daemon->config;
    int64_t span = (int64_t)config->history * config->interval_ns; /* of sessions: a fifth of the time */
    int64_t days = DAYS_BACK_MIN + 6 * (span / DAY_NS + 1), back = config->history_ns / DAY_NS + 2;
    days = days > back ? days : back;
    int64_t from_ns = now_ns - (days > DAYS_BACK_MAX ? DAYS_BACK_MAX : days) * DAY_NS;
    for (int c = 0; c < feed->n_calendars; c++) {
        const struct trading_calendar *known = engine_days(feed, c);
        if (known->n > 0 && known->to_ns < from_ns)
            from_ns = known->to_ns;
    }
    return from_ns;
}

static int send_days(struct feed *feed, venue_reply_done *done, void *user)
{
    int64_t now = feed_venue_now_ns(feed);
    return net_requests_days(feed->rest, days_from(feed, now), now + DAYS_AHEAD * DAY_NS, done, user, NULL);
}

static void have_days(void *user, const struct venue_reply *reply)
{
    struct feed *feed = user;
    if (feed_reply_is_final(feed, reply)) {
        feed_end_for_good(feed, reply->text);
        return;
    }
    if (reply->error) {
        feed_try_again(feed, "calendar", reply->text);
        return;
    }
    take_days(feed, reply);
    if (reply->more)
        return;
    feed_pass(feed, feed_venue_now_ns(feed));
    feed_continue(feed, STAGE_ACTIONS);
}

void feed_ask_days(struct feed *feed)
{
    feed_find_calendars(feed);
    int r = feed->n_calendars > 0 ? send_days(feed, have_days, feed) : 1;
    if (r < 0)
        feed_try_again(feed, "request", strerror(-r));
    else if (r == 1)
        feed_continue(feed, STAGE_ACTIONS);
}

/* ---- corporate actions ---- */

static bool action_known(const struct feed *feed, int symbol, const char *id)
{
    for (size_t i = 0; i < feed->n_actions; i++)
        if (feed->actions[i].symbol == symbol && strcmp(feed->actions[i].reported.action.id, id) == 0)
            return true;
    return false;
}

static int by_time(const void *a, const void *b)
{
    const struct feed_known_action *x = a, *y = b;
    return corporate_action_order(&x->reported.action, &y->reported.action);
}

/* Forgets those that took effect long ago. */
static void forget_actions(struct feed *feed)
{
    int64_t before = feed_venue_now_ns(feed) - 2 * ACTIONS_AHEAD * DAY_NS;
    size_t kept = 0;
    for (size_t i = 0; i < feed->n_actions; i++)
        if (!feed->actions[i].given || feed->actions[i].reported.action.ex_ns >= before)
            feed->actions[kept++] = feed->actions[i];
    feed->n_actions = kept;
}

/* Takes what is new in a reply. Before a symbol's first moment here nothing takes effect: positions and
 * prices since then are in new shares already. Of what came after, the engine knows what took effect. */
static void take_actions(struct feed *feed, const struct venue_reply *reply)
{
    feed_skipped(feed, reply);
    forget_actions(feed);
    struct feed_known_action *grown =
        realloc(feed->actions, (feed->n_actions + reply->actions.n + 1) * sizeof *grown);
    if (!grown) {
        daemon_log_error("%s: out of memory: corporate actions are left out", feed->venue->format->name);
        return;
    }
    feed->actions = grown;
    for (size_t i = 0; i < reply->actions.n; i++) {
        const struct venue_action *reported = &reply->actions.list[i];
        int symbol = feed_named(feed, reported->symbol);
        if (symbol < 0 || action_known(feed, symbol, reported->action.id))
            continue;
        feed->actions[feed->n_actions++] = (struct feed_known_action){
            .reported = *reported,
            .symbol = symbol,
            .given = reported->action.ex_ns <= feed->symbols[symbol].actions_from_ns};
    }
    qsort(feed->actions, feed->n_actions, sizeof *feed->actions, by_time);
    find_due(feed);
}

static int send_actions(struct feed *feed, venue_reply_done *done, void *user)
{
    int64_t now = feed_venue_now_ns(feed);
    int64_t from = (feed->actions_from_ns < now ? feed->actions_from_ns : now) - ACTIONS_BACK * DAY_NS;
    size_t n = 0;
    const char **names = calloc((size_t)feed->n_symbols, sizeof *names);
    if (!names)
        return -ENOMEM;
    for (int s = 0; s < feed->n_symbols; s++)
        if (feed->symbols[s].calendar >= 0)
            names[n++] = feed->listed[s].name;
    int r = net_requests_actions(feed->rest, names, n, from, now + ACTIONS_AHEAD * DAY_NS, done, user, NULL);
    free(names);
    return r;
}

static void actions_missing(struct feed *feed, const char *why)
{
    feed_alert_raise(feed, DB_WARNING, "actions-missing", "", "splits and dividends are not reported: %s",
                     why);
    feed->hours_ask_ns = feed_venue_now_ns(feed) + AGAIN_MINUTES * 60 * 1000000000LL;
}

static void actions_read(struct feed *feed)
{
    feed_alert_end(feed, "actions-missing", "");
    feed->actions_from_ns = feed_venue_now_ns(feed);
}

/* A venue that does not report actions to its plan's users does not delay the start: the stream matters
 * more. */
static void have_actions(void *user, const struct venue_reply *reply)
{
    struct feed *feed = user;
    if (reply->error == -EIO || reply->error == -ENOMEM) {
        feed_try_again(feed, "corporate actions", reply->text);
        return;
    }
    if (!reply->error)
        take_actions(feed, reply);
    if (reply->more && !reply->error)
        return;
    feed_pass(feed, feed_venue_now_ns(feed));
    feed->hours_ask_ns = feed_venue_now_ns(feed) + ASK_HOURS * 3600 * 1000000000LL;
    if (reply->error)
        actions_missing(feed, reply->text);
    else
        actions_read(feed);
    feed_end_unlisted(feed);
    feed_continue(feed, STAGE_HISTORY);
}

void feed_ask_actions(struct feed *feed)
{
    int r = feed->n_calendars > 0 ? send_actions(feed, have_actions, feed) : 1;
    if (r < 0) {
        feed_try_again(feed, "request", strerror(-r));
    } else if (r == 1) {
        if (feed->n_calendars > 0)
            feed->hours_ask_ns = feed_venue_now_ns(feed) + ASK_HOURS * 3600 * 1000000000LL;
        feed_continue(feed, STAGE_HISTORY);
    }
}

/* ---- both, while it runs ---- */

struct hours_call {
    struct feed_asked asked;
    struct feed *feed;
    bool actions;
};

static int send_hours(struct feed_asked *asked);

static void ask_again(struct feed *feed, bool actions)
{
    struct hours_call *call = calloc(1, sizeof *call);
    if (!call)
        return;
    *call = (struct hours_call){.asked.send = send_hours, .feed = feed, .actions = actions};
    feed_ask(feed, &call->asked, true);
}

static void have_hours(void *user, const struct venue_reply *reply)
{
    struct hours_call *call = user;
    struct feed *feed = call->feed;
    if (reply->error && call->actions) {
        actions_missing(feed, reply->text);
    } else if (reply->error) {
        daemon_log_warning("feed: %s: calendar: %s", feed->venue->format->name, reply->text);
        feed->hours_ask_ns = feed_venue_now_ns(feed) + AGAIN_MINUTES * 60 * 1000000000LL;
    } else if (call->actions) {
        take_actions(feed, reply);
    } else {
        take_days(feed, reply);
    }
    if (reply->more && !reply->error)
        return;
    if (call->actions && !reply->error)
        actions_read(feed);
    bool next = !call->actions;
    feed_answered(&call->asked);
    free(call);
    feed_pass(feed, feed_venue_now_ns(feed));
    if (!next)
        feed_end_unlisted(feed);
    else
        ask_again(feed, true);
    feed_release(feed);
}

static int send_hours(struct feed_asked *asked)
{
    struct hours_call *call = (struct hours_call *)asked;
    return call->actions ? send_actions(call->feed, have_hours, call)
                         : send_days(call->feed, have_hours, call);
}

void feed_ask_hours(struct feed *feed)
{
    feed->hours_ask_ns = feed_venue_now_ns(feed) + ASK_HOURS * 3600 * 1000000000LL;
    if (feed->n_calendars > 0)
        ask_again(feed, false);
}
