/* Anchors of the books (db/books/head.h), where [ledger] has a place for them: one at the start, one a day
 * (UTC), and one at a clean stop. A thread of the loop's pool makes each; where it fails an alert says so,
 * and it is tried again an hour later. */
#ifndef DAEMON_ANCHORS_H
#define DAEMON_ANCHORS_H

#include <stdatomic.h>

#include "daemon/daemon.h"
#include "db/books/head.h"

struct anchors;

struct anchors *daemon_anchors_create(struct daemon *daemon); /* NULL without memory */
/* Once a second, of a session that has started. */
void daemon_anchors_look(struct anchors *anchors);
/* Before the loop's end: one that is being made ends. */
void daemon_anchors_stop(struct anchors *anchors);
/* After the loop's end, and after the database was closed: with `clean` the last one, in the caller's thread.
 * NULL is fine. */
void daemon_anchors_finish(struct anchors *anchors, bool clean);

/* ---- anchor_write.c ---- */

enum { ANCHOR_WORDS_MAX = 640 };

/* Makes one and delivers it. `stop`: once it is true, what waits ends. 0; -errno, with words; with words
 * and 0: it has no stamp, and why. */
int daemon_anchor_write(const struct anchor_config *config, const struct state_dir *state,
                        enum db_head_occasion occasion, const atomic_bool *stop,
                        char words[static ANCHOR_WORDS_MAX]);

/* ---- config_ledger.c ---- */

/* Is what [ledger] names outside of the state directory? With `starts` also: is there a folder for it, and is
 * the key one? 0; -EINVAL with a sentence, -ENOMEM. */
int daemon_anchor_check(const struct anchor_config *config, const struct state_dir *state, bool starts,
                        char *err, size_t err_size);

#endif
