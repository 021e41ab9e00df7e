#include "cli/months.h"

#include <math.h>
#include <string.h>

#include "cli/format.h"

enum { MONTHS = 12 };

static const char *const names[MONTHS] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

void cli_months_print(const struct metrics_month *months, size_t n, FILE *out)
{
    size_t i = 0;
    fprintf(out, "  return by month, %%\n       ");
    for (int month = 0; month < MONTHS; month++)
        fprintf(out, " %5s", names[month]);
    fputc('\n', out);
    while (i < n) {
        int year = months[i].year;
        fprintf(out, "  %4d ", year);
        for (int month = 1; month <= MONTHS; month++) {
            char cell[FORMAT_MAX] = "";
            if (i < n && months[i].year == year && months[i].month == month) {
                double value = 100 * months[i++].total_return;
                cli_format_number(cell, value, fabs(value) < 99.95 ? 1 : 0);
                if (strlen(cell) > 5)
                    snprintf(cell, sizeof cell, "%5.0g", value);
            }
            fprintf(out, " %5s", cell);
        }
        fputc('\n', out);
    }
}
