/* The alert rules by sequences of figures: when each is raised, escalates, eases and is over. With arguments,
 * a program that reads figures and prints changes, for tests/daemon/alert_rules.py, which has the rules in
 * Python. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "daemon/alert_table.h"
#include "tests/check.h"

#define S INT64_C(1000000000)

static const struct config_key keys[] = {
#define KEY_(type, member, name, kind, fallback, about, more) \
    {"alerts", name, about, fallback, kind, KEY_AT(struct alert_limits, member)},
    ALERT_KEYS(KEY_)
#undef KEY_
};
enum { KEYS_N = sizeof keys / sizeof *keys };

static struct alert_limits defaults(void)
{
    struct alert_limits limits;
    config_key_defaults(keys, KEYS_N, "alerts", &limits);
    return limits;
}

/* 't' raised as a warning, 'T' as an error, '^' escalated, 'v' eased, '.' over, '=' by another figure, '-'
 * nothing. */
static char mark(bool changed, const struct alert_decision *decision)
{
    static const char marks[] = {
        [ALERT_ESCALATED] = '^', [ALERT_EASED] = 'v', [ALERT_OVER] = '.', [ALERT_MOVED] = '='};
    if (!changed)
        return '-';
    if (decision->change == ALERT_RAISED)
        return decision->severity == DB_ERROR ? 'T' : 't';
    return marks[decision->change];
}

static struct alert_decision last;

static char read_at(struct alert_rules *rules, enum alert_rule_id rule, const char *where, double value,
                    int64_t now_ns)
{
    const struct alert_reading reading = {rule, where, value, NULL};
    return mark(daemon_alert_rules_read(rules, &reading, now_ns, &last), &last);
}

/* ---- sequences, a figure every two seconds ---- */

#define N NAN
enum { VALUES_MAX = 24 };

