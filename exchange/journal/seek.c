#include <errno.h>
#include <string.h>

#include "exchange/journal/reader.h"

/* The target of a search: by sequence number or by time. */
struct target {
    bool by_time;
    uint64_t seq;
    int64_t ns;
};

/* Is (seq, ns) beyond the target (or at it, with `strictly`)? */
static bool beyond(const struct target *target, uint64_t seq, int64_t ns, bool strictly)
{
    if (target->by_time)
        return strictly ? ns >= target->ns : ns > target->ns;
    return strictly ? seq >= target->seq : seq > target->seq;
}

/* The number of segments that begin before the target (or at it, without `strictly`), by their headers. A
 * newest one whose header was never written whole is not counted. -EBADMSG, -errno. */
static int count_before(struct journal_reader *reader, const struct target *target, bool strictly,
                        size_t *ret)
{
    size_t low = 0, high = reader->segments.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int r = journal_reader_enter(reader, middle);
        if (r == -ENODATA && middle + 1 == reader->segments.n) {
            high = middle;
            continue;
        }
        if (r < 0)
            return r == -ENODATA ? -EBADMSG : r;
        const struct journal_file_header *header = &reader->scan.header;
        if (beyond(target, header->first_seq, header->first_ns, strictly))
            high = middle;
        else
            low = middle + 1;
    }
    *ret = low;
    return 0;
}

static int refresh(struct journal_reader *reader)
{
    reader->failed = 0;
    return reader->single ? 0 : journal_segments_read(&reader->segments, reader->dir);
}

static int to_state(struct journal_reader *reader, const struct target *target)
{
    size_t n;
    int r = refresh(reader);
    if (r == 0)
        r = count_before(reader, target, false, &n);
    if (r == 0 && n == 0)
        r = journal_scan_fail(&reader->scan, -ENOENT, "the journal begins later");
    if (r == 0)
        r = journal_reader_enter(reader, n - 1);
    if (r == 0 && n > 1 && n == reader->segments.n) { /* a newest one may have been cut before its state */
        r = journal_scan_header(&reader->scan);
        if (r == 0 || r == -ENODATA)
            r = journal_reader_enter(reader, n - 2);
        else if (r == 1)
            r = 0;
    }
    if (r < 0 && r != -ENOENT)
        reader->failed = r;
    return r;
}

int journal_reader_seek_seq(struct journal_reader *reader, uint64_t seq)
{
    return to_state(reader, &(struct target){.seq = seq});
}

int journal_reader_seek_time(struct journal_reader *reader, int64_t ns)
{
    return to_state(reader, &(struct target){.by_time = true, .ns = ns});
}

/* Moves to the block that holds the first record at the target or beyond, by headers only. */
static int to_record(struct journal_reader *reader, const struct target *target)
{
    size_t n;
    int r = refresh(reader);
    if (r == 0)
        r = count_before(reader, target, true, &n);
    if (r == 0)
        r = journal_reader_enter(reader, n > 0 ? n - 1 : 0);
    if (r < 0)
        return reader->failed = r;
    while ((r = journal_scan_header(&reader->scan)) == 1 &&
           !beyond(target, reader->scan.block.last_seq, reader->scan.block.last_ns, true))
        journal_scan_skip(&reader->scan);
    if (r < 0 && r != -ENODATA)
        return reader->failed = r;
    struct journal_record record;
    while ((r = journal_reader_next(reader, &record)) == 1)
        if (beyond(target, record.seq, record.recv_ns, true)) {
            reader->held = record; /* journal_reader_next() gives it */
            reader->holds = true;
            return 1;
        }
    return r;
}

int journal_reader_find_seq(struct journal_reader *reader, uint64_t seq)
{
    return to_record(reader, &(struct target){.seq = seq});
}

int journal_reader_find_time(struct journal_reader *reader, int64_t ns)
{
    return to_record(reader, &(struct target){.by_time = true, .ns = ns});
}

int journal_reader_tail(struct journal_reader *reader, struct journal_tail *ret)
{
    struct journal_scan *scan = &reader->scan;
    struct journal_tail tail = {0};
    bool found = false;
    int r = refresh(reader);
    for (size_t i = reader->segments.n; r == 0 && i > 0 && !found;) {
        r = journal_reader_enter(reader, --i);
        if (r == 0)
            while ((r = journal_scan_load(scan, false)) == 1) {
                tail.last_seq = scan->block.last_seq;
                tail.last_ns = scan->block.last_ns;
                found = true;
            }
        if (r == -ENODATA) {
            tail.cut_bytes += (uint64_t)(journal_files_size(scan->fd) - (found ? scan->at : 0));
            r = 0;
        }
    }
    if (r < 0)
        return reader->failed = r;
    *ret = tail;
    return 0;
}
