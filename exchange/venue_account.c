#include "exchange/venue_account.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "exchange/fail.h"
#include "exchange/net/url.h"
#include "exchange/production_hosts.h" /* of the build */

const char *venue_outcome_name(enum venue_outcome outcome)
{
    static const char *const names[VENUE_OUTCOMES] = {
        [VENUE_DONE] = "done",     [VENUE_REFUSED] = "refused", [VENUE_NOT_SENT] = "not sent",
        [VENUE_EXISTS] = "exists", [VENUE_ABSENT] = "absent",   [VENUE_UNKNOWN] = "unknown",
        [VENUE_DENIED] = "denied",
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

/* As numbers in full: what a resolver makes of others is its own affair. */
static bool is_loopback(const char *host)
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
    if (is_loopback(url.host) || venue_host_listed(PRODUCTION_HOSTS, url.host))
        return 0;
    for (const char *const *paper = accounts->paper_hosts; *paper; paper++)
        if (strcasecmp(*paper, url.host) == 0)
            return 0;
    return fail_line(-EPERM, why, why_size, NULL,
                     "%s is no host of paper accounts, and this build sends no orders elsewhere: %s is one",
                     url.host, accounts->paper_hosts[0] ? accounts->paper_hosts[0] : "127.0.0.1");
}
