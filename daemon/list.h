/* Lists of the control socket: as long as an answer's line may be. */
#ifndef DAEMON_LIST_H
#define DAEMON_LIST_H

#include <jansson.h>
#include <stdbool.h>

enum { LIST_BYTES_MAX = 960 << 10 }; /* of the 1 MiB that a client reads of an answer */

/* Does one more fit? *bytes: those of the list so far. */
static inline bool list_fits(const json_t *object, size_t *bytes)
{
    *bytes += json_dumpb(object, NULL, 0, JSON_COMPACT) + 1;
    return *bytes <= LIST_BYTES_MAX;
}

#endif
