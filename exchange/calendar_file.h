/* Calendars that are data: built in ("nyse", exchange/calendars/nyse.calendar), "24x7", or a file of the same
 * format, in ASCII, a line each, blanks between words; a line that begins with # is a comment:
 *
 *   name nyse                        at most 15 letters
 *   zone America/New_York            as exchange/zone.h knows it; all times are local
 *   from 2000-01-01                  the range, with its last day
 *   to 2027-12-31
 *   week Mon Tue Wed Thu Fri         days with a session
 *   hours 04:00 09:30 16:00 20:00    pre from, open, close, post until: HH:MM, 00:00 to 24:00
 *   half 04:00 09:30 13:00 17:00     the same of a half day; needed only where a day is one
 *   2000-01-17 closed …              a day apart from the week, in the order of dates; what follows is a note
 *   2000-07-03 half …
 *   2002-09-11 08:00 12:00 16:00 20:00 …
 *
 * Beyond its range a calendar knows nothing: who asks for a day there is refused. */
#ifndef EXCHANGE_CALENDAR_FILE_H
#define EXCHANGE_CALENDAR_FILE_H

#include "exchange/trading_calendar.h"

enum { CALENDAR_ERROR_MAX = 512 };

#define CALENDAR_NAMES "nyse, 24x7 or a file"

struct calendar_file;

enum { CALENDAR_ZONE_MAX = 64 };

/* The zone of the built-in calendar that a word means. False: it means none that has one. */
bool calendar_file_zone(const char *word, char ret[static CALENDAR_ZONE_MAX]);

/* The built-in calendar that a word means, in capitals or not: "nyse" of that and of "us-equity", which is
 * what venues name the same days, and "24x7"; else the word itself. */
const char *calendar_file_name(const char *word);

/* By such a word, else a path. 0, for calendar_file_close(); -ENOENT and other errors of opening, -EINVAL
 * for what the file says, its zone included, -ENOMEM; then `err` holds a sentence with FILE:LINE. */
int calendar_file_open(const char *name_or_path, struct calendar_file **ret,
                       char err[static CALENDAR_ERROR_MAX]);
void calendar_file_close(struct calendar_file *file); /* NULL is fine */

/* Lives as long as the file. */
const struct trading_calendar *calendar_file_view(const struct calendar_file *file);

#endif
