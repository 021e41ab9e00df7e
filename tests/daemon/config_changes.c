/* What a reload takes over of a configuration, and what needs a restart. */
#include "daemon/config_changes.h"

#include "tests/daemon/config_text.h"

static struct daemon_config running, wanted, merged;
static struct daemon_config_changes changes;
static char why[CONFIG_ERROR_MAX];

static int compare_at(bool early, const char *was, const char *now)
{
    daemon_config_changes_finish(&changes);
    CHECK_INT(read_text(was, &running), 0);
    CHECK_INT(read_text(now, &wanted), 0);
    return daemon_config_changes_find(&running, &wanted, early, &merged, &changes, why);
}

static int compare(const char *was, const char *now)
{
    return compare_at(false, was, now);
}

static void changed(size_t i, const char *section, const char *key, const char *was, const char *now,
                    bool live)
{
    CHECK(i < changes.n);
    if (i >= changes.n)
        return;
    const struct daemon_config_change *change = &changes.list[i];
    CHECK_STR(change->section, section);
    CHECK_STR(change->key, key);
    CHECK_STR(change->was ? change->was : "-", was);
    CHECK_STR(change->now ? change->now : "-", now);
    CHECK(change->live == live);
}

/* What is merged is the running one with the live changes alone. */
static void merged_as(const char *text)
{
    struct daemon_config expected;
    CHECK_INT(read_text(text, &expected), 0);
    char *is = printed(&merged), *right = printed(&expected);
    CHECK_STR(is, right);
    free(is);
    free(right);
}

#define MARKET "[market]\nsymbols = BTCUSDT\n"

static void test_none(void)
{
    CHECK_INT(compare(MARKET, MARKET), 0);
    CHECK_INT(changes.n, 0);
    CHECK_INT(compare(MARKET "[risk]\ndaily_loss = 0.05\n", MARKET "# the default\n"), 0);
    CHECK_INT(changes.n, 0);
}

static void test_live(void)
{
    CHECK_INT(
        compare(MARKET "[risk]\ndaily_loss = 0.1\n[log]\nlevel = debug\n",
                "[market]\nsymbols = ETHUSDT BTCUSDT\nstreams = trade, depth\n[alerts]\nnew_best = off\n"
                "[risk]\ndaily_loss = 4%\n[indicators]\nspecs = sma:20\n"),
        0);
    CHECK_INT(changes.n, 6);
    changed(0, "market", "symbols", "BTCUSDT", "ETHUSDT, BTCUSDT", true);
    changed(1, "market", "streams", "trade, kline, bookTicker, depth, miniTicker", "trade, depth", true);
    changed(2, "risk", "daily_loss", "0.1", "0.04", true);
    CHECK_INT(merged.n_symbols, 2);
    CHECK_STR(merged.symbols[0], "ETHUSDT");
    CHECK(merged.risk.daily_loss == 0.04);
    CHECK_INT(merged.log_level, LOG_LEVEL_INFO);
    CHECK(!merged.alerts.new_best);
}

static void test_restart(void)
{
    CHECK_INT(compare(MARKET, MARKET "interval = 5m\n[risk]\npositions = 2\n[engine]\nlatency_ms = 7\n"), 0);
    CHECK_INT(changes.n, 3);
    changed(0, "market", "interval", "1m", "5m", false);
    CHECK_STR(changes.list[1].section, "engine");
    CHECK(!changes.list[1].live);
    changed(2, "risk", "positions", "0", "2", true);
    merged_as(MARKET "[risk]\npositions = 2\n");
}

/* A change that is right only together with one that needs a restart. */
static void test_contradiction(void)
{
    CHECK_INT(compare(MARKET, MARKET "streams = kline\n[engine]\nfill_model = bar\n"), -EINVAL);
    CHECK_STR(why, "[market] streams: orders are filled from bookTicker or depth: name one of them");
    CHECK_INT(changes.n, 0);
}

static void test_accounts(void)
{
    CHECK_INT(compare(MARKET "[account main]\nstrategy = sma-cross\nstrategy.fast = 5\n[account gone]\n",
                      MARKET
                      "[account main]\nstrategy = sma-cross\nstrategy.fast = 7\nrisk.daily_loss = 0.2\n"
                      "cash = 5\n[account new]\n"),
              0);
    CHECK_INT(changes.n, 5);
    changed(0, "account main", "cash", "10000", "5", false);
    changed(1, "account main", "risk.daily_loss", "", "0.2", true);
    changed(2, "account main", "strategy.fast", "5", "7", true);
    changed(3, "account new", "", "-", "", false);
    changed(4, "account gone", "", "", "-", false);
    merged_as(MARKET "[account main]\nstrategy = sma-cross\nstrategy.fast = 7\nrisk.daily_loss = 0.2\n"
                     "[account gone]\n");
}

