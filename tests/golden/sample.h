/* A state directory whose rows are put by hand: every kind, state and reason there is, and values at which
 * columns grow. */
#ifndef TESTS_GOLDEN_SAMPLE_H
#define TESTS_GOLDEN_SAMPLE_H

struct db_writer;
struct order;

/* Makes it. 0, or -errno with a line on stderr. */
int sample_make(const char *home);

/* Of sample_trades.c: orders, fills, ledger, positions, equity and commands of accounts and symbols that are
 * there. */
void sample_put_trades(struct db_writer *writer);
/* Of sample_studies.c: the storage `path`. 0 or -errno. */
int sample_make_studies(const char *path);

#endif
