/* The text of a calendar (exchange/calendar_file.h), read into a table of local times. */
#ifndef EXCHANGE_CALENDAR_TABLE_H
#define EXCHANGE_CALENDAR_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/calendar_file.h"

enum { CALENDAR_WEEK = 7 };

/* Minutes since the day's midnight. */
struct calendar_hours {
    int early, open, close, late;
};

struct calendar_day {
    int32_t day; /* since 1970-01-01 */
    bool closed;
    struct calendar_hours hours;
};

struct calendar_table {
    char name[CALENDAR_NAME_MAX], zone[CALENDAR_ZONE_MAX];
    int32_t from, to;         /* days since 1970-01-01, both of the range */
    bool week[CALENDAR_WEEK]; /* from Sunday */
    struct calendar_hours hours, half;
    struct calendar_day *days; /* apart from the week; rising */
    size_t n, cap;
};

/* Reads `text`, which it changes; `path` is for the sentence. 0, for calendar_table_finish(); -EINVAL,
 * -ENOMEM. */
int calendar_table_read(const char *path, char *text, struct calendar_table *ret,
                        char err[static CALENDAR_ERROR_MAX]);
void calendar_table_finish(struct calendar_table *table);

struct calendar_built_in {
    const char *name, *text;
};
extern const struct calendar_built_in calendar_built_ins[];
extern const size_t calendar_built_ins_n;

#endif
