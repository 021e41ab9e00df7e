#include "exchange/binance/account/account.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/binance/variant.h"
#include "exchange/clock.h"
#include "exchange/order_rules.h"

#define NS_PER_MS 1000000LL

enum {
    UNSENT_MIN_MS = 1000, /* until a request that could not leave is worth another try */
    UNSENT_MAX_MS = 30 * 1000,
};

int64_t binance_account_now_ms(const struct binance_account *account)
{
    return account->venue_ns(account->user) / NS_PER_MS;
}

/* ---- Status. ---- */

static void refresh(struct binance_account *account)
{
    struct venue_status *status = &account->status;
    const struct binance_user_stream *stream = &account->stream;
    enum venue_link link = net_link_state(&stream->link);
    status->retry_ms = stream->link.up ? 0 : net_link_retry_ms(&stream->link);
    status->up = link == VENUE_UP;
    status->budget_used = net_budget_used(&stream->budget, clock_now_ms());
    status->renewals = stream->link.renewals;
    status->connects = stream->link.connects;
    status->attempts = stream->link.attempts;
    status->failures = stream->link.failures;
    if (link != status->link) {
        status->link = link;
        status->since_ms = clock_now_ms();
    }
}

void binance_account_notify(struct binance_account *account)
{
    const struct venue_status *now = &account->status, *before = &account->reported;
    if (account->destroyed)
        return;
    refresh(account);
    bool same = now->link == before->link && now->attempts == before->attempts &&
                strcmp(now->detail, before->detail) == 0;
    account->reported = *now;
    if (!same)
        account->handler->state(account->user, now);
}

/* ---- The loop. ---- */

static void on_timer(uv_timer_t *timer)
{
    struct binance_account *account = timer->data;
    int64_t now = clock_now_ms();
    uv_timer_stop(timer);
    binance_requests_deliver(account);
    if (account->destroyed)
        return;
    int64_t wake_ms = binance_user_stream_drive(&account->stream, now);
    int64_t at_ms = account->destroyed ? INT64_MAX : binance_requests_expire(account, now);
    binance_account_notify(account);
    wake_ms = at_ms < wake_ms ? at_ms : wake_ms;
    if (account->destroyed || uv_is_active((uv_handle_t *)timer) || wake_ms == INT64_MAX)
        return;
    uv_update_time(timer->loop);
    now = clock_now_ms();
    uv_timer_start(timer, on_timer, wake_ms > now ? (uint64_t)(wake_ms - now) : 0, 0);
}

void binance_account_wake(struct binance_account *account)
{
    if (account->destroyed)
        return;
    uv_update_time(account->timer.loop);
    uv_timer_start(&account->timer, on_timer, 0, 0);
}

void binance_account_hold(struct binance_account *account, int64_t until_ms, const char *why)
{
    if (until_ms > account->hold_ms) {
        account->hold_ms = until_ms;
        snprintf(account->hold_why, sizeof(account->hold_why), "%s", why);
    }
    net_link_hold(&account->stream.link, until_ms);
}

void binance_account_report_bad_timestamp(struct binance_account *account)
{
    if (account->bad_timestamp && !account->destroyed)
        account->bad_timestamp(account->user);
}

void binance_account_report_ban(struct binance_account *account, int64_t until_ms, const char *why)
{
    if (account->ban.reported && !account->destroyed)
        account->ban.reported(account->ban.user, clock_wall_of_ms(until_ms), why);
}

/* ---- Its life. ---- */

static void free_account(struct binance_account *account)
{
    binance_requests_free(account);
    binance_user_stream_finish(&account->stream);
    binance_signer_destroy(account->signer);
    free(account->rest_base);
    free(account);
}

static void on_timer_closed(uv_handle_t *handle)
{
    free_account(handle->data);
}

static void account_destroy(struct venue_account *venue)
{
    struct binance_account *account = (struct binance_account *)venue;
    if (!account || account->destroyed)
        return;
    account->destroyed = true;
    binance_requests_free(account);
    binance_user_stream_close(&account->stream);
    uv_close((uv_handle_t *)&account->timer, on_timer_closed);
}

static char *base_of(const char *url)
{
    struct text text = {0};
    text_base(&text, url);
    return text_take(&text);
}

