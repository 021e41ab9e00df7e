/* The state of the event log or the database as storage. */
#ifndef EXCHANGE_STORING_H
#define EXCHANGE_STORING_H

enum storing {
    STORING_OK,
    STORING_FAILS,    /* the disk refuses: what comes waits in memory */
    STORING_CHECKS,   /* it takes writes again, or may: what it has is compared with what was written */
    STORING_REBUILDS, /* it lost some: what is lost is restored from the other of the two */
};

static inline const char *storing_name(enum storing storing)
{
    static const char *const names[] = {"ok", "failing", "checking", "rebuilding"};
    return names[storing];
}

#endif
