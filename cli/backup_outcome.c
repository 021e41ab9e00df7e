#include "cli/backup_outcome.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/whole_file.h"
#include "record/json.h"

enum { OUTCOME_MODE = 0640 };

static char *text_of(const struct backup_outcome *outcome)
{
    json_t *object =
        json_pack("{s:s, s:b, s:o, s:o, s:I, s:I, s:I, s:I, s:i, s:b}", "schema", BACKUP_OUTCOME_SCHEMA, "ok",
                  outcome->error == NULL, "file", record_json_text(outcome->file), "error",
                  record_json_text(outcome->error), "begin_ns", (json_int_t)outcome->begin_ns, "end_ns",
                  (json_int_t)outcome->end_ns, "event", (json_int_t)outcome->event, "bytes",
                  (json_int_t)outcome->bytes, "files", outcome->files, "drilled", outcome->drilled);
    char *text = object ? json_dumps(object, JSON_INDENT(1)) : NULL;
    json_decref(object);
    return text;
}

/* Root makes backups too: the daemon must be able to read the result. */
static int give_to_owner(const struct state_dir *state, int fd)
{
    struct stat st;
    if (stat(state->path, &st) < 0)
        return -errno;
    return geteuid() == 0 && fchown(fd, st.st_uid, st.st_gid) < 0 ? -errno : 0;
}

int cli_backup_outcome_write(const struct state_dir *state, const struct backup_outcome *outcome)
{
    char path[STATE_PATH_MAX + sizeof BACKUP_OUTCOME + 1], *text = text_of(outcome);
    struct whole_file file;
    snprintf(path, sizeof path, "%s/" BACKUP_OUTCOME, state->path);
    int r = text ? whole_file_open(path, ".new", OUTCOME_MODE, &file) : -ENOMEM;
    if (r == 0) {
        r = give_to_owner(state, file.fd);
        if (r == 0)
            r = whole_file_put(&file, text, strlen(text));
        r = whole_file_close(&file, r);
    }
    free(text);
    return r;
}
