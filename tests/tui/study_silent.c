/* The dashboard's reader over a server that does not answer, whose URL is the argument: it is destroyed while
 * it waits for one, without waiting longer. With "read" behind the URL the server answers at first, and the
 * reader wants another study's page afterwards. Stands still before each step, until a line comes on stdin.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/check.h"
#include "tui/study_source.h"

static void await_line(const char *said)
{
    char line[16];
    puts(said);
    fflush(stdout);
    CHECK(fgets(line, sizeof line, stdin) != NULL);
}

static void await_reading(struct tui_study_reader *reader)
{
    struct pollfd ready = {tui_study_reader_fd(reader), POLLIN, 0};
    struct tui_study_reading reading = {0};
    do
        CHECK_INT(poll(&ready, 1, -1), 1);
    while (!tui_study_reader_take(reader, &reading));
    CHECK_INT(reading.error, 0);
    tui_study_reading_finish(&reading);
}

int main(int argc, char **argv)
{
    struct tui_study_want want = {.trial = -1};
    if (argc < 2)
        return EXIT_FAILURE;
    struct tui_study_reader *reader = tui_study_reader_create(argv[1], "none");
    tui_study_reader_want(reader, &want);
    if (argc > 2) {
        await_reading(reader);
        await_line("read");
        snprintf(want.key, sizeof want.key, "another");
        tui_study_reader_want(reader, &want);
    }
    await_line("waits");
    tui_study_reader_destroy(reader);
    return check_done("tui/study_silent");
}
