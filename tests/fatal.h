/* For what a test cannot continue without: a line on stderr and the end, where the program's checks are
 * elsewhere. */
#ifndef TESTS_FATAL_H
#define TESTS_FATAL_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noreturn, unused, format(printf, 1, 2))) static void fatal(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    exit(EXIT_FAILURE);
}

/* [n] of `size` bytes, all zero; free(). */
__attribute__((unused)) static void *fatal_calloc(size_t n, size_t size)
{
    void *ret = calloc(n ? n : 1, size);
    if (!ret)
        fatal("out of memory");
    return ret;
}

#endif
