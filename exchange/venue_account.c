#include "exchange/venue_account.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "exchange/fail.h"
#include "exchange/net/url.h"
#ifndef PRODUCTION_HOSTS /* of a test */
#include "exchange/production_hosts.h"
#endif

const char *venue_outcome_name(enum venue_outcome outcome)
{
    static const char *const names[VENUE_OUTCOMES] = {
        [VENUE_DONE] = "done",         [VENUE_REFUSED] = "refused",
        [VENUE_NOT_SENT] = "not sent", [VENUE_EXISTS] = "exists",
        [VENUE_ABSENT] = "absent",     [VENUE_UNKNOWN] = "unknown",
        [VENUE_DENIED] = "denied",     [VENUE_BAD_TIMESTAMP] = "bad timestamp",
    };
    return names[outcome];
}

bool venue_host_listed(const char *list, const char *host)
{
    static const char between[] = ", \t";
    size_t len = strlen(host);
    for (const char *p = list + strspn(list, between); *p; p += strspn(p, between)) {
        size_t n = strcspn(p, between);
        if (n == len && strncasecmp(p, host, len) == 0)
            return true;
        p += n;
    }
    return false;
}

bool venue_host_is_loopback(const char *host)
{
    struct in_addr address;
    if (strcasecmp(host, "localhost") == 0)
        return true;
    return inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

int venue_account_host(const struct venue_accounts *accounts, const char *text, char *why, size_t why_size)
{
    struct url url;
    if (net_url_parse(text, &url) < 0)
        return fail_line(-EPERM, why, why_size, NULL,
                         "%s is no URL of a host: https://HOST[:PORT] is right, or wss://", text);
    if (venue_host_is_loopback(url.host) || venue_host_listed(PRODUCTION_HOSTS, url.host))
        return 0;
    for (const char *const *paper = accounts->paper_hosts; *paper; paper++)
        if (strcasecmp(*paper, url.host) == 0)
            return 0;
    return fail_line(-EPERM, why, why_size, NULL,
                     "%s is no host of paper accounts, and this build sends no orders elsewhere: %s is one",
                     url.host, accounts->paper_hosts[0] ? accounts->paper_hosts[0] : "127.0.0.1");
}

static int check_url(const struct venue_accounts *accounts, const char *text, const char *scheme)
{
    struct url url;
    char why[VENUE_DETAIL_MAX];
    if (net_url_parse_as(text, scheme, &url) < 0 || url.path[1])
        return -EINVAL;
    return venue_account_host(accounts, text, why, sizeof(why));
}

int venue_account_urls(const struct venue_accounts *accounts, const struct venue_account_config *config,
                       const char **ret_rest_url, const char **ret_ws_url)
{
    *ret_rest_url = config->rest_url ? config->rest_url : accounts->rest_url;
    *ret_ws_url = config->ws_url ? config->ws_url : accounts->ws_url;
    int r = check_url(accounts, *ret_rest_url, "https");
    return r < 0 ? r : check_url(accounts, *ret_ws_url, "wss");
}

const struct symbol *venue_symbols_find(const struct venue_symbols *symbols, struct json_text name)
{
    for (size_t i = 0; name.len > 0 && i < symbols->n; i++)
        if (json_text_is(name, symbols->list[i].name))
            return &symbols->list[i];
    return NULL;
}

int venue_asset_scale(const struct venue_symbols *symbols, const char *asset)
{
    int scale = -1;
    for (size_t i = 0; i < symbols->n; i++) {
        const struct symbol *symbol = &symbols->list[i];
        if (!symbol->name[0])
            continue;
        if (strcmp(symbol->base, asset) == 0 && symbol->qty_scale > scale)
            scale = symbol->qty_scale;
        if (strcmp(symbol->quote, asset) == 0 && symbol->quote_scale > scale)
            scale = symbol->quote_scale;
    }
    return scale;
}

void venue_lists_free(struct venue_lists *lists)
{
    free(lists->orders);
    free(lists->fills);
    free(lists->balances);
    *lists = (struct venue_lists){0};
}

void venue_lists_push(const struct venue_lists *lists, const struct venue_account_handler *handler,
                      void *user, const bool *ended)
{
    for (size_t i = 0; i < lists->n_fills && !*ended; i++)
        handler->fill(user, &lists->fills[i]);
    for (size_t i = 0; i < lists->n_orders && !*ended; i++)
        handler->order(user, &lists->orders[i]);
    if (lists->n_balances > 0 && !*ended)
        handler->balances(user, lists->balances, lists->n_balances);
}

/* Room for one more behind the n of *list. */
static void *one_more(void *list, size_t n, size_t size)
{
    void **at = list;
    if (n == 0 || (n & (n - 1)) == 0) { /* grows at powers of two */
        void *more = reallocarray(*at, n > 0 ? 2 * n : 1, size);
        if (!more)
            return NULL;
        *at = more;
    }
    return memset((char *)*at + n * size, 0, size);
}

struct venue_order *venue_lists_order(struct venue_lists *lists)
{
    return one_more(&lists->orders, lists->n_orders, sizeof(*lists->orders));
}

struct venue_fill *venue_lists_fill(struct venue_lists *lists)
{
    return one_more(&lists->fills, lists->n_fills, sizeof(*lists->fills));
}

struct venue_balance *venue_lists_balance(struct venue_lists *lists)
{
    return one_more(&lists->balances, lists->n_balances, sizeof(*lists->balances));
}
