#include "exchange/alpaca/account/account.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/alpaca/account/feed.h"
#include "exchange/alpaca/account/operations.h"
#include "exchange/alpaca/rest.h"
#include "exchange/alpaca/settings.h"
#include "exchange/clock.h"
#include "exchange/net/secret.h"
#include "exchange/order_rules.h"

#define PAPER_HOST "paper-api.alpaca.markets"

enum {
    MINUTE_MS = 60000,
    CALLS_PERCENT = 80, /* of the limit: other programs may share the keys */
    KEY_MAX = 256,      /* with its NUL */
};

static const char *const paper_hosts[] = {PAPER_HOST, NULL};

/* Pages of their own: exchange/net/secret.h. */
struct paper_secrets {
    char id[KEY_MAX], secret[KEY_MAX];
};

struct alpaca_account {
    const struct venue_account_handler *handler;
    void *user;
    struct paper_secrets *secrets;
    struct paper_requests requests;
    struct paper_feed feed;
    int open; /* handles that are not closed yet */
    bool destroyed;
};

static struct alpaca_account *of(struct venue_account *account)
{
    return (struct alpaca_account *)account;
}

static void on_changed(void *user)
{
    struct alpaca_account *account = user;
    account->handler->state(account->user, net_connection_status(&account->feed.connection));
}

static bool on_update(void *user, const struct alpaca_trading *update)
{
    struct alpaca_account *account = user;
    struct venue_order order;
    struct venue_fill fill;
    bool filled;
    if (!alpaca_account_update(&account->requests.symbols, update, &order, &filled, &fill))
        return false;
    if (filled)
        account->handler->fill(account->user, &fill);
    if (!account->destroyed)
        account->handler->order(account->user, &order);
    return true;
}

static void free_account(struct alpaca_account *account)
{
    net_secret_free(account->secrets);
    free(account->requests.base);
    free(account);
}

static void on_closed(void *user)
{
    struct alpaca_account *account = user;
    if (--account->open == 0)
        free_account(account);
}

static void on_timer_closed(uv_handle_t *handle)
{
    const struct paper_requests *requests = handle->data;
    on_closed((char *)(uintptr_t)requests - offsetof(struct alpaca_account, requests));
}

/* Texts that a header takes. */
static bool is_key(const char *text)
{
    size_t len = text ? strlen(text) : 0;
    return len > 0 && len < KEY_MAX && strcspn(text, " \t\r\n\"\\") == len;
}

static int take_keys(struct alpaca_account *account, const struct venue_keys *keys)
{
    if (!is_key(keys->id) || !is_key(keys->secret))
        return -EINVAL;
    account->secrets = net_secret_alloc(sizeof(*account->secrets));
    if (!account->secrets)
        return -ENOMEM;
    memcpy(account->secrets->id, keys->id, strlen(keys->id) + 1);
    memcpy(account->secrets->secret, keys->secret, strlen(keys->secret) + 1);
    account->requests.headers[0] = (struct net_header){"APCA-API-KEY-ID", account->secrets->id};
    account->requests.headers[1] = (struct net_header){"APCA-API-SECRET-KEY", account->secrets->secret};
    return 0;
}

static int init_requests(struct paper_requests *requests, const struct venue_account_config *config,
                         const char *rest_url)
{
    struct text base = {0};
    text_base(&base, rest_url);
    requests->base = text_take(&base);
    if (!requests->base)
        return -ENOMEM;
    requests->net = config->net;
    requests->symbols = (struct venue_symbols){config->symbols, config->n_symbols};
    requests->timeout_ms = config->timeout_ms > 0 ? config->timeout_ms : VENUE_TIMEOUT_MS;
    requests->ban = config->ban;
    requests->timer.data = requests;
    net_budget_init(&requests->budget, ALPACA_CALLS_PER_MINUTE * CALLS_PERCENT / 100, MINUTE_MS);
    return 0;
}

