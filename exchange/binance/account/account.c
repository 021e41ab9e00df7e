#include "exchange/binance/account/account.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/binance/variant.h"
#include "exchange/clock.h"
#include "exchange/order_rules.h"

#define NS_PER_MS 1000000LL

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
    status->reconnects = stream->link.reconnects;
    status->attempts = stream->link.attempts;
    status->failures = stream->link.failures;
    status->sent = account->messages + account->calls.sent;
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
    net_account_calls_hold(&account->calls, until_ms, why);
    net_link_hold(&account->stream.link, until_ms);
}

void binance_account_report_bad_timestamp(struct binance_account *account)
{
    if (account->bad_timestamp && !account->destroyed)
        account->bad_timestamp(account->user);
}

void binance_account_report_ban(struct binance_account *account, int64_t until_ms, const char *why)
{
    const struct venue_ban *ban = &account->calls.ban;
    if (ban->reported && !account->destroyed)
        ban->reported(ban->user, clock_wall_of_ms(until_ms), why);
}

/* ---- Its life. ---- */

static void free_account(struct binance_account *account)
{
    binance_user_stream_finish(&account->stream);
    binance_signer_destroy(account->signer);
    free(account);
}

static void on_closed(void *user)
{
    struct binance_account *account = user;
    if (--account->open == 0)
        free_account(account);
}

static void on_timer_closed(uv_handle_t *handle)
{
    on_closed(handle->data);
}

static void account_destroy(struct venue_account *venue)
{
    struct binance_account *account = (struct binance_account *)venue;
    if (!account || account->destroyed)
        return;
    account->destroyed = true;
    net_account_calls_close(&account->calls);
    binance_user_stream_close(&account->stream);
    uv_close((uv_handle_t *)&account->timer, on_timer_closed);
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

static int account_create(const struct venue_account_config *config,
                          const struct venue_account_handler *handler, void *user, struct venue_account **ret)
{
    const char *rest_url, *ws_url;
    struct binance_account *account = calloc(1, sizeof(*account));
    if (!account)
        return -ENOMEM;
    account->handler = handler;
    account->user = user;
    account->venue_ns = config->venue_ns;
    account->bad_timestamp = config->bad_timestamp;
    int r = venue_account_urls(&binance_accounts, config, &rest_url, &ws_url);
    if (r == 0 && !take_settings(account, config))
        r = -EINVAL;
    if (r == 0)
        r = binance_signer_create(&config->keys, &account->signer);
    if (r == 0)
        r = binance_user_stream_init(&account->stream, account, ws_url, config->jitter_seed);
    if (r == 0)
        r = uv_timer_init(net_context_loop(config->net), &account->timer) < 0 ? -ENOMEM : 0;
    if (r < 0) {
        free_account(account);
        return r;
    }
    account->key = (struct net_header){"X-MBX-APIKEY", binance_signer_id(account->signer)};
    net_account_calls_init(&account->calls, &binance_account_calls, config, rest_url, on_closed, account);
    account->calls.headers = &account->key;
    account->calls.n_headers = 1;
    account->stream.timeout_ms = account->calls.timeout_ms;
    account->open = 2;
    account->timer.data = account;
    account->status.connections = 1;
    account->status.since_ms = clock_now_ms();
    account->status.budget = account->stream.budget.limit;
    if (config->ban.until_ns > clock_wall_ns()) {
        net_link_hold(&account->stream.link, account->calls.hold_ms);
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

static const struct venue_status *account_status(struct venue_account *venue)
{
    struct binance_account *account = (struct binance_account *)venue;
    refresh(account);
    return &account->status;
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
    NET_ACCOUNT_CALLS,
    .recent = net_account_recent,
};
