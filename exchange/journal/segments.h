/* Internal to the journal: which segments a directory has, oldest first. */
#ifndef EXCHANGE_JOURNAL_SEGMENTS_H
#define EXCHANGE_JOURNAL_SEGMENTS_H

#include "exchange/journal/scan.h"

struct journal_segment {
    char name[JOURNAL_NAME_MAX];
    uint32_t number;
    int64_t size;     /* when it was listed */
    int64_t first_ns; /* where its header was read; else 0 */
};

struct journal_segments {
    struct journal_segment *list;
    size_t n;
};

/* Replaces what was there. 0; -ENOMEM, -errno. */
int journal_segments_read(struct journal_segments *segments, int dir);
void journal_segments_finish(struct journal_segments *segments);

/* The place of the first segment with that number or a later one; n when there is none. */
size_t journal_segments_find(const struct journal_segments *segments, uint32_t number);

/* Does each segment follow the one before it? Reads their headers and the last hashes, and their first times
 * into the list. 0; -EBADMSG, -ENOTSUP, -errno, with the scan's error. */
int journal_segments_linked(struct journal_segments *segments, struct journal_scan *scan, int dir);

#endif
