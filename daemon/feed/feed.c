/* How a feed starts and stops. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/alerts.h"
#include "daemon/execution/executions.h"
#include "daemon/feed/internal.h"
#include "daemon/log.h"
#include "db/reader.h"
#include "exchange/clock.h"
#include "exchange/fail.h"
#include "exchange/nearest.h"
#include "exchange/net/secret.h"

enum {
    TICK_MS = 1000,
    RETRY_MIN_MS = 1000,
    RETRY_MAX_MS = 60000,
    MINUTE_MS = 60000,
    ABSENT_MS = 5000, /* that others wait for a venue that is new and away */
};

/* The symbol that a text begins with; NULL: it is of the venue as a whole. */
static const char *symbol_of(const struct feed *feed, const char *text)
{
    for (int s = 0; s < feed->n_symbols; s++)
        if (daemon_alert_is_about(text, feed->listed[s].name))
            return feed->listed[s].name;
    return NULL;
}

/* The line of the log. */
__attribute__((format(printf, 5, 0))) static void say(const struct feed *feed,
                                                      char ret[static DB_ALERT_TEXT_MAX],
                                                      enum db_severity severity, const char *code,
                                                      const char *format, va_list args)
{
    int n = snprintf(ret, DB_ALERT_TEXT_MAX, "%s: ", feed->venue->format->name);
    vsnprintf(ret + n, DB_ALERT_TEXT_MAX - (size_t)n, format, args);
    const char *symbol = symbol_of(feed, ret + n);
    daemon_log_event_at(severity == DB_INFO      ? LOG_LEVEL_INFO
                        : severity == DB_WARNING ? LOG_LEVEL_WARNING
                                                 : LOG_LEVEL_ERROR,
                        strcmp(code, "feed") == 0 ? LOG_FEED_LOST : LOG_ALERT,
                        LOG_OF(.symbol = symbol, .venue = feed->venue->format->name, .alert = code), "%s",
                        ret);
}

void feed_alert(struct feed *feed, enum db_severity severity, const char *code, const char *format, ...)
{
    char text[DB_ALERT_TEXT_MAX];
    va_list args;
    va_start(args, format);
    say(feed, text, severity, code, format, args);
    va_end(args);
    daemon_session_alert(feed->daemon->session, severity, code, text);
}

void feed_alert_raise(struct feed *feed, enum db_severity severity, const char *code, const char *about,
                      const char *format, ...)
{
    char text[DB_ALERT_TEXT_MAX], prefix[DB_ALERT_TEXT_MAX];
    va_list args;
    va_start(args, format);
    say(feed, text, severity, code, format, args);
    va_end(args);
    snprintf(prefix, sizeof prefix, "%s: %s", feed->venue->format->name, about);
    daemon_session_alert_lasting(feed->daemon->session, severity, code, prefix, text);
}

void feed_alert_end(struct feed *feed, const char *code, const char *about)
{
    char prefix[DB_ALERT_TEXT_MAX];
    snprintf(prefix, sizeof prefix, "%s: %s", feed->venue->format->name, about);
    daemon_session_alert_over(feed->daemon->session, code, prefix);
}

static void tap_reply(void *user, const char *path, const char *body, size_t len)
{
    struct feed *feed = user;
    daemon_session_record_reply(feed->daemon->session, feed->place, path, body, len);
}

/* The venue's ban holds for every request to it, and for the next run. */
static void banned(void *user, int64_t until_ns, const char *why)
{
    struct feed *feed = user;
    struct db_ban row = {.until_ns = until_ns, .venue = feed->venue->format->name, .why = why};
    if (until_ns <= feed->ban_until_ns)
        return;
    feed->ban_until_ns = until_ns;
    db_writer_put_ban(daemon_session_writer(feed->daemon->session), &row);
    feed_alert_raise(feed, DB_WARNING, "banned", "", "nothing is asked for %lld s: %s",
                     (long long)((until_ns - clock_wall_ns() + 999999999) / 1000000000), why);
    net_requests_hold(feed->rest, until_ns, why);
    if (feed->link && feed->venue->stream_hold)
        feed->venue->stream_hold(feed->link, until_ns, why);
    daemon_executions_hold(feed->daemon->executions, feed->venue->format->name, until_ns, why);
}

