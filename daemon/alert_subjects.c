#include "daemon/alert_subjects.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "daemon/training/alert.h"

#define NVIDIA "nvidia:"

void daemon_alert_read(struct alert_rules *rules, const struct alert_reading *reading, int64_t now_ns,
                       const struct alert_sink *sink)
{
    struct alert_decision decision;
    if (daemon_alert_rules_read(rules, reading, now_ns, &decision))
        sink->change(sink->ctx, &decision);
}

/* ---- devices ---- */

/* The reasons that deserve a warning: heat, and what the hardware does by itself. The power cap is a rule of
 * its own. */
static double slowed(const struct device_figures *figures)
{
    return fmax(figures->throttle_thermal, figures->throttle_hardware); /* NaN only where both are */
}

static const char *slowed_by(const struct device_figures *figures)
{
    bool thermal = figures->throttle_thermal > 0.5, hardware = figures->throttle_hardware > 0.5;
    return thermal && hardware ? "thermal and hardware slowdown"
           : hardware          ? "hardware slowdown or power brake"
           : thermal           ? "thermal slowdown"
                               : "not slowed down";
}

static void memory_words(const struct device_figures *figures, char *buf, size_t size)
{
    const double gib = (double)(1 << 30);
    snprintf(buf, size, "(%.1f of %.1f GiB)", figures->memory_used_bytes / gib,
             figures->memory_total_bytes / gib);
}

static void read_device(struct alert_rules *rules, const struct alert_devices *seen,
                        const struct device_sample *device, int64_t now_ns, const struct alert_sink *sink)
{
    const struct device_figures *figures = &device->figures;
    char where[ALERT_WHERE_MAX], memory[64];
    daemon_alert_device_name(seen, device, where);
    memory_words(figures, memory, sizeof memory);
    const struct alert_reading readings[] = {
        {ALERT_GPU_TEMPERATURE, where, figures->temperature_c, NULL},
        {ALERT_GPU_MEMORY, where,
         figures->memory_total_bytes > 0 ? figures->memory_used_bytes / figures->memory_total_bytes : NAN,
         memory},
        {ALERT_GPU_THROTTLED, where, slowed(figures), slowed_by(figures)},
        {ALERT_GPU_POWER_CAPPED, where, figures->throttle_power,
         figures->throttle_power > 0.5 ? "at its power cap" : "below its power cap"},
    };
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++)
        daemon_alert_read(rules, &readings[i], now_ns, sink);
}

static void read_lost(struct alert_rules *rules, const struct alert_device *device, int64_t now_ns,
                      const struct alert_sink *sink)
{
    char where[ALERT_WHERE_MAX], detail[DB_ALERT_TEXT_MAX];
    daemon_alert_device_where(device, where);
    double s = daemon_alert_device_lost(device, now_ns, detail);
    const struct alert_reading reading = {ALERT_GPU_LOST, where, s, detail};
    daemon_alert_read(rules, &reading, now_ns, sink);
}

void daemon_alert_read_devices(struct alert_rules *rules, struct alert_devices *seen,
                               const struct alert_sample *sample, int64_t now_ns,
                               const struct alert_sink *sink)
{
    daemon_alert_devices_take(seen, sample);
    for (int i = 0; i < seen->n; i++)
        read_lost(rules, &seen->list[i], now_ns, sink);
    for (int i = 0; i < sample->n; i++)
        read_device(rules, seen, &sample->devices[i], now_ns, sink);
}

/* ---- trainings ---- */

static bool is_nvidia(const struct device_sample *device)
{
    return strncmp(device->device, NVIDIA, strlen(NVIDIA)) == 0;
}

static bool has_process(const struct device_sample *device, int64_t pid)
{
    for (int i = 0; pid > 0 && i < device->n_processes; i++)
        if (device->processes[i].pid == pid)
            return true;
    return false;
}

/* The device that a training works on; NULL: not known. */
static const struct device_sample *device_of(const struct training *training,
                                             const struct device_sample *devices, int n)
{
    const struct device_sample *only = NULL;
    int n_nvidia = 0;
    for (int i = 0; i < n; i++) {
        if (!is_nvidia(&devices[i]))
            continue;
        if (has_process(&devices[i], training->pid))
            return &devices[i];
        only = &devices[i];
        n_nvidia++;
    }
    return n_nvidia == 1 ? only : NULL;
}

