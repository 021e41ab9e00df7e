#include "exchange/journal/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/fail.h"

/* ---- segments ---- */

static int list_segments(struct journal_reader *reader)
{
    if (reader->single)
        return 0;
    int r = journal_segments_read(&reader->segments, reader->dir);
    if (r < 0)
        return journal_scan_fail(&reader->scan, r, "the directory cannot be read: %s", strerror(-r));
    return 0;
}

/* Forgets what is known of the reading position. */
static void forget(struct journal_reader *reader)
{
    reader->at = reader->raw = reader->records = 0;
    reader->know_seq = reader->know_before = reader->holds = false;
}

int journal_reader_enter(struct journal_reader *reader, size_t i)
{
    struct journal_segment *segment = &reader->segments.list[i];
    forget(reader);
    int r = journal_scan_open(&reader->scan, reader->dir, segment->name);
    if (r < 0)
        return r;
    if (!reader->single && reader->scan.header.number != segment->number)
        return journal_scan_fail(&reader->scan, -EBADMSG,
                                 "%s: file header at byte 0: it is of segment %" PRIu32, segment->name,
                                 reader->scan.header.number);
    segment->first_ns = reader->scan.header.first_ns;
    reader->sealed = i + 1 < reader->segments.n;
    return 0;
}

/* Goes from the end of a segment to the next. 1; 0 when there is none yet; -EBADMSG, -errno. */
static int next_segment(struct journal_reader *reader)
{
    struct journal_scan *scan = &reader->scan;
    uint32_t number = scan->header.number;
    uint8_t chain[JOURNAL_HASH_SIZE];
    char before[JOURNAL_NAME_MAX];
    size_t i = journal_segments_find(&reader->segments, number + 1);
    if (i == reader->segments.n)
        return 0;
    if (reader->segments.list[i].number != number + 1)
        return journal_scan_fail(scan, -EBADMSG, "%s: segment %" PRIu32 " is missing before it",
                                 reader->segments.list[i].name, number + 1);
    int r = journal_scan_chain(scan);
    if (r < 0)
        return r;
    memcpy(chain, scan->chain, sizeof chain);
    strcpy(before, scan->name);
    uint64_t event_seq = reader->event_seq, last_seq = reader->last_seq;
    int64_t last_ns = reader->last_ns;
    bool know_seq = reader->know_seq, know_before = reader->know_before;
    if ((r = journal_reader_enter(reader, i)) < 0)
        return r == -ENODATA && i + 1 < reader->segments.n ? -EBADMSG : r;
    reader->event_seq = event_seq;
    reader->last_seq = last_seq;
    reader->last_ns = last_ns;
    reader->know_seq = know_seq;
    reader->know_before = know_before;
    if (memcmp(chain, scan->header.previous, sizeof chain) != 0)
        return journal_scan_fail(scan, -EBADMSG,
                                 "%s: file header at byte 0: it does not follow the end of %s", scan->name,
                                 before);
    return 1;
}

/* At the end of what is there of a segment, whole (0) or torn (-ENODATA): 1 where reading can continue; 0
 * for the end of the journal; -EBADMSG, -errno. */
static int at_end(struct journal_reader *reader, int r)
{
    if (reader->single)
        return 0;
    if (!reader->sealed) { /* has a next segment been started? Then this one is read once more */
        int listed = list_segments(reader);
        if (listed < 0)
            return listed;
        size_t next = journal_segments_find(&reader->segments, reader->scan.header.number + 1);
        if (next == reader->segments.n)
            return 0;
        reader->sealed = true;
        return 1;
    }
    if (r == -ENODATA)
        return -EBADMSG;
    r = next_segment(reader);
    if (r != -ENODATA)
        return r;
    journal_scan_close(&reader->scan); /* opened again when reading continues */
    return 0;
}

/* ---- records ---- */

static int fail_record(struct journal_reader *reader, const char *what)
{
    const struct journal_scan *scan = &reader->scan;
    return journal_scan_fail(&reader->scan, -EBADMSG,
                             "%s: block %" PRIu32 " at byte %" PRId64 ": record %" PRIu32 ": %s", scan->name,
                             scan->block.number, reader->block_at, reader->records, what);
}

/* The next record of the block that was loaded. */
static int next_record(struct journal_reader *reader, struct journal_record *ret)
{
    const struct journal_block_header *block = &reader->scan.block;
    struct journal_record record = {.seq = reader->at == 0 ? block->first_seq : reader->block_seq,
                                    .recv_ns = reader->at == 0 ? block->first_ns : reader->block_ns};
    if (!journal_record_read(reader->scan.raw, reader->raw, &reader->at, &record))
        return fail_record(reader, "its bytes are none");
    reader->block_seq = record.seq;
    reader->block_ns = record.recv_ns;
    reader->records++;
    bool last = reader->at == reader->raw;
    if (last && (reader->records != block->records || record.seq != block->last_seq ||
                 record.recv_ns != block->last_ns))
        return fail_record(reader, "it is not the last one that the block's header names");
    if (reader->know_before && (record.seq < reader->last_seq || record.recv_ns < reader->last_ns))
        return fail_record(reader, "its sequence number or time is before those of the record before");
    const struct journal_file_header *header = &reader->scan.header;
    if (block->number == 0 && reader->records == 1 &&
        (record.kind != JOURNAL_STATE || record.seq != header->first_seq ||
         record.recv_ns != header->first_ns))
        return fail_record(reader, "it is not the state that the segment's header names");
    if (record.kind == JOURNAL_EVENT && reader->know_seq && record.seq != reader->event_seq + 1)
        return fail_record(reader, "events are missing before it, and no state fills the hole");
    if (record.kind == JOURNAL_EVENT || record.kind == JOURNAL_STATE) {
        reader->event_seq = record.seq;
        reader->know_seq = true;
    }
    reader->last_seq = record.seq;
    reader->last_ns = record.recv_ns;
    reader->know_before = true;
    *ret = record;
    return 1;
}

