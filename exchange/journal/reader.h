/* Internal to the journal: a reading position. */
#ifndef EXCHANGE_JOURNAL_READER_H
#define EXCHANGE_JOURNAL_READER_H

#include "exchange/journal/scan.h"
#include "exchange/journal/segments.h"

struct journal_reader {
    struct journal_scan scan; /* of the segment that is read */
    struct journal_segments segments;
    int dir;
    bool single; /* one segment, not a directory */
    bool sealed; /* a later segment is there: this one ends whole */
    int failed;  /* < 0: for good, until a seek */

    /* the block that was loaded */
    size_t raw, at; /* its records' bytes, and where the next one begins */
    int64_t block_at;
    uint32_t records; /* read of it */
    uint64_t block_seq;
    int64_t block_ns;

    struct journal_record held; /* a find went to it: the next one to be given */
    bool holds;
    uint64_t blocks; /* loaded so far */

    /* what the next record has to follow, where that is known */
    uint64_t event_seq, last_seq;
    int64_t last_ns;
    bool know_seq, know_before;
};

/* Stands before the first record of the i-th segment. 0; as journal_scan_open(). */
int journal_reader_enter(struct journal_reader *reader, size_t i);

#endif
