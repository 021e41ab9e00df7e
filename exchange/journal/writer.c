#include "exchange/journal/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

enum { KEPT_SEGMENTS = 2 }; /* retention keeps them whatever their size and age */

/* ---- going back ---- */

int journal_writer_go_back(struct journal_writer *writer)
{
    int r = 0;
    writer->broken = true;
    writer->block.records = 0;
    writer->raw_len = 0;
    while (r == 0 && writer->segments.n > writer->back.n_segments) {
        const char *name = writer->segments.list[writer->segments.n - 1].name;
        r = writer->files->remove(writer->files->ctx, writer->dir, name);
        if (r == 0 || r == -ENOENT) {
            writer->segments.n--;
            r = 0;
        }
    }
    if (r == 0 && writer->back_fd >= 0)
        r = writer->files->cut(writer->files->ctx, writer->back_fd, writer->back.size);
    if (r < 0)
        return r;
    if (writer->fd != writer->back_fd)
        close(writer->fd);
    writer->fd = writer->back_fd;
    writer->place = writer->back;
    writer->broken = false;
    return 0;
}

/* ---- blocks ---- */

static int reserve(uint8_t **bytes, size_t *cap, size_t need)
{
    if (need <= *cap)
        return 0;
    size_t grown_cap = need < JOURNAL_BLOCK_BYTES ? JOURNAL_BLOCK_BYTES : need + need / 4;
    uint8_t *grown = realloc(*bytes, grown_cap);
    if (!grown)
        return -ENOMEM;
    *bytes = grown;
    *cap = grown_cap;
    return 0;
}

/* Packs the block that was filled and writes it at the end of the segment. */
static int write_block(struct journal_writer *writer)
{
    struct journal_block_header *block = &writer->block;
    struct journal_place *place = &writer->place;
    if (block->records == 0)
        return 0;
    size_t bound = ZSTD_compressBound(writer->raw_len);
    int r = reserve(&writer->out, &writer->out_cap, JOURNAL_BLOCK_HEADER + bound + JOURNAL_BLOCK_TRAILER);
    if (r < 0)
        return r;
    uint8_t *payload = writer->out + JOURNAL_BLOCK_HEADER;
    size_t len =
        ZSTD_compressCCtx(writer->pack, payload, bound, writer->raw, writer->raw_len, writer->config.level);
    if (ZSTD_isError(len))
        return -ENOMEM;
    block->number = place->blocks;
    block->put = place->puts;
    block->payload = (uint32_t)len;
    block->raw = (uint32_t)writer->raw_len;
    if ((r = journal_block_header_write(&writer->hash, block, writer->out)) < 0)
        return r;
    struct journal_part parts[] = {{place->chain, JOURNAL_HASH_SIZE},
                                   {writer->out, JOURNAL_BLOCK_HEADER + len}};
    uint8_t digest[JOURNAL_HASH_SIZE];
    if ((r = journal_hash_parts(&writer->hash, parts, 2, digest)) < 0)
        return r;
    memcpy(payload + len, digest, JOURNAL_HASH_SIZE);
    memcpy(payload + len + JOURNAL_HASH_SIZE, journal_end_mark, sizeof journal_end_mark);
    size_t whole = JOURNAL_BLOCK_HEADER + len + JOURNAL_BLOCK_TRAILER;
    if ((r = journal_files_write(writer->files, writer->fd, writer->out, whole, place->size)) < 0)
        return r;
    memcpy(place->chain, digest, JOURNAL_HASH_SIZE);
    place->size += (int64_t)whole;
    place->raw += writer->raw_len;
    place->blocks++;
    writer->blocks_put++;
    writer->bytes_put += whole;
    block->records = 0;
    writer->raw_len = 0;
    return 0;
}

