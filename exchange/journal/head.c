/* Where a journal ends, and whether it still has the blocks at which it ended before. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "exchange/journal/reader.h"

static void take(const struct journal_reader *reader, struct journal_head *ret)
{
    const struct journal_scan *scan = &reader->scan;
    ret->first = reader->segments.list[0].number;
    ret->segment = scan->header.number;
    ret->block = scan->block.number;
    ret->last_seq = scan->block.last_seq;
    memcpy(ret->hash, scan->chain, sizeof ret->hash);
}

static int open_reader(const char *path, struct journal_reader **ret, char *err, size_t err_size)
{
    int r = journal_reader_open(path, ret, err, err_size);
    if (r == 0)
        r = journal_segments_read(&(*ret)->segments, (*ret)->dir);
    if (r < 0 && *ret)
        journal_reader_close(*ret);
    return r;
}

int journal_head(const char *path, uint64_t seq, struct journal_head *ret, char *err, size_t err_size)
{
    struct journal_reader *reader = NULL;
    struct journal_head head = {0};
    bool found = false;
    int r = open_reader(path, &reader, err, err_size);
    if (r < 0)
        return r;
    for (size_t i = reader->segments.n; r == 0 && i > 0 && !found;) {
        r = journal_reader_enter(reader, --i);
        if (r == 0)
            while ((r = journal_scan_load(&reader->scan, false)) == 1 && reader->scan.block.last_seq <= seq) {
                take(reader, &head);
                found = true;
            }
        r = r == -ENODATA || r == 1 ? 0 : r; /* a torn tail; what comes after */
    }
    if (r < 0)
        snprintf(err, err_size, "%s", journal_reader_error(reader));
    else if (!found)
        r = -ENOENT;
    else
        *ret = head;
    journal_reader_close(reader);
    return r;
}

int journal_blocks(const char *path, bool (*each)(void *ctx, const struct journal_head *block), void *ctx,
                   char *err, size_t err_size)
{
    struct journal_reader *reader = NULL;
    struct journal_head block = {0};
    bool more = true;
    int r = open_reader(path, &reader, err, err_size);
    if (r < 0)
        return r;
    for (size_t i = 0; r == 0 && more && i < reader->segments.n; i++) {
        r = journal_reader_enter(reader, i);
        while (r >= 0 && more && (r = journal_scan_load(&reader->scan, false)) == 1) {
            take(reader, &block);
            more = each(ctx, &block);
        }
        r = r == -ENODATA || r == 1 ? 0 : r;
    }
    if (r < 0)
        snprintf(err, err_size, "%s", journal_reader_error(reader));
    journal_reader_close(reader);
    return r;
}
