/* `end` is the last line: no heartbeat follows it. */
#include "trainer/telemetry/report.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/check.h"

enum { HEARTBEATS = 3, HEARTBEAT_MS = 1, QUIET_MS = 50 };

static void test_last_line(void)
{
    struct report report;
    int ends[2], kept = dup(STDOUT_FILENO), heartbeats = 0;
    char line[1024] = "";
    CHECK(kept >= 0 && pipe(ends) == 0 && dup2(ends[1], STDOUT_FILENO) == STDOUT_FILENO);
    FILE *output = fdopen(ends[0], "r");
    CHECK(output != NULL);
    if (!output)
        return;
    setvbuf(output, NULL, _IONBF, 0); /* poll() sees what is not read yet */
    telemetry_report_begin(&report, true);
    CHECK_INT(telemetry_report_pace(&report, 0, HEARTBEAT_MS), 0);
    while (heartbeats < HEARTBEATS && fgets(line, sizeof line, output))
        heartbeats += strstr(line, "\"heartbeat\"") != NULL;
    CHECK_INT(heartbeats, HEARTBEATS);
    telemetry_report_last(&report, json_pack("{s:s}", "result", "stopped"));
    while (!strstr(line, "\"end\"") && fgets(line, sizeof line, output))
        ;
    CHECK(strstr(line, "\"result\":\"stopped\""));
    struct pollfd more = {.fd = ends[0], .events = POLLIN};
    CHECK_INT(poll(&more, 1, QUIET_MS), 0);
    telemetry_report_end(&report);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    close(ends[1]);
    fclose(output);
}

int main(void)
{
    test_last_line();
    return check_done("trainer/program/report");
}
