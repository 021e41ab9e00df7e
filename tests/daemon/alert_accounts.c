/* The rules on accounts, by sequences of figures: refused orders within a minute, losses below their limits,
 * what is held and traded, the Sharpe ratio; and of the machine what a backup's outcome says, and the size of
 * the write-ahead log. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "daemon/alert_accounts.h"
#include "daemon/alert_machine.h"
#include "db/state.h"
#include "tests/check.h"
#include "tests/scratch.h"

#define S INT64_C(1000000000)

static const struct config_key keys[] = {
#define KEY_(type, member, name, kind, fallback, about, more) \
    {"alerts", name, about, fallback, kind, KEY_AT(struct alert_limits, member)},
    ALERT_KEYS(KEY_)
#undef KEY_
};

static char said[2048];

static void change(void *ctx, const struct alert_decision *decision)
{
    size_t n = strlen(said);
    (void)ctx;
    if (decision->change == ALERT_MOVED) /* alert_rules.c has those */
        return;
    snprintf(said + n, sizeof said - n, "%s%s\n", decision->change == ALERT_OVER ? "over: " : "",
             decision->text);
}

static uint64_t refused[ORDER_REASONS];
static struct account_seen seen = {
    .name = "main",
    .equity = 100,
    .peak = 100,
    .day_equity = 100,
    .refused = refused,
    .sharpe_p = NAN,
};

/* What changes at that second. */
static const char *look(struct alert_rules *rules, struct alert_account *kept, int64_t s)
{
    const struct alert_sink sink = {NULL, change};
    said[0] = '\0';
    seen.now_ns = 1000000 * S + s * S;
    daemon_alert_read_account(rules, kept, &seen, s * S, &sink);
    return said;
}

static void test_refused(struct alert_rules *rules)
{
    struct alert_account kept = {0};
    refused[ORDER_RISK_ORDER_RATE] = 500; /* before this run */
    CHECK_STR(look(rules, &kept, 0), "");
    refused[ORDER_RISK_ORDER_RATE] += 6;
    refused[ORDER_RISK_EXPOSURE] += 3;
    CHECK_STR(look(rules, &kept, 30), "");
    refused[ORDER_RISK_ORDER_RATE]++;
    char expected[128];
    snprintf(expected, sizeof expected,
             "orders refused: main: 10 within a minute, most %s, warning from 10\n",
             order_reason_name(ORDER_RISK_ORDER_RATE));
    CHECK_STR(look(rules, &kept, 50), expected);
    CHECK_STR(look(rules, &kept, 84), "");
    int64_t over = 85;
    while (over < 200 && !look(rules, &kept, over)[0])
        over++;
    CHECK(over >= 84 + 30 && over <= 95 + 30); /* the nine left the minute, and recovered_for has passed */
    CHECK_STR(said, "over: orders refused: main: 0 within a minute\n");
    CHECK_STR(look(rules, &kept, 10000), ""); /* a long time without a look */
    refused[ORDER_RISK_EXPOSURE] += 10;
    CHECK(strstr(look(rules, &kept, 10001), "orders refused: main: 10 within") != NULL);
}

static void test_losses(struct alert_rules *rules)
{
    struct alert_account kept = {0};
    seen.name = "hand";
    seen.drawdown_limit = 0.05;
    seen.daily_loss_limit = 0.08;
    seen.equity = 96.1;
    CHECK_STR(look(rules, &kept, 20000), "");
    seen.equity = 95.95;
    CHECK_STR(look(rules, &kept, 20001),
              "drawdown near its limit: hand: 81 % of it (4.05 % of 5 %), warning from 80 % of it\n");
    seen.equity = 93.5;
    CHECK_STR(look(rules, &kept, 20002),
              "daily loss near its limit: hand: 81.2 % of it (6.5 % of 8 %), warning from 80 % of it\n");
    seen.equity = 90;
    CHECK_STR(look(rules, &kept, 20003),
              "drawdown: hand: 10 % of the highest equity, warning from 10 %\n"
              "daily loss near its limit: hand: 125 % of it (10 % of 8 %), critical from 100 % of it\n");
    seen.equity = 100;
    CHECK(strstr(look(rules, &kept, 20004), "over: drawdown: hand: 0 %") != NULL);
    seen.drawdown_limit = seen.daily_loss_limit = 0;
    seen.equity = seen.day_equity = 92; /* without limits of its own */
    CHECK_STR(look(rules, &kept, 20005), "");
    seen.equity = seen.peak = seen.day_equity = 100;
}

