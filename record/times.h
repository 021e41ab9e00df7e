/* Moments as texts for programs. */
#ifndef RECORD_TIMES_H
#define RECORD_TIMES_H

#include <stdint.h>

enum { RECORD_TIME_ISO_MAX = 32 };

/* ISO 8601 in UTC with all nine digits of the second, "2026-11-29T16:13:15.123456789Z". Returns ret. */
const char *record_time_iso(int64_t ts_ns, char ret[static RECORD_TIME_ISO_MAX]);

/* The name of the column that has a column of times in ISO 8601: "ts_ns" "ts_iso", "open_time_ms"
 * "open_time_iso". NULL: it is no column of times. */
enum { RECORD_TIME_NAME_MAX = 40 };
const char *record_time_iso_name(const char *column, char ret[static RECORD_TIME_NAME_MAX]);

/* What stands in that column beside the cell of the other: "" beside an empty cell and 0, which mean none. */
const char *record_time_iso_cell(const char *column, const char *cell, char ret[static RECORD_TIME_ISO_MAX]);

#endif