static const struct {
    const char *what;
    enum alert_rule_id rule;
    const char *marks; /* its length is that of the sequence */
    double values[VALUES_MAX];
} sequences[] = {
    {"the edges of two limits", ALERT_GPU_TEMPERATURE, "--t-^-", {79, 79.9, 80, 84.9, 85, 200}},
    {"both at once", ALERT_GPU_TEMPERATURE, "-T-", {20, 86, 86}},
    {"over after five figures that are three degrees better",
     ALERT_GPU_TEMPERATURE,
     "t------.---",
     {80, 79, 77, 76.9, 70, 70, 70, 70, 70, 70, 80 - 0.1}},
    {"over at three degrees less", ALERT_GPU_TEMPERATURE, "t-----.", {80, 77, 77, 77, 77, 77, 77}},
    {"not at less than three degrees less",
     ALERT_GPU_TEMPERATURE,
     "t-------",
     {80, 77.1, 77.1, 77.1, 77.1, 77.1, 77.1, 77.1}},
    {"an error eases at three degrees less",
     ALERT_GPU_TEMPERATURE,
     "T-----v-",
     {85, 82, 82, 82, 82, 82, 82, 82}},
    {"over at three percent less", ALERT_GPU_MEMORY, "t-----.", {.95, .92, .92, .92, .92, .92, .92}},
    {"not over where the figure comes back in between",
     ALERT_GPU_TEMPERATURE,
     "t----------.-",
     {80, 70, 70, 70, 70, 77.5, 70, 70, 70, 70, 70, 70, 70}},
    {"an error eases, and is over",
     ALERT_GPU_TEMPERATURE,
     "T-----v-^-----v-----",
     {90, 81, 81, 81, 81, 81, 81, 81, 85, 81, 81, 81, 81, 81, 81, 70, 70, 70, 70, 70}},
    {"not known: neither raised nor over",
     ALERT_GPU_TEMPERATURE,
     "--t------------.",
     {N, N, 80, N, N, N, N, N, N, N, 70, 70, 70, 70, 70, 70}},
    {"the memory's edge", ALERT_GPU_MEMORY, "-t---", {0.9499, 0.95, 0.93, 0.92, 1}},
    {"not before its time", ALERT_GPU_UTILISATION, "-----t", {0.49, 0.49, 0.49, 0.49, 0.49, 0.49}},
    {"from the beginning after one that is good",
     ALERT_GPU_UTILISATION,
     "----------t",
     {0.49, 0.49, 0.49, 0.49, 0.50, 0.49, 0.49, 0.49, 0.49, 0.49, 0.49}},
    {"half is enough", ALERT_GPU_UTILISATION, "--------", {.5, .5, .5, .5, .5, .5, .5, .5}},
    {"through a rollout the time stands still",
     ALERT_GPU_UTILISATION,
     "----------t",
     {0.1, 0.1, N, N, 0.1, N, 0.1, 0.1, 0.1, 0.1, 0.1}},
    {"over at five percent more",
     ALERT_GPU_UTILISATION,
     "-----t-------.",
     {0, 0, 0, 0, 0, 0, 0.54, 0.54, .55, .55, .55, .55, .55, .55}},
    {"slowed down for its time", ALERT_GPU_THROTTLED, "---t-----.-", {1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0}},
    {"slowed down now and then", ALERT_GPU_THROTTLED, "-------", {1, 1, 1, 0, 1, 1, 1}},
    {"a power cap is no fault", ALERT_GPU_POWER_CAPPED, "-------", {1, 1, 1, 1, 1, 1, 1}},
    {"a device is lost, and found", ALERT_GPU_LOST, "---t--.-t", {N, 0, 29.9, 30, 31, N, 0, 0, 90}},
    {"no trial, and the next", ALERT_NO_TRIAL, "--t.-", {10, 3599.9, 3600, 2, 4}},
    {"refused orders, and a minute without",
     ALERT_ORDERS_REFUSED,
     "-t------.-",
     {9, 10, 60, 9, 0, 0, 0, 0, 0, 0}},
    {"a drawdown's two limits",
     ALERT_DRAWDOWN,
     "-t-^--v--.",
     {.09, .1, .15, .2, .25, .195, .19, .1, .091, .09}},
    {"half of a loss limit, most, all of it", ALERT_DAILY_LOSS, "-t-^v.", {.5, .8, .9, 1, .95, .75}},
    {"all in one symbol", ALERT_CONCENTRATION, "-t--.", {.79, .8, .76, N, .75}},
    {"a Sharpe ratio that is too low", ALERT_SHARPE_LOW, "--t-.", {N, .01, .009, .019, .02}},
    {"a disk fills, and is cleaned", ALERT_DISK, "-t^-v.", {.89, .9, .95, .94, .93, .88}},
    {"a write-ahead log, over at half",
     ALERT_WAL_LARGE,
     "-t--.",
     {0x1p26 - 1, 0x1p26, 0x1p28, 0x1p25 + 1, 0x1p25}},
    {"a clock, back after five figures", ALERT_CLOCK_OFFSET, "-t-----.", {4.9, 5, 0, 0, 0, 0, 0, 0}},
    {"a backup fails: an error", ALERT_BACKUP_FAILED, "--T-.", {N, 0, 1, N, 0}},
    {"a sink", ALERT_SINK_FAILING, "-t-.", {299, 300, 900, 0}},
    {"no trades: off", ALERT_NO_TRADES, "--", {1e6, 1e9}},
    {"a worker's silence, by a second figure", ALERT_TRAINING_STALLED, "-t--.", {1, 1, 1, N, 0}},
};

/* Times short enough for a table: five figures are 10 s. */
static struct alert_limits short_limits(void)
{
    struct alert_limits limits = defaults();
    limits.gpu_utilisation_ns = limits.recovered_ns = 10 * S;
    limits.throttled_ns = 6 * S;
    return limits;
}

static void test_sequences(void)
{
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++) {
        struct alert_rules rules = {.limits = short_limits()};
        char found[VALUES_MAX + 1] = "", words[256];
        for (size_t k = 0; k < strlen(sequences[i].marks); k++)
            found[k] =
                read_at(&rules, sequences[i].rule, "x", sequences[i].values[k], 7 + (int64_t)k * 2 * S);
        snprintf(words, sizeof words, "%s: %s", sequences[i].what, sequences[i].marks);
        char seen[sizeof words];
        snprintf(seen, sizeof seen, "%s: %s", sequences[i].what, found);
        CHECK_STR(seen, words);
        daemon_alert_rules_finish(&rules);
    }
}

/* ---- texts ---- */

