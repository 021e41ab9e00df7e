/* Shared by status.c and status_training.c: how a field of the daemon's JSON becomes a value. */
#ifndef TUI_STATUS_READER_H
#define TUI_STATUS_READER_H

#include "tui/status.h"

/* The string object[key], cleaned; "" for anything else. */
void status_text(const json_t *object, const char *key, char *field, size_t size);

/* A number, or NaN. */
double status_real(const json_t *object, const char *key);

/* A whole number, or -1. */
int64_t status_whole(const json_t *object, const char *key);

/* An age or a count: what is negative is not known, -1. */
int64_t status_count(const json_t *object, const char *key);

/* The co-process and its trainings (the newest that fit, oldest first); the arena's policies and champion. */
void status_read_trainings(const json_t *object, struct status *s);
void status_read_policies(const json_t *object, struct status *s);

/* One training of which nothing is known. */
void status_training_init(struct status_training *training);
void status_policy_init(struct status_policy *policy);

#endif