static void account_hold(struct venue_account *venue, int64_t until_ns, const char *why)
{
    struct alpaca_account *account = of(venue);
    int64_t until_ms = clock_ms_of_wall(until_ns);
    alpaca_requests_hold(&account->requests, until_ms, why);
    net_connection_hold(&account->feed.connection, until_ms, why);
}

static int account_create(const struct venue_account_config *config,
                          const struct venue_account_handler *handler, void *user, struct venue_account **ret)
{
    const char *rest_url, *ws_url;
    int r = venue_account_urls(&alpaca_accounts, config, &rest_url, &ws_url);
    if (r < 0)
        return r;
    struct alpaca_account *account = calloc(1, sizeof(*account));
    if (!account)
        return -ENOMEM;
    account->handler = handler;
    account->user = user;
    r = take_keys(account, &config->keys);
    if (r == 0)
        r = init_requests(&account->requests, config, rest_url);
    const struct paper_feed_owner owner = {on_changed, on_update, on_closed, account};
    if (r == 0) {
        const struct venue_keys keys = {account->secrets->id, account->secrets->secret};
        r = alpaca_feed_init(&account->feed, &owner, config, ws_url, &keys);
    }
    if (r < 0) {
        free_account(account);
        return r;
    }
    uv_timer_init(net_context_loop(config->net), &account->requests.timer); /* it cannot fail */
    account->open = 2;
    if (config->ban.until_ns > clock_wall_ns())
        account_hold((struct venue_account *)account, config->ban.until_ns,
                     "the venue's limit, as known from before");
    *ret = (struct venue_account *)account;
    return 0;
}

static void account_destroy(struct venue_account *venue)
{
    struct alpaca_account *account = of(venue);
    if (!account || account->destroyed)
        return;
    account->destroyed = true;
    while (account->requests.calls)
        alpaca_account_call_destroy(account->requests.calls);
    uv_close((uv_handle_t *)&account->requests.timer, on_timer_closed);
    alpaca_feed_close(&account->feed);
}

static const struct venue_status *account_status(const struct venue_account *venue)
{
    return net_connection_status(&((const struct alpaca_account *)venue)->feed.connection);
}

static int account_place(struct venue_account *account, const struct order *order, const char *client_id,
                         venue_answer_done *done, void *user)
{
    return alpaca_ask_place(&of(account)->requests, order, client_id, done, user);
}

static int account_cancel(struct venue_account *account, int symbol, const char *client_id,
                          venue_answer_done *done, void *user)
{
    (void)symbol;
    return alpaca_ask_cancel(&of(account)->requests, client_id, done, user);
}

static int account_query(struct venue_account *account, int symbol, const char *client_id,
                         venue_answer_done *done, void *user)
{
    (void)symbol;
    return alpaca_ask_query(&of(account)->requests, client_id, done, user);
}

static int account_open(struct venue_account *account, venue_answer_done *done, void *user)
{
    return alpaca_ask_open(&of(account)->requests, done, user);
}

static int account_fills(struct venue_account *account, int symbol, const char *order_id,
                         venue_answer_done *done, void *user)
{
    return alpaca_ask_fills(&of(account)->requests, symbol, order_id, done, user);
}

static int account_balances(struct venue_account *account, venue_answer_done *done, void *user)
{
    return alpaca_ask_balances(&of(account)->requests, done, user);
}

const struct venue_accounts alpaca_accounts = {
    .paper_hosts = paper_hosts,
    .rest_url = ALPACA_TRADING_URL,
    .ws_url = "wss://" PAPER_HOST,
    .types = ORDER_SET(ORDER_MARKET) | ORDER_SET(ORDER_LIMIT) | ORDER_SET(ORDER_STOP) |
             ORDER_SET(ORDER_STOP_LIMIT),
    .tifs = ORDER_SET(ORDER_GTC) | ORDER_SET(ORDER_IOC) | ORDER_SET(ORDER_FOK) | ORDER_SET(ORDER_DAY) |
            ORDER_SET(ORDER_OPG) | ORDER_SET(ORDER_CLS),
    .id_for_life = true,
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
