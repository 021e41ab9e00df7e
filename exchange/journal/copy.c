#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "exchange/journal/segments.h"

/* Goes to the end of the first block whose records reach `seq`, of the segment that the scan has open: bytes,
 * up to the last whole block where none does; or -errno. */
static int64_t end_at(struct journal_scan *scan, uint64_t seq, uint64_t *ret_last)
{
    int r;
    *ret_last = scan->header.first_seq;
    while ((r = journal_scan_header(scan)) == 1) {
        *ret_last = scan->block.last_seq;
        journal_scan_skip(scan);
        if (*ret_last >= seq)
            break;
    }
    return r < 0 && r != -ENODATA ? r : scan->at;
}

/* Of one segment. 1: its predecessor is complete, and need not be scanned; 0; -errno. */
static int give(struct journal_scan *scan, uint64_t seq, bool whole, journal_extent_fn *each, void *ctx)
{
    struct journal_extent extent = {.name = scan->name, .fd = scan->fd};
    if (scan->header.first_seq > seq)
        return 0;
    int64_t bytes = whole ? journal_files_size(scan->fd) : end_at(scan, seq, &extent.last_seq);
    if (bytes < 0)
        return (int)bytes;
    extent.bytes = bytes;
    int r = each(ctx, &extent);
    return r < 0 ? r : scan->header.first_seq < seq;
}

static int give_all(struct journal_scan *scan, int dir, uint64_t seq, journal_extent_fn *each, void *ctx)
{
    struct journal_segments segments = {0};
    int r = journal_segments_read(&segments, dir);
    bool whole = false, any = false;
    if (r < 0)
        journal_scan_fail(scan, r, "%s", strerror(-r));
    for (size_t i = segments.n; r == 0 && i-- > 0;) {
        r = journal_scan_open(scan, dir, segments.list[i].name);
        bool unfinished = r == -ENODATA && i + 1 == segments.n, removed = r == -ENOENT && any;
        if (removed || unfinished)
            r = 0;
        if (removed)
            break;
        if (r < 0 || unfinished)
            continue;
        any = true;
        r = give(scan, seq, whole, each, ctx);
        whole |= r > 0;
        r = r > 0 ? 0 : r;
    }
    journal_segments_finish(&segments);
    return r;
}

int journal_each_up_to(const char *path, uint64_t seq, journal_extent_fn *each, void *ctx, char *err,
                       size_t err_size)
{
    struct journal_scan scan;
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir < 0)
        return fail_with(-errno, err, err_size, "%s: %s", path, strerror(errno));
    int r = journal_scan_init(&scan, &journal_files_system);
    if (r < 0)
        journal_scan_fail(&scan, r, "%s", strerror(-r));
    else
        r = give_all(&scan, dir, seq, each, ctx);
    if (r < 0)
        fail_with(r, err, err_size, "%s", scan.error);
    journal_scan_finish(&scan);
    close(dir);
    return r;
}
