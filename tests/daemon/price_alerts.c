/* Random price alerts, trades, bars, splits and new names against a plain list that compares every alert with
 * every price, at 18 digits after the point; what is stored reads back the same; altered texts are refused.
 */
#include "daemon/price_alerts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"
#include "tests/check.h"
#include "tests/random.h"

enum { SYMBOLS = 6, STEPS = 20000, LONG_STEPS = 400000 };

static struct random rng;
static struct symbol symbols[SYMBOLS] = {
    {.name = "BTCUSDT", .price_scale = 2},  {.name = "ETHUSDT", .price_scale = 2},
    {.name = "DOGEUSDT", .price_scale = 5}, {.name = "AAPL", .price_scale = 4},
    {.name = "SHIBUSDT", .price_scale = 8}, {.name = "YENX", .price_scale = 0},
};

/* What is expected, oldest first. */
static struct expected {
    uint64_t id;
    int64_t created_ns;
    char symbol[SYMBOL_NAME_MAX];
    bool above;
    int128_t price; /* 18 digits after the point */
} list[PRICE_ALERTS_MAX];
static int n;
static uint64_t last;

static int128_t at_18(int64_t price, int scale)
{
    int128_t value = price;
    for (; scale < 18; scale++)
        value *= 10;
    return value;
}

static void take_out(int i)
{
    n--;
    memmove(&list[i], &list[i + 1], (size_t)(n - i) * sizeof *list);
}

static void add(struct price_alerts *alerts, int64_t now_ns)
{
    const struct symbol *symbol = &symbols[random_between(&rng, 0, SYMBOLS - 1)];
    struct price_alert alert = {.created_ns = now_ns,
                                .above = random_chance(&rng, 50),
                                .price = random_between(&rng, 1, 400),
                                .scale = symbol->price_scale};
    strcpy(alert.symbol, symbol->name);
    if (symbol->price_scale > 0 && random_chance(&rng, 20)) { /* as one stored at another scale */
        alert.scale--;
    } else if (random_chance(&rng, 20)) {
        alert.scale++;
        alert.price = 10 * alert.price + random_between(&rng, 0, 9);
    }
    uint64_t id = 0, same = 0;
    for (int i = 0; i < n; i++)
        if (strcmp(list[i].symbol, alert.symbol) == 0 && list[i].above == alert.above &&
            list[i].price == at_18(alert.price, alert.scale))
            same = list[i].id;
    int r = daemon_price_alerts_add(alerts, &alert, &id);
    CHECK_INT(r, same ? -EEXIST : n == PRICE_ALERTS_MAX ? -ENOSPC : 0);
    if (r == -EEXIST)
        CHECK_INT((long long)id, (long long)same);
    if (r < 0)
        return;
    CHECK_INT((long long)id, (long long)++last);
    list[n] = (struct expected){id, now_ns, "", alert.above, at_18(alert.price, alert.scale)};
    strcpy(list[n++].symbol, alert.symbol);
}

/* A trade, or a bar that opened at until_ns. */
static void trade(struct price_alerts *alerts, int index, int64_t low, int64_t high, int64_t until_ns)
{
    const struct symbol *symbol = &symbols[index];
    struct price_alert alert;
    bool any = false;
    for (int i = 0; i < n; i++) {
        bool reached = strcmp(list[i].symbol, symbol->name) == 0 &&
                       (list[i].above ? at_18(high, symbol->price_scale) >= list[i].price
                                      : at_18(low, symbol->price_scale) <= list[i].price);
        any |= reached;
        if (!reached || list[i].created_ns > until_ns)
            continue;
        CHECK(daemon_price_alerts_reached(alerts, index, symbol, low, high));
        CHECK(daemon_price_alerts_take(alerts, symbol, low, high, until_ns, &alert));
        CHECK_INT((long long)alert.id, (long long)list[i].id);
        take_out(i--);
    }
    CHECK(!daemon_price_alerts_take(alerts, symbol, low, high, until_ns, &alert));
    if (!any)
        CHECK(!daemon_price_alerts_reached(alerts, index, symbol, low, high));
}

static void remove_one(struct price_alerts *alerts)
{
    struct price_alert alert;
    uint64_t id = (uint64_t)random_between(&rng, 0, (int64_t)last + 2);
    int at = -1;
    for (int i = 0; i < n; i++)
        if (list[i].id == id)
            at = i;
    CHECK_INT(daemon_price_alerts_remove(alerts, id, &alert), at < 0 ? -ENOENT : 0);
    if (at >= 0)
        take_out(at);
}

