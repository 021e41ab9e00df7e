#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "exchange/fail.h"
#include "exchange/journal/scan.h"
#include "exchange/journal/writer.h"
#include "exchange/lock_file.h"

#define say(err, size, code, what, words) fail_with(code, err, size, "%s: %s", what, words)

int journal_open_dir(const char *dir, int *ret_fd, int *ret_lock, char *err, size_t err_size)
{
    *ret_fd = *ret_lock = -1;
    if (mkdir(dir, 0750) < 0 && errno != EEXIST)
        return say(err, err_size, -errno, dir, strerror(errno));
    *ret_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*ret_fd < 0)
        return say(err, err_size, -errno, dir, strerror(errno));
    int r = lock_file_take(*ret_fd, JOURNAL_LOCK_NAME);
    if (r == -EBUSY)
        return say(err, err_size, r, dir, FAIL_IN_USE("another process"));
    if (r < 0)
        return say(err, err_size, r, dir, strerror(-r));
    *ret_lock = r;
    return 0;
}

/* Goes to the end of the segment that the scan has open: 0 at its whole end, -ENODATA at a torn one. */
static int walk(struct journal_writer *writer, struct journal_scan *scan)
{
    struct journal_place *place = &writer->place;
    int r;
    while ((r = journal_scan_load(scan, false)) == 1) {
        place->last_seq = place->event_seq = scan->block.last_seq;
        place->last_ns = scan->block.last_ns;
        place->raw += scan->block.raw;
    }
    place->size = scan->at;
    place->blocks = scan->number;
    place->puts = scan->put + 1;
    place->started_ns = scan->header.first_ns;
    memcpy(place->chain, scan->chain, JOURNAL_HASH_SIZE);
    return r;
}

/* Keeps what follows the whole blocks of the newest segment in a file beside it, and cuts it off. Where the
 * disk has no room for that file it is lost: none of it was ever acknowledged. */
static int cut_tail(struct journal_writer *writer, const char *name, int64_t from, int64_t size,
                    struct journal_tail *tail)
{
    const struct journal_files *files = writer->files;
    char beside[JOURNAL_NAME_MAX + 32];
    uint8_t bytes[4096];
    int r = 0;
    snprintf(beside, sizeof beside, "%s.%" PRId64 ".torn", name, from);
    int in = files->open(files->ctx, writer->dir, name, O_RDWR);
    if (in < 0)
        return in;
    bool any = from < size;
    int out = any ? files->open(files->ctx, writer->dir, beside, O_RDWR | O_CREAT | O_TRUNC) : -1;
    if (any && out < 0)
        r = out;
    for (int64_t at = from; r == 0 && at < size;) {
        size_t want = size - at < (int64_t)sizeof bytes ? (size_t)(size - at) : sizeof bytes;
        ssize_t n = journal_files_read(files, in, bytes, want, at);
        r = n <= 0 ? (n < 0 ? (int)n : -EIO) : journal_files_write(files, out, bytes, (size_t)n, at - from);
        at += n;
    }
    if (r == 0 && any)
        r = files->sync(files->ctx, out);
    if (out >= 0)
        close(out);
    bool kept = r == 0 && any;
    if (r == -ENOSPC || r == -EDQUOT) {
        files->remove(files->ctx, writer->dir, beside);
        r = 0;
    }
    if (r == 0)
        r = files->cut(files->ctx, in, from);
    if (r == 0)
        r = files->sync(files->ctx, in);
    if (r == 0 && from == 0) /* nothing of the segment is left */
        r = files->remove(files->ctx, writer->dir, name);
    if (r == 0)
        r = files->sync(files->ctx, writer->dir);
    close(in);
    if (r == 0) {
        tail->cut_bytes += (uint64_t)(size - from);
        snprintf(tail->cut_to, sizeof tail->cut_to, "%s%s%s", kept ? writer->config.dir : "", kept ? "/" : "",
                 kept ? beside : "");
    }
    return r;
}

