/* A connection of user data: what it asks for, and what it brings. */
#include <string.h>

#include "exchange/binance/account/account.h"
#include "exchange/clock.h"

enum { SESSION_NOT_OF_KEY = -4056 /* the venue's code: logon takes Ed25519 keys only */ };

/* ---- Requests of the connection's own. ---- */

int binance_user_send(struct binance_user_connection *connection, const char *method,
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
        account->messages++;
    }
    return r;
}

/* Its next stage. */
static void ask(struct binance_user_connection *connection, int stage)
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
    int r = binance_user_send(connection, method, &params, signs, &connection->message_id);
    if (r < 0)
        binance_user_fail(connection, LINK_LOST, -1, strerror(-r));
    else
        binance_account_wake(account);
}

void binance_user_begin(struct binance_user_connection *connection)
{
    ask(connection, binance_signer_logs_on(connection->account->signer) ? USER_LOGGING_ON : USER_SUBSCRIBING);
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
        stream->current = binance_user_index(connection);
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
        binance_outcome(ACCOUNT_BALANCES, refusal) == VENUE_DENIED)
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
    const bool bad_timestamp = refusal->code == BINANCE_CODE_BAD_TIMESTAMP;
    struct binance_account *account = connection->account;
    binance_user_fail(connection, failure_of(refusal), message->wait_ms, why);
    if (bad_timestamp)
        binance_account_report_bad_timestamp(account);
}

static void answered(struct binance_user_connection *connection, const struct binance_message *message)
{
    connection->message_id = 0;
    if (message->refusal.status != 200 || !message->has_result)
        refused(connection, message);
    else if (connection->stage == USER_LOGGING_ON)
        ask(connection, USER_SUBSCRIBING);
    else
        subscribed(connection);
}

/* ---- What it brings. ---- */

static void take_event(struct binance_user_connection *connection, struct json json)
{
    struct binance_account *account = connection->account;
    struct binance_event event;
    int r = binance_event_read(json, &account->calls.symbols, &event);
    if (r < 0) { /* as one that was missed */
        venue_lists_free(&event.balances);
        binance_user_fail(connection, LINK_LOST, -1,
                          r == -ENOMEM ? "out of memory" : "an event of user data cannot be read");
        return;
    }
    if (event.kind == BINANCE_EVENT_ORDER) {
        const struct venue_lists lists = {
            .orders = &event.order, .n_orders = 1, .fills = &event.fill, .n_fills = event.filled};
        venue_lists_push(&lists, account->handler, account->user, &account->destroyed);
    } else if (event.kind == BINANCE_EVENT_BALANCES) {
        venue_lists_push(&event.balances, account->handler, account->user, &account->destroyed);
    } else if (event.kind == BINANCE_EVENT_TERMINATED) {
        binance_user_fail(connection, LINK_LOST, -1, "the venue has ended the stream of user data");
    }
    venue_lists_free(&event.balances);
}

void binance_user_message(void *user, const char *data, size_t len)
{
    struct binance_user_connection *connection = user;
    struct binance_account *account = connection->account;
    struct binance_message message;
    account->status.frames++;
    account->status.bytes += len;
    account->status.last_frame_ms = clock_now_ms();
    binance_user_received(connection);
    if (binance_message_read(data, len, binance_account_now_ms(account), &message) < 0) {
        binance_user_fail(connection, LINK_LOST, -1, "a message of the venue cannot be read");
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
        binance_account_say(account, "the venue's server shuts down");
        binance_account_wake(account);
        break;
    case BINANCE_MESSAGE_OTHER:
        break;
    }
}
