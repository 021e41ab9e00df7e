/* Compares what was put with what the disk has of it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exchange/fail.h"
#include "exchange/journal/scan.h"
#include "exchange/journal/writer.h"

enum { COPY = 1 << 16, ASIDE_MAX = 10000 };

#define say(err, size, code, what, words) fail_with(code, err, size, "%s: %s", what, words)

static int same(const struct journal_writer *writer, const char *name, int64_t from, int64_t to)
{
    const struct journal_files *files = writer->files;
    return files->same ? files->same(files->ctx, writer->dir, name, from, to) : 1;
}

int journal_writer_seen(const struct journal_writer *writer)
{
    const struct journal_segments *segments = &writer->segments;
    const struct journal_place *back = &writer->back;
    int64_t from = segments->n == back->n_segments ? back->size : 0;
    if (!writer->config.sync || segments->n == 0 || from == writer->place.size)
        return 0;
    int there = same(writer, segments->list[segments->n - 1].name, from, writer->place.size);
    return there < 0 ? there : there == 1 ? 0 : -EILSEQ;
}

/* ---- one segment ---- */

/* Does it read as it was written, up to `size`, with that chain? 0; -EBADMSG, -errno, with an error. */
static int check_hashes(struct journal_scan *scan, int dir, const char *name, int64_t size,
                        const uint8_t chain[JOURNAL_HASH_SIZE])
{
    int r = journal_scan_open(scan, dir, name);
    while (r == 0 && scan->at < size) {
        int block = journal_scan_load(scan, false);
        r = block == 1 ? 0 : block < 0 ? block : -ENODATA;
    }
    if (r == -ENODATA || r == -ENOENT)
        return -EBADMSG;
    if (r == 0 && (scan->at != size || memcmp(scan->chain, chain, JOURNAL_HASH_SIZE) != 0))
        return journal_scan_fail(scan, -EBADMSG, "%s: it does not end as it was written", name);
    return r;
}

static int copy(const struct journal_files *files, int in, int out, int64_t size)
{
    uint8_t bytes[COPY];
    int r = 0;
    for (int64_t at = 0; r == 0 && at < size; at += COPY) {
        size_t want = size - at < COPY ? (size_t)(size - at) : COPY;
        ssize_t n = journal_files_read(files, in, bytes, want, at);
        r = n < 0 ? (int)n : n < (ssize_t)want ? -EIO : journal_files_write(files, out, bytes, want, at);
    }
    return r == 0 ? files->sync(files->ctx, out) : r;
}

/* Copies a segment as it reads into a new file, which takes its name once the disk is seen to have it. */
static int write_again(struct journal_writer *writer, const char *name, int64_t size, bool newest)
{
    const struct journal_files *files = writer->files;
    int in = files->open(files->ctx, writer->dir, name, O_RDONLY);
    if (in < 0)
        return in;
    int out = files->open(files->ctx, writer->dir, JOURNAL_NEW_NAME, O_RDWR | O_CREAT | O_TRUNC);
    int r = out < 0 ? out : copy(files, in, out, size);
    close(in);
    if (r == 0 && (r = same(writer, JOURNAL_NEW_NAME, 0, size)) >= 0)
        r = r == 1 ? 0 : -EIO;
    if (r == 0)
        r = files->rename(files->ctx, writer->dir, JOURNAL_NEW_NAME, name);
    if (r < 0) {
        if (out >= 0)
            close(out);
        files->remove(files->ctx, writer->dir, JOURNAL_NEW_NAME);
        return r;
    }
    writer->stats.mended++;
    if (newest) {
        close(writer->fd);
        writer->fd = out;
    } else {
        close(out);
    }
    return files->sync(files->ctx, writer->dir);
}

/* ---- all that was not proved yet ---- */

/* The hash that the i-th segment ends with: the next one's header says it. */
static int chain_after(struct journal_writer *writer, struct journal_scan *scan, size_t i,
                       uint8_t ret[JOURNAL_HASH_SIZE])
{
    const struct journal_segments *segments = &writer->segments;
    if (i + 1 == segments->n) {
        memcpy(ret, writer->place.chain, JOURNAL_HASH_SIZE);
        return 0;
    }
    int r = journal_scan_open(scan, writer->dir, segments->list[i + 1].name);
    if (r == 0)
        memcpy(ret, scan->header.previous, JOURNAL_HASH_SIZE);
    return r == -ENODATA || r == -ENOENT ? -EBADMSG : r;
}

