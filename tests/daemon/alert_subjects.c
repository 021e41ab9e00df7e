/* Which figures of devices and trainings the alert rules see: names, throttle reasons, the device of a
 * training, the time without a trial. */
#include "daemon/alert_subjects.h"

#include <math.h>
#include <string.h>

#include "tests/check.h"

#define S INT64_C(1000000000)

static const struct alert_limits limits = {
    .gpu_temperature = 80,
    .gpu_temperature_critical = 85,
    .gpu_memory = 0.95,
    .gpu_utilisation = 0.5,
    .gpu_utilisation_ns = 2 * S,
    .throttled_ns = 1 * S,
    .no_trial_ns = 3600 * S,
};

static struct device_sample device(const char *key, const char *name)
{
    struct device_sample sample;
    daemon_gpu_device_clear(&sample);
    snprintf(sample.device, sizeof sample.device, "%s", key);
    snprintf(sample.name, sizeof sample.name, "%s", name);
    return sample;
}

/* The texts of all changes, a line each. */
static char seen[4096];

static void note(void *ctx, const struct alert_decision *decision)
{
    (void)ctx;
    size_t n = strlen(seen);
    if (decision->change == ALERT_MOVED) /* alert_rules.c has those */
        return;
    snprintf(seen + n, sizeof seen - n, "%s%s\n", decision->change == ALERT_OVER ? "over: " : "",
             decision->text);
}

static const struct alert_sink sink = {.change = note};

static struct alert_devices known;

static const char *read_devices(struct alert_rules *rules, const struct device_sample *devices, int n,
                                int64_t s)
{
    const struct alert_sample sample = {.devices = devices, .n = n, .reason = "", .sampled_ns = s * S};
    seen[0] = '\0';
    daemon_alert_read_devices(rules, &known, &sample, s * S, &sink);
    return seen;
}

static const char *read_training(struct alert_rules *rules, const struct training_seen *training,
                                 const struct device_sample *devices, int n, int64_t s)
{
    const struct alert_sample sample = {.devices = devices, .n = n, .reason = "", .sampled_ns = s * S};
    seen[0] = '\0';
    daemon_alert_devices_take(&known, &sample);
    daemon_alert_read_training(rules, training, &known, &sample, s * S, s * S, &sink);
    daemon_alert_read_end(rules, &sink);
    return seen;
}

static void test_devices(void)
{
    struct alert_rules rules = {.limits = limits};
    struct device_sample devices[] = {device("nvidia:GPU-00000001-1", "A"),
                                      device("nvidia:GPU-00000002-2", "A")};
    CHECK_STR(read_devices(&rules, devices, 2, 0), ""); /* nothing is known */
    devices[1].figures.temperature_c = 81;
    devices[0].figures.memory_used_bytes = 15.5 * (1 << 30);
    devices[0].figures.memory_total_bytes = 16.0 * (1 << 30);
    CHECK_STR(read_devices(&rules, devices, 2, 1),
              "GPU memory: A (GPU-00000001): 96.9 % (15.5 of 16.0 GiB), warning from 95 %\n"
              "GPU temperature: A (GPU-00000002): 81 C, warning from 80 C\n");
    devices[0].figures.memory_total_bytes = 0; /* no share of nothing */
    CHECK_STR(read_devices(&rules, devices, 2, 2), "");
    devices[1].figures.throttle_power = 1; /* no reason for a warning */
    devices[0].figures.throttle_thermal = 1;
    CHECK_STR(read_devices(&rules, devices, 2, 3), "");
    CHECK_STR(read_devices(&rules, devices, 2, 4),
              "GPU throttled: A (GPU-00000001): thermal slowdown, for 1s\n");
    devices[0].figures.throttle_thermal = NAN; /* the other reason is known, and is not there */
    devices[0].figures.throttle_hardware = 0;
    CHECK_STR(read_devices(&rules, devices, 2, 5),
              "over: GPU throttled: A (GPU-00000001): not slowed down\n");
    daemon_alert_rules_finish(&rules);
}

static struct training training_of(const char *state, const char *on)
{
    struct training training = {
        .pid = 42, .heard_age_ms = 0, .expected_ms = 1000, .state_limit_s = NAN, .state_s = NAN};
    snprintf(training.name, sizeof training.name, "ppo");
    snprintf(training.state, sizeof training.state, "%s", state);
    snprintf(training.device, sizeof training.device, "%s", on);
    return training;
}

/* 30 % for two seconds of an update: "" where its device is not known. */
static const char *low_use(struct training_seen training, const struct device_sample *devices, int n)
{
    struct alert_rules rules = {.limits = limits};
    const char *text = "";
    for (int64_t s = 0; s < 3; s++)
        text = read_training(&rules, &training, devices, n, s);
    daemon_alert_rules_finish(&rules);
    return text;
}

