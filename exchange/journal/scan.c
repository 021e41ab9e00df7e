#include "exchange/journal/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

enum { LOOK = 1 << 16 };

int journal_scan_init(struct journal_scan *scan, const struct journal_files *files)
{
    *scan = (struct journal_scan){.files = files, .fd = -1};
    scan->unpack = ZSTD_createDCtx();
    int r = journal_hash_init(&scan->hash);
    return scan->unpack ? r : -ENOMEM;
}

void journal_scan_finish(struct journal_scan *scan)
{
    journal_scan_close(scan);
    journal_hash_finish(&scan->hash);
    ZSTD_freeDCtx(scan->unpack);
    free(scan->payload);
    free(scan->raw);
}

void journal_scan_close(struct journal_scan *scan)
{
    if (scan->fd >= 0)
        close(scan->fd);
    scan->fd = -1;
}

static int fail_block(struct journal_scan *scan, int r, const char *what)
{
    return journal_scan_fail(scan, r, "%s: block %" PRIu32 " at byte %" PRId64 ": %s", scan->name,
                             scan->number, scan->at, what);
}

static int fail_read(struct journal_scan *scan, int r)
{
    return journal_scan_fail(scan, r, "%s: it cannot be read: %s", scan->name, strerror(-r));
}

static bool all_zero(const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (bytes[i])
            return false;
    return true;
}

/* ---- torn or altered? ---- */

/* The offset of the zeros at the file's end; its size when its last byte is not zero. -errno. */
static int64_t zeros_begin(struct journal_scan *scan, int64_t size)
{
    uint8_t bytes[LOOK];
    while (size > scan->at) {
        int64_t from = size - LOOK > scan->at ? size - LOOK : scan->at;
        ssize_t n = journal_files_read(scan->files, scan->fd, bytes, (size_t)(size - from), from);
        if (n < 0)
            return n;
        while (n > 0 && bytes[n - 1] == 0)
            n--;
        if (n > 0)
            return from + n;
        size = from;
    }
    return scan->at;
}

/* Do all bytes of a sector of the file read as zeros, between `from`, where a block starts, and `to`? The
 * first sector may be shared with the block before, and then has that block's end. No single flip makes a
 * header's first byte zero. 1, 0 or -errno. */
static int zero_sector(struct journal_scan *scan, int64_t from, int64_t to)
{
    uint8_t bytes[JOURNAL_SECTOR];
    for (int64_t at = from, part; at + (part = JOURNAL_SECTOR - at % JOURNAL_SECTOR) <= to; at += part) {
        ssize_t n = journal_files_read(scan->files, scan->fd, bytes, (size_t)part, at);
        if (n < 0)
            return (int)n;
        if (n == part && all_zero(bytes, (size_t)part))
            return 1;
    }
    return 0;
}

/* Is there a sound header of a block of a later put than `put` after `from`? 1, 0 or -errno. */
static int later_put(struct journal_scan *scan, int64_t from, int64_t size, uint32_t put)
{
    uint8_t bytes[LOOK];
    while (from + JOURNAL_BLOCK_HEADER <= size) {
        ssize_t n = journal_files_read(scan->files, scan->fd, bytes, sizeof bytes, from);
        if (n < JOURNAL_BLOCK_HEADER)
            return n < 0 ? (int)n : 0;
        for (ssize_t i = 0; i + JOURNAL_BLOCK_HEADER <= n; i++) {
            struct journal_block_header header;
            int r = bytes[i] == 'P' ? journal_block_header_read(&scan->hash, bytes + i, &header) : -EBADMSG;
            if (r == -ENOMEM)
                return r;
            if (r == 0 && header.number > scan->number && header.put > put)
                return 1;
        }
        from += n - JOURNAL_BLOCK_HEADER + 1;
    }
    return 0;
}

/* The block at scan->at is not what was written; `end`: of what is to be there. -ENODATA, -EBADMSG, -errno.
 */
