/* A failure and its sentence. */
#ifndef EXCHANGE_FAIL_H
#define EXCHANGE_FAIL_H

#include <stdio.h>

static inline int fail_error(int error)
{
    return error;
}

/* Writes the sentence of a printf format into err[size]; its value is `error`. */
#define fail_with(error, err, size, ...) (snprintf(err, size, __VA_ARGS__), fail_error(error))

#endif
