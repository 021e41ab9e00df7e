/* Shared by status.c and status_training.c: how a field of the daemon's JSON becomes a value. */
#ifndef TUI_STATUS_READER_H
#define TUI_STATUS_READER_H

#include "record/json.h"
#include "tui/status.h"

/* An age or a count: negative, or not a whole number, is not known, -1. */
int64_t tui_status_count(const json_t *object, const char *key);

/* Sets each field from the object; with NULL, as nothing is known of it. */
void tui_status_read(const struct record *record, const json_t *object, void *row);

/* The same from a row of the database, whose names are those of `keys` else its own. */
void tui_status_stored(const struct record *record, void *row, const struct record *stored, const void *from,
                       const struct record_key *keys, int n, const struct record_context *context);

const struct record *tui_status_training_record(void), *tui_status_policy_record(void);

/* Fills the list of totals where it is empty: with `sums`, or, NULL, with those of the accounts that are
 * listed. */
struct db_totals;
void tui_status_sum(struct status *s, const struct db_totals *sums);

/* Members of a policy's object that need a function of their own. */
void tui_status_read_policy(const json_t *object, struct status *s, void *row);

/* The co-process and its trainings: the newest that fit, oldest first; and how many there are of what is
 * listed. */
void tui_status_read_trainings(const json_t *object, struct status *s);

/* A policy of which nothing is known. */
void tui_status_policy_init(struct status_policy *policy);

#endif
