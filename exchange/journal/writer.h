/* Internal to the journal: its writer. writer.c puts, open.c finds where to continue, proof.c reads back,
 * gone.c starts again where the journal was removed. */
#ifndef EXCHANGE_JOURNAL_WRITER_H
#define EXCHANGE_JOURNAL_WRITER_H

#include "exchange/journal/files.h"
#include "exchange/journal/format.h"
#include "exchange/journal/journal.h"
#include "exchange/journal/segments.h"

/* The name of a segment that is being started; a leftover one is ignored. */
#define JOURNAL_NEW_NAME "new"

enum { JOURNAL_BLOCK_BYTES = 256 << 10, JOURNAL_LEVEL = 1 }; /* where the configuration says 0 */

/* A writing position: a put that fails returns to it. */
struct journal_place {
    size_t n_segments; /* the last of them is written to */
    int64_t size;      /* of it */
    uint8_t chain[JOURNAL_HASH_SIZE];
    uint32_t blocks, puts; /* in it */
    int64_t started_ns;
    uint64_t raw; /* bytes of records in it, before compression */
    uint64_t last_seq, event_seq;
    int64_t last_ns;
    bool started; /* did this writer put a state yet? */
};

struct journal_writer {
    struct journal_writer_config config;
    const struct journal_files *files;
    struct journal_hash hash;
    struct ZSTD_CCtx_s *pack;
    int dir, lock, fd; /* fd: of the newest segment; -1 for none */
    struct journal_segments segments;
    struct journal_place place;
    struct journal_place back; /* the position that a failed put returns to … */
    int back_fd;
    bool broken;                       /* … and that could not be restored: this comes first */
    struct journal_block_header block; /* the one that is being filled */
    uint8_t *raw, *out;                /* its records, and the block as it is written */
    size_t raw_len, raw_cap, out_cap;
    uint64_t blocks_put, bytes_put; /* by the put that is under way */
    uint32_t proved_number; /* up to this segment, and that byte of it, the disk was seen to have all … */
    int64_t proved_at;
    bool suspect;         /* … since then a call failed */
    bool retiring;        /* a segment waits for config.may_remove() */
    uint32_t bad_number;  /* the newest segment that a proof found bad */
    uint32_t last_number; /* of all segments that there were */
    struct journal_writer_stats stats;
};

/* Restores the journal to before the put that failed. 0 or -errno: then it is broken, and to be tried
 * again. */
int journal_writer_go_back(struct journal_writer *writer);

/* With `sync`: does the disk itself, without the page cache, have what the put that is under way wrote to
 * the newest segment? A device may lose a write and report no error: Linux' loop driver takes a short write
 * for a whole one when the file system below it fills. 0; -EILSEQ where it has not; -errno. */
int journal_writer_seen(const struct journal_writer *writer);

/* Makes the directory where it is missing, opens it, and locks JOURNAL_LOCK_NAME in it. 0; -errno with a
 * sentence, and *ret_fd and *ret_lock, to be closed where they are not -1. */
int journal_open_dir(const char *dir, int *ret_fd, int *ret_lock, char *err, size_t err_size);

/* The log that the writer would continue was removed: the next put starts one, with the next number. */
void journal_writer_stand_alone(struct journal_writer *writer);

/* What waits in a batch (batch.c): the record at *at, which it moves to the next; false at the end. Its bytes
 * are the batch's. */
bool journal_batch_next(const struct journal_batch *batch, size_t *at, struct journal_record *ret);

#endif
