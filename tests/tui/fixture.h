/* One moment of a paper account, as a status object and as a database: for the model and the screens. */
#ifndef TESTS_TUI_FIXTURE_H
#define TESTS_TUI_FIXTURE_H

#include <stdint.h>

static const int64_t fixture_now_ns = 1723161255342000000; /* 2024-08-08 23:54:15.342 UTC */

/* A status of that moment, one account, two symbols. */
extern const char fixture_status[];

/* What becomes of it with two accounts, a short, an OCO and a bracket: to be merged into it. */
extern const char fixture_several[];

/* Writes the database of that moment at `path`, with the daemon's own writer: 0 or -errno, said on stderr. */
int fixture_database(const char *path);

#endif
