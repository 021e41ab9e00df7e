#include "exchange/alpaca/calendar.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "exchange/alpaca/number.h"
#include "exchange/json.h"

enum {
    MINUTES_OF_DAY = 24 * 60,
    CHANGE_MINUTE = 2 * 60,
    STANDARD_MINUTES = 5 * 60, /* behind UTC */
    DAYLIGHT_MINUTES = 4 * 60,
    RULE_OF_2005 = 2007, /* the first year of it */
};

#define MINUTE_NS 60000000000LL
#define DAY_NS    (MINUTES_OF_DAY * MINUTE_NS)

/* The n-th Sunday (from 1) of a month, by its day number. */
static int32_t sunday(int year, int month, int n)
{
    int32_t first = alpaca_days(year, month, 1);
    int32_t weekday = ((first + 4) % 7 + 7) % 7; /* 1970-01-01 was a Thursday; 0: Sunday */
    return first + (7 - weekday) % 7 + 7 * (n - 1);
}

static void daylight(int year, int32_t *ret_first, int32_t *ret_last)
{
    *ret_first = year >= RULE_OF_2005 ? sunday(year, 3, 2) : sunday(year, 4, 1);
    *ret_last = year >= RULE_OF_2005 ? sunday(year, 11, 1) : sunday(year, 11, 1) - 7;
}

int64_t alpaca_eastern_ns(int32_t day, int minute)
{
    int year, month, date;
    int32_t first, last;
    alpaca_civil(day, &year, &month, &date);
    daylight(year, &first, &last);
    int64_t local = (int64_t)day * MINUTES_OF_DAY + minute;
    bool summer = local >= (int64_t)first * MINUTES_OF_DAY + CHANGE_MINUTE + 60 &&
                  local < (int64_t)last * MINUTES_OF_DAY + CHANGE_MINUTE;
    return (local + (summer ? DAYLIGHT_MINUTES : STANDARD_MINUTES)) * MINUTE_NS;
}

int32_t alpaca_eastern_day(int64_t ns)
{
    int64_t standard = ns - STANDARD_MINUTES * MINUTE_NS;
    int32_t day = (int32_t)((standard - (standard < 0 ? DAY_NS - 1 : 0)) / DAY_NS);
    return ns >= alpaca_eastern_ns(day + 1, 0) ? day + 1 : day;
}

/* "09:30" or "0930". */
static bool read_minute(struct json *json, int *ret)
{
    struct json_text text;
    int digits[4], n = 0;
    if (!json_read_string(json, &text) || (text.len != 4 && text.len != 5))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.data[i];
        if (c == ':' && text.len == 5 && i == 2)
            continue;
        if (c < '0' || c > '9' || n == 4)
            return false;
        digits[n++] = c - '0';
    }
    int hour = digits[0] * 10 + digits[1], minute = digits[2] * 10 + digits[3];
    if (n != 4 || hour > 24 || minute > 59)
        return false;
    *ret = hour * 60 + minute;
    return *ret <= MINUTES_OF_DAY;
}

static bool read_day(struct json *json, struct trading_day *ret)
{
    struct json_text key, date = {"", 0};
    int early = ALPACA_EARLY_MINUTE, late = ALPACA_LATE_MINUTE, open = -1, close = -1;
    int32_t day;
    json_enter_object(json);
    while (json_member(json, &key)) {
        bool ok = json_is(key, "date")            ? json_read_string(json, &date)
                  : json_is(key, "open")          ? read_minute(json, &open)
                  : json_is(key, "close")         ? read_minute(json, &close)
                  : json_is(key, "session_open")  ? read_minute(json, &early)
                  : json_is(key, "session_close") ? read_minute(json, &late)
                                                  : json_skip(json);
        if (!ok)
            return false;
    }
    if (json->failed || open < 0 || close < 0 || !alpaca_date(date.data, date.len, &day))
        return false;
    *ret = (struct trading_day){
        .early_ns = alpaca_eastern_ns(day, early < open ? early : open),
        .open_ns = alpaca_eastern_ns(day, open),
        .close_ns = alpaca_eastern_ns(day, close),
        .late_ns = alpaca_eastern_ns(day, late > close ? late : close),
    };
    return true;
}

int alpaca_parse_calendar(const char *text, size_t len, struct trading_day *days, size_t cap, size_t *ret_n)
{
    struct json json;
    size_t n = 0, bad;
    json_init(&json, text, len);
    json_enter_array(&json);
    while (json_element(&json)) {
        if (n == cap)
            return -E2BIG;
        if (!read_day(&json, &days[n++]))
            return -EBADMSG;
    }
    if (!json_done(&json) || trading_days_check(days, n, &bad) < 0)
        return -EBADMSG;
    *ret_n = n;
    return 0;
}