static void test_texts(void)
{
    struct alert_rules rules = {.limits = defaults()};
    CHECK(read_at(&rules, ALERT_GPU_TEMPERATURE, "H100 (GPU-1)", 81, 0) == 't');
    CHECK_STR(last.code, "GPU_TEMPERATURE");
    CHECK_STR(last.about, "GPU temperature: H100 (GPU-1)");
    CHECK_INT(last.rule, ALERT_GPU_TEMPERATURE);
    CHECK_STR(last.where, "H100 (GPU-1)");
    CHECK_STR(last.text, "GPU temperature: H100 (GPU-1): 81 C, warning from 80 C");
    CHECK(read_at(&rules, ALERT_GPU_TEMPERATURE, "H100 (GPU-1)", 86, S) == '^');
    CHECK_INT(last.severity, DB_ERROR);
    CHECK_STR(last.text, "GPU temperature: H100 (GPU-1): 86 C, critical from 85 C");
    for (int64_t s = 2; s <= 32; s++)
        CHECK(read_at(&rules, ALERT_GPU_TEMPERATURE, "H100 (GPU-1)", 81.5, s * S) == (s == 32 ? 'v' : '-'));
    CHECK_STR(last.text, "GPU temperature: H100 (GPU-1): 81.5 C; over at 77 C or less for 30s");
    struct alert_reading lost = {ALERT_GPU_LOST, "H100 (GPU-1)", 31, "no figure for 31 s: NVML: why"};
    CHECK(daemon_alert_rules_read(&rules, &lost, S, &last));
    CHECK_STR(last.text, "GPU lost: H100 (GPU-1): no figure for 31 s: NVML: why");
    CHECK_INT(last.severity, DB_WARNING);
    CHECK(read_at(&rules, ALERT_NO_TRIAL, "btc", 3700, S) == 't');
    CHECK_STR(last.text, "no trial finished: btc: 61 min, warning from 1h");
    struct alert_reading low = {ALERT_GPU_UTILISATION, "ppo", 0.49, "on H100 (GPU-1)"};
    for (int64_t s = 0; s <= 30; s++)
        CHECK(daemon_alert_rules_read(&rules, &low, s * S, &last) == (s == 30));
    CHECK_STR(last.text,
              "GPU utilisation: ppo: 49 % on H100 (GPU-1), warning below 50 % for 30s in an update");
    struct alert_reading slow = {ALERT_GPU_THROTTLED, "H100 (GPU-1)", 1, "thermal slowdown"};
    for (int64_t s = 0; s <= 10; s++)
        CHECK(daemon_alert_rules_read(&rules, &slow, s * S, &last) == (s == 10));
    CHECK_STR(last.text, "GPU throttled: H100 (GPU-1): thermal slowdown, for 10s");
    struct alert_reading refused = {ALERT_ORDERS_REFUSED, "main", 12, "within a minute, most RATE"};
    CHECK(daemon_alert_rules_read(&rules, &refused, S, &last));
    CHECK_STR(last.text, "orders refused: main: 12 within a minute, most RATE, warning from 10");
    struct alert_reading failed = {ALERT_BACKUP_FAILED, "the last one", 1, "no room"};
    CHECK(daemon_alert_rules_read(&rules, &failed, S, &last));
    CHECK_STR(last.text, "backup failed: the last one: no room");
    CHECK_INT(last.severity, DB_ERROR);
    CHECK(daemon_alert_rules_event(&rules.limits, ALERT_NEW_BEST, "btc", "trial 7 with 1.5", &last));
    CHECK_STR(last.text, "new best trial: btc: trial 7 with 1.5");
    CHECK_STR(last.where, "btc");
    CHECK_INT(last.severity, DB_INFO);
    rules.limits.new_best = false;
    CHECK(!daemon_alert_rules_event(&rules.limits, ALERT_NEW_BEST, "btc", "trial 7 with 1.5", &last));
    daemon_alert_rules_finish(&rules);
}

