/* What the fuzzers share. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the fuzzer states does not hold: it ends where the debugger, or libFuzzer, sees it. */
static inline void fail_unless(bool holds)
{
    if (!holds)
        abort();
}

/* An input as a file, for readers that take a path. Writes its path; returns the descriptor, for close(). */
static inline int memory_file(const uint8_t *data, size_t size, char path[static 32])
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