static bool take_settings(struct binance_account *account, const struct venue_account_config *config)
{
    for (size_t i = 0; i < config->n_settings; i++) {
        const struct venue_setting *setting = &config->settings[i];
        if (strcmp(setting->name, "orders") != 0)
            continue; /* of the streams */
        account->by_websocket = strcmp(setting->value, "websocket") == 0;
        if (!account->by_websocket && strcmp(setting->value, "rest") != 0)
            return false;
    }
    return true;
}

static int take_config(struct binance_account *account, const struct venue_account_config *config)
{
    const char *rest_url, *ws_url;
    int r = venue_account_urls(&binance_accounts, config, &rest_url, &ws_url);
    if (r == 0 && !take_settings(account, config))
        r = -EINVAL;
    if (r == 0)
        r = binance_signer_create(&config->keys, &account->signer);
    if (r < 0)
        return r;
    account->net = config->net;
    account->symbols = (struct venue_symbols){config->symbols, config->n_symbols};
    account->venue_ns = config->venue_ns;
    account->bad_timestamp = config->bad_timestamp;
    account->timeout_ms = config->timeout_ms > 0 ? config->timeout_ms : VENUE_TIMEOUT_MS;
    account->ban = config->ban;
    account->rest_base = base_of(rest_url);
    if (!account->rest_base)
        return -ENOMEM;
    net_backoff_init(&account->backoff, UNSENT_MIN_MS, UNSENT_MAX_MS, config->jitter_seed);
    return binance_user_stream_init(&account->stream, account, ws_url, config->jitter_seed);
}

static int account_create(const struct venue_account_config *config,
                          const struct venue_account_handler *handler, void *user, struct venue_account **ret)
{
    struct binance_account *account = calloc(1, sizeof(*account));
    if (!account)
        return -ENOMEM;
    account->handler = handler;
    account->user = user;
    int r = take_config(account, config);
    if (r == 0)
        r = uv_timer_init(net_context_loop(config->net), &account->timer) < 0 ? -ENOMEM : 0;
    if (r < 0) {
        free_account(account);
        return r;
    }
    account->timer.data = account;
    account->status.connections = 1;
    account->status.since_ms = clock_now_ms();
    account->status.budget = account->stream.budget.limit;
    if (config->ban.until_ns > clock_wall_ns()) {
        binance_account_hold(account, clock_ms_of_wall(config->ban.until_ns), BINANCE_BANNED_BEFORE);
        snprintf(account->status.detail, sizeof(account->status.detail), BINANCE_BANNED_BEFORE);
    }
    account->reported = account->status;
    binance_account_wake(account);
    *ret = (struct venue_account *)account;
    return 0;
}

static void account_hold(struct venue_account *venue, int64_t until_ns, const char *why)
{
    struct binance_account *account = (struct binance_account *)venue;
    binance_account_hold(account, clock_ms_of_wall(until_ns), why);
    binance_account_wake(account);
}

static const struct venue_status *account_status(const struct venue_account *venue)
{
    return &((const struct binance_account *)venue)->status;
}

/* ---- Requests. ---- */

static bool has_symbol(const struct binance_account *account, int symbol)
{
    return symbol >= 0 && (size_t)symbol < account->symbols.n && account->symbols.list[symbol].name[0];
}

/* With the symbol and the client id that it is about; an answer is prepared where there are none. */
static struct binance_request *request_of(struct binance_account *account, enum binance_call_kind kind,
                                          int symbol, const char *client_id, venue_answer_done *done,
                                          void *user)
{
    struct binance_request *request = binance_request_new(account, kind, done, user);
    if (!request)
        return NULL;
    if (!has_symbol(account, symbol))
        binance_request_answer(request, VENUE_REFUSED, 0, "the account has no such symbol");
    else if (!*client_id || strlen(client_id) >= sizeof(request->client_id))
        binance_request_answer(request, VENUE_REFUSED, 0, "a client id has 1 to 36 characters");
    else {
        request->symbol = &account->symbols.list[symbol];
        strcpy(request->client_id, client_id);
    }
    return request;
}

