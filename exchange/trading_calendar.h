/* A market's calendar: its days with their sessions over a stated range, in the zone of its exchange; which
 * session a time and a bar belong to, and where a session's bars begin. Pure: tables come from a file
 * (exchange/calendar_file.h), from a venue (daemon/feed/calendar.h) or from the log (EVENT_CALENDAR).
 *
 * Sessions of a day: PRE [early, open), REGULAR [open, close), POST [close, late); all else within the range
 * is CLOSED. Bars below a day begin at a session's start, and the last one of a session ends with it: no bar
 * belongs to two. */
#ifndef EXCHANGE_TRADING_CALENDAR_H
#define EXCHANGE_TRADING_CALENDAR_H

#include "exchange/bar.h"
#include "exchange/trading_day.h"

enum { CALENDAR_HASH_SIZE = 32 };

/* Borrowed by all that read it. n 0: a market that trades at all times, whose bars have no session. */
struct trading_calendar {
    char name[CALENDAR_NAME_MAX]; /* "us-equity" */
    const struct trading_day *days;
    size_t n;
    /* Every day with a session whose early time is in [from_ns, to_ns) is among the days: beyond it nothing
     * is known. */
    int64_t from_ns, to_ns;
};

/* The bars that strategies, policies, backtests and environments read and decide on; a market without a
 * calendar has them all. */
enum session_choice {
    SESSION_ALL,      /* every bar, whenever it is */
    SESSION_REGULAR,  /* REGULAR */
    SESSION_EXTENDED, /* PRE, REGULAR, POST, and MIXED ones */
    SESSION_CHOICES,
};
extern const char *const session_choice_names[SESSION_CHOICES]; /* "all", "regular", "extended" */

/* A stretch of one day in which a choice's bars are; SESSION_ALL has none. */
struct session_span {
    int64_t open_ns, close_ns;
    size_t day; /* its index in the calendar */
};

/* A copy with days of its own, which trading_calendar_forget() frees. 0 or -ENOMEM. */
int trading_calendar_copy(const struct trading_calendar *calendar, struct trading_calendar *ret);

/* Frees the days of a copy, which has none then. */
void trading_calendar_forget(struct trading_calendar *copy);

/* Is all of [open_ns, end_ns) within the range? True without days. */
bool trading_calendar_covers(const struct trading_calendar *calendar, int64_t open_ns, int64_t end_ns);

/* The session of a bar [open_ns, end_ns): NONE without days and beyond the range; MIXED where it begins in
 * one and ends in another, CLOSED among them. A bar that begins in a session and is shorter there than its
 * interval because the session ends is of that session only if end_ns says so. */
enum bar_session trading_session_of(const struct trading_calendar *calendar, int64_t open_ns, int64_t end_ns);

/* Is a bar of that session among the choice's? NONE always is. */
bool session_takes(enum session_choice choice, enum bar_session session);

/* The span that holds `ns`, or the first one after it. False: there is none that is known, or SESSION_ALL. */
bool trading_span_at(const struct trading_calendar *calendar, enum session_choice choice, int64_t ns,
                     struct session_span *ret);

/* The opening and the end of the bar of this interval that holds `ns`: within its session; without days, in
 * CLOSED times and from a day on by the clock (bar_open_time()). */
void trading_bar_span(const struct trading_calendar *calendar, int64_t interval_ns, int64_t ns,
                      int64_t *ret_open_ns, int64_t *ret_end_ns);

/* When the bar that opens there ends: with its session, if that is sooner than its interval. */
int64_t trading_bar_end(const struct trading_calendar *calendar, int64_t interval_ns, int64_t open_ns);

/* A bar of a day or more, made of shorter ones: it opens by the clock, and has the regular sessions of its
 * trading days, which are those that open within it. */
struct long_span {
    int64_t open_ns;          /* of the bar */
    int64_t from_ns, till_ns; /* the first session's opening, the last one's close */
};

/* The one that a trading day is in, by its index. Of its last days, where they are not known yet, the end is
 * by the clock. False: its first days are not known. */
bool trading_long_span(const struct trading_calendar *calendar, int64_t interval_ns, size_t day,
                       struct long_span *ret);

/* Is no bar of the choice after this one in its day? By its end; false for SESSION_ALL and without days. */
bool trading_is_last(const struct trading_calendar *calendar, enum session_choice choice, int64_t open_ns,
                     int64_t interval_ns);

/* How many bars of the choice open in [from_ns, to_ns), from_ns being the opening of one: the distance of two
 * bars' rows. Nights have none; from a day on a bar counts that a session opens in. -1: the calendar does not
 * reach so far. Without days, and for SESSION_ALL, by the clock. */
int64_t trading_bars_between(const struct trading_calendar *calendar, enum session_choice choice,
                             int64_t interval_ns, int64_t from_ns, int64_t to_ns);

/* When the choice's next bar after the one that opens at `open_ns` opens, across nights. False: the calendar
 * does not reach so far. Without days, and for SESSION_ALL, by the clock. */
bool trading_next_bar(const struct trading_calendar *calendar, enum session_choice choice,
                      int64_t interval_ns, int64_t open_ns, int64_t *ret_ns);

/* The longest of bar_intervals below `below_ns` whose bars all begin on one grid, of the choice's sessions of
 * the days between two times: sessions begin at other times of a day, and after a change of clocks all of
 * them do. */
const struct bar_interval *trading_grid_interval(const struct trading_calendar *calendar,
                                                 enum session_choice choice, int64_t from_ns, int64_t to_ns,
                                                 int64_t below_ns);

/* SHA-256 of the range and the days, as little-endian int64: two calendars with the same hash trade at the
 * same times. 0 or -ENOMEM. */
int trading_calendar_hash(const struct trading_calendar *calendar, uint8_t ret[static CALENDAR_HASH_SIZE]);

#endif
