#include "trainer/env/refusal.h"

#include <stdarg.h>
#include <stdio.h>

int env_refuse(int rc, char err[static ENV_ERROR_MAX], const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(err, ENV_ERROR_MAX, format, args);
    va_end(args);
    return rc;
}
