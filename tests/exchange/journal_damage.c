/* Damage: what a crash leaves is cut and never fatal; what was altered is found and named. */
#include "exchange/journal/format.h"
#include "tests/exchange/journal.h"

enum { RECORDS = 57, STATES = 25, EACH = 4 };

static char err[JOURNAL_ERROR_MAX];

static const char *base_name(const char *path)
{
    return strrchr(path, '/') + 1;
}

/* The block that holds a byte of a segment: its number and where it begins; -1 for the file header. */
static long block_of(const struct bytes *file, size_t offset, size_t *ret_at)
{
    struct journal_hash hash;
    struct journal_block_header header;
    size_t at = JOURNAL_FILE_HEADER;
    long block = -1;
    *ret_at = 0;
    if (offset < at)
        return -1;
    CHECK_INT(journal_hash_init(&hash), 0);
    while (at < file->len && journal_block_header_read(&hash, file->bytes + at, &header) == 0) {
        size_t end = at + JOURNAL_BLOCK_HEADER + header.payload + JOURNAL_BLOCK_TRAILER;
        if (offset < end) {
            block = header.number;
            *ret_at = at;
            break;
        }
        at = end;
    }
    journal_hash_finish(&hash);
    return block;
}

static void poke(const char *path, size_t offset, uint8_t byte)
{
    int fd = open(path, O_WRONLY);
    CHECK(fd >= 0 && pwrite(fd, &byte, 1, (off_t)offset) == 1);
    close(fd);
}

static void check_flip(const char *path, struct bytes *file, size_t offset, int bit)
{
    char where[80];
    struct journal_summary sum;
    size_t at;
    long block = block_of(file, offset, &at);
    poke(path, offset, (uint8_t)(file->bytes[offset] ^ (1 << bit)));
    int r = journal_verify(journal_dir, &sum, err, sizeof err);
    if (block < 0)
        snprintf(where, sizeof where, "file header at byte 0:");
    else
        snprintf(where, sizeof where, "block %ld at byte %zu:", block, at);
    bool named = strstr(err, base_name(path)) && strstr(err, where);
    CHECK(r == -EBADMSG && named);
    if (r != -EBADMSG || !named)
        fprintf(stderr, "%s: byte %zu bit %d, in %s: %d: %s\n", base_name(path), offset, bit, where, r, err);
    poke(path, offset, file->bytes[offset]);
}

static bool every_bit;
static struct random chance;

static void flip_all(const char *path)
{
    struct bytes file = bytes_read(path);
    for (size_t i = 0; i < file.len; i++) {
        if (every_bit)
            for (int bit = 0; bit < 8; bit++)
                check_flip(path, &file, i, bit);
        else
            check_flip(path, &file, i, (int)random_between(&chance, 0, 7));
    }
    free(file.bytes);
}

/* One bit flipped anywhere in the log is found and named. */
static void test_flips(void)
{
    uint64_t n;
    journal_make(RECORDS, STATES, EACH, 0);
    CHECK_INT(journal_find(), 3);
    journal_files_ending(".journal", flip_all);
    CHECK_INT(journal_read_all(STATES, &n, err), 0);
    CHECK_INT(n, RECORDS);
}

static void check_torn(int64_t kept_records, size_t torn)
{
    struct journal_writer_config config = {.dir = journal_dir};
    struct journal_writer *writer = NULL;
    struct journal_tail tail;
    struct making making = making_begin(STATES);
    uint64_t n;
    CHECK_INT(journal_read_all(STATES, &n, err), 0); /* quietly */
    CHECK_INT(n, kept_records);
    CHECK_INT(journal_writer_open(&config, &writer, &tail, err, sizeof err), 0);
    if (!writer)
        return;
    CHECK_INT(tail.cut_bytes, torn);
    CHECK_INT(journal_files_ending(".torn", NULL), torn > 0);
    if (torn > 0) {
        struct bytes kept = bytes_read(tail.cut_to);
        CHECK_INT(kept.len, torn);
        free(kept.bytes);
    }
    for (int64_t i = 0; i < kept_records; i++)
        making_next(&making);
    CHECK_INT(tail.last_seq, making.seq);
    struct journal_batch batch; /* it continues */
    journal_batch_init(&batch);
    making.made.record.kind = JOURNAL_STATE;
    making.made.record.seq = tail.last_seq;
    making.made.record.recv_ns = tail.last_ns;
    making.made.record.bytes = "state";
    making.made.record.len = 5;
    journal_batch_add(&batch, &making.made.record);
    CHECK_INT(journal_writer_put(writer, &batch), 0);
    journal_batch_finish(&batch);
    journal_writer_close(writer);
    struct journal_summary sum;
    CHECK_INT(journal_verify(journal_dir, &sum, err, sizeof err), 0);
    CHECK_INT(sum.records, kept_records + 1);
}

