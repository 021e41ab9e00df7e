#include "exchange/net/retry_after.h"

#include <curl/curl.h>
#include <string.h>

int64_t net_retry_after_ms(const char *value, const char *date, int64_t now_s)
{
    int64_t seconds = 0;
    value += strspn(value, " \t");
    size_t digits = strspn(value, "0123456789"), end = digits + strspn(value + digits, " \t");
    if (digits > 0 && value[end] == '\0') {
        for (size_t i = 0; i < digits && seconds <= INT32_MAX; i++)
            seconds = seconds * 10 + (value[i] - '0');
    } else {
        int64_t date_s = digits == 0 ? (int64_t)curl_getdate(value, NULL) : -1; /* begins with a weekday */
        int64_t sent_s = date ? (int64_t)curl_getdate(date, NULL) : -1;
        if (sent_s < 0)
            sent_s = now_s;
        if (date_s < 0 || date_s <= sent_s)
            return -1;
        seconds = date_s - sent_s;
    }
    return seconds <= INT32_MAX ? seconds * 1000 : -1;
}
