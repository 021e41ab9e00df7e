/* What a zone file says of the time after its last change: a rule as POSIX has it for TZ ("EST5EDT,M3.2.0,
 * M11.1.0"), with the hours beyond a day that RFC 8536 allows. */
#ifndef TRAINER_ENV_ZONE_RULE_H
#define TRAINER_ENV_ZONE_RULE_H

#include <stdbool.h>
#include <stdint.h>

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

/* Reads it; false for a text that is none. */
bool env_zone_rule_parse(const char *text, struct zone_rule *ret);

int32_t env_zone_rule_offset(const struct zone_rule *rule, int64_t s);

#endif
