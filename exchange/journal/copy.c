#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "exchange/journal/segments.h"

/* The segment that was given before, which follows the next one. */
struct following {
    uint32_t number; /* 0: none */
    uint8_t previous[JOURNAL_HASH_SIZE];
};

/* Checks the hashes of the segment that the scan has open, and goes to the end of the first block whose
 * records reach `seq`: bytes, up to the last whole block where none does; or -errno. One that is `sealed` has
 * nothing else behind its last block. */
static int64_t end_at(struct journal_scan *scan, uint64_t seq, bool sealed, uint64_t *ret_last)
{
    int r;
    *ret_last = scan->header.first_seq;
    while ((r = journal_scan_load(scan, false)) == 1) {
        *ret_last = scan->block.last_seq;
        if (*ret_last >= seq)
            break;
    }
    if (r == -ENODATA && !sealed)
        r = 0;
    return r < 0 ? r == -ENODATA ? -EBADMSG : r : scan->at;
}

/* Is the one that was given before the next, and does it say how this one ends? */
static int check_end(struct journal_scan *scan, const struct following *following)
{
    if (following->number != scan->header.number + 1)
        return journal_scan_fail(scan, -EBADMSG, "%s: segment %" PRIu32 " is missing after it", scan->name,
                                 scan->header.number + 1);
    if (memcmp(following->previous, scan->chain, sizeof scan->chain) != 0)
        return journal_scan_fail(scan, -EBADMSG, "%s: segment %" PRIu32 " does not follow its end",
                                 scan->name, following->number);
    return 0;
}

/* Of one segment. */
static int give(struct journal_scan *scan, uint64_t seq, struct following *following, journal_extent_fn *each,
                void *ctx)
{
    struct journal_extent extent = {.name = scan->name, .fd = scan->fd};
    const bool sealed = following->number > 0;
    if (scan->header.first_seq > seq)
        return 0;
    extent.bytes = end_at(scan, sealed ? UINT64_MAX : seq, sealed, &extent.last_seq);
    if (extent.bytes < 0)
        return (int)extent.bytes;
    int r = sealed ? check_end(scan, following) : 0;
    if (r < 0)
        return r;
    following->number = scan->header.first_seq < seq ? scan->header.number : 0;
    memcpy(following->previous, scan->header.previous, sizeof following->previous);
    r = each(ctx, &extent);
    return r < 0 ? r : 0;
}

static int give_all(struct journal_scan *scan, int dir, uint64_t seq, journal_extent_fn *each, void *ctx)
{
    struct journal_segments segments = {0};
    int r = journal_segments_read(&segments, dir);
    struct following following = {0};
    bool any = false;
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
        r = give(scan, seq, &following, each, ctx);
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