/* It has no device, or left it: device = auto falls back where the device has no memory for it. */
static bool on_cpu(const struct training *training)
{
    return !training->device[0] || strcmp(training->device, "cpu") == 0 ||
           strncmp(training->backend, "cpu", 3) == 0;
}

static void read_utilisation(struct alert_rules *rules, const struct training_seen *seen,
                             const struct alert_devices *known, const struct alert_sample *sample,
                             int64_t now_ns, const struct alert_sink *sink)
{
    const struct training *training = seen->training;
    const struct device_sample *device = device_of(training, sample->devices, sample->n);
    char name[ALERT_WHERE_MAX], detail[ALERT_WHERE_MAX + 8] = "";
    if (on_cpu(training))
        return;
    bool updates = seen->current && device && strcmp(training->state, "update") == 0;
    if (device) {
        daemon_alert_device_name(known, device, name);
        snprintf(detail, sizeof detail, "on %s", name);
    }
    const struct alert_reading reading = {ALERT_GPU_UTILISATION, training->name,
                                          updates ? device->figures.util_percent / 100 : NAN, detail};
    daemon_alert_read(rules, &reading, now_ns, sink);
}

/* For how many seconds no trial of a study has finished. Of a former run's time only a lower bound is known:
 * NaN, until that alone is too long. */
static double without_trial(const struct training_seen *seen, const struct alert_limits *limits,
                            int64_t wall_ns)
{
    const struct training *training = seen->training;
    bool exact = seen->trial_ns > 0 || training->steps == 0 || training->started_ns >= seen->known_ns;
    int64_t since_ns = training->started_ns > seen->trial_ns ? training->started_ns : seen->trial_ns;
    if (!exact && seen->known_ns > since_ns)
        since_ns = seen->known_ns;
    int64_t ns = wall_ns > since_ns ? wall_ns - since_ns : 0;
    return seen->current && (exact || ns >= limits->no_trial_ns) ? (double)ns * 1e-9 : NAN;
}

static void read_trials(struct alert_rules *rules, const struct training_seen *seen, int64_t now_ns,
                        int64_t wall_ns, const struct alert_sink *sink)
{
    const struct training *training = seen->training;
    char detail[64];
    if (!training->study[0] || strcmp(training->state, "searching") != 0)
        return;
    if (training->total_steps > 0)
        snprintf(detail, sizeof detail, "after %lld of %lld trials", (long long)training->steps,
                 (long long)training->total_steps);
    else
        snprintf(detail, sizeof detail, "after %lld trials", (long long)training->steps);
    const struct alert_reading reading = {ALERT_NO_TRIAL, training->name,
                                          without_trial(seen, &rules->limits, wall_ns), detail};
    daemon_alert_read(rules, &reading, now_ns, sink);
}

static void read_stall(struct alert_rules *rules, const struct training_seen *seen, int64_t now_ns,
                       const struct alert_sink *sink)
{
    char words[TRAINING_ALERT_TEXT_MAX];
    bool stalled = daemon_training_stalled(seen->training, seen->reported_age_ms);
    daemon_training_stalled_words(seen->training, words);
    const struct alert_reading reading = {ALERT_TRAINING_STALLED, seen->training->name,
                                          seen->current ? stalled : NAN,
                                          stalled ? words : "its worker reports again"};
    daemon_alert_read(rules, &reading, now_ns, sink);
}

void daemon_alert_read_training(struct alert_rules *rules, const struct training_seen *seen,
                                const struct alert_devices *known, const struct alert_sample *sample,
                                int64_t now_ns, int64_t wall_ns, const struct alert_sink *sink)
{
    if (!daemon_training_state_works(seen->training->state))
        return;
    read_utilisation(rules, seen, known, sample, now_ns, sink);
    read_trials(rules, seen, now_ns, wall_ns, sink);
    read_stall(rules, seen, now_ns, sink);
}

void daemon_alert_read_end(struct alert_rules *rules, const struct alert_sink *sink)
{
    struct alert_decision decision;
    while (daemon_alert_rules_sweep(rules, &decision))
        sink->change(sink->ctx, &decision);
}
