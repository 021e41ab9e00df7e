#include "trainer/command/args.h"

#include <stdarg.h>
#include <stdlib.h>

#include "db/studies/store.h"

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

int trainer_args_storage(const char *url)
{
    char err[STUDY_ERROR_MAX], *name;
    int r = study_store_name(url, &name, err);
    if (r < 0)
        return trainer_args_say(exit_status_of_start(r), "--storage: %s", err);
    free(name);
    return GO_ON;
}