/* Reads the newest segment; a torn one without a whole block goes away, and the one before is the newest. */
static int find_end(struct journal_writer *writer, struct journal_scan *scan, struct journal_tail *tail)
{
    struct journal_segments *segments = &writer->segments;
    while (segments->n > 0) {
        struct journal_segment *newest = &segments->list[segments->n - 1];
        writer->place = (struct journal_place){.n_segments = segments->n};
        int r = journal_scan_open(scan, writer->dir, newest->name);
        if (r == 0)
            r = walk(writer, scan);
        int64_t size = scan->fd >= 0 ? journal_files_size(scan->fd) : 0;
        bool empty = r == -ENODATA && writer->place.blocks == 0;
        if ((r != 0 && r != -ENODATA) || size < 0)
            return r != 0 ? r : (int)size;
        if (r == 0 && writer->place.blocks == 0)
            empty = true;
        if (r == -ENODATA || empty) {
            r = cut_tail(writer, newest->name, empty ? 0 : writer->place.size, size, tail);
            if (r < 0) {
                snprintf(scan->error, sizeof scan->error, "%s: its torn tail cannot be cut: %s", newest->name,
                         strerror(-r));
                return r;
            }
        }
        if (!empty) {
            newest->first_ns = scan->header.first_ns;
            newest->size = writer->place.size;
            return 0;
        }
        segments->n--;
    }
    writer->place = (struct journal_place){0};
    return 0;
}

/* A process that died may have left what reads well, and is not on the disk. What cannot be repaired now is
 * repaired before the first put. */
static void look_back(struct journal_writer *writer)
{
    char err[JOURNAL_ERROR_MAX];
    if (writer->segments.n == 0)
        return;
    writer->proved_number = writer->last_number = writer->segments.list[writer->segments.n - 1].number;
    if (writer->config.sync)
        journal_writer_prove(writer, err, sizeof err);
}

/* A process that was killed before its sync left whole blocks in the page cache alone: they are flushed to
 * the disk before anything builds on them. */
static int flush(const struct journal_writer *writer)
{
    const struct journal_files *files = writer->files;
    int r = writer->fd >= 0 ? files->sync(files->ctx, writer->fd) : 0;
    return r == 0 ? files->sync(files->ctx, writer->dir) : r;
}

int journal_writer_open_on(const struct journal_files *files, const struct journal_writer_config *config,
                           struct journal_writer **ret, struct journal_tail *ret_tail, char *err,
                           size_t err_size)
{
    struct journal_scan scan = {.fd = -1};
    struct journal_tail tail = {0};
    struct journal_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return say(err, err_size, -ENOMEM, config->dir, "out of memory");
    writer->config = *config;
    writer->config.dir = strdup(config->dir);
    if (writer->config.block_bytes == 0)
        writer->config.block_bytes = JOURNAL_BLOCK_BYTES;
    if (writer->config.level == 0)
        writer->config.level = JOURNAL_LEVEL;
    writer->files = files;
    writer->dir = writer->lock = writer->fd = writer->back_fd = -1;
    writer->pack = ZSTD_createCCtx();
    int r = journal_hash_init(&writer->hash);
    if (r == 0)
        r = journal_scan_init(&scan, files);
    if (!writer->config.dir || !writer->pack || r < 0) {
        r = say(err, err_size, -ENOMEM, config->dir, "out of memory");
        goto fail;
    }
    if ((r = journal_open_dir(writer->config.dir, &writer->dir, &writer->lock, err, err_size)) < 0)
        goto fail;
    r = files->remove(files->ctx, writer->dir, JOURNAL_NEW_NAME);
    if (r == -ENOENT)
        r = 0;
    if (r == 0)
        r = journal_segments_read(&writer->segments, writer->dir);
    if (r < 0) {
        say(err, err_size, r, config->dir, strerror(-r));
        goto fail;
    }
    if ((r = find_end(writer, &scan, &tail)) < 0 ||
        (r = journal_segments_linked(&writer->segments, &scan, writer->dir)) < 0) {
        say(err, err_size, r, config->dir, scan.error);
        goto fail;
    }
    if (writer->segments.n > 0) {
        const char *name = writer->segments.list[writer->segments.n - 1].name;
        writer->fd = files->open(files->ctx, writer->dir, name, O_RDWR);
        if (writer->fd < 0) {
            r = say(err, err_size, writer->fd, name, strerror(-writer->fd));
            goto fail;
        }
    }
    if ((r = flush(writer)) < 0) {
        say(err, err_size, r, config->dir, strerror(-r));
        goto fail;
    }
    look_back(writer);
    tail.last_seq = writer->place.last_seq;
    tail.last_ns = writer->place.last_ns;
    journal_scan_finish(&scan);
    *ret = writer;
    *ret_tail = tail;
    return 0;
fail:
    journal_scan_finish(&scan);
    journal_writer_close(writer);
    return r;
}

int journal_writer_open(const struct journal_writer_config *config, struct journal_writer **ret,
                        struct journal_tail *ret_tail, char *err, size_t err_size)
{
    return journal_writer_open_on(&journal_files_system, config, ret, ret_tail, err, err_size);
}
