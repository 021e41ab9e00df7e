/* Finding a moment: the right record, and nothing read on the way but headers. */
#include "exchange/journal/files.h"
#include "exchange/journal/format.h"
#include "tests/exchange/journal.h"

enum { RECORDS = 400, STATES = 40, EACH = 6 };

static char err[JOURNAL_ERROR_MAX];

/* What was read: how often each kind of thing. */
static struct {
    long file_headers, block_headers, hashes, blocks;
} reads;

static ssize_t counting_read(void *ctx, int fd, void *bytes, size_t len, int64_t at)
{
    (void)ctx;
    if (len == JOURNAL_FILE_HEADER && at == 0)
        reads.file_headers++;
    else if (len == JOURNAL_BLOCK_HEADER)
        reads.block_headers++;
    else if (len == JOURNAL_HASH_SIZE)
        reads.hashes++;
    else
        reads.blocks++;
    return journal_files_system.read(NULL, fd, bytes, len, at);
}

static struct journal_files counting;

static struct journal_reader *open_reader(void)
{
    struct journal_reader *reader = NULL;
    CHECK_INT(journal_reader_open_on(&counting, journal_dir, &reader, err, sizeof err), 0);
    if (!reader)
        exit(EXIT_FAILURE);
    memset(&reads, 0, sizeof reads);
    return reader;
}

/* Records as they were made, for looking them up. */
static struct made all[RECORDS];

static void remember(void)
{
    struct making making = making_begin(STATES);
    for (int i = 0; i < RECORDS; i++) {
        making_next(&making);
        all[i] = making.made;
        all[i].record.bytes = all[i].bytes;
    }
}

static bool reaches(const struct journal_record *record, bool by_time, uint64_t seq, int64_t ns)
{
    return by_time ? record->recv_ns >= ns : record->seq >= seq;
}

static void check_find(struct journal_reader *reader, bool by_time, uint64_t seq, int64_t ns)
{
    struct journal_record record;
    int i = 0;
    while (i < RECORDS && !reaches(&all[i].record, by_time, seq, ns))
        i++;
    memset(&reads, 0, sizeof reads);
    int r = by_time ? journal_reader_find_time(reader, ns) : journal_reader_find_seq(reader, seq);
    CHECK_INT(r, i < RECORDS);
    CHECK(reads.blocks <= 1); /* the one that holds it */
    CHECK(reads.hashes <= 1);
    CHECK(reads.file_headers <= 6); /* of ten segments */
    CHECK(reads.block_headers <= STATES / EACH + 6);
    for (int k = 0; k < 20 && i < RECORDS; k++, i++) { /* and continues from there */
        CHECK_INT(journal_reader_next(reader, &record), 1);
        CHECK(records_equal(&record, &all[i].record));
    }
    if (i == RECORDS)
        CHECK_INT(journal_reader_next(reader, &record), 0);
}

static void test_find(void)
{
    struct journal_reader *reader = open_reader();
    struct random random = random_seeded("journal_seek", 12);
    check_find(reader, false, 0, 0);
    check_find(reader, false, UINT64_MAX, 0);
    check_find(reader, true, 0, INT64_MIN);
    check_find(reader, true, 0, INT64_MAX);
    for (int i = 0; i < RECORDS; i++) {
        check_find(reader, false, all[i].record.seq, 0);
        check_find(reader, true, 0, all[i].record.recv_ns);
        check_find(reader, true, 0, all[i].record.recv_ns + random_between(&random, -900000, 900000));
    }
    journal_reader_close(reader);
}

/* To the newest state that is not after a moment. */
static void test_states(void)
{
    struct journal_reader *reader = open_reader();
    struct journal_record record;
    for (int i = -1; i <= RECORDS; i++) {
        int last_by_seq = -1, last_by_time = -1;
        uint64_t seq = i < 0 ? START_SEQ - 1 : i == RECORDS ? UINT64_MAX : all[i].record.seq;
        int64_t ns = i < 0 ? START_NS - 1 : i == RECORDS ? INT64_MAX : all[i].record.recv_ns;
        for (int k = 0; k < RECORDS; k += STATES) {
            last_by_seq = all[k].record.seq <= seq ? k : last_by_seq;
            last_by_time = all[k].record.recv_ns <= ns ? k : last_by_time;
        }
        memset(&reads, 0, sizeof reads);
        CHECK_INT(journal_reader_seek_seq(reader, seq), last_by_seq < 0 ? -ENOENT : 0);
        CHECK_INT(reads.blocks + reads.hashes, 0);
        CHECK(reads.block_headers <= 1);
        if (last_by_seq >= 0) {
            CHECK_INT(journal_reader_next(reader, &record), 1);
            CHECK(records_equal(&record, &all[last_by_seq].record));
        }
        CHECK_INT(journal_reader_seek_time(reader, ns), last_by_time < 0 ? -ENOENT : 0);
        if (last_by_time >= 0) {
            CHECK_INT(journal_reader_next(reader, &record), 1);
            CHECK(records_equal(&record, &all[last_by_time].record));
        }
    }
    struct journal_tail tail;
    CHECK_INT(journal_reader_tail(reader, &tail), 0);
    CHECK_INT(tail.last_seq, all[RECORDS - 1].record.seq);
    CHECK_INT(tail.last_ns, all[RECORDS - 1].record.recv_ns);
    CHECK_INT(tail.cut_bytes, 0);
    journal_reader_close(reader);
}

/* A newest segment that was never written whole does not count. */
static void test_torn_newest(void)
{
    struct journal_reader *reader;
    struct journal_record record;
    struct journal_tail tail;
    journal_find();
    struct bytes file = bytes_read(journal_newest_path);
    for (size_t len = 0; len < JOURNAL_FILE_HEADER + 100; len += 60) {
        bytes_write(journal_newest_path, file.bytes, len);
        reader = open_reader();
        CHECK_INT(journal_reader_tail(reader, &tail), 0);
        CHECK_INT(tail.last_seq, all[RECORDS - STATES - 1].record.seq);
        CHECK_INT(tail.cut_bytes, len);
        CHECK_INT(journal_reader_find_time(reader, INT64_MAX), 0);
        CHECK_INT(journal_reader_find_seq(reader, all[RECORDS - STATES - 1].record.seq), 1);
        CHECK_INT(journal_reader_next(reader, &record), 1);
        CHECK_INT(journal_reader_seek_seq(reader, UINT64_MAX), 0);
        CHECK_INT(journal_reader_next(reader, &record), 1);
        CHECK(records_equal(&record, &all[RECORDS - 2 * STATES].record));
        journal_reader_close(reader);
    }
    free(file.bytes);
}

int main(void)
{
    counting = journal_files_system;
    counting.read = counting_read;
    journal_dir_make();
    journal_make(RECORDS, STATES, EACH, 0);
    remember();
    test_find();
    test_states();
    test_torn_newest();
    return check_done("journal_seek");
}