static int account_place(struct venue_account *venue, const struct order *order, const char *client_id,
                         venue_answer_done *done, void *user)
{
    struct binance_account *account = (struct binance_account *)venue;
    struct binance_request *request =
        request_of(account, BINANCE_PLACE, order->symbol, client_id, done, user);
    if (!request)
        return -ENOMEM;
    if (request->ready)
        return 0;
    const char *why = binance_parameters_of_order(&request->params, request->symbol, order, client_id);
    if (why) {
        binance_request_answer(request, VENUE_REFUSED, 0, why);
        return 0;
    }
    return binance_request_send(request);
}

static int by_client_id(struct venue_account *venue, enum binance_call_kind kind, int symbol,
                        const char *client_id, venue_answer_done *done, void *user)
{
    struct binance_request *request =
        request_of((struct binance_account *)venue, kind, symbol, client_id, done, user);
    if (!request)
        return -ENOMEM;
    if (request->ready)
        return 0;
    binance_parameter_add(&request->params, "symbol", request->symbol->name);
    binance_parameter_add(&request->params, "origClientOrderId", client_id);
    return binance_request_send(request);
}

static int account_cancel(struct venue_account *venue, int symbol, const char *client_id,
                          venue_answer_done *done, void *user)
{
    return by_client_id(venue, BINANCE_CANCEL, symbol, client_id, done, user);
}

static int account_query(struct venue_account *venue, int symbol, const char *client_id,
                         venue_answer_done *done, void *user)
{
    return by_client_id(venue, BINANCE_QUERY, symbol, client_id, done, user);
}

static int account_open(struct venue_account *venue, venue_answer_done *done, void *user)
{
    struct binance_request *request =
        binance_request_new((struct binance_account *)venue, BINANCE_OPEN, done, user);
    return request ? binance_request_send(request) : -ENOMEM;
}

static int account_fills(struct venue_account *venue, int symbol, const char *order_id,
                         venue_answer_done *done, void *user)
{
    struct binance_account *account = (struct binance_account *)venue;
    struct binance_request *request = binance_request_new(account, BINANCE_FILLS, done, user);
    if (!request)
        return -ENOMEM;
    if (!has_symbol(account, symbol) || !*order_id || strlen(order_id) >= sizeof(request->order_id)) {
        binance_request_answer(request, VENUE_REFUSED, 0, "the account has no such symbol or order");
        return 0;
    }
    request->symbol = &account->symbols.list[symbol];
    strcpy(request->order_id, order_id);
    binance_parameter_add(&request->params, "symbol", request->symbol->name);
    binance_parameter_add(&request->params, "orderId", order_id);
    binance_parameter_add_int(&request->params, "limit", BINANCE_TRADES_PAGE);
    return binance_request_send(request);
}

static int account_balances(struct venue_account *venue, venue_answer_done *done, void *user)
{
    struct binance_request *request =
        binance_request_new((struct binance_account *)venue, BINANCE_BALANCES, done, user);
    if (!request)
        return -ENOMEM;
    binance_parameter_add(&request->params, "omitZeroBalances", "true");
    return binance_request_send(request);
}

static const char *const paper_hosts[] = {
    "testnet.binance.vision",
    "ws-api.testnet.binance.vision",
    "demo-api.binance.com",
    "demo-ws-api.binance.com",
    NULL,
};

const struct venue_accounts binance_accounts = {
    .paper_hosts = paper_hosts,
    .rest_url = "https://testnet.binance.vision",
    .ws_url = "wss://ws-api.testnet.binance.vision",
    .types = ORDER_SET(ORDER_MARKET) | ORDER_SET(ORDER_LIMIT) | ORDER_SET(ORDER_STOP) |
             ORDER_SET(ORDER_STOP_LIMIT) | ORDER_SET(ORDER_TAKE_PROFIT) | ORDER_SET(ORDER_TAKE_PROFIT_LIMIT),
    .tifs = ORDER_SET(ORDER_GTC) | ORDER_SET(ORDER_IOC) | ORDER_SET(ORDER_FOK),
    .create = account_create,
    .destroy = account_destroy,
    .hold = account_hold,
    .status = account_status,
    .place = account_place,
    .cancel = account_cancel,
    .query = account_query,
    .open = account_open,
    .fills = account_fills,
    .balances = account_balances,
};
