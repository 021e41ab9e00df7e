#include "exchange/net/account.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/clock.h"
#include "exchange/net/secret.h"

/* Texts that a header and a JSON string take: printable ASCII. */
static bool is_key(const char *text)
{
    size_t len = 0;
    while (text && text[len] > ' ' && text[len] < 0x7f && text[len] != '"' && text[len] != '\\')
        len++;
    return len > 0 && len < ACCOUNT_KEY_MAX && text[len] == '\0';
}

static int take_keys(struct net_account *account, const struct venue_keys *keys)
{
    if (!is_key(keys->id) || !is_key(keys->secret))
        return -EINVAL;
    account->keys = net_secret_alloc(sizeof(*account->keys));
    if (!account->keys)
        return -ENOMEM;
    memcpy(account->keys->id, keys->id, strlen(keys->id) + 1);
    memcpy(account->keys->secret, keys->secret, strlen(keys->secret) + 1);
    account->headers[0] = (struct net_header){account->venue->id_header, account->keys->id};
    account->headers[1] = (struct net_header){account->venue->secret_header, account->keys->secret};
    return 0;
}

static void on_changed(void *user)
{
    struct net_account *account = user;
    account->handler->state(account->user, net_account_status((struct venue_account *)account));
}

static void on_opened(void *user)
{
    struct net_account *account = user;
    if (account->venue->opened)
        account->venue->opened(account);
    else
        net_connection_ready(&account->feed);
}

static bool on_message(void *user, const char *data, size_t len)
{
    struct net_account *account = user;
    return account->venue->message(account, data, len);
}

static void free_account(struct net_account *account)
{
    net_secret_free(account->keys);
    free(account);
}

static void on_closed(void *user)
{
    struct net_account *account = user;
    if (--account->open == 0)
        free_account(account);
}

int net_account_create(const struct account_venue *venue, const struct venue_account_config *config,
                       const struct venue_account_handler *handler, void *user, struct venue_account **ret)
{
    static const struct net_connection_handler feed_handler = {
        .changed = on_changed, .opened = on_opened, .message = on_message, .closed = on_closed};
    const char *rest_url, *ws_url;
    int r = venue_account_urls(venue->accounts, config, &rest_url, &ws_url);
    if (r < 0)
        return r;
    struct net_account *account = calloc(1, venue->size);
    if (!account)
        return -ENOMEM;
    account->venue = venue;
    account->handler = handler;
    account->user = user;
    const struct net_connection_config feed = {.net = config->net,
                                               .base = ws_url,
                                               .path = venue->path,
                                               .jitter_seed = config->jitter_seed,
                                               .ban = config->ban,
                                               .headers = account->headers,
                                               .n_headers = venue->opened ? 0 : ACCOUNT_HEADERS_MAX};
    r = take_keys(account, &config->keys);
    if (r == 0)
        r = net_connection_init(&account->feed, &feed, &feed_handler, account);
    if (r < 0) {
        free_account(account);
        return r;
    }
    net_account_calls_init(&account->calls, venue->calls, config, rest_url, on_closed, account);
    account->calls.headers = account->headers;
    account->calls.n_headers = ACCOUNT_HEADERS_MAX;
    account->open = 2;
    *ret = (struct venue_account *)account;
    return 0;
}

void net_account_destroy(struct venue_account *venue)
{
    struct net_account *account = net_account_of(venue);
    if (!account || account->feed.closed)
        return;
    net_account_calls_close(&account->calls);
    net_connection_close(&account->feed);
}

void net_account_hold(struct venue_account *venue, int64_t until_ns, const char *why)
{
    struct net_account *account = net_account_of(venue);
    int64_t until_ms = clock_ms_of_wall(until_ns);
    net_account_calls_hold(&account->calls, until_ms, why);
    net_connection_hold(&account->feed, until_ms, why);
}

const struct venue_status *net_account_status(struct venue_account *venue)
{
    struct net_account *account = net_account_of(venue);
    net_connection_status(&account->feed, &account->status);
    account->status.sent += account->calls.sent;
    return &account->status;
}

bool net_account_push(struct net_account *account, const struct venue_lists *lists)
{
    venue_lists_push(lists, account->handler, account->user, &account->feed.closed);
    return !account->feed.closed;
}

void net_account_fail(struct net_account *account, enum link_failure failure, const char *why)
{
    net_connection_say(&account->feed, "%s", why);
    net_connection_fail(&account->feed, failure, -1);
}