/* How many records stand in the whole blocks of a segment's first `len` bytes; where they end. */
static int64_t records_in(const struct bytes *file, size_t len, size_t *ret_end)
{
    struct journal_hash hash;
    struct journal_block_header header;
    size_t at = JOURNAL_FILE_HEADER;
    int64_t n = 0;
    *ret_end = 0;
    CHECK_INT(journal_hash_init(&hash), 0);
    while (at < len && journal_block_header_read(&hash, file->bytes + at, &header) == 0) {
        at += JOURNAL_BLOCK_HEADER + header.payload + JOURNAL_BLOCK_TRAILER;
        if (at > len)
            break;
        n += header.records;
        *ret_end = at;
    }
    journal_hash_finish(&hash);
    return n;
}

/* The newest segment, cut at every length, and filled up with zeros to what it was, and beyond. */
static void test_torn(void)
{
    journal_make(RECORDS, STATES, EACH, 0);
    journal_find();
    char path[PATH_MAX];
    strcpy(path, journal_newest_path);
    struct bytes file = bytes_read(path);
    int64_t before = RECORDS / STATES * STATES;
    uint8_t *zeros = malloc(file.len + 5000);
    for (size_t len = 0; len < file.len; len++) {
        for (int fill = 0; fill < 3; fill++) {
            journal_make(RECORDS, STATES, EACH, 0);
            memset(zeros, 0, file.len + 5000);
            memcpy(zeros, file.bytes, len);
            size_t size = fill == 0 ? len : fill == 1 ? file.len : file.len + 5000;
            bytes_write(path, zeros, size);
            size_t whole;
            int64_t n = records_in(&file, len, &whole);
            check_torn(before + n, size - whole);
        }
    }
    free(zeros);
    free(file.bytes);
}

/* A sector that a power loss left out, in the last put: torn; in one before it: altered. */
static void test_lost_sector(void)
{
    struct journal_writer_config config = {.dir = journal_dir, .block_bytes = 2000};
    for (int put = 0; put < 2; put++) {
        struct journal_writer *writer;
        struct journal_tail tail;
        struct journal_batch batch;
        static uint8_t noise[900];
        struct random random = {5};
        uint64_t seq = 1;
        journal_dir_clear();
        CHECK_INT(journal_writer_open(&config, &writer, &tail, err, sizeof err), 0);
        journal_batch_init(&batch);
        journal_batch_add(&batch, &(struct journal_record){JOURNAL_STATE, seq, 1, "s", 1});
        CHECK_INT(journal_writer_put(writer, &batch), 0);
        for (int k = 0; k < 2; k++) {
            journal_batch_clear(&batch);
            for (int i = 0; i < 10; i++) {
                for (size_t b = 0; b < sizeof noise; b++)
                    noise[b] = (uint8_t)random_next(&random);
                journal_batch_add(&batch,
                                  &(struct journal_record){JOURNAL_EVENT, ++seq, 1, noise, sizeof noise});
            }
            CHECK_INT(journal_writer_put(writer, &batch), 0);
        }
        journal_batch_finish(&batch);
        journal_writer_close(writer);
        journal_find();
        struct bytes file = bytes_read(journal_newest_path);
        size_t half = file.len / 2, sector = put == 0 ? 1024 : (half / 512 + 4) * 512;
        memset(file.bytes + sector, 0, 512);
        bytes_write(journal_newest_path, file.bytes, file.len);
        free(file.bytes);
        struct journal_summary sum;
        int r = journal_verify(journal_dir, &sum, err, sizeof err);
        CHECK_INT(r, put == 0 ? -EBADMSG : 0);
        if (put == 1) {
            CHECK(sum.torn_bytes > 0 && sum.events >= 10 && sum.events < 20);
            CHECK_INT(journal_writer_open(&config, &writer, &tail, err, sizeof err), 0);
            CHECK_INT(tail.cut_bytes, sum.torn_bytes);
            journal_writer_close(writer);
        }
    }
}

