/* Files that are no text of bars, by their first bytes. */
#ifndef EXCHANGE_BARS_KIND_H
#define EXCHANGE_BARS_KIND_H

#include <stddef.h>

struct bars_kind {
    const char *what;  /* "a zip archive" */
    const char *right; /* what is needed in its place */
};

enum { BARS_KIND_BYTES = 16 };

/* What a file is that begins with these n bytes, of which the first BARS_KIND_BYTES are enough; NULL for one
 * that may be text of bars. */
const struct bars_kind *bars_kind_find(const char *first, size_t n);

#endif
