/* A rebuild by command. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/rebuild.h"
#include "exchange/clock.h"
#include "exchange/fail.h"

int daemon_rebuild_state(const struct state_dir *state, const char *venue, const atomic_bool *stop,
                         struct rebuild_result *ret, char *err, size_t err_size)
{
    const struct rebuild_options wanted = {
        .state = state, .why = "by hand", .venue = venue, .now_ns = clock_wall_ns(), .stop = stop};
    int lock;
    if (access(state->events, F_OK) < 0) /* before anything is made there */
        return fail_with(-EINVAL, err, err_size, "%s: %s: a state directory with an event log is needed",
                         state->events, strerror(errno));
    int r = db_state_dir_create(state, err, err_size);
    if (r == 0)
        r = db_state_dir_lock(state, &lock, err, err_size);
    if (r < 0)
        return r;
    r = daemon_rebuild_finish(state, err, err_size);
    if (r >= 0)
        r = daemon_rebuild_database(&wanted, ret, err, err_size);
    close(lock);
    return r;
}
