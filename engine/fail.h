/* A failure and its sentence. */
#ifndef ENGINE_FAIL_H
#define ENGINE_FAIL_H

#include <stddef.h>

/* Writes the sentence into err[size]; returns `error`. */
__attribute__((format(printf, 4, 5))) int engine_fail(int error, char *err, size_t size, const char *format,
                                                      ...);

#endif