static void test_held(struct alert_rules *rules)
{
    struct alert_account kept = {0};
    seen.name = "third";
    seen.largest = 80;
    seen.largest_symbol = "BTCUSDT";
    CHECK_STR(look(rules, &kept, 30000),
              "concentration: third: 80 % of the equity in BTCUSDT, warning from 80 %\n");
    seen.largest = NAN;
    CHECK_STR(look(rules, &kept, 30001), "");
    seen.largest = 0;
    seen.largest_symbol = NULL;
    CHECK(strncmp(look(rules, &kept, 30002), "over: concentration: third: 0 %", 31) == 0);
    rules->limits.no_trades_ns = 3600 * S;
    CHECK_STR(look(rules, &kept, 40000), ""); /* by hand: it need not trade */
    seen.trades = true;
    CHECK_STR(look(rules, &kept, 40001),
              "no trades: third: 166 min, warning from 1h\n"); /* since it is known */
    seen.trade_ns = seen.now_ns - 5 * S;
    CHECK(strncmp(look(rules, &kept, 40002), "over: no trades: third: 6 s", 27) == 0);
    seen.backtest_sharpe = 2;
    CHECK_STR(look(rules, &kept, 40003), "");
    seen.sharpe_p = 0.004;
    seen.sharpe = -1.25;
    seen.days = 31;
    CHECK_STR(
        look(rules, &kept, 40004),
        "live Sharpe below the backtest's: third: 0.4 % probability of its days (-1.25 live over 31 days, 2.00 in "
        "the backtest), warning below 1 %\n");
}

static void test_backup(void)
{
    struct machine_seen machine = {0};
    CHECK(!daemon_alert_backup_take("", &machine) && !daemon_alert_backup_take("[]", &machine));
    CHECK(!daemon_alert_backup_take("{\"ok\":1}", &machine) && !machine.backup);
    CHECK(daemon_alert_backup_take("{\"ok\":true,\"error\":null,\"end_ns\":7}", &machine));
    CHECK(machine.backup && !machine.failed && machine.backup_ns == 7);
    CHECK(daemon_alert_backup_take("{\"ok\":false,\"error\":\"no room\",\"end_ns\":9}", &machine));
    CHECK(machine.failed && machine.backup_ns == 7); /* of the last that succeeded */
    CHECK_STR(machine.error, "no room");
    CHECK(daemon_alert_backup_take("{\"ok\":false}", &machine) && machine.error[0]);
}

/* A file of the database's write-ahead log, as a reader makes it grow, from the disk to the rule. */
static void see_log(struct alert_machine *machine, struct alert_rules *rules, uv_loop_t *loop, int s)
{
    const struct alert_sink sink = {NULL, change};
    said[0] = '\0';
    for (int i = 0; i < 2; i++) { /* it looks, and knows */
        daemon_alert_machine_read(machine, rules, s * S, 0, &sink);
        uv_run(loop, UV_RUN_DEFAULT);
    }
}

static void test_log(struct alert_rules *rules)
{
    struct state_dir state = {0};
    char log[SCRATCH_MAX + 32], expected[sizeof said];
    uv_loop_t loop;
    scratch_make(state.path);
    snprintf(state.database, sizeof state.database, "%.200s/papertape.db", state.path);
    snprintf(log, sizeof log, "%.200s-wal", state.database);
    uv_loop_init(&loop);
    struct alert_machine *machine = daemon_alert_machine_create(&loop, &state);
    rules->limits.disk = rules->limits.disk_critical = 0; /* this machine's may be full */
    CHECK(daemon_alert_wal_bytes(state.database) == 0);
    see_log(machine, rules, &loop, 1);
    CHECK_STR(said, "");
    int fd = open(log, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    CHECK_INT(ftruncate(fd, 70 << 20), 0);
    see_log(machine, rules, &loop, 12);
    snprintf(
        expected, sizeof expected,
        "write-ahead log: %.200s: 70 MiB (a reader keeps a transaction open: end it), warning from 64 MiB\n",
        state.database);
    CHECK_STR(said, expected);
    CHECK_INT(ftruncate(fd, 32 << 20), 0);
    see_log(machine, rules, &loop, 23);
    CHECK(strncmp(said, "over: write-ahead log: ", 23) == 0 && strstr(said, ": 32 MiB"));
    close(fd);
    rules->limits.wal_bytes = 0;
    CHECK(!daemon_alert_rule_on(&rules->limits, ALERT_WAL_LARGE));
    daemon_alert_machine_destroy(machine);
    CHECK_INT(uv_loop_close(&loop), 0);
}

int main(void)
{
    struct alert_rules rules = {0};
    config_key_defaults(keys, sizeof keys / sizeof *keys, "alerts", &rules.limits);
    test_refused(&rules);
    test_losses(&rules);
    test_held(&rules);
    test_backup();
    test_log(&rules);
    daemon_alert_rules_finish(&rules);
    return check_done("daemon/alert_accounts");
}
