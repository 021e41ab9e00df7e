/* Backoff, budget and URLs, with a simulated clock. */
#include <errno.h>

#include "exchange/net/backoff.h"
#include "exchange/net/budget.h"
#include "exchange/net/retry_after.h"
#include "exchange/net/url.h"
#include "tests/check.h"

static void test_backoff(void)
{
    struct backoff a, b;
    net_backoff_init(&a, 500, 60000, 7);
    net_backoff_init(&b, 500, 60000, 7);
    int64_t ceiling = 500, largest = 0;
    for (int i = 0; i < 200; i++) {
        ceiling = ceiling * 2 > 60000 ? 60000 : ceiling * 2;
        int64_t delay = net_backoff_next(&a);
        CHECK(delay >= 500 && delay <= ceiling);
        CHECK_INT(net_backoff_next(&b), delay);
        if (delay > largest)
            largest = delay;
    }
    CHECK(largest > 30000); /* it does grow: 190 draws below half would be a miracle */

    net_backoff_reset(&a);
    CHECK(net_backoff_next(&a) <= 1000);

    net_backoff_init(&a, 100, 100, 0);
    for (int i = 0; i < 5; i++)
        CHECK_INT(net_backoff_next(&a), 100);

    /* Spread over the whole range, not stuck at an end. */
    net_backoff_init(&a, 1, 1000, 1);
    int low = 0, high = 0;
    for (int i = 0; i < 1000; i++) {
        int64_t jitter = net_backoff_jitter(&a, 1000);
        CHECK(jitter >= 0 && jitter < 1000);
        low += jitter < 500;
        high += jitter >= 500;
    }
    CHECK(low > 400 && high > 400);
    CHECK_INT(net_backoff_jitter(&a, 0), 0);
    CHECK_INT(net_backoff_jitter(&a, -5), 0);

    net_backoff_init(&a, INT64_MAX / 2, INT64_MAX, 3);
    for (int i = 0; i < 10; i++)
        CHECK(net_backoff_next(&a) >= INT64_MAX / 2);
}

static void test_budget(void)
{
    struct budget budget;
    net_budget_init(&budget, 3, 1000);
    CHECK(net_budget_take(&budget, 0));
    CHECK(net_budget_take(&budget, 100));
    CHECK_INT(net_budget_next_ms(&budget, 150), 150);
    CHECK(net_budget_take(&budget, 200));
    CHECK(!net_budget_take(&budget, 300));
    CHECK_INT(net_budget_next_ms(&budget, 300), 1000);
    CHECK(!net_budget_take(&budget, 999));
    CHECK(net_budget_take(&budget, 1000));
    CHECK_INT(net_budget_next_ms(&budget, 1000), 1100);
    CHECK_INT(net_budget_used(&budget, 1000), 3);
    CHECK_INT(net_budget_used(&budget, 1100), 2);
    CHECK_INT(net_budget_used(&budget, 1999), 1);
    CHECK_INT(net_budget_used(&budget, 2000), 0);

    /* Whatever is tried, no window of 5 minutes holds more than the limit. */
    net_budget_init(&budget, 60, 300000);
    int64_t taken[1000];
    int n = 0;
    for (int64_t now = 0; now < 3000000 && n < 1000; now += 137)
        if (net_budget_take(&budget, now))
            taken[n++] = now;
    CHECK_INT(n, 600);
    for (int i = 60; i < n; i++)
        CHECK(taken[i] - taken[i - 60] >= 300000);

    net_budget_init(&budget, 100000, 10);
    CHECK_INT(budget.limit, BUDGET_ATTEMPTS_MAX);
    net_budget_init(&budget, 0, 10);
    CHECK(net_budget_take(&budget, 0));
    CHECK(!net_budget_take(&budget, 0));
}

static void test_url(void)
{
    struct url url;
    CHECK_INT(net_url_parse("wss://data-stream.binance.vision:9443/stream?streams=a@trade/b@depth", &url), 0);
    CHECK_STR(url.scheme, "wss");
    CHECK_STR(url.host, "data-stream.binance.vision");
    CHECK_INT(url.port, 9443);
    CHECK_STR(url.path, "/stream?streams=a@trade/b@depth");
    CHECK_INT(net_url_parse("https://127.0.0.1", &url), 0);
    CHECK_STR(url.host, "127.0.0.1");
    CHECK_INT(url.port, 443);
    CHECK_STR(url.path, "/");
    CHECK_INT(net_url_parse("ws://h/", &url), -EPROTONOSUPPORT);
    CHECK_INT(net_url_parse("http://h/", &url), -EPROTONOSUPPORT);
    CHECK_INT(net_url_parse_as("https://h/", "wss", &url), -EPROTONOSUPPORT);
    CHECK_INT(net_url_parse_as("https:///", "https", &url), -EINVAL);
    CHECK_STR(url.host, "127.0.0.1"); /* untouched */
    static const char *const bad[] = {"",
                                      "wss",
                                      "wss://",
                                      "wss:///path",
                                      "wss://h:0/",
                                      "wss://h:65536/",
                                      "wss://h:/",
                                      "wss://h:12x/",
                                      "wss://h:-1/",
                                      "wss://[::1]/",
                                      "wss://::1/",
                                      "wss://user@h/",
                                      "wss://h?query",
                                      "wss://h/a b",
                                      "wss://h/a\r\nX: y",
                                      "wss://h/\xc3\xa4"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        CHECK_INT(net_url_parse(bad[i], &url), -EINVAL);
    char name[300] = "wss://";
    memset(name + 6, 'a', URL_HOST_MAX);
    CHECK_INT(net_url_parse(name, &url), -EINVAL);
    name[6 + URL_HOST_MAX - 1] = '\0';
    CHECK_INT(net_url_parse(name, &url), 0);
    CHECK_INT(net_url_parse_as("https://h/p", "https", &url), 0);
    CHECK_STR(url.path, "/p");
}

static void test_retry_after(void)
{
    static const struct {
        const char *value;
        int64_t ms;
    } cases[] = {
        {"0", 0},
        {"11", 11000},
        {" 120 ", 120000},
        {"2147483647", 2147483647000},
        {"2147483648", -1},
        {"99999999999999999999999", -1},
        {"-5", -1},
        {"soon", -1},
        {"", -1},
        {"7s", -1},
        {"1.5", -1},
        {"Mon, 11 Oct 2021 11:48:31 GMT", 31000},
        {"Mon, 11 Oct 2021 11:48:00 GMT", -1},
        {"Mon, 11 Oct 2010 11:48:00 GMT", -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        CHECK_INT(net_retry_after_ms(cases[i].value, "Mon, 11 Oct 2021 11:48:00 GMT", 0), cases[i].ms);
    const char *until = "Mon, 11 Oct 2021 11:48:31 GMT"; /* by our clock: */
    CHECK_INT(net_retry_after_ms(until, NULL, 1633952911), -1);
    CHECK_INT(net_retry_after_ms(until, NULL, 1633952910), 1000);
    CHECK_INT(net_retry_after_ms(until, "yesterday", 1633952900), 11000);
}

int main(void)
{
    test_backoff();
    test_budget();
    test_url();
    test_retry_after();
    return check_done("net pure");
}
