/* Internal to the journal: reads one segment, block after block.
 *
 * It distinguishes a torn tail from an altered byte. A tail is torn where writing was cut short: the file
 * ends inside a block whose beginning is sound, or the end of the block (or all of it, up to the end of the
 * file) reads as zeros, or a whole sector of it does (of its first one, what is its own) and no block of a
 * later put follows: what a crash leaves, and a power loss. Everything else that is not what was written is
 * altered. One flipped bit never looks torn: it neither shortens the file, nor makes the header's check
 * hold with another length, nor turns an end mark or a sector into zeros. */
#ifndef EXCHANGE_JOURNAL_SCAN_H
#define EXCHANGE_JOURNAL_SCAN_H

#include "exchange/fail.h"
#include "exchange/journal/files.h"
#include "exchange/journal/format.h"

struct journal_scan {
    const struct journal_files *files;
    struct journal_hash hash;
    struct journal_file_header header;
    struct journal_block_header block; /* the one at `at`, or loaded last */
    char name[JOURNAL_NAME_MAX];
    int fd;                           /* -1: no segment is open */
    int64_t at;                       /* where the next block begins */
    uint32_t number;                  /* the next block's */
    uint32_t put;                     /* the last block's */
    uint8_t chain[JOURNAL_HASH_SIZE]; /* the last block's hash … */
    bool chained;                     /* … where it is known: blocks were not skipped */
    uint8_t *payload, *raw;
    size_t payload_cap, raw_cap;
    struct ZSTD_DCtx_s *unpack;
    char error[JOURNAL_ERROR_MAX];
};

int journal_scan_init(struct journal_scan *scan, const struct journal_files *files); /* 0 or -ENOMEM */
void journal_scan_finish(struct journal_scan *scan);

/* Opens a segment at its first block. 0; -ENODATA for a header that was never written whole; -EBADMSG,
 * -ENOTSUP, -errno, with an error. */
int journal_scan_open(struct journal_scan *scan, int dir, const char *name);
void journal_scan_close(struct journal_scan *scan);

/* Reads the header of the block at `at` into scan->block. 1 when the block is there to its end; 0 at the end
 * of the file; -ENODATA for a torn tail, -EBADMSG, -errno, with an error. */
int journal_scan_header(struct journal_scan *scan);
void journal_scan_skip(struct journal_scan *scan); /* past the block whose header was read */

/* Reads the block at `at`, checks its hash and goes past it; `unpack`: its records into scan->raw, of
 * scan->block.raw bytes. Returns as journal_scan_header(). */
int journal_scan_load(struct journal_scan *scan, bool unpack);

/* The hash of the block before `at`, read back from its trailer where blocks were skipped. 0 or -errno. */
int journal_scan_chain(struct journal_scan *scan);

/* The hash that a whole segment ends with. 0; -EBADMSG, -errno, with an error. */
int journal_scan_last(struct journal_scan *scan, uint8_t ret[static JOURNAL_HASH_SIZE]);

/* Sets the error; returns r. */
#define journal_scan_fail(scan, code, ...) fail_with(code, (scan)->error, sizeof(scan)->error, __VA_ARGS__)

#endif
