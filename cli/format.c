#include "cli/format.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static char *not_available(char *buf)
{
    memcpy(buf, "n/a", 4);
    return buf;
}

int cli_format_sign(double value, int decimals)
{
    const double half = 0.5 * pow(10, -decimals);
    char text[FORMAT_MAX];
    bool zero = fabs(value) < half;

    if (!isfinite(value))
        return 0;
    if (!zero && fabs(value) < 1.001 * half) { /* as printf rounds it: 0.5 to even, and 5e-7 is a bit less */
        snprintf(text, sizeof(text), "%.*f", decimals, value);
        zero = !strpbrk(text, "123456789");
    }
    return zero ? 0 : value < 0 ? -1 : 1;
}

static char *number(char *buf, bool sign, double value, int decimals)
{
    if (!isfinite(value))
        return not_available(buf);
    decimals = decimals < 0 ? 0 : decimals > 12 ? 12 : decimals;
    if (cli_format_sign(value, decimals) == 0)
        value = sign = 0; /* neither "-0.00" nor "+0.00" */
    if (fabs(value) >= 1e15)
        snprintf(buf, FORMAT_MAX, sign ? "%+.3e" : "%.3e", value);
    else
        snprintf(buf, FORMAT_MAX, sign ? "%+.*f" : "%.*f", decimals, value);
    return buf;
}

char *cli_format_number(char buf[static FORMAT_MAX], double value, int decimals)
{
    return number(buf, false, value, decimals);
}

char *cli_format_signed(char buf[static FORMAT_MAX], double value, int decimals)
{
    return number(buf, true, value, decimals);
}

char *cli_format_percent(char buf[static FORMAT_MAX], double value, int decimals)
{
    number(buf, true, value, decimals);
    size_t len = strlen(buf);
    if (isfinite(value) && len + 1 < FORMAT_MAX)
        memcpy(buf + len, "%", 2);
    return buf;
}

char *cli_format_fit(char buf[static FORMAT_MAX], double value, int decimals, int columns)
{
    for (int d = decimals; d >= 0; d--) {
        number(buf, false, value, d);
        if ((int)strlen(buf) <= columns)
            return buf;
    }
    if (isfinite(value))
        snprintf(buf, FORMAT_MAX, "%.2e", value);
    return buf;
}

char *cli_format_age(char buf[static FORMAT_MAX], int64_t age_ms)
{
    int64_t s = age_ms / 1000;

    if (age_ms < 0)
        return not_available(buf);
    if (age_ms < 9950)
        snprintf(buf, FORMAT_MAX, "%.1fs", (double)age_ms / 1000);
    else if (s < 100)
        snprintf(buf, FORMAT_MAX, "%ds", (int)s);
    else if (s < 100 * 60)
        snprintf(buf, FORMAT_MAX, "%dm", (int)(s / 60));
    else if (s < 100 * 3600)
        snprintf(buf, FORMAT_MAX, "%dh", (int)(s / 3600));
    else
        snprintf(buf, FORMAT_MAX, "%lldd", (long long)(s / 86400));
    return buf;
}

char *cli_format_count(char buf[static FORMAT_MAX], double value)
{
    static const char units[] = " kMGTPE";
    int unit = 0;

    if (!isfinite(value))
        return not_available(buf);
    if (fabs(value) >= 999.5e18) {
        snprintf(buf, FORMAT_MAX, "%.0e", value);
        return buf;
    }
    while (fabs(value) >= 999.5 && unit < (int)sizeof(units) - 2) {
        value /= 1000;
        unit++;
    }
    if (unit == 0)
        number(buf, false, value, 0);
    else
        snprintf(buf, FORMAT_MAX, fabs(value) < 9.95 ? "%.1f%c" : "%.0f%c", value, units[unit]);
    return buf;
}

static atomic_bool is_local; /* read by threads too */

void cli_format_local(bool local)
{
    is_local = local;
}

bool cli_format_is_local(void)
{
    return is_local;
}

static bool calendar(int64_t ts_ns, struct tm *ret)
{
    time_t seconds = (time_t)(ts_ns / 1000000000);

    return ts_ns > 0 && (is_local ? localtime_r(&seconds, ret) : gmtime_r(&seconds, ret));
}

char *cli_format_clock(char buf[static FORMAT_MAX], int64_t ts_ns)
{
    struct tm tm;

    if (!calendar(ts_ns, &tm) || !strftime(buf, FORMAT_MAX, "%H:%M:%S", &tm))
        return not_available(buf);
    return buf;
}

char *cli_format_weekday(char buf[static FORMAT_MAX], int64_t ts_ns)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    struct tm tm;

    if (!calendar(ts_ns, &tm))
        return not_available(buf);
    strcpy(buf, days[tm.tm_wday]);
    return buf;
}

char *cli_format_zone(char buf[static FORMAT_MAX], int64_t ts_ns)
{
    struct tm tm;

    if (!is_local || !calendar(ts_ns, &tm) || !strftime(buf, FORMAT_MAX, "%z", &tm))
        strcpy(buf, "Z");
    return buf;
}

int64_t cli_format_utc_offset_s(int64_t ts_ns)
{
    struct tm tm;

    return is_local && calendar(ts_ns, &tm) ? tm.tm_gmtoff : 0;
}

int64_t cli_format_read_clock(int64_t clock_ns)
{
    const int64_t second = 1000000000;
    time_t seconds = (time_t)(clock_ns / second);
    struct tm tm;

    if (!is_local || clock_ns <= 0 || !gmtime_r(&seconds, &tm))
        return clock_ns;
    tm.tm_isdst = -1;
    return (int64_t)mktime(&tm) * second + clock_ns % second;
}

char *cli_format_time(char buf[static FORMAT_MAX], int64_t ts_ns)
{
    struct tm tm;

    if (!calendar(ts_ns, &tm) || !strftime(buf, FORMAT_MAX, "%Y-%m-%d %H:%M:%S", &tm))
        return not_available(buf);
    return buf;
}

char *cli_format_throttled(char buf[static FORMAT_MAX], double power, double thermal, double hardware)
{
    const struct {
        const char *word;
        double figure;
    } reasons[] = {{"power", power}, {"thermal", thermal}, {"hardware", hardware}};
    bool known = false;
    int n = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        known |= !isnan(reasons[i].figure);
        if (reasons[i].figure > 0)
            n += snprintf(buf + n, FORMAT_MAX - (size_t)n, "%s%s", n ? "+" : "", reasons[i].word);
    }
    if (n == 0)
        snprintf(buf, FORMAT_MAX, "%s", known ? "-" : "n/a");
    return buf;
}
