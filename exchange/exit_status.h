/* Exit statuses of all programs; scripts rely on them. EXIT_SUCCESS is EXIT_OK, EXIT_FAILURE EXIT_ERROR. */
#ifndef EXCHANGE_EXIT_STATUS_H
#define EXCHANGE_EXIT_STATUS_H

#include <errno.h>
#include <stddef.h>

enum {
    EXIT_OK = 0,
    EXIT_ERROR = 1,
    EXIT_USAGE = 2,     /* of papertape without a verb also: no terminal */
    EXIT_NO_DAEMON = 3, /* or no state */
    EXIT_STALE = 4,
    EXIT_NOT_UPLOADED = 5, /* of papertape-trainer study: all is done, and files wait to be uploaded */
};

/* For a service that cannot start, by its -errno. EXIT_USAGE is what another start would find again, which
 * the units do not restart: paths and permissions; what is newer than the program, in the database
 * (-EOVERFLOW) or in the event log (-ENOTSUP); a strategy or policy that the log names and that is missing; a
 * library that is not installed (-ELIBACC); a URL of another scheme (-EPROTONOSUPPORT). What another process
 * holds may be free by then. */
static inline int exit_status_of_start(int error)
{
    static const int lasting[] = {EINVAL,       EILSEQ,    EPERM,   EACCES, ENOTDIR, ENOKEY,
                                  ENAMETOOLONG, EOVERFLOW, ENOTSUP, ENOPKG, ELIBACC, EPROTONOSUPPORT};
    for (size_t i = 0; i < sizeof lasting / sizeof *lasting; i++)
        if (error == -lasting[i])
            return EXIT_USAGE;
    return EXIT_ERROR;
}

#endif
