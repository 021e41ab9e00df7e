/* What the process has used: wall clock, processor, memory. */
#ifndef TRAINER_TELEMETRY_USAGE_H
#define TRAINER_TELEMETRY_USAGE_H

#include <stddef.h>

struct usage {
    double wall_s, cpu_s; /* cpu_s: of all its threads, user and system */
};
struct usage telemetry_usage_now(void);
struct usage telemetry_usage_since(const struct usage *started);

size_t telemetry_usage_rss(void);      /* bytes that are resident; 0: not known */
size_t telemetry_usage_peak_rss(void); /* bytes; 0: not known */

#endif
