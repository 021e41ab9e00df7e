/* Writes a calendar's days for calendar_oracle.py: calendar-lines NAME, a line a day of unix seconds. */
#include <inttypes.h>
#include <stdio.h>

#include "exchange/calendar_file.h"

int main(int argc, char **argv)
{
    char err[CALENDAR_ERROR_MAX];
    struct calendar_file *file;
    if (argc != 2 || calendar_file_open(argv[1], &file, err) < 0) {
        fprintf(stderr, "calendar-lines: %s\n", argc == 2 ? err : "usage: calendar-lines NAME");
        return 1;
    }
    const struct trading_calendar *calendar = calendar_file_view(file);
    printf("%s %" PRId64 " %" PRId64 "\n", calendar->name, calendar->from_ns / 1000000000,
           calendar->to_ns / 1000000000);
    for (size_t i = 0; i < calendar->n; i++) {
        const struct trading_day *day = &calendar->days[i];
        printf("%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", day->early_ns / 1000000000,
               day->open_ns / 1000000000, day->close_ns / 1000000000, day->late_ns / 1000000000);
    }
    calendar_file_close(file);
    return 0;
}
