/* An input as a file, for readers that take a path. */
#ifndef TESTS_FUZZ_MEMORY_FILE_H
#define TESTS_FUZZ_MEMORY_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Writes its path; returns the descriptor, for close(). */
static inline int memory_file(const uint8_t *data, size_t size, char path[static 32])
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
