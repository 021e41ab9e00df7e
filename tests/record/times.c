/* Times in ISO 8601 against those of Python's datetime. */
#include "record/times.h"

#include <stddef.h>

#include "tests/check.h"

int main(void)
{
    static const struct {
        int64_t ns;
        const char *text;
    } times[] = {
        {INT64_C(1723161255344000001), "2024-08-08T23:54:15.344000001Z"},
        {INT64_C(1), "1970-01-01T00:00:00.000000001Z"},
        {-INT64_C(1), "1969-12-31T23:59:59.999999999Z"},
        {-INT64_C(1000000000), "1969-12-31T23:59:59.000000000Z"},
        {INT64_C(951782399999999999), "2000-02-28T23:59:59.999999999Z"},
        {INT64_C(951782400000000000), "2000-02-29T00:00:00.000000000Z"},
        {INT64_C(9223372036854775807), "2262-04-11T23:47:16.854775807Z"},
        {INT64_MIN, "1677-09-21T00:12:43.145224192Z"},
    };
    char text[RECORD_TIME_ISO_MAX], name[RECORD_TIME_NAME_MAX];
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        CHECK_STR(record_time_iso(times[i].ns, text), times[i].text);

    CHECK_STR(record_time_iso_name("ts_ns", name), "ts_iso");
    CHECK_STR(record_time_iso_name("open_time_ms", name), "open_time_iso");
    static const char *const others[] = {"age_ms", "interval_ns", "_ns", "ns", "", "trade"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK(record_time_iso_name(others[i], name) == NULL);

    CHECK_STR(record_time_iso_cell("ts_ns", "1723161255344000001", text), times[0].text);
    CHECK_STR(record_time_iso_cell("open_time_ms", "951782400000", text), times[5].text);
    CHECK_STR(record_time_iso_cell("ts_ns", "", text), "");
    CHECK_STR(record_time_iso_cell("ts_ns", "0", text), "");
    return check_done("record/times");
}