/* A text has the figure of now: by a step of it, after a minute. Its end has the worst. */
static void test_moved(void)
{
    struct alert_rules rules = {.limits = defaults()};
    CHECK(read_at(&rules, ALERT_DISK, "/", 0.91, S) == 't');
    CHECK(read_at(&rules, ALERT_DISK, "/", 0.94, 60 * S) == '-');
    CHECK(read_at(&rules, ALERT_DISK, "/", NAN, 61 * S) == '-');
    CHECK(read_at(&rules, ALERT_DISK, "/", 0.94, 61 * S) == '=');
    CHECK_STR(last.text, "disk: /: 94 %, warning from 90 %");
    CHECK_STR(last.about, "disk: /");
    CHECK_INT(last.severity, DB_WARNING);
    CHECK(read_at(&rules, ALERT_DISK, "/", 0.949, 200 * S) == '-'); /* less than a step */
    CHECK(read_at(&rules, ALERT_DISK, "/", 0.96, 201 * S) == '^');
    CHECK(read_at(&rules, ALERT_DISK, "/", 0.97, 210 * S) == '-');
    CHECK(read_at(&rules, ALERT_DISK, "/", 0.93, 220 * S) == 'v');
    CHECK(read_at(&rules, ALERT_DISK, "/", 0.91, 280 * S) == '=');
    CHECK_STR(last.text, "disk: /: 91 %; over at 88 % or less");
    CHECK(read_at(&rules, ALERT_DISK, "/", 0.8, 281 * S) == '.');
    CHECK_STR(last.worst, "disk: /: 97 %, critical from 95 %");
    CHECK(read_at(&rules, ALERT_DISK, "/", 0.91, 300 * S) == 't');
    CHECK(read_at(&rules, ALERT_DISK, "/", 0.8, 301 * S) == '.');
    CHECK_STR(last.worst, "disk: /: 91 %, warning from 90 %");

    CHECK(read_at(&rules, ALERT_SHARPE_LOW, "a", .009, S) == 't'); /* a step is no more than its limit has */
    CHECK(read_at(&rules, ALERT_SHARPE_LOW, "a", .0085, 61 * S) == '-');
    CHECK(read_at(&rules, ALERT_SHARPE_LOW, "a", .008, 61 * S) == '=');
    CHECK(read_at(&rules, ALERT_SINK_FAILING, "a", 300, S) == 't');
    CHECK(read_at(&rules, ALERT_SINK_FAILING, "a", 329, 61 * S) == '-');
    CHECK(read_at(&rules, ALERT_SINK_FAILING, "a", 330, 61 * S) == '=');
    CHECK(read_at(&rules, ALERT_DISK, "b", 0.91, S) == 't'); /* the rule is switched off */
    rules.limits.disk = rules.limits.disk_critical = 0;
    CHECK(daemon_alert_rules_sweep(&rules, &last));
    CHECK_STR(last.worst, "disk: b: 91 %, warning from 90 %");
    daemon_alert_rules_finish(&rules);
}

/* A flag has no figure: its text is another where its reason is. */
static void test_moved_flag(void)
{
    struct alert_rules rules = {.limits = defaults()};
    struct alert_reading failed = {ALERT_BACKUP_FAILED, "the last one", 1, "no room"};
    CHECK(daemon_alert_rules_read(&rules, &failed, S, &last));
    CHECK(!daemon_alert_rules_read(&rules, &failed, 100 * S, &last));
    failed.detail = "the key is gone";
    CHECK(daemon_alert_rules_read(&rules, &failed, 101 * S, &last) && last.change == ALERT_MOVED);
    CHECK_STR(last.text, "backup failed: the last one: the key is gone");
    CHECK(!daemon_alert_rules_read(&rules, &failed, 200 * S, &last));
    failed = (struct alert_reading){ALERT_BACKUP_FAILED, "the last one", 0, "it succeeded"};
    CHECK(daemon_alert_rules_read(&rules, &failed, 201 * S, &last) && last.change == ALERT_OVER);
    CHECK_STR(last.worst, "backup failed: the last one: the key is gone");
    daemon_alert_rules_finish(&rules);
}

/* What a former run raised shows its own figure for a minute, and ends by it where no worse one came. */
static void test_moved_former(void)
{
    struct alert_rules rules = {.limits = defaults()};
    for (int i = 0; i < 2; i++)
        daemon_alert_rules_adopt(&rules, "DISK", DB_WARNING, i ? "disk: b: 93 %, old" : "disk: a: 93 %, old");
    CHECK(read_at(&rules, ALERT_DISK, "a", 0.8, S) == '.');
    CHECK_STR(last.worst, "disk: a: 93 %, old");
    CHECK(read_at(&rules, ALERT_DISK, "b", 0.93, S) == '-');
    CHECK(read_at(&rules, ALERT_DISK, "b", 0.93, 61 * S) == '=');
    CHECK(read_at(&rules, ALERT_DISK, "b", 0.93, 200 * S) == '-');
    CHECK_STR(last.text, "disk: b: 93 %, warning from 90 %");
    daemon_alert_rules_finish(&rules);
}

/* ---- several subjects, restarts, ends ---- */

