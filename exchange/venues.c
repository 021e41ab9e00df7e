#include "exchange/venues.h"

#include <string.h>
#include <strings.h>

#include "exchange/alpaca/format.h"
#include "exchange/binance/format.h"
#include "exchange/net/url.h"
#include "exchange/venue_account.h"

static const struct venue *const list[] = {&alpaca_venue, &binance_venue, &binance_us_venue};

const char *const venue_adjustment_names[VENUE_ADJUSTMENTS] = {"raw", "split", "dividend", "all"};

enum { VENUES = sizeof list / sizeof *list };

const struct venue *const *venues_known(size_t *ret_n)
{
    *ret_n = VENUES;
    return list;
}

const struct venue *venue_find(const char *name)
{
    for (size_t i = 0; i < VENUES; i++)
        if (strcmp(list[i]->format->name, name) == 0)
            return list[i];
    return NULL;
}

static bool is_of(const char *url, const char *host)
{
    struct url parsed;
    return net_url_parse(url, &parsed) == 0 && strcasecmp(parsed.host, host) == 0;
}

static bool is_among(const char *const *hosts, const char *host)
{
    for (; hosts && *hosts; hosts++)
        if (strcasecmp(*hosts, host) == 0)
            return true;
    return false;
}

const char *venue_host_kind(const char *url)
{
    struct url parsed;
    if (net_url_parse(url, &parsed) < 0)
        return "";
    if (venue_host_is_loopback(parsed.host))
        return "loopback";
    for (size_t i = 0; i < VENUES; i++) {
        const struct venue *venue = list[i];
        if (is_of(venue->ws_url, parsed.host) || is_of(venue->rest_url, parsed.host) ||
            is_among(venue->live_hosts, parsed.host))
            return "live";
        if (is_among(venue->test_hosts, parsed.host) ||
            (venue->accounts && is_among(venue->accounts->paper_hosts, parsed.host)))
            return "testnet";
    }
    return "";
}

const struct venue *venue_default(void)
{
    return &binance_venue;
}