static void test_device_of(void)
{
    static const char words[] =
        "GPU utilisation: ppo: 30 % on A (GPU-00000002), warning below 50 % for 2s in an update\n";
    struct training training = training_of("update", "0");
    struct training_seen now = {.training = &training, .current = true};
    struct device_sample devices[] = {device("amd:0000:03:00.0", "B"), device("nvidia:GPU-00000002-2", "A"),
                                      device("nvidia:GPU-00000001-1", "A")};
    devices[1].figures.util_percent = 30;
    devices[2].figures.util_percent = 90;
    devices[0].figures.util_percent = 0;
    CHECK_STR(low_use(now, devices, 2), words); /* the only one of NVIDIA */
    CHECK_STR(low_use(now, devices, 3), "");    /* one of two */
    CHECK_STR(low_use(now, devices, 0), "");
    devices[1].processes[devices[1].n_processes++].pid = 41;
    devices[1].processes[devices[1].n_processes++].pid = 42;
    CHECK_STR(low_use(now, devices, 3), words); /* its worker is there */
    training.pid = -1;
    CHECK_STR(low_use(now, devices, 3), "");
    training = training_of("rollout", "0");
    CHECK_STR(low_use(now, devices, 2), "");
    training = training_of("update", "cpu");
    CHECK_STR(low_use(now, devices, 2), "");
    training = training_of("update", "0"); /* that had no memory there, and fell back */
    snprintf(training.backend, sizeof training.backend, "cpu-avx512");
    CHECK_STR(low_use(now, devices, 2), "");
    snprintf(training.backend, sizeof training.backend, "cuda: NVIDIA H100");
    CHECK_STR(low_use(now, devices, 2), words);
    now.current = false; /* nothing is known of its state */
    CHECK_STR(low_use(now, devices, 2), "");
}

static void test_trials(void)
{
    struct alert_rules rules = {.limits = limits};
    struct training study = training_of("searching", "");
    struct training_seen now = {.training = &study, .current = true};
    snprintf(study.study, sizeof study.study, "ppo");
    study.started_ns = 100 * S;
    study.total_steps = 50;
    CHECK_STR(read_training(&rules, &now, NULL, 0, 3699), "");
    CHECK_STR(read_training(&rules, &now, NULL, 0, 3700),
              "no trial finished: ppo: 60 min after 0 of 50 trials, warning from 1h\n");
    study.steps = 1;
    now.trial_ns = 3701 * S;
    CHECK_STR(read_training(&rules, &now, NULL, 0, 3702),
              "over: no trial finished: ppo: 1 s after 1 of 50 trials\n");
    CHECK_STR(read_training(&rules, &now, NULL, 0, 7300), "");
    now.current = false;
    CHECK_STR(read_training(&rules, &now, NULL, 0, 7301), "");
    now.current = true;
    CHECK_STR(read_training(&rules, &now, NULL, 0, 7302),
              "no trial finished: ppo: 60 min after 1 of 50 trials, warning from 1h\n");

    /* The next run of the daemon: it does not know when the last trial finished. */
    struct alert_rules again = {.limits = limits};
    daemon_alert_rules_adopt(&again, "NO_TRIAL", DB_WARNING, "no trial finished: ppo: 60 min …");
    now.trial_ns = 0;
    now.known_ns = 7400 * S;
    CHECK_STR(read_training(&again, &now, NULL, 0, 7401), "");
    CHECK_STR(read_training(&again, &now, NULL, 0, 11100), "");
    now.trial_ns = 11101 * S;
    CHECK_STR(read_training(&again, &now, NULL, 0, 11102),
              "over: no trial finished: ppo: 1 s after 1 of 50 trials\n");
    now.trial_ns = 0; /* and where nothing is open: an hour after its start at the latest */
    CHECK_STR(read_training(&again, &now, NULL, 0, 10999), "");
    CHECK_STR(read_training(&again, &now, NULL, 0, 11000),
              "no trial finished: ppo: 60 min after 1 of 50 trials, warning from 1h\n");
    snprintf(study.state, sizeof study.state, "proposing");
    CHECK_STR(read_training(&again, &now, NULL, 0, 11001), "over: no trial finished: ppo: it has ended\n");
    daemon_alert_rules_finish(&again);
    daemon_alert_rules_finish(&rules);
}

static void test_stall(void)
{
    struct alert_rules rules = {.limits = limits};
    struct training training = training_of("rollout", "cpu");
    struct training_seen now = {.training = &training, .current = true, .reported_age_ms = 61000};
    CHECK_STR(read_training(&rules, &now, NULL, 0, 1), "");
    CHECK_STR(read_training(&rules, &now, NULL, 0, 2), "");
    CHECK_STR(read_training(&rules, &now, NULL, 0, 3),
              "training stalled: ppo: its worker (process 42) says nothing any more, last it was in rollout; "
              "papertape train restart ppo begins another\n");
    now.current = false; /* the co-process is silent: nothing is known */
    now.reported_age_ms = 0;
    CHECK_STR(read_training(&rules, &now, NULL, 0, 4), "");
    now.current = true;
    CHECK_STR(read_training(&rules, &now, NULL, 0, 5),
              "over: training stalled: ppo: its worker reports again\n");
    now.reported_age_ms = 61000;
    for (int64_t s = 6; s < 9; s++)
        read_training(&rules, &now, NULL, 0, s);
    CHECK(strstr(seen, "training stalled: ppo") == seen);
    snprintf(training.state, sizeof training.state, "stopped");
    CHECK_STR(read_training(&rules, &now, NULL, 0, 9), "over: training stalled: ppo: it has ended\n");
    daemon_alert_rules_finish(&rules);
}

int main(void)
{
    test_devices();
    test_device_of();
    test_trials();
    test_stall();
    return check_done("daemon/alert_subjects");
}
