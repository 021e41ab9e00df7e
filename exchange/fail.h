/* A failure and its sentence. */
#ifndef EXCHANGE_FAIL_H
#define EXCHANGE_FAIL_H

#include <stddef.h>
#include <stdio.h>

static inline int fail_error(int error)
{
    return error;
}

/* Writes the sentence of a printf format into err[size]; its value is `error`. */
#define fail_with(error, err, size, ...) (snprintf(err, size, __VA_ARGS__), fail_error(error))

/* The same behind "WHERE: " (NULL: without), in one line: control characters, which names in a file may have,
 * become "?". */
#define fail_line(error, ...) (fail_put_line(__VA_ARGS__), fail_error(error))
void fail_put_line(char *err, size_t size, const char *where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Sentences of what several stores meet, behind the name of what it is. */
#define FAIL_IN_USE(by)        "is in use by " by
#define FAIL_LOCKED(by, other) FAIL_IN_USE(by) ": end that one, or give another " other
#define FAIL_NEWER(found, known) \
    found " is newer than " known ", the newest that this program knows: update papertape"

#endif
