/* What became of the last backup: backup.json in the state, which the daemon and doctor read. */
#ifndef CLI_BACKUP_OUTCOME_H
#define CLI_BACKUP_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "db/state.h"

#define BACKUP_OUTCOME        "backup.json"
#define BACKUP_OUTCOME_SCHEMA "papertape.backup_outcome/1"

struct backup_outcome {
    int64_t begin_ns, end_ns; /* of the wall clock */
    const char *file;         /* an absolute path, where it has one */
    const char *error;        /* NULL: it is complete */
    uint64_t event;
    int64_t bytes; /* of its files */
    int files;
    bool drilled; /* and was restored into a scratch folder */
};

/* Writes it, whole or not at all, as a file of the state's owner. 0 or -errno. */
int cli_backup_outcome_write(const struct state_dir *state, const struct backup_outcome *outcome);

#endif
