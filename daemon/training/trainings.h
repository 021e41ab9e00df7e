/* The trainings: the co-process's reports (docs/serve.md) go into the database and the status, and requests
 * go to it. The loop never waits for it. */
#ifndef DAEMON_TRAINING_TRAININGS_H
#define DAEMON_TRAINING_TRAININGS_H

#include <jansson.h>

#include "daemon/daemon.h"
#include "daemon/training/client.h"
#include "daemon/training/training.h"
#include "db/reader.h"

struct trainings;

/* Looks for the co-process from the loop's next turn on. NULL without memory. */
struct trainings *daemon_trainings_create(struct daemon *daemon);

/* Loads what a former run stored; before the loop's next turn. */
void daemon_trainings_remember(struct trainings *trainings, struct db_reader *reader);

/* Sends a request to the co-process, which is started where that is the daemon's task. `args` is stolen.
 * `answer` is called once, at the latest after 10 s, possibly from within: see training_answer and
 * daemon_training_link_ask(). What `result.training` or the result itself reports of a training is taken
 * over. */
void daemon_trainings_ask(struct trainings *trainings, const char *cmd, json_t *args, training_answer *answer,
                          void *ctx);

/* Does the co-process listen, and is it of this version? A request is sent at once then. */
bool daemon_trainings_reachable(const struct trainings *trainings);

/* The status object's "trainings", at most 64: those with a worker first, then those that wait, then the
 * newest that have ended; all that an answer's line can hold; how many there are; one, NULL for none; and
 * the status' "trainer". The lists are oldest first. */
json_t *daemon_trainings_array(const struct trainings *trainings);
json_t *daemon_trainings_all(const struct trainings *trainings);
size_t daemon_trainings_total(const struct trainings *trainings);
json_t *daemon_trainings_object(const struct trainings *trainings, const char *name);
json_t *daemon_trainings_trainer(const struct trainings *trainings);

/* The name of the training whose worker the process is; "trainer" for the co-process; NULL: neither. */
const char *daemon_trainings_role(const struct trainings *trainings, int64_t pid);

/* Fails the requests that wait and closes the connection: the co-process and its trainings continue. Frees
 * itself on the loop's next turns. NULL is fine. */
void daemon_trainings_stop(struct trainings *trainings);

#endif
