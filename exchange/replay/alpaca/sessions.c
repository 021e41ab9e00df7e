#include "exchange/replay/alpaca/sessions.h"

#include "exchange/replay/alpaca/eastern.h"

#define NS_PER_S 1000000000LL

enum {
    SUNDAY,
    MONDAY,
    THURSDAY = 4,
    FRIDAY,
    SATURDAY,
    HOUR_S = 3600,
    EARLY_S = 4 * HOUR_S,
    OPEN_S = 9 * HOUR_S + HOUR_S / 2,
    CLOSE_S = 16 * HOUR_S,
    LATE_S = 20 * HOUR_S,
    HALF_CLOSE_S = 13 * HOUR_S,
    HALF_LATE_S = 17 * HOUR_S,
};

/* Easter Sunday: the Gregorian computus (Meeus, Astronomical Algorithms, chapter 8). */
static int64_t easter(int year)
{
    int a = year % 19, b = year / 100, c = year % 100, d = b / 4, e = b % 4, f = (b + 8) / 25;
    int g = (b - f + 1) / 3, h = (19 * a + b - d - g + 15) % 30, i = c / 4, k = c % 4;
    int l = (32 + 2 * e + 2 * i - h - k) % 7, m = (a + 11 * h + 22 * l) / 451;
    int n = h + l - 7 * m + 114;
    return replay_eastern_days(year, n / 31, n % 31 + 1);
}

/* The nth such weekday of a month; 0: its last, of a month of 31 days. */
static int64_t nth(int year, int month, int weekday, int n)
{
    if (n == 0) {
        int64_t last = replay_eastern_days(year, month, 31);
        return last - (replay_eastern_weekday(last) - weekday + 7) % 7;
    }
    int64_t first = replay_eastern_days(year, month, 1);
    return first + (weekday - replay_eastern_weekday(first) + 7) % 7 + 7 * (n - 1);
}

/* The day on which a holiday of a fixed date is observed. */
static int64_t kept(int64_t date)
{
    int weekday = replay_eastern_weekday(date);
    return weekday == SATURDAY ? date - 1 : weekday == SUNDAY ? date + 1 : date;
}

static bool is_holiday(int64_t date, int year)
{
    int64_t new_year = replay_eastern_days(year, 1, 1);
    return (replay_eastern_weekday(new_year) != SATURDAY && date == kept(new_year)) ||
           date == nth(year, 1, MONDAY, 3) || date == nth(year, 2, MONDAY, 3) || date == easter(year) - 2 ||
           date == nth(year, 5, MONDAY, 0) ||
           (year >= 2022 && date == kept(replay_eastern_days(year, 6, 19))) ||
           date == kept(replay_eastern_days(year, 7, 4)) || date == nth(year, 9, MONDAY, 1) ||
           date == nth(year, 11, THURSDAY, 4) || date == kept(replay_eastern_days(year, 12, 25));
}

static bool is_half(int64_t date, int year)
{
    return date == nth(year, 11, THURSDAY, 4) + 1 || date == replay_eastern_days(year, 7, 3) ||
           date == replay_eastern_days(year, 12, 24);
}

static const struct trading_calendar *table;

void replay_sessions_use(const struct trading_calendar *calendar)
{
    table = calendar;
}

static enum sessions_kind by_rule(int64_t date, struct trading_day *ret_day)
{
    int year, month, day, weekday = replay_eastern_weekday(date);
    replay_eastern_civil(date, &year, &month, &day);
    if (weekday == SUNDAY || weekday == SATURDAY || is_holiday(date, year))
        return SESSIONS_CLOSED;
    bool half = is_half(date, year);
    *ret_day = (struct trading_day){
        .early_ns = replay_eastern_utc_s(date, EARLY_S) * NS_PER_S,
        .open_ns = replay_eastern_utc_s(date, OPEN_S) * NS_PER_S,
        .close_ns = replay_eastern_utc_s(date, half ? HALF_CLOSE_S : CLOSE_S) * NS_PER_S,
        .late_ns = replay_eastern_utc_s(date, half ? HALF_LATE_S : LATE_S) * NS_PER_S,
    };
    return half ? SESSIONS_HALF : SESSIONS_FULL;
}

static enum sessions_kind by_table(int64_t begin_ns, int64_t end_ns, struct trading_day *ret_day)
{
    struct session_span span;
    if (!trading_span_at(table, SESSION_EXTENDED, begin_ns, &span) || span.open_ns >= end_ns)
        return SESSIONS_CLOSED;
    *ret_day = table->days[span.day];
    return ret_day->close_ns - ret_day->open_ns < (CLOSE_S - OPEN_S) * NS_PER_S ? SESSIONS_HALF
                                                                                : SESSIONS_FULL;
}

enum sessions_kind replay_sessions_on(int64_t date, struct trading_day *ret_day)
{
    struct trading_day unused;
    int64_t begin_ns = replay_eastern_utc_s(date, 0) * NS_PER_S,
            end_ns = replay_eastern_utc_s(date + 1, 0) * NS_PER_S;
    if (!ret_day)
        ret_day = &unused;
    if (table && begin_ns >= table->from_ns && end_ns <= table->to_ns)
        return by_table(begin_ns, end_ns, ret_day);
    return by_rule(date, ret_day);
}

int64_t replay_sessions_next(int64_t date, int step)
{
    while (replay_sessions_on(date, NULL) == SESSIONS_CLOSED)
        date += step;
    return date;
}

enum market_phase replay_sessions_phase(int64_t ns)
{
    struct trading_day day;
    if (replay_sessions_on(replay_eastern_date(ns), &day) == SESSIONS_CLOSED || ns < day.early_ns ||
        ns >= day.late_ns)
        return MARKET_PHASE_CLOSED;
    return ns < day.open_ns ? MARKET_PHASE_EARLY : ns < day.close_ns ? MARKET_PHASE_OPEN : MARKET_PHASE_LATE;
}
