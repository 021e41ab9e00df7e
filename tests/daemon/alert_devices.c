/* Devices as the alert rules know them: names that no two share, and which device is lost: one that vanishes,
 * gives no figure, whose driver hangs or fails, and that is found again. */
#include "daemon/alert_devices.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "daemon/alert_subjects.h"
#include "tests/check.h"

#define S INT64_C(1000000000)

static const struct alert_limits limits = {.gpu_lost_ns = 30 * S};

static struct device_sample device(const char *key, const char *name, double temperature_c)
{
    struct device_sample sample;
    daemon_gpu_device_clear(&sample);
    snprintf(sample.device, sizeof sample.device, "%s", key);
    snprintf(sample.name, sizeof sample.name, "%s", name);
    sample.figures.temperature_c = temperature_c;
    return sample;
}

/* ---- names ---- */

static const char *name_of(const struct alert_devices *seen, const struct device_sample *sample)
{
    static char name[ALERT_WHERE_MAX];
    daemon_alert_device_name(seen, sample, name);
    return name;
}

static void take(struct alert_devices *seen, const struct device_sample *devices, int n)
{
    const struct alert_sample sample = {.devices = devices, .n = n, .reason = "", .sampled_ns = S};
    daemon_alert_devices_take(seen, &sample);
}

