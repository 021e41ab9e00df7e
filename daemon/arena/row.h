/* A row of the arena as JSON, as an event of the log carries it; replaying the log restores the table. */
#ifndef DAEMON_ARENA_ROW_H
#define DAEMON_ARENA_ROW_H

#include <jansson.h>

#include "daemon/arena/step.h"

/* The member of an event's arguments that has them. */
#define ARENA_ROWS "arena"

json_t *arena_row_object(const struct arena_row *row); /* a new reference, or NULL without memory */
/* 0, or -EINVAL: ret is untouched. */
int arena_row_parse(const json_t *object, struct arena_row *ret);
/* A row as the database has it. -EINVAL: texts that are too long. */
int arena_row_of(const struct db_policy *stored, struct arena_row *ret);
void arena_row_stored(const struct arena_row *row, struct db_policy *ret); /* its texts are the row's */

#endif