static void remove_second(const char *path)
{
    if (strncmp(base_name(path), "00000002-", 9) == 0)
        unlink(path);
}

/* A segment before the newest ends whole, follows the one before it, and is there. */
static void test_segments(void)
{
    struct journal_writer_config config = {.dir = journal_dir};
    struct journal_writer *writer;
    struct journal_tail tail;
    struct journal_summary sum;
    for (int what = 0; what < 5; what++) {
        char path[PATH_MAX], name[PATH_MAX];
        journal_make(RECORDS, STATES, EACH, 0);
        journal_find();
        strcpy(path, journal_oldest_path);
        struct bytes file = bytes_read(path);
        size_t whole;
        records_in(&file, file.len - 1, &whole);
        char right[80] = "";
        switch (what) {
        case 0: /* torn */
            bytes_write(path, file.bytes, file.len - 1);
            strcpy(right, base_name(path));
            break;
        case 1: /* a block less */
            bytes_write(path, file.bytes, whole);
            strcpy(right, base_name(path));
            break;
        case 2: /* zeros behind */
            memset(file.bytes + whole, 0, file.len - whole);
            bytes_write(path, file.bytes, file.len);
            strcpy(right, base_name(path));
            break;
        case 3: /* renamed into another's place */
            snprintf(name, sizeof name, "%s/00000004-20240808T000000Z-9.journal", journal_dir);
            rename(path, name);
            strcpy(right, base_name(name));
            break;
        case 4: /* the middle one is missing */
            strcpy(path, journal_newest_path);
            journal_files_ending(".journal", remove_second);
            CHECK_INT(journal_find(), 2);
            strcpy(right, "segment 2 is missing");
            break;
        }
        CHECK_INT(journal_verify(journal_dir, &sum, err, sizeof err), -EBADMSG);
        CHECK(strstr(err, right) != NULL);
        CHECK_INT(journal_writer_open(&config, &writer, &tail, err, sizeof err), -EBADMSG);
        CHECK(strstr(err, right) != NULL);
        free(file.bytes);
    }
}

static void test_newer(void)
{
    struct journal_writer_config config = {.dir = journal_dir};
    struct journal_writer *writer;
    struct journal_reader *reader;
    struct journal_tail tail;
    struct journal_hash hash;
    journal_make(RECORDS, STATES, EACH, 0);
    journal_find();
    struct bytes file = bytes_read(journal_oldest_path);
    CHECK_INT(journal_hash_init(&hash), 0);
    file.bytes[8] = JOURNAL_FORMAT + 6;
    struct journal_part part = {file.bytes, JOURNAL_FILE_HEADER - JOURNAL_HASH_SIZE};
    CHECK_INT(journal_hash_parts(&hash, &part, 1, file.bytes + part.len), 0);
    bytes_write(journal_oldest_path, file.bytes, file.len);
    CHECK_INT(journal_reader_open(journal_dir, &reader, err, sizeof err), -ENOTSUP);
    CHECK(strstr(err, ": format 7 is newer than 1, the newest that this program knows: update papertape"));
    CHECK_INT(journal_writer_open(&config, &writer, &tail, err, sizeof err), -ENOTSUP);
    CHECK(strstr(err, ": format 7 is newer than 1, the newest that this program knows: update papertape"));
    journal_hash_finish(&hash);
    free(file.bytes);
}

int main(void)
{
    every_bit = getenv("PAPERTAPE_LONG") != NULL;
    chance = random_seeded("journal_damage", 20261121);
    journal_dir_make();
    test_flips();
    test_torn();
    test_lost_sector();
    test_segments();
    test_newer();
    return check_done("journal_damage");
}