static void rename_one(struct price_alerts *alerts, int index)
{
    char to[SYMBOL_NAME_MAX];
    bool any = false;
    snprintf(to, sizeof to, "S%lld", (long long)random_between(&rng, 0, 999999));
    for (int i = 0; i < n; i++)
        if (strcmp(list[i].symbol, symbols[index].name) == 0) {
            strcpy(list[i].symbol, to);
            any = true;
        }
    CHECK_INT(daemon_price_alerts_rename(alerts, symbols[index].name, to), any);
    strcpy(symbols[index].name, to);
}

static void check_list(const struct price_alerts *alerts)
{
    CHECK_INT(alerts->n, n);
    CHECK_INT((long long)alerts->last_id, (long long)last);
    for (int i = 0; i < n && i < alerts->n; i++) {
        CHECK_INT((long long)alerts->list[i].id, (long long)list[i].id);
        CHECK_INT((long long)alerts->list[i].created_ns, (long long)list[i].created_ns);
        CHECK_STR(alerts->list[i].symbol, list[i].symbol);
        CHECK_INT(alerts->list[i].above, list[i].above);
        CHECK(at_18(alerts->list[i].price, alerts->list[i].scale) == list[i].price);
    }
}

/* As a restart does. */
static void store(struct price_alerts *alerts)
{
    json_t *all = daemon_price_alerts_json(alerts);
    char *text = json_dumps(all, JSON_COMPACT);
    CHECK(strlen(text) < PRICE_ALERTS_BYTES_MAX);
    daemon_price_alerts_finish(alerts);
    CHECK_INT(daemon_price_alerts_read(alerts, text), 0);
    check_list(alerts);
    free(text);
    json_decref(all);
}

static void test_random(void)
{
    struct price_alerts alerts = {0};
    int steps = getenv("PAPERTAPE_LONG") ? LONG_STEPS : STEPS;
    for (int i = 0; i < steps; i++) {
        int index = (int)random_between(&rng, 0, SYMBOLS - 1), what = (int)random_between(&rng, 0, 99);
        int64_t price = random_between(&rng, 1, 400), now_ns = i;
        /* For a while nothing is reached, so that the list fills. */
        bool fills = i % 4000 < 1000;
        if (what < (fills ? 90 : 15))
            add(&alerts, now_ns);
        else if (what < 80)
            trade(&alerts, index, price, price, INT64_MAX);
        else if (what < 90)
            trade(&alerts, index, price, price + random_between(&rng, 0, 20),
                  now_ns - random_between(&rng, 0, 50));
        else if (what < 96)
            remove_one(&alerts);
        else if (what < 97)
            rename_one(&alerts, index);
        else
            store(&alerts);
    }
    check_list(&alerts);
    daemon_price_alerts_finish(&alerts);
}

static void test_full(void)
{
    struct price_alerts alerts = {0};
    struct price_alert alert = {.symbol = "ABCDEFGHIJKLMNOPQRSTUVW", .scale = 18, .created_ns = INT64_MAX};
    uint64_t id;
    for (int i = 0; i <= PRICE_ALERTS_MAX; i++) {
        alert.price = INT64_MAX - i;
        CHECK_INT(daemon_price_alerts_add(&alerts, &alert, &id), i < PRICE_ALERTS_MAX ? 0 : -ENOSPC);
    }
    json_t *all = daemon_price_alerts_json(&alerts);
    CHECK(json_dumpb(all, NULL, 0, JSON_COMPACT) < PRICE_ALERTS_BYTES_MAX);
    CHECK_INT(daemon_price_alerts_count(&alerts, alert.symbol), PRICE_ALERTS_MAX);
    CHECK_INT(daemon_price_alerts_count(&alerts, "BTCUSDT"), 0);
    json_decref(all);
    daemon_price_alerts_finish(&alerts);
}

