/* Time zones, from the system's zone files (TZif, RFC 8536): local time offsets. The process's own TZ is not
 * read. */
#ifndef EXCHANGE_ZONE_H
#define EXCHANGE_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zone;

enum { ZONE_ERROR_MAX = 256 };

/* Loads NAME ("America/New_York") from $TZDIR, else /usr/share/zoneinfo; "UTC" needs no file. 0, for
 * zone_close(); -EINVAL for an invalid name or a damaged file, -ENOENT and other errors of opening,
 * -ENOMEM, with a sentence. */
int zone_open(const char *name, struct zone **ret, char err[static ZONE_ERROR_MAX]);
void zone_close(struct zone *zone); /* NULL is fine */

/* Seconds to add to UTC for local time, at unix time `s`. */
int32_t zone_offset(const struct zone *zone, int64_t s);

/* The unix time of a local one, counted as if its clock were UTC's. A time that comes twice is the first of
 * the two; one that is left out is later by what was left out. */
int64_t zone_utc(const struct zone *zone, int64_t local_s);

/* The same, but of a time that comes twice the second. */
int64_t zone_utc_second(const struct zone *zone, int64_t local_s);

/* The session that an instant (ns since 1970) is in, counted in days, where one ends each day at close_s
 * seconds of the day on the zone's clock; an end belongs to the session that it ends. */
int64_t zone_session(const struct zone *zone, int close_s, int64_t ns);

/* The rule of a zone file for the time after its last change, as POSIX has it for TZ ("EST5EDT,M3.2.0,
 * M11.1.0"), with the hours beyond a day that RFC 8536 allows. */

/* A day of the year and a time on it. */
struct zone_change {
    enum { ZONE_DAY_JULIAN, ZONE_DAY_OF_YEAR, ZONE_WEEKDAY } kind; /* Jn, n, Mm.w.d */
    int day;                                                       /* 1..365 without 29 February; 0..365 */
    int month, week, weekday; /* 1..12; 1..5, 5 the last; 0..6, 0 Sunday */
    int32_t time_s;           /* local, before the change */
};

struct zone_rule {
    int32_t standard_s, summer_s; /* to add to UTC */
    bool changes;                 /* is there a summer time? */
    struct zone_change begins, ends;
};

/* Parses it; false for an invalid text. */
bool zone_rule_parse(const char *text, struct zone_rule *ret);

int32_t zone_rule_offset(const struct zone_rule *rule, int64_t s);

#endif
