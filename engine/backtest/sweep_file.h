/* The results of a sweep on the disk, as they come: a sweep that is killed continues where it was. A header,
 * then records of one row each, with a checksum; what a kill leaves of the last one is cut off. */
#ifndef ENGINE_BACKTEST_SWEEP_FILE_H
#define ENGINE_BACKTEST_SWEEP_FILE_H

#include <limits.h>

#include "engine/backtest/sweep.h"

enum { SWEEP_FILE_WHY = 256 };

struct sweep_file {
    int fd;   /* -1: nothing is kept */
    size_t n; /* records that were there */
    char path[PATH_MAX];
    char why[SWEEP_FILE_WHY]; /* "", or what happened to the file, for a note */
    bool failed;              /* a row could not be written: nothing is added any more */
};

/* Opens the file of that key in a folder, which is made; `fresh`: what it has is deleted. A damaged one, or
 * one of another layout, is started again, and `why` says so. Where it cannot be opened, or another process
 * has it, nothing is kept, and `why` says why. */
void backtest_sweep_file_open(struct sweep_file *file, const char *folder,
                              const uint8_t key[static SWEEP_KEY], bool fresh);
void backtest_sweep_file_close(struct sweep_file *file);

/* The rows that were there, at most `cap`; how many. */
size_t backtest_sweep_file_rows(struct sweep_file *file, struct sweep_result *rows, size_t cap);

/* Appends rows: one write. After one that fails nothing is kept. */
void backtest_sweep_file_add(struct sweep_file *file, const struct sweep_result *rows, size_t n);

/* Deletes the files of sweeps in a folder that were not used for `age_ns` before `now_ns`, and of the others
 * the oldest until there are at most `bytes`; `keep` stays. */
void backtest_sweep_file_trim(const char *folder, const char *keep, int64_t now_ns, int64_t age_ns,
                              uint64_t bytes);

#endif
