/* Exit statuses of all programs; scripts rely on them. EXIT_SUCCESS is EXIT_OK, EXIT_FAILURE EXIT_ERROR. */
#ifndef EXCHANGE_EXIT_STATUS_H
#define EXCHANGE_EXIT_STATUS_H

enum {
    EXIT_OK = 0,
    EXIT_ERROR = 1,
    EXIT_USAGE = 2,     /* of papertape without a verb also: no terminal */
    EXIT_NO_DAEMON = 3, /* or no state */
    EXIT_STALE = 4,
};

#endif
