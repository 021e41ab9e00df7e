/* The progress bar fits every terminal. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/check.h"
#include "trainer/telemetry/report.h"

int main(void)
{
    const struct report_progress cases[] = {
        {"a", 0, 1, 1, 1, NAN},
        {"btc-eth", 512000, 1000000, 91234, 3725, -12.345},
        {"a-name-that-is-longer-than-any-bar-has-room-for-it", 9007199254740991, 9007199254740992, 1e12, NAN,
         -1.234e-300},
        {"over", 300, 200, 1e300, 1e300, 1e300},
    };
    char text[256], before[256];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int width = 0; width < 250; width++) {
            memset(text, 'x', sizeof text);
            telemetry_report_bar_text(&cases[i], width, text, sizeof text);
            CHECK(memchr(text, '\0', sizeof text) && strlen(text) <= (size_t)width);
            if (width >= 39)
                CHECK(strchr(text, '[') && strstr(text, " %"));
        }
    telemetry_report_bar_text(&cases[1], 79, text, sizeof text);
    CHECK_STR(text, "btc-eth [##   ]  51 %  512000 steps  91234 steps/s  return -12.35  1:02:05 left");
    telemetry_report_bar_text(&cases[1], 39, text, sizeof text);
    CHECK_STR(text, "btc-eth [####     ]  51 %  1:02:05 left");
    telemetry_report_bar_text(&cases[1], 200, before, sizeof before);
    telemetry_report_bar_text(&cases[1], 240, text, sizeof text);
    CHECK_STR(text, before); /* it grows no further */
    return check_done("trainer/program/bar");
}