const char *feed_ws_url(const struct feed *feed)
{
    return feed->config->ws_url[0] ? feed->config->ws_url : feed->venue->ws_url;
}

const char *feed_rest_url(const struct feed *feed)
{
    return feed->config->rest_url[0] ? feed->config->rest_url : feed->venue->rest_url;
}

struct venue_ban feed_ban(struct feed *feed)
{
    return (struct venue_ban){.until_ns = feed->ban_until_ns, .reported = banned, .user = feed};
}

struct venue_keys feed_venue_keys(const struct feed *feed)
{
    return feed->config->keys[0] ? (struct venue_keys){feed->keys->id, feed->keys->secret}
                                 : (struct venue_keys){0};
}

void feed_account_config(struct feed *feed, struct venue_account_config *ret)
{
    ret->net = feeds_net(feed->feeds);
    ret->settings = feed->settings;
    ret->n_settings = feed->n_settings;
    ret->ban = feed_ban(feed);
}

static int make_symbols(struct feed *feed, const struct feed_wanted *wanted, int n)
{
    feed->listed = calloc(SYMBOLS_MAX, sizeof *feed->listed);
    feed->symbols = calloc(SYMBOLS_MAX, sizeof *feed->symbols);
    if (!feed->listed || !feed->symbols)
        return -ENOMEM;
    for (int s = 0; s < n; s++) {
        memcpy(feed->listed[s].name, wanted[s].name, sizeof feed->listed[s].name);
        feed->symbols[s] = (struct feed_symbol){.index = wanted[s].index,
                                                .planned = wanted[s].index,
                                                .calendar = -1,
                                                .streamed = true,
                                                .left_out = wanted[s].left_out};
        memcpy(feed->symbols[s].base, wanted[s].base, sizeof feed->symbols[s].base);
        memset(feed->symbols[s].streams, -1, sizeof feed->symbols[s].streams);
    }
    feed->n_symbols = n;
    feed->known = n == 0;
    return 0;
}

static int make_rest(struct feed *feed, char *err, size_t err_size)
{
    struct venue_rest_config rest = {
        .net = feeds_net(feed->feeds),
        .rest_url = feed->config->rest_url[0] ? feed->config->rest_url : NULL,
        .jitter_seed = uv_hrtime(),
        .tap = tap_reply,
        .tap_user = feed,
        .keys = feed_venue_keys(feed),
        .settings = feed->settings,
        .n_settings = feed->n_settings,
        .ban = feed_ban(feed),
        .past = feed->daemon->config.clock == CLOCK_FEED,
    };
    int r = feed->venue->rest_create(&rest, &feed->rest);
    if (r < 0)
        snprintf(err, err_size, "[%s%s] rest_url: %s: %s", feed->place == 0 ? "market" : "venue ",
                 feed->place == 0 ? "" : feed->venue->format->name, feed_rest_url(feed), strerror(-r));
    return r;
}

static int take_keys(struct feed *feed, const struct feed_keys *given, char *err, size_t err_size)
{
    feed->keys = net_secret_alloc(sizeof *feed->keys);
    if (!feed->keys)
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    int r = given ? 0 : feed_keys_read(feed->config->keys, feed->keys, err, err_size);
    if (given)
        memcpy(feed->keys, given, sizeof *given);
    if (r == 0 && !net_secret_locked())
        daemon_log_warning(
            "%s: its keys are in memory that may be swapped out: a higher limit of locked memory "
            "(LimitMEMLOCK=, ulimit -l) is needed",
            feed->venue->format->name);
    return r;
}

static void free_feed(struct feed *feed)
{
    net_secret_free(feed->keys);
    feed_hours_finish(feed);
    feed_backfill_finish(feed);
    free(feed->held);
    free(feed->listed);
    free(feed->waiting);
    free(feed->symbols);
    free(feed->streams);
    free(feed);
}

