#include "daemon/telemetry.h"

#include <errno.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/recorder.h"

static void keep_socket(struct daemon *daemon)
{
    int r = control_keep(daemon->control);
    if (r == 1)
        daemon_log_warning("%s was removed: it is made again", daemon->state.socket);
    else if (r == -EEXIST && r != daemon->socket_error)
        daemon_log_error(
            "%s: another file is in its place: no command reaches the daemon until that is removed",
            daemon->state.socket);
    else if (r < 0 && r != daemon->socket_error)
        daemon_log_error("%s was removed, and cannot be made again: %s", daemon->state.socket, strerror(-r));
    daemon->socket_error = r < 0 ? r : 0;
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

void daemon_keep_files(struct daemon *daemon)
{
    keep_socket(daemon);
    keep_lock(daemon);
    if (daemon_session_recorder(daemon->session, false))
        daemon_recorder_look(daemon_session_recorder(daemon->session, false));
}
