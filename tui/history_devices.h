/* What the dashboard shows of devices and processes: the newest samples of each, and what the day before
 * them was. All of it from the database, with a daemon or without. */
#ifndef TUI_HISTORY_DEVICES_H
#define TUI_HISTORY_DEVICES_H

#include <stdbool.h>
#include <stdint.h>

#include "db/device_span.h"
#include "tui/status.h"

enum {
    HISTORY_DEVICES_MAX = DEVICES_MAX,
    HISTORY_HOLDERS_MAX = 32,
    HISTORY_USES_MAX = 128,
    HISTORY_PROCESSES_MAX = 16,
    HISTORY_MINUTE_PARTS = 30, /* of 2 s */
    HISTORY_DAY_PARTS = 48,    /* of half an hour */
    HISTORY_USES_S = DB_SAMPLES_KEPT_S,
    HISTORY_FRESH_INTERVALS = 3, /* after which a sample stands for nothing more */
};
#define HISTORY_MINUTE_PART_NS (2 * INT64_C(1000000000))

/* The last sample, and the day before it, which it is part of. Parts go up in time: those of the day end with
 * the last sample, those of the minute at the time of the reading. NaN: not known. */
struct history_device {
    char key[DEVICE_KEY_MAX], name[DEVICE_NAME_MAX], driver[DEVICE_DRIVER_MAX];
    char profile[DEVICE_PROFILE_MAX], reason[STATUS_TEXT_MAX];
    bool processes_known;
    int64_t last_ns, interval_ns; /* between its samples: the median of the newest */
    struct device_figures last, mean, max;
    double minute[HISTORY_MINUTE_PARTS], day[HISTORY_DAY_PARTS]; /* utilisation, percent */
    struct db_span span;                                         /* what mean and max are of, up to day_ns */
    int64_t day_ns;
    int64_t day_minute; /* when the day was read, in minutes of last_ns; 0: never */
};

/* A process on a device, from first_ns to ts_ns; `now`: in the device's last sample. */
struct history_holder {
    int device;
    bool now;
    int64_t pid, first_ns, ts_ns;
    char name[DEVICE_PROCESS_NAME_MAX], role[PROCESS_ROLE_MAX];
    double memory_bytes, memory_bytes_max, util_percent, util_percent_max;
};

/* How busy a device of it was while a training was in a state, over the last HISTORY_USES_S. */
struct history_use {
    char training[STATUS_TRAINING_NAME_MAX], state[STATUS_WORD_MAX];
    int device;
    int64_t n;
    double util_percent, util_percent_max;
};

struct history_process {
    char role[PROCESS_ROLE_MAX];
    int64_t pid, last_ns, interval_ns;
    struct db_process_figures last, mean, max;
    double minute[HISTORY_MINUTE_PARTS], day[HISTORY_DAY_PARTS]; /* processor time, percent of a core */
    double memory_day[HISTORY_DAY_PARTS];                        /* resident, in bytes */
    struct db_span span;
    int64_t day_ns, day_minute;
};

/* Those that were seen within a day of the newest: devices by key, holders by device, uses by training and
 * device, processes that are there first. */
struct history_devices {
    struct history_device devices[HISTORY_DEVICES_MAX];
    struct history_holder holders[HISTORY_HOLDERS_MAX];
    struct history_use uses[HISTORY_USES_MAX];
    struct history_process processes[HISTORY_PROCESSES_MAX];
    int n, n_holders, n_uses, n_processes;
    char reason[STATUS_TEXT_MAX]; /* why the daemon has no samples; "" */
    int64_t newest_ns;            /* of the devices' samples; 0: none */
    int64_t uses_minute;
};

#endif