void feed_use(struct feed *feed, const struct daemon_config_venue *config)
{
    feed->config = config;
    feed->kinds = daemon_config_streams(&feed->daemon->config, config);
    feed->n_settings = 0;
    for (size_t i = 0; i < feed->venue->n_options && i < CONFIG_SETTINGS_MAX; i++)
        feed->settings[feed->n_settings++] =
            (struct venue_setting){feed->venue->options[i].name, config->settings[i]};
}

struct silence_limits feed_silence_limits(const struct daemon_config *config)
{
    return (struct silence_limits){.stale_ms = config->stale_ms,
                                   .stale_trade_ms = config->stale_trade_ms,
                                   .silence_ms = config->silence_ms,
                                   .interval_ms = config->interval_ns / 1000000};
}

int feed_create(struct feeds *feeds, struct daemon *daemon, const struct daemon_config_venue *config,
                const struct feed_wanted *wanted, int n, const struct feed_given *given, struct feed **ret,
                char *err, size_t err_size)
{
    struct feed *feed = calloc(1, sizeof *feed);
    if (!feed || make_symbols(feed, wanted, n) < 0) {
        if (feed)
            free_feed(feed);
        return fail_with(-ENOMEM, err, err_size, "out of memory");
    }
    feed->feeds = feeds;
    feed->daemon = daemon;
    feed->venue = config->venue;
    feed->place = given->place;
    feed_use(feed, config);
    feed->ban_until_ns = given->ban_until_ns;
    feed->due_ns = feed->hours_ask_ns = feed->list_ask_ns = INT64_MAX;
    feed->limits = feed_silence_limits(&daemon->config);
    net_budget_init(&feed->asks, feed->venue->asks_a_minute, MINUTE_MS);
    net_backoff_init(&feed->backoff, RETRY_MIN_MS, RETRY_MAX_MS, uv_hrtime());
    char why[400];
    int r = config->keys[0] ? take_keys(feed, given->keys, why, sizeof why) : 0;
    if (r < 0) {
        snprintf(err, err_size, "[venue %s] %s", feed->venue->format->name, why);
        r = r == -EIO || r == -ENOMEM ? r : -ENOKEY; /* which another start would not cure */
    } else {
        r = make_rest(feed, err, err_size);
    }
    if (r < 0) {
        free_feed(feed);
        return r;
    }
    uv_timer_init(daemon->loop, &feed->tick);
    uv_timer_init(daemon->loop, &feed->retry);
    uv_idle_init(daemon->loop, &feed->settle);
    feed_backfill_init(feed);
    feed->tick.data = feed->retry.data = feed->settle.data = feed;
    *ret = feed;
    return 0;
}

/* ---- start: time, symbols, days, actions, history, stream ---- */

static void begin_stage(struct feed *feed);

void feed_history_done(struct feed *feed)
{
    if (--feed->history_left == 0)
        feed_open_stream(feed);
}

static void on_retry(uv_timer_t *timer)
{
    struct feed *feed = timer->data;
    feed->retry_at_ms = 0;
    begin_stage(feed);
}

void feed_try_again(struct feed *feed, const char *what, const char *why)
{
    int64_t delay = net_backoff_next(&feed->backoff);
    snprintf(feed->detail, sizeof feed->detail, "%s: %s", what, why);
    daemon_log_event(LOG_FEED_LOST, LOG_OF(.venue = feed->venue->format->name),
                     "feed: %s: %s; trying again in %.1f s", feed->venue->format->name, feed->detail,
                     (double)delay / 1000);
    feed->retry_at_ms = clock_now_ms() + delay;
    uv_timer_start(&feed->retry, on_retry, (uint64_t)delay, 0);
}

bool feed_reply_is_final(const struct feed *feed, const struct venue_reply *reply)
{
    return reply->error == -EACCES && feed->config->keys[0] && (reply->status == 401 || reply->status == 403);
}

/* Uses the symbols that a former run stored, where it stored all of them. */
static bool stand_in(struct feed *feed)
{
    struct session *session = feed->daemon->session;
    if (feed->daemon->config.clock == CLOCK_FEED || daemon_session_started(session) || feed->known ||
        daemon_session_stored_symbols(session, feed->venue->format->name, feed->listed, feed->n_symbols) < 0)
        return false;
    feed->known = true;
    feeds_known(feed->feeds);
    return true;
}

