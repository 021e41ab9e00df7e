/* Open alerts: counted, acknowledged, closed. */
#include "daemon/alerts.h"

#include <errno.h>
#include <string.h>

#include "tests/check.h"

static void test_event(void)
{
    struct alerts alerts = {.last_id = 6};
    struct alert out;
    const struct alert *alert = daemon_alerts_event(&alerts, 100, DB_WARNING, "left-out", "a bar");
    CHECK_INT((int64_t)alert->id, 7);
    CHECK(!alert->lasts);
    alert = daemon_alerts_event(&alerts, 200, DB_WARNING, "left-out", "a bar");
    CHECK_INT((int64_t)alert->id, 7);
    CHECK_INT(alert->count, 2);
    CHECK_INT(alert->ts_ns, 100);
    CHECK_INT(alert->last_ns, 200);
    CHECK_INT((int64_t)daemon_alerts_count(&alerts), 1);
    CHECK(!daemon_alerts_over(&alerts, "left-out", "", &out)); /* an event has no end */
    CHECK_INT(daemon_alerts_standing(&alerts, 7), ALERT_STANDING_OPEN);
    CHECK_INT(daemon_alerts_standing(&alerts, 8), ALERT_STANDING_NONE);
    CHECK_INT(daemon_alerts_standing(&alerts, 0), ALERT_STANDING_NONE);
    CHECK_INT(daemon_alerts_ack(&alerts, 7, 900, &out), 0);
    CHECK_INT(out.acked_ns, 900);
    CHECK_INT(out.last_ns, 200); /* acknowledging is no sight of it */
    CHECK_INT(daemon_alerts_ack(&alerts, 7, 901, &out), -ENOENT);
    CHECK_INT(daemon_alerts_standing(&alerts, 7), ALERT_STANDING_PAST);
    CHECK_INT((int64_t)daemon_alerts_event(&alerts, 300, DB_WARNING, "left-out", "a bar")->id, 8);
    daemon_alerts_finish(&alerts);
}

static void test_condition(void)
{
    struct alerts alerts = {0};
    struct alert out;
    struct db_alert row;
    daemon_alerts_condition(&alerts, 10, DB_WARNING, "feed", "binance: ", "binance: feed lost: reset");
    daemon_alerts_condition(&alerts, 11, DB_WARNING, "feed", "alpaca: ", "alpaca: feed lost: reset");
    const struct alert *alert =
        daemon_alerts_condition(&alerts, 20, DB_ERROR, "feed", "binance: ", "binance: feed lost: refused");
    CHECK_INT((int64_t)alert->id, 1);
    CHECK_INT(alert->count, 2);
    CHECK_INT(alert->severity, DB_ERROR);
    CHECK_STR(alert->text, "binance: feed lost: refused");
    CHECK_INT(daemon_alerts_ack(&alerts, 1, 25, &out), 0);
    CHECK_INT(out.last_ns, 20);
    CHECK_INT(daemon_alerts_standing(&alerts, 1), ALERT_STANDING_ACKED);
    CHECK_INT((int64_t)daemon_alerts_count(&alerts), 1);
    CHECK_INT(daemon_alerts_ack(&alerts, 1, 26, &out), -ENOENT);
    alert =
        daemon_alerts_condition(&alerts, 30, DB_WARNING, "feed", "binance: ", "binance: feed lost: again");
    CHECK_INT((int64_t)alert->id, 1); /* acknowledged and lasting, it is no other */
    CHECK_INT(alert->acked_ns, 25);
    CHECK(daemon_alerts_over(&alerts, "feed", "binance: ", &out));
    daemon_alert_row(&out, 40, &row);
    CHECK_INT(row.acked_ns, 25);
    CHECK_INT(daemon_alerts_standing(&alerts, 1), ALERT_STANDING_PAST);
    CHECK_INT(row.closed_ns, 40);
    CHECK_INT(row.last_ns, 30);
    CHECK(row.lasts);
    CHECK(!daemon_alerts_over(&alerts, "feed", "binance: ", &out));
    alert =
        daemon_alerts_condition(&alerts, 50, DB_WARNING, "feed", "binance: ", "binance: feed lost: reset");
    CHECK_INT((int64_t)alert->id, 3);
    CHECK(daemon_alerts_over(&alerts, "feed", "alpaca: ", &out));
    CHECK_INT((int64_t)out.id, 2);
    daemon_alerts_finish(&alerts);
}

static void see_last(void *ctx, const struct alert *alert)
{
    *(struct alert *)ctx = *alert;
}

/* One that becomes more severe is the same, and open again; less severe, it stays acknowledged. */
static void test_severity(void)
{
    struct alerts alerts = {0};
    struct alert out = {0};
    daemon_alerts_event(&alerts, 5, DB_ERROR, "left-out", "a bar");
    daemon_alerts_condition(&alerts, 10, DB_WARNING, "hot", "gpu", "gpu: 81");
    CHECK_INT(daemon_alerts_ack(&alerts, 2, 15, &out), 0);
    const struct alert *alert = daemon_alerts_condition(&alerts, 20, DB_ERROR, "hot", "gpu", "gpu: 86");
    CHECK_INT((int64_t)alert->id, 2);
    CHECK_INT(alert->severity, DB_ERROR);
    CHECK_INT(alert->acked_ns, 0);
    CHECK_INT(daemon_alerts_standing(&alerts, 2), ALERT_STANDING_OPEN);
    CHECK_INT(daemon_alerts_ack(&alerts, 2, 25, &out), 0);
    alert = daemon_alerts_condition(&alerts, 30, DB_WARNING, "hot", "gpu", "gpu: 82");
    CHECK_INT(alert->severity, DB_WARNING);
    CHECK_INT(alert->acked_ns, 25);
    alert = daemon_alerts_condition(&alerts, 40, DB_WARNING, "hot", "gpu", "gpu: 83");
    CHECK_INT(alert->acked_ns, 25);
    daemon_alerts_conditions(&alerts, see_last, &out); /* the event is none */
    CHECK_INT((int64_t)out.id, 2);
    CHECK_STR(out.text, "gpu: 83");
    daemon_alerts_finish(&alerts);
}

