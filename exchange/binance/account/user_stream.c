/* The connection of user data: kept up, subscribed, and renewed by overlap. Two that overlap both bring what
 * happens: an event may come twice. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/binance/account/account.h"
#include "exchange/clock.h"

enum {
    MINUTE_MS = 60 * 1000,
    AGE_MS = 23 * 60 * MINUTE_MS, /* the venue ends a connection at 24 hours */
    AGE_JITTER_MS = 30 * MINUTE_MS,
    OVERLAP_MIN_MS = 1000,      /* the venue's servers differ: the old one brings what it has */
    OVERLAP_MAX_MS = 10 * 1000, /* then it is not waited for */
};

int binance_user_index(const struct binance_user_connection *connection)
{
    return (int)(connection - connection->account->stream.connections);
}

static void drop(struct binance_user_connection *connection, const char *why)
{
    struct binance_account *account = connection->account;
    websocket_destroy(connection->websocket);
    binance_requests_lost(account, binance_user_index(connection), why);
    *connection = (struct binance_user_connection){.account = account};
}

/* Something may have been missed though another connection is up: the caller hears of a break. */
static void report_gap(struct binance_account *account)
{
    if (account->destroyed)
        return;
    account->status.link = account->reported.link = VENUE_CONNECTING;
    account->status.since_ms = clock_now_ms();
    account->handler->state(account->user, &account->status);
    if (!account->destroyed)
        binance_account_notify(account);
}

static void take_over(struct binance_account *account, const char *why)
{
    struct binance_user_stream *stream = &account->stream;
    drop(&stream->connections[stream->current], why);
    stream->current = stream->next;
    stream->next = -1;
    net_link_took_over(&stream->link);
}

/* The connection has ended, or is given up. */
void binance_user_fail(struct binance_user_connection *connection, enum link_failure failure,
                       int64_t retry_after_ms, const char *why)
{
    struct binance_account *account = connection->account;
    struct binance_user_stream *stream = &account->stream;
    const int64_t now_ms = clock_now_ms();
    char text[VENUE_DETAIL_MAX];
    snprintf(text, sizeof(text), "%s", why);
    binance_account_say(account, "%s", text);
    if (binance_user_index(connection) == stream->current) {
        net_link_lost(&stream->link, now_ms, failure, retry_after_ms);
        drop(connection, text);
        stream->current = -1;
        if (stream->next >= 0 && stream->connections[stream->next].stage == USER_SUBSCRIBED) {
            stream->current = stream->next;
            stream->next = -1;
            report_gap(account);
        }
    } else {
        net_link_failed(&stream->link, now_ms, failure, retry_after_ms);
        drop(connection, text);
        stream->next = -1;
    }
    binance_account_wake(account);
    if (failure == LINK_LIMITED || failure == LINK_BANNED) {
        binance_account_hold(account, stream->link.hold_ms, text);
        binance_account_report_ban(account, stream->link.hold_ms, text);
    }
    binance_account_notify(account);
}

static void on_opened(void *user)
{
    binance_user_begin(user);
}

/* It lives: its backoff starts over after a while. */
void binance_user_received(struct binance_user_connection *connection)
{
    struct binance_user_stream *stream = &connection->account->stream;
    if (connection->stage == USER_SUBSCRIBED &&
        (stream->next < 0 || binance_user_index(connection) == stream->next))
        net_link_received(&stream->link, clock_now_ms());
}

static void on_pong(void *user)
{
    struct binance_user_connection *connection = user;
    struct binance_account *account = connection->account;
    binance_user_received(connection);
    if (!connection->pinged || !websocket_pinged(connection->websocket))
        return;
    connection->ponged = true;
    binance_account_wake(account);
}

static void on_ended(void *user, const struct websocket_end *end)
{
    struct binance_user_connection *connection = user;
    enum link_failure failure = net_link_failure_of(end->http_status, false);
    char why[VENUE_DETAIL_MAX];
    if (!end->opened && end->http_status == 0)
        failure = LINK_UNREACHED;
    if (failure == LINK_LIMITED || failure == LINK_BANNED)
        snprintf(why, sizeof(why), "the venue %s this address (HTTP %d)",
                 failure == LINK_LIMITED ? "limits" : "has banned", end->http_status);
    else
        snprintf(why, sizeof(why), "%s", end->reason);
    binance_user_fail(connection, failure, end->retry_after_ms, why);
}

/* ---- What is due. ---- */

static void attempt_failed(struct binance_account *account, const char *why)
{
    binance_account_say(account, "%s: %s", account->stream.url.host, why);
    net_link_failed(&account->stream.link, clock_now_ms(), LINK_LOST, -1);
}

static void on_resolved(void *user, const struct resolver_result *result)
{
    struct binance_account *account = user;
    struct binance_user_stream *stream = &account->stream;
    stream->query = NULL;
    if (result->error) {
        attempt_failed(account, uv_strerror(result->error));
    } else {
        stream->addresses = *result;
        net_link_resolved(&stream->link, result->n);
    }
    binance_account_notify(account);
    binance_account_wake(account);
}

static void resolve(struct binance_account *account)
{
    struct binance_user_stream *stream = &account->stream;
    int r = net_resolver_start(net_context_loop(account->calls.net), stream->url.host, on_resolved, account,
                               &stream->query);
    if (r < 0)
        attempt_failed(account, uv_strerror(r));
}