static bool stored(struct feed *feed, int symbol, struct symbol *ret)
{
    *ret = (struct symbol){0};
    memcpy(ret->name, feed->listed[symbol].name, sizeof ret->name);
    return daemon_session_stored_symbols(feed->daemon->session, feed->venue->format->name, ret, 1) == 0;
}

int feed_known_symbols(struct feed *feed)
{
    struct symbol symbol;
    int n = feed->known ? feed->n_symbols : 0;
    for (int s = 0; s < feed->n_symbols && !feed->known; s++)
        n += stored(feed, s, &symbol);
    return n;
}

int feed_put_off(struct feed *feed)
{
    int kept = 0;
    feed->waiting = calloc((size_t)feed->n_symbols + 1, sizeof *feed->waiting);
    if (!feed->waiting)
        return -ENOMEM;
    for (int s = 0; s < feed->n_symbols; s++) {
        struct symbol symbol;
        if (stored(feed, s, &symbol)) {
            feed->listed[kept] = symbol;
            feed->symbols[kept++] = feed->symbols[s];
        } else {
            memcpy(feed->waiting[feed->n_waiting++], symbol.name, sizeof *feed->waiting);
        }
    }
    feed->n_symbols = kept;
    return 0;
}

static void report_refusal(struct feed *feed)
{
    feed_alert_raise(feed, DB_ERROR, "venue-refused", "",
                     "refused, and not tried again until a reload or the next start: %s", feed->detail);
}

void feed_end_for_good(struct feed *feed, const char *why)
{
    if (feed->final)
        return;
    feed->final = true;
    feed->retry_at_ms = 0;
    uv_timer_stop(&feed->retry);
    snprintf(feed->detail, sizeof feed->detail, "%s", why);
    bool waits = !daemon_session_started(feed->daemon->session); /* and then says it, where it begins */
    if (waits && !feed->known && !stand_in(feed))
        waits = feeds_refused(feed->feeds, feed);
    if (!waits)
        report_refusal(feed);
}

static void have_time(void *user, const struct venue_reply *reply)
{
    struct feed *feed = user;
    if (feed_reply_is_final(feed, reply)) {
        feed_end_for_good(feed, reply->text);
    } else if (reply->error) {
        feed_try_again(feed, "time", reply->text);
    } else {
        feed_take_time(feed, reply);
        feed_continue(feed, STAGE_SYMBOLS);
    }
}

static void ask_history(struct feed *feed)
{
    int64_t now = feed_over_ns(feed);
    feed->history_left = feed->n_symbols + 1;
    for (int s = 0; s < feed->n_symbols; s++) {
        int64_t open, end;
        feed_bar_span(feed, s, now, &open, &end);
        int64_t from = feed_history_from(feed, s, open);
        feed_backfill(feed, s, from < open ? from : open);
        if (from >= open || feed->listed[s].gone || feed_ask_bars(feed, s, from, open, BARS_HISTORY) < 0)
            feed->history_left--;
    }
    feed_history_done(feed);
}

void feed_own(const struct feed *feed, struct symbol *symbol)
{
    snprintf(symbol->venue, sizeof symbol->venue, "%s", feed->venue->format->name);
}

/* A symbol that a former run streamed and the venue no longer lists: its positions stay. */
static bool was_listed(struct feed *feed, int symbol)
{
    struct symbol stored = {0};
    memcpy(stored.name, feed->listed[symbol].name, sizeof stored.name);
    if (daemon_session_stored_symbols(feed->daemon->session, feed->venue->format->name, &stored, 1) < 0)
        return false;
    feed->symbols[symbol].unlisted = stored.calendar[0] && !stored.gone; /* its actions are read first */
    stored.gone = !feed->symbols[symbol].unlisted;
    stored.trading = false;
    feed->listed[symbol] = stored;
    daemon_log_warning("%s: %s lists it no longer", stored.name, feed->venue->format->name);
    return true;
}

