/* One calendar's market through time: which phase was emitted last, and which changes are due. Pure: days
 * and time are passed in. */
#ifndef DAEMON_FEED_CALENDAR_H
#define DAEMON_FEED_CALENDAR_H

#include "exchange/symbol.h"
#include "exchange/trading_calendar.h"
#include "exchange/trading_day.h"

struct calendar {
    char name[CALENDAR_NAME_MAX];
    bool extended; /* it is also traded in before and after the session */
    struct trading_day *days;
    size_t n;
    bool changed;           /* the days are others than feed_calendar_days() gave last */
    bool reported;          /* feed_calendar_step() has emitted `now` */
    struct trading_now now; /* UNKNOWN before */
    int64_t due_ns;         /* when feed_calendar_step() has something to say; INT64_MAX: not known */
};

void feed_calendar_init(struct calendar *calendar, const char *name, bool extended);
void feed_calendar_finish(struct calendar *calendar);

/* Days that are known from before the venue is asked, where there are none yet; nothing becomes due by them.
 * They must reach to the first of the days that are taken next, or to the day before it. 0 or -ENOMEM. */
int feed_calendar_begin(struct calendar *calendar, const struct trading_calendar *known);

/* Days that the venue sent: they replace those of the same time, others stay. 0; -EINVAL for days that
 * contradict each other, -ENOMEM: then nothing has changed. */
int feed_calendar_take(struct calendar *calendar, const struct trading_day *days, size_t n);

/* All days that are known. They stay until the next ones are taken. */
struct trading_calendar feed_calendar_view(const struct calendar *calendar);

/* True, with all days, from the first one's earliest time to the last one's latest, where they have changed
 * since it was asked last. They stay until the next ones are taken. */
bool feed_calendar_days(struct calendar *calendar, struct trading_calendar *ret);

/* Is it traded in, by the last change emitted? */
bool feed_calendar_open(const struct calendar *calendar);

/* One change that is due by `now_ns`: true, with when it took effect (not before the last one), and `now`
 * from then on. Call it until it is false, so that no change in between is left out. */
bool feed_calendar_step(struct calendar *calendar, int64_t now_ns, int64_t *ret_at_ns);

/* The opening of the bar from which on `bars` bars of sessions closed before `now_ns`; as far back as the
 * days reach. */
int64_t feed_calendar_back(const struct calendar *calendar, int64_t now_ns, int64_t interval_ns,
                           int64_t bars);

/* Is any of it in a session, between two times? */
bool feed_calendar_any(const struct calendar *calendar, int64_t from_ns, int64_t to_ns);

#endif