static void test_subjects(void)
{
    struct alert_rules rules = {.limits = defaults()};
    char where[16];
    for (int i = 0; i < 100; i++) {
        snprintf(where, sizeof where, "gpu %d", i);
        CHECK(read_at(&rules, ALERT_GPU_TEMPERATURE, where, i % 3 == 0 ? 81 : 50, 0) ==
              (i % 3 == 0 ? 't' : '-'));
    }
    CHECK(read_at(&rules, ALERT_GPU_TEMPERATURE, "gpu 1", 86, S) == 'T');
    CHECK(read_at(&rules, ALERT_GPU_TEMPERATURE, "gpu 3", 86, S) == '^');
    CHECK(read_at(&rules, ALERT_GPU_TEMPERATURE, "gpu 0", 81, S) == '-');
    daemon_alert_rules_finish(&rules);
}

/* What a former run raised: not a second time, and over by the same rule. */
static void test_restart(void)
{
    struct alert_rules rules = {.limits = short_limits()};
    daemon_alert_rules_adopt(&rules, "GPU_TEMPERATURE", DB_ERROR,
                             "GPU temperature: a: 86 C, critical from 85 C");
    daemon_alert_rules_adopt(&rules, "GPU_UTILISATION", DB_WARNING, "GPU utilisation: ppo: 40 %, warning …");
    daemon_alert_rules_adopt(&rules, "NEW_BEST", DB_INFO, "new best trial: x: trial 1");
    daemon_alert_rules_adopt(&rules, "feed", DB_WARNING, "binance: lost");
    daemon_alert_rules_adopt(&rules, "GPU_MEMORY", DB_WARNING, "no colon");
    CHECK_INT((int64_t)rules.n, 3);
    CHECK(read_at(&rules, ALERT_GPU_TEMPERATURE, "a", NAN, 0) == '-');
    CHECK(read_at(&rules, ALERT_GPU_TEMPERATURE, "a", 86, S) == '-');
    CHECK(read_at(&rules, ALERT_GPU_TEMPERATURE, "a", 83, 2 * S) == '-'); /* between error and better */
    CHECK(read_at(&rules, ALERT_GPU_TEMPERATURE, "a", 70, 3 * S) == '-');
    CHECK(read_at(&rules, ALERT_GPU_TEMPERATURE, "a", 70, 8 * S) == '-');
    CHECK(read_at(&rules, ALERT_GPU_TEMPERATURE, "a", 70, 13 * S) == '.');
    CHECK(read_at(&rules, ALERT_GPU_UTILISATION, "ppo", 0.9, 0) == '-');
    CHECK(read_at(&rules, ALERT_GPU_UTILISATION, "ppo", 0.9, 5 * S) == '-');
    CHECK(read_at(&rules, ALERT_GPU_UTILISATION, "ppo", 0.9, 10 * S) == '.');
    daemon_alert_rules_finish(&rules);
}

static void test_gone(void)
{
    struct alert_rules rules = {.limits = defaults()};
    daemon_alert_rules_adopt(&rules, "TRAINING_STALLED", DB_WARNING, "training stalled: old: its worker …");
    CHECK(read_at(&rules, ALERT_GPU_TEMPERATURE, "a", 81, 0) == 't');
    CHECK(read_at(&rules, ALERT_NO_TRIAL, "study", 3600, 0) == 't');
    CHECK(read_at(&rules, ALERT_TRAINING_STALLED, "here", 1, 0) == '-');
    CHECK(daemon_alert_rules_sweep(&rules, &last)); /* a training of a former run that is no more */
    CHECK(last.change == ALERT_OVER);
    CHECK_STR(last.about, "training stalled: old");
    CHECK_STR(last.where, "old");
    CHECK(!daemon_alert_rules_sweep(&rules, &last));
    CHECK(read_at(&rules, ALERT_NO_TRIAL, "study", NAN, S) == '-'); /* it is there */
    CHECK(!daemon_alert_rules_sweep(&rules, &last));
    CHECK(daemon_alert_rules_sweep(&rules, &last)); /* the study ended; the device may be back */
    CHECK_STR(last.about, "no trial finished: study");
    CHECK(!daemon_alert_rules_sweep(&rules, &last));
    CHECK(read_at(&rules, ALERT_GPU_TEMPERATURE, "a", 81, 2 * S) == '-');
    CHECK(read_at(&rules, ALERT_NO_TRIAL, "study", 3600, 3 * S) == 't'); /* another run of it */
    daemon_alert_rules_finish(&rules);
}

