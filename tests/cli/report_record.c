/* A random record of some hours in DIR, with every kind of event and command: report-record DIR SEED EVENTS.
 */
#include <sys/stat.h>

#include "daemon/rebuild.h"
#include "tests/engine/logged.h"

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "report-record: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    static struct logged logged;
    struct state_dir state;
    struct rebuild_result result;
    char err[REBUILD_ERROR_MAX] = "";
    if (argc != 4)
        fail("usage", "report-record DIR SEED EVENTS");
    scratch_in_memory();
    const uint64_t seed = strtoull(argv[2], NULL, 10);
    const bool venues = seed % 2 == 0;
    logged_open_as(&logged, seed, venues);
    logged.driver.calendars = false;
    logged_play(&logged, atoi(argv[3]), false);
    logged_state(&logged, STATE_STOP);
    if (db_state_dir_find(argv[1], &state, err, sizeof err) < 0)
        fail(argv[1], err);
    if (symlink(logged.dir, state.events) < 0)
        fail(state.events, strerror(errno));
    const struct rebuild_options options = {.state = &state,
                                            .why = "a test",
                                            .venue = venues ? "three" : "binance",
                                            .now_ns = logged.event.recv_ns + 1};
    if (daemon_rebuild_database(&options, &result, err, sizeof err) < 0)
        fail(argv[1], err);
    logged_close(&logged);
    return check_failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