/* Adds a record to the block that is being filled; a full one is written first. */
static int add_record(struct journal_writer *writer, const struct journal_record *record)
{
    struct journal_block_header *block = &writer->block;
    int r;
    if (block->records > 0 &&
        writer->raw_len + record->len + JOURNAL_RECORD_HEAD > writer->config.block_bytes &&
        (r = write_block(writer)) < 0)
        return r;
    if ((r = reserve(&writer->raw, &writer->raw_cap, writer->raw_len + record->len + JOURNAL_RECORD_HEAD)) <
        0)
        return r;
    if (block->records == 0)
        *block = (struct journal_block_header){.first_seq = record->seq,
                                               .last_seq = record->seq,
                                               .first_ns = record->recv_ns,
                                               .last_ns = record->recv_ns};
    writer->raw_len +=
        journal_record_write(writer->raw + writer->raw_len, record, block->last_seq, block->last_ns);
    if (record->len > 0)
        memcpy(writer->raw + writer->raw_len, record->bytes, record->len);
    writer->raw_len += record->len;
    block->last_seq = record->seq;
    block->last_ns = record->recv_ns;
    block->kinds |= 1u << record->kind;
    block->records++;
    return 0;
}

/* ---- segments ---- */

static int write_first(struct journal_writer *writer, struct journal_file_header *header,
                       const struct journal_record *state, const char *name)
{
    uint8_t bytes[JOURNAL_FILE_HEADER];
    int r = journal_file_header_write(&writer->hash, header, bytes);
    if (r < 0)
        return r;
    memcpy(writer->place.chain, header->hash, JOURNAL_HASH_SIZE);
    if ((r = journal_files_write(writer->files, writer->fd, bytes, sizeof bytes, 0)) < 0 ||
        (r = add_record(writer, state)) < 0 || (r = write_block(writer)) < 0 ||
        (r = writer->files->sync(writer->files->ctx, writer->fd)) < 0)
        return r;
    return writer->files->rename(writer->files->ctx, writer->dir, JOURNAL_NEW_NAME, name);
}