static int judge(struct journal_scan *scan, int64_t end, int64_t size, uint32_t put, const char *what)
{
    int64_t zeros = zeros_begin(scan, size);
    if (zeros < 0)
        return fail_read(scan, (int)zeros);
    if (zeros < end)
        return fail_block(scan, -ENODATA, "it was never written whole: zeros to the end of the file");
    int64_t to = end + JOURNAL_SECTOR - 1 < size ? end + JOURNAL_SECTOR - 1 : size;
    int r = zero_sector(scan, scan->at, to);
    if (r == 1)
        r = 1 - later_put(scan, scan->at + 1, size, put);
    if (r < 0)
        return fail_read(scan, r);
    return r == 1 ? fail_block(scan, -ENODATA, "it was never written whole: a sector is missing")
                  : fail_block(scan, -EBADMSG, what);
}

/* ---- opening ---- */

int journal_scan_open(struct journal_scan *scan, int dir, const char *name)
{
    uint8_t bytes[JOURNAL_FILE_HEADER_MAX];
    uint32_t format;
    journal_scan_close(scan);
    scan->at = 0;
    scan->number = scan->put = 0;
    snprintf(scan->name, sizeof scan->name, "%s", name);
    int fd = scan->files->open(scan->files->ctx, dir, name, O_RDONLY);
    if (fd < 0)
        return journal_scan_fail(scan, fd, "%s: it cannot be opened: %s", name, strerror(-fd));
    scan->fd = fd;
    ssize_t n = journal_files_read(scan->files, fd, bytes, JOURNAL_FILE_HEADER, 0);
    size_t size = n == JOURNAL_FILE_HEADER ? journal_file_header_size(bytes) : 0;
    if (size > JOURNAL_FILE_HEADER)
        n = journal_files_read(scan->files, fd, bytes, size, 0);
    if (n < 0)
        return fail_read(scan, (int)n);
    int r = n < JOURNAL_FILE_HEADER
                ? -ENODATA
                : journal_file_header_read(&scan->hash, bytes, (size_t)n, &scan->header, &format);
    if (r == -EBADMSG) {
        int64_t zeros = zeros_begin(scan, journal_files_size(fd));
        if (zeros < JOURNAL_FILE_HEADER)
            r = zeros < 0 ? (int)zeros : -ENODATA;
    }
    if (r == -ENODATA)
        return journal_scan_fail(scan, r, "%s: file header at byte 0: it was never written whole", name);
    if (r == -EBADMSG)
        return journal_scan_fail(scan, r, "%s: file header at byte 0: altered, or not a journal", name);
    if (r == -ENOTSUP)
        return journal_scan_fail(scan, r, FAIL_NEWER("%s: format %" PRIu32, "%d"), name, format,
                                 JOURNAL_FORMAT);
    if (r < 0)
        return journal_scan_fail(scan, r, "%s: %s", name, strerror(-r));
    scan->at = JOURNAL_FILE_HEADER;
    memcpy(scan->chain, scan->header.hash, JOURNAL_HASH_SIZE);
    scan->chained = true;
    return 0;
}

/* ---- blocks ---- */

int journal_scan_header(struct journal_scan *scan)
{
    uint8_t bytes[JOURNAL_BLOCK_HEADER];
    struct journal_block_header header;
    int64_t size = journal_files_size(scan->fd);
    if (size < 0)
        return fail_read(scan, (int)size);
    if (size == scan->at)
        return 0;
    if (size < scan->at)
        return fail_block(scan, -EBADMSG, "what was there was cut off");
    ssize_t n = journal_files_read(scan->files, scan->fd, bytes, sizeof bytes, scan->at);
    if (n < 0)
        return fail_read(scan, (int)n);
    if (n < JOURNAL_BLOCK_HEADER)
        return fail_block(scan, -ENODATA, "the file ends in its header");
    int r = journal_block_header_read(&scan->hash, bytes, &header);
    if (r == -ENOMEM)
        return fail_read(scan, r);
    if (r < 0)
        return judge(scan, scan->at + JOURNAL_BLOCK_HEADER, size, scan->number == 0 ? 0 : scan->put + 1,
                     "its header is altered");
    if (header.number != scan->number)
        return fail_block(scan, -EBADMSG, "it is another block's place");
    scan->block = header;
    int64_t end = scan->at + JOURNAL_BLOCK_HEADER + header.payload + JOURNAL_BLOCK_TRAILER;
    if (end > size)
        return fail_block(scan, -ENODATA, "the file ends in it");
    return 1;
}

void journal_scan_skip(struct journal_scan *scan)
{
    scan->at += JOURNAL_BLOCK_HEADER + (int64_t)scan->block.payload + JOURNAL_BLOCK_TRAILER;
    scan->number++;
    scan->put = scan->block.put;
    scan->chained = false;
}

