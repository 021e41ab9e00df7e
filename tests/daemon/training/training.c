/* What the co-process reports of one training: taken, refused, stored, shown, stale; and the default
 * configuration. */
#include "daemon/training/training.h"
#include "trainer/config_form.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "tests/check.h"

static const char whole[] =
    "{\"name\":\"ppo-btc\",\"state\":\"update\",\"reason\":\"\",\"cause\":null,\"priority\":-3,\"device\":"
    "\"cpu\","
    "\"backend\":\"cpu-avx512\",\"pid\":4242,\"steps\":1200000,\"total_steps\":5000000,\"iteration\":1171,"
    "\"steps_per_second\":845000.0,\"return\":1.31,\"attempts\":2,\"restarts\":1,\"retry_in_ms\":null,"
    "\"created_ns\":100,"
    "\"started_ns\":200,\"ended_ns\":null,\"heard_ns\":300,\"heard_age_ms\":12,\"expected_ms\":1000,\"seq\":"
    "4711,"
    "\"memory_mib\":300,\"memory_limit_mib\":4096,\"device_mib\":null,\"cpu_s\":812.5,\"cpu_limit_s\":null,"
    "\"utilisation\":null,\"cpu_utilisation\":1.97,\"checkpoint\":\"/c\",\"checkpoint_steps\":1048576,"
    "\"policy\":\"/p\",\"stopping\":false,\"verdict\":\"only_holds\",\"verdict_text\":\"Only holds.\"}";

/* The whole one with a member that is another. */
static int parse_with(const char *name, json_t *value, struct training *ret)
{
    json_t *object = json_loads(whole, 0, NULL);
    if (value)
        json_object_set_new(object, name, value);
    else
        json_object_del(object, name);
    int r = daemon_training_parse(object, ret);
    json_decref(object);
    return r;
}

static void taken(void)
{
    struct training training;
    json_t *object = json_loads(whole, 0, NULL);
    CHECK_INT(daemon_training_parse(object, &training), 0);
    json_decref(object);
    CHECK_STR(training.name, "ppo-btc");
    CHECK_STR(training.state, "update");
    CHECK_STR(training.cause, "");
    CHECK_STR(training.checkpoint, "/c");
    CHECK_STR(training.verdict, "only_holds");
    CHECK_STR(training.verdict_text, "Only holds.");
    CHECK_INT(training.priority, -3);
    CHECK_INT(training.pid, 4242);
    CHECK_INT(training.steps, 1200000);
    CHECK_INT(training.retry_in_ms, -1);
    CHECK_INT(training.ended_ns, 0);
    CHECK_INT(training.seq, 4711);
    CHECK_NEAR(training.steps_s, 845000, 0);
    CHECK_NEAR(training.episode_return, 1.31, 0);
    CHECK(isnan(training.device_mib) && isnan(training.cpu_limit_s));
    CHECK_NEAR(training.memory_mib, 300, 0);
}

