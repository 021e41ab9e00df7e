/* Where orders may be sent: paper hosts and loopback, in every spelling of a URL, and nothing else. */
#include "exchange/venue_account.h"

#include <errno.h>

#include "exchange/net/url.h"
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

static void test_urls(void)
{
    const struct venue_accounts of = {
        .paper_hosts = hosts, .rest_url = "https://paper.example", .ws_url = "wss://second-paper.example"};
    static const struct {
        const char *rest_url, *ws_url;
        int r;
    } cases[] = {
        {NULL, NULL, 0},
        {"https://127.0.0.1:8443/", "wss://paper.example", 0},
        {"https://api.example", NULL, -EPERM},
        {NULL, "wss://api.example", -EPERM},
        {"https://paper.example/v2", NULL, -EINVAL}, /* the path is the venue's */
        {NULL, "wss://paper.example?x=1", -EINVAL},
        {"wss://paper.example", NULL, -EINVAL},
        {NULL, "https://paper.example", -EINVAL},
        {"", NULL, -EINVAL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct venue_account_config config = {.rest_url = cases[i].rest_url, .ws_url = cases[i].ws_url};
        const char *rest_url, *ws_url;
        CHECK_INT(venue_account_urls(&of, &config, &rest_url, &ws_url), cases[i].r);
        CHECK_STR(rest_url, cases[i].rest_url ? cases[i].rest_url : of.rest_url);
        CHECK_STR(ws_url, cases[i].ws_url ? cases[i].ws_url : of.ws_url);
    }
}

static void test_scales(void)
{
    static const struct symbol list[] = {
        {.name = "BTCUSD", .base = "BTC", .quote = "USD", .qty_scale = 5, .quote_scale = 8},
        {.name = "ETHBTC", .base = "ETH", .quote = "BTC", .qty_scale = 4, .quote_scale = 9},
        {.base = "ETH", .qty_scale = 9}, /* not there yet */
    };
    const struct venue_symbols symbols = {list, 3};
    CHECK_INT(venue_asset_scale(&symbols, "BTC"), 9); /* the finest, whichever symbol comes first */
    CHECK_INT(venue_asset_scale(&symbols, "ETH"), 4);
    CHECK_INT(venue_asset_scale(&symbols, "USD"), 8);
    CHECK_INT(venue_asset_scale(&symbols, "BNB"), -1);
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

/* What a host's data are; of one that no venue names nothing is said. */
static void test_kinds(void)
{
    size_t n;
    const struct venue *const *venues = venues_known(&n);
    for (size_t i = 0; i < n; i++) {
        CHECK_STR(venue_host_kind(venues[i]->ws_url), "live");
        CHECK_STR(venue_host_kind(venues[i]->rest_url), "live");
        for (const char *const *paper = venues[i]->accounts ? venues[i]->accounts->paper_hosts : NULL;
             paper && *paper; paper++) {
            char url[URL_HOST_MAX + 16];
            snprintf(url, sizeof(url), "https://%s", *paper);
            CHECK_STR(venue_host_kind(url), "testnet");
        }
    }
    CHECK_STR(venue_host_kind("wss://stream.binance.com:9443/ws"), "live");
    CHECK_STR(venue_host_kind("wss://stream.testnet.binance.vision"), "testnet");
    CHECK_STR(venue_host_kind("wss://stream.data.sandbox.alpaca.markets"), "testnet");
    CHECK_STR(venue_host_kind("wss://127.0.0.1:4443"), "loopback");
    CHECK_STR(venue_host_kind("wss://localhost"), "loopback");
    CHECK_STR(venue_host_kind("wss://stream.example:9443"), "");
    CHECK_STR(venue_host_kind("wss://127.0.0.1.example"), "");
    CHECK_STR(venue_host_kind(""), "");
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
    test_urls();
    test_scales();
    test_list();
    test_kinds();
    test_names();
    return check_done("exchange venue_account");
}