static void connect_next(struct binance_account *account)
{
    static const struct websocket_handler handler = {on_opened, binance_user_message, on_pong, on_ended,
                                                     NULL};
    struct binance_user_stream *stream = &account->stream;
    const int which = stream->current == 0 ? 1 : 0;
    struct binance_user_connection *connection = &stream->connections[which];
    const struct websocket_config config = {
        .url = stream->path,
        .address = stream->addresses.addresses[stream->link.address],
    };
    *connection = (struct binance_user_connection){.account = account, .deadline_ms = INT64_MAX};
    int r = websocket_connect(account->calls.net, &config, &handler, connection, &connection->websocket);
    if (r < 0)
        attempt_failed(account, strerror(-r));
    else
        stream->next = which;
}

static int64_t drive_link(struct binance_account *account, int64_t now_ms)
{
    struct link *link = &account->stream.link;
    for (;;) {
        bool short_before = link->budget_short;
        struct link_step step = net_link_next(link, now_ms);
        if (link->budget_short && !short_before)
            binance_account_say(account, "%u attempts in %lld s used up", account->stream.budget.limit,
                                (long long)(account->stream.budget.window_ms / 1000));
        if (step.act == LINK_WAIT)
            return step.at_ms;
        if (step.act == LINK_RESOLVE)
            resolve(account);
        else
            connect_next(account);
    }
}

/* Both are subscribed: the old one is ended once it has brought what it had. */
static int64_t drive_overlap(struct binance_account *account, int64_t now_ms)
{
    struct binance_user_stream *stream = &account->stream;
    if (stream->current < 0 || stream->next < 0 || stream->connections[stream->next].stage != USER_SUBSCRIBED)
        return INT64_MAX;
    struct binance_user_connection *old = &stream->connections[stream->current];
    const int64_t least_ms = stream->overlap_ms + OVERLAP_MIN_MS,
                  most_ms = stream->overlap_ms + OVERLAP_MAX_MS;
    if (now_ms < least_ms)
        return least_ms;
    if (!old->pinged)
        old->pinged = websocket_ping(old->websocket) == 0;
    if (now_ms < most_ms && (!old->ponged || binance_requests_wait(account, stream->current)))
        return most_ms;
    const bool whole = old->ponged;
    take_over(account, "the connection was renewed before its answer");
    if (whole)
        account->status.detail[0] = '\0';
    else
        binance_account_say(account, "the connection was renewed, and the old one did not answer");
    if (!whole)
        report_gap(account);
    return INT64_MAX;
}

/* The one that is being made is given up where the venue does not answer. */
static int64_t drive_deadline(struct binance_account *account, int64_t now_ms)
{
    struct binance_user_stream *stream = &account->stream;
    if (stream->next < 0 || stream->connections[stream->next].stage == USER_SUBSCRIBED)
        return INT64_MAX;
    struct binance_user_connection *connection = &stream->connections[stream->next];
    if (now_ms < connection->deadline_ms)
        return connection->deadline_ms;
    binance_user_fail(connection, LINK_LOST, -1, "the venue does not answer the request for user data");
    return INT64_MAX; /* and the timer was set */
}

int64_t binance_user_stream_drive(struct binance_user_stream *stream, int64_t now_ms)
{
    struct binance_account *account = stream->connections[0].account;
    if (stream->current >= 0 && stream->connections[stream->current].shuts_down)
        net_link_renew(&stream->link, now_ms);
    int64_t deadline_ms = drive_deadline(account, now_ms);
    int64_t overlap_ms = account->destroyed ? INT64_MAX : drive_overlap(account, now_ms);
    int64_t wake_ms = account->destroyed ? INT64_MAX : drive_link(account, now_ms);
    wake_ms = deadline_ms < wake_ms ? deadline_ms : wake_ms;
    return overlap_ms < wake_ms ? overlap_ms : wake_ms;
}

/* ---- Its life, and what others send by it. ---- */

int binance_user_stream_send(struct binance_user_stream *stream, const char *method,
                             struct binance_parameters *params, int64_t *ret_id, int *ret_connection)
{
    if (stream->current < 0)
        return -ENOTCONN;
    struct binance_user_connection *connection = &stream->connections[stream->current];
    const bool signs = !binance_signer_logs_on(connection->account->signer);
    int r = binance_user_send(connection, method, params, signs, ret_id);
    if (r == 0)
        *ret_connection = stream->current;
    return r;
}

int binance_user_stream_init(struct binance_user_stream *stream, struct binance_account *account,
                             const char *ws_url, uint64_t jitter_seed)
{
    struct text path = {0};
    text_base(&path, ws_url);
    text_lit(&path, "/ws-api/v3");
    stream->path = text_take(&path);
    stream->current = stream->next = -1;
    for (int i = 0; i < 2; i++)
        stream->connections[i].account = account;
    net_budget_init(&stream->budget, BUDGET_ATTEMPTS_DEFAULT, BUDGET_WINDOW_MS_DEFAULT);
    const struct link_config config = {
        .jitter_seed = jitter_seed,
        .budget = &stream->budget,
        .age_max_ms = AGE_MS,
        .age_jitter_ms = AGE_JITTER_MS,
    };
    net_link_init(&stream->link, &config, clock_now_ms());
    return !stream->path ? -ENOMEM : net_url_parse_as(stream->path, "wss", &stream->url);
}

void binance_user_stream_close(struct binance_user_stream *stream)
{
    net_resolver_cancel(stream->query);
    stream->query = NULL;
    for (int i = 0; i < 2; i++) {
        websocket_destroy(stream->connections[i].websocket);
        stream->connections[i].websocket = NULL;
    }
    stream->current = stream->next = -1;
}

void binance_user_stream_finish(struct binance_user_stream *stream)
{
    free(stream->path);
}
