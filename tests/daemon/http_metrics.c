/* Prometheus' text of a status: HELP and TYPE of each row, labels escaped, numbers with the status' digits,
 * nothing for what is not known, and a bounded number of samples. */
#include "daemon/http/metrics.h"

#include <time.h>
#include <unistd.h>

#include "daemon/http/metric_rows.h"
#include "daemon/process_figures.h"
#include "exchange/decimal_json.h"
#include "exchange/order.h"
#include "tests/check.h"

enum { BLOCK = 16 << 20 };

static char *text_of(const json_t *status)
{
    char *text = NULL;
    size_t n;
    FILE *to = open_memstream(&text, &n);
    daemon_metrics_write(status, to);
    fclose(to);
    return text;
}

/* Is that a line of it? */
static bool has(const char *text, const char *line)
{
    size_t n = strlen(line);
    for (const char *at = text; (at = strstr(at, line)); at++)
        if ((at == text || at[-1] == '\n') && at[n] == '\n')
            return true;
    return false;
}

/* Samples of a name. */
static size_t samples(const char *text, const char *name)
{
    size_t n = 0, len = strlen(name);
    for (const char *at = text; (at = strstr(at, name)); at += len)
        n += (at == text || at[-1] == '\n') && strchr("{ ", at[len]);
    return n;
}

/* Of a table's row: the name's end says the type, and the unit is a base unit. */
static void test_rows(void)
{
    static const char *const never[] = {"_ms",  "_ns",    "_pct", "_percent",
                                        "_mib", "_count", "_sum", "_bucket"};
    size_t n;
    const struct daemon_metric *rows = daemon_metric_rows(&n);
    json_t *nothing = json_object();
    char *text = text_of(nothing);
    for (size_t i = 0; i < n; i++) {
        char line[512];
        const char *end = strrchr(rows[i].name, '_');
        CHECK((rows[i].type == METRIC_COUNTER) == (end && strcmp(end, "_total") == 0));
        for (size_t k = 0; k < sizeof never / sizeof *never; k++)
            CHECK(!end || strcmp(end, never[k]) != 0);
        CHECK(strspn(rows[i].name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(rows[i].name));
        CHECK(!strpbrk(rows[i].help, "\\\n|"));
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(rows[k].name, rows[i].name) != 0 && strcmp(rows[k].help, rows[i].help) != 0);
        const char *prefix = daemon_metric_prefix(&rows[i]);
        CHECK((*prefix == '\0') == (strncmp(rows[i].name, "process_", strlen("process_")) == 0));
        snprintf(line, sizeof line, "# HELP %s%s %s.", prefix, rows[i].name, rows[i].help);
        CHECK(has(text, line));
        snprintf(line, sizeof line, "# TYPE %s%s %s", prefix, rows[i].name,
                 daemon_metric_type_name(rows[i].type));
        CHECK(has(text, line));
    }
    CHECK(has(text, "papertape_metrics_left_out 0"));
    CHECK_INT(samples(text, "papertape_venue_frames_total"), 0); /* of an empty status nothing is known */
    free(text);
    json_decref(nothing);
}

