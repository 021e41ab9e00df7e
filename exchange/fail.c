#include "exchange/fail.h"

#include <stdarg.h>

enum { WHERE_MAX = 200 };

void fail_put_line(char *err, size_t size, const char *where, const char *format, ...)
{
    size_t len = where ? (size_t)snprintf(err, size, "%.*s: ", WHERE_MAX, where) : 0;
    va_list args;
    va_start(args, format);
    if (len < size)
        vsnprintf(err + len, size - len, format, args);
    va_end(args);
    for (char *at = err; *at; at++)
        *at = (unsigned char)*at < ' ' || *at == 0x7f ? '?' : *at;
}