static bool take_symbols(struct feed *feed, const struct venue_symbol *list)
{
    for (int s = 0; s < feed->n_symbols; s++) {
        const struct venue_symbol *listed_now = &list[s];
        bool first = feed->place == 0;
        if (listed_now->found) {
            feed->listed[s] = listed_now->symbol;
            feed_keep_base(feed, s, &feed->listed[s]);
        } else if (!was_listed(feed, s)) {
            daemon_refuse("[%s%s] symbols: %s: %s %s%s", first ? "market" : "venue ",
                          first ? "" : feed->venue->format->name, listed_now->name, feed->venue->format->name,
                          feed_unlisted(listed_now), NEAREST_SUGGEST(listed_now->nearest));
            return false;
        }
        feed_own(feed, &feed->listed[s]);
    }
    return true;
}

/* False where symbols were deferred while the list was requested: it has the order of then. */
static bool is_in_order(const struct feed *feed, const struct venue_symbol *list)
{
    bool same = true;
    for (int s = 0; s < feed->n_symbols; s++)
        same = same && strcmp(list[s].name, feed->listed[s].name) == 0;
    for (int i = 0; i < feed->n_waiting; i++)
        same = same && strcmp(list[feed->n_symbols + i].name, feed->waiting[i]) == 0;
    return same;
}

static void have_symbols(void *user, const struct venue_reply *reply)
{
    struct feed *feed = user;
    char err[SESSION_ERROR_MAX];
    if (feed_reply_is_final(feed, reply)) {
        feed_end_for_good(feed, reply->text);
        return;
    }
    if (reply->error) {
        feed_try_again(feed, "symbols", reply->text);
        return;
    }
    if (!is_in_order(feed, reply->symbols.list)) {
        feed_continue(feed, STAGE_SYMBOLS);
        return;
    }
    if (!take_symbols(feed, reply->symbols.list))
        return;
    net_backoff_reset(&feed->backoff);
    feed->detail[0] = '\0';
    feed->answered = true;
    if (!daemon_session_started(feed->daemon->session)) {
        feed->known = true;
        feed->absent = false;
        feeds_known(feed->feeds);
        return;
    }
    for (int s = 0; s < feed->n_symbols; s++)
        if (daemon_session_update_symbol(feed->daemon->session, feed->symbols[s].index, &feed->listed[s], err,
                                         sizeof err) < 0) {
            daemon_fail("%s", err);
            return;
        }
    feed_add_waiting(feed, reply->symbols.list + feed->n_symbols);
    feed_continue(feed, STAGE_DAYS);
}

static void have_first(void *user, const struct db_symbol_row *symbol, int64_t first_ns)
{
    struct feed *feed = user;
    if (strcmp(symbol->venue, feed->venue->format->name) != 0)
        return;
    for (int s = 0; s < feed->n_symbols; s++)
        if (strcmp(feed->listed[s].name, symbol->symbol.name) == 0 &&
            first_ns < feed->symbols[s].actions_from_ns)
            feed->symbols[s].actions_from_ns = first_ns;
}

/* When each symbol was added: for one that only the log has, at the latest when the former run ended. */
static void find_first_moments(struct feed *feed)
{
    struct session *session = feed->daemon->session;
    bool any = false;
    for (int s = 0; s < feed->n_symbols; s++) {
        struct engine_symbol_view view;
        engine_symbol_view(daemon_session_engine(session), feed->symbols[s].index, &view);
        feed->symbols[s].actions_from_ns =
            view.bars > 0 ? feed->actions_from_ns : daemon_session_now(session);
        any |= feed->listed[s].calendar[0] != '\0';
    }
    int r = any ? daemon_session_first_moments(session, have_first, feed) : 0;
    if (r < 0)
        feed_alert_raise(feed, DB_WARNING, "actions-missing", "",
                         "splits and dividends that a former run missed are not looked for: %s",
                         strerror(-r));
}

void feed_started(struct feed *feed)
{
    const struct session_recovery *recovery = daemon_session_recovery(feed->daemon->session);
    feed->actions_from_ns = daemon_session_now(feed->daemon->session) - recovery->away_ns;
    feed_follow_names(feed);
    feed_report_clock(feed, -1);
    find_first_moments(feed);
    for (int s = 0; feed->answered && s < feed->n_symbols; s++)
        feed_listed_well(feed, &feed->listed[s]);
    if (feed->answered)
        feed_continue(feed, STAGE_DAYS);
    else if (feed->final)
        report_refusal(feed);
}

