/* When a market trades: days with their sessions, as the venue's calendar has them, and what time it is in
 * them. Pure: time is passed in. Markets without a calendar trade at all times and have no days. */
#ifndef EXCHANGE_TRADING_DAY_H
#define EXCHANGE_TRADING_DAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exchange/symbol.h"

enum market_phase {
    MARKET_PHASE_UNKNOWN, /* the calendar has not been read, or does not reach so far */
    MARKET_PHASE_CLOSED,  /* night, weekend, holiday */
    MARKET_PHASE_EARLY,   /* before the session: extended hours */
    MARKET_PHASE_OPEN,
    MARKET_PHASE_LATE, /* after the session: extended hours */
    MARKET_PHASES,
};

/* One day on which there is a session. Nanoseconds UTC, early <= open < close <= late; a phase begins at its
 * time and ends before the next one's. */
struct trading_day {
    int64_t early_ns, open_ns, close_ns, late_ns;
};

/* The state at a moment. */
struct trading_now {
    enum market_phase phase;
    int64_t next_ns; /* when the phase changes; 0: not known */
    int64_t open_ns; /* the next opening, or this session's; 0: not known */
    bool half;       /* today's session is shorter than the longest of the days given */
};

/* For all symbols with that calendar. A closed market is not stale: nothing is filled, and no alert is
 * raised. */
struct market_session {
    char calendar[CALENDAR_NAME_MAX];
    enum market_phase phase;
    int64_t next_ns; /* when it changes again; 0: not known */
    bool extended;   /* orders are filled in EARLY and LATE as well ([venue NAME] extended_hours) */
};

/* Of days in order: the first that is not over at `ns`; n when all are. */
size_t trading_days_find(const struct trading_day *days, size_t n, int64_t ns);

/* Days in order, without overlap (trading_days_check()). Before the first day and after the last day's late
 * session the phase is UNKNOWN. */
void trading_days_at(const struct trading_day *days, size_t n, int64_t now_ns, struct trading_now *ret);

/* 0; -EINVAL when a day contradicts itself or the one before it: *ret_bad is its index. */
int trading_days_check(const struct trading_day *days, size_t n, size_t *ret_bad);

/* "unknown", "closed", "pre", "regular", "post": as bar_session_names has them. */
const char *market_phase_name(enum market_phase phase);

#endif
