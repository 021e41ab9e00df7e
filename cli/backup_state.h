/* What of a state directory goes into a backup. */
#ifndef CLI_BACKUP_STATE_H
#define CLI_BACKUP_STATE_H

#include "cli/backup_sink.h"
#include "db/state.h"

/* Adds the notices of alerts, the database as it is at one moment, the event log up to the event behind its
 * newest rows, the other databases, the folders, and the configuration at `config` (NULL: none). A daemon and
 * trainings may run meanwhile. 0, or -errno with sink->err. */
int cli_backup_state(struct backup_sink *sink, const struct state_dir *state, const char *config);

#endif
