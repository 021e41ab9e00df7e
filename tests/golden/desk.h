/* A state directory whose rows are put by hand: every kind, state and reason there is, and values at which
 * columns grow. */
#ifndef TESTS_GOLDEN_DESK_H
#define TESTS_GOLDEN_DESK_H

struct db_writer;
struct order;

/* Makes it. 0, or -errno with a line on stderr. */
int desk_make(const char *home);

/* Of desk_trades.c: orders, fills, ledger, positions, equity and commands of accounts and symbols that are
 * there. */
void desk_put_trades(struct db_writer *writer);
/* Of desk_studies.c: the storage `path`. 0 or -errno. */
int desk_make_studies(const char *path);

#endif
