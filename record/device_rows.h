/* Devices, processes and their samples, field by field: record/device.h describes the figures, db/row.h the
 * rows. */
#ifndef RECORD_DEVICE_ROWS_H
#define RECORD_DEVICE_ROWS_H

#include "record/device.h"
#include "record/field.h"

#define RECORD_FIGURE_FIELD_(name, NEXT) NEXT(figures.name, #name, #name, REAL, CHANGES, NULLABLE, NULL)

#define RECORD_DEVICE(FIRST, NEXT) \
    FIRST(device, "device", "device", STRING, FIXED, REQUIRED, NULL) \
    NEXT(name, "name", "name", STRING, CHANGES, OPTIONAL, NULL) \
    NEXT(driver, "driver", "driver", STRING, CHANGES, OPTIONAL, NULL) \
    NEXT(profile, "profile", "profile", STRING, CHANGES, OPTIONAL, NULL) \
    NEXT(reason, "reason", "reason", STRING, CHANGES, OPTIONAL, NULL) \
    NEXT(processes_known, "processes_known", "processes_known", BOOL, CHANGES, REQUIRED, NULL) \
    NEXT(first_ns, "first_ns", "first_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(last_ns, "last_ns", "last_ns", TIME, CHANGES, REQUIRED, NULL)

#define RECORD_DEVICE_SAMPLE(FIRST, NEXT) \
    FIRST(device, "device", "device", STRING, FIXED, REQUIRED, NULL) \
    RECORD_SAMPLE_KEY_(NEXT) RECORD_DEVICE_FIGURES(RECORD_FIGURE_FIELD_, NEXT)

#define RECORD_DEVICE_PROCESS(FIRST, NEXT) \
    FIRST(device, "device", "device", STRING, FIXED, REQUIRED, NULL) \
    NEXT(pid, "pid", "pid", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(first_ns, "first_ns", "first_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, CHANGES, REQUIRED, NULL) \
    NEXT(n, "n", "n", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(name, "name", "name", STRING, CHANGES, OPTIONAL, NULL) \
    NEXT(role, "role", "role", STRING, CHANGES, OPTIONAL, NULL) \
    NEXT(memory_bytes, "memory_bytes", "memory_bytes", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(memory_bytes_max, "memory_bytes_max", "memory_bytes_max", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(util_percent, "util_percent", "util_percent", REAL, CHANGES, NULLABLE, NULL) \
    NEXT(util_percent_max, "util_percent_max", "util_percent_max", REAL, CHANGES, NULLABLE, NULL)

#define RECORD_PROCESS(FIRST, NEXT) \
    FIRST(role, "role", "role", STRING, FIXED, REQUIRED, NULL) \
    NEXT(pid, "pid", "pid", SIGNED, CHANGES, REQUIRED, NULL) \
    NEXT(first_ns, "first_ns", "first_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(last_ns, "last_ns", "last_ns", TIME, CHANGES, REQUIRED, NULL)

#define RECORD_PROCESS_SAMPLE(FIRST, NEXT) \
    FIRST(role, "role", "role", STRING, FIXED, REQUIRED, NULL) \
    RECORD_SAMPLE_KEY_(NEXT) RECORD_PROCESS_FIGURES(RECORD_FIGURE_FIELD_, NEXT)

/* The rest of a sample's key, and how many samples it is of. */
#define RECORD_SAMPLE_KEY_(NEXT) \
    NEXT(period_s, "period_s", "period_s", SIGNED, FIXED, REQUIRED, NULL) \
    NEXT(statistic, "statistic", "statistic", WORD, FIXED, REQUIRED, &db_words_statistic) \
    NEXT(ts_ns, "ts_ns", "ts_ns", TIME, FIXED, REQUIRED, NULL) \
    NEXT(n, "n", "n", SIGNED, CHANGES, REQUIRED, NULL)

#endif
