/* Exit statuses of all programs; scripts rely on them. EXIT_SUCCESS is EXIT_OK, EXIT_FAILURE EXIT_ERROR. */
#ifndef EXCHANGE_EXIT_STATUS_H
#define EXCHANGE_EXIT_STATUS_H

#include <errno.h>

enum {
    EXIT_OK = 0,
    EXIT_ERROR = 1,
    EXIT_USAGE = 2,     /* of papertape without a verb also: no terminal */
    EXIT_NO_DAEMON = 3, /* or no state */
    EXIT_STALE = 4,
};

/* Of a service that cannot start, by its -errno. EXIT_USAGE is what another start would find again, which the
 * units do not restart: paths and rights; what is newer than the program, in the database (-EOVERFLOW) or in
 * the event log (-ENOTSUP); a strategy or policy that the log names and that is not there. What another
 * process holds may be free by then. */
static inline int exit_status_of_start(int error)
{
    switch (error) {
    case -EINVAL:
    case -EILSEQ:
    case -EPERM:
    case -EACCES:
    case -ENOTDIR:
    case -ENOKEY:
    case -ENAMETOOLONG:
    case -EOVERFLOW:
    case -ENOTSUP:
    case -ENOPKG:
        return EXIT_USAGE;
    default:
        return EXIT_ERROR;
    }
}

#endif
