/* Where orders may be sent: paper hosts and loopback, in every spelling of a URL, and nothing else. */
#include "exchange/venue_account.h"

#include <errno.h>

#include "exchange/venues.h"
#include "tests/check.h"

static const char *const hosts[] = {"paper.example", "second-paper.example", NULL};
static const struct venue_accounts accounts = {.paper_hosts = hosts};

static const char *const allowed[] = {
    "https://paper.example",  "wss://paper.example:9443/path?x=1",
    "https://PAPER.Example/", "wss://second-paper.example",
    "https://127.0.0.1:8443", "wss://127.20.30.40",
    "https://localhost:1",    "https://LOCALHOST",
};

static const char *const refused[] = {
    "https://api.example", /* of production */
    "https://paper.example.org",
    "https://xpaper.example",
    "https://paper.exampl",
    "https://paper.example.", /* another name than the certificate's */
    "https://paper.example@api.example",
    "https://api.example/paper.example",
    "https://api.example?paper.example",
    "https://127.0.0.1.example.org",
    "https://127.1",      /* what a resolver makes of it */
    "https://2130706433", /* likewise */
    "https://0127.0.0.1",
    "https://128.0.0.1",
    "https://0.0.0.0",
    "https://[::1]",
    "https://localhost.example",
    "http://paper.example", /* not encrypted */
    "ws://127.0.0.1",
    "ftp://127.0.0.1",
    "paper.example",
    "https://",
    "https://paper.example:0",
    "https://paper.example:99999",
    "",
};

static void test_hosts(void)
{
    char why[VENUE_DETAIL_MAX];
    for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++) {
        strcpy(why, "untouched");
        if (venue_account_host(&accounts, allowed[i], why, sizeof(why)) != 0)
            fprintf(stderr, "%s: refused\n", allowed[i]);
        CHECK_INT(venue_account_host(&accounts, allowed[i], why, sizeof(why)), 0);
        CHECK_STR(why, "untouched");
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        why[0] = '\0';
        if (venue_account_host(&accounts, refused[i], why, sizeof(why)) != -EPERM)
            fprintf(stderr, "%s: allowed\n", refused[i]);
        CHECK_INT(venue_account_host(&accounts, refused[i], why, sizeof(why)), -EPERM);
        CHECK(why[0] && !strchr(why, '\n'));
    }
    CHECK_INT(venue_account_host(&accounts, "https://api\n.example", why, sizeof(why)), -EPERM);
    CHECK(!strchr(why, '\n'));
}

/* The lists of the venues themselves: no host that prices come from. */
static void test_venues(void)
{
    char why[VENUE_DETAIL_MAX];
    size_t n;
    const struct venue *const *known = venues_known(&n);
    for (size_t i = 0; i < n; i++) {
        const struct venue *venue = known[i];
        if (!venue->accounts)
            continue;
        const struct venue_accounts *of = venue->accounts;
        CHECK_INT(venue_account_host(of, of->rest_url, why, sizeof(why)), 0);
        CHECK_INT(venue_account_host(of, of->ws_url, why, sizeof(why)), 0);
        CHECK_INT(venue_account_host(of, venue->ws_url, why, sizeof(why)), -EPERM);
        CHECK(of->paper_hosts[0] != NULL);
    }
}

static void test_list(void)
{
    CHECK(!venue_host_listed("", "a"));
    CHECK(!venue_host_listed("", ""));
    CHECK(!venue_host_listed(",,", ""));
    CHECK(venue_host_listed("a", "a"));
    CHECK(venue_host_listed("api.example,Other.example", "OTHER.example"));
    CHECK(venue_host_listed(" api.example , other.example ", "other.example"));
    CHECK(!venue_host_listed("api.example,other.example", "example"));
    CHECK(!venue_host_listed("api.example,other.example", "api.example.org"));
    CHECK(!venue_host_listed("api.example,other.example", "api.example,other.example"));
}

static void test_names(void)
{
    for (int i = 0; i < VENUE_OUTCOMES; i++)
        CHECK(venue_outcome_name((enum venue_outcome)i)[0] != '\0');
}

int main(void)
{
    test_hosts();
    test_venues();
    test_list();
    test_names();
    return check_done("exchange venue_account");
}
