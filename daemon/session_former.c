/* What an upgrade of the schema keeps for the way back, and for how long. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/session_internal.h"
#include "db/former.h"
#include "exchange/clock.h"
#include "exchange/net/notify.h"

enum { EXTEND_S = 3600, PRUNE_MS = 24 * 60 * 60 * 1000 };

int daemon_session_keep_former(struct session *session, char *err, size_t err_size)
{
    char folder[DB_FORMER_PATH_MAX], reason[DB_ERROR_MAX];
    int schema = db_former_schema(session->state->database);
    if (schema == 0)
        return 0;
    net_notify_status("keeping the state as it is before the upgrade of its schema");
    net_notify_extend(EXTEND_S);
    int r = db_former_keep(session->state, schema, folder, reason, sizeof reason);
    if (r == -EBADMSG || r == -EMEDIUMTYPE) { /* it is kept when it is built again */
        daemon_log_warning("the database is damaged, and not kept before the upgrade of its schema: %s",
                           reason);
        return 0;
    }
    if (r < 0) {
        snprintf(
            err, err_size,
            "schema %d is to be upgraded to %d, and the database cannot be kept as it is before: %s; nothing "
            "has changed: make room, or install the version before",
            schema, db_migrations_count, reason);
        return r;
    }
    daemon_log_info(
        "schema %d is upgraded to %d: the state before is kept in %s for %d days (papertaped(1) has the "
        "way back)",
        schema, db_migrations_count, folder, DB_FORMER_DAYS);
    return 0;
}

/* ---- removing: on a thread, which the session need not outlive ---- */

struct prune {
    uv_work_t work;
    struct state_dir state;
    int r;
};

static void on_thread(uv_work_t *work)
{
    struct prune *prune = work->data;
    prune->r = db_former_prune(&prune->state, clock_wall_ns());
}

static void on_done(uv_work_t *work, int status)
{
    struct prune *prune = work->data;
    if (status == 0 && prune->r < 0)
        daemon_log_warning("%s/former: what upgrades kept cannot be removed: %s", prune->state.path,
                           strerror(-prune->r));
    else if (status == 0 && prune->r > 0)
        daemon_log_info(
            "%s/former: %d removed: states that upgrades kept are there for %d days, and of the newest "
            "%d upgrades",
            prune->state.path, prune->r, DB_FORMER_DAYS, DB_FORMER_MAX);
    free(prune);
}

void daemon_session_prune_former(struct session *session)
{
    uint64_t now_ms = uv_now(session->loop);
    if (session->former_due_ms > now_ms)
        return;
    session->former_due_ms = now_ms + PRUNE_MS;
    struct prune *prune = calloc(1, sizeof *prune);
    if (!prune)
        return;
    prune->work.data = prune;
    prune->state = *session->state;
    if (uv_queue_work(session->loop, &prune->work, on_thread, on_done) < 0)
        free(prune);
}
