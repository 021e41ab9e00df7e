/* The journal: the input, in the order in which it came, kept unchanged on the disk.
 *
 * A journal is a directory of segments, each a file of records packed into compressed blocks. Every block
 * carries a SHA-256 over its header, its bytes and the hash of the block before it, through all segments: a
 * bit that changed anywhere is found, and named by file and block. A segment starts with a state: from
 * there everything after it can be replayed without what came before, so old segments can be removed (where
 * only frames are kept, it is a state of no bytes). A torn tail, as a crash leaves it, is cut when the
 * journal is opened for writing (and kept beside it), and simply ends a reading.
 *
 * It knows bytes, sequence numbers and times; engine/record.h defines what an event or a state is. No
 * threads, no clocks, no logs. docs/journal.md has the format to the byte. */
#ifndef EXCHANGE_JOURNAL_JOURNAL_H
#define EXCHANGE_JOURNAL_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    JOURNAL_ERROR_MAX = 512,
    JOURNAL_HASH_SIZE = 32,
    JOURNAL_RECORD_MAX = 256 << 20, /* bytes of one record; a larger one is refused */
};

/* The file in its directory whose lock a writer holds: readers of the directory may not open it. */
#define JOURNAL_LOCK_NAME ".lock"

enum journal_kind {
    JOURNAL_STATE = 1, /* all that the engine is after the event `seq`; begins a segment */
    JOURNAL_EVENT,     /* one input of the engine */
    JOURNAL_FRAME, /* a websocket frame as it was received, before it was parsed; seq: of the event before */
    JOURNAL_REPLY, /* a REST reply as it was received: the request's path, a newline, the body */
    JOURNAL_KINDS,
};

struct journal_record {
    enum journal_kind kind;
    uint64_t seq; /* EVENT: rises by one, except at a hole that a state fills; others: of the event before */
    int64_t recv_ns; /* never falls */
    const void *bytes;
    size_t len;
};

/* ---- packing: records wait in memory, in a batch; one thread at a time ---- */
struct journal_batch {
    uint8_t *bytes;
    size_t len, cap;
    uint64_t last_seq; /* of the newest record in it; 0: empty */
};
void journal_batch_init(struct journal_batch *batch);
void journal_batch_finish(struct journal_batch *batch);
void journal_batch_clear(struct journal_batch *batch); /* keeps its memory */
/* Copies the record. 0; -EMSGSIZE; -EINVAL for no kind; -ENOMEM, the batch as before. */
int journal_batch_add(struct journal_batch *batch, const struct journal_record *record);

/* ---- writing ---- */
struct journal_writer;
/* A segment that is beyond what is kept. */
struct journal_removal {
    uint32_t number;
    uint64_t from_seq, to_seq; /* its events, with those of a hole behind them; to_seq < from_seq: none */
    int64_t from_ns, to_ns;    /* where it, and where the next one, begins */
    uint64_t bytes;
    uint8_t hash[JOURNAL_HASH_SIZE]; /* of its last block: it covers all that was before */
    bool large;                      /* beyond keep_bytes; else beyond keep_ns */
};
struct journal_writer_config {
    const char *dir;        /* made when it is not there */
    uint64_t segment_bytes; /* of uncompressed records, after which journal_writer_full() asks for a state */
    int64_t segment_ns;     /* the same, of receive time */
    uint64_t keep_bytes;    /* whole old segments are removed beyond this size (0: no limit) … */
    int64_t keep_ns;        /* … and this age against the newest record (0: none); never the last two */
    /* May it be removed now? Called before each; asked again by later puts until it is so, for a note that
     * has to be on the disk first. NULL: always. */
    bool (*may_remove)(void *ctx, const struct journal_removal *segment);
    void *may_remove_ctx;
    size_t block_bytes; /* of records in a block, before compression; 0: 256 KiB */
    int level;          /* zstd's; 0: 1 */
    bool sync;          /* after each put fdatasync, and what was written is read past the page cache */
};
/* The result of opening. */
struct journal_tail {
    uint64_t last_seq; /* of the last whole record; 0 for an empty journal */
    int64_t last_ns;
    uint64_t cut_bytes;             /* of a torn tail, moved to … */
    char cut_to[JOURNAL_ERROR_MAX]; /* … this file */
};
/* Opens for appending; the directory is locked against a second writer. The first record put must be a state:
 * a run begins a segment. All hashes of the newest segment are checked, and that every segment follows the
 * one before it; journal_verify() reads everything. The newest segment and the directory are on the disk
 * afterwards, whatever a former process left in the page cache alone. 0 with *ret_tail; -EBADMSG for a
 * journal that is altered (not merely torn), -ENOTSUP for a newer format, -EBUSY, -errno; err: one sentence
 * that names the file and the block. */