/* The parameters of the new one, those too that the former one had alike. */
static void test_strategy(void)
{
    CHECK_INT(compare(MARKET "[account main]\nstrategy = sma-cross\nstrategy.fast = 7\nstrategy.slow = 90\n",
                      MARKET "[account main]\nstrategy = sma-cross-rsi\nstrategy.fast = 7\n"),
              0);
    merged_as(MARKET "[account main]\nstrategy = sma-cross-rsi\nstrategy.fast = 7\n");
    CHECK_INT(compare(MARKET "[account main]\nstrategy = sma-cross\nstrategy.fast = 7\n",
                      MARKET "[account main]\nstrategy = none\n"),
              0);
    merged_as(MARKET "[account main]\nstrategy = none\n");
    CHECK_INT(compare(MARKET "[account main]\nstrategy = none\n",
                      MARKET "[account main]\npolicy = a.safetensors\n"),
              0);
    for (size_t i = 0; i < changes.n; i++)
        CHECK(!changes.list[i].live);
}

static void test_venues(void)
{
    CHECK_INT(
        compare(
            MARKET "[venue alpaca]\nsymbols = AAPL\nkeys = one\n", MARKET
            "[venue alpaca]\nsymbols = AAPL MSFT\nstreams = trade, bookTicker\nkeys = two\nextended_hours = on\n"),
        0);
    CHECK_INT(changes.n, 4);
    changed(0, "venue alpaca", "symbols", "AAPL", "AAPL, MSFT", true);
    changed(1, "venue alpaca", "streams", "", "trade, bookTicker", true);
    changed(2, "venue alpaca", "keys", "one", "two", true);
    changed(3, "venue alpaca", "extended_hours", "off", "on", false);
    merged_as(MARKET "[venue alpaca]\nsymbols = AAPL MSFT\nstreams = trade, bookTicker\nkeys = two\n");
    CHECK_INT(compare(MARKET, "[market]\nvenue = alpaca\nsymbols = AAPL\n[venue alpaca]\nkeys = one\n"), 0);
    for (size_t i = 0; i < changes.n; i++)
        CHECK(!changes.list[i].live);
    merged_as(MARKET);
}

/* A venue more is streamed at once, where nothing of the start depends on it; one that is gone is until the
 * restart. */
static void test_more_venues(void)
{
    static const char more[] =
        "[venue alpaca]\nsymbols = AAPL MSFT\nstreams = trade, bookTicker\nkeys = one\n";
    char text[400];
    snprintf(text, sizeof text, MARKET "%s", more);
    CHECK_INT(compare(MARKET, text), 0);
    CHECK_INT(changes.n, 1);
    changed(0, "venue alpaca", "", "-", "", true);
    merged_as(text);
    CHECK_INT(merged.n_venues, 2);
    CHECK_INT(compare(text, MARKET), 0);
    changed(0, "venue alpaca", "", "", "-", false);
    merged_as(text);
    snprintf(text, sizeof text, MARKET "%sextended_hours = on\n", more);
    CHECK_INT(compare(MARKET, text), 0);
    changed(0, "venue alpaca", "", "-", "", false);
    merged_as(MARKET);
    snprintf(text, sizeof text, MARKET "[engine]\nclock = feed\n%s", more);
    CHECK_INT(compare(MARKET "[engine]\nclock = feed\n", text), 0);
    changed(0, "venue alpaca", "", "-", "", false);
}

/* Before a venue has answered: all but what the start used already. */
static void test_early(void)
{
    CHECK_INT(
        compare_at(true,
                   MARKET "[venue alpaca]\nsymbols = AAPL\nkeys = one\n[account gone]\n[events]\nlevel = 5\n",
                   "[market]\nvenue = alpaca\nsymbols = AAPL\ninterval = 5m\nrest_url = https://127.0.0.1:1\n"
                   "[venue alpaca]\nkeys = two\n[engine]\nlatency_ms = 7\nclock = feed\n[account new]\n"),
        0);
    merged_as("[market]\nvenue = alpaca\nsymbols = AAPL\ninterval = 5m\nrest_url = https://127.0.0.1:1\n"
              "[venue alpaca]\nkeys = two\n[engine]\nlatency_ms = 7\n[account new]\n[events]\nlevel = 5\n");
    size_t later = 0;
    for (size_t i = 0; i < changes.n; i++)
        if (!changes.list[i].live)
            CHECK_STR(changes.list[i].section, later++ == 0 ? "engine" : "events");
    CHECK_INT(later, 2);
    CHECK_INT(compare_at(true, MARKET "[account main]\n", MARKET "[account main]\npolicy = a.safetensors\n"),
              -EINVAL);
    CHECK_STR(why, "[account main] policy: another policy needs a restart");
    CHECK_INT(compare_at(true, MARKET "[account main]\n[account old]\npolicy = a.safetensors\n",
                         MARKET "[account main]\n"),
              -EINVAL);
    CHECK_STR(why, "[account old] policy: another policy needs a restart");
}

int main(void)
{
    test_none();
    test_live();
    test_restart();
    test_contradiction();
    test_accounts();
    test_strategy();
    test_venues();
    test_more_venues();
    test_early();
    daemon_config_changes_finish(&changes);
    return check_done("daemon/config_changes");
}
