/* Waits for the notifications that our writers send with their commits. */
#include <errno.h>
#include <poll.h>

#include "db/studies/postgresql/postgresql_store.h"
#include "exchange/clock.h"

/* All that have arrived are one. */
static bool take_all(struct study_postgresql *store)
{
    bool any = false;
    for (PGnotify *notice; (notice = PQnotifies(store->conn)) != NULL; any = true)
        PQfreemem(notice);
    return any;
}

static int begin(struct study_postgresql *store, char err[static STUDY_ERROR_MAX])
{
    int r = study_postgresql_connected(store) ? 0 : study_postgresql_wait(store, err);
    if (r == 0)
        r = study_postgresql_command(store, "LISTEN " STUDY_STORE_CHANNEL, err);
    store->listens = r == 0;
    return r < 0 ? r : 1; /* what was stored before is not notified */
}

int study_postgresql_await(struct study_store *base, int timeout_ms, char err[static STUDY_ERROR_MAX])
{
    struct study_postgresql *store = study_postgresql_of(study_sql_of(base));
    const double until_s = clock_now_s() + timeout_ms * 1e-3;
    if (!store->listens || !study_postgresql_connected(store))
        return begin(store, err);
    for (;;) {
        struct pollfd fd = {.fd = PQsocket(store->conn), .events = POLLIN};
        if (take_all(store))
            return 1;
        if (study_postgresql_stopped(store))
            return study_store_fail(base, -EINTR, err, "was interrupted");
        if (clock_now_s() >= until_s)
            return 0;
        int wait_ms = timeout_ms < STUDY_POSTGRESQL_LOOK_MS ? timeout_ms : STUDY_POSTGRESQL_LOOK_MS;
        if (poll(&fd, 1, wait_ms) > 0 && !PQconsumeInput(store->conn))
            return study_postgresql_fail(store, NULL, err);
    }
}
