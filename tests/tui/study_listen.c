/* The dashboard's reader over a server, whose URL is the argument: wanted once, it reads again each time that
 * another process's store has committed, without being asked. Without notifications this test does not end.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/check.h"
#include "tui/study_source.h"

enum { TRIALS = 3 };

static char err[STUDY_ERROR_MAX];

static void need(int r)
{
    if (r < 0) {
        fprintf(stderr, "%s\n", err);
        exit(EXIT_FAILURE);
    }
}

/* Until a reading has that many trials. */
static void await_trials(struct tui_study_reader *reader, int trials)
{
    struct pollfd ready = {tui_study_reader_fd(reader), POLLIN, 0};
    for (int shown = -1; shown != trials;) {
        struct tui_study_reading reading;
        CHECK_INT(poll(&ready, 1, -1), 1);
        if (!tui_study_reader_take(reader, &reading))
            continue;
        CHECK_INT(reading.error, 0);
        if (reading.studies && reading.studies->n == 1)
            shown = reading.studies->study[0].n_trials;
        tui_study_reading_finish(&reading);
    }
}

int main(int argc, char **argv)
{
    static const enum study_direction directions[] = {STUDY_MAXIMIZE};
    const struct tui_study_want want = {.trial = -1};
    struct study_store *store = NULL;
    int64_t id, trial;
    int number;
    if (argc != 2)
        return EXIT_FAILURE;
    need(study_store_open(argv[1], STUDY_STORE_WRITE, 0, &store, err));
    need(study_store_create(store, "s", directions, 1, &id, NULL, err));
    struct tui_study_reader *reader = tui_study_reader_create(argv[1], "none");
    tui_study_reader_want(reader, &want);
    await_trials(reader, 0);
    for (int i = 1; i <= TRIALS; i++) {
        need(study_store_ask(store, id, true, &trial, &number, err));
        await_trials(reader, i);
    }
    tui_study_reader_destroy(reader);
    study_store_close(store);
    return check_done("tui/study_listen");
}