/* BTCUSD's is not BTCUSDT's. */
static void test_about(void)
{
    struct alerts alerts = {0};
    struct alert out;
    daemon_alerts_condition(&alerts, 1, DB_WARNING, "HALTED", "BTCUSDT", "BTCUSDT is halted");
    CHECK(!daemon_alerts_over(&alerts, "HALTED", "BTCUSD", &out));
    CHECK_INT(
        (int64_t)daemon_alerts_condition(&alerts, 1, DB_WARNING, "HALTED", "BTCUSD", "BTCUSD is halted")->id,
        2);
    CHECK(daemon_alerts_over(&alerts, "HALTED", "BTCUSDT", &out));
    CHECK_INT((int64_t)out.id, 1);
    CHECK(daemon_alerts_over(&alerts, "HALTED", "", &out));
    CHECK_INT((int64_t)out.id, 2);
    daemon_alerts_finish(&alerts);
}

static void test_text(void)
{
    struct alerts alerts = {0};
    char text[2 * DB_ALERT_TEXT_MAX];
    memset(text, 'x', sizeof text);
    text[512] = '\0';
    const struct alert *alert = daemon_alerts_event(&alerts, 1, DB_INFO, "a", text);
    CHECK_STR(alert->text, text); /* 512 bytes are whole */
    memset(text, 'x', sizeof text);
    text[600] = '\0';
    memcpy(text + 508, "\xe2\x82\xac", 3); /* a character across the cut, which leaves room for "…" */
    alert = daemon_alerts_event(&alerts, 1, DB_INFO, "a", text);
    CHECK_INT((int64_t)strlen(alert->text), 508 + 3);
    CHECK_STR(alert->text + 508, "\xe2\x80\xa6");
    alert = daemon_alerts_event(&alerts, 2, DB_INFO, "a", text); /* and it is the same one */
    CHECK_INT(alert->count, 2);
    CHECK(daemon_alerts_condition(&alerts, 3, DB_INFO, "b", text, text) != NULL);
    struct alert out;
    CHECK(daemon_alerts_over(&alerts, "b", text, &out));
    daemon_alerts_finish(&alerts);
}

static void test_unstored(void)
{
    struct alerts alerts = {0};
    for (uint64_t i = 1; i <= 4; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", (int)i);
        daemon_alerts_put(&alerts, daemon_alerts_event(&alerts, 1, DB_INFO, "n", text)->id,
                          i == 3 ? 40 : 10 * i);
    }
    daemon_alerts_put(&alerts, 77, 1000); /* one that was acknowledged meanwhile */
    const struct alert *alert = daemon_alerts_unstored(&alerts, NULL, 20);
    CHECK_INT((int64_t)alert->id, 4);
    alert = daemon_alerts_unstored(&alerts, alert, 20);
    CHECK_INT((int64_t)alert->id, 3);
    CHECK(!daemon_alerts_unstored(&alerts, alert, 20)); /* the first two are on the disk */
    CHECK(!daemon_alerts_unstored(&alerts, NULL, 40));
    CHECK_INT((int64_t)daemon_alerts_unstored(&alerts, NULL, 39)->id, 4);
    daemon_alerts_put(&alerts, 2, 50); /* it was counted */
    CHECK_INT((int64_t)daemon_alerts_unstored(&alerts, NULL, 40)->id, 2);
    daemon_alerts_finish(&alerts);
}

/* What a former run left is taken newest first; a full list lets the oldest event go before a condition. */
static void test_bounds(void)
{
    struct alerts alerts = {0};
    struct alert out;
    struct db_alert row = {.id = 2,
                           .ts_ns = 1,
                           .last_ns = 5,
                           .count = 4,
                           .severity = DB_ERROR,
                           .lasts = true,
                           .code = "storage",
                           .text = "full"};
    daemon_alerts_take(&alerts, &row);
    row.id = 1;
    row.lasts = false;
    daemon_alerts_take(&alerts, &row);
    CHECK_INT((int64_t)alerts.list[0].id, 1);
    CHECK_INT((int64_t)alerts.list[1].id, 2);
    CHECK_INT(alerts.list[1].last_ns, 5);
    alerts.last_id = 2;
    for (int i = 0; i < ALERTS_HELD_MAX; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", i);
        CHECK(daemon_alerts_event(&alerts, i, DB_INFO, "n", text) != NULL);
    }
    CHECK_INT((int64_t)alerts.n, ALERTS_HELD_MAX);
    CHECK_INT(daemon_alerts_ack(&alerts, 1, 9, &out), -ENOENT);
    CHECK(daemon_alerts_over(&alerts, "storage", "", &out));
    CHECK_INT((int64_t)out.id, 2);
    daemon_alerts_finish(&alerts);
}

int main(void)
{
    test_event();
    test_condition();
    test_severity();
    test_about();
    test_text();
    test_unstored();
    test_bounds();
    return check_done("daemon/alerts");
}
