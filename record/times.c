#include "record/times.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int64_t second_ns = 1000000000, ms_ns = 1000000;

const char *record_time_iso(int64_t ts_ns, char ret[static RECORD_TIME_ISO_MAX])
{
    int64_t part = ts_ns % second_ns;
    time_t seconds = (time_t)(ts_ns / second_ns - (part < 0));
    struct tm tm;
    part += part < 0 ? second_ns : 0;
    gmtime_r(&seconds, &tm);
    size_t n = strftime(ret, RECORD_TIME_ISO_MAX, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(ret + n, RECORD_TIME_ISO_MAX - n, ".%09lldZ", (long long)part);
    return ret;
}

static bool ends(const char *name, const char *unit)
{
    size_t n = strlen(name), len = strlen(unit);
    return n > len && strcmp(name + n - len, unit) == 0;
}

/* Milliseconds are a time in this column alone; all others are durations. */
static bool is_ms(const char *column)
{
    return strcmp(column, "open_time_ms") == 0;
}

const char *record_time_iso_name(const char *column, char ret[static RECORD_TIME_NAME_MAX])
{
    if (!is_ms(column) && (!ends(column, "_ns") || strcmp(column, "interval_ns") == 0))
        return NULL;
    int stem = (int)strlen(column) - (int)strlen("_ns");
    snprintf(ret, RECORD_TIME_NAME_MAX, "%.*s_iso", stem, column);
    return ret;
}

const char *record_time_iso_cell(const char *column, const char *cell, char ret[static RECORD_TIME_ISO_MAX])
{
    long long number = strtoll(cell, NULL, 10);
    if (number == 0) {
        *ret = '\0';
        return ret;
    }
    return record_time_iso(is_ms(column) ? number * ms_ns : number, ret);
}