static void test_values(void)
{
    json_t *status = json_pack(
        "{s:s, s:f, s:n, s:[{s:s, s:i, s:s}, {s:s, s:n, s:s}], s:[{s:s, s:s, s:o, s:f, s:b, s:{s:i}}]}",
        "version", "1\\2\"3\n4", "uptime_s", 0.1, "orders", "venues", "venue", "a", "age_ms", 12, "state",
        "stale", "venue", "b", "age_ms", "state", "unheard of", "accounts", "account", "main", "currency",
        "USDT", "equity", decimal_json(INT64_C(1234567890123456789), 8), "drawdown_pct", -12.5, "killed", 1,
        "refused", "RISK_X", 3);
    json_object_set_new(status, "gpu",
                        json_pack("{s:s, s:[{s:s, s:s, s:f}]}", "state", "ok", "devices", "device", "GPU-1",
                                  "name", "H", "mem_used_mib", 1.5));
    json_object_set_new(status, "db",
                        json_pack("{s:{s:i, s:f, s:[{s:f, s:i}]}}", "commit_times", "commits", 3, "sum_ms",
                                  2.5, "within", "ms", 0.25, "commits", 2));
    json_object_set_new(status, "alert_sinks",
                        json_pack("{s:[{s:s, s:s, s:i, s:i}], s:i}", "sinks", "sink", "webhook.ops", "state",
                                  "failing", "pending", 4, "failed", 7, "dropped", 2));
    json_object_set_new(status, "counters",
                        json_pack("{s:{s:i, s:i}}", "refused", "LOT_SIZE", 4, "UNHEARD_OF", 5));
    json_object_set_new(status, "alerts_by_code",
                        json_pack("[{s:s, s:s, s:i}]", "severity", "warning", "code", "stale", "open", 2));
    json_object_set_new(status, "backup",
                        json_pack("{s:s, s:I}", "state", "failed", "success_ns", (json_int_t)1500000000));
    json_object_set_new(status, "log", json_pack("{s:i, s:i}", "queued", 5, "lost", 6));
    char *text = text_of(status);
    CHECK(has(text, "papertape_alert_sink_state{sink=\"webhook.ops\",state=\"failing\"} 1"));
    CHECK(has(text, "papertape_alert_sink_pending{sink=\"webhook.ops\"} 4"));
    CHECK(has(text, "papertape_alert_sink_failed_total{sink=\"webhook.ops\"} 7"));
    CHECK(has(text, "papertape_alert_notices_dropped_total 2"));
    CHECK(has(text, "papertape_orders_refused_total{reason=\"LOT_SIZE\"} 4"));
    CHECK(has(text, "papertape_orders_refused_total{reason=\"UNHEARD_OF\"} 5"));
    CHECK(has(text, "papertape_orders_refused_total{reason=\"RULE_PRICE_DECIMALS\"} 0"));
    CHECK_INT(samples(text, "papertape_orders_refused_total"),
              ORDER_REASONS - ORDER_OK);                            /* and one unheard of */
    CHECK_INT(samples(text, "papertape_intents_refused_total"), 0); /* it is not known yet */
    CHECK(!has(text, "papertape_account_orders_refused_total{account=\"main\",reason=\"LOT_SIZE\"}"));
    CHECK(has(text, "papertape_alerts{severity=\"warning\",code=\"stale\"} 2"));
    CHECK(has(text, "papertape_backup_state{state=\"failed\"} 1"));
    CHECK(has(text, "papertape_backup_last_success_timestamp_seconds 1.5"));
    CHECK(has(text, "papertape_journal_queued_lines 5"));
    CHECK(has(text, "papertape_journal_lost_lines_total 6"));
    CHECK(has(text, "papertape_build_info{version=\"1\\\\2\\\"3\\n4\"} 1"));
    CHECK(has(text, "papertape_uptime_seconds 0.1"));
    CHECK_INT(samples(text, "papertape_orders_open"), 0);
    CHECK(has(text, "papertape_venue_data_age_seconds{venue=\"a\"} 0.012"));
    CHECK_INT(samples(text, "papertape_venue_data_age_seconds"), 1);
    CHECK(has(text, "papertape_venue_state{venue=\"a\",state=\"stale\"} 1"));
    CHECK(has(text, "papertape_venue_state{venue=\"a\",state=\"ok\"} 0"));
    CHECK(has(
        text,
        "papertape_venue_state{venue=\"b\",state=\"ok\"} 0")); /* a word that no row has is none of them */
    CHECK_INT(samples(text, "papertape_venue_state"), 12);
    CHECK(has(text, "papertape_account_equity{account=\"main\",currency=\"USDT\"} 12345678901.23456789"));
    CHECK(has(text, "papertape_account_drawdown_ratio{account=\"main\",currency=\"USDT\"} -0.125"));
    CHECK(has(text, "papertape_account_locked{account=\"main\",currency=\"USDT\"} 1"));
    CHECK(has(text, "papertape_account_orders_refused_total{account=\"main\",reason=\"RISK_X\"} 3"));
    CHECK(has(text, "papertape_device_memory_used_bytes{device=\"GPU-1\",name=\"H\"} 1572864"));
    CHECK(has(text, "papertape_devices 1"));
    CHECK(has(text, "papertape_database_commit_seconds_bucket{le=\"0.00025\"} 2"));
    CHECK(has(text, "papertape_database_commit_seconds_bucket{le=\"+Inf\"} 3"));
    CHECK(has(text, "papertape_database_commit_seconds_sum 0.0025"));
    CHECK(has(text, "papertape_database_commit_seconds_count 3"));
    free(text);
    json_decref(status);
}

static void test_bound(void)
{
    json_t *symbols = json_array(), *status = json_object();
    for (int i = 0; i < METRIC_SAMPLES_MAX + 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "S%dUSDT", i);
        json_array_append_new(symbols, json_pack("{s:s, s:i}", "symbol", name, "age_ms", i));
    }
    json_object_set_new(status, "symbols", symbols);
    char *text = text_of(status), line[64];
    size_t n, of_symbols = 0;
    const struct daemon_metric *rows = daemon_metric_rows(&n);
    for (size_t i = 0; i < n; i++)
        of_symbols += strcmp(rows[i].list, "symbols[]") == 0;
    CHECK_INT(samples(text, "papertape_symbol_age_seconds"), METRIC_SAMPLES_MAX);
    snprintf(line, sizeof line, "papertape_metrics_left_out %zu", 5 * of_symbols);
    CHECK(has(text, line));
    free(text);
    json_decref(status);
}

/* By what the system's own calls say of this process. */
static void test_process(void)
{
    struct process_figures before, after;
    daemon_process_figures(&before);
    int fd = dup(0);
    char *block = malloc(BLOCK);
    CHECK(fd >= 0 && block);
    if (block)
        memset(block, 1, BLOCK);
    daemon_process_figures(&after);
    CHECK(after.open_fds == before.open_fds + 1 && before.open_fds >= 3);
    CHECK(after.resident_bytes >= before.resident_bytes + BLOCK / 2 &&
          after.virtual_bytes >= after.resident_bytes);
    CHECK(before.cpu_s > 0 && after.cpu_s >= before.cpu_s);
    CHECK(after.max_fds == (double)sysconf(_SC_OPEN_MAX));
    CHECK(after.start_s == before.start_s && fabs(after.start_s - (double)time(NULL)) < 600);
    free(block);
    close(fd);
    json_t *nothing = json_object();
    char *text = text_of(nothing);
    CHECK_INT(samples(text, "process_open_fds"), 1);
    CHECK_INT(samples(text, "process_cpu_seconds_total"), 1);
    free(text);
    json_decref(nothing);
}

int main(void)
{
    test_rows();
    test_values();
    test_bound();
    test_process();
    return check_done("daemon/http_metrics");
}
