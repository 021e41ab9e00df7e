/* The names that a state has, for completion. */
#ifndef DB_NAMES_H
#define DB_NAMES_H

/* Calls offer() with each name of that kind: SYMBOL, ACCOUNT, TRAINING, POLICY or STUDY. `state`: a state
 * directory, NULL for the one that is found. Of another kind, or without a state, none. */
void db_names(const char *kind, const char *state, void *ctx, void (*offer)(void *ctx, const char *name));

#endif