/* A put that failed after some of its blocks were whole is cut off again. Is the block that was read last
 * no longer there? */
static bool taken_back(struct journal_reader *reader)
{
    struct journal_scan *scan = &reader->scan;
    uint8_t hash[JOURNAL_HASH_SIZE];
    if (reader->block_at <= JOURNAL_FILE_HEADER || !scan->chained)
        return false;
    ssize_t n = journal_files_read(scan->files, scan->fd, hash, sizeof hash,
                                   reader->block_at - JOURNAL_BLOCK_TRAILER);
    return n >= 0 && (n < JOURNAL_HASH_SIZE || memcmp(hash, scan->chain, sizeof hash) != 0);
}

/* Loads the next block, of this segment or a later one. 1; 0 at the end; -EBADMSG, -errno. */
static int load(struct journal_reader *reader)
{
    for (;;) {
        reader->block_at = reader->scan.at;
        reader->at = reader->raw = reader->records = 0;
        int r = reader->scan.fd < 0 ? 0 : journal_scan_load(&reader->scan, true);
        if (r == 1) {
            reader->raw = reader->scan.block.raw;
            reader->blocks++;
            return 1;
        }
        if (r == -EBADMSG && !reader->sealed && taken_back(reader))
            return journal_scan_fail(&reader->scan, -ESTALE,
                                     "%s: before byte %" PRId64
                                     ": the writer took back what was read; read it again",
                                     reader->scan.name, reader->block_at);
        if (r != 0 && r != -ENODATA)
            return r;
        if ((r = at_end(reader, r)) <= 0)
            return r;
    }
}

int journal_reader_next(struct journal_reader *reader, struct journal_record *ret)
{
    if (reader->failed < 0)
        return reader->failed;
    if (reader->holds) {
        *ret = reader->held;
        reader->holds = false;
        return 1;
    }
    int r = reader->at < reader->raw ? 1 : load(reader);
    if (r == 1)
        r = next_record(reader, ret);
    if (r < 0)
        reader->failed = r;
    return r;
}

/* ---- opening and closing ---- */

static int open_path(struct journal_reader *reader, const char *path)
{
    struct stat st;
    char copy[PATH_MAX];
    if (stat(path, &st) < 0)
        return -errno;
    reader->single = !S_ISDIR(st.st_mode);
    if (!reader->single) {
        reader->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return reader->dir < 0 ? -errno : journal_segments_read(&reader->segments, reader->dir);
    }
    if (strlen(path) >= sizeof copy)
        return -ENAMETOOLONG;
    strcpy(copy, path);
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    if (strlen(name) >= JOURNAL_NAME_MAX)
        return -ENAMETOOLONG;
    reader->dir = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (reader->dir < 0)
        return -errno;
    struct journal_segment *segment = calloc(1, sizeof *segment);
    if (!segment)
        return -ENOMEM;
    *segment = (struct journal_segment){.number = 1, .size = st.st_size};
    strcpy(segment->name, name);
    reader->segments = (struct journal_segments){segment, 1};
    return 0;
}

int journal_reader_open_on(const struct journal_files *files, const char *path, struct journal_reader **ret,
                           char *err, size_t err_size)
{
    struct journal_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return fail_with(-ENOMEM, err, err_size, "%s: out of memory", path);
    reader->dir = -1;
    int r = journal_scan_init(&reader->scan, files);
    if (r == 0)
        r = open_path(reader, path);
    if (r == 0 && reader->segments.n == 0)
        r = -ENOENT;
    if (r < 0) {
        snprintf(err, err_size, "%s: %s", path,
                 r == -ENOENT && reader->dir >= 0 ? "it holds no segment" : strerror(-r));
        goto fail;
    }
    r = journal_reader_enter(reader, 0);
    if (r == -ENODATA) {
        if (reader->segments.n > 1)
            r = -EBADMSG;
        else if (!reader->single)
            r = -ENOENT;
    }
    if (r < 0) {
        snprintf(err, err_size, "%s%s%s", reader->single ? "" : path, reader->single ? "" : ": ",
                 reader->scan.error);
        goto fail;
    }
    *ret = reader;
    return 0;
fail:
    journal_reader_close(reader);
    return r == -ENODATA ? -ENOENT : r;
}

int journal_reader_open(const char *path, struct journal_reader **ret, char *err, size_t err_size)
{
    return journal_reader_open_on(&journal_files_system, path, ret, err, err_size);
}

const char *journal_reader_error(const struct journal_reader *reader)
{
    return reader->scan.error;
}

void journal_reader_close(struct journal_reader *reader)
{
    if (!reader)
        return;
    journal_scan_finish(&reader->scan);
    journal_segments_finish(&reader->segments);
    if (reader->dir >= 0)
        close(reader->dir);
    free(reader);
}
