/* The session of each bar of a file, once all of it was read. */
#ifndef EXCHANGE_BARS_SESSION_H
#define EXCHANGE_BARS_SESSION_H

#include "exchange/bars_reader.h"

/* Bars of a day or more whose times are dates of a zone become the same dates in UTC: days have no zone. */
void bars_session_dates(struct bars_reader *r);

/* Sets each bar's session: the calendar's, below a day; else the one of the file's column, and MIXED without.
 * A bar whose interval does not fit its session is MIXED, unless all bars of the regular hours begin a whole
 * number of intervals after the opening: then a session's last bar ends with it. 0; -EINVAL, with the
 * sentence: a bar beyond the calendar's range; one whose column contradicts the calendar; unless all bars are
 * wanted, one that is in no session, or, of a file with regular hours alone, after the early close of a half
 * day; where regular bars are wanted and mixed ones are not kept, a mixed one; and a file of regular hours
 * alone whose times fit the calendar only in another zone. */
int bars_session_find(struct bars_reader *r);

/* Do the file's times fit the calendar better in another zone, or some hours apart (bars_fit.c)? */
struct bars_fit {
    const char *zone; /* a better zone, or NULL: another number of hours */
    int hours;        /* to add to the times */
};

/* Looks for one that has at least 99 % of all bars in the regular hours, a twentieth more than with the times
 * as they are, and bars at the opening and the close on half of the days. */
bool bars_fit_regular(const struct bars_reader *r, struct bars_fit *ret);

/* Looks for one where the volume at openings and closes is a quarter more than with the times as they are, of
 * at least five days. */
bool bars_fit_volume(const struct bars_reader *r, struct bars_fit *ret);

/* "--zone UTC", "times 1 h later". Returns ret. */
char *bars_fit_text(const struct bars_fit *fit, char ret[static BARS_FITS_MAX]);

#endif