/* Before the session starts nothing is known of accounts, nor of trainings before the co-process answers. */
static void test_early(void)
{
    struct alert_rules rules = {.limits = defaults(), .early = true};
    rules.limits.drawdown = 0.1;
    daemon_alert_rules_adopt(&rules, "DRAWDOWN", DB_WARNING, "drawdown: main: 12 % of the highest equity");
    daemon_alert_rules_adopt(&rules, "TRAINING_STALLED", DB_WARNING, "training stalled: old: its worker …");
    daemon_alert_rules_adopt(&rules, "CLOCK_OFFSET", DB_WARNING, "clock offset: gone: 9 s (…)");
    CHECK(daemon_alert_rules_sweep(&rules, &last));
    CHECK_STR(last.about, "clock offset: gone");
    CHECK(!daemon_alert_rules_sweep(&rules, &last));
    rules.early = false;
    CHECK(daemon_alert_rules_sweep(&rules, &last));
    CHECK(daemon_alert_rules_sweep(&rules, &last));
    CHECK(!daemon_alert_rules_sweep(&rules, &last));
    daemon_alert_rules_finish(&rules);
}

static void test_off(void)
{
    struct alert_rules rules = {.limits = defaults()};
    rules.limits.gpu_temperature = NAN;
    rules.limits.gpu_temperature_critical = 0;
    rules.limits.throttled_ns = 0;
    daemon_alert_rules_adopt(&rules, "GPU_TEMPERATURE", DB_WARNING,
                             "GPU temperature: a: 81 C, warning from 80 C");
    CHECK(read_at(&rules, ALERT_GPU_TEMPERATURE, "b", 120, 0) == '-');
    CHECK(read_at(&rules, ALERT_GPU_THROTTLED, "b", 1, 0) == '-');
    CHECK(daemon_alert_rules_sweep(&rules, &last)); /* what an earlier configuration raised */
    CHECK_STR(last.about, "GPU temperature: a");
    CHECK(!daemon_alert_rules_sweep(&rules, &last));
    rules.limits.gpu_temperature_critical = 85; /* alone */
    CHECK(read_at(&rules, ALERT_GPU_TEMPERATURE, "b", 84, S) == '-');
    CHECK(read_at(&rules, ALERT_GPU_TEMPERATURE, "b", 85, S) == 'T');
    daemon_alert_rules_finish(&rules);
}

/* A clock that stands, and a long time without a figure. */
static void test_time(void)
{
    struct alert_rules rules = {.limits = short_limits()};
    for (int i = 0; i < 100; i++)
        CHECK(read_at(&rules, ALERT_GPU_UTILISATION, "x", 0, 5 * S) == '-');
    CHECK(read_at(&rules, ALERT_GPU_UTILISATION, "x", 0, 1000 * S) == '-'); /* 5 s of it count */
    CHECK(read_at(&rules, ALERT_GPU_UTILISATION, "x", 0, 1004 * S) == '-');
    CHECK(read_at(&rules, ALERT_GPU_UTILISATION, "x", 0, 1005 * S) == 't');
    daemon_alert_rules_finish(&rules);
}

/* By default all rules are on, except those whose limit only their user knows. */
static void test_defaults(void)
{
    struct alert_limits limits = defaults();
    for (int i = 0; i < ALERT_RULES_N; i++) {
        bool off = i == ALERT_GPU_POWER_CAPPED || i == ALERT_NO_TRADES || i == ALERT_BACKUP_OLD;
        CHECK(daemon_alert_table[i].code != NULL); /* each has its row */
        CHECK_INT(daemon_alert_rule_on(&limits, (enum alert_rule_id)i), !off);
    }
}

/* ---- figures from a file: RULE WHERE VALUE SECONDS a line, or "sweep" ---- */

static int replay(void)
{
    struct alert_rules rules = {.limits = short_limits()};
    char line[256], code[32], where[32];
    double value, s;
    while (fgets(line, sizeof line, stdin)) {
        int rule = 0;
        if (sscanf(line, "%31s %31s %lf %lf", code, where, &value, &s) != 4) {
            while (daemon_alert_rules_sweep(&rules, &last))
                printf(". %s\n", last.about);
            continue;
        }
        while (rule < ALERT_RULES_N && strcmp(daemon_alert_table[rule].code, code) != 0)
            rule++;
        char found = read_at(&rules, (enum alert_rule_id)rule, where, value, (int64_t)(s * 1000) * 1000000);
        if (found != '-' && found != '=')
            printf("%c %s\n", found, last.about);
    }
    daemon_alert_rules_finish(&rules);
    return 0;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1)
        return replay();
    test_sequences();
    test_texts();
    test_moved();
    test_moved_flag();
    test_moved_former();
    test_subjects();
    test_restart();
    test_gone();
    test_early();
    test_off();
    test_time();
    test_defaults();
    return check_done("daemon/alert_rules");
}