int journal_scan_chain(struct journal_scan *scan)
{
    if (scan->chained)
        return 0;
    ssize_t n = journal_files_read(scan->files, scan->fd, scan->chain, JOURNAL_HASH_SIZE,
                                   scan->at - JOURNAL_BLOCK_TRAILER);
    if (n < JOURNAL_HASH_SIZE)
        return fail_read(scan, n < 0 ? (int)n : -EIO);
    scan->chained = true;
    return 0;
}

int journal_scan_last(struct journal_scan *scan, uint8_t ret[static JOURNAL_HASH_SIZE])
{
    uint8_t trailer[JOURNAL_BLOCK_TRAILER];
    int64_t size = journal_files_size(scan->fd);
    if (size < 0)
        return fail_read(scan, (int)size);
    ssize_t n = size < JOURNAL_FILE_HEADER + JOURNAL_BLOCK_HEADER + JOURNAL_BLOCK_TRAILER
                    ? 0
                    : journal_files_read(scan->files, scan->fd, trailer, sizeof trailer,
                                         size - JOURNAL_BLOCK_TRAILER);
    if (n < 0)
        return fail_read(scan, (int)n);
    if (n < JOURNAL_BLOCK_TRAILER ||
        memcmp(trailer + JOURNAL_HASH_SIZE, journal_end_mark, sizeof journal_end_mark) != 0)
        return journal_scan_fail(scan, -EBADMSG, "%s: it does not end with a whole block at byte %" PRId64,
                                 scan->name, size);
    memcpy(ret, trailer, JOURNAL_HASH_SIZE);
    return 0;
}

static int reserve(uint8_t **bytes, size_t *cap, size_t need)
{
    if (need <= *cap)
        return 0;
    uint8_t *grown = realloc(*bytes, need);
    if (!grown)
        return -ENOMEM;
    *bytes = grown;
    *cap = need;
    return 0;
}

int journal_scan_load(struct journal_scan *scan, bool unpack)
{
    uint8_t header[JOURNAL_BLOCK_HEADER], digest[JOURNAL_HASH_SIZE];
    int r = journal_scan_header(scan);
    if (r <= 0)
        return r;
    const struct journal_block_header *block = &scan->block;
    size_t len = block->payload, rest = len + JOURNAL_BLOCK_TRAILER;
    if (reserve(&scan->payload, &scan->payload_cap, rest) < 0 ||
        (unpack && reserve(&scan->raw, &scan->raw_cap, block->raw) < 0))
        return fail_block(scan, -ENOMEM, "out of memory");
    if ((r = journal_scan_chain(scan)) < 0 ||
        (r = journal_block_header_write(&scan->hash, block, header)) < 0)
        return r;
    ssize_t n =
        journal_files_read(scan->files, scan->fd, scan->payload, rest, scan->at + JOURNAL_BLOCK_HEADER);
    if (n < (ssize_t)rest)
        return n < 0 ? fail_read(scan, (int)n) : fail_block(scan, -EBADMSG, "what was there was cut off");
    struct journal_part parts[] = {
        {scan->chain, sizeof scan->chain}, {header, sizeof header}, {scan->payload, len}};
    if (journal_hash_parts(&scan->hash, parts, 3, digest) < 0)
        return fail_block(scan, -ENOMEM, "out of memory");
    const uint8_t *trailer = scan->payload + len;
    if (memcmp(digest, trailer, sizeof digest) != 0 ||
        memcmp(trailer + JOURNAL_HASH_SIZE, journal_end_mark, sizeof journal_end_mark) != 0) {
        int64_t size = journal_files_size(scan->fd);
        return judge(scan, scan->at + JOURNAL_BLOCK_HEADER + (int64_t)rest, size, block->put,
                     "it is altered: it does not have its hash");
    }
    if (unpack) {
        size_t raw = ZSTD_decompressDCtx(scan->unpack, scan->raw, block->raw, scan->payload, len);
        if (ZSTD_isError(raw) || raw != block->raw)
            return fail_block(scan, -EBADMSG, "it does not unpack to what its header says");
    }
    journal_scan_skip(scan);
    memcpy(scan->chain, digest, sizeof digest);
    scan->chained = true;
    return 1;
}
