/* The names in a state, for completion. */
#ifndef DB_NAMES_H
#define DB_NAMES_H

/* Calls offer() with each name of that kind: SYMBOL, ACCOUNT, TRAINING, POLICY or STUDY. `state`: a state
 * directory, NULL for the usual one. For another kind, or without a state, it is not called. */
void db_names(const char *kind, const char *state, void *ctx, void (*offer)(void *ctx, const char *name));

#endif