/* The venue does not answer: its failure is reported once, and the session starts with the symbols that a
 * former run stored, so that positions are shown, commands are accepted, and other venues continue. */
void feed_begin_without_venue(struct feed *feed)
{
    const struct venue_rest_status *status = net_requests_status(feed->rest);
    if (feed->stage > STAGE_SYMBOLS || feed->answered || feed->final)
        return;
    if (!feed->absence_reported && status->failures > 0) {
        feed->absence_reported = true;
        daemon_log_event(LOG_FEED_LOST, LOG_OF(.venue = feed->venue->format->name),
                         "feed: %s does not answer: %s; trying again", feed->venue->format->name,
                         status->detail);
        stand_in(feed);
    }
    if (feed->known || feed->absent || feed->daemon->config.clock == CLOCK_FEED ||
        clock_now_ms() - feed->started_ms < ABSENT_MS)
        return;
    feed->absent = true;
    feeds_known(feed->feeds);
}

static int ask_symbols(struct feed *feed)
{
    int n = feed->n_symbols;
    const char **names = calloc((size_t)(n + feed->n_waiting), sizeof *names);
    if (!names)
        return -ENOMEM;
    for (int s = 0; s < n; s++)
        names[s] = feed->listed[s].name;
    for (int i = 0; i < feed->n_waiting; i++)
        names[n + i] = feed->waiting[i];
    int r = net_requests_symbols(feed->rest, names, (size_t)(n + feed->n_waiting), have_symbols, feed, NULL);
    free(names);
    return r;
}

/* Every symbol was removed by command: it is asked for what is added. */
static void have_none(struct feed *feed)
{
    net_backoff_reset(&feed->backoff);
    feed->detail[0] = '\0';
    feed->answered = true;
    if (daemon_session_started(feed->daemon->session))
        feed_continue(feed, STAGE_DAYS);
}

static void begin_stage(struct feed *feed)
{
    int r = 0;
    switch (feed->stage) {
    case STAGE_TIME:
        r = net_requests_time(feed->rest, have_time, feed, NULL);
        break;
    case STAGE_SYMBOLS:
        if (feed->n_symbols + feed->n_waiting > 0)
            r = ask_symbols(feed);
        else
            have_none(feed);
        break;
    case STAGE_DAYS:
        feed_ask_days(feed);
        break;
    case STAGE_ACTIONS:
        feed_ask_actions(feed);
        break;
    case STAGE_HISTORY:
        ask_history(feed);
        break;
    case STAGE_STREAM:
        break;
    }
    if (r < 0)
        feed_try_again(feed, "request", strerror(-r));
}

void feed_continue(struct feed *feed, enum stage stage)
{
    feed->stage = stage;
    begin_stage(feed);
}

void feed_start(struct feed *feed)
{
    feed->started_ms = clock_now_ms();
    uv_timer_start(&feed->tick, feed_tick, TICK_MS, TICK_MS);
    begin_stage(feed);
}

/* ---- stop ---- */

static void part_closed(struct feed *feed)
{
    if (--feed->open_handles > 0)
        return;
    void (*stopped)(void *) = feed->stopped;
    void *user = feed->stopped_user;
    free_feed(feed);
    stopped(user);
}

static void handle_closed(uv_handle_t *handle)
{
    part_closed(handle->data);
}

void feed_stop(struct feed *feed, void (*done)(void *user), void *user)
{
    feed->stopped = done;
    feed->stopped_user = user;
    feed->open_handles = 4;
    feed_list_drop(feed);
    feed->venue->stream_destroy(feed->link);
    net_requests_destroy(feed->rest);
    feed_forget_asked(feed);
    feed->venue->format->parser_destroy(feed->parser);
    feed->n_symbols = 0;
    feed->n_streams = 0;
    uv_close((uv_handle_t *)&feed->tick, handle_closed);
    uv_close((uv_handle_t *)&feed->retry, handle_closed);
    uv_close((uv_handle_t *)&feed->settle, handle_closed);
    uv_close((uv_handle_t *)&feed->past.timer, handle_closed);
}
