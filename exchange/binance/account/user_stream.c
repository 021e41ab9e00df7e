/* The connection of user data: kept up, subscribed, and renewed by overlap. Two that overlap both bring what
 * happens: an event may come twice. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/binance/account/account.h"
#include "exchange/clock.h"
#include "exchange/fail.h"

enum {
    MINUTE_MS = 60 * 1000,
    AGE_MS = 23 * 60 * MINUTE_MS, /* the venue ends a connection at 24 hours */
    AGE_JITTER_MS = 30 * MINUTE_MS,
    OVERLAP_MIN_MS = 1000,      /* the venue's servers differ: the old one brings what it has */
    OVERLAP_MAX_MS = 10 * 1000, /* then it is not waited for */
    SESSION_NOT_OF_KEY = -4056, /* the venue's code: logon takes Ed25519 keys only */
};

#define say(account, ...) ((void)fail_line(0, (account)->status.detail, VENUE_DETAIL_MAX, NULL, __VA_ARGS__))

static int index_of(const struct binance_user_connection *connection)
{
    return (int)(connection - connection->account->stream.connections);
}

static void drop(struct binance_user_connection *connection, const char *why)
{
    struct binance_account *account = connection->account;
    websocket_destroy(connection->websocket);
    binance_requests_lost(account, index_of(connection), why);
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
static void fail_connection(struct binance_user_connection *connection, enum link_failure failure,
                            int64_t retry_after_ms, const char *why)
{
    struct binance_account *account = connection->account;
    struct binance_user_stream *stream = &account->stream;
    const int64_t now_ms = clock_now_ms();
    char text[VENUE_DETAIL_MAX];
    snprintf(text, sizeof(text), "%s", why);
    say(account, "%s", text);
    if (index_of(connection) == stream->current) {
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
    if (failure == LINK_LIMITED || failure == LINK_BANNED)
        binance_account_hold(account, stream->link.hold_ms, text, true);
    binance_account_notify(account);
    binance_account_wake(account);
}

/* ---- Requests of the connection's own. ---- */

/* 0 and the message's id; or -errno, then nothing was sent. */
static int send_message(struct binance_user_connection *connection, const char *method,
                        struct binance_parameters *params, bool signs, int64_t *ret_id)
{
    struct binance_account *account = connection->account;
    struct text text = {0};
    int64_t id = ++account->stream.last_id;
    int r = -ENOMEM;
    if (binance_parameters_message(params, signs ? account->signer : NULL, id, method, &text))
        r = websocket_send(connection->websocket, text.data, text.len);
    if (text.data)
        explicit_bzero(text.data, text.len);
    text_finish(&text);
    if (r == 0) {
        *ret_id = id;
        account->status.sent++;
    }
    return r;
}

static void begin(struct binance_user_connection *connection, int stage)
{
    struct binance_account *account = connection->account;
    const bool logs_on = binance_signer_logs_on(account->signer);
    struct binance_parameters params = {.n = 0};
    const char *method = stage == USER_LOGGING_ON ? "session.logon"
                         : logs_on                ? "userDataStream.subscribe"
                                                  : "userDataStream.subscribe.signature";
    const bool signs = stage == USER_LOGGING_ON || !logs_on;
    if (signs)
        binance_parameters_date(&params, binance_account_now_ms(account));
    connection->stage = stage;
    connection->deadline_ms = clock_now_ms() + account->stream.timeout_ms;
    int r = send_message(connection, method, &params, signs, &connection->message_id);
    if (r < 0)
        fail_connection(connection, LINK_LOST, -1, strerror(-r));
    else
        binance_account_wake(account);
}

static void subscribed(struct binance_user_connection *connection)
{
    struct binance_account *account = connection->account;
    struct binance_user_stream *stream = &account->stream;
    const int64_t now_ms = clock_now_ms();
    connection->stage = USER_SUBSCRIBED;
    net_link_opened(&stream->link, now_ms);
    net_link_received(&stream->link, now_ms);
    if (stream->current < 0) {
        stream->current = index_of(connection);
        stream->next = -1;
        account->status.detail[0] = '\0';
    } else {
        stream->overlap_ms = now_ms;
    }
    binance_account_notify(account);
    binance_account_wake(account);
}

static enum link_failure failure_of(const struct binance_refusal *refusal)
{
    if (refusal->status == 418)
        return LINK_BANNED;
    if (binance_refusal_of_address(refusal))
        return LINK_LIMITED;
    if (refusal->code == BINANCE_CODE_BAD_SIGNATURE || refusal->code == SESSION_NOT_OF_KEY ||
        binance_outcome(BINANCE_BALANCES, refusal) == VENUE_DENIED)
        return LINK_ENDED;
    return refusal->code == BINANCE_CODE_BAD_TIMESTAMP || refusal->status >= 500 || refusal->status < 400
               ? LINK_LOST
               : LINK_REFUSED;
}

static void refused(struct binance_user_connection *connection, const struct binance_message *message)
{
    const struct binance_refusal *refusal = &message->refusal;
    char words[VENUE_DETAIL_MAX], why[VENUE_DETAIL_MAX + 64];
    binance_copy_words(refusal->msg, words, sizeof(words));
    snprintf(why, sizeof(why), "the venue refuses user data: %lld %s", (long long)refusal->code, words);
    fail_connection(connection, failure_of(refusal), message->wait_ms, why);
}

static void answered(struct binance_user_connection *connection, const struct binance_message *message)
{
    connection->message_id = 0;
    if (message->refusal.status != 200 || !message->has_result)
        refused(connection, message);
    else if (connection->stage == USER_LOGGING_ON)
        begin(connection, USER_SUBSCRIBING);
    else
        subscribed(connection);
}

/* ---- What it brings. ---- */

static void take_event(struct binance_user_connection *connection, struct json json)
{
    struct binance_account *account = connection->account;
    struct binance_event event;
    int r = binance_event_read(json, &account->symbols, &event);
    if (r < 0) { /* as one that was missed */
        binance_parsed_free(&event.balances);
        fail_connection(connection, LINK_LOST, -1,
                        r == -ENOMEM ? "out of memory" : "an event of user data cannot be read");
        return;
    }
    if (event.kind == BINANCE_EVENT_ORDER) {
        if (event.filled)
            account->handler->fill(account->user, &event.fill);
        if (!account->destroyed)
            account->handler->order(account->user, &event.order);
    } else if (event.kind == BINANCE_EVENT_BALANCES) {
        account->handler->balances(account->user, event.balances.balances, event.balances.n_balances);
    } else if (event.kind == BINANCE_EVENT_TERMINATED) {
        fail_connection(connection, LINK_LOST, -1, "the venue has ended the stream of user data");
    }
    binance_parsed_free(&event.balances);
}

/* It lives: its backoff starts over after a while. */
static void received(struct binance_user_connection *connection)
{
    struct binance_user_stream *stream = &connection->account->stream;
    if (connection->stage == USER_SUBSCRIBED && (stream->next < 0 || index_of(connection) == stream->next))
        net_link_received(&stream->link, clock_now_ms());
}

static void on_opened(void *user)
{
    struct binance_user_connection *connection = user;
    begin(connection,
          binance_signer_logs_on(connection->account->signer) ? USER_LOGGING_ON : USER_SUBSCRIBING);
}

static void on_message(void *user, const char *data, size_t len)
{
    struct binance_user_connection *connection = user;
    struct binance_account *account = connection->account;
    struct binance_message message;
    account->status.frames++;
    account->status.bytes += len;
    account->status.last_frame_ms = clock_now_ms();
    received(connection);
    if (binance_message_read(data, len, binance_account_now_ms(account), &message) < 0) {
        fail_connection(connection, LINK_LOST, -1, "a message of the venue cannot be read");
        return;
    }
    switch (message.kind) {
    case BINANCE_MESSAGE_ANSWER:
        if (message.id == connection->message_id && connection->message_id != 0)
            answered(connection, &message);
        else
            binance_requests_take(account, &message);
        break;
    case BINANCE_MESSAGE_REFUSED: /* the key was revoked, say */
        if (message.refusal.code != 0)
            refused(connection, &message);
        break;
    case BINANCE_MESSAGE_EVENT:
        take_event(connection, message.event);
        break;
    case BINANCE_MESSAGE_SHUTDOWN:
        connection->shuts_down = true;
        say(account, "the venue's server shuts down");
        binance_account_wake(account);
        break;
    case BINANCE_MESSAGE_OTHER:
        break;
    }
}

static void on_pong(void *user)
{
    struct binance_user_connection *connection = user;
    struct binance_account *account = connection->account;
    received(connection);
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
    fail_connection(connection, failure, end->retry_after_ms, why);
}

/* ---- What is due. ---- */

static void attempt_failed(struct binance_account *account, const char *why)
{
    say(account, "%s: %s", account->stream.url.host, why);
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
    int r = net_resolver_start(net_context_loop(account->net), stream->url.host, on_resolved, account,
                               &stream->query);
    if (r < 0)
        attempt_failed(account, uv_strerror(r));
}

static void connect_next(struct binance_account *account)
{
    static const struct websocket_handler handler = {on_opened, on_message, on_pong, on_ended, NULL};
    struct binance_user_stream *stream = &account->stream;
    const int which = stream->current == 0 ? 1 : 0;
    struct binance_user_connection *connection = &stream->connections[which];
    const struct websocket_config config = {
        .url = stream->path,
        .address = stream->addresses.addresses[stream->link.address],
    };
    *connection = (struct binance_user_connection){.account = account, .deadline_ms = INT64_MAX};
    int r = websocket_connect(account->net, &config, &handler, connection, &connection->websocket);
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
            say(account, "%u attempts in %lld s used up", account->stream.budget.limit,
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
        say(account, "the connection was renewed, and the old one did not answer");
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
    fail_connection(connection, LINK_LOST, -1, "the venue does not answer the request for user data");
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
    int r = send_message(connection, method, params, signs, ret_id);
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
    stream->timeout_ms = account->timeout_ms;
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
