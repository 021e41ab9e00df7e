/* Bytes as a segment of a journal. The first one says how the others are taken: as the file itself; or, so
 * that what stands behind the hashes is reached too, as a block's records, or as a block's header and
 * payload, with checks and hashes that hold.
 *
 *   build-fuzz/tests/fuzz/journal_fuzz -max_total_time=60 -max_len=4096 NEW_CORPUS tests/fuzz/corpus_journal
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "exchange/journal/files.h"
#include "exchange/journal/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FILE_MAX = 1 << 20 };

static void must(bool holds)
{
    if (!holds)
        abort();
}

/* ---- a file in memory ---- */

static int memory_fd;
static uint8_t file[FILE_MAX];
static size_t file_len;

static int open_memory(void *ctx, int dir, const char *name, int flags)
{
    (void)ctx, (void)dir, (void)name, (void)flags;
    return dup(memory_fd);
}

static void add(const void *bytes, size_t len)
{
    must(file_len + len <= sizeof file);
    memcpy(file + file_len, bytes, len);
    file_len += len;
}

/* ---- what holds ---- */

static struct journal_hash hash;

static void add_block(const uint8_t header[static JOURNAL_BLOCK_HEADER], const void *payload, size_t len,
                      uint8_t chain[static JOURNAL_HASH_SIZE])
{
    struct journal_part parts[] = {
        {chain, JOURNAL_HASH_SIZE}, {header, JOURNAL_BLOCK_HEADER}, {payload, len}};
    uint8_t digest[JOURNAL_HASH_SIZE];
    must(journal_hash_parts(&hash, parts, 3, digest) == 0);
    add(header, JOURNAL_BLOCK_HEADER);
    add(payload, len);
    add(digest, sizeof digest);
    add(journal_end_mark, sizeof journal_end_mark);
    memcpy(chain, digest, sizeof digest);
}

/* A segment whose second block has these records, or this header (except its sizes) and payload. */
static void make_segment(const uint8_t *data, size_t size, bool header_too)
{
    static uint8_t packed[FILE_MAX / 2];
    uint8_t bytes[JOURNAL_FILE_HEADER], head[JOURNAL_BLOCK_HEADER];
    struct journal_file_header first = {.number = 1, .first_seq = 5, .first_ns = 7};
    must(journal_file_header_write(&hash, &first, bytes) == 0);
    add(bytes, sizeof bytes);
    static const uint8_t state[] = {JOURNAL_STATE, 0, 0, 0};
    struct journal_block_header header = {.kinds = 1u << JOURNAL_STATE,
                                          .first_seq = 5,
                                          .last_seq = 5,
                                          .first_ns = 7,
                                          .last_ns = 7,
                                          .raw = sizeof state,
                                          .records = 1};
    header.payload = (uint32_t)ZSTD_compress(packed, sizeof packed, state, sizeof state, 1);
    must(journal_block_header_write(&hash, &header, head) == 0);
    add_block(head, packed, header.payload, first.hash);
    header.number = header.put = 1;
    if (header_too && size >= 24) {
        memcpy(&header.first_seq, data, 8);
        memcpy(&header.last_seq, data + 8, 8);
        memcpy(&header.raw, data + 16, 4);
        memcpy(&header.records, data + 20, 4);
        header.payload = (uint32_t)(size - 24);
        memcpy(packed, data + 24, size - 24);
    } else {
        header.raw = (uint32_t)size;
        header.records = size > 0 ? data[0] : 1;
        header.payload = (uint32_t)ZSTD_compress(packed, sizeof packed, data, size, 1);
    }
    must(journal_block_header_write(&hash, &header, head) == 0);
    add_block(head, packed, header.payload, first.hash);
}

static void read_all(const struct journal_files *files)
{
    struct journal_reader *reader;
    struct journal_record record;
    struct journal_tail tail;
    char err[JOURNAL_ERROR_MAX];
    uint64_t last = 0, sum = 0;
    int r = journal_reader_open_on(files, "/dev/null", &reader, err, sizeof err);
    if (r < 0) {
        must(r == -EBADMSG || r == -ENOTSUP || r == -ENOENT);
        return;
    }
    while ((r = journal_reader_next(reader, &record)) == 1) {
        must(record.kind >= JOURNAL_STATE && record.kind < JOURNAL_KINDS && record.seq >= last);
        last = record.seq;
        for (size_t i = 0; i < record.len; i++) /* all of it is there */
            sum += ((const uint8_t *)record.bytes)[i];
    }
    must(r == 0 || r == -EBADMSG || r == -ENOMEM);
    must(r == 0 || *journal_reader_error(reader));
    r = journal_reader_find_seq(reader, last + sum % 2);
    must(r == 0 || r == 1 || r == -EBADMSG || r == -ENOMEM);
    r = journal_reader_tail(reader, &tail);
    must(r == 0 || r == -EBADMSG || r == -ENOMEM);
    journal_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct journal_files files;
    if (!files.open) {
        files = journal_files_system;
        files.open = open_memory;
        memory_fd = memfd_create("segment", MFD_CLOEXEC);
        must(memory_fd >= 0 && journal_hash_init(&hash) == 0);
    }
    if (size == 0 || size > FILE_MAX / 4)
        return 0;
    file_len = 0;
    if (data[0] % 3 == 0)
        add(data + 1, size - 1);
    else
        make_segment(data + 1, size - 1, data[0] % 3 == 2);
    must(ftruncate(memory_fd, 0) == 0 && pwrite(memory_fd, file, file_len, 0) == (ssize_t)file_len);
    read_all(&files);
    return 0;
}
