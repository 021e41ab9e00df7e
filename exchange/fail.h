/* A failure and its sentence. */
#ifndef EXCHANGE_FAIL_H
#define EXCHANGE_FAIL_H

#include <stddef.h>
#include <stdio.h>

static inline int fail_error(int error)
{
    return error;
}

/* Evaluates `error`, which may be -errno, before its sentence is written; its value is `error`. */
#define fail_after_(error, written) \
    ({ \
        const int fail_error_ = (error); \
        (void)(written); \
        fail_error(fail_error_); \
    })

/* Writes the sentence of a printf format into err[size]. */
#define fail_with(error, err, size, ...) fail_after_(error, snprintf(err, size, __VA_ARGS__))

/* The same behind "WHERE: " (NULL: without), in one line: control characters, which names in a file may have,
 * become "?". */
#define fail_line(error, ...) fail_after_(error, fail_put_line(__VA_ARGS__))
void fail_put_line(char *err, size_t size, const char *where, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Sentences that several stores share, after the name of the object. */
#define FAIL_NO_ACCOUNT        "there is no such account"
#define FAIL_NO_SYMBOL         "there is no such symbol"
#define FAIL_IN_USE(by)        "is in use by " by
#define FAIL_LOCKED(by, other) FAIL_IN_USE(by) ": end that one, or give another " other
#define FAIL_NEWER(found, known) \
    found " is newer than " known ", the newest that this program knows: update papertape"

#endif
