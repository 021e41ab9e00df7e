/* Time zones, from the system's zone files (TZif, RFC 8536): when it is what time in a place. The process's
 * own TZ is not looked at. */
#ifndef TRAINER_ENV_ZONE_H
#define TRAINER_ENV_ZONE_H

#include <stddef.h>
#include <stdint.h>

struct zone;

enum { ZONE_ERROR_MAX = 256 };

/* Loads NAME ("America/New_York") from $TZDIR, else /usr/share/zoneinfo; "UTC" needs no file. 0, for
 * env_zone_close(); -EINVAL for a name that is none or a file that is damaged, -ENOENT and other errors of
 * opening, -ENOMEM, with a sentence. */
int env_zone_open(const char *name, struct zone **ret, char err[static ZONE_ERROR_MAX]);
void env_zone_close(struct zone *zone); /* NULL is fine */

/* Seconds to add to UTC for local time, at unix time `s`. */
int32_t env_zone_offset(const struct zone *zone, int64_t s);

#endif
