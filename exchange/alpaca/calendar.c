#include "exchange/alpaca/calendar.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "exchange/alpaca/number.h"
#include "exchange/json.h"

enum {
    MINUTES_OF_DAY = 24 * 60,
    DAY_S = MINUTES_OF_DAY * 60,
    HOUR_S = 3600,
    RULE_OF_2005 = 2007, /* the first year of it */
};

#define SECOND_NS 1000000000LL
#define DAY_NS    (DAY_S * SECOND_NS)

const struct zone_rule alpaca_eastern = {
    .standard_s = -5 * HOUR_S,
    .summer_s = -4 * HOUR_S,
    .changes = true,
    .begins = {.kind = ZONE_WEEKDAY, .month = 3, .week = 2, .time_s = 2 * HOUR_S},
    .ends = {.kind = ZONE_WEEKDAY, .month = 11, .week = 1, .time_s = 2 * HOUR_S},
};

static const struct zone_rule until_2006 = {
    .standard_s = -5 * HOUR_S,
    .summer_s = -4 * HOUR_S,
    .changes = true,
    .begins = {.kind = ZONE_WEEKDAY, .month = 4, .week = 1, .time_s = 2 * HOUR_S},
    .ends = {.kind = ZONE_WEEKDAY, .month = 10, .week = 5, .time_s = 2 * HOUR_S},
};

int64_t alpaca_eastern_ns(int32_t day, int minute)
{
    int year, month, date;
    alpaca_civil(day, &year, &month, &date);
    const struct zone_rule *rule = year >= RULE_OF_2005 ? &alpaca_eastern : &until_2006;
    int64_t local_s = (int64_t)day * DAY_S + minute * 60, s = local_s - rule->summer_s;
    if (zone_rule_offset(rule, s) != rule->summer_s)
        s = local_s - rule->standard_s;
    return s * SECOND_NS;
}

int32_t alpaca_eastern_day(int64_t ns)
{
    int64_t standard = ns + alpaca_eastern.standard_s * SECOND_NS;
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
