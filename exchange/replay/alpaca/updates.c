#include "exchange/replay/alpaca/alpaca.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static int add(struct updates *updates, const char *frame)
{
    char **grown = reallocarray(updates->frames, updates->n + 1, sizeof(*grown)), *copy = strdup(frame);
    if (grown)
        updates->frames = grown;
    if (!grown || !copy) {
        free(copy);
        return -ENOMEM;
    }
    updates->frames[updates->n++] = copy;
    return 0;
}

/* One line without its end. */
static int take(struct updates *updates, const char *line)
{
    json_t *frame = json_loads(line, 0, NULL);
    const char *stream = json_string_value(json_object_get(frame, "stream"));
    int rc = !stream                                           ? -EINVAL
             : strcmp(stream, "trade_updates") != 0            ? 0
             : !json_is_object(json_object_get(frame, "data")) ? -EINVAL
                                                               : add(updates, line);
    json_decref(frame);
    return rc;
}

int replay_updates_read(struct updates *updates, const char *path, char error[static UPDATES_ERROR_MAX])
{
    char *line = malloc(UPDATES_LINE_MAX);
    errno = 0;
    gzFile file = line ? gzopen(path, "rb") : NULL;
    int rc = 0, number = 0, broken = Z_OK;
    if (!file) {
        rc = line && errno ? -errno : -ENOMEM;
        snprintf(error, UPDATES_ERROR_MAX, "cannot open: %.150s: a readable file (%s)", path, strerror(-rc));
        free(line);
        return rc;
    }
    while (rc == 0 && gzgets(file, line, UPDATES_LINE_MAX)) {
        size_t len = strcspn(line, "\r\n");
        bool whole = line[len] != '\0' || gzeof(file);
        line[len] = '\0';
        number++;
        rc = !whole ? -EINVAL : len > 0 ? take(updates, line) : 0;
    }
    if (rc == 0) {
        gzerror(file, &broken);
        rc = broken == Z_OK || broken == Z_STREAM_END ? 0 : -EINVAL;
    }
    if (rc < 0)
        snprintf(error, UPDATES_ERROR_MAX,
                 "bad line: %.150s:%d: {\"stream\":\"trade_updates\",\"data\":{...}}", path, number);
    gzclose(file);
    free(line);
    return rc;
}

void replay_updates_finish(struct updates *updates)
{
    for (size_t i = 0; i < updates->n; i++)
        free(updates->frames[i]);
    free(updates->frames);
    *updates = (struct updates){0};
}
