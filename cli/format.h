/* Figures as people read them, in few columns. Unknown values come out as "n/a". Every function writes a
 * NUL-terminated text into buf[FORMAT_MAX] and returns buf. */
#ifndef CLI_FORMAT_H
#define CLI_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

enum { FORMAT_MAX = 48 };

/* `value` with `decimals` (0..12) digits; a change always has a sign, except 0. NaN: "n/a". */
char *cli_format_number(char buf[static FORMAT_MAX], double value, int decimals);
char *cli_format_signed(char buf[static FORMAT_MAX], double value, int decimals);

/* Why a device is slowed, of figures that are above 0 where they are a reason: "power", "power+thermal",
 * "thermal+hardware"; "-" for none, "n/a" where all are NaN. */
char *cli_format_throttled(char buf[static FORMAT_MAX], double power, double thermal, double hardware);

/* In place of devices, and of the processes on one, where none can be printed. */
#define FORMAT_NO_DEVICE "no GPU"
#define FORMAT_HIDDEN    "n/a, hidden by the container or by /proc"

/* The sign that such a number is shown with: -1, 1; 0 of what is shown as 0.00, and of "n/a". */
int cli_format_sign(double value, int decimals);

/* "+2.43%". */
char *cli_format_percent(char buf[static FORMAT_MAX], double value, int decimals);

/* A price with at most `columns` columns: decimals are dropped from the right before digits are. */
char *cli_format_fit(char buf[static FORMAT_MAX], double value, int decimals, int columns);

/* An age: "0.3s", "94s", "12m", "5h", "3d". Negative: "n/a". */
char *cli_format_age(char buf[static FORMAT_MAX], int64_t age_ms);

/* A count or a number of bytes: "812", "9.1k", "2.4M". */
char *cli_format_count(char buf[static FORMAT_MAX], double value);

/* The time of day, "14:02:11", and with its date, "2024-08-08 14:02:11"; in UTC, unless the process asked for
 * the machine's zone. The zone: "Z", or "+0200" at that time; and by how many seconds its clock is ahead of
 * UTC then. */
void cli_format_local(bool local);
bool cli_format_is_local(void);
char *cli_format_weekday(char buf[static FORMAT_MAX], int64_t ts_ns); /* "Mon" */
char *cli_format_zone(char buf[static FORMAT_MAX], int64_t ts_ns);
int64_t cli_format_utc_offset_s(int64_t ts_ns);
char *cli_format_clock(char buf[static FORMAT_MAX], int64_t ts_ns);
int64_t cli_format_read_clock(int64_t clock_ns); /* when that zone's clock reads as UTC's does at clock_ns */
char *cli_format_time(char buf[static FORMAT_MAX], int64_t ts_ns);

#endif
