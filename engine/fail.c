#include "engine/fail.h"

#include <stdarg.h>
#include <stdio.h>

int engine_fail(int error, char *err, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err, size, format, args);
    va_end(args);
    return error;
}
