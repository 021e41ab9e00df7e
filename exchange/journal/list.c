#include <errno.h>
#include <stdio.h>

#include "exchange/journal/reader.h"

/* Goes through the headers of the segment that the scan has open. 0 at its end, torn or not. */
static int gather(struct journal_scan *scan, struct journal_segment_info *info)
{
    int r;
    while ((r = journal_scan_header(scan)) == 1) {
        const struct journal_block_header *block = &scan->block;
        info->blocks++;
        info->records += block->records;
        info->raw_bytes += block->raw;
        info->kinds |= block->kinds;
        info->last_seq = block->last_seq;
        info->last_ns = block->last_ns;
        journal_scan_skip(scan);
    }
    int64_t size = journal_files_size(scan->fd);
    if (size < 0)
        return (int)size;
    info->file_bytes = (uint64_t)size;
    info->torn_bytes = (uint64_t)(size - scan->at);
    return r == -ENODATA ? 0 : r;
}

int journal_list(const char *path, int (*each)(void *ctx, const struct journal_segment_info *info), void *ctx,
                 char *err, size_t err_size)
{
    struct journal_reader *reader;
    int r = journal_reader_open(path, &reader, err, err_size);
    if (r < 0)
        return r;
    bool by_each = false;
    for (size_t i = 0; i < reader->segments.n && r == 0; i++) {
        const struct journal_file_header *header = &reader->scan.header;
        r = journal_reader_enter(reader, i);
        if (r == -ENODATA && i + 1 == reader->segments.n) {
            r = 0;
            break;
        }
        if (r < 0)
            break;
        struct journal_segment_info info = {.name = reader->segments.list[i].name,
                                            .number = header->number,
                                            .first_seq = header->first_seq,
                                            .last_seq = header->first_seq,
                                            .first_ns = header->first_ns,
                                            .last_ns = header->first_ns};
        r = gather(&reader->scan, &info);
        if (r == 0) {
            r = each(ctx, &info);
            by_each = r < 0;
        }
    }
    if (r < 0 && !by_each)
        snprintf(err, err_size, "%s", journal_reader_error(reader));
    journal_reader_close(reader);
    return r;
}