static int reserve_segment(struct journal_segments *segments)
{
    struct journal_segment *grown = reallocarray(segments->list, segments->n + 1, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    segments->list = grown;
    return 0;
}

/* Starts a segment with a state in a file that gets its name when it is on the disk: so a segment always
 * has its header and its state, and those before it end whole. */
static int begin_segment(struct journal_writer *writer, const struct journal_record *state)
{
    struct journal_segments *segments = &writer->segments;
    struct journal_file_header header = {
        .number = (segments->n > 0 ? segments->list[segments->n - 1].number : writer->last_number) + 1,
        .first_seq = state->seq,
        .first_ns = state->recv_ns,
    };
    struct journal_segment segment = {.number = header.number, .first_ns = state->recv_ns};
    int r = header.number == 0 ? -EOVERFLOW : reserve_segment(segments);

    if (r == 0 && writer->fd >= 0)
        r = writer->files->sync(writer->files->ctx, writer->fd);
    if (r == 0 && writer->fd >= 0)
        r = journal_writer_seen(writer);
    if (r < 0)
        return r;
    int fd =
        writer->files->open(writer->files->ctx, writer->dir, JOURNAL_NEW_NAME, O_RDWR | O_CREAT | O_TRUNC);
    if (fd < 0)
        return fd;
    struct journal_place before = writer->place;
    int before_fd = writer->fd;
    memcpy(header.previous, before.chain, JOURNAL_HASH_SIZE);
    journal_name_format(&header, segment.name);
    writer->fd = fd;
    writer->place = (struct journal_place){
        .n_segments = before.n_segments + 1,
        .size = JOURNAL_FILE_HEADER,
        .started_ns = state->recv_ns,
        .last_seq = before.last_seq,
        .event_seq = before.event_seq,
        .last_ns = before.last_ns,
        .started = true,
    };
    r = write_first(writer, &header, state, segment.name);
    if (r < 0) {
        close(fd);
        writer->files->remove(writer->files->ctx, writer->dir, JOURNAL_NEW_NAME);
        writer->place = before;
        writer->fd = before_fd;
        return r;
    }
    if (before_fd >= 0 && before_fd != writer->back_fd)
        close(before_fd);
    if (segments->n > 0)
        segments->list[segments->n - 1].size = before.size;
    segments->list[segments->n++] = segment;
    writer->last_number = segment.number;
    return writer->files->sync(writer->files->ctx, writer->dir);
}

static uint64_t total_bytes(const struct journal_writer *writer)
{
    uint64_t total = (uint64_t)writer->place.size;
    for (size_t i = 0; i + 1 < writer->segments.n; i++)
        total += (uint64_t)writer->segments.list[i].size;
    return total;
}

static int read_header(struct journal_writer *writer, const char *name, struct journal_file_header *ret)
{
    const struct journal_files *files = writer->files;
    uint8_t bytes[JOURNAL_FILE_HEADER];
    uint32_t format;
    int fd = files->open(files->ctx, writer->dir, name, O_RDONLY);
    if (fd < 0)
        return fd;
    ssize_t n = journal_files_read(files, fd, bytes, sizeof bytes, 0);
    close(fd);
    return n < 0 ? (int)n : journal_file_header_read(&writer->hash, bytes, (size_t)n, ret, &format);
}

/* May the oldest of the segments from here on be removed? 1, 0: later, -errno: it cannot be read. */
static int may_remove(struct journal_writer *writer, const struct journal_segment *oldest, bool large)
{
    struct journal_file_header header, next;
    int r;
    if (!writer->config.may_remove)
        return 1;
    if ((r = read_header(writer, oldest->name, &header)) < 0 ||
        (r = read_header(writer, oldest[1].name, &next)) < 0)
        return r;
    struct journal_removal removal = {.number = header.number,
                                      .from_seq = header.first_seq + 1,
                                      .to_seq = next.first_seq,
                                      .from_ns = header.first_ns,
                                      .to_ns = next.first_ns,
                                      .bytes = (uint64_t)oldest->size,
                                      .large = large};
    memcpy(removal.hash, next.previous, sizeof removal.hash);
    return writer->config.may_remove(writer->config.may_remove_ctx, &removal);
}

/* Removes whole old segments, the oldest first. One that cannot be removed is tried again next time. */
static void retire(struct journal_writer *writer)
{
    struct journal_segments *segments = &writer->segments;
    const struct journal_writer_config *config = &writer->config;
    uint64_t total = total_bytes(writer);
    size_t n = 0;
    writer->retiring = false;
    while (segments->n - n > KEPT_SEGMENTS) {
        const struct journal_segment *oldest = &segments->list[n];
        bool large = config->keep_bytes > 0 && total > config->keep_bytes;
        bool old = config->keep_ns > 0 && oldest[1].first_ns < writer->place.last_ns - config->keep_ns;
        if (!large && !old)
            break;
        int r = may_remove(writer, oldest, large);
        if (r == 0)
            writer->retiring = true;
        if (r == 1)
            r = writer->files->remove(writer->files->ctx, writer->dir, oldest->name);
        if (writer->retiring || (r < 0 && r != -ENOENT))
            break;
        total -= (uint64_t)oldest->size;
        n++;
    }
    segments->n -= n;
    memmove(segments->list, segments->list + n, segments->n * sizeof *segments->list);
    writer->place.n_segments = segments->n;
    writer->stats.removed += n;
}

/* ---- putting ---- */

/* Does the batch continue what is there? 0 or -EINVAL. */
static int check_batch(const struct journal_writer *writer, const struct journal_batch *batch)
{
    uint64_t last_seq = writer->place.last_seq, event_seq = writer->place.event_seq;
    int64_t last_ns = writer->place.last_ns;
    bool started = writer->place.started;
    struct journal_record record;
    for (size_t at = 0; journal_batch_next(batch, &at, &record);) {
        if (record.seq < last_seq || record.recv_ns < last_ns)
            return -EINVAL;
        if (record.kind != JOURNAL_STATE && !started)
            return -EINVAL;
        if (record.kind == JOURNAL_EVENT && record.seq != event_seq + 1)
            return -EINVAL;
        if (record.kind == JOURNAL_STATE || record.kind == JOURNAL_EVENT)
            event_seq = record.seq;
        started = true;
        last_seq = record.seq;
        last_ns = record.recv_ns;
    }
    return 0;
}

static int put_records(struct journal_writer *writer, const struct journal_batch *batch)
{
    struct journal_record record;
    struct journal_place *place = &writer->place;
    int r = 0;
    for (size_t at = 0; r == 0 && journal_batch_next(batch, &at, &record);) {
        if (record.kind == JOURNAL_STATE) {
            if ((r = write_block(writer)) == 0)
                r = begin_segment(writer, &record);
        } else {
            r = add_record(writer, &record);
        }
        if (record.kind == JOURNAL_STATE || record.kind == JOURNAL_EVENT)
            place->event_seq = record.seq;
        place->last_seq = record.seq;
        place->last_ns = record.recv_ns;
    }
    if (r == 0)
        r = write_block(writer);
    if (r == 0 && writer->config.sync)
        r = writer->files->sync(writer->files->ctx, writer->fd);
    return r == 0 ? journal_writer_seen(writer) : r;
}

static void count(struct journal_writer *writer, const struct journal_batch *batch)
{
    struct journal_writer_stats *stats = &writer->stats;
    const struct journal_place *place = &writer->place, *back = &writer->back;
    struct journal_record record;
    for (size_t at = 0; journal_batch_next(batch, &at, &record);) {
        stats->records++;
        stats->raw_bytes += record.len;
    }
    stats->segments += place->n_segments - back->n_segments;
    stats->blocks += writer->blocks_put;
    stats->file_bytes += writer->bytes_put;
}

int journal_writer_put(struct journal_writer *writer, const struct journal_batch *batch)
{
    int r;
    if (writer->broken && (r = journal_writer_go_back(writer)) < 0)
        return r;
    if ((r = check_batch(writer, batch)) < 0 || batch->len == 0)
        return r;
    writer->back = writer->place;
    writer->back_fd = writer->fd;
    writer->blocks_put = writer->bytes_put = 0;
    r = put_records(writer, batch);
    if (r < 0) {
        writer->suspect = true;
        writer->stats.failed++;
        journal_writer_go_back(writer);
        return r;
    }
    if (writer->back_fd >= 0 && writer->back_fd != writer->fd)
        close(writer->back_fd);
    writer->back_fd = -1; /* its number may be another file's soon */
    count(writer, batch);
    writer->place.puts++;
    if (writer->place.n_segments > writer->back.n_segments || writer->retiring)
        retire(writer);
    return 0;
}

bool journal_writer_full(const struct journal_writer *writer)
{
    const struct journal_place *place = &writer->place;
    const struct journal_writer_config *config = &writer->config;
    return !place->started || (config->segment_bytes > 0 && place->raw >= config->segment_bytes) ||
           (config->segment_ns > 0 && place->last_ns - place->started_ns >= config->segment_ns);
}

void journal_writer_stats(const struct journal_writer *writer, struct journal_writer_stats *ret)
{
    *ret = writer->stats;
    ret->total_bytes = total_bytes(writer);
}

void journal_writer_close(struct journal_writer *writer)
{
    if (!writer)
        return;
    if (writer->broken)
        journal_writer_go_back(writer);
    if (writer->broken && writer->back_fd >= 0 && writer->back_fd != writer->fd)
        close(writer->back_fd);
    if (writer->fd >= 0)
        close(writer->fd);
    if (writer->dir >= 0)
        close(writer->dir);
    if (writer->lock >= 0)
        close(writer->lock);
    journal_segments_finish(&writer->segments);
    journal_hash_finish(&writer->hash);
    ZSTD_freeCCtx(writer->pack);
    free((char *)writer->config.dir);
    free(writer->raw);
    free(writer->out);
    free(writer);
}