static void refused(void)
{
    struct training training;
    static const char *const names[] = {"",   "a b", "a/b", "..",
                                        ".a", "ä",   "x\n", "12345678901234567890123456789012"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK_INT(parse_with("name", json_string(names[i]), &training), -EPROTO);
    CHECK_INT(parse_with("name", json_integer(1), &training), -EPROTO);
    CHECK_INT(parse_with("name", NULL, &training), -EPROTO);
    CHECK_INT(parse_with("name", json_string("1234567890123456789012345678901"), &training), 0);
    CHECK_INT(parse_with("state", json_string("dancing"), &training), -EPROTO);
    CHECK_INT(parse_with("state", NULL, &training), -EPROTO);
    CHECK_INT(parse_with("created_ns", NULL, &training), -EPROTO);
    CHECK_INT(parse_with("created_ns", json_integer(-5), &training), -EPROTO);
    CHECK_INT(daemon_training_parse(NULL, &training), -EPROTO);
    json_t *array = json_array();
    CHECK_INT(daemon_training_parse(array, &training), -EPROTO);
    json_decref(array);
}

/* Everything else is not known where it cannot be. */
static void lies(void)
{
    struct training training;
    char long_text[3000];
    memset(long_text, 'a', sizeof long_text);
    memcpy(long_text + TRAINING_REASON_MAX - 2, "\xc3\xa4", 2); /* cut in two */
    long_text[sizeof long_text - 1] = '\0';
    CHECK_INT(parse_with("reason", json_string(long_text), &training), 0);
    CHECK_INT(strlen(training.reason), TRAINING_REASON_MAX - 2);
    CHECK_INT(parse_with("reason", json_string("\x1b[31mred\n"), &training), 0);
    CHECK_STR(training.reason, "?[31mred?");
    CHECK_INT(parse_with("steps", json_integer(-1), &training), 0);
    CHECK_INT(training.steps, 0);
    CHECK_INT(parse_with("steps", json_real(1e300), &training), 0);
    CHECK_INT(training.steps, 0);
    CHECK_INT(parse_with("total_steps", json_integer(INT64_MAX), &training), 0);
    CHECK_INT(training.total_steps, -1);
    CHECK_INT(parse_with("priority", json_integer(INT64_MIN), &training), 0);
    CHECK_INT(training.priority, 0);
    CHECK_INT(parse_with("heard_age_ms", json_string("12"), &training), 0);
    CHECK_INT(training.heard_age_ms, -1);
    CHECK_INT(parse_with("return", json_string("NaN"), &training), 0);
    CHECK(isnan(training.episode_return));
    CHECK_INT(parse_with("seq", json_integer(-7), &training), 0);
    CHECK_INT(training.seq, 0);
}

static void stored(void)
{
    struct training training, again;
    struct db_training row;
    CHECK_INT(parse_with("cause", json_string("killed"), &training), 0);
    daemon_training_row(&training, "[training]\n", 77, &row);
    CHECK_STR(row.config, "[training]\n");
    CHECK_INT(row.seq, 77);
    CHECK_INT(row.memory_bytes, 300 << 20);
    daemon_training_of_row(&row, &again);
    CHECK(!daemon_training_changed(&training, &again));
    CHECK_STR(again.cause, "killed");
    CHECK_STR(again.verdict, "only_holds");
    CHECK_NEAR(again.memory_mib, 300, 0);
    CHECK_INT(again.seq, 77);
    training.memory_mib = 1e30;
    daemon_training_row(&training, "", 0, &row);
    CHECK_INT(row.memory_bytes, -1);
    again.verdict[0] = '\0';
    CHECK(daemon_training_changed(&training, &again));
    memcpy(again.verdict, training.verdict, sizeof again.verdict);
    again.steps++;
    CHECK(daemon_training_changed(&training, &again));
}

static bool is_stale(const struct training *training, int64_t reported_age_ms, bool live, int64_t age_ms)
{
    json_t *object = daemon_training_object(training, reported_age_ms, live);
    bool stale = json_is_true(json_object_get(object, "stale"));
    CHECK(json_is_boolean(json_object_get(object, "stale")));
    CHECK_INT(json_integer_value(json_object_get(object, "age_ms")), age_ms);
    json_decref(object);
    return stale;
}

static void shown(void)
{
    struct training training;
    CHECK_INT(parse_with("state_seconds", json_real(70.5), &training), 0);
    CHECK_NEAR(training.state_s, 70.5, 0);
    CHECK(isnan(training.state_limit_s));
    CHECK_INT(parse_with("heard_age_ms", json_integer(12), &training), 0);
    json_t *object = daemon_training_object(&training, 100, true);
    CHECK_STR(json_string_value(json_object_get(object, "training")), "ppo-btc");
    CHECK(json_is_null(json_object_get(object, "cause")));
    CHECK(json_is_null(json_object_get(object, "ended_ns")));
    CHECK(json_is_null(json_object_get(object, "device_mib")));
    CHECK_INT(json_integer_value(json_object_get(object, "checkpoint_steps")), 1048576);
    CHECK_NEAR(json_real_value(json_object_get(object, "steps_per_second")), 845000, 0);
    json_decref(object);

    CHECK(!is_stale(&training, 2900, true, 2912));
    CHECK(is_stale(&training, 3000, true, 3012));
    CHECK(!daemon_training_stalled(&training, 59000));
    CHECK(daemon_training_stalled(&training, 60000));
    training.expected_ms = 30000;
    CHECK(!is_stale(&training, 60000, true, 60012));
    CHECK(!daemon_training_stalled(&training, 299000));
    CHECK(daemon_training_stalled(&training, 300000));
    /* It lives, but gets nowhere. */
    training.expected_ms = 1000;
    training.state_s = 61;
    CHECK(!daemon_training_hangs(&training)); /* no limit is known */
    training.state_limit_s = 61;
    CHECK(!daemon_training_hangs(&training) && !daemon_training_stalled(&training, 0) &&
          !is_stale(&training, 0, true, 12));
    training.state_limit_s = 60;
    CHECK(daemon_training_hangs(&training) && daemon_training_stalled(&training, 0) &&
          is_stale(&training, 0, true, 12));
    training.state_limit_s = NAN;
    CHECK(!daemon_training_hangs(&training));
    training.state_limit_s = 60;
    /* One that waits says nothing: it is old only where the co-process is silent, too. */
    training.expected_ms = 1000;
    snprintf(training.state, sizeof training.state, "queued");
    CHECK(!is_stale(&training, 9000, true, 9000));
    CHECK(is_stale(&training, 9000, false, 9000));
    CHECK(!daemon_training_stalled(&training, 1 << 30));
    snprintf(training.state, sizeof training.state, "done");
    CHECK(!is_stale(&training, 1 << 30, false, 1 << 30));
}

/* The trainer's own reader, as the process that starts it: every other line is one of its defaults. */
static void differs_in_data_and_costs(const char *text)
{
    static const char *const own[] = {"state",           "symbols",      "interval",      "to",
                                      "initial_capital", "buy_cost_pct", "sell_cost_pct", "slippage_pct"};
    static const char *const sections[] = {"training", "network", "ppo", "environment", "data"};
    char *defaults = NULL, line[512];
    size_t size, lines = 0;
    FILE *to = open_memstream(&defaults, &size);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        CHECK_INT(train_config_print_main(sections[i], to), 0);
    fclose(to);
    for (const char *at = text; *at; at += strcspn(at, "\n") + 1) {
        bool is_own = *at == '#' || *at == '[' || *at == '\n';
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            is_own |= strncmp(at, own[i], strlen(own[i])) == 0 && at[strlen(own[i])] == ' ';
        snprintf(line, sizeof line, "%.*s\n", (int)strcspn(at, "\n"), at);
        CHECK(is_own || strstr(defaults, line) != NULL);
        lines += !is_own;
    }
    CHECK(lines > 10);
    free(defaults);
}

static void defaults(void)
{
    static struct daemon_config config;
    daemon_config_defaults(&config);
    config.slippage_e6 = 500;
    char *text = daemon_training_defaults(&config, "/some/state", 1700000000LL * 1000000000);
    CHECK(strstr(text, "\nstate = /some/state\n") != NULL);
    CHECK(strstr(text, "\nsymbols = BTCUSDT, ETHUSDT\n") != NULL);
    CHECK(strstr(text, "\ninterval = 1m\n") != NULL);
    CHECK(strstr(text, "\nto = 2023-11-14T22:13:20Z\n") != NULL);
    CHECK(strstr(text, "\ninitial_capital = 10000\n") != NULL);
    CHECK(strstr(text, "\nbuy_cost_pct = 0.001000\n") != NULL);
    CHECK(strstr(text, "\nslippage_pct = 0.000500\n") != NULL);
    differs_in_data_and_costs(text);
    free(text);
    text = daemon_training_defaults(&config, "/some/state", 0);
    CHECK(strstr(text, "\nto =") == NULL);
    free(text);
}

static void cleaned(void)
{
    static const char *const rows[][2] = {
        {"plain", "plain"},      {"a\nb\x7f", "a?b?"}, {"\xff\xfe", "??"}, {"\xc3\xa9t\xc3", "\xc3\xa9t"},
        {"\xed\xa0\x80", "???"}, {"\xe2\x82", ""},     {"\xc3(", "?("},    {"", ""}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[16];
        snprintf(text, sizeof text, "%s", rows[i][0]);
        daemon_training_clean(text);
        CHECK_STR(text, rows[i][1]);
    }
}

int main(void)
{
    cleaned();
    taken();
    refused();
    lies();
    stored();
    shown();
    defaults();
    return check_done("daemon/training/training");
}
