#include "daemon/telemetry.h"

#include <errno.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/recorder.h"

#define DAY_NS (INT64_C(86400) * 1000000000)
enum { KEEP_ROWS_MS = 3600000 };

/* *error: of the last try. */
static void keep_socket(struct control *control, const char *path, int *error)
{
    int r = control ? control_keep(control) : 0;
    if (r == 1)
        daemon_log_warning("%s was removed: it is made again", path);
    else if (r == -EEXIST && r != *error)
        daemon_log_error(
            "%s: another file is in its place: no command reaches the daemon by it until that is removed",
            path);
    else if (r < 0 && r != *error)
        daemon_log_error("%s was removed, and cannot be made again: %s", path, strerror(-r));
    *error = r < 0 ? r : 0;
}

static void keep_lock(struct daemon *daemon)
{
    char err[1024];
    int r = db_state_dir_keep_lock(&daemon->state, &daemon->lock, err, sizeof err);
    if (r == 1)
        daemon_log_warning("%s was removed: it is put back", daemon->state.lock);
    else if (r == -EBUSY)
        daemon_fail("%s", err);
    else if (r < 0 && r != daemon->lock_error)
        daemon_log_error("the lock was removed, and cannot be put back: %s", err);
    daemon->lock_error = r < 0 ? r : 0;
}

/* Days before now; 0: no bound. */
static int64_t days_before(int64_t now_ns, int32_t days)
{
    return days > 0 && now_ns > days * DAY_NS ? now_ns - days * DAY_NS : 0;
}

void daemon_keep_rows(struct daemon *daemon)
{
    const struct daemon_config *config = &daemon->config;
    struct db_writer *writer = daemon_session_writer(daemon->session);
    if (!writer || uv_now(daemon->loop) < daemon->keep_rows_ms)
        return;
    int64_t now_ns = daemon_session_now(daemon->session);
    daemon->keep_rows_ms = uv_now(daemon->loop) + KEEP_ROWS_MS;
    db_writer_keep(writer, &(struct db_retention){.alerts_ns = days_before(now_ns, config->alerts_days),
                                                  .commands_ns = days_before(now_ns, config->commands_days),
                                                  .bars_ns = days_before(now_ns, config->bars_days)});
}

void daemon_keep_files(struct daemon *daemon)
{
    keep_socket(daemon->control, daemon->state.socket, &daemon->socket_error);
    keep_socket(daemon->control_read, daemon->state.socket_read, &daemon->socket_read_error);
    keep_lock(daemon);
    daemon_session_prune_former(daemon->session);
    daemon_session_run_alive(daemon->session);
    if (daemon_session_recorder(daemon->session, false))
        daemon_recorder_look(daemon_session_recorder(daemon->session, false));
}