static int prove_segment(struct journal_writer *writer, struct journal_scan *scan, size_t i)
{
    const struct journal_segment *segment = &writer->segments.list[i];
    bool newest = i + 1 == writer->segments.n;
    int64_t size = newest ? writer->place.size : segment->size;
    int64_t from = segment->number == writer->proved_number ? writer->proved_at : 0;
    uint8_t chain[JOURNAL_HASH_SIZE];
    int there = same(writer, segment->name, from, size);
    if (there < 0 && there != -ENOENT)
        return journal_scan_fail(scan, there, "%s: it cannot be read back: %s", segment->name,
                                 strerror(-there));
    if (there == 1 && from > 0)
        return 0;
    int r = chain_after(writer, scan, i, chain);
    if (r == -EBADMSG) { /* the next one is bad, and all up to it are set aside */
        writer->bad_number = writer->segments.list[i + 1].number;
        return r;
    }
    if (r == 0)
        r = check_hashes(scan, writer->dir, segment->name, size, chain);
    if (r == -EBADMSG)
        writer->bad_number = segment->number;
    if (r == 0 && there != 1) {
        r = write_again(writer, segment->name, size, newest);
        if (r < 0)
            journal_scan_fail(scan, r, "%s: it cannot be written again: %s", segment->name, strerror(-r));
    }
    return r;
}

static int prove_all(struct journal_writer *writer, struct journal_scan *scan)
{
    const struct journal_segments *segments = &writer->segments;
    int r = 0;
    size_t first = journal_segments_find(segments, writer->proved_number);
    for (size_t i = segments->n;
         r == 0 && i-- > first;) /* the newest first: if it is bad the older ones are set aside too */
        r = prove_segment(writer, scan, i);
    return r;
}

bool journal_writer_started(const struct journal_writer *writer)
{
    return writer->place.started;
}

bool journal_writer_suspect(const struct journal_writer *writer)
{
    return writer->suspect;
}

int journal_writer_prove(struct journal_writer *writer, char *err, size_t err_size)
{
    struct journal_scan scan;
    int r = journal_scan_init(&scan, writer->files);
    if (r < 0) {
        say(err, err_size, r, writer->config.dir, "out of memory");
    } else if (writer->broken && (r = journal_writer_go_back(writer)) < 0) {
        say(err, err_size, r, "what was half written cannot be cut", strerror(-r));
    } else if ((r = prove_all(writer, &scan)) < 0) {
        snprintf(err, err_size, "%s", scan.error);
    } else if (writer->segments.n > 0) {
        writer->proved_number = writer->segments.list[writer->segments.n - 1].number;
        writer->proved_at = writer->place.size;
    }
    writer->suspect = r < 0;
    writer->stats.proved += r == 0;
    journal_scan_finish(&scan);
    return r;
}

int journal_writer_settle(struct journal_writer *writer)
{
    const struct journal_files *files = writer->files;
    return files->settle ? files->settle(files->ctx, writer->dir) : 0;
}

/* ---- what cannot be repaired ---- */

static int make_aside(const struct journal_writer *writer, char *ret_name, size_t size)
{
    for (int n = 1; n < ASIDE_MAX; n++) {
        snprintf(ret_name, size, "damaged-%d", n);
        if (mkdirat(writer->dir, ret_name, 0750) == 0)
            return 0;
        if (errno != EEXIST)
            return -errno;
    }
    return -EEXIST;
}

void journal_writer_stand_alone(struct journal_writer *writer)
{
    struct journal_place *place = &writer->place;
    if (writer->back_fd >= 0 && writer->back_fd != writer->fd)
        close(writer->back_fd);
    if (writer->fd >= 0)
        close(writer->fd);
    writer->broken = false;
    writer->fd = writer->back_fd = -1;
    place->size = 0;
    place->started = false;
}

int journal_writer_set_aside(struct journal_writer *writer, char *ret_name, size_t size)
{
    const struct journal_files *files = writer->files;
    struct journal_segments *segments = &writer->segments;
    size_t n = journal_segments_find(segments, writer->bad_number + 1), moved = 0;
    char to[JOURNAL_NAME_MAX + 32];
    int r = writer->broken ? journal_writer_go_back(writer) : 0;
    if (r == 0)
        r = make_aside(writer, ret_name, size);
    while (r == 0 && moved < n) {
        snprintf(to, sizeof to, "%.24s/%s", ret_name, segments->list[moved].name);
        r = files->rename(files->ctx, writer->dir, segments->list[moved].name, to);
        if (r == -ENOENT)
            r = 0;
        moved += r == 0;
    }
    if (moved > 0 && moved == segments->n)
        journal_writer_stand_alone(writer);
    segments->n -= moved;
    memmove(segments->list, segments->list + moved, segments->n * sizeof *segments->list);
    writer->place.n_segments = segments->n;
    return r == 0 ? files->sync(files->ctx, writer->dir) : r;
}