static void test_names(void)
{
    static const struct {
        const char *key, *name, *shown;
    } rows[] = {
        {"nvidia:GPU-8f6c2a11-0000-4000-8000-00000000fa4e", "NVIDIA H100 80GB HBM3",
         "NVIDIA H100 80GB HBM3 (GPU-8f6c2a11)"},
        {"amd:0000:03:00.0", "RX 7900", "RX 7900 (0000:03:00.0)"},
        {"amd:10000:03:00.0", "RX 7900", "RX 7900 (10000:03:00.0)"},
        {"nvidia:0", "", "0"},
        {"odd", "", "odd"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct alert_devices seen = {0};
        struct device_sample sample = device(rows[i].key, rows[i].name, NAN);
        take(&seen, &sample, 1);
        CHECK_STR(name_of(&seen, &sample), rows[i].shown);
    }
}

/* Of one name, and the first digits too: as many are shown as it takes. What is named stays so. */
static void test_alike(void)
{
    struct alert_devices seen = {0};
    struct device_sample devices[] = {device("nvidia:GPU-0badcafe-0000-4000-8000-000000000001", "A", 1),
                                      device("nvidia:GPU-0badcafe-0000-4000-9000-000000000001", "A", 1),
                                      device("nvidia:GPU-0badcafe-0000-4000-9000-000000000002", "A", 1),
                                      device("nvidia:GPU-00000001-0000-4000-9000-000000000002", "A", 1),
                                      device("nvidia:GPU-00000001-0000-4000-9000-000000000003", "A", 1)};
    take(&seen, devices, 4);
    CHECK_STR(name_of(&seen, &devices[0]), "A (GPU-0badcafe-0000-4000-8)");
    CHECK_STR(name_of(&seen, &devices[1]), "A (GPU-0badcafe-0000-4000-9000-000000000001)");
    CHECK_STR(name_of(&seen, &devices[2]), "A (GPU-0badcafe-0000-4000-9000-000000000002)");
    CHECK_STR(name_of(&seen, &devices[3]), "A (GPU-00000001)");
    take(&seen, devices, 5);
    CHECK_STR(name_of(&seen, &devices[3]), "A (GPU-00000001)");
    CHECK_STR(name_of(&seen, &devices[4]), "A (GPU-00000001-0000-4000-9000-000000000003)");
}

/* More than there is room for, each replaced by the next: what is gone for longest is forgotten. */
static void test_many(void)
{
    struct alert_devices seen = {0};
    char key[DEVICE_KEY_MAX];
    for (int i = 0; i < 3 * ALERT_DEVICES_MAX; i++) {
        snprintf(key, sizeof key, "nvidia:GPU-%08d-1", i);
        struct device_sample devices[] = {device("amd:0000:03:00.0", "B", 50), device(key, "A", 50)};
        const struct alert_sample sample = {devices, 2, false, "", (i + 1) * S};
        daemon_alert_devices_take(&seen, &sample);
    }
    CHECK_INT(seen.n, ALERT_DEVICES_MAX);
    CHECK_STR(seen.list[0].key, "amd:0000:03:00.0");
    CHECK_STR(seen.list[ALERT_DEVICES_MAX - 1].key, key);
}

/* ---- lost ---- */

static char texts[2048];

static void note(void *ctx, const struct alert_decision *decision)
{
    (void)ctx;
    size_t n = strlen(texts);
    if (decision->change == ALERT_MOVED) /* alert_rules.c has those */
        return;
    snprintf(texts + n, sizeof texts - n, "%s%s\n", decision->change == ALERT_OVER ? "over: " : "",
             decision->text);
}

struct watch {
    struct alert_rules rules;
    struct alert_devices seen;
    int64_t s; /* now */
};

/* The same sample, each second for so many: what changes. */
static const char *watch_for(struct watch *watch, int seconds, struct alert_sample sample)
{
    const struct alert_sink sink = {NULL, note};
    texts[0] = '\0';
    for (int i = 0; i < seconds; i++, watch->s++) {
        if (!sample.stalled)
            sample.sampled_ns = watch->s * S;
        daemon_alert_read_devices(&watch->rules, &watch->seen, &sample, watch->s * S, &sink);
        daemon_alert_read_end(&watch->rules, &sink);
    }
    return texts;
}

static struct alert_sample of(const struct device_sample *devices, int n, const char *reason)
{
    return (struct alert_sample){.devices = devices, .n = n, .reason = reason};
}

#define A1 "GPU lost: A (GPU-00000001): "

static void test_lost(void)
{
    struct watch watch = {.rules.limits = limits, .s = 100};
    struct device_sample both[] = {device("nvidia:GPU-00000002-1", "A", 50),
                                   device("nvidia:GPU-00000001-1", "A", 50)};
    CHECK_STR(watch_for(&watch, 100, of(both, 2, "")), "");
    CHECK_STR(watch_for(&watch, 29, of(both, 1, "AMD: of another driver")), ""); /* one of two vanishes */
    CHECK_STR(watch_for(&watch, 1, of(both, 1, "AMD: of another driver")),
              A1 "no figure for 30 s: its driver does not list it any more\n");
    CHECK_STR(watch_for(&watch, 100, of(both, 1, "")), ""); /* said once */
    CHECK_STR(watch_for(&watch, 1, of(both, 2, "")), "over: " A1 "it is sampled again\n");
    both[1].figures.temperature_c = NAN; /* listed, and nothing is known of it */
    CHECK_STR(watch_for(&watch, 31, of(both, 2, "")),
              A1 "no figure for 30 s: its driver gives no figure of it\n");
    both[1].figures.throttle_power = 0; /* any figure will do */
    CHECK_STR(watch_for(&watch, 1, of(both, 2, "")), "over: " A1 "it is sampled again\n");
    CHECK_STR(watch_for(&watch, 28, of(both, 1, "")), "");
    CHECK_STR(watch_for(&watch, 1, of(both, 2, "")), "");
    CHECK_STR(watch_for(&watch, 28, of(both, 1, "")), ""); /* from the beginning */
    daemon_alert_rules_finish(&watch.rules);
}

/* A driver that fails says why, and its first words stay when it is opened again without the device. */
static void test_failed(void)
{
    struct watch watch = {.rules.limits = limits, .s = 1};
    struct device_sample devices[] = {device("amd:0000:03:00.0", "B", 50), device("nvidia:0", "A", NAN)};
    CHECK_STR(watch_for(&watch, 5, of(devices, 2, "")), "");
    watch_for(&watch, 1, of(devices + 1, 1, "B at 0000:03:00.0: the device is gone"));
    CHECK_STR(watch_for(&watch, 60, of(NULL, 0, "no GPU")),
              "GPU lost: B (0000:03:00.0): no figure for 30 s: B at 0000:03:00.0: the device is gone\n");
    daemon_alert_rules_finish(&watch.rules); /* the other was never sampled: it is not missed */
}

/* A driver that hangs says for how long; that counts from the last sample that came back. */
static void test_stalled(void)
{
    struct watch watch = {.rules.limits = limits, .s = 1};
    struct device_sample devices[] = {device("nvidia:GPU-00000001-1", "A", 50)};
    struct alert_sample hangs = {devices, 1, true, "the driver has not answered for 3 s", 5 * S};
    CHECK_STR(watch_for(&watch, 5, of(devices, 1, "")), "");
    devices[0].figures.temperature_c = NAN;
    CHECK_STR(watch_for(&watch, 20, hangs), "");
    hangs.reason = "the driver has not answered for 29 s";
    CHECK_STR(watch_for(&watch, 40, hangs), A1 "no figure for 30 s: the driver has not answered for 29 s\n");
    devices[0].figures.temperature_c = 50;
    CHECK_STR(watch_for(&watch, 1, of(devices, 1, "")), "over: " A1 "it is sampled again\n");
    devices[0].figures.temperature_c = NAN;
    watch_for(&watch, 10, hangs); /* and then it answers, without figures */
    hangs.stalled = false;
    CHECK_STR(watch_for(&watch, 30, of(devices, 1, "")),
              A1 "no figure for 30 s: its driver gives no figure of it\n");
    daemon_alert_rules_finish(&watch.rules);
}

/* A sample a minute: what stands until the next one is known. */
static void test_slow_samples(void)
{
    struct watch watch = {.rules.limits = limits, .s = 1};
    const struct alert_sink sink = {NULL, note};
    struct device_sample devices[] = {device("nvidia:GPU-00000001-1", "A", 50)};
    const struct alert_sample sample = {devices, 1, false, "", S};
    texts[0] = '\0';
    for (int64_t s = 1; s < 200; s++)
        daemon_alert_read_devices(&watch.rules, &watch.seen, &sample, s * S, &sink);
    CHECK_STR(texts, "");
    daemon_alert_rules_finish(&watch.rules);
}

/* A former run's stays while the device is away, and is over once it is sampled; off ends it. */
static void test_restart(void)
{
    struct watch watch = {.rules.limits = limits, .s = 1};
    struct device_sample devices[] = {device("nvidia:GPU-00000001-1", "A", 50)};
    daemon_alert_rules_adopt(&watch.rules, "GPU_LOST", DB_WARNING, A1 "no figure for 30 s: NVML: gone");
    CHECK_STR(watch_for(&watch, 100, of(NULL, 0, "no GPU")), "");
    CHECK_STR(watch_for(&watch, 1, of(devices, 1, "")), "over: " A1 "it is sampled again\n");
    CHECK(strstr(watch_for(&watch, 100, of(NULL, 0, "no GPU")), A1 "no figure for 30 s: no GPU") != NULL);
    watch.rules.limits.gpu_lost_ns = 0;
    CHECK_STR(watch_for(&watch, 1, of(NULL, 0, "no GPU")), "over: " A1 "the rule is switched off\n");
    CHECK_STR(watch_for(&watch, 100, of(NULL, 0, "no GPU")), "");
    daemon_alert_rules_finish(&watch.rules);
}

int main(void)
{
    test_names();
    test_alike();
    test_many();
    test_lost();
    test_failed();
    test_stalled();
    test_slow_samples();
    test_restart();
    return check_done("daemon/alert_devices");
}
