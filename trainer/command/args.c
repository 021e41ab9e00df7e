#include "trainer/command/args.h"

#include <stdarg.h>

int trainer_args_say(int status, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("papertape-trainer: ", stderr);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    return status;
}