/* The first one added and the last one removed; what they would reach follows. */
static void test_undo(void)
{
    const struct symbol symbol = {.name = "BTCUSDT", .price_scale = 2};
    struct price_alert alert = {.symbol = "BTCUSDT", .above = true, .price = 100, .scale = 2}, removed;
    struct price_alerts alerts = {0};
    const struct price_alerts none = alerts;
    uint64_t id;
    CHECK_INT(daemon_price_alerts_add(&alerts, &alert, &id), 0);
    CHECK(daemon_price_alerts_reached(&alerts, 0, &symbol, 100, 100));
    daemon_price_alerts_undo(&alerts, &none);
    CHECK(alerts.n == 0 && alerts.last_id == 0);
    CHECK(!daemon_price_alerts_reached(&alerts, 0, &symbol, 100, 100));
    CHECK_INT(daemon_price_alerts_add(&alerts, &alert, &id), 0);
    const struct price_alerts one = alerts;
    CHECK_INT(daemon_price_alerts_remove(&alerts, id, &removed), 0);
    CHECK(!daemon_price_alerts_reached(&alerts, 0, &symbol, 100, 100));
    daemon_price_alerts_undo(&alerts, &one);
    CHECK(daemon_price_alerts_find(&alerts, id) != NULL);
    CHECK(daemon_price_alerts_reached(&alerts, 0, &symbol, 100, 100));
    daemon_price_alerts_finish(&alerts);
}

static void test_split(void)
{
    static const struct {
        int64_t price, shares, per, then;
    } cases[] = {{2000000, 4, 1, 500000},
                 {2000000, 1, 10, 20000000},
                 {100, 3, 1, 33},
                 {101, 2, 1, 51},
                 {1, 1000, 1, 1},
                 {15, 3, 2, 10},
                 {INT64_MAX, 1, 2, INT64_MAX}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct price_alerts alerts = {0};
        struct price_alert alert = {.symbol = "AAPL", .above = true, .price = cases[i].price, .scale = 4};
        uint64_t id;
        CHECK_INT(daemon_price_alerts_add(&alerts, &alert, &id), 0);
        CHECK(!daemon_price_alerts_split(&alerts, "MSFT", cases[i].shares, cases[i].per));
        CHECK(daemon_price_alerts_split(&alerts, "AAPL", cases[i].shares, cases[i].per));
        CHECK_INT(alerts.list[0].price, cases[i].then);
        daemon_price_alerts_finish(&alerts);
    }
}

static void test_refused(void)
{
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        "{\"last\":1,\"alerts\":{}}",
        "{\"last\":1,\"alerts\":[{}]}",
        "{\"last\":0,\"alerts\":[{\"price_alert\":1,\"symbol\":\"A\",\"side\":\"above\",\"price\":\"1\"}]}",
        "{\"last\":1,\"alerts\":[{\"price_alert\":1,\"symbol\":\"A\",\"side\":\"up\",\"price\":\"1\"}]}",
        "{\"last\":1,\"alerts\":[{\"price_alert\":1,\"symbol\":\"A\",\"side\":\"above\",\"price\":\"0.0\"}]}",
        "{\"last\":1,\"alerts\":[{\"price_alert\":1,\"symbol\":\"A\",\"side\":\"above\",\"price\":\"-1\"}]}",
        "{\"last\":1,\"alerts\":[{\"price_alert\":1,\"symbol\":\"A\",\"side\":\"above\",\"price\":1}]}",
        "{\"last\":1,\"alerts\":[{\"price_alert\":1,\"symbol\":\"\",\"side\":\"above\",\"price\":\"1\"}]}",
        "{\"last\":1,\"alerts\":[{\"price_alert\":1,\"symbol\":\"ABCDEFGHIJKLMNOPQRSTUVWX\",\"side\":\"above\","
        "\"price\":\"1\"}]}",
        "{\"last\":2,\"alerts\":[{\"price_alert\":2,\"symbol\":\"A\",\"side\":\"above\",\"price\":\"1\"},"
        "{\"price_alert\":2,\"symbol\":\"B\",\"side\":\"below\",\"price\":\"1\"}]}",
    };
    struct price_alerts alerts = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CHECK_INT(daemon_price_alerts_read(&alerts, texts[i]), -EBADMSG);
        CHECK_INT(alerts.n, 0);
    }
    daemon_price_alerts_finish(&alerts);
}

int main(void)
{
    rng = random_seeded("daemon/price_alerts", 30);
    test_random();
    test_full();
    test_undo();
    test_split();
    test_refused();
    return check_done("daemon/price_alerts");
}
