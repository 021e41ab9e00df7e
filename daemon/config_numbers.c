/* Values that are numbers. */
#include "daemon/config_values.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/decimal.h"

enum { REASON = CONFIG_REASON_MAX };

/* --- numbers: decimals times 10^scale, in an int64_t or an int32_t --- */

int config_parse_units(const struct config_key *key, const char *text, int64_t *ret, char *reason)
{
    int64_t units;
    int e = decimal_parse_str(text, key->scale, &units);
    if (e == -EDOM)
        return config_reason(reason, REASON, "\"%.60s\": at most %d digits after the point", text,
                             key->scale);
    if (e == 0 && units >= key->min && units <= key->max) {
        *ret = units;
        return 0;
    }
    char min[DECIMAL_TEXT_MAX], max[DECIMAL_TEXT_MAX];
    decimal_format_short(key->min, key->scale, min);
    decimal_format_short(key->max, key->scale, max);
    return config_reason(reason, REASON, "\"%.60s\": a %snumber from %s to %s is needed", text,
                         key->scale ? "" : "whole ", min, max);
}

void config_print_units(const struct config_key *key, int64_t units, FILE *to)
{
    char text[DECIMAL_TEXT_MAX];
    decimal_format_short(units, key->scale, text);
    fputs(text, to);
}

int config_parse_i64(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    return config_parse_units(key, text, (int64_t *)((char *)base + key->offset), reason);
}

void config_print_i64(const struct config_key *key, const void *base, FILE *to)
{
    config_print_units(key, *(const int64_t *)((const char *)base + key->offset), to);
}

int config_parse_i32(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    int64_t units = 0;
    int e = config_parse_units(key, text, &units, reason);
    if (e == 0)
        *(int32_t *)((char *)base + key->offset) = (int32_t)units;
    return e;
}

void config_print_i32(const struct config_key *key, const void *base, FILE *to)
{
    config_print_units(key, *(const int32_t *)((const char *)base + key->offset), to);
}

int config_parse_real(const struct config_key *key, const char *text, void *base, char reason[static REASON])
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= (double)key->min && value <= (double)key->max))
        return config_reason(reason, REASON, "\"%.60s\": a number from %jd to %jd is needed", text,
                             (intmax_t)key->min, (intmax_t)key->max);
    *(double *)((char *)base + key->offset) = value + 0.0; /* -0 becomes 0 */
    return 0;
}

void config_print_real(const struct config_key *key, const void *base, FILE *to)
{
    config_print_double(*(const double *)((const char *)base + key->offset), to);
}
/* --- a minute of the day, in an int: -1 is off --- */

int config_parse_minute(const struct config_key *key, const char *text, void *base,
                        char reason[static REASON])
{
    int *minute = (int *)((char *)base + key->offset);
    if (strcmp(text, "off") == 0) {
        *minute = -1;
        return 0;
    }
    bool digits = strlen(text) == 5 && text[2] == ':';
    for (int i = 0; digits && i < 5; i++)
        digits = i == 2 || isdigit((unsigned char)text[i]);
    int hour = digits ? 10 * (text[0] - '0') + text[1] - '0' : 24;
    int past = digits ? 10 * (text[3] - '0') + text[4] - '0' : 60;
    if (hour > 23 || past > 59)
        return config_reason(reason, REASON, "\"%.60s\": a time of day like 00:30, or off, is needed", text);
    *minute = 60 * hour + past;
    return 0;
}

void config_print_minute(const struct config_key *key, const void *base, FILE *to)
{
    int minute = *(const int *)((const char *)base + key->offset);
    if (minute < 0)
        fputs("off", to);
    else
        fprintf(to, "%02d:%02d", minute / 60, minute % 60);
}
