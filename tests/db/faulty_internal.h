/* Internal to the faulty disk: files as the page cache and the disk have them, and the outcome of a call. */
#ifndef TESTS_DB_FAULTY_INTERNAL_H
#define TESTS_DB_FAULTY_INTERNAL_H

#include "tests/db/faulty_disk.h"

struct medium;

enum faulty_call { FAULTY_WRITE, FAULTY_CUT, FAULTY_SYNC, FAULTY_NAME };
enum faulty_fate { FATE_DONE, FATE_LOST, FATE_FULL, FATE_FAILS };

/* Decides the outcome of a call that changes something, before it is made. */
enum faulty_fate faulty_fate(const struct medium *medium, enum faulty_call call);
bool faulty_lost(void);

/* The file of that path in the page cache, which a real one has or gets now: `made`; NULL: it is not
 * followed. */
struct medium *faulty_open(const char *path, bool made);
const char *faulty_path(const struct medium *medium);

void faulty_wrote(struct medium *medium, int64_t at, const void *bytes, size_t n);
void faulty_cut(struct medium *medium, int64_t size);
/* Takes as long as the plan says, then all of it is on the disk, or some. The fate, which may be the power's.
 */
enum faulty_fate faulty_sync(struct medium *medium, bool log);
/* Does the device have what a read shows between these bytes? What waits gets there first, as for a direct
 * read. */
bool faulty_same(struct medium *medium, int64_t from, int64_t to, const unsigned char *shown);
/* A name's change: both are paths; NULL: it is removed. */
void faulty_named(const char *from, const char *to);
/* All names in the folder of that path (which ends without a slash) are on the disk. */
void faulty_sync_folder(const char *folder);

void faulty_traced(const char *what, const char *path, int64_t at, const void *bytes, size_t n, int r);
/* Deterministic in place of SQLite's randomness. */
void faulty_random(void *bytes, size_t n);

#endif