int journal_writer_open(const struct journal_writer_config *config, struct journal_writer **ret,
                        struct journal_tail *ret_tail, char *err, size_t err_size);
/* Compresses and writes a batch, in whole blocks. A state in it starts a new segment, after which old ones
 * are removed. 0: it is in the file, and with `sync` seen on the disk. -errno: none of it counts, and it
 * may be put again: what was half written is cut; -EILSEQ: its sync succeeded, and the disk does not have
 * it. -EINVAL: it does not continue what is there (a sequence number or a time falls, an event is missing
 * without a state after it, no state came yet): never to be put again. */
int journal_writer_put(struct journal_writer *writer, const struct journal_batch *batch);
bool journal_writer_full(const struct journal_writer *writer); /* is a state wanted, to begin a segment? */
/* After a put that failed, nothing may be put before what was put is proved: a sync that fails takes with
 * it what earlier ones should have stored, and the next that succeeds does not show it. */
/* Did this writer put a state that is still there? */
bool journal_writer_started(const struct journal_writer *writer);
bool journal_writer_suspect(const struct journal_writer *writer);
/* Compares what was put since the last proof (after an opening: the newest segment) with what the disk has,
 * past the page cache. A segment that differs is written again, into a new file that takes its name once
 * that is proved. 0: the disk has all of it; -EBADMSG: a segment reads wrong as well, and cannot be
 * repaired: to be set aside; -errno: not known, to be tried again. err: one sentence. */
int journal_writer_prove(struct journal_writer *writer, char *err, size_t err_size);
/* Once that is so, and a put has succeeded after it: has the file system written its own tables as well? 0 or
 * -errno. */
int journal_writer_settle(struct journal_writer *writer);
/* Moves the segments up to the newest that is bad into a directory `damaged-N` beside them, which reads as a
 * journal of its own where it is good; the newest one too when it is bad: then the next record put must be a
 * state. 0 with the directory's name, or -errno: to be tried again. */
int journal_writer_set_aside(struct journal_writer *writer, char *ret_name, size_t size);
/* Was the directory, or the newest segment, removed or renamed while this writes it? Four calls of stat(). */
bool journal_writer_gone(const struct journal_writer *writer);
/* Then: makes the directory again, or moves the remaining segments aside. 0: the next record put must be a
 * state; -EEXIST: another journal is in its place, which is left alone; -errno: to be tried again. words:
 * what happened, in either case. */
int journal_writer_begin_again(struct journal_writer *writer, char *words, size_t size);
struct journal_writer_stats {
    uint64_t records, blocks, segments, removed; /* since it was opened */
    uint64_t raw_bytes, file_bytes;              /* before and after compression */
    uint64_t total_bytes;                        /* of all segments there are */
    uint64_t failed, proved, mended;             /* calls to the disk; proofs; segments written again */
};
void journal_writer_stats(const struct journal_writer *writer, struct journal_writer_stats *ret);
void journal_writer_close(struct journal_writer *writer); /* NULL is fine */

/* ---- reading: also while another process writes ---- */
struct journal_reader;
/* `path`: a directory, or one segment. 0, or as journal_writer_open(); -ENOENT when there is no segment. */
int journal_reader_open(const char *path, struct journal_reader **ret, char *err, size_t err_size);
/* The next record; its bytes live until the next call. 1; 0 at the end (a torn tail, and a tail still being
 * written, are an end: the call may be repeated later); -EBADMSG where the journal is altered; -ESTALE
 * where a writer whose put failed cut off what was already read here: to be read again; -errno;
 * journal_reader_error() names file, block and what is wrong. A hole in the sequence that no state fills is
 * altered. An error stays until a seek. */
