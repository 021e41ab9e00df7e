/* The session of each bar of a file, or of another source of bars. */
#ifndef EXCHANGE_BARS_SESSION_H
#define EXCHANGE_BARS_SESSION_H

#include "exchange/bars_file.h"

/* How a source's bars lie in the sessions. */
struct bars_session {
    const struct trading_calendar *calendar; /* with days */
    int64_t interval_ns;
    bool by_open; /* all bars that open in regular hours do so a whole number of intervals after the opening:
                   * then a session's last bar ends with it */
};

/* interval_ns 0: not known, a bar is a moment. */
struct bars_session bars_session_of(const struct bars_file *file, const struct trading_calendar *calendar,
                                    int64_t interval_ns);

/* When the bar that opens then ends. */
int64_t bars_session_end(const struct bars_session *of, int64_t open_ns);

/* Its session by its times, within the calendar's range: MIXED for one whose interval does not fit. Of a day
 * or more it is MIXED, or CLOSED where no session opens in it. */
enum bar_session bars_session_at(const struct bars_session *of, int64_t open_ns);

/* Are there regular hours in it? */
bool bars_session_regular(const struct bars_session *of, int64_t open_ns);

/* What to say of a bar beyond the calendar's range: "TIME: times from TIME to TIME, which NAME knows".
 * Returns ret. */
enum { BARS_BEYOND_MAX = 160 };
char *bars_session_beyond(const struct trading_calendar *calendar, int64_t open_ns,
                          char ret[static BARS_BEYOND_MAX]);

/* ---- Of a bars file's reader (exchange/bars_reader.h). ---- */
struct bars_reader;

/* Bars of a day or more whose times are dates of a zone become the same dates in UTC: days have no zone. */
void bars_session_dates(struct bars_reader *r);

/* Once all rows were read: each bar's session is the calendar's below a day, else the one of the file's
 * column, and MIXED without. 0; -EINVAL, with the sentence: a bar beyond the calendar's range; one whose
 * column contradicts the calendar; unless all bars are wanted, one that is in no session, or, of a file with
 * regular hours alone, after the early close of a half day; where regular bars are wanted and mixed ones are
 * not kept, a mixed one; and a file of regular hours alone whose times, or those of a day, fit the calendar
 * only in another zone. */
int bars_session_find(struct bars_reader *r);

/* Do the file's times fit the calendar better in another zone, or some half hours apart (bars_fit.c)? */
struct bars_fit {
    const char *zone; /* a better zone, or NULL: other minutes */
    int minutes;      /* to add to the times */
    bool of_day;      /* to those of one day */
};

/* Looks for one that has at least 99 % of all bars in the regular hours, a twentieth more than with the times
 * as they are, and bars at the opening and the close on half of the days. */
bool bars_fit_regular(const struct bars_reader *r, struct bars_fit *ret);

/* Looks for the first day whose bars, once the sessions are known, reach some half hours apart from an
 * opening to that session's close, as those of a zone that is wrong for a part of the year; finds the zone
 * with at least 99 % of all bars in the regular hours, or else the minutes of that day. *ret_row: its first
 * bar outside the regular hours. */
bool bars_fit_day(const struct bars_reader *r, struct bars_fit *ret, size_t *ret_row);

/* Looks for one where the volume at openings and closes is a quarter more than with the times as they are, of
 * at least five days. */
bool bars_fit_volume(const struct bars_reader *r, struct bars_fit *ret);

/* "--zone UTC", "times 1 h later", "times 30 min earlier". Returns ret. */
char *bars_fit_text(const struct bars_fit *fit, char ret[static BARS_FITS_MAX]);

#endif
