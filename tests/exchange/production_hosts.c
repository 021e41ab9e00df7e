/* A build with -Dproduction_hosts: venue_account.c is compiled again with two names, as that option writes
 * them. Orders may go to exactly these, and to no other host that the default build refuses. */
#include <errno.h>

#include "exchange/venue_account.h"
#include "exchange/venues.h"
#include "tests/check.h"

static const char *const paper_hosts[] = {"paper.example.com", NULL};
static const struct venue_accounts accounts = {
    .paper_hosts = paper_hosts, .rest_url = "https://paper.example.com", .ws_url = "wss://paper.example.com"};

static const char *const named[] = {
    "https://api.example.com",
    "https://API.Example.COM:8443",
    "wss://trade.example.com/ws?x=1",
};

static const char *const others[] = {
    "https://www.example.com",
    "https://example.com",
    "https://api.example.co",
    "https://api.example.com.",
    "https://api.example.com.example.org",
    "https://xapi.example.com",
    "https://api.example.com@example.org",
    "https://example.org/api.example.com",
    "https://example.org?api.example.com",
    "https://api.example.com,trade.example.com",
    "https://,",
    "http://api.example.com", /* not encrypted */
};

static void check(const struct venue_accounts *of, const char *url, int expected)
{
    char why[VENUE_DETAIL_MAX] = "";
    int r = venue_account_host(of, url, why, sizeof(why));
    if (r != expected)
        fprintf(stderr, "%s: %d, not %d\n", url, r, expected);
    CHECK_INT(r, expected);
    CHECK((r < 0) == (why[0] != '\0'));
}

int main(void)
{
    size_t n;
    const struct venue *const *venues = venues_known(&n);
    for (size_t i = 0; i < sizeof(named) / sizeof(*named); i++)
        check(&accounts, named[i], 0);
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        check(&accounts, others[i], -EPERM);
    check(&accounts, "https://paper.example.com", 0);
    check(&accounts, "wss://127.0.0.1:9443", 0);
    for (size_t i = 0; i < n; i++) {
        const struct venue_accounts *of = venues[i]->accounts;
        if (!of)
            continue;
        check(of, named[0], 0);
        check(of, of->rest_url, 0);
        check(of, venues[i]->ws_url, -EPERM); /* where its prices come from */
        check(of, others[0], -EPERM);
    }
    const struct venue_account_config config = {.rest_url = named[0], .ws_url = "wss://www.example.com"};
    const char *rest_url, *ws_url;
    CHECK_INT(venue_account_urls(&accounts, &config, &rest_url, &ws_url), -EPERM); /* both are checked */
    const struct venue_account_config both = {.rest_url = named[0], .ws_url = "wss://trade.example.com"};
    CHECK_INT(venue_account_urls(&accounts, &both, &rest_url, &ws_url), 0);
    CHECK_STR(rest_url, named[0]);
    return check_done("production_hosts");
}