int journal_reader_next(struct journal_reader *reader, struct journal_record *ret);
/* Goes to the newest state that is not after the event `seq` (journal_reader_next() gives it); UINT64_MAX: to
 * the newest of all. 0; -ENOENT when the journal begins later; -errno. */
int journal_reader_seek_seq(struct journal_reader *reader, uint64_t seq);
int journal_reader_seek_time(struct journal_reader *reader, int64_t ns); /* the same, by receive time */
/* Goes to the first record at `seq` (or at `ns`) or after it, with nothing read on the way but headers:
 * journal_reader_next() gives it. 1; 0 when everything is before it (the end); -EBADMSG, -errno. */
int journal_reader_find_seq(struct journal_reader *reader, uint64_t seq);
int journal_reader_find_time(struct journal_reader *reader, int64_t ns);
/* Checks the hashes of the newest segment: is there a whole tail, and where does it end? The reading stands
 * nowhere afterwards: seek. */
int journal_reader_tail(struct journal_reader *reader, struct journal_tail *ret);
const char *journal_reader_error(const struct journal_reader *reader);
void journal_reader_close(struct journal_reader *reader); /* NULL is fine */

/* What there is, by the headers of segments and blocks; oldest first. */
struct journal_segment_info {
    const char *name; /* of the file */
    uint32_t number;
    uint64_t first_seq, last_seq;
    int64_t first_ns, last_ns;
    uint64_t blocks, records, raw_bytes, file_bytes;
    uint64_t torn_bytes; /* of file_bytes, at its end */
    unsigned kinds;      /* bit k: it holds records of kind k */
};
/* Calls `each` for every segment; one below 0 ends it and is returned. 0, or errors of journal_reader_open()
 * with err. */
int journal_list(const char *path, int (*each)(void *ctx, const struct journal_segment_info *info), void *ctx,
                 char *err, size_t err_size);

/* For a copy of the log up to event `seq`, while another process writes and removes segments: calls `each`
 * for every segment that begins at or before it, the newest first (retention removes the oldest first, so
 * what is missing has nothing before it), with the bytes up to the end of the first block whose records reach
 * `seq`, or of the last whole one. Every hash of these bytes is checked before. One below 0 ends it and is
 * returned, with an empty err. 0; -EBADMSG, -errno, with a sentence that names the segment. */
struct journal_extent {
    const char *name;
    int fd; /* open until `each` returns */
    int64_t bytes;
    uint64_t last_seq; /* of the records in it */
};
typedef int journal_extent_fn(void *ctx, const struct journal_extent *extent);
int journal_each_up_to(const char *path, uint64_t seq, journal_extent_fn *each, void *ctx, char *err,
                       size_t err_size);

/* Reads everything, every hash. 0 with what was found; -EBADMSG, …: err names the first fault. */
struct journal_summary {
    uint64_t segments, blocks, records, states, events, frames, replies, holes;
    uint64_t first_seq, last_seq, raw_bytes, file_bytes, torn_bytes;
    int64_t first_ns, last_ns;
    uint8_t hash[JOURNAL_HASH_SIZE]; /* of the last block */
};
int journal_verify(const char *path, struct journal_summary *ret, char *err, size_t err_size);

/* Where a journal ends, or ended: a whole block. A block's hash covers all blocks of its segment before it,
 * and by the segment's header those of the segment before, so that a head attests all events up to it. */
struct journal_head {
    uint32_t first;          /* the number of the oldest segment that is there */
    uint32_t segment, block; /* their numbers */
    uint64_t last_seq;       /* of the events up to it */
    uint8_t hash[JOURNAL_HASH_SIZE];
};
/* The last block of events up to `seq`: reads the newest segment that has one. 0; -ENOENT: there is no block;
 * errors of journal_reader_open(), with err. */
int journal_head(const char *path, uint64_t seq, struct journal_head *ret, char *err, size_t err_size);
/* Calls `each` for every block that there is, oldest first, once its hash was computed and found right, until
 * that returns false. Reads everything up to there. 0; as above; -EBADMSG: err names the first that is
 * altered. */
int journal_blocks(const char *path, bool (*each)(void *ctx, const struct journal_head *block), void *ctx,
                   char *err, size_t err_size);

#endif
